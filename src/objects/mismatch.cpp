// The mismatch kernel without its neighbourhoods.
//
// Let N_d be the number of pairs of k-letter substrings, one of x and one of y, that differ in exactly d places. Then
//   k(x, y) = sum_d g(d) N_d,
// g(d) being how many k-letter strings lie within m of both of two that differ in d places: a matter of counting, 0 beyond d = 2m. Pairs
// that differ in given places are hard to find; pairs that agree in given places S are equal features (S, letters at S). With
//   M_j = sum over S of k - j places of the pairs that agree there = sum_{d <= j} C(k - d, k - j) N_d,
// inverting the triangle gives N_d = sum_{j <= d} (-1)^(d - j) C(k - j, k - d) M_j, hence k = sum_{j <= 2m} c_j M_j. The rows' side carries
// the c_j, which have both signs; the other side is plain counts. All numbers are whole, so sums below 2^53 are exact.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "mercer/error.hpp"
#include "mercer/run.hpp"
#include "objects/key_counts.hpp"
#include "objects/letters.hpp"
#include "objects/names.hpp"
#include "objects/string_features.hpp"

namespace mercer::objects {

namespace {

using Letters = std::span<const std::uint32_t>;
using Keys = std::vector<std::uint64_t>;
using Places = std::vector<std::size_t>;

constexpr Index longest_substring = 64;
constexpr std::size_t most_families = 100000;  // sets of places: every substring has a feature for each

double choose(int n, int k) {
  if (k < 0 || k > n) return 0;
  double value = 1;
  for (int i = 1; i <= k; ++i) value = std::round(value * (n - k + i) / i);
  return value;
}

// Strings within m of both of two that differ in d of k places: of those places, a are as in the first, b as in the second and the rest as
// in neither; of the other places, c differ.
double within_both(int k, int m, double alphabet, int d) {
  double sum = 0;
  for (int c = 0; c <= std::min(m, k - d); ++c) {
    for (int a = std::max(0, d + c - m); a <= d; ++a) {
      for (int b = std::max(0, d + c - m); a + b <= d; ++b) {
        sum += choose(d, a) * choose(d - a, b) * std::pow(alphabet - 2, d - a - b) * choose(k - d, c) * std::pow(alphabet - 1, c);
      }
    }
  }
  return sum;
}

// c_0 ... c_(2m).
std::vector<double> coefficients(int k, int m, double alphabet) {
  const int most = std::min(2 * m, k);
  std::vector<double> c(static_cast<std::size_t>(most) + 1, 0.0);
  for (int d = 0; d <= most; ++d) {
    const double g = within_both(k, m, alphabet, d);
    for (int j = 0; j <= d; ++j) c[static_cast<std::size_t>(j)] += ((d - j) % 2 == 0 ? g : -g) * choose(k - j, k - d);
  }
  return c;
}

// The sets of `size` of k places, in order.
void append_sets(std::size_t k, std::size_t size, std::vector<Places>& out) {
  Places set(size);
  for (std::size_t i = 0; i < size; ++i) set[i] = i;
  while (true) {
    out.push_back(set);
    std::size_t i = size;
    while (i > 0 && set[i - 1] == k - size + i - 1) --i;
    if (i == 0) return;
    ++set[i - 1];
    for (; i < size; ++i) set[i] = set[i - 1] + 1;
  }
}

// The features of a string: for every set of places, the letters at those places of all its substrings.
struct Families {
  std::size_t k = 0;
  std::vector<Places> sets{};            // by how many places they leave out
  std::vector<std::uint64_t> begins{};   // of the keys of each set, in base A
  std::vector<std::uint64_t> by_size{};  // the first key of those that leave out 0, 1, ... places
  std::uint64_t A = 1;
  std::uint64_t space = 0;  // 0: numbers in base A do not fit

  Families(int length, std::size_t most_left_out, std::uint64_t alphabet) : k(static_cast<std::size_t>(length)), A(alphabet) {
    bool fits = true;
    for (std::size_t j = 0; j <= most_left_out; ++j) {
      by_size.push_back(space);
      const std::size_t first = sets.size();
      append_sets(k, k - j, sets);
      for (std::size_t s = first; s < sets.size(); ++s) {
        begins.push_back(space);
        const auto parts = small_power(A, k - j);
        fits = fits && parts && !__builtin_add_overflow(space, *parts, &space);
      }
    }
    if (fits) return;
    space = 0;
    for (std::size_t j = 0; j <= most_left_out; ++j) by_size[j] = std::uint64_t{j} << 32U;
  }

  void make(Letters x, Keys& out) const {
    if (x.size() < k) return;
    const std::size_t windows = x.size() - k + 1;
    const std::size_t before = out.size();
    out.resize(before + sets.size() * windows);
    std::uint64_t* key = out.data() + before;
    for (std::size_t s = 0; s < sets.size(); ++s, key += windows) {
      std::fill(key, key + windows, 0);
      for (const std::size_t place : sets[s]) {
        const std::uint32_t* const letter = x.data() + place;
        for (std::size_t l = 0; l < windows; ++l) key[l] = key[l] * A + letter[l];
      }
      for (std::size_t l = 0; l < windows; ++l) key[l] += begins[s];
    }
  }

  // A letter and its place are one sign, so that a name says which places it is of.
  void make_named(Letters x, PairNames& names, Keys& out) const {
    if (x.size() < k) return;
    for (const Places& set : sets) {
      const std::uint64_t left_out = k - set.size();
      for (std::size_t l = 0; l + k <= x.size(); ++l) {
        std::uint64_t name = 0;
        for (std::size_t i = 0; i < set.size(); ++i) {
          const std::uint64_t sign = set[i] * A + x[l + set[i]];
          name = i == 0 ? sign : names.of(name, sign);
        }
        out.push_back(left_out << 32U | name);
      }
    }
  }
};

KeyCounts counts_of(const BothLetters& letters, const Families& families) {
  std::vector<Keys> kept;  // names are given one string after the other
  if (families.space == 0) {
    PairNames names(families.A * families.k);
    const Index all = letters.rows.size() + (letters.same ? 0 : letters.cols().size());
    kept.resize(static_cast<std::size_t>(all));
    for (Index i = 0; i < all; ++i) {
      const Index n = letters.rows.size();
      families.make_named(i < n ? letters.rows[i] : letters.cols()[i - n], names, kept[static_cast<std::size_t>(i)]);
    }
  }
  const auto bags = [&](const LetterRows& side, Index first) {
    return KeyBags{.objects = side.size(), .keys = [&, first](Index i, Keys& out) {
                     if (families.space != 0) {
                       families.make(side[i], out);
                     } else {
                       const Keys& keys = kept[static_cast<std::size_t>(first + i)];
                       out.insert(out.end(), keys.begin(), keys.end());
                     }
                   }};
  };
  const KeyBags rows = bags(letters.rows, 0);
  const KeyBags cols = bags(letters.cols(), letters.rows.size());
  return count_keys(rows, letters.same ? nullptr : &cols, families.space, "mismatch", families.by_size);
}

// The rows' side with its coefficients, sharing columns with the counts.
struct Weighted {
  std::shared_ptr<CountRows> counts{};
  Buffer<double> values{};
};

// Multiplies the counts of one side by the coefficients c_j, whose columns begin at starts[j]; gives sum c_j count^2 of every object.
Vector weigh(const CountRows& side, std::span<const double> c, std::span<const Index> starts, Buffer<double>* weighted) {
  constexpr Index block = 64;
  Vector self(side.size());
  parallel_for((side.size() + block - 1) / block, [&](Index first) {
    for (Index i = first * block; i < std::min(side.size(), (first + 1) * block); ++i) {
      const auto end = static_cast<std::size_t>(side.offsets[static_cast<std::size_t>(i) + 1]);
      std::size_t j = 0;
      double sum = 0;
      for (auto s = static_cast<std::size_t>(side.offsets[static_cast<std::size_t>(i)]); s < end; ++s) {
        while (j + 1 < c.size() && side.columns[s] >= starts[j + 1]) ++j;  // columns ascend
        const double value = c[j] * side.values[s];
        sum += value * side.values[s];
        if (weighted != nullptr) (*weighted)[s] = value;
      }
      self[i] = sum;
    }
  });
  return self;
}

void require_parameters(int k, int m, Index alphabet) {
  if (k < 1 || k > longest_substring) throw InvalidArgument(fmt::format("mismatch: k must be from 1 to {}, got {}", longest_substring, k));
  if (m < 0 || m >= k) throw InvalidArgument(fmt::format("mismatch: m must be >= 0 and below k = {}, got {}", k, m));
  if (alphabet < 2) throw InvalidArgument(fmt::format("mismatch: the alphabet must have >= 2 letters, got {}", alphabet));
  double sets = 0;
  for (int j = 0; j <= std::min(2 * m, k); ++j) sets += choose(k, j);
  if (sets > static_cast<double>(most_families))
    throw InvalidArgument(
        fmt::format("mismatch: k = {} and m = {} give every substring {:.3g} features, wanted at most {}; take a smaller m", k, m, sets,
                    most_families));
}

}  // namespace

Features mismatch(const BothStrings& both, int k, int m, Index alphabet) {
  require_parameters(k, m, alphabet);
  const BothLetters letters = letters_of(both);
  if (letters.alphabet > static_cast<std::uint64_t>(alphabet))
    throw InvalidArgument(fmt::format(
        "mismatch: the strings have {} different letters, but the kernel counts on {} (given, or found in the data of the fit); "
        "give letters = {} or more when you fit, as in mismatch({}, {}, {})",
        letters.alphabet, alphabet, letters.alphabet, k, m, letters.alphabet));
  const std::vector<double> c = coefficients(k, m, static_cast<double>(alphabet));
  const Families families(k, c.size() - 1, std::max<std::uint64_t>(letters.alphabet, 1));
  const KeyCounts counts = counts_of(letters, families);

  auto weighted = std::make_shared<Weighted>();
  weighted->counts = counts.rows;
  weighted->values = Buffer<double>(counts.rows->values.size());
  Features out;
  out.self_rows = weigh(*counts.rows, c, counts.starts, &weighted->values);
  out.rows = Samples::borrow(
      CsrRows<double>{weighted->values.data(), counts.rows->columns.data(), counts.rows->offsets.data(), counts.rows->size(), counts.width},
      weighted);
  out.cols = samples_of(counts.cols, counts.width);
  out.self_cols = letters.same ? out.self_rows : weigh(*counts.cols, c, counts.starts, nullptr);
  return out;
}

}  // namespace mercer::objects
