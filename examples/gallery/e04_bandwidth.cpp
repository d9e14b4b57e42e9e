// E4: boundaries of the Gaussian kernel as it grows wide. Source N, figure 1. SPDX-License-Identifier: BSD-3-Clause
#include "e04_bandwidth.hpp"

#include <fmt/format.h>

namespace mercer::gallery {

std::vector<std::string> class_words(const Vector& y) {
  std::vector<std::string> out;
  for (const double label : y) out.push_back(fmt::format("{:.0f}", label));
  return out;
}

void widening_gaussian(Experiment& e, const Setting& setting) {
  const simulate::Labelled drawn = simulate::two_gaussians(240, 2, 2, setting.seed + 100);
  std::vector<Index> kept;  // of one class half
  for (Index i = 0; i < drawn.y.size(); ++i) {
    if (i % 4 != 0) kept.push_back(i);
  }
  const simulate::Labelled train{drawn.X(kept, Eigen::all), drawn.y(kept)};
  const simulate::Labelled test = simulate::two_gaussians(20000, 2, 2, setting.seed + 101);
  const std::vector<Index> labels = class_indices(train.y);
  const auto machine = [&](const Kernel& kernel, double C) {
    return fit_svc(train.X, labels, {.kernel = kernel, .C = C, .solver = {.tolerance = 1e-5}, .run = setting.run});
  };
  const SvcModel linear = machine(kernels::linear(), 1);
  const std::vector<Index> straight = linear.classes(test.X);
  const Vector widths = (Vector(7) << 0.3, 1, 3, 10, 30, 100, 300).finished();
  const Matrix grid = figures::grid_over(train.X, boundary_side, boundary_side);
  Figure lines{.title = "Boundaries as the Gaussian kernel grows wide, C = σ²", .x_title = "x₁", .y_title = "x₂", .square = true};
  lines.description = "Two Gaussian clouds; boundaries of narrow and wide Gaussian kernels, of degree 2, and of the linear kernel, dashed.";
  lines.layers.push_back(figures::classes(train.X, class_words(train.y)));
  Vector scaled(widths.size()), fixed(widths.size());
  for (Index i = 0; i < widths.size(); ++i) {
    const double width = widths[i];
    const SvcModel model = machine(kernels::gaussian(width), width * width);
    scaled[i] = accuracy(straight, model.classes(test.X));
    fixed[i] = accuracy(straight, machine(kernels::gaussian(width), 1).classes(test.X));
    if (width == 1 || width == 3 || width == 10)
      lines.layers.push_back(
          figures::contour(grid, model.decision(grid).col(0), boundary_side, boundary_side, 0, fmt::format("σ = {:g}", width)));
  }
  lines.layers.push_back(
      figures::contour(grid, machine(kernels::polynomial(2, 1, 1), 1).decision(grid).col(0), boundary_side, boundary_side, 0, "degree 2"));
  lines.layers.push_back(figures::contour(grid, linear.decision(grid).col(0), boundary_side, boundary_side, 0, "linear"));
  lines.layers.back().dashed = true;
  Figure agreement{.title = "Agreement with the linear machine", .x_title = "σ", .y_title = "share of new points", .log_x = true};
  agreement.description = "With C growing as σ² the agreement goes to 1; with C = 1 the larger class is all that is left.";
  agreement.layers = {figures::line(widths, scaled, "C = σ²"), figures::line(widths, fixed, "C = 1")};
  e.figures.push_back(lines);
  e.figures.push_back(agreement);
  const double there = scaled[scaled.size() - 1], not_there = fixed[fixed.size() - 1];
  e.numbers.emplace_back("agreement_scaled_c", there);
  e.numbers.emplace_back("agreement_fixed_c", not_there);
  e.claims.push_back(
      {fmt::format("at σ = 300 the Gaussian machine with C = σ² says what the linear one says on {:.3f} % of new points, with C = 1 on "
                   "{:.1f} %",
                   100 * there, 100 * not_there),
       there > 0.999 && not_there < 0.9});
}

}  // namespace mercer::gallery
