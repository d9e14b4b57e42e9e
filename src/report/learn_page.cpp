// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/file.hpp"
#include "mercer/report.hpp"
#include "report/chart_parts.hpp"
#include "report/escape.hpp"
#include "report/learn_charts.hpp"
#include "report/page.hpp"

namespace mercer {

namespace report {

namespace {

std::string seconds_text(double seconds) {
  if (seconds < 0.0995) return fmt::format("{:.0f} ms", 1000 * seconds);
  if (seconds < 99.5) return fmt::format("{:.{}f} s", seconds, seconds < 9.95 ? 2 : 1);
  return fmt::format("{:.1f} min", seconds / 60);
}

std::string rows_text(Index n) { return n == 1 ? "1 row" : count_text(n) + " rows"; }

struct ModelText {
  std::string kind, kernel, alpha, solved;
  Index terms = 0;
};

std::string alphas_text(const Vector& alpha) {
  if (alpha.size() == 0) return "";
  const bool equal = (alpha.array() == alpha[0]).all();
  return equal ? number_text(alpha[0]) : fmt::format("{} to {}", number_text(alpha.minCoeff()), number_text(alpha.maxCoeff()));
}

ModelText describe(const LearnResult& result) {
  ModelText text;
  if (const auto* krr = std::get_if<KernelRidgeModel>(&result.model.model)) {
    text = {.kind = "kernel ridge regression",
            .kernel = krr->kernel().text(),
            .alpha = alphas_text(krr->alpha()),
            .solved = krr->summary().sentence,
            .terms = krr->samples().size()};
  } else if (const auto* ridge = std::get_if<RidgeModel>(&result.model.model)) {
    text = {.kind = ridge->degree() > 1 ? fmt::format("ridge regression on monomials to degree {}", ridge->degree()) : "ridge regression",
            .kernel = "",
            .alpha = "",
            .solved = ridge->summary().sentence,
            .terms = 0};
  }
  return text;
}

void add_tiles(Page& page, const LearnResult& result) {
  const Evaluation& test = result.test;
  if (test.n == 0) return;
  const bool interval = test.ci_high > test.ci_low;
  const std::string rows = "on " + rows_text(test.n) + " held out";
  if (is_classification(result)) {
    page.tiles(
        {{percent(test.accuracy), "accuracy", interval ? fmt::format("95 %: {} to {}", percent(test.ci_low), percent(test.ci_high)) : rows},
         {percent(test.precision), "precision", result.confusion.rows() == 2 ? "of the second class" : "mean over classes"},
         {percent(test.recall), "recall", result.confusion.rows() == 2 ? "of the second class" : "mean over classes"},
         {percent(result.baseline.accuracy), "baseline accuracy", "always the most frequent class"}});
  } else {
    page.tiles({{measure_text(test.rmse), "RMSE",
                 interval ? fmt::format("95 %: {} to {}", measure_text(test.ci_low), measure_text(test.ci_high)) : rows},
                {fixed_text(test.r2), "R²", "share of the variance explained"},
                {measure_text(test.mae), "mean absolute error", rows},
                {measure_text(result.baseline.rmse), "baseline RMSE", "always the training mean"}});
  }
}

void add_comparison(Page& page, const LearnResult& result) {
  const bool classify = is_classification(result);
  const Evaluation* evaluations[] = {&result.test, &result.linear, &result.baseline};
  const std::string names[] = {"Chosen: " + describe(result).kind, "Linear: ridge regression on the same rows",
                               classify ? "Most frequent class" : "Mean of the training rows"};
  TableSpec table;
  table.marked = 0;
  if (classify) {
    table.caption = "On the held-out rows; accuracy as a bar, longer is better.";
    table.columns = {{"Model", false}, {"Precision", true}, {"Recall", true}, {"Accuracy", true}};
  } else {
    table.caption = "On the held-out rows; RMSE as a bar, shorter is better.";
    table.columns = {{"Model", false}, {"R²", true}, {"Mean absolute error", true}, {"RMSE", true}};
  }
  double largest = 0;
  for (const Evaluation* e : evaluations) largest = std::max(largest, e->n > 0 && std::isfinite(e->rmse) ? e->rmse : 0);
  for (std::size_t i = 0; i < 3; ++i) {
    const Evaluation& e = *evaluations[i];
    if (e.n == 0) continue;
    if (classify) {
      table.rows.push_back({names[i], percent(e.precision), percent(e.recall), percent(e.accuracy)});
      table.bars.push_back(e.accuracy);
    } else {
      table.rows.push_back({names[i], fixed_text(e.r2), measure_text(e.mae), measure_text(e.rmse)});
      table.bars.push_back(largest > 0 ? e.rmse / largest : 0);
    }
  }
  if (!table.rows.empty()) page.table(table);
}

void add_search(Page& page, const LearnResult& result) {
  if (result.candidates.empty()) return;
  const bool classify = is_classification(result);
  page.section("How it was chosen");
  page.paragraph(fmt::format("{} candidate{} compared by {}-fold cross-validation on {}; the held-out rows took no part.",
                             count_text(static_cast<std::int64_t>(result.candidates.size())),
                             result.candidates.size() == 1 ? " was" : "s were", result.folds, rows_text(result.n_search)));
  const std::vector<Chart> charts = search_charts(result);
  for (const Chart& chart : charts) page.charts({chart});
  TableSpec table;
  table.caption =
      classify ? "Candidates, best first, by mean accuracy over the folds." : "Candidates, best first, by mean RMSE over the folds.";
  table.columns = {{"Rank", true},
                   {"Model", false},
                   {"Kernel", false},
                   {"Alpha", true},
                   {classify ? "Accuracy" : "RMSE", true},
                   {"Deviation over folds", true}};
  table.marked = 0;
  for (const Candidate& c : result.candidates) {
    const bool baseline = c.model == "baseline";
    table.rows.push_back({std::to_string(table.rows.size() + 1), c.model, c.kernel.empty() ? "\xE2\x80\x93" : c.kernel,
                          baseline ? "\xE2\x80\x93" : number_text(c.value), classify ? percent(c.score) : measure_text(c.score),
                          classify ? percent(c.deviation) : measure_text(c.deviation, 3)});
  }
  page.table(table);
}

void add_features(Page& page, const Encoder& encoder) {
  if (encoder.features.empty()) return;
  TableSpec table;
  table.caption = "What the model looks at.";
  table.columns = {{"Column", false}, {"Kind", false}, {"A missing value becomes", true}};
  if (!encoder.fills_missing) table.columns.pop_back();
  table.visible = 8;
  for (const FeatureColumn& feature : encoder.features) {
    std::string kind = "number";
    if (!feature.categories.empty()) {
      kind = fmt::format("text, {} categories: ", feature.categories.size());
      for (std::size_t i = 0; i < std::min<std::size_t>(feature.categories.size(), 6); ++i)
        kind += (i > 0 ? ", " : "") + feature.categories[i];
      if (feature.categories.size() > 6) kind += ", \xE2\x80\xA6";
    }
    table.rows.push_back({feature.name, kind});
    if (encoder.fills_missing) table.rows.back().push_back(feature.categories.empty() ? number_text(feature.fill) : "\xE2\x80\x93");
  }
  page.table(table);
}

void add_data(Page& page, const LearnResult& result, const std::string& source) {
  page.section("The data");
  Facts facts = {
      {"Source", source}, {"Target", target_name(result)}, {"Task", is_classification(result) ? "classification" : "regression"}};
  facts.emplace_back("Rows", result.holdout > 0 ? rows_text(result.n_train + result.test.n) : rows_text(result.n_train));
  facts.emplace_back("Held out", result.holdout > 0 ? fmt::format("{} ({:.3g} %)", rows_text(result.test.n), 100 * result.holdout)
                                                    : fmt::format("a test table of {}", rows_text(result.test.n)));
  if (result.model.encoder) {
    const Encoder& encoder = *result.model.encoder;
    facts.emplace_back("Feature columns", count_text(encoder.width) + (encoder.sparse ? ", sparse" : ""));
    if (!encoder.classes.empty()) facts.emplace_back("Classes", count_text(static_cast<std::int64_t>(encoder.classes.size())));
  }
  page.facts(facts);
  page.list(result.notes);
  if (result.model.encoder) add_features(page, *result.model.encoder);
}

void add_run(Page& page, const LearnResult& result, const std::string& command) {
  page.section("The model and the run");
  const ModelText model = describe(result);
  Facts facts = {{"Model", model.kind}};
  if (!model.kernel.empty()) facts.emplace_back("Kernel", model.kernel);
  if (!model.alpha.empty()) facts.emplace_back("Alpha", model.alpha);
  if (model.terms > 0) facts.emplace_back("Kernel terms", count_text(model.terms));
  if (!model.solved.empty()) facts.emplace_back("Final fit", model.solved);
  facts.emplace_back("Folds", std::to_string(result.folds));
  facts.emplace_back("Seed", std::to_string(result.seed));
  facts.emplace_back("Time", seconds_text(result.seconds));
  facts.emplace_back("Peak memory", result.peak_bytes > 0 ? format_bytes(static_cast<double>(result.peak_bytes)) : "not measured");
  page.facts(facts);
  page.paragraph("To make this page again:");
  page.code(command);
}

}  // namespace

}  // namespace report

std::string learn_report(const LearnResult& result, const std::string& source, const std::string& command) {
  using namespace report;
  Page page("Predicting " + target_name(result), fmt::format("from {}, by {}", source, describe(result).kind));
  if (!result.verdict.empty()) page.lead(result.verdict);
  add_tiles(page, result);
  const auto curve = curve_charts(result);
  const auto outcome = outcome_charts(result);
  if (result.test.n > 0 || !curve.empty() || !outcome.empty()) {
    page.section("How good it is");
    add_comparison(page, result);
    page.charts(outcome);
    page.charts(curve);
  }
  add_search(page, result);
  add_data(page, result, source);
  add_run(page, result, command);
  return page.html();
}

void write_text_file(const std::string& text, const std::string& path) { write_file_atomically(path, text); }

}  // namespace mercer
