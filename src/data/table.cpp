// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "data/bytes.hpp"
#include "data/csv.hpp"
#include "data/formats.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

constexpr std::array<std::string_view, 4> target_names{"y", "label", "target", "class"};

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// The name in lower case, without an ending that says how it is packed.
std::string bare_name(std::string_view path) {
  std::string name = lower_case(path);
  if (packing_of_name(name) != Packing::none) name.resize(name.size() - 3);
  return name;
}

Table read_unpacked(std::string_view bytes, const std::string& source, const ReadOptions& options) {
  if (bytes.empty()) throw FileError(fmt::format("{}: is empty; wanted rows of data", source));
  const FileFormat asked = options.format;
  if (asked == FileFormat::npy || (asked == FileFormat::automatic && looks_like_npy(bytes))) return read_npy(bytes, source, options);
  const std::string_view text = without_byte_order_mark(bytes, source);
  const FileFormat format = asked == FileFormat::automatic ? format_of_text(text, source) : asked;
  switch (format) {
    case FileFormat::libsvm:
      return read_libsvm(text, source, options);
    case FileFormat::lines:
      return read_lines(text, source, options);
    case FileFormat::fasta:
      return read_fasta(text, source, options);
    case FileFormat::jsonl:
      return read_jsonl(text, source, options);
    case FileFormat::graphs:
      return read_graphs(text, source, options);
    case FileFormat::tu:
      return read_tu(source, options);  // says that it is no folder
    default:
      break;
  }
  ReadOptions csv_options = options;
  if (asked == FileFormat::tsv && !options.delimiter) csv_options.delimiter = '\t';
  Table table = csv::read(text, source, csv_options, format == FileFormat::tsv);
  table.format = format;
  return table;
}

}  // namespace

Index Table::rows() const {
  if (sparse) return sparse->size();
  if (columns.empty()) return 0;
  return std::visit([](const auto& values) { return static_cast<Index>(values.size()); }, columns.front().values);
}

Index Table::find(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return found - names.begin();
  if (name.size() < 2 || name.front() != '#') return -1;
  Index position = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), position);
  const bool whole = error == std::errc() && end == name.data() + name.size();
  return whole && position >= 1 && position <= std::ssize(names) ? position - 1 : -1;
}

std::int64_t Table::line_of(Index row) const {
  if (!lines.empty()) return lines.at(static_cast<std::size_t>(row));
  return row + 1 + (has_header ? 1 : 0);
}

FileFormat format_of_name(std::string_view path) {
  const std::string name = bare_name(path);
  static constexpr std::pair<std::string_view, FileFormat> endings[] = {
      {".csv", FileFormat::csv},     {".txt", FileFormat::csv},       {".tsv", FileFormat::tsv},    {".tab", FileFormat::tsv},
      {".svm", FileFormat::libsvm},  {".libsvm", FileFormat::libsvm}, {".npy", FileFormat::npy},    {".strings", FileFormat::lines},
      {".fa", FileFormat::fasta},    {".fasta", FileFormat::fasta},   {".fna", FileFormat::fasta},  {".faa", FileFormat::fasta},
      {".jsonl", FileFormat::jsonl}, {".ndjson", FileFormat::jsonl},  {".json", FileFormat::jsonl}, {".graphs", FileFormat::graphs}};
  for (const auto& [ending, format] : endings) {
    if (name.ends_with(ending)) return format;
  }
  return FileFormat::automatic;
}

FileFormat format_of_text(std::string_view text, const std::string& source) {
  if (looks_like_npy(text)) return FileFormat::npy;
  const FileFormat named = format_of_name(source);
  if (named == FileFormat::npy)
    throw FileError(fmt::format("{}: is named .npy but does not begin like a NPY file; give the right file or name", source));
  if (named != FileFormat::csv && named != FileFormat::automatic) return named;
  const bool may_be_objects = !bare_name(source).ends_with(".csv");  // .txt, other names and standard input
  if (may_be_objects && looks_like_jsonl(text)) return FileFormat::jsonl;
  if (may_be_objects && looks_like_fasta(text)) return FileFormat::fasta;
  // Rows like "1 3:0.5 7:1" are never meant as columns, nor are a number, a pair, and lists with their lengths.
  if (looks_like_libsvm(text)) return FileFormat::libsvm;
  return may_be_objects && looks_like_graphs(text) ? FileFormat::graphs : FileFormat::csv;
}

void require_readable_in_parts(FileFormat format, const std::string& source) {
  const char* what = nullptr;
  switch (format) {
    case FileFormat::lines:
    case FileFormat::fasta:
      what = "strings";
      break;
    case FileFormat::jsonl:
      what = "JSON lines";
      break;
    case FileFormat::graphs:
    case FileFormat::tu:
      what = "graphs";
      break;
    default:
      return;
  }
  throw FileError(fmt::format(
      "{}: a file of {} is read whole and cannot be read in parts; take fewer rows, or allow more memory (--memory)", source, what));
}

bool is_target_name(std::string_view name) {
  const std::string lower = lower_case(name);
  return std::find(target_names.begin(), target_names.end(), lower) != target_names.end();
}

Index default_target(const std::vector<std::string>& names, const std::vector<bool>& left_out) {
  for (const std::string_view usual : target_names) {
    for (std::size_t j = 0; j < names.size(); ++j) {
      if (!left_out[j] && lower_case(names[j]) == usual) return static_cast<Index>(j);
    }
  }
  for (std::size_t j = names.size(); j-- > 0;) {
    if (!left_out[j]) return static_cast<Index>(j);
  }
  return -1;
}

Table read_table_from(std::string_view bytes, const std::string& source, const ReadOptions& options) {
  Table table;
  const auto job = [&] {
    const Bytes content = unpack({bytes, nullptr}, source, options.run);
    table = read_unpacked(content.view, source, options);
  };
  if (options.run.threads > 0) {
    with_threads(options.run.threads, job);
  } else {
    job();  // obeys a with_threads around it
  }
  return table;
}

Table read_table(const std::string& path, const ReadOptions& options) {
  if (options.format == FileFormat::tu || (options.format == FileFormat::automatic && is_tu_folder(path))) return read_tu(path, options);
  const Bytes packed = read_bytes(path, options.run);
  Table table = read_table_from(packed.view, path == "-" ? "standard input" : path, options);
  table.source = path;
  return table;
}

}  // namespace mercer
