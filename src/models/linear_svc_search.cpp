// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "mercer/error.hpp"
#include "mercer/folds.hpp"
#include "models/linear_svc_fit.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;

// The scale of C is that of 1 / |x|^2: one sample alone moves the score of another by about C x.x'.
Vector automatic_grid(const LinearSvcTask& task) {
  const double mean = linear_rows(task.X, task.bias)->squared_norms().mean();
  Vector grid(9);
  for (Index k = 0; k < grid.size(); ++k) grid[k] = std::exp2(static_cast<double>(2 * k - 10)) / (mean > 0 ? mean : 1);
  return grid;
}

double accuracy_of(const Matrix& scores, const std::vector<Index>& labels, const Vector& weights) {
  double right = 0;
  for (Index i = 0; i < scores.rows(); ++i) {
    Index guess = scores(i, 0) > 0 ? 1 : 0;
    if (scores.cols() > 1) scores.row(i).maxCoeff(&guess);
    if (guess == labels[static_cast<std::size_t>(i)]) right += weights[i];
  }
  return right / weights.sum();
}

}  // namespace

LinearSvcSearch search_linear_svc(const Samples& X, const std::vector<Index>& labels, const LinearSvcOptions& options, Vector grid,
                                  Index folds) {
  const auto start = Clock::now();
  const LinearSvcTask task(X, labels, options);
  LinearSvcSearch out;
  out.C = grid.size() > 0 ? std::move(grid) : automatic_grid(task);
  std::sort(out.C.begin(), out.C.end());
  if (!(out.C.minCoeff() > 0) || !out.C.allFinite()) throw InvalidArgument("every C of the grid must be a finite number > 0");
  const std::vector<Fold> splits = stratified_folds(task.labels, folds, true, options.seed);
  out.accuracy.resize(out.C.size(), std::ssize(splits));
  with_run(options.run, [&] {
    Stage stage(options.run.progress, "choosing C",
                10.0 * static_cast<double>(out.accuracy.size() * (task.classes == 2 ? 1 : task.classes)));
    for (Index f = 0; f < out.accuracy.cols(); ++f) {
      const Fold& fold = splits[static_cast<std::size_t>(f)];
      const auto part = [&](const std::vector<Index>& rows) {
        LinearSvcTask t = task;
        t.X = task.X.subset(rows);
        t.weights = task.weights(rows);
        t.labels.clear();
        for (const Index i : rows) t.labels.push_back(task.labels[static_cast<std::size_t>(i)]);
        return t;
      };
      const LinearSvcTask train = part(fold.train);
      const LinearSvcTask test = part(fold.test);
      std::vector<LinearSolution> from;
      for (Index c = 0; c < out.C.size(); ++c) {
        LinearSvcFit fit = fit_classes(train, out.C[c], options, from, stage);
        const LinearSvcModel model = model_of(train, fit, out.C[c], options, {});
        out.accuracy(c, f) = accuracy_of(model.decision(test.X), test.labels, test.weights);
        from = std::move(fit.classes);
      }
    }
  });
  out.mean = out.accuracy.rowwise().mean();
  for (Index c = 1; c < out.C.size(); ++c) {
    if (out.mean[c] > out.mean[out.best] + 1e-12) out.best = c;
  }
  out.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  out.sentence = fmt::format("C = {:.4g} by {}-fold cross-validation over {} values from {:.3g} to {:.3g}: accuracy {:.4f}",
                             out.C[out.best], splits.size(), out.C.size(), out.C[0], out.C[out.C.size() - 1], out.mean[out.best]);
  return out;
}

}  // namespace mercer
