// The page of a `learn` run, from what was asked to the command that makes it again. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>

#include "core/file.hpp"
#include "mercer/report.hpp"
#include "report/chart_parts.hpp"
#include "report/escape.hpp"
#include "report/learn_charts.hpp"
#include "report/learn_sections.hpp"
#include "report/page.hpp"

namespace mercer {

namespace report {

namespace {

std::vector<Tile> class_tiles(const LearnResult& result) {
  const Evaluation& test = result.test;
  const bool two = result.confusion.rows() == 2;
  const std::string which = two ? "of " + class_name(result, 1) : "mean over classes";
  std::vector<Tile> tiles{{percent(test.accuracy), "accuracy",
                           test.ci_high > test.ci_low ? fmt::format("95 %: {} to {}", percent(test.ci_low), percent(test.ci_high))
                                                      : "on " + rows_text(test.n) + " held out"},
                          {percent(test.precision), "precision",
                           result.operating_point ? fmt::format("{}, {} wanted", which, percent(result.operating_point->wanted)) : which},
                          {percent(test.recall), "recall", which}};
  if (result.test_curve.threshold.size() > 0)
    tiles.push_back({fixed_text(result.test_curve.area_roc), "area under ROC", "1 is perfect, 0.5 is guessing"});
  tiles.push_back({percent(result.baseline.accuracy), "baseline accuracy", "always the most frequent class"});
  return tiles;
}

std::vector<Tile> number_tiles(const LearnResult& result) {
  const Evaluation& test = result.test;
  const std::string rows = "on " + rows_text(test.n) + " held out";
  std::vector<Tile> tiles{
      {measure_text(test.rmse), "RMSE",
       test.ci_high > test.ci_low ? fmt::format("95 %: {} to {}", measure_text(test.ci_low), measure_text(test.ci_high)) : rows},
      {fixed_text(test.r2), "R²", "share of the variance explained"},
      {measure_text(test.mae), "mean absolute error", rows}};
  if (result.test_intervals.rows() > 0)
    tiles.push_back(
        {percent(result.interval_coverage), "inside their interval", fmt::format("{:.3g} % intervals", 100 * result.interval_level)});
  tiles.push_back({measure_text(result.baseline.rmse), "baseline RMSE", "always the training mean"});
  return tiles;
}

std::string question(const LearnResult& result) {
  const auto classes = result.model.encoder ? std::ssize(result.model.encoder->classes) : result.confusion.rows();
  if (!is_classification(result)) return fmt::format("Predict {}, a number, from the other columns.", target_name(result));
  if (result.model.encoder && !result.model.encoder->positive.empty())
    return fmt::format("Tell from the other columns whether {} is {}.", target_name(result), result.model.encoder->positive);
  return fmt::format("Tell from the other columns which of {} classes {} is.", count_text(classes), target_name(result));
}

void add_asked(Page& page, const LearnResult& result, const std::string& source) {
  page.section("What was asked");
  page.paragraph(question(result));
  Facts facts = {
      {"Source", source}, {"Target", target_name(result)}, {"Task", is_classification(result) ? "classification" : "regression"}};
  if (result.model.encoder && !result.model.encoder->positive.empty()) facts.emplace_back("Positive label", result.model.encoder->positive);
  if (result.operating_point) facts.emplace_back("Precision wanted", percent(result.operating_point->wanted));
  if (result.n_train > 0) facts.emplace_back("Training rows", count_text(result.n_train));
  const std::string split = !result.split.empty() ? ": " + result.split
                            : result.holdout > 0  ? fmt::format(" ({:.3g} %)", 100 * result.holdout)
                                                  : ", a table of their own";
  facts.emplace_back("Held out", rows_text(result.test.n) + split);
  if (result.folds > 0) facts.emplace_back("Folds", std::to_string(result.folds));
  if (result.budget_seconds > 0) facts.emplace_back("Time budget", seconds_text(result.budget_seconds));
  facts.emplace_back("Seed", std::to_string(result.seed));
  page.facts(facts);
}

void add_outcome(Page& page, const LearnResult& result) {
  const bool classify = is_classification(result);
  const std::vector<Chart> charts = classify ? class_charts(result) : number_charts(result);
  if (result.test.n == 0 && charts.empty()) return;
  page.section("How good it is");
  add_comparison(page, result);
  page.charts(charts);
  if (!classify) return;
  add_classes(page, result);
  const std::vector<Chart> thresholds = threshold_charts(result);
  if (thresholds.empty() && result.trade.empty()) return;
  page.section("How sure it is");
  page.charts(thresholds);
  add_trade(page, result);
}

void add_learned(Page& page, const LearnResult& result) {
  const std::vector<Chart> shape = shape_charts(result);
  const std::vector<Chart> spectrum = spectrum_charts(result);
  const std::vector<Chart> importance = importance_charts(result);
  if (shape.empty() && spectrum.empty() && importance.empty() && result.influential.empty()) return;
  page.section("What it learned");
  page.charts(shape);
  page.charts(importance);
  add_influential(page, result);
  page.charts(spectrum);
}

void add_search(Page& page, const LearnResult& result) {
  if (result.candidates.empty()) return;
  page.section("How it was chosen");
  page.paragraph(fmt::format("{} candidate{} compared on {}, in the end by {}-fold cross-validation; the held-out rows took no part.",
                             count_text(std::ssize(result.candidates)), result.candidates.size() == 1 ? " was" : "s were",
                             rows_text(result.n_search), result.folds));
  page.charts(family_charts(result));
  std::vector<Chart> charts = search_charts(result);
  // The chosen family has the width of the page, the others stand side by side.
  if (!charts.empty()) {
    page.charts({charts.front()});
    charts.erase(charts.begin());
  }
  page.charts(charts);
  add_candidates(page, result);
}

void add_data(Page& page, const LearnResult& result) {
  page.section("The data");
  Facts facts;
  if (result.n_train > 0) facts.emplace_back("Rows", rows_text(result.n_train + result.test.n));
  if (result.model.encoder) {
    const Encoder& encoder = *result.model.encoder;
    facts.emplace_back("Feature columns", count_text(encoder.width) + (encoder.sparse ? ", sparse" : ""));
    if (!encoder.classes.empty()) facts.emplace_back("Classes", count_text(std::ssize(encoder.classes)));
  }
  page.facts(facts);
  add_columns(page, result);
  page.list(result.notes);
}

void add_run(Page& page, const LearnResult& result, const std::string& command) {
  page.section("The run");
  page.facts(model_facts(result));
  add_stages(page, result);
  page.run({{"Time", seconds_text(result.seconds)},
            {"Peak memory", result.peak_bytes > 0 ? format_bytes(static_cast<double>(result.peak_bytes)) : "not measured"}},
           {}, command);
}

}  // namespace

}  // namespace report

std::string learn_report(const LearnResult& result, const std::string& source, const std::string& command) {
  using namespace report;
  Page page("Predicting " + target_name(result), fmt::format("from {}, by {}", source, report::model_words(result)));
  if (!result.verdict.empty()) page.lead(result.verdict);
  if (result.test.n > 0) page.tiles(is_classification(result) ? class_tiles(result) : number_tiles(result));
  add_asked(page, result, source);
  add_outcome(page, result);
  add_learned(page, result);
  add_search(page, result);
  add_data(page, result);
  add_run(page, result, command);
  return page.html();
}

void write_text_file(const std::string& text, const std::string& path) { write_file_atomically(path, text); }

}  // namespace mercer
