// Rows of another source without those kept out to measure a fit, or those alone. Which row is which depends on the seed and its number
// only. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "mercer/chunks.hpp"

namespace mercer {

class SplitRows final : public RowSource {
 public:
  enum class Part : std::uint8_t { train, held_out };

  // The source must outlive this. A share of 0 gives all rows for training, in the chunks of the source.
  SplitRows(const RowSource& source, double share, std::uint64_t seed, Part part);

  Index rows() const override { return rows_; }
  Index width() const override { return source_.width(); }
  Index targets() const override { return source_.targets(); }
  void for_each_chunk(Index rows, const std::function<void(const RowChunk&)>& visit) const override;
  const Samples* in_memory() const override { return all_ ? source_.in_memory() : (picked_.empty() ? nullptr : &picked_); }
  std::string describe() const override { return source_.describe(); }
  // The numbers in the source of these rows (ascending).
  std::vector<Index> original(std::vector<Index> rows) const;

 private:
  bool takes(Index row) const;

  const RowSource& source_;
  double share_;
  std::uint64_t seed_;
  Part part_;
  bool all_;
  Index rows_ = 0;
  Samples picked_{};  // when the source is in memory
};

}  // namespace mercer
