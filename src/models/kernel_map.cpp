// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_map.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/node.hpp"
#include "linalg/lapack.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/matrix_function.hpp"
#include "mercer/random.hpp"
#include "models/landmark_features.hpp"
#include "models/landmarks.hpp"

namespace mercer {

namespace {

constexpr std::uint64_t point_stream = 0x706f696e7473;

void require_usable(const Samples& rows, const Kernel& kernel) {
  if (rows.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  require_no_white_noise(kernel);
  if (normalizes_given(kernel))
    throw InvalidArgument(
        fmt::format("{} cannot be evaluated at new objects of a given Gram matrix; normalise the matrix first", kernel.text()));
  require_finite(rows, "X");
}

void require_square(Index m, int copies, const Run& run) {
  const auto entries = static_cast<std::size_t>(m) * static_cast<std::size_t>(m);
  require_memory(static_cast<std::size_t>(copies) * entries * sizeof(double), run.memory, fmt::format("a kernel map of {} points", m),
                 "use fewer points");
}

template <class Out>
void transform_with(const KernelMap& map, const Samples& rows, Out* out, Index stride, const Run& run) {
  const Samples X = rows_for_map(map.kernel(), rows, map.points());
  if (X.empty()) return;
  require_finite(X, "X");
  with_run(run, [&] { landmark_features<double>(map.kernel(), map.points(), map.projection(), X, out, stride, "kernel map", run); });
}

Landmarks choose_points(const Kernel& kernel, const Samples& X, const EmpiricalKernelMapOptions& o) {
  if (o.given_landmarks) {
    if (o.given_landmarks->empty()) throw InvalidArgument("there are no landmarks: give at least one row");
    if (o.given_landmarks->width() != X.width())
      throw InvalidArgument(fmt::format("the landmarks have {} columns, X has {}", o.given_landmarks->width(), X.width()));
    require_finite(*o.given_landmarks, "the landmarks");
    return {as_given(kernel, *o.given_landmarks), {}, "given"};
  }
  const FalkonOptions choice{.kernel = kernel,
                             .n_landmarks = o.n_components == 0 ? X.size() : o.n_components,
                             .landmarks = o.landmarks,
                             .seed = o.seed,
                             .run = o.run};
  const MemoryRows source(X, Matrix::Zero(X.size(), 1));
  return choose_landmarks(kernel, draw_rows(source, choice, false), 1.0, X.size(), choice);
}

// Rows of the measure and their weights, which sum to 1.
struct Measure {
  std::vector<Index> rows;
  Vector weight;
};
Measure measure_of(Index n, const MercerMapOptions& o) {
  if (o.sample_weight.size() != 0 && o.sample_weight.size() != n)
    throw InvalidArgument(fmt::format("sample_weight must have one number for each of the {} rows, got {}", n, o.sample_weight.size()));
  if (o.sample_weight.size() != 0 && !(o.sample_weight.allFinite() && (o.sample_weight.array() >= 0).all()))
    throw InvalidArgument("sample_weight must be finite numbers >= 0");
  Measure measure;
  std::vector<Index> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), Index{0});
  if (o.n_points != 0 && o.n_points < n) {
    all = RandomStream(o.seed, point_stream).sample(n, o.n_points);
    std::sort(all.begin(), all.end());
  }
  std::vector<double> weights;
  for (const Index i : all) {
    const double w = o.sample_weight.size() == 0 ? 1.0 : o.sample_weight[i];
    if (w == 0) continue;  // no part of the measure
    measure.rows.push_back(i);
    weights.push_back(w);
  }
  if (weights.empty()) throw InvalidArgument("sample_weight is 0 for every row: the measure needs some row with a weight > 0");
  measure.weight = Eigen::Map<const Vector>(weights.data(), std::ssize(weights));
  measure.weight /= measure.weight.sum();
  return measure;
}

// The largest entry of every eigenvector is positive, so that signs do not depend on LAPACK.
double sign_of(const Eigen::Ref<const Vector>& u) {
  Index where = 0;
  u.cwiseAbs().maxCoeff(&where);
  return u[where] < 0 ? -1 : 1;
}

void require_positive(const Vector& ascending, const Kernel& kernel) {
  const double largest = std::max(ascending[ascending.size() - 1], 0.0);
  if (ascending[0] < -1e-8 * largest || largest == 0)
    throw InvalidArgument(fmt::format(
        "\"{}\" is not positive semi-definite on these rows: its Gram matrix has eigenvalues from {:.6g} to {:.6g}, and features "
        "need such a kernel (and one that is not 0)",
        kernel.text(), ascending[0], ascending[ascending.size() - 1]));
}

}  // namespace

const char* name_of(KernelMapKind kind) {
  switch (kind) {
    case KernelMapKind::whitened:
      return "whitened";
    case KernelMapKind::mercer:
      return "mercer";
    default:
      return "empirical";
  }
}

KernelMap KernelMap::from_parts(KernelMapKind kind, Kernel kernel, Samples points, std::vector<Index> point_rows, Matrix projection,
                                Vector eigenvalues) {
  const bool identity = kind == KernelMapKind::empirical;
  if (points.empty() || !(point_rows.empty() || std::ssize(point_rows) == points.size()) ||
      (identity ? projection.size() != 0 : projection.rows() != points.size() || projection.cols() == 0) ||
      (kind == KernelMapKind::mercer && eigenvalues.size() != projection.cols())) {
    throw InvalidArgument(fmt::format("a {} kernel map of {} points cannot have a {} x {} projection, {} eigenvalues and {} row numbers",
                                      name_of(kind), points.size(), projection.rows(), projection.cols(), eigenvalues.size(),
                                      point_rows.size()));
  }
  KernelMap map(kind, std::move(kernel), std::move(points));
  map.point_rows_ = std::move(point_rows);
  map.projection_ = std::move(projection);
  map.eigenvalues_ = std::move(eigenvalues);
  return map;
}

Matrix KernelMap::transform(const Samples& X, const Run& run) const {
  require_memory(static_cast<std::size_t>(X.size()) * static_cast<std::size_t>(n_components()) * sizeof(double), run.memory,
                 fmt::format("the {} x {} features of a kernel map", X.size(), n_components()), "transform fewer rows at a time");
  Matrix out(X.size(), n_components());
  transform_into(X, out.data(), out.cols(), run);
  return out;
}
void KernelMap::transform_into(const Samples& X, double* out, Index stride, const Run& run) const {
  transform_with(*this, X, out, stride, run);
}
void KernelMap::transform_into(const Samples& X, float* out, Index stride, const Run& run) const {
  transform_with(*this, X, out, stride, run);
}

KernelMap fit_empirical_kernel_map(const Samples& rows, const EmpiricalKernelMapOptions& o) {
  require_usable(rows, o.kernel);
  if (o.n_components < 0) throw InvalidArgument(fmt::format("n_components must be >= 1, or 0 for all rows, got {}", o.n_components));
  const Samples X = as_given(o.kernel, rows);
  std::optional<KernelMap> map;
  with_run(o.run, [&] {
    const Kernel kernel = resolve(o.kernel, X);
    Landmarks points = choose_points(kernel, X, o);
    if (!o.whiten) {
      map = KernelMap::from_parts(KernelMapKind::empirical, kernel, points.samples.without_values(), std::move(points.rows), {}, {});
      return;
    }
    require_square(points.samples.size(), 5, o.run);
    Vector eigenvalues;
    const auto inverse_root = [&](const Vector& d) -> Vector {
      require_positive(d, kernel);
      eigenvalues = d.cwiseMax(0.0).reverse();
      return d.unaryExpr([](double x) { return x > 0 ? 1 / std::sqrt(x) : 0.0; });
    };
    Matrix W = matrix_function(gram(kernel, points.samples, {.run = o.run}), inverse_root, {.tolerance = o.tolerance, .run = o.run});
    map = KernelMap::from_parts(KernelMapKind::whitened, kernel, points.samples.without_values(), std::move(points.rows), std::move(W),
                                std::move(eigenvalues));
  });
  return std::move(*map);
}

KernelMap fit_mercer_map(const Samples& rows, const MercerMapOptions& o) {
  require_usable(rows, o.kernel);
  if (o.n_components < 1) throw InvalidArgument(fmt::format("n_components must be >= 1, got {}", o.n_components));
  if (o.n_points < 0) throw InvalidArgument(fmt::format("n_points must be >= 1, or 0 for all rows, got {}", o.n_points));
  const Samples X = as_given(o.kernel, rows);
  std::optional<KernelMap> map;
  with_run(o.run, [&] {
    const Kernel kernel = resolve(o.kernel, X);
    Measure measure = measure_of(X.size(), o);
    const Samples points = std::ssize(measure.rows) == X.size() ? X : X.subset(measure.rows);
    const Index m = points.size();
    require_square(m, 4, o.run);
    const Vector root = measure.weight.cwiseSqrt();
    Matrix B = gram(kernel, points, {.run = o.run});
    B = root.asDiagonal() * B * root.asDiagonal();
    const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(std::move(B), o.run.progress, o.run.memory);
    require_positive(eigen.values, kernel);
    const double cut = static_cast<double>(m) * std::numeric_limits<double>::epsilon() * eigen.values[m - 1];
    const Index q = std::min<Index>(o.n_components, (eigen.values.array() > cut).count());
    Matrix W(m, q);
    for (Index i = 0; i < q; ++i) {
      const Vector u = eigen.vectors.row(m - 1 - i);
      W.col(i) = (sign_of(u) / std::sqrt(eigen.values[m - 1 - i])) * root.cwiseProduct(u);
    }
    map = KernelMap::from_parts(KernelMapKind::mercer, kernel, points.without_values(), std::move(measure.rows), std::move(W),
                                eigen.values.tail(q).reverse());
  });
  return std::move(*map);
}

}  // namespace mercer
