// SPDX-License-Identifier: BSD-3-Clause
#include "data/table_chunks.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "data/formats.hpp"
#include "data/text.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

constexpr std::size_t first_look = std::size_t{1} << 20;  // bytes that decide what the file is

// Pages of a mapped file that were read: the machine may have them back at once, not when it runs short. Of any other memory they would be
// lost.
void forget_pages(std::string_view done) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = (reinterpret_cast<std::uintptr_t>(done.data()) + page - 1) / page * page;
  const auto last = reinterpret_cast<std::uintptr_t>(done.data() + done.size()) / page * page;
  if (last > first) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);  // NOLINT(performance-no-int-to-ptr)
}

bool only_blanks(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

struct Enough {};  // thrown by a sink that has seen enough

}  // namespace

TableChunks::TableChunks(std::string path, ReadOptions options, std::size_t piece_bytes)
    : path_(std::move(path)), options_(std::move(options)), piece_bytes_(std::max<std::size_t>(piece_bytes, 4096)) {
  if (path_ == "-" || (std::filesystem::exists(path_) && !std::filesystem::is_regular_file(path_) && !std::filesystem::is_directory(path_)))
    throw FileError(fmt::format("{}: can be read only once, but several passes are wanted; save it to a file first",
                                path_ == "-" ? "standard input" : path_));
  if (options_.format == FileFormat::tu || is_tu_folder(path_)) require_readable_in_parts(FileFormat::tu, path_);
  bytes_ = read_bytes(path_, options_.run);
  packing_ = packing_of_content(bytes_.view);
  if (packing_ == Packing::none) unpack(bytes_, path_, options_.run);  // rejects foreign formats by name
  find_format();
}

void TableChunks::find_format() {
  std::string start;
  if (packing_ == Packing::none) {
    start = bytes_.view.substr(0, first_look);
  } else {
    try {
      unpack_into(bytes_.view, path_, {}, [&](std::string_view block) {
        start.append(block);
        if (start.size() >= first_look) throw Enough();
      });
    } catch (const Enough&) {
    }
  }
  if (start.empty()) throw FileError(fmt::format("{}: is empty; wanted rows of data", path_));
  end_of_line_ = find_end_of_line(start);
  format_ = options_.format;
  if (looks_like_npy(start)) format_ = FileFormat::npy;
  if (format_ == FileFormat::automatic) {
    const std::size_t whole_lines = start.rfind(end_of_line_);  // the last line may be cut
    const std::string_view lines = std::string_view(start).substr(0, start.size() < first_look ? start.size() : whole_lines);
    format_ = format_of_text(without_byte_order_mark(lines, path_), path_);
  }
  require_readable_in_parts(format_, path_);
  if (format_ == FileFormat::npy && packing_ != Packing::none)
    throw FileError(fmt::format("{}: a compressed NPY file cannot be read in parts; unpack it first", path_));
  prefer_tab_ = format_ == FileFormat::tsv;
  if (options_.format == FileFormat::tsv && !options_.delimiter) options_.delimiter = '\t';
}

void TableChunks::fix_sparse_columns(Index width, bool zero_based) {
  options_.width = width;
  options_.zero_based = zero_based;
}

// Where a piece of `text` ends; 0: a record is longer than what there is of it. The last piece of a file is taken whole.
std::size_t TableChunks::cut(std::string_view text, bool whole) const {
  for (std::size_t wanted = piece_bytes_;; wanted *= 2) {
    if (wanted >= text.size() && whole) return text.size();
    const std::size_t end =
        format_ == FileFormat::libsvm ? text.substr(0, wanted).rfind(end_of_line_) : csv::cut_at_record(text, wanted, end_of_line_);
    if (end != std::string_view::npos) return format_ == FileFormat::libsvm ? end + 1 : end;
    if (wanted >= text.size()) return 0;
  }
}

void TableChunks::for_each_mapped(std::string_view text, const TakePiece& take) const {
  std::int64_t line = 1;
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, cut(text, true));
    take(piece, line);
    line += std::count(piece.begin(), piece.end(), end_of_line_);
    if (bytes_.mapped) forget_pages(piece);
    text.remove_prefix(piece.size());
  }
}

void TableChunks::for_each_unpacked(const TakePiece& take) const {
  std::string waiting;
  std::int64_t line = 1;
  bool begun = false;
  const auto take_pieces = [&](bool whole) {
    if (!begun && (waiting.size() >= 3 || whole)) {
      waiting.erase(0, waiting.size() - without_byte_order_mark(waiting, path_).size());
      begun = true;
    }
    std::size_t done = 0;
    while (done < waiting.size() && (whole || waiting.size() - done > piece_bytes_)) {
      const std::size_t end = cut(std::string_view(waiting).substr(done), whole);
      if (end == 0) break;
      const std::string_view piece = std::string_view(waiting).substr(done, end);
      take(piece, line);
      line += std::count(piece.begin(), piece.end(), end_of_line_);
      done += end;
    }
    waiting.erase(0, done);
    require_memory(waiting.size(), options_.run.memory, fmt::format("{}: one record of it", path_), "allow more (--memory)");
  };
  Run quiet = options_.run;
  quiet.progress = {};
  unpack_into(bytes_.view, path_, quiet, [&](std::string_view block) {
    waiting.append(block);
    take_pieces(false);
  });
  take_pieces(true);
}

void TableChunks::for_each_text(const TakePiece& take) const {
  if (packing_ == Packing::none) {
    for_each_mapped(without_byte_order_mark(bytes_.view, path_), take);
  } else {
    for_each_unpacked(take);
  }
}

void TableChunks::for_each(const std::function<void(const Table&, Index)>& visit) const {
  ReadOptions reading = options_;
  reading.run.progress = {};  // the pass as a whole is what somebody waits for
  Index rows = 0;
  if (format_ == FileFormat::npy) {
    const Index all = npy_rows(bytes_.view, path_);
    const auto step = static_cast<Index>(std::max<std::size_t>(1, piece_bytes_ * static_cast<std::size_t>(all) / bytes_.view.size()));
    for (Index first = 0; first < all; first += step) {
      Table table = read_npy_rows(bytes_.view, path_, reading, first, std::min(step, all - first));
      for (Index i = 0; first > 0 && i < table.rows(); ++i) table.lines.push_back(first + i + 1);
      visit(table, first);
      if (bytes_.mapped) forget_pages(bytes_.view);
    }
    return;
  }
  csv::Plan plan;
  std::size_t columns = 0;
  for_each_text([&](std::string_view piece, std::int64_t line) {
    if (only_blanks(piece)) return;
    Table table;
    if (format_ == FileFormat::libsvm) {
      table = read_libsvm(piece, path_, reading, line);
    } else {
      const csv::Source source{.text = piece, .name = path_, .end_of_line = end_of_line_, .first_line = line};
      if (plan.names.empty()) {
        plan = csv::make_plan(source, reading, prefer_tab_);
      } else {
        plan.body = piece.data();
        plan.body_line = line;
        plan.dialect.quotes = true;
      }
      table = csv::read_rows(source, plan, reading);
      table.format = format_;
      if (columns == 0) columns = table.columns.size();
      if (table.columns.size() != columns)
        throw FileError(
            fmt::format("{}: the last column, without a name, is empty in some parts of the file and not in others; name it or "
                        "remove it",
                        path_));
    }
    table.source = path_;
    const Index first = rows;
    rows += table.rows();
    visit(table, first);
  });
  if (rows == 0) throw FileError(fmt::format("{}: has no rows; wanted rows of numbers", path_));
}

}  // namespace mercer
