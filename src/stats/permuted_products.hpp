// sum_ij K_ij L_{p(i) p(j)} for thousands of permutations p at once: the exact permutation null of an independence statistic.
//
// No product of matrices gives this sum for a two-sided permutation, so every entry of L is fetched by its permuted place; the method is to
// keep those fetches cheap. Only pairs j < i are summed (the matrices are symmetric). Two rows r of L, side by side so that one load
// fetches from both, stay in the first cache while all permutations b pass over them, each with its rows i = p_b^-1(r) of K; K is stored in
// strips of 128 columns, of which one stays in the second cache. On current CPUs this is faster than their gather instructions, and needs
// no code per CPU. Of three pairs of matrices or more the L lie side by side instead, so that one fetch serves all pairs: some 30 times the
// work of one pair for a hundred.
//
// Entries in float32, which are best centred before; sums within 128 columns in float32, all others in float64, in an order that does not
// depend on the number of threads. Cost: n^2 B / 2 fetches for each L. Memory: 4 n^2 bytes for each L (8 n^2 where they are put side by
// side), 2 n^2 for each K, 4 n B (8 n B above 65536 rows) for the permutations. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "core/buffer.hpp"
#include "gram/prepared_kernel.hpp"
#include "mercer/run.hpp"
#include "stats/exchanges.hpp"

namespace mercer::stats {

// How a Gram matrix is centred; both are K_ij - a_i - a_j.
//   whole         HKH, H = I - 11'/n: of the biased HSIC
//   off_diagonal  rows add up to 0 without the diagonal, which is 0 (U-centring): of the unbiased HSIC; n >= 4
enum class Centring : std::uint8_t { none, whole, off_diagonal };

struct Centre {
  Vector offsets{};  // a
  bool diagonal = true;

  double operator()(double value, Index i, Index j) const { return i == j && !diagonal ? 0.0 : value - offsets[i] - offsets[j]; }
};
// `row_sums`: of K, without its diagonal for off_diagonal.
Centre centre_of(const Vector& row_sums, Centring centring);
// Of every kernel of a family, by one pass over its tiles.
template <class T>
std::vector<Centre> centres_of(const PreparedFamily<T>& kernels, Centring centring, const Run& run);

// A power of two that brings the centred entries of a matrix with this diagonal near 1, so that products of float32 numbers neither
// overflow nor vanish whatever the kernel's scale.
double scale_for(const Vector& diagonal, const Centre& centre);

// The columns of K below the diagonal, in strips; entries are kept times `scale`, which permuted_products takes out again.
class HalfGram {
 public:
  static constexpr Index strip = 128;  // columns; divides tile_size

  explicit HalfGram(Index n, double scale = 1);
  static double bytes(Index n) { return 2.0 * static_cast<double>(n) * static_cast<double>(n + strip); }

  // A tile on or above the diagonal of the symmetric matrix (I before J, or I = J); safe from many threads.
  void put(Range I, Range J, simd::Tile<const double> tile);

  Index size() const { return n_; }
  double scale() const { return scale_; }
  const Vector& diagonal() const { return diagonal_; }  // not scaled
  // Entries (i, strip s) of row i > s * strip; 0 from column i on.
  const float* row(Index s, Index i) const { return values_.data() + begins_[static_cast<std::size_t>(s)] + (i - s * strip) * strip; }

 private:
  Index n_;
  double scale_;
  std::vector<Index> begins_{};  // of each strip in values_
  Buffer<float> values_{};
  Vector diagonal_;
};

// All of L, rows one after the other; entries on the diagonal are in diagonal() alone.
class FullGram {
 public:
  explicit FullGram(Index n, double scale = 1);
  static double bytes(Index n) { return 4.0 * static_cast<double>(n) * static_cast<double>(n); }

  void put(Range I, Range J, simd::Tile<const double> tile);

  Index size() const { return n_; }
  double scale() const { return scale_; }
  const Vector& diagonal() const { return diagonal_; }  // not scaled
  const float* row(Index r) const { return values_.data() + r * n_; }

 private:
  Index n_;
  double scale_;
  Buffer<float> values_;
  Vector diagonal_;
};

// The centred Gram matrices of a family.
template <class T>
std::vector<HalfGram> half_grams(const PreparedFamily<T>& kernels, const std::vector<Centre>& centres, const Run& run);
template <class T>
std::vector<FullGram> full_grams(const PreparedFamily<T>& kernels, const std::vector<Centre>& centres, const Run& run);

// Permutations as the sums above read them. Number 0 is the identity: the data as they are, by the same arithmetic as the others.
class Permutations {
 public:
  Permutations(const Exchanges& exchanges, Index count, const Run& run);    // the identity, then `count` exchanges
  Permutations(Index rows, const std::vector<std::vector<Index>>& orders);  // the identity, then these
  static double bytes(Index n, Index count);

  Index rows() const { return rows_; }
  Index count() const { return count_; }  // the identity among them

  template <class I>
  struct Places {
    Buffer<I> orders;    // [strip][permutation][128]: p_b(j)
    Buffer<I> inverses;  // [row r][permutation]: the i with p_b(i) = r
  };
  const std::variant<Places<std::uint16_t>, Places<std::uint32_t>>& places() const { return places_; }

 private:
  Permutations(Index rows, Index count);
  void put(Index number, std::span<const Index> order);

  Index rows_;
  Index count_;
  std::variant<Places<std::uint16_t>, Places<std::uint32_t>> places_;
};

// Answer: permutations.count() rows; column k * L.size() + l has the sums over all i, j of K_k and L_l.
Matrix permuted_products(const std::vector<HalfGram>& K, const std::vector<FullGram>& L, const Permutations& permutations, const Run& run);

}  // namespace mercer::stats
