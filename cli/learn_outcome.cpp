// What `mercer learn` found, as JSON and in words. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "learn.hpp"
#include "objects.hpp"

namespace mercer::cli {

namespace {

constexpr std::size_t shown_candidates = 8;
constexpr std::size_t shown_reasons = 10;

bool classifies(const LearnResult& result) { return result.model.encoder->task == Task::classification; }

std::string percent(double fraction) { return std::isfinite(fraction) ? fmt::format("{:.1f} %", 100 * fraction) : "-"; }

Json evaluation_json(const Evaluation& e, bool classify) {
  Json json = {{"n", e.n}};
  if (classify) {
    json.update({{"accuracy", e.accuracy}, {"precision", number_json(e.precision)}, {"recall", number_json(e.recall)}});
  } else {
    json.update({{"rmse", number_json(e.rmse)}, {"r2", number_json(e.r2)}, {"mae", number_json(e.mae)}});
  }
  json["ci"] = {number_json(e.ci_low), number_json(e.ci_high)};
  return json;
}

Json point_json(const OperatingPoint& p) {
  return {{"wanted", p.wanted},
          {"threshold", number_json(p.threshold)},
          {"fold_precision", number_json(p.fold_precision)},
          {"fold_recall", number_json(p.fold_recall)},
          {"precision", number_json(p.precision)},
          {"recall", number_json(p.recall)},
          {"accuracy", number_json(p.accuracy)},
          {"precision_ci", {number_json(p.precision_low), number_json(p.precision_high)}}};
}

Json candidates_json(const LearnResult& result) {
  Json candidates = Json::array();
  for (const Candidate& c : result.candidates) {
    Json json = {{"model", c.model},
                 {"kernel", c.kernel.empty() ? Json() : Json(c.kernel)},
                 {"score", number_json(c.score)},
                 {"deviation", number_json(c.deviation)},
                 {"judged_by", c.judged_by}};
    if (!c.penalty.empty()) json[c.penalty] = c.value;
    if (c.epsilon > 0) json["epsilon"] = c.epsilon;
    if (c.reference) json["reference"] = true;
    candidates.push_back(std::move(json));
  }
  return candidates;
}

Json files_json(const LearnCommandOptions& o) {
  Json files = Json::object();
  if (!o.out.empty()) files["model"] = o.out;
  if (!o.report.empty()) files["report"] = o.report;
  return files;
}

void add_class_facts(Json& json, const LearnResult& result) {
  Json confusion = Json::array();
  for (Eigen::Index i = 0; i < result.confusion.rows(); ++i) {
    Json row = Json::array();
    for (Eigen::Index j = 0; j < result.confusion.cols(); ++j) row.push_back(result.confusion(i, j));
    confusion.push_back(std::move(row));
  }
  json["confusion"] = std::move(confusion);
  if (result.test_curve.threshold.size() > 0) {
    json["roc_auc"] = number_json(result.test_curve.area_roc);
    json["average_precision"] = number_json(result.test_curve.average_precision);
  }
  if (!result.trade.empty()) {
    json["trade"] = Json::array();
    for (const OperatingPoint& point : result.trade) json["trade"].push_back(point_json(point));
  }
  if (result.operating_point) json["operating_point"] = point_json(*result.operating_point);
}

void add_reasons(Json& json, const LearnResult& result) {
  json["importance"] = Json::array();
  for (const ColumnImportance& c : result.importance)
    json["importance"].push_back({{"column", c.column}, {"mean", number_json(c.mean)}, {"deviation", number_json(c.deviation)}});
  json["influential"] = Json::array();
  for (const InfluentialRow& r : result.influential)
    json["influential"].push_back({{"line", r.line}, {"target", r.target}, {"weight", r.weight}, {"influence", r.influence}});
}

void say_candidates(const Speaker& speaker, const LearnResult& result) {
  const bool classify = classifies(result);
  std::vector<std::vector<std::string>> rows{{"model", "kernel", "penalty", classify ? "accuracy" : "RMSE", "+-", "judged by"}};
  const auto number = [](const char* form, double x) { return std::isfinite(x) ? fmt::format(fmt::runtime(form), x) : std::string("-"); };
  for (const Candidate& c : result.candidates) {
    if (rows.size() > shown_candidates) break;
    std::string penalty = c.penalty.empty() ? "-" : fmt::format("{} {:.3g}", c.penalty, c.value);
    if (c.epsilon > 0) penalty += fmt::format(", epsilon {:.2g}", c.epsilon);
    std::string kernel = c.kernel.empty() ? "-" : c.kernel;
    if (kernel.size() > 40) kernel = kernel.substr(0, 37) + "...";
    rows.push_back({c.model, kernel, penalty, number("{:.4g}", c.score), number("{:.2g}", c.deviation), c.judged_by});
  }
  speaker.say("The best of {} candidates, {}-fold cross-validation on {} rows:", result.candidates.size(), result.folds, result.n_search);
  speaker.table(aligned(rows));
}

void say_measures(const Speaker& speaker, const LearnResult& result) {
  const bool classify = classifies(result);
  const auto row = [&](const char* name, const Evaluation& e) -> std::vector<std::string> {
    if (classify) {
      return {name, fmt::format("{:.4f}", e.accuracy), fmt::format("{:.4f}", e.precision), fmt::format("{:.4f}", e.recall),
              fmt::format("{:.4f} to {:.4f}", e.ci_low, e.ci_high)};
    }
    return {name, fmt::format("{:.4g}", e.rmse), fmt::format("{:.4f}", e.r2), fmt::format("{:.4g}", e.mae),
            fmt::format("{:.4g} to {:.4g}", e.ci_low, e.ci_high)};
  };
  const std::vector<std::string> heading = classify ? std::vector<std::string>{"", "accuracy", "precision", "recall", "95 % of accuracy"}
                                                    : std::vector<std::string>{"", "RMSE", "R2", "MAE", "95 % of RMSE"};
  speaker.say("On {} rows that the search never saw:", result.test.n);
  std::vector<std::vector<std::string>> rows{heading, row("this model", result.test)};
  if (result.linear.n > 0) rows.push_back(row("linear", result.linear));
  rows.push_back(row(classify ? "most frequent class" : "mean", result.baseline));
  speaker.table(aligned(rows));
}

void say_trade(const Speaker& speaker, const LearnResult& result) {
  if (result.trade.empty()) return;
  const std::string& positive = result.model.encoder->classes[1];
  speaker.say("What a wanted precision of \"{}\" costs (threshold chosen in the training folds):", positive);
  std::vector<std::vector<std::string>> rows{{"wanted", "threshold", "precision", "recall", "accuracy"}};
  const auto row = [](const OperatingPoint& p, const char* mark) -> std::vector<std::string> {
    return {percent(p.wanted) + mark, fmt::format("{:.4g}", p.threshold), percent(p.precision), percent(p.recall), percent(p.accuracy)};
  };
  std::vector<OperatingPoint> points = result.trade;
  if (result.operating_point) {
    const double wanted = result.operating_point->wanted;
    std::erase_if(points, [&](const OperatingPoint& p) { return p.wanted == wanted; });
    points.push_back(*result.operating_point);
    std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.wanted < b.wanted; });
  }
  for (const OperatingPoint& point : points)
    rows.push_back(row(point, result.operating_point && point.wanted == result.operating_point->wanted ? " *" : ""));
  speaker.table(aligned(rows));
  speaker.say("{}",
              result.operating_point ? "* the operating point of the saved model" : "--precision P makes one of them the model's own.");
  speaker.say("");
}

void say_reasons(const Speaker& speaker, const LearnResult& result) {
  if (!result.importance.empty()) {
    speaker.say("{} when a column is shuffled:", classifies(result) ? "Accuracy lost" : "RMSE gained");
    std::vector<std::vector<std::string>> rows{{"column", classifies(result) ? "lost" : "gained", "+-"}};
    for (std::size_t i = 0; i < std::min(shown_reasons, result.importance.size()); ++i) {
      const ColumnImportance& c = result.importance[i];
      rows.push_back({c.column, fmt::format("{:.4g}", c.mean), fmt::format("{:.2g}", c.deviation)});
    }
    speaker.table(aligned(rows));
    speaker.say("");
  }
  if (!result.influential.empty()) {
    speaker.say("The training rows that the model leans on most:");
    std::vector<std::vector<std::string>> rows{{"line", "target", "weight", "share"}};
    for (std::size_t i = 0; i < std::min(shown_reasons, result.influential.size()); ++i) {
      const InfluentialRow& r = result.influential[i];
      rows.push_back({r.line > 0 ? std::to_string(r.line) : "-", r.target, fmt::format("{:.4g}", r.weight), percent(r.influence)});
    }
    speaker.table(aligned(rows));
    speaker.say("");
  }
}

}  // namespace

Json learn_json(const LearnCommandOptions& o, const LearnResult& result) {
  const bool classify = classifies(result);
  const std::optional<Kernel> kernel = kernel_in(result.model.model);
  Json json = {{"model", result.model.kind()},
               {"kernel", kernel ? kernel->text() : "linear"},
               {"task", classify ? "classification" : "regression"},
               {"target", result.model.encoder->target}};
  if (classify) json["classes"] = result.model.encoder->classes;
  json.update({{"n_train", result.n_train},
               {"test", evaluation_json(result.test, classify)},
               {"baseline", evaluation_json(result.baseline, classify)},
               {"linear", result.linear.n > 0 ? evaluation_json(result.linear, classify) : Json()},
               {"candidates", candidates_json(result)}});
  if (classify) {
    add_class_facts(json, result);
  } else if (result.test_intervals.rows() > 0) {
    json["intervals"] = {{"level", result.interval_level}, {"coverage", number_json(result.interval_coverage)}};
  }
  if (o.learn.explain) add_reasons(json, result);
  json.update({{"split", result.split},
               {"folds", result.folds},
               {"n_search", result.n_search},
               {"seed", result.seed},
               {"verdict", result.verdict},
               {"notes", result.notes}});
  if (!result.search_lines.empty()) json["search_lines"] = result.search_lines;
  json["stages"] = Json::object();
  for (const StageTime& stage : result.stages) json["stages"][stage.stage] = stage.seconds;
  json.update({{"seconds", result.seconds}, {"peak_bytes", result.peak_bytes}, {"files", files_json(o)}});
  return json;
}

void say_learned(const LearnCommandOptions& o, const LearnResult& result) {
  const Speaker speaker(o.common);
  speaker.notes(result.notes);
  speaker.say("");
  speaker.verdict(result.verdict);
  speaker.say("");
  say_measures(speaker, result);
  speaker.say("");
  say_trade(speaker, result);
  say_reasons(speaker, result);
  say_candidates(speaker, result);
  speaker.say("");
  speaker.say("{:.1f} s, {} of memory at most.", result.seconds, format_bytes(static_cast<double>(result.peak_bytes)));
  if (!o.out.empty()) speaker.say("The model is {}.", o.out);
  if (!o.report.empty())
    speaker.say("The report is {}.{}", o.report, charts_available() ? "" : " It has no charts: make setup, then make build.");
  if (o.out.empty()) speaker.say("The model was not saved; --out model.mercer saves it.");
}

}  // namespace mercer::cli
