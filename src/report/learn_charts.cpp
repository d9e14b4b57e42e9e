// What the charts of a `learn` run have in common: names and colours of classes, names of rows. SPDX-License-Identifier: BSD-3-Clause
#include "report/learn_charts.hpp"

#include <fmt/format.h>

#include "report/chart_parts.hpp"
#include "report/escape.hpp"

namespace mercer::report {

using nlohmann::json;

namespace {

constexpr Index own_colours = 5;  // that the style sheet has

}  // namespace

bool is_classification(const LearnResult& result) {
  return result.model.encoder ? result.model.encoder->task == Task::classification : result.confusion.size() > 0;
}

std::string target_name(const LearnResult& result) {
  return result.model.encoder && !result.model.encoder->target.empty() ? result.model.encoder->target : "target";
}

std::string class_name(const LearnResult& result, Index c) {
  const bool known = result.model.encoder && c >= 0 && c < std::ssize(result.model.encoder->classes);
  return known ? clean_text(result.model.encoder->classes[static_cast<std::size_t>(c)]) : fmt::format("class {}", c);
}

json class_names(const LearnResult& result) {
  const Index known = result.model.encoder ? std::ssize(result.model.encoder->classes) : 0;
  json names = json::array();
  for (Index c = 0; c < std::max<Index>(known, result.confusion.rows()); ++c) names.push_back(class_name(result, c));
  return names;
}

json class_color(const LearnResult& result, const char* field) {
  const json names = class_names(result);
  json color = {{"field", field}, {"type", "nominal"}, {"title", clean_text(target_name(result))}, {"scale", {{"domain", names}}}};
  if (std::ssize(names) > own_colours) color["scale"]["scheme"] = names.size() <= 10 ? "tableau10" : "tableau20";
  return color;
}

std::int64_t row_name(const LearnResult& result, Index i) {
  const auto row = static_cast<std::size_t>(i);
  return row < result.test_lines.size() && result.test_lines[row] > 0 ? result.test_lines[row] : i + 1;
}

json row_tip(const LearnResult& result) {
  const bool lines = !result.test_lines.empty() && result.test_lines.front() > 0;
  return {{"field", "i"}, {"type", "quantitative"}, {"title", lines ? "line of the file" : "held-out row"}};
}

}  // namespace mercer::report
