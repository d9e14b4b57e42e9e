// The exchanges of a permutation test as permutations of places. Exchange b is drawn from the stream (seed, b), so any of them can be made
// alone, by any thread. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mercer/exchange.hpp"

namespace mercer::stats {

class Exchanges {
 public:
  // Of `rows` places; the first `first` of them are one sample, where there are two (first = rows: one sample). Throws InvalidArgument
  // where the scheme does not fit (groups of another size, pairs of unequal samples, a single block or group).
  Exchanges(Index rows, Index first, const ExchangeOptions& options, std::uint64_t seed);

  // order[i] = the row that takes place i. Of two samples `draw_labels` keeps groups and blocks whole where their sizes differ.
  void draw(Index exchange, std::span<Index> order) const;
  // in_first[i] = 1 where row i is of the first sample after the exchange. Groups of unequal size change how many rows that are. Of free
  // exchanges these are other ones than `draw` makes, equally likely and found faster.
  void draw_labels(Index exchange, std::span<char> in_first) const;
  // Every labelling that free exchanges or pairs allow, the observed one first, where there are at most `most` of them; else none.
  std::vector<std::vector<char>> all_labels(Index most) const;

  Index rows() const { return rows_; }
  Exchange scheme() const { return scheme_; }
  double log_count() const { return log_count_; }  // of different orders
  Index block_length() const { return block_length_; }
  // "1000 permutations of rows within their groups"
  std::string describe(Index draws) const;

 private:
  void require_whole(const std::vector<Index>& groups) const;
  void shuffle_units(Index exchange, std::span<Index> order) const;
  void draw_free_labels(Index exchange, std::span<char> in_first) const;

  Index rows_;
  Index first_;
  Exchange scheme_;
  std::uint64_t seed_;
  Index block_length_ = 0;
  double log_count_ = 0;
  // Rows sorted by unit (a group or a block), and where each unit begins; one unit holds all rows for `free`.
  std::vector<Index> members_{};
  std::vector<Index> begins_{};
};

}  // namespace mercer::stats
