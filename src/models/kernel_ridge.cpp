// Kernel ridge regression.
//
// Notation: K Gram matrix, s = sqrt(w) roots of the sample weights, S = diag(s), a = alpha, c coefficients, b intercept.
// Minimising sum w_i (y_i - f(x_i) - b)^2 + a |f|^2 over f = sum c_i k(x_i, .) gives  c = S c',  (S K S + a I) c' = S (y - b),
// and, with an intercept, s'c' = 0. With u = A^-1 S y and v = A^-1 s: b = s'u / s'v, c' = u - b v.
// For a = 0, and whenever A is not positive definite, A^-1 is the pseudo-inverse, which gives the solution of least norm (SPEC R2).
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_ridge.hpp"

#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <map>

#include "gram/fill.hpp"
#include "linalg/lapack.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "models/weights.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;

struct Problem {
  const Samples& X;
  Matrix right_sides;  // S Y, and s as the last column when an intercept is fitted
  Vector s;
  bool weighted = false;
  const KernelRidgeOptions& options;
};

// (S K S + a I)^-1 applied to right sides by Cholesky; false when the matrix is not positive definite.
template <class T>
bool solve_cholesky(const PreparedKernel<T>& kernel, const Problem& p, double alpha, Matrix& right_sides, SolveSummary& summary) {
  const Run& run = p.options.run;
  const Index n = kernel.rows();
  summary.bytes = linalg::SymmetricTiles<T>::bytes(n);
  require_memory(summary.bytes, run.memory, fmt::format("kernel ridge regression on {} samples in {}", n, name_of(precision_of<T>)),
                 sizeof(T) == 8 ? "use precision float32 (half of it) or fewer samples" : "use fewer samples");
  linalg::SymmetricTiles<T> A(n);
  fill_lower(kernel, p.weighted ? p.s : Vector(), A, run.progress);
  A.add_to_diagonal(alpha);
  if (linalg::cholesky(A, run.progress) >= 0) return false;
  RowMatrix<T> b = right_sides.cast<T>();
  linalg::cholesky_solve(A, b);
  right_sides = b.template cast<double>();
  return right_sides.allFinite();
}

// The same by the spectrum: eigenvalues of S K S + a I below rounding are treated as zero.
void solve_spectrum(const Kernel& kernel, const Problem& p, double alpha, Matrix& right_sides, SolveSummary& summary) {
  const Index n = p.X.size();
  const auto numbers = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  summary.bytes = 4 * numbers * sizeof(double);
  require_memory(summary.bytes, p.options.run.memory, fmt::format("the minimum-norm solution on {} samples (needs all eigenvectors)", n),
                 "use alpha > 0 or fewer samples");
  Matrix A = gram(kernel, p.X, {.run = p.options.run});
  A = p.s.asDiagonal() * A * p.s.asDiagonal();
  A.diagonal().array() += alpha;
  const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(std::move(A), p.options.run.progress);
  const double cut = static_cast<double>(n) * std::numeric_limits<double>::epsilon() * eigen.values.cwiseAbs().maxCoeff();
  Matrix coordinates = eigen.vectors * right_sides;
  summary.rank = 0;
  for (Index j = 0; j < n; ++j) {
    const bool keep = std::abs(eigen.values[j]) > cut;
    coordinates.row(j) *= keep ? 1 / eigen.values[j] : 0.0;
    summary.rank += keep ? 1 : 0;
  }
  right_sides = eigen.vectors.transpose() * coordinates;
}

// Solves for all columns that share one alpha, and reads off coefficients and intercepts.
template <class T>
void solve_group(const Kernel& kernel, const PreparedKernel<T>& prepared, const Problem& p, double alpha, Matrix& solved,
                 SolveSummary& summary) {
  summary.method = "Cholesky";
  summary.rank = p.X.size();
  if (alpha > 0) {
    Matrix attempt = solved;
    if (solve_cholesky(prepared, p, alpha, attempt, summary)) {
      solved = std::move(attempt);
      return;
    }
    summary.positive_definite = false;
  }
  summary.method = "pseudo-inverse";
  solve_spectrum(kernel, p, alpha, solved, summary);
}

// |(K + a W^-1) c + b - y| / |y| over samples of positive weight, worst target, from float64 kernel tiles whatever the factor was made of.
double relative_residual(const Kernel& kernel, const Problem& p, const MatrixRef& Y, const Matrix& coef, const Vector& intercept,
                         const Vector& alpha) {
  const Operator op = gram_operator(kernel, p.X, {Precision::float64, Storage::streamed, p.options.run});
  Matrix residual = op->apply(coef) - Y;
  double worst = 0;
  for (Index t = 0; t < Y.cols(); ++t) {
    double error = 0;
    double scale = 0;
    for (Index i = 0; i < Y.rows(); ++i) {
      if (p.s[i] == 0) continue;
      const double r = p.s[i] * (residual(i, t) + intercept[t]) + alpha[t] * coef(i, t) / p.s[i];
      error += r * r;
      scale += p.s[i] * p.s[i] * Y(i, t) * Y(i, t);
    }
    worst = std::max(worst, scale > 0 ? std::sqrt(error / scale) : std::sqrt(error));
  }
  return worst;
}

template <class T>
void solve_all(const Kernel& kernel, const Problem& p, const MatrixRef& Y, const Vector& alpha, Matrix& coef, Vector& intercept,
               SolveSummary& summary) {
  std::map<double, std::vector<Index>> groups;  // targets by their alpha: one factorisation each
  for (Index t = 0; t < Y.cols(); ++t) groups[alpha[t]].push_back(t);
  const PreparedKernel<T> prepared(kernel, p.X, p.X);
  const bool with_intercept = p.options.fit_intercept;
  for (const auto& [a, targets] : groups) {
    Matrix solved(Y.rows(), static_cast<Index>(targets.size()) + (with_intercept ? 1 : 0));
    for (std::size_t t = 0; t < targets.size(); ++t) solved.col(static_cast<Index>(t)) = p.right_sides.col(targets[t]);
    if (with_intercept) solved.rightCols(1) = p.s;
    solve_group<T>(kernel, prepared, p, a, solved, summary);
    const Vector v = with_intercept ? Vector(solved.rightCols(1)) : Vector::Zero(Y.rows());
    const double sv = p.s.dot(v);
    for (std::size_t t = 0; t < targets.size(); ++t) {
      const auto u = solved.col(static_cast<Index>(t));
      // s'v = 0 only when the pseudo-inverse sends s to zero: then no intercept is better than another.
      const double b = with_intercept && sv != 0 ? p.s.dot(u) / sv : 0.0;
      intercept[targets[t]] = b;
      coef.col(targets[t]) = p.s.cwiseProduct(u - b * v);
    }
  }
}

std::string sentence_of(const SolveSummary& s, Index n) {
  const std::string kind =
      s.method == "Cholesky" ? fmt::format("Cholesky of {0} x {0}", n) : fmt::format("pseudo-inverse of {0} x {0}, rank {1}", n, s.rank);
  const char* why = s.positive_definite ? "" : " (K + alpha I was not positive definite: a larger alpha is faster and safer)";
  return fmt::format("solved: {}{}, relative residual {:.1e}, {}, {:.2f} s", kind, why, s.residual,
                     format_bytes(static_cast<double>(s.bytes)), s.seconds);
}

}  // namespace

KernelRidgeModel KernelRidgeModel::from_parts(Kernel kernel, Samples samples, Matrix dual_coef, Vector intercept, Vector alpha,
                                              Precision precision, SolveSummary summary) {
  if (dual_coef.rows() != samples.size() || intercept.size() != dual_coef.cols() || alpha.size() != dual_coef.cols()) {
    throw InvalidArgument(fmt::format("a kernel ridge model of {} samples and {} targets cannot have {} x {} coefficients", samples.size(),
                                      intercept.size(), dual_coef.rows(), dual_coef.cols()));
  }
  KernelRidgeModel model(std::move(kernel), std::move(samples));
  model.dual_coef_ = std::move(dual_coef);
  model.intercept_ = std::move(intercept);
  model.alpha_ = std::move(alpha);
  model.precision_ = precision;
  model.summary_ = std::move(summary);
  return model;
}

Matrix KernelRidgeModel::predict(const Samples& X, const Run& run) const {
  if (X.width() != samples_.width())
    throw InvalidArgument(fmt::format("X has {} columns, the model was fitted on {}", X.width(), samples_.width()));
  if (X.empty()) return Matrix(0, n_targets());
  Matrix f = gram_operator(kernel_, X, samples_, {precision_, Storage::streamed, run})->apply(dual_coef_);
  f.rowwise() += intercept_.transpose();
  return f;
}

KernelRidgeModel fit_kernel_ridge(const Samples& X, const MatrixRef& Y, const KernelRidgeOptions& options) {
  const auto start = Clock::now();
  require_matching(X, Y);
  const Vector alpha = penalties(options.alpha, options.alpha_per_target, options.lambda, X.size(), Y.cols());
  const Precision precision = options.precision.value_or(Precision::float64);
  const Vector s = root_weights(options.sample_weight, X.size());
  const Problem problem{X, s.asDiagonal() * Y, s, options.sample_weight.size() > 0, options};
  Matrix coef(Y.rows(), Y.cols());
  Vector intercept = Vector::Zero(Y.cols());
  SolveSummary summary;
  Kernel kernel = options.kernel;
  with_threads(options.run.threads, [&] {
    kernel = resolve(options.kernel, X);
    if (precision == Precision::float32) {
      solve_all<float>(kernel, problem, Y, alpha, coef, intercept, summary);
    } else {
      solve_all<double>(kernel, problem, Y, alpha, coef, intercept, summary);
    }
    summary.residual = relative_residual(kernel, problem, Y, coef, intercept, alpha);
  });
  summary.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  summary.sentence = sentence_of(summary, X.size());
  return KernelRidgeModel::from_parts(kernel, X, std::move(coef), std::move(intercept), alpha, precision, std::move(summary));
}

}  // namespace mercer
