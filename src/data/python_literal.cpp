// SPDX-License-Identifier: BSD-3-Clause
#include "data/python_literal.hpp"

#include <charconv>

namespace mercer {

namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  std::optional<PythonLiteral> whole() {
    auto value = parse(0);
    skip_blanks();
    return value && rest_.empty() ? value : std::nullopt;
  }

 private:
  static constexpr int deepest = 16;  // a hostile header must not exhaust the stack
  using Kind = PythonLiteral::Kind;

  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n' || rest_.front() == '\t' || rest_.front() == '\r'))
      rest_.remove_prefix(1);
  }

  bool take(std::string_view token) {
    skip_blanks();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  std::optional<PythonLiteral> parse(int depth) {
    skip_blanks();
    if (rest_.empty() || depth > deepest) return std::nullopt;
    switch (rest_.front()) {
      case '{':
        return parse_items(Kind::dict, '}', depth);
      case '(':
        return parse_items(Kind::tuple, ')', depth);
      case '[':
        return parse_items(Kind::list, ']', depth);
      case '\'':
      case '"':
        return parse_text();
      default:
        return parse_word();
    }
  }

  std::optional<PythonLiteral> parse_items(Kind kind, char close, int depth) {
    PythonLiteral value;
    value.kind = kind;
    rest_.remove_prefix(1);
    bool comma = true;
    for (;;) {
      if (take({&close, 1})) break;
      if (!comma) return std::nullopt;
      if (kind == Kind::dict) {
        skip_blanks();
        auto key = rest_.starts_with('\'') || rest_.starts_with('"') ? parse_text() : std::nullopt;
        if (!key || !take(":")) return std::nullopt;
        value.keys.push_back(std::move(key->text));
      }
      auto item = parse(depth + 1);
      if (!item) return std::nullopt;
      value.items.push_back(std::move(*item));
      comma = take(",");
    }
    if (kind == Kind::tuple && value.items.size() == 1 && !comma) {  // (3) is 3
      PythonLiteral only = std::move(value.items.front());
      return only;
    }
    return value;
  }

  std::optional<PythonLiteral> parse_text() {
    PythonLiteral value;
    value.kind = Kind::text;
    const char quote = rest_.front();
    rest_.remove_prefix(1);
    while (!rest_.empty() && rest_.front() != quote) {
      if (rest_.front() == '\\') rest_.remove_prefix(1);
      if (rest_.empty()) return std::nullopt;
      value.text += rest_.front();
      rest_.remove_prefix(1);
    }
    if (rest_.empty()) return std::nullopt;
    rest_.remove_prefix(1);
    return value;
  }

  std::optional<PythonLiteral> parse_word() {
    PythonLiteral value;
    const bool yes = take("True");
    if (yes || take("False")) {
      value.kind = Kind::boolean;
      value.integer = yes ? 1 : 0;
      return value;
    }
    if (take("None")) return value;
    value.kind = Kind::integer;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value.integer);
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    if (rest_.starts_with('L')) rest_.remove_prefix(1);  // Python 2 wrote long integers so
    return value;
  }

  std::string_view rest_;
};

}  // namespace

const PythonLiteral* PythonLiteral::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

std::optional<PythonLiteral> parse_python_literal(std::string_view text) { return Parser(text).whole(); }

}  // namespace mercer
