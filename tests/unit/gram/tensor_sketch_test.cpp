// TensorSketch against its definition (circular convolutions by loops), its mean and its variance.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/tensor_sketch.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

Matrix by_loops(const TensorSketch& map, const Matrix& X) {
  const Index L = map.n_components();
  Matrix out(X.rows(), L);
  for (Index i = 0; i < X.rows(); ++i) {
    Vector z;
    for (int p = 0; p < map.degree(); ++p) {
      Vector sketch = Vector::Zero(L);
      for (Index j = 0; j < map.places().cols(); ++j) {
        const double x = j < X.cols() ? std::sqrt(map.scale()) * X(i, j) : std::sqrt(map.offset());
        sketch[map.places()(p, j)] += map.signs()(p, j) * x;
      }
      if (p == 0) {
        z = sketch;
        continue;
      }
      Vector next = Vector::Zero(L);
      for (Index a = 0; a < L; ++a) {
        for (Index b = 0; b < L; ++b) next[(a + b) % L] += z[a] * sketch[b];
      }
      z = next;
    }
    out.row(i) = z.transpose();
  }
  return out;
}

TEST(TensorSketch, IsTheConvolutionOfCountSketches) {
  const Matrix X = RandomStream(3).normal_matrix(300, 5);
  const CsrMatrix<double> sparse = X.sparseView(1, 0.8);
  for (const Index L : {1, 2, 3, 16, 30, 31, 64, 100}) {  // even and odd, powers of two, primes
    for (const int degree : {1, 2, 3, 5}) {
      for (const double offset : {0.0, 0.7}) {
        const TensorSketch map = tensor_sketch(5, {.degree = degree, .scale = 0.4, .offset = offset, .n_components = L, .seed = 9});
        const Matrix expected = by_loops(map, X.topRows(6));
        const double size = std::max(1.0, expected.cwiseAbs().maxCoeff());
        EXPECT_LT((map.transform(X.topRows(6)) - expected).cwiseAbs().maxCoeff(), 1e-13 * size) << L << " " << degree;
        EXPECT_LT((map.transform(Samples(sparse)) - map.transform(Matrix(sparse))).cwiseAbs().maxCoeff(), 1e-13 * size);
        EXPECT_EQ(map.kernel(), kernels::polynomial(degree, 0.4, offset));
      }
    }
  }
}

TEST(TensorSketch, ProductsAreUnbiasedAndWithinTheVariance) {
  const Matrix X = RandomStream(4).normal_matrix(12, 6);
  constexpr int draws = 400;
  for (const int degree : {1, 2, 3}) {
    const TensorSketchOptions options{.degree = degree, .scale = 0.3, .offset = 0.5, .n_components = 128};
    const Matrix K = gram(kernels::polynomial(degree, 0.3, 0.5), X);
    const Matrix unit = (K.diagonal() * K.diagonal().transpose()).cwiseSqrt();
    Matrix sum = Matrix::Zero(12, 12);
    Matrix squares = Matrix::Zero(12, 12);
    double outside = 0;
    for (int s = 0; s < draws; ++s) {
      TensorSketchOptions o = options;
      o.seed = static_cast<std::uint64_t>(s);
      const TensorSketch map = tensor_sketch(6, o);
      const Matrix Z = map.transform(X);
      const Matrix error = ((Z * Z.transpose() - K).array() / unit.array()).matrix();
      sum += error;
      squares += error.cwiseAbs2();
      outside += static_cast<double>((error.array().abs() > map.error_bound(0.9)).count());
    }
    const double variance = (2 + std::pow(3.0, degree)) / 128;
    EXPECT_LT((sum / draws).cwiseAbs().maxCoeff(), 5 * std::sqrt(variance / draws)) << degree;
    EXPECT_LT((squares / draws).maxCoeff(), variance) << degree;
    EXPECT_LT(outside / (144.0 * draws), 0.1) << degree;  // Chebyshev's inequality, with room to spare
  }
}

TEST(TensorSketch, TypesAndThreads) {
  const Matrix X = RandomStream(5).normal_matrix(600, 4);
  const TensorSketch map = tensor_sketch(4, {.degree = 3, .n_components = 50, .seed = 1});
  EXPECT_EQ(map.transform(X, {.threads = 1}), map.transform(X, {.threads = 2}));
  MatrixF single(600, 53);
  map.transform_into(X, single.data(), 53);
  EXPECT_EQ(single.leftCols(50), map.transform(X).cast<float>());
  EXPECT_EQ(map.transform(Matrix::Zero(2, 4)), Matrix::Zero(2, 50));
}

TEST(TensorSketch, MisuseIsNamed) {
  const auto says = [](const std::function<void()>& job, const char* what) {
    const std::string message = message_of<InvalidArgument>(job);
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  says([] { tensor_sketch(0); }, "at least one column");
  says([] { tensor_sketch(2, {.degree = 0}); }, "degree");
  says([] { tensor_sketch(2, {.n_components = 0}); }, "n_components");
  says([] { tensor_sketch(2, {.scale = 0}); }, "scale");
  says([] { tensor_sketch(2, {.offset = -1}); }, "offset");
  says([] { (void)tensor_sketch(2).transform(Matrix::Ones(1, 3)); }, "X has 3 columns");
  says([] { (void)tensor_sketch(2).transform(Matrix::Constant(1, 2, std::nan(""))); }, "NaN");
  says([] { (void)tensor_sketch(2).error_bound(1); }, "confidence");
  const TensorSketch map = tensor_sketch(2);
  says([&] { TensorSketch::from_parts(1, 0, 50, map.places(), map.signs()); }, "places");
  says([&] { TensorSketch::from_parts(1, 0, 100, map.places(), 2 * map.signs()); }, "signs");
  EXPECT_THROW(map.transform(Matrix::Ones(100, 2), {.memory = 10}), OverBudget);
}

}  // namespace
}  // namespace mercer
