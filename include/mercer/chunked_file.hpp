// Data larger than memory: a file whose rows are read in parts, as often as a fit wants them.
//
//   FileRows rows("big.csv", {.encode = {.target = "price", .scaling = ScalingKind::standard}});
//   auto model = fit_falkon(rows, {.n_landmarks = 1000});
//   save_model({model, rows.encoder()}, "model.mercer");
//
// CSV and TSV (quoted line ends too), LIBSVM, NPY; gzip and xz of the text formats. Opening it is one pass, which counts the rows and
// learns what make_dataset learns: the target, the task, the words of text columns, scales, fills (mean; not the median, which needs all
// rows at once). Every later pass gives the rows encoded and scaled as make_dataset would have, to rounding in the scales. Cost: memory of
// some ten times the part that is read at a time, which is a small share of the budget. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mercer/chunks.hpp"
#include "mercer/dataset.hpp"

namespace mercer {

struct FileRowsOptions {
  ReadOptions read{};  // its run has threads, memory and progress of every pass
  EncodeOptions encode{};
  std::string weights{};       // the column of sample weights, left out of the features
  std::size_t part_bytes = 0;  // of the file that are read at a time; 0: by the memory budget
};

class FileRows final : public RowSource {
 public:
  explicit FileRows(const std::string& path, const FileRowsOptions& options = {});
  ~FileRows() override;
  FileRows(FileRows&&) noexcept;
  FileRows& operator=(FileRows&&) noexcept;

  Index rows() const override;
  Index width() const override;
  Index targets() const override;  // 1; a column for each class of three or more
  void for_each_chunk(Index rows, const std::function<void(const RowChunk&)>& visit) const override;
  std::string describe() const override;

  const Encoder& encoder() const;
  const std::vector<std::string>& notes() const;  // sentences a person should see
  // The same rows with the target as it is: numbers, or class indices.
  void for_each_labelled(Index rows, const std::function<void(const Samples& X, const Vector& y)>& visit) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether reading this file whole, and working on it, would not fit the memory budget: an estimate from its size.
bool exceeds_memory(const std::string& path, std::size_t memory = 0);

}  // namespace mercer
