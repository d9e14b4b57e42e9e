// SPDX-License-Identifier: BSD-3-Clause
#include "stats/permuted_products.hpp"

#include <algorithm>
#include <cstring>

namespace mercer::stats {

namespace {

constexpr Index strip = HalfGram::strip;
constexpr Index most_parts = 64;    // partial sums: a number of the problem alone, never of the threads
constexpr Index together_from = 3;  // pairs of matrices; below, fetches from rows that stay in the cache win

Index strips_of(Index n) { return (n + strip - 1) / strip; }
Index parts_of(Index n) { return std::clamp<Index>(n / 16, 1, most_parts); }

using Four = float __attribute__((vector_size(16)));

Four load(const float* x) {
  Four out;
  std::memcpy(&out, x, sizeof out);
  return out;
}

constexpr float nothing[strip] = {};

// Two rows of L side by side at two places: one load for each place.
template <class I>
Four fetch(const float* rows, const I* at) {
  using Two = double __attribute__((vector_size(16)));
  double first = 0;
  double second = 0;
  std::memcpy(&first, rows + 2 * static_cast<Index>(at[0]), sizeof first);
  std::memcpy(&second, rows + 2 * static_cast<Index>(at[1]), sizeof second);
  const Two both{first, second};
  Four out;
  std::memcpy(&out, &both, sizeof out);
  return out;
}

// sum_j k[j] L[r][places[j]] + other[j] L[r + 1][places[j]] over a strip.
template <class I>
double fetched_dot(const float* k, const float* other, const I* places, const float* rows) {
  Four sums[4] = {};
  for (Index j = 0; j < strip; j += 8) {
    const Four a = load(k + j);
    const Four b = load(other + j);
    const Four c = load(k + j + 4);
    const Four d = load(other + j + 4);
    sums[0] += __builtin_shufflevector(a, b, 0, 4, 1, 5) * fetch(rows, places + j);
    sums[1] += __builtin_shufflevector(a, b, 2, 6, 3, 7) * fetch(rows, places + j + 2);
    sums[2] += __builtin_shufflevector(c, d, 0, 4, 1, 5) * fetch(rows, places + j + 4);
    sums[3] += __builtin_shufflevector(c, d, 2, 6, 3, 7) * fetch(rows, places + j + 6);
  }
  const Four all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  return static_cast<double>((all[0] + all[1]) + (all[2] + all[3]));
}

// Of the rows r of L in `rows`, two at a time: all pairs j < i once.
template <class I>
void add_pair(const HalfGram& K, const FullGram& L, const Permutations::Places<I>& places, Index count, Range rows, Vector& sums,
              Stage& stage) {
  const Index n = K.size();
  std::vector<float> side_by_side(static_cast<std::size_t>(2 * n));
  for (Index s = 0; s < strips_of(n); ++s) {
    const I* orders = places.orders.data() + s * count * strip;
    const auto row_of_K = [&](Index i) { return i > s * strip ? K.row(s, i) : nothing; };
    for (Index r = rows.begin; r < rows.begin + rows.count; r += 2) {
      const bool two = r + 1 < rows.begin + rows.count;
      const float* first = L.row(r);
      const float* second = two ? L.row(r + 1) : first;  // of an odd row out the other factor is 0
      for (Index q = 0; q < n; ++q) {
        side_by_side[static_cast<std::size_t>(2 * q)] = first[q];
        side_by_side[static_cast<std::size_t>(2 * q + 1)] = second[q];
      }
      const I* inverse = places.inverses.data() + r * count;
      for (Index b = 0; b < count; ++b) {
        const Index i = inverse[b];
        const Index other = two ? static_cast<Index>(inverse[count + b]) : 0;
        if (std::max(i, other) > s * strip) sums[b] += fetched_dot(row_of_K(i), row_of_K(other), orders + b * strip, side_by_side.data());
      }
    }
    stage.advance(1);
  }
}

// Several L side by side: the numbers of all of them for one pair of rows are neighbours, so one fetch gets them all.
struct MixedGrams {
  explicit MixedGrams(const std::vector<FullGram>& L)
      : n(L[0].size()), width((std::ssize(L) + 3) / 4 * 4), values(static_cast<std::size_t>(n * n * width)) {
    parallel_for(n, [&](Index r) {
      float* out = values.data() + r * n * width;
      std::fill_n(out, n * width, 0.0F);
      for (std::size_t l = 0; l < L.size(); ++l) {
        const float* row = L[l].row(r);
        for (Index q = 0; q < n; ++q) out[q * width + static_cast<Index>(l)] = row[q];
      }
    });
  }

  const float* row(Index r) const { return values.data() + r * n * width; }

  Index n;
  Index width;  // numbers of a pair: a multiple of four
  Buffer<float> values;
};

// out(k, l) += sum_j k_rows[k][j] row[places[j]][l] for four K and 4 * Fours of the L, over a strip.
template <int Fours, class I>
void add_block(const float* const* k_rows, const float* row, Index width, const I* places, Index depth, double* out, Index out_stride) {
  Four sums[4][Fours] = {};
  for (Index j = 0; j < depth; ++j) {
    const float* from = row + static_cast<Index>(places[j]) * width;
    Four numbers[Fours];
    for (int f = 0; f < Fours; ++f) numbers[f] = load(from + 4 * f);
    for (int k = 0; k < 4; ++k) {
      const float value = k_rows[k][j];
      for (int f = 0; f < Fours; ++f) sums[k][f] += value * numbers[f];
    }
  }
  for (int k = 0; k < 4; ++k) {
    for (int f = 0; f < Fours; ++f) {
      for (int l = 0; l < 4; ++l) out[k * out_stride + 4 * f + l] += static_cast<double>(sums[k][f][l]);
    }
  }
}

// Of the rows r of all L in `rows`, against all K. Columns of `sums`: k * L.width + l, of K up to a multiple of four.
template <class I>
void add_all_pairs(const std::vector<HalfGram>& K, const MixedGrams& L, const Permutations::Places<I>& places, Index count, Range rows,
                   Matrix& sums, Stage& stage) {
  const auto nk = static_cast<Index>(K.size());
  for (Index s = 0; s < strips_of(L.n); ++s) {
    const I* orders = places.orders.data() + s * count * strip;
    for (Index r = rows.begin; r < rows.begin + rows.count; ++r) {
      const float* row = L.row(r);
      for (Index b = 0; b < count; ++b) {
        const Index i = places.inverses[static_cast<std::size_t>(r * count + b)];
        const Index depth = std::min(strip, i - s * strip);
        for (Index k = 0; k < nk && depth > 0; k += 4) {
          const float* k_rows[4];
          for (Index four = 0; four < 4; ++four) k_rows[four] = k + four < nk ? K[static_cast<std::size_t>(k + four)].row(s, i) : nothing;
          double* out = sums.data() + b * sums.cols() + k * L.width;
          const I* order = orders + b * strip;
          Index l = 0;
          for (; l + 12 <= L.width; l += 12) add_block<3>(k_rows, row + l, L.width, order, depth, out + l, L.width);
          if (l + 8 == L.width) add_block<2>(k_rows, row + l, L.width, order, depth, out + l, L.width);
          if (l + 4 == L.width) add_block<1>(k_rows, row + l, L.width, order, depth, out + l, L.width);
        }
      }
    }
    stage.advance(1);
  }
}

// What the diagonals add: sum_i K_ii L_{p(i) p(i)}.
template <class I>
double diagonal_product(const Vector& k, const Vector& l, const Permutations::Places<I>& places, Index count, Index b) {
  double sum = 0;
  for (Index i = 0; i < k.size(); ++i) {
    sum += k[i] * l[places.orders[static_cast<std::size_t>(((i / strip) * count + b) * strip + i % strip)]];
  }
  return sum;
}

// Sums over fixed parts of the rows of L, added up in order; `passes` over all strips are made for each.
template <class Add>
Matrix sum_of_parts(Index n, const Matrix& zero, const Run& run, Index passes, Add&& add) {
  const Index parts = parts_of(n);
  std::vector<Matrix> sums(static_cast<std::size_t>(parts), zero);
  Stage stage(run.progress, "Permutations", static_cast<double>(parts * strips_of(n) * passes));
  parallel_for(parts, [&](Index part) {
    const Range rows{part * n / parts, (part + 1) * n / parts - part * n / parts};
    add(rows, sums[static_cast<std::size_t>(part)], stage);
  });
  for (std::size_t p = 1; p < sums.size(); ++p) sums[0] += sums[p];
  return sums[0];
}

template <class I>
Matrix products(const std::vector<HalfGram>& K, const std::vector<FullGram>& L, const Permutations::Places<I>& places, Index n, Index count,
                const Run& run) {
  const auto nk = static_cast<Index>(K.size());
  const auto nl = static_cast<Index>(L.size());
  Matrix total = Matrix::Zero(count, nk * nl);
  if (nk * nl >= together_from) {
    const MixedGrams mixed(L);
    const Matrix sum =
        sum_of_parts(n, Matrix::Zero(count, (nk + 3) / 4 * 4 * mixed.width), run, 1,
                     [&](Range rows, Matrix& own, Stage& stage) { add_all_pairs(K, mixed, places, count, rows, own, stage); });
    for (Index k = 0; k < nk; ++k) total.middleCols(k * nl, nl) = 2 * sum.middleCols(k * mixed.width, nl);
  } else {
    const Matrix sum = sum_of_parts(n, total, run, nk * nl, [&](Range rows, Matrix& own, Stage& stage) {
      for (Index k = 0; k < nk; ++k) {
        for (Index l = 0; l < nl; ++l) {
          Vector column = Vector::Zero(count);
          add_pair(K[static_cast<std::size_t>(k)], L[static_cast<std::size_t>(l)], places, count, rows, column, stage);
          own.col(k * nl + l) = column;
        }
      }
    });
    total = 2 * sum;
  }
  for (Index k = 0; k < nk; ++k) {
    for (Index l = 0; l < nl; ++l) total.col(k * nl + l) /= K[static_cast<std::size_t>(k)].scale() * L[static_cast<std::size_t>(l)].scale();
  }
  parallel_for(count, [&](Index b) {
    for (Index k = 0; k < nk; ++k) {
      for (Index l = 0; l < nl; ++l) {
        total(b, k * nl + l) +=
            diagonal_product(K[static_cast<std::size_t>(k)].diagonal(), L[static_cast<std::size_t>(l)].diagonal(), places, count, b);
      }
    }
  });
  return total;
}

}  // namespace

Matrix permuted_products(const std::vector<HalfGram>& K, const std::vector<FullGram>& L, const Permutations& permutations, const Run& run) {
  Matrix out;
  with_run(run, [&] {
    std::visit([&](const auto& places) { out = products(K, L, places, permutations.rows(), permutations.count(), run); },
               permutations.places());
  });
  return out;
}

}  // namespace mercer::stats
