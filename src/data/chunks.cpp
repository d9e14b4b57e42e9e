// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/chunks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "mercer/error.hpp"

namespace mercer {

MemoryRows::MemoryRows(Samples X, Matrix Y, Vector weight) : X_(std::move(X)), Y_(std::move(Y)), weight_(std::move(weight)) {
  if (X_.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  if (Y_.rows() != X_.size()) throw InvalidArgument(fmt::format("X has {} samples but y has {}", X_.size(), Y_.rows()));
  if (Y_.cols() == 0) throw InvalidArgument("y has no columns");
  require_finite(Y_, "y");
  if (weight_.size() == 0) return;
  if (weight_.size() != X_.size())
    throw InvalidArgument(fmt::format("sample_weight has {} numbers for {} samples", weight_.size(), X_.size()));
  for (Index i = 0; i < weight_.size(); ++i) {
    if (!(weight_[i] >= 0) || !std::isfinite(weight_[i]))
      throw InvalidArgument(fmt::format("sample_weight must be finite and >= 0, got {} for sample {}", weight_[i], i));
  }
  if (weight_.maxCoeff() == 0) throw InvalidArgument("all sample weights are zero: nothing to learn from");
}

void MemoryRows::for_each_chunk(Index rows, const std::function<void(const RowChunk&)>& visit) const {
  X_.for_each_chunk(rows, [&](const Samples& X, Index first) {
    RowChunk chunk{X, Y_.middleRows(first, X.size()), {}, first};
    if (weight_.size() > 0) chunk.weight = weight_.segment(first, X.size());
    visit(chunk);
  });
}

std::string MemoryRows::describe() const { return fmt::format("{} rows in memory", X_.size()); }

Samples gather(const RowSource& source, std::span<const Index> rows) {
  constexpr Index chunk_rows = 65536;
  if (rows.empty() || rows.front() < 0 || rows.back() >= source.rows() ||
      std::adjacent_find(rows.begin(), rows.end(), std::greater_equal<>()) != rows.end())
    throw InvalidArgument(fmt::format("rows to gather must be ascending and within the {} there are", source.rows()));
  if (const Samples* X = source.in_memory(); X != nullptr) return X->subset(rows);
  Samples picked;
  std::vector<Samples> parts;
  std::size_t at = 0;
  source.for_each_chunk(chunk_rows, [&](const RowChunk& chunk) {
    std::vector<Index> here;
    while (at < rows.size() && rows[at] < chunk.first + chunk.X.size()) here.push_back(rows[at++] - chunk.first);
    if (!here.empty()) parts.push_back(chunk.X.subset(here));
  });
  // Pairs, then pairs of pairs: concatenating one behind the other would copy the first ones again and again.
  while (parts.size() > 1) {
    std::vector<Samples> joined;
    for (std::size_t i = 0; i < parts.size(); i += 2)
      joined.push_back(i + 1 < parts.size() ? concatenate(parts[i], parts[i + 1]) : std::move(parts[i]));
    parts = std::move(joined);
  }
  if (parts.empty() || parts.front().size() != static_cast<Index>(rows.size()))
    throw InvalidArgument("the source gave fewer rows than it said it has");
  return std::move(parts.front());
}

}  // namespace mercer
