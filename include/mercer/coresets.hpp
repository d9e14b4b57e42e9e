// A few rows that stand for all of them: their mean embedding is near that of the whole sample.
//
//   Coreset few = squash(X, 100);                 // 100 rows with weights
//   Coreset equal = thin(X, 316);                 // 316 rows that count alike, in near-linear time
//   X.subset(few.rows);  few.weights;  few.mmd;   // |mu(X) - sum_j w_j k(x_j, .)|
//
// Any average of a function of the kernel's space over the few is off by at most mmd times the function's norm.
//   squash  rows (atoms) are chosen, then their weights by a convex quadratic programme on the simplex (source L, application 2). The atoms
//           are fewer than the rows: for all rows the answer is trivial, 1/n each (SPEC S21)
//   herd    one row after the other, each the one that brings the mean nearest (kernel herding: Chen, Welling, Smola, UAI 2010, on the rows
//           themselves; where k(x, x) is not constant, its half is counted, so that each step is the best one). Every first part of the
//           answer is an answer
//   thin    kernel thinning (Dwivedi, Mackey, JMLR 2024; generalized, ICLR 2022: the kernel itself splits) within Compress++ (Shetty,
//           Dwivedi, Mackey, ICLR 2022): halved block by block with balancing signs, then the best half of halves, then swaps
// n rows, m wanted. Kernel values: squash n c + 3 n m (without herded atoms 2 n m); herd n c + c m, c <= n the candidates; thin 4^(g+1) n
// log(n) / 2 + 2^g n m. None makes an n x n matrix. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

// How the distance to the whole sample is found. It takes n^2 / 2 kernel values, so that above 20000 rows it is estimated by 1024 random
// frequencies where the kernel has them: unbiased, with its standard error.
enum class CoresetMeasure : std::uint8_t { automatic, exact, features, none };

struct Coreset {
  std::vector<Index> rows{};  // of the sample, all different; of herd in the order they were taken, else ascending
  Vector weights{};           // of these, adding up to 1
  Vector path{};              // herd: the distance for the first 1, 2, ... of the rows; empty where it is not measured exactly
  // Distances |mu(X) - mu(coreset)|; NaN where they were not measured.
  double mmd = std::numeric_limits<double>::quiet_NaN();
  double mmd_error = 0;                                          // standard error of an estimate; 0: exact
  double random_mmd = std::numeric_limits<double>::quiet_NaN();  // root mean square of random subsets of this size, by formula
  double gap = 0;                                                // squash: mmd^2 is at most so far above what these atoms can reach
  std::string method{};                                          // "squash", "herd", "thin"
  std::string kernel{};                                          // automatic length scales set
  Index n = 0;                                                   // rows of the sample
  std::uint64_t seed = 0;
  std::vector<std::string> remarks{};  // what was left out, or looked at in part
  double seconds = 0;
  std::string sentence{};

  Index size() const { return static_cast<Index>(rows.size()); }
  // (sum w)^2 / sum w^2: as many rows of equal weight.
  double effective_size() const { return weights.size() == 0 ? 0 : weights.sum() * weights.sum() / weights.squaredNorm(); }
};

// Where atoms come from: rows that span the others (randomly pivoted Cholesky), those of herd or thin, or at random. Pivoted ones are
// better where few rows span most of the others (few columns, wide kernels), herded ones elsewhere; automatic tries both and takes the
// nearer.
enum class Atoms : std::uint8_t { automatic, pivoted, herded, thinned, random };
const char* name_of(Atoms atoms);  // "auto", "pivoted", ...

struct SquashOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  Atoms atoms = Atoms::automatic;
  Index candidates = 0;  // rows that may become atoms, drawn at random; 0: all up to 20000
  CoresetMeasure measure = CoresetMeasure::automatic;
  std::uint64_t seed = 0;
  Run run{};
};
// Throws InvalidArgument unless 1 <= m < n.
Coreset squash(const Samples& X, Index m, const SquashOptions& options = {});

struct HerdOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  Index candidates = 0;
  CoresetMeasure measure = CoresetMeasure::automatic;
  std::uint64_t seed = 0;  // of the candidates
  Run run{};
};
Coreset herd(const Samples& X, Index m, const HerdOptions& options = {});  // 1 <= m <= n

struct ThinOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  Index oversampling = 4;  // g: halving works on blocks of 4^(g+1) rows at first, and 2^g m rows are left for the last part; 0 .. 10
  double failure = 0.5;    // probability that some sign is not as the analysis wants it; the answer is good all the same
  int swap_passes = 2;     // 0: no swaps
  CoresetMeasure measure = CoresetMeasure::automatic;
  std::uint64_t seed = 0;
  Run run{};
};
Coreset thin(const Samples& X, Index m, const ThinOptions& options = {});  // 1 <= m <= n

}  // namespace mercer
