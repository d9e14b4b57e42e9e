// What the parts of a figure are coloured: names and words share one legend, values another.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "mercer/figure.hpp"
#include "report/chart_parts.hpp"

namespace mercer::report {

// The least and the largest finite number among those added; empty until then.
struct Extent {
  double low = 0, high = 0;
  bool any = false;

  void add(double value);
  void add(const Vector& values, bool positive = false);  // positive: those alone
};

// Names of layers and words of points and tiles, each with its colour and its sign in the legend.
class FigureLegend {
 public:
  explicit FigureLegend(const Figure& figure);

  std::string color_of(const FigureLayer& layer) const;
  std::string color_of_word(const std::string& word) const;
  // What a row says for a word: itself, or that it is one of the rest.
  std::string word_of(const std::string& word) const;
  // Colour and shape of points by their words.
  void encode_words(nlohmann::json& encoding) const;
  // An empty layer that brings the legend; null where there is nothing to tell apart.
  nlohmann::json layer() const;

 private:
  struct Entry {
    std::string word, color, shape;
  };
  const Entry* find(const std::string& word) const;
  void add_words(const Figure& figure);
  void add_names(const Figure& figure);
  nlohmann::json channel(const char* what) const;

  std::vector<Entry> words_{};  // before the names
  std::vector<Entry> names_{};
  std::string title_{};
  std::string plain_{};  // of layers without a name
  bool over_tiles_ = false;
};

// The colours of `value` in the layers with one title of the legend: of tiles levels from the colour of the page to that of the figure, in
// two directions where zero is within.
class ValueColors {
 public:
  ValueColors(const Figure& figure, const std::string& legend);

  bool leveled() const { return !range_.empty(); }
  int level_of(double value) const;                // of tiles: which colour
  nlohmann::json channel(bool with_legend) const;  // for a field "v"

 private:
  std::string title_;
  Extent extent_{};
  std::vector<std::string> range_{};
};

}  // namespace mercer::report
