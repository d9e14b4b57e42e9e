// SPDX-License-Identifier: BSD-3-Clause
#include "report/figure_colors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/escape.hpp"

namespace mercer::report {

namespace {

using nlohmann::json;

// The colours of the page, then others that are seen on light and on dark.
constexpr std::array palette{"var(--accent)", "var(--second)", "var(--third)", "var(--fourth)", "var(--fifth)",
                             "#b98a1c",       "#1a9fb5",       "#9a7357",      "#7d9a2f",       "#8a8f9c"};
constexpr std::array shapes{"circle", "square", "diamond", "triangle-up", "cross"};
// Filled shapes in a square from -1 to 1: a line, a dashed one, a patch.
constexpr const char* line_sign = "M-1.2,-0.16L1.2,-0.16L1.2,0.16L-1.2,0.16Z";
constexpr const char* dashed_sign = "M-1.2,-0.16L-0.3,-0.16L-0.3,0.16L-1.2,0.16ZM0.3,-0.16L1.2,-0.16L1.2,0.16L0.3,0.16Z";
constexpr const char* patch_sign = "M-0.9,-0.7L0.9,-0.7L0.9,0.7L-0.9,0.7Z";

constexpr int levels = 17;  // of the colours of tiles, odd: one for the middle

bool is_line(Mark mark) {
  return mark == Mark::line || mark == Mark::step || mark == Mark::segments || mark == Mark::upright || mark == Mark::level;
}

const char* sign_of(const FigureLayer& layer) {
  if (is_line(layer.mark)) return layer.dashed ? dashed_sign : line_sign;
  return layer.mark == Mark::points || layer.mark == Mark::text ? "circle" : patch_sign;
}

const char* palette_at(std::size_t i) { return palette[i % palette.size()]; }

bool has_colored_words(const FigureLayer& layer) {
  return !layer.words.empty() && (layer.mark == Mark::points || layer.mark == Mark::tiles);
}

// Of one colour: that of its name, or the usual one.
bool is_plain(const FigureLayer& layer) { return layer.value.size() == 0 && !has_colored_words(layer); }

// How many entries stand beside each other over a chart of the usual width.
std::size_t columns_for(std::size_t longest) { return std::clamp<std::size_t>(430 / (7 * longest + 34), 1, 8); }

std::string mixed(const char* color, double share) {
  return fmt::format("color-mix(in srgb, {} {:.0f}%, var(--paper))", color, 100 * share);
}

}  // namespace

void Extent::add(double value) {
  if (!std::isfinite(value)) return;
  low = any ? std::min(low, value) : value;
  high = any ? std::max(high, value) : value;
  any = true;
}

void Extent::add(const Vector& values, bool positive) {
  for (const double value : values) {
    if (!positive || value > 0) add(value);
  }
}

FigureLegend::FigureLegend(const Figure& figure) {
  over_tiles_ = std::any_of(figure.layers.begin(), figure.layers.end(), [](const FigureLayer& l) { return l.mark == Mark::tiles; });
  add_words(figure);
  add_names(figure);
}

const FigureLegend::Entry* FigureLegend::find(const std::string& word) const {
  for (const auto* entries : {&words_, &names_}) {
    for (const Entry& entry : *entries) {
      if (entry.word == word) return &entry;
    }
  }
  return nullptr;
}

void FigureLegend::add_words(const Figure& figure) {
  std::vector<std::string> all;
  for (const FigureLayer& layer : figure.layers) {
    if (!has_colored_words(layer)) continue;
    all.insert(all.end(), layer.words.begin(), layer.words.end());
    if (title_.empty()) title_ = clean_text(layer.legend);
  }
  const auto add = [&](const std::string& word) {
    const std::size_t i = words_.size();
    words_.push_back({word, palette_at(i), ""});
  };
  for (const std::string& word : legend_of(all)) add(word);
  if (std::any_of(all.begin(), all.end(), [&](const std::string& word) { return find(word) == nullptr; })) add(others);
  // Few words have each a shape, for eyes that do not tell colours apart; many have one where the colours come again.
  for (std::size_t i = 0; i < words_.size(); ++i)
    words_[i].shape = shapes[words_.size() <= shapes.size() ? i : (i / palette.size()) % shapes.size()];
}

void FigureLegend::add_names(const Figure& figure) {
  std::size_t next = words_.size();
  plain_ = palette_at(next);
  const bool plain_is_used = std::any_of(figure.layers.begin(), figure.layers.end(), [&](const FigureLayer& l) {
    return l.name.empty() && is_plain(l) && !l.soft && l.mark != Mark::text && !(over_tiles_ && is_line(l.mark));
  });
  if (plain_is_used) ++next;
  for (const FigureLayer& layer : figure.layers) {
    if (layer.name.empty() || !is_plain(layer) || find(layer.name) != nullptr) continue;
    names_.push_back({layer.name, layer.soft ? "var(--ink-soft)" : palette_at(next), sign_of(layer)});
    if (!layer.soft) ++next;
  }
}

std::string FigureLegend::color_of(const FigureLayer& layer) const {
  if (layer.soft) return "var(--ink-soft)";
  if (const Entry* entry = layer.name.empty() ? nullptr : find(layer.name)) return entry->color;
  // On coloured ground a line without a name is in ink: a decision boundary.
  return layer.mark == Mark::text || (over_tiles_ && is_line(layer.mark)) ? "var(--ink)" : plain_;
}

std::string FigureLegend::word_of(const std::string& word) const { return find(word) != nullptr ? clean_text(word) : others; }

std::string FigureLegend::color_of_word(const std::string& word) const {
  const Entry* entry = find(word);
  return entry != nullptr ? entry->color : words_.back().color;
}

json FigureLegend::channel(const char* what) const {
  json domain = json::array();
  json range = json::array();
  std::size_t longest = 1;
  for (const auto* entries : {&words_, &names_}) {
    for (const Entry& entry : *entries) {
      domain.push_back(clean_text(entry.word));
      range.push_back(std::string_view(what) == "color" ? entry.color : entry.shape);
      longest = std::max(longest, clean_text(entry.word).size());
    }
  }
  json legend = {{"symbolOpacity", 1}, {"symbolSize", 110}, {"symbolStrokeWidth", 0}, {"labelLimit", 360}, {"rowPadding", 4}};
  if (domain.size() > 12) {
    legend.update({{"orient", "right"}, {"columns", 1}});
  } else {
    legend.update({{"orient", "top"}, {"direction", "horizontal"}, {"columns", columns_for(longest)}});
  }
  const json title = words_.empty() || title_.empty() || !names_.empty() ? json(nullptr) : json(title_);
  return {{"field", "w"}, {"type", "nominal"}, {"title", title}, {"scale", {{"domain", domain}, {"range", range}}}, {"legend", legend}};
}

void FigureLegend::encode_words(json& encoding) const {
  encoding["color"] = channel("color");
  encoding["shape"] = channel("shape");
}

json FigureLegend::layer() const {
  if (words_.empty() && names_.empty()) return nullptr;
  json encoding;
  encode_words(encoding);
  return {{"data", {{"values", json::array()}}}, {"mark", {{"type", "point"}}}, {"encoding", encoding}};
}

ValueColors::ValueColors(const Figure& figure, const std::string& legend) : title_(clean_text(legend)) {
  bool of_tiles = false;
  for (const FigureLayer& layer : figure.layers) {
    if (layer.legend != legend) continue;
    extent_.add(layer.value);
    of_tiles = of_tiles || (layer.mark == Mark::tiles && layer.value.size() > 0);
  }
  if (!extent_.any) extent_.add(0);
  const bool signs = extent_.low < 0 && extent_.high > 0 && std::min(-extent_.low, extent_.high) > 0.02 * (extent_.high - extent_.low);
  if (signs && of_tiles) {
    extent_.add(-extent_.low);
    extent_.add(-extent_.high);
  }
  if (extent_.low == extent_.high) {
    extent_.add(extent_.low + 0.5);
    extent_.add(extent_.low - 0.5);
  }
  const double full = figure.layers.size() == 1 ? 0.92 : 0.62;  // what lies above must be seen
  for (int k = 0; of_tiles && k < levels; ++k) {
    const double t = k / (levels - 1.0);
    if (signs) {
      range_.push_back(mixed(t < 0.5 ? "var(--second)" : "var(--accent)", full * std::abs(2 * t - 1)));
    } else {
      range_.push_back(mixed("var(--accent)", 0.04 + (full - 0.04) * t));
    }
  }
}

int ValueColors::level_of(double value) const {
  return std::clamp(static_cast<int>(std::floor(levels * (value - extent_.low) / (extent_.high - extent_.low))), 0, levels - 1);
}

json ValueColors::channel(bool with_legend) const {
  json scale = {{"domain", {extent_.low, extent_.high}}};
  if (leveled()) {
    scale.update({{"type", "quantize"}, {"range", range_}});
  } else {
    scale["scheme"] = {{"name", "viridis"}, {"extent", {0.15, 1}}};  // its darkest is not seen on dark
  }
  return {
      {"field", "v"},
      {"type", "quantitative"},
      {"title", title_.empty() ? json(nullptr) : json(title_)},
      {"scale", scale},
      {"legend",
       with_legend
           ? json{{"type", "gradient"}, {"format", ".2~g"}, {"gradientLength", 150}, {"labelOverlap", "greedy"}, {"labelSeparation", 12}}
           : json(nullptr)}};
}

}  // namespace mercer::report
