// SPDX-License-Identifier: BSD-3-Clause
#include "svm_choice.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

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

double spread_of(const SvmRows& rows) {
  if (rows.classify()) return 1;
  const double spread = std::sqrt((rows.y.array() - rows.y.mean()).square().mean());
  return spread > 0 && std::isfinite(spread) ? spread : 1;
}

struct Grid {
  std::vector<Kernel> kernels{};
  std::vector<double> scales{};  // of each; 0: the kernel as it was given
  std::vector<double> C{};
};

Grid grid_of(const SvmRows& rows, const Kernel& kernel, bool scales, double unit) {
  Grid out{{kernel}, {0}, {}};
  const double median = scales ? median_distance(rows.X) : 0;
  if (scales && median > 0 && std::isfinite(median)) {
    out = {};
    for (const double factor : {2.0, 1.0, 0.5}) {
      out.scales.push_back(factor * median);
      out.kernels.push_back(kernels::gaussian(factor * median));
    }
  }
  for (const double multiple : {0.1, 1.0, 10.0, 100.0}) out.C.push_back(multiple * unit);
  return out;
}

struct Found {
  std::vector<SvmCandidate> table;
  std::size_t best;
};

Found search(const SvmCommand& o, const SvmRows& rows, const Grid& grid, const Vector& class_weight, std::vector<Fold> folds, double unit,
             double time_limit, const Run& run) {
  // Enough to tell settings apart. The search and the fit that ends it have a limit each.
  const SvmSolver solver{.tolerance = std::max(o.tolerance, 1e-2),
                         .max_iterations = static_cast<Index>(o.max_iterations),
                         .time_limit = time_limit / 2,
                         .precision = o.precision};
  if (rows.classify()) {
    SvcCvOptions options;
    options.kernels = grid.kernels;
    options.C = grid.C;
    options.folds = std::move(folds);
    options.abandon = !o.common.json;  // a table has every score
    options.fit_intercept = o.intercept.value_or(true);
    options.class_weight = class_weight;
    options.sample_weight = rows.weights;
    options.multi_class = o.multi_class;
    options.solver = solver;
    options.run = run;
    SvcCvResult found = fit_svc_cv(rows.X, rows.labels, options);
    return {std::move(found.table), found.best};
  }
  SvrCvOptions options;
  options.kernels = grid.kernels;
  options.C = grid.C;
  options.epsilon = {o.machine == Machine::nu_svr ? 0.1 * unit : o.epsilon};
  options.folds = std::move(folds);
  options.score = SvrScore::mean_squared_error;
  options.abandon = !o.common.json;
  options.fit_intercept = o.intercept.value_or(true);
  options.sample_weight = rows.weights;
  options.solver = solver;
  options.run = run;
  SvrCvResult found = fit_svr_cv(rows.X, rows.y, options);
  return {std::move(found.table), found.best};
}

}  // namespace

Index possible_folds(const std::vector<Index>& labels, Index n) {
  Index least = n / 2;
  const Index classes = labels.empty() ? 0 : *std::max_element(labels.begin(), labels.end()) + 1;
  for (Index c = 0; c < classes; ++c) least = std::min<Index>(least, std::count(labels.begin(), labels.end(), c));
  return least < 2 ? 0 : std::min(fold_count, least);
}

SvmChoice choose_svm(const SvmCommand& o, const SvmRows& all, const Kernel& kernel, const Vector& class_weight, double time_limit) {
  SvmChoice best{kernel};
  const auto not_searched = [&](const char* why) {
    best.json = {{"searched", false}, {"C", best.C}};
    best.sentence = fmt::format("{} to choose C by cross-validation: it is 1; --C says another.\n", why);
    return best;
  };
  const std::uint64_t seed = o.reading.seed;
  const SvmRows rows = searched_rows(all, seed);
  const Index folds = possible_folds(rows.labels, rows.X.size());
  if (folds == 0 || (all.classify() &&
                     *std::max_element(rows.labels.begin(), rows.labels.end()) < *std::max_element(all.labels.begin(), all.labels.end())))
    return not_searched("There are too few rows (of some class)");
  const double unit = spread_of(rows);
  const Grid grid = grid_of(rows, kernel, !o.kernel, unit);
  const auto settings = static_cast<double>(grid.kernels.size() * grid.C.size());
  const auto n = static_cast<double>(rows.X.size());
  announce(fmt::format("choosing C by cross-validation on {} rows", rows.X.size()),
           (static_cast<double>(grid.kernels.size()) * static_cast<double>(rows.X.width()) + settings * static_cast<double>(folds)) * n *
               n / estimated_flops(o.common.run()),
           4 * n * n * static_cast<double>(grid.kernels.size()), o.common.run());
  ProgressBar bar;
  std::optional<Found> found;
  try {
    found = search(o, rows, grid, class_weight,
                   rows.classify() ? stratified_folds(rows.labels, folds, true, seed) : k_folds(rows.X.size(), folds, true, seed), unit,
                   time_limit, o.common.run(bar.callback()));
  } catch (const InvalidArgument&) {
    // Within a time limit: no setting was finished. What else may be wrong with rows and kernel, the fit itself will say.
    if (!(time_limit > 0)) throw;
  }
  bar.erase();
  if (!found) return not_searched("There was too little time");
  Json tried = Json::array();
  for (const SvmCandidate& c : found->table) {
    Json row = {{"C", c.C}};
    const double scale = grid.scales[static_cast<std::size_t>(c.kernel)];
    if (scale > 0) row["length_scale"] = scale;
    row[rows.classify() ? "accuracy" : "mse"] = number_json(rows.classify() ? c.mean : -c.mean);
    tried.push_back(std::move(row));
  }
  const SvmCandidate& winner = found->table[found->best];
  const double length_scale = grid.scales[static_cast<std::size_t>(winner.kernel)];
  best.C = winner.C;
  best.kernel = grid.kernels[static_cast<std::size_t>(winner.kernel)];
  best.json = {{"searched", true}, {"rows", rows.X.size()}, {"folds", folds}, {"C", best.C}};
  if (length_scale > 0) best.json["length_scale"] = length_scale;
  best.json["tried"] = std::move(tried);
  best.sentence = fmt::format(
      "C {:g}{} has the best {} of {:.0f} settings, {:.6g}, in {}-fold cross-validation on {} rows; --C says another.\n", best.C,
      length_scale > 0 ? fmt::format(" with length scale {:.4g}", length_scale) : "", rows.classify() ? "accuracy" : "mean squared error",
      settings, rows.classify() ? winner.mean : -winner.mean, folds, rows.X.size());
  return best;
}

}  // namespace mercer::cli
