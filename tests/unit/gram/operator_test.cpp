// Stored and streamed operators against the plain matrix, and the promises of the interface: fixed order, cancel, budget.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "gram/tiling.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

const Kernel kernel = kernels::gaussian(3) + 0.1 * kernels::linear();

struct Setting {
  Storage storage;
  Precision precision;
  double tolerance;
};

const Setting settings[] = {{Storage::stored, Precision::float64, 1e-13},
                            {Storage::streamed, Precision::float64, 1e-13},
                            {Storage::stored, Precision::float32, 2e-6},
                            {Storage::streamed, Precision::float32, 2e-6}};

TEST(Tiling, UpperPairsAreNumberedRowByRow) {
  for (const Index blocks : {1, 2, 3, 7, 40}) {
    Index number = 0;
    for (Index i = 0; i < blocks; ++i) {
      for (Index j = i; j < blocks; ++j, ++number) {
        const BlockPair pair = upper_pair(number, blocks);
        ASSERT_EQ(pair.row, i);
        ASSERT_EQ(pair.col, j);
      }
    }
    EXPECT_EQ(number, upper_count(blocks));
  }
}

TEST(GramOperator, AppliesAsTheMatrixDoes) {
  for (const Index n : {1, 5, 256, 300, 777}) {
    const Matrix X = RandomStream(1).normal_matrix(n, 15);
    const Matrix K = gram(kernel, X);
    const Matrix V = RandomStream(2).normal_matrix(n, 3);
    const Vector w = RandomStream(3).normal_matrix(n, 1).cwiseAbs();
    const double size = (K.cwiseAbs() * V.cwiseAbs()).maxCoeff();
    for (const auto& s : settings) {
      const Operator op = gram_operator(kernel, X, {s.precision, s.storage, {}});
      EXPECT_EQ(op->rows(), n);
      EXPECT_TRUE(op->symmetric());
      EXPECT_EQ(op->precision(), s.precision);
      EXPECT_LT((op->apply(V) - K * V).cwiseAbs().maxCoeff(), s.tolerance * size) << op->describe();
      EXPECT_LT((op->apply_transpose(V) - K * V).cwiseAbs().maxCoeff(), s.tolerance * size) << op->describe();
      const Matrix normal = K.transpose() * (w.asDiagonal() * (K * V));
      EXPECT_LT((op->apply_normal(V, w) - normal).cwiseAbs().maxCoeff(), 30 * s.tolerance * normal.cwiseAbs().maxCoeff()) << op->describe();
      EXPECT_LT((op->diagonal() - K.diagonal()).cwiseAbs().maxCoeff(), s.tolerance * K.diagonal().maxCoeff());
    }
  }
}

TEST(GramOperator, CrossGramAppliesBothWays) {
  const Matrix X = RandomStream(4).normal_matrix(600, 5);
  const Matrix Y = RandomStream(5).normal_matrix(290, 5);
  const Matrix K = gram(kernel, X, Y);
  const Matrix V = RandomStream(6).normal_matrix(290, 2);
  const Matrix U = RandomStream(7).normal_matrix(600, 2);
  for (const auto& s : settings) {
    const Operator op = gram_operator(kernel, X, Y, {s.precision, s.storage, {}});
    EXPECT_FALSE(op->symmetric());
    EXPECT_LT((op->apply(V) - K * V).cwiseAbs().maxCoeff(), s.tolerance * 300) << op->describe();
    EXPECT_LT((op->apply_transpose(U) - K.transpose() * U).cwiseAbs().maxCoeff(), s.tolerance * 600) << op->describe();
    const Matrix normal = K.transpose() * (K * V);
    EXPECT_LT((op->apply_normal(V, Vector()) - normal).cwiseAbs().maxCoeff(), 30 * s.tolerance * normal.cwiseAbs().maxCoeff())
        << op->describe();
    EXPECT_EQ(op->tile_count(), 3 * 2);
  }
}

TEST(GramOperator, TilesCoverTheUpperHalfOnceInFixedOrder) {
  const Matrix X = RandomStream(8).normal_matrix(600, 4);
  const Matrix K = gram(kernel, X);
  for (const auto& s : settings) {
    const Operator op = gram_operator(kernel, X, {s.precision, s.storage, {}});
    std::vector<double> sums(static_cast<std::size_t>(op->tile_count()), -1);
    std::atomic<Index> entries{0};
    op->for_each_tile([&](const TileView& tile) {
      double sum = 0;
      for (Index i = 0; i < tile.rows; ++i) {
        for (Index j = 0; j < tile.cols; ++j) {
          sum += tile(i, j);
          EXPECT_NEAR(tile(i, j), K(tile.row + i, tile.col + j), s.tolerance * 10);
        }
      }
      sums[static_cast<std::size_t>(tile.number)] = tile.on_diagonal() ? sum : 2 * sum;
      entries += tile.rows * tile.cols * (tile.on_diagonal() ? 1 : 2);
    });
    EXPECT_EQ(entries, 600 * 600);
    double total = 0;
    for (const double sum : sums) total += sum;
    EXPECT_NEAR(total, K.sum(), s.tolerance * K.cwiseAbs().sum());
  }
}

TEST(GramOperator, AVisitorMayUseAnotherStreamedOperator) {
  const Matrix X = RandomStream(20).normal_matrix(300, 4);
  const Operator outer = gram_operator(kernel, X, {.storage = Storage::streamed});
  const Operator inner = gram_operator(kernels::linear(), X, {.storage = Storage::streamed});
  const Matrix K = gram(kernel, X);
  const Matrix ones = Matrix::Ones(300, 1);
  outer->for_each_tile([&](const TileView& tile) {
    EXPECT_NEAR(inner->apply(ones)(0, 0), (X * X.row(0).transpose()).sum(), 1e-10);
    EXPECT_NEAR(tile(0, 0), K(tile.row, tile.col), 1e-14);
  });
}

TEST(GramOperator, StoredRowsAreZeroCopyAndStreamedOnesAreRefusedByName) {
  const Matrix X = RandomStream(9).normal_matrix(300, 4);
  const Matrix K = gram(kernel, X);
  const Operator stored = gram_operator(kernel, X, {.storage = Storage::stored});
  const RowBlock rows = stored->row_block(10, 2);
  const RowBlock same = stored->row_block(10, 2);
  EXPECT_EQ(std::get<const double*>(rows.values), std::get<const double*>(same.values));
  EXPECT_EQ(std::get<const double*>(rows.values)[rows.stride + 5], K(11, 5));
  const std::vector<Index> I{3, 299, 0};
  const std::vector<Index> J{7, 7};
  const Matrix block = stored->block(I, J);
  EXPECT_EQ(block(1, 0), K(299, 7));
  EXPECT_EQ(block(1, 1), K(299, 7));
  EXPECT_THROW(stored->block(std::vector<Index>{300}, J), InvalidArgument);
  EXPECT_THROW(stored->row_block(299, 2), InvalidArgument);

  const Operator streamed = gram_operator(kernel, X, {.storage = Storage::streamed});
  EXPECT_THROW(streamed->block(I, J), NotOffered);
  EXPECT_THROW(streamed->row_block(0, 1), NotOffered);
  EXPECT_THROW(streamed->apply(Matrix::Ones(3, 1)), InvalidArgument);
}

TEST(GramOperator, SameBitsForAnyNumberOfThreads) {
  const Matrix X = RandomStream(10).normal_matrix(900, 20);
  const Matrix V = RandomStream(11).normal_matrix(900, 2);
  for (const auto& s : settings) {
    const Matrix one = gram_operator(kernel, X, {s.precision, s.storage, {.threads = 1}})->apply(V);
    const Matrix two = gram_operator(kernel, X, {s.precision, s.storage, {.threads = 2}})->apply(V);
    const Matrix five = gram_operator(kernel, X, {s.precision, s.storage, {.threads = 5}})->apply(V);
    EXPECT_EQ(one, two);
    EXPECT_EQ(one, five);
  }
}

TEST(GramOperator, StorageFollowsTheBudget) {
  const Matrix X = RandomStream(12).normal_matrix(500, 3);
  EXPECT_EQ(gram_operator(kernel, X, {.run = {.memory = 3'000'000}})->describe(), "500 x 500 in float64, stored (2 MB)");
  EXPECT_EQ(gram_operator(kernel, X, {.run = {.memory = 1'000'000}})->describe(), "500 x 500 in float64, streamed");
  EXPECT_EQ(gram_operator(kernel, X, {.precision = Precision::float32, .run = {.memory = 1'000'000}})->describe(),
            "500 x 500 in float32, stored (1 MB)");
  EXPECT_THROW(gram_operator(kernel, X, {.storage = Storage::stored, .run = {.memory = 1'000'000}}), OverBudget);
}

TEST(GramOperator, CancelStopsEveryPath) {
  const Matrix X = RandomStream(13).normal_matrix(3000, 100);
  bool go_on = true;  // until the operator is there
  const ProgressCallback stop = [&](const ProgressEvent&) { return go_on; };
  const Operator streamed = gram_operator(kernel, X, {Precision::float64, Storage::streamed, {.threads = 2, .progress = stop}});
  go_on = false;
  testing::on_new_thread([&] { EXPECT_THROW(gram_operator(kernel, X, {.run = {.progress = stop}}), Cancelled); });
  testing::on_new_thread([&] { EXPECT_THROW(streamed->apply(Matrix::Ones(3000, 1)), Cancelled); });
  testing::on_new_thread([&] { EXPECT_THROW(streamed->for_each_tile([](const TileView&) {}), Cancelled); });
  testing::on_new_thread([&] { EXPECT_THROW(gram(kernel, X, {.run = {.progress = stop}}), Cancelled); });
  // and the next job is as good as new
  EXPECT_NO_THROW(gram(kernel, X.topRows(10)));
}

}  // namespace
}  // namespace mercer
