// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/witness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "gram/rows.hpp"
#include "gram/transform.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "stats/pooled.hpp"
#include "stats/sample_weights.hpp"

namespace mercer {

namespace stats {

void require_two_samples(const Samples& X, const Samples& Y, const Kernel& kernel) {
  if (X.empty() || Y.empty()) throw InvalidArgument(fmt::format("both samples need at least one row, got {} and {}", X.size(), Y.size()));
  if (X.width() != Y.width()) throw InvalidArgument(fmt::format("X has {} columns but Y has {}", X.width(), Y.width()));
  if (X.is_given() != Y.is_given()) throw InvalidArgument("one sample is of a given Gram matrix, the other is not");
  if (kernel.needs_given_gram() && !X.is_given())
    throw InvalidArgument(fmt::format(
        "{} takes two parts of one given Gram matrix: make it of all rows by Samples::given_gram, and take subsets", kernel.text()));
  require_finite(X, "X");
  require_finite(Y, "Y");
}

}  // namespace stats

namespace {

// |f|^2 = c'Kc is a sum of (n + m)^2 products that cancel where the samples agree: less than what rounding leaves of them is 0.
double squared_length(const Vector& c, const Vector& values, const Kernel& kernel, const Samples& pooled) {
  const double squared = c.dot(values);
  const double size = c.cwiseAbs().sum() * c.cwiseAbs().sum() * gram_diagonal(kernel, pooled).cwiseAbs().maxCoeff();
  const double rounding = 4 * std::numeric_limits<double>::epsilon() * size;
  if (squared < -1e4 * rounding)
    throw InvalidArgument(fmt::format("|mu(X) - mu(Y)| would be the root of {:.6g}: {} is not positive semi-definite on these samples",
                                      squared, kernel.text()));
  return squared > rounding ? squared : 0;
}

Vector axis_of(const Matrix& x, const Matrix& y, Index column, Index points) {
  const double low = std::min(x.col(column).minCoeff(), y.col(column).minCoeff());
  const double high = std::max(x.col(column).maxCoeff(), y.col(column).maxCoeff());
  const double beyond = high > low ? (high - low) / 20 : std::max(1.0, std::abs(low));
  return Vector::LinSpaced(points, low - beyond, high + beyond);
}

}  // namespace

Witness witness(const Samples& X, const Samples& Y, const WitnessOptions& options) {
  stats::require_two_samples(X, Y, options.kernel);
  if (options.kernel.psd() == Verdict::no)
    throw InvalidArgument(fmt::format("a witness needs a positive semi-definite kernel, and {} is not", options.kernel.text()));
  Vector c(X.size() + Y.size());
  c << stats::shares_of(options.weights_x, X.size(), "weights_x"), -stats::shares_of(options.weights_y, Y.size(), "weights_y");
  const RkhsFunction f(options.kernel, concatenate(X, Y), c);
  const Vector values = f(f.samples(), options.run);
  const double squared = squared_length(c, values, f.kernel(), f.samples());
  return {f, values.head(X.size()), values.tail(Y.size()), squared};
}

double Witness::distance() const { return std::sqrt(squared_); }

Vector Witness::normalised(const Samples& Z, const Run& run) const {
  if (squared_ == 0)
    throw InvalidArgument(
        fmt::format("the mean embeddings of the samples coincide under {}: their difference has no direction", kernel().text()));
  return function_(Z, run) / distance();
}

TellingPoints Witness::telling_points(Index most) const {
  if (most < 0) throw InvalidArgument(fmt::format("the number of telling points must be >= 0, got {}", most));
  const Samples& rows = function_.samples();
  Vector all(n() + m());
  all << at_x_, at_y_;
  std::vector<Index> order(static_cast<std::size_t>(all.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return all[a] > all[b]; });
  const double nothing = 1e-12 * all.cwiseAbs().maxCoeff();
  const auto take = [&](auto begin, auto end, double sign) {
    std::vector<TellingPoint> taken;
    std::vector<Index> seen;
    for (auto at = begin; at != end && std::ssize(taken) < most && sign * all[*at] > nothing; ++at) {
      const Index row = *at;
      const bool known = !rows.is_given() && std::any_of(seen.begin(), seen.end(),
                                                         [&](Index other) { return squared_distance_of(rows, row, rows, other) == 0; });
      if (known) continue;
      seen.push_back(row);
      taken.push_back({row < n(), row < n() ? row : row - n(), all[row]});
    }
    return taken;
  };
  return {take(order.begin(), order.end(), 1), take(order.rbegin(), order.rend(), -1)};
}

WitnessGrid witness_grid(const Samples& X, const Samples& Y, std::vector<Index> columns, Index points, const WitnessOptions& options) {
  stats::require_two_samples(X, Y, options.kernel);
  if (X.is_given()) throw InvalidArgument("a grid needs columns, and a given Gram matrix has none");
  if (columns.empty() || columns.size() > 2)
    throw InvalidArgument(fmt::format("a grid is over one column or two, got {}; choose them", columns.size()));
  if (columns.size() == 2 && columns[0] == columns[1]) throw InvalidArgument("a grid over two columns needs two different ones");
  for (const Index column : columns) {
    if (column < 0 || column >= X.width())
      throw InvalidArgument(fmt::format("there is no column {}: the samples have {}, counting from 0", column, X.width()));
  }
  if (points < 2 || points > 2000) throw InvalidArgument(fmt::format("points must be from 2 to 2000, got {}", points));

  const std::vector<ColumnRef> chosen(columns.begin(), columns.end());
  const bool all = std::ssize(columns) == X.width() && std::is_sorted(columns.begin(), columns.end());
  const Matrix x = select_columns(X, chosen).to_dense();
  const Matrix y = select_columns(Y, chosen).to_dense();
  WitnessOptions of_columns = options;
  if (!all) of_columns.kernel = kernels::gaussian(kernels::LengthScale::automatic());
  const Witness w = all ? witness(X, Y, options) : witness(x, y, of_columns);

  WitnessGrid grid{std::move(columns), {}, {}, w.squared(), w.kernel().text()};
  for (Index c = 0; c < x.cols(); ++c) grid.axes.push_back(axis_of(x, y, c, points));
  const Index across = x.cols() == 2 ? points : 1;
  Matrix places(points * across, x.cols());
  for (Index i = 0; i < points; ++i) {
    for (Index j = 0; j < across; ++j) {
      places(i * across + j, 0) = grid.axes[0][i];
      if (x.cols() == 2) places(i * across + j, 1) = grid.axes[1][j];
    }
  }
  const Vector values = w(places, options.run);
  grid.values = Eigen::Map<const Matrix>(values.data(), points, across);
  return grid;
}

}  // namespace mercer
