// E14, K fig 6-7: noise taken off points near a plane and near a quadratic surface, by PCA and by kernel PCA.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>

#include "e14_pictures.hpp"

namespace mercer::gallery {

namespace {

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

// The cloud itself.
Figure cloud_of(const Surface& surface, const Matrix& points) {
  const Matrix view = seen(points);
  FigureLayer cloud = figures::points(view.col(0), view.col(1));
  cloud.value = points.col(1), cloud.legend = "x2", cloud.opacity = 0.9;
  return {.title = fmt::format("Points near a {}", surface.name),
          .description = fmt::format("a cloud of points of space near a {}, coloured by x2", surface.name),
          .x_title = "x1 (and x2 to the right)",
          .y_title = "x3 (and x2 upwards)",
          .layers = {cloud}};
}

// x3 against the height of the surface: what lies on the surface lies on the diagonal.
Figure beside_surface(const Surface& surface, const Matrix& noisy, const Matrix& by_pca, const Matrix& by_kernel) {
  const auto layer = [&](const Matrix& points, const std::string& name) {
    Vector height(points.rows());
    for (Index i = 0; i < points.rows(); ++i) height[i] = surface.height(points(i, 0), points(i, 1));
    FigureLayer out = figures::points(height, points.col(2), name);
    out.size = 14;
    return out;
  };
  FigureLayer noise = layer(noisy, "with noise");
  noise.soft = true, noise.opacity = 0.4;
  const Eigen::Vector2d ends(noisy.col(2).minCoeff(), noisy.col(2).maxCoeff());
  return {.title = fmt::format("How far from the {}", surface.name),
          .description =
              fmt::format("x3 against the height of the {} for the noisy points and their projections by PCA and kernel PCA", surface.name),
          .x_title = "height of the surface over (x1, x2)",
          .y_title = "x3",
          .layers = {noise, layer(by_pca, "PCA"), layer(by_kernel, "kernel PCA"), figures::dashed_line(ends, ends, "the surface")}};
}

}  // namespace

void surfaces(const Setting& setting, Experiment& out) {
  const Surface flat{"plane", [](double x, double y) { return 0.5 * x - 0.3 * y; }, [](double, double) { return std::sqrt(1 + 0.34); }};
  const Surface curved{"quadratic surface", [](double x, double y) { return x * x + y * y; },
                       [](double x, double y) { return std::sqrt(1 + 4 * (x * x + y * y)); }};
  ExperimentTable table{.caption = "Distance to the surface, root mean square",
                        .columns = {"points near", "with noise", "PCA, 2 components", "kernel PCA, 12 components"}};
  std::vector<double> noise, linear_distance, kernel_distance, left_out;
  for (const Surface& surface : {flat, curved}) {
    RandomStream random(setting.seed, 67);
    Matrix X(400, 3);
    for (Index i = 0; i < 400; ++i) {
      const double x = random.uniform(-1.5, 1.5), y = random.uniform(-1.5, 1.5);
      X.row(i) << x, y, surface.height(x, y);
    }
    X += 0.15 * random.normal_matrix(400, 3);
    const PcaModel pca = fit_pca(X, {.n_components = 2, .run = setting.run});
    const Matrix projected = pca.inverse_transform(pca.transform(X));
    const KernelPcaModel kernel_pca = fit_kernel_pca(X, {.kernel = kernels::gaussian(1.0), .n_components = 12, .run = setting.run});
    const Matrix found = denoise(kernel_pca, X, {.run = setting.run}).rows;
    noise.push_back(surface.distance(X));
    linear_distance.push_back(surface.distance(projected));
    kernel_distance.push_back(surface.distance(found));
    left_out.push_back(1 - pca.explained_variance_ratio().sum());
    table.rows.push_back({"a " + surface.name, fmt::format("{:.4f}", noise.back()), fmt::format("{:.4f}", linear_distance.back()),
                          fmt::format("{:.4f}", kernel_distance.back())});
    out.figures.push_back(cloud_of(surface, X));
    out.figures.push_back(beside_surface(surface, X, projected, found));
  }
  out.tables.push_back(std::move(table));
  out.numbers.insert(out.numbers.end(), {{"plane_distance_pca", linear_distance[0]},
                                         {"plane_distance_kernel_pca", kernel_distance[0]},
                                         {"quadratic_distance_noisy", noise[1]},
                                         {"plane_distance_noisy", noise[0]},
                                         {"quadratic_distance_pca", linear_distance[1]},
                                         {"quadratic_distance_kernel_pca", kernel_distance[1]},
                                         {"plane_variance_left_out_by_pca", left_out[0]},
                                         {"quadratic_variance_left_out_by_pca", left_out[1]}});
  out.claims.push_back(
      {fmt::format("two principal components are enough near a plane ({:.1f} % of the variance left out) and not near a quadratic surface "
                   "({:.1f} %)",
                   100 * left_out[0], 100 * left_out[1]),
       left_out[0] < 0.05 && left_out[1] > 2 * left_out[0]});
  out.claims.push_back(
      {fmt::format("PCA takes the noise off a plane ({:.3f} of {:.3f}) and flattens the quadratic surface ({:.3f} of {:.3f})",
                   linear_distance[0], noise[0], linear_distance[1], noise[1]),
       linear_distance[0] < noise[0] / 2 && linear_distance[1] > noise[1]});
  out.claims.push_back({fmt::format("kernel PCA takes a third of it or more off both, to {:.3f} of {:.3f} and {:.3f} of {:.3f}",
                                    kernel_distance[0], noise[0], kernel_distance[1], noise[1]),
                        kernel_distance[0] < noise[0] * 2 / 3 && kernel_distance[1] < noise[1] * 2 / 3});
}

}  // namespace mercer::gallery
