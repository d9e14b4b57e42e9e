// SPDX-License-Identifier: BSD-3-Clause
#include "gram/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "data/numbers_only.hpp"
#include "gram/tiling.hpp"
#include "mercer/error.hpp"
#include "mercer/run.hpp"

namespace mercer {

namespace {

// Calls f(column, x, y) for every column where either of two rows has an entry.
template <class A, class B, class F>
void for_each_pair(const A& X, Index i, const B& Y, Index j, F&& f) {
  constexpr bool dense_x = requires { X.data; };
  constexpr bool dense_y = requires { Y.data; };
  Index p = 0;
  Index q = 0;
  const Index p_end = [&] {
    if constexpr (dense_x) {
      return X.cols;
    } else {
      p = X.begin(i);
      return X.end(i);
    }
  }();
  const Index q_end = [&] {
    if constexpr (dense_y) {
      return Y.cols;
    } else {
      q = Y.begin(j);
      return Y.end(j);
    }
  }();
  const auto x_at = [&](Index k) -> std::pair<Index, double> {
    if constexpr (dense_x) {
      return {k, static_cast<double>(X.row(i)[k])};
    } else {
      return {X.columns[k], static_cast<double>(X.values[k])};
    }
  };
  const auto y_at = [&](Index k) -> std::pair<Index, double> {
    if constexpr (dense_y) {
      return {k, static_cast<double>(Y.row(j)[k])};
    } else {
      return {Y.columns[k], static_cast<double>(Y.values[k])};
    }
  };
  while (p < p_end || q < q_end) {
    constexpr Index none = std::numeric_limits<Index>::max();
    const Index cx = p < p_end ? x_at(p).first : none;
    const Index cy = q < q_end ? y_at(q).first : none;
    f(cx <= cy ? x_at(p).second : 0.0, cy <= cx ? y_at(q).second : 0.0);
    if (cx <= cy) ++p;
    if (cy <= cx) ++q;
  }
}

template <class F>
double sum_pairs(const Samples& X, Index i, const Samples& Y, Index j, F&& term) {
  double sum = 0;
  std::visit([&](const auto& x, const auto& y) { for_each_pair(x, i, y, j, [&](double a, double b) { sum += term(a, b); }); }, X.storage(),
             Y.storage());
  return sum;
}

// Where the largest absolute value stands, to be named in an error.
struct Place {
  Index row = 0;
  Index col = 0;
  double value = 0;
};

// Calls f(row, column, value) for every stored value.
template <class F>
void for_each_value(const Samples& X, F&& f) {
  std::visit(
      [&](const auto& all) {
        for (Index i = 0; i < all.rows; ++i) {
          if constexpr (requires { all.data; }) {
            for (Index k = 0; k < all.cols; ++k) f(i, k, static_cast<double>(all.row(i)[k]));
          } else {
            for (Index p = all.begin(i); p < all.end(i); ++p) f(i, static_cast<Index>(all.columns[p]), static_cast<double>(all.values[p]));
          }
        }
      },
      X.storage());
}

Place largest_value(const Samples& X) {
  Place largest;
  for_each_value(X, [&](Index i, Index j, double v) {
    if (std::abs(v) > std::abs(largest.value)) largest = {i, j, v};
  });
  return largest;
}

}  // namespace

double squared_distance_of(const Samples& X, Index i, const Samples& Y, Index j) {
  return sum_pairs(X, i, Y, j, [](double a, double b) { return (a - b) * (a - b); });
}

double l1_distance_of(const Samples& X, Index i, const Samples& Y, Index j) {
  return sum_pairs(X, i, Y, j, [](double a, double b) { return std::abs(a - b); });
}

double chi2_distance_of(const Samples& X, Index i, const Samples& Y, Index j) {
  return sum_pairs(X, i, Y, j, [](double a, double b) { return a + b > 0 ? (a - b) * (a - b) / (a + b) : 0.0; });
}

void require_not_negative(const Samples& X, const char* name) {
  require_finite(X, name);
  const auto check = [&](Index i, Index j, double value) {
    if (value >= 0) return;
    throw InvalidArgument(
        fmt::format("{} has the value {} in row {}, column {} (counting from 0): kernels of histograms need numbers >= 0 "
                    "(standard scaling makes some negative, min-max scaling none)",
                    name, value, i, j));
  };
  for_each_value(X, check);
}

RowSums row_sums(const Samples& X, const Vector& centre) {
  RowSums sums;
  const auto n = static_cast<std::size_t>(X.size());
  sums.squares.resize(n);
  sums.absolutes.resize(n);
  parallel_for(block_count(X.size()), [&](Index block) {
    const Range range = block_range(block, X.size());
    std::visit(
        [&](const auto& all) {
          for (Index i = range.begin; i < range.begin + range.count; ++i) {
            double square = 0;
            double absolute = 0;
            const auto add = [&](double v) {
              square += v * v;
              absolute += std::abs(v);
            };
            if constexpr (requires { all.data; }) {
              for (Index k = 0; k < all.cols; ++k) add(static_cast<double>(all.row(i)[k]) - (centre.size() > 0 ? centre[k] : 0.0));
            } else {
              for (Index p = all.begin(i); p < all.end(i); ++p) add(static_cast<double>(all.values[p]));
            }
            sums.squares[static_cast<std::size_t>(i)] = square;
            sums.absolutes[static_cast<std::size_t>(i)] = absolute;
          }
        },
        X.storage());
  });
  return sums;
}

template <class T>
void require_usable(const Samples& X, const RowSums& sums, const char* name) {
  const double most = static_cast<double>(std::numeric_limits<T>::max()) / 16;
  if (std::all_of(sums.squares.begin(), sums.squares.end(), [&](double square) { return square < most; })) return;
  require_finite(X, name);
  const Place place = largest_value(X);
  throw InvalidArgument(
      fmt::format("{} has the value {} in row {}, column {} (counting from 0), too large to square in {}; scale the columns{}", name,
                  place.value, place.row, place.col, name_of(precision_of<T>), sizeof(T) == 4 ? " or use float64" : ""));
}

template void require_usable<float>(const Samples&, const RowSums&, const char*);
template void require_usable<double>(const Samples&, const RowSums&, const char*);

Samples copy_of(const Samples& X) {
  std::vector<Index> all(static_cast<std::size_t>(X.size()));
  std::iota(all.begin(), all.end(), Index{0});
  return X.subset(all);
}

Vector column_means(const Samples& X) {
  require_numbers(X, "a mean of rows");
  return std::visit(
      [&](const auto& all) {
        Vector mean = Vector::Zero(all.cols);
        if constexpr (requires { all.data; }) {
          for (Index i = 0; i < all.rows; ++i) {
            for (Index k = 0; k < all.cols; ++k) mean[k] += static_cast<double>(all.row(i)[k]);
          }
        }
        return Vector(mean / static_cast<double>(std::max<Index>(1, all.rows)));
      },
      X.storage());
}

}  // namespace mercer
