// SPDX-License-Identifier: BSD-3-Clause
#include "models/preimage_block.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mercer/gram.hpp"
#include "models/preimage_descent.hpp"
#include "models/preimage_distance.hpp"

namespace mercer {

namespace {

using Method = PreimageMethod;
using Candidate = PreimageCandidate;
using End = DescentResult::End;

constexpr double ties = 1e-10;  // two searches that end at the same minimum differ by less, relative to the squares in J

// The work on one block of points.
class Block {
 public:
  Block(const PreimageProblem& problem, const PreimagePoints& points, Index begin, Index count, std::function<void()> check)
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
      if (has_method(problem_, m)) keep_better(other, direct(m));
    }
    if (!problem_.slopes) return std::move(*other);
    std::optional<Candidate> best = searched(Method::fixed_point);
    keep_better(best, polished(std::move(*other)), ties);
    finish_search(*best);
    return std::move(*best);
  }

 private:
  const PreimageProblem& problem_;
  const PreimagePoints& points_;
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

  // Iterations add up, whoever wins. By less than `slack` of the squares in J nobody wins.
  void take_if_better(Candidate& out, std::size_t i, const Candidate& next, std::size_t a, double slack = 0) const {
    out.iterations[i] += next.iterations[a];
    const auto I = static_cast<Index>(i);
    const auto A = static_cast<Index>(a);
    const double squares = std::abs(out.objective[I]) + points_.norm[ids_[i]];
    if (!(next.objective[A] < out.objective[I] - slack * squares) && std::isfinite(out.objective[I])) return;
    out.rows.row(I) = next.rows.row(A);
    out.objective[I] = next.objective[A];
    out.method[i] = next.method[a];
    out.converged[i] = next.converged[a];
  }

  void keep_better(std::optional<Candidate>& best, Candidate next, double slack = 0) const {
    if (!best) {
      best = std::move(next);
      return;
    }
    for (std::size_t i = 0; i < best->method.size(); ++i) take_if_better(*best, i, next, i, slack);
  }
};

}  // namespace

bool has_method(const PreimageProblem& problem, Method method) {
  if (method == Method::ridge) return true;
  return problem.slopes && (method != Method::distance || problem.slopes->radial());
}

PreimageCandidate solve_block(const PreimageProblem& problem, const PreimagePoints& points, Index begin, Index count,
                              std::function<void()> check) {
  return Block(problem, points, begin, count, std::move(check)).solve();
}

}  // namespace mercer
