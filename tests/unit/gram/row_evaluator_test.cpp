// One new row against all rows of a model: the values of gram(), from whichever thread asks first, and no layout before anyone asks.
// SPDX-License-Identifier: BSD-3-Clause
#include "gram/row_evaluator.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "mercer/gram.hpp"
#include "mercer/random.hpp"

namespace mercer {
namespace {

TEST(RowEvaluator, LaysOutRowsWhenTheFirstThreadAsks) {
  const RowMatrix<double> X = RandomStream(1).normal_matrix(130, 5);  // two blocks of 64 and a rest
  const RowMatrix<double> x = RandomStream(2).normal_matrix(8, 5);
  for (const Kernel& kernel : {kernels::linear(), kernels::gaussian(1.5), 3 * kernels::laplacian(2.0)}) {
    const Matrix wanted = gram(kernel, Samples(x), Samples(X));
    const auto evaluator = RowEvaluator::make(kernel, Samples(X));
    ASSERT_NE(evaluator, nullptr);
    EXPECT_FALSE(evaluator->is_packed());
    Matrix got(8, 130);
    std::vector<std::thread> threads;
    for (Index i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        const std::span<const double> k = evaluator->values({x.row(i).data(), 5});
        for (Index j = 0; j < 130; ++j) got(i, j) = k[static_cast<std::size_t>(j)];
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(evaluator->is_packed());
    EXPECT_LE((got - wanted).cwiseAbs().maxCoeff(), 1e-14 * (1 + wanted.cwiseAbs().maxCoeff())) << kernel.text();
  }
}

TEST(RowEvaluator, IsNotForEveryKernel) {
  const Matrix X = Matrix::Identity(4, 4);
  EXPECT_EQ(RowEvaluator::make(kernels::linear() + kernels::gaussian(1.0), Samples(X)), nullptr);
  EXPECT_EQ(RowEvaluator::make(kernels::precomputed(), Samples::given_gram(Samples(X))), nullptr);
}

}  // namespace
}  // namespace mercer
