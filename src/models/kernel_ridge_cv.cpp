// Choosing among the paths of several kernels, and the model at the choice.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_ridge_cv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/node.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "models/ridge_path.hpp"
#include "models/weights.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Index most_alphas = 100000;

void check_options(const KernelRidgeCvOptions& o, Index n) {
  if (o.kernels.empty()) throw InvalidArgument("there are no kernels to choose from: give at least one");
  for (const double alpha : o.alphas) {
    if (!(alpha >= 0) || !std::isfinite(alpha)) throw InvalidArgument(fmt::format("alphas must be finite numbers >= 0, got {}", alpha));
  }
  const auto count = o.alphas.empty() ? o.n_alphas : static_cast<Index>(o.alphas.size());
  if (count < 1 || count > most_alphas)
    throw InvalidArgument(fmt::format("the number of alphas must lie in 1 .. {}, got {}", most_alphas, count));
  for (const Kernel& kernel : o.kernels) {
    if (kernel.needs_given_gram() != o.kernels[0].needs_given_gram())
      throw InvalidArgument(
          fmt::format("{} and {} cannot be compared: only one of them looks at given kernel values", o.kernels[0].text(), kernel.text()));
    if (normalizes_given(kernel))
      throw InvalidArgument(fmt::format(
          "{} could be fitted but never predict: k(x,x) of new objects is not among given kernel values; normalise the matrix first",
          kernel.text()));
  }
  for (std::size_t f = 0; f < o.folds.size(); ++f) {
    const Fold& fold = o.folds[f];
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

// The best valid point of a path for one column of scores; ties go to the larger penalty, the calmer function. -1: none.
template <class Score>
Index best_of(const std::vector<PathPoint>& points, const Score& score) {
  Index best = -1;
  for (Index k = 0; k < static_cast<Index>(points.size()); ++k) {
    const PathPoint& point = points[static_cast<std::size_t>(k)];
    if (!point.valid || std::isnan(score(point))) continue;
    const auto better = [&](const PathPoint& other) {
      return score(point) > score(other) || (score(point) == score(other) && point.alpha > other.alpha);
    };
    if (best < 0 || better(points[static_cast<std::size_t>(best)])) best = k;
  }
  return best;
}

}  // namespace

class KernelRidgePath {
 public:
  KernelRidgePath(const Samples& rows, const MatrixRef& Y, const KernelRidgeCvOptions& options)
      : start_(Clock::now()),
        o_(options),
        X_(as_given(options.kernels.at(0), rows)),
        Y_(Y),
        s_(root_weights(options.sample_weight, X_.size())) {
    for (Index i = 0; i < s_.size(); ++i) {
      if (s_[i] > 0) active_.push_back(i);
    }
    if (o_.folds.empty() && static_cast<Index>(active_.size()) < (o_.fit_intercept ? 2 : 1))
      throw InvalidArgument("leave-one-out with an intercept needs at least 2 samples of positive weight, got 1 sample");
  }

  KernelRidgeCvResult run() {
    const PathProblem problem = make_problem();
    for (const Kernel& kernel : o_.kernels) {
      kernels_.push_back(resolve(kernel, X_));
      KernelPath path = problem.folds.empty() ? leave_one_out_path(kernels_.back(), problem) : fold_path(kernels_.back(), problem);
      consider(std::move(path));
    }
    if (best_kernel_ < 0)
      throw InvalidArgument(
          fmt::format("no alpha makes K + alpha I positive definite: {}; give larger alphas or another kernel", points_.front().note));
    KernelRidgeCvResult result(problem.folds.empty() ? model_of_path() : refit());
    finish(result);
    return result;
  }

 private:
  PathProblem make_problem() const {
    const bool all = static_cast<Index>(active_.size()) == X_.size();
    std::vector<Fold> folds;
    std::vector<Index> place(static_cast<std::size_t>(X_.size()), -1);
    for (std::size_t k = 0; k < active_.size(); ++k) place[static_cast<std::size_t>(active_[k])] = static_cast<Index>(k);
    for (const Fold& fold : o_.folds) {
      Fold part;
      for (const Index i : fold.train) {
        if (place[static_cast<std::size_t>(i)] >= 0) part.train.push_back(place[static_cast<std::size_t>(i)]);
      }
      for (const Index i : fold.test) {
        if (place[static_cast<std::size_t>(i)] >= 0) part.test.push_back(place[static_cast<std::size_t>(i)]);
      }
      if (part.train.empty() || part.test.empty()) throw InvalidArgument("a fold has no sample of positive weight to train or to test on");
      folds.push_back(std::move(part));
    }
    return {all ? X_ : X_.subset(active_), Y_(active_, Eigen::all), s_(active_), o_.sample_weight.size() > 0, std::move(folds), o_};
  }

  void consider(KernelPath path) {
    std::vector<Index> choice(static_cast<std::size_t>(Y_.cols()), -1);
    double score = 0;
    if (o_.alpha_per_target) {
      for (Index t = 0; t < Y_.cols(); ++t) {
        const Index k = best_of(path.points, [&](const PathPoint& p) { return p.scores[t]; });
        choice[static_cast<std::size_t>(t)] = k;
        if (k >= 0) score += path.points[static_cast<std::size_t>(k)].scores[t];
      }
      if (o_.criterion != PathCriterion::log_evidence || !o_.folds.empty()) score /= static_cast<double>(Y_.cols());
    } else {
      const Index k = best_of(path.points, [](const PathPoint& p) { return p.score; });
      std::fill(choice.begin(), choice.end(), k);
      if (k >= 0) score = path.points[static_cast<std::size_t>(k)].score;
    }
    const auto number = static_cast<Index>(kernels_.size()) - 1;
    for (std::size_t k = 0; k < path.points.size(); ++k) {
      PathPoint& point = path.points[k];
      point.kernel = number;
      if (o_.keep_residuals && o_.folds.empty() && point.valid) point.residuals = spread(path.residuals[k], std::nan(""));
      if (o_.keep_residuals && !o_.folds.empty()) point.residuals = spread(point.residuals, std::nan(""));
    }
    summary_.method = path.method;
    summary_.bytes = std::max(summary_.bytes, path.bytes);
    points_.insert(points_.end(), path.points.begin(), path.points.end());
    if (choice[0] < 0 || (best_kernel_ >= 0 && !(score > best_score_))) return;
    best_kernel_ = number;
    best_score_ = score;
    choice_ = std::move(choice);
    best_ = std::move(path);
  }

  // Rows of the samples of positive weight to rows of all samples.
  Matrix spread(const Matrix& part, double elsewhere) const {
    if (part.size() == 0) return part;
    Matrix out = Matrix::Constant(X_.size(), part.cols(), elsewhere);
    out(active_, Eigen::all) = part;
    return out;
  }

  Vector chosen_alphas() const {
    Vector alpha(Y_.cols());
    for (Index t = 0; t < Y_.cols(); ++t) alpha[t] = best_.points[static_cast<std::size_t>(choice_[static_cast<std::size_t>(t)])].alpha;
    return alpha;
  }

  KernelRidgeModel refit() const {
    return fit_kernel_ridge(X_, Y_,
                            {.kernel = kernels_[static_cast<std::size_t>(best_kernel_)],
                             .alpha_per_target = chosen_alphas(),
                             .fit_intercept = o_.fit_intercept,
                             .sample_weight = o_.sample_weight,
                             .run = o_.run});
  }

  // The coefficients are those of the path: S c'. Their residual is recomputed from kernel tiles.
  KernelRidgeModel model_of_path() const {
    const Kernel& kernel = kernels_[static_cast<std::size_t>(best_kernel_)];
    Matrix coef(X_.size(), Y_.cols());
    Vector intercept(Y_.cols());
    for (Index t = 0; t < Y_.cols(); ++t) {
      const auto k = static_cast<std::size_t>(choice_[static_cast<std::size_t>(t)]);
      coef.col(t) = spread(s_(active_).asDiagonal() * best_.solutions[k].col(t), 0).col(0);
      intercept[t] = best_.intercepts[k][t];
    }
    const Vector alpha = chosen_alphas();
    SolveSummary s;
    s.method = best_.method == "band" ? "band reduction" : "eigenvectors";
    s.rank = X_.size();
    s.residual = relative_residual(kernel, coef, intercept, alpha);
    s.seconds = elapsed();
    s.bytes = best_.bytes;
    s.sentence = fmt::format("solved: {} of {} x {}, relative residual {:.1e}, {}, {:.2f} s", s.method, X_.size(), X_.size(), s.residual,
                             format_bytes(static_cast<double>(s.bytes)), s.seconds);
    return KernelRidgeModel::from_parts(kernel, X_.without_values(), std::move(coef), std::move(intercept), alpha, Precision::float64,
                                        std::move(s));
  }

  // |S (K c + b - y) + alpha c'| / |S y|, worst target.
  double relative_residual(const Kernel& kernel, const Matrix& coef, const Vector& intercept, const Vector& alpha) const {
    Matrix r = gram_operator(kernel, X_, {Precision::float64, Storage::streamed, o_.run})->apply(coef) - Y_;
    r.rowwise() += intercept.transpose();
    double worst = 0;
    for (Index t = 0; t < Y_.cols(); ++t) {
      double error = 0;
      double scale = 0;
      for (const Index i : active_) {
        error += std::pow(s_[i] * r(i, t) + alpha[t] * coef(i, t) / s_[i], 2);
        scale += std::pow(s_[i] * Y_(i, t), 2);
      }
      worst = std::max(worst, scale > 0 ? std::sqrt(error / scale) : std::sqrt(error));
    }
    return worst;
  }

  void finish(KernelRidgeCvResult& result) {
    result.points_ = std::move(points_);
    result.kernels_ = std::move(kernels_);
    result.best_kernel_ = best_kernel_;
    result.best_score_ = best_score_;
    if (o_.folds.empty()) {
      Matrix residuals(static_cast<Index>(active_.size()), Y_.cols());
      for (Index t = 0; t < Y_.cols(); ++t) {
        residuals.col(t) = best_.residuals[static_cast<std::size_t>(choice_[static_cast<std::size_t>(t)])].col(t);
      }
      result.residuals_ = spread(residuals, 0);
      std::vector<Index> others;  // of weight zero: no fit has seen them
      for (Index i = 0; i < s_.size(); ++i) {
        if (s_[i] == 0) others.push_back(i);
      }
      if (!others.empty()) {
        result.residuals_(others, Eigen::all) = Y_(others, Eigen::all) - result.model_.predict(X_.subset(others), o_.run);
      }
    }
    if (o_.intervals) {
      result.model_ =
          add_intervals(result.model_, X_, Y_, {.sample_weight = o_.sample_weight, .fit_intercept = o_.fit_intercept, .run = o_.run});
    }
    summary_.seconds = elapsed();
    summary_.sentence = sentence(result);
    result.summary_ = std::move(summary_);
  }

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  // A choice at the end of what was tried is no minimum.
  std::string edge(const KernelRidgeCvResult& result) const {
    double smallest = std::numeric_limits<double>::infinity();
    double largest = 0;
    for (const PathPoint& p : result.points_) {
      if (p.kernel != best_kernel_) continue;
      smallest = std::min(smallest, p.alpha);
      largest = std::max(largest, p.alpha);
    }
    if (!(smallest < largest)) return "";
    if (result.best_alpha().minCoeff() == smallest) return " (the smallest tried: smaller ones may do better)";
    return result.best_alpha().maxCoeff() == largest ? " (the largest tried: larger ones may do better)" : "";
  }

  std::string sentence(const KernelRidgeCvResult& result) const {
    const auto skipped = std::count_if(result.points_.begin(), result.points_.end(), [](const PathPoint& p) { return !p.valid; });
    const char* by[] = {"exact leave-one-out", "generalised cross-validation", "log evidence"};
    const std::string how = o_.folds.empty() ? by[static_cast<std::size_t>(o_.criterion)] : fmt::format("{} folds", o_.folds.size());
    const std::string over = skipped == 0 ? "" : fmt::format(", {} skipped because K + alpha I was not positive definite", skipped);
    const Vector& alpha = result.best_alpha();
    const bool one = (alpha.array() == alpha[0]).all();
    return fmt::format("chose {}, {} among {} kernel{} and {} candidates{} by {}: {} {:.6g}; {}, {}, {:.2f} s",
                       result.kernels_[static_cast<std::size_t>(best_kernel_)].text(),
                       (one ? fmt::format("alpha {:.6g}", alpha[0]) : "one alpha per target") + edge(result), result.kernels_.size(),
                       result.kernels_.size() == 1 ? "" : "s", result.points_.size(), over, how,
                       o_.folds.empty() && o_.criterion == PathCriterion::log_evidence ? "log evidence"
                       : o_.folds.empty() && o_.criterion == PathCriterion::gcv        ? "GCV"
                                                                                       : "mean squared error",
                       o_.folds.empty() && o_.criterion == PathCriterion::log_evidence ? best_score_ : -best_score_,
                       summary_.method == "band"    ? "one band reduction per kernel"
                       : summary_.method == "eigen" ? "one eigenproblem per kernel"
                                                    : "one Gram matrix per kernel",
                       format_bytes(static_cast<double>(summary_.bytes)), summary_.seconds);
  }

  Clock::time_point start_;
  const KernelRidgeCvOptions& o_;
  Samples X_;
  Matrix Y_;
  Vector s_;
  std::vector<Index> active_{};
  std::vector<Kernel> kernels_{};
  std::vector<PathPoint> points_{};
  Index best_kernel_ = -1;
  double best_score_ = 0;
  std::vector<Index> choice_{};
  KernelPath best_{};
  KernelRidgeCvSummary summary_{};
};

KernelRidgeCvResult fit_kernel_ridge_cv(const Samples& X, const MatrixRef& Y, const KernelRidgeCvOptions& options) {
  require_matching(X, Y);
  check_options(options, X.size());
  std::optional<KernelRidgeCvResult> result;
  with_run(options.run, [&] { result = KernelRidgePath(X, Y, options).run(); });
  return *std::move(result);
}

}  // namespace mercer
