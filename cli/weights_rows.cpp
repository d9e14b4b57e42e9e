// mercer weights squash, herd and thin: few rows that stand for many.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <functional>

#include "terminal.hpp"
#include "weights.hpp"

namespace mercer::cli {

namespace {

struct RowsOptions : ExploreOptions {
  std::int64_t m = 0;  // 0: the square root of the rows (thin)
  std::int64_t candidates = 0;
  CoresetMeasure measure = CoresetMeasure::automatic;
  Atoms atoms = Atoms::automatic;
  std::int64_t oversampling = 4;
};

using Choose = std::function<Coreset(const RowsOptions&, const Samples&, Index m, const Kernel&, const Run&)>;

void add_rows(CLI::App& command, RowsOptions& o, Invocation& invocation, bool needs_m) {
  add_weighing(command, o, invocation, "the chosen rows");
  CLI::Option* m =
      add_whole(command, "-m,--rows", o.m, 1, 1'000'000'000, needs_m ? "Rows wanted" : "Rows wanted (default: the square root)");
  if (needs_m) m->required();
  add_choice<CoresetMeasure>(command, "--measure", o.measure,
                             {{"auto", CoresetMeasure::automatic},
                              {"exact", CoresetMeasure::exact},
                              {"features", CoresetMeasure::features},
                              {"none", CoresetMeasure::none}},
                             "How the distance to all rows is found (default: exact up to 20000 rows, then estimated)");
  command.add_option("--report", o.report, "Write a self-contained HTML page with charts to this file")->type_name("FILE");
}

void add_candidates(CLI::App& command, RowsOptions& o) {
  add_whole(command, "--candidates", o.candidates, 1, 1'000'000'000, "Rows that may be chosen, drawn at random (default: all up to 20000)");
}

void write_report(const RowsOptions& o, const Exploration& e, const Coreset& few) {
  ColorColumn color{.name = "row", .numbers = {}, .words = std::vector<std::string>(static_cast<std::size_t>(few.n), "others")};
  for (const Index i : few.rows) color.words[static_cast<std::size_t>(i)] = "chosen";
  write_weights_report(o, e,
                       few.method == "squash" ? "Squashed rows"
                       : few.method == "herd" ? "Herded rows"
                                              : "Thinned rows",
                       few.sentence, std::move(color),
                       {{"Rows", std::to_string(few.n)},
                        {"Chosen", std::to_string(few.size())},
                        {"Kernel", few.kernel},
                        {"Distance", fmt::format("{:.4g}", few.mmd)},
                        {"Of random rows", fmt::format("{:.4g}", few.random_mmd)},
                        {"Effective size", fmt::format("{:.1f}", few.effective_size())}},
                       few.remarks);
}

void print_rows_json(const RowsOptions& o, const Exploration& e, const Coreset& few) {
  Json json = {{"method", few.method},
               {"n", few.n},
               {"features", e.data.X.width()},
               {"m", few.size()},
               {"kernel", few.kernel},
               {"seed", few.seed},
               {"mmd", number_json(few.mmd)},
               {"mmd_error", few.mmd_error},
               {"random_mmd", number_json(few.random_mmd)},
               {"effective_size", few.effective_size()},
               {"sentence", few.sentence}};
  if (few.method == "squash") json["gap"] = few.gap;
  json["rows"] = few.rows;
  if (few.method == "squash") json["weights"] = weights_json(few.weights);
  if (few.path.size() > 0) json["path"] = weights_json(few.path);
  finish_json(json, o, e, few.remarks, "rows");
}

void run_rows(const RowsOptions& o, const Choose& choose) {
  check_outputs({{"--out", o.out}, {"--report", o.report}}, {o.reading.path, o.gram}, o.common.json);
  const Speaker speaker(o.common, o.out);
  Table table;
  const Exploration e = explore(o, speaker, &table);
  const Index n = e.data.X.size();
  const Index m = o.m > 0 ? static_cast<Index>(o.m) : std::max<Index>(1, std::lround(std::sqrt(static_cast<double>(n))));
  const Kernel kernel = kernel_of(e);
  const double values = static_cast<double>(n) * (static_cast<double>(std::min<Index>(n, 20000)) + 3 * static_cast<double>(m));
  announce(fmt::format("{} rows for {}", m, n), values * (2 * static_cast<double>(e.data.X.width()) + 60) / estimated_flops(o.common.run()),
           static_cast<double>(m) * static_cast<double>(std::min<Index>(n, 20000)) * 8, o.common.run());
  Coreset few;
  {
    ProgressBar bar;
    few = choose(o, e.data.X, m, kernel, o.common.run(bar.callback()));
  }
  if (!o.report.empty()) write_report(o, e, few);
  if (!o.out.empty()) write_rows(table, few.rows, few.method == "squash" ? few.weights : Vector(), o.out, o.common);
  if (o.common.json) {
    print_rows_json(o, e, few);
    return;
  }
  speaker.say("{} ({})", few.sentence, seconds_word(e.seconds()));
  speaker.say("  kernel  {}", few.kernel);
  if (few.method == "squash")
    speaker.say("  weights {:.4g} to {:.4g}, worth {:.1f} equal ones", few.weights.minCoeff(), few.weights.maxCoeff(),
                few.effective_size());
  for (const std::string& remark : few.remarks) speaker.say("  {}", remark);
  say_files(o, speaker, "The rows", "few.csv");
}

void leave_job(CLI::App& command, const std::shared_ptr<RowsOptions>& o, Invocation& invocation, Choose choose) {
  command.callback([o, &invocation, choose = std::move(choose)] { invocation.job = [o, choose] { run_rows(*o, choose); }; });
}

}  // namespace

void add_weights_squash(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<RowsOptions>();
  CLI::App* command = app.add_subcommand("squash", "Few weighted rows that stand for all (dataset squashing)");
  add_rows(*command, *o, invocation, true);
  add_candidates(*command, *o);
  add_choice<Atoms>(*command, "--atoms", o->atoms,
                    {{"auto", Atoms::automatic},
                     {"pivoted", Atoms::pivoted},
                     {"herded", Atoms::herded},
                     {"thinned", Atoms::thinned},
                     {"random", Atoms::random}},
                    "Which rows get weights (default: the better of pivoted and herded)");
  command->footer("Example:\n  mercer weights squash data.csv -m 100 --out points.csv");
  leave_job(*command, o, invocation, [](const RowsOptions& r, const Samples& X, Index m, const Kernel& kernel, const Run& run) {
    return squash(X, m, {kernel, r.atoms, static_cast<Index>(r.candidates), r.measure, r.reading.seed, run});
  });
}

void add_weights_herd(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<RowsOptions>();
  CLI::App* command = app.add_subcommand("herd", "Rows one after the other, each bringing the mean nearest (kernel herding)");
  add_rows(*command, *o, invocation, true);
  add_candidates(*command, *o);
  command->footer("Example:\n  mercer weights herd data.csv -m 50 --out first50.csv");
  leave_job(*command, o, invocation, [](const RowsOptions& r, const Samples& X, Index m, const Kernel& kernel, const Run& run) {
    return herd(X, m, {kernel, static_cast<Index>(r.candidates), r.measure, r.reading.seed, run});
  });
}

void add_weights_thin(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<RowsOptions>();
  CLI::App* command = app.add_subcommand("thin", "Rows of equal weight that stand for all, in near-linear time (kernel thinning)");
  add_rows(*command, *o, invocation, false);
  add_whole(*command, "--oversampling", o->oversampling, 0, 10, "2^g times the rows wanted are left for the last part (default: 4)");
  command->footer("Example:\n  mercer weights thin data.csv -m 300 --out few.csv");
  leave_job(*command, o, invocation, [](const RowsOptions& r, const Samples& X, Index m, const Kernel& kernel, const Run& run) {
    ThinOptions options;
    options.kernel = kernel;
    options.oversampling = static_cast<Index>(r.oversampling);
    options.measure = r.measure;
    options.seed = r.reading.seed;
    options.run = run;
    return thin(X, m, options);
  });
}

}  // namespace mercer::cli
