// E13: one quadratic programme, two uses. Training rows weighted to look like the rows that predictions are wanted for; and a few rows,
// with weights, that stand for all of them. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gallery.hpp"

namespace mercer::gallery {

namespace {

double curve(double x) { return x * x * x - x; }

// A line fitted to rows that lie elsewhere than those it is wanted for, with and without weights.
struct Shift {
  Matrix train{}, target{}, y{};
  MeanMatching found{};
  RidgeModel plain, weighted;
  double error_plain = 0, error_weighted = 0;  // root mean squared, on the target rows, against the curve without noise
};

Shift shifted(std::uint64_t seed, Index n, const Run& run) {
  RandomStream random(seed, 13);
  Matrix train = (0.5 * random.normal_matrix(n, 1)).array() + 0.5;
  Matrix target = 0.3 * random.normal_matrix(n, 1);
  Matrix y = train.unaryExpr(&curve) + 0.2 * random.normal_matrix(n, 1);
  // Source L's programme: weights alpha >= 0 that add up to 1 (times n), nothing else.
  MeanMatching found = match_means(train, target, {.bound = std::numeric_limits<double>::infinity(), .run = run});
  RidgeModel plain = fit_ridge(train, y, {.alpha = 1e-6});
  RidgeModel weighted = fit_ridge(train, y, {.alpha = 1e-6, .sample_weight = found.weights});
  const Vector truth = target.unaryExpr(&curve);
  const auto error = [&](const RidgeModel& line) { return root_mean_squared_error(truth, line.predict(target).col(0)); };
  const double without = error(plain), with = error(weighted);
  return {std::move(train), std::move(target), std::move(y), std::move(found), std::move(plain), std::move(weighted), without, with};
}

void covariate_shift(const Setting& setting, Experiment& out) {
  const Index n = 300, repetitions = setting.quick ? 10 : 50;
  double plain = 0, weighted = 0;
  Index better = 0;
  for (Index r = 0; r < repetitions; ++r) {
    const Shift s = shifted(setting.seed + static_cast<std::uint64_t>(r), n, setting.run);
    plain += s.error_plain / static_cast<double>(repetitions);
    weighted += s.error_weighted / static_cast<double>(repetitions);
    better += s.error_weighted < s.error_plain ? 1 : 0;
  }
  const Shift s = shifted(setting.seed, n, setting.run);
  const Vector x = Vector::LinSpaced(101, -1, 2);
  FigureLayer rows = figures::points(s.train.col(0), s.y.col(0));
  rows.value = s.found.weights;
  rows.legend = "weight";
  out.figures.push_back({.title = "Covariate shift: a line for the target rows",
                         .description = "training rows coloured by weight, the true curve, and lines fitted with and without weights",
                         .x_title = "x",
                         .y_title = "y",
                         .layers = {rows, figures::dashed_line(x, x.unaryExpr(&curve), "truth"),
                                    figures::line(x, s.plain.predict(x).col(0), "without weights"),
                                    figures::line(x, s.weighted.predict(x).col(0), "with weights")}});
  out.figures.push_back(
      {.title = "Where the rows lie",
       .description = "histograms of the training and the target rows",
       .x_title = "x",
       .y_title = "density",
       .layers = {figures::histogram(s.train.col(0), 25, "training", true), figures::histogram(s.target.col(0), 25, "target", true)}});
  out.numbers.insert(out.numbers.end(),
                     {{"rmse_without_weights", plain},
                      {"rmse_with_weights", weighted},
                      {"share_of_draws_where_weights_help", static_cast<double>(better) / static_cast<double>(repetitions)},
                      {"effective_sample_size", s.found.effective_sample_size},
                      {"mmd_to_target_before", s.found.mmd_before},
                      {"mmd_to_target_after", s.found.mmd_after}});
  out.claims.push_back(
      {fmt::format("the weighted line is nearer on the target rows: RMSE {:.3f} against {:.3f} (mean of {} draws; better in {})", weighted,
                   plain, repetitions, better),
       weighted < plain && 2 * better > repetitions});
  out.claims.push_back(
      {fmt::format("the weights bring the training rows to the target: MMD {:.4f} against {:.4f}", s.found.mmd_after, s.found.mmd_before),
       s.found.mmd_after < s.found.mmd_before});
  if (setting.quick) out.notes.push_back(fmt::format("Quick run: {} draws of the covariate shift (else 50).", repetitions));
}

void squashing(const Setting& setting, Experiment& out) {
  const Index n = 2000, subsets = setting.quick ? 10 : 50;
  const Matrix X = simulate::blobs(n, 4, 2, 1, setting.seed).X;
  const Kernel kernel = kernels::gaussian(1.0);
  const Samples all(X);
  const auto distance = [&](const Samples& few, const Vector& weights) {
    return mmd(all, few, {.kernel = kernel, .statistic = MmdStatistic::b, .weights_y = weights, .run = setting.run}).distance;
  };
  const std::vector<Index> sizes = {5, 10, 20, 40, 80};
  const auto count = static_cast<Index>(sizes.size());
  Vector m(count), squashed(count), herded(count), thinned(count), random_mean(count), random_least(count);
  ExperimentTable table{.caption = "MMD between all 2000 rows and the few",
                        .columns = {"rows", "squash", "herd", "thin", "random", "nearest random"}};
  RandomStream random(setting.seed, 14);
  Coreset shown;
  for (Index i = 0; i < count; ++i) {
    const Index size = sizes[static_cast<std::size_t>(i)];
    const Coreset squash_of = squash(all, size, {.kernel = kernel, .seed = setting.seed, .run = setting.run});
    const Coreset herd_of = herd(all, size, {.kernel = kernel, .seed = setting.seed, .run = setting.run});
    const Coreset thin_of = thin(all, size, {.kernel = kernel, .seed = setting.seed, .run = setting.run});
    m[i] = static_cast<double>(size);
    squashed[i] = distance(all.subset(squash_of.rows), squash_of.weights);
    herded[i] = distance(all.subset(herd_of.rows), {});
    thinned[i] = distance(all.subset(thin_of.rows), {});
    random_mean[i] = squash_of.random_mmd;  // root mean square over all subsets, by formula
    random_least[i] = random_mean[i];
    for (Index s = 0; s < subsets; ++s) random_least[i] = std::min(random_least[i], distance(all.subset(random.sample(n, size)), {}));
    table.rows.push_back({fmt::format("{}", size), fmt::format("{:.4f}", squashed[i]), fmt::format("{:.4f}", herded[i]),
                          fmt::format("{:.4f}", thinned[i]), fmt::format("{:.4f}", random_mean[i]),
                          fmt::format("{:.4f}", random_least[i])});
    if (size == 20) shown = squash_of;
  }
  FigureLayer cloud = figures::points(X.col(0), X.col(1));
  cloud.soft = true, cloud.opacity = 0.3, cloud.size = 8;
  const Matrix kept = X(shown.rows, Eigen::all);
  FigureLayer atoms = figures::points(kept.col(0), kept.col(1));
  atoms.value = shown.weights, atoms.legend = "weight", atoms.size = 90;
  out.figures.push_back({.title = "2000 rows squashed to 20",
                         .description = "all rows, and the 20 rows with weights that stand for them",
                         .x_title = "x1",
                         .y_title = "x2",
                         .layers = {cloud, atoms},
                         .square = true});
  out.figures.push_back({.title = "How far the few are from all",
                         .description = "MMD between all rows and the few against their number, by method",
                         .x_title = "rows kept",
                         .y_title = "MMD",
                         .layers = {figures::line(m, squashed, "squash"), figures::line(m, herded, "herd"),
                                    figures::line(m, thinned, "thin"), figures::dashed_line(m, random_mean, "random")},
                         .log_x = true,
                         .log_y = true});
  out.tables.push_back(std::move(table));
  out.numbers.insert(out.numbers.end(), {{"mmd_of_20_squashed", squashed[2]}, {"mmd_of_20_random", random_mean[2]}});
  out.claims.push_back(
      {fmt::format("20 squashed rows are nearer to all than 20 random ones: MMD {:.4f} against {:.4f}, the nearest of {} subsets {:.4f}",
                   squashed[2], random_mean[2], subsets, random_least[2]),
       squashed[2] < random_least[2]});
  out.claims.push_back({fmt::format("so they are at every size: at most {:.2f} of the nearest random subset",
                                    (squashed.array() / random_least.array()).maxCoeff()),
                        (squashed.array() < random_least.array()).all()});
}

}  // namespace

Experiment shift_and_squashing(const Setting& setting) {
  Experiment out{.id = "E13", .title = "Weights that move a sample, and a few rows for all", .source = "L, Application 2"};
  out.equation = "min_α |μ(X) − Σⱼ αⱼ k(yⱼ, ·)|²,  αⱼ ≥ 0,  Σⱼ αⱼ = 1";
  out.data = "simulated: y = x³ − x + 0.2 e, training x ~ N(0.5, 0.5²), target x ~ N(0, 0.3²), 300 of each; 2000 rows of four blobs";
  out.see =
      "A line cannot be right everywhere; weights make it right where the target rows are, and rows far from them count for nothing. "
      "Twenty rows with weights stand for two thousand far better than twenty random ones.";
  covariate_shift(setting, out);
  squashing(setting, out);
  out.notes.insert(out.notes.begin(),
                   "With all rows as atoms the squashing of L has a trivial answer, 1/m each: atoms must be fewer than rows.");
  out.program = "examples/gallery/e13_weights.cpp";
  return out;
}

}  // namespace mercer::gallery
