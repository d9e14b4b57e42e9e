// Rows of Gram matrices in any order against gram(): every kernel, given matrices, functions, white noise, sparse rows, both precisions.
// SPDX-License-Identifier: BSD-3-Clause
#include "gram/kernel_rows.hpp"

#include <gtest/gtest.h>

#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "reference/kernel_cases.hpp"

namespace mercer {
namespace {

constexpr Index n = 300;  // more than a tile

// Scattered, backwards, across tiles; more than a tile of them; consecutive ones; one.
std::vector<std::vector<Index>> lists() {
  std::vector<Index> many;
  for (Index i = 0; i < n; ++i) many.push_back(i * 7 % n);
  std::vector<Index> plain(40);
  for (Index i = 0; i < 40; ++i) plain[static_cast<std::size_t>(i)] = 230 + i;
  return {{299, 0, 256, 255, 17, 3}, many, plain, {128}};
}

template <class T>
Matrix rows_of(const RowSource<T>& source, const std::vector<Index>& I) {
  constexpr T canary = T{-12345};
  RowMatrix<T> out = RowMatrix<T>::Constant(std::ssize(I), source.size() + 1, canary);
  std::vector<T*> places;
  for (Index a = 0; a < std::ssize(I); ++a) places.push_back(out.row(a).data());
  source.rows(I, places);
  EXPECT_TRUE((out.col(source.size()).array() == canary).all()) << "written beyond the end";
  return out.leftCols(source.size()).template cast<double>();
}

template <class T>
void expect_rows(const Kernel& kernel, const Samples& X, const Matrix& K, double room) {
  const KernelRows<T> computed(PreparedKernel<T>(kernel, X, X));
  const auto made = StoredRows<T>::of(PreparedKernel<T>(kernel, X, X), {});
  const StoredRows<T>& stored = *made;
  ASSERT_EQ(computed.size(), K.rows());
  const double size = K.cwiseAbs().maxCoeff();
  EXPECT_LE((computed.diagonal() - K.diagonal()).cwiseAbs().maxCoeff(), room * size);
  EXPECT_EQ(computed.diagonal(), stored.diagonal());
  EXPECT_EQ(computed.stored(0), nullptr);
  for (const std::vector<Index>& I : lists()) {
    const Matrix wanted = K(I, Eigen::all);
    const Matrix got = rows_of(computed, I);
    EXPECT_LE((got - wanted).cwiseAbs().maxCoeff(), room * size);
    EXPECT_LE((rows_of(stored, I) - wanted).cwiseAbs().maxCoeff(), room * size);
    for (std::size_t a = 0; a < I.size(); ++a) {  // where a sample meets itself: exactly the diagonal
      EXPECT_EQ(got(static_cast<Index>(a), I[a]), static_cast<double>(static_cast<T>(computed.diagonal()[I[a]])));
      EXPECT_EQ(static_cast<double>(stored.stored(I[a])[I[0]]), rows_of(stored, {I[a]})(0, I[0]));
    }
  }
}

Matrix with_duplicates(Index d) {
  Matrix X = RandomStream(3).normal_matrix(n, d);
  for (Index i = 0; i + 3 < n; i += 7) X.row(i + 3) = X.row(i);
  return X;
}

CsrMatrix<double> sparse(const Matrix& X) {
  Matrix thin = X;
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) {
      if ((3 * i + j) % 5 != 0) thin(i, j) = 0;
    }
  }
  return thin.sparseView();
}

TEST(KernelRows, EveryKernelEqualsItsGramMatrix) {
  for (const Index d : {3, 40}) {
    for (const auto& c : naive::kernel_cases(d)) {
      SCOPED_TRACE(c.name + " d " + std::to_string(d));
      const Matrix X = c.data(with_duplicates(d));
      const Matrix K = gram(c.kernel, X);
      expect_rows<double>(c.kernel, X, K, 1e-14);
      const MatrixF Xf = X.cast<float>();
      expect_rows<float>(c.kernel, Xf, gram(c.kernel, Xf, {.precision = Precision::float32}), 1e-5);
    }
  }
}

TEST(KernelRows, SparseRows) {
  for (const auto& c : naive::kernel_cases(40)) {
    SCOPED_TRACE(c.name);
    const CsrMatrix<double> X = sparse(c.data(with_duplicates(40)));
    expect_rows<double>(c.kernel, X, gram(c.kernel, X), 1e-14);
    const CsrMatrix<float> Xf = X.cast<float>();
    expect_rows<float>(c.kernel, Xf, gram(c.kernel, Xf, {.precision = Precision::float32}), 1e-5);
  }
}

TEST(KernelRows, GivenMatricesFunctionsAndNoise) {
  const Matrix X = with_duplicates(4);
  const Matrix G = gram(kernels::gaussian(2), X);
  const Kernel function =
      kernels::function("product", [](const Samples& A, const Samples& B) { return Matrix(A.to_dense() * B.to_dense().transpose()); });
  expect_rows<double>(kernels::precomputed(), Samples::given_gram(G), G, 0);
  expect_rows<double>((2.0 * kernels::precomputed() + 1.0).normalized(), Samples::given_gram(G),
                      gram((2.0 * kernels::precomputed() + 1.0).normalized(), Samples::given_gram(G)), 1e-15);
  std::vector<Index> order;
  for (Index i = 0; i < n; ++i) order.push_back(n - 1 - i);
  expect_rows<double>(kernels::precomputed(), Samples::given_gram(G).subset(order), G(order, order), 0);
  expect_rows<double>(function, X, X * X.transpose(), 1e-14);
  expect_rows<double>(function.normalized() + kernels::gaussian(1), X, gram(function.normalized() + kernels::gaussian(1), X), 1e-14);
  expect_rows<float>(function, X, X * X.transpose(), 1e-6);
  const Kernel noisy = kernels::gaussian(2) + kernels::white(0.5);
  expect_rows<double>(noisy, X, G + 0.5 * Matrix::Identity(n, n), 1e-14);
}

TEST(KernelRows, ThreadsDoNotChangeABit) {
  const Samples X = with_duplicates(40);  // one value on both sides: symmetric
  const KernelRows<float> rows(PreparedKernel<float>(kernels::gaussian(3), X, X));
  Matrix one, two;
  with_threads(1, [&] { one = rows_of(rows, lists()[1]); });
  with_threads(2, [&] { two = rows_of(rows, lists()[1]); });
  EXPECT_EQ(one, two);
}

TEST(StoredRowsPart, IsThePartThatBelongsToItsSamples) {
  const Samples X = with_duplicates(3);
  const Matrix K = gram(kernels::matern(1.5, 2), X);
  const auto made = StoredRows<double>::of(PreparedKernel<double>(kernels::matern(1.5, 2), X, X), {});
  const StoredRows<double>& whole = *made;
  for (const std::vector<Index>& I : lists()) {
    const auto some = whole.part(I);
    const StoredRows<double>& part = *some;
    ASSERT_EQ(part.size(), std::ssize(I));
    const Matrix wanted = K(I, I);
    EXPECT_EQ(part.diagonal(), Vector(wanted.diagonal()));
    for (Index i = 0; i < part.size(); ++i) {
      for (Index j = 0; j < part.size(); ++j) ASSERT_EQ(part.stored(i)[j], wanted(i, j));
    }
    EXPECT_EQ(rows_of(part, {part.size() - 1}).row(0), wanted.row(part.size() - 1));
  }
}

// Kernels that share distances, sums of them, one that looks at something else: to the bit what each gives alone.
template <class T>
void expect_family(const Samples& X) {
  std::vector<Kernel> kernels;
  for (const double scale : {0.5, 1.0, 4.0}) kernels.push_back(kernels::gaussian(scale));
  kernels.push_back(kernels::matern(1.5, 2.0) + 0.5 * kernels::gaussian(3.0));
  kernels.push_back(kernels::linear() + kernels::white(0.25));
  kernels.push_back(kernels::laplacian(2.0));
  const auto made = StoredRows<T>::of_each(PreparedFamily<T>(kernels, X), {});
  ASSERT_EQ(made.size(), kernels.size());
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    SCOPED_TRACE(kernels[k].text());
    const auto alone = StoredRows<T>::of(PreparedKernel<T>(kernels[k], X, X), {});
    EXPECT_EQ(made[k]->diagonal(), alone->diagonal());
    for (Index i = 0; i < X.size(); ++i) {
      for (Index j = 0; j < X.size(); ++j) ASSERT_EQ(made[k]->stored(i)[j], alone->stored(i)[j]) << i << ", " << j;
    }
  }
}

TEST(StoredRowsFamily, EachIsWhatItIsAlone) {
  const Matrix X = RandomStream(5).normal_matrix(n, 7);
  expect_family<float>(X);
  expect_family<double>(X);
  expect_family<double>(X.topRows(1));
}

}  // namespace
}  // namespace mercer
