// Functions of a symmetric matrix by its spectrum: K = S diag(d) S' gives f(K) = S diag(f(d)) S'.
//
//   Matrix root = matrix_sqrt(K);                                   // root * root = K
//   Matrix whitener = matrix_inverse_sqrt(K);                       // whitener * K * whitener = the projector on the range of K
//   Matrix heat = matrix_function(K, [](const Vector& d) -> Vector { return (-0.1 * d.array()).exp(); });
//
// Eigenvalues of size at most `tolerance` times the largest are rounding and taken as 0: the inverse root and negative powers are then
// those of the pseudo-inverse, and the logarithm, which 0 has not, is refused. Roots, logarithms and broken powers need K positive
// semi-definite; whole powers and functions of the user's take any symmetric K. Method: all eigenpairs (LAPACK dsyevd), one product. Cost:
// 11 n^3 flops about, four n x n matrices; n <= 32766. Reference: source L, "Functional calculus" (SPEC K7).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>

#include "mercer/matrix.hpp"
#include "mercer/run.hpp"

namespace mercer {

struct MatrixFunctionOptions {
  std::optional<double> tolerance{};  // relative to the largest |eigenvalue|; not given: n times the machine's epsilon
  Run run{};
};

// K must be square, finite and symmetric to 1e-10 of its largest entry; InvalidArgument otherwise. f maps the eigenvalues, ascending, to as
// many finite numbers.
Matrix matrix_function(const MatrixRef& K, const std::function<Vector(const Vector&)>& f, const MatrixFunctionOptions& options = {});

Matrix matrix_sqrt(const MatrixRef& K, const MatrixFunctionOptions& options = {});
Matrix matrix_inverse_sqrt(const MatrixRef& K, const MatrixFunctionOptions& options = {});
Matrix matrix_log(const MatrixRef& K, const MatrixFunctionOptions& options = {});
Matrix matrix_power(const MatrixRef& K, double exponent, const MatrixFunctionOptions& options = {});  // exponent 0 is the identity

}  // namespace mercer
