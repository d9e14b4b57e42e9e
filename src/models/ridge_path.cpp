// Scores of every alpha from one family of shifted systems (kernel_ridge_cv.hpp has the formulas).
//
// alpha = 0 with a singular matrix: as a -> 0, P ~ N / a + P0 with N the projection onto the null space, so the leave-one-out residual
// tends to (N S y)_i / (s_i N_ii) where sample i reaches into the null space, and to (P0 S y)_i / (s_i P0_ii) where it does not: the
// residuals of the refitted least-norm solutions, because each refit is the limit of its own ridge fits. SPDX-License-Identifier:
// BSD-3-Clause
#include "models/ridge_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "gram/fill.hpp"
#include "linalg/inverse.hpp"
#include "linalg/shifted_systems.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
constexpr double in_null_space = 1e-9;  // of a unit vector, squared: far above rounding, far below what one sample in 1e6 has

using linalg::ShiftedAnswer;
using linalg::ShiftedSystems;
using Tiles = linalg::SymmetricTiles<double>;

bool wants_eigen(std::span<const double> alphas, Index count, Index n, PathMethod method) {
  if (method != PathMethod::automatic) return method == PathMethod::eigen;
  if (std::find(alphas.begin(), alphas.end(), 0.0) != alphas.end()) return true;  // only eigenvectors see a singular matrix
  return count > 50 + n / 50;                                                     // each alpha costs less then; measured at n = 500 .. 5000
}

std::unique_ptr<ShiftedSystems> systems_of(Tiles A, const Vector& deflate, bool eigen, bool diagonals, const Run& run) {
  const Index n = A.size();
  require_memory(eigen ? linalg::eigen_systems_bytes(n) : linalg::band_systems_bytes(n), run.memory,
                 fmt::format("the regularisation path of {} samples", n), "use fewer samples, or a larger memory budget");
  return eigen ? linalg::eigen_systems(std::move(A), deflate, run.progress, run.memory)
               : linalg::band_systems(std::move(A), deflate, run.progress, {.diagonals = diagonals});
}

Tiles gram_tiles(const Kernel& kernel, const Samples& X, const Vector& s, const Run& run) {
  const Index n = X.size();
  require_memory(Tiles::bytes(n), run.memory, fmt::format("the Gram matrix of {} samples", n),
                 "use fewer samples, or a larger memory budget");
  Tiles A(n);
  fill_lower(PreparedKernel<double>(kernel, X, X), s, A, run.progress);
  return A;
}

void mark_invalid(PathPoint& point, Index targets) {
  point.valid = false;
  point.score = point.leave_one_out_error = point.gcv = point.log_evidence = point.degrees_of_freedom = missing;
  point.scores = Vector::Constant(targets, missing);
  point.note = point.alpha > 0 ? "K + alpha I is not positive definite: the kernel is not, or alpha is lost in rounding"
                               : "the kernel matrix is not positive semi-definite";
}

// s_i r_i, n x targets.
Matrix scaled_residuals(const ShiftedAnswer& a) {
  Matrix r = a.inverse_diagonal.cwiseInverse().asDiagonal() * a.solution;
  for (Index i = 0; a.nullity > 0 && i < r.rows(); ++i) {
    if (a.null_diagonal[i] > in_null_space) r.row(i) = a.null_solution.row(i) / a.null_diagonal[i];
  }
  return r;
}

Vector gcv_of(const ShiftedAnswer& a, double total_weight) {
  const auto n = static_cast<double>(a.solution.rows());
  const bool singular = a.nullity > 0;
  const double trace = singular ? static_cast<double>(a.nullity) : a.inverse_diagonal.sum();
  return n * n / (total_weight * trace * trace) * (singular ? a.null_solution : a.solution).colwise().squaredNorm().transpose();
}

// With the scale of the process at its best, v = (S y)' P S y / free for each target: ridge regression knows no scale of y, and neither may
// what chooses its alpha.
Vector evidence_of(const ShiftedAnswer& a, const Matrix& right, const Vector& s, bool intercept) {
  if (a.nullity > 0) return Vector::Constant(right.cols(), -std::numeric_limits<double>::infinity());
  const auto free = static_cast<double>(right.rows() - (intercept ? 1 : 0));
  double constant = -0.5 * a.log_determinant - 0.5 * free * (std::log(2 * std::numbers::pi) + 1) + s.array().log().sum();
  if (intercept) constant -= 0.5 * std::log(s.squaredNorm());
  const Vector scale = right.cwiseProduct(a.solution).colwise().sum().transpose() / std::max(1.0, free);
  return (constant - 0.5 * free * scale.array().max(std::numeric_limits<double>::min()).log()).matrix();
}

void judge(const ShiftedAnswer& a, const PathProblem& p, const Matrix& right, const Matrix& scaled, PathPoint& point) {
  const auto n = static_cast<double>(right.rows());
  const Vector errors = scaled.colwise().squaredNorm().transpose() / p.total_weight();
  const Vector gcv = gcv_of(a, p.total_weight());
  const Vector evidence = evidence_of(a, right, p.s, p.options.fit_intercept);
  point.valid = true;
  point.leave_one_out_error = errors.mean();
  point.gcv = gcv.mean();
  point.log_evidence = evidence.sum();
  point.degrees_of_freedom = a.nullity > 0 ? n - static_cast<double>(a.nullity) : n - point.alpha * a.inverse_diagonal.sum();
  if (a.nullity > 0) point.note = "alpha = 0 with a singular kernel matrix: the least-norm solution";
  switch (p.options.criterion) {
    case PathCriterion::leave_one_out:
      point.scores = -errors;
      break;
    case PathCriterion::gcv:
      point.scores = -gcv;
      break;
    case PathCriterion::log_evidence:
      point.scores = evidence;
      break;
  }
  point.score = p.options.criterion == PathCriterion::log_evidence ? point.log_evidence : point.scores.mean();
}

// b = sum w (y - K c) / sum w; `image` is S K S s.
Vector intercepts_of(const PathProblem& p, const Matrix& right, const Vector& image, const Matrix& solution) {
  if (!p.options.fit_intercept) return Vector::Zero(right.cols());
  return (right.transpose() * p.s - solution.transpose() * image) / p.total_weight();
}

std::vector<double> alphas_for(const PathProblem& p, const ShiftedSystems& systems) {
  if (!p.options.alphas.empty()) return p.options.alphas;
  const linalg::SpectrumEnds ends = systems.ends();
  return penalty_grid(ends.lowest, ends.highest, p.options.n_alphas);
}

Index alpha_count(const PathProblem& p) {
  return p.options.alphas.empty() ? p.options.n_alphas : static_cast<Index>(p.options.alphas.size());
}

// One fold's fit at every alpha, on the Gram matrix that all share.
class FoldFits {
 public:
  FoldFits(const PathProblem& p, const Tiles& K, const Fold& fold, std::span<const double> alphas) : p_(p), fold_(fold) {
    const Vector s = p.s(fold.train);
    const Matrix right = s.asDiagonal() * p.Y(fold.train, Eigen::all);
    Tiles A = part(K, s);
    const Vector image = p.options.fit_intercept ? Vector(linalg::symmetric_multiply(A, Matrix(s)).col(0)) : Vector();
    const bool eigen = std::find(alphas.begin(), alphas.end(), 0.0) != alphas.end() || p.options.method == PathMethod::eigen;
    const auto systems = systems_of(std::move(A), p.options.fit_intercept ? s : Vector(), eigen, false, p.options.run);
    const std::vector<ShiftedAnswer> answers = systems->answers(alphas, right, p.options.run.progress);
    const Index targets = p.Y.cols();
    Matrix coef = Matrix::Zero(K.size(), targets * static_cast<Index>(alphas.size()));
    Matrix intercept = Matrix::Zero(static_cast<Index>(alphas.size()), targets);
    for (std::size_t a = 0; a < alphas.size(); ++a) {
      valid_.push_back(answers[a].positive_definite);
      if (!valid_.back()) continue;
      for (Index t = 0; t < targets; ++t) {
        coef(fold.train, static_cast<Index>(a) * targets + t) = s.cwiseProduct(answers[a].solution.col(t));
      }
      if (p.options.fit_intercept) {
        intercept.row(static_cast<Index>(a)) =
            ((right.transpose() * s - answers[a].solution.transpose() * image) / s.squaredNorm()).transpose();
      }
    }
    const Matrix f = linalg::symmetric_multiply(K, coef);
    for (std::size_t a = 0; a < alphas.size(); ++a) {
      Matrix r = p.Y(fold.test, Eigen::all) - f(fold.test, Eigen::seqN(static_cast<Index>(a) * targets, targets));
      r.rowwise() -= intercept.row(static_cast<Index>(a));
      residuals_.push_back(std::move(r));
    }
  }

  bool valid(std::size_t a) const { return valid_[a]; }
  const Matrix& residuals(std::size_t a) const { return residuals_[a]; }
  Vector errors(std::size_t a) const {  // weighted, per target
    const Vector w = p_.s(fold_.test).cwiseAbs2();
    return (residuals_[a].cwiseAbs2().transpose() * w) / w.sum();
  }

 private:
  // S K S of the training part.
  Tiles part(const Tiles& K, const Vector& s) const {
    const auto m = static_cast<Index>(fold_.train.size());
    constexpr Index tile = linalg::cholesky_tile;
    Tiles out(m);
    parallel_for(m, [&](Index i) {
      for (Index j = 0; j <= i; ++j) {
        Index a = fold_.train[static_cast<std::size_t>(i)];
        Index b = fold_.train[static_cast<std::size_t>(j)];
        if (a < b) std::swap(a, b);
        out.tile(i / tile, j / tile)[(i % tile) * tile + j % tile] = s[i] * s[j] * K.tile(a / tile, b / tile)[(a % tile) * tile + b % tile];
      }
    });
    return out;
  }

  const PathProblem& p_;
  const Fold& fold_;
  std::vector<bool> valid_;
  std::vector<Matrix> residuals_;
};

}  // namespace

std::vector<double> penalty_grid(double lowest, double highest, Index count) {
  if (!(highest > 0)) highest = 1;  // a kernel that is zero everywhere: any penalty will do
  const double top = highest;
  const double bottom = std::max(1e-10 * highest, 0.1 * lowest);
  std::vector<double> out;
  for (Index i = 0; i < count; ++i) {
    const double t = count == 1 ? 0.5 : static_cast<double>(i) / static_cast<double>(count - 1);
    out.push_back(bottom * std::pow(top / bottom, t));
  }
  return out;
}

KernelPath leave_one_out_path(const Kernel& kernel, const PathProblem& p) {
  const KernelRidgeCvOptions& o = p.options;
  const Index n = p.X.size();
  const Index targets = p.Y.cols();
  Tiles A = gram_tiles(kernel, p.X, p.weighted ? p.s : Vector(), o.run);
  const Vector image = o.fit_intercept ? Vector(linalg::symmetric_multiply(A, Matrix(p.s)).col(0)) : Vector();
  KernelPath path;
  const bool eigen = wants_eigen(o.alphas, alpha_count(p), n, o.method);
  path.method = eigen ? "eigen" : "band";
  path.bytes = eigen ? linalg::eigen_systems_bytes(n) : linalg::band_systems_bytes(n);
  const auto systems = systems_of(std::move(A), o.fit_intercept ? p.s : Vector(), eigen, true, o.run);
  const std::vector<double> alphas = alphas_for(p, *systems);
  const Matrix right = p.right_sides();
  std::vector<ShiftedAnswer> answers = systems->answers(alphas, right, o.run.progress);
  for (std::size_t k = 0; k < alphas.size(); ++k) {
    PathPoint point;
    point.alpha = alphas[k];
    ShiftedAnswer& a = answers[k];
    Matrix residuals;
    if (a.positive_definite) {
      const Matrix scaled = scaled_residuals(a);
      judge(a, p, right, scaled, point);
      residuals = p.s.cwiseInverse().asDiagonal() * scaled;
      path.intercepts.push_back(intercepts_of(p, right, image, a.solution));
    } else {
      mark_invalid(point, targets);
      path.intercepts.emplace_back();
    }
    path.points.push_back(std::move(point));
    path.solutions.push_back(std::move(a.solution));
    path.residuals.push_back(std::move(residuals));
  }
  return path;
}

KernelPath fold_path(const Kernel& kernel, const PathProblem& p) {
  const KernelRidgeCvOptions& o = p.options;
  const Index targets = p.Y.cols();
  const Tiles K = gram_tiles(kernel, p.X, {}, o.run);
  std::vector<double> alphas = o.alphas;
  if (alphas.empty()) {
    Tiles whole = gram_tiles(kernel, p.X, p.weighted ? p.s : Vector(), o.run);
    alphas = alphas_for(p, *systems_of(std::move(whole), o.fit_intercept ? p.s : Vector(), false, false, o.run));
  }
  KernelPath path;
  path.method = "folds";
  path.bytes = Tiles::bytes(p.X.size()) + linalg::band_systems_bytes(p.X.size());
  for (const double alpha : alphas) {
    PathPoint point;
    mark_invalid(point, targets);
    point.alpha = alpha;
    point.valid = true;
    point.note.clear();
    point.scores = Vector::Zero(targets);
    point.fold_scores = Vector::Zero(static_cast<Index>(p.folds.size()));
    if (o.keep_residuals) point.residuals = Matrix::Constant(p.Y.rows(), targets, missing);
    path.points.push_back(std::move(point));
  }
  for (std::size_t f = 0; f < p.folds.size(); ++f) {
    const FoldFits fits(p, K, p.folds[f], alphas);
    for (std::size_t a = 0; a < alphas.size(); ++a) {
      PathPoint& point = path.points[a];
      if (!point.valid) continue;
      if (!fits.valid(a)) {
        point.fold_scores.setConstant(missing);
        mark_invalid(point, targets);
        continue;
      }
      const Vector errors = fits.errors(a);
      point.scores -= errors / static_cast<double>(p.folds.size());
      point.fold_scores[static_cast<Index>(f)] = -errors.mean();
      if (o.keep_residuals) point.residuals(p.folds[f].test, Eigen::all) = fits.residuals(a);
    }
  }
  for (PathPoint& point : path.points) {
    if (point.valid) point.score = point.scores.mean();
  }
  return path;
}

}  // namespace mercer
