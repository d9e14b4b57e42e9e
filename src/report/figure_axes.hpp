// The axes of a figure: their ranges, ticks and digits. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "mercer/figure.hpp"
#include "report/figure_colors.hpp"

namespace mercer::report {

// Numbers of one axis as they stand in the page: with no more digits than can be seen. Null where there is nothing to draw.
class Digits {
 public:
  Digits(const Extent& extent, bool logarithmic);
  nlohmann::json operator()(double value) const;

 private:
  bool logarithmic_;
  double power_ = 0;
};

// What all layers of a picture share.
struct Drawing {
  const Figure& figure;
  FigureLegend legend;
  Extent x{}, y{};
  bool named = false, tiled = false, from_zero = false;
  double base = 0;                // where bars stand
  std::set<std::string> shown{};  // titles of values whose legend is there

  explicit Drawing(const Figure& f);
  Digits digits_x() const { return {x, figure.log_x}; }
  Digits digits_y() const { return {y, figure.log_y}; }
  // Of x or of y.
  nlohmann::json axis(const char* field, bool across) const;
  // Width and height in pixels, so that a unit is as long across as upwards.
  void make_square(nlohmann::json& spec) const;
};

// Null where there is none.
nlohmann::json title_or_none(const std::string& title);
// The second end of a mark: Vega-Lite would write its field beside the title of the first.
nlohmann::json second(const char* field, const std::string& title);

}  // namespace mercer::report
