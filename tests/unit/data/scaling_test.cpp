// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/scaling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "golden/data.hpp"
#include "mercer/error.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

using testing::message_of;

constexpr double eps = std::numeric_limits<double>::epsilon();

Matrix golden_matrix(const std::vector<double>& values) { return Eigen::Map<const Matrix>(values.data(), 6, 4); }

TEST(StandardScaling, AgreesWithScikitLearn) {
  const Matrix X = golden_matrix(golden::scaling_input);
  const Scaler scaler = fit_scaler(X, ScalingKind::standard);
  // Column 1 lies at 1e6 with deviation 130: its spread is known to 1e6 / 130 roundings.
  for (Index j = 0; j < 4; ++j) {
    EXPECT_NEAR(scaler.shift[j], golden::standard_mean[static_cast<std::size_t>(j)], 4 * eps * std::abs(scaler.shift[j]) + 1e-16);
    EXPECT_NEAR(scaler.scale[j], golden::standard_scale[static_cast<std::size_t>(j)], 1e4 * eps * scaler.scale[j]);
  }
  EXPECT_LT((scaler.apply(X).to_dense() - golden_matrix(golden::standard_output)).cwiseAbs().maxCoeff(), 1e5 * eps);
}

TEST(MinMaxScaling, AgreesWithScikitLearn) {
  const Matrix X = golden_matrix(golden::scaling_input);
  const Matrix Z = fit_scaler(X, ScalingKind::min_max).apply(X).to_dense();
  EXPECT_LT((Z - golden_matrix(golden::min_max_output)).cwiseAbs().maxCoeff(), 1e5 * eps);
  EXPECT_EQ(Z.leftCols(3).colwise().minCoeff(), Matrix::Zero(1, 3));
  EXPECT_EQ(Z.leftCols(3).colwise().maxCoeff(), Matrix::Ones(1, 3));
}

TEST(StandardScaling, GivesMeanZeroAndDeviationOneEvenFarFromZero) {
  Matrix X = RandomStream(1).normal_matrix(1000, 3);
  X.col(1).array() += 1e9;
  X.col(2) *= 1e-30;
  const Matrix Z = fit_scaler(X, ScalingKind::standard).apply(X).to_dense();
  for (Index j = 0; j < 3; ++j) {
    EXPECT_NEAR(Z.col(j).mean(), 0, j == 1 ? eps * 1e9 / 2 : 1e-12);  // column 1: the mean itself is rounded to its last bit
    EXPECT_NEAR((Z.col(j).array() - Z.col(j).mean()).square().mean(), 1, 1e-12);
  }
}

TEST(Scaling, AConstantColumnHasScaleOne) {
  Matrix X = Matrix::Constant(7, 2, 0.1);  // 0.1 is not a binary fraction: its mean over 7 rows need not be 0.1
  X.col(1).setConstant(-1e300);
  for (const ScalingKind kind : {ScalingKind::standard, ScalingKind::min_max}) {
    const Scaler scaler = fit_scaler(X, kind);
    EXPECT_EQ(scaler.scale, Vector::Ones(2));
    EXPECT_EQ(scaler.apply(X).to_dense(), Matrix::Zero(7, 2));
  }
}

TEST(Scaling, OneRowBecomesZero) {
  const Matrix X = (Matrix(1, 2) << 5, -3).finished();
  for (const ScalingKind kind : {ScalingKind::standard, ScalingKind::min_max})
    EXPECT_EQ(fit_scaler(X, kind).apply(X).to_dense(), Matrix::Zero(1, 2));
}

TEST(Scaling, UndoComesBack) {
  const Matrix X = golden_matrix(golden::scaling_input);
  for (const ScalingKind kind : {ScalingKind::none, ScalingKind::standard, ScalingKind::min_max}) {
    const Scaler scaler = fit_scaler(X, kind);
    const Matrix back = scaler.undo(scaler.apply(X).to_dense());
    EXPECT_LT(((back - X).array() / X.array()).abs().maxCoeff(), 1e-12);
  }
}

TEST(Scaling, NewRowsMeetTheFittedNumbers) {
  const Matrix X = (Matrix(2, 1) << 0, 4).finished();
  const Matrix fresh = (Matrix(2, 1) << 8, -2).finished();
  EXPECT_EQ(fit_scaler(X, ScalingKind::min_max).apply(fresh).to_dense(), (Matrix(2, 1) << 2, -0.5).finished());
  EXPECT_EQ(fit_scaler(X, ScalingKind::standard).apply(fresh).to_dense(), (Matrix(2, 1) << 3, -2).finished());
}

TEST(Scaling, Float32StaysFloat32AndIsFittedInDouble) {
  MatrixF X(1000, 1);
  for (Index i = 0; i < 1000; ++i) X(i, 0) = 1e4F + static_cast<float>(i % 2);  // float sums of squares would lose this spread
  const Scaler scaler = fit_scaler(X, ScalingKind::standard);
  EXPECT_EQ(scaler.shift[0], 10000.5);
  EXPECT_EQ(scaler.scale[0], 0.5);
  EXPECT_EQ(scaler.apply(X).precision(), Precision::float32);
}

TEST(Scaling, SparseRowsAreDividedAndStaySparse) {
  const Matrix dense = (Matrix(4, 3) << 0, 2, 0, 3, 0, 0, -4, 2, 0, 0, 0, 0).finished();
  const CsrMatrix<double> sparse = dense.sparseView();
  const Scaler standard = fit_scaler(sparse, ScalingKind::standard);
  EXPECT_EQ(standard.shift, Vector::Zero(3));
  EXPECT_DOUBLE_EQ(standard.scale[0], 2.5);           // sqrt((9 + 16) / 4)
  EXPECT_DOUBLE_EQ(standard.scale[1], std::sqrt(2));  // sqrt((4 + 4) / 4)
  EXPECT_EQ(standard.scale[2], 1) << "an empty column";
  const Samples Z = standard.apply(sparse);
  EXPECT_TRUE(Z.is_sparse());
  EXPECT_LT((Z.to_dense() - dense * standard.scale.cwiseInverse().asDiagonal()).cwiseAbs().maxCoeff(), 4 * eps);
  EXPECT_EQ(std::get<CsrRows<double>>(Z.storage()).nonzeros(), 4);

  const Scaler largest = fit_scaler(sparse, ScalingKind::min_max);
  EXPECT_EQ(largest.scale, Eigen::Vector3d(4, 2, 1));
  const Samples part = Samples(sparse).slice(1, 2);  // offsets that do not start at 0
  EXPECT_EQ(largest.apply(part).to_dense(), (Matrix(2, 3) << 0.75, 0, 0, -1, 1, 0).finished());
  EXPECT_EQ(fit_scaler(part, ScalingKind::min_max).scale, Eigen::Vector3d(4, 2, 1));
  const CsrMatrix<float> single = sparse.cast<float>();
  EXPECT_EQ(largest.apply(single).precision(), Precision::float32);
}

TEST(Scaling, NoneLeavesTheRowsAlone) {
  const Samples X = Matrix(Matrix::Ones(3, 2));
  const Scaler scaler = fit_scaler(X, ScalingKind::none);
  EXPECT_TRUE(scaler.apply(X).same_rows(X));
}

TEST(Scaling, BadInputIsNamed) {
  const auto message = [](const Samples& X) { return message_of<InvalidArgument>([&] { fit_scaler(X, ScalingKind::standard); }); };
  EXPECT_EQ(message(Matrix(0, 3)), "scaling needs at least 1 row, got 0");
  Matrix X = Matrix::Ones(2, 2);
  X(1, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message(X), "X has a NaN in row 1, column 0 (counting from 0); remove the row or fill the value in");
  X << 1, 1e308, 2, -1e308;
  const std::string too_large = "column 1 (counting from 0) is too large to scale: its spread overflows; divide it by a power of ten";
  EXPECT_EQ(message(X), too_large);
  EXPECT_EQ(message_of<InvalidArgument>([&] { fit_scaler(X, ScalingKind::min_max); }), too_large);

  const Scaler scaler = fit_scaler(Matrix(Matrix::Identity(3, 3)), ScalingKind::standard);
  EXPECT_EQ(message_of<InvalidArgument>([&] { scaler.apply(X); }), "X has 2 columns, but the scaler was fitted on 3");
  EXPECT_THROW(scaler.undo(X), InvalidArgument);
  const CsrMatrix<double> sparse = Matrix(Matrix::Identity(3, 3)).sparseView();
  EXPECT_EQ(message_of<InvalidArgument>([&] { scaler.apply(sparse); }),
            "sparse rows cannot be shifted, and this scaler was fitted on dense rows; fit it on sparse rows or make these dense");
}

}  // namespace
}  // namespace mercer
