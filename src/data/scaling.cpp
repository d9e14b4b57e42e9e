// Column statistics in float64 whatever the storage, in two passes, so that a column far from zero keeps its digits. One pass of a
// plain formula (mean of squares minus squared mean) would lose all of them for a column such as 1e8 + noise. Cost: O(entries).
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "mercer/error.hpp"

namespace mercer {

namespace {

// A standard deviation this small is the rounding of a constant column, not a spread. The bound is scikit-learn's.
bool is_rounding(double variance, double mean, double n) {
  const double eps = std::numeric_limits<double>::epsilon();
  return variance <= n * eps * variance + (n * mean * eps) * (n * mean * eps);
}

template <class T>
void fit_standard(const DenseRows<T>& rows, Scaler& out) {
  const auto n = static_cast<double>(rows.rows);
  std::vector<char> varies(static_cast<std::size_t>(rows.cols), 0);
  for (Index i = 0; i < rows.rows; ++i) {
    for (Index j = 0; j < rows.cols; ++j) {
      out.shift[j] += static_cast<double>(rows.row(i)[j]) / n;
      varies[static_cast<std::size_t>(j)] |= static_cast<char>(rows.row(i)[j] != rows.row(0)[j]);
    }
  }
  Vector variance = Vector::Zero(rows.cols);
  Vector drift = Vector::Zero(rows.cols);  // what rounding left in the mean: taken out below (the corrected two-pass formula)
  for (Index i = 0; i < rows.rows; ++i) {
    for (Index j = 0; j < rows.cols; ++j) {
      const double d = static_cast<double>(rows.row(i)[j]) - out.shift[j];
      variance[j] += d * d;
      drift[j] += d;
    }
  }
  for (Index j = 0; j < rows.cols; ++j) {
    if (varies[static_cast<std::size_t>(j)] == 0) {  // exactly: the mean of equal numbers need not be that number
      out.shift[j] = static_cast<double>(rows.row(0)[j]);
      continue;
    }
    const double v = variance[j] / n - (drift[j] / n) * (drift[j] / n);
    out.shift[j] += drift[j] / n;
    out.scale[j] = std::isfinite(v) && is_rounding(v, out.shift[j], n) ? 1 : std::sqrt(v);  // an overflow is reported by fit_scaler
  }
}

template <class T>
void fit_min_max(const DenseRows<T>& rows, Scaler& out) {
  Vector high = Vector::Constant(rows.cols, -std::numeric_limits<double>::infinity());
  out.shift = -high;
  for (Index i = 0; i < rows.rows; ++i) {
    for (Index j = 0; j < rows.cols; ++j) {
      const auto x = static_cast<double>(rows.row(i)[j]);
      out.shift[j] = std::min(out.shift[j], x);
      high[j] = std::max(high[j], x);
    }
  }
  for (Index j = 0; j < rows.cols; ++j) out.scale[j] = high[j] > out.shift[j] ? high[j] - out.shift[j] : 1;
}

template <class T>
void fit_sparse(const CsrRows<T>& rows, ScalingKind kind, Scaler& out) {
  Vector largest = Vector::Zero(rows.cols);
  for (Index p = rows.begin(0); p < rows.end(rows.rows - 1); ++p) {
    double& m = largest[rows.columns[p]];
    m = std::max(m, std::abs(static_cast<double>(rows.values[p])));
  }
  Vector squares = Vector::Zero(rows.cols);  // of x / largest, which cannot overflow
  for (Index p = rows.begin(0); p < rows.end(rows.rows - 1); ++p) {
    const Index j = rows.columns[p];
    const double x = largest[j] > 0 ? static_cast<double>(rows.values[p]) / largest[j] : 0;
    squares[j] += x * x;
  }
  for (Index j = 0; j < rows.cols; ++j) {
    const double root_mean_square = largest[j] * std::sqrt(squares[j] / static_cast<double>(rows.rows));
    const double scale = kind == ScalingKind::standard ? root_mean_square : largest[j];
    out.scale[j] = scale > 0 ? scale : 1;
  }
}

template <class T>
Samples scaled(const DenseRows<T>& rows, const Scaler& scaler) {
  RowMatrix<T> out(rows.rows, rows.cols);
  for (Index i = 0; i < rows.rows; ++i) {
    for (Index j = 0; j < rows.cols; ++j)
      out(i, j) = static_cast<T>((static_cast<double>(rows.row(i)[j]) - scaler.shift[j]) / scaler.scale[j]);
  }
  return Samples::own(std::move(out));
}

template <class T>
Samples scaled(const CsrRows<T>& rows, const Scaler& scaler) {
  if (scaler.shift.size() > 0 && !scaler.shift.isZero(0)) {
    throw InvalidArgument(
        "sparse rows cannot be shifted, and this scaler was fitted on dense rows; fit it on sparse rows or make these dense");
  }
  struct Owned {
    std::vector<T> values;
    std::vector<std::int32_t> columns;
    std::vector<std::int64_t> offsets{0};
  };
  auto owner = std::make_shared<Owned>();
  owner->values.reserve(static_cast<std::size_t>(rows.nonzeros()));
  owner->columns.reserve(static_cast<std::size_t>(rows.nonzeros()));
  for (Index i = 0; i < rows.rows; ++i) {
    for (Index p = rows.begin(i); p < rows.end(i); ++p) {
      owner->values.push_back(static_cast<T>(static_cast<double>(rows.values[p]) / scaler.scale[rows.columns[p]]));
      owner->columns.push_back(rows.columns[p]);
    }
    owner->offsets.push_back(static_cast<std::int64_t>(owner->values.size()));
  }
  const CsrRows<T> view{owner->values.data(), owner->columns.data(), owner->offsets.data(), rows.rows, rows.cols};
  return Samples::borrow(view, std::move(owner));
}

void require_width(Index got, const Scaler& scaler) {
  if (got != scaler.scale.size())
    throw InvalidArgument(fmt::format("X has {} columns, but the scaler was fitted on {}", got, scaler.scale.size()));
}

}  // namespace

Scaler fit_scaler(const Samples& X, ScalingKind kind) {
  if (X.has_objects()) {  // which have no scale; without numbers beside them there is nothing to do
    const Samples numbers = X.numbers();
    return fit_scaler(numbers, numbers.width() > 0 ? kind : ScalingKind::none);
  }
  Scaler out;
  out.kind = kind;
  if (kind == ScalingKind::none) return out;
  if (X.empty()) throw InvalidArgument("scaling needs at least 1 row, got 0");
  require_finite(X, "X");
  out.shift = Vector::Zero(X.width());
  out.scale = Vector::Ones(X.width());
  std::visit(
      [&](const auto& rows) {
        using Rows = std::decay_t<decltype(rows)>;
        if constexpr (std::is_same_v<Rows, CsrRows<typename Rows::Scalar>>) {
          fit_sparse(rows, kind, out);
        } else if (kind == ScalingKind::standard) {
          fit_standard(rows, out);
        } else {
          fit_min_max(rows, out);
        }
      },
      X.storage());
  for (Index j = 0; j < X.width(); ++j) {
    if (!std::isfinite(out.shift[j]) || !std::isfinite(out.scale[j])) {
      throw InvalidArgument(
          fmt::format("column {} (counting from 0) is too large to scale: its spread overflows; divide it by a power of ten", j));
    }
  }
  return out;
}

Samples Scaler::apply(const Samples& X) const {
  if (kind == ScalingKind::none) return X;
  if (X.has_objects()) return X.with_numbers(apply(X.numbers()));
  require_width(X.width(), *this);
  return std::visit([&](const auto& rows) { return scaled(rows, *this); }, X.storage());
}

Matrix Scaler::undo(const MatrixRef& X) const {
  if (kind == ScalingKind::none) return X;
  require_width(X.cols(), *this);
  return (X.array().rowwise() * scale.transpose().array()).rowwise() + shift.transpose().array();
}

}  // namespace mercer
