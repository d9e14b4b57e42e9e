// SPDX-License-Identifier: BSD-3-Clause
#include "gram/transform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "mercer/error.hpp"
#include "mercer/run.hpp"

namespace mercer {

namespace {

std::vector<Index> positions(const Samples& X, std::span<const ColumnRef> columns) {
  if (X.is_given()) throw InvalidArgument(fmt::format("on({}) asks for columns, but a given Gram matrix has none", text_of(columns)));
  std::vector<Index> out;
  for (const ColumnRef& column : columns) {
    if (column.index < 0)
      throw InvalidArgument(fmt::format(
          "on({}) names a column, but these samples have no names: use positions, or resolve_columns(kernel, names)", text_of(columns)));
    if (column.index >= X.width())
      throw InvalidArgument(fmt::format("on({}) asks for column {}, but the samples have {} columns (0 to {})", text_of(columns),
                                        column.index, X.width(), X.width() - 1));
    out.push_back(column.index);
  }
  return out;
}

template <class T>
struct Csr {
  std::vector<T> values;
  std::vector<std::int32_t> columns;
  std::vector<std::int64_t> offsets{0};

  void append(Index column, double value) {
    if (value == 0) return;
    columns.push_back(static_cast<std::int32_t>(column));
    values.push_back(static_cast<T>(value));
  }
  void end_row() { offsets.push_back(static_cast<std::int64_t>(values.size())); }

  static Samples samples(Csr made, Index width) {
    const auto owner = std::make_shared<const Csr>(std::move(made));
    return Samples::borrow(
        CsrRows<T>{owner->values.data(), owner->columns.data(), owner->offsets.data(), std::ssize(owner->offsets) - 1, width}, owner);
  }
};

void require_one_or(std::size_t got, Index width, bool one_is_enough, const char* what) {
  if (got == static_cast<std::size_t>(width) || got == 0 || (one_is_enough && got == 1)) return;
  throw InvalidArgument(
      fmt::format("the kernel has {} {}, but looks at {} column{}: give one per column", got, what, width, width == 1 ? "" : "s"));
}

// What becomes of the number in column j of a row: put(new column, new number).
struct ColumnMap {
  const Transform& t;
  const Vector& centre;

  double period(Index j) const { return t.periods[t.periods.size() == 1 ? 0 : static_cast<std::size_t>(j)]; }
  double scale(Index j) const { return t.scales.empty() ? 1.0 : t.scales[static_cast<std::size_t>(j)]; }
  Index width(Index before) const { return t.periods.empty() ? before : 2 * before; }

  template <class Put>
  void operator()(Index j, double x, Put&& put) const {
    if (t.periods.empty()) return put(j, (centre.size() > 0 ? x - centre[j] : x) / scale(j));
    const double p = period(j);
    const double half = std::numbers::pi * std::remainder(x, p) / p;  // remainder is exact, however far x is
    const double s = std::sin(half);
    put(2 * j, -2 * s * s / scale(j));  // cos(2 half) - 1
    put(2 * j + 1, 2 * s * std::cos(half) / scale(j));
  }
};

// The length of row i as largest * root, so that squares neither overflow nor vanish; 1 where rows keep theirs or are zero.
struct Length {
  double largest = 1;
  double root = 1;
};

template <class Rows>
Length length_of(const Rows& all, Index i, bool unit_rows) {
  Length length;
  if (!unit_rows) return length;
  const auto each = [&](auto&& f) {
    if constexpr (requires { all.data; }) {
      for (Index j = 0; j < all.cols; ++j) f(static_cast<double>(all.row(i)[j]));
    } else {
      for (Index p = all.begin(i); p < all.end(i); ++p) f(static_cast<double>(all.values[p]));
    }
  };
  double largest = 0;
  each([&](double x) { largest = std::max(largest, std::abs(x)); });
  if (largest == 0) return length;
  double sum = 0;
  each([&](double x) { sum += (x / largest) * (x / largest); });
  return {largest, std::sqrt(sum)};
}

template <class S>
Samples mapped(const DenseRows<S>& all, const ColumnMap& map) {
  Matrix out(all.rows, map.width(all.cols));
  parallel_for(block_count(all.rows), [&](Index block) {
    const Range range = block_range(block, all.rows);
    for (Index i = range.begin; i < range.begin + range.count; ++i) {
      const Length length = length_of(all, i, map.t.unit_rows);
      for (Index j = 0; j < all.cols; ++j) {
        map(j, static_cast<double>(all.row(i)[j]) / length.largest / length.root,
            [&](Index column, double value) { out(i, column) = value; });
      }
    }
  });
  return Samples::own(std::move(out));
}

template <class S>
Samples mapped(const CsrRows<S>& all, const ColumnMap& map) {
  Csr<double> out;
  for (Index i = 0; i < all.rows; ++i) {
    const Length length = length_of(all, i, map.t.unit_rows);
    for (Index p = all.begin(i); p < all.end(i); ++p) {
      map(all.columns[p], static_cast<double>(all.values[p]) / length.largest / length.root,
          [&](Index column, double value) { out.append(column, value); });
    }
    out.end_row();
  }
  return Csr<double>::samples(std::move(out), map.width(all.cols));
}

}  // namespace

Samples select_columns(const Samples& X, std::span<const ColumnRef> columns) {
  if (columns.empty()) return X;
  return X.columns(positions(X, columns));
}

Samples transformed(const Samples& X, const Transform& t, const Vector& centre) {
  if (t.empty()) return X;
  if (t.map != nullptr) {
    Samples features((*t.map)(X));
    if (features.size() != X.size())
      throw InvalidArgument(
          fmt::format("the feature map made {} rows of {}: it must make one row of features for each row", features.size(), X.size()));
    require_finite(features, "what the feature map made");
    return features;
  }
  require_one_or(t.scales.size(), X.width(), false, "length scales");
  require_one_or(t.periods.size(), X.width(), true, "periods");
  return std::visit([&](const auto& all) { return mapped(all, ColumnMap{t, centre}); }, X.storage());
}

void add_transform_gradient(const Samples& X, Range I, const Samples& Y, Range J, const Transform& t, Reduction reduction,
                            Tile<const double> weights, std::span<double> gradient) {
  if (t.scales.empty() && t.periods.empty()) return;
  const ColumnMap map{t, Vector()};
  const Matrix x = X.slice(I.begin, I.count).to_dense();
  const Matrix y = Y.slice(J.begin, J.count).to_dense().transpose();  // a column of samples is a row here
  // sum_ij W_ij term(x_i - y_j) over one column
  const auto sum = [&](Index k, auto&& term) {
    double total = 0;
    for (Index i = 0; i < I.count; ++i) {
      const double* w = weights.row(i);
      double row = 0;
      for (Index j = 0; j < J.count; ++j) row += w[j] * term(x(i, k) - y(k, j));
      total += row;
    }
    return total;
  };
  for (Index k = 0; k < x.cols(); ++k) {
    if (x.col(k).isZero(0) && y.row(k).isZero(0)) continue;  // most columns of sparse rows
    const double l = map.scale(k);
    const auto c = static_cast<std::size_t>(k);
    if (t.periods.empty()) {
      gradient[c] += reduction == Reduction::l1_distance ? -sum(k, [&](double d) { return std::abs(d); }) / l
                                                         : -2 * sum(k, [&](double d) { return d * d; }) / (l * l);
      continue;
    }
    // s_k = 4 sin^2(u) / l^2, u = pi d / p.
    const double p = map.period(k);
    if (!t.scales.empty()) {
      gradient[c] += -8 / (l * l) * sum(k, [&](double d) {
        const double sine = std::sin(std::numbers::pi * d / p);
        return sine * sine;
      });
    }
    gradient[t.scales.size() + (t.periods.size() == 1 ? 0 : c)] += -4 / (l * l) * sum(k, [&](double d) {
      const double u = std::numbers::pi * d / p;
      return u * std::sin(2 * u);
    });
  }
}

}  // namespace mercer
