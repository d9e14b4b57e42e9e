// SPDX-License-Identifier: BSD-3-Clause
#include "report/figure_axes.hpp"

#include <algorithm>
#include <cmath>

#include "report/chart_parts.hpp"
#include "report/escape.hpp"
#include "report/figure_tiles.hpp"

namespace mercer::report {

using nlohmann::json;

namespace {

constexpr double side = 350;  // of a square picture, at most, so that two stand side by side

// The range of a picture whose ends are given: all there is, with a margin where no tiles make it full.
Range range_of(const Extent& extent, bool full) {
  if (!extent.any) return {0, 1};
  return full && extent.low < extent.high ? Range{extent.low, extent.high} : padded_range(extent.low, extent.high);
}

// Powers of ten, with 2 and 5 between them where there are few.
json log_ticks(const Range& range) {
  json ticks = json::array();
  const double decades = std::log10(range.high / range.low);
  if (!(decades < 12)) return nullptr;
  for (double power = std::floor(std::log10(range.low)); power <= std::log10(range.high); ++power) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double tick = digit * std::pow(10.0, power);
      if ((digit == 1 || decades < 2.5) && tick >= range.low && tick <= range.high) ticks.push_back(tick);
    }
  }
  return ticks.size() > 1 ? ticks : json(nullptr);
}

json log_axis(const Extent& extent, bool full, json& axis) {
  if (!extent.any) return {{"type", "log"}, {"domain", {1, 10}}};
  Range range = range_of({std::log10(extent.low), std::log10(extent.high), true}, full);
  range = {std::pow(10.0, range.low), std::pow(10.0, range.high)};
  const json ticks = log_ticks(range);
  if (!ticks.is_null()) axis["values"] = ticks;
  axis["format"] = "~g";
  return {{"type", "log"}, {"domain", {range.low, range.high}}, {"nice", false}};
}

}  // namespace

json title_or_none(const std::string& title) { return title.empty() ? json(nullptr) : json(clean_text(title)); }

json second(const char* field, const std::string& title) { return {{"field", field}, {"title", title_or_none(title)}}; }

Digits::Digits(const Extent& extent, bool logarithmic) : logarithmic_(logarithmic) {
  const double spread = extent.high - extent.low;
  if (!logarithmic && spread > 0) power_ = std::pow(10.0, std::clamp(5 - std::floor(std::log10(spread)), 0.0, 15.0));
}

json Digits::operator()(double value) const {
  if (!std::isfinite(value) || (logarithmic_ && value <= 0)) return nullptr;
  const double rounded = std::round(value * power_) / power_;
  return power_ > 0 && std::isfinite(rounded) ? rounded : value;
}

Drawing::Drawing(const Figure& f) : figure(f), legend(f), from_zero(f.from_zero) {
  bool stands = false;  // bars do, on a base
  for (const FigureLayer& layer : f.layers) {
    named = named || layer.mark == Mark::named;
    stands = stands || layer.mark == Mark::named || layer.mark == Mark::bars;
    if (layer.mark == Mark::tiles) {
      tiled = true;
      const TileGrid grid(layer, f.log_x, f.log_y);
      x.add(Vector{{grid.x_low(), grid.x_high()}}, f.log_x);
      y.add(Vector{{grid.y_low(), grid.y_high()}}, f.log_y);
      continue;
    }
    for (const Vector* values : {&layer.x, &layer.x2}) x.add(*values, f.log_x);
    for (const Vector* values : {&layer.y, &layer.y2}) y.add(*values, f.log_y);
  }
  from_zero = from_zero || stands;
  if (f.log_y && stands && y.any) base = std::pow(10.0, std::floor(std::log10(y.low)));
  if (f.log_y ? stands && y.any : from_zero) y.add(base);
}

json Drawing::axis(const char* field, bool across) const {
  const Extent& extent = across ? x : y;
  json axis = {{"labelFlush", false}, {"labelOverlap", true}, {"labelSeparation", 6}};
  json scale = {{"zero", !across && from_zero}};
  if (across ? figure.log_x : figure.log_y) {
    scale = log_axis(extent, tiled, axis);
  } else if (tiled || figure.square) {
    const Range range = range_of(extent, tiled);
    scale.update({{"domain", {range.low, range.high}}, {"nice", false}});
  }
  if (tiled) axis["grid"] = false;
  return {{"field", field},
          {"type", "quantitative"},
          {"title", title_or_none(across ? figure.x_title : figure.y_title)},
          {"scale", scale},
          {"axis", axis}};
}

void Drawing::make_square(json& spec) const {
  const Range across = range_of(x, tiled);
  const Range upwards = range_of(y, tiled);
  const double shape = std::clamp((upwards.high - upwards.low) / (across.high - across.low), 0.05, 20.0);
  const double width = std::min(side, side / shape);
  spec["width"] = std::lround(width);
  spec["height"] = std::lround(width * shape);
  spec.erase("autosize");
}

}  // namespace mercer::report
