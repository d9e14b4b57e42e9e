// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/smo.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "simd/smo_ops.hpp"

namespace mercer {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index steps_between_questions = 1024;

template <class T, class G>
class Solver {
 public:
  Solver(const SmoProblem<T, G>& problem, const SmoLimits& limits)
      : p_(problem), limits_(limits), n_(std::ssize(problem.rows)), up_(p_.rows.size()), low_(p_.rows.size()) {
    for (Index i = 0; i < n_; ++i) set_slopes(i);
  }

  SmoOutcome run() {
    SmoOutcome out;
    if (n_ == 0) return out;
    scan(0, 0, 0, 0);
    for (;; ++out.steps) {
      out.violation = violation();
      if (!(out.violation > limits_.tolerance)) return out;
      const bool limit = limits_.max_steps > 0 && out.steps >= limits_.max_steps;
      if (limit || (limits_.go_on && out.steps % steps_between_questions == steps_between_questions - 1 && !limits_.go_on(out.steps))) {
        out.ended = false;
        return out;
      }
      if (!(p_.held.groups == 0 ? step_one() : step_two())) return out;
    }
  }

 private:
  double kink(Index i) const { return p_.kink != nullptr ? p_.kink[i] : 0; }

  void set_slopes(Index i) {
    up_[static_cast<std::size_t>(i)] = static_cast<G>(slope_up(p_.b[i], p_.upper[i], kink(i)));
    low_[static_cast<std::size_t>(i)] = static_cast<G>(slope_down(p_.b[i], p_.lower[i], kink(i)));
  }

  // g += di K_i + dj K_j and the extreme slopes of each group.
  void scan(Index i, double di, Index j, double dj) {
    const T* ki = p_.rows[static_cast<std::size_t>(i)];
    const T* kj = p_.rows[static_cast<std::size_t>(j)];
    for (int group = 0; group < std::max(1, p_.held.groups); ++group) {
      const Index first = p_.held.begin(group);
      const Index count = p_.held.end(group, n_) - first;
      range_[group] = ops_.update(p_.g + first, ki + first, di, kj + first, dj, up_.data() + first, low_.data() + first, count);
      range_[group].lowest_at += first;
      range_[group].highest_at += first;
    }
  }

  double violation() const {
    if (p_.held.groups == 0) return std::max(range_[0].highest, -range_[0].lowest);
    double most = 0;
    for (int group = 0; group < p_.held.groups; ++group) most = std::max(most, range_[group].highest - range_[group].lowest);
    return most;
  }

  // How far b_i can go upwards (or downwards) before its slope changes.
  double room_up(Index i) const { return (p_.b[i] < 0 && kink(i) > 0 ? std::min(0.0, p_.upper[i]) : p_.upper[i]) - p_.b[i]; }
  double room_down(Index j) const { return p_.b[j] - (p_.b[j] > 0 && kink(j) > 0 ? std::max(0.0, p_.lower[j]) : p_.lower[j]); }

  // The end of the room exactly, so that bounds and kinks are met to the last bit.
  void move_up(Index i, double t, double room) {
    p_.b[i] = t < room ? p_.b[i] + t : (p_.b[i] < 0 && kink(i) > 0 ? std::min(0.0, p_.upper[i]) : p_.upper[i]);
    set_slopes(i);
  }
  void move_down(Index j, double t, double room) {
    p_.b[j] = t < room ? p_.b[j] - t : (p_.b[j] > 0 && kink(j) > 0 ? std::max(0.0, p_.lower[j]) : p_.lower[j]);
    set_slopes(j);
  }

  bool step_two() {
    Index i = -1;
    simd::Partner best{0, -1};
    for (int group = 0; group < p_.held.groups; ++group) {
      const Index first = p_.held.begin(group);
      const Index from = range_[group].lowest_at;
      if (!(range_[group].highest > range_[group].lowest)) continue;
      const simd::Partner found =
          ops_.partner(p_.g + first, low_.data() + first, p_.rows[static_cast<std::size_t>(from)] + first, p_.diagonal + first,
                       p_.diagonal[from], range_[group].lowest, p_.held.end(group, n_) - first);
      if (found.gain > best.gain) {
        best = {found.gain, found.at + first};
        i = from;
      }
    }
    if (best.at < 0) return false;
    const Index j = best.at;
    const T* ki = p_.rows[static_cast<std::size_t>(i)];
    const double kii = p_.diagonal[i];
    const double kjj = p_.diagonal[j];
    const auto kij = static_cast<double>(ki[j]);
    const double curvature = std::max(kii + kjj - 2 * kij, simd::smallest_curvature);
    const double before_i = p_.b[i];
    const double before_j = p_.b[j];
    double gi = p_.g[i];
    double gj = p_.g[j];
    // On past the kinks for as long as it goes down.
    for (int piece = 0; piece < 4; ++piece) {
      const double v = gj + low_[static_cast<std::size_t>(j)] - gi - up_[static_cast<std::size_t>(i)];
      if (!(v > 0)) break;
      const double up = room_up(i);
      const double down = room_down(j);
      const double t = std::min({v / curvature, up, down});
      if (!(t > 0)) break;
      move_up(i, t, up);
      move_down(j, t, down);
      gi += t * (kii - kij);
      gj -= t * (kjj - kij);
      if (p_.kink == nullptr) break;
    }
    const double di = p_.b[i] - before_i;
    const double dj = p_.b[j] - before_j;
    if (di == 0 && dj == 0) return false;  // the slopes differ by less than float64 can move
    scan(i, di, j, dj);
    return true;
  }

  // The variable of the largest decrease, alone.
  bool step_one() {
    Index at = -1;
    double most = 0;
    for (Index i = 0; i < n_; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const double v = std::max(p_.g[i] + low_[k], -(p_.g[i] + up_[k]));
      if (!(v > 0)) continue;
      const double gain = v * v / std::max<double>(p_.diagonal[i], simd::smallest_curvature);
      if (gain > most) most = gain, at = i;
    }
    if (at < 0) return false;
    const auto k = static_cast<std::size_t>(at);
    const double before = p_.b[at];
    const double curvature = std::max<double>(p_.diagonal[at], simd::smallest_curvature);
    double g = p_.g[at];
    for (int piece = 0; piece < 3; ++piece) {
      if (const double up = -(g + up_[k]); up > 0) {
        const double room = room_up(at);
        const double t = std::min(up / curvature, room);
        move_up(at, t, room);
        g += t * p_.diagonal[at];
      } else if (const double down = g + low_[k]; down > 0) {
        const double room = room_down(at);
        const double t = std::min(down / curvature, room);
        move_down(at, t, room);
        g -= t * p_.diagonal[at];
      } else {
        break;
      }
      if (p_.kink == nullptr) break;
    }
    if (p_.b[at] == before) return false;
    scan(at, p_.b[at] - before, at, 0);
    return true;
  }

  const SmoProblem<T, G>& p_;
  const SmoLimits& limits_;
  Index n_;
  std::vector<G> up_;
  std::vector<G> low_;
  simd::SlopeRange range_[2] = {};
  const simd::SmoOps<T, G>& ops_ = simd::smo_ops<T, G>();
};

}  // namespace

double slope_up(double b, double upper, double kink) { return b >= upper ? infinity : (b >= 0 ? kink : -kink); }
double slope_down(double b, double lower, double kink) { return b <= lower ? -infinity : (b > 0 ? kink : -kink); }

template <class T, class G>
SmoOutcome smo(const SmoProblem<T, G>& problem, const SmoLimits& limits) {
  return Solver<T, G>(problem, limits).run();
}

template SmoOutcome smo(const SmoProblem<float, float>&, const SmoLimits&);
template SmoOutcome smo(const SmoProblem<float, double>&, const SmoLimits&);
template SmoOutcome smo(const SmoProblem<double, double>&, const SmoLimits&);

}  // namespace mercer
