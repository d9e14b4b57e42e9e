// SPDX-License-Identifier: BSD-3-Clause
#include "report/figure_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "mercer/error.hpp"
#include "report/chart_parts.hpp"
#include "report/escape.hpp"
#include "report/figure_axes.hpp"
#include "report/figure_tiles.hpp"

namespace mercer::report {

namespace {

using nlohmann::json;

std::string tip_name(const std::string& title, const char* plain) { return title.empty() ? plain : title; }

json rows_of(const Drawing& d, const FigureLayer& layer) {
  const Index n = std::max(layer.x.size(), layer.y.size());
  const bool is_path = layer.mark == Mark::line;
  const Index stride = layer.mark == Mark::text ? 1 : stride_for(n);
  const Digits x = d.digits_x();
  const Digits y = d.digits_y();
  const auto lacks = [&](Index i) { return i >= 0 && i < n && !(std::isfinite(layer.x[i]) && std::isfinite(layer.y[i])); };
  json rows = json::array();
  for (Index i = 0; i < n; ++i) {
    // Gaps of a line, the ends at them and its own end are kept.
    const bool kept =
        i % stride == 0 || (is_path && (lacks(i - 1) || lacks(i) || lacks(i + 1))) || (layer.mark != Mark::points && i + 1 == n);
    if (!kept) continue;
    json row = json::object();
    if (layer.x.size() > 0) row["x"] = x(layer.x[i]);
    if (layer.y.size() > 0) row["y"] = y(layer.y[i]);
    if (layer.x2.size() > 0) row["X"] = x(layer.x2[i]);
    if (layer.y2.size() > 0) row["Y"] = y(layer.y2[i]);
    if (layer.value.size() > 0) row["v"] = finite(layer.value[i]);
    if (!layer.words.empty()) {
      const std::string& word = layer.words[static_cast<std::size_t>(i)];
      row["w"] = layer.mark == Mark::points ? d.legend.word_of(word) : clean_text(word);
    }
    if (is_path) row["i"] = i;
    rows.push_back(std::move(row));
  }
  return rows;
}

json tip(const char* field, const std::string& title, bool word) {
  return word ? json{{"field", field}, {"type", "nominal"}, {"title", clean_text(title)}} : tooltip(field, title);
}

// The colours of a layer's values, and its legend once.
json value_channel(Drawing& d, const FigureLayer& layer) {
  return ValueColors(d.figure, layer.legend).channel(d.shown.insert(layer.legend).second);
}

json points_layer(Drawing& d, const FigureLayer& layer) {
  const Figure& f = d.figure;
  const bool many = layer.x.size() > 400;
  json mark = {{"type", "point"},
               {"filled", true},
               {"size", layer.size > 0 ? layer.size
                        : many         ? 18
                                       : 36},
               {"opacity", layer.opacity > 0 ? layer.opacity
                           : d.tiled         ? 0.9
                           : many            ? 0.5
                                             : 0.7}};
  if (d.tiled) mark.update({{"stroke", "var(--paper)"}, {"strokeWidth", 0.7}});
  json encoding = {{"x", d.axis("x", true)}, {"y", d.axis("y", false)}};
  json tips = {tooltip("x", tip_name(f.x_title, "x")), tooltip("y", tip_name(f.y_title, "y"))};
  if (layer.value.size() > 0) {
    encoding["fill"] = value_channel(d, layer);
    tips.push_back(tooltip("v", tip_name(layer.legend, "value")));
  } else if (!layer.words.empty()) {
    d.legend.encode_words(encoding);
    tips.push_back(tip("w", tip_name(layer.legend, "class"), true));
  } else {
    mark["color"] = d.legend.color_of(layer);
  }
  encoding["tooltip"] = tips;
  return {{"data", {{"values", rows_of(d, layer)}}}, {"mark", mark}, {"encoding", encoding}};
}

json line_layer(const Drawing& d, const FigureLayer& layer) {
  json mark = {{"type", "line"},
               {"color", d.legend.color_of(layer)},
               {"strokeWidth", layer.size > 0 ? layer.size
                               : layer.soft   ? 1.5
                                              : 2.2},
               {"opacity", layer.opacity > 0 ? layer.opacity : 1}};
  if (layer.dashed) mark["strokeDash"] = {5, 4};
  json encoding = {{"x", d.axis("x", true)}, {"y", d.axis("y", false)}};
  if (layer.mark == Mark::step) {
    mark["interpolate"] = "step-after";
  } else {
    encoding["order"] = {{"field", "i"}, {"type", "quantitative"}};  // as given, not from left to right
  }
  if (!layer.name.empty()) encoding["tooltip"] = {{"value", clean_text(layer.name)}};
  return {{"data", {{"values", rows_of(d, layer)}}}, {"mark", mark}, {"encoding", encoding}};
}

json band_layer(const Drawing& d, const FigureLayer& layer) {
  const json mark = {{"type", "area"}, {"color", d.legend.color_of(layer)}, {"opacity", layer.opacity > 0 ? layer.opacity : 0.18}};
  return {{"data", {{"values", rows_of(d, layer)}}},
          {"mark", mark},
          {"encoding", {{"x", d.axis("x", true)}, {"y", d.axis("y", false)}, {"y2", second("Y", d.figure.y_title)}}}};
}

json bars_layer(const Drawing& d, const FigureLayer& layer) {
  const auto histograms = std::count_if(d.figure.layers.begin(), d.figure.layers.end(), [](const auto& l) { return l.mark == Mark::bars; });
  const json mark = {{"type", "rect"},
                     {"fill", d.legend.color_of(layer)},
                     {"stroke", "var(--paper)"},
                     {"strokeWidth", layer.x.size() > 60 ? 0.3 : 1},
                     {"opacity", layer.opacity > 0 ? layer.opacity
                                 : histograms > 1  ? 0.5
                                                   : 0.8}};
  const std::string& across = d.figure.x_title;
  json tips = {tooltip("x", "from"), tooltip("X", "to"), tooltip("y", tip_name(d.figure.y_title, "height"))};
  return {
      {"data", {{"values", rows_of(d, layer)}}},
      {"mark", mark},
      {"encoding",
       {{"x", d.axis("x", true)}, {"x2", second("X", across)}, {"y", d.axis("y", false)}, {"y2", {{"datum", d.base}}}, {"tooltip", tips}}}};
}

// All layers of named bars are one: side by side within a word.
json named_layer(const Drawing& d) {
  const Figure& f = d.figure;
  json rows = json::array();
  json order = json::array();
  json names = json::array();
  json colors = json::array();
  const Digits digits = d.digits_y();
  double opacity = 0;
  for (const FigureLayer& layer : f.layers) {
    if (layer.mark != Mark::named) continue;
    const std::string name = clean_text(layer.name);
    names.push_back(name);
    colors.push_back(d.legend.color_of(layer));
    opacity = std::max(opacity, layer.opacity);
    for (Index i = 0; i < layer.y.size(); ++i) {
      const std::string word = clean_text(layer.words[static_cast<std::size_t>(i)]);
      if (std::find(order.begin(), order.end(), word) == order.end()) order.push_back(word);
      rows.push_back({{"k", word}, {"n", name}, {"y", digits(layer.y[i])}});
    }
  }
  std::size_t longest = 0;
  for (const json& word : order) longest = std::max(longest, word.get_ref<const std::string&>().size());
  const bool slanted = longest * order.size() > 48;
  const json x = {{"field", "k"},
                  {"type", "nominal"},
                  {"title", title_or_none(f.x_title)},
                  {"sort", order},
                  {"axis", {{"labelAngle", slanted ? -35 : 0}, {"labelLimit", 170}}}};
  json encoding = {{"x", x},
                   {"y", d.axis("y", false)},
                   {"y2", {{"datum", d.base}}},
                   {"fill", {{"field", "n"}, {"type", "nominal"}, {"scale", {{"domain", names}, {"range", colors}}}, {"legend", nullptr}}},
                   {"tooltip", {tip("k", tip_name(f.x_title, "what"), true), tooltip("y", tip_name(f.y_title, "value"))}}};
  if (names.size() > 1) {
    encoding["xOffset"] = {{"field", "n"}, {"type", "nominal"}, {"scale", {{"domain", names}}}};
    encoding["tooltip"].insert(encoding["tooltip"].begin() + 1, tip("n", "of", true));
  }
  return {{"data", {{"values", rows}}}, {"mark", {{"type", "bar"}, {"opacity", opacity > 0 ? opacity : 0.85}}}, {"encoding", encoding}};
}

json tiles_layer(Drawing& d, const FigureLayer& layer) {
  const TileGrid grid(layer, d.figure.log_x, d.figure.log_y);
  const bool by_words = !layer.words.empty();
  const ValueColors colors(d.figure, layer.legend);
  const auto kind = [&](Index i) {
    return by_words ? d.legend.word_of(layer.words[static_cast<std::size_t>(i)]) : std::to_string(colors.level_of(layer.value[i]));
  };
  json rows = json::array();
  const Digits x = d.digits_x();
  const Digits y = d.digits_y();
  for (const TileRun& run : grid.runs(kind)) {
    json row = {{"x", x(run.x)}, {"X", x(run.x2)}, {"y", y(run.y)}, {"Y", y(run.y2)}};
    if (by_words) {
      row["w"] = run.kind;
      row["c"] =
          fmt::format("color-mix(in srgb, {} 24%, var(--paper))", d.legend.color_of_word(layer.words[static_cast<std::size_t>(run.first)]));
    } else {
      row["v"] = run.mean;
    }
    rows.push_back(std::move(row));
  }
  json encoding = {
      {"x", d.axis("x", true)}, {"x2", second("X", d.figure.x_title)}, {"y", d.axis("y", false)}, {"y2", second("Y", d.figure.y_title)}};
  if (by_words) {
    encoding["fill"] = {{"field", "c"}, {"type", "nominal"}, {"scale", nullptr}, {"legend", nullptr}};
    encoding["tooltip"] = {tip("w", tip_name(layer.legend, "class"), true)};
  } else {
    encoding["fill"] = value_channel(d, layer);
    encoding["tooltip"] = {tooltip("v", tip_name(layer.legend, "value"))};
  }
  const json mark = {{"type", "rect"}, {"strokeWidth", 0}, {"opacity", layer.opacity > 0 ? layer.opacity : 1}};
  return {{"data", {{"values", rows}}}, {"mark", mark}, {"encoding", encoding}};
}

// Segments, and lines right across.
json rule_layer(const Drawing& d, const FigureLayer& layer) {
  json mark = {{"type", "rule"},
               {"color", d.legend.color_of(layer)},
               {"strokeWidth", layer.size > 0 ? layer.size : 1.8},
               {"opacity", layer.opacity > 0 ? layer.opacity : 1}};
  if (layer.dashed) mark["strokeDash"] = {5, 4};
  json encoding = json::object();
  json tips = json::array();
  if (layer.x.size() > 0) {
    encoding["x"] = d.axis("x", true);
    tips.push_back(tooltip("x", tip_name(layer.name, "x")));
  }
  if (layer.y.size() > 0) {
    encoding["y"] = d.axis("y", false);
    tips.push_back(tooltip("y", tip_name(layer.name, "y")));
  }
  if (layer.mark == Mark::segments) {
    encoding["x2"] = second("X", d.figure.x_title);
    encoding["y2"] = second("Y", d.figure.y_title);
  } else {
    encoding["tooltip"] = tips;
  }
  return {{"data", {{"values", rows_of(d, layer)}}}, {"mark", mark}, {"encoding", encoding}};
}

json text_layer(const Drawing& d, const FigureLayer& layer) {
  const json mark = {{"type", "text"},
                     {"color", d.legend.color_of(layer)},
                     {"fontSize", layer.size > 0 ? layer.size : 11},
                     {"align", "left"},
                     {"dx", 6},
                     {"opacity", layer.opacity > 0 ? layer.opacity : 1}};
  return {{"data", {{"values", rows_of(d, layer)}}},
          {"mark", mark},
          {"encoding", {{"x", d.axis("x", true)}, {"y", d.axis("y", false)}, {"text", {{"field", "w"}, {"type", "nominal"}}}}}};
}

json layer_spec(Drawing& d, const FigureLayer& layer) {
  switch (layer.mark) {
    case Mark::points:
      return points_layer(d, layer);
    case Mark::line:
    case Mark::step:
      return line_layer(d, layer);
    case Mark::band:
      return band_layer(d, layer);
    case Mark::bars:
      return bars_layer(d, layer);
    case Mark::named:
      return named_layer(d);
    case Mark::tiles:
      return tiles_layer(d, layer);
    case Mark::segments:
    case Mark::upright:
    case Mark::level:
      return rule_layer(d, layer);
    case Mark::text:
      return text_layer(d, layer);
  }
  return nullptr;
}

}  // namespace

json figure_spec(const Figure& figure) {
  check_layers(figure);
  Drawing d(figure);
  json spec = chart_base(figure.height);
  if (figure.square) d.make_square(spec);
  if (!figure.description.empty()) spec["description"] = clean_text(figure.description);
  json layers = json::array();
  std::set<std::string> values;
  bool named = false;
  for (const FigureLayer& layer : figure.layers) {
    if (layer.value.size() > 0) values.insert(layer.legend);
    if (layer.mark == Mark::named && named) continue;
    named = named || layer.mark == Mark::named;
    layers.push_back(layer_spec(d, layer));
  }
  const json legend = d.legend.layer();
  if (!legend.is_null()) layers.push_back(legend);
  spec["layer"] = layers;
  if (values.size() > 1) spec["resolve"] = {{"scale", {{"fill", "independent"}}}};
  return spec;
}

Chart figure_chart(const Figure& figure) { return {.title = figure.title, .description = figure.description, .spec = figure_spec(figure)}; }

}  // namespace mercer::report

namespace mercer {

std::string vega_lite(const Figure& figure) {
  return report::figure_spec(figure).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace mercer
