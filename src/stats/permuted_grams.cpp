// How the matrices and permutations of permuted_products.hpp are stored.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "gram/tile_memory.hpp"
#include "stats/permuted_products.hpp"
#include "stats/quadratic_forms.hpp"

namespace mercer::stats {

namespace {

constexpr Index strip = HalfGram::strip;
static_assert(tile_size % strip == 0);

Index strips_of(Index n) { return (n + strip - 1) / strip; }

template <class G, class T>
std::vector<G> stored(const PreparedFamily<T>& kernels, const std::vector<Centre>& centres, const Run& run) {
  const Index n = kernels.size();
  const Index blocks = block_count(n);
  std::vector<G> out;
  for (std::size_t k = 0; k < kernels.count(); ++k) out.emplace_back(n, scale_for(kernels.diagonal(k), centres[k]));
  with_run(run, [&] {
    Stage stage(run.progress, "Gram matrices", static_cast<double>(upper_count(blocks)));
    parallel_for(upper_count(blocks), [&](Index number) {
      const BlockPair pair = upper_pair(number, blocks);
      const Range I = block_range(pair.row, n);
      const Range J = block_range(pair.col, n);
      TileMemory<T> memory;
      TileMemory<double> centred;
      kernels.tiles(I, J, memory.tile(I.count, J.count), [&](std::size_t k, simd::Tile<T> tile) {
        const simd::Tile<double> values = centred.tile(I.count, J.count);
        for (Index i = 0; i < I.count; ++i) {
          for (Index j = 0; j < J.count; ++j) {
            values.row(i)[j] = centres[k](static_cast<double>(tile.row(i)[j]), I.begin + i, J.begin + j);
          }
        }
        out[k].put(I, J, {values.data, values.rows, values.cols, values.stride});
      });
      stage.advance(1);
    });
  });
  return out;
}

}  // namespace

Centre centre_of(const Vector& row_sums, Centring centring) {
  const auto n = static_cast<double>(row_sums.size());
  switch (centring) {
    case Centring::none:
      return {Vector::Zero(row_sums.size()), true};
    case Centring::whole:
      return {(row_sums.array() / n - row_sums.sum() / (2 * n * n)).matrix(), true};
    case Centring::off_diagonal:
      return {(row_sums.array() / (n - 2) - row_sums.sum() / (2 * (n - 1) * (n - 2))).matrix(), false};
  }
  return {};
}

template <class T>
std::vector<Centre> centres_of(const PreparedFamily<T>& kernels, Centring centring, const Run& run) {
  const Matrix sums = row_sums(kernels, centring == Centring::off_diagonal ? Diagonal::left_out : Diagonal::whole, run);
  std::vector<Centre> out;
  for (Index k = 0; k < sums.cols(); ++k) out.push_back(centre_of(sums.col(k), centring));
  return out;
}

double scale_for(const Vector& diagonal, const Centre& centre) {
  const double largest = (diagonal - 2 * centre.offsets).cwiseAbs().maxCoeff();  // no entry of a centred Gram matrix exceeds it
  return largest > 0 && std::isfinite(largest) ? std::exp2(-std::round(std::log2(largest))) : 1;
}

HalfGram::HalfGram(Index n, double scale) : n_(n), scale_(scale), diagonal_(Vector::Zero(n)) {
  Index total = 0;
  for (Index s = 0; s < strips_of(n); ++s) {
    begins_.push_back(total);
    total += (n - s * strip) * strip;
  }
  values_ = Buffer<float>(static_cast<std::size_t>(total));
  // Rows that end within the strip; all others are written whole.
  for (Index s = 0; s < strips_of(n); ++s) {
    std::fill_n(values_.data() + begins_[static_cast<std::size_t>(s)], std::min(strip, n - s * strip) * strip, 0.0F);
  }
}

void HalfGram::put(Range I, Range J, simd::Tile<const double> tile) {
  for (Index j = 0; j < J.count; ++j) {
    const Index row = J.begin + j;
    const Index cols = std::min(I.count, row - I.begin);  // those below the row's own place
    for (Index i = 0; i < cols; ++i) {
      const Index col = I.begin + i;
      values_[static_cast<std::size_t>(begins_[static_cast<std::size_t>(col / strip)] + (row - col / strip * strip) * strip +
                                       col % strip)] = static_cast<float>(scale_ * tile.data[i * tile.stride + j]);
    }
    if (I.begin == J.begin) diagonal_[row] = tile.data[j * tile.stride + j];
  }
}

FullGram::FullGram(Index n, double scale) : n_(n), scale_(scale), values_(static_cast<std::size_t>(n * n)), diagonal_(Vector::Zero(n)) {}

void FullGram::put(Range I, Range J, simd::Tile<const double> tile) {
  for (Index i = 0; i < I.count; ++i) {
    float* row = values_.data() + (I.begin + i) * n_ + J.begin;
    for (Index j = 0; j < J.count; ++j) row[j] = static_cast<float>(scale_ * tile.data[i * tile.stride + j]);
  }
  if (I.begin == J.begin) {
    for (Index i = 0; i < I.count; ++i) diagonal_[I.begin + i] = tile.data[i * tile.stride + i];
    return;
  }
  for (Index j = 0; j < J.count; ++j) {
    float* row = values_.data() + (J.begin + j) * n_ + I.begin;
    for (Index i = 0; i < I.count; ++i) row[i] = static_cast<float>(scale_ * tile.data[i * tile.stride + j]);
  }
}

double Permutations::bytes(Index n, Index count) {
  return (n <= std::numeric_limits<std::uint16_t>::max() ? 4.0 : 8.0) * static_cast<double>(n + strip) * static_cast<double>(count + 1);
}

Permutations::Permutations(Index rows, Index count) : rows_(rows), count_(count) {
  if (rows > std::numeric_limits<std::uint16_t>::max()) places_.emplace<Places<std::uint32_t>>();
  std::visit(
      [&]<class I>(Places<I>& places) {
        places.orders = Buffer<I>(static_cast<std::size_t>(strips_of(rows) * strip * count));
        places.inverses = Buffer<I>(static_cast<std::size_t>(rows * count));
      },
      places_);
}

Permutations::Permutations(const Exchanges& exchanges, Index count, const Run& run) : Permutations(exchanges.rows(), count + 1) {
  with_run(run, [&] {
    Stage stage(run.progress, "Permutations drawn", static_cast<double>(count_));
    parallel_for(count_, [&](Index b) {
      std::vector<Index> order(static_cast<std::size_t>(rows_));
      std::iota(order.begin(), order.end(), Index{0});
      if (b > 0) exchanges.draw(b - 1, order);
      put(b, order);
      stage.advance(1);
    });
  });
}

Permutations::Permutations(Index rows, const std::vector<std::vector<Index>>& orders)
    : Permutations(rows, static_cast<Index>(orders.size()) + 1) {
  std::vector<Index> identity(static_cast<std::size_t>(rows));
  std::iota(identity.begin(), identity.end(), Index{0});
  put(0, identity);
  for (std::size_t b = 0; b < orders.size(); ++b) put(static_cast<Index>(b) + 1, orders[b]);
}

void Permutations::put(Index number, std::span<const Index> order) {
  std::visit(
      [&]<class I>(Places<I>& places) {
        const auto place = [&](Index j) -> I& {
          return places.orders[static_cast<std::size_t>(((j / strip) * count_ + number) * strip + j % strip)];
        };
        for (Index j = 0; j < rows_; ++j) {
          const Index to = order[static_cast<std::size_t>(j)];
          place(j) = static_cast<I>(to);
          places.inverses[static_cast<std::size_t>(to * count_ + number)] = static_cast<I>(j);
        }
        for (Index j = rows_; j < strips_of(rows_) * strip; ++j) place(j) = 0;  // where K is 0: any place will do
      },
      places_);
}
template <class T>
std::vector<HalfGram> half_grams(const PreparedFamily<T>& kernels, const std::vector<Centre>& centres, const Run& run) {
  return stored<HalfGram>(kernels, centres, run);
}
template <class T>
std::vector<FullGram> full_grams(const PreparedFamily<T>& kernels, const std::vector<Centre>& centres, const Run& run) {
  return stored<FullGram>(kernels, centres, run);
}

template std::vector<Centre> centres_of<float>(const PreparedFamily<float>&, Centring, const Run&);
template std::vector<Centre> centres_of<double>(const PreparedFamily<double>&, Centring, const Run&);
template std::vector<HalfGram> half_grams<float>(const PreparedFamily<float>&, const std::vector<Centre>&, const Run&);
template std::vector<HalfGram> half_grams<double>(const PreparedFamily<double>&, const std::vector<Centre>&, const Run&);
template std::vector<FullGram> full_grams<float>(const PreparedFamily<float>&, const std::vector<Centre>&, const Run&);
template std::vector<FullGram> full_grams<double>(const PreparedFamily<double>&, const std::vector<Centre>&, const Run&);

}  // namespace mercer::stats
