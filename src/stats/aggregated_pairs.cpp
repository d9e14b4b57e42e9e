// SPDX-License-Identifier: BSD-3-Clause
#include "stats/aggregated_pairs.hpp"

#include <algorithm>
#include <vector>

#include "gram/tile_memory.hpp"
#include "linalg/blas.hpp"

namespace mercer::stats {

namespace {

constexpr Index most_together = 512;  // labellings multiplied at a time: their images stay in the cache
constexpr Index most_parts = 16;      // partial sums: a number of the problem alone, never of the threads
constexpr double part_bytes = 3e8;    // that they may take together

template <class T>
using Vectors = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;

// The tiles H(I, J) of all kernels, one after the other.
template <class T>
class PairTiles {
 public:
  explicit PairTiles(const PreparedFamily<T>& pooled)
      : pooled_(&pooled), n_(pooled.size() / 2), values_(pooled.count() * static_cast<std::size_t>(tile_size * tile_size)) {}

  // `crossed` gets -2 k(x_i, y_i) of the rows that are in a tile on the diagonal.
  void make(Range I, Range J, Eigen::Ref<Vector> crossed) {
    const bool diagonal = I.begin == J.begin;
    const Index cells = I.count * J.count;
    TileMemory<T> memory;
    for (int quarter = 0; quarter < 4; ++quarter) {
      const bool down = quarter >= 2;
      const bool right = quarter % 2 == 1;
      const Range rows{I.begin + (down ? n_ : 0), I.count};
      const Range cols{J.begin + (right ? n_ : 0), J.count};
      pooled_->tiles(rows, cols, memory.tile(I.count, J.count), [&](std::size_t k, simd::Tile<T> tile) {
        Vectors<T> out(tile_of(k), cells);
        const Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>> in(tile.data, cells);
        if (quarter == 0) {
          out = in;
        } else if (down == right) {
          out += in;
        } else {
          out -= in;
        }
        if (diagonal && down != right) {
          for (Index i = 0; i < I.count; ++i) crossed[static_cast<Index>(k)] -= static_cast<double>(tile.data[i * tile.stride + i]);
        }
      });
    }
    if (!diagonal) return;
    for (std::size_t k = 0; k < pooled_->count(); ++k) {
      for (Index i = 0; i < I.count; ++i) tile_of(k)[i * J.count + i] = T{0};
    }
  }
  T* tile_of(std::size_t k) { return values_.data() + k * static_cast<std::size_t>(tile_size * tile_size); }

 private:
  const PreparedFamily<T>* pooled_;
  Index n_;
  Buffer<T> values_;
};

// out[b] += times * s_I' H s_J.
template <class T>
void add_forms(const T* H, Range I, Range J, const VectorPanels<T>& S, Buffer<T>& images, Eigen::Ref<Vector> out) {
  const double times = I.begin == J.begin ? 1 : 2;  // a tile above the diagonal stands for its mirror image too
  for (Index first = 0; first < S.vectors(); first += most_together) {
    const Index some = std::min(most_together, S.vectors() - first);
    const T* left = S.panel(I.begin / tile_size) + first * I.count;
    const T* right = S.panel(J.begin / tile_size) + first * J.count;
    linalg::gemm_nt(some, I.count, J.count, T{1}, right, J.count, H, J.count, T{0}, images.data(), I.count);
    for (Index b = 0; b < some; ++b) {
      const Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>> image(images.data() + b * I.count, I.count);
      const Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>> side(left + b * I.count, I.count);
      out[first + b] += times * static_cast<double>((image * side).sum());
    }
  }
}

}  // namespace

template <class T>
Matrix paired_forms(const PreparedFamily<T>& pooled, const VectorPanels<T>& S, const Run& run) {
  const Index n = S.size();
  const Index blocks = block_count(n);
  const Index tiles = upper_count(blocks);
  const auto kernels = static_cast<Index>(pooled.count());
  const double numbers = static_cast<double>(S.vectors()) * static_cast<double>(kernels);
  const Index parts = std::clamp<Index>(std::min(static_cast<Index>(part_bytes / 8 / numbers), tiles), 1, most_parts);
  struct Part {
    Matrix forms;  // kernels x labellings
    Vector crossed;
  };
  std::vector<Part> sums(static_cast<std::size_t>(parts));
  with_run(run, [&] {
    Stage stage(run.progress, "Kernel sums", static_cast<double>(tiles));
    parallel_for(parts, [&](Index part) {
      Part& sum = sums[static_cast<std::size_t>(part)];
      sum = {Matrix::Zero(kernels, S.vectors()), Vector::Zero(kernels)};
      PairTiles<T> pairs(pooled);
      Buffer<T> images(static_cast<std::size_t>(most_together * tile_size));
      for (Index number = part * tiles / parts; number < (part + 1) * tiles / parts; ++number) {
        const BlockPair pair = upper_pair(number, blocks);
        const Range I = block_range(pair.row, n);
        const Range J = block_range(pair.col, n);
        pairs.make(I, J, sum.crossed);
        for (Index k = 0; k < kernels; ++k)
          add_forms(pairs.tile_of(static_cast<std::size_t>(k)), I, J, S, images, sum.forms.row(k).transpose());
        stage.advance(1);
      }
    });
  });
  for (std::size_t p = 1; p < sums.size(); ++p) {
    sums[0].forms += sums[p].forms;
    sums[0].crossed += sums[p].crossed;
  }
  sums[0].forms.colwise() += sums[0].crossed;
  return sums[0].forms.transpose();
}

template Matrix paired_forms<float>(const PreparedFamily<float>&, const VectorPanels<float>&, const Run&);
template Matrix paired_forms<double>(const PreparedFamily<double>&, const VectorPanels<double>&, const Run&);

}  // namespace mercer::stats
