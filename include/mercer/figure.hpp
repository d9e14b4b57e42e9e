// A picture as plain values: layers of marks over two axes. Pages draw it with Vega-Lite.
//
//   Figure figure{.title = "Ridge is calm", .x_title = "x", .y_title = "y"};
//   figure.layers.push_back(figures::points(x, y, "data"));
//   figure.layers.push_back(figures::line(grid, f, "ridge"));
//   std::string spec = vega_lite(figure);
//
// Names and words are data: pages escape them. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "mercer/matrix.hpp"

namespace mercer {

enum class Mark {
  points,    // x, y; coloured by `words` or `value` where given
  line,      // x, y in their order; a y that is not finite is a gap
  step,      // x, y: a level holds until the next x
  band,      // between y and y2 over x
  bars,      // from x to x2, of height y
  named,     // bars of height y, one for each of `words`, side by side where layers have different names
  tiles,     // a colour at each point of a regular grid x, y: by `value`, or by `words`
  segments,  // from (x, y) to (x2, y2)
  text,      // `words` at x, y
  upright,   // lines right across the picture at x
  level,     // lines right across the picture at y
};

struct FigureLayer {
  Mark mark = Mark::points;
  std::string name{};  // in the legend; layers of one name share a colour; empty: the first colour, no entry in the legend
  Vector x{}, y{};
  Vector x2{}, y2{};
  Vector value{};
  std::vector<std::string> words{};
  bool dashed = false;
  bool soft = false;     // the colour of axes: what is only there to compare with
  double size = 0;       // of points, or the width of lines; 0: as usual
  double opacity = 0;    // 0: as usual
  std::string legend{};  // title of the colours of `value` or `words`
};

struct Figure {
  std::string title{};
  std::string description{};  // what a person who cannot see the picture should know
  std::string x_title{}, y_title{};
  std::vector<FigureLayer> layers{};  // the first lies at the bottom
  bool log_x = false, log_y = false;
  bool from_zero = false;  // the y axis begins at 0
  bool square = false;     // one unit is as long on both axes, over the range of all layers
  int height = 300;
};

namespace figures {

// Layers in one line each.
FigureLayer points(const Vector& x, const Vector& y, std::string name = "");
FigureLayer line(const Vector& x, const Vector& y, std::string name = "");
FigureLayer dashed_line(const Vector& x, const Vector& y, std::string name = "");
FigureLayer band(const Vector& x, const Vector& low, const Vector& high, std::string name = "");
FigureLayer upright(double x, std::string name = "");
FigureLayer level(double y, std::string name = "");
FigureLayer classes(const Matrix& points, const std::vector<std::string>& words, std::string legend = "class");
FigureLayer tiles(const Matrix& grid, const Vector& value, std::string legend = "");
// Counts over equal bins; `density` divides by their area, so that samples of different sizes compare.
FigureLayer histogram(const Vector& values, int bins, std::string name = "", bool density = false);
// Share of the values at or below each of them.
FigureLayer distribution(const Vector& values, std::string name = "");
// Where a function given on the rows of `grid_points` (x1 changing fastest, n1 x n2 of them) takes the value `at`: a decision boundary.
FigureLayer contour(const Matrix& grid_points, const Vector& value, Index n1, Index n2, double at = 0, std::string name = "");
// The points of a grid over the ranges of two columns with a margin, x1 changing fastest: n1 * n2 rows.
Matrix grid_over(const Matrix& points, Index n1, Index n2, double margin = 0.08);

}  // namespace figures

// The figure as a Vega-Lite specification (JSON text, data inline). Throws InvalidArgument where the sizes of a layer do not agree.
std::string vega_lite(const Figure& figure);

}  // namespace mercer
