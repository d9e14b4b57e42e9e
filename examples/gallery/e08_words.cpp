// E8: countries against emotion words. Words are no vectors; a kernel of words is all that kernel PCA needs to put them in a plane.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "gallery.hpp"

namespace mercer::gallery {

namespace {

struct Words {
  std::shared_ptr<WordTable> table = std::make_shared<WordTable>();  // a vector for each word
  std::vector<std::string> kinds{};                                  // "country" or "emotion"
  std::string source{};
};

// Where there are no data: words that nobody knows, and vectors that form two clouds.
Words made_up(std::uint64_t seed) {
  const std::vector<std::string> parts = {"ba", "do", "fe", "gu", "ka", "lo", "mi", "na", "pe", "ru", "sa", "ti", "vo", "we", "xo", "zu"};
  Words out;
  out.source = "simulated: 400 made-up words, their vectors two clouds in 25 columns (give a data folder for real words)";
  RandomStream random(seed);
  const Vector direction = random.normal_matrix(25, 1);
  out.table->vectors = random.normal_matrix(400, 25);
  for (std::size_t i = 0; i < 400; ++i) {
    const bool country = i < 150;
    out.table->words.push_back(parts[i / 16 % 16] + parts[i % 16] + (country ? "land" : "ness"));
    out.kinds.emplace_back(country ? "country" : "emotion");
    out.table->vectors.row(static_cast<Index>(i)) += (country ? -3 : 3) * direction.normalized();
  }
  return out;
}

Words load(const Setting& setting) {
  const auto file = data_file(setting, "words/countries_emotions_glove25.tsv");
  if (!file) return made_up(setting.seed);
  Words out;
  *out.table = read_word_table(*file);
  out.kinds = read_table(*file, {.header = false}).columns[0].text();
  out.source = fmt::format("words/countries_emotions_glove25.tsv: {} words, each with 25 numbers (GloVe)", out.kinds.size());
  return out;
}

struct Plane {
  Figure figure{};
  double separated = 0;  // share of the words that the best line in the plane has on their side
  double explained = 0;  // share of the variance
  std::string wrong{};   // the other words
};

Plane plane_of(const Words& words, const Kernel& kernel, const std::string& name, const Run& run) {
  const Samples samples = Samples::strings(words.table->words);
  const KernelPcaModel model = fit_kernel_pca(samples, {.kernel = kernel, .n_components = 2, .run = run});
  Matrix Z = model.transform(samples, run);
  Z /= std::sqrt(Z.squaredNorm() / static_cast<double>(Z.size()));  // of one size, so that the lines of all kernels have one C

  const std::vector<Index> kinds = encode_labels(words.kinds).indices;
  const LinearSvcModel model_line = fit_linear_svc(Z, kinds, {.loss = LinearSvcOptions::Loss::hinge, .C = 10, .run = run});
  const Vector side = model_line.decision(Z, run).col(0);
  Plane out;
  out.explained = model.explained_variance_ratio().sum();
  Index right = 0;
  for (Index i = 0; i < side.size(); ++i) {
    const auto word = static_cast<std::size_t>(i);
    if ((side[i] > 0) == (kinds[word] == 1)) {
      ++right;
    } else {
      out.wrong += (out.wrong.empty() ? "" : ", ") + words.table->words[word];
    }
  }
  out.separated = static_cast<double>(right) / static_cast<double>(side.size());

  // The line w'z + b = 0: from its point nearest to 0, as far along it as the words reach.
  const Eigen::Vector2d w = model_line.coef().row(0);
  const Eigen::Vector2d foot = -model_line.intercept()[0] / w.squaredNorm() * w;
  const Eigen::Vector2d along = Eigen::Vector2d(-w[1], w[0]).normalized();
  const Vector reach = Z * along;
  const Eigen::Vector2d from = foot + reach.minCoeff() * along;
  const Eigen::Vector2d to = foot + reach.maxCoeff() * along;
  FigureLayer named{.mark = Mark::text};  // every 30th word, so that they can be read
  const Index shown = (Z.rows() + 29) / 30;
  named.x.resize(shown);
  named.y.resize(shown);
  for (Index i = 0; i < shown; ++i) {
    named.x[i] = Z(30 * i, 0);
    named.y[i] = Z(30 * i, 1);
    named.words.push_back(words.table->words[static_cast<std::size_t>(30 * i)]);
  }
  out.figure = {
      .title = fmt::format("{} kernel: {:.1f} % on their side of the line", name, 100 * out.separated),
      .description = fmt::format("{} words in the plane of two kernel principal components, coloured by kind, and a line", side.size()),
      .x_title = "first component",
      .y_title = "second component",
      .layers = {figures::classes(Z, words.kinds, "kind"),
                 figures::line(Eigen::Vector2d(from[0], to[0]), Eigen::Vector2d(from[1], to[1]), "best line"), named}};
  return out;
}

}  // namespace

Experiment words_in_the_plane(const Setting& setting) {
  const Words words = load(setting);
  const double scale = median_distance(words.table->vectors);
  const Plane linear = plane_of(words, kernels::words("glove", words.table), "Linear", setting.run);
  const Plane gaussian = plane_of(words, kernels::words("glove", words.table, kernels::gaussian(scale)), "Gaussian", setting.run);

  Experiment out{.id = "E8", .title = "Countries and emotions part in the plane", .source = "D fig 3"};
  out.equation = "k(x, x′) = ⟨Φ(x), Φ(x′)⟩ of words x, x′;  zⱼ(x) = Σᵢ αⱼᵢ k̃(xᵢ, x),  |αⱼ|² = 1/(nλⱼ)";
  out.data = words.source;
  out.see =
      "Each word is a point of the plane of its first two kernel principal components, which were never told what is a country and "
      "what an emotion; a line parts the two kinds all the same.";
  out.figures = {linear.figure, gaussian.figure};
  const auto row = [](const std::string& name, const Plane& plane) {
    return std::vector<std::string>{name, fmt::format("{:.1f} %", 100 * plane.explained), fmt::format("{:.1f} %", 100 * plane.separated),
                                    plane.wrong.empty() ? "none" : plane.wrong};
  };
  out.tables = {{.caption = "The plane of each kernel",
                 .columns = {"kernel", "variance in the plane", "on their side of the line", "on the wrong side"},
                 .rows = {row("linear on the word vectors", linear), row(fmt::format("Gaussian, length scale {:.2f}", scale), gaussian)}}};
  out.numbers = {{"words", static_cast<double>(words.kinds.size())},
                 {"linear_separated", linear.separated},
                 {"gaussian_separated", gaussian.separated},
                 {"linear_explained_variance", linear.explained},
                 {"gaussian_explained_variance", gaussian.explained}};
  out.claims = {
      {fmt::format("linear kernel: a line in the plane has {:.1f} % of the words on their side, at least 98 %", 100 * linear.separated),
       linear.separated >= 0.98},
      {fmt::format("Gaussian kernel: {:.1f} %, at least 98 %", 100 * gaussian.separated), gaussian.separated >= 0.98}};
  out.notes = {
      "D calls the directions principal components; here these are the scores. D also leaves out that the Gram matrix must be "
      "centred, the eigenvectors scaled to |αⱼ|² = 1/(nλⱼ), and new words centred with the means of the training words."};
  out.program = "examples/gallery/e08_words.cpp";
  return out;
}

}  // namespace mercer::gallery
