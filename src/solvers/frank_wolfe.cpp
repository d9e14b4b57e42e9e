// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/frank_wolfe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mercer/random.hpp"

namespace mercer::solvers {

namespace {

constexpr Index cached_passes = 100;  // at most, after a pass with the oracle
constexpr double cached_share = 0.2;  // fewer when what remembered planes still offer is this share of the gap
constexpr int idle_visits = 20;       // after which a plane without mass is forgotten
constexpr double rounding = 1e-9;     // of slopes, relative

// The remembered planes of one example. The true output is not among them: it has what mass they leave.
struct Block {
  std::vector<Plane> planes{};
  std::vector<double> mass{};   // a_i
  std::vector<double> inner{};  // between planes, row by row
  std::vector<int> idle{};      // visits since a plane had mass or was the oracle's answer
  double rest = 1;              // mass of the true output

  std::size_t size() const { return planes.size(); }
  double product(std::size_t a, std::size_t b) const { return inner[a * size() + b]; }
};

void remember(const PlaneSpace& space, Index i, Block& b, Plane plane) {
  const std::size_t m = b.size();
  std::vector<double> inner((m + 1) * (m + 1));
  for (std::size_t r = 0; r < m; ++r) {
    std::copy_n(b.inner.begin() + static_cast<std::ptrdiff_t>(r * m), m, inner.begin() + static_cast<std::ptrdiff_t>(r * (m + 1)));
    inner[r * (m + 1) + m] = inner[m * (m + 1) + r] = space.inner(i, b.planes[r], plane);
  }
  inner[m * (m + 1) + m] = space.inner(i, plane, plane);
  b.inner = std::move(inner);
  b.planes.push_back(std::move(plane));
  b.mass.push_back(0);
  b.idle.push_back(0);
}

void forget_idle(Block& b) {
  std::vector<std::size_t> kept;
  for (std::size_t k = 0; k < b.size(); ++k) {
    if (b.mass[k] > 0 || b.idle[k] < idle_visits) kept.push_back(k);
  }
  if (kept.size() == b.size()) return;
  Block out;
  out.rest = b.rest;
  for (const std::size_t k : kept) {
    for (const std::size_t l : kept) out.inner.push_back(b.product(k, l));
    out.planes.push_back(std::move(b.planes[k]));
    out.mass.push_back(b.mass[k]);
    out.idle.push_back(b.idle[k]);
  }
  b = std::move(out);
}

class Method {
 public:
  Method(PlaneSpace& space, const Vector& C, const FrankWolfeOptions& options, const ProgressCallback& progress)
      : space_(space), C_(C), options_(options), stage_(progress, "Frank-Wolfe", 1), blocks_(static_cast<std::size_t>(C.size())) {}

  FrankWolfeSolution run() {
    space_.restart();
    space_.settle();
    for (solution_.passes = 0; solution_.passes < options_.max_passes;) {
      const double estimate = pass(true, solution_.passes);
      ++solution_.passes;
      const double primal = dual_of(space_.squared_norm()) + estimate;
      report(estimate, primal);
      if (estimate <= 2 * options_.tolerance * primal && certify()) break;
      for (Index k = 0; k < cached_passes; ++k) {
        if (pass(false, solution_.passes) <= cached_share * estimate) break;
      }
    }
    if (!solution_.converged) certify();
    for (const Block& b : blocks_) solution_.planes += std::count_if(b.mass.begin(), b.mass.end(), [](double a) { return a > 0; });
    return solution_;
  }

 private:
  Block& block(Index i) { return blocks_[static_cast<std::size_t>(i)]; }

  // Visits all examples in random order; the sum of what each could gain when it was visited.
  double pass(bool with_oracle, Index number) {
    // Cheap passes go the same way as the last one with the oracle: an order of their own would gain nothing.
    if (with_oracle) order_ = RandomStream(options_.seed, static_cast<std::uint64_t>(number)).permutation(C_.size());
    double gap = 0;
    Index visited = 0;
    for (const Index i : order_) {
      if (++visited % 16 == 0) stage_.check();
      if (C_[i] > 0 && (with_oracle || block(i).size() > 0)) gap += visit(i, with_oracle);
    }
    return gap;
  }

  double visit(Index i, bool with_oracle) {
    Block& b = block(i);
    slopes_.resize(b.size());
    for (std::size_t k = 0; k < b.size(); ++k) slopes_[k] = b.planes[k].loss - space_.product(i, b.planes[k]);
    if (with_oracle) ask(i, b);
    const double best = std::max(0.0, slopes_.empty() ? 0.0 : *std::max_element(slopes_.begin(), slopes_.end()));
    double now = 0;
    for (std::size_t k = 0; k < b.size(); ++k) now += b.mass[k] * slopes_[k];
    const double gain = C_[i] * (best - now);
    before_ = b.mass;
    optimise(b, C_[i]);
    bool moved = false;
    for (std::size_t k = 0; k < b.size(); ++k) {
      b.idle[k] = b.mass[k] > 0 ? 0 : b.idle[k] + 1;
      if (b.mass[k] == before_[k]) continue;
      space_.add(i, b.planes[k], C_[i] * (b.mass[k] - before_[k]));
      moved = true;
    }
    if (moved) space_.settle();
    forget_idle(b);
    return gain;
  }

  // The oracle's plane joins the others when it is better than all of them and than the truth.
  void ask(Index i, Block& b) {
    Plane plane = space_.worst(i);
    ++solution_.oracle_calls;
    const double slope = plane.loss - space_.product(i, plane);
    const double known = std::max(0.0, slopes_.empty() ? 0.0 : *std::max_element(slopes_.begin(), slopes_.end()));
    if (slope < known - rounding * (1 + std::abs(known))) ++solution_.missed;
    if (!(slope > known)) return;
    const auto at = std::find(b.planes.begin(), b.planes.end(), plane);
    if (at != b.planes.end()) {
      b.idle[static_cast<std::size_t>(at - b.planes.begin())] = 0;
      return;
    }
    remember(space_, i, b, std::move(plane));
    slopes_.push_back(slope);
  }

  // Pairwise steps with exact line search on the small problem over the remembered planes and the truth: from the plane with mass and the
  // smallest slope to the one with the largest. Number m stands for the truth.
  void optimise(Block& b, double C) {
    const std::size_t m = b.size();
    for (std::size_t step = 0; step < 4 * (m + 1); ++step) {
      std::size_t to = m;
      std::size_t from = m;
      double high = 0;
      double low = b.rest > 0 ? 0 : std::numeric_limits<double>::infinity();
      for (std::size_t k = 0; k < m; ++k) {
        if (slopes_[k] > high) {
          high = slopes_[k];
          to = k;
        }
        if (b.mass[k] > 0 && slopes_[k] < low) {
          low = slopes_[k];
          from = k;
        }
      }
      if (!(high - low > 1e-14 * (1 + std::abs(high))) || to == from) return;
      const auto product = [&](std::size_t k, std::size_t l) { return k == m || l == m ? 0 : b.product(k, l); };
      const double curvature = C * (product(to, to) - 2 * product(to, from) + product(from, from));
      double& source = from == m ? b.rest : b.mass[from];
      const double move = curvature > 0 ? std::min(source, (high - low) / curvature) : source;
      (to == m ? b.rest : b.mass[to]) += move;
      source -= move;  // exactly zero where all of it goes
      for (std::size_t k = 0; k < m; ++k) slopes_[k] -= C * move * (product(k, to) - product(k, from));
    }
  }

  double dual_of(double squared_norm) const {
    double sum = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      double loss = 0;
      for (std::size_t k = 0; k < blocks_[i].size(); ++k) loss += blocks_[i].mass[k] * blocks_[i].planes[k].loss;
      sum += C_[static_cast<Index>(i)] * loss;
    }
    return sum - squared_norm / 2;
  }

  // w made anew from the coefficients, whose sums are one again, so that no rounding of the way here is in it.
  void rebuild() {
    space_.restart();
    for (Index i = 0; i < C_.size(); ++i) {
      Block& b = block(i);
      double sum = b.rest;
      for (const double a : b.mass) sum += a;
      b.rest /= sum;
      for (std::size_t k = 0; k < b.size(); ++k) {
        b.mass[k] /= sum;
        if (b.mass[k] > 0) space_.add(i, b.planes[k], C_[i] * b.mass[k]);
      }
    }
    space_.settle();
  }

  // P, D and the gap at one w. Examples are looked at in parallel, and added in their order.
  bool certify() {
    rebuild();
    Vector hinge = Vector::Zero(C_.size());
    const auto look = [&](Index i) {
      if (!(C_[i] > 0)) return;
      const Plane plane = space_.worst(i);
      hinge[i] = std::max(0.0, plane.loss - space_.product(i, plane));
      stage_.check();
    };
    if (space_.parallel()) {
      parallel_for(C_.size(), look);
    } else {
      for (Index i = 0; i < C_.size(); ++i) look(i);
    }
    solution_.oracle_calls += (C_.array() > 0).count();
    const double squared_norm = space_.squared_norm();
    solution_.squared_norm = squared_norm;
    solution_.objective = squared_norm / 2 + C_.dot(hinge);
    solution_.dual = dual_of(squared_norm);
    solution_.gap = std::max(0.0, solution_.objective - solution_.dual);
    solution_.converged = solution_.gap <= options_.tolerance * solution_.objective;
    return solution_.converged;
  }

  // The gap falls by factors, so the share of the work that is done goes by its logarithm.
  void report(double gap, double primal) {
    const double relative = primal > 0 ? std::clamp(gap / primal, 1e-300, 1.0) : 1e-300;
    const double share = std::clamp(std::log(relative) / std::log(std::min(options_.tolerance, 0.5)), 0.0, 0.99);
    if (share <= reported_) return;
    stage_.advance(share - reported_);
    reported_ = share;
  }

  PlaneSpace& space_;
  const Vector& C_;
  const FrankWolfeOptions& options_;
  Stage stage_;
  std::vector<Block> blocks_;
  std::vector<Index> order_{};
  std::vector<double> slopes_{};  // of the planes of the example that is visited
  std::vector<double> before_{};
  double reported_ = 0;
  FrankWolfeSolution solution_;
};

}  // namespace

FrankWolfeSolution frank_wolfe(PlaneSpace& space, const Vector& C, const FrankWolfeOptions& options, const ProgressCallback& progress) {
  return Method(space, C, options, progress).run();
}

}  // namespace mercer::solvers
