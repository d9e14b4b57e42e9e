// Notation: g sums_, s mass_, q square_, as in the header; a move is a sample that changes from one cluster to another.
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/kernel_kmeans.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "mercer/random.hpp"

namespace mercer::solvers {

namespace {

constexpr Index block = 128;
constexpr std::uint64_t stream = 0x6b6b6d65616e73;
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double bound_slack = 1e-7;  // of a distance, for what rounding does to a root of a difference of products

Index blocks_of(Index n) { return (n + block - 1) / block; }

template <class T>
struct Problem {
  const T* entries = nullptr;
  Index stride = 0;
  Index n = 0;
  Index k = 0;
  const Vector& w;
  Vector diagonal{};
  double scale = 0;  // the largest |K_ii|

  const T* row(Index i) const { return entries + i * stride; }
  // What is not more than this is no distance but rounding.
  double rounding(Index i, Index j) const {
    return 16 * static_cast<double>(std::numeric_limits<T>::epsilon()) * (std::abs(diagonal[i]) + std::abs(diagonal[j]));
  }
  double squared_distance(Index i, Index j) const {
    const double d = i == j ? 0 : diagonal[i] + diagonal[j] - 2 * static_cast<double>(row(i)[j]);
    return d <= rounding(i, j) ? 0 : d;
  }
};

struct Move {
  Index sample = 0;
  Index from = 0;
  Index to = 0;
};

template <class T>
class Restart {
 public:
  Restart(const Problem<T>& problem, const KernelKMeansSettings& settings, RandomStream random)
      : p_(problem), settings_(settings), random_(random) {}

  void run(Stage& stage);
  double objective() const;
  void finish(KernelKMeans& out);

  double rows_looked_at() const { return looked_at_; }
  Index iterations() const { return iterations_; }

 private:
  void start();
  Index draw(const Vector& chances);
  void sum_row(Index i);
  void catch_up(Index i);
  double squared_distance(Index i, Index c) const {
    return p_.diagonal[i] - 2 * sums_(i, c) / mass_[c] + square_[c] / (mass_[c] * mass_[c]);
  }
  std::vector<Move> find_moves(bool all);
  double make(const std::vector<Move>& moves);
  bool fill_empty();

  const Problem<T>& p_;
  const KernelKMeansSettings& settings_;
  RandomStream random_;
  std::vector<Index> labels_{};
  Matrix sums_;
  std::vector<std::size_t> seen_{};  // how much of the log is in a row of sums_
  std::vector<Move> log_{};
  Vector mass_{};
  Vector square_{};
  Vector upper_{};
  Vector lower_{};
  double variance_ = 0;
  double looked_at_ = 0;
  Index iterations_ = 0;
  bool converged_ = false;
  bool exhausted_ = false;  // no sample is left that an empty cluster could take
};

template <class T>
Index Restart<T>::draw(const Vector& chances) {
  double left = random_.uniform() * chances.sum();
  Index last = 0;
  for (Index i = 0; i < chances.size(); ++i) {
    if (chances[i] <= 0) continue;
    last = i;
    if (left < chances[i]) break;
    left -= chances[i];
  }
  return last;
}

// k-means++: of a few samples drawn in proportion to their squared distances from the centres so far, the one that lowers the sum most.
template <class T>
void Restart<T>::start() {
  const auto trials = 2 + static_cast<Index>(std::log(static_cast<double>(p_.k)));
  labels_.assign(static_cast<std::size_t>(p_.n), 0);
  Vector nearest = Vector::Constant(p_.n, infinite);
  Vector chances = p_.w;
  Vector candidate(p_.n);
  Vector best(p_.n);
  for (Index c = 0; c < p_.k; ++c) {
    if (!(chances.sum() > 0)) break;  // every sample is a centre: the other clusters stay empty
    double lowest = infinite;
    for (Index t = 0; t < (c == 0 ? 1 : trials); ++t) {
      const Index chosen = draw(chances);
      for (Index i = 0; i < p_.n; ++i) candidate[i] = std::min(nearest[i], p_.squared_distance(chosen, i));
      const double total = p_.w.dot(candidate);
      if (total >= lowest) continue;
      lowest = total;
      best.swap(candidate);
    }
    for (Index i = 0; i < p_.n; ++i) {
      if (best[i] < nearest[i]) labels_[static_cast<std::size_t>(i)] = c;
    }
    nearest = best;
    chances = p_.w.cwiseProduct(nearest);
  }
  sums_ = Matrix::Zero(p_.n, p_.k);
  seen_.assign(static_cast<std::size_t>(p_.n), 0);
  parallel_for(blocks_of(p_.n), [&](Index b) {
    for (Index i = b * block; i < std::min(p_.n, (b + 1) * block); ++i) sum_row(i);
  });
  mass_ = Vector::Zero(p_.k);
  square_ = Vector::Zero(p_.k);
  for (Index i = 0; i < p_.n; ++i) {
    const Index c = labels_[static_cast<std::size_t>(i)];
    mass_[c] += p_.w[i];
    square_[c] += p_.w[i] * sums_(i, c);
  }
  const double total = p_.w.sum();
  variance_ = std::max(0.0, p_.w.dot(p_.diagonal) / total - p_.w.dot(sums_.rowwise().sum()) / (total * total));
  upper_ = Vector::Constant(p_.n, infinite);
  lower_ = Vector::Zero(p_.n);
}

template <class T>
void Restart<T>::sum_row(Index i) {
  double* sum = sums_.row(i).data();
  std::fill(sum, sum + p_.k, 0.0);
  const T* row = p_.row(i);
  for (Index j = 0; j < p_.n; ++j) sum[labels_[static_cast<std::size_t>(j)]] += p_.w[j] * static_cast<double>(row[j]);
  seen_[static_cast<std::size_t>(i)] = log_.size();
}

template <class T>
void Restart<T>::catch_up(Index i) {
  std::size_t& seen = seen_[static_cast<std::size_t>(i)];
  if (static_cast<Index>(log_.size() - seen) > p_.n / 2) return sum_row(i);  // no dearer, and without the rounding of many changes
  double* sum = sums_.row(i).data();
  const T* row = p_.row(i);
  for (; seen < log_.size(); ++seen) {
    const Move& move = log_[seen];
    const double value = p_.w[move.sample] * static_cast<double>(row[move.sample]);
    sum[move.from] -= value;
    sum[move.to] += value;
  }
}

// The rows that bounds do not decide, or all: their distances anew, and who wants to change.
template <class T>
std::vector<Move> Restart<T>::find_moves(bool all) {
  const Index blocks = blocks_of(p_.n);
  std::vector<std::vector<Move>> found(static_cast<std::size_t>(blocks));
  std::vector<Index> looked(static_cast<std::size_t>(blocks), 0);
  const double slack = bound_slack * std::sqrt(p_.scale);
  const double gain = 1e-13 * p_.scale;  // a change must be worth more than rounding, or samples half way go to and fro
  parallel_for(blocks, [&](Index b) {
    for (Index i = b * block; i < std::min(p_.n, (b + 1) * block); ++i) {
      if (!all && upper_[i] + slack < lower_[i]) continue;
      ++looked[static_cast<std::size_t>(b)];
      catch_up(i);
      const Index own = labels_[static_cast<std::size_t>(i)];
      Index nearest = mass_[own] > 0 ? own : -1;
      double first = mass_[own] > 0 ? squared_distance(i, own) : infinite;
      double second = infinite;
      for (Index c = 0; c < p_.k; ++c) {
        if (c == own || !(mass_[c] > 0)) continue;
        const double d = squared_distance(i, c);
        if (nearest < 0 || d < first - (nearest == own ? gain : 0)) {
          second = first;
          first = d;
          nearest = c;
        } else {
          second = std::min(second, d);
        }
      }
      upper_[i] = std::sqrt(std::max(0.0, first));
      lower_[i] = std::sqrt(std::max(0.0, second));
      if (nearest != own) found[static_cast<std::size_t>(b)].push_back({i, own, nearest});
    }
  });
  std::vector<Move> moves;
  for (const auto& part : found) moves.insert(moves.end(), part.begin(), part.end());
  looked_at_ += static_cast<double>(std::accumulate(looked.begin(), looked.end(), Index{0}));
  return moves;
}

// Makes the changes; returns the sum of the means' squared movements. The rows of all that move must be up to date.
// With d the change of a mean's weights: q' = q + 2 d'g + d'Kd = q + d'(g before + g after), and <m', m> = (q + d'g) / (s' s).
template <class T>
double Restart<T>::make(const std::vector<Move>& moves) {
  const Vector old_mass = mass_;
  const Vector old_square = square_;
  Vector before = Vector::Zero(p_.k);
  Vector after = Vector::Zero(p_.k);
  for (const Move& m : moves) {
    before[m.from] -= p_.w[m.sample] * sums_(m.sample, m.from);
    before[m.to] += p_.w[m.sample] * sums_(m.sample, m.to);
  }
  log_.insert(log_.end(), moves.begin(), moves.end());
  for (const Move& m : moves) labels_[static_cast<std::size_t>(m.sample)] = m.to;
  parallel_for(blocks_of(std::ssize(moves)), [&](Index b) {
    for (Index a = b * block; a < std::min<Index>(std::ssize(moves), (b + 1) * block); ++a)
      catch_up(moves[static_cast<std::size_t>(a)].sample);
  });
  for (const Move& m : moves) {
    after[m.from] -= p_.w[m.sample] * sums_(m.sample, m.from);
    after[m.to] += p_.w[m.sample] * sums_(m.sample, m.to);
  }
  square_ += before + after;
  // Masses are added up anew: what is empty must weigh exactly nothing.
  mass_.setZero();
  for (Index i = 0; i < p_.n; ++i) mass_[labels_[static_cast<std::size_t>(i)]] += p_.w[i];
  std::vector<bool> moved(static_cast<std::size_t>(p_.k), false);
  for (const Move& m : moves) moved[static_cast<std::size_t>(m.from)] = moved[static_cast<std::size_t>(m.to)] = true;
  Vector drift = Vector::Zero(p_.k);
  double total = 0;
  for (Index c = 0; c < p_.k; ++c) {
    if (!moved[static_cast<std::size_t>(c)]) continue;
    if (!(mass_[c] > 0)) {
      square_[c] = 0;
      drift[c] = infinite;
      continue;
    }
    const double s = old_mass[c];
    const double t = mass_[c];
    const double went =
        s > 0 ? std::max(0.0, square_[c] / (t * t) + old_square[c] / (s * s) - 2 * (old_square[c] + before[c]) / (s * t)) : infinite;
    total += went;
    drift[c] = std::sqrt(went + bound_slack * bound_slack * p_.scale);
  }
  Index widest = 0;
  drift.maxCoeff(&widest);
  double second = 0;
  for (Index c = 0; c < p_.k; ++c) second = c == widest ? second : std::max(second, drift[c]);
  for (Index i = 0; i < p_.n; ++i) {
    const Index own = labels_[static_cast<std::size_t>(i)];
    upper_[i] += drift[own];
    lower_[i] -= own == widest ? second : drift[widest];
  }
  return total;
}

// Each empty cluster takes the sample that adds most to the objective; true if one did.
template <class T>
bool Restart<T>::fill_empty() {
  if (exhausted_ || mass_.minCoeff() > 0) return false;
  bool filled = false;
  for (Index c = 0; c < p_.k; ++c) {
    if (mass_[c] > 0) continue;
    parallel_for(blocks_of(p_.n), [&](Index b) {
      for (Index i = b * block; i < std::min(p_.n, (b + 1) * block); ++i) catch_up(i);
    });
    Index farthest = -1;
    double most = 0;
    for (Index i = 0; i < p_.n; ++i) {
      const Index own = labels_[static_cast<std::size_t>(i)];
      if (!(p_.w[i] > 0)) continue;
      const double d = squared_distance(i, own);
      if (d <= 4 * p_.rounding(i, i) || p_.w[i] * d <= most) continue;
      most = p_.w[i] * d;
      farthest = i;
    }
    if (farthest < 0) {
      exhausted_ = true;
      break;
    }
    make({{farthest, labels_[static_cast<std::size_t>(farthest)], c}});
    filled = true;
  }
  return filled;
}

template <class T>
void Restart<T>::run(Stage& stage) {
  start();
  stage.advance(1);
  bool all = true;
  while (iterations_ < settings_.max_iterations && !converged_) {
    const bool filled = fill_empty();
    const std::vector<Move> moves = find_moves(all || filled || !settings_.bounds);
    ++iterations_;
    stage.advance(1);
    if (moves.empty() && !filled) {
      converged_ = true;
      break;
    }
    const double went = make(moves);
    const bool emptied = !exhausted_ && !(mass_.minCoeff() > 0);
    converged_ = !filled && !emptied && went <= settings_.tolerance * variance_;
    all = emptied;
  }
  stage.advance(static_cast<double>(settings_.max_iterations - iterations_));
}

template <class T>
double Restart<T>::objective() const {
  double sum = p_.w.dot(p_.diagonal);
  for (Index c = 0; c < p_.k; ++c) sum -= mass_[c] > 0 ? square_[c] / mass_[c] : 0;
  return sum;
}

// All sums anew, without the rounding of the changes; clusters without a sample are left out.
template <class T>
void Restart<T>::finish(KernelKMeans& out) {
  std::vector<Index> number(static_cast<std::size_t>(p_.k), -1);
  for (Index c = 0; c < p_.k; ++c) {
    if (mass_[c] > 0) number[static_cast<std::size_t>(c)] = out.clusters++;
  }
  out.members = labels_;
  out.iterations = iterations_;
  out.converged = converged_;
  parallel_for(blocks_of(p_.n), [&](Index b) {
    for (Index i = b * block; i < std::min(p_.n, (b + 1) * block); ++i) sum_row(i);
  });
  square_.setZero();
  for (Index i = 0; i < p_.n; ++i) {
    const Index c = labels_[static_cast<std::size_t>(i)];
    square_[c] += p_.w[i] * sums_(i, c);
  }
  for (const Move& m : find_moves(true)) labels_[static_cast<std::size_t>(m.sample)] = m.to;
  out.labels = labels_;
  for (Index i = 0; i < p_.n; ++i) {
    out.inertia += p_.w[i] * squared_distance(i, labels_[static_cast<std::size_t>(i)]);
    Index& member = out.members[static_cast<std::size_t>(i)];
    out.labels[static_cast<std::size_t>(i)] = number[static_cast<std::size_t>(labels_[static_cast<std::size_t>(i)])];
    member = number[static_cast<std::size_t>(member)];
    if (member < 0) member = out.labels[static_cast<std::size_t>(i)];  // of weight zero, in a cluster of nothing else
  }
  out.inertia = std::max(0.0, out.inertia);
}

template <class T>
KernelKMeans best_of(const Problem<T>& problem, const KernelKMeansSettings& settings, Stage& stage) {
  std::vector<std::unique_ptr<Restart<T>>> restarts(static_cast<std::size_t>(settings.restarts));
  parallel_for(settings.restarts, [&](Index r) {
    auto restart = std::make_unique<Restart<T>>(problem, settings, RandomStream(settings.seed, stream + static_cast<std::uint64_t>(r)));
    restart->run(stage);
    restarts[static_cast<std::size_t>(r)] = std::move(restart);
  });
  KernelKMeans out;
  double looked = 0;
  double rows = 0;
  for (std::size_t r = 0; r < restarts.size(); ++r) {
    looked += restarts[r]->rows_looked_at();
    rows += static_cast<double>(problem.n) * static_cast<double>(restarts[r]->iterations());
    // Better by more than rounding: restarts that found the same partition are told by their numbers.
    const double margin = 1e-12 * problem.scale * problem.w.sum();
    if (restarts[r]->objective() < restarts[static_cast<std::size_t>(out.restart)]->objective() - margin)
      out.restart = static_cast<Index>(r);
  }
  out.looked_at = rows > 0 ? looked / rows : 1;
  restarts[static_cast<std::size_t>(out.restart)]->finish(out);
  return out;
}

}  // namespace

KernelKMeans kernel_kmeans(const LinearOperator& K, Index k, const Vector& weights, const KernelKMeansSettings& settings, Stage& stage) {
  const RowBlock rows = K.row_block(0, K.rows());
  return std::visit(
      [&](const auto* entries) {
        using T = std::remove_cv_t<std::remove_pointer_t<decltype(entries)>>;
        Problem<T> problem{.entries = entries, .stride = rows.stride, .n = K.rows(), .k = k, .w = weights, .diagonal = K.diagonal()};
        problem.scale = problem.diagonal.cwiseAbs().maxCoeff();
        return best_of(problem, settings, stage);
      },
      rows.values);
}

}  // namespace mercer::solvers
