// mercer depend DATA --x COLS --y COLS: do columns depend on each other? A verdict, the tests that people know beside it, and a page.
// SPDX-License-Identifier: BSD-3-Clause
#include "depend.hpp"

#include <algorithm>
#include <cmath>

#include "commands.hpp"
#include "given_gram.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

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

// Two Gram matrices, or three, of the same objects in the same order.
void check_given(const DependOptions& o) {
  if (o.gram_x.empty() || o.gram_y.empty())
    throw UsageError(
        fmt::format("depend needs {} too, the kernel values of the other variable", o.gram_x.empty() ? "--gram-x" : "--gram-y"));
  if (!o.x.empty() || !o.y.empty() || !o.z.empty() || !o.joint.empty() || o.all)
    throw UsageError("--gram-x and --gram-y have kernel values in place of columns; leave out --x, --y, --z, --joint and --all");
  if (o.kernel_x || o.kernel_y || o.kernel_z) throw UsageError("--gram-x and --gram-y have kernel values in place of kernels");
  if (o.aggregate && (o.null || !o.gram_z.empty())) throw UsageError("--aggregate is offered for --gram-x and --gram-y alone");
  if (!o.gram_z.empty() && o.null == IndependenceNull::permutation)
    throw UsageError("--null permutation is not offered with --gram-z, for no exchange of rows keeps z as it is; spectral or gamma");
  if (o.gram_z.empty() && o.method != ConditionalMethod::automatic) throw UsageError("--method is for --gram-z");
  if (!o.groups.empty() && o.reading.path.empty()) throw UsageError("--groups names a column of DATA, which is not given");
  if (o.scheme != Exchange::free && !o.gram_z.empty()) throw UsageError("--exchange is not offered with --gram-z");
  check_exchange(o);
}

void check_use(const DependOptions& o) {
  if (o.given()) return check_given(o);
  for (const auto& kernel : {o.kernel_x, o.kernel_y, o.kernel_z}) {
    if (kernel && kernel->needs_given_gram())
      throw UsageError("the kernel precomputed: given Gram matrices come as files: --gram-x Kx.npy --gram-y Ky.npy");
  }
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

// A variable known by its Gram matrix.
Variable given_variable(const DependOptions& o, const std::string& path, const std::string& name, const Table* table) {
  Variable v;
  v.name = name;
  v.features.X = read_gram(path, table, o.common);
  v.kernel = kernels::precomputed();
  v.features.notes.push_back(fmt::format("The kernel values of {} are those of {}.", name, source_word(path)));
  return v;
}

void run_given(const DependOptions& o) {
  const bool has_data = !o.reading.path.empty();
  const Table table = has_data ? read_data(o.reading, o.common) : Table{};
  Dependence d;
  for (const auto& [name, path] : {std::pair{"x", o.gram_x}, {"y", o.gram_y}, {"z", o.gram_z}}) {
    if (path.empty()) continue;
    d.variables.push_back(given_variable(o, path, name, has_data ? &table : nullptr));
    for (const std::string& note : d.variables.back().features.notes) d.notes.push_back(note);
    const Index n = d.variables.front().features.X.size();
    const Index here = d.variables.back().features.X.size();
    if (here != n)
      throw InvalidArgument(fmt::format("{} is the Gram matrix of {} objects, {} of {}; they must be of the same rows, in the same order",
                                        o.gram_x, n, path, here));
    if (n < 4) throw InvalidArgument(fmt::format("{}: has {} objects; a test of dependence needs at least 4", path, n));
  }
  Speaker(o.common).notes(d.notes);
  if (d.variables.size() == 3) {
    test_given(o, d);
  } else {
    test_pair(o, table, d);
  }
  finish_dependence(o, d);
}

void run_depend(const DependOptions& o) {
  check_use(o);
  check_outputs({{"--report", o.report}}, {o.reading.path, o.gram_x, o.gram_y, o.gram_z}, o.common.json);
  if (o.given()) return run_given(o);
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
  finish_dependence(o, d);
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
  const auto tables = add_tables(*command);
  add_kernel(*command, o->kernel_x, "Kernel of x (default: a Gaussian by the median distance; for a column of words: equal or not)",
             "--kernel-x", tables);
  add_kernel(*command, o->kernel_y, "Kernel of y", "--kernel-y", tables);
  add_kernel(*command, o->kernel_z, "Kernel of z", "--kernel-z", tables);
  add_gram_file(*command, o->gram_x, "Kernel values of x in place of columns: a square matrix, .npy or .csv without names", "--gram-x");
  add_gram_file(*command, o->gram_y, "Kernel values of y, of the same rows", "--gram-y");
  add_gram_file(*command, o->gram_z, "Kernel values of what is held fixed", "--gram-z");
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
