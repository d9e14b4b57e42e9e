// Reading LIBSVM models. Nothing is allocated by what the file says of its sizes before the text is known to be long enough for them.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "data/number.hpp"
#include "mercer/error.hpp"
#include "mercer/libsvm_model.hpp"

namespace mercer {

namespace {

constexpr std::string_view first_word = "svm_type";
constexpr std::int64_t largest_index = std::numeric_limits<std::int32_t>::max() - 1;

std::string_view take_word(std::string_view& line) {
  std::size_t begin = 0;
  while (begin < line.size() && is_blank(line[begin])) ++begin;
  std::size_t end = begin;
  while (end < line.size() && !is_blank(line[end])) ++end;
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

struct Header {
  std::string type{};
  std::string kernel{};
  std::optional<double> degree{}, gamma{}, coef0{};
  std::int64_t classes = -1;
  std::int64_t vectors = -1;
  std::vector<double> rho{}, probA{}, probB{};
  std::vector<std::int64_t> labels{}, counts{};
};

class Reader {
 public:
  Reader(std::string_view text, std::string source) : text_(text), source_(std::move(source)) {}

  SavedModel read(Index width) {
    read_header();
    check_header();
    read_vectors();
    return finish(width);
  }

 private:
  template <class... T>
  [[noreturn]] void fail(fmt::format_string<T...> format, T&&... values) const {
    throw FileError(fmt::format("{}:{}: {}", source_, line_, fmt::format(format, std::forward<T>(values)...)));
  }

  bool next_line(std::string_view& line) {
    if (text_.empty()) return false;
    ++line_;
    const std::size_t end = text_.find('\n');
    // Half a support vector would be a model that is wrong without a word.
    if (end == std::string_view::npos) fail("the last line has no end; the file is cut short, copy it again");
    line = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return true;
  }

  double number(std::string_view word, std::string_view what) const {
    double value = 0;
    const char* const last = word.data() + word.size();
    if (word.empty()) fail("{} lacks a number", what);
    if (read_number(word.data(), last, value) != last) fail("{} has {}, wanted a finite number", what, quoted(word));
    return value;
  }

  std::int64_t whole(std::string_view word, std::string_view what, std::int64_t low, std::int64_t high) const {
    std::int64_t value = 0;
    const char* const last = word.data() + word.size();
    const auto [end, error] = std::from_chars(word.data(), last, value);
    if (word.empty() || error != std::errc() || end != last || value < low || value > high)
      fail("{} has {}, wanted a whole number from {} to {}", what, quoted(word), low, high);
    return value;
  }

  std::string one_of(std::string_view word, std::string_view what, const std::vector<std::string>& known) const {
    for (const std::string& one : known) {
      if (word == one) return one;
    }
    if (word == "precomputed") fail("a model of precomputed kernel values names its training rows by number and cannot be read");
    fail("{} is {}, wanted {}", what, quoted(word), fmt::join(known, ", "));
  }

  void read_header() {
    std::string_view line;
    std::set<std::string, std::less<>> seen;
    while (next_line(line)) {
      const std::string_view name = take_word(line);
      if (name.empty()) continue;
      if (name == "SV") return;
      if (!seen.emplace(name).second) fail("{} stands here for the second time", quoted(name));
      take_setting(name, line);
      if (name != "prob_density_marks" && !take_word(line).empty()) fail("there is more behind {} than belongs there", name);
    }
    fail("the file ends before its support vectors (a line SV); it is cut short, copy it again");
  }

  void take_setting(std::string_view name, std::string_view& line) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const auto bytes = std::min<std::int64_t>(most, std::ssize(text_));
    const auto numbers = [&](std::vector<double>& out) {
      for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) out.push_back(number(word, name));
    };
    const auto wholes = [&](std::vector<std::int64_t>& out, std::int64_t low) {
      for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) out.push_back(whole(word, name, low, most));
    };
    if (name == "svm_type") {
      h_.type = one_of(take_word(line), name, {"c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr"});
    } else if (name == "kernel_type") {
      h_.kernel = one_of(take_word(line), name, {"linear", "polynomial", "rbf", "sigmoid"});
    } else if (name == "degree") {
      h_.degree = static_cast<double>(whole(take_word(line), name, 0, 1000));
    } else if (name == "gamma") {
      h_.gamma = number(take_word(line), name);
    } else if (name == "coef0") {
      h_.coef0 = number(take_word(line), name);
    } else if (name == "nr_class") {
      h_.classes = whole(take_word(line), name, 2, bytes);
    } else if (name == "total_sv") {
      h_.vectors = whole(take_word(line), name, 0, bytes);
    } else if (name == "rho") {
      numbers(h_.rho);
    } else if (name == "label") {
      wholes(h_.labels, -most - 1);
    } else if (name == "probA") {
      numbers(h_.probA);
    } else if (name == "probB") {
      numbers(h_.probB);
    } else if (name == "nr_sv") {
      wholes(h_.counts, 0);
    } else if (name != "prob_density_marks") {  // densities of one class: not offered, not needed for decisions
      fail("{} is no setting of a LIBSVM model", quoted(name));
    }
  }

  bool classifies() const { return h_.type == "c_svc" || h_.type == "nu_svc"; }

  void check_header() const {
    if (h_.type.empty() || h_.kernel.empty()) fail("the lines svm_type and kernel_type are wanted before SV");
    if (h_.classes < 0 || h_.vectors < 0) fail("the lines nr_class and total_sv are wanted before SV");
    const auto k = static_cast<std::size_t>(h_.classes);
    if (!classifies()) {
      if (k != 2) fail("nr_class is {}, wanted 2 in a model of numbers", k);
      if (h_.rho.size() != 1) fail("rho has {} numbers, wanted 1", h_.rho.size());
      return;
    }
    const std::size_t pairs = k * (k - 1) / 2;  // k < 2^31
    if (h_.rho.size() != pairs) fail("rho has {} numbers, wanted {} for {} classes", h_.rho.size(), pairs, k);
    if (h_.labels.size() != k) fail("label has {} numbers, wanted one for each of {} classes", h_.labels.size(), k);
    if (std::set<std::int64_t>(h_.labels.begin(), h_.labels.end()).size() != k) fail("two classes have the same label");
    if (h_.counts.size() != k) fail("nr_sv has {} numbers, wanted one for each of {} classes", h_.counts.size(), k);
    std::int64_t sum = 0;
    for (const std::int64_t count : h_.counts) sum += count;  // k of them, each below 2^31
    if (sum != h_.vectors) fail("nr_sv has {} support vectors in all, total_sv says {}", sum, h_.vectors);
    const bool fits = h_.probA.size() == h_.probB.size() && (h_.probA.empty() || h_.probA.size() == pairs);
    if (!fits) fail("probA and probB have {} and {} numbers, wanted {} each", h_.probA.size(), h_.probB.size(), pairs);
  }

  void read_vectors() {
    const Index columns = classifies() ? h_.classes - 1 : 1;
    // A coefficient and the blank or line end behind it are two bytes at least.
    if (static_cast<double>(h_.vectors) * static_cast<double>(columns) * 2 > static_cast<double>(text_.size()) + 1)
      fail("{} support vectors do not fit into the {} bytes that follow; the file is cut short, copy it again", h_.vectors, text_.size());
    coef_.resize(h_.vectors, columns);
    offsets_.assign(1, 0);
    std::string_view line;
    for (Index i = 0; i < h_.vectors; ++i) {
      if (!next_line(line)) fail("the file ends after {} of {} support vectors; it is cut short, copy it again", i, h_.vectors);
      for (Index c = 0; c < columns; ++c) coef_(i, c) = number(take_word(line), "a coefficient");
      std::int64_t before = 0;
      for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
        const std::size_t colon = word.find(':');
        if (colon == std::string_view::npos) fail("{} is not a feature, wanted index:value", quoted(word));
        const std::int64_t index = whole(word.substr(0, colon), "an index", 1, largest_index);
        if (index <= before) fail("the index {} stands behind {}; wanted ascending indices", index, before);
        before = index;
        columns_.push_back(static_cast<std::int32_t>(index - 1));
        values_.push_back(number(word.substr(colon + 1), "a feature"));
      }
      width_ = std::max<Index>(width_, before);
      offsets_.push_back(std::ssize(values_));
    }
    while (next_line(line)) {
      if (!take_word(line).empty()) fail("there are more support vectors than total_sv = {}", h_.vectors);
    }
  }

  Kernel kernel() const {
    const auto want = [&](const std::optional<double>& value, const char* name) {
      if (!value) fail("the kernel {} lacks a line {}", h_.kernel, name);
      return *value;
    };
    if (h_.kernel == "linear") return kernels::linear();
    const double gamma = want(h_.gamma, "gamma");
    if (h_.kernel == "rbf") {
      const double l = std::sqrt(1 / (2 * gamma));
      if (!(gamma > 0) || !std::isfinite(l) || l == 0) fail("gamma is {:g}, wanted a number > 0", gamma);
      return kernels::gaussian(l);
    }
    try {
      if (h_.kernel == "sigmoid") return kernels::sigmoid(gamma, want(h_.coef0, "coef0"));
      return kernels::polynomial(static_cast<int>(want(h_.degree, "degree")), gamma, want(h_.coef0, "coef0"));
    } catch (const InvalidArgument& error) {
      fail("{}", error.what());
    }
  }

  SupportExpansion expansion(Index width, double sign) {
    struct Owner {
      std::vector<double> values;
      std::vector<std::int32_t> columns;
      std::vector<std::int64_t> offsets;
    };
    const auto owner = std::make_shared<const Owner>(Owner{std::move(values_), std::move(columns_), std::move(offsets_)});
    SupportExpansion e;
    e.kernel = kernel();
    e.vectors = Samples::borrow(CsrRows<double>{owner->values.data(), owner->columns.data(), owner->offsets.data(), h_.vectors,
                                                std::max<Index>({1, width, width_})},
                                owner);
    for (Index i = 0; i < h_.vectors; ++i) e.support.push_back(i);  // the file does not say which rows they were
    e.coef = sign * coef_;
    e.intercept = -sign * Eigen::Map<const Vector>(h_.rho.data(), std::ssize(h_.rho));
    return e;
  }

  SavedModel finish(Index width) {
    SvmSummary summary;
    summary.status = "read";
    summary.support_vectors = h_.vectors;
    summary.sentence = fmt::format("read from a LIBSVM model ({}): {} support vectors", h_.type, h_.vectors);
    summary.problems = std::ssize(h_.rho);
    const double sign = classifies() && h_.classes == 2 ? -1 : 1;  // positive is the second class here
    SupportExpansion e = expansion(width, sign);
    Encoder encoder;
    encoder.sparse = true;
    encoder.named = false;
    encoder.width = e.vectors.width();
    if (h_.type == "one_class") return {OneClassModel::from_parts(std::move(e), summary), encoder};
    encoder.target = "label";
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    const SvmSetting setting{.by_nu = h_.type == "nu_svc" || h_.type == "nu_svr"};
    if (!classifies()) return {SvrModel::from_parts(std::move(e), 0, unknown, summary, setting), encoder};
    encoder.task = Task::classification;
    for (const std::int64_t label : h_.labels) encoder.classes.push_back(std::to_string(label));
    SvcModel::Parts parts;
    parts.expansion = std::move(e);
    parts.n_support.assign(h_.counts.begin(), h_.counts.end());
    parts.summary = std::move(summary);
    parts.setting = setting;
    const auto pairs = std::ssize(h_.probA);
    parts.sigmoids.resize(pairs, 2);
    for (Index m = 0; m < pairs; ++m) {
      parts.sigmoids(m, 0) = h_.probA[static_cast<std::size_t>(m)];
      parts.sigmoids(m, 1) = sign * h_.probB[static_cast<std::size_t>(m)];
    }
    return {SvcModel::from_parts(std::move(parts)), encoder};
  }

  std::string_view text_;
  std::string source_;
  std::int64_t line_ = 0;
  Header h_{};
  Matrix coef_{};
  std::vector<double> values_{};
  std::vector<std::int32_t> columns_{};
  std::vector<std::int64_t> offsets_{};
  Index width_ = 0;
};

}  // namespace

bool is_libsvm_model_text(std::string_view bytes) { return bytes.starts_with(first_word); }

bool is_libsvm_model(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string start(first_word.size(), ' ');
  return in.read(start.data(), std::ssize(start)) && start == first_word;
}

SavedModel libsvm_model_from_text(std::string_view text, const std::string& source, Index width) {
  if (!is_libsvm_model_text(text)) throw FileError(fmt::format("{}:1: is not a LIBSVM model, which begins with svm_type", source));
  return Reader(text, source).read(width);
}

SavedModel read_libsvm_model(const std::string& path, Index width) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) throw FileError(fmt::format("{}: cannot be read, or is empty", path));
  return libsvm_model_from_text(text.str(), path, width);
}

}  // namespace mercer
