// E9: random Fourier features. z(x)'z(y) of L random cosines comes near k(x, y) as 1/sqrt(L), and a linear classifier on z near the exact
// one. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gallery.hpp"

namespace mercer::gallery {

namespace {

const std::vector<Index> sizes = {4, 16, 64, 256, 1024, 4096};  // L

// Over several draws of L features.
struct Measured {
  double mean_error = 0;     // root mean square of z(x)'z(y) - k(x, y) over all pairs
  double largest_error = 0;  // of all pairs and draws
  double bound = 0;          // Hoeffding, all pairs, 95 %
  double accuracy = 0;       // on test rows, mean of the draws
};

RandomFourierFeatures features_of(const Kernel& kernel, Index L, std::uint64_t seed) {
  return random_fourier_features(kernel, 2, {.n_components = L, .form = FourierForm::cosine, .seed = seed});
}

Matrix rows_of(const Matrix& X, const std::vector<Index>& rows) { return X(rows, Eigen::all); }

// A Gram matrix as a picture; the first row on top.
Figure heat_map(const Matrix& K, const std::string& title) {
  Matrix places(K.size(), 2);
  Vector values(K.size());
  for (Index i = 0; i < K.rows(); ++i) {
    for (Index j = 0; j < K.cols(); ++j) {
      places.row(i * K.cols() + j) << static_cast<double>(j), static_cast<double>(K.rows() - 1 - i);
      values[i * K.cols() + j] = std::clamp(K(i, j), -0.5, 1.5);  // one scale of colours serves all L
    }
  }
  return {.title = title,
          .description = "a Gram matrix, rows sorted by class",
          .layers = {figures::tiles(places, values, "k")},
          .square = true};
}

// Rows of both classes in turn along their moons: what the heat maps show.
std::vector<Index> sorted_rows(const simulate::Labelled& data, Index count) {
  std::vector<Index> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  std::sort(rows.begin(), rows.end(),
            [&](Index a, Index b) { return std::pair(data.y[a], data.X(a, 0)) < std::pair(data.y[b], data.X(b, 0)); });
  return rows;
}

}  // namespace

Experiment random_features(const Setting& setting) {
  const Kernel kernel = kernels::gaussian(std::sqrt(0.5));  // exp(-gamma |x - y|²), gamma = 1
  const Index n = setting.quick ? 300 : 600;
  const Index draws = setting.quick ? 4 : 10;
  const auto train = simulate::moons(n, 0.2, setting.seed);
  const auto test = simulate::moons(2000, 0.2, setting.seed + 1);
  const std::vector<Index> labels = class_indices(train.y), truth = class_indices(test.y);
  const Matrix K = gram(kernel, train.X);

  // Both machines without a bias: the same problem but for the kernel, which is z(x)'z(y) for the second.
  const SvcModel exact = fit_svc(train.X, labels, {.kernel = kernel, .fit_intercept = false, .run = setting.run});
  const double exact_accuracy = accuracy(truth, exact.classes(test.X));
  const auto linear_machine = [&](const Matrix& Z) {
    return fit_linear_svc(Z, labels,
                          {.loss = LinearSvcOptions::Loss::hinge, .fit_intercept = false, .tolerance = 1e-3, .run = setting.run});
  };

  const auto count = static_cast<Index>(sizes.size());
  std::vector<Measured> found(sizes.size());
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    Measured& at = found[s];
    for (Index draw = 0; draw < draws; ++draw) {
      const auto map = features_of(kernel, sizes[s], setting.seed + 100 * s + static_cast<std::uint64_t>(draw));
      const Matrix Z = map.transform(train.X);
      const Matrix off = gram(kernels::linear(), Z) - K;
      const double pairs = static_cast<double>(n * (n - 1));
      at.mean_error += std::sqrt((off.squaredNorm() - off.diagonal().squaredNorm()) / pairs) / static_cast<double>(draws);
      Matrix apart = off.cwiseAbs();
      apart.diagonal().setZero();
      at.largest_error = std::max(at.largest_error, apart.maxCoeff());
      at.bound = map.hoeffding_error(0.95, n);
      const Vector side = linear_machine(Z).decision(map.transform(test.X)).col(0);
      at.accuracy += static_cast<double>(((side.array() > 0) == (test.y.array() > 0.5)).count()) / 2000.0 / static_cast<double>(draws);
    }
  }

  Vector L(count), mean(count), largest(count), bound(count), accuracies(count);
  ExperimentTable table{.caption = fmt::format("{} draws of each size, {} rows", draws, n),
                        .columns = {"L", "mean error", "largest error", "Hoeffding bound, all pairs, 95 %", "accuracy"}};
  Experiment out{.id = "E9", .title = "Random features stand in for a kernel", .source = "N fig 3"};
  for (Index s = 0; s < count; ++s) {
    const Measured& at = found[static_cast<std::size_t>(s)];
    L[s] = static_cast<double>(sizes[static_cast<std::size_t>(s)]);
    mean[s] = at.mean_error, largest[s] = at.largest_error, bound[s] = at.bound, accuracies[s] = at.accuracy;
    table.rows.push_back({fmt::format("{}", L[s]), fmt::format("{:.4f}", mean[s]), fmt::format("{:.4f}", largest[s]),
                          fmt::format("{:.3f}", bound[s]), fmt::format("{:.2f} %", 100 * accuracies[s])});
    out.numbers.emplace_back(fmt::format("error_at_{}", L[s]), mean[s]);
    out.numbers.emplace_back(fmt::format("accuracy_at_{}", L[s]), accuracies[s]);
  }
  table.rows.push_back({"exact kernel", "0", "0", "0", fmt::format("{:.2f} %", 100 * exact_accuracy)});
  // The power of L that the error goes with: the slope of a line through the logarithms.
  const Vector log_L = L.array().log() - L.array().log().mean();
  const double power = log_L.dot(mean.array().log().matrix()) / log_L.squaredNorm();
  out.numbers.emplace_back("power_of_l", power);
  out.numbers.emplace_back("exact_accuracy", exact_accuracy);

  out.equation = "k(x − y) = E cos ωᵀ(x − y) ≈ z(x)ᵀz(y),  z(x) = √(2/L) (cos(ω₁ᵀx + b₁), …, cos(ω_Lᵀx + b_L))";
  out.data = fmt::format("simulated: two moons with noise 0.2, {} rows to learn from and 2000 to test", n);
  out.see =
      "Grain in the Gram matrix fades as L grows: the error falls as 1/√L, far below the bound that holds whatever the data. The "
      "classifier on the features is as good as the exact one long before the matrices look alike.";
  out.figures.push_back({.title = "The error falls as 1/√L",
                         .description = "mean and largest error over all pairs against the number of features, with Hoeffding's bound",
                         .x_title = "L, number of features",
                         .y_title = "error of the kernel's value",
                         .layers = {figures::dashed_line(L, bound, "Hoeffding bound, all pairs, 95 %"),
                                    figures::line(L, largest, "largest"), figures::line(L, mean, "root mean square")},
                         .log_x = true,
                         .log_y = true});
  out.figures.push_back({.title = "The classifier on the features",
                         .description = "test accuracy against the number of features, with that of the exact kernel",
                         .x_title = "L, number of features",
                         .y_title = "test accuracy",
                         .layers = {figures::level(exact_accuracy, "exact kernel"), figures::line(L, accuracies, "random features"),
                                    figures::points(L, accuracies, "random features")},
                         .log_x = true});
  const Matrix few = rows_of(train.X, sorted_rows(train, 48));
  out.figures.push_back(heat_map(gram(kernel, few), "The exact Gram matrix"));
  for (const Index size : {Index{16}, Index{256}, Index{4096}}) {
    const Matrix Z = features_of(kernel, size, setting.seed).transform(few);
    out.figures.push_back(heat_map(Z * Z.transpose(), fmt::format("L = {}", size)));
  }
  const Matrix grid = figures::grid_over(train.X, 70, 70);
  const auto map = features_of(kernel, 256, setting.seed);
  const Vector rough = linear_machine(map.transform(train.X)).decision(map.transform(grid)).col(0);
  std::vector<std::string> moons;
  for (const Index label : labels) moons.emplace_back(label == 0 ? "upper" : "lower");
  out.figures.push_back(
      {.title = "Boundaries",
       .description = "two moons and the boundaries of the exact classifier and of the one on 256 features",
       .layers = {figures::classes(train.X, moons, "moon"), figures::contour(grid, exact.decision(grid).col(0), 70, 70, 0, "exact kernel"),
                  figures::contour(grid, rough, 70, 70, 0, "L = 256")},
       .square = true});
  out.tables = {std::move(table)};
  const double last = accuracies[count - 1];
  const double used = (largest.array() / bound.array()).maxCoeff();
  out.claims = {{fmt::format("the error goes with L to the power {:.3f}: −1/2 within 0.05", power), std::abs(power + 0.5) < 0.05},
                {fmt::format("no error of any pair passes Hoeffding's bound: at most {:.2f} of it", used), used < 1},
                {fmt::format("4096 features classify as the exact kernel does: {:.2f} % against {:.2f} %, within half a point", 100 * last,
                             100 * exact_accuracy),
                 std::abs(last - exact_accuracy) < 0.005},
                {fmt::format("4 features do not: {:.2f} %", 100 * accuracies[0]), accuracies[0] < exact_accuracy - 0.01}};
  out.notes = {
      "N bounds one side of one pair; the bound drawn here is for both sides (twice that) and for all pairs (n(n − 1)/2 times that)."};
  if (setting.quick) out.notes.push_back(fmt::format("Quick run: {} rows and {} draws of each size (else 600 and 10).", n, draws));
  out.program = "examples/gallery/e09_random_features.cpp";
  return out;
}

}  // namespace mercer::gallery
