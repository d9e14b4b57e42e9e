// SPDX-License-Identifier: BSD-3-Clause
#include "models/gp_likelihood.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "gram/fill.hpp"
#include "gram/weighted_gradient.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"

namespace mercer {

namespace {

using linalg::SymmetricTiles;

const double log_two_pi = std::log(2 * std::numbers::pi);

// The first row of which the rows before it leave nothing but rounding, -1: none.
Index vanished(const Vector& factor_diagonal, const Vector& diagonal) {
  for (Index i = 0; i < diagonal.size(); ++i) {
    if (!(factor_diagonal[i] * factor_diagonal[i] > 10 * std::numeric_limits<double>::epsilon() * diagonal[i])) return i;
  }
  return -1;
}

FactoredCovariance factored(const PreparedKernel<double>& kernel, const Vector& noise, const Matrix& Y, const ProgressCallback& progress) {
  FactoredCovariance out{SymmetricTiles<double>(kernel.rows()), Y};
  fill_lower(kernel, Vector(), out.L, progress);
  for (Index i = 0; i < noise.size(); ++i) {
    const Index r = i % linalg::cholesky_tile;
    out.L.tile(i / linalg::cholesky_tile, i / linalg::cholesky_tile)[r * out.L.stride() + r] += noise[i];
  }
  out.failed = linalg::cholesky(out.L, progress);
  if (out.failed < 0) out.failed = vanished(linalg::diagonal_of(out.L), kernel.diagonal() + noise);
  if (out.failed >= 0) return out;
  linalg::cholesky_solve(out.L, out.coef);
  const auto targets = static_cast<double>(Y.cols());
  out.log_marginal = -0.5 * Y.cwiseProduct(out.coef).sum() - 0.5 * targets * linalg::log_determinant(out.L) -
                     0.5 * targets * static_cast<double>(Y.rows()) * log_two_pi;
  return out;
}

// A whole tile of W from lower tiles: scale * M(I, J) + (U_I V_J' + V_I U_J')/2.
class Weights {
 public:
  Weights(const SymmetricTiles<double>& M, double scale, const Matrix& U, const Matrix& V)
      : M_(M), scale_(scale), U_(U), V_(V), same_(&U == &V) {}

  void operator()(Range I, Range J, Tile<double> out) const {
    const double* tile = M_.tile(I.begin / linalg::cholesky_tile, J.begin / linalg::cholesky_tile);
    const Index s = M_.stride();
    const bool diagonal = I.begin == J.begin;
    Eigen::Map<Matrix, 0, Eigen::OuterStride<>> W(out.data, out.rows, out.cols, Eigen::OuterStride<>(out.stride));
    for (Index i = 0; i < I.count; ++i) {
      for (Index j = 0; j < J.count; ++j) out.row(i)[j] = scale_ * (diagonal && j > i ? tile[j * s + i] : tile[i * s + j]);
    }
    for (Index t = 0; t < U_.cols(); ++t) {
      add_outer(U_.col(t).segment(I.begin, I.count), V_.col(t).segment(J.begin, J.count), same_ ? 1 : 0.5, out);
      if (!same_) add_outer(V_.col(t).segment(I.begin, I.count), U_.col(t).segment(J.begin, J.count), 0.5, out);
    }
  }

  // The diagonal of W times `noise`, summed.
  double along(const Vector& noise) const {
    const Vector diagonal = scale_ * linalg::diagonal_of(M_) + U_.cwiseProduct(V_).rowwise().sum();
    return diagonal.dot(noise);
  }

 private:
  static void add_outer(const Vector& u, const Vector& v, double factor, Tile<double> out) {
    for (Index i = 0; i < out.rows; ++i) {
      const double x = factor * u[i];
      double* row = out.row(i);
      for (Index j = 0; j < out.cols; ++j) row[j] += x * v[j];
    }
  }

  const SymmetricTiles<double>& M_;
  double scale_;
  const Matrix& U_;
  const Matrix& V_;
  bool same_;
};

void add_gradient(const PreparedKernel<double>& prepared, Index parameters, const Weights& W, const Vector& noise,
                  const ProgressCallback& progress, LikelihoodValue& out) {
  out.by_kernel = weighted_gradient(prepared, parameters, W, progress);
  out.by_noise = W.along(noise);
}

LikelihoodValue failure(Index row) { return {-std::numeric_limits<double>::infinity(), {}, 0, row}; }

}  // namespace

FactoredCovariance factored(const Kernel& kernel, const Samples& X, const Vector& noise, const Matrix& Y,
                            const ProgressCallback& progress) {
  return factored(PreparedKernel<double>(kernel, X, X), noise, Y, progress);
}

LikelihoodValue likelihood(const LikelihoodProblem& p, const Kernel& kernel, const Vector& noise, bool gradient,
                           const ProgressCallback& progress) {
  const PreparedKernel<double> prepared(kernel, p.X, p.X);
  FactoredCovariance f = factored(prepared, noise, p.Y, progress);
  if (f.failed >= 0) return failure(f.failed);
  const auto targets = static_cast<double>(p.Y.cols());
  const auto parameters = static_cast<Index>(kernel.parameters().size());
  LikelihoodValue out{f.log_marginal};
  if (p.objective == GaussianProcessObjective::marginal) {
    if (!gradient) return out;
    linalg::symmetric_inverse(f.L, progress);
    const Matrix half = std::sqrt(0.5) * f.coef;
    add_gradient(prepared, parameters, Weights(f.L, -0.5 * targets, half, half), noise, progress, out);
    return out;
  }
  linalg::symmetric_inverse(f.L, progress);
  const Vector q = linalg::diagonal_of(f.L);
  const auto root = (f.coef.array().square().colwise() / q.array()).eval();  // a_i^2/q_i
  out.value = 0.5 * (targets * (q.array().log().sum() - static_cast<double>(q.size()) * log_two_pi) - root.sum());
  if (!std::isfinite(out.value)) return failure(p.X.size() - 1);
  if (!gradient) return out;
  const Vector c = 0.5 * (targets + root.rowwise().sum()) / q.array();
  const Matrix Qb = linalg::symmetric_multiply(f.L, (f.coef.array().colwise() / q.array()).matrix());
  const SymmetricTiles<double> S = linalg::symmetric_sandwich(f.L, c, progress);
  add_gradient(prepared, parameters, Weights(S, -1, Qb, f.coef), noise, progress, out);
  return out;
}

std::size_t likelihood_bytes(Index n, GaussianProcessObjective objective, bool gradient) {
  const bool two = gradient && objective == GaussianProcessObjective::leave_one_out;
  return (two ? 2 : 1) * SymmetricTiles<double>::bytes(n);
}

void throw_not_positive(const Kernel& kernel, const Samples& X, const Vector& noise, Index failed) {
  // What is left of row `failed` when those before it are taken out: the pivot that had to be positive.
  double pivot = gram_diagonal(kernel, X.slice(failed, 1))[0] + noise[failed];
  if (failed > 0) {
    const Samples before = X.slice(0, failed);
    const Matrix cross = gram(kernel, before, X.slice(failed, 1));
    const FactoredCovariance f = factored(kernel, before, noise.head(failed), cross, {});
    if (f.failed < 0) pivot -= cross.cwiseProduct(f.coef).sum();
  }
  const std::string what =
      fmt::format("the covariance matrix of {} with noise {:.3g} is not positive definite: the pivot of sample {} is {:.3g}", kernel.text(),
                  noise.minCoeff(), failed, pivot);
  if (kernel.psd() == Verdict::no)
    throw InvalidArgument(
        what + "; this kernel is not positive semi-definite, so it is no covariance: use another (check_kernel tells which are)");
  if (kernel.psd() == Verdict::unknown)
    throw InvalidArgument(
        what + "; whether this kernel is positive semi-definite is not known (check_kernel looks at data): use another or a larger noise");
  throw InvalidArgument(what + "; samples that (nearly) repeat, or a long length scale, make it singular to rounding: use a larger noise");
}

}  // namespace mercer
