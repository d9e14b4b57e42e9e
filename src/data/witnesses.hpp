// What can be learned about a table's columns from parts of it that come one after the other.
//
// The choices of make_dataset (which column is the target, what the task is, which words a column has, which column identifies rows) depend
// on a few rows only: the first with each word, with one of the first 21 target values, with a gap, with a value unlike the first. These
// witnesses are kept, as a table, and make_dataset decides on them as it would on all rows. Means, spreads and ranges are running sums.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "mercer/dataset.hpp"

namespace mercer {

class Witnesses {
 public:
  explicit Witnesses(EncodeOptions options) : options_(std::move(options)) {}

  void add(const Table& part);
  Index rows() const { return rows_; }

  // The encoder and the notes that make_dataset would have given for all rows; X and y are those of the witnesses.
  Dataset decide() const;

  // LIBSVM: the largest index, and whether there was an index 0. The parts must have been read as counted from 0.
  Index largest_index() const { return static_cast<Index>(sparse_.size()) - 1; }
  bool has_index_zero() const { return has_index_zero_; }
  // What is then decided about them, before decide().
  void set_sparse_columns(Index width, bool zero_based) {
    width_ = width;
    base_ = zero_based ? 0 : 1;
  }

 private:
  struct Numbers {
    Index count = 0;
    double mean = 0;
    double squares = 0;  // of the deviations from the mean
    double low = 0;
    double high = 0;
    double first = 0;
    bool varies = false;
    std::unordered_set<double> distinct{};  // of a target: as many as matter
    bool fraction = false;                  // a target that is not whole was seen
  };
  struct Words {
    std::unordered_map<std::string, Index> counts{};
    bool repeated = false;
    bool given_up = false;  // too many to be words: they identify rows
  };
  struct ColumnState {
    Numbers numbers{};
    Words words{};
    bool missing = false;
  };
  struct SparseColumn {
    double largest = 0;
    double squares = 0;
  };

  void begin(const Table& part);
  std::vector<Index> notice(const Table& part, std::size_t column);  // rows that tell something new
  void notice_numbers(const std::vector<double>& values, bool is_target, Numbers& state, std::vector<Index>& rows) const;
  void notice_words(const Table& part, std::size_t column, std::vector<Index>& rows);
  void keep(const Table& part, Index row);
  void add_sparse(const Table& part);
  void set_scaler(Dataset& data) const;

  EncodeOptions options_;
  Index rows_ = 0;
  Index target_ = -1;
  std::vector<ColumnState> columns_{};
  Table kept_{};
  bool has_index_zero_ = false;
  Index width_ = 0;
  Index base_ = 1;
  std::vector<SparseColumn> sparse_{};
  Numbers labels_{};
};

}  // namespace mercer
