// Where does a series change? Kernel segmentation: the cuts that make the rows of each segment alike in feature space.
//
//   ChangePoints found = change_points(series);             // rows in time order; the number of changes is chosen
//   std::puts(found.sentence.c_str());                      // "2 changes in 300 rows, before rows 100 and 200 ..."
//   TestResult any = change_point_test(series, {.exchange = {.scheme = Exchange::blocks}});   // is there any change at all?
//
// Problem: rows x_0 .. x_{n-1} in order. The cost of a segment [s, t) is the squared distance of its rows to their mean in feature space,
//   c(s, t) = sum_i k(x_i, x_i) - (1 / (t - s)) sum_ij k(x_i, x_j)        over i, j in the segment,
// and the best D segments are those of least total cost. With a characteristic kernel any change of distribution counts (mean, variance,
// shape, dependence between columns); with the linear kernel only that of the mean.
// Method: dynamic programming over all cuts, exact, for every D up to a limit at once; costs come from running sums over tiles of kernel
// values, so the n x n matrix is never kept. D is chosen by least cost + c (log binom(n - 1, D - 1) + D), with c twice the slope at which
// the cost still falls where D is too large (slope heuristics), or by the caller. A penalty for each change is solved by pruned dynamic
// programming (PELT), still exact.
// References: Arlot, Celisse and Harchaoui, JMLR 20 (2019); Celisse et al., CSDA 128 (2018); Killick, Fearnhead and Eckley, JASA 107
// (2012). Cost: n^2 / 2 kernel values and D n^2 / 2 additions, O(D n) memory; for a penalty n times the longest segment that stays
// possible. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mercer/exchange.hpp"
#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"
#include "mercer/test_result.hpp"

namespace mercer {

struct ChangePointOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());  // auto: the median distance of all rows
  std::optional<Index> changes{};                                        // exactly so many; not given: chosen
  std::optional<double> penalty{};  // for each change, in units of the cost, > 0; not given: by slope heuristics
  Index max_changes = 0;            // looked at when the number is chosen; 0: a twentieth of the rows, from 9 to 99
  Index min_segment = 2;            // rows
  Run run{};
};

struct ChangePoint {
  Index position = 0;  // the first row of the new segment, counting from 0
  double gain = 0;     // what the total cost would rise by without this cut
  double squared = 0;  // mmd-b of the segments on both sides: gain (n + m) / (n m)
};

struct ChangePoints {
  std::vector<ChangePoint> changes{};  // in order
  Index n = 0;
  Index min_segment = 0;
  double cost = 0;       // of the segments found
  Vector costs{};        // least cost of 1, 2, ... segments; empty for a given penalty
  Vector criterion{};    // cost + penalty of each, where the number was chosen; else empty
  double penalty = 0;    // c of the slope heuristics, or the given one for each change; 0: the number was given
  std::string method{};  // "slope", "penalty" or "given"
  std::string kernel{};
  std::vector<std::string> remarks{};
  double seconds = 0;
  std::string sentence{};

  std::vector<Index> positions() const;
};

// Throws InvalidArgument for fewer than two segments' rows, or for an automatic choice among fewer than ten times min_segment rows.
ChangePoints change_points(const Samples& series, const ChangePointOptions& options = {});

struct ChangePointTestOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  Index permutations = 1000;
  ExchangeOptions exchange{};  // free: rows are independent; blocks: rows depend on their neighbours
  Index min_segment = 2;
  double level = 0.05;
  std::uint64_t seed = 0;
  Run run{};
};

// Is there any change? Statistic "max-gain": the largest c(0, n) - c(0, t) - c(t, n), which is t (n - t) / n times mmd-b of the two parts;
// null: permutations of the rows, exact for exchangeable rows. `numbers` has the position of the largest. Keeps the n x n matrix in
// float32.
TestResult change_point_test(const Samples& series, const ChangePointTestOptions& options = {});

}  // namespace mercer
