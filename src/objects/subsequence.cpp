// The string subsequence kernel of Lodhi et al. 2002 by dynamic programming, eight pairs of strings at a time.
//
// Let S_p(a, b) be the sum over pairs of equal p-letter subsequences within the first a letters of x and the first b of y of decay^(letters
// left out between their letters and up to a and b). A pair that ends in x_a = y_b continues one of p - 1 letters, so with
//   H_p(a, b) = [x_a = y_b] S_(p-1)(a - 1, b - 1),   S_0 = 1,
//   R_p(a, b) = decay R_p(a, b - 1) + H_p(a, b),     the part that ends in x_a,
//   S_p(a, b) = decay S_p(a - 1, b) + R_p(a, b),
// the kernel is decay^(2k) sum_ab H_k(a, b): spans are k letters plus those left out. All terms are positive, nothing cancels. R is a chain
// along b that no vector unit can cut; eight pairs side by side are eight chains, and every operation below is one over all of them. What a
// pair gets does not depend on its neighbours, so values are the same in any grouping. O(k |x| |y|) time, O(k |y|) memory.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "mercer/error.hpp"
#include "mercer/run.hpp"
#include "objects/letters.hpp"
#include "objects/string_features.hpp"

namespace mercer::objects {

namespace {

using Letters = std::span<const std::uint32_t>;

constexpr std::size_t lanes = 8;
// Long gaps shrink sums until they are subnormal, where processors are a hundred times slower: those are 0.
constexpr double negligible = 1e-250;

// Two doubles in one register of any 64-bit processor: compilers turn plain loops with the choices below into branches. Both gcc and clang
// know this type.
using Two = double __attribute__((vector_size(16), may_alias));
constexpr std::size_t twos = lanes / 2;

inline Two unless_negligible(Two value) { return value < negligible ? Two{0, 0} : value; }

// R and S of one level along b, for all lanes; `below` is S_(p-1) of the letters before.
void advance_level(const Two* y, const Two* x, const Two* below, Two* own, std::size_t length, double decay) {
  Two r[twos] = {};
  for (std::size_t b = 0; b < length * twos; b += twos) {
    for (std::size_t w = 0; w < twos; ++w) {
      const Two hit = y[b + w] == x[w] ? below[b + w] : Two{0, 0};
      r[w] = unless_negligible(r[w] * decay + hit);
      own[b + w] = unless_negligible(own[b + w] * decay + r[w]);
    }
  }
}

void add_hits(const Two* y, const Two* x, const Two* below, Two* total, std::size_t length) {
  Two sum[twos] = {};
  for (std::size_t b = 0; b < length * twos; b += twos) {
    for (std::size_t w = 0; w < twos; ++w) sum[w] += y[b + w] == x[w] ? below[b + w] : Two{0, 0};
  }
  for (std::size_t w = 0; w < twos; ++w) total[w] += sum[w];
}

// Letters as doubles, to be compared in the registers of the sums; shorter strings end in letters that equal nothing.
void interleave(std::span<const Letters> strings, std::size_t length, double ending, std::vector<double>& out) {
  out.assign(length * lanes, ending);
  for (std::size_t w = 0; w < strings.size(); ++w) {
    for (std::size_t i = 0; i < strings[w].size(); ++i) out[i * lanes + w] = strings[w][i];
  }
}

class Pairs {
 public:
  Pairs(std::size_t k, double decay) : k_(k), decay_(decay) {}

  void add(Letters x, Letters y, double* out) {
    if (x.size() < k_ || y.size() < k_) {
      *out = 0;
      return;
    }
    x_[count_] = x;
    y_[count_] = y;
    out_[count_++] = out;
    if (count_ == lanes) finish();
  }

  void finish() {
    if (count_ == 0) return;
    const auto longest = [&](const Letters* strings) {
      return std::max_element(strings, strings + count_, [](Letters a, Letters b) { return a.size() < b.size(); })->size();
    };
    const std::size_t rows = longest(x_);
    const std::size_t length = longest(y_);
    interleave(std::span(x_, count_), rows, -1, x_letters_);
    interleave(std::span(y_, count_), length, -2, y_letters_);
    const std::size_t level = (length + 1) * lanes;
    sums_.assign(k_ * level, 0.0);
    std::fill_n(sums_.begin(), level, 1.0);  // S_0
    const auto in_twos = [](double* place) { return reinterpret_cast<Two*>(place); };
    Two total[twos] = {};
    // Only what can still become k letters: p of them within the first a + 1 of x and b + 1 of y, and the other k - p behind.
    for (std::size_t a = 0; a < rows; ++a) {
      const Two* x = in_twos(x_letters_.data() + a * lanes);
      for (std::size_t p = std::min(k_, a + 1); p > 0 && p + rows >= k_ + a + 1; --p) {  // from above: S_(p-1) must be as it was before x_a
        const std::size_t first = (p - 1) * lanes;
        const std::size_t count = length - k_ + 1;
        const Two* y = in_twos(y_letters_.data() + first);
        const Two* below = in_twos(sums_.data() + (p - 1) * level + first);
        if (p == k_) {
          add_hits(y, x, below, total, count);
        } else {
          advance_level(y, x, below, in_twos(sums_.data() + p * level + first + lanes), count, decay_);
        }
      }
    }
    for (std::size_t w = 0; w < count_; ++w) *out_[w] = total[w / 2][w % 2];
    count_ = 0;
  }

 private:
  std::size_t k_;
  double decay_;
  std::size_t count_ = 0;
  Letters x_[lanes];
  Letters y_[lanes];
  double* out_[lanes] = {};
  std::vector<double> x_letters_{};  // aligned to two doubles, as all memory is
  std::vector<double> y_letters_{};
  std::vector<double> sums_{};  // S_0 ... S_(k-1), each of one more place than y has
};

class Subsequence final : public PairValues {
 public:
  Subsequence(const BothStrings& both, std::size_t k, double decay)
      : letters_(letters_of(both)), k_(k), decay_(decay), scale_(std::pow(decay, 2.0 * static_cast<double>(k))) {
    require_short(letters_, static_cast<double>(k), 5e9, "subsequence");
    const auto longest = static_cast<std::size_t>(std::max(letters_.rows.longest(), letters_.cols().longest()));
    if (longest >= k) {
      require_memory(k * (longest + 1) * lanes * sizeof(double), 0,
                     fmt::format("subsequence: the sums of {}-letter subsequences of strings of {} letters", k, longest),
                     "take a smaller k or shorter strings, or allow more (MERCER_MEMORY)");
    }
  }

  void row(Index i, Index first, Index count, double* out) const override {
    // Neighbours of one length waste nothing.
    std::vector<Index> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), first);
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return letters_.cols()[a].size() < letters_.cols()[b].size(); });
    Pairs pairs(k_, decay_);
    for (const Index j : order) pairs.add(letters_.rows[i], letters_.cols()[j], out + (j - first));
    pairs.finish();
    for (Index c = 0; c < count; ++c) out[c] = scaled(out[c]);
  }

  Vector self_rows() const override { return self(letters_.rows); }
  Vector self_cols() const override { return self(letters_.cols()); }

 private:
  double scaled(double sum) const {
    const double value = sum * scale_;
    if (!std::isfinite(value))
      throw InvalidArgument(
          fmt::format("subsequence: the sum over all {}-letter subsequences of two strings is beyond the largest number; "
                      "take a smaller k or decay, got decay {:g}",
                      k_, decay_));
    return value;
  }

  Vector self(const LetterRows& side) const {
    constexpr Index block = 4 * lanes;
    Vector out(side.size());
    parallel_for((side.size() + block - 1) / block, [&](Index b) {
      const Index end = std::min(side.size(), (b + 1) * block);
      Pairs pairs(k_, decay_);
      for (Index i = b * block; i < end; ++i) pairs.add(side[i], side[i], &out[i]);
      pairs.finish();
      for (Index i = b * block; i < end; ++i) out[i] = scaled(out[i]);
    });
    return out;
  }

  BothLetters letters_;
  std::size_t k_;
  double decay_;
  double scale_;
};

}  // namespace

std::unique_ptr<PairValues> subsequence(const BothStrings& both, int k, double decay) {
  if (k < 1) throw InvalidArgument(fmt::format("subsequence: k must be >= 1, got {}", k));
  if (!(decay > 0 && decay <= 1)) throw InvalidArgument(fmt::format("subsequence: decay must be > 0 and <= 1, got {:g}", decay));
  if (std::pow(decay, 2.0 * k) < std::numeric_limits<double>::min()) {
    throw InvalidArgument(
        fmt::format("subsequence: decay^(2k), the weight of an unbroken subsequence, is below the smallest number for decay "
                    "{:g} and k = {}; take a larger decay or a smaller k",
                    decay, k));
  }
  return std::make_unique<Subsequence>(both, static_cast<std::size_t>(k), decay);
}

}  // namespace mercer::objects
