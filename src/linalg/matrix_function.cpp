// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/matrix_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/blas.hpp"
#include "linalg/lapack.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

constexpr double symmetric_to = 1e-10;

void require_symmetric(const MatrixRef& K) {
  if (K.rows() == 0 || K.rows() != K.cols())
    throw InvalidArgument(fmt::format("a function of a matrix needs a square matrix, got {} x {}", K.rows(), K.cols()));
  if (!K.allFinite()) throw InvalidArgument("the matrix has a NaN or an infinite entry");
  const double largest = K.cwiseAbs().maxCoeff();
  for (Index i = 0; i < K.rows(); ++i) {
    for (Index j = 0; j < i; ++j) {
      if (std::abs(K(i, j) - K(j, i)) > symmetric_to * largest)
        throw InvalidArgument(fmt::format("the matrix must be symmetric, but entry ({}, {}) is {:.6g} and entry ({}, {}) is {:.6g}", i, j,
                                          K(i, j), j, i, K(j, i)));
    }
  }
}

// S' diag(f) S for eigenvectors in the rows of S, in panels of rows; symmetric to the bit.
Matrix assembled(const Matrix& S, const Vector& f) {
  const Index n = S.rows();
  const Matrix scaled = f.asDiagonal() * S;
  Matrix out(n, n);
  constexpr Index panel = 128;
  parallel_for((n + panel - 1) / panel, [&](Index p) {
    const Index first = p * panel;
    linalg::gemm_n(true, std::min(panel, n - first), n, n, 1.0, S.data() + first, n, scaled.data(), n, 0.0, out.data() + first * n, n);
  });
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) out(i, j) = out(j, i) = 0.5 * (out(i, j) + out(j, i));
  }
  return out;
}

void require_positive(const Vector& d, const char* what) {
  if (d[0] < 0)
    throw InvalidArgument(fmt::format(
        "{} needs a positive semi-definite matrix, but its least eigenvalue is {:.6g} (the largest is {:.6g}); repair_gram makes "
        "such a matrix positive semi-definite, a larger tolerance takes small eigenvalues for 0",
        what, d[0], d[d.size() - 1]));
}

}  // namespace

Matrix matrix_function(const MatrixRef& K, const std::function<Vector(const Vector&)>& f, const MatrixFunctionOptions& options) {
  require_symmetric(K);
  const double n = static_cast<double>(K.rows());
  const double tolerance = options.tolerance.value_or(n * std::numeric_limits<double>::epsilon());
  if (!(tolerance >= 0 && tolerance < 1)) throw InvalidArgument(fmt::format("tolerance must lie in [0, 1), got {}", tolerance));
  require_memory(static_cast<std::size_t>(4 * n * n * sizeof(double)), options.run.memory,
                 fmt::format("a function of a {} x {} matrix", K.rows(), K.cols()), "use fewer rows, or a low-rank factor (Nystroem)");
  Matrix out;
  with_run(options.run, [&] {
    linalg::SymmetricEigen eigen = linalg::symmetric_eigen(Matrix(0.5 * (K + K.transpose())), options.run.progress, options.run.memory);
    const double cut = tolerance * eigen.values.cwiseAbs().maxCoeff();
    for (double& value : eigen.values) {
      if (std::abs(value) <= cut) value = 0;
    }
    const Vector mapped = f(eigen.values);
    if (mapped.size() != eigen.values.size())
      throw InvalidArgument(fmt::format("the function returned {} numbers for {} eigenvalues; it must return one for each", mapped.size(),
                                        eigen.values.size()));
    for (Index i = 0; i < mapped.size(); ++i) {
      if (!std::isfinite(mapped[i]))
        throw InvalidArgument(
            fmt::format("the function must be finite on the spectrum, but is {} at the eigenvalue {:.6g}", mapped[i], eigen.values[i]));
    }
    out = assembled(eigen.vectors, mapped);
  });
  return out;
}

Matrix matrix_sqrt(const MatrixRef& K, const MatrixFunctionOptions& options) {
  return matrix_function(
      K,
      [](const Vector& d) -> Vector {
        require_positive(d, "the square root");
        return d.cwiseSqrt();
      },
      options);
}

Matrix matrix_inverse_sqrt(const MatrixRef& K, const MatrixFunctionOptions& options) {
  return matrix_function(
      K,
      [](const Vector& d) -> Vector {
        require_positive(d, "the inverse square root");
        return d.unaryExpr([](double x) { return x > 0 ? 1 / std::sqrt(x) : 0.0; });
      },
      options);
}

Matrix matrix_log(const MatrixRef& K, const MatrixFunctionOptions& options) {
  return matrix_function(
      K,
      [](const Vector& d) -> Vector {
        require_positive(d, "the logarithm");
        if (d[0] == 0)
          throw InvalidArgument(
              fmt::format("the logarithm needs a nonsingular matrix, but {} of its {} eigenvalues are 0 to rounding; add a "
                          "small multiple of the identity, or take a function that is finite at 0",
                          (d.array() == 0).count(), d.size()));
        return d.array().log();
      },
      options);
}

Matrix matrix_power(const MatrixRef& K, double exponent, const MatrixFunctionOptions& options) {
  if (!std::isfinite(exponent)) throw InvalidArgument(fmt::format("the exponent must be a finite number, got {}", exponent));
  const bool whole = exponent == std::floor(exponent);
  return matrix_function(
      K,
      [&](const Vector& d) -> Vector {
        if (!whole) require_positive(d, "a broken power");
        return d.unaryExpr([&](double x) { return x == 0 && exponent < 0 ? 0.0 : std::pow(x, exponent); });
      },
      options);
}

}  // namespace mercer
