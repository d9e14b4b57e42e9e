// Kernels from text: a recursive-descent parser of
//   sum     := product ('+' product)*
//   product := postfix ('*' postfix)*
//   postfix := atom ('^' whole | '**' whole | '.on(' columns ')' | '.' method '(' arguments ')')*
//   atom    := number | name ['(' arguments ')'] | method '(' sum ')' | '(' sum ')'
//   value   := number | word | "name" | '[' value (',' value)* ']'
// where a number alone is a factor in a product and a constant kernel in a sum, and exp(k) is k.exp(). Errors point at the character.
// Text may come from a hostile model file, so length and nesting are bounded, nothing depends on the locale, and messages are plain ASCII.
// SPDX-License-Identifier: BSD-3-Clause
#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "kernels/arguments.hpp"
#include "kernels/node.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class Parser {
 public:
  Parser(std::string_view text, const KernelLibrary& library) : text_(text), library_(library) {}

  Kernel parse() {
    if (text_.size() > longest_text)
      throw InvalidArgument(fmt::format("a kernel expression of {} characters is too long (at most {})", text_.size(), longest_text));
    try {
      const Value value = sum();
      skip_blanks();
      if (at_ < text_.size()) {
        const char* hint = text_[at_] == '-'   ? "; a difference is written + -1*k"
                           : text_[at_] == '/' ? "; a quotient is written 0.5*k"
                                               : "";
        fail(at_, fmt::format("expected + or *, found \"{}\"{}", printable(text_.substr(at_, 1)), hint));
      }
      return as_kernel(value);
    } catch (const Misplaced& complaint) {
      // Long texts are cut around the place, so that the caret stays readable.
      const std::size_t first = complaint.at > 60 ? complaint.at - 60 : 0;
      throw InvalidArgument(fmt::format("kernel expression: {}\n  {}\n  {}^", complaint.message, printable(text_.substr(first, 100), 100),
                                        std::string(complaint.at - first, ' ')));
    }
  }

 private:
  using Value = std::variant<double, Kernel>;

  static Kernel as_kernel(const Value& value) {
    if (const auto* number = std::get_if<double>(&value)) return kernels::constant(*number);
    return std::get<Kernel>(value);
  }

  [[noreturn]] static void fail(std::size_t at, const std::string& message) { throw Misplaced{at, message}; }

  // Runs a maker and gives its complaint a place.
  template <class F>
  static auto placed(std::size_t at, F&& make) {
    try {
      return make();
    } catch (const InvalidArgument& error) {
      fail(at, error.what());
    }
  }

  static double finite(std::size_t at, double value) {
    if (!std::isfinite(value)) fail(at, "this makes a number too large");
    return value;
  }

  char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  bool take(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  void close(const char* message, std::string_view bracket = ")") {
    if (!take(bracket)) fail(at_, message);
  }

  void open() {
    if (++depth_ > deepest_nesting) fail(at_, "brackets are nested too deeply");
    ++at_;
  }

  Value sum() {
    const std::size_t start = at_;
    Value total = product();
    std::vector<Kernel> parts;  // from the first kernel on; numbers before it add up
    while (take("+")) {
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
      const Value next = postfix();
      if (const auto* number = std::get_if<double>(&next)) {
        factor = finite(at, factor.value_or(1) * *number);
      } else {
        parts.push_back(std::get<Kernel>(next));
      }
    } while (take("*"));
    if (parts.empty()) return *factor;
    return placed(start, [&] { return factor ? *factor * product_of(parts) : product_of(parts); });
  }

  Value postfix() {
    Value value = atom();
    while (true) {
      skip_blanks();
      const std::size_t at = at_;
      const bool power = take("^") || take("**");
      if (!power && !take(".")) return value;
      if (std::holds_alternative<double>(value)) fail(at, "only kernels have powers and methods; write constant(2) for a constant one");
      const Kernel k = std::get<Kernel>(value);
      value = power ? raised(k) : called(k);
    }
  }

  Kernel raised(const Kernel& k) {
    skip_blanks();
    const std::size_t at = at_;
    const double exponent = is_digit(peek()) ? number() : 0.0;
    if (exponent < 1 || exponent > 1000 || exponent != std::floor(exponent)) fail(at, "a power is a whole number from 1 to 1000");
    return placed(at, [&] { return k.power(static_cast<int>(exponent)); });
  }

  Kernel called(const Kernel& k) {
    skip_blanks();
    const std::size_t start = at_;
    const std::string name = word();
    if (name == "on") return restricted(k, start);
    const auto method = methods().find(name);
    if (method == methods().end()) {
      std::string known = "on";
      for (const auto& [word, unused] : methods()) known += ", " + word;
      fail(start, fmt::format("kernels have no \"{}\"; they have {}", printable(name), known));
    }
    std::vector<Argument> given = arguments();
    return placed(start, [&] { return method->second.make(k, Arguments(name, std::move(given), method->second.parameters)); });
  }

  // Columns by position (3), range (0:4, the end left out) or name ("age", or age where it is a plain word).
  Kernel restricted(const Kernel& k, std::size_t start) {
    if (!take("(")) fail(at_, "expected ( and the columns");
    std::vector<ColumnRef> columns;
    do {
      const char c = peek();
      if (c == '"') {
        columns.emplace_back(quoted_name());
      } else if (is_letter(c) || c == '_') {
        columns.emplace_back(word());
      } else {
        const Index first = position();
        const Index end = take(":") ? position() : first + 1;
        if (end <= first) fail(at_, "a range of columns goes up, as in 0:4");
        if (end - first + std::ssize(columns) > 1000000) fail(at_, "on() takes at most 1000000 columns");
        for (Index j = first; j < end; ++j) columns.emplace_back(j);
      }
    } while (take(","));
    close("expected , or )");
    return placed(start, [&] { return k.on(std::move(columns)); });
  }

  Index position() {
    skip_blanks();
    const std::size_t start = at_;
    const double value = is_digit(peek()) ? number() : -1;
    if (value < 0 || value != std::floor(value) || value > 1e9) fail(start, "expected a column: a position from 0 on, or a name");
    return static_cast<Index>(value);
  }

  Value atom() {
    const char c = peek();
    if (at_ >= text_.size()) fail(at_, "a kernel is missing here");
    if (c == '(') {
      open();
      Value inner = sum();
      close("a closing bracket is missing");
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
    const std::size_t after = text_.find_first_not_of("+- ", at_);
    if (after != std::string_view::npos && after > at_ && (is_letter(text_[after]) || text_[after] == '('))
      fail(start, "a sign stands before a number; write -1*k for the negative of a kernel");
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

  std::string quoted_name() {
    const std::size_t start = at_++;
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        out += text_[at_] == 'n' ? '\n' : text_[at_];
      } else {
        out += text_[at_];
      }
      ++at_;
    }
    if (at_++ >= text_.size()) fail(start, "the quote that begins here has no end");
    if (out.empty()) fail(start, "a name is missing between the quotes");
    return out;
  }

  Kernel named_kernel() {
    const std::size_t start = at_;
    const std::string name = word();
    if (const auto method = methods().find(name); method != methods().end() && peek() == '(') {
      open();
      const Kernel inner = as_kernel(sum());
      close("a closing bracket is missing");
      --depth_;
      return placed(start, [&] { return method->second.make(inner, Arguments(name, {}, {})); });
    }
    const auto maker = makers().find(name);
    if (maker == makers().end()) fail(start, fmt::format("there is no kernel \"{}\"; {}", printable(name), nearest(name)));
    std::vector<Argument> given = peek() == '(' ? arguments(maker->second.parameters) : std::vector<Argument>{};
    return placed(start, [&] { return maker->second.make(Arguments(name, std::move(given), maker->second.parameters), library_); });
  }

  // `parameters`: what the arguments are called, in order; those called kernel are expressions.
  std::vector<Argument> arguments(const std::vector<std::string>& parameters = {}) {
    if (!take("(")) fail(at_, "expected (");
    std::vector<Argument> given;
    if (take(")")) return given;
    do {
      given.push_back(argument(given.size() < parameters.size() && parameters[given.size()] == "kernel"));
    } while (take(","));
    close("expected , or )");
    return given;
  }

  Argument argument(bool is_kernel) {
    skip_blanks();
    Argument argument;
    argument.at = argument.name_at = at_;
    if (take("kernel=") || take("kernel =")) {
      argument.name = "kernel";
      is_kernel = true;
    } else if (is_kernel && is_letter(peek())) {  // unless another is given by its name
      const std::size_t start = at_;
      word();
      is_kernel = !(take("=") && at_ > start);
      at_ = start;
    }
    if (is_kernel) {
      skip_blanks();
      argument.at = at_;
      if (++depth_ > deepest_nesting) fail(at_, "brackets are nested too deeply");
      argument.value = as_kernel(sum());
      --depth_;
      return argument;
    }
    if (is_letter(peek())) {
      const std::string first = word();
      if (!take("=")) {
        argument.value = Word{first};
        return argument;
      }
      argument.name = first;
      skip_blanks();
      argument.at = at_;
    }
    const char c = peek();
    if (is_letter(c)) {
      argument.value = Word{word()};
    } else if (c == '"') {
      argument.value = quoted_name();
    } else if (c == '[') {
      list(argument);
    } else {
      argument.value = number();
    }
    return argument;
  }

  Numbers numbers() {
    Numbers out;
    ++at_;  // the bracket
    do out.push_back(number());
    while (take(","));
    close("expected , or ]", "]");
    return out;
  }

  // [1, 2] or [[1, 2], [3, 4]].
  void list(Argument& argument) {
    const std::size_t start = at_++;
    const bool points = peek() == '[';
    at_ = start;
    if (!points) {
      argument.value = numbers();
      return;
    }
    ++at_;
    std::vector<Numbers> rows;
    do {
      if (peek() != '[') fail(at_, "expected a point in square brackets");
      const std::size_t at = at_;
      rows.push_back(numbers());
      if (rows.back().size() != rows.front().size()) fail(at, fmt::format("every point must have {} numbers", rows.front().size()));
    } while (take(","));
    close("expected , or ]", "]");
    Matrix out(std::ssize(rows), std::ssize(rows.front()));
    for (Index i = 0; i < out.rows(); ++i)
      std::copy(rows[static_cast<std::size_t>(i)].begin(), rows[static_cast<std::size_t>(i)].end(), out.row(i).data());
    argument.value = std::move(out);
  }

  // What others call a kernel, then a name that begins like this, then the one with the fewest letters changed.
  static std::string nearest(const std::string& name) {
    static const std::map<std::string_view, const char*> elsewhere{
        {"rbf", "gaussian"},    {"squared_exponential", "gaussian"}, {"exponential", "laplacian"}, {"dot", "linear"},
        {"tanh", "sigmoid"},    {"exp_sine_squared", "periodic"},    {"noise", "white"},           {"min", "histogram_intersection"},
        {"gram", "precomputed"}};
    std::string lower = name;
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const auto distance = [&](std::string_view known) { return known.starts_with(lower) ? 0 : edit_distance(lower, known); };
    std::string best;
    std::size_t least = std::max<std::size_t>(2, lower.size() / 2) + 1;  // beyond that nothing is near
    // Short words are near to everything: what others call a kernel counts with one letter changed, or all letters in another order.
    for (const auto& [known, meant] : elsewhere) {
      const bool shuffled = known.size() == lower.size() && std::is_permutation(known.begin(), known.end(), lower.begin());
      if (edit_distance(lower, known) <= 1 || shuffled) return fmt::format("did you mean {}?", meant);
    }
    for (const auto& [known, unused] : makers()) {
      if (distance(known) >= least) continue;
      least = distance(known);
      best = known;
    }
    return best.empty() ? "mercer kernels lists them" : fmt::format("did you mean {}?", best);
  }

  std::string_view text_;
  const KernelLibrary& library_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Kernel parse_kernel(std::string_view text, const KernelLibrary& library) { return Parser(text, library).parse(); }

}  // namespace mercer
