// SPDX-License-Identifier: BSD-3-Clause
#include "stream.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "terminal.hpp"

namespace mercer::cli {

namespace {

constexpr std::size_t piece = 1U << 16U;

bool is_binary(const std::string& text) {
  return text.starts_with("\x1f\x8b") ||
         text.starts_with(
             "\xfd"
             "7zXZ") ||
         text.starts_with("\x93NUMPY");  // gzip, xz, NPY
}

// Adds what there is; false at the end.
bool read_some(std::string& text) {
  const std::size_t before = text.size();
  text.resize(before + piece);
  ssize_t got = 0;
  do {
    got = ::read(STDIN_FILENO, text.data() + before, piece);
  } while (got < 0 && errno == EINTR && stop_status() == 0);
  text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0 && stop_status() == 0) throw FileError(fmt::format("standard input: cannot be read: {}", std::strerror(errno)));
  return got > 0;
}

// A message of the reader counts lines from the beginning of what it was given.
std::string moved(const std::string& message, std::int64_t lines) {
  constexpr std::string_view source = "standard input:";
  if (lines == 0 || !message.starts_with(source)) return message;
  char* end = nullptr;
  const long long line = std::strtoll(message.c_str() + source.size(), &end, 10);
  if (line <= 0 || *end != ':') return message;
  return fmt::format("{}{}{}", source, line + lines, end);
}

class Arrivals {
 public:
  Arrivals(ReadOptions options, const std::function<void(const Table&)>& visit) : options_(std::move(options)), visit_(visit) {}

  // Whole lines. The first ones decide about header and delimiter, so they must be two, or all there are.
  void take(const std::string& text) {
    if (text.find_first_not_of("\r\n") == std::string::npos) return;
    if (!began_)
      begin(text);
    else
      parse(header_ + text, lines_ - (header_.empty() ? 0 : 1));
    lines_ += std::count(text.begin(), text.end(), '\n');
  }

 private:
  void begin(const std::string& text) {
    const Table table = parse(text, 0);
    began_ = true;
    options_.header = table.has_header;
    if (table.has_header) header_ = text.substr(0, text.find('\n') + 1);
  }
  Table parse(const std::string& text, std::int64_t lines_before) {
    Table table;
    try {
      table = read_table_from(text, "standard input", options_);
    } catch (const FileError& error) {
      throw FileError(moved(error.what(), lines_before));
    }
    std::vector<std::int64_t> lines;
    for (Index row = 0; row < table.rows(); ++row) lines.push_back(table.line_of(row) + lines_before);
    table.lines = std::move(lines);
    visit_(table);
    return table;
  }

  ReadOptions options_;
  const std::function<void(const Table&)>& visit_;
  std::string header_{};
  bool began_ = false;
  std::int64_t lines_ = 0;
};

}  // namespace

void for_each_arrival(const ReadingOptions& reading, const std::string& path, const CommonOptions& common,
                      const std::function<void(const Table&)>& visit) {
  if (path != "-") {
    visit(read_data(reading, path, common));
    return;
  }
  std::string text;
  bool more = read_some(text);
  if (more && is_binary(text)) {
    while (read_some(text)) {
    }
    visit(read_table_from(text, "standard input", reading.read));
    return;
  }
  Arrivals arrivals(reading.read, visit);
  bool began = false;
  while (more) {
    const std::size_t last = text.rfind('\n');
    const bool enough = last != std::string::npos && (began || std::count(text.begin(), text.end(), '\n') >= 2);
    if (enough) {
      arrivals.take(text.substr(0, last + 1));
      text.erase(0, last + 1);
      began = true;
    }
    if (stop_status() != 0) throw Cancelled();
    more = read_some(text);
  }
  if (!text.empty()) arrivals.take(text);
}

}  // namespace mercer::cli
