// The lines of a text one after the other, with their numbers, and how much text is left behind them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "data/number.hpp"
#include "data/text.hpp"
#include "mercer/error.hpp"

namespace mercer {

class LineCursor {
 public:
  LineCursor(std::string_view text, std::string source)
      : text_(text), rest_(text), source_(std::move(source)), end_of_line_(find_end_of_line(text)) {
    reject_nul(text, text, source_);
  }

  // The next line without its end; nothing behind the last one.
  std::optional<std::string_view> next() {
    if (rest_.empty()) return std::nullopt;
    const std::size_t end = std::min(rest_.find(end_of_line_), rest_.size());
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    ++number_;
    return line;
  }
  // The same, blanks around it taken off; lines of blanks alone are passed over.
  std::optional<std::string_view> next_filled() {
    while (const auto line = next()) {
      if (const std::string_view body = trimmed(*line); !body.empty()) return body;
    }
    return std::nullopt;
  }

  std::int64_t number() const { return number_; }  // of the line given last, counted from 1
  std::size_t bytes_left() const { return rest_.size(); }
  std::size_t bytes_done() const { return text_.size() - rest_.size(); }
  const std::string& source() const { return source_; }

  // Throws "file:line: ..." for the line given last.
  template <class... Values>
  [[noreturn]] void fail(fmt::format_string<Values...> words, Values&&... values) const {
    throw FileError(fmt::format("{}:{}: {}", source_, number_, fmt::format(words, std::forward<Values>(values)...)));
  }
  void require_utf8(std::string_view line) const {
    if (const std::size_t bad = find_invalid_utf8(line); bad != std::string_view::npos)
      fail("is not UTF-8 (byte 0x{:02X}); convert the file (iconv -f LATIN1 -t UTF-8)", static_cast<unsigned char>(line[bad]));
  }

 private:
  std::string_view text_;
  std::string_view rest_;
  std::string source_;
  char end_of_line_;
  std::int64_t number_ = 0;
};

}  // namespace mercer
