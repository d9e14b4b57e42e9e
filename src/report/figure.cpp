// The layers of figures that one line makes: histograms, shares, grids, and level lines by marching squares.
// Reference: Lorensen & Cline (1987), in two dimensions; saddles are decided by the mean of the four corners.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "mercer/error.hpp"

namespace mercer::figures {

namespace {

constexpr double gap = std::numeric_limits<double>::quiet_NaN();

void require(bool holds, const std::string& message) {
  if (!holds) throw InvalidArgument(message);
}

void require_as_many(const char* what, Index x, Index y) {
  require(x == y, fmt::format("{}: as many x as y are needed, got {} and {}", what, x, y));
}

void require_plane(const char* what, const Matrix& points) {
  require(points.cols() == 2, fmt::format("{}: points of two columns are needed, got {}", what, points.cols()));
}

// The values that are numbers, ascending.
std::vector<double> sorted_numbers(const char* what, const Vector& values) {
  std::vector<double> sorted;
  for (const double value : values) {
    if (std::isfinite(value)) sorted.push_back(value);
  }
  require(!sorted.empty(), fmt::format("{}: at least one finite value is needed, got none among {}", what, values.size()));
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

Vector vector_of(const std::vector<double>& values) { return Eigen::Map<const Vector>(values.data(), std::ssize(values)); }

// A grid of values and the points where the sides of its cells cross the level. Side 2 p runs from point p along x1, side 2 p + 1 along x2.
class LevelLines {
 public:
  LevelLines(const Matrix& points, const Vector& value, Index n1, Index n2, double at)
      : points_(points), value_(value), n1_(n1), n2_(n2), at_(at) {
    for (Index j = 0; j + 1 < n2_; ++j) {
      for (Index i = 0; i + 1 < n1_; ++i) cross(j * n1_ + i);
    }
  }

  // All lines one after the other, with a gap between them: open ones from an end, then closed ones.
  void trace(std::vector<double>& x, std::vector<double>& y) {
    for (const bool open : {true, false}) {
      for (auto& [side, next] : joined_) {
        if (next.empty() || (open && next.size() != 1)) continue;
        if (!x.empty()) {
          x.push_back(gap);
          y.push_back(gap);
        }
        walk(side, x, y);
      }
    }
  }

 private:
  bool above(Index p) const { return value_[p] >= at_; }

  void join(Index a, Index b) {
    joined_[a].push_back(b);
    joined_[b].push_back(a);
  }

  // The lines through the cell whose first corner is p.
  void cross(Index p) {
    const std::array<Index, 4> corner{p, p + 1, p + n1_ + 1, p + n1_};                  // around the cell
    const std::array<Index, 4> side{2 * p, 2 * (p + 1) + 1, 2 * (p + n1_), 2 * p + 1};  // from corner k to the next
    double mean = 0;
    for (const Index c : corner) mean += value_[c] / 4;
    if (!std::isfinite(mean)) return;
    std::vector<Index> crossed;
    for (std::size_t k = 0; k < 4; ++k) {
      if (above(corner[k]) != above(corner[(k + 1) % 4])) crossed.push_back(side[k]);
    }
    if (crossed.size() == 2) {
      join(crossed[0], crossed[1]);
    } else if (crossed.size() == 4) {
      // Two lines cut off the corners that are not on the side of the middle.
      const std::size_t first = above(corner[0]) == (mean >= at_) ? 1 : 0;
      join(side[first], side[(first + 3) % 4]);
      join(side[first + 2], side[first + 1]);
    }
  }

  void put(Index side, std::vector<double>& x, std::vector<double>& y) const {
    const Index a = side / 2;
    const Index b = side % 2 == 0 ? a + 1 : a + n1_;
    const double t = (at_ - value_[a]) / (value_[b] - value_[a]);
    x.push_back(points_(a, 0) + t * (points_(b, 0) - points_(a, 0)));
    y.push_back(points_(a, 1) + t * (points_(b, 1) - points_(a, 1)));
  }

  void walk(Index side, std::vector<double>& x, std::vector<double>& y) {
    put(side, x, y);
    while (!joined_[side].empty()) {
      const Index next = joined_[side].back();
      joined_[side].pop_back();
      std::erase(joined_[next], side);
      side = next;
      put(side, x, y);
    }
  }

  const Matrix& points_;
  const Vector& value_;
  Index n1_;
  Index n2_;
  double at_;
  std::map<Index, std::vector<Index>> joined_{};  // the sides that a line joins with each side
};

}  // namespace

FigureLayer points(const Vector& x, const Vector& y, std::string name) {
  require_as_many("points", x.size(), y.size());
  return {.mark = Mark::points, .name = std::move(name), .x = x, .y = y};
}

FigureLayer line(const Vector& x, const Vector& y, std::string name) {
  require_as_many("a line", x.size(), y.size());
  return {.mark = Mark::line, .name = std::move(name), .x = x, .y = y};
}

FigureLayer dashed_line(const Vector& x, const Vector& y, std::string name) {
  FigureLayer layer = line(x, y, std::move(name));
  layer.dashed = true;
  return layer;
}

FigureLayer band(const Vector& x, const Vector& low, const Vector& high, std::string name) {
  require_as_many("a band", x.size(), low.size());
  require_as_many("a band", x.size(), high.size());
  return {.mark = Mark::band, .name = std::move(name), .x = x, .y = low, .y2 = high};
}

FigureLayer upright(double x, std::string name) { return {.mark = Mark::upright, .name = std::move(name), .x = Vector::Constant(1, x)}; }

FigureLayer level(double y, std::string name) { return {.mark = Mark::level, .name = std::move(name), .y = Vector::Constant(1, y)}; }

FigureLayer classes(const Matrix& points, const std::vector<std::string>& words, std::string legend) {
  require_plane("classes", points);
  require(points.rows() == std::ssize(words),
          fmt::format("classes: a word for each point is needed, got {} words for {} points", words.size(), points.rows()));
  return {.mark = Mark::points, .x = points.col(0), .y = points.col(1), .words = words, .legend = std::move(legend)};
}

FigureLayer tiles(const Matrix& grid, const Vector& value, std::string legend) {
  require_plane("tiles", grid);
  require(grid.rows() == value.size(),
          fmt::format("tiles: a value for each point is needed, got {} values for {} points", value.size(), grid.rows()));
  return {.mark = Mark::tiles, .x = grid.col(0), .y = grid.col(1), .value = value, .legend = std::move(legend)};
}

FigureLayer histogram(const Vector& values, int bins, std::string name, bool density) {
  require(bins >= 1, fmt::format("a histogram: at least one bin is needed, got {}", bins));
  const std::vector<double> sorted = sorted_numbers("a histogram", values);
  const bool flat = sorted.front() == sorted.back();
  const double low = flat ? sorted.front() - 0.5 : sorted.front();
  const double width = flat ? 1.0 / bins : (sorted.back() - sorted.front()) / bins;
  FigureLayer layer{.mark = Mark::bars, .name = std::move(name), .x = Vector(bins), .y = Vector::Zero(bins), .x2 = Vector(bins)};
  for (int b = 0; b < bins; ++b) {
    layer.x[b] = low + b * width;
    layer.x2[b] = low + (b + 1) * width;
  }
  const double each = density ? 1 / (static_cast<double>(sorted.size()) * width) : 1;
  for (const double value : sorted) {
    const auto bin = static_cast<Index>(std::floor((value - low) / width));
    layer.y[std::clamp<Index>(bin, 0, bins - 1)] += each;
  }
  return layer;
}

FigureLayer distribution(const Vector& values, std::string name) {
  const std::vector<double> sorted = sorted_numbers("a distribution", values);
  std::vector<double> x{sorted.front()};  // it rises from 0 at the least value
  std::vector<double> y{0};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i + 1 < sorted.size() && sorted[i] == sorted[i + 1]) continue;
    x.push_back(sorted[i]);
    y.push_back(static_cast<double>(i + 1) / static_cast<double>(sorted.size()));
  }
  return {.mark = Mark::step, .name = std::move(name), .x = vector_of(x), .y = vector_of(y)};
}

FigureLayer contour(const Matrix& grid_points, const Vector& value, Index n1, Index n2, double at, std::string name) {
  require_plane("a contour", grid_points);
  require(n1 >= 2 && n2 >= 2, fmt::format("a contour: a grid of at least 2 x 2 points is needed, got {} x {}", n1, n2));
  require(
      grid_points.rows() == n1 * n2 && value.size() == n1 * n2,
      fmt::format("a contour: a grid of {} x {} has {} points, got {} with {} values", n1, n2, n1 * n2, grid_points.rows(), value.size()));
  std::vector<double> x;
  std::vector<double> y;
  LevelLines(grid_points, value, n1, n2, at).trace(x, y);
  return {.mark = Mark::line, .name = std::move(name), .x = vector_of(x), .y = vector_of(y)};
}

Matrix grid_over(const Matrix& points, Index n1, Index n2, double margin) {
  require_plane("a grid", points);
  require(points.rows() > 0 && points.allFinite(), "a grid: at least one point is needed, and all of them finite");
  require(n1 >= 2 && n2 >= 2, fmt::format("a grid: at least 2 x 2 points are needed, got {} x {}", n1, n2));
  const auto along = [&](Index column, Index n) -> Vector {
    const double low = points.col(column).minCoeff();
    const double high = points.col(column).maxCoeff();
    const double beyond = high > low ? margin * (high - low) : 1;
    return Vector::LinSpaced(n, low - beyond, high + beyond);
  };
  const Vector x1 = along(0, n1);
  const Vector x2 = along(1, n2);
  Matrix grid(n1 * n2, 2);
  for (Index j = 0; j < n2; ++j) {
    for (Index i = 0; i < n1; ++i) grid.row(j * n1 + i) << x1[i], x2[j];
  }
  return grid;
}

}  // namespace mercer::figures
