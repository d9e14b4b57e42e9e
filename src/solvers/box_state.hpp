// A point of the box-constrained quadratic programme (box_qp.hpp) with its product K b: slopes, the violation, what brings K b up to date,
// and Newton's step on the variables that are free. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "solvers/box_qp.hpp"
#include "solvers/row_cache.hpp"

namespace mercer {

template <class T>
class BoxState {
 protected:
  static constexpr Index first_block = 768;  // variables: its part of K stays in the second-level cache

  BoxState(const RowSource<T>& K, const BoxProblem& problem, std::size_t row_memory);

  Index row_of(Index i) const { return p_.row.empty() ? i : p_.row[static_cast<std::size_t>(i)]; }
  double kink(Index i) const { return p_.kink.size() > 0 ? p_.kink[i] : 0; }
  double gradient(Index i) const { return Kb_[row_of(i)] + p_.linear[i]; }
  double up(Index i) const { return gradient(i) + slope_up(b_[i], p_.upper[i], kink(i)); }
  double down(Index i) const { return gradient(i) + slope_down(b_[i], p_.lower[i], kink(i)); }
  bool is_free(Index i) const { return b_[i] > p_.lower[i] && b_[i] < p_.upper[i] && !(kink(i) > 0 && b_[i] == 0); }
  // How far a variable may go up or down until its slope changes.
  double ceiling(Index i) const { return kink(i) > 0 && b_[i] < 0 ? std::min(0.0, p_.upper[i]) : p_.upper[i]; }
  double floor(Index i) const { return kink(i) > 0 && b_[i] > 0 ? std::max(0.0, p_.lower[i]) : p_.lower[i]; }

  // K b from nothing, some rows at a time.
  void multiply();
  void add_rows(const std::vector<const T*>& rows, const std::vector<double>& coef);
  // The same for rows of which some have no change.
  void add_changes(const std::vector<const T*>& rows, const std::vector<double>& change);
  // The extreme slopes of every group, and the violation.
  void look();

  // The rows of K behind some variables, each once, and which of them is whose.
  struct RowsOf {
    std::vector<Index> rows;
    std::vector<Index> slot;
  };
  RowsOf rows_of(const std::vector<Index>& variables) const;

  // b + d with K_FF d = -slopes up to a multiple of 1 in each held group, shortened where a bound (or a kink) is in the way; a variable
  // that met one is no longer free, and the rest is solved for again. `go_on` is asked before each. False where that is not possible: too
  // many free variables, a singular or indefinite K.
  template <class GoOn>
  bool newton(Index most_free, GoOn&& go_on) {
    for (Index bounds_met = 0; bounds_met < most_bounds && go_on(); ++bounds_met) {
      const Step step = newton_step(most_free);
      if (step != Step::met_a_bound) return step == Step::solved;
    }
    return false;
  }

  const RowSource<T>& K_;
  const BoxProblem& p_;
  Index n_;
  RowCache<T> cache_;
  Vector b_;
  Vector Kb_;  // a row each
  double violation_ = 0;
  double lowest_[2] = {};
  double highest_[2] = {};

 private:
  static constexpr Index most_bounds = 400;
  enum class Step : std::uint8_t { solved, met_a_bound, failed };
  Step newton_step(Index most_free);
  void keep_sums(const std::vector<Index>& free, Vector& d) const;
};

}  // namespace mercer
