// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/preimage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>

#include "kernels/node.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/kernel_ridge.hpp"
#include "models/preimage_block.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;
using Method = PreimageMethod;

constexpr Index points_at_a_time = 4096;  // whose products with all rows are in memory
constexpr Index block_of_points = 64;     // that go through the iterations together

void require_options(const PreimageOptions& o, Index points, Index width) {
  if (!(o.tolerance > 0)) throw InvalidArgument(fmt::format("tolerance must be > 0, got {}", o.tolerance));
  if (o.max_iterations < 1) throw InvalidArgument(fmt::format("max_iterations must be at least 1, got {}", o.max_iterations));
  if (o.neighbors < 1) throw InvalidArgument(fmt::format("neighbors must be at least 1, got {}", o.neighbors));
  if (o.restarts < 0) throw InvalidArgument(fmt::format("restarts must be >= 0, got {}", o.restarts));
  if (!(o.ridge_alpha >= 0) || !std::isfinite(o.ridge_alpha))
    throw InvalidArgument(fmt::format("ridge_alpha must be a finite number >= 0, got {}", o.ridge_alpha));
  for (const auto& [rows, name] : {std::pair{&o.start, "start"}, std::pair{&o.learned, "learned"}}) {
    if (rows->size() == 0) continue;
    if (rows->rows() != points || rows->cols() != width)
      throw InvalidArgument(
          fmt::format("{} must have one row per point, {} x {}, got {} x {}", name, points, width, rows->rows(), rows->cols()));
    require_finite(*rows, name);
  }
}

void require_point(const Kernel& kernel, const Samples& basis, const MatrixRef& weights) {
  if (basis.is_given() || kernel.needs_given_gram())
    throw InvalidArgument("pre-images are rows, but these objects are known by a given Gram matrix alone; give rows and a kernel of rows");
  if (basis.empty()) throw InvalidArgument("there are no basis rows: a point needs at least one");
  if (weights.cols() != basis.size())
    throw InvalidArgument(fmt::format("weights must have one column per basis row, {}, got {}", basis.size(), weights.cols()));
  require_finite(basis, "the basis");
  require_finite(weights, "weights");
  if (kernel.psd() == Verdict::no)
    throw InvalidArgument(fmt::format(
        "{} is not positive semi-definite, so there is no feature space to look for images in; use a PSD kernel", kernel.text()));
  if (looks_at(kernel, Reduction::same))
    throw InvalidArgument(fmt::format("{} has white noise, which no row but the sample itself shares; leave that part out", kernel.text()));
}

[[noreturn]] void throw_not_offered(Method method, const Kernel& kernel, const std::string& part) {
  if (method == Method::distance)
    throw NotOffered(
        fmt::format("the distance method needs a decreasing function of one distance on all columns, such as gaussian or "
                    "matern; {} is not; use best or ridge",
                    kernel.text()));
  throw NotOffered(
      fmt::format("the {} method needs slopes of the kernel, which {} does not give (dot product and Euclidean distance kernels "
                  "and their sums and products do); use best or ridge",
                  name_of(method), part));
}

bool wants(const PreimageProblem& problem, Method method) {
  return problem.options.method == method || (problem.options.method == Method::best && has_method(problem, method));
}

PreimageProblem make_problem(const Kernel& kernel, const Samples& basis, const PreimageOptions& options) {
  PreimageProblem problem{.kernel = resolve(kernel, basis)};
  problem.options = options;
  problem.X = basis.to_dense();
  problem.basis = Samples(problem.X);
  problem.diagonal = gram_diagonal(problem.kernel, problem.basis);
  const auto refused = KernelSlopes::refusal(problem.kernel, problem.X.cols());
  if (!refused) problem.slopes.emplace(problem.kernel, problem.X);
  if (options.method != Method::best && !has_method(problem, options.method))
    throw_not_offered(options.method, problem.kernel, refused.value_or(problem.kernel.text()));
  if (wants(problem, Method::ridge) && options.learned.size() == 0) {
    problem.ridge = fit_kernel_ridge(problem.basis, problem.X,
                                     {.kernel = problem.kernel,
                                      .alpha = options.ridge_alpha,
                                      .fit_intercept = true,
                                      .tolerance = 1e-6,  // of a map that is only a guess
                                      .run = options.run});
  }
  return problem;
}

// One pass over the Gram matrix for all points of a chunk.
PreimagePoints make_points(const PreimageProblem& problem, const MatrixRef& weights, Index first, Index count) {
  PreimagePoints points;
  points.first = first;
  points.G = weights.middleRows(first, count);
  const Operator K = gram_operator(problem.kernel, problem.basis, {Precision::float64, Storage::streamed, problem.options.run});
  points.inner = K->apply(Matrix(points.G.transpose())).transpose();
  points.norm = points.G.cwiseProduct(points.inner).rowwise().sum();
  if (problem.options.learned.size() > 0) {
    points.ridge = problem.options.learned.middleRows(first, count);
  } else if (problem.ridge) {
    points.ridge = points.inner * problem.ridge->dual_coef();
    points.ridge.rowwise() += problem.ridge->intercept().transpose();
  }
  return points;
}

std::string sentence_of(const Preimages& found, Index rows, const PreimageOptions& options) {
  const PreimageSummary& s = found.summary;
  std::string text = fmt::format("pre-images of {} points from {} rows: {}", s.points, rows, name_of(options.method));
  if (options.method == Method::best) {
    std::string parts;
    for (const Method m : {Method::fixed_point, Method::gradient, Method::distance, Method::ridge}) {
      const auto count = std::count(found.method.begin(), found.method.end(), m);
      if (count > 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", count, name_of(m));
    }
    text += fmt::format(" ({})", parts);
  }
  return text + fmt::format(", {} converged, mean |phi(z) - p|^2 = {:.4g} of |p|^2 = {:.4g}, {:.2f} s", s.converged,
                            s.mean_squared_distance, s.points > 0 ? found.squared_norm.mean() : 0.0, s.seconds);
}

}  // namespace

std::string_view name_of(PreimageMethod method) {
  constexpr std::array<std::string_view, 5> names{"best", "fixed point", "gradient", "distance", "ridge"};
  return names[static_cast<std::size_t>(method)];
}

std::vector<PreimageMethod> preimage_methods(const Kernel& kernel, Index width) {
  if (kernel.needs_given_gram()) return {};
  std::vector<Method> out;
  // Whatever length scales the data will give, the methods are the same.
  const Kernel ready = with_length_scales(kernel, [](Reduction, std::span<const ColumnRef>) { return 1.0; });
  if (!KernelSlopes::refusal(ready, width)) {
    out = {Method::fixed_point, Method::gradient};
    if (KernelSlopes(ready, Matrix::Zero(1, width)).radial()) out.push_back(Method::distance);
  }
  out.push_back(Method::ridge);
  return out;
}

Preimages preimages(const Kernel& kernel, const Samples& basis, const MatrixRef& weights, const PreimageOptions& options) {
  const auto start = Clock::now();
  require_point(kernel, basis, weights);
  const Index m = weights.rows();
  require_options(options, m, basis.width());
  Preimages found{Matrix(m, basis.width()),
                  Vector(m),
                  Vector(m),
                  std::vector<Method>(static_cast<std::size_t>(m)),
                  std::vector<Index>(static_cast<std::size_t>(m)),
                  std::vector<bool>(static_cast<std::size_t>(m))};
  const auto cells = static_cast<std::size_t>(std::min(m, points_at_a_time)) * static_cast<std::size_t>(basis.size());
  require_memory((3 * cells + 2 * static_cast<std::size_t>(basis.size() * basis.width())) * sizeof(double), options.run.memory,
                 fmt::format("the products of {} points with {} rows", std::min(m, points_at_a_time), basis.size()),
                 "look for fewer pre-images at a time, or use fewer basis rows (a low-rank kernel PCA)");
  with_run(options.run, [&] {
    const PreimageProblem problem = make_problem(kernel, basis, options);
    for (Index first = 0; first < m; first += points_at_a_time) {
      const Index count = std::min(points_at_a_time, m - first);
      const PreimagePoints points = make_points(problem, weights, first, count);
      Stage stage(options.run.progress, "pre-images", static_cast<double>(count));
      std::mutex order;  // vector<bool> shares words between points
      parallel_for((count + block_of_points - 1) / block_of_points, [&](Index b) {
        const Index begin = b * block_of_points;
        const PreimageCandidate got = solve_block(problem, points, begin, std::min(block_of_points, count - begin), [&] { stage.check(); });
        const std::lock_guard lock(order);
        for (Index i = 0; i < got.rows.rows(); ++i) {
          const auto from = static_cast<std::size_t>(i);
          const auto to = static_cast<std::size_t>(first + begin + i);
          found.rows.row(first + begin + i) = got.rows.row(i);
          found.squared_norm[first + begin + i] = points.norm[begin + i];
          found.squared_distance[first + begin + i] = std::max(0.0, points.norm[begin + i] + got.objective[i]);
          found.method[to] = got.method[from];
          found.iterations[to] = got.iterations[from];
          found.converged[to] = got.converged[from];
        }
        stage.advance(static_cast<double>(got.rows.rows()));
      });
    }
  });
  found.summary.points = m;
  found.summary.converged = std::count(found.converged.begin(), found.converged.end(), true);
  found.summary.mean_squared_distance = m > 0 ? found.squared_distance.mean() : 0;
  found.summary.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  found.summary.sentence = sentence_of(found, basis.size(), options);
  return found;
}

Vector preimage_distances(const Kernel& kernel, const Samples& Z, const Samples& basis, const MatrixRef& weights, const Run& run) {
  require_point(kernel, basis, weights);
  if (Z.size() != weights.rows() || Z.width() != basis.width())
    throw InvalidArgument(fmt::format("Z must have one row per row of weights and the columns of the basis, {} x {}, got {} x {}",
                                      weights.rows(), basis.width(), Z.size(), Z.width()));
  if (Z.empty()) return {};
  const Kernel ready = resolve(kernel, basis);
  const Operator K = gram_operator(ready, basis, {Precision::float64, Storage::streamed, run});
  const Matrix inner = K->apply(Matrix(weights.transpose())).transpose();
  Vector out = gram_diagonal(ready, Z) + weights.cwiseProduct(inner).rowwise().sum();
  Z.for_each_chunk(256, [&](const Samples& chunk, Index first) {
    const Matrix C = gram(ready, chunk, basis, {.run = run});
    out.segment(first, chunk.size()) -= 2 * C.cwiseProduct(weights.middleRows(first, chunk.size())).rowwise().sum();
  });
  return out.cwiseMax(0.0);
}

}  // namespace mercer
