// SPDX-License-Identifier: BSD-3-Clause
#include "svm_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "terminal.hpp"

namespace mercer::cli {

SvmRows SvmRows::at(std::span<const Index> rows) const {
  SvmRows out;
  out.X = X.subset(rows);
  for (const Index i : rows) {
    if (!labels.empty()) out.labels.push_back(labels[static_cast<std::size_t>(i)]);
  }
  const std::vector<Index> places(rows.begin(), rows.end());
  if (y.size() > 0) out.y = y(places);
  if (weights.size() > 0) out.weights = weights(places);
  return out;
}

Vector held_out_predictions(const SvmRows& rows, Index folds, std::uint64_t seed, const std::function<AnyModel(const SvmRows&)>& fit) {
  Vector out = Vector::Zero(rows.X.size());
  const std::vector<Fold> parts =
      rows.classify() ? stratified_folds(rows.labels, folds, true, seed) : k_folds(rows.X.size(), folds, true, seed);
  for (const Fold& fold : parts) {
    if (fold.test.empty()) continue;
    const SavedModel model{fit(rows.at(fold.train)), std::nullopt};
    const Samples X = rows.X.subset(fold.test);
    if (rows.classify()) {
      const std::vector<Index> guess = model.classes(X);
      for (std::size_t i = 0; i < guess.size(); ++i) out[fold.test[i]] = static_cast<double>(guess[i]);
    } else {
      const Matrix values = model.predict(X);
      for (std::size_t i = 0; i < fold.test.size(); ++i) out[fold.test[i]] = values(static_cast<Index>(i), 0);
    }
  }
  return out;
}

namespace {

constexpr Index most_rows = 2000;
constexpr Index fold_count = 5;

// Rows of positive weight, at most `most_rows` of them, classes in proportion.
SvmRows searched_rows(const SvmRows& rows, std::uint64_t seed) {
  std::vector<Index> kept;
  for (Index i = 0; i < rows.X.size(); ++i) {
    if (rows.weights.size() == 0 || rows.weights[i] > 0) kept.push_back(i);
  }
  SvmRows out = std::ssize(kept) == rows.X.size() ? rows : rows.at(kept);
  const Index n = out.X.size();
  if (n <= most_rows) return out;
  const double share = static_cast<double>(most_rows) / static_cast<double>(n);
  return out.at(out.classify() ? stratified_holdout(out.labels, share, seed).test : holdout(n, share, seed).test);
}

// The number of folds for which every class is in every training part; 0: there is none.
Index possible_folds(const SvmRows& rows, Index classes) {
  Index least = rows.X.size() / 2;
  for (Index c = 0; c < classes; ++c) least = std::min<Index>(least, std::count(rows.labels.begin(), rows.labels.end(), c));
  return least < 2 ? 0 : std::min(fold_count, least);
}

double error_of(const SvmRows& rows, const Vector& predicted) {
  const Index n = rows.X.size();
  double sum = 0;
  double mass = 0;
  for (Index i = 0; i < n; ++i) {
    const double w = rows.weights.size() > 0 ? rows.weights[i] : 1;
    const double miss = rows.classify() ? static_cast<double>(static_cast<Index>(predicted[i]) != rows.labels[static_cast<std::size_t>(i)])
                                        : (predicted[i] - rows.y[i]) * (predicted[i] - rows.y[i]);
    sum += w * miss;
    mass += w;
  }
  return sum / mass;
}

double spread_of(const SvmRows& rows) {
  if (rows.classify()) return 1;
  const double spread = std::sqrt((rows.y.array() - rows.y.mean()).square().mean());
  return spread > 0 && std::isfinite(spread) ? spread : 1;
}

}  // namespace

SvmChoice choose_svm(const SvmRows& all, const Kernel& kernel, bool scales, std::uint64_t seed, const CommonOptions& common,
                     const SvmFit& fit) {
  SvmChoice best{kernel};
  const SvmRows rows = searched_rows(all, seed);
  const Index classes = all.classify() ? *std::max_element(all.labels.begin(), all.labels.end()) + 1 : 0;
  const Index folds = possible_folds(rows, classes);
  if (folds == 0) {
    best.json = {{"searched", false}, {"C", best.C}};
    best.sentence = "There are too few rows (of some class) to choose C by cross-validation: it is 1; --C says another.\n";
    return best;
  }
  const double median = scales ? median_distance(rows.X) : 0;
  std::vector<std::pair<double, Kernel>> candidates{{0, kernel}};
  if (scales && median > 0 && std::isfinite(median)) {
    candidates.clear();
    for (const double factor : {2.0, 1.0, 0.5}) candidates.emplace_back(factor * median, kernels::gaussian(factor * median));
  }
  const std::vector<double> grid{0.1, 1, 10, 100};
  const double unit = spread_of(rows);
  const auto settings = static_cast<double>(candidates.size() * grid.size());
  const auto n = static_cast<double>(rows.X.size());
  announce(fmt::format("choosing C by cross-validation on {} rows", rows.X.size()),
           settings * static_cast<double>(folds) * 40 * n * n / estimated_flops(common.run()), 8 * n * n, common.run());
  double least = std::numeric_limits<double>::infinity();
  double length_scale = 0;
  Json tried = Json::array();
  ProgressBar bar;
  const ProgressCallback show = bar.callback();
  double done = 0;
  const Run run = common.run([&](const ProgressEvent& event) {
    return show == nullptr || show({"choosing C", done / settings, event.seconds});
  });
  for (const auto& [scale, candidate] : candidates) {
    for (const double multiple : grid) {
      const double C = multiple * unit;
      const double error =
          error_of(rows, held_out_predictions(rows, folds, seed, [&](const SvmRows& part) { return fit(part, candidate, C, run); }));
      done += 1;
      Json row = {{"C", C}};
      if (scale > 0) row["length_scale"] = scale;
      row[rows.classify() ? "accuracy" : "mse"] = number_json(rows.classify() ? 1 - error : error);
      tried.push_back(std::move(row));
      if (!(error < least)) continue;
      least = error;
      best.C = C;
      best.kernel = candidate;
      length_scale = scale;
    }
  }
  best.json = {{"searched", true}, {"rows", rows.X.size()}, {"folds", folds}, {"C", best.C}};
  if (length_scale > 0) best.json["length_scale"] = length_scale;
  best.json["tried"] = std::move(tried);
  best.sentence =
      fmt::format("C {:g}{} has the best {} of {:.0f} settings, {:.6g}, in {}-fold cross-validation on {} rows; --C says another.\n",
                  best.C, length_scale > 0 ? fmt::format(" with length scale {:.4g}", length_scale) : "",
                  rows.classify() ? "accuracy" : "mean squared error", settings, rows.classify() ? 1 - least : least, folds, rows.X.size());
  return best;
}

}  // namespace mercer::cli
