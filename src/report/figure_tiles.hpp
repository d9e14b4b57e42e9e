// The cells of a layer of tiles: what its points lie on, and rows of equal colour as one rectangle, so that pages stay small and swift.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mercer/figure.hpp"

namespace mercer::report {

// Neighbours of one kind in a line of the grid.
struct TileRun {
  double x, x2, y, y2;
  std::string kind;
  Index first;  // the layer's row
  double mean;  // of the values
};

class TileGrid {
 public:
  TileGrid(const FigureLayer& layer, bool log_x, bool log_y);

  double x_low() const { return across_.edge(0); }
  double x_high() const { return across_.edge(across_.size()); }
  double y_low() const { return upwards_.edge(0); }
  double y_high() const { return upwards_.edge(upwards_.size()); }

  // From the bottom line to the top, each from left to right; later ones are drawn over the rims of earlier ones, so that no seam shows.
  std::vector<TileRun> runs(const std::function<std::string(Index)>& kind) const;

 private:
  // One axis: the coordinates, evenly spaced, and the edges between them.
  struct Axis {
    Axis(const Vector& values, bool logarithmic);
    Index size() const { return static_cast<Index>(at.size()); }
    Index place(double value) const;     // among the coordinates
    double edge(double position) const;  // before coordinate number `position`
    std::vector<double> at{};            // on a logarithmic axis its logarithms
    double step = 1;
    bool logarithmic;
  };

  const FigureLayer& layer_;
  Axis across_, upwards_;
};

}  // namespace mercer::report
