// Kernels from text: a recursive-descent parser of
//   sum     := product ('+' product)*
//   product := atom ('*' atom)*
//   atom    := number | name ['(' argument (',' argument)* ')'] | '(' sum ')'
// where a number alone is a factor in a product and a constant kernel in a sum. Errors point at the character.
// Text may come from a hostile model file, so length and nesting are bounded, nothing depends on the locale, and messages are plain ASCII.
// SPDX-License-Identifier: BSD-3-Clause
#include <fast_float/fast_float.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "kernels/node.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Bytes that would upset a terminal, a log or a reader of UTF-8 become blanks and question marks, one for one.
std::string printable(std::string_view text, std::size_t longest = 60) {
  std::string out(text.substr(0, longest));
  for (char& c : out) {
    if (is_blank(c)) c = ' ';
    if (c < ' ' || c > '~') c = '?';
  }
  return text.size() > longest ? out + "..." : out;
}

struct Argument {
  std::string name;  // empty: by position
  std::string word;  // a word (auto, l1), or empty
  double number = 0;
  std::size_t at = 0;       // of the value
  std::size_t name_at = 0;  // of the name, where there is one
};

// The arguments of one kernel, taken by name or in order; what nobody took is an error.
class Arguments {
 public:
  Arguments(std::string kernel, std::vector<Argument> given, std::vector<std::string> names)
      : kernel_(std::move(kernel)), names_(std::move(names)) {
    std::size_t position = 0;
    bool named = false;
    for (Argument& argument : given) {
      if (argument.name.empty()) {
        if (named) fail(argument.at, "an argument without a name cannot follow one with a name");
        if (position >= names_.size())
          fail(argument.at, fmt::format("{} takes {} argument{}", kernel_, names_.size(), names_.size() == 1 ? "" : "s"));
        argument.name = names_[position++];
      } else {
        named = true;
        if (std::find(names_.begin(), names_.end(), argument.name) == names_.end()) {
          fail(argument.name_at, fmt::format("{} has no parameter \"{}\"; it has {}", kernel_, printable(argument.name),
                                             names_.empty() ? "none" : fmt::format("{}", fmt::join(names_, ", "))));
        }
      }
      if (!values_.emplace(argument.name, argument).second) fail(argument.at, fmt::format("{} is given twice", argument.name));
    }
  }

  struct Failure {
    std::size_t at;
    std::string message;
  };

  double number(const std::string& name, double otherwise) const {
    const auto it = values_.find(name);
    if (it == values_.end()) return otherwise;
    if (!it->second.word.empty()) fail(it->second.at, fmt::format("{} must be a number, got \"{}\"", name, printable(it->second.word)));
    return it->second.number;
  }

  kernels::LengthScale length_scale(const std::string& name) const {
    const auto it = values_.find(name);
    if (it == values_.end()) return 1.0;
    if (it->second.word == "auto") return kernels::LengthScale::automatic();
    if (!it->second.word.empty())
      fail(it->second.at, fmt::format("{} must be a number or auto, got \"{}\"", name, printable(it->second.word)));
    return it->second.number;
  }

  int whole(const std::string& name, int otherwise) const {
    const double value = number(name, otherwise);
    if (value != std::floor(value) || std::abs(value) > 1e6)
      fail(values_.at(name).at, fmt::format("{} must be a whole number, got {}", name, value));
    return static_cast<int>(value);
  }

  std::string word(const std::string& name, const std::string& otherwise) const {
    const auto it = values_.find(name);
    return it == values_.end() ? otherwise : it->second.word;
  }

  std::size_t at(const std::string& name) const { return values_.at(name).at; }

  [[noreturn]] static void fail(std::size_t at, const std::string& message) { throw Failure{at, message}; }

 private:
  std::string kernel_;
  std::vector<std::string> names_;
  std::map<std::string, Argument> values_;
};

struct Maker {
  std::vector<std::string> parameters;
  std::function<Kernel(const Arguments&)> make;
};

const std::map<std::string, Maker>& makers() {
  static const std::map<std::string, Maker> all{
      {"linear", {{}, [](const Arguments&) { return kernels::linear(); }}},
      {"polynomial",
       {{"degree", "scale", "offset"},
        [](const Arguments& a) { return kernels::polynomial(a.whole("degree", 3), a.number("scale", 1), a.number("offset", 1)); }}},
      {"gaussian", {{"length_scale"}, [](const Arguments& a) { return kernels::gaussian(a.length_scale("length_scale")); }}},
      {"laplacian",
       {{"length_scale", "norm"},
        [](const Arguments& a) {
          const std::string norm = a.word("norm", "l2");
          if (norm != "l1" && norm != "l2") Arguments::fail(a.at("norm"), "norm must be l1 or l2");
          return kernels::laplacian(a.length_scale("length_scale"), norm == "l1" ? kernels::Norm::l1 : kernels::Norm::l2);
        }}},
      {"constant", {{"value"}, [](const Arguments& a) { return kernels::constant(a.number("value", 1)); }}},
  };
  return all;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Kernel parse() {
    if (text_.size() > longest_text)
      throw InvalidArgument(fmt::format("a kernel expression of {} characters is too long (at most {})", text_.size(), longest_text));
    try {
      const Value value = sum();
      skip_blanks();
      if (at_ < text_.size()) fail(at_, fmt::format("expected + or *, found \"{}\"", printable(text_.substr(at_, 1))));
      return as_kernel(value);
    } catch (const Arguments::Failure& failure) {
      fail(failure.at, failure.message);
    }
  }

 private:
  using Value = std::variant<double, Kernel>;

  static Kernel as_kernel(const Value& value) {
    if (const auto* number = std::get_if<double>(&value)) return kernels::constant(*number);
    return std::get<Kernel>(value);
  }

  [[noreturn]] void fail(std::size_t at, const std::string& message) const {
    // Long texts are cut around the place, so that the caret stays readable.
    const std::size_t first = at > 60 ? at - 60 : 0;
    throw InvalidArgument(
        fmt::format("kernel expression: {}\n  {}\n  {}^", message, printable(text_.substr(first, 100), 100), std::string(at - first, ' ')));
  }

  // Runs a maker and gives its complaint a place.
  template <class F>
  auto placed(std::size_t at, F&& make) const {
    try {
      return make();
    } catch (const InvalidArgument& error) {
      fail(at, error.what());
    }
  }

  double finite(std::size_t at, double value) const {
    if (!std::isfinite(value)) fail(at, "this makes a number too large");
    return value;
  }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Value sum() {
    const std::size_t start = at_;
    Value total = product();
    std::vector<Kernel> parts;  // from the first kernel on; numbers before it add up
    while (take('+')) {
      const std::size_t at = at_;
      const Value next = product();
      if (parts.empty() && std::holds_alternative<double>(total) && std::holds_alternative<double>(next)) {
        total = finite(at, std::get<double>(total) + std::get<double>(next));
        continue;
      }
      if (parts.empty()) parts.push_back(as_kernel(total));
      parts.push_back(as_kernel(next));
    }
    return parts.empty() ? total : placed(start, [&] { return sum_of(parts); });
  }

  Value product() {
    const std::size_t start = at_;
    std::optional<double> factor;
    std::vector<Kernel> parts;
    do {
      skip_blanks();
      const std::size_t at = at_;
      if (at_ < text_.size() && text_[at_] == '*') fail(at_, "powers of kernels are not known here; multiply the kernel with itself");
      const Value next = atom();
      if (const auto* number = std::get_if<double>(&next)) {
        factor = finite(at, factor.value_or(1) * *number);
      } else {
        parts.push_back(std::get<Kernel>(next));
      }
    } while (take('*'));
    if (parts.empty()) return *factor;
    return placed(start, [&] { return factor ? *factor * product_of(parts) : product_of(parts); });
  }

  Value atom() {
    skip_blanks();
    if (at_ >= text_.size()) fail(at_, "a kernel is missing here");
    const char c = text_[at_];
    if (c == '(') {
      if (++depth_ > deepest_nesting) fail(at_, "brackets are nested too deeply");
      ++at_;
      Value inner = sum();
      if (!take(')')) fail(at_, "a closing bracket is missing");
      --depth_;
      return inner;
    }
    if (is_digit(c) || c == '.' || c == '-' || c == '+') return number();
    if (is_letter(c)) return named_kernel();
    fail(at_, fmt::format("expected a kernel's name or a number, found \"{}\"", printable({&c, 1})));
  }

  double number() {
    skip_blanks();
    const std::size_t start = at_;
    const bool plus = at_ < text_.size() && text_[at_] == '+';
    const char* first = text_.data() + at_ + (plus ? 1 : 0);
    if (plus && at_ + 1 < text_.size() && text_[at_ + 1] == '-') fail(at_, "two signs in a row");
    double value = 0;
    const auto [end, error] = fast_float::from_chars(first, text_.data() + text_.size(), value);
    if (error != std::errc() || !std::isfinite(value)) fail(start, "expected a finite number");
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  std::string word() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '_')) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  Kernel named_kernel() {
    const std::size_t start = at_;
    const std::string name = word();
    const auto maker = makers().find(name);
    if (maker == makers().end()) fail(start, fmt::format("there is no kernel \"{}\"; did you mean {}?", printable(name), nearest(name)));
    std::vector<Argument> arguments;
    if (take('(')) {
      if (!take(')')) {
        do {
          arguments.push_back(argument());
        } while (take(','));
        if (!take(')')) fail(at_, "expected , or )");
      }
    }
    return placed(start, [&] { return maker->second.make(Arguments(name, std::move(arguments), maker->second.parameters)); });
  }

  Argument argument() {
    skip_blanks();
    Argument argument;
    argument.at = argument.name_at = at_;
    if (at_ < text_.size() && is_letter(text_[at_])) {
      argument.word = word();
      if (!take('=')) return argument;
      argument.name = std::exchange(argument.word, "");
      skip_blanks();
      argument.at = at_;
      if (at_ < text_.size() && is_letter(text_[at_])) {
        argument.word = word();
        return argument;
      }
    }
    argument.number = number();
    return argument;
  }

  // What others call a kernel, then a name that begins like this, then the one with the fewest letters changed.
  static std::string nearest(const std::string& name) {
    static const std::map<std::string_view, const char*> elsewhere{
        {"rbf", "gaussian"}, {"squared_exponential", "gaussian"}, {"exponential", "laplacian"}, {"dot", "linear"}};
    if (const auto it = elsewhere.find(name); it != elsewhere.end()) return it->second;
    const auto distance = [&](const std::string& known) { return known.starts_with(name) ? 0 : edit_distance(name, known); };
    const auto closer = [&](const auto& a, const auto& b) { return distance(a.first) < distance(b.first); };
    return std::min_element(makers().begin(), makers().end(), closer)->first;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Kernel parse_kernel(std::string_view text) { return Parser(text).parse(); }

}  // namespace mercer
