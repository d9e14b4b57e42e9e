// Band reduction and the families A + a I against dense inverses, at sizes around the bandwidth and the tile.
// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/shifted_systems.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <array>

#include "linalg/band_reduction.hpp"
#include "mercer/error.hpp"
#include "mercer/random.hpp"

namespace mercer::linalg {
namespace {

Matrix positive_definite(Index n, std::uint64_t seed) {
  const Matrix X = RandomStream(seed).normal_matrix(n, n + 3);
  Matrix A = X * X.transpose() / static_cast<double>(n);
  return 0.5 * (A + A.transpose());
}

SymmetricTiles<double> tiles_of(const Matrix& A) {
  SymmetricTiles<double> out(A.rows());
  for (Index i = 0; i < out.tiles(); ++i) {
    for (Index j = 0; j <= i; ++j) {
      Eigen::Map<Matrix, 0, Eigen::OuterStride<>> tile(out.tile(i, j), out.tile_rows(i), out.tile_rows(j),
                                                       Eigen::OuterStride<>(SymmetricTiles<double>::stride()));
      tile = A.block(i * cholesky_tile, j * cholesky_tile, out.tile_rows(i), out.tile_rows(j));
      if (i == j) tile.triangularView<Eigen::StrictlyUpper>().setConstant(std::nan(""));  // nobody may look there
    }
  }
  return out;
}

Matrix dense_band(const BandReduction& r) {
  Matrix B = Matrix::Zero(r.size, r.size);
  for (Index j = 0; j < r.size; ++j) {
    for (Index d = 0; d <= r.bandwidth && j + d < r.size; ++d) B(j + d, j) = B(j, j + d) = r.band(j, d);
  }
  return B;
}

// P by dense algebra: the leading block of the inverse of [A + a I, s; s', 0], or of A + a I.
Matrix dense_inverse(const Matrix& A, double a, const Vector& s) {
  const Index n = A.rows();
  Matrix M = Matrix::Zero(n + (s.size() > 0 ? 1 : 0), n + (s.size() > 0 ? 1 : 0));
  M.topLeftCorner(n, n) = A;
  M.topLeftCorner(n, n).diagonal().array() += a;
  if (s.size() > 0) {
    M.col(n).head(n) = s;
    M.row(n).head(n) = s.transpose();
  }
  return M.fullPivLu().inverse().topLeftCorner(n, n);
}

TEST(BandReduction, IsAnOrthogonalSimilarity) {
  for (const Index n : {1, 2, 3, 15, 16, 17, 18, 31, 33, 64, 130, 256, 257, 300, 520}) {
    const Matrix A = positive_definite(n, 1);
    for (const Index b : {1, 16, 64}) {
      if (b >= n && n > 1) continue;
      if (b == 1 && n > 64) continue;
      const BandReduction r = reduce_to_band(tiles_of(A), n, b, {});
      const Buffer<double> g = transposed_q(r, n, {});
      const Eigen::Map<const Matrix> G(g.data(), n, n);
      EXPECT_LT((G * G.transpose() - Matrix::Identity(n, n)).norm(), 1e-14 * static_cast<double>(n)) << n << " " << b;
      EXPECT_LT((G.transpose() * dense_band(r) * G - A).norm(), 1e-13 * A.norm() * std::sqrt(static_cast<double>(n))) << n << " " << b;
      Matrix Y = RandomStream(2).normal_matrix(n, 3);
      const Matrix before = Y;
      r.apply_q_transposed(Y);
      EXPECT_LT((Y - G * before).norm(), 1e-12);
      r.apply_q(Y);
      EXPECT_LT((Y - before).norm(), 1e-12);
    }
  }
}

TEST(BandReduction, OfTheLeadingPartAlone) {
  const Matrix A = positive_definite(280, 3);
  const BandReduction part = reduce_to_band(tiles_of(A), 279, 32, {});
  const BandReduction whole = reduce_to_band(tiles_of(A.topLeftCorner(279, 279)), 279, 32, {});
  EXPECT_EQ(part.band, whole.band);
}

TEST(ShiftedSystems, AgreeWithDenseInverses) {
  constexpr std::array<double, 3> shifts{1e-6, 0.3, 40};
  for (const Index n : {2, 3, 17, 64, 65, 66, 130, 257, 300}) {
    const Matrix A = positive_definite(n, 5);
    const Matrix Y = RandomStream(6).normal_matrix(n, 2);
    for (const bool deflated : {false, true}) {
      const Vector s = deflated ? Vector(RandomStream(7).normal_matrix(n, 1).cwiseAbs()) : Vector();
      for (const bool band : {true, false}) {
        const auto systems = band ? band_systems(tiles_of(A), s, {}) : eigen_systems(tiles_of(A), s, {});
        const std::vector<ShiftedAnswer> answers = systems->answers(shifts, Y, {});
        for (std::size_t a = 0; a < shifts.size(); ++a) {
          const Matrix P = dense_inverse(A, shifts[a], s);
          ASSERT_TRUE(answers[a].positive_definite);
          // The condition of A here is up to 1e6, and both routes lose as many digits of P.
          EXPECT_LT((answers[a].inverse_diagonal - P.diagonal()).norm(), 1e-9 * P.diagonal().norm()) << n << " " << band << deflated << a;
          EXPECT_LT((answers[a].solution - P * Y).norm(), 1e-9 * (P * Y).norm()) << n << " " << band << deflated << a;
          if (!deflated) {
            const Matrix shifted = A + shifts[a] * Matrix::Identity(n, n);
            EXPECT_NEAR(answers[a].log_determinant, 2 * Eigen::LLT<Matrix>(shifted).matrixLLT().diagonal().array().log().sum(), 1e-8);
          }
        }
      }
    }
  }
}

TEST(ShiftedSystems, NarrowBandsAndManyShifts) {
  const Matrix A = positive_definite(100, 9);
  const Matrix Y = RandomStream(6).normal_matrix(100, 1);
  std::vector<double> shifts;
  for (int i = 0; i < 21; ++i) shifts.push_back(std::pow(10, -4 + 0.3 * i));
  for (const Index width : {1, 2, 7, 99, 500}) {
    const auto answers = band_systems(tiles_of(A), {}, {}, {.bandwidth = width})->answers(shifts, Y, {});
    for (std::size_t a = 0; a < shifts.size(); ++a) {
      const Matrix P = dense_inverse(A, shifts[a], {});
      EXPECT_LT((answers[a].inverse_diagonal - P.diagonal()).norm(), 1e-9 * P.diagonal().norm()) << width << " " << a;
    }
  }
}

TEST(ShiftedSystems, WithoutDiagonalsTheSolutionsAreTheSame) {
  const Matrix A = positive_definite(150, 9);
  const Matrix Y = RandomStream(6).normal_matrix(150, 2);
  constexpr std::array<double, 2> shifts{0.01, 3};
  for (const Vector& s : {Vector(), Vector(Vector::Ones(150))}) {
    const auto with = band_systems(tiles_of(A), s, {})->answers(shifts, Y, {});
    const auto without = band_systems(tiles_of(A), s, {}, {.diagonals = false})->answers(shifts, Y, {});
    for (std::size_t a = 0; a < shifts.size(); ++a) {
      EXPECT_LT((with[a].solution - without[a].solution).norm(), 1e-11 * with[a].solution.norm());
      EXPECT_EQ(without[a].inverse_diagonal.size(), 0);
    }
  }
}

TEST(ShiftedSystems, EndsOfTheSpectrum) {
  const Matrix A = positive_definite(150, 11);
  const Vector values = Eigen::SelfAdjointEigenSolver<Matrix>(A).eigenvalues();
  const SpectrumEnds band = band_systems(tiles_of(A), {}, {})->ends();
  const SpectrumEnds eigen = eigen_systems(tiles_of(A), {}, {})->ends();
  EXPECT_NEAR(band.highest / values[149], 1, 0.011);
  EXPECT_NEAR(band.lowest / values[0], 1, 0.1);
  EXPECT_NEAR(eigen.highest / values[149], 1, 1e-12);
  EXPECT_NEAR(eigen.lowest / values[0], 1, 1e-7);
  Matrix singular = RandomStream(12).normal_matrix(80, 3);
  singular = singular * singular.transpose();
  EXPECT_EQ(band_systems(tiles_of(singular), {}, {})->ends().lowest, 0);
  EXPECT_EQ(eigen_systems(tiles_of(singular), {}, {})->ends().lowest, 0);
  EXPECT_EQ(band_systems(tiles_of(Matrix::Zero(5, 5)), {}, {})->ends().highest, 0);
}

TEST(ShiftedSystems, IndefiniteShiftsAreFlagged) {
  Matrix A = -positive_definite(70, 13);
  const Matrix Y = Matrix::Ones(70, 1);
  constexpr std::array<double, 3> shifts{0, 0.5, 1e3};
  for (const bool band : {true, false}) {
    const auto answers = (band ? band_systems(tiles_of(A), {}, {}) : eigen_systems(tiles_of(A), {}, {}))->answers(shifts, Y, {});
    EXPECT_FALSE(answers[0].positive_definite);
    EXPECT_FALSE(answers[1].positive_definite);
    EXPECT_TRUE(answers[2].positive_definite);
  }
}

TEST(ShiftedSystems, ShiftZeroOfASingularMatrixIsTheLimit) {
  const Matrix F = RandomStream(14).normal_matrix(40, 4);
  const Matrix A = F * F.transpose();
  const Matrix Y = RandomStream(15).normal_matrix(40, 2);
  constexpr std::array<double, 2> shifts{0, 1e-3};
  const auto answers = eigen_systems(tiles_of(A), {}, {})->answers(shifts, Y, {});
  ASSERT_TRUE(answers[0].positive_definite);
  EXPECT_EQ(answers[0].nullity, 36);
  const Matrix plus = A.completeOrthogonalDecomposition().pseudoInverse();
  const Matrix N = Matrix::Identity(40, 40) - A * plus;
  EXPECT_LT((answers[0].solution - plus * Y).norm(), 1e-10);
  EXPECT_LT((answers[0].null_solution - N * Y).norm(), 1e-10);
  EXPECT_LT((answers[0].null_diagonal - N.diagonal()).norm(), 1e-10);
  EXPECT_EQ(answers[1].nullity, 0);
}

TEST(ShiftedSystems, SameBitsForAnyNumberOfThreadsAndCancel) {
  const Matrix A = positive_definite(600, 16);
  const Matrix Y = RandomStream(17).normal_matrix(600, 1);
  constexpr std::array<double, 2> shifts{1e-2, 1};
  std::array<std::vector<ShiftedAnswer>, 2> runs;
  for (const int threads : {1, 2}) {
    with_threads(threads, [&] {
      runs[static_cast<std::size_t>(threads - 1)] = band_systems(tiles_of(A), Vector::Ones(600), {})->answers(shifts, Y, {});
    });
  }
  for (std::size_t a = 0; a < shifts.size(); ++a) {
    EXPECT_EQ(runs[0][a].inverse_diagonal, runs[1][a].inverse_diagonal);
    EXPECT_EQ(runs[0][a].solution, runs[1][a].solution);
  }
  const ProgressCallback stop = [](const ProgressEvent&) { return false; };
  EXPECT_THROW(band_systems(tiles_of(A), {}, stop), Cancelled);
}

}  // namespace
}  // namespace mercer::linalg
