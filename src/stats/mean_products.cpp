// SPDX-License-Identifier: BSD-3-Clause
#include "stats/mean_products.hpp"

#include <fmt/format.h>

#include <cmath>

#include "kernels/node.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random_features.hpp"

namespace mercer::stats {

namespace {

constexpr Index exact_rows = 20000;    // up to here distances take all pairs: 4e8 kernel values
constexpr double coarse_values = 3e7;  // from here on float32
constexpr Index estimate_frequencies = 1024;
constexpr std::uint64_t estimate_seed = 20240229;  // any number: the estimate is the same for the same rows

// The mean of the features over the rows, one row for each column of V.
Matrix mean_features(const RandomFourierFeatures& map, const Samples& X, const Matrix& V, const Run& run) {
  constexpr Index chunk = 4096;
  const Index count = map.n_components();
  Matrix sums = Matrix::Zero(V.cols(), count);
  MatrixF Z(std::min(chunk, X.size()), count);
  Stage stage(run.progress, "distance to all rows", static_cast<double>(X.size()));
  X.for_each_chunk(chunk, [&](const Samples& rows, Index first) {
    map.transform_into(rows, Z.data(), count, run);
    const Eigen::MatrixXf part = V.middleRows(first, rows.size()).cast<float>() * static_cast<float>(X.size());
    sums += (part.transpose() * Z.topRows(rows.size())).cast<double>();
    stage.advance(static_cast<double>(rows.size()));
  });
  return sums / static_cast<double>(X.size());
}

MeanDistances by_features(const Kernel& kernel, const Samples& X, const Vector& w, const Samples& Y, const Matrix& V, const Run& run) {
  MeanDistances out;
  FourierOptions options;
  options.n_components = 2 * estimate_frequencies;
  options.seed = estimate_seed;
  const RandomFourierFeatures map = random_fourier_features(kernel, X.width(), options);
  const Matrix x = mean_features(map, X, w, run);
  const Matrix y = mean_features(map, Y, V, run);
  const auto D = static_cast<double>(estimate_frequencies);
  out.known = true;
  out.squared.resize(V.cols());
  out.error.resize(V.cols());
  for (Index j = 0; j < V.cols(); ++j) {
    const Eigen::ArrayXd squares = (x.row(0) - y.row(j)).array().square();
    const Eigen::ArrayXd each = D * (squares.head(estimate_frequencies) + squares.tail(estimate_frequencies));  // of a frequency
    out.squared[j] = each.mean();
    out.error[j] = std::sqrt((each - out.squared[j]).square().sum() / (D - 1) / D);
  }
  out.squared_norm = x.squaredNorm();
  return out;
}

}  // namespace

Samples embedded(const Kernel& kernel, const Samples& X, std::string_view name) {
  if (X.empty()) throw InvalidArgument(fmt::format("{} has no rows; a mean needs at least one", name));
  require_finite(X, name);
  if (looks_at(kernel, Reduction::same))
    throw InvalidArgument(fmt::format(
        "{} has white noise, which tells samples apart and not points: there is no mean embedding; leave white out", kernel.text()));
  if (kernel.psd() == Verdict::no)
    throw InvalidArgument(
        fmt::format("{} is not positive semi-definite, so means have no distance; use a kernel that is, such as gaussian", kernel.text()));
  return as_given(kernel, X);
}

Vector proportions(const Vector& weights, Index n, std::string_view name) {
  if (weights.size() == 0) return Vector::Constant(n, 1 / static_cast<double>(n));
  if (weights.size() != n) throw InvalidArgument(fmt::format("{} has {} numbers for {} rows; give one for each", name, weights.size(), n));
  for (Index i = 0; i < n; ++i) {
    if (!(weights[i] >= 0) || !std::isfinite(weights[i]))
      throw InvalidArgument(fmt::format("{} must be finite and >= 0, got {} for row {}", name, weights[i], i));
  }
  const double sum = weights.sum();
  if (!(sum > 0) || !std::isfinite(sum)) throw InvalidArgument(fmt::format("{} add up to {}; some must be positive", name, sum));
  return weights / sum;
}

Precision working_precision(const Kernel& kernel, const Samples& X, double kernel_values) {
  if (kernel.is_bounded() != Verdict::yes || kernel_values < coarse_values || X.is_given()) return Precision::float64;
  // Squares of huge numbers overflow in float32.
  double largest = 0;
  std::visit(
      [&](const auto& rows) {
        if constexpr (requires { rows.stride; }) {
          for (Index i = 0; i < rows.rows; ++i)
            for (Index j = 0; j < rows.cols; ++j) largest = std::max(largest, std::abs(static_cast<double>(rows.row(i)[j])));
        } else {
          for (Index i = 0; i < rows.nonzeros(); ++i)
            largest = std::max(largest, std::abs(static_cast<double>(rows.values[rows.offsets[0] + i])));
        }
      },
      X.storage());
  return largest < 1e15 ? Precision::float32 : Precision::float64;
}

Vector mean_at(const Kernel& kernel, const Samples& X, const Vector& w, const Samples& Z, Precision precision, const Run& run) {
  // Rows of kernel values know the objects of their columns, not the other way round: X is the side of the rows.
  return gram_operator(kernel, X, Z, {.precision = precision, .storage = Storage::streamed, .run = run})->apply_transpose(w);
}

MeanDistances mean_distances(const Kernel& kernel, const Samples& X, const Vector& w, const Samples& Y, const Matrix& V, CoresetMeasure how,
                             const Run& run) {
  MeanDistances out;
  if (how == CoresetMeasure::none) return out;
  if (how == CoresetMeasure::automatic) {
    const bool few = X.size() <= exact_rows && Y.size() <= exact_rows;
    if (!few && X.is_given()) return out;
    how = few ? CoresetMeasure::exact : CoresetMeasure::features;
    if (!few) {
      try {
        return by_features(kernel, X, w, Y, V, run);
      } catch (const InvalidArgument&) {
        return out;  // a kernel without frequencies
      }
    }
  }
  if (how == CoresetMeasure::features) return by_features(kernel, X, w, Y, V, run);
  const GramOptions streamed{.precision = Precision::float64, .storage = Storage::streamed, .run = run};
  out.squared_norm = w.dot(gram_operator(kernel, X, streamed)->apply(w).col(0));
  const Matrix cross = gram_operator(kernel, X, Y, streamed)->apply_transpose(w);
  const Matrix own = gram_operator(kernel, Y, streamed)->apply(V);
  out.squared = (V.cwiseProduct(own).colwise().sum() - 2 * cross.col(0).transpose() * V).transpose();
  out.squared.array() += out.squared_norm;
  out.error = Vector::Zero(V.cols());
  out.known = true;
  return out;
}

double distance_of(double squared) { return std::sqrt(std::max(0.0, squared)); }

double distance_error(double squared, double error) { return squared > 0 ? error / (2 * std::sqrt(squared)) : std::sqrt(error); }

std::string error_words(double error) { return error > 0 ? fmt::format(" (estimated, +- {:.2g})", error) : ""; }

}  // namespace mercer::stats
