// A matrix that need not exist: what solvers see instead of data and kernels. Stored, streamed and low-rank Gram matrices and
// the views below all answer to this one interface.
//
// Cost: apply is 2 n^2 k flops stored; streamed, every tile is evaluated again on each call.
// Determinism: tiles are fixed, so every result is the same for any number of threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "mercer/matrix.hpp"

namespace mercer {

// A rectangle of an operator, valid only during the visit.
struct TileView {
  Index number = 0;  // place in the fixed order, below tile_count(), no two alike: store what you find per tile, then combine in this order
  Index row = 0;
  Index col = 0;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;
  std::variant<const float*, const double*> values;

  double operator()(Index i, Index j) const {
    return std::visit([&](auto* v) { return static_cast<double>(v[i * stride + j]); }, values);
  }
  bool on_diagonal() const { return row == col; }
};

// Whole rows, pinned for as long as this value lives; a stored operator hands out its own memory.
struct RowBlock {
  std::variant<const float*, const double*> values;
  Index stride = 0;
  std::shared_ptr<const void> pin;
};

class LinearOperator {
 public:
  virtual ~LinearOperator() = default;

  virtual Index rows() const = 0;
  virtual Index cols() const = 0;
  virtual bool symmetric() const = 0;
  virtual Precision precision() const = 0;

  virtual Vector diagonal() const = 0;
  // out(a, b) = K(I[a], J[b]). A streamed operator refuses (NotOffered).
  virtual Matrix block(std::span<const Index> I, std::span<const Index> J) const = 0;
  // Rows first .. first + count - 1. A streamed operator refuses (NotOffered).
  virtual RowBlock row_block(Index first, Index count) const = 0;

  virtual Matrix apply(const MatrixRef& V) const = 0;                               // K V
  virtual Matrix apply_transpose(const MatrixRef& U) const = 0;                     // K' U
  virtual Matrix apply_normal(const MatrixRef& V, const VectorRef& weights) const;  // K' diag(w) K V, w of size rows() or empty

  // sum_ij W_ij dK_ij/d log(parameter) for every parameter of the kernel, in the order of Kernel::parameters(): what a marginal likelihood
  // or any other function of K needs, without a matrix per parameter. Operators that know no kernel refuse (NotOffered).
  virtual Vector gradient_inner(const MatrixRef& W) const;

  // Visits every tile once, in parallel; symmetric operators give only the tiles on and above the diagonal (those on it whole).
  virtual void for_each_tile(const std::function<void(const TileView&)>& visit) const = 0;
  // Above every tile's number. Equal to the number of tiles for Gram matrices; a view may leave numbers out.
  virtual Index tile_count() const = 0;

  // One sentence for a summary: "20000 x 20000 in float64, stored (3.20 GB)".
  virtual std::string describe() const = 0;
};

using Operator = std::shared_ptr<const LinearOperator>;

// Views: an operator made from another, nothing copied.
Operator subset(Operator op, std::vector<Index> rows, std::vector<Index> cols);  // folds, pairs of classes
Operator subset(Operator op, const std::vector<Index>& both);                    // stays symmetric
Operator centred(Operator op);                                                   // H K H, H = I - 11'/n; K symmetric
Operator scaled_by(Operator op, Vector left, Vector right);                      // diag(l) K diag(r); labels y y', sample weights
Operator signed_by(Operator op, const Vector& y);                                // diag(y) K diag(y)
Operator doubled(Operator op);                                                   // [K -K; -K K], for regression with two bounds
Operator plus_diagonal(Operator op, Vector diagonal);                            // K + diag(d)
// A plain matrix as an operator.
Operator dense_operator(Matrix values);

// sum over all entries of K, of f(tile) where f maps a tile to a number; in fixed order. Off-diagonal tiles of a symmetric
// operator are given once: weigh them yourself.
double sum_tiles(const LinearOperator& op, const std::function<double(const TileView&)>& value);

}  // namespace mercer
