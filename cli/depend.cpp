// mercer depend DATA --x COLS --y COLS: do columns depend on each other? A verdict, the tests that people know beside it, and a page.
// SPDX-License-Identifier: BSD-3-Clause
#include "depend.hpp"

#include <algorithm>
#include <cmath>

#include "commands.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

struct Dependence : Judgement {
  std::vector<Variable> variables{};  // x and y, then z; or all of a joint test
  std::vector<TestResult> baselines{};
  double correlation = std::nan("");  // of the kernels, in [0, 1]
};

IndependenceOptions independence_options(const DependOptions& o, const Table& table, const Variable& x, const Variable& y, const Run& run) {
  IndependenceOptions options;
  options.kernel_x = x.kernel;
  options.kernel_y = y.kernel;
  options.null = o.null.value_or(IndependenceNull::permutation);
  if (o.permutations > 0) options.permutations = static_cast<Index>(o.permutations);
  options.exchange = exchange_of(o, table);
  options.level = o.level;
  options.seed = o.reading.seed;
  options.run = run;
  return options;
}

void announce_test(const DependOptions& o, Index rows) {
  const auto n = static_cast<double>(rows);
  const double draws = o.permutations > 0 ? static_cast<double>(o.permutations) : 1000;
  const double kernels = o.aggregate ? 50 : 1;
  announce(fmt::format("testing {} rows", rows), kernels * n * n * (100 + 2 * draws) / estimated_flops(o.common.run()), 2 * n * n * 8,
           o.common.run());
}

void require_different(const Variable& a, const Variable& b, const std::string& options) {
  for (const std::string& column : a.columns) {
    if (std::find(b.columns.begin(), b.columns.end(), column) != b.columns.end())
      throw UsageError(fmt::format("column {} is in both {}; a column depends on itself", column, options));
  }
}

void test_pair(const DependOptions& o, const Table& table, Dependence& d) {
  const Variable& x = d.variables[0];
  const Variable& y = d.variables[1];
  announce_test(o, x.features.X.size());
  ProgressBar bar;
  const Run run = o.common.run(bar.callback());
  if (o.aggregate) {
    HsicAggregatedOptions options;
    if (x.kernel) options.kernels_x = {*x.kernel};
    if (y.kernel) options.kernels_y = {*y.kernel};
    if (o.permutations > 0) options.permutations = options.level_permutations = static_cast<Index>(o.permutations);
    options.exchange = exchange_of(o, table);
    options.level = o.level;
    options.seed = o.reading.seed;
    options.run = run;
    const AggregatedResult r = hsic_aggregated_test(x.features.X, y.features.X, options);
    d.test = r;
    d.kernels = r.table;
    return;
  }
  d.test = independence_test(x.features.X, y.features.X, independence_options(o, table, x, y, run));
  for (const auto& [name, value] : d.test.numbers) {
    if (name == "correlation") d.correlation = value;
  }
}

void test_given(const DependOptions& o, Dependence& d) {
  announce_test(o, d.variables[0].features.X.size());
  ProgressBar bar;
  ConditionalIndependenceOptions options;
  if (d.variables[0].kernel) options.kernel_x = *d.variables[0].kernel;
  if (d.variables[1].kernel) options.kernel_y = *d.variables[1].kernel;
  if (d.variables[2].kernel) options.kernel_z = *d.variables[2].kernel;
  options.method = o.method;
  options.null = o.null == IndependenceNull::gamma ? ConditionalNull::gamma : ConditionalNull::spectral;
  if (o.permutations > 0) options.draws = static_cast<Index>(o.permutations);
  options.level = o.level;
  options.seed = o.reading.seed;
  options.run = o.common.run(bar.callback());
  d.test = conditional_independence_test(d.variables[0].features.X, d.variables[1].features.X, d.variables[2].features.X, options);
  d.test.remarks.push_back(
      fmt::format("a test given others is as good as what it learns of them: where the regressions on {} leave a part of it, it finds "
                  "dependence that is not there",
                  d.variables[2].name));
}

void test_joint(const DependOptions& o, Dependence& d) {
  announce_test(o, d.variables[0].features.X.size());
  ProgressBar bar;
  JointIndependenceOptions options;
  std::vector<Samples> samples;
  for (const Variable& v : d.variables) {
    options.kernels.push_back(v.kernel);
    samples.push_back(v.features.X);
  }
  options.null = o.null.value_or(IndependenceNull::permutation);
  if (o.permutations > 0) options.permutations = static_cast<Index>(o.permutations);
  options.level = o.level;
  options.seed = o.reading.seed;
  options.run = o.common.run(bar.callback());
  d.test = joint_independence_test(samples, options);
}

// What the other tests say beside HSIC, where that is worth a word.
std::string beside(const Dependence& d) {
  if (d.baselines.size() < 3 || !d.test.rejected) return "";
  const bool none = std::none_of(d.baselines.begin(), d.baselines.end(), [](const TestResult& t) { return t.rejected; });
  return none ? " Pearson, Spearman and Kendall do not see it: it is no steady rise or fall." : "";
}

// "column age", "columns age and dose together".
std::string column_words(const Variable& v, bool begins) {
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
  const bool single = d.variables[0].columns.size() == 1 && d.variables[1].columns.size() == 1;
  const std::string given = o.z.empty() ? "" : fmt::format(" given {}", d.variables[2].name);
  if (t.rejected) {
    const std::string who = single ? fmt::format("Columns {} and {}", x, y)
                                   : fmt::format("{} and {}", column_words(d.variables[0], true), column_words(d.variables[1], false));
    return fmt::format("{} depend on each other{} {}.{}", who, given, p, o.z.empty() ? beside(d) : "");
  }
  const std::string pair = single ? fmt::format("{} and {}", x, y)
                                  : fmt::format("{} and {}", column_words(d.variables[0], false), column_words(d.variables[1], false));
  return fmt::format("No dependence between {}{} was found {}. That is no proof of independence.", pair, given, p);
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
    json["z"] = o.z.empty() ? Json() : variable_json(d.variables[2]);
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

void write_report(const DependOptions& o, const Dependence& d) {
  TestReport page = page_of(d, o, o.z.empty() ? "Dependence" : "Conditional dependence", source_word(o.reading.path));
  page.samples.emplace_back(source_word(o.reading.path), d.test.n);
  if (o.joint.empty()) {
    const Variable& x = d.variables[0];
    const Variable& y = d.variables[1];
    page.question = fmt::format("Do {} and {} depend on each other{}?", x.name, y.name,
                                o.z.empty() ? "" : fmt::format(", once {} is known", d.variables[2].name));
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

void finish(const DependOptions& o, Dependence& d) {
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

void check_use(const DependOptions& o) {
  const bool pair = !o.x.empty() || !o.y.empty() || !o.z.empty();
  if ((pair ? 1 : 0) + (o.joint.empty() ? 0 : 1) + (o.all ? 1 : 0) > 1)
    throw UsageError("--x and --y, --joint and --all ask different questions; choose one");
  if (!pair && o.joint.empty() && !o.all) {
    throw UsageError(
        "depend needs columns: --x COLS --y COLS (two variables), with --z COLS (given others), --joint COLS (several at once), or --all "
        "(every pair)");
  }
  if (pair && (o.x.empty() || o.y.empty()))
    throw UsageError(fmt::format("depend needs {} too, the other variable", o.x.empty() ? "--x COLS" : "--y COLS"));
  if (!o.joint.empty() && o.joint.size() < 2) throw UsageError("--joint needs two columns or more, separated by commas");
  if (o.aggregate && (!o.z.empty() || !pair)) throw UsageError("--aggregate is offered for --x and --y alone");
  if (o.aggregate && o.null) throw UsageError("--aggregate has its own null; leave out --null");
  if (!o.z.empty() && o.null == IndependenceNull::permutation)
    throw UsageError("--null permutation is not offered with --z, for no exchange of rows keeps z as it is; spectral or gamma");
  if (o.z.empty() && o.method != ConditionalMethod::automatic) throw UsageError("--method is for --z");
  if (!pair && (o.kernel_x || o.kernel_y)) throw UsageError("--kernel-x and --kernel-y are for --x and --y");
  if (o.kernel_z && o.z.empty()) throw UsageError("--kernel-z is for --z");
  if (o.scheme != Exchange::free && (!pair || !o.z.empty())) throw UsageError("--exchange is offered for --x and --y alone");
  if (o.all && !o.report.empty()) throw UsageError("--report shows one test; --all has many");
  check_exchange(o);
}

void run_depend(const DependOptions& o) {
  check_use(o);
  check_outputs({{"--report", o.report}}, {o.reading.path}, o.common.json);
  const Table table = read_data(o.reading, o.common);
  if (o.all) return depend_all(o, table);
  Dependence d;
  const auto take = [&](const std::vector<std::string>& columns, const std::string& option, const std::optional<Kernel>& kernel) {
    d.variables.push_back(variable_of(table, columns, option, kernel, o.encode));
    for (const std::string& note : d.variables.back().features.notes) d.notes.push_back(note);
  };
  for (const std::string& column : o.joint) take({column}, " for --joint", std::nullopt);
  if (o.joint.empty()) {
    take(o.x, " for --x", o.kernel_x);
    take(o.y, " for --y", o.kernel_y);
    if (!o.z.empty()) take(o.z, " for --z", o.kernel_z);
  }
  for (std::size_t a = 0; a < d.variables.size(); ++a) {
    for (std::size_t b = a + 1; b < d.variables.size(); ++b)
      require_different(d.variables[a], d.variables[b],
                        !o.joint.empty() ? "places of --joint"
                        : b == 1         ? "--x and --y"
                        : a == 0         ? "--x and --z"
                                         : "--y and --z");
  }
  Speaker(o.common).notes(d.notes);
  if (!o.joint.empty()) {
    test_joint(o, d);
  } else if (!o.z.empty()) {
    test_given(o, d);
  } else {
    test_pair(o, table, d);
  }
  finish(o, d);
}

}  // namespace

void add_depend(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<DependOptions>();
  CLI::App* command = app.add_subcommand("depend", "Do columns depend on each other? Two, given others, several at once, or every pair");
  add_reading(*command, o->reading);
  add_columns(*command, "--x", o->x, "Columns of one variable, separated by commas");
  add_columns(*command, "--y", o->y, "Columns of the other");
  add_columns(*command, "--z", o->z, "Columns that are held fixed: do x and y depend on each other once these are known?");
  add_columns(*command, "--joint", o->joint, "Columns, each a variable: are they independent all together?");
  command->add_flag("--all", o->all, "Test every pair of columns, with p-values adjusted for their number");
  add_choice<std::optional<IndependenceNull>>(
      *command, "--null", o->null,
      {{"permutation", IndependenceNull::permutation}, {"gamma", IndependenceNull::gamma}, {"spectral", IndependenceNull::spectral}},
      "What the statistic is compared with (default: permutation, of exact level; with --z spectral)");
  add_kernel_as(*command, "--kernel-x", o->kernel_x,
                "Kernel of x (default: a Gaussian by the median distance; for a column of words: equal or not)");
  add_kernel_as(*command, "--kernel-y", o->kernel_y, "Kernel of y");
  add_kernel_as(*command, "--kernel-z", o->kernel_z, "Kernel of z");
  add_choice<ConditionalMethod>(
      *command, "--method", o->method,
      {{"auto", ConditionalMethod::automatic}, {"kci", ConditionalMethod::kci}, {"randomized", ConditionalMethod::randomized}},
      "How --z is answered (default: auto, kci up to 1000 rows)");
  command->add_flag("--aggregate", o->aggregate, "Many kernels at once (HSICAgg): for when the right length scales are not known");
  add_judging(*command, *o, invocation,
              {Exchange::free, Exchange::within_groups, Exchange::whole_groups, Exchange::blocks, Exchange::shifts});
  command->footer(
      "Examples:\n"
      "  mercer depend data.csv --x age --y dose,weight\n"
      "  mercer depend data.csv --x age --y dose --z weight --report given.html\n"
      "  mercer depend data.csv --joint a,b,c\n"
      "  mercer depend data.csv --all");
  command->callback([o, &invocation] { invocation.job = [o] { run_depend(*o); }; });
}

}  // namespace mercer::cli
