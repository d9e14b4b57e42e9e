// E1: least squares and ridge on the powers 0 to 8 of x and twelve observations. Source K, figures 1 and 2.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>

#include "gallery.hpp"

namespace mercer::gallery {

namespace {

constexpr Index n = 12, p = 9;
constexpr double lambda = 1, noise = 0.5;

double truth(double x) { return std::cos(1.5 * x); }

Matrix powers(const Vector& x) {
  Matrix X = Matrix::Ones(x.size(), p);
  for (Index j = 1; j < p; ++j) X.col(j) = X.col(j - 1).cwiseProduct(x);
  return X;
}

// The integral of the squared second derivative, by differences over an even grid, for each column.
Vector wiggle(const Matrix& f, double step) {
  const Index m = f.rows() - 2;
  const Matrix second = (f.topRows(m) - 2 * f.middleRows(1, m) + f.bottomRows(m)) / (step * step);
  return second.colwise().squaredNorm().transpose() * step;
}

// What an estimator does over many samples of the same design, averaged over the grid.
struct Spread {
  double bias2 = 0, variance = 0, error = 0;
};

Spread spread(const Matrix& f, const Vector& mean) {
  const Vector middle = f.rowwise().mean();
  return {(middle - mean).array().square().mean(), (f.colwise() - middle).array().square().mean(),
          (f.colwise() - mean).array().square().mean()};
}

Figure picture(const Vector& x, const Vector& y, const Vector& grid, const Vector& f, const std::string& name) {
  Figure figure{.title = name, .x_title = "x", .y_title = "y"};
  figure.description = fmt::format("Twelve observations and the curve of {} between {:.2f} and {:.2f}.", name, f.minCoeff(), f.maxCoeff());
  FigureLayer mean = figures::dashed_line(grid, grid.unaryExpr([](double v) { return truth(v); }), "true mean");
  mean.soft = true;
  figure.layers = {mean, figures::line(grid, f, name), figures::points(x, y, "observations")};
  return figure;
}

}  // namespace

Experiment ridge_calms(const Setting& setting) {
  const Index samples = setting.quick ? 200 : 2000;
  const Vector x = Vector::LinSpaced(n, -1.5, 1.5), grid = Vector::LinSpaced(401, -1.5, 1.5);
  const double step = grid[1] - grid[0];
  const Vector mean = grid.unaryExpr([](double v) { return truth(v); });

  // One column of y for each sample: the design is the same, so one decomposition serves all of them.
  RandomStream random(setting.seed, 1);
  const Matrix Y = x.unaryExpr([](double v) { return truth(v); }).replicate(1, samples) + noise * random.normal_matrix(n, samples);
  const RidgeModel ols = fit_ridge(powers(x), Y, {.alpha = 0, .fit_intercept = false, .run = setting.run});
  const RidgeModel ridge = fit_ridge(powers(x), Y, {.lambda = lambda, .fit_intercept = false, .run = setting.run});
  const Matrix f_ols = ols.predict(powers(grid)), f_ridge = ridge.predict(powers(grid));
  const Vector wiggle_ols = wiggle(f_ols, step), wiggle_ridge = wiggle(f_ridge, step);
  const double calmer = (wiggle_ridge.array() < wiggle_ols.array()).cast<double>().mean();
  const Spread s_ols = spread(f_ols, mean), s_ridge = spread(f_ridge, mean);
  const double before = ols.summary().condition_before, after = ridge.summary().condition_after;

  const double s1 = ridge.summary().singular_values[0];
  const double alpha = s1 / ridge.summary().filter[0] - s1 * s1;  // what was really added to XᵀX

  Experiment e{.id = "E1", .title = "Ridge is calm where least squares wiggles", .source = "K section 2.1, figures 1 and 2"};
  e.equation = "ŵ = (XᵀX + nλI)⁻¹Xᵀy,  X = (1, x, …, x⁸),  n = 12, λ = 1, so nλ = 12";
  e.data = fmt::format("simulated: y = cos 1.5x + {} ε at 12 even places in [-1.5, 1.5]; {} samples, the first one drawn", noise, samples);
  e.see =
      "Nine coefficients on twelve points let least squares chase the noise, most of all towards the ends. The penalty takes that away: "
      "the ridge curve bends slowly, at the price of a bias towards zero.";
  e.figures = {picture(x, Y.col(0), grid, f_ols.col(0), "Least squares"), picture(x, Y.col(0), grid, f_ridge.col(0), "Ridge, λ = 1")};
  e.tables.push_back({fmt::format("Over {} samples: squared bias and variance add up to the error against the true mean", samples),
                      {"estimator", "∫ f″², first sample", "bias²", "variance", "error", "condition number"},
                      {{"least squares", fmt::format("{:.1f}", wiggle_ols[0]), fmt::format("{:.3f}", s_ols.bias2),
                        fmt::format("{:.3f}", s_ols.variance), fmt::format("{:.3f}", s_ols.error), fmt::format("{:.0f}", before)},
                       {"ridge", fmt::format("{:.1f}", wiggle_ridge[0]), fmt::format("{:.3f}", s_ridge.bias2),
                        fmt::format("{:.3f}", s_ridge.variance), fmt::format("{:.3f}", s_ridge.error), fmt::format("{:.1f}", after)}}});
  e.numbers = {{"alpha", alpha},
               {"wiggle_ols", wiggle_ols[0]},
               {"wiggle_ridge", wiggle_ridge[0]},
               {"share_of_samples_where_ridge_wiggles_less", calmer},
               {"variance_ols", s_ols.variance},
               {"variance_ridge", s_ridge.variance},
               {"bias2_ols", s_ols.bias2},
               {"bias2_ridge", s_ridge.bias2},
               {"condition_before", before},
               {"condition_after", after}};
  e.claims = {
      {fmt::format("ridge wiggles less: ∫ f″² is {:.1f} against {:.1f}", wiggle_ridge[0], wiggle_ols[0]), wiggle_ridge[0] < wiggle_ols[0]},
      {fmt::format("so it does in {:.1f} % of {} samples", 100 * calmer, samples), calmer > 0.95},
      {fmt::format("its variance is smaller: {:.3f} against {:.3f}", s_ridge.variance, s_ols.variance), s_ridge.variance < s_ols.variance},
      {fmt::format("bias² + variance is the error of both: {:.4f} and {:.4f}", s_ols.error, s_ridge.error),
       std::abs(s_ols.bias2 + s_ols.variance - s_ols.error) < 1e-9 * s_ols.error &&
           std::abs(s_ridge.bias2 + s_ridge.variance - s_ridge.error) < 1e-9 * s_ridge.error},
      {fmt::format("λ = 1 is nλ = {:.6f} in the closed form", alpha), std::abs(alpha - 12) < 1e-6},
      {fmt::format("the system is better conditioned: {:.1f} against {:.0f}", after, before), after < before}};
  e.notes = {
      "λ = 1 stands beside the mean loss of K (9), so that nλ = 12 stands in the closed form; the display before K (8) drops the 1/n. "
      "The constant is penalised as the other columns are, as K has it.",
      "The condition number that K prints after (10) is that of X with the rows √(nλ) I below it, which is the one in the table."};
  if (setting.quick) e.notes.push_back(fmt::format("A quick run takes {} samples in place of 2000.", samples));
  e.program = "examples/gallery/e01_ridge.cpp";
  return e;
}

}  // namespace mercer::gallery
