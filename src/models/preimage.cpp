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
#include "models/preimage_descent.hpp"
#include "models/preimage_distance.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;
using Method = PreimageMethod;
using End = DescentResult::End;

constexpr Index points_at_a_time = 4096;  // whose products with all rows are in memory
constexpr Index block_of_points = 64;     // that go through the iterations together

// What is known before the first point is looked at.
struct Problem {
  Kernel kernel;
  Matrix X{};
  Samples basis{};
  Vector diagonal{};
  std::optional<KernelSlopes> slopes{};
  std::optional<KernelRidgeModel> ridge{};
  PreimageOptions options{};
};

// Points of one chunk: their weights and what follows from them by one pass over the Gram matrix.
struct Points {
  Matrix G{};
  Matrix inner{};  // <p, phi(x_i)>
  Vector norm{};   // |p|^2
  Matrix ridge{};  // the learned map's answers, where they are asked for
  Index first = 0;
};

struct Candidate {
  Matrix rows{};
  Vector objective{};
  std::vector<Method> method{};
  std::vector<Index> iterations{};
  std::vector<bool> converged{};
};

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

bool has(const Problem& problem, Method method) {
  if (method == Method::ridge) return true;
  return problem.slopes && (method != Method::distance || problem.slopes->radial());
}

bool wants(const Problem& problem, Method method) {
  return problem.options.method == method || (problem.options.method == Method::best && has(problem, method));
}

Problem make_problem(const Kernel& kernel, const Samples& basis, const PreimageOptions& options) {
  Problem problem{.kernel = resolve(kernel, basis)};
  problem.options = options;
  problem.X = basis.to_dense();
  problem.basis = Samples(problem.X);
  problem.diagonal = gram_diagonal(problem.kernel, problem.basis);
  const auto refused = KernelSlopes::refusal(problem.kernel, problem.X.cols());
  if (!refused) problem.slopes.emplace(problem.kernel, problem.X);
  if (options.method != Method::best && !has(problem, options.method))
    throw_not_offered(options.method, problem.kernel, refused.value_or(problem.kernel.text()));
  if (wants(problem, Method::ridge) && options.learned.size() == 0) {
    problem.ridge = fit_kernel_ridge(problem.basis, problem.X,
                                     {.kernel = problem.kernel, .alpha = options.ridge_alpha, .fit_intercept = true, .run = options.run});
  }
  return problem;
}

// One pass over the Gram matrix for all points of a chunk.
Points make_points(const Problem& problem, const MatrixRef& weights, Index first, Index count) {
  Points points;
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

// The work on one block of points.
class Block {
 public:
  Block(const Problem& problem, const Points& points, Index begin, Index count, std::function<void()> check)
      : problem_(problem), points_(points), check_(std::move(check)) {
    for (Index i = begin; i < begin + count; ++i) {
      ids_.push_back(i);
      const Index many = std::max(problem.options.neighbors, problem.options.restarts + 1);
      nearest_.push_back(nearest_rows(points.inner.row(i), problem.diagonal, many));
    }
  }

  Candidate solve() const {
    const Method method = problem_.options.method;
    if (method == Method::fixed_point || method == Method::gradient) return searched(method);
    if (method != Method::best) return direct(method);
    std::optional<Candidate> other;
    for (const Method m : {Method::distance, Method::ridge}) {
      if (has(problem_, m)) keep_better(other, direct(m));
    }
    if (!problem_.slopes) return std::move(*other);
    std::optional<Candidate> best = searched(Method::fixed_point);
    keep_better(best, polished(std::move(*other)));
    finish_search(*best);
    return std::move(*best);
  }

 private:
  const Problem& problem_;
  const Points& points_;
  std::function<void()> check_;
  std::vector<Index> ids_{};
  std::vector<std::vector<Index>> nearest_{};

  Index size() const { return std::ssize(ids_); }
  DescentOptions descent() const { return {problem_.options.tolerance, problem_.options.max_iterations, check_}; }

  // J at rows: by slopes where there are some, else from a panel of the Gram matrix.
  Vector objective(const Matrix& Z) const {
    if (problem_.slopes) {
      const SlopeValues at = problem_.slopes->evaluate(Z, points_.G, ids_);
      return at.self - 2 * at.inner;
    }
    const Matrix K = gram(problem_.kernel, Samples(Z), problem_.basis);
    Vector out = gram_diagonal(problem_.kernel, Samples(Z));
    for (Index i = 0; i < size(); ++i) out[i] -= 2 * K.row(i).dot(points_.G.row(ids_[static_cast<std::size_t>(i)]));
    return out;
  }

  Candidate made(Matrix rows, Method method) const {
    const auto m = static_cast<std::size_t>(size());
    Candidate out{std::move(rows), {}, std::vector<Method>(m, method), std::vector<Index>(m, 1), std::vector<bool>(m, true)};
    out.objective = objective(out.rows);
    return out;
  }

  Candidate direct(Method method) const {
    Matrix rows(size(), problem_.X.cols());
    for (Index i = 0; i < size(); ++i) {
      const Index point = ids_[static_cast<std::size_t>(i)];
      if (method == Method::ridge) {
        rows.row(i) = points_.ridge.row(point);
        continue;
      }
      std::vector<Index> near = nearest_[static_cast<std::size_t>(i)];
      near.resize(std::min(near.size(), static_cast<std::size_t>(problem_.options.neighbors)));
      rows.row(i) = preimage_from_distances(*problem_.slopes, points_.inner.row(point), points_.norm[point], near).transpose();
    }
    return made(std::move(rows), method);
  }

  // The nearest row, or the weighted mean where that is nearer to p: a point that is hardly a mixture is its own pre-image.
  Matrix first_start() const {
    if (problem_.options.start.size() > 0) return problem_.options.start.middleRows(points_.first + ids_.front(), size());
    Matrix rows(size(), problem_.X.cols());
    Matrix means(size(), problem_.X.cols());
    for (Index i = 0; i < size(); ++i) {
      const auto& g = points_.G.row(ids_[static_cast<std::size_t>(i)]);
      rows.row(i) = problem_.X.row(nearest_[static_cast<std::size_t>(i)].front());
      const double sum = g.sum();
      means.row(i) = rows.row(i);
      if (std::abs(sum) > 1e-8 * g.cwiseAbs().sum()) means.row(i) = (g * problem_.X) / sum;
    }
    const Vector at_rows = objective(rows);
    const Vector at_means = objective(means);
    for (Index i = 0; i < size(); ++i) {
      if (at_means[i] < at_rows[i]) rows.row(i) = means.row(i);
    }
    return rows;
  }

  DescentResult run(Method method, const Matrix& start, std::span<const Index> ids) const {
    return method == Method::gradient ? minimize_each(*problem_.slopes, start, points_.G, ids, descent())
                                      : descend(*problem_.slopes, start, points_.G, ids, descent());
  }

  static Candidate of(DescentResult&& found, Method method) {
    Candidate out{
        std::move(found.rows), std::move(found.objective), std::vector<Method>(found.end.size(), method), std::move(found.iterations), {}};
    for (const End end : found.end) out.converged.push_back(end == End::converged);
    return out;
  }

  Candidate searched(Method method) const {
    Candidate out = of(run(method, first_start(), ids_), method);
    for (Index again = 0; again < problem_.options.restarts; ++again) {
      std::vector<Index> open;
      for (Index i = 0; i < size(); ++i) {
        const auto u = static_cast<std::size_t>(i);
        if (!out.converged[u] && std::ssize(nearest_[u]) > again) open.push_back(i);
      }
      if (open.empty()) break;
      Matrix start(std::ssize(open), problem_.X.cols());
      std::vector<Index> ids;
      for (Index a = 0; a < start.rows(); ++a) {
        const auto u = static_cast<std::size_t>(open[static_cast<std::size_t>(a)]);
        start.row(a) = problem_.X.row(nearest_[u][static_cast<std::size_t>(again)]);
        ids.push_back(ids_[u]);
      }
      const Candidate next = of(run(method, start, ids), method);
      for (std::size_t a = 0; a < open.size(); ++a) take_if_better(out, static_cast<std::size_t>(open[a]), next, a);
    }
    return out;
  }

  Candidate polished(Candidate from) const {
    const Candidate next = of(run(Method::fixed_point, from.rows, ids_), Method::fixed_point);
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const Method origin = from.method[i];
      take_if_better(from, i, next, i);
      from.method[i] = origin;
      from.converged[i] = next.converged[i];
    }
    return from;
  }

  // Slow iterations end by limited memory BFGS.
  void finish_search(Candidate& best) const {
    std::vector<Index> ids;
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (best.converged[i]) continue;
      open.push_back(i);
      ids.push_back(ids_[i]);
    }
    if (open.empty()) return;
    Matrix start(std::ssize(open), problem_.X.cols());
    for (std::size_t a = 0; a < open.size(); ++a) start.row(static_cast<Index>(a)) = best.rows.row(static_cast<Index>(open[a]));
    const Candidate next = of(run(Method::gradient, start, ids), Method::gradient);
    for (std::size_t a = 0; a < open.size(); ++a) take_if_better(best, open[a], next, a);
  }

  // Iterations add up, whoever wins.
  static void take_if_better(Candidate& out, std::size_t i, const Candidate& next, std::size_t a) {
    out.iterations[i] += next.iterations[a];
    const auto I = static_cast<Index>(i);
    const auto A = static_cast<Index>(a);
    if (!(next.objective[A] < out.objective[I]) && std::isfinite(out.objective[I])) return;
    out.rows.row(I) = next.rows.row(A);
    out.objective[I] = next.objective[A];
    out.method[i] = next.method[a];
    out.converged[i] = next.converged[a];
  }

  static void keep_better(std::optional<Candidate>& best, Candidate next) {
    if (!best) {
      best = std::move(next);
      return;
    }
    for (std::size_t i = 0; i < best->method.size(); ++i) take_if_better(*best, i, next, i);
  }
};

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
  with_threads(options.run.threads, [&] {
    const Problem problem = make_problem(kernel, basis, options);
    for (Index first = 0; first < m; first += points_at_a_time) {
      const Index count = std::min(points_at_a_time, m - first);
      const Points points = make_points(problem, weights, first, count);
      Stage stage(options.run.progress, "pre-images", static_cast<double>(count));
      std::mutex order;  // vector<bool> shares words between points
      parallel_for((count + block_of_points - 1) / block_of_points, [&](Index b) {
        const Index begin = b * block_of_points;
        const Block block(problem, points, begin, std::min(block_of_points, count - begin), [&] { stage.check(); });
        const Candidate got = block.solve();
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
