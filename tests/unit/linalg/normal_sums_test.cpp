// Running sums against the matrix products that define them: any chunks, any merging, any number of threads, both precisions.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/normal_sums.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "mercer/error.hpp"
#include "mercer/random.hpp"
#include "mercer/run.hpp"

namespace mercer {
namespace {

struct Rows {
  Matrix F;
  Matrix Y;
  Vector w;
};

Rows some_rows(Index n, Index m, Index targets) {
  RandomStream random(7, static_cast<std::uint64_t>(n * 1000 + m));
  Rows rows{random.normal_matrix(n, m), random.normal_matrix(n, targets).array() + 3.0, Vector(n)};
  for (double& w : rows.w) w = random.uniform() < 0.1 ? 0.0 : random.uniform(0.5, 2.0);
  return rows;
}

// The largest difference of two matrices, in units of the largest entry of the second.
double difference(const Matrix& a, const Matrix& b) { return (a - b).cwiseAbs().maxCoeff() / b.cwiseAbs().maxCoeff(); }

void expect_sums(const NormalSums& sums, const Rows& rows, bool weighted, double tolerance) {
  const Vector w = weighted ? rows.w : Vector::Ones(rows.F.rows());
  EXPECT_EQ(sums.rows(), rows.F.rows());
  EXPECT_NEAR(sums.weight(), w.sum(), 1e-12 * w.sum());
  EXPECT_LE(difference(sums.gram(), rows.F.transpose() * w.asDiagonal() * rows.F), tolerance);
  EXPECT_LE(difference(sums.cross(), rows.F.transpose() * w.asDiagonal() * rows.Y), tolerance);
  EXPECT_LE(difference(sums.feature_sums(), rows.F.transpose() * w), tolerance);
  EXPECT_LE(difference(sums.target_sums(), rows.Y.transpose() * w), 1e-13);
  EXPECT_LE(difference(sums.target_squares(), rows.Y.cwiseAbs2().transpose() * w), 1e-13);
}

TEST(NormalSums, AreTheProducts) {
  // Sizes around the tile of 256 features and the slice of 2048 rows; one and many targets take different roads.
  for (const auto& [n, m, targets] : {std::array<Index, 3>{1, 1, 1}, {5, 3, 2}, {300, 255, 1}, {2049, 257, 6}, {4200, 70, 1}}) {
    const Rows rows = some_rows(n, m, targets);
    for (const bool weighted : {false, true}) {
      NormalSums sums(m, targets);
      sums.accumulate(rows.F, rows.Y, weighted ? rows.w : Vector());
      expect_sums(sums, rows, weighted, 1e-13);  // sums of at most 4200 products: sqrt(n) eps of the largest entry is 1.5e-14
      // float32 features: each is wrong by 6e-8, sums within a slice by some sqrt(2048) 6e-8 of a typical entry.
      NormalSums single(m, targets);
      single.accumulate(MatrixF(rows.F.cast<float>()), rows.Y, weighted ? rows.w : Vector());
      expect_sums(single, rows, weighted, 3e-6);
    }
  }
}

TEST(NormalSums, ChunksAndMergingAgreeToRounding) {
  const Rows rows = some_rows(5000, 130, 2);
  NormalSums whole(130, 2);
  whole.accumulate(rows.F, rows.Y, rows.w);
  NormalSums left(130, 2);
  NormalSums right(130, 2);
  left.accumulate(rows.F.topRows(7), rows.Y.topRows(7), rows.w.head(7));
  left.accumulate(rows.F.middleRows(7, 2500), rows.Y.middleRows(7, 2500), rows.w.segment(7, 2500));
  right.accumulate(rows.F.bottomRows(2493), rows.Y.bottomRows(2493), rows.w.tail(2493));
  right.accumulate(Matrix(0, 130), Matrix(0, 2));
  left.merge(right);
  EXPECT_EQ(left.rows(), whole.rows());
  EXPECT_NEAR(left.weight(), whole.weight(), 1e-10);
  EXPECT_LE(difference(left.gram(), whole.gram()), 1e-14);
  EXPECT_LE(difference(left.cross(), whole.cross()), 1e-13);
  EXPECT_LE(difference(left.feature_sums(), whole.feature_sums()), 1e-13);
  EXPECT_LE(difference(left.target_squares(), whole.target_squares()), 1e-14);
}

TEST(NormalSums, SameBitsForAnyNumberOfThreads) {
  const Rows rows = some_rows(9000, 300, 1);
  const MatrixF F = rows.F.cast<float>();
  std::vector<std::string> bytes;
  for (const int threads : {1, 2, 3}) {
    with_threads(threads, [&] {
      NormalSums sums(300, 1);
      sums.accumulate(F, rows.Y, rows.w);
      bytes.push_back(sums.to_bytes());
    });
  }
  EXPECT_EQ(bytes[0], bytes[1]);
  EXPECT_EQ(bytes[0], bytes[2]);
}

TEST(NormalSums, TrainingErrorWithoutTheRows) {
  const Rows rows = some_rows(400, 20, 2);
  NormalSums sums(20, 2);
  sums.accumulate(rows.F, rows.Y, rows.w);
  const Matrix c = RandomStream(1).normal_matrix(20, 2);
  const Vector b = Vector::Constant(2, 0.7);
  const Matrix residual = (rows.Y - rows.F * c).rowwise() - b.transpose();
  const Vector direct = residual.cwiseAbs2().transpose() * rows.w;
  EXPECT_LE(difference(sums.squared_error(c, b), direct), 1e-13);
  EXPECT_LE(difference(sums.squared_error(c), (rows.Y - rows.F * c).cwiseAbs2().transpose() * rows.w), 1e-13);
}

TEST(NormalSums, TargetsFarFromZeroKeepTheirDigits) {
  const Rows rows = some_rows(3000, 20, 2);
  const Matrix c = RandomStream(1).normal_matrix(20, 2);
  const Vector b = Vector::Constant(2, 0.7);
  const Matrix residual = (rows.Y - rows.F * c).rowwise() - b.transpose();
  const Vector direct = residual.cwiseAbs2().transpose() * rows.w;
  const Vector mean = rows.Y.transpose() * rows.w / rows.w.sum();
  const Vector variation = (rows.Y.rowwise() - mean.transpose()).cwiseAbs2().transpose() * rows.w;
  for (const double offset : {1e7, 1e9}) {
    const Matrix Y = rows.Y.array() + offset;
    NormalSums whole(20, 2);
    whole.accumulate(rows.F.topRows(5), Y.topRows(5), Vector::Zero(5));  // rows without weight fix no shift
    EXPECT_EQ(whole.shift(), Vector::Zero(2));
    whole.accumulate(rows.F, Y, rows.w);
    NormalSums left(20, 2), right(20, 2), merged(20, 2);
    left.accumulate(rows.F.topRows(1000), Y.topRows(1000), rows.w.head(1000));
    right.accumulate(rows.F.middleRows(1000, 7), Y.middleRows(1000, 7), rows.w.segment(1000, 7));
    right.accumulate(rows.F.bottomRows(1993), Y.bottomRows(1993), rows.w.tail(1993));
    merged.merge(right);  // with nothing seen, the shift is the other's
    EXPECT_EQ(merged.shift(), right.shift());
    merged.merge(left);
    for (const NormalSums* sums : {&whole, &merged}) {
      EXPECT_LE(difference(sums->squared_error(c, b.array() + offset), direct), 1e-6) << offset;
      EXPECT_LE(difference(sums->target_variation(), variation), 1e-6) << offset;
      EXPECT_LE(difference(sums->target_means(), mean.array() + offset), 1e-15) << offset;
      EXPECT_LE(difference(sums->target_sums(), Y.transpose() * rows.w), 1e-14) << offset;
      EXPECT_LE(difference(sums->target_squares(), Y.cwiseAbs2().transpose() * rows.w), 1e-14) << offset;
      EXPECT_LE(difference(sums->cross(), rows.F.transpose() * rows.w.asDiagonal() * Y), 1e-12) << offset;
    }
    EXPECT_LE(difference(merged.centred_cross(), whole.centred_cross()), 1e-9) << offset;
  }
  NormalSums constant(0, 1);
  constant.accumulate(Matrix(10, 0), Matrix::Constant(10, 1, 1e9 + 0.1));
  constant.accumulate(Matrix(3, 0), Matrix::Constant(3, 1, 1e9 + 0.1));
  EXPECT_EQ(constant.target_variation()[0], 0);
}

TEST(NormalSums, BytesComeBackAndDamageIsNoticed) {
  const Rows rows = some_rows(50, 260, 2);
  NormalSums sums(260, 2);
  sums.accumulate(rows.F, rows.Y, rows.w);
  const std::string bytes = sums.to_bytes();
  NormalSums back = NormalSums::from_bytes(bytes);
  EXPECT_EQ(back.to_bytes(), bytes);
  back.accumulate(rows.F, rows.Y, rows.w);  // still running
  EXPECT_LE(difference(back.gram(), 2 * sums.gram()), 1e-14);
  EXPECT_EQ(NormalSums::from_bytes(NormalSums().to_bytes()).features(), 0);

  for (const std::size_t at :
       {std::size_t{0}, std::size_t{9}, std::size_t{17}, std::size_t{25}, std::size_t{33}, bytes.size() / 2, bytes.size() - 1}) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x40);
    EXPECT_THROW(NormalSums::from_bytes(changed), InvalidArgument) << "byte " << at;
  }
  EXPECT_THROW(NormalSums::from_bytes(bytes.substr(0, bytes.size() - 8)), InvalidArgument);
  EXPECT_THROW(NormalSums::from_bytes(bytes + "x"), InvalidArgument);
  EXPECT_THROW(NormalSums::from_bytes(""), InvalidArgument);
}

TEST(NormalSums, MisuseLeavesThemAsTheyWere) {
  const Rows rows = some_rows(10, 4, 1);
  NormalSums sums(4, 1);
  sums.accumulate(rows.F, rows.Y);
  const std::string before = sums.to_bytes();
  Matrix nan = rows.F;
  nan(9, 3) = std::numeric_limits<double>::quiet_NaN();
  Matrix infinite = rows.Y;
  infinite(0, 0) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(sums.accumulate(nan, rows.Y), InvalidArgument);
  EXPECT_THROW(sums.accumulate(rows.F, infinite), InvalidArgument);
  EXPECT_THROW(sums.accumulate(rows.F, rows.Y, -Vector::Ones(10)), InvalidArgument);
  EXPECT_THROW(sums.accumulate(rows.F, rows.Y, Vector::Ones(9)), InvalidArgument);
  EXPECT_THROW(sums.accumulate(Matrix(rows.F.leftCols(3)), rows.Y), InvalidArgument);
  EXPECT_THROW(sums.accumulate(rows.F, rows.Y.topRows(9)), InvalidArgument);
  EXPECT_THROW(sums.accumulate(rows.F, Matrix(10, 2)), InvalidArgument);
  EXPECT_THROW(sums.merge(NormalSums(4, 2)), InvalidArgument);
  EXPECT_THROW(sums.squared_error(Matrix(3, 1)), InvalidArgument);
  EXPECT_THROW(NormalSums(-1, 1), InvalidArgument);
  EXPECT_EQ(sums.to_bytes(), before);
}

}  // namespace
}  // namespace mercer
