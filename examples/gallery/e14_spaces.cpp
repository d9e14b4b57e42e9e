// E14, the lifts and the surfaces: what is curved in the plane is flat in a feature space.
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
    if (std::abs(at - 1) < 0.1) continue;
    out.X.row(i) << x, y;
    out.y[i++] = at > 1 ? 1 : 0;
  }
  return out;
}

double circle(double x, double y) { return (x * x + y * y) / 9; }
double ellipse(double x, double y) { return x * x + x * y + 2 * y * y; }

double share_right(const SvcModel& model, const Samples& X, const Vector& y) { return accuracy(class_indices(y), model.classes(X)); }

std::vector<std::string> sides(const Vector& y) {
  std::vector<std::string> words;
  for (const double label : y) words.emplace_back(label == 0 ? "inside" : "outside");
  return words;
}

// A view of points of space, from a little above.
Matrix seen(const Matrix& points) {
  Matrix view(points.rows(), 2);
  view.col(0) = points.col(0) + 0.4 * points.col(1);
  view.col(1) = points.col(2) + 0.25 * points.col(1);
  return view;
}

// Distance to the surface x3 = height(x1, x2) to first order, root mean square: the height above it over the length of its normal.
struct Surface {
  std::string name{};
  double (*height)(double, double);
  double (*normal)(double, double);

  double distance(const Matrix& points) const {
    double sum = 0;
    for (Index i = 0; i < points.rows(); ++i)
      sum += std::pow((points(i, 2) - height(points(i, 0), points(i, 1))) / normal(points(i, 0), points(i, 1)), 2);
    return std::sqrt(sum / static_cast<double>(points.rows()));
  }
};

Figure view_of(const std::string& title, const Matrix& noisy, const Matrix& found) {
  const Matrix before = seen(noisy), after = seen(found);
  FigureLayer cloud = figures::points(before.col(0), before.col(1), "with noise");
  cloud.soft = true, cloud.opacity = 0.4;
  FigureLayer kept = figures::points(after.col(0), after.col(1), "what the components keep");
  kept.value = found.col(1), kept.legend = "x2";
  return {.title = title,
          .description = "points of space with noise, and their projections",
          .x_title = "x1 (and x2 to the right)",
          .y_title = "x3",
          .layers = {cloud, kept}};
}

}  // namespace

void lifts(const Setting& setting, Experiment& out) {
  // K fig 8: the circle of radius 3 becomes the plane x3 = 9.
  const auto disc = square_cut_by(&circle, 5, 300, RandomStream(setting.seed, 8));
  const std::vector<Index> labels = class_indices(disc.y);
  Matrix lifted(300, 3);
  lifted << disc.X, disc.X.rowwise().squaredNorm();
  const Vector height = lifted.col(2);
  const Index wrong = ((height.array() > 9) != (disc.y.array() > 0.5)).count();
  const double flat = share_right(fit_svc(disc.X, labels, {.kernel = kernels::linear(), .C = 10, .run = setting.run}), disc.X, disc.y);
  const SvcModel plane = fit_svc(lifted, labels, {.kernel = kernels::linear(), .hard_margin = true, .run = setting.run});
  const Vector angle = Vector::LinSpaced(121, 0, 2 * std::numbers::pi);
  out.figures.push_back({.title = "No line parts these classes, a circle of radius 3 does",
                         .description = "points inside and outside of a circle",
                         .x_title = "x1",
                         .y_title = "x2",
                         .layers = {figures::classes(disc.X, sides(disc.y)),
                                    figures::line(3 * angle.array().cos(), 3 * angle.array().sin(), "x1² + x2² = 9")},
                         .square = true});
  out.figures.push_back({.title = "Lifted by x3 = x1² + x2², the plane x3 = 9 does",
                         .description = "the same points, seen from the side of the lifted space",
                         .x_title = "x1",
                         .y_title = "x3 = x1² + x2²",
                         .layers = {[&] {
                                      Matrix side(300, 2);
                                      side << disc.X.col(0), height;
                                      return figures::classes(side, sides(disc.y));
                                    }(),
                                    figures::level(9, "x3 = 9")}});
  const double plane_right = share_right(plane, lifted, disc.y);

  // L: all monomials of degree 2, the cross term with the root of 2, have the kernel <x, x'>².
  const auto oval = square_cut_by(&ellipse, 1.6, 300, RandomStream(setting.seed, 9));
  const Matrix Z = monomial_features(oval.X, {.min_degree = 2, .max_degree = 2, .weighting = MonomialWeighting::root});
  const double off = (Z * Z.transpose() - gram(kernels::polynomial(2, 1, 0), oval.X)).cwiseAbs().maxCoeff();
  const SvcModel by_kernel =
      fit_svc(oval.X, class_indices(oval.y), {.kernel = kernels::polynomial(2, 1, 0), .hard_margin = true, .run = setting.run});
  const double oval_right = share_right(by_kernel, oval.X, oval.y);
  Matrix ends(300, 2);
  ends << Z.col(0) + Z.col(1) / std::numbers::sqrt2, Z.col(2);  // along the plane z1 + z2/√2 + 2 z3 = 1, so that it is seen as a line
  out.figures.push_back(
      {.title = "All monomials of degree 2: an ellipse becomes a plane",
       .description = "points inside and outside of an ellipse, in the space of their squares and products, seen along a plane",
       .x_title = "z1 + z2/√2 = x1² + x1 x2",
       .y_title = "z3 = x2²",
       .layers = {figures::classes(ends, sides(oval.y)),
                  figures::line(Eigen::Vector2d(-0.5, 1), Eigen::Vector2d(0.75, 0), "z1 + z2/√2 + 2 z3 = 1")}});
  out.numbers.insert(out.numbers.end(), {{"line_accuracy_before_lift", flat},
                                         {"plane_accuracy_after_lift", plane_right},
                                         {"degree_2_kernel_accuracy", oval_right},
                                         {"degree_2_largest_kernel_error", off}});
  out.claims.push_back(
      {fmt::format("the plane x3 = 9 parts the classes of radius 3 with {} errors, and so does a linear machine after the lift ({:.0f} %); "
                   "before, a line has {:.0f} %",
                   wrong, 100 * plane_right, 100 * flat),
       wrong == 0 && plane_right == 1 && flat < 1});
  out.claims.push_back(
      {fmt::format("⟨Φ(x), Φ(x′)⟩ = ⟨x, x′⟩² up to {:.1e}, and the machine with this kernel has {:.0f} % right", off, 100 * oval_right),
       off < 1e-12 && oval_right == 1});
}

void surfaces(const Setting& setting, Experiment& out) {
  const Surface flat{"plane", [](double x, double y) { return 0.5 * x - 0.3 * y; }, [](double, double) { return std::sqrt(1 + 0.34); }};
  const Surface curved{"quadratic surface", [](double x, double y) { return x * x + y * y; },
                       [](double x, double y) { return std::sqrt(1 + 4 * (x * x + y * y)); }};
  ExperimentTable table{.caption = "Distance to the surface, root mean square",
                        .columns = {"points near", "with noise", "PCA, 2 of 3", "kernel PCA, 8 of 9"}};
  std::vector<double> linear_distance, kernel_distance, left_out;
  for (const Surface& surface : {flat, curved}) {
    RandomStream random(setting.seed, 67);
    Matrix X(400, 3);
    for (Index i = 0; i < 400; ++i) {
      const double x = random.uniform(-1.5, 1.5), y = random.uniform(-1.5, 1.5);
      X.row(i) << x, y, surface.height(x, y);
    }
    X += 0.15 * random.normal_matrix(400, 3);
    // PCA leaves out the direction of least variance: one linear equation. The quadratic kernel has nine directions (three columns and
    // their six products), so that leaving out one of these is one quadratic equation.
    const PcaModel pca = fit_pca(X, {.n_components = 2, .run = setting.run});
    const Matrix projected = pca.inverse_transform(pca.transform(X));
    const KernelPcaModel kernel_pca = fit_kernel_pca(X, {.kernel = kernels::polynomial(2, 1, 1), .n_components = 8, .run = setting.run});
    const Matrix found = denoise(kernel_pca, X, {.run = setting.run}).rows;
    linear_distance.push_back(surface.distance(projected));
    kernel_distance.push_back(surface.distance(found));
    left_out.push_back(1 - pca.explained_variance_ratio().sum());
    table.rows.push_back({"a " + surface.name, fmt::format("{:.4f}", surface.distance(X)), fmt::format("{:.4f}", linear_distance.back()),
                          fmt::format("{:.4f}", kernel_distance.back())});
    out.figures.push_back(view_of(fmt::format("A {}: PCA", surface.name), X, projected));
    out.figures.push_back(view_of(fmt::format("A {}: kernel PCA", surface.name), X, found));
  }
  out.tables.push_back(std::move(table));
  out.numbers.insert(out.numbers.end(), {{"plane_distance_pca", linear_distance[0]},
                                         {"plane_distance_kernel_pca", kernel_distance[0]},
                                         {"quadratic_distance_pca", linear_distance[1]},
                                         {"quadratic_distance_kernel_pca", kernel_distance[1]},
                                         {"plane_variance_left_out_by_pca", left_out[0]},
                                         {"quadratic_variance_left_out_by_pca", left_out[1]}});
  out.claims.push_back(
      {fmt::format("two principal components are enough near a plane ({:.1f} % of the variance left out) and not near a quadratic surface "
                   "({:.1f} %)",
                   100 * left_out[0], 100 * left_out[1]),
       left_out[0] < 0.05 && left_out[1] > 2 * left_out[0]});
  out.claims.push_back({fmt::format("near the quadratic surface kernel PCA comes nearer to it than PCA: {:.3f} against {:.3f}",
                                    kernel_distance[1], linear_distance[1]),
                        kernel_distance[1] < linear_distance[1]});
}

}  // namespace mercer::gallery
