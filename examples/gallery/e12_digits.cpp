// E12: noise taken off digits by kernel PCA: the noisy digit's image is projected on the components of clean ones, and the pre-image of
// that projection is the digit without noise. Beside it linear PCA, whose projections are digits by themselves. SPDX-License-Identifier:
// BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "gallery.hpp"

namespace mercer::gallery {

namespace {

struct Digits {
  Matrix pixels{};  // 16 x 16 in [-1, 1], a digit a row
  std::vector<Index> labels{};
};

Digits read_digits(const std::string& file) {
  const Table table = read_table(file, {.delimiter = ' ', .header = false});
  Digits out{Matrix(table.rows(), 256), {}};
  for (const double label : table.columns[0].numbers()) out.labels.push_back(static_cast<Index>(label));
  for (Index p = 0; p < 256; ++p)
    out.pixels.col(p) = Eigen::Map<const Vector>(table.columns[static_cast<std::size_t>(p + 1)].numbers().data(), table.rows());
  return out;
}

double distance_to_stroke(const Eigen::Vector2d& p, const Eigen::Vector2d& a, const Eigen::Vector2d& b) {
  const double t = std::clamp((p - a).dot(b - a) / (b - a).squaredNorm(), 0.0, 1.0);
  return (p - a - t * (b - a)).norm();
}

// Where there are no data: digits of up to seven strokes, as pocket calculators have them; moved, slanted, wider or narrower, thick or
// thin.
Digits drawn_digits(Index each, RandomStream random) {
  const std::array<const char*, 10> strokes = {"abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg"};
  const std::array<std::array<double, 4>, 7> ends = {
      {{-1, -2, 1, -2}, {1, -2, 1, 0}, {1, 0, 1, 2}, {-1, 2, 1, 2}, {-1, 0, -1, 2}, {-1, -2, -1, 0}, {-1, 0, 1, 0}}};
  Digits out{Matrix::Constant(10 * each, 256, -1), {}};
  for (Index i = 0; i < 10 * each; ++i) {
    const Index digit = i % 10;
    out.labels.push_back(digit);
    const double width = random.uniform(2.2, 3.8), height = random.uniform(2.6, 3.3), slant = random.uniform(-0.3, 0.3);
    const double thick = random.uniform(0.7, 1.2), right = random.uniform(-1, 1), down = random.uniform(-0.7, 0.7);
    const auto placed = [&](double x, double y) {
      return Eigen::Vector2d(7.5 + right + width * x - slant * height * y, 7.5 + down + height * y);
    };
    for (const char* s = strokes[static_cast<std::size_t>(digit)]; *s != 0; ++s) {
      const auto& e = ends[static_cast<std::size_t>(*s - 'a')];
      for (Index p = 0; p < 256; ++p) {
        const double d =
            distance_to_stroke({static_cast<double>(p % 16), static_cast<double>(p / 16)}, placed(e[0], e[1]), placed(e[2], e[3]));
        out.pixels(i, p) = std::max(out.pixels(i, p), 2 * std::exp(-d * d / (2 * thick * thick)) - 1);
      }
    }
  }
  return out;
}

// `each` digits of every class, in random order.
Digits some_of(const Digits& all, Index each, RandomStream random) {
  std::array<Index, 10> taken{};
  std::vector<Index> rows;
  for (const Index i : random.permutation(all.pixels.rows())) {
    if (taken.at(static_cast<std::size_t>(all.labels[static_cast<std::size_t>(i)]))++ < each) rows.push_back(i);
  }
  Digits out{all.pixels(rows, Eigen::all), {}};
  for (const Index i : rows) out.labels.push_back(all.labels[static_cast<std::size_t>(i)]);
  return out;
}

Matrix with_gaussian_noise(const Matrix& X, RandomStream random) { return X + 0.5 * random.normal_matrix(X.rows(), X.cols()); }

// Speckle: a pixel becomes black or white, either as likely, with probability 0.4.
Matrix with_speckle(const Matrix& X, RandomStream random) {
  return X.unaryExpr([&](double pixel) { return random.uniform() < 0.4 ? (random.uniform() < 0.5 ? -1.0 : 1.0) : pixel; });
}

double error(const Matrix& a, const Matrix& b) { return (a - b).squaredNorm() / static_cast<double>(a.size()); }

}  // namespace

Experiment digits_denoised(const Setting& setting) {
  const auto train_file = data_file(setting, "usps/usps.train.txt.xz"), test_file = data_file(setting, "usps/usps.test.txt.xz");
  const bool real = train_file && test_file;
  const Index each = setting.quick ? 100 : 300;
  RandomStream random(setting.seed, 1);
  const Digits train = real ? some_of(read_digits(*train_file), each, random) : drawn_digits(each, random);
  Digits test = real ? read_digits(*test_file) : drawn_digits(50, RandomStream(setting.seed, 2));
  if (setting.quick) test = some_of(test, 25, RandomStream(setting.seed, 3));
  std::vector<Index> shown;  // the first digit of each class
  for (Index digit = 0; digit < 10; ++digit)
    shown.push_back(std::find(test.labels.begin(), test.labels.end(), digit) - test.labels.begin());

  // What each noise asks for (docs/preimages.md): the width c of exp(-|x - y|²/c), the number of components, and the method.
  struct Case {
    std::string name;
    Matrix noisy;
    double c;
    Index components;
    PreimageMethod method;
  };
  const Index most = train.pixels.rows() * 2 / 3;
  const std::vector<Case> cases = {
      {"Gaussian, sd 0.5", with_gaussian_noise(test.pixels, RandomStream(setting.seed, 4)), 128, most, PreimageMethod::fixed_point},
      {"speckle, p = 0.4", with_speckle(test.pixels, RandomStream(setting.seed, 5)), 1024, std::min<Index>(256, most),
       PreimageMethod::distance}};

  Experiment out{.id = "E12", .title = "Digits without their noise", .source = "L, The Pre-Image Problem"};
  out.tables = {
      {.caption = "Mean squared error per pixel against the clean digits", .columns = {"noise", "method", "components", "error"}}};
  out.figures = {
      {.title = "Errors",
       .description = "mean squared error per pixel with the noise, after linear PCA and after kernel PCA, for two kinds of noise",
       .x_title = "noise",
       .y_title = "mean squared error per pixel",
       .layers = {{.mark = Mark::named, .name = "with the noise"},
                  {.mark = Mark::named, .name = "linear PCA"},
                  {.mark = Mark::named, .name = "kernel PCA"}},
       .from_zero = true}};
  for (const Case& at : cases) {
    const auto pca = fit_kernel_pca(train.pixels, {.kernel = kernels::gaussian(std::sqrt(at.c / 2)),
                                                   .n_components = at.components,
                                                   .solver = KernelPcaSolver::dense,
                                                   .run = setting.run});
    const Preimages found = denoise(pca, at.noisy, {.method = at.method, .tolerance = 1e-4, .run = setting.run});

    // Linear PCA with the number of components that is best on these very digits: more than it could know.
    const PcaModel linear = fit_pca(train.pixels);
    const Matrix scores = linear.transform(at.noisy);
    Matrix best;
    Index best_components = 0;
    for (Index q = 1; q <= scores.cols(); q += q < 64 ? 1 : 8) {
      Matrix kept = scores;
      kept.rightCols(scores.cols() - q).setZero();
      Matrix rows = linear.inverse_transform(kept);
      if (best_components != 0 && error(rows, test.pixels) >= error(best, test.pixels)) continue;
      best = std::move(rows);
      best_components = q;
    }
    const double before = error(at.noisy, test.pixels), by_pca = error(best, test.pixels), by_kernel = error(found.rows, test.pixels);
    const std::string method = fmt::format("kernel PCA, {}, c = {:g}", name_of(at.method), at.c);
    out.tables[0].rows.push_back({at.name, "none", "", fmt::format("{:.4f}", before)});
    out.tables[0].rows.push_back(
        {at.name, "linear PCA, best on these digits", fmt::format("{}", best_components), fmt::format("{:.4f}", by_pca)});
    out.tables[0].rows.push_back({at.name, method, fmt::format("{}", at.components), fmt::format("{:.4f}", by_kernel)});
    const std::string word = at.name.substr(0, at.name.find(',')) == "Gaussian" ? "gaussian" : "speckle";
    out.numbers.insert(out.numbers.end(), {{word + "_noisy", before}, {word + "_linear_pca", by_pca}, {word + "_kernel_pca", by_kernel}});
    out.claims.push_back({fmt::format("{}: kernel PCA leaves less error than linear PCA: {:.4f} against {:.4f} ({:.4f} with the noise)",
                                      at.name, by_kernel, by_pca, before),
                          by_kernel < by_pca && by_kernel < before});
    const double errors[] = {before, by_pca, by_kernel};
    for (std::size_t i = 0; i < 3; ++i) {
      FigureLayer& bars = out.figures[0].layers[i];
      bars.words.push_back(at.name);
      bars.y.conservativeResize(bars.y.size() + 1);
      bars.y[bars.y.size() - 1] = errors[i];
    }
    const auto line = [&](const std::string& title, const Matrix& pixels) { return ImageStrip::Line{title, pixels(shown, Eigen::all)}; };
    out.images.push_back(
        {.height = 16,
         .width = 16,
         .lines = {line("clean", test.pixels), line(at.name, at.noisy), line("linear PCA", best), line("kernel PCA", found.rows)}});
  }
  out.equation = "min_z |Φ(z) − Pφ(x)|²,  Pφ(x) = mean + Σⱼ zⱼ(x) vⱼ;  for the Gaussian kernel z = Σᵢ γᵢ k(z, xᵢ) xᵢ / Σᵢ γᵢ k(z, xᵢ)";
  out.data = real
                 ? fmt::format("usps: {} training and {} test digits of 16 x 16 pixels in [-1, 1]", train.pixels.rows(), test.pixels.rows())
                 : fmt::format("simulated: digits of straight strokes, 16 x 16 pixels in [-1, 1], {} to learn from and {} to test",
                               train.pixels.rows(), test.pixels.rows());
  out.see =
      "Clean digits, the same with noise, and what linear and kernel PCA make of these. Linear PCA leaves ghosts of other digits; "
      "kernel PCA gives back strokes.";
  out.notes = {
      "Width, components and method are those that held-out training digits chose for USPS (docs/preimages.md); linear PCA has the number "
      "of components that is best on the test digits themselves."};
  if (setting.quick)
    out.notes.push_back(fmt::format("Quick run: {} training digits a class and {} test digits.", each, test.pixels.rows()));
  out.program = "examples/gallery/e12_digits.cpp";
  return out;
}

}  // namespace mercer::gallery
