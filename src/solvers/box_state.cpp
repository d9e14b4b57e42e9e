// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/box_state.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mercer/run.hpp"
#include "simd/smo_ops.hpp"

namespace mercer {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index column_chunk = 2048;  // of the gradient, a task
constexpr Index fewest_rows = 64;     // kept however small the budget: blocks of fewer variables would take for ever

}  // namespace

template <class T>
BoxState<T>::BoxState(const RowSource<T>& K, const BoxProblem& problem, std::size_t row_memory)
    : K_(K),
      p_(problem),
      n_(problem.linear.size()),
      cache_(K, row_memory, fewest_rows),
      b_(problem.start.size() > 0 ? problem.start : Vector(Vector::Zero(n_))) {}

template <class T>
void BoxState<T>::multiply() {
  Kb_ = Vector::Zero(K_.size());
  Vector sums = Vector::Zero(K_.size());
  for (Index i = 0; i < n_; ++i) sums[row_of(i)] += b_[i];
  std::vector<Index> rows;
  for (Index r = 0; r < K_.size(); ++r) {
    if (sums[r] != 0) rows.push_back(r);
  }
  const auto batch = static_cast<std::size_t>(std::min(cache_.capacity(), first_block));
  for (std::size_t first = 0; first < rows.size(); first += batch) {
    const std::span<const Index> some(rows.data() + first, std::min(batch, rows.size() - first));
    std::vector<double> coef;
    for (const Index r : some) coef.push_back(sums[r]);
    add_rows(cache_.rows(some), coef);
  }
}

template <class T>
void BoxState<T>::add_rows(const std::vector<const T*>& rows, const std::vector<double>& coef) {
  const Index n = K_.size();
  const auto& ops = simd::smo_ops<T>();
  parallel_for((n + column_chunk - 1) / column_chunk, [&](Index chunk) {
    const Index first = chunk * column_chunk;
    std::vector<const T*> shifted;
    shifted.reserve(rows.size());
    for (const T* row : rows) shifted.push_back(row + first);
    ops.add_rows(Kb_.data() + first, shifted.data(), coef.data(), std::ssize(rows), std::min(column_chunk, n - first));
  });
}

template <class T>
void BoxState<T>::look() {
  violation_ = 0;
  for (int group = 0; group < std::max(1, p_.held.groups); ++group) {
    double lowest = infinity;
    double highest = -infinity;
    for (Index i = p_.held.begin(group); i < p_.held.end(group, n_); ++i) {
      lowest = std::min(lowest, up(i));
      highest = std::max(highest, down(i));
    }
    lowest_[group] = lowest;
    highest_[group] = highest;
    violation_ = std::max(violation_, p_.held.groups == 0 ? std::max(highest, -lowest) : highest - lowest);
  }
}

template <class T>
typename BoxState<T>::RowsOf BoxState<T>::rows_of(const std::vector<Index>& variables) const {
  RowsOf out{variables, std::vector<Index>(variables.size())};
  std::iota(out.slot.begin(), out.slot.end(), Index{0});
  if (p_.row.empty()) return out;
  out.rows.clear();
  std::vector<Index> where(static_cast<std::size_t>(K_.size()), -1);
  for (std::size_t k = 0; k < variables.size(); ++k) {
    Index& at = where[static_cast<std::size_t>(row_of(variables[k]))];
    if (at < 0) {
      at = std::ssize(out.rows);
      out.rows.push_back(row_of(variables[k]));
    }
    out.slot[k] = at;
  }
  return out;
}

template <class T>
void BoxState<T>::add_changes(const std::vector<const T*>& rows, const std::vector<double>& change) {
  std::vector<const T*> moved;
  std::vector<double> coef;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (change[k] == 0) continue;
    moved.push_back(rows[k]);
    coef.push_back(change[k]);
  }
  add_rows(moved, coef);
}

// A direction moved by the same amount for all of a group where it would change the group's sum by more than rounding: what a nearly
// singular system leaves over need not respect the sums, and is followed a long way.
template <class T>
void BoxState<T>::keep_sums(const std::vector<Index>& free, Vector& d) const {
  for (int group = 0; group < p_.held.groups; ++group) {
    double sum = 0;
    double size = 0;
    std::vector<Index> members;
    for (std::size_t k = 0; k < free.size(); ++k) {
      if ((p_.held.groups == 2 && free[k] >= p_.held.split ? 1 : 0) != group) continue;
      members.push_back(static_cast<Index>(k));
      sum += d[static_cast<Index>(k)];
      size += std::abs(d[static_cast<Index>(k)]);
    }
    if (!(std::abs(sum) > 1e-13 * size)) continue;
    for (const Index k : members) d[k] -= sum / static_cast<double>(members.size());
  }
}

template <class T>
typename BoxState<T>::Step BoxState<T>::newton_step(Index most_free) {
  std::vector<Index> free;
  for (Index i = 0; i < n_; ++i) {
    if (is_free(i)) free.push_back(i);
  }
  const Index m = std::ssize(free);
  if (m == 0) return Step::solved;
  if (m > std::min(most_free, cache_.capacity())) return Step::failed;
  const int groups = p_.held.groups;
  const RowsOf behind = rows_of(free);
  const std::vector<const T*> rows = cache_.rows(behind.rows);
  Matrix A = Matrix::Zero(m + groups, m + groups);
  Vector right = Vector::Zero(m + groups);
  for (Index k = 0; k < m; ++k) {
    const Index i = free[static_cast<std::size_t>(k)];
    const T* row = rows[static_cast<std::size_t>(behind.slot[static_cast<std::size_t>(k)])];
    for (Index l = 0; l < m; ++l) A(k, l) = static_cast<double>(row[row_of(free[static_cast<std::size_t>(l)])]);
    right[k] = -up(i);
    if (groups > 0) {
      const int group = groups == 2 && i >= p_.held.split ? 1 : 0;
      A(k, m + group) = A(m + group, k) = 1;
    }
  }
  Vector solution = Eigen::CompleteOrthogonalDecomposition<Matrix>(A).solve(right);
  double length = 1;
  // What a singular system leaves over is a direction without curvature: down along it until a bound is met.
  if (const Vector left = right - A * solution; left.cwiseAbs().maxCoeff() > 1e-8 * right.cwiseAbs().maxCoeff()) {
    solution = left;
    length = infinity;
  }
  Vector d = solution.head(m);
  keep_sums(free, d);
  const double slope = -right.head(m).dot(d);
  if (!d.allFinite() || slope > 1e-12 * std::abs(right.head(m).cwiseAbs().dot(d.cwiseAbs()))) return Step::failed;
  Index stops = -1;
  for (Index k = 0; k < m; ++k) {
    const Index i = free[static_cast<std::size_t>(k)];
    const double room = d[k] > 0 ? ceiling(i) - b_[i] : b_[i] - floor(i);
    if (std::abs(d[k]) * length > room) length = room / std::abs(d[k]), stops = k;
  }
  if (!std::isfinite(length)) return Step::failed;
  std::vector<double> change(rows.size(), 0);
  for (Index k = 0; k < m; ++k) {
    const Index i = free[static_cast<std::size_t>(k)];
    const double before = b_[i];
    b_[i] = k == stops ? (d[k] > 0 ? ceiling(i) : floor(i)) : std::clamp(before + length * d[k], floor(i), ceiling(i));
    change[static_cast<std::size_t>(behind.slot[static_cast<std::size_t>(k)])] += b_[i] - before;
  }
  add_changes(rows, change);
  return stops < 0 ? Step::solved : Step::met_a_bound;
}

template class BoxState<float>;
template class BoxState<double>;

}  // namespace mercer
