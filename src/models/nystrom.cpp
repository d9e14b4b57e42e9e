// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/nystrom.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/node.hpp"
#include "linalg/blas.hpp"
#include "linalg/lapack.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "models/landmark_features.hpp"
#include "models/landmarks.hpp"

namespace mercer {

namespace {

constexpr double smallest_eigenvalue = 1e-12;

Matrix inverse_root(Matrix K, const Run& run) {
  const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(std::move(K), run.progress, run.memory);
  const Vector scale = eigen.values.cwiseAbs().cwiseMax(smallest_eigenvalue).cwiseSqrt().cwiseInverse();
  const Matrix scaled = scale.cwiseSqrt().asDiagonal() * eigen.vectors;  // row j is vector j
  const Index m = scaled.rows();
  Matrix N(m, m);
  constexpr Index panel = 128;
  parallel_for((m + panel - 1) / panel, [&](Index p) {
    const Index first = p * panel;
    linalg::gemm_n(true, std::min(panel, m - first), m, m, 1.0, scaled.data() + first, m, scaled.data(), m, 0.0, N.data() + first * m, m);
  });
  return 0.5 * (N + N.transpose());
}

template <class Out>
void transform_with(const NystromMap& map, const Samples& rows, Out* out, Index stride, Precision precision, const Run& run) {
  const Samples X = rows_for_map(map.kernel(), rows, map.landmarks());
  if (X.empty()) return;
  with_run(run, [&] {
    if (precision == Precision::float32) {
      landmark_features<float>(map.kernel(), map.landmarks(), map.normalization(), X, out, stride, "Nystrom features", run);
    } else {
      landmark_features<double>(map.kernel(), map.landmarks(), map.normalization(), X, out, stride, "Nystrom features", run);
    }
  });
}

}  // namespace

NystromMap NystromMap::from_parts(Kernel kernel, Samples landmarks, std::vector<Index> landmark_rows, Matrix normalization) {
  if (normalization.rows() != normalization.cols() || normalization.rows() != landmarks.size() ||
      !(landmark_rows.empty() || std::ssize(landmark_rows) == landmarks.size())) {
    throw InvalidArgument(fmt::format("a Nystrom map of {} landmarks cannot have a {} x {} normalisation and {} row numbers",
                                      landmarks.size(), normalization.rows(), normalization.cols(), landmark_rows.size()));
  }
  NystromMap map(std::move(kernel), std::move(landmarks));
  map.landmark_rows_ = std::move(landmark_rows);
  map.normalization_ = std::move(normalization);
  return map;
}

Matrix NystromMap::transform(const Samples& X, const Run& run) const {
  require_memory(static_cast<std::size_t>(X.size()) * static_cast<std::size_t>(n_components()) * sizeof(double), run.memory,
                 fmt::format("the {} x {} Nystrom features", X.size(), n_components()), "transform fewer rows at a time");
  Matrix out(X.size(), n_components());
  transform_into(X, out.data(), out.cols(), Precision::float64, run);
  return out;
}

void NystromMap::transform_into(const Samples& X, double* out, Index stride, Precision precision, const Run& run) const {
  transform_with(*this, X, out, stride, precision, run);
}

void NystromMap::transform_into(const Samples& X, float* out, Index stride, Precision precision, const Run& run) const {
  transform_with(*this, X, out, stride, precision, run);
}

NystromMap fit_nystrom(const Samples& rows, const NystromOptions& o) {
  if (rows.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  if (o.n_components < 1) throw InvalidArgument(fmt::format("n_components must be >= 1, got {}", o.n_components));
  require_no_white_noise(o.kernel);
  if (normalizes_given(o.kernel))
    throw InvalidArgument(
        fmt::format("{} cannot be evaluated at new objects of a given Gram matrix; normalise the matrix first", o.kernel.text()));
  require_finite(rows, "X");
  const Samples X = as_given(o.kernel, rows);
  std::optional<NystromMap> map;
  with_run(o.run, [&] {
    const Kernel kernel = resolve(o.kernel, X);
    FalkonOptions choice{.kernel = kernel,
                         .n_landmarks = o.n_components,
                         .landmarks = o.landmarks,
                         .given_landmarks = o.given_landmarks,
                         .seed = o.seed,
                         .run = o.run};
    Landmarks landmarks{Samples(), {}, "given"};
    if (o.given_landmarks) {
      landmarks.samples = as_given(kernel, *o.given_landmarks);
    } else {
      const MemoryRows source(X, Matrix::Zero(X.size(), 1));
      landmarks = choose_landmarks(kernel, draw_rows(source, choice, false), o.alpha, X.size(), choice);
    }
    const auto m = static_cast<std::size_t>(landmarks.samples.size());
    require_memory(4 * m * m * sizeof(double), o.run.memory, fmt::format("a Nystrom map of {} landmarks", m), "use fewer");
    Matrix N = inverse_root(gram(kernel, landmarks.samples, {.run = o.run}), o.run);
    map = NystromMap::from_parts(kernel, landmarks.samples.without_values(), std::move(landmarks.rows), std::move(N));
  });
  return std::move(*map);
}

double trace_error(const NystromMap& map, const Samples& X, const Run& run) {
  const double whole = gram_diagonal(map.kernel(), X).sum();
  double explained = 0;
  X.for_each_chunk(4096, [&](const Samples& chunk, Index) { explained += map.transform(chunk, run).squaredNorm(); });
  return whole > 0 ? std::clamp(1 - explained / whole, 0.0, 1.0) : 0;
}

}  // namespace mercer
