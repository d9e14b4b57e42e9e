// Where do two samples differ? The witness function of the maximum mean discrepancy, and the columns that carry the difference.
//
//   Witness w = witness(X, Y, {.kernel = kernels::gaussian(1.0)});
//   Vector at = w(Z);                             // mu(X) - mu(Y) at the rows of Z: positive where X has more mass than Y
//   TellingPoints rows = w.telling_points(5);     // the rows that tell the samples apart best, on both sides
//   WitnessGrid line = witness_grid(X, Y, {0});   // along one column, or over two
//   ColumnTable columns = witness_columns(X, Y);  // which input columns carry the difference
//
// The witness f = mu(X) - mu(Y), in that order, is the direction in which the mean embeddings differ: f / |f| has the largest difference of
// means over both samples among all functions of unit norm, and |f|^2 is mmd-b (source N section 5, K section 4.1).
// Cost: (n + m)^2 kernel values to make one, n + m for each point.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mercer/exchange.hpp"
#include "mercer/rkhs_function.hpp"

namespace mercer {

struct WitnessOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());  // auto: the median distance of the pooled sample
  Vector weights_x{};                                                    // of the rows, >= 0; empty: equal
  Vector weights_y{};
  Run run{};
};

// A row of one of the samples and the witness at it.
struct TellingPoint {
  bool from_x = true;
  Index row = 0;  // of its sample, from 0
  double value = 0;
};

// Rows of both samples, equal rows once, the most telling first.
struct TellingPoints {
  std::vector<TellingPoint> more_x{};  // where X has more mass: the largest values, > 0
  std::vector<TellingPoint> more_y{};  // where Y has more mass: the smallest values, < 0
};

// Immutable.
class Witness {
 public:
  Vector operator()(const Samples& Z, const Run& run = {}) const { return function_(Z, run); }  // raw: mu(X) - mu(Y)
  // Divided by |mu(X) - mu(Y)|, so that its norm is 1. Refused where the embeddings coincide: there is no direction then.
  Vector normalised(const Samples& Z, const Run& run = {}) const;

  const RkhsFunction& function() const { return function_; }
  const Kernel& kernel() const { return function_.kernel(); }
  Index n() const { return at_x_.size(); }
  Index m() const { return at_y_.size(); }
  double squared() const { return squared_; }   // |mu(X) - mu(Y)|^2 = mmd-b
  double distance() const;                      // its root
  const Vector& at_x() const { return at_x_; }  // raw, at the rows of X
  const Vector& at_y() const { return at_y_; }

  TellingPoints telling_points(Index most = 5) const;

 private:
  friend Witness witness(const Samples& X, const Samples& Y, const WitnessOptions& options);
  Witness(RkhsFunction function, Vector at_x, Vector at_y, double squared)
      : function_(std::move(function)), at_x_(std::move(at_x)), at_y_(std::move(at_y)), squared_(squared) {}

  RkhsFunction function_;
  Vector at_x_;
  Vector at_y_;
  double squared_;
};

Witness witness(const Samples& X, const Samples& Y, const WitnessOptions& options = {});

// The witness over a line or a plane of one or two columns. Where these are all columns of the samples it is the witness itself; of wider
// samples it is that of the chosen columns alone, with gaussian(auto) on them.
struct WitnessGrid {
  std::vector<Index> columns{};
  std::vector<Vector> axes{};  // ascending places along each column
  Matrix values{};             // raw; rows: places along the first column, columns: along the second (1 for a line)
  double squared = 0;          // mmd-b of these columns
  std::string kernel{};
};
// From the smallest to the largest value of both samples and a twentieth of the range beyond; `points` places along each column.
WitnessGrid witness_grid(const Samples& X, const Samples& Y, std::vector<Index> columns, Index points = 101,
                         const WitnessOptions& options = {});

struct WitnessColumnsOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());         // of all columns together, for `drop`
  Kernel column_kernel = kernels::gaussian(kernels::LengthScale::automatic());  // of one column; an automatic scale is each column's own
  Index permutations = 500;                                                     // shared by all columns
  ExchangeOptions exchange{};
  Index shuffles = 3;     // of each column, for `drop`; 0: none
  Index max_rows = 4000;  // of both samples together; more are thinned at random, in proportion, and said
  double level = 0.05;
  std::uint64_t seed = 0;
  Run run{};
};

struct WitnessColumn {
  Index column = 0;
  double squared = 0;    // mmd-u of the column alone; may be negative
  double p_value = 1;    // by exchanges of rows
  double adjusted = 1;   // by Holm's step-down over all columns: the chance of any false finding is at most the level
  bool differs = false;  // adjusted <= level
  // How much of mmd-u of all columns together is lost when the column is shuffled over both samples, so that neither its own distribution
  // nor its dependence on the other columns differs any more; NaN without shuffles.
  double drop = 0;
  double share = 0;  // of the drops above 0, else (without shuffles) of the mmd-u above 0; shares add up to 1, or are all 0
};

struct ColumnTable {
  std::vector<WitnessColumn> columns{};  // in the order of the data
  double squared = 0;                    // mmd-u of all columns together, on the rows used
  Index n = 0;                           // rows used
  Index m = 0;
  Index permutations = 0;
  std::uint64_t seed = 0;
  std::string kernel{};
  std::vector<std::string> remarks{};
  double seconds = 0;
  std::string sentence{};

  std::vector<Index> ranked() const;  // numbers of the columns, those that differ first, then by p-value and share
};

// A column may differ alone (its own mmd-u and p-value), or only together with others (its drop): a correlation that changes moves no
// column.
ColumnTable witness_columns(const Samples& X, const Samples& Y, const WitnessColumnsOptions& options = {});

// Holm's step-down adjustment of p-values: at a level, the chance of any false rejection is at most the level, whatever their dependence.
Vector holm_adjusted(const Vector& p_values);

}  // namespace mercer
