// SPDX-License-Identifier: BSD-3-Clause
#include "objects/key_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <utility>

#include "mercer/error.hpp"
#include "mercer/run.hpp"

namespace mercer::objects {

namespace {

constexpr Index objects_per_block = 64;
constexpr std::uint64_t largest_table = std::uint64_t{1} << 20;   // counters of a thread: 4 MB
constexpr std::uint64_t largest_bitmap = std::uint64_t{1} << 32;  // 512 MB
constexpr std::uint64_t bitmap_share = 64;                        // bits for every key that the objects have, at most

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// The keys of one object with their counts, ascending.
class Counter {
 public:
  explicit Counter(std::uint64_t space) : space_(space) {}

  // visit(key, count) for every different key.
  template <class Visit>
  void count(const KeyBags& bags, Index object, Visit&& visit) {
    keys_.clear();
    bags.keys(object, keys_);
    // Looking through the table costs a step for 64 keys of its range.
    if (space_ != 0 && space_ <= largest_table && space_ / 64 <= 4 * keys_.size() + 64) {
      by_table(visit);
    } else {
      by_sorting(visit);
    }
  }

 private:
  template <class Visit>
  void by_table(Visit& visit) {
    if (counts_.empty()) {
      counts_.assign(space_, 0);
      seen_.assign(space_ / 64 + 1, 0);
    }
    for (const std::uint64_t key : keys_) {
      ++counts_[key];
      seen_[key / 64] |= std::uint64_t{1} << (key % 64);
    }
    for (std::size_t word = 0; word < seen_.size(); ++word) {
      for (std::uint64_t bits = seen_[word]; bits != 0; bits &= bits - 1) {
        const std::uint64_t key = word * 64 + static_cast<std::uint64_t>(std::countr_zero(bits));
        visit(key, counts_[key]);
        counts_[key] = 0;
      }
      seen_[word] = 0;
    }
  }

  template <class Visit>
  void by_sorting(Visit& visit) {
    if (!std::is_sorted(keys_.begin(), keys_.end())) std::sort(keys_.begin(), keys_.end());
    for (std::size_t begin = 0; begin < keys_.size();) {
      std::size_t end = begin + 1;
      while (end < keys_.size() && keys_[end] == keys_[begin]) ++end;
      visit(keys_[begin], static_cast<std::uint32_t>(end - begin));
      begin = end;
    }
  }

  std::uint64_t space_;
  std::vector<std::uint64_t> keys_{};
  std::vector<std::uint32_t> counts_{};
  std::vector<std::uint64_t> seen_{};
};

// body(counter, object) for all objects of a side, in parallel.
template <class Body>
void for_each_object(const KeyBags& bags, std::uint64_t space, const Body& body) {
  const Index blocks = (bags.objects + objects_per_block - 1) / objects_per_block;
  // Few long runs of blocks: a table is made once for each.
  const Index runs = std::min<Index>(blocks, 4 * current_threads());
  parallel_for(runs, [&](Index run) {
    Counter counter(space);
    const Index first = blocks * run / runs * objects_per_block;
    const Index last = std::min(bags.objects, blocks * (run + 1) / runs * objects_per_block);
    for (Index i = first; i < last; ++i) body(counter, i);
  });
}

// Which keys occur, and how many occur below a key.
class KeyMap {
 public:
  explicit KeyMap(std::uint64_t space) : words_(space / 64 + 1, 0) {}

  void add(std::uint64_t key) {  // from any thread
    const std::atomic_ref<std::uint64_t> word(words_[key / 64]);
    const std::uint64_t bit = std::uint64_t{1} << (key % 64);
    if ((word.load(std::memory_order_relaxed) & bit) == 0) word.fetch_or(bit, std::memory_order_relaxed);
  }

  Index finish() {  // how many different keys there are
    before_.resize(words_.size());
    std::uint64_t sum = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      before_[w] = static_cast<std::uint32_t>(sum);  // read only where the sum fits
      sum += static_cast<std::uint64_t>(std::popcount(words_[w]));
    }
    return static_cast<Index>(sum);
  }

  std::int32_t rank(std::uint64_t key) const {
    const std::uint64_t below = words_[key / 64] & ((std::uint64_t{1} << (key % 64)) - 1);
    return static_cast<std::int32_t>(before_[key / 64] + static_cast<std::uint32_t>(std::popcount(below)));
  }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> before_{};
};

void require_columns(Index width, const std::string& who) {
  constexpr Index most = std::numeric_limits<std::int32_t>::max();
  if (width > most)
    throw OverBudget(fmt::format("{}: the objects have {} different features, wanted at most {}; take shorter features or fewer objects",
                                 who, width, most));
}

// Makes room for the rows whose lengths stand in offsets[1...].
void make_room(CountRows& side, std::size_t bytes_each, const std::string& who) {
  for (std::size_t i = 1; i < side.offsets.size(); ++i) side.offsets[i] += side.offsets[i - 1];
  const auto total = static_cast<std::size_t>(side.offsets.back());
  require_memory(total * bytes_each, 0, fmt::format("{}: the {} features of {} objects", who, total, side.size()),
                 "take fewer objects, shorter strings or shorter features, or allow more (MERCER_MEMORY)");
  side.values = Buffer<double>(total);
  side.columns = Buffer<std::int32_t>(total);
}

struct Side {
  const KeyBags& bags;
  CountRows& out;
};

// Ranks by a bitmap over the range of all keys.
Index count_by_map(std::span<const Side> sides, std::uint64_t space, const std::string& who, std::span<const std::uint64_t> first_keys,
                   std::vector<Index>& starts) {
  KeyMap map(space);
  for (const Side& side : sides) {
    for_each_object(side.bags, space, [&](Counter& counter, Index i) {
      std::int64_t length = 0;
      counter.count(side.bags, i, [&](std::uint64_t key, std::uint32_t) {
        map.add(key);
        ++length;
      });
      side.out.offsets[at(i) + 1] = length;
    });
  }
  const Index width = map.finish();
  require_columns(width, who);
  for (const Side& side : sides) {
    make_room(side.out, sizeof(double) + sizeof(std::int32_t), who);
    for_each_object(side.bags, space, [&](Counter& counter, Index i) {
      auto slot = static_cast<std::size_t>(side.out.offsets[at(i)]);
      counter.count(side.bags, i, [&](std::uint64_t key, std::uint32_t times) {
        side.out.columns[slot] = map.rank(key);
        side.out.values[slot++] = times;
      });
    });
  }
  for (const std::uint64_t key : first_keys) starts.push_back(key >= space ? width : Index{map.rank(key)});
  return width;
}

struct Place {
  std::uint64_t key;
  std::int32_t* column;
};

// By the bytes of the key from the last to the first, without those that are the same in all.
void sort_by_key(Buffer<Place>& places) {
  Buffer<Place> other(places.size());
  std::uint64_t differ = 0;
  for (std::size_t i = 1; i < places.size(); ++i) differ |= places[i].key ^ places[0].key;
  for (unsigned shift = 0; shift < 64; shift += 8) {
    if ((differ >> shift & 0xFFU) == 0) continue;
    std::size_t begin[257] = {};
    for (std::size_t i = 0; i < places.size(); ++i) ++begin[(places[i].key >> shift & 0xFFU) + 1];
    for (std::size_t d = 0; d < 256; ++d) begin[d + 1] += begin[d];
    for (std::size_t i = 0; i < places.size(); ++i) other[begin[places[i].key >> shift & 0xFFU]++] = places[i];
    std::swap(places, other);
  }
}

// Ranks by sorting the keys of all rows.
Index count_by_sorting(std::span<const Side> sides, const std::string& who, std::span<const std::uint64_t> first_keys,
                       std::vector<Index>& starts) {
  std::size_t total = 0;
  for (const Side& side : sides) {
    for_each_object(side.bags, 0, [&](Counter& counter, Index i) {
      std::int64_t length = 0;
      counter.count(side.bags, i, [&](std::uint64_t, std::uint32_t) { ++length; });
      side.out.offsets[at(i) + 1] = length;
    });
    make_room(side.out, sizeof(double) + sizeof(std::int32_t) + 2 * sizeof(Place), who);
    total += static_cast<std::size_t>(side.out.offsets.back());
  }
  Buffer<Place> places(total);
  std::size_t first = 0;
  for (const Side& side : sides) {
    for_each_object(side.bags, 0, [&](Counter& counter, Index i) {
      auto slot = static_cast<std::size_t>(side.out.offsets[at(i)]);
      counter.count(side.bags, i, [&](std::uint64_t key, std::uint32_t times) {
        places[first + slot] = {key, side.out.columns.data() + slot};
        side.out.values[slot++] = times;
      });
    });
    first += static_cast<std::size_t>(side.out.offsets.back());
  }
  sort_by_key(places);
  Index width = 0;
  auto wanted = first_keys.begin();
  for (std::size_t i = 0; i < total; ++i) {
    if (i == 0 || places[i].key != places[i - 1].key) {
      for (; wanted != first_keys.end() && *wanted <= places[i].key; ++wanted) starts.push_back(width);
      ++width;
    }
    *places[i].column = static_cast<std::int32_t>(width - 1);  // refused below where it does not fit
  }
  for (; wanted != first_keys.end(); ++wanted) starts.push_back(width);
  require_columns(width, who);
  return width;
}

// The keys that the objects have, counted on a few of them: decides whether a bitmap pays.
std::uint64_t estimated_keys(std::span<const Side> sides) {
  constexpr Index looked_at = 32;
  std::vector<std::uint64_t> keys;
  double all = 0;
  for (const Side& side : sides) {
    keys.clear();
    const Index step = std::max<Index>(1, side.bags.objects / looked_at);
    Index seen = 0;
    for (Index i = 0; i < side.bags.objects; i += step, ++seen) side.bags.keys(i, keys);
    if (seen > 0) all += static_cast<double>(keys.size()) * static_cast<double>(side.bags.objects) / static_cast<double>(seen);
  }
  return static_cast<std::uint64_t>(all);
}

Vector squares(const CountRows& side) {
  Vector out(side.size());
  for (Index i = 0; i < side.size(); ++i) {
    double sum = 0;
    for (auto k = at(side.offsets[at(i)]); k < at(side.offsets[at(i) + 1]); ++k) sum += side.values[k] * side.values[k];
    out[i] = sum;
  }
  return out;
}

}  // namespace

KeyCounts count_keys(const KeyBags& rows, const KeyBags* cols, std::uint64_t space, const std::string& who,
                     std::span<const std::uint64_t> first_keys) {
  KeyCounts out;
  out.rows = std::make_shared<CountRows>();
  out.rows->offsets.assign(at(rows.objects) + 1, 0);
  std::vector<Side> sides{{rows, *out.rows}};
  if (cols != nullptr) {
    out.cols = std::make_shared<CountRows>();
    out.cols->offsets.assign(at(cols->objects) + 1, 0);
    sides.push_back({*cols, *out.cols});
  } else {
    out.cols = out.rows;
  }
  const bool small = space != 0 && (space <= largest_table || (space <= largest_bitmap && space / bitmap_share <= estimated_keys(sides)));
  out.width = small ? count_by_map(sides, space, who, first_keys, out.starts) : count_by_sorting(sides, who, first_keys, out.starts);
  return out;
}

Samples samples_of(const std::shared_ptr<CountRows>& side, Index width) {
  return Samples::borrow(CsrRows<double>{side->values.data(), side->columns.data(), side->offsets.data(), side->size(), width}, side);
}

Features features_of(KeyCounts counts, std::span<const double> weights) {
  Features out;
  const bool same = counts.rows == counts.cols;
  for (const auto& side : {counts.rows, counts.cols}) {
    if (!weights.empty()) {
      for (std::size_t k = 0; k < side->values.size(); ++k) side->values[k] *= weights[at(side->columns[k])];
    }
    if (same) break;
  }
  out.rows = samples_of(counts.rows, counts.width);
  out.cols = same ? out.rows : samples_of(counts.cols, counts.width);
  out.self_rows = squares(*counts.rows);
  out.self_cols = same ? out.self_rows : squares(*counts.cols);
  return out;
}

}  // namespace mercer::objects
