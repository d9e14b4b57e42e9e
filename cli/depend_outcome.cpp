// What a test of dependence is written and said as: the verdict, the usual tests beside it, JSON and the page.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "depend.hpp"

namespace mercer::cli {

namespace {

// What the other tests say beside HSIC, where that is worth a word.
std::string beside(const Dependence& d) {
  if (d.baselines.size() < 3 || !d.test.rejected) return "";
  const bool none = std::none_of(d.baselines.begin(), d.baselines.end(), [](const TestResult& t) { return t.rejected; });
  return none ? " Pearson, Spearman and Kendall do not see it: it is no steady rise or fall." : "";
}

// "column age", "columns age and dose together".
std::string column_words(const Variable& v, bool begins) {
  if (v.features.X.is_given()) return fmt::format("{}he objects of {}", begins ? 'T' : 't', v.name);
  return fmt::format("{}olumn{} {}{}", begins ? 'C' : 'c', v.columns.size() == 1 ? "" : "s", v.name,
                     v.columns.size() == 1 ? "" : " together");
}

std::string verdict_of(const DependOptions& o, const Dependence& d) {
  const TestResult& t = d.test;
  const std::string p = fmt::format("({} at level {:g})", p_word(t.p_value), t.level);
  if (!o.joint.empty()) {
    std::vector<std::string> names;
    for (const Variable& v : d.variables) names.push_back(v.name);
    return t.rejected
               ? fmt::format("The columns {} are not independent of each other {}.", list_words(names, 8), p)
               : fmt::format("No dependence among the columns {} was found {}. That is no proof of independence.", list_words(names, 8), p);
  }
  const std::string& x = d.variables[0].name;
  const std::string& y = d.variables[1].name;
  const bool given = d.variables[0].features.X.is_given();
  const bool single = !given && d.variables[0].columns.size() == 1 && d.variables[1].columns.size() == 1;
  const std::string fixed = o.z.empty() && o.gram_z.empty() ? "" : fmt::format(" given {}", d.variables[2].name);
  if (t.rejected) {
    const std::string who = single ? fmt::format("Columns {} and {}", x, y)
                                   : fmt::format("{} and {}", column_words(d.variables[0], true), column_words(d.variables[1], false));
    return fmt::format("{} depend on each other{} {}.{}", who, fixed, p, fixed.empty() ? beside(d) : "");
  }
  const std::string pair = single ? fmt::format("{} and {}", x, y)
                                  : fmt::format("{} and {}", column_words(d.variables[0], false), column_words(d.variables[1], false));
  return fmt::format("No dependence between {}{} was found {}. That is no proof of independence.", pair, fixed, p);
}

std::vector<std::vector<std::string>> baseline_rows(const std::vector<TestResult>& baselines) {
  std::vector<std::vector<std::string>> rows;
  for (const TestResult& t : baselines)
    rows.push_back(
        {t.statistic_name, fmt::format("{:.4g}", t.statistic), fmt::format("{:.4g}", t.p_value), t.rejected ? "yes" : "no", t.method});
  return rows;
}

void say_more(Dependence& d) {
  if (std::isfinite(d.correlation))
    d.facts.emplace_back("strength", fmt::format("{:.4f} (correlation of the kernels: 0 none, 1 as x with itself)", d.correlation));
  if (!d.baselines.empty()) {
    std::vector<std::vector<std::string>> rows{{"beside it", "value", "p", "dependent", "null"}};
    for (auto& row : baseline_rows(d.baselines)) rows.push_back(std::move(row));
    d.lines.push_back(aligned(rows));
  }
  if (!d.kernels.empty()) d.lines.push_back(kernels_table(d.kernels));
}

Json variable_json(const Variable& v) {
  return {{"columns", v.columns}, {"features", v.features.names}, {"categories", v.features.words_only}};
}

void print_dependence_json(const DependOptions& o, const Dependence& d) {
  Json json = judgement_json(d, o);
  if (o.joint.empty()) {
    json["x"] = variable_json(d.variables[0]);
    json["y"] = variable_json(d.variables[1]);
    json["z"] = d.variables.size() < 3 ? Json() : variable_json(d.variables[2]);
    json["correlation"] = number_json(d.correlation);
  } else {
    Json list = Json::array();
    for (const Variable& v : d.variables) list.push_back(variable_json(v));
    json["variables"] = std::move(list);
  }
  Json baselines = Json::array();
  for (const TestResult& t : d.baselines) {
    baselines.push_back({{"name", t.statistic_name},
                         {"statistic", number_json(t.statistic)},
                         {"p_value", number_json(t.p_value)},
                         {"rejected", t.rejected},
                         {"method", t.method},
                         {"exact", t.exact}});
  }
  json["baselines"] = std::move(baselines);
  json["notes"] = d.notes;
  json["seconds"] = o.seconds();
  json["files"] = Json::object();
  for (const auto& [key, path] : d.files) json["files"][key] = path;
  print_json(json);
}

std::string source_of(const DependOptions& o) {
  return o.reading.path.empty() ? fmt::format("{} and {}", o.gram_x, o.gram_y) : source_word(o.reading.path);
}

void write_report(const DependOptions& o, const Dependence& d) {
  TestReport page = page_of(d, o, o.z.empty() && o.gram_z.empty() ? "Dependence" : "Conditional dependence", source_of(o));
  page.samples.emplace_back(source_of(o), d.test.n);
  if (o.joint.empty()) {
    const Variable& x = d.variables[0];
    const Variable& y = d.variables[1];
    page.question = fmt::format("Do {} and {} depend on each other{}?", x.name, y.name,
                                d.variables.size() < 3 ? "" : fmt::format(", once {} is known", d.variables[2].name));
    if (!x.values.empty() && !y.values.empty()) {
      page.x = x.values;
      page.y = y.values;
    }
  } else {
    page.question = "Are these columns independent of each other, all of them together?";
  }
  if (d.kernels.empty() && d.test.kernels.size() == d.variables.size()) {
    for (std::size_t k = 0; k < d.variables.size(); ++k) {
      const Variable& v = d.variables[k];
      page.facts.emplace_back("Kernel of " + v.name, v.delta ? "1 for equal words, else 0" : d.test.kernels[k]);
    }
  }
  if (!d.baselines.empty()) {
    page.tables.push_back({.title = "The tests that people know",
                           .caption = "Of the same two columns.",
                           .columns = {"test", "value", "p", "dependent", "null"},
                           .numeric = {false, true, true, false, false},
                           .rows = baseline_rows(d.baselines)});
  }
  write_page(page, o.report);
}

}  // namespace

void finish_dependence(const DependOptions& o, Dependence& d) {
  std::vector<const Variable*> variables;
  for (const Variable& v : d.variables) {
    variables.push_back(&v);
    if (d.kernels.empty()) d.kernel_owners.push_back(v.name);
  }
  drop_remarks_on_words(d.test, variables);
  if (d.variables.size() == 2 && o.joint.empty()) d.baselines = baselines_of(d.variables[0], d.variables[1], o.level);
  d.verdict = verdict_of(o, d);
  say_more(d);
  if (!o.report.empty()) {
    write_report(o, d);
    d.files.emplace_back("report", o.report);
  }
  if (o.common.json) {
    print_dependence_json(o, d);
  } else {
    say_judgement(d, Speaker(o.common));
  }
}

}  // namespace mercer::cli
