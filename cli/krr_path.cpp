// SPDX-License-Identifier: BSD-3-Clause
#include "krr_path.hpp"

#include <cmath>

#include "terminal.hpp"

namespace mercer::cli {

namespace {

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::vector<std::string> pieces(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(separator, begin);
    out.push_back(trimmed(text.substr(begin, end - begin)));
    if (end == std::string::npos) return out;
    begin = end + 1;
  }
}

std::vector<double> parse_alphas(const std::string& text) {
  std::vector<double> out;
  if (text == "auto") return out;
  for (const std::string& piece : pieces(text, ',')) {
    const std::optional<double> number = parse_number(piece);
    if (!number || !(*number >= 0) || !std::isfinite(*number))
      throw CLI::ValidationError("--alphas", "must be auto or numbers >= 0 with commas between, like 0.01,0.1,1; got \"" + piece + "\"");
    out.push_back(*number);
  }
  return out;
}

std::vector<Kernel> parse_kernels(const std::string& text, const KernelLibrary& tables) {
  std::vector<Kernel> out;
  for (const std::string& piece : pieces(text, ';')) {
    if (!piece.empty()) out.push_back(parse_with(piece, tables, "--kernels"));
  }
  if (out.empty()) throw CLI::ValidationError("--kernels", "must be kernels with semicolons between, like \"gaussian(1); gaussian(2)\"");
  return out;
}

std::vector<Fold> folds_for(const KrrPathOptions& path, const Training& t, std::uint64_t seed) {
  if (path.folds == 0) return {};
  if (!t.groups.empty()) return grouped_folds(t.groups, path.folds, seed);
  return k_folds(t.data.X.size(), path.folds, true, seed);
}

std::string number_text(double value) { return std::isnan(value) ? "-" : fmt::format("{:.5g}", value); }

std::string table_of(const KernelRidgeCvResult& result, bool folds) {
  std::string out;
  std::size_t best = 0;
  for (std::size_t k = 0; k < result.points().size(); ++k) {
    const PathPoint& p = result.points()[k];
    if (p.kernel == result.best_kernel() && p.alpha == result.best_alpha()[0]) best = k;
  }
  Index kernel = -1;
  for (std::size_t k = 0; k < result.points().size(); ++k) {
    const PathPoint& p = result.points()[k];
    if (p.kernel != kernel) {
      kernel = p.kernel;
      out += fmt::format("{}\n", result.kernels()[static_cast<std::size_t>(kernel)].text());
      out += folds ? fmt::format("  {:>12} {:>12}\n", "alpha", "fold RMSE")
                   : fmt::format("  {:>12} {:>10} {:>12} {:>12} {:>14}\n", "alpha", "df", "LOO RMSE", "GCV", "log evidence");
    }
    const char* mark = k == best ? "  <- chosen" : "";
    if (folds) {
      out += fmt::format("  {:>12.5g} {:>12}{}", p.alpha, number_text(std::sqrt(-p.score)), mark);
    } else {
      out += fmt::format("  {:>12.5g} {:>10} {:>12} {:>12} {:>14}{}", p.alpha, number_text(p.degrees_of_freedom),
                         number_text(std::sqrt(p.leave_one_out_error)), number_text(p.gcv), number_text(p.log_evidence), mark);
    }
    if (!p.note.empty()) out += "  " + p.note;
    out += "\n";
  }
  return out;
}

Json path_json(const KernelRidgeCvResult& result, bool folds) {
  Json points = Json::array();
  for (const PathPoint& p : result.points()) {
    Json point = {{"kernel", result.kernels()[static_cast<std::size_t>(p.kernel)].text()},
                  {"alpha", p.alpha},
                  {"valid", p.valid},
                  {"score", number_json(p.score)}};
    if (folds) {
      Json scores = Json::array();
      for (const double score : p.fold_scores) scores.push_back(number_json(score));
      point["fold_scores"] = scores;
    } else {
      point["degrees_of_freedom"] = number_json(p.degrees_of_freedom);
      point["loo_rmse"] = number_json(std::sqrt(p.leave_one_out_error));
      point["gcv"] = number_json(p.gcv);
      point["log_evidence"] = number_json(p.log_evidence);
    }
    point["note"] = p.note;
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace

Json summary_json(const SolveSummary& s) {
  return {{"method", s.method},    {"positive_definite", s.positive_definite}, {"converged", s.converged}, {"iterations", s.iterations},
          {"rank", s.rank},        {"residual", number_json(s.residual)},      {"seconds", s.seconds},     {"bytes", s.bytes},
          {"sentence", s.sentence}};
}

void add_path(CLI::App& command, FitOptions& shared, KrrPathOptions& path, const std::shared_ptr<const KernelLibrary>& tables) {
  CLI::Option* alphas = command.add_option_function<std::string>(
      "--alphas",
      [&path](const std::string& text) {
        path.alphas = parse_alphas(text);
        path.given = true;
      },
      "Choose alpha: numbers with commas between, or auto (30 over the spectrum)");
  alphas->type_name("A,B,..|auto")->excludes("--alpha")->excludes("--lambda");
  command.add_flag_callback(
      "--loo", [&path] { path.given = path.leave_one_out = true; },
      "Choose by exact leave-one-out, of all alphas at once (the default with --alphas)");
  CLI::Option* kernels = command.add_option_function<std::string>(
      "--kernels",
      [&path, tables](const std::string& text) {
        path.kernels = parse_kernels(text, *tables);
        path.given = true;
      },
      "Choose among these kernels, with semicolons between");
  kernels->type_name("EXPR;EXPR..")->excludes("--kernel")->excludes("--gram");
  CLI::Option* folds = command.add_option_function<std::int64_t>(
      "--folds",
      [&path](const std::int64_t& value) {
        if (value < 2 || value > 1000000)
          throw CLI::ValidationError("--folds", "must be a whole number >= 2, got " + std::to_string(value));
        path.folds = value;
        path.given = true;
      },
      "Choose by the error on this many folds instead");
  folds->type_name("K")->excludes("--loo");
  command.add_option("--groups", shared.groups, "Column of groups that no fold may split (left out of the features)")
      ->type_name("COL")
      ->needs("--folds");
  add_choice<PathCriterion>(command, "--criterion", path.criterion,
                            {{"loo", PathCriterion::leave_one_out}, {"gcv", PathCriterion::gcv}, {"evidence", PathCriterion::log_evidence}},
                            "What chooses among the alphas (default: loo)")
      ->excludes("--folds");
  CLI::Option* with = command.add_flag_callback(
      "--intervals", [&path] { path.intervals = true; },
      "Keep what `predict --interval` needs (the default with --alphas, --kernels, --loo and --folds)");
  CLI::Option* without = command.add_flag_callback(
      "--no-intervals", [&path] { path.intervals = false; }, "Keep it out of the model file");
  with->excludes(without);
}

void check_path(const KrrPathOptions& path) {
  if (!path.given && path.criterion != PathCriterion::leave_one_out)
    throw UsageError("--criterion chooses among alphas: give --alphas auto, or the alphas to choose from");
}

Fitted fit_krr_path(const FitOptions& shared, const Kernel& kernel, bool intercept, const KrrPathOptions& path, const Training& t) {
  KernelRidgeCvOptions options;
  if (path.kernels.empty()) {
    options.kernels = {kernel};
  } else {
    options.kernels.clear();
    for (const Kernel& candidate : path.kernels) options.kernels.push_back(resolve_columns(candidate, t.data.encoder.column_names()));
  }
  options.alphas = path.alphas;
  options.criterion = path.criterion;
  options.folds = folds_for(path, t, shared.reading.seed);
  options.fit_intercept = intercept;
  options.sample_weight = t.weights;
  options.intervals = path.intervals.value_or(t.data.encoder.task != Task::classification);
  const auto n = static_cast<double>(t.data.X.size());
  const auto kernels = static_cast<double>(options.kernels.size());
  announce(fmt::format("the path of kernel ridge on {} rows, {} kernel{}", t.data.X.size(), options.kernels.size(),
                       options.kernels.size() == 1 ? "" : "s"),
           kernels * 4 * n * n * n * (path.folds > 0 ? static_cast<double>(path.folds) / 2 : 1.0) / estimated_flops(shared.common.run()),
           12 * n * n, shared.common.run());
  ProgressBar bar;
  options.run = shared.common.run(bar.callback());
  KernelRidgeCvResult result = fit_kernel_ridge_cv(t.data.X, t.targets, options);
  const KernelRidgeModel& model = result.model();
  const char* words[] = {"loo", "gcv", "evidence"};
  Json json = {{"kernel", model.kernel().text()},
               {"alpha", model.alpha()[0]},
               {"lambda", model.alpha()[0] / n},
               {"precision", name_of(model.precision())},
               {"criterion", path.folds > 0 ? "folds" : words[static_cast<std::size_t>(path.criterion)]},
               {"best_score", number_json(result.best_score())},
               {"path", path_json(result, path.folds > 0)},
               {"choice", result.summary().sentence},
               {"summary", summary_json(model.summary())}};
  std::string sentence = table_of(result, path.folds > 0) + result.summary().sentence;
  if (model.has_intervals()) {
    json["intervals"] = model.interval_summary().sentence;
    sentence += "\n" + model.interval_summary().sentence;
  }
  return {model, std::move(json), sentence};
}

}  // namespace mercer::cli
