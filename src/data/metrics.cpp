// Reference for the interval: Wilson, "Probable inference, the law of succession, and statistical inference" (1927).
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/metrics.hpp"

#include <fmt/format.h>

#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "mercer/error.hpp"

namespace mercer {

namespace {

void require_pairs(Index truth, Index predicted) {
  if (truth != predicted) throw InvalidArgument(fmt::format("truth has {} values and predicted {}; they must pair up", truth, predicted));
  if (truth == 0) throw InvalidArgument("a metric needs at least 1 value, got 0");
}

void require_finite_values(const VectorRef& values, const char* name) {
  for (Index i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      throw InvalidArgument(
          fmt::format("{} has {} at position {} (counting from 0)", name, std::isnan(values[i]) ? "a NaN" : "an infinite value", i));
    }
  }
}

Vector errors_of(const VectorRef& truth, const VectorRef& predicted) {
  require_pairs(truth.size(), predicted.size());
  require_finite_values(truth, "truth");
  require_finite_values(predicted, "predicted");
  return truth - predicted;
}

void require_classes(std::span<const Index> classes, const char* name, Index n_classes) {
  if (n_classes < 1) throw InvalidArgument(fmt::format("n_classes must be >= 1, got {}", n_classes));
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i] < 0 || classes[i] >= n_classes) {
      throw InvalidArgument(
          fmt::format("{} has class {} at position {}, but classes run from 0 to {}", name, classes[i], i, n_classes - 1));
    }
  }
}

Index size_of(std::span<const Index> values) { return static_cast<Index>(values.size()); }

struct Counts {
  Index both = 0;       // truth and prediction say `positive`
  Index truth = 0;      // truth does
  Index predicted = 0;  // the prediction does
};

Counts count(std::span<const Index> truth, std::span<const Index> predicted, Index positive) {
  require_pairs(size_of(truth), size_of(predicted));
  Counts n;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const bool is = truth[i] == positive;
    const bool said = predicted[i] == positive;
    n.truth += is ? 1 : 0;
    n.predicted += said ? 1 : 0;
    n.both += is && said ? 1 : 0;
  }
  return n;
}

double ratio(Index part, Index whole) { return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole); }

}  // namespace

double mean_squared_error(const VectorRef& truth, const VectorRef& predicted) {
  return errors_of(truth, predicted).squaredNorm() / static_cast<double>(truth.size());
}

double root_mean_squared_error(const VectorRef& truth, const VectorRef& predicted) {
  return errors_of(truth, predicted).stableNorm() / std::sqrt(static_cast<double>(truth.size()));  // no overflow in between
}

double mean_absolute_error(const VectorRef& truth, const VectorRef& predicted) {
  return errors_of(truth, predicted).lpNorm<1>() / static_cast<double>(truth.size());
}

double r2_score(const VectorRef& truth, const VectorRef& predicted) {
  const Vector errors = errors_of(truth, predicted);
  // Asked of the values, not of their sum of squares: the mean of equal numbers may differ from them in the last bit.
  if (truth.minCoeff() == truth.maxCoeff()) return errors.isZero(0) ? 1 : 0;
  return 1 - errors.squaredNorm() / (truth.array() - truth.mean()).matrix().squaredNorm();
}

double accuracy(std::span<const Index> truth, std::span<const Index> predicted) {
  require_pairs(size_of(truth), size_of(predicted));
  Index right = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) right += truth[i] == predicted[i] ? 1 : 0;
  return ratio(right, size_of(truth));
}

Eigen::MatrixXi confusion_matrix(std::span<const Index> truth, std::span<const Index> predicted, Index n_classes) {
  require_pairs(size_of(truth), size_of(predicted));
  require_classes(truth, "truth", n_classes);
  require_classes(predicted, "predicted", n_classes);
  Eigen::MatrixXi counts = Eigen::MatrixXi::Zero(n_classes, n_classes);
  for (std::size_t i = 0; i < truth.size(); ++i) ++counts(truth[i], predicted[i]);
  return counts;
}

double precision_of_class(std::span<const Index> truth, std::span<const Index> predicted, Index positive) {
  const Counts n = count(truth, predicted, positive);
  return ratio(n.both, n.predicted);
}

double recall_of_class(std::span<const Index> truth, std::span<const Index> predicted, Index positive) {
  const Counts n = count(truth, predicted, positive);
  return ratio(n.both, n.truth);
}

std::pair<double, double> precision_and_recall(std::span<const Index> truth, std::span<const Index> predicted, Index n_classes) {
  const Index first = n_classes == 2 ? 1 : 0;
  double precision = 0;
  double recall = 0;
  for (Index c = first; c < n_classes; ++c) {
    precision += precision_of_class(truth, predicted, c);
    recall += recall_of_class(truth, predicted, c);
  }
  const auto counted = static_cast<double>(n_classes - first);
  return {precision / counted, recall / counted};
}

double balanced_accuracy(std::span<const Index> truth, std::span<const Index> predicted, Index n_classes) {
  require_pairs(size_of(truth), size_of(predicted));
  require_classes(truth, "truth", n_classes);
  require_classes(predicted, "predicted", n_classes);
  std::vector<Index> members(static_cast<std::size_t>(n_classes), 0);
  std::vector<Index> right(members);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto c = static_cast<std::size_t>(truth[i]);
    ++members[c];
    right[c] += truth[i] == predicted[i] ? 1 : 0;
  }
  double sum = 0;
  Index present = 0;
  for (std::size_t c = 0; c < members.size(); ++c) {
    sum += ratio(right[c], members[c]);
    present += members[c] > 0 ? 1 : 0;
  }
  return sum / static_cast<double>(present);
}

std::pair<double, double> proportion_interval(Index successes, Index n, double level) {
  if (n < 1) throw InvalidArgument(fmt::format("a proportion needs n >= 1, got {}", n));
  if (successes < 0 || successes > n) throw InvalidArgument(fmt::format("successes must be from 0 to {}, got {}", n, successes));
  if (!(level > 0 && level < 1)) throw InvalidArgument(fmt::format("level must be between 0 and 1, got {}", level));
  const double z = boost::math::quantile(boost::math::normal(), 0.5 + level / 2);
  const auto m = static_cast<double>(n);
  const double p = static_cast<double>(successes) / m;
  const double centre = p + z * z / (2 * m);
  const double half = z * std::sqrt(p * (1 - p) / m + z * z / (4 * m * m));
  const double denominator = 1 + z * z / m;
  // The ends are exact there; rounding would leave 1e-17 instead of 0.
  return {successes == 0 ? 0 : (centre - half) / denominator, successes == n ? 1 : (centre + half) / denominator};
}

}  // namespace mercer
