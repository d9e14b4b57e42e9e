// Products with the rows of a linear model, [X, bias 1] with the constant column implied, in pieces that do not depend on the number of
// threads: rows are cut into blocks of about equal numbers of nonzeros once, each block sums into its own memory, and the blocks are added
// in order. All vectors have one entry more than X has columns when there is a constant column. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "mercer/samples.hpp"

namespace mercer {

// The rows of one kind of storage: what the inner loops of both solvers are made of.
template <class Storage>
struct RowLoops;

template <class T>
struct RowLoops<CsrRows<T>> {
  CsrRows<T> x;

  double nonzeros() const { return static_cast<double>(x.nonzeros()); }
  double row_nonzeros(Index i) const { return static_cast<double>(x.end(i) - x.begin(i)); }
  // Four sums at a time: one alone would wait for its own additions.
  double dot(Index i, const double* w) const {
    const T* v = x.values + x.begin(i);
    const std::int32_t* c = x.columns + x.begin(i);
    const Index count = x.end(i) - x.begin(i);
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    Index k = 0;
    for (; k + 4 <= count; k += 4) {
      s0 += static_cast<double>(v[k]) * w[c[k]];
      s1 += static_cast<double>(v[k + 1]) * w[c[k + 1]];
      s2 += static_cast<double>(v[k + 2]) * w[c[k + 2]];
      s3 += static_cast<double>(v[k + 3]) * w[c[k + 3]];
    }
    for (; k < count; ++k) s0 += static_cast<double>(v[k]) * w[c[k]];
    return (s0 + s1) + (s2 + s3);
  }
  void add(Index i, double a, double* w) const {
    const Index end = x.end(i);
    for (Index k = x.begin(i); k < end; ++k) w[x.columns[k]] += a * static_cast<double>(x.values[k]);
  }
  void add_squares(Index i, double a, double* w) const {
    const Index end = x.end(i);
    for (Index k = x.begin(i); k < end; ++k) w[x.columns[k]] += a * static_cast<double>(x.values[k]) * static_cast<double>(x.values[k]);
  }
  double squared_norm(Index i) const {
    double sum = 0;
    for (Index k = x.begin(i); k < x.end(i); ++k) sum += static_cast<double>(x.values[k]) * static_cast<double>(x.values[k]);
    return sum;
  }
  void prefetch(Index i) const {
    const Index begin = x.begin(i);
    const Index end = x.end(i);
    for (Index k = begin; k < end; k += 64 / static_cast<Index>(sizeof(T))) __builtin_prefetch(x.values + k);
    for (Index k = begin; k < end; k += 16) __builtin_prefetch(x.columns + k);
  }
};

template <class T>
struct RowLoops<DenseRows<T>> {
  DenseRows<T> x;

  using Line = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>;
  Line line(Index i) const { return {x.row(i), x.cols}; }
  double nonzeros() const { return static_cast<double>(x.rows) * static_cast<double>(x.cols); }
  double row_nonzeros(Index) const { return static_cast<double>(x.cols); }
  double dot(Index i, const double* w) const { return Eigen::Map<const Vector>(w, x.cols).dot(line(i).template cast<double>()); }
  void add(Index i, double a, double* w) const { Eigen::Map<Vector>(w, x.cols) += a * line(i).template cast<double>(); }
  void add_squares(Index i, double a, double* w) const { Eigen::Map<Vector>(w, x.cols) += a * line(i).template cast<double>().cwiseAbs2(); }
  double squared_norm(Index i) const { return line(i).template cast<double>().squaredNorm(); }
  void prefetch(Index i) const {
    const T* row = x.row(i);
    for (Index k = 0; k < std::min<Index>(x.cols, 1024 / static_cast<Index>(sizeof(T))); k += 64 / static_cast<Index>(sizeof(T)))
      __builtin_prefetch(row + k);
  }
};

class LinearRows {
 public:
  virtual ~LinearRows() = default;

  virtual Index size() const = 0;  // rows
  virtual Index cols() const = 0;  // the constant column included
  virtual double nonzeros() const = 0;
  virtual Vector scores(const Vector& w) const = 0;   // X w
  virtual Vector combine(const Vector& a) const = 0;  // X' a; rows with a = 0 are not touched
  virtual Vector squared_norms() const = 0;           // of the rows
  // X_A' diag(h_A) X_A s and the diagonal of X_A' diag(h_A) X_A; A ascending, h for all rows.
  virtual void apply_normal(std::span<const std::int32_t> A, const Vector& h, const Vector& s, Vector& out) const = 0;
  virtual Vector normal_diagonal(std::span<const std::int32_t> A, const Vector& h) const = 0;
  // H += X_A' diag(h_A) X_A on the lower half.
  virtual void add_normal(std::span<const std::int32_t> A, const Vector& h, Matrix& H) const = 0;
  // Whether Newton should make and factor that matrix rather than apply it some tens of times.
  virtual bool small_normal() const = 0;
};

// bias 0: no constant column. The samples must outlive it. It keeps memory for its sums: one for each fit that runs at the same time.
std::unique_ptr<LinearRows> linear_rows(const Samples& X, double bias);

}  // namespace mercer
