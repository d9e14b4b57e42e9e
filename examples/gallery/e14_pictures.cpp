// E14: the pictures that explain; here the classifier by class means, the other parts in the files e14_*.cpp.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "e14_pictures.hpp"

namespace mercer::gallery {

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
  out.figures.push_back({.title = "The nearest class mean, linear kernel",
                         .description = "two clouds, their means, and the line half way between these",
                         .x_title = "x1",
                         .y_title = "x2",
                         .layers = {figures::classes(clouds.X, named(labels, "−1", "+1")), figures::contour(grid, f, 60, 60, 0, "boundary"),
                                    between, centres},
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
                         .layers = {figures::classes(moons.X, named(halves, "−1", "+1")),
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
  out.notes = {"K after (25) leaves out Σ λᵢ yᵢ = 0.",
               "K writes ⟨w, x⟩ − b, here b is added; K counts every row with y f(x) ≤ 1 as a support vector, here those with a "
               "coefficient above 0."};
  out.program = "examples/gallery/e14_pictures.cpp";
  return out;
}

}  // namespace mercer::gallery
