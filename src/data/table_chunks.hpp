// A file as a sequence of tables: CSV, TSV, LIBSVM or NPY, plain or (text only) compressed, read in pieces of bounded size, as often as
// wanted.
//
// Method: the bytes are mapped, or unpacked a block at a time, and cut where records end (not at an end of line inside quotes); each piece
// goes through the reader of its format, by the plan made from the first piece. So a pass gives the rows, errors and line numbers that
// reading the file as a whole would give. Cost: one read of the file a pass; memory of a few times the piece. SPDX-License-Identifier:
// BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "data/bytes.hpp"
#include "data/csv.hpp"
#include "mercer/table.hpp"

namespace mercer {

class TableChunks {
 public:
  // Throws FileError for standard input and pipes, which can be read only once.
  TableChunks(std::string path, ReadOptions options, std::size_t piece_bytes);

  // visit(table, number of its first row) for consecutive parts of the file.
  void for_each(const std::function<void(const Table&, Index)>& visit) const;

  // LIBSVM: what a pass over all rows has found out.
  void fix_sparse_columns(Index width, bool zero_based);
  FileFormat format() const { return format_; }
  std::size_t piece_bytes() const { return piece_bytes_; }
  std::size_t file_bytes() const { return bytes_.view.size(); }

 private:
  using TakePiece = std::function<void(std::string_view piece, std::int64_t first_line)>;
  void for_each_text(const TakePiece& take) const;
  void for_each_mapped(std::string_view text, const TakePiece& take) const;
  void for_each_unpacked(const TakePiece& take) const;
  std::size_t cut(std::string_view text, bool whole) const;
  void find_format();

  std::string path_;
  ReadOptions options_;
  std::size_t piece_bytes_;
  Bytes bytes_;
  Packing packing_ = Packing::none;
  FileFormat format_ = FileFormat::csv;
  bool prefer_tab_ = false;
  char end_of_line_ = '\n';
};

}  // namespace mercer
