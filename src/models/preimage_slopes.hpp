// A kernel of dot products and squared distances together with its slope in its first argument: what the search for a pre-image needs.
//
// The kernel is a tree whose leaves look at s = <z, x> or s = |z - x|^2 of some columns, each divided by a length scale l_c. Backwards
// through the tree every leaf gets the derivative S_i of  f(z) = sum_i g_i k(z, x_i)  with respect to its s_i. With J(z) = k(z,z) - 2 f(z)
//   (grad J / 2)_c = stiffness_c z_c - pull_c,
//   stiffness_c    = sum over dot leaves of S_self  -  2 sum over distance leaves of sum_i S_i / l_c^2
//   pull_c         = sum over dot leaves of sum_i S_i x_ic  -  2 sum over distance leaves of sum_i S_i x_ic / l_c^2
// so that z_c = pull_c / stiffness_c is the fixed point: Mika's for the Gaussian, z = sum_i g_i x_i at once for the linear kernel.
// Cost: two GEMMs of m x n x d for m points, and the kernel's own finish. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/node.hpp"
#include "mercer/matrix.hpp"

namespace mercer {

// The columns that some leaves look at, ready for one reduction.
struct SlopeView {
  std::vector<Index> columns{};
  std::vector<double> scales{};  // empty: all 1
  Reduction reduction = Reduction::dot;
  // Filled when bound to rows: distances are taken of centred and scaled ones.
  Vector centre{};
  Vector inverse_scale{};
  Matrix rows{};
  Vector squares{};
};

struct SlopeTerm {
  const KernelNode* node = nullptr;
  std::vector<SlopeTerm> parts{};
  Index view = -1;            // of a leaf that looks at columns
  std::size_t number = 0;     // among all terms: where its values are kept
  std::size_t in_finish = 0;  // parameters that `gradient` has places for
};

struct SlopeValues {
  Vector inner{};                // f(z) = <phi(z), p>
  Vector absolute{};             // sum_i |g_i k(z, x_i)|: what rounding is relative to
  Vector self{};                 // k(z, z)
  std::vector<char> touching{};  // a row at distance 0: a kernel with a cusp there pulls with a force that has no number
  Matrix stiffness{};            // one row per point, as pull
  Matrix pull{};
};

class KernelSlopes {
 public:
  // Why a kernel has no such slopes; nothing where it has.
  static std::optional<std::string> refusal(const Kernel& kernel, Index width);

  // The kernel must be resolved and have slopes.
  KernelSlopes(Kernel kernel, const Matrix& X);

  Index rows() const { return n_; }
  Index width() const { return d_; }
  double spread() const { return spread_; }  // root mean square distance of the rows from their mean
  double radius() const { return radius_; }  // the largest

  // At the rows of Z; weights row i belongs to point ids[i] of G.
  SlopeValues evaluate(const Matrix& Z, const MatrixRef& G, std::span<const Index> ids) const;

  // The kernel is a decreasing function of one distance on all columns, and what that function has at squared distances s.
  bool radial() const;
  Vector profile(const Vector& s) const;
  const SlopeView& only_view() const { return views_.front(); }

 private:
  struct Scratch;

  void reduce(const SlopeView& view, const Matrix& Zv, Index begin, Index count, Matrix& out) const;
  void values(const SlopeTerm& term, Scratch& scratch) const;
  void backward(const SlopeTerm& term, Scratch& scratch, Matrix& weights) const;
  Matrix seen(const SlopeView& view, const Matrix& Z) const;
  void add_self(const std::vector<Matrix>& seen_rows, SlopeValues& out) const;

  Kernel kernel_;
  std::vector<SlopeView> views_{};
  SlopeTerm root_{};
  std::size_t terms_ = 0;
  Index n_;
  Index d_;
  double spread_ = 0;
  double radius_ = 0;
};

}  // namespace mercer
