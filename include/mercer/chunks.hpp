// Rows that come a chunk at a time, as often as they are wanted: what a fit needs that never holds all of its data.
//
//   fit_falkon(MemoryRows(X, y), options);            // rows in memory
//   fit_falkon(FileRows("big.csv"), options);         // rows in a file, see chunked_file.hpp
//
// Write your own source by deriving from RowSource: the same rows in the same order on every pass.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <string>

#include "mercer/samples.hpp"

namespace mercer {

struct RowChunk {
  Samples X;
  Matrix Y{};       // one column per target
  Vector weight{};  // empty: all 1
  Index first = 0;  // the number of its first row
};

class RowSource {
 public:
  virtual ~RowSource() = default;

  virtual Index rows() const = 0;
  virtual Index width() const = 0;
  virtual Index targets() const = 0;
  // Calls visit for consecutive chunks of at most `rows` rows, from the first to the last; visit may use threads, calls never overlap.
  virtual void for_each_chunk(Index rows, const std::function<void(const RowChunk&)>& visit) const = 0;
  // The rows as samples, when they are in memory; nullptr: they are not.
  virtual const Samples* in_memory() const { return nullptr; }
  // One phrase for a summary: "1000000 rows in memory", "big.csv, read in chunks of at most 8.4 MB".
  virtual std::string describe() const = 0;
};

// Rows that are in memory. X is shared, Y and the weights are copied.
class MemoryRows final : public RowSource {
 public:
  // Throws InvalidArgument unless X and Y have the same positive number of rows, and Y and the weights are finite, weights >= 0, not all 0.
  MemoryRows(Samples X, Matrix Y, Vector weight = {});

  Index rows() const override { return X_.size(); }
  Index width() const override { return X_.width(); }
  Index targets() const override { return Y_.cols(); }
  void for_each_chunk(Index rows, const std::function<void(const RowChunk&)>& visit) const override;
  const Samples* in_memory() const override { return &X_; }
  std::string describe() const override;

 private:
  Samples X_;
  Matrix Y_;
  Vector weight_;
};

// The rows with these numbers (ascending, distinct), copied to memory in one pass.
Samples gather(const RowSource& source, std::span<const Index> rows);

}  // namespace mercer
