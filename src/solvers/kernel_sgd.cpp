// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/kernel_sgd.hpp"

#include <algorithm>
#include <cmath>

namespace mercer::solvers {

namespace {

// The samples of some steps, each once, and the place of each step among them.
struct StepBlock {
  Index first = 0;              // t of its first step
  std::vector<Index> samples;   // ascending
  std::vector<Index> place;     // of each step
  std::vector<double> left_in;  // H_T - H_t: what an update in step t weighs in the average, times lambda T
};

class Blocks {
 public:
  Blocks(DrawSequence draws, const std::vector<Index>& local, Index iterations, Index steps)
      : draws_(std::move(draws)), local_(local), iterations_(iterations), steps_(steps), left_(harmonic_number(iterations)) {}

  bool next(StepBlock& block) {
    const Index count = std::min(steps_, iterations_ - done_);
    if (count == 0) return false;
    block.first = done_ + 1;
    block.place.resize(static_cast<std::size_t>(count));
    block.left_in.resize(static_cast<std::size_t>(count));
    for (Index k = 0; k < count; ++k) {
      block.place[static_cast<std::size_t>(k)] = local_[static_cast<std::size_t>(draws_.next())];
      left_ -= 1 / static_cast<long double>(done_ + k + 1);
      block.left_in[static_cast<std::size_t>(k)] = static_cast<double>(std::max(left_, 0.0L));
    }
    block.samples = block.place;
    std::sort(block.samples.begin(), block.samples.end());
    block.samples.erase(std::unique(block.samples.begin(), block.samples.end()), block.samples.end());
    for (Index& i : block.place) i = std::lower_bound(block.samples.begin(), block.samples.end(), i) - block.samples.begin();
    done_ += count;
    return true;
  }
  bool finished() const { return done_ == iterations_; }

 private:
  DrawSequence draws_;
  const std::vector<Index>& local_;
  Index iterations_;
  Index steps_;
  Index done_ = 0;
  long double left_;
};

// Notation: beta and F = K beta as in the header, one row per function.
SgdSolution run_unlimited(const SgdGram& gram, const SgdProblem& problem, Blocks blocks, Stage& stage) {
  const Index functions = problem.functions;
  Matrix F = Matrix::Zero(functions, gram.size());
  Matrix beta = Matrix::Zero(gram.size(), functions);
  Matrix average = Matrix::Zero(problem.average ? gram.size() : 0, functions);
  std::vector<Index> updates(static_cast<std::size_t>(functions), 0);
  StepBlock block;
  while (blocks.next(block)) {
    const auto size = static_cast<Index>(block.samples.size());
    const Matrix K = gram.block(block.samples, block.samples);
    Matrix change = Matrix::Zero(size, functions);
    parallel_for(functions, [&](Index c) {
      Vector scores(size);
      for (Index p = 0; p < size; ++p) scores[p] = F(c, block.samples[static_cast<std::size_t>(p)]);
      for (std::size_t k = 0; k < block.place.size(); ++k) {
        const Index p = block.place[k];
        const Index i = block.samples[static_cast<std::size_t>(p)];
        const double y = problem.sign(c, i);
        if (!(y * scores[p] < problem.lambda * static_cast<double>(block.first + static_cast<Index>(k)))) continue;
        scores += y * K.row(p).transpose();
        change(p, c) += y;
        if (problem.average) average(i, c) += y * block.left_in[k];
        ++updates[static_cast<std::size_t>(c)];
      }
    });
    std::vector<Index> changed;
    std::vector<Index> rows;
    for (Index p = 0; p < size; ++p) {
      if (change.row(p).isZero(0)) continue;
      changed.push_back(block.samples[static_cast<std::size_t>(p)]);
      rows.push_back(p);
      beta.row(changed.back()) += change.row(p);
    }
    if (!changed.empty() && !blocks.finished()) gram.add_columns(changed, change(rows, Eigen::all), F);
    stage.advance(static_cast<double>(block.place.size()));
  }
  SgdSolution solution;
  const auto T = static_cast<double>(problem.iterations);
  solution.coef = problem.average ? Matrix(average / (problem.lambda * T)) : Matrix(beta / (problem.lambda * (T + 1)));
  for (const Index count : updates) solution.updates += count;
  return solution;
}

// The support vectors of one function, those of the present block included, with all kernel values between them.
class WorkingSet {
 public:
  explicit WorkingSet(Index budget) : budget_(budget) {}

  // Brings in the samples of a block; returns the place of each.
  std::vector<Index> bring(const SgdGram& gram, const std::vector<Index>& samples) {
    const Index before = std::ssize(ids_);
    std::vector<Index> fresh;
    std::vector<Index> places;
    for (const Index i : samples) {
      const auto found = std::find(ids_.begin(), ids_.begin() + before, i);
      places.push_back(found != ids_.begin() + before ? found - ids_.begin() : before + std::ssize(fresh));
      if (places.back() >= before) fresh.push_back(i);
    }
    const Index count = std::ssize(fresh);
    Matrix K(before + count, before + count);
    K.topLeftCorner(before, before) = K_;
    if (before > 0 && count > 0) {
      K.bottomLeftCorner(count, before) = gram.block(fresh, ids_);
      K.topRightCorner(before, count) = K.bottomLeftCorner(count, before).transpose();
    }
    if (count > 0) K.bottomRightCorner(count, count) = gram.block(fresh, fresh);
    K_ = std::move(K);
    ids_.insert(ids_.end(), fresh.begin(), fresh.end());
    beta_.conservativeResize(before + count);
    beta_.tail(count).setZero();
    came_.resize(ids_.size(), 0);
    return places;
  }

  double score(Index p) const { return K_.row(p).dot(beta_); }

  // Adds y to beta_p; returns whether another one had to leave.
  bool add(Index p, double y) {
    if (beta_[p] == 0) {
      ++support_;
      came_[static_cast<std::size_t>(p)] = ++clock_;
    }
    beta_[p] += y;
    support_ -= beta_[p] == 0 ? 1 : 0;
    if (support_ <= budget_) return false;
    remove_weakest(p);
    return true;
  }

  // Only what has a coefficient stays.
  void compact() {
    std::vector<Index> kept;
    for (Index p = 0; p < beta_.size(); ++p) {
      if (beta_[p] != 0) kept.push_back(p);
    }
    if (std::ssize(kept) == beta_.size()) return;
    K_ = Matrix(K_(kept, kept));
    beta_ = Vector(beta_(kept));
    for (std::size_t k = 0; k < kept.size(); ++k) {
      ids_[k] = ids_[static_cast<std::size_t>(kept[k])];
      came_[k] = came_[static_cast<std::size_t>(kept[k])];
    }
    ids_.resize(kept.size());
    came_.resize(kept.size());
  }

  const std::vector<Index>& ids() const { return ids_; }
  const Vector& beta() const { return beta_; }

 private:
  // The one that came last (`newest`) stays: it would tie with all that were updated once, and the set would never change. Of others that
  // tie, the one that came first leaves (or is projected on), so that nothing depends on how steps are cut into blocks.
  void remove_weakest(Index newest) {
    const Index weakest = least(newest, [&](Index p) { return beta_[p] * beta_[p] * K_(p, p); });
    const Index onto = least(weakest, [&](Index q) { return K_(q, q) > 0 ? -K_(weakest, q) * K_(weakest, q) / K_(q, q) : 0.0; });
    const double share = K_(onto, onto) > 0 ? beta_[weakest] * K_(weakest, onto) / K_(onto, onto) : 0;
    beta_[weakest] = 0;
    --support_;
    beta_[onto] += share;
    support_ -= beta_[onto] == 0 ? 1 : 0;
  }

  template <class Value>
  Index least(Index but, const Value& value) const {
    Index best = -1;
    for (Index p = 0; p < beta_.size(); ++p) {
      if (beta_[p] == 0 || p == but) continue;
      const double difference = best < 0 ? -1 : value(p) - value(best);
      if (difference < 0 || (difference == 0 && came_[static_cast<std::size_t>(p)] < came_[static_cast<std::size_t>(best)])) best = p;
    }
    return best;
  }

  Index budget_;
  std::vector<Index> ids_{};
  std::vector<Index> came_{};  // when each became a support vector
  Index clock_ = 0;
  Matrix K_{};
  Vector beta_{};
  Index support_ = 0;
};

SgdSolution run_budgeted(const SgdGram& gram, const SgdProblem& problem, const Blocks& blocks, Stage& stage) {
  const Index functions = problem.functions;
  Matrix coef = Matrix::Zero(gram.size(), functions);
  std::vector<SgdSolution> counts(static_cast<std::size_t>(functions));
  parallel_for(functions, [&](Index c) {
    Blocks own = blocks;
    WorkingSet set(problem.budget);
    SgdSolution& count = counts[static_cast<std::size_t>(c)];
    StepBlock block;
    while (own.next(block)) {
      const std::vector<Index> places = set.bring(gram, block.samples);
      for (std::size_t k = 0; k < block.place.size(); ++k) {
        const auto at = static_cast<std::size_t>(block.place[k]);
        const double y = problem.sign(c, block.samples[at]);
        if (!(y * set.score(places[at]) < problem.lambda * static_cast<double>(block.first + static_cast<Index>(k)))) continue;
        ++count.updates;
        count.removals += set.add(places[at], y) ? 1 : 0;
      }
      set.compact();
      stage.advance(static_cast<double>(block.place.size()) / static_cast<double>(functions));
    }
    const double scale = problem.lambda * (static_cast<double>(problem.iterations) + 1);
    for (Index p = 0; p < set.beta().size(); ++p) coef(set.ids()[static_cast<std::size_t>(p)], c) = set.beta()[p] / scale;
  });
  SgdSolution solution{std::move(coef), 0, 0};
  for (const SgdSolution& count : counts) {
    solution.updates += count.updates;
    solution.removals += count.removals;
  }
  return solution;
}

}  // namespace

DrawSequence::DrawSequence(Index samples, const Vector& weights, std::uint64_t seed) : samples_(samples), random_(seed) {
  double sum = 0;
  for (const double weight : weights) sums_.push_back(sum += weight);
}

Index DrawSequence::next() {
  if (sums_.empty()) return random_.below(samples_);
  const double at = random_.uniform() * sums_.back();
  // The first sum above: never a sample of weight 0. A product that rounds up to the whole sum is taken for the last sample that has
  // weight.
  const auto found = std::upper_bound(sums_.begin(), sums_.end(), at);
  return (found != sums_.end() ? found : std::lower_bound(sums_.begin(), sums_.end(), sums_.back())) - sums_.begin();
}

long double harmonic_number(Index T) {
  long double sum = 0;
  for (Index t = T; t >= 1; --t) sum += 1 / static_cast<long double>(t);
  return sum;
}

SgdSolution kernel_sgd(const SgdGram& gram, const SgdProblem& problem, DrawSequence draws, const std::vector<Index>& local, Stage& stage) {
  Blocks blocks(std::move(draws), local, problem.iterations, gram.block_steps());
  return problem.budget > 0 ? run_budgeted(gram, problem, blocks, stage) : run_unlimited(gram, problem, std::move(blocks), stage);
}

}  // namespace mercer::solvers
