// SPDX-License-Identifier: BSD-3-Clause
#include "report/test_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/chart_parts.hpp"
#include "report/escape.hpp"
#include "report/exploration_charts.hpp"

namespace mercer::report {

namespace {

using nlohmann::json;

constexpr std::size_t most_columns = 30;  // that a chart of contributions shows

// A vertical line with its name at the top.
void add_line(json& layers, double at, const std::string& name, const char* color, bool dashed, bool label_left, int label_y) {
  const json data = {{"values", {{{"v", at}, {"label", name}}}}};
  json rule = {{"type", "rule"}, {"color", color}, {"strokeWidth", 2}};
  if (dashed) rule["strokeDash"] = {5, 4};
  layers.push_back({{"data", data},
                    {"mark", rule},
                    {"encoding", {{"x", {{"field", "v"}, {"type", "quantitative"}}}, {"tooltip", {tooltip("v", name)}}}}});
  layers.push_back(
      {{"data", data},
       {"mark",
        {{"type", "text"}, {"align", label_left ? "right" : "left"}, {"dx", label_left ? -6 : 6}, {"fontWeight", 600}, {"color", color}}},
       {"encoding",
        {{"x", {{"field", "v"}, {"type", "quantitative"}}},
         {"y", {{"value", label_y}}},
         {"text", {{"field", "label"}, {"type", "nominal"}}}}}});
}

// The words of a variable: the most frequent ones, the rest as one.
std::vector<std::string> kinds_of(const std::vector<std::string>& words) {
  std::map<std::string, Index> counts;
  for (const std::string& word : words) ++counts[word];
  std::vector<std::string> kinds;
  for (const auto& [word, count] : counts) kinds.push_back(word);
  if (kinds.size() > most_words) {
    std::stable_sort(kinds.begin(), kinds.end(), [&](const auto& a, const auto& b) { return counts.at(a) > counts.at(b); });
    kinds.resize(most_words - 1);
    std::sort(kinds.begin(), kinds.end());
  }
  return kinds;
}

std::string kind_of(const std::string& word, const std::vector<std::string>& kinds) {
  return std::find(kinds.begin(), kinds.end(), word) != kinds.end() ? clean_text(word) : others;
}

// Counts of each pair of words, and how far each is from what independence would give, in standard deviations.
Chart counts_chart(const ColorColumn& x, const ColorColumn& y) {
  const std::vector<std::string> x_kinds = kinds_of(x.words);
  const std::vector<std::string> y_kinds = kinds_of(y.words);
  std::map<std::pair<std::string, std::string>, double> joint;
  std::map<std::string, double> of_x;
  std::map<std::string, double> of_y;
  for (std::size_t i = 0; i < x.words.size(); ++i) {
    const std::string a = kind_of(x.words[i], x_kinds);
    const std::string b = kind_of(y.words[i], y_kinds);
    ++joint[{a, b}];
    ++of_x[a];
    ++of_y[b];
  }
  const auto n = static_cast<double>(x.words.size());
  double largest = 1;
  json cells = json::array();
  for (const auto& [a, count_a] : of_x) {
    for (const auto& [b, count_b] : of_y) {
      const auto found = joint.find({a, b});
      const double count = found == joint.end() ? 0 : found->second;
      const double expected = count_a * count_b / n;
      const double residual = (count - expected) / std::sqrt(expected);
      largest = std::max(largest, std::abs(residual));
      cells.push_back({{"x", a}, {"y", b}, {"n", count}, {"e", expected}, {"r", residual}});
    }
  }
  const auto nominal = [](const char* field, const std::string& title) {
    return json{{"field", field}, {"type", "nominal"}, {"title", clean_text(title)}, {"axis", {{"labelLimit", 160}, {"labelAngle", 0}}}};
  };
  json spec = chart_base(std::max(160, 34 * static_cast<int>(of_y.size())));
  spec["data"] = {{"values", cells}};
  spec["encoding"] = {{"x", nominal("x", x.name)}, {"y", nominal("y", y.name)}};
  const json color = {{"field", "r"},
                      {"type", "quantitative"},
                      {"title", "beyond independence"},
                      {"scale", {{"scheme", "blueorange"}, {"domain", {-largest, largest}}, {"reverse", true}}}};
  spec["layer"] = {
      {{"mark", "rect"},
       {"encoding",
        {{"color", color},
         {"tooltip",
          {text_tip("x", x.name), text_tip("y", y.name), tooltip("n", "rows"), tooltip("e", "expected of independence"),
           tooltip("r", "standard deviations beyond")}}}}},
      {{"mark", {{"type", "text"}}},
       {"encoding",
        {{"text", {{"field", "n"}, {"type", "quantitative"}}},
         {"color",
          {{"condition", {{"test", fmt::format("abs(datum.r) > {}", 0.6 * largest)}, {"value", "#ffffff"}}}, {"value", "#1c1c1c"}}}}}}};
  return {
      .title = fmt::format("{} and {}", x.name, y.name),
      .description = "Rows with each pair of words; the colour says how many standard deviations more or fewer than independence gives.",
      .spec = spec};
}

// A number within each word of the other variable.
Chart boxes_chart(const ColorColumn& words, const ColorColumn& numbers) {
  const std::vector<std::string> kinds = kinds_of(words.words);
  const Index n = std::ssize(words.words);
  json rows = json::array();
  for (Index i = 0; i < n; i += stride_for(n)) {
    const auto row = static_cast<std::size_t>(i);
    rows.push_back({{"w", kind_of(words.words[row], kinds)}, {"v", finite(numbers.numbers[row])}});
  }
  json spec = chart_base(std::max(160, 30 * static_cast<int>(std::min(kinds.size() + 1, most_words))));
  spec["data"] = {{"values", rows}};
  spec["mark"] = {{"type", "boxplot"},
                  {"extent", 1.5},
                  {"size", 16},
                  {"median", {{"color", "var(--page)"}}},
                  {"outliers", {{"size", 14}, {"opacity", 0.6}}}};
  spec["encoding"] = {{"y", {{"field", "w"}, {"type", "nominal"}, {"title", clean_text(words.name)}, {"axis", {{"labelLimit", 160}}}}},
                      {"x", quantitative("v", numbers.name)}};
  return {.title = fmt::format("{} by {}", numbers.name, words.name),
          .description = fmt::format("{} rows: the box is the middle half of {}, its line the median.", shown_of(n), numbers.name),
          .spec = spec};
}

// The samples have their colours in their order, so that those of the witness agree with them.
void in_sample_order(json& spec, const std::vector<std::string>& samples) {
  json domain = json::array();
  for (const std::string& name : samples) domain.push_back(clean_text(name));
  for (const char* channel : {"color", "shape"}) {
    if (!domain.empty() && spec["encoding"].contains(channel)) spec["encoding"][channel]["scale"]["domain"] = domain;
  }
}

}  // namespace

Chart rows_chart(const TestReport& r) {
  Chart chart = points_chart("The rows", r.points, r.point_names, r.point_color);
  in_sample_order(chart.spec, r.sample_names);
  return chart;
}

Chart null_chart(const TestReport& r) {
  const double least = r.null.minCoeff();
  const double most = r.null.maxCoeff();
  const bool has_threshold = std::isfinite(r.threshold);
  double low = std::min(least, r.statistic);
  double high = std::max(most, r.statistic);
  if (has_threshold) {
    low = std::min(low, r.threshold);
    high = std::max(high, r.threshold);
  }
  const Range range = padded_range(low, high);
  const double margin = most > least ? 0 : std::max(std::abs(least), 1.0) * 1e-3;
  const Index bins = bins_for(r.null.size(), 8);
  json spec = chart_base(300);
  json layers = json::array();
  json bar_encoding = {{"x", axis_of("a", r.statistic_name, range)},
                       {"x2", {{"field", "b"}}},
                       {"y", {{"field", "n"}, {"type", "quantitative"}, {"title", "draws of the null"}, {"axis", {{"tickMinStep", 1}}}}},
                       {"y2", {{"datum", 0}}},
                       {"tooltip", {tooltip("a", "from"), tooltip("b", "to"), tooltip("n", "draws")}}};
  layers.push_back({{"data", {{"values", histogram(r.null, {least - margin, most + margin}, bins)}}},
                    {"mark", {{"type", "rect"}, {"opacity", 0.55}, {"color", "var(--accent)"}}},
                    {"encoding", bar_encoding}});
  const double middle = (range.low + range.high) / 2;
  if (has_threshold) {
    add_line(layers, r.threshold, fmt::format("threshold at {}", number_text(r.level)), "var(--ink-soft)", true, r.threshold > middle, 28);
  }
  add_line(layers, r.statistic, fmt::format("{} = {}", r.statistic_name, number_text(r.statistic)), "var(--second)", false,
           r.statistic > middle, 10);
  spec["layer"] = layers;
  return {
      .title = "The statistic in its null distribution",
      .description = fmt::format("What {} would be {} ({} values), and what it is: {}, p = {}{}.", r.statistic_name,
                                 "if the null hypothesis held", count_text(r.null.size()), number_text(r.statistic), number_text(r.p_value),
                                 has_threshold ? fmt::format("; above {} it is rejected", number_text(r.threshold)) : ""),
      .spec = spec};
}

Chart witness_curve_chart(const WitnessCurve& curve, const std::vector<std::string>& samples) {
  constexpr int height = 260;
  json line = json::array();
  for (Index i = 0; i < curve.at.size(); ++i) line.push_back({{"x", curve.at[i]}, {"v", finite(curve.values[i])}});
  const json x = axis_of("x", curve.column, padded_range(curve.at[0], curve.at[curve.at.size() - 1]));
  json layers = json::array();
  layers.push_back({{"data", {{"values", line}}},
                    {"mark", {{"type", "area"}, {"line", {{"color", "var(--accent)"}}}, {"color", "var(--accent)"}, {"opacity", 0.25}}},
                    {"encoding",
                     {{"x", x},
                      {"y", {{"field", "v"}, {"type", "quantitative"}, {"title", "witness"}}},
                      {"tooltip", {tooltip("x", curve.column), tooltip("v", "witness")}}}}});
  json domain = json::array();
  for (std::size_t s = 0; s < curve.sample_at.size(); ++s) {
    domain.push_back(s < samples.size() ? clean_text(samples[s]) : fmt::format("sample {}", s + 1));
  }
  for (std::size_t s = 0; s < curve.sample_at.size(); ++s) {
    const Index n = std::ssize(curve.sample_at[s]);
    json ticks = json::array();
    for (Index i = 0; i < n; i += stride_for(n))
      ticks.push_back({{"x", finite(curve.sample_at[s][static_cast<std::size_t>(i)])}, {"w", domain[s]}});
    layers.push_back({{"data", {{"values", ticks}}},
                      {"mark", {{"type", "tick"}, {"orient", "vertical"}, {"opacity", 0.5}, {"thickness", 1}, {"size", 10}}},
                      {"encoding",
                       {{"x", x},
                        {"y", {{"value", height - 6 - 13 * static_cast<int>(s)}}},
                        {"color", {{"field", "w"}, {"type", "nominal"}, {"title", "sample"}, {"scale", {{"domain", domain}}}}}}}});
  }
  json spec = chart_base(height);
  spec["layer"] = layers;
  return {.title = fmt::format("Where the samples differ, over {}", curve.column),
          .description = fmt::format("The witness function: above 0 where {} has more rows, below 0 where {} has. Ticks are the rows.",
                                     samples.empty() ? "the first sample" : samples[0], samples.size() < 2 ? "the second" : samples[1]),
          .spec = spec};
}

Chart witness_map_chart(const TestReport& r) {
  const WitnessMap& m = r.map;
  const double dx = m.x.size() > 1 ? (m.x[m.x.size() - 1] - m.x[0]) / static_cast<double>(m.x.size() - 1) : 1;
  const double dy = m.y.size() > 1 ? (m.y[m.y.size() - 1] - m.y[0]) / static_cast<double>(m.y.size() - 1) : 1;
  json cells = json::array();
  for (Index i = 0; i < m.y.size(); ++i) {
    for (Index j = 0; j < m.x.size(); ++j) {
      cells.push_back(
          {{"a", m.x[j] - dx / 2}, {"b", m.x[j] + dx / 2}, {"c", m.y[i] - dy / 2}, {"d", m.y[i] + dy / 2}, {"v", finite(m.values(i, j))}});
    }
  }
  const double largest = std::max(m.values.cwiseAbs().maxCoeff(), 1e-300);
  const Range x{m.x[0] - dx / 2, m.x[m.x.size() - 1] + dx / 2};
  const Range y{m.y[0] - dy / 2, m.y[m.y.size() - 1] + dy / 2};
  json spec = chart_base(440);
  spec["resolve"] = {{"scale", {{"color", "independent"}}}};
  spec["layer"] = {{{"data", {{"values", cells}}},
                    {"mark", {{"type", "rect"}, {"opacity", 0.85}}},
                    {"encoding",
                     {{"x", axis_of("a", m.x_name, x)},
                      {"x2", {{"field", "b"}}},
                      {"y", axis_of("c", m.y_name, y)},
                      {"y2", {{"field", "d"}}},
                      {"color",
                       {{"field", "v"},
                        {"type", "quantitative"},
                        {"title", "witness"},
                        {"scale", {{"scheme", "blueorange"}, {"reverse", true}, {"domain", {-largest, largest}}}}}},
                      {"tooltip", {tooltip("v", "witness")}}}}}};
  if (r.points.rows() > 0 && r.points.cols() == 2) {
    json rows = points_chart("", r.points, r.point_names, r.point_color).spec;
    rows["encoding"]["x"] = axis_of("x", m.x_name, x);
    rows["encoding"]["y"] = axis_of("y", m.y_name, y);
    in_sample_order(rows, r.sample_names);
    rows["encoding"].erase("shape");  // a legend of its own would stand beside that of the colours
    rows["mark"] = {{"type", "point"}, {"size", 26}, {"opacity", 0.9}, {"clip", true}, {"stroke", "#ffffff"}, {"strokeWidth", 0.6}};
    spec["layer"].push_back({{"data", rows["data"]}, {"mark", rows["mark"]}, {"encoding", rows["encoding"]}});
  }
  const auto name = [&](std::size_t s, const char* without) { return s < r.sample_names.size() ? r.sample_names[s] : without; };
  return {.title = "Where the samples differ",
          .description = fmt::format("The witness function over {} and {}: above 0 where {} has more rows, below 0 where {} has.", m.x_name,
                                     m.y_name, name(0, "the first sample"), name(1, "the second")),
          .spec = spec};
}

Chart contributions_chart(const std::vector<ColumnContribution>& columns) {
  std::vector<ColumnContribution> sorted = columns;
  const auto size = [](const ColumnContribution& c) { return std::isfinite(c.share) ? c.share : c.statistic; };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) { return size(a) > size(b); });
  if (sorted.size() > most_columns) sorted.resize(most_columns);
  const bool shares = std::all_of(sorted.begin(), sorted.end(), [](const auto& c) { return std::isfinite(c.share); });
  json bars = json::array();
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    bars.push_back({{"i", i},
                    {"name", clean_text(sorted[i].name)},
                    {"v", finite(shares ? sorted[i].share : sorted[i].statistic)},
                    {"t", finite(sorted[i].statistic)},
                    {"p", finite(sorted[i].p_value)}});
  }
  const std::string title = shares ? "share of the difference" : "statistic of the column alone";
  json tips = {text_tip("name", "column"), tooltip("t", "statistic"), tooltip("p", "p, adjusted")};
  if (shares) tips.push_back({{"field", "v"}, {"type", "quantitative"}, {"title", title}, {"format", ".1%"}});
  json x = {{"field", "v"}, {"type", "quantitative"}, {"title", title}};
  if (shares) x["axis"] = {{"format", ".0%"}};
  json spec = chart_base(std::max(120, 24 * static_cast<int>(sorted.size()) + 20));
  spec["data"] = {{"values", bars}};
  spec["mark"] = {{"type", "bar"}, {"opacity", 0.8}};
  spec["encoding"] = {
      {"y", {{"field", "name"}, {"type", "nominal"}, {"title", nullptr}, {"sort", {{"field", "i"}}}, {"axis", {{"labelLimit", 220}}}}},
      {"x", x},
      {"tooltip", tips}};
  return {.title = "Which columns carry the difference",
          .description = sorted.size() < columns.size() ? fmt::format("The {} largest of {} columns.", sorted.size(), columns.size())
                                                        : fmt::format("{} columns, each looked at alone.", columns.size()),
          .spec = spec};
}

Chart pair_chart(const ColorColumn& x, const ColorColumn& y) {
  if (!x.words.empty() && !y.words.empty()) return counts_chart(x, y);
  if (!x.words.empty()) return boxes_chart(x, y);
  if (!y.words.empty()) return boxes_chart(y, x);
  Matrix both(std::ssize(x.numbers), 2);
  both.col(0) = Eigen::Map<const Vector>(x.numbers.data(), both.rows());
  both.col(1) = Eigen::Map<const Vector>(y.numbers.data(), both.rows());
  return points_chart(fmt::format("{} against {}", y.name, x.name), both, {x.name, y.name}, {});
}

Chart level_chart(const Vector& p_values, double level) {
  constexpr Index bins = 20;
  json spec = chart_base(240);
  const double flat = static_cast<double>(p_values.size()) / static_cast<double>(bins);
  json layers = json::array();
  layers.push_back({{"data", {{"values", histogram(p_values, {0, 1}, bins)}}},
                    {"mark", {{"type", "rect"}, {"opacity", 0.55}, {"color", "var(--accent)"}}},
                    {"encoding",
                     {{"x", axis_of("a", "p-value", {0, 1})},
                      {"x2", {{"field", "b"}}},
                      {"y", {{"field", "n"}, {"type", "quantitative"}, {"title", "tests"}, {"axis", {{"tickMinStep", 1}}}}},
                      {"y2", {{"datum", 0}}},
                      {"tooltip", {tooltip("a", "from"), tooltip("b", "to"), tooltip("n", "tests")}}}}});
  layers.push_back({{"data", {{"values", {{{"v", flat}}}}}},
                    {"mark", {{"type", "rule"}, {"strokeDash", {5, 4}}}},
                    {"encoding", {{"y", {{"field", "v"}, {"type", "quantitative"}}}}}});
  add_line(layers, level, fmt::format("level {}", number_text(level)), "var(--second)", false, false, 10);
  spec["layer"] = layers;
  return {.title = "p-values where nothing differs",
          .description =
              fmt::format("{} tests of random halves of the pooled rows; flat (the dashed line) is right.", count_text(p_values.size())),
          .spec = spec};
}

}  // namespace mercer::report
