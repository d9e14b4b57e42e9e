// One factorisation of a symmetric A that serves every A + a I: solutions, diagonals of the inverse, log-determinants. What a whole
// regularisation path, exact leave-one-out and the evidence are made of.
//
// With a vector s to deflate, everything is about P(a) = Z (Z' A Z + a I)^-1 Z', the columns of Z an orthonormal basis of what is
// orthogonal to s: the leading block of the inverse of the bordered matrix [A + a I, s; s', 0], so the solution of least squares with a
// free multiple of s. One Householder reflection takes s to the last axis, which is then left out: nothing is subtracted, so no digits are
// lost.
//
// Two ways, A = G' M G with orthonormal rows of G:
//   band:  M a band (band_reduction.hpp), per a one band Cholesky M + a I = L L' and the columns of L^-1 G by blocks: 8/3 n^3 flops once,
//          2 n^2 bandwidth per a, all products of matrices, same bits for any number of threads;
//   eigen: M diagonal (LAPACK's dsyevd), about twice the time once, 2 n^2 per a; the only one that sees a singular A.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "linalg/cholesky.hpp"
#include "mercer/matrix.hpp"
#include "mercer/run.hpp"

namespace mercer::linalg {

struct ShiftedAnswer {
  bool positive_definite = false;  // the rest is empty when it is not
  double log_determinant = 0;      // of Z' A Z + a I
  Matrix solution{};               // P Y, n x columns of Y
  Vector inverse_diagonal{};       // of P
  // A singular Z' A Z with a = 0, in the limit a -> 0: P ~ N / a + P0, N the projection onto the null space. `solution` is P0 Y.
  Index nullity = 0;
  Matrix null_solution{};  // N Y
  Vector null_diagonal{};  // of N
};

struct SpectrumEnds {
  double lowest = 0;   // to ten per cent; 0 when it is zero to rounding, or negative
  double highest = 0;  // to a per cent
};

class ShiftedSystems {
 public:
  virtual ~ShiftedSystems() = default;
  virtual SpectrumEnds ends() const = 0;
  virtual std::vector<ShiftedAnswer> answers(std::span<const double> shifts, const MatrixRef& Y,
                                             const ProgressCallback& progress) const = 0;
};

inline constexpr Index default_bandwidth = 64;

// `deflate` empty: nothing is. A is used up. Without `diagonals` half the work is saved, and answers have none.
struct BandOptions {
  Index bandwidth = default_bandwidth;
  bool diagonals = true;
};
std::unique_ptr<ShiftedSystems> band_systems(SymmetricTiles<double> A, const Vector& deflate, const ProgressCallback& progress,
                                             const BandOptions& options = {});
std::unique_ptr<ShiftedSystems> eigen_systems(SymmetricTiles<double> A, const Vector& deflate, const ProgressCallback& progress,
                                              std::size_t memory = 0);

// Largest memory of each way, the matrix itself included.
std::size_t band_systems_bytes(Index n);
std::size_t eigen_systems_bytes(Index n);

}  // namespace mercer::linalg
