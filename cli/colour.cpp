// SPDX-License-Identifier: BSD-3-Clause
#include "colour.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "terminal.hpp"

namespace mercer::cli {

namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// Where the first "did you mean ...?" of a message begins, and its length; npos: there is none.
std::pair<std::size_t, std::size_t> hint_in(const std::string& message) {
  const std::size_t begin = message.find("did you mean ");
  const std::size_t end = begin == std::string::npos ? begin : message.find('?', begin);
  if (end == std::string::npos) return {std::string::npos, 0};
  return {begin, end + 1 - begin};
}

// Names of files and columns come from users: nothing in them may steer the terminal.
std::string harmless(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0 && c != '\n' && c != '\t'; }, '?');
  return text;
}

void print_message(Style style, const std::string& words) {
  const std::string message = harmless(words);
  const auto [begin, length] = hint_in(message);
  std::string text = message;
  if (begin != std::string::npos) text.replace(begin, length, painted(stderr, Style::hint, message.substr(begin, length)));
  fmt::print(stderr, "{} {}\n", painted(stderr, style, "mercer:"), text);
}

}  // namespace

bool colours_on(std::FILE* stream) {
  if (!variable("NO_COLOR").empty()) return false;
  if (const std::string_view force = variable("CLICOLOR_FORCE"); !force.empty() && force != "0") return true;
  return ::isatty(::fileno(stream)) == 1 && !terminal_is_dumb();
}

std::string painted(std::FILE* stream, Style style, const std::string& text) {
  if (text.empty() || !colours_on(stream)) return text;
  constexpr std::string_view codes[] = {"1", "1;31", "1;33", "1;36"};
  return fmt::format("\033[{}m{}\033[0m", codes[static_cast<std::size_t>(style)], text);
}

std::string with_heading(std::FILE* stream, const std::string& text) {
  const std::size_t end = text.find('\n');
  return painted(stream, Style::heading, text.substr(0, end)) + (end == std::string::npos ? "" : text.substr(end));
}

std::string help_text(std::FILE* stream, const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const bool heading = line.size() > 1 && line.front() != ' ' && line.back() == ':';
    out += heading ? painted(stream, Style::heading, line) : line;
    if (end < text.size()) out += '\n';
    begin = end + 1;
  }
  return out;
}

void print_error(const std::string& message) { print_message(Style::error, message); }
void print_warning(const std::string& message) { print_message(Style::warning, message); }

}  // namespace mercer::cli
