// Verdicts on matrices against matrices whose spectrum is known by construction, and repairs against what they promise.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>
#include <limits>

#include "mercer/diagnosis.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

constexpr double eps = std::numeric_limits<double>::epsilon();

// LAPACK's threads wait for each other by spinning, which takes long where other programs run.
const mercer::Run one_thread{.threads = 1};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Q diag(values) Q' with a random orthogonal Q, symmetric to the bit.
Matrix with_spectrum(const Vector& values, std::uint64_t seed) {
  const Index n = values.size();
  const Eigen::MatrixXd A = RandomStream(seed).normal_matrix(n, n);
  const Eigen::MatrixXd Q = Eigen::HouseholderQR<Eigen::MatrixXd>(A).householderQ();
  const Matrix K = Q * values.asDiagonal() * Q.transpose();
  return (K + K.transpose()) / 2;
}

TEST(CheckGram, FindsTheViolatingVector) {
  Matrix K(2, 2);
  K << 1, 2, 2, 1;  // eigenvalues -1 and 3
  const GramCheck bad = check_gram(K);
  EXPECT_FALSE(bad.psd);
  EXPECT_FALSE(bad.is_gram());
  EXPECT_TRUE(bad.nonsingular);
  EXPECT_FALSE(bad.strictly_positive);
  EXPECT_NEAR(bad.smallest_eigenvalue, -1, 1e-15);
  EXPECT_NEAR(bad.condition, 3, 1e-14);
  EXPECT_NEAR(bad.violating.norm(), 1, 1e-15);
  EXPECT_NEAR(bad.violating.dot(K * bad.violating), -1, 1e-14);
  EXPECT_NEAR(bad.violation, -1, 1e-14);
  ASSERT_TRUE(bad.cauchy_schwarz);
  EXPECT_EQ(bad.cauchy_schwarz->row, 0);
  EXPECT_EQ(bad.cauchy_schwarz->col, 1);
  EXPECT_EQ(bad.cauchy_schwarz->entry, 2);
  EXPECT_TRUE(contains(bad.verdict(), "not a Gram matrix: v'Kv = -1 < 0 for a unit vector v\n")) << bad.verdict();
  EXPECT_TRUE(contains(bad.verdict(), "worst at (0, 1): |K_ij| = 2 > 1 = sqrt(K_ii K_jj)")) << bad.verdict();

  const GramCheck good = check_gram(gram(kernels::linear(), RandomStream(12).normal_matrix(20, 3)));
  EXPECT_TRUE(good.is_gram());
  EXPECT_EQ(good.rank, 3);
  EXPECT_EQ(good.violating.size(), 0);
  EXPECT_TRUE(std::isinf(good.condition));
  EXPECT_TRUE(good.duplicates.empty());
  EXPECT_TRUE(contains(good.verdict(), "singular to rounding: numerical rank 3 of 20")) << good.verdict();
}

TEST(CheckGram, ReadsAKnownSpectrum) {
  const Vector values{{-0.5, 1e-3, 0.25, 1, 4, 16}};
  const GramCheck check = check_gram(with_spectrum(values, 1));
  // Six rows: rounding of the product and of the solver, each n eps max|eigenvalue|.
  const double slack = 2 * 6 * eps * 16;
  EXPECT_NEAR(check.smallest_eigenvalue, -0.5, slack);
  EXPECT_NEAR(check.largest_eigenvalue, 16, slack);
  EXPECT_NEAR(check.tolerance, 6 * eps * 16, 1e-3 * eps);
  EXPECT_EQ(check.rank, 6);
  EXPECT_NEAR(check.condition, 16 / 1e-3, 16 / 1e-6 * slack);
  EXPECT_FALSE(check.psd);

  const GramCheck strict = check_gram(with_spectrum(values.array() + 1, 2), {.alpha = 0.7});
  EXPECT_TRUE(strict.strictly_positive);
  EXPECT_NEAR(*strict.effective_dimension, ((values.array() + 1) / (values.array() + 1.7)).sum(), 1e-13);
  EXPECT_TRUE(contains(strict.verdict(), "strictly")) << strict.verdict();
  EXPECT_TRUE(contains(strict.verdict(), "effective dimension tr K(K + alpha I)^-1 at alpha = 0.7")) << strict.verdict();
  const GramCheck undefined = check_gram(with_spectrum(values, 1), {.alpha = 0.5});
  EXPECT_FALSE(undefined.effective_dimension);
  EXPECT_TRUE(contains(undefined.verdict(), "effective dimension: not defined")) << undefined.verdict();
}

// Both of these print an inequality that must be true: of two negative diagonal entries it says nothing, and squares must not underflow.
TEST(CheckGram, CauchySchwarzIsSaidOfWhatItIsAbout) {
  Matrix negative(2, 2);
  negative << -1, 0.5, 0.5, -1;
  EXPECT_FALSE(check_gram(negative).cauchy_schwarz);
  EXPECT_EQ(check_gram(negative).negative_diagonal.size(), 2U);
  Matrix tiny(2, 2);
  tiny << 1e-300, 2e-300, 2e-300, 1e-300;
  EXPECT_TRUE(contains(check_gram(tiny).verdict(), "|K_ij| = 2e-300 > 1e-300 = sqrt(K_ii K_jj)")) << check_gram(tiny).verdict();
  EXPECT_EQ(check_gram(1e308 * Matrix::Identity(2, 2)).rank, 2);
}

TEST(CheckGram, EffectiveDimensionIsTheTrace) {
  const Matrix K = gram(kernels::gaussian(1.0), RandomStream(3).normal_matrix(40, 2));
  for (const double alpha : {1e-3, 0.1, 10.0}) {
    // By solving instead of eigenvalues; the condition number of K + alpha I is at most 40 / alpha.
    const Eigen::MatrixXd shifted = K + alpha * Matrix::Identity(40, 40);
    const double trace = Eigen::HouseholderQR<Eigen::MatrixXd>(shifted).solve(Eigen::MatrixXd(K)).trace();
    EXPECT_NEAR(*check_gram(K, {.alpha = alpha}).effective_dimension, trace, 40 * eps * 40 / alpha * 40);
  }
}

TEST(CheckGram, NonSymmetricMatricesAreJudgedBySymmetricPart) {
  Matrix skew = 2 * Matrix::Identity(3, 3);
  skew(2, 0) = 0.5;
  const GramCheck check = check_gram(skew);
  EXPECT_FALSE(check.symmetric);
  EXPECT_EQ(check.asymmetry, 0.5);
  EXPECT_EQ(check.asymmetry_row, 2);
  EXPECT_EQ(check.asymmetry_col, 0);
  EXPECT_TRUE(check.psd);
  EXPECT_FALSE(check.is_gram());
  EXPECT_NEAR(check.smallest_eigenvalue, 1.75, 1e-15);  // 2 - 0.5 / 2
  EXPECT_TRUE(contains(check.verdict(), "not symmetric, K_ij and K_ji differ by 0.5 at (2, 0)")) << check.verdict();
  EXPECT_TRUE(contains(check.verdict(), "symmetric part")) << check.verdict();

  Matrix both(2, 2);
  both << 0, 3, 1, 0;  // symmetric part has eigenvalues -2, 2; v'Kv is the same for both
  const GramCheck worse = check_gram(both);
  EXPECT_NEAR(worse.violation, -2, 1e-14);
  EXPECT_TRUE(contains(worse.verdict(), "v'Kv = -2 < 0")) << worse.verdict();
}

TEST(CheckGram, NamesTheDiagonalAndThePairs) {
  Matrix K = Matrix::Identity(5, 5);
  K(1, 1) = -0.25;
  K(3, 3) = 0;
  K(3, 4) = K(4, 3) = 0.125;
  const GramCheck check = check_gram(K);
  EXPECT_EQ(check.negative_diagonal, std::vector<Index>{1});
  EXPECT_EQ(check.smallest_diagonal, -0.25);
  ASSERT_EQ(check.vanishing_diagonal.size(), 1U);
  EXPECT_EQ(check.vanishing_diagonal[0].row, 3);
  EXPECT_EQ(check.vanishing_diagonal[0].col, 4);
  EXPECT_EQ(check.vanishing_diagonal[0].entry, 0.125);
  ASSERT_TRUE(check.cauchy_schwarz);
  EXPECT_EQ(check.cauchy_schwarz->row, 3);
  EXPECT_EQ(check.cauchy_schwarz->row_diagonal, 0);
  EXPECT_EQ(check.cauchy_schwarz->col_diagonal, 1);
  EXPECT_FALSE(check.psd);
  const std::string text = check.verdict();
  EXPECT_TRUE(contains(text, "negative on the diagonal: row 1, least -0.25")) << text;
  EXPECT_TRUE(contains(text, "row 3: K_ii = 0, so the row of a Gram matrix would be 0, but K(3, 4) = 0.125")) << text;

  // A zero row is as it must be.
  Matrix fine = Matrix::Identity(4, 4);
  fine(2, 2) = 0;
  EXPECT_TRUE(check_gram(fine).is_gram());
  EXPECT_TRUE(check_gram(fine).vanishing_diagonal.empty());
  EXPECT_TRUE(check_gram(Matrix::Zero(3, 3)).is_gram());
  EXPECT_EQ(check_gram(Matrix::Zero(3, 3)).rank, 0);
}

TEST(CheckGram, FindsTheWorstPairAcrossTiles) {
  const Index n = 150;  // tiles of 64
  Matrix K = Matrix::Identity(n, n);
  K(149, 70) = K(70, 149) = 1.25;
  K(3, 2) = K(2, 3) = -1.125;
  const GramCheck check = check_gram(K);
  ASSERT_TRUE(check.cauchy_schwarz);
  EXPECT_EQ(check.cauchy_schwarz->row, 70);
  EXPECT_EQ(check.cauchy_schwarz->col, 149);
  EXPECT_NEAR(check.smallest_eigenvalue, -0.25, 1e-14);
  K(149, 70) += 1e-3;
  K(100, 140) -= 2e-3;
  const GramCheck skew = check_gram(K);
  EXPECT_NEAR(skew.asymmetry, 2e-3, 1e-18);
  EXPECT_EQ(skew.asymmetry_row, 140);
  EXPECT_EQ(skew.asymmetry_col, 100);
}

// Small matrices of small whole numbers, where ties and zeros abound: the evidence against plain loops, and never against the spectrum.
TEST(CheckGram, EvidenceAgreesWithPlainLoopsAndWithTheSpectrum) {
  Index indefinite_without_pairs = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    RandomStream random(16, seed);
    const Index n = 2 + random.below(5);
    Matrix K(n, n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j <= i; ++j) K(i, j) = K(j, i) = static_cast<double>(random.below(i == j ? 8 : 5) - (i == j ? 1 : 2));
    }
    double worst = 0;
    std::vector<Index> negative;
    for (Index i = 0; i < n; ++i) {
      if (K(i, i) < 0) negative.push_back(i);
      for (Index j = 0; j < i; ++j) {
        if (K(i, i) >= 0 && K(j, j) >= 0) worst = std::max(worst, std::abs(K(i, j)) - std::sqrt(K(i, i)) * std::sqrt(K(j, j)));
      }
    }
    std::vector<Index> vanishing;
    for (Index i = 0; i < n; ++i) {
      if (K(i, i) == 0 && K.row(i).cwiseAbs().maxCoeff() > 0) vanishing.push_back(i);
    }
    const GramCheck check = check_gram(K, {.run = one_thread});
    EXPECT_EQ(check.negative_diagonal, negative) << K;
    // Differences of roots of whole numbers up to 7 that are not 0 are above 0.1; the tolerance moves a root by sqrt(t) < 1e-6.
    ASSERT_EQ(check.cauchy_schwarz.has_value(), worst > 1e-6) << K;
    if (check.cauchy_schwarz) {
      const EntryPair& p = *check.cauchy_schwarz;
      EXPECT_NEAR(std::abs(p.entry) - std::sqrt(p.row_diagonal) * std::sqrt(p.col_diagonal), worst, 1e-5) << K;
      EXPECT_EQ(K(p.row, p.col), p.entry) << K;
    }
    std::vector<Index> found;
    for (const EntryPair& p : check.vanishing_diagonal) found.push_back(p.row);
    EXPECT_EQ(found, vanishing) << K;
    EXPECT_TRUE(!check.psd || (negative.empty() && worst <= 1e-6)) << K;
    indefinite_without_pairs += !check.psd && worst <= 1e-6 && negative.empty() ? 1 : 0;
    EXPECT_TRUE(check_gram(repair_gram(K, Repair::clip, one_thread).K, {.run = one_thread}).is_gram()) << K;
  }
  EXPECT_GT(indefinite_without_pairs, 0);  // pairs alone do not settle it
}

TEST(CheckGram, DuplicatesAreTheReasonForSingularity) {
  Matrix X = RandomStream(4).normal_matrix(30, 2);
  X.row(7) = X.row(2);
  X.row(29) = X.row(2);
  X.row(11) = X.row(10);
  const GramCheck check = check_gram(gram(kernels::laplacian(1.0), X));
  const std::vector<std::pair<Index, Index>> expected{{7, 2}, {11, 10}, {29, 2}};
  EXPECT_EQ(check.duplicates, expected);
  EXPECT_EQ(check.rank, 27);
  EXPECT_FALSE(check.nonsingular);
  EXPECT_TRUE(check.is_gram());
  EXPECT_TRUE(
      contains(check.verdict(), "rank 27 of 30, because of duplicates: row 7 equals row 2, row 11 equals row 10, row 29 equals row 2"))
      << check.verdict();

  const GramCheck linear = check_gram(gram(kernels::linear(), X));
  EXPECT_EQ(linear.rank, 2);
  EXPECT_EQ(linear.duplicates, expected);
  EXPECT_TRUE(contains(linear.verdict(), "in part because of duplicates")) << linear.verdict();
}

TEST(CheckGram, RoundingIsNoViolation) {
  // Smooth kernels have spectra that fall below rounding: all of these are Gram matrices whatever the last bits do.
  for (const double length : {0.3, 3.0, 300.0}) {
    for (const Index n : {1, 2, 63, 64, 65, 257}) {
      const GramCheck check = check_gram(gram(kernels::gaussian(length), RandomStream(5).normal_matrix(n, 2)));
      EXPECT_TRUE(check.is_gram()) << length << ' ' << n << '\n' << check.verdict();
      EXPECT_FALSE(check.cauchy_schwarz) << length << ' ' << n;
    }
  }
  // Centred by products, which are symmetric to rounding only; a row at the mean is noise.
  const Index n = 300;
  const Matrix H = Matrix::Identity(n, n) - Matrix::Constant(n, n, 1.0 / static_cast<double>(n));
  const Matrix centred = H * gram(kernels::gaussian(1.0), RandomStream(17).normal_matrix(n, 2)) * H;
  EXPECT_TRUE(check_gram(centred).is_gram()) << check_gram(centred).verdict();
  Matrix skew = centred;
  skew(5, 250) += 1e-12;
  EXPECT_FALSE(check_gram(skew).symmetric);
  // Entries in float32 are known to 6e-8 only.
  const MatrixF X = RandomStream(6).normal_matrix(100, 3).cast<float>();
  const Matrix K = gram(kernels::gaussian(3.0), X, {.precision = Precision::float32});
  EXPECT_TRUE(check_gram(K, {.precision = Precision::float32}).is_gram());
}

TEST(CheckGram, WhatScaleHidesIsSaid) {
  // -1 is rounding of 1e20, yet no Gram matrix has it on its diagonal; rows of different scale are not equal.
  const GramCheck check = check_gram(Matrix(Vector{{1e20, 1, -1}}.asDiagonal()));
  EXPECT_TRUE(check.psd);
  EXPECT_EQ(check.negative_diagonal, std::vector<Index>{2});
  EXPECT_TRUE(check.duplicates.empty());
  EXPECT_TRUE(contains(check.verdict(), "row 2, least -1: within rounding of the largest eigenvalue, but if it is exact"))
      << check.verdict();
  const KernelCheck kernel = check_kernel(kernels::polynomial(3, 1, -1), Matrix{{0}, {1e4}});
  EXPECT_TRUE(contains(kernel.verdict(), "and on these samples it is not")) << kernel.verdict();
}

TEST(CheckGram, AlignmentAgainstItsDefinition) {
  const Index n = 35;
  const Matrix K = gram(kernels::gaussian(1.0), RandomStream(7).normal_matrix(n, 2));
  const Vector y = RandomStream(8).normal_matrix(n, 1).col(0).array() + 0.5;
  const auto definition = [](const Matrix& A, const Vector& t) {
    double product = 0;
    for (Index i = 0; i < A.rows(); ++i) {
      for (Index j = 0; j < A.cols(); ++j) product += A(i, j) * t[i] * t[j];
    }
    return product / (A.norm() * t.squaredNorm());
  };
  const Matrix H = Matrix::Identity(n, n) - Matrix::Constant(n, n, 1.0 / static_cast<double>(n));
  const GramCheck check = check_gram(K, {.y = y});
  EXPECT_NEAR(*check.alignment, definition(K, y), n * eps);
  EXPECT_NEAR(*check.centred_alignment, definition(H * K * H, H * y), n * eps);
  EXPECT_TRUE(contains(check.verdict(), "target alignment")) << check.verdict();

  // yy' itself is aligned perfectly; a constant target has no centred alignment.
  EXPECT_NEAR(*check_gram(y * y.transpose(), {.y = y}).alignment, 1, n * eps);
  EXPECT_NEAR(*check_gram(y * y.transpose(), {.y = y}).centred_alignment, 1, n * eps);
  const GramCheck constant = check_gram(K, {.y = Vector::Constant(n, 0.1)});
  EXPECT_TRUE(constant.alignment);
  EXPECT_FALSE(constant.centred_alignment);
  EXPECT_TRUE(contains(constant.verdict(), "not defined (0/0)")) << constant.verdict();
  EXPECT_FALSE(check_gram(K, {.y = Vector::Zero(n)}).alignment);
}

TEST(CheckGram, BadInputIsNamed) {
  EXPECT_EQ(message_of([] { check_gram(Matrix::Ones(2, 3)); }), "a Gram matrix is square and not empty, got 2 x 3");
  EXPECT_EQ(message_of([] { check_gram(Matrix(0, 0)); }), "a Gram matrix is square and not empty, got 0 x 0");
  Matrix K = Matrix::Identity(3, 3);
  EXPECT_TRUE(contains(message_of([&] { check_gram(K, {.alpha = 0.0}); }), "alpha must be a finite number > 0"));
  EXPECT_EQ(message_of([&] { check_gram(K, {.y = Vector::Ones(2)}); }), "y has 2 values for a matrix of 3 rows; give one for each row");
  EXPECT_TRUE(contains(message_of<OverBudget>([&] { check_gram(K, {.run = {.memory = 100}}); }), "the spectrum of a 3 x 3 matrix"));
  EXPECT_TRUE(contains(message_of<OverBudget>([&] { repair_gram(K, Repair::clip, {.memory = 100}); }), "the repair of a 3 x 3 matrix"));
  K(1, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(contains(message_of([&] { check_gram(K); }), "the Gram matrix has a NaN in row 1, column 2"));
  EXPECT_TRUE(contains(message_of([&] { repair_gram(K); }), "the Gram matrix has a NaN in row 1, column 2"));
  EXPECT_TRUE(contains(message_of([] { repair_gram(Matrix::Ones(2, 3)); }), "got 2 x 3"));
}

TEST(CheckGram, StopsWhenAsked) {
  const Matrix K = gram(kernels::gaussian(1.0), RandomStream(9).normal_matrix(300, 2));
  testing::on_new_thread(
      [&] { EXPECT_THROW(check_gram(K, {.run = {.progress = [](const ProgressEvent&) { return false; }}}), Cancelled); });
}

TEST(RepairGram, EveryRepairPassesTheCheck) {
  // Spectra where negative values are few, many, the largest by far, and all of them; sizes around the tile of 256.
  for (const Index n : {1, 2, 5, 100, 257}) {
    const Vector normal = RandomStream(10).normal_matrix(n, 1).col(0);
    for (const Vector& values : {Vector(normal), Vector(normal.array() + 2), Vector(normal.cwiseAbs().array() - 100),
                                 Vector((normal.array() > 0.5).select(normal, -1e6 * normal.array().abs()))}) {
      const Matrix K = with_spectrum(values, 11);
      for (const Repair method : {Repair::clip, Repair::flip, Repair::shift}) {
        const GramRepair repair = repair_gram(K, method, one_thread);
        EXPECT_EQ(repair.K, repair.K.transpose());
        EXPECT_TRUE(check_gram(repair.K, {.run = one_thread}).is_gram()) << n << '\n'
                                                                         << check_gram(repair.K, {.run = one_thread}).verdict();
        // Moved by what was said: rounding of the product and of the spectrum.
        const double slack = 10 * static_cast<double>(n) * eps * values.norm();
        EXPECT_NEAR(repair.frobenius_distance, (repair.K - K).norm(), slack);
      }
    }
  }
}

TEST(RepairGram, ClipMovesByTheNegativeEigenvalues) {
  const Vector values{{-3, -0.5, 0.25, 1, 2, 8}};
  const Matrix K = with_spectrum(values, 12);
  const double slack = 10 * 6 * eps * 8;
  const GramRepair clip = repair_gram(K, Repair::clip);
  EXPECT_EQ(clip.changed, 2);
  EXPECT_NEAR(clip.frobenius_distance, std::hypot(3, 0.5), slack);
  EXPECT_NEAR((clip.K - K).norm(), std::hypot(3, 0.5), slack);
  EXPECT_NEAR(clip.spectral_distance, 3, slack);
  // Nearest: no other PSD matrix is nearer, tried on the way to many.
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Matrix B = RandomStream(13, seed).normal_matrix(6, 6);
    const Matrix other = clip.K + 0.1 * (B * B.transpose() - clip.K);
    EXPECT_GE((other - K).norm(), clip.frobenius_distance - slack);
  }
  const GramRepair flip = repair_gram(K, Repair::flip);
  EXPECT_EQ(flip.changed, 2);
  EXPECT_NEAR(flip.frobenius_distance, 2 * std::hypot(3, 0.5), slack);
  EXPECT_NEAR(flip.spectral_distance, 6, slack);
  EXPECT_LT((flip.K - with_spectrum(values.cwiseAbs(), 12)).norm(), slack);
  const GramRepair shift = repair_gram(K, Repair::shift);
  EXPECT_NEAR(shift.shift, 3, slack);
  EXPECT_EQ(shift.changed, 6);
  EXPECT_NEAR(shift.frobenius_distance, 3 * std::sqrt(6), slack);
  EXPECT_LT((shift.K - K - 3 * Matrix::Identity(6, 6)).norm(), slack);
  EXPECT_TRUE(contains(clip.sentence(), "2 negative eigenvalues set to 0; moved by 3.04138 in Frobenius norm")) << clip.sentence();
  EXPECT_TRUE(contains(shift.sentence(), "3 added to the diagonal")) << shift.sentence();
}

TEST(RepairGram, LeavesGramMatricesAloneAndMakesOthersSymmetric) {
  const Matrix K = gram(kernels::gaussian(3.0), RandomStream(14).normal_matrix(50, 2));
  for (const Repair method : {Repair::clip, Repair::flip, Repair::shift}) {
    const GramRepair repair = repair_gram(K, method);
    EXPECT_EQ(repair.K, K);
    EXPECT_EQ(repair.changed, 0);
    EXPECT_EQ(repair.frobenius_distance, 0);
    EXPECT_TRUE(contains(repair.sentence(), "nothing to repair"));
  }
  Matrix skew = 2 * Matrix::Identity(2, 2);
  skew(0, 1) = 1;
  const GramRepair repair = repair_gram(skew);
  EXPECT_EQ(repair.K(0, 1), 0.5);
  EXPECT_EQ(repair.K(1, 0), 0.5);
  EXPECT_NEAR(repair.frobenius_distance, std::sqrt(0.5), 1e-15);
  EXPECT_TRUE(contains(repair.sentence(), "made symmetric")) << repair.sentence();
}

// A Gram matrix is mirrored, so both halves must be asked of a function: this one is symmetric within blocks of 256 and not between them.
TEST(CheckKernel, SeesThatAFunctionIsNotSymmetric) {
  const auto off = [](const Samples& A, const Samples& B) {
    Matrix out(A.size(), B.size());
    const Matrix a = A.to_dense();
    const Matrix b = B.to_dense();
    for (Index i = 0; i < out.rows(); ++i) {
      for (Index j = 0; j < out.cols(); ++j) out(i, j) = std::exp(-std::abs(a(i, 0) - b(j, 0))) + (a(i, 0) >= 256 && b(j, 0) < 256 ? 1 : 0);
    }
    return out;
  };
  const KernelCheck check = check_kernel(kernels::function("off", off), Matrix(Vector::LinSpaced(300, 0, 299)), {.run = one_thread});
  EXPECT_FALSE(check.gram.symmetric);
  EXPECT_NEAR(check.gram.asymmetry, 1, 1e-12);
}

TEST(CheckKernel, ComparesClaimAndData) {
  const Matrix X = RandomStream(15).normal_matrix(40, 3);
  const KernelCheck good = check_kernel(kernels::gaussian(kernels::LengthScale::automatic()), X, {.alpha = 1.0});
  EXPECT_TRUE(good.gram.is_gram());
  EXPECT_TRUE(good.claims_psd);
  EXPECT_TRUE(good.agrees());
  EXPECT_EQ(good.kernel, resolve(kernels::gaussian(kernels::LengthScale::automatic()), X).text());
  EXPECT_TRUE(good.gram.effective_dimension);
  EXPECT_TRUE(contains(good.verdict(), good.kernel + " is positive semi-definite for every sample, and the data agree")) << good.verdict();

  const KernelCheck bad = check_kernel(kernels::polynomial(3, 1, -1), X);
  EXPECT_FALSE(bad.gram.is_gram());
  EXPECT_FALSE(bad.claims_psd);
  EXPECT_TRUE(bad.agrees());
  EXPECT_TRUE(contains(bad.verdict(), "not known to be positive semi-definite, and on these samples it is not")) << bad.verdict();
  // On one sample far from the origin the same kernel has nothing to show.
  const KernelCheck lucky = check_kernel(kernels::polynomial(3, 1, -1), Matrix::Constant(1, 3, 2.0));
  EXPECT_TRUE(lucky.gram.is_gram());
  EXPECT_TRUE(contains(lucky.verdict(), "happens to be")) << lucky.verdict();
  EXPECT_TRUE(contains(message_of([] { check_kernel(kernels::linear(), Matrix(0, 2)); }), "got none"));
  EXPECT_TRUE(contains(message_of<OverBudget>([&] { check_kernel(kernels::linear(), X, {.run = {.memory = 1000}}); }), "40 samples"));
}

TEST(KernelRemarks, SayWhatIsAmiss) {
  const Matrix X = RandomStream(5).normal_matrix(20, 3);
  const Matrix K = X * X.transpose();  // singular, and a Gram matrix
  EXPECT_TRUE(kernel_remarks(kernels::gaussian(1), X).empty());
  EXPECT_TRUE(kernel_remarks(kernels::precomputed(), K).empty());
  EXPECT_TRUE(kernel_remarks(kernels::precomputed(), Samples::given_gram(K)).empty());
  const auto only = [](const std::vector<std::string>& remarks) { return remarks.size() == 1 ? remarks[0] : std::string(); };
  EXPECT_NE(only(kernel_remarks(kernels::sigmoid(1, 0), X)).find("is not positive semi-definite"), std::string::npos);
  EXPECT_NE(only(kernel_remarks(kernels::precomputed(), -K)).find("the given kernel values are not positive semi-definite"),
            std::string::npos);
  Matrix indefinite = Matrix::Identity(20, 20);
  indefinite(3, 4) = indefinite(4, 3) = 1.5;  // a positive diagonal, an eigenvalue of -0.5
  EXPECT_NE(only(kernel_remarks(kernels::precomputed(), indefinite)).find("the given kernel values"), std::string::npos);
  const Samples strings = Samples::strings({"abcd", "ab", "", "bcda"});
  EXPECT_EQ(only(kernel_remarks(kernels::spectrum(3), strings)),
            "k(x, x) = 0 for 2 of 4 samples: the kernel finds nothing in them, and its value with every other is 0");
}

}  // namespace
}  // namespace mercer
