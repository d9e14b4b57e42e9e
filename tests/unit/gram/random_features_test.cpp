// Random Fourier features against what is known of them exactly: mean and variance of every estimate in closed form, Hoeffding's bound, and
// the formula of the map evaluated number by number.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/random_features.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

struct Case {
  std::string text;
  bool orthogonal;
};

// Every spectral measure, scales per column, and the algebra.
const std::vector<Case> cases{
    {"gaussian(1.5)", false},
    {"gaussian([1, 2, 0.5, 3])", false},
    {"laplacian(2)", false},
    {"laplacian([2, 3, 1, 2])", false},
    {"laplacian(3, norm=l1)", false},
    {"laplacian([3, 4, 2, 6], norm=l1)", false},
    {"matern(0.5, 2)", false},
    {"matern(1.5, 2)", false},
    {"matern(2.5, [1, 2, 3, 2])", false},
    {"rational_quadratic(1.5, alpha=0.7)", false},
    {"rational_quadratic(1.5, alpha=1e50)", false},
    {"2.5*gaussian(1.5)", false},
    {"gaussian(1).on(1, 3)", false},
    {"gaussian(1.5) + 0.5*laplacian(2, norm=l1)", false},
    {"gaussian(1).on(0)*matern(1.5, 2).on(2, 3)", false},
    {"3*(gaussian(2) + laplacian(1).on(1))*matern(2.5, 4)", false},
    {"gaussian(1.5)", true},
    {"0.5*gaussian([1, 2]).on(2, 0)", true},
    {"laplacian(2)", true},
    {"matern(1.5, 2)", true},
    {"rational_quadratic(1.5, alpha=2)", true},
};

Matrix points(Index n, std::uint64_t seed = 5) { return RandomStream(seed).normal_matrix(n, 4); }

// The variance of one term of the sum over frequencies, in units of k(0)^2: cos w'(x - y) for pairs, plus that of cos(w'(x + y) + 2b).
// E cos^2(w'd) = (1 + E cos(2 w'd)) / 2, and E cos(2 w'd) is the kernel at twice the distance.
Matrix variance_of_term(const Kernel& kernel, double scale, const Matrix& X, FourierForm form) {
  const Matrix k = gram(kernel, X) / scale;
  const Matrix twice = gram(kernel, Matrix(2 * X)) / scale;
  Matrix variance = (0.5 * (1 + twice.array()) - k.array().square()).max(0.0);
  if (form == FourierForm::cosine) variance.array() += 0.5;
  return variance;
}

TEST(RandomFourierFeatures, MeanAndVarianceAreThoseOfTheSpectralMeasure) {
  const Matrix X = points(9);
  for (const auto& [text, orthogonal] : cases) {
    const Kernel kernel = parse_kernel(text);
    const Matrix exact = gram(kernel, X);
    for (const FourierForm form : {FourierForm::sine_cosine, FourierForm::cosine}) {
      SCOPED_TRACE(text + (orthogonal ? ", orthogonal" : "") + (form == FourierForm::cosine ? ", cosine" : ""));
      double scaled_error[2] = {0, 0};  // mean square error times the number of frequencies: the same for each number
      for (const int longer : {0, 1}) {
        const Index L = longer == 1 ? 128 : 16;
        const int draws = 200;
        const Index frequencies = form == FourierForm::cosine ? L : L / 2;
        Matrix sum = Matrix::Zero(9, 9);
        Matrix squares = Matrix::Zero(9, 9);
        double scale = 0;
        for (int seed = 0; seed < draws; ++seed) {
          const auto map = random_fourier_features(kernel, 4,
                                                   {.n_components = L,
                                                    .form = form,
                                                    .draw = orthogonal ? FourierDraw::orthogonal : FourierDraw::independent,
                                                    .seed = static_cast<std::uint64_t>(seed)});
          const Matrix Z = map.transform(X);
          const Matrix error = Z * Z.transpose() - exact;
          sum += error;
          squares += error.cwiseAbs2();
          scale = map.scale();
        }
        ASSERT_DOUBLE_EQ(scale, exact(0, 0));
        const Matrix variance = variance_of_term(kernel, scale, X, form) * scale * scale;
        // Unbiased: every mean is within 6 standard errors of zero. Orthogonal frequencies are correlated within a draw; for those the
        // standard error comes from the draws.
        const double n = draws;
        const Matrix of_draws = squares / n - (sum / n).cwiseAbs2();
        const Matrix standard_error =
            (orthogonal ? of_draws.cwiseMax(0.0) : Matrix(variance / static_cast<double>(frequencies))).cwiseSqrt() / std::sqrt(n);
        EXPECT_LT(((sum / n).cwiseAbs() - 6 * standard_error).maxCoeff(), 1e-13 * scale);
        scaled_error[longer] = squares.sum() / n * static_cast<double>(frequencies);
        // The variance is what theory says: the sum over pairs has a relative standard deviation below 10 % (200 draws of at least one
        // independent square).
        if (!orthogonal) {
          EXPECT_NEAR(scaled_error[longer] / variance.sum(), 1, 0.35) << L;
        }
      }
      // So errors fall as 1/sqrt(L): eight times the frequencies, the same product. Orthogonal groups are as long as the columns in both.
      EXPECT_NEAR(scaled_error[1] / scaled_error[0], 1, 0.5);
    }
  }
}

TEST(RandomFourierFeatures, HoeffdingHoldsForAllPairs) {
  const Matrix X = points(60);
  for (const auto& [text, orthogonal] : cases) {
    if (orthogonal) continue;
    const Kernel kernel = parse_kernel(text);
    for (const FourierForm form : {FourierForm::sine_cosine, FourierForm::cosine}) {
      SCOPED_TRACE(text);
      const auto map = random_fourier_features(kernel, 4, {.n_components = 2000, .form = form, .seed = 3});
      const Matrix Z = map.transform(X);
      Matrix error = (Z * Z.transpose() - gram(kernel, X)).cwiseAbs();
      error.diagonal().setZero();
      EXPECT_LT(error.maxCoeff(), map.hoeffding_error(1 - 1e-9, 60));  // fails once in 1e9 seeds
      EXPECT_GT(error.maxCoeff(), 0);
    }
  }
}

TEST(RandomFourierFeatures, HoeffdingInClosedForm) {
  const auto pairs = random_fourier_features(kernels::gaussian(), 2, {.n_components = 1000});
  const auto cosines = random_fourier_features(3 * kernels::gaussian(), 2, {.n_components = 1000, .form = FourierForm::cosine});
  EXPECT_DOUBLE_EQ(pairs.hoeffding_failure(0.2), 2 * std::exp(-1000 * 0.04 / 4));
  EXPECT_NEAR(cosines.hoeffding_failure(0.6), 2 * std::exp(-1000 * 0.04 / 8), 1e-15);  // 0.6 of k(0) = 3
  EXPECT_NEAR(pairs.hoeffding_failure(0.4, 100), 4950 * 2 * std::exp(-1000 * 0.16 / 4), 1e-25);
  EXPECT_EQ(pairs.hoeffding_failure(1e-3), 1);
  for (const auto& map : {pairs, cosines}) {
    for (const Index n : {2, 1000, 1000000000}) {
      const double error = map.hoeffding_error(0.95, n);
      EXPECT_NEAR(map.hoeffding_failure(error, n), 0.05, 1e-10);
      const Index needed = hoeffding_components(map.form(), error, 0.95, n, map.scale());
      EXPECT_GE(needed, 1000);
      EXPECT_LE(needed, 1002);  // to rounding, and even for pairs
    }
  }
  EXPECT_EQ(hoeffding_components(FourierForm::sine_cosine, 0.1, 0.95) % 2, 0);
  const auto orthogonal = random_fourier_features(kernels::gaussian(), 2, {.draw = FourierDraw::orthogonal});
  EXPECT_NE(message_of([&] { orthogonal.hoeffding_error(0.9); }).find("independent"), std::string::npos);
  EXPECT_THROW(pairs.hoeffding_error(1), InvalidArgument);
  EXPECT_THROW(pairs.hoeffding_failure(0), InvalidArgument);
  EXPECT_THROW(pairs.hoeffding_failure(0.1, 1), InvalidArgument);
}

// z(x)'z(y) for |x - y| = l, 16 columns, one whole orthogonal group: theory (Yu et al., theorem 1) says 8 % of the variance is left, and
// some for the finite number of columns.
TEST(RandomFourierFeatures, OrthogonalFrequenciesHaveLessVarianceForTheGaussian) {
  Matrix X = Matrix::Zero(2, 16);
  X.row(1).setConstant(0.25);
  double error[2] = {0, 0};
  for (const int orthogonal : {0, 1}) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
      const auto map = random_fourier_features(
          kernels::gaussian(1), 16,
          {.n_components = 32, .draw = orthogonal == 1 ? FourierDraw::orthogonal : FourierDraw::independent, .seed = seed});
      if (orthogonal == 1) {  // the directions are orthogonal, to rounding
        Matrix W = map.frequencies();
        W.colwise().normalize();
        ASSERT_LT((W.transpose() * W - Matrix::Identity(16, 16)).cwiseAbs().maxCoeff(), 1e-13);
      }
      const Matrix Z = map.transform(X);
      const double difference = Z.row(0).dot(Z.row(1)) - std::exp(-0.5);
      error[orthogonal] += difference * difference / 500;
    }
  }
  EXPECT_LT(error[1], 0.35 * error[0]);
}

TEST(RandomFourierFeatures, TransformIsItsFormula) {
  for (const Index n : {1, 255, 256, 257, 600}) {
    const Matrix X = points(n, 8);
    for (const FourierForm form : {FourierForm::sine_cosine, FourierForm::cosine}) {
      const auto map = random_fourier_features(2 * kernels::matern(1.5, 2), 4, {.n_components = 38, .form = form, .seed = 1});
      const Matrix phases = X * map.frequencies();
      Matrix expected(n, 38);
      if (form == FourierForm::cosine) {
        expected = (phases.rowwise() + map.offsets().transpose()).array().cos();
      } else {
        expected << phases.array().cos().matrix(), phases.array().sin().matrix();
      }
      expected *= std::sqrt(2 * 2.0 / 38);
      EXPECT_LT((map.transform(X) - expected).cwiseAbs().maxCoeff(), 1e-12);  // phases up to 100 round at 1e-14
      const MatrixF narrow = X.cast<float>();
      MatrixF got = MatrixF::Constant(n, 41, 7.0F);
      map.transform_into(Samples(narrow), got.data(), 41);
      EXPECT_LT((got.leftCols(38).cast<double>() - expected).cwiseAbs().maxCoeff(), 1e-4);
      EXPECT_EQ(got.rightCols(3), MatrixF::Constant(n, 3, 7.0F));
    }
  }
  // Pairs have k(x, x) on the diagonal, to rounding.
  const Matrix X = points(20);
  const Matrix Z = random_fourier_features(3 * kernels::gaussian(0.1), 4, {.n_components = 10}).transform(X);
  EXPECT_LT((Z.rowwise().squaredNorm().array() - 3).abs().maxCoeff(), 1e-14);
}

TEST(RandomFourierFeatures, SparseAndDenseRowsAgree) {
  Matrix X = points(300, 4);
  X = (X.array().abs() > 0.8).select(X, 0.0);
  const auto map = random_fourier_features(kernels::laplacian(2), 4, {.n_components = 50, .seed = 9});
  const Matrix dense = map.transform(X);
  const CsrMatrix<double> sparse = X.sparseView();
  EXPECT_LT((map.transform(sparse) - dense).cwiseAbs().maxCoeff(), 1e-11);  // heavy tails: phases of some thousands
  EXPECT_LT((map.centred_at(Vector::Constant(4, 3.0)).transform(sparse) - dense).cwiseAbs().maxCoeff(), 1e-11);
  const CsrMatrix<float> narrow = sparse.cast<float>();
  EXPECT_LT((map.transform(narrow) - dense).cwiseAbs().maxCoeff(), 1e-3);
}

TEST(RandomFourierFeatures, ACentreChangesRoundingOnly) {
  const Matrix X = points(100, 4).array() + 20000;
  const auto map = random_fourier_features(kernels::gaussian(1), 4, {.n_components = 50, .form = FourierForm::cosine, .seed = 9});
  const auto centred = map.centred_at(Vector::Constant(4, 20000.0));
  const Matrix plain = map.transform(X);
  EXPECT_LT((centred.transform(X) - plain).cwiseAbs().maxCoeff(), 1e-10);
  MatrixF got(100, 50);
  // The same map with frequencies as float32 has them; around the centre it keeps its digits, far from it float32 has none left.
  const auto narrowed = RandomFourierFeatures::from_parts(map.kernel(), map.form(), FourierDraw::independent,
                                                          map.frequencies().cast<float>().cast<double>(), map.offsets(), map.scale());
  centred.transform_into(X, got.data(), 50);
  const double near = (got.cast<double>() - narrowed.transform(X)).cwiseAbs().maxCoeff();
  EXPECT_LT(near, 2e-6);
  map.transform_into(X, got.data(), 50);
  EXPECT_GT((got.cast<double>() - narrowed.transform(X)).cwiseAbs().maxCoeff(), 100 * near);
}

TEST(RandomFourierFeatures, SameBitsForAnyNumberOfThreadsAndFromTheSameSeed) {
  const Matrix X = points(1500);
  const FourierOptions options{.n_components = 30, .seed = 4};
  const auto map = random_fourier_features(kernels::gaussian(1), 4, options);
  EXPECT_EQ(map.transform(X, {.threads = 1}), map.transform(X, {.threads = 3}));
  EXPECT_EQ(map.frequencies(), random_fourier_features(kernels::gaussian(1), 4, options).frequencies());
  EXPECT_EQ(map.frequencies(),
            random_fourier_features(kernels::gaussian(1), 4, {.n_components = 60, .seed = 4}).frequencies().leftCols(15));
  EXPECT_NE(map.frequencies(), random_fourier_features(kernels::gaussian(1), 4, {.n_components = 30, .seed = 5}).frequencies());
}

TEST(RandomFourierFeatures, SaysWhatIsWrong) {
  const auto says = [](const Kernel& kernel, const FourierOptions& options, const char* what, Index width = 4) {
    const std::string message = message_of([&] { random_fourier_features(kernel, width, options); });
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  says(kernels::gaussian(), {.n_components = 7}, "must be even");
  says(kernels::gaussian(), {.n_components = 0}, ">= 1, got 0");
  says(kernels::gaussian(), {}, "at least one column", 0);
  says(kernels::gaussian(kernels::LengthScale::automatic()), {}, "has no length scale yet");
  says(kernels::gaussian(std::vector<double>{1, 2}), {}, "2 length scales");
  says(kernels::gaussian(std::vector<double>{1, 2}), {.draw = FourierDraw::orthogonal}, "2 length scales");
  says(kernels::gaussian().on({9}), {}, "column 9");
  says(kernels::gaussian().on({"height"}), {}, "names a column");
  says(kernels::laplacian(1.0, kernels::Norm::l1), {.draw = FourierDraw::orthogonal}, "every direction");
  says(kernels::gaussian() + kernels::matern(), {.draw = FourierDraw::orthogonal}, "every direction");
  for (const Kernel& kernel : {kernels::linear(), kernels::periodic(), kernels::white(), kernels::gaussian() + kernels::linear(),
                               -1 * kernels::gaussian(), kernels::gaussian().exp(), kernels::precomputed()})
    says(kernel, {}, "use gaussian, laplacian, matern");
  says(kernels::gaussian(), {.n_components = 1000000000, .memory = 1000000}, "");
  EXPECT_THROW(random_fourier_features(kernels::gaussian(), 4, {.n_components = 1000000000, .memory = 1000000}), OverBudget);

  const auto map = random_fourier_features(kernels::gaussian(), 4, {.n_components = 8});
  EXPECT_NE(message_of([&] { map.transform(Matrix::Zero(3, 5)); }).find("X has 5 columns, the feature map takes 4"), std::string::npos);
  Matrix bad = Matrix::Zero(3, 4);
  bad(1, 2) = std::nan("");
  EXPECT_NE(message_of([&] { map.transform(bad); }).find("NaN in row 1, column 2"), std::string::npos);
  EXPECT_THROW(map.transform(Matrix::Zero(1000, 4), {.memory = 1000}), OverBudget);
  EXPECT_THROW(map.centred_at(Vector::Zero(3)), InvalidArgument);
  EXPECT_EQ(map.transform(Matrix(0, 4)).rows(), 0);
  EXPECT_THROW(RandomFourierFeatures::from_parts(kernels::gaussian(), FourierForm::cosine, FourierDraw::independent, Matrix::Zero(2, 3),
                                                 Vector::Zero(2), 1),
               InvalidArgument);
  EXPECT_THROW(RandomFourierFeatures::from_parts(kernels::gaussian(), FourierForm::cosine, FourierDraw::independent, Matrix::Zero(2, 3),
                                                 Vector::Zero(3), 0),
               InvalidArgument);
  const ProgressCallback stop = [](const ProgressEvent&) { return false; };
  EXPECT_THROW(map.transform(Matrix::Zero(100000, 4), {.progress = stop}), Cancelled);
}

// The mean over maps of |Z Z' - K|^2 for rows of standard normal numbers.
double gram_error(const Kernel& kernel, Index d, Index L, FourierDraw draw, int maps) {
  const Matrix X = RandomStream(11).normal_matrix(40, d);
  const Matrix K = gram(kernel, X);
  double sum = 0;
  for (int seed = 0; seed < maps; ++seed) {
    const auto map = random_fourier_features(kernel, d, {.n_components = L, .draw = draw, .seed = static_cast<std::uint64_t>(seed)});
    const Matrix Z = map.transform(X);
    sum += (Z * Z.transpose() - K).squaredNorm() / maps;
  }
  return sum;
}

TEST(RandomFourierFeatures, DependentDrawsHaveSmallerErrors) {
  for (const Index d : {4, 8, 13}) {
    const Kernel kernel = kernels::gaussian(std::sqrt(static_cast<double>(d)));
    const double plain = gram_error(kernel, d, 128, FourierDraw::independent, 40);
    for (const FourierDraw draw : {FourierDraw::orthogonal, FourierDraw::structured, FourierDraw::quasi_random}) {
      EXPECT_LT(gram_error(kernel, d, 128, draw, 40), 0.8 * plain) << d << name_of(draw);
    }
  }
}

// Every kernel that independent frequencies have, through inverse distribution functions: the mean over shifts is the kernel.
TEST(RandomFourierFeatures, QuasiRandomIsUnbiased) {
  const Matrix X = points(8);
  for (const auto& [text, orthogonal] : cases) {
    if (orthogonal) continue;
    const Kernel kernel = parse_kernel(text);
    const Matrix K = gram(kernel, X);
    Matrix mean = Matrix::Zero(8, 8);
    constexpr int maps = 200;
    for (int seed = 0; seed < maps; ++seed) {
      const Matrix Z = random_fourier_features(
                           kernel, 4, {.n_components = 64, .draw = FourierDraw::quasi_random, .seed = static_cast<std::uint64_t>(seed)})
                           .transform(X);
      mean += Z * Z.transpose() / maps;
    }
    // As for 64 * maps independent columns, whose standard deviation is at most k(0) / sqrt(32 maps).
    EXPECT_LT((mean - K).cwiseAbs().maxCoeff(), 4 * K(0, 0) / std::sqrt(32.0 * maps)) << text;
  }
  EXPECT_THROW(random_fourier_features(kernels::gaussian(), 4000, {.draw = FourierDraw::quasi_random}), InvalidArgument);
}

// Of few columns too structured features come to the kernel itself, not to that of some few directions.
TEST(RandomFourierFeatures, StructuredOfFewColumnsAreTheKernel) {
  for (const Index d : {1, 2, 3, 4, 5, 8}) {
    const Matrix X = RandomStream(8).normal_matrix(40, d);
    const Kernel kernel = kernels::gaussian(std::sqrt(static_cast<double>(d)));
    const Index columns = 40000;
    const Matrix Z = random_fourier_features(kernel, d, {.n_components = columns, .draw = FourierDraw::structured, .seed = 2}).transform(X);
    const Matrix error = Z * Z.transpose() - gram(kernel, X);
    // Twice the standard deviation that independent frequencies have at most.
    EXPECT_LT(std::sqrt(error.array().square().mean()), 2 / std::sqrt(static_cast<double>(columns))) << d;
  }
}

// Both ways to the phases of structured frequencies, above and below the width where the fast one begins; the directions are orthogonal.
TEST(RandomFourierFeatures, StructuredIsTheSameByBothWays) {
  for (const Index d : {1, 3, 16, 300}) {
    const Kernel kernel = d == 3 ? kernels::matern(1.5, 2).on({2, 0}) : kernels::gaussian(1.5 * std::sqrt(static_cast<double>(d)));
    const auto map = random_fourier_features(kernel, d, {.n_components = 2 * 700, .draw = FourierDraw::structured, .seed = 4});
    const Matrix& w = map.frequencies();
    if (d == 16) {
      const Matrix products = w.leftCols(16).transpose() * w.leftCols(16);
      EXPECT_LT((products - Matrix(products.diagonal().asDiagonal())).cwiseAbs().maxCoeff(), 1e-13);
    }
    if (d == 3) {
      EXPECT_EQ(w.row(1).cwiseAbs().maxCoeff(), 0);
    }
    const Matrix X = RandomStream(6).normal_matrix(20, d);
    const auto slow = RandomFourierFeatures::from_parts(kernel, map.form(), map.draw(), w, map.offsets(), map.scale());
    EXPECT_EQ(slow.hadamard(), nullptr);
    EXPECT_LT((map.transform(X) - slow.transform(X)).cwiseAbs().maxCoeff(), 1e-12);
    const auto centred = map.centred_at(Vector::Ones(d));
    EXPECT_LT((centred.transform(X) - slow.transform(X)).cwiseAbs().maxCoeff(), 1e-12);
    MatrixF single(20, 1400);
    centred.transform_into(X, single.data(), 1400);
    EXPECT_LT((single.cast<double>() - slow.transform(X)).cwiseAbs().maxCoeff(), 1e-5);
    HadamardFactors wrong = *map.hadamard();
    wrong.lengths[0] *= 1.01;
    EXPECT_THROW(slow.with_hadamard(wrong), InvalidArgument);
    EXPECT_NO_THROW(slow.with_hadamard(*map.hadamard()));
  }
  EXPECT_THROW(random_fourier_features(kernels::laplacian(1.0, kernels::Norm::l1), 2, {.draw = FourierDraw::structured}), InvalidArgument);
}

}  // namespace
}  // namespace mercer
