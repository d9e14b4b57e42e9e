// SPDX-License-Identifier: BSD-3-Clause
#include "report/learn_sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/chart_parts.hpp"
#include "report/escape.hpp"
#include "report/families.hpp"
#include "report/learn_charts.hpp"
#include "select/verdict.hpp"

namespace mercer::report {

namespace {

constexpr const char* none = "\xE2\x80\x93";
constexpr std::size_t most_columns = 500;   // of a table that a page lists
constexpr std::size_t most_categories = 6;  // of a text column that are named

std::string interval_text(double low, double high, bool shares) {
  if (!(high > low)) return none;
  return shares ? fmt::format("{} to {}", percent(low), percent(high)) : fmt::format("{} to {}", measure_text(low), measure_text(high));
}

// The linear model of the comparison, in words.
std::string linear_words(const LearnResult& result) {
  for (const Candidate& c : result.candidates) {
    if (c.kernel.empty() && c.model != "baseline") return mercer::model_words(c);
  }
  return "A linear model";
}

const FeatureColumn* feature_of(const LearnResult& result, const std::string& name) {
  if (!result.model.encoder) return nullptr;
  for (const FeatureColumn& feature : result.model.encoder->features) {
    if (feature.name == name) return &feature;
  }
  return nullptr;
}

std::string words_of(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < std::min(words.size(), most_categories); ++i) text += (i > 0 ? ", " : "") + words[i];
  return words.size() > most_categories ? text + ", \xE2\x80\xA6" : text;
}

std::string role_of(const LearnResult& result, const ColumnSummary& column) {
  if (result.model.encoder && column.name == result.model.encoder->target) return "target";
  return feature_of(result, column.name) != nullptr ? "feature" : "left out";
}

std::vector<std::string> column_cells(const LearnResult& result, const ColumnSummary& c) {
  const bool number = c.kind == "number";
  const auto measure = [&](double value) { return number ? number_text(value) : std::string(none); };
  std::string words = none;
  if (c.kind == "text") {
    const FeatureColumn* feature = feature_of(result, c.name);
    words =
        feature != nullptr && !feature->categories.empty() ? words_of(feature->categories) : fmt::format("most often {}", c.most_frequent);
    words = fmt::format("{}: {}", count_text(c.distinct), words);
  }
  return {c.name,           role_of(result, c), c.kind, count_text(c.missing), measure(c.mean), measure(c.deviation),
          measure(c.least), measure(c.largest), words};
}

// Columns of a result that has no summary of them: what the encoder knows.
std::vector<ColumnSummary> encoder_columns(const Encoder& encoder) {
  std::vector<ColumnSummary> columns;
  for (const FeatureColumn& feature : encoder.features) {
    ColumnSummary column{.name = feature.name, .kind = feature.categories.empty() ? "number" : "text"};
    column.distinct = std::ssize(feature.categories);
    column.mean = column.deviation = column.least = column.largest = std::nan("");
    columns.push_back(std::move(column));
  }
  return columns;
}

std::string score_text(const Candidate& c, bool classify) {
  if (!std::isfinite(c.score)) return c.judged_by.starts_with("evidence") ? none : "abandoned";
  return classify ? percent(c.score) : measure_text(c.score);
}

std::string penalty_text(const Candidate& c) {
  std::string text = c.penalty.empty() ? none : fmt::format("{} = {}", c.penalty, number_text(c.value));
  if (c.epsilon > 0) text += fmt::format(", epsilon = {}", number_text(c.epsilon));
  return text;
}

}  // namespace

std::string rows_text(Index n) { return n == 1 ? "1 row" : count_text(n) + " rows"; }

void add_comparison(Page& page, const LearnResult& result) {
  const bool classify = is_classification(result);
  const bool chose_linear = !result.candidates.empty() && result.candidates.front().kernel.empty();
  const Evaluation* evaluations[] = {&result.test, &result.linear, &result.baseline};
  const std::string names[] = {"Chosen: " + model_words(result), "To compare with: " + linear_words(result),
                               classify ? "Always the most frequent class" : "Always the mean of the training rows"};
  TableSpec table;
  table.marked = 0;
  if (classify) {
    table.caption = "On the held-out rows; accuracy as a bar, longer is better.";
    table.columns = {{"Model", false}, {"Precision", true}, {"Recall", true}, {"95 % interval", true}, {"Accuracy", true}};
  } else {
    table.caption = "On the held-out rows; RMSE as a bar, shorter is better.";
    table.columns = {{"Model", false}, {"R²", true}, {"Mean absolute error", true}, {"95 % interval", true}, {"RMSE", true}};
  }
  double largest = 0;
  for (const Evaluation* e : evaluations) largest = std::max(largest, e->n > 0 && std::isfinite(e->rmse) ? e->rmse : 0);
  for (std::size_t i = 0; i < 3; ++i) {
    const Evaluation& e = *evaluations[i];
    if (e.n == 0 || (i == 1 && chose_linear && !result.operating_point)) continue;
    const std::string interval = interval_text(e.ci_low, e.ci_high, classify);
    if (classify) {
      table.rows.push_back({names[i], percent(e.precision), percent(e.recall), interval, percent(e.accuracy)});
      table.bars.push_back(e.accuracy);
    } else {
      table.rows.push_back({names[i], fixed_text(e.r2), measure_text(e.mae), interval, measure_text(e.rmse)});
      table.bars.push_back(largest > 0 ? e.rmse / largest : 0);
    }
  }
  if (!table.rows.empty()) page.table(table);
}

void add_classes(Page& page, const LearnResult& result) {
  const Eigen::MatrixXi& m = result.confusion;
  if (m.rows() == 0 || m.rows() != m.cols()) return;
  const bool counted = std::ssize(result.class_counts) == m.rows();
  TableSpec table;
  table.caption =
      "Each class on the held-out rows: of what is called so, how much is (precision); of what is so, how much is found (recall).";
  table.columns = {{"Class", false}, {"Held-out rows", true}, {"Called so", true}, {"Precision", true}, {"Recall", true}};
  if (counted) table.columns.insert(table.columns.begin() + 1, {"Training rows", true});
  const auto share = [](int part, int whole) { return percent(whole > 0 ? static_cast<double>(part) / whole : std::nan("")); };
  for (Index c = 0; c < m.rows(); ++c) {
    const int is = m.row(c).sum();
    const int called = m.col(c).sum();
    table.rows.push_back({class_name(result, c), count_text(is), count_text(called), share(m(c, c), called), share(m(c, c), is)});
    if (counted) table.rows.back().insert(table.rows.back().begin() + 1, count_text(result.class_counts[static_cast<std::size_t>(c)]));
  }
  page.table(table);
}

void add_trade(Page& page, const LearnResult& result) {
  if (result.trade.empty()) return;
  TableSpec table;
  table.caption =
      fmt::format("What more precision for {} costs: thresholds chosen on training rows out of fold, measured on the held-out rows.",
                  class_name(result, 1));
  table.columns = {{"Precision wanted", true},    {"Threshold", true},     {"Folds: precision", true}, {"recall", true},
                   {"Held out: precision", true}, {"95 % interval", true}, {"accuracy", true},         {"recall", true}};
  for (const OperatingPoint& p : result.trade) {
    table.rows.push_back({percent(p.wanted), number_text(p.threshold), percent(p.fold_precision), percent(p.fold_recall),
                          percent(p.precision), interval_text(p.precision_low, p.precision_high, true), percent(p.accuracy),
                          percent(p.recall)});
  }
  page.table(table);
}

void add_influential(Page& page, const LearnResult& result) {
  if (result.influential.empty()) return;
  TableSpec table;
  table.caption =
      "Training rows that the model leans on: coefficient times mean kernel value over the held-out rows, as a share of all rows.";
  const bool lines = std::any_of(result.influential.begin(), result.influential.end(), [](const auto& row) { return row.line > 0; });
  table.columns = {{lines ? "Line of the file" : "Rank", true}, {target_name(result), false}, {"Coefficient", true}, {"Influence", true}};
  double largest = 0;
  for (const InfluentialRow& row : result.influential) largest = std::max(largest, row.influence);
  for (const InfluentialRow& row : result.influential) {
    table.rows.push_back(
        {std::to_string(lines ? row.line : std::ssize(table.rows) + 1), row.target, number_text(row.weight), percent(row.influence)});
    table.bars.push_back(largest > 0 ? row.influence / largest : 0);
  }
  page.table(table);
}

void add_candidates(Page& page, const LearnResult& result) {
  if (result.candidates.empty()) return;
  const bool classify = is_classification(result);
  TableSpec table;
  table.caption = classify ? "Candidates, the chosen one first, by mean accuracy." : "Candidates, the chosen one first, by mean RMSE.";
  table.columns = {{"Rank", true},
                   {"Model", false},
                   {"Kernel", false},
                   {"Penalty", false},
                   {"Judged by", false},
                   {"Deviation over folds", true},
                   {classify ? "Accuracy" : "RMSE", true}};
  table.marked = 0;
  bool references = false;
  for (std::size_t i = 0; i < result.candidates.size(); ++i) {
    const Candidate& c = result.candidates[i];
    const bool reference = c.reference && i > 0;
    references = references || reference;
    const std::string deviation = !std::isfinite(c.score) ? none : classify ? percent(c.deviation) : measure_text(c.deviation, 3);
    table.rows.push_back({std::to_string(i + 1), reference ? c.model + " (to compare with)" : c.model,
                          c.kernel.empty() ? none : short_kernel(c.kernel), penalty_text(c), c.judged_by.empty() ? none : c.judged_by,
                          deviation, score_text(c, classify)});
    table.soft.push_back(reference || !std::isfinite(c.score));
  }
  page.table(table);
}

void add_columns(Page& page, const LearnResult& result) {
  if (!result.model.encoder) return;
  const Encoder& encoder = *result.model.encoder;
  const std::vector<ColumnSummary> columns = result.columns.empty() ? encoder_columns(encoder) : result.columns;
  if (columns.empty()) return;
  TableSpec table;
  table.caption = "The columns, as they are in the training rows.";
  table.columns = {{"Column", false},   {"Role", false}, {"Kind", false},   {"Missing", true},        {"Mean", true},
                   {"Deviation", true}, {"Least", true}, {"Largest", true}, {"Distinct words", false}};
  if (encoder.fills_missing) table.columns.push_back({"A missing value becomes", true});
  table.visible = 10;
  for (const ColumnSummary& column : columns) {
    if (table.rows.size() == most_columns) break;
    table.rows.push_back(column_cells(result, column));
    table.soft.push_back(table.rows.back()[1] == "left out");
    if (!encoder.fills_missing) continue;
    const FeatureColumn* feature = feature_of(result, column.name);
    table.rows.back().push_back(feature != nullptr && feature->categories.empty() ? number_text(feature->fill) : none);
  }
  if (columns.size() > most_columns)
    table.caption =
        fmt::format("The first {} of {} columns, as they are in the training rows.", most_columns, count_text(std::ssize(columns)));
  page.table(table);
}

void add_stages(Page& page, const LearnResult& result) {
  if (result.stages.empty()) return;
  double total = 0;
  for (const StageTime& stage : result.stages) total += stage.seconds;
  TableSpec table;
  table.caption = "Where the time went.";
  table.columns = {{"Part", false}, {"Share", true}, {"Time", true}};
  for (const StageTime& stage : result.stages) {
    const double share = total > 0 ? std::max(0.0, stage.seconds) / total : 0;
    table.rows.push_back({stage.stage, percent(share), seconds_text(stage.seconds)});
    table.bars.push_back(share);
  }
  page.table(table);
}

}  // namespace mercer::report
