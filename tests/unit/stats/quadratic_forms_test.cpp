// v'K v over tiles against plain loops over a Gram matrix.
// SPDX-License-Identifier: BSD-3-Clause
#include "stats/quadratic_forms.hpp"

#include <gtest/gtest.h>

#include "mercer/gram.hpp"
#include "mercer/random.hpp"

namespace mercer::stats {
namespace {

template <class T>
void compare_with_loops(Index n, double tolerance) {
  const Matrix X = RandomStream(1).normal_matrix(n, 3);
  const std::vector<Kernel> kernels = {kernels::gaussian(1.0), kernels::laplacian(2.0), kernels::polynomial(2)};
  const RowMatrix<T> V = RandomStream(2).normal_matrix(300, n).cast<T>();  // more vectors than a panel has
  const Samples samples(X);
  const PreparedFamily<T> family(kernels, samples);
  for (const Diagonal diagonal : {Diagonal::whole, Diagonal::left_out}) {
    const Matrix q = quadratic_forms<T>(family, V, diagonal, {});
    const Matrix sums = row_sums<T>(family, diagonal, {});
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      Matrix K = gram(kernels[k], samples);
      if (diagonal == Diagonal::left_out) K.diagonal().setZero();
      for (const Index b : {Index{0}, Index{255}, Index{256}, Index{299}}) {
        const Vector v = V.row(b).template cast<double>();
        const double size = v.cwiseAbs().dot(K.cwiseAbs() * v.cwiseAbs());
        EXPECT_NEAR(q(b, static_cast<Index>(k)), v.dot(K * v), tolerance * size);
      }
      EXPECT_LE((sums.col(static_cast<Index>(k)) - K.rowwise().sum()).cwiseAbs().maxCoeff(),
                tolerance * K.cwiseAbs().rowwise().sum().maxCoeff());
    }
  }
}

TEST(QuadraticForms, AgreeWithLoopsAtTileEdges) {
  for (const Index n : {1, 2, 255, 256, 257, 600}) {
    compare_with_loops<double>(n, 1e-14);
    compare_with_loops<float>(n, 1e-5);  // what entries of float32 Gram matrices hold (docs/gram.md)
  }
}

TEST(QuadraticForms, OnePassGivesRowSumsAndSquaresToo) {
  const Matrix X = RandomStream(1).normal_matrix(300, 3);
  const std::vector<Kernel> kernels = {kernels::gaussian(1.0), kernels::laplacian(2.0)};
  const PreparedFamily<double> family(kernels, Samples(X));
  VectorPanels<double> V(3, 300);
  for (Index b = 0; b < 3; ++b) V.set(b, [&](Index i) { return static_cast<double>(i % (b + 2)); });
  const FormSums sums = form_sums<double>(family, V, Diagonal::left_out, {});
  for (Index k = 0; k < 2; ++k) {
    Matrix K = gram(kernels[static_cast<std::size_t>(k)], X);
    K.diagonal().setZero();
    EXPECT_NEAR(sums.squares[k], K.squaredNorm(), 1e-12 * K.squaredNorm());
    EXPECT_LE((sums.row_sums.col(k) - K.rowwise().sum()).cwiseAbs().maxCoeff(), 1e-12 * K.rowwise().sum().maxCoeff());
    for (Index b = 0; b < 3; ++b) {
      Vector v(300);
      for (Index i = 0; i < 300; ++i) v[i] = static_cast<double>(i % (b + 2));
      EXPECT_NEAR(sums.forms(b, k), v.dot(K * v), 1e-12 * v.dot(K * v));
    }
  }
}

TEST(QuadraticForms, DoNotDependOnThreads) {
  const Matrix X = RandomStream(1).normal_matrix(700, 3);
  const MatrixF V = RandomStream(2).normal_matrix(20, 700).cast<float>();
  const PreparedFamily<float> family({kernels::gaussian(1.0)}, Samples(X));
  EXPECT_EQ(quadratic_forms<float>(family, V, Diagonal::whole, {.threads = 1}),
            quadratic_forms<float>(family, V, Diagonal::whole, {.threads = 2}));
}

}  // namespace
}  // namespace mercer::stats
