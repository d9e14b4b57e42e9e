// SPDX-License-Identifier: BSD-3-Clause
#include "report/chart_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "mercer/table.hpp"
#include "report/escape.hpp"

namespace mercer::report {

using nlohmann::json;

namespace {

constexpr Index most_points = 2000;  // what a page draws swiftly

}  // namespace

json chart_base(int height) {
  return {{"width", "container"}, {"height", height}, {"autosize", {{"type", "fit-x"}, {"contains", "padding"}}}};
}

json quantitative(const char* field, const std::string& title) {
  return {{"field", field}, {"type", "quantitative"}, {"title", clean_text(title)}, {"scale", {{"zero", false}}}};
}

json tooltip(const char* field, const std::string& title) {
  return {{"field", field}, {"type", "quantitative"}, {"title", clean_text(title)}, {"format", ".4~g"}};
}

json text_tip(const char* field, const std::string& title) { return {{"field", field}, {"type", "nominal"}, {"title", clean_text(title)}}; }

json share_tip(const char* field, const std::string& title) {
  return {{"field", field}, {"type", "quantitative"}, {"title", clean_text(title)}, {"format", ".1%"}};
}

json finite(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

Range padded_range(double low, double high) {
  const double spread = high - low;
  const double margin = spread > 0 ? 0.04 * spread : std::max(1.0, 0.1 * std::abs(low));
  return {low - margin, high + margin};
}

json axis_of(const char* field, const std::string& title, Range range) {
  json axis = quantitative(field, title);
  axis["scale"] = {{"zero", false}, {"nice", false}, {"domain", {range.low, range.high}}};
  return axis;
}

json histogram(const Vector& values, Range range, Index bins) {
  std::vector<Index> counts(static_cast<std::size_t>(bins), 0);
  const double width = (range.high - range.low) / static_cast<double>(bins);
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    const auto bin = static_cast<Index>(std::floor((value - range.low) / width));
    ++counts[static_cast<std::size_t>(std::clamp<Index>(bin, 0, bins - 1))];
  }
  json bars = json::array();
  for (Index b = 0; b < bins; ++b) {
    bars.push_back({{"a", range.low + width * static_cast<double>(b)},
                    {"b", range.low + width * static_cast<double>(b + 1)},
                    {"n", counts[static_cast<std::size_t>(b)]}});
  }
  return bars;
}

Index bins_for(Index n, Index least) {
  return std::clamp<Index>(static_cast<Index>(std::ceil(2 * std::cbrt(static_cast<double>(n)))), least, 40);
}

json guide_line(const char* x, const char* y, double x1, double y1, double x2, double y2) {
  return {{"data", {{"values", {{{x, x1}, {y, y1}}, {{x, x2}, {y, y2}}}}}},
          {"mark", {{"type", "line"}, {"color", "var(--ink-soft)"}, {"strokeWidth", 1.5}, {"strokeDash", {5, 4}}, {"clip", true}}}};
}

Index stride_for(Index n) { return std::max<Index>(1, (n + most_points - 1) / most_points); }

std::string shown_of(Index n) {
  const Index shown = (n + stride_for(n) - 1) / stride_for(n);
  return shown == n ? count_text(n) : fmt::format("{} of {}", count_text(shown), count_text(n));
}

std::string percent(double fraction) { return std::isnan(fraction) ? "\xE2\x80\x93" : fmt::format("{:.1f} %", 100 * fraction); }

std::vector<std::string> legend_of(const std::vector<std::string>& words) {
  std::map<std::string, Index> counts;
  for (const std::string& word : words) ++counts[word];
  std::vector<std::string> order;
  for (const auto& [word, count] : counts) order.push_back(word);
  if (order.size() > most_words) {
    std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) { return counts.at(a) > counts.at(b); });
    order.resize(most_words - 1);
  }
  const bool numbers = std::all_of(order.begin(), order.end(), [](const auto& word) { return parse_number(word).has_value(); });
  std::sort(order.begin(), order.end(),
            [&](const auto& a, const auto& b) { return numbers ? *parse_number(a) < *parse_number(b) : a < b; });
  return order;
}

}  // namespace mercer::report
