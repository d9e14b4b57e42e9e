// E2: sets that no line separates, lifted to where a plane does. Source D, figure 1 (a disc in a ring); source G, section 1 (a parabola).
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gallery.hpp"

namespace mercer::gallery {

namespace {

// x -> (x, |x|^2).
Matrix lift(const Matrix& X) {
  Matrix Z(X.rows(), X.cols() + 1);
  Z << X, X.rowwise().squaredNorm();
  return Z;
}

Index errors(const std::vector<Index>& truth, const std::vector<Index>& said) {
  Index wrong = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) wrong += truth[i] != said[i] ? 1 : 0;
  return wrong;
}

// A plane {z: <w, z> = b}, and how it does on labelled points.
struct Plane {
  Vector w;
  double b = 0;

  Vector side(const Matrix& Z) const { return ((Z * w).array() - b).matrix(); }
  Index errors_on(const Matrix& Z, const std::vector<Index>& labels) const {
    std::vector<Index> said;
    for (const double s : side(Z)) said.push_back(s > 0 ? 1 : 0);
    return errors(labels, said);
  }
  double distance_to(const Matrix& Z) const { return side(Z).cwiseAbs().minCoeff() / w.norm(); }
};

SvcModel widest_margin(const Matrix& Z, const std::vector<Index>& labels, const Run& run) {
  return fit_svc(Z, labels, {.kernel = kernels::linear(), .hard_margin = true, .solver = {.tolerance = 1e-9}, .run = run});
}

Plane plane_of(const SvcModel& model) { return {model.samples().to_dense().transpose() * model.dual_coef().col(0), -model.intercept()[0]}; }

std::vector<std::string> words(const std::vector<Index>& labels, const char* zero, const char* one) {
  std::vector<std::string> out;
  for (const Index label : labels) out.emplace_back(label == 0 ? zero : one);
  return out;
}

void disc_in_a_ring(Experiment& e, const Setting& setting) {
  const simulate::Labelled data = simulate::disc_in_ring(300, setting.seed);
  const std::vector<Index> labels = class_indices(data.y);
  const Matrix Z = lift(data.X);
  const Index in_plane =
      errors(labels, fit_svc(data.X, labels, {.kernel = kernels::linear(), .C = 100, .run = setting.run}).classes(data.X));
  const std::string flat = widest_margin(data.X, labels, setting.run).summary().status;
  const SvcModel model = widest_margin(Z, labels, setting.run);
  const Index lifted = errors(labels, model.classes(Z));
  const Index by_d = Plane{Vector::Unit(3, 2), 1}.errors_on(Z, labels);

  const Matrix grid = figures::grid_over(data.X, 81, 81);
  Figure back{.title = "Back in the plane", .x_title = "x₁", .y_title = "x₂", .square = true};
  back.description = "A disc of points in a ring of points; the separating plane of the lifted set is a circle between them.";
  back.layers = {figures::classes(data.X, words(labels, "disc", "ring")),
                 figures::contour(grid, model.decision(lift(grid)).col(0), 81, 81, 0, "widest margin, lifted")};
  Figure up{.title = "Lifted by z = |x|²", .x_title = "x₁", .y_title = "z"};
  up.description = "The same points seen from the side: the disc lies below z = 1, the ring above.";
  Matrix side(Z.rows(), 2);
  side << Z.col(0), Z.col(2);
  up.layers = {figures::classes(side, words(labels, "disc", "ring")), figures::level(1, "z = 1")};
  e.figures = {back, up};
  e.numbers = {{"disc_errors_linear", static_cast<double>(in_plane)},
               {"disc_errors_lifted", static_cast<double>(lifted)},
               {"disc_errors_z_1", static_cast<double>(by_d)}};
  e.claims = {{fmt::format("no line separates the disc from the ring: the hard margin says \"{}\", and the soft one errs {} times of 300",
                           flat, in_plane),
               flat == "not separable" && in_plane > 0},
              {fmt::format("lifted by (x, |x|²) the widest margin makes {} training errors, and D's plane z = 1 makes {}", lifted, by_d),
               lifted == 0 && by_d == 0}};
}

void parabola(Experiment& e, const Setting& setting) {
  const simulate::Labelled data = simulate::parabola();
  const std::vector<Index> labels = class_indices(data.y);
  const Matrix Z = lift(data.X);
  const Plane given{Vector::Unit(2, 1), 5};
  const SvcModel model = widest_margin(Z, labels, setting.run);
  const Plane found = plane_of(model);
  const double threshold = found.b / found.w[1];
  const Vector f = model.decision(Z).col(0);
  double inside = std::numeric_limits<double>::lowest(),
         outside = std::numeric_limits<double>::max();  // the points of each class that are nearest to the plane
  for (Index i = 0; i < f.size(); ++i) {
    if (labels[static_cast<std::size_t>(i)] == 0) inside = std::max(inside, f[i]);
    if (labels[static_cast<std::size_t>(i)] == 1) outside = std::min(outside, f[i]);
  }

  Figure figure{.title = "{-10 … 10} on a parabola", .x_title = "x", .y_title = "x²"};
  figure.description =
      fmt::format("Points (x, x²) of two classes, and two levels that separate them: 5, and {:.3f} of the widest margin.", threshold);
  FigureLayer g = figures::level(given.b, "G: w = (0, 1), b = 5");
  g.dashed = true;
  figure.layers = {figures::classes(Z, words(labels, "|x| ≤ 2", "|x| > 2")), g, figures::level(threshold, "widest margin")};
  e.figures.push_back(figure);
  const auto row = [&](const char* name, const Plane& plane) {
    return std::vector<std::string>{name,
                                    fmt::format("({:.1g}, {:.4f})", plane.w[0], plane.w[1]),
                                    fmt::format("{:.4f}", plane.b),
                                    fmt::format("{:.4f}", plane.b / plane.w[1]),
                                    fmt::format("{}", plane.errors_on(Z, labels)),
                                    fmt::format("{:.4f}", plane.distance_to(Z))};
  };
  e.tables.push_back({"Two planes for the parabola",
                      {"plane", "w", "b", "x² =", "training errors", "distance to the nearest point"},
                      {row("source G", given), row("widest margin", found)}});
  e.numbers.insert(e.numbers.end(), {{"parabola_errors_g", static_cast<double>(given.errors_on(Z, labels))},
                                     {"parabola_errors_svm", static_cast<double>(found.errors_on(Z, labels))},
                                     {"parabola_w1", found.w[0]},
                                     {"parabola_w2", found.w[1]},
                                     {"parabola_threshold", threshold},
                                     {"margin_g", given.distance_to(Z)},
                                     {"margin_svm", found.distance_to(Z)}});
  e.claims.push_back(
      {fmt::format("G's w = (0, 1), b = 5 makes {} errors on {{-10 … 10}}", given.errors_on(Z, labels)), given.errors_on(Z, labels) == 0});
  e.claims.push_back({fmt::format("the hard-margin optimum is w = ({:.1g}, {:.6f}) with threshold x² = {:.6f}; by hand (0, 0.4) and 6.5",
                                  found.w[0], found.w[1], threshold),
                      std::abs(found.w[0]) < 1e-6 && std::abs(found.w[1] - 0.4) < 1e-6 && std::abs(threshold - 6.5) < 1e-6});
  e.claims.push_back({fmt::format("both classes touch its margin: f = {:.6f} and {:.6f}; it is {:.2f} wide on each side, G's {:.2f}",
                                  inside, outside, found.distance_to(Z), given.distance_to(Z)),
                      std::abs(inside + 1) < 1e-6 && std::abs(outside - 1) < 1e-6 && found.distance_to(Z) > given.distance_to(Z)});
}

}  // namespace

Experiment lifting(const Setting& setting) {
  Experiment e{.id = "E2", .title = "Lifting makes sets separable", .source = "D figure 1, G section 1"};
  e.equation = "ψ(x) = (x, |x|²),  h(x) = sign(⟨w, ψ(x)⟩ − b)";
  e.data =
      "simulated: a disc of radius 1 in a ring from 1.5 to 2.5, 300 points; the whole numbers from -10 to 10, of which |x| > 2 is one "
      "class";
  e.see =
      "One more column, the squared length, and a plane does what no line could. Seen from below the plane is a circle, and on the "
      "parabola two cuts at once.";
  disc_in_a_ring(e, setting);
  parabola(e, setting);
  e.notes = {
      "G's plane (0, 1), 5 separates the parabola but is not the widest margin: that is w = (0, 0.4) with x² = 6.5 in the middle "
      "between 4 and 9."};
  e.program = "examples/gallery/e02_lifting.cpp";
  return e;
}

}  // namespace mercer::gallery
