// The running sums of a least squares problem in m features: everything that ridge regression needs to know about n rows, in m^2/2 numbers.
//
//   NormalSums sums(1000, 1);                       // 1000 features, 1 target
//   for (chunk of rows) sums.accumulate(F, y, w);   // F' W F, F' W Y, F' w, Y' w, Y' W Y, sum of w
//   sums.merge(others);                             // what another machine has seen
//   std::string bytes = sums.to_bytes();            // to a file or over a wire; from_bytes checks what it reads
//
// Method: the chunk is cut into fixed slices of rows and the m x m matrix into fixed tiles, lower half only; each slice of a tile is one
// SYRK or GEMM in the precision of the features, added to float64 sums in a fixed order. So the bits do not depend on the number of
// threads; other chunks, or another order of merging, agree to rounding. The products with Y are in float64 throughout, and of Y minus the
// mean of the first chunk: targets far from zero lose no digits. Cost: m^2 flops a row; 8 bytes for each of about m (m + 256) / 2 numbers.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mercer/matrix.hpp"

namespace mercer {

class NormalSums {
 public:
  NormalSums() = default;  // of nothing: 0 features, 0 targets
  NormalSums(Index features, Index targets);

  // Takes in the rows of F (rows x features) with their targets Y (rows x targets) and weights w >= 0 (empty: all 1). Throws
  // InvalidArgument for sizes that do not agree and for numbers that are not finite; the sums are then as they were. Uses the threads
  // around it.
  void accumulate(const Eigen::Ref<const MatrixF>& F, const MatrixRef& Y, const VectorRef& w = Vector());
  void accumulate(const Eigen::Ref<const Matrix>& F, const MatrixRef& Y, const VectorRef& w = Vector());

  // Adds what `other` has seen. Throws InvalidArgument unless it has the same features and targets.
  void merge(const NormalSums& other);

  Index features() const { return features_; }
  Index targets() const { return targets_; }
  Index rows() const { return rows_; }       // seen so far, those of weight zero too
  double weight() const { return weight_; }  // the sum of their weights
  Matrix gram() const;                       // F' W F, whole
  Matrix cross() const;                      // F' W Y, features x targets
  Vector feature_sums() const;               // F' w
  Vector target_sums() const;                // Y' w
  Vector target_squares() const;             // diagonal of Y' W Y

  // The same about the weighted means, exact for targets whose mean is large beside their spread; zeros without weight.
  Vector target_means() const;
  Vector target_variation() const;                // sum_i w_i (y_i - mean)^2; 0 where it is no more than the rounding of the targets
  Matrix centred_cross() const;                   // F' W (Y - means)
  const Vector& shift() const { return shift_; }  // what is taken off the targets before they are summed

  // sum_i w_i (y_i - f_i'c - b)^2 for each target: the training error of coefficients c (features x targets) and intercepts b (empty: 0)
  // without another look at the rows. Accurate to rounding in the sums: about 1e-7 of target_variation() for float32 features, 1e-15 for
  // float64, if b is near its best; else of what f'c has to make up for.
  Vector squared_error(const MatrixRef& coefficients, const VectorRef& intercept = Vector()) const;

  // Little-endian float64, with a magic word, sizes and a checksum.
  std::string to_bytes() const;
  // Throws InvalidArgument naming what is wrong: not such sums, cut short, changed.
  static NormalSums from_bytes(std::string_view bytes);

  static std::size_t bytes(Index features, Index targets);  // memory that such sums take

 private:
  template <class T>
  void take(const Eigen::Ref<const RowMatrix<T>>& F, const MatrixRef& Y, const VectorRef& w);

  Index features_ = 0;
  Index targets_ = 0;
  Index rows_ = 0;
  double weight_ = 0;
  std::vector<double> tiles_{};  // of F' W F, the lower half: tile (i, j), j <= i, is the (i (i + 1) / 2 + j)-th, row-major
  Vector shift_{};               // the means of the first rows that had weight; zeros before
  Matrix cross_{};               // F' W [Y - shift, 1]
  Vector target_sums_{};         // of Y - shift, as the squares
  Vector target_squares_{};
};

}  // namespace mercer
