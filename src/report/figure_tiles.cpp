// SPDX-License-Identifier: BSD-3-Clause
#include "report/figure_tiles.hpp"

#include <algorithm>
#include <cmath>

namespace mercer::report {

namespace {

constexpr Index most_lines = 130;  // of tiles, in either direction
constexpr double rim = 0.75;       // of a tile, under the next one: a pixel at least

}  // namespace

TileGrid::Axis::Axis(const Vector& values, bool log) : logarithmic(log) {
  for (const double value : values) {
    const double place = log ? std::log10(value) : value;
    if (std::isfinite(place)) at.push_back(place);
  }
  std::sort(at.begin(), at.end());
  if (at.empty()) at.push_back(0);
  const double same = 1e-9 * (at.back() - at.front());
  at.erase(std::unique(at.begin(), at.end(), [&](double a, double b) { return b - a <= same; }), at.end());
  if (at.size() > 1) step = (at.back() - at.front()) / static_cast<double>(at.size() - 1);
}

Index TileGrid::Axis::place(double value) const {
  const double on = logarithmic ? std::log10(value) : value;
  return std::isfinite(on) ? std::lround((on - at.front()) / step) : -1;
}

double TileGrid::Axis::edge(double position) const {
  const double on = at.front() + (position - 0.5) * step;
  return logarithmic ? std::pow(10.0, on) : on;
}

TileGrid::TileGrid(const FigureLayer& layer, bool log_x, bool log_y) : layer_(layer), across_(layer.x, log_x), upwards_(layer.y, log_y) {}

std::vector<TileRun> TileGrid::runs(const std::function<std::string(Index)>& kind) const {
  const Index n1 = across_.size();
  const Index n2 = upwards_.size();
  std::vector<Index> row_at(static_cast<std::size_t>(n1 * n2), -1);
  for (Index i = 0; i < layer_.x.size(); ++i) {
    const Index a = across_.place(layer_.x[i]);
    const Index b = upwards_.place(layer_.y[i]);
    const bool drawn = layer_.value.size() == 0 || std::isfinite(layer_.value[i]);
    if (drawn && a >= 0 && a < n1 && b >= 0 && b < n2) row_at[static_cast<std::size_t>(b * n1 + a)] = i;
  }
  const Index s1 = (n1 + most_lines - 1) / most_lines;
  const Index s2 = (n2 + most_lines - 1) / most_lines;
  const auto edge = [](const Axis& axis, Index position) {
    const Index n = axis.size();
    return axis.edge(position >= n ? static_cast<double>(n) : static_cast<double>(position) + rim);
  };
  std::vector<TileRun> out;
  for (Index b = 0; b < n2; b += s2) {
    Index members = 0;  // of the run that is open
    for (Index a = 0; a < n1; a += s1) {
      const Index i = row_at[static_cast<std::size_t>(b * n1 + a)];
      if (i < 0) {
        members = 0;
        continue;
      }
      const std::string word = kind(i);
      const double value = layer_.value.size() > 0 ? layer_.value[i] : 0;
      if (members > 0 && out.back().kind == word) {
        ++members;
        out.back().mean += (value - out.back().mean) / static_cast<double>(members);
        out.back().x2 = edge(across_, a + s1);
        continue;
      }
      members = 1;
      out.push_back({across_.edge(static_cast<double>(a)), edge(across_, a + s1), upwards_.edge(static_cast<double>(b)),
                     edge(upwards_, b + s2), word, i, value});
    }
  }
  return out;
}

}  // namespace mercer::report
