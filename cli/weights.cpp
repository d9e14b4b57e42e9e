// mercer weights METHOD: weights for training rows under a shift, shares of components in a sample, few rows that stand for many.
// SPDX-License-Identifier: BSD-3-Clause
#include "weights.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "commands.hpp"
#include "estimates.hpp"
#include "given_gram.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

Column rows_of(const Column& column, const std::vector<Index>& rows) {
  Column out;
  out.name = column.name;
  std::visit(
      [&]<class Values>(const Values& values) {
        if constexpr (std::is_same_v<Values, Samples>) {
          out.values = values.subset(rows);
        } else {
          Values some;
          some.reserve(rows.size());
          for (const Index i : rows) some.push_back(values[static_cast<std::size_t>(i)]);
          out.values = std::move(some);
        }
      },
      column.values);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (std::binary_search(column.missing.begin(), column.missing.end(), rows[k])) out.missing.push_back(static_cast<Index>(k));
  }
  return out;
}

Column weight_column(const Table& table, const Vector& weights) {
  Column column{"weight", std::vector<double>(weights.begin(), weights.end()), {}};
  while (table.find(column.name) >= 0) column.name += '_';
  return column;
}

}  // namespace

void write_rows(const Table& table, const std::vector<Index>& rows, const Vector& weights, const std::string& path,
                const CommonOptions& common) {
  const FileFormat format = format_of_output(path);
  Table out;
  out.has_header = true;
  // LIBSVM rows and Gram matrices have no columns to write, and sets and graphs no cell of a table: the numbers of the rows say which they
  // are.
  const bool bare = table.sparse.has_value() || table.columns.empty() ||
                    std::any_of(table.columns.begin(), table.columns.end(), [](const Column& column) { return column.is_objects(); });
  if (!table.sparse && (format != FileFormat::npy || weights.size() == 0)) {
    for (const Column& column : table.columns) {
      if ((format == FileFormat::npy && column.is_text()) || column.is_objects()) continue;
      out.columns.push_back(rows_of(column, rows));
    }
  }
  if (bare) {
    std::vector<double> numbers(rows.begin(), rows.end());
    out.columns.push_back({"row", std::move(numbers), {}});
  }
  for (const Column& column : out.columns) out.names.push_back(column.name);
  if (weights.size() > 0) {
    out.columns.push_back(weight_column(out, weights));
    out.names.push_back(out.columns.back().name);
  }
  write_carefully(path, common, [&](const Run& run) { write_table(out, path, {.format = format, .run = run}); });
}

void write_weights_report(const ExploreOptions& o, const Exploration& e, const std::string& method, const std::string& verdict,
                          ColorColumn color, ReportFacts facts, const std::vector<std::string>& remarks) {
  const Samples& X = e.data.X;
  ProgressBar bar;
  const Run run = o.common.run(bar.callback());
  EmbeddingReport page;
  page.method = method;
  page.source = source_word(o.source());
  page.command = o.command_line;
  page.verdict = verdict + ".";
  page.verdict[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(page.verdict[0])));
  const std::vector<std::string> names = e.data.encoder.feature_names();
  if (X.has_objects() || X.is_given()) {
    const KernelPcaModel pca = fit_kernel_pca(X, {.kernel = kernel_of(e), .n_components = 2, .run = run});
    page.scores = pca.transform(X, run);
    page.names = {"PC1", "PC2"};
  } else if (X.width() <= 2 && std::ssize(names) == X.width()) {
    page.scores = e.data.encoder.scaler.undo(X.to_dense());
    page.names = names;
  } else {
    const PcaModel pca = fit_pca(X, {.n_components = std::min<Index>({2, X.size(), X.width()}), .run = run});
    page.scores = pca.transform(X, run);
    page.names = {"PC1", "PC2"};
  }
  page.color = std::move(color);
  page.facts = std::move(facts);
  page.facts.emplace_back("Time", seconds_word(e.seconds()));
  page.notes = e.data.notes;
  page.notes.insert(page.notes.end(), remarks.begin(), remarks.end());
  const std::string html = embedding_report(page);
  const CarefulStop careful;
  write_text_file(html, o.report);
}

Json weights_json(const Vector& weights) {
  Json list = Json::array();
  for (const double w : weights) list.push_back(number_json(w));
  return list;
}

void finish_json(Json& json, const ExploreOptions& o, const Exploration& e, const std::vector<std::string>& remarks, const char* file) {
  json["remarks"] = remarks;
  json["notes"] = e.data.notes;
  json["seconds"] = e.seconds();
  json["files"] = Json::object();
  if (!o.out.empty()) json["files"][file] = o.out;
  if (!o.report.empty()) json["files"]["report"] = o.report;
  print_json(json);
}

void say_files(const ExploreOptions& o, const Speaker& speaker, const std::string& what, const std::string& hint) {
  if (o.out.empty()) {
    speaker.say("{} were not written; --out {} writes them.", what, hint);
  } else if (o.out != "-") {
    speaker.say("{} are {}.", what, o.out);
  }
  if (!o.report.empty())
    speaker.say("The report is {}.{}", o.report, charts_available() ? "" : " It has no charts: make setup, then make build.");
}

void add_weighing(CLI::App& command, ExploreOptions& o, Invocation& invocation, const std::string& answers) {
  add_exploring(command, o, invocation);
  add_exploring_kernel(command, o, "Kernel (default: gaussian with the median distance of rows)");
  command.add_option("--out", o.out, fmt::format("Write {} to this file: .csv, .tsv or .npy; - is CSV on standard output", answers))
      ->type_name("FILE");
}

namespace {

// ---- covariate shift

struct ShiftOptions : ExploreOptions {
  std::string target_path{};
  double bound = 10;
  double epsilon = 0;
  double ridge = 0;
};

// Automatic length scales are set from both samples.
Kernel pooled_kernel(const Exploration& e, const Samples& other) {
  const Kernel asked =
      resolve_columns(e.kernel.value_or(kernels::gaussian(kernels::LengthScale::automatic())), e.data.encoder.column_names());
  return asked.has_auto() ? resolve(asked, concatenate(e.data.X, other)) : asked;
}

// The rows of several files: their columns, found by name, or their place in one Gram matrix, one file after the other.
struct Parts {
  Exploration first;
  Table table{};  // of the first
  std::vector<Samples> others{};
};

Parts read_parts(const ExploreOptions& o, const std::vector<std::string>& others, const Speaker& speaker) {
  if (o.kernel && o.kernel->needs_given_gram()) throw UsageError("--kernel precomputed: a given Gram matrix comes as a file: --gram K.npy");
  if (o.gram.empty()) {
    Parts parts{.first = {}};
    parts.first = explore(o, speaker, &parts.table);
    for (const std::string& path : others) {
      const Table table = read_data(o.reading, path, o.common);
      parts.others.push_back(parts.first.data.encoder.features_of(table));
      const std::vector<std::string> unseen = parts.first.data.encoder.unseen_categories(table);
      speaker.notes(unseen);
      parts.first.data.notes.insert(parts.first.data.notes.end(), unseen.begin(), unseen.end());
    }
    return parts;
  }
  if (o.reading.path.empty()) throw UsageError("--gram has the kernel values of the rows of all files; give the files too");
  Parts parts{.first = {}};
  parts.first.start = std::chrono::steady_clock::now();
  parts.table = read_data(o.reading, o.common);
  std::vector<Index> sizes{parts.table.rows()};
  for (const std::string& path : others) sizes.push_back(read_data(o.reading, path, o.common).rows());
  parts.others = read_gram_parts(o.gram, sizes, o.common);
  parts.first.data.X = parts.others.front();
  parts.others.erase(parts.others.begin());
  parts.first.kernel = kernels::precomputed();
  parts.first.data.notes = {fmt::format("The kernel values are those of {}; columns of the files are no features.", source_word(o.gram))};
  speaker.notes(parts.first.data.notes);
  return parts;
}

void say_shift(const ShiftOptions& o, const MeanMatching& found, const Exploration& e, const Speaker& speaker) {
  speaker.say("{} ({})", found.sentence, seconds_word(e.seconds()));
  speaker.say("  kernel   {}", found.kernel);
  speaker.say("  weights  0 to {:.4g}, mean {:.6g}", found.weights.maxCoeff(), found.mean);
  for (const std::string& remark : found.remarks) speaker.say("  {}", remark);
  say_files(o, speaker, "The weighted rows", "weighted.csv");
  if (!o.out.empty() && o.out != "-" && !is_npy(o.out)) speaker.say("mercer fit MODEL {} --sample-weight weight learns from them.", o.out);
}

void run_shift(const ShiftOptions& o) {
  const std::vector<std::string> inputs{o.reading.path, o.target_path, o.gram};
  check_outputs({{"--out", o.out}, {"--report", o.report}}, inputs, o.common.json);
  if (std::count(inputs.begin(), inputs.end(), "-") > 1) throw UsageError("only one of TRAIN, TARGET and --gram can be standard input");
  const Speaker speaker(o.common, o.out);
  const Parts parts = read_parts(o, {o.target_path}, speaker);
  const Exploration& e = parts.first;
  const Samples& target = parts.others.front();
  const auto n = static_cast<double>(e.data.X.size());
  announce(
      fmt::format("weights of {} rows for {}", e.data.X.size(), target.size()),
      (n + static_cast<double>(target.size())) * n * (static_cast<double>(e.data.X.width()) + 60) * 8 / estimated_flops(o.common.run()),
      std::min(n * n * 4, 2e9), o.common.run());
  MeanMatchingOptions options;
  options.kernel = pooled_kernel(e, target);
  options.bound = o.bound;
  options.epsilon = o.epsilon;
  options.ridge = o.ridge;
  MeanMatching found;
  {
    ProgressBar bar;
    options.run = o.common.run(bar.callback());
    found = match_means(e.data.X, target, options);
  }
  if (!o.report.empty()) {
    write_weights_report(o, e, "Covariate shift", found.sentence,
                         {.name = "weight", .numbers = std::vector<double>(found.weights.begin(), found.weights.end()), .words = {}},
                         {{"Training rows", std::to_string(e.data.X.size())},
                          {"Target rows", std::to_string(target.size())},
                          {"Kernel", found.kernel},
                          {"Distance before", fmt::format("{:.4g}", found.mmd_before)},
                          {"Distance after", fmt::format("{:.4g}", found.mmd_after)},
                          {"Effective sample size", fmt::format("{:.1f}", found.effective_sample_size)}},
                         found.remarks);
  }
  if (!o.out.empty()) {
    std::vector<Index> all(static_cast<std::size_t>(parts.table.rows()));
    std::iota(all.begin(), all.end(), Index{0});
    write_rows(parts.table, all, found.weights, o.out, o.common);
  }
  if (!o.common.json) {
    say_shift(o, found, e, speaker);
    return;
  }
  Json json = {{"method", "shift"},
               {"n", e.data.X.size()},
               {"m", target.size()},
               {"features", e.data.X.width()},
               {"kernel", found.kernel},
               {"bound", number_json(o.bound)},
               {"epsilon", o.epsilon},
               {"ridge", o.ridge},
               {"mmd_before", number_json(found.mmd_before)},
               {"mmd_after", number_json(found.mmd_after)},
               {"mmd_error", found.mmd_error},
               {"effective_sample_size", found.effective_sample_size},
               {"mean", found.mean},
               {"zeros", found.zeros},
               {"at_bound", found.at_bound},
               {"gap", found.gap},
               {"converged", found.converged},
               {"sentence", found.sentence}};
  if (o.out.empty()) json["weights"] = weights_json(found.weights);
  finish_json(json, o, e, found.remarks, "weights");
}

// ---- mixtures

struct MixtureCommand : ExploreOptions {
  std::vector<std::string> components{};
};

void write_components(const MixtureCommand& o, const MixtureWeights& found) {
  Table out;
  out.names = {"component", "weight", "mmd"};
  const FileFormat format = format_of_output(o.out);
  if (format != FileFormat::npy) out.columns.push_back({"component", o.components, {}});
  out.columns.push_back({"weight", std::vector<double>(found.weights.begin(), found.weights.end()), {}});
  out.columns.push_back({"mmd", std::vector<double>(found.component_mmd.begin(), found.component_mmd.end()), {}});
  if (format == FileFormat::npy) out.names.erase(out.names.begin());
  write_carefully(o.out, o.common, [&](const Run& run) { write_table(out, o.out, {.format = format, .run = run}); });
}

void run_mixture(const MixtureCommand& o) {
  std::vector<std::string> inputs = o.components;
  inputs.push_back(o.reading.path);
  inputs.push_back(o.gram);
  check_outputs({{"--out", o.out}}, inputs, o.common.json);
  if (std::count(inputs.begin(), inputs.end(), "-") > 1)
    throw UsageError("only one of DATA, --components and --gram can be standard input");
  const Speaker speaker(o.common, o.out);
  const Parts parts = read_parts(o, o.components, speaker);
  const Exploration& e = parts.first;
  MixtureOptions options;
  options.kernel = kernel_of(e);
  std::vector<MixtureComponent> components;
  Json sizes = Json::array();
  for (const Samples& rows : parts.others) {
    components.emplace_back(SampleComponent{rows, {}});
    sizes.push_back(rows.size());
  }
  const double all = std::accumulate(parts.others.begin(), parts.others.end(), static_cast<double>(e.data.X.size()),
                                     [](double sum, const Samples& some) { return sum + static_cast<double>(some.size()); });
  announce(fmt::format("shares of {} components in {} rows", components.size(), e.data.X.size()),
           all * all / 2 * kernel_value_flops(e.data.X) / estimated_flops(o.common.run()), 8 * all, o.common.run());
  MixtureWeights found;
  {
    ProgressBar bar;
    options.run = o.common.run(bar.callback());
    found = mixture_weights(e.data.X, components, options);
  }
  if (!o.out.empty()) write_components(o, found);
  if (o.common.json) {
    Json json = {{"method", "mixture"},
                 {"n", e.data.X.size()},
                 {"features", e.data.X.width()},
                 {"kernel", found.kernel},
                 {"components", o.components},
                 {"sizes", sizes},
                 {"weights", weights_json(found.weights)},
                 {"mmd", number_json(found.mmd)},
                 {"component_mmd", weights_json(found.component_mmd)},
                 {"gap", found.gap},
                 {"unique", found.unique},
                 {"sentence", found.sentence}};
    finish_json(json, o, e, found.remarks, "weights");
    return;
  }
  speaker.say("{} ({})", found.sentence, seconds_word(e.seconds()));
  std::vector<std::vector<std::string>> rows{{"component", "weight", "distance alone"}};
  for (std::size_t j = 0; j < o.components.size(); ++j) {
    const auto k = static_cast<Index>(j);
    rows.push_back({o.components[j], fmt::format("{:.4f}", found.weights[k]), fmt::format("{:.4g}", found.component_mmd[k])});
  }
  speaker.table(aligned(rows));
  speaker.say("  kernel  {}", found.kernel);
  for (const std::string& remark : found.remarks) speaker.say("  {}", remark);
  if (!o.out.empty() && o.out != "-") speaker.say("The weights are {}.", o.out);
}

}  // namespace

void add_weights_shift(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<ShiftOptions>();
  CLI::App* command = app.add_subcommand("shift", "Weights that make the training rows look like the target rows (kernel mean matching)");
  add_weighing(*command, *o, invocation, "the training rows with a column weight");
  command->get_option("DATA")->description("Training rows: CSV, TSV, LIBSVM or NPY; - is standard input");
  command->add_option("TARGET", o->target_path, "Rows to look like; columns are found by name")->required()->type_name("FILE");
  command
      ->add_option_function<std::string>(
          "--bound",
          [o](const std::string& text) {
            const auto number = text == "none" ? std::optional<double>(std::numeric_limits<double>::infinity()) : parse_number(text);
            if (!number || !(*number > 0)) throw CLI::ValidationError("--bound", "must be a number > 0 or none, got " + text);
            o->bound = *number;
          },
          "Largest weight, or none (default: 10)")
      ->type_name("B|none");
  add_number(*command, "--epsilon", o->epsilon, 0, 0.999999, "a number in [0, 1)", "How far the mean weight may be from 1 (default: 0)");
  add_number(*command, "--ridge", o->ridge, 0, 1e6, "a number >= 0",
             "Spreads weights over rows the kernel hardly tells apart (default: 0)");
  command->add_option("--report", o->report, "Write a self-contained HTML page with charts to this file")->type_name("FILE");
  command->footer(
      "Examples:\n  mercer weights shift train.csv target.csv --out weighted.csv\n"
      "  mercer fit krr weighted.csv --target y --sample-weight weight --out model.mercer");
  command->callback([o, &invocation] { invocation.job = [o] { run_shift(*o); }; });
}

void add_weights_mixture(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<MixtureCommand>();
  CLI::App* command = app.add_subcommand("mixture", "How much of each component is in a sample");
  add_weighing(*command, *o, invocation, "the weights");
  command->add_option("--components", o->components, "Files with the rows of each component; columns are found by name")
      ->required()
      ->type_name("FILE ...");
  command->footer("Example:\n  mercer weights mixture sample.csv --components a.csv b.csv");
  command->callback([o, &invocation] { invocation.job = [o] { run_mixture(*o); }; });
}

void add_weights(CLI::App& app, Invocation& invocation) {
  CLI::App* weights = app.add_subcommand("weights", "Weights and subsets: covariate shift, mixtures, few rows for many");
  weights->require_subcommand(1);
  weights->footer(
      "Examples:\n"
      "  mercer weights shift train.csv target.csv --out weighted.csv\n"
      "  mercer weights squash data.csv -m 100 --out points.csv\n"
      "  mercer weights thin data.csv -m 300 --out few.csv\n"
      "  mercer weights mixture sample.csv --components a.csv b.csv");
  add_weights_shift(*weights, invocation);
  add_weights_squash(*weights, invocation);
  add_weights_herd(*weights, invocation);
  add_weights_thin(*weights, invocation);
  add_weights_mixture(*weights, invocation);
}

}  // namespace mercer::cli
