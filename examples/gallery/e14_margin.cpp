// E14, K fig 3-5: the margin of a support vector machine, the vectors that carry it, and the slack of what reaches into it.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "e14_pictures.hpp"

namespace mercer::gallery {

namespace {

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
          .layers = {rings, figures::classes(X, named(labels, "−1", "+1")), figures::contour(grid, f, 60, 60, 0, "boundary"), upper, lower},
          .square = true};
}

// The widest margin of all lines in 36000 directions, a hundredth of a degree apart: what the machine must find, and no less.
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

  const Vector a = soft.coefficients(slack.size()).col(0);
  bool bound_inside = true;
  for (const Index i : inside) bound_inside = bound_inside && std::abs(std::abs(a[i]) - 1) < 1e-6;
  const double primal = soft.squared_norm()[0] / 2 + slack.sum();  // C = 1
  const double dual = a.cwiseAbs().sum() - soft.squared_norm()[0] / 2;
  out.numbers.insert(out.numbers.end(), {{"hard_margin", margin},
                                         {"widest_margin_by_search", widest},
                                         {"hard_margin_support_vectors", static_cast<double>(hard.support().size())},
                                         {"soft_margin_support_vectors", static_cast<double>(soft.support().size())},
                                         {"rows_with_slack", static_cast<double>(inside.size())},
                                         {"sum_of_slack", slack.sum()}});
  out.claims.push_back({fmt::format("hard margin {:.6f}: no line in 36000 directions has a wider one ({:.6f})", margin, widest),
                        widest < margin * (1 + 1e-6) && widest > margin * (1 - 1e-3)});
  out.claims.push_back({fmt::format("both classes touch it: least y f(x) is {:.6f} and {:.6f}", nearest[0], nearest[1]),
                        std::abs(nearest[0] - 1) < 1e-5 && std::abs(nearest[1] - 1) < 1e-5});
  out.claims.push_back(
      {fmt::format("the {} rows with slack are support vectors with a = C", inside.size()), bound_inside && !inside.empty()});
  out.claims.push_back({fmt::format("with this slack |w|²/2 + C Σᵢ ξᵢ is {:.6f}, which is the value of the dual, {:.6f}", primal, dual),
                        std::abs(primal - dual) < 1e-5 * primal});
}

}  // namespace mercer::gallery
