// What each mark of a figure needs. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mercer/error.hpp"
#include "report/figure_spec.hpp"

namespace mercer::report {

namespace {

struct Needs {
  const char* word;
  bool x, y, x2, y2;
};

Needs needs_of(Mark mark) {
  switch (mark) {
    case Mark::points:
      return {"points", true, true, false, false};
    case Mark::line:
      return {"line", true, true, false, false};
    case Mark::step:
      return {"step", true, true, false, false};
    case Mark::band:
      return {"band", true, true, false, true};
    case Mark::bars:
      return {"bars", true, true, true, false};
    case Mark::named:
      return {"named", false, true, false, false};
    case Mark::tiles:
      return {"tiles", true, true, false, false};
    case Mark::segments:
      return {"segments", true, true, true, true};
    case Mark::text:
      return {"text", true, true, false, false};
    case Mark::upright:
      return {"upright", true, false, false, false};
    case Mark::level:
      return {"level", false, true, false, false};
  }
  return {"", false, false, false, false};
}

void check_layer(const FigureLayer& layer, const std::string& where) {
  const Needs needs = needs_of(layer.mark);
  const auto require = [&](bool holds, const std::string& message) {
    if (!holds) throw InvalidArgument(fmt::format("{} ({}): {}", where, needs.word, message));
  };
  const Index n = needs.x ? layer.x.size() : layer.y.size();
  const std::vector<std::pair<const char*, std::pair<bool, Index>>> coordinates{{"x", {needs.x, layer.x.size()}},
                                                                                {"y", {needs.y, layer.y.size()}},
                                                                                {"x2", {needs.x2, layer.x2.size()}},
                                                                                {"y2", {needs.y2, layer.y2.size()}}};
  for (const auto& [name, what] : coordinates) {
    const auto& [needed, size] = what;
    require(needed || size == 0, fmt::format("{} is not drawn; leave it empty", name));
    require(!needed || size == n, fmt::format("{} has {} values where others have {}; give one for each", name, size, n));
  }
  const Index words = std::ssize(layer.words);
  const bool points_or_tiles = layer.mark == Mark::points || layer.mark == Mark::tiles;
  const bool written = layer.mark == Mark::named || layer.mark == Mark::text;
  require(layer.value.size() == 0 || points_or_tiles, "only points and tiles have the colour of a value");
  require(words == 0 || points_or_tiles || written, "words belong to points, tiles, named bars and text");
  require(layer.value.size() == 0 || words == 0, "the colour is by value or by words, not by both");
  require(layer.mark != Mark::tiles || layer.value.size() > 0 || words > 0 || n == 0, "tiles need a value or a word each");
  require(layer.value.size() == 0 || layer.value.size() == n, fmt::format("{} values for {} points", layer.value.size(), n));
  require((words == 0 && !written) || words == n, fmt::format("{} words for {} of them", words, n));
}

}  // namespace

void check_layers(const Figure& figure) {
  const auto named = [](const FigureLayer& layer) { return layer.mark == Mark::named; };
  const bool bars = std::any_of(figure.layers.begin(), figure.layers.end(), named);
  for (std::size_t i = 0; i < figure.layers.size(); ++i) {
    const FigureLayer& layer = figure.layers[i];
    const std::string where = fmt::format("layer {} of the figure \"{}\"", i + 1, figure.title);
    check_layer(layer, where);
    if (bars && !named(layer) && layer.mark != Mark::level)
      throw InvalidArgument(where + ": beside named bars stand only other named bars and levels; make it a figure of its own");
  }
  if (figure.height < 40 || figure.height > 4000)
    throw InvalidArgument(fmt::format("the figure \"{}\": its height is 40 to 4000 pixels, got {}", figure.title, figure.height));
}

}  // namespace mercer::report
