// SPDX-License-Identifier: BSD-3-Clause
#include "report/families.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "mercer/table.hpp"
#include "report/escape.hpp"
#include "report/learn_charts.hpp"

namespace mercer::report {

namespace {

constexpr std::size_t longest_kernel = 200;  // a text longer than that is no leaf

std::vector<std::string> arguments_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::size_t first = text.find_first_not_of(' ', from);
    words.push_back(first < comma ? text.substr(first, comma - first) : "");
    from = comma + 1;
  }
  return words;
}

std::string word_of(const std::string& kernel) {
  if (kernel == "polynomial") return "degree";
  const std::set<std::string> scaled{"gaussian", "laplacian", "matern", "rational_quadratic", "periodic", "edit_distance"};
  return scaled.contains(kernel) ? "length scale" : "parameter";
}

void rank_cells(Family& family, bool is_error) {
  const auto better = [&](double a, double b) { return is_error ? a < b : a > b; };
  for (std::ptrdiff_t i = 0; i < std::ssize(family.cells); ++i) {
    const double score = family.cells[static_cast<std::size_t>(i)].score;
    if (!std::isfinite(score)) continue;
    if (family.best < 0 || better(score, family.best_cell().score)) family.best = i;
    if (family.worst < 0 || better(family.worst_cell().score, score)) family.worst = i;
  }
}

}  // namespace

std::string short_kernel(const std::string& text) {
  static const std::regex long_number(R"(\d+\.\d{4,}(e[+-]?\d+)?)");
  if (text.size() > longest_kernel) return text;
  std::string out;
  std::size_t from = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), long_number), end; it != end; ++it) {
    const auto at = static_cast<std::size_t>(it->position());
    out += text.substr(from, at - from) + fmt::format("{:.4g}", parse_number(it->str()).value_or(0));
    from = at + static_cast<std::size_t>(it->length());
  }
  return out + text.substr(from);
}

SplitKernel split_kernel(const std::string& text) {
  static const std::regex form(R"(^([A-Za-z_]\w*)\(([^()*+\[\]"]*)\)$)");
  std::smatch match;
  if (text.size() > longest_kernel || !std::regex_match(text, match, form)) return {text, "", 0};
  const std::string kernel = match[1].str();
  std::vector<std::string> words = arguments_of(match[2].str());
  const std::size_t place = kernel == "matern" ? 1 : 0;
  const std::optional<double> value = place < words.size() ? parse_number(words[place]) : std::nullopt;
  if (!value || !std::isfinite(*value)) return {text, "", 0};
  words[place] = "\xE2\x80\xA6";
  const std::string family = words.size() == 1 ? kernel : fmt::format("{}({})", kernel, fmt::join(words, ", "));
  return {family, word_of(kernel), *value};
}

std::vector<Family> families_of(const LearnResult& result) {
  const bool is_error = !is_classification(result);
  std::vector<Family> families;
  for (const Candidate& c : result.candidates) {
    if (c.model == "baseline") continue;
    const SplitKernel kernel = split_kernel(c.kernel);
    std::string name = kernel.family.empty() ? c.model : c.model + ", " + short_kernel(kernel.family);
    if (c.epsilon > 0) name += ", epsilon " + number_text(c.epsilon, 3);
    auto found = std::find_if(families.begin(), families.end(), [&](const Family& f) { return f.name == name; });
    if (found == families.end()) {
      found = families.insert(families.end(), Family{.name = name,
                                                     .scale_word = kernel.word,
                                                     .penalty_word = c.penalty.empty() ? "penalty" : c.penalty,
                                                     .reference = c.reference,
                                                     .cells = {},
                                                     .scales = {},
                                                     .penalties = {}});
    }
    found->cells.push_back({kernel.value, c.value, c.score, c.deviation, c.judged_by});
    found->scales.insert(kernel.value);
    found->penalties.insert(c.value);
  }
  for (Family& family : families) rank_cells(family, is_error);
  if (families.empty()) return families;
  std::stable_sort(families.begin() + 1, families.end(), [&](const Family& a, const Family& b) {
    if (a.best < 0 || b.best < 0) return a.best >= 0 && b.best < 0;
    return is_error ? a.best_cell().score < b.best_cell().score : a.best_cell().score > b.best_cell().score;
  });
  return families;
}

}  // namespace mercer::report
