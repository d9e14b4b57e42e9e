// The route of conjugate gradients: G = F' W F is never formed, only applied, in tiles of F that are made anew each time;
// F is kept if the rows are in memory and it fits half the budget.
//
// Preconditioner: were the landmarks a sample of the rows, G would be about (w/m) K_mm K_mm, w the sum of weights, so the whitened system
// L^-1 G L^-T + alpha I about (w/m) L' L + alpha I = R R'. Landmarks that are no uniform sample make it worse, never wrong.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "linalg/blas.hpp"
#include "linalg/triangular.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "models/falkon_parts.hpp"
#include "solvers/conjugate_gradient.hpp"

namespace mercer::falkon {

namespace {

constexpr Index chunk_rows = 65536;  // of rows that are read, not of kernel values

// F' W F as a function, and the sums that go with it.
class NormalMatrix {
 public:
  NormalMatrix(const Kernel& kernel, const Samples& Z, const RowSource& source, Precision precision, const Run& run)
      : kernel_(kernel), Z_(Z), source_(source), precision_(precision), run_(run) {
    if (const Samples* X = source.in_memory(); X != nullptr) {
      const double bytes = static_cast<double>(bytes_of(precision)) * static_cast<double>(X->size()) * static_cast<double>(Z.size());
      const bool fits = bytes <= 0.5 * static_cast<double>(memory_budget(run.memory));
      if (fits) stored_bytes_ = static_cast<std::size_t>(bytes);
      op_ = gram_operator(kernel, *X, Z, {precision, fits ? Storage::stored : Storage::streamed, run});
      Vector w(X->size());
      bool weighted = false;
      source.for_each_chunk(chunk_rows, [&](const RowChunk& chunk) {
        weighted = weighted || chunk.weight.size() > 0;
        if (chunk.weight.size() > 0) w.segment(chunk.first, chunk.X.size()) = chunk.weight;
      });
      if (weighted) weight_ = std::move(w);
    }
  }

  std::size_t stored_bytes() const { return stored_bytes_; }

  Matrix apply(const Matrix& V) const {
    if (op_) return op_->apply_normal(V, weight_);
    Matrix sum = Matrix::Zero(V.rows(), V.cols());
    source_.for_each_chunk(chunk_rows, [&](const RowChunk& chunk) { sum += operator_on(chunk.X)->apply_normal(V, chunk.weight); });
    return sum;
  }

  // F' W [Y - shift, 1]; the shift and the sums of the targets are in `moments` (of no features).
  Matrix cross(NormalSums& moments) const {
    const Index targets = source_.targets();
    Matrix sum = Matrix::Zero(Z_.size(), targets + 1);
    moments = NormalSums(0, targets);
    source_.for_each_chunk(chunk_rows, [&](const RowChunk& chunk) {
      const Vector w = chunk.weight.size() == 0 ? Vector::Ones(chunk.X.size()) : chunk.weight;
      Matrix right(chunk.X.size(), targets + 1);
      moments.accumulate(Matrix(chunk.X.size(), 0), chunk.Y, w);
      right << w.asDiagonal() * (chunk.Y.rowwise() - moments.shift().transpose()), w;
      sum += operator_on(chunk.X)->apply_transpose(right);
    });
    return sum;
  }

 private:
  Operator operator_on(const Samples& X) const { return gram_operator(kernel_, X, Z_, {precision_, Storage::streamed, run_}); }

  const Kernel& kernel_;
  const Samples& Z_;
  const RowSource& source_;
  Precision precision_;
  const Run& run_;
  Operator op_{};
  std::size_t stored_bytes_ = 0;
  Vector weight_{};
};

// R with R R' = (w/m) L' L + alpha I.
Matrix preconditioner(const Whitening& whitening, double weight, double alpha, const Run& run) {
  const Index m = whitening.L.rows();
  Matrix P(m, m);
  constexpr Index panel = 128;
  parallel_for((m + panel - 1) / panel, [&](Index p) {  // rows of L' L: L is zero above its diagonal, so products begin at the panel
    const Index first = p * panel;
    const Index count = std::min(panel, m - first);
    linalg::gemm_n(true, count, m, m - first, weight / static_cast<double>(m), whitening.L.data() + first * m + first, m,
                   whitening.L.data() + first * m, m, 0.0, P.data() + first * m, m);
  });
  for (double shift = std::max(alpha, 1e-14 * P.trace()); std::isfinite(shift); shift *= 10) {
    if (std::optional<Matrix> R = linalg::cholesky_lower(P, shift, run.progress)) return std::move(*R);
  }
  throw InvalidArgument("the landmarks' kernel matrix is not finite");
}

}  // namespace

Solution solve_gradients(const Kernel& kernel, const Samples& Z, const RowSource& source, const Whitening& whitening, double alpha,
                         bool fit_intercept, Precision precision, const Gradients& options, const Run& run) {
  const Matrix& L = whitening.L;
  const NormalMatrix normal(kernel, Z, source, precision, run);
  Solution out;
  NormalSums moments;
  const Matrix cross = normal.cross(moments);
  out.weight = moments.weight();
  out.stored_bytes = normal.stored_bytes();
  if (!(out.weight > 0)) throw InvalidArgument("all sample weights are zero: nothing to learn from");
  const Index targets = source.targets();
  const Matrix constant = cross.col(targets);
  const Vector means = moments.target_means();
  const Matrix centred_cross = cross.leftCols(targets) - constant * (means - moments.shift()).transpose();
  const Matrix R = preconditioner(whitening, out.weight, alpha, run);
  out.spread = spread_of(moments);
  Matrix image;  // G c of the last c that was applied
  const auto apply = [&](const Matrix& V) {
    Matrix U = V;
    linalg::solve_lower_transposed(L, U);
    image = normal.apply(U);
    ++out.passes;
    Matrix centred_image = image;
    if (fit_intercept) centred_image -= constant * (constant.transpose() * U) / out.weight;
    linalg::solve_lower(L, centred_image);
    return Matrix(centred_image + alpha * V);
  };
  // Preconditioned from both sides, R^-1 H R^-T, so that the solver's residual is measured where the system is well conditioned.
  const auto apply_preconditioned = [&](const Matrix& V) {
    Matrix U = V;
    linalg::solve_lower_transposed(R, U);
    Matrix HU = apply(U);
    linalg::solve_lower(R, HU);
    return HU;
  };
  Matrix q = centred_cross;
  if (!fit_intercept) q += constant * means.transpose();
  linalg::solve_lower(L, q);
  Matrix right = q;
  linalg::solve_lower(R, right);
  Stage stage(run.progress, "conjugate gradients", static_cast<double>(options.max_iterations));
  // Kernel values in float32 cannot carry a residual below this.
  const double reachable = precision == Precision::float32 ? 2e-5 : 1e-12;
  ConjugateGradientResult found =
      conjugate_gradient(apply_preconditioned, {}, right, {},
                         {std::max(options.tolerance, reachable), options.max_iterations, [&](Index, double) { stage.advance(1); }});
  out.iterations = found.iterations;
  out.converged = found.converged;
  Matrix beta = std::move(found.X);
  linalg::solve_lower_transposed(R, beta);
  Matrix error = apply(beta) - q;
  linalg::solve_lower(R, error);
  for (Index t = 0; t < targets; ++t)
    out.residual = std::max(out.residual, right.col(t).norm() > 0 ? error.col(t).norm() / right.col(t).norm() : error.col(t).norm());
  linalg::solve_lower_transposed(L, beta);
  out.coef = std::move(beta);
  out.intercept = Vector::Zero(targets);
  if (fit_intercept) out.intercept = means - out.coef.transpose() * constant.col(0) / out.weight;
  out.squared_error = moments.target_variation();
  for (Index t = 0; t < targets; ++t) {
    const auto c = out.coef.col(t);  // as NormalSums::squared_error has it
    const double mean_of_f = c.dot(constant.col(0)) / out.weight;
    const double offset = means[t] - mean_of_f - out.intercept[t];
    out.squared_error[t] += c.dot(image.col(t)) - 2 * c.dot(centred_cross.col(t)) - out.weight * mean_of_f * mean_of_f;
    out.squared_error[t] = std::max(out.squared_error[t], 0.0) + out.weight * offset * offset;
  }
  ++out.passes;
  return out;
}

}  // namespace mercer::falkon
