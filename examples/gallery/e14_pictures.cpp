// E14: the pictures that explain. Here the margin of support vector machines and its slack, and the classifier by class means.
// SPDX-License-Identifier: BSD-3-Clause
#include "e14_pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace mercer::gallery {

namespace {

std::vector<std::string> words_of(const std::vector<Index>& labels) {
  std::vector<std::string> words;
  for (const Index label : labels) words.emplace_back(label == 0 ? "−1" : "+1");
  return words;
}

// The points, the line f = 0, the margin f = ±1, and rings around the support vectors.
Figure margin_figure(const std::string& title, const Matrix& X, const std::vector<Index>& labels, const SvcModel& model) {
  const Matrix grid = figures::grid_over(X, 60, 60);
  const Vector f = model.decision(grid).col(0);
  FigureLayer upper = figures::contour(grid, f, 60, 60, 1, "margin"), lower = figures::contour(grid, f, 60, 60, -1, "margin");
  upper.dashed = lower.dashed = true;
  const Matrix vectors = X(model.support(), Eigen::all);
  FigureLayer rings = figures::points(vectors.col(0), vectors.col(1), "support vectors");
  rings.size = 160, rings.opacity = 0.35;
  return {.title = title,
          .description = "points of two classes, the line between them, its margin and the support vectors",
          .x_title = "x1",
          .y_title = "x2",
          .layers = {rings, figures::classes(X, words_of(labels)), figures::contour(grid, f, 60, 60, 0, "boundary"), upper, lower},
          .square = true};
}

// The widest margin of all lines in 36000 directions: what the machine must find.
double widest_margin(const Matrix& X, const std::vector<Index>& labels) {
  double widest = 0;
  for (int step = 0; step < 36000; ++step) {
    const double angle = 2 * std::numbers::pi * step / 36000;
    const Vector along = X * Eigen::Vector2d(std::cos(angle), std::sin(angle));
    double below = -std::numeric_limits<double>::infinity(), above = -below;
    for (Index i = 0; i < along.size(); ++i) {
      if (labels[static_cast<std::size_t>(i)] == 0) below = std::max(below, along[i]);
      if (labels[static_cast<std::size_t>(i)] == 1) above = std::min(above, along[i]);
    }
    widest = std::max(widest, (above - below) / 2);
  }
  return widest;
}

// y f(x) of every row: 1 on the margin of its class, below 1 inside.
Vector functional_margins(const SvcModel& model, const Matrix& X, const std::vector<Index>& labels) {
  Vector margins = model.decision(X).col(0);
  for (Index i = 0; i < margins.size(); ++i) margins[i] *= labels[static_cast<std::size_t>(i)] == 1 ? 1 : -1;
  return margins;
}

}  // namespace

void margin_and_slack(const Setting& setting, Experiment& out) {
  const SvmSolver exactly{.tolerance = 1e-8};
  const auto apart = simulate::two_gaussians(60, 7, 2, setting.seed);
  const std::vector<Index> classes = class_indices(apart.y);
  const SvcModel hard =
      fit_svc(apart.X, classes, {.kernel = kernels::linear(), .hard_margin = true, .solver = exactly, .run = setting.run});
  const double margin = 1 / std::sqrt(hard.squared_norm()[0]), widest = widest_margin(apart.X, classes);
  const Vector at = functional_margins(hard, apart.X, classes);
  double nearest[2] = {at.maxCoeff(), at.maxCoeff()};  // of each class
  for (Index i = 0; i < at.size(); ++i) {
    double& least = nearest[classes[static_cast<std::size_t>(i)]];
    least = std::min(least, at[i]);
  }
  out.figures.push_back(margin_figure("The widest margin", apart.X, classes, hard));

  const auto mixed = simulate::two_gaussians(80, 2.5, 2, setting.seed + 1);
  const std::vector<Index> labels = class_indices(mixed.y);
  const SvcModel soft = fit_svc(mixed.X, labels, {.kernel = kernels::linear(), .C = 1, .solver = exactly, .run = setting.run});
  const Vector slack = slacks(soft, mixed.X, labels);
  const Vector w = soft.dual_coef().col(0).transpose() * soft.samples().to_dense();
  // A slack is drawn from its point to the margin of the point's class: slack / |w| along w.
  FigureLayer segments{.mark = Mark::segments, .name = "slack"};
  std::vector<Index> inside;
  for (Index i = 0; i < slack.size(); ++i) {
    if (slack[i] > 1e-6) inside.push_back(i);
  }
  const Matrix from = mixed.X(inside, Eigen::all);
  Matrix to = from;
  for (Index s = 0; s < from.rows(); ++s) {
    const Index i = inside[static_cast<std::size_t>(s)];
    to.row(s) += (labels[static_cast<std::size_t>(i)] == 1 ? 1 : -1) * slack[i] / w.squaredNorm() * w.transpose();
  }
  segments.x = from.col(0), segments.y = from.col(1), segments.x2 = to.col(0), segments.y2 = to.col(1);
  Figure slack_figure = margin_figure("Slack", mixed.X, labels, soft);
  slack_figure.layers.insert(slack_figure.layers.begin(), segments);
  out.figures.push_back(slack_figure);

  const Vector off = slack - (1 - functional_margins(soft, mixed.X, labels).array()).max(0).matrix();
  const Vector a = soft.coefficients(slack.size()).col(0);
  bool bound_inside = true;
  for (const Index i : inside) bound_inside = bound_inside && std::abs(std::abs(a[i]) - 1) < 1e-6;
  out.numbers.insert(out.numbers.end(), {{"hard_margin", margin},
                                         {"widest_margin_by_search", widest},
                                         {"hard_margin_support_vectors", static_cast<double>(hard.support().size())},
                                         {"soft_margin_support_vectors", static_cast<double>(soft.support().size())},
                                         {"rows_with_slack", static_cast<double>(inside.size())},
                                         {"sum_of_slack", slack.sum()}});
  out.claims.push_back({fmt::format("hard margin {:.6f}: no line in 36000 directions has a wider one ({:.6f})", margin, widest),
                        widest < margin * (1 + 1e-5) && widest > margin * (1 - 1e-5)});
  out.claims.push_back({fmt::format("both classes touch it: least y f(x) is {:.6f} and {:.6f}", nearest[0], nearest[1]),
                        std::abs(nearest[0] - 1) < 1e-5 && std::abs(nearest[1] - 1) < 1e-5});
  out.claims.push_back({fmt::format("slack is max(0, 1 − y f(x)) up to {:.1e}, and the {} rows that have it are support vectors with a = C",
                                    off.cwiseAbs().maxCoeff(), inside.size()),
                        off.cwiseAbs().maxCoeff() < 1e-8 && bound_inside && !inside.empty()});
}

void class_means(const Setting& setting, Experiment& out) {
  const auto clouds = simulate::two_gaussians(80, 3, 2, setting.seed + 2);
  const std::vector<Index> labels = class_indices(clouds.y);
  const KernelMeanModel flat = fit_kernel_mean(clouds.X, labels, {.kernel = kernels::linear(), .run = setting.run});
  Matrix means = Matrix::Zero(2, 2);
  for (Index i = 0; i < 80; ++i) means.row(labels[static_cast<std::size_t>(i)]) += clouds.X.row(i);
  for (Index c = 0; c < 2; ++c) means.row(c) /= static_cast<double>(std::count(labels.begin(), labels.end(), c));
  const Matrix grid = figures::grid_over(clouds.X, 60, 60);
  const Vector f = flat.decision(grid).col(0);
  const Vector nearer =
      ((grid.rowwise() - means.row(0)).rowwise().squaredNorm() - (grid.rowwise() - means.row(1)).rowwise().squaredNorm()) / 2;
  FigureLayer between{.mark = Mark::segments, .name = "w = c₊ − c₋"};
  between.x = means.col(0).head(1), between.y = means.col(1).head(1), between.x2 = means.col(0).tail(1), between.y2 = means.col(1).tail(1);
  FigureLayer centres = figures::points(means.col(0), means.col(1), "class means");
  centres.size = 140;
  out.figures.push_back(
      {.title = "The nearest class mean, linear kernel",
       .description = "two clouds, their means, and the line half way between these",
       .x_title = "x1",
       .y_title = "x2",
       .layers = {figures::classes(clouds.X, words_of(labels)), figures::contour(grid, f, 60, 60, 0, "boundary"), between, centres},
       .square = true});

  const auto moons = simulate::moons(160, 0.15, setting.seed);
  const std::vector<Index> halves = class_indices(moons.y);
  const Kernel window = kernels::gaussian(0.3);
  const KernelMeanModel parzen = fit_kernel_mean(moons.X, halves, {.kernel = window, .run = setting.run});
  const Matrix around = figures::grid_over(moons.X, 60, 60);
  out.figures.push_back({.title = "The same with a Gaussian kernel: Parzen windows",
                         .description = "two moons and the curve where both class means are as near",
                         .x_title = "x1",
                         .y_title = "x2",
                         .layers = {figures::classes(moons.X, words_of(halves)),
                                    figures::contour(around, parzen.decision(around).col(0), 60, 60, 0, "boundary")},
                         .square = true});
  std::vector<Index> first, second;
  for (Index i = 0; i < 160; ++i) (halves[static_cast<std::size_t>(i)] == 0 ? first : second).push_back(i);
  const Samples rows(moons.X);
  const double apart = parzen.summary().distances(0, 1);
  const double distance = mmd(rows.subset(first), rows.subset(second), {.kernel = window, .statistic = MmdStatistic::b}).distance;
  const double off = (f - nearer).cwiseAbs().maxCoeff();
  out.numbers.insert(out.numbers.end(), {{"class_mean_distance", apart}, {"mmd_of_classes", distance}});
  out.claims.push_back(
      {fmt::format("with the linear kernel f is half the difference of squared distances to the class means, up to {:.1e}", off),
       off < 1e-10});
  out.claims.push_back(
      {fmt::format("|w| is the MMD of the classes: {:.10f} and {:.10f}", apart, distance), std::abs(apart - distance) < 1e-9});
}

Experiment explaining_pictures(const Setting& setting) {
  Experiment out{.id = "E14",
                 .title = "The pictures that explain",
                 .source = "K fig 3-8; L, All Degree 2 Monomials, An Example of a Kernel Algorithm"};
  out.equation = "min |w|²/2 + C Σᵢ ξᵢ,  yᵢ(⟨w, xᵢ⟩ + b) ≥ 1 − ξᵢ,  ξᵢ ≥ 0;  ⟨Φ(x), Φ(x′)⟩ = ⟨x, x′⟩²;  w = c₊ − c₋";
  out.data =
      "simulated: Gaussian clouds, two moons, a square cut by a circle and by an ellipse, points near a plane and near a quadratic surface";
  out.see =
      "Support vectors carry the margin, and slack is what reaches into it; a class inside a curve lies below a plane after a lift; kernel "
      "PCA takes off what does not belong to a curved surface; class means part what they are means of.";
  margin_and_slack(setting, out);
  lifts(setting, out);
  surfaces(setting, out);
  class_means(setting, out);
  out.notes = {
      "K after (25) leaves out Σ λᵢ yᵢ = 0. K writes ⟨w, x⟩ − b; here b is added. K counts a row as a support vector where y f(x) ≤ 1; "
      "here a "
      "support vector has a coefficient above 0."};
  out.program = "examples/gallery/e14_pictures.cpp";
  return out;
}

}  // namespace mercer::gallery
