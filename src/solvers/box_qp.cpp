// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/box_qp.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "mercer/error.hpp"
#include "solvers/box_interior.hpp"
#include "solvers/box_state.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;
constexpr Index largest_block = 8192;          // 256 MB of K in float32
constexpr int quiet_rounds = 3;                // with hardly a new row, before the block grows
constexpr int quiet_rounds_stored = 6;         // where rows cost nothing, all rounds are quiet
constexpr Index most_coarse_steps = 16384;     // with a float32 gradient, before it is made anew
constexpr double coarse_steps_rounding = 256;  // the root of their number, as roundings add up, and twice that
constexpr int polish_attempts = 12;
constexpr Index interior_limit = 2048;  // variables: n^3/3 flops a step of the interior-point method
constexpr Index helped_limit = 150;     // the same while the solver is still on its way
constexpr Index polish_limit = 400;     // free variables: m^3 flops each time

template <class T>
class Engine : BoxState<T> {
  using State = BoxState<T>;
  using State::add_changes, State::b_, State::cache_, State::down, State::first_block, State::gradient, State::highest_, State::is_free;
  using State::K_, State::Kb_, State::kink, State::look, State::lowest_, State::multiply, State::n_, State::p_, State::row_of,
      State::rows_of;
  using State::up, State::violation_;
  using RowsOf = typename State::RowsOf;

 public:
  Engine(const RowSource<T>& K, const BoxProblem& problem, const BoxOptions& options)
      : State(K, problem, row_memory(options)), o_(options), start_(Clock::now()) {
    max_steps_ = o_.max_steps > 0 ? o_.max_steps : std::max<Index>(10'000'000, 100 * n_);
  }

  BoxSolution run() {
    Stage stage(o_.run.progress, "support vectors", 1);
    stage_ = &stage;
    if (p_.start_product.size() > 0) {
      Kb_ = p_.start_product;
    } else {
      multiply();
    }
    block_ = o_.block > 0 ? o_.block : n_ <= 2 * first_block ? n_ : first_block;
    block_ = std::min(std::max<Index>(block_, 2 * p_.held.groups), room());
    iterate(o_.tolerance, max_steps_);
    if (o_.polish && out_.status == BoxStatus::converged) polish();
    finish();
    return std::move(out_);
  }

 private:
  static std::size_t row_memory(const BoxOptions& o) { return o.memory > 0 ? o.memory : memory_budget(o.run.memory) / 5 * 4; }
  // The variables a block may have: a pair of each group at least, or a group could be left out for ever; no more rows than there is room
  // for, which is no limit when all fit, whatever number of variables shares a row.
  Index room() const { return cache_.capacity() == K_.size() ? n_ : std::min(n_, cache_.capacity()); }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool late() const { return o_.time_limit > 0 && seconds() > o_.time_limit; }

  // On the way from the first violation to the tolerance, by its logarithm.
  void report(double first) {
    if (!(violation_ > 0) || !(first > o_.tolerance)) return;
    const double fraction = std::clamp(std::log(first / violation_) / std::log(first / o_.tolerance), 0.0, 1.0);
    stage_->advance(std::max(0.0, fraction - reported_));
    reported_ = std::max(reported_, fraction);
  }

  // Blocks until the violation is within the tolerance, or a limit is met.
  void iterate(double tolerance, Index steps) {
    tolerance_ = tolerance;
    steps_allowed_ = steps;
    const int patience = K_.stored(0) != nullptr ? quiet_rounds_stored : quiet_rounds;
    int quiet = 0;
    double first = 0;
    for (Index round = 0;; ++round) {
      look();
      if (round == 0) first = violation_;
      report(first);
      if (!(violation_ > tolerance)) return;
      if (steps_allowed_ <= 0 || late()) {
        out_.status = late() ? BoxStatus::time_limit : BoxStatus::step_limit;
        return;
      }
      const Index before = cache_.computed();
      if (!solve_block(choose())) {  // the end of float64
        out_.status = BoxStatus::rounding;
        return;
      }
      ++out_.rounds;
      if (helped() && round > 0) newton(helped_limit);
      if (may_jump() && !jumped_) jump();
      quiet = cache_.computed() - before < block_ / 16 ? quiet + 1 : 0;
      if (quiet == patience && o_.block == 0) {
        block_ = std::min({2 * block_, room(), largest_block});
        quiet = 0;
      }
    }
  }

  struct Candidate {
    double by;  // how far beyond the other side's extreme
    Index i;
  };

  // The `count` worst violators, worst first.
  static void keep_worst(std::vector<Candidate>& all, Index count) {
    const auto worse = [](const Candidate& a, const Candidate& b) { return a.by != b.by ? a.by > b.by : a.i < b.i; };
    if (std::ssize(all) > count) {
      std::nth_element(all.begin(), all.begin() + count, all.end(), worse);
      all.resize(static_cast<std::size_t>(count));
    }
    std::sort(all.begin(), all.end(), worse);
  }

  // The next block: the worst violators of both directions in each group, and what the last block had while there is room.
  std::vector<Index> choose() {
    std::vector<char> taken(static_cast<std::size_t>(n_), 0);
    std::vector<Index> working;
    if (block_ == n_) {
      working.resize(static_cast<std::size_t>(n_));
      for (Index i = 0; i < n_; ++i) working[static_cast<std::size_t>(i)] = i;
      return working;
    }
    const auto take = [&](Index i) {
      if (taken[static_cast<std::size_t>(i)] != 0 || std::ssize(working) >= block_) return;
      taken[static_cast<std::size_t>(i)] = 1;
      working.push_back(i);
    };
    const int groups = std::max(1, p_.held.groups);
    const Index fresh = last_.empty() ? block_ : block_ / 2;
    for (int group = 0; group < groups; ++group) {
      std::vector<Candidate> ups;
      std::vector<Candidate> downs;
      const double highest = p_.held.groups == 0 ? 0 : highest_[group];
      const double lowest = p_.held.groups == 0 ? 0 : lowest_[group];
      for (Index i = p_.held.begin(group); i < p_.held.end(group, n_); ++i) {
        if (const double by = highest - up(i); by > 0) ups.push_back({by, i});
        if (const double by = down(i) - lowest; by > 0) downs.push_back({by, i});
      }
      const Index each = std::max<Index>(1, fresh / (2 * groups));
      keep_worst(ups, each);
      keep_worst(downs, each);
      for (std::size_t k = 0; k < std::max(ups.size(), downs.size()); ++k) {
        if (k < ups.size()) take(ups[k].i);
        if (k < downs.size()) take(downs[k].i);
      }
    }
    const std::vector<Index> last = last_;
    for (const Index i : last) {  // those between their bounds first: they will have to move again
      if (b_[i] > p_.lower[i] && b_[i] < p_.upper[i]) take(i);
    }
    // Rows that are there anyway need not be kept busy: the block is what moves, in whole vectors of numbers.
    constexpr std::size_t vector = 16;
    const bool stored = K_.stored(0) != nullptr;
    for (const Index i : last) {
      if (stored && working.size() % vector == 0) break;
      take(i);
    }
    std::sort(working.begin(), working.end());
    last_ = working;
    return working;
  }

  // The block's own part of K, by squares: those below the diagonal are read from the rows, those above are their mirror image.
  void fill_part(const std::vector<const T*>& rows, const std::vector<Index>& slot, const std::vector<Index>& working, Index stride) {
    constexpr Index edge = 64;
    const Index m = std::ssize(working);
    const Index edges = (m + edge - 1) / edge;
    std::vector<Index> columns(working.size());
    for (std::size_t k = 0; k < columns.size(); ++k) columns[k] = row_of(working[k]);
    parallel_for(edges, [&](Index number) {
      const Index a = edges - 1 - number;  // the longest first
      const Index end = std::min(m, (a + 1) * edge);
      for (Index k = a * edge; k < end; ++k) {
        const T* from = rows[static_cast<std::size_t>(slot[static_cast<std::size_t>(k)])];
        T* to = part_.data() + k * stride;
        for (Index l = 0; l < end; ++l) to[l] = from[columns[static_cast<std::size_t>(l)]];
      }
      for (Index l = 0; l < a * edge; ++l) {
        T* to = part_.data() + l * stride;
        for (Index k = a * edge; k < end; ++k) to[k] = part_.data()[k * stride + l];
      }
    });
  }

  // The numbers of some variables side by side.
  struct Local {
    Vector diagonal, lower, upper, kink, b, g;
    HeldSums held;
  };
  Local local(const std::vector<Index>& variables) const {
    const Index m = std::ssize(variables);
    Local out{Vector(m),
              p_.lower(variables),
              p_.upper(variables),
              p_.kink.size() > 0 ? Vector(p_.kink(variables)) : Vector(),
              b_(variables),
              Vector(m),
              p_.held};
    out.held.split = 0;
    for (Index k = 0; k < m; ++k) {
      const Index i = variables[static_cast<std::size_t>(k)];
      out.diagonal[k] = K_.diagonal()[row_of(i)];
      out.g[k] = gradient(i);
      if (i < p_.held.split) ++out.held.split;
    }
    return out;
  }

  // Twice as many numbers a vector where gradients may be float32: while its rounding, which adds up over the steps, stays below half the
  // tolerance, every step goes down for certain, and K b is made anew in float64 from what has moved.
  SmoOutcome solve_local(std::span<const T* const> rows, Local& at, SmoLimits limits, bool whole) {
    const double* kinks = at.kink.size() > 0 ? at.kink.data() : nullptr;
    if constexpr (std::is_same_v<T, float>) {
      const double rounding = std::numeric_limits<float>::epsilon() * at.g.cwiseAbs().maxCoeff();
      if (!whole && coarse_steps_rounding * rounding < limits.tolerance) {
        const Eigen::VectorXf diagonal = at.diagonal.template cast<float>();
        Eigen::VectorXf g = at.g.template cast<float>();
        limits.max_steps = std::min(limits.max_steps, most_coarse_steps);
        const SmoOutcome done =
            smo<float, float>({rows, diagonal.data(), at.lower.data(), at.upper.data(), kinks, at.held, at.b.data(), g.data()}, limits);
        if (done.steps > 0) return done;
      }
    }
    return smo<T, double>({rows, at.diagonal.data(), at.lower.data(), at.upper.data(), kinks, at.held, at.b.data(), at.g.data()}, limits);
  }

  // False when nothing could be moved.
  bool solve_block(const std::vector<Index>& working) {
    const Index m = std::ssize(working);
    const RowsOf behind = rows_of(working);
    const std::vector<const T*> rows = cache_.rows(behind.rows);
    const bool whole = m == K_.size() && p_.row.empty();
    std::vector<const T*> own = rows;
    if (!whole) {
      const Index stride = (m + 15) / 16 * 16;
      if (part_.size() < static_cast<std::size_t>(m * stride)) part_ = Buffer<T>(static_cast<std::size_t>(m * stride));
      fill_part(rows, behind.slot, working, stride);
      own.clear();
      for (Index k = 0; k < m; ++k) own.push_back(part_.data() + k * stride);
    }
    Local at = local(working);
    SmoLimits limits;
    limits.tolerance = whole ? tolerance_ : std::max(tolerance_ / 2, 0.1 * violation_);
    limits.max_steps = whole && (helped() || may_jump()) ? std::min(steps_allowed_, 100 * n_ + 10000) : steps_allowed_;
    limits.go_on = [&](Index) {
      stage_->check();
      return !late();
    };
    const SmoOutcome done = solve_local(own, at, limits, whole);
    out_.steps += done.steps;
    steps_allowed_ -= done.steps;
    std::vector<double> change(rows.size(), 0);
    bool moved = false;
    for (Index k = 0; k < m; ++k) {
      const Index i = working[static_cast<std::size_t>(k)];
      change[static_cast<std::size_t>(behind.slot[static_cast<std::size_t>(k)])] += at.b[k] - b_[i];
      moved = moved || at.b[k] != b_[i];
      b_[i] = at.b[k];
    }
    if (whole) {
      Kb_ = at.g - p_.linear;
    } else {
      add_changes(rows, change);
    }
    return moved;
  }

  // Small problems whose steps zigzag (a large C on few directions) are helped on by solving for the free variables now and then.
  bool helped() const { return o_.polish && block_ == n_; }

  // Those that still are not solved then are given to a method that does not zigzag; what is left after it is a matter of few steps.
  bool may_jump() const {
    return std::is_same_v<T, double> && block_ == n_ && n_ <= interior_limit && p_.row.empty() && cache_.capacity() == n_;
  }
  void jump() {
    if constexpr (std::is_same_v<T, double>) {
      look();
      if (!(violation_ > tolerance_) || steps_allowed_ <= 0 || late()) return;
      jumped_ = true;
      std::vector<Index> all(static_cast<std::size_t>(n_));
      std::iota(all.begin(), all.end(), Index{0});
      Vector sums(p_.held.groups);
      for (int group = 0; group < p_.held.groups; ++group) {
        const Index first = p_.held.begin(group);
        sums[group] = b_.segment(first, p_.held.end(group, n_) - first).sum();
      }
      const auto go_on = [&] {
        stage_->check();
        return !late();
      };
      const Vector before = b_;
      const double violation_before = violation_;
      const auto found = box_interior_point(cache_.rows(all), p_, sums, go_on);
      if (!found) return;
      b_ = *found;
      multiply();
      newton(polish_limit);
      look();
      if (violation_ < violation_before) return;
      b_ = before;
      multiply();
    }
  }

  bool newton(Index most_free) {
    return State::newton(most_free, [&] {
      stage_->check();
      return !late();
    });
  }

  // From the tolerance to the last digits: the free variables solve a linear system, and steps of the solver find out when the set of free
  // ones was wrong. Where that leads nowhere (singular or indefinite K, no time left), the point before it is kept.
  void polish() {
    const Vector before = b_;
    const double violation_before = violation_;
    const double largest = K_.diagonal().cwiseAbs().maxCoeff();
    for (int attempt = 0; attempt < polish_attempts && !late(); ++attempt) {
      const double rounding =
          64 * std::numeric_limits<double>::epsilon() * (p_.linear.cwiseAbs().maxCoeff() + largest * b_.cwiseAbs().sum());
      if (!newton(polish_limit)) break;
      multiply();
      look();
      if (!(violation_ > rounding)) break;
      iterate(std::max(rounding, 0.1 * violation_), 20 * n_ + 1000);
    }
    multiply();
    look();
    if (violation_ > std::max(o_.tolerance, violation_before)) {
      b_ = before;
      multiply();
      look();
    }
    out_.status = BoxStatus::converged;  // as it was before
  }

  // Multipliers, the objective, and a bound on the distance to the optimum: what b would win by going to the best corner of its box under
  // the slopes as they are, which is the duality gap for the multipliers found.
  void finish() {
    out_.b = b_;
    out_.gradient.resize(n_);
    for (Index i = 0; i < n_; ++i) out_.gradient[i] = gradient(i);
    out_.multiplier = Vector::Zero(p_.held.groups);
    out_.violation = violation_;
    for (int group = 0; group < p_.held.groups; ++group) {
      double sum = 0;
      Index count = 0;
      for (Index i = p_.held.begin(group); i < p_.held.end(group, n_); ++i) {
        if (!is_free(i)) continue;
        sum += up(i);
        ++count;
      }
      const double middle = std::isfinite(lowest_[group]) && std::isfinite(highest_[group]) ? (lowest_[group] + highest_[group]) / 2
                            : std::isfinite(lowest_[group])                                 ? lowest_[group]
                            : std::isfinite(highest_[group])                                ? highest_[group]
                                                                                            : 0.0;
      out_.multiplier[group] = count > 0 ? sum / static_cast<double>(count) : middle;
    }
    for (Index i = 0; i < n_; ++i) {
      const double e = kink(i);
      const double own = p_.held.groups == 0 ? 0 : out_.multiplier[p_.held.groups == 2 && i >= p_.held.split ? 1 : 0];
      const double slope = out_.gradient[i] - own;
      const auto value = [&](double b) { return slope * b + e * std::abs(b); };
      double least = std::min(value(p_.lower[i]), value(p_.upper[i]));
      if (p_.lower[i] < 0 && p_.upper[i] > 0) least = std::min(least, 0.0);
      out_.gap += value(b_[i]) - least;
      out_.objective += b_[i] * (out_.gradient[i] + p_.linear[i]) / 2 + e * std::abs(b_[i]);
    }
    out_.rows_computed = cache_.computed();
    out_.bytes = cache_.bytes() + part_.size() * sizeof(T);
  }

  const BoxOptions& o_;
  Clock::time_point start_;
  Index max_steps_ = 0;
  Index block_ = 0;
  double tolerance_ = 0;
  Index steps_allowed_ = 0;
  std::vector<Index> last_;  // block
  Buffer<T> part_;
  double reported_ = 0;
  bool jumped_ = false;
  Stage* stage_ = nullptr;
  BoxSolution out_;
};

}  // namespace

template <class T>
BoxSolution solve_box_qp(const RowSource<T>& K, const BoxProblem& problem, const BoxOptions& options) {
  return Engine<T>(K, problem, options).run();
}

template BoxSolution solve_box_qp(const RowSource<float>&, const BoxProblem&, const BoxOptions&);
template BoxSolution solve_box_qp(const RowSource<double>&, const BoxProblem&, const BoxOptions&);

}  // namespace mercer
