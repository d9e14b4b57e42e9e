// mercer depend DATA --all: every pair of columns, with p-values adjusted by Holm.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <set>

#include "depend.hpp"
#include "objects.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

struct PairVerdict {
  std::size_t x = 0;
  std::size_t y = 0;
  TestResult test{};
  double adjusted = 1;
  bool rejected = false;
};

// Each column that says something, as a variable of its own.
std::vector<Variable> variables_in(const DependOptions& o, const Table& table, std::vector<std::string>& notes) {
  if (table.sparse)
    throw InvalidArgument(fmt::format("{}: rows of a LIBSVM file have no named columns for --all", source_word(table.source)));
  std::set<Index> dropped;
  for (const std::string& name : o.encode.drop) dropped.insert(require_column(table, name, " to leave out"));
  std::vector<Variable> variables;
  for (Index j = 0; j < std::ssize(table.columns); ++j) {
    if (dropped.contains(j)) continue;
    const Column& column = table.columns[static_cast<std::size_t>(j)];
    const std::size_t distinct = column.is_objects() ? static_cast<std::size_t>(table.rows())  // told apart by their kernel
                                 : column.is_text()  ? std::set<std::string>(column.text().begin(), column.text().end()).size()
                                                     : std::set<double>(column.numbers().begin(), column.numbers().end()).size();
    if (distinct < 2) {
      notes.push_back(
          fmt::format("Column {} has the same value in every row: it is independent of everything and was left out.", column.name));
    } else if (column.is_text() && !holds_objects(table, column) && std::ssize(column.text()) == static_cast<Index>(distinct)) {
      notes.push_back(
          fmt::format("Column {} is text with a different value in every row: it identifies rows and was left out.", column.name));
    } else {
      variables.push_back(variable_of(table, {column.name}, " for --all", std::nullopt, o.encode));
    }
  }
  if (variables.size() < 2)
    throw InvalidArgument(fmt::format("{}: has {} column{} to test; --all needs at least 2", source_word(table.source), variables.size(),
                                      variables.size() == 1 ? "" : "s"));
  return variables;
}

// The exchanges with which the smallest p-value of so many pairs, adjusted, is the level.
double needed_permutations(double level, std::size_t pairs) { return std::ceil(static_cast<double>(pairs) / level); }

// Given, or enough to find something: twice what one finding needs, and from 20000 on just that.
Index permutations_of(const DependOptions& o, std::size_t pairs) {
  if (o.permutations > 0) return static_cast<Index>(o.permutations);
  const double needed = needed_permutations(o.level, pairs);
  return static_cast<Index>(std::clamp(std::min(2 * needed - 1, std::max(needed, 20000.0)), 1000.0, 1e6));
}

std::vector<PairVerdict> test_pairs(const DependOptions& o, const std::vector<Variable>& variables) {
  const std::size_t count = variables.size() * (variables.size() - 1) / 2;
  const auto n = static_cast<double>(variables[0].features.X.size());
  const auto draws = static_cast<double>(permutations_of(o, count));
  announce(fmt::format("testing {} pairs of columns", count),
           static_cast<double>(count) * n * n * (100 + 2 * draws) / estimated_flops(o.common.run()), 2 * n * n * 8, o.common.run());
  std::vector<PairVerdict> pairs;
  ProgressBar bar;
  const ProgressCallback callback = bar.callback();
  Stage stage(callback, "pairs of columns", static_cast<double>(count));
  for (std::size_t a = 0; a < variables.size(); ++a) {
    for (std::size_t b = a + 1; b < variables.size(); ++b) {
      IndependenceOptions options;
      options.kernel_x = variables[a].kernel;
      options.kernel_y = variables[b].kernel;
      options.null = o.null.value_or(IndependenceNull::permutation);
      options.permutations = permutations_of(o, count);
      options.level = o.level;
      options.seed = o.reading.seed;
      options.run = o.common.run();
      // The bar is that of all pairs; within one, only the wish to stop is heard.
      options.run.progress = [](const ProgressEvent&) { return stop_status() == 0; };
      pairs.push_back({.x = a, .y = b, .test = independence_test(variables[a].features.X, variables[b].features.X, options)});
      stage.advance(1);
    }
  }
  Vector p(std::ssize(pairs));
  for (std::size_t k = 0; k < pairs.size(); ++k) p[static_cast<Index>(k)] = pairs[k].test.p_value;
  const Vector adjusted = holm_adjusted(p);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    pairs[k].adjusted = adjusted[static_cast<Index>(k)];
    pairs[k].rejected = pairs[k].adjusted <= o.level;
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const PairVerdict& a, const PairVerdict& b) {
    return a.test.p_value != b.test.p_value ? a.test.p_value < b.test.p_value : a.test.statistic > b.test.statistic;
  });
  return pairs;
}

// With so few exchanges no adjusted p-value can be as small as the level.
std::string too_few(const DependOptions& o, const std::vector<PairVerdict>& pairs) {
  const TestResult& test = pairs.front().test;
  const auto smallest = static_cast<double>(pairs.size()) / (1.0 + static_cast<double>(test.draws));
  if (test.draws == 0 || smallest <= o.level) return "";
  const double needed = needed_permutations(o.level, pairs.size());
  const bool all = test.draws < permutations_of(o, pairs.size());  // so few rows that there are no more
  return fmt::format(
      "Nothing could be found: with {} an adjusted p-value of {} pairs is {:.2g} at least; {}.",
      all ? fmt::format("all {} exchanges of {} rows", test.draws, test.n) : fmt::format("{} permutations", test.draws), pairs.size(),
      smallest, all ? "test fewer columns, or with more rows" : fmt::format("--permutations {:.0f} or more can find something", needed));
}

std::string verdict_of(const DependOptions& o, const std::vector<PairVerdict>& pairs, std::ptrdiff_t found, const std::string& remark) {
  std::string verdict = fmt::format("{} of {} pairs of columns depend on each other (p-values adjusted by Holm, at level {:g}).", found,
                                    pairs.size(), o.level);
  if (!remark.empty()) verdict += " " + remark;
  return found > 0 ? verdict : verdict + " That is no proof of independence.";
}

}  // namespace

void depend_all(const DependOptions& o, const Table& table) {
  std::vector<std::string> notes;
  const std::vector<Variable> variables = variables_in(o, table, notes);
  const Speaker speaker(o.common);
  speaker.notes(notes);
  const std::vector<PairVerdict> pairs = test_pairs(o, variables);
  const auto found = std::count_if(pairs.begin(), pairs.end(), [](const PairVerdict& p) { return p.rejected; });
  const std::string remark = too_few(o, pairs);
  const std::string verdict = verdict_of(o, pairs, found, remark);
  if (o.common.json) {
    Json list = Json::array();
    for (const PairVerdict& p : pairs) {
      list.push_back({{"x", variables[p.x].name},
                      {"y", variables[p.y].name},
                      {"statistic", number_json(p.test.statistic)},
                      {"p_value", number_json(p.test.p_value)},
                      {"adjusted", number_json(p.adjusted)},
                      {"rejected", p.rejected}});
    }
    const TestResult& t = pairs.front().test;
    print_json({{"test", "independence of all pairs"},
                {"verdict", verdict},
                {"statistic_name", t.statistic_name},
                {"method", t.method},
                {"exact", t.exact},
                {"level", o.level},
                {"n", t.n},
                {"draws", t.draws},
                {"seed", t.seed},
                {"rejected", found},
                {"pairs", list},
                {"remarks", remark.empty() ? Json::array() : Json{remark}},
                {"notes", notes},
                {"seconds", o.seconds()},
                {"files", Json::object()}});
    return;
  }
  constexpr std::size_t listed = 50;
  std::vector<std::vector<std::string>> rows{{"x", "y", pairs.front().test.statistic_name, "p", "p, adjusted", "dependent"}};
  for (std::size_t k = 0; k < std::min(listed, pairs.size()); ++k) {
    const PairVerdict& p = pairs[k];
    rows.push_back({variables[p.x].name, variables[p.y].name, fmt::format("{:.4g}", p.test.statistic),
                    fmt::format("{:.4g}", p.test.p_value), fmt::format("{:.4g}", p.adjusted), p.rejected ? "yes" : "no"});
  }
  if (pairs.size() > listed) rows.push_back({fmt::format("... {} more; --json has all", pairs.size() - listed)});
  speaker.verdict(verdict);
  speaker.table(aligned(rows));
}

}  // namespace mercer::cli
