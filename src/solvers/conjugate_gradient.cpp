// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/conjugate_gradient.hpp"

#include <cmath>

namespace mercer {

namespace {

constexpr int most_restarts = 5;  // from the true residual; each gains several digits or the arithmetic has no more to give

Vector column_dots(const Matrix& A, const Matrix& B) { return A.cwiseProduct(B).colwise().sum().transpose(); }

}  // namespace

ConjugateGradientResult conjugate_gradient(const BlockFunctionOf& apply, const BlockFunctionOf& precondition, const Matrix& B,
                                           const Matrix& start, const ConjugateGradientOptions& options) {
  ConjugateGradientResult result;
  const Index k = B.cols();
  result.X = start.size() > 0 ? start : Matrix(Matrix::Zero(B.rows(), k));
  const Vector scale = B.colwise().norm().transpose().unaryExpr([](double v) { return v > 0 ? v : 1.0; });
  const auto relative = [&](const Matrix& R) { return Vector(R.colwise().norm().transpose().cwiseQuotient(scale)); };
  Matrix R = start.size() > 0 ? Matrix(B - apply(result.X)) : B;
  result.residuals = relative(R);
  for (int restart = 0; restart <= most_restarts; ++restart) {
    if (result.residuals.maxCoeff() <= options.tolerance) {
      result.converged = true;
      return result;
    }
    const double before = result.residuals.maxCoeff();
    Matrix P;
    Vector rho;
    Vector residuals = result.residuals;
    while (result.iterations < options.max_iterations && residuals.maxCoeff() > options.tolerance) {
      const Matrix Z = precondition ? precondition(R) : R;
      const Vector next = column_dots(R, Z);
      if (P.size() == 0) {
        P = Z;
      } else {
        for (Index j = 0; j < k; ++j) P.col(j) = Z.col(j) + (rho[j] > 0 ? next[j] / rho[j] : 0.0) * P.col(j);
      }
      rho = next;
      const Matrix AP = apply(P);
      const Vector curvature = column_dots(P, AP);
      bool stuck = true;
      for (Index j = 0; j < k; ++j) {
        if (residuals[j] <= options.tolerance) continue;  // done: left alone
        if (!(curvature[j] > 0) || !(rho[j] > 0)) {
          result.indefinite = true;
          continue;
        }
        const double step = rho[j] / curvature[j];
        result.X.col(j) += step * P.col(j);
        R.col(j) -= step * AP.col(j);
        stuck = false;
      }
      ++result.iterations;
      residuals = relative(R);
      if (options.observe) options.observe(result.iterations, residuals.maxCoeff());
      if (stuck || !R.allFinite()) break;
    }
    R = B - apply(result.X);
    result.residuals = relative(R);
    if (result.iterations >= options.max_iterations || !(result.residuals.maxCoeff() < before / 2)) break;
  }
  result.converged = result.residuals.maxCoeff() <= options.tolerance;
  return result;
}

}  // namespace mercer
