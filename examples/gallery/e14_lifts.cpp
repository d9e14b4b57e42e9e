// E14, K fig 8 and L: what a line cannot part in the plane, a plane parts after a lift.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "e14_pictures.hpp"

namespace mercer::gallery {

namespace {

// Rows of a square, class 1 where `outside` is above 1; none very near to the curve.
simulate::Labelled square_cut_by(double (*outside)(double, double), double half, Index n, RandomStream random) {
  simulate::Labelled out{Matrix(n, 2), Vector(n)};
  for (Index i = 0; i < n;) {
    const double x = random.uniform(-half, half), y = random.uniform(-half, half);
    const double at = outside(x, y);
    if (std::abs(at - 1) < 0.05) continue;
    out.X.row(i) << x, y;
    out.y[i++] = at > 1 ? 1 : 0;
  }
  return out;
}

double circle(double x, double y) { return (x * x + y * y) / 9; }
double ellipse(double x, double y) { return x * x + x * y + 2 * y * y; }

// The plane <w, z> = 1 that a linear machine found between the classes.
Vector plane_of(const SvcModel& model, const Matrix& features) {
  const Vector w = features(model.support(), Eigen::all).transpose() * model.dual_coef().col(0);
  return -w / model.intercept()[0];
}

}  // namespace

void lifts(const Setting& setting, Experiment& out) {
  // K fig 8: the circle of radius 3 becomes the plane x3 = 9.
  const auto disc = square_cut_by(&circle, 5, 600, RandomStream(setting.seed, 8));
  const std::vector<Index> labels = class_indices(disc.y);
  const std::vector<std::string> places = named(labels, "inside", "outside");
  Matrix lifted(600, 3);
  lifted << disc.X, disc.X.rowwise().squaredNorm();
  const SvcModel line = fit_svc(disc.X, labels, {.kernel = kernels::linear(), .C = 10, .run = setting.run});
  const SvcModel plane = fit_svc(lifted, labels, {.kernel = kernels::linear(), .hard_margin = true, .run = setting.run});
  const double by_line = accuracy(labels, line.classes(disc.X)), by_plane = accuracy(labels, plane.classes(lifted));
  const double larger = std::max(disc.y.mean(), 1 - disc.y.mean());  // share of the larger class
  const Vector w = plane_of(plane, lifted);
  const double height = 1 / w[2], tilt = w.head(2).norm() / w[2];  // x3 over the middle, and how steep the plane is
  const Vector angle = Vector::LinSpaced(121, 0, 2 * std::numbers::pi);
  out.figures.push_back(
      {.title = "No line parts these classes, a circle of radius 3 does",
       .description = "points inside and outside of a circle",
       .x_title = "x1",
       .y_title = "x2",
       .layers = {figures::classes(disc.X, places), figures::line(3 * angle.array().cos(), 3 * angle.array().sin(), "x1² + x2² = 9")},
       .square = true});
  Matrix side(600, 2);
  side << lifted.col(0), lifted.col(2);
  out.figures.push_back({.title = "Lifted by x3 = x1² + x2², the plane x3 = 9 does",
                         .description = "the same points, seen from the side of the lifted space",
                         .x_title = "x1",
                         .y_title = "x3 = x1² + x2²",
                         .layers = {figures::classes(side, places), figures::level(9, "x3 = 9")}});

  // L: all monomials of degree 2, the cross term with the root of 2, have the kernel <x, x'>².
  const auto oval = square_cut_by(&ellipse, 1.6, 600, RandomStream(setting.seed, 9));
  const std::vector<Index> sides = class_indices(oval.y);
  const Kernel squares = kernels::polynomial(2, 1, 0);
  const Matrix Z = monomial_features(oval.X, {.min_degree = 2, .max_degree = 2, .weighting = MonomialWeighting::root});
  const double off = (Z * Z.transpose() - gram(squares, oval.X)).cwiseAbs().maxCoeff();
  const SvcModel machine = fit_svc(oval.X, sides, {.kernel = squares, .hard_margin = true, .run = setting.run});
  const double by_kernel = accuracy(sides, machine.classes(oval.X));
  const Vector v = plane_of(machine, Z);
  Matrix ends(600, 2);
  ends << Z.col(0) + Z.col(1) / std::numbers::sqrt2, Z.col(2);  // seen along the plane, which then is a line
  out.figures.push_back(
      {.title = "All monomials of degree 2: an ellipse becomes a plane",
       .description = "points inside and outside of an ellipse, in the space of their squares and products, seen along a plane",
       .x_title = "z1 + z2/√2 = x1² + x1 x2",
       .y_title = "z3 = x2²",
       .layers = {figures::classes(ends, named(sides, "inside", "outside")),
                  figures::line(Eigen::Vector2d(-0.5, 1), Eigen::Vector2d(0.75, 0), "z1 + z2/√2 + 2 z3 = 1")}});
  out.numbers.insert(out.numbers.end(), {{"line_accuracy_before_lift", by_line},
                                         {"plane_accuracy_after_lift", by_plane},
                                         {"height_of_the_plane_found", height},
                                         {"tilt_of_the_plane_found", tilt},
                                         {"degree_2_kernel_accuracy", by_kernel},
                                         {"degree_2_largest_kernel_error", off}});
  out.claims.push_back({fmt::format("radius 3: no line does better than to call all rows one class ({:.0f} %, the larger one has {:.0f} %)",
                                    100 * by_line, 100 * larger),
                        by_line < larger + 0.05});
  out.claims.push_back(
      {fmt::format("after the lift a plane parts all ({:.0f} %), and it is x3 = {:.2f}, 9 within 0.3, with a slope of {:.3f}",
                   100 * by_plane, height, tilt),
       by_plane == 1 && std::abs(height - 9) < 0.3 && tilt < 0.2});
  out.claims.push_back({fmt::format("⟨Φ(x), Φ(x′)⟩ = ⟨x, x′⟩² up to {:.1e}", off), off < 1e-12});
  out.claims.push_back(
      {fmt::format("the machine with the kernel ⟨x, x′⟩² has {:.0f} % right and finds the ellipse: {:.2f} x1² + {:.2f} x1 x2 + "
                   "{:.2f} x2² = 1, drawn with 1, 1, 2, within 0.2",
                   100 * by_kernel, v[0], std::numbers::sqrt2 * v[1], v[2]),
       by_kernel == 1 && std::abs(v[0] - 1) < 0.2 && std::abs(std::numbers::sqrt2 * v[1] - 1) < 0.2 && std::abs(v[2] - 2) < 0.2});
}

}  // namespace mercer::gallery
