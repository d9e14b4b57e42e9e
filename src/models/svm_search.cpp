// SPDX-License-Identifier: BSD-3-Clause
#include "models/svm_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "models/shared_progress.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;
constexpr double rounding = 1e-9;  // a mean may be this much short of another and still be its equal

class Search {
 public:
  Search(const Samples& X, const SearchSpace& space, const FitFold& fit)
      : X_(X), s_(space), fit_(fit), begin_(Clock::now()), order_(space.C.size()), stage_(space.run.progress, "grid search", work()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return s_.C[a] < s_.C[b]; });
    for (const double C : s_.C) {
      for (const double e : s_.epsilon) {
        for (std::size_t k = 0; k < s_.kernels.size(); ++k) {
          table_.push_back({C, e, static_cast<Index>(k), 0, 0, Vector::Constant(folds(), std::nan("")), false, true});
        }
      }
    }
    choose_precision();
    inner_ = s_.run;
    inner_.progress = stage_.inner();
  }

  SearchResult run() {
    const Index count = paths();
    for_paths(
        count, [&](Index p) { return p; }, [&](Index p) { walk(p, 0, last_step()); });
    const Index leader = s_.abandon ? most_promising() : -1;
    if (leader >= 0) {
      const auto rows = rows_of(leader);
      parallel_for(folds() - 1, [&](Index f) { walk(leader, f + 1, last_step()); });
    }
    const double best = best_finished();
    const auto other = [&](Index at) { return leader >= 0 && at >= leader ? at + 1 : at; };
    const auto rest = [&](Index p) {
      for (Index f = 1; f < folds(); ++f) {
        const Index last = leader >= 0 ? last_hopeful(p, f, best) : last_step();
        if (last >= 0) walk(p, f, last);
        stage_.advance(static_cast<double>(last_step() - last));
      }
    };
    if (leader >= 0) {
      for_paths(count - 1, other, rest);
    } else if (together_) {  // nothing to wait for
      parallel_for(count * (folds() - 1), [&](Index at) { walk(at / (folds() - 1), 1 + at % (folds() - 1), last_step()); });
    } else {
      for_paths(count, other, rest);
    }
    return result();
  }

 private:
  Index folds() const { return std::ssize(s_.folds); }
  Index paths() const { return static_cast<Index>(s_.kernels.size() * s_.epsilon.size()); }
  Index last_step() const { return std::ssize(s_.C) - 1; }
  double work() const { return static_cast<double>(s_.C.size() * s_.folds.size() * s_.kernels.size() * s_.epsilon.size()); }
  SvmCandidate& at(Index path, Index step) {
    return table_[order_[static_cast<std::size_t>(step)] * static_cast<std::size_t>(paths()) + static_cast<std::size_t>(path)];
  }
  std::size_t kernel_of(Index path) const { return static_cast<std::size_t>(path) % s_.kernels.size(); }
  double left() const {
    if (!(s_.solver.time_limit > 0)) return 0;
    return std::max(1e-9, s_.solver.time_limit - std::chrono::duration<double>(Clock::now() - begin_).count());
  }

  // float32 where its rounding stays below the tolerance, and no more matrices at one time than memory holds.
  void choose_precision() {
    solver_ = s_.solver;
    const double C = *std::max_element(s_.C.begin(), s_.C.end()) * s_.largest_weight;
    double largest = 0;
    for (const Kernel& kernel : s_.kernels) largest = std::max(largest, gram_diagonal(kernel, X_).cwiseAbs().maxCoeff());
    if (!solver_.precision) solver_.precision = C * largest * 1e-6 <= solver_.tolerance ? Precision::float32 : Precision::float64;
    largest_coefficient_ = C;
    const auto n = static_cast<std::size_t>(X_.size());
    bytes_ = n * n * bytes_of(*solver_.precision);
    together_ = bytes_ <= memory_budget(s_.run.memory) / 2 / s_.kernels.size();
    kept_.resize(s_.kernels.size());
  }

  // The rows of a path's kernel, made when they are first asked for. Not called from inside a parallel loop over paths.
  std::shared_ptr<const SvmRows> rows_of(Index path) {
    std::shared_ptr<const SvmRows>& rows = kept_[kernel_of(path)];
    if (rows != nullptr) return rows;
    if (together_) {
      kept_ = SvmRows::of_each(s_.kernels, X_, solver_, largest_coefficient_, inner_);
      return kept_[kernel_of(path)];
    }
    for (auto& other : kept_) other.reset();
    rows = std::make_shared<const SvmRows>(s_.kernels[kernel_of(path)], X_, solver_, largest_coefficient_, true, inner_);
    return rows;
  }

  // Side by side where the Gram matrices of all kernels fit into memory, else one after the other.
  template <class Which, class Body>
  void for_paths(Index count, const Which& which, const Body& body) {
    if (together_) {
      for (Index k = 0; k < count; ++k) rows_of(which(k));
      parallel_for(count, [&](Index k) { body(which(k)); });
      return;
    }
    for (Index k = 0; k < count; ++k) {
      rows_of(which(k));
      body(which(k));
    }
  }

  // One path on one fold, from the smallest C up to step `last`.
  void walk(Index path, Index fold, Index last) {
    WarmStart warm;
    const SvmRows& rows = *kept_[kernel_of(path)];
    for (Index step = 0; step <= last; ++step) {
      SvmSolver solver = solver_;
      solver.time_limit = left();
      if (s_.solver.time_limit > 0 && solver.time_limit <= 1e-9) return;
      SvmCandidate& candidate = at(path, step);
      const FoldFit fit = fit_(rows, candidate.epsilon, s_.folds[static_cast<std::size_t>(fold)], candidate.C, warm, solver, inner_);
      steps_ += fit.steps;
      if (fit.late) return;
      ++fits_;
      candidate.fold_scores[fold] = fit.score;
      // Folds of a path may be walked at the same time.
      if (!fit.converged) note_unsettled(path, step);
      stage_.advance(1);
    }
  }

  void note_unsettled(Index path, Index step) {
    const std::scoped_lock lock(mutex_);
    at(path, step).converged = false;
  }

  // The path of the best first score; -1 where there is none.
  Index most_promising() {
    Index best = -1;
    double score = 0;
    for (Index p = 0; p < paths(); ++p) {
      for (Index step = 0; step <= last_step(); ++step) {
        const double mine = at(p, step).fold_scores[0];
        if (!std::isnan(mine) && (best < 0 || mine > score)) best = p, score = mine;
      }
    }
    return best;
  }

  double best_finished() const {
    double best = -std::numeric_limits<double>::infinity();
    for (const SvmCandidate& c : table_) {
      const double mean = c.fold_scores.mean();
      if (mean > best) best = mean;  // NaN is not
    }
    return best;
  }

  // The largest C of a path whose mean, were all folds from `fold` on perfect, would reach `best`.
  Index last_hopeful(Index path, Index fold, double best) {
    for (Index step = last_step(); step >= 0; --step) {
      const double sum = at(path, step).fold_scores.head(fold).sum();
      const double reach = (sum + s_.most * static_cast<double>(folds() - fold)) / static_cast<double>(folds());
      if (reach >= best - rounding * std::max(1.0, std::abs(best))) return step;  // NaN: not computed, so abandoned before
    }
    return -1;
  }

  SearchResult result() {
    SearchResult out;
    out.table = std::move(table_);
    bool any = false;
    for (std::size_t k = 0; k < out.table.size(); ++k) {
      SvmCandidate& c = out.table[k];
      c.mean = c.fold_scores.mean();
      c.abandoned = std::isnan(c.mean);
      c.deviation = std::sqrt((c.fold_scores.array() - c.mean).square().mean());
      out.summary.abandoned += c.abandoned ? 1 : 0;
      if (c.abandoned || (any && !(c.mean > out.table[out.best].mean))) continue;
      any = true;
      out.best = k;
    }
    if (!any) {
      throw OutOfTime(fmt::format("no candidate was finished on all {} folds within {} seconds: allow more time or a smaller grid", folds(),
                                  s_.solver.time_limit));
    }
    out.summary.fits = fits_;
    out.summary.iterations = steps_;
    out.summary.precision = *solver_.precision;
    out.summary.bytes = bytes_ * (together_ ? s_.kernels.size() : 1);
    out.summary.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    return out;
  }

  const Samples& X_;
  const SearchSpace& s_;
  const FitFold& fit_;
  Clock::time_point begin_;
  std::vector<std::size_t> order_;  // of C, ascending
  SharedProgress stage_;
  Run inner_{};
  SvmSolver solver_{};
  double largest_coefficient_ = 1;
  std::size_t bytes_ = 0;
  bool together_ = true;
  std::vector<std::shared_ptr<const SvmRows>> kept_{};
  std::vector<SvmCandidate> table_{};
  std::mutex mutex_{};
  std::atomic<Index> fits_{0};
  std::atomic<Index> steps_{0};
};

}  // namespace

void require_grid(const std::vector<Kernel>& kernels, const std::vector<double>& C, const std::vector<double>& epsilon) {
  if (kernels.empty()) throw InvalidArgument("there is no kernel to choose from: give at least one");
  if (C.empty()) throw InvalidArgument("there is no C to choose from: give at least one number > 0");
  if (epsilon.empty()) throw InvalidArgument("there is no epsilon to choose from: give at least one number >= 0");
  for (const double c : C) {
    if (!(c > 0) || !std::isfinite(c)) throw InvalidArgument(fmt::format("every C must be a finite number > 0, got {}", c));
  }
  for (const double e : epsilon) {
    if (!(e >= 0) || !std::isfinite(e)) throw InvalidArgument(fmt::format("every epsilon must be a finite number >= 0, got {}", e));
  }
  for (const Kernel& kernel : kernels) {
    if (kernel.needs_given_gram() != kernels.front().needs_given_gram())
      throw InvalidArgument("kernels of rows and precomputed ones cannot be tried on the same samples");
  }
}

void require_folds(const std::vector<Fold>& folds, Index n) {
  if (folds.empty()) throw InvalidArgument("there is no fold to judge on");
  for (std::size_t f = 0; f < folds.size(); ++f) {
    const Fold& fold = folds[f];
    if (fold.train.empty() || fold.test.empty())
      throw InvalidArgument(fmt::format("fold {} has {} training and {} test samples; it needs at least one of each", f + 1,
                                        fold.train.size(), fold.test.size()));
    std::vector<char> seen(static_cast<std::size_t>(n), 0);
    for (const auto* part : {&fold.train, &fold.test}) {
      for (const Index i : *part) {
        if (i < 0 || i >= n) throw InvalidArgument(fmt::format("fold {} names sample {}, which is outside 0 .. {}", f + 1, i, n - 1));
        if (seen[static_cast<std::size_t>(i)]++ != 0) throw InvalidArgument(fmt::format("fold {} has sample {} twice", f + 1, i));
      }
    }
  }
}

SearchResult search_svm(const Samples& X, const SearchSpace& space, const FitFold& fit) { return Search(X, space, fit).run(); }

void start_from(const Vector& b, const Vector& product, double factor, BoxProblem& problem) {
  double linear = problem.linear.dot(b);
  if (problem.kink.size() > 0) linear += problem.kink.dot(b.cwiseAbs());
  const double square = b.dot(product);
  const double stretch = std::clamp(square > 0 ? -linear / square : 1.0, 1.0, factor);
  // Bounds that both are products of C may differ in the last place.
  problem.start = (stretch * b).cwiseMax(problem.lower).cwiseMin(problem.upper);
  problem.start_product = stretch * product;
}

void finish_search(SearchResult& result, const SearchSpace& space, const std::string& score, bool regression) {
  const SvmCandidate& best = result.table[result.best];
  SvmCvSummary& s = result.summary;
  s.seconds += s.refit_seconds;
  const double sign = best.mean < 0 && space.most == 0 ? -1 : 1;
  s.sentence =
      fmt::format("best of {} candidates: C = {:g}, {}{}, {} {:.4g} +- {:.2g} on {} folds; {} fits, {} candidates abandoned, {:.2f} s",
                  result.table.size(), best.C, regression ? fmt::format("epsilon = {:g}, ", best.epsilon) : "",
                  space.kernels[static_cast<std::size_t>(best.kernel)].text(), score, sign * best.mean, best.deviation, space.folds.size(),
                  s.fits, s.abandoned, s.seconds);
  const auto say = [&](const std::string& text) { s.remark += (s.remark.empty() ? "" : "; ") + text; };
  const auto [least, most] = std::minmax_element(space.C.begin(), space.C.end());
  if (space.C.size() > 1 && *least < *most && (best.C == *least || best.C == *most))
    say(fmt::format("the best C = {:g} is the {} of those tried: a {} one may be better", best.C, best.C == *least ? "smallest" : "largest",
                    best.C == *least ? "smaller" : "larger"));
  Index unsettled = 0;
  for (const SvmCandidate& c : result.table) unsettled += c.converged ? 0 : 1;
  if (unsettled > 0)
    say(fmt::format("{} candidates have fits that met the step limit; their scores may be off: scale the columns or allow more steps",
                    unsettled));
}

}  // namespace mercer
