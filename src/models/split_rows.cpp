// SPDX-License-Identifier: BSD-3-Clause
#include "models/split_rows.hpp"

namespace mercer {

namespace {

// A well mixed number of (seed, row): Steele, Lea and Flood's SplitMix64.
double uniform_of(std::uint64_t seed, std::uint64_t row) {
  std::uint64_t z = (seed ^ 0x5851f42d4c957f2dULL) + (row + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1.0p-53;
}

}  // namespace

SplitRows::SplitRows(const RowSource& source, double share, std::uint64_t seed, Part part)
    : source_(source), share_(share), seed_(seed), part_(part), all_(share == 0 && part == Part::train) {
  if (all_) {
    rows_ = source.rows();
    return;
  }
  std::vector<Index> picked;
  const Samples* X = source.in_memory();
  for (Index row = 0; row < source.rows(); ++row) {
    if (!takes(row)) continue;
    ++rows_;
    if (X != nullptr) picked.push_back(row);
  }
  if (X != nullptr && !picked.empty()) picked_ = X->subset(picked);
}

bool SplitRows::takes(Index row) const {
  const bool held_out = uniform_of(seed_, static_cast<std::uint64_t>(row)) < share_;
  return held_out == (part_ == Part::held_out);
}

std::vector<Index> SplitRows::original(std::vector<Index> rows) const {
  if (all_) return rows;
  std::size_t at = 0;
  Index mine = 0;
  for (Index row = 0; row < source_.rows() && at < rows.size(); ++row) {
    if (!takes(row)) continue;
    if (rows[at] == mine) rows[at++] = row;
    ++mine;
  }
  return rows;
}

void SplitRows::for_each_chunk(Index rows, const std::function<void(const RowChunk&)>& visit) const {
  if (all_) {
    source_.for_each_chunk(rows, visit);
    return;
  }
  Index first = 0;
  source_.for_each_chunk(rows, [&](const RowChunk& chunk) {
    std::vector<Index> here;
    for (Index i = 0; i < chunk.X.size(); ++i) {
      if (takes(chunk.first + i)) here.push_back(i);
    }
    if (here.empty()) return;
    const auto count = static_cast<Index>(here.size());
    RowChunk kept{picked_.empty() ? chunk.X.subset(here) : picked_.slice(first, count), chunk.Y(here, Eigen::all), {}, first};
    if (chunk.weight.size() > 0) kept.weight = chunk.weight(here);
    visit(kept);
    first += count;
  });
}

}  // namespace mercer
