// E5: three shapes of dependence, and the p-values that HSIC, Spearman's rho and Kendall's tau give them. Source K, section 5.3, figure 11.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gallery.hpp"

namespace mercer::gallery {

namespace {

constexpr Index n = 100, repetitions = 100;

struct Shape {
  std::string name, word;
  simulate::Pair (*draw)(Index n, std::uint64_t seed);
};

const Shape shapes[] = {{"y = x³ + 0.2 ε", "cubic", &simulate::cubic},
                        {"y = cos 2πx + 0.3 ε", "cosine", &simulate::cosine},
                        {"unit circle + 0.1 ε", "circle", &simulate::noisy_circle}};

const char* const tests[] = {"HSIC", "Spearman's rho", "Kendall's tau"};
const char* const test_words[] = {"hsic", "spearman", "kendall"};

// One row of p-values for each sample, one column for each test.
Matrix p_values(const Shape& shape, const Setting& setting) {
  Matrix p(repetitions, 3);
  for (Index r = 0; r < repetitions; ++r) {
    const std::uint64_t seed = 1000 * setting.seed + static_cast<std::uint64_t>(r);
    const simulate::Pair data = shape.draw(n, seed);
    IndependenceOptions options;
    options.seed = seed;
    options.run = setting.run;
    p(r, 0) = independence_test(data.x, data.y, options).p_value;
    p(r, 1) = correlation_test(data.x.col(0), data.y.col(0), Correlation::spearman).p_value;
    p(r, 2) = correlation_test(data.x.col(0), data.y.col(0), Correlation::kendall).p_value;
  }
  return p;
}

// The largest distance between the distribution of the values and the uniform one (Kolmogorov and Smirnov).
double distance_from_uniform(Vector values) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  double largest = 0;
  for (Index i = 0; i < values.size(); ++i) {
    const double before = static_cast<double>(i) / count, after = static_cast<double>(i + 1) / count;
    largest = std::max({largest, values[i] - before, after - values[i]});
  }
  return largest;
}

double median(Vector values) {
  std::sort(values.begin(), values.end());
  const Index half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

Experiment dependence_shapes(const Setting& setting) {
  Experiment e{.id = "E5", .title = "HSIC sees what ranks do not", .source = "K section 5.3, figure 11"};
  e.equation = "HSIC = tr(K H L H) / n²,  p = (1 + #{null ≥ HSIC}) / (1 + B),  B = 1000 permutations";
  e.data = fmt::format("simulated: {} samples of {} points of each of three shapes", repetitions, n);
  e.see =
      "Of the rising curve all tests are sure. On the wave and on the circle ranks go up as often as down: rank tests see nothing there, "
      "and HSIC does.";
  ExperimentTable table{fmt::format("p-values over {} samples", repetitions), {"shape", "test", "median", "largest", "share ≤ 0.05"}, {}};
  Matrix p[3];
  for (std::size_t s = 0; s < 3; ++s) {
    p[s] = p_values(shapes[s], setting);
    const simulate::Pair drawn = shapes[s].draw(n, 1000 * setting.seed);
    Figure data{.title = shapes[s].name, .x_title = "x", .y_title = "y", .height = 220};
    data.description = fmt::format("{} points of the shape {}.", n, shapes[s].name);
    data.layers = {figures::points(drawn.x.col(0), drawn.y.col(0))};
    Figure distribution{
        .title = fmt::format("p-values: {}", shapes[s].name), .x_title = "p-value", .y_title = "share at or below", .height = 220};
    distribution.description = "Empirical distribution functions of the p-values of three tests; the diagonal is that of independence.";
    const Vector ends = Vector::LinSpaced(2, 0, 1);
    FigureLayer diagonal = figures::dashed_line(ends, ends, "uniform");
    diagonal.soft = true;
    distribution.layers.push_back(diagonal);
    for (Index t = 0; t < 3; ++t) {
      const Vector values = p[s].col(t);
      distribution.layers.push_back(figures::distribution(values, tests[t]));
      const double rejected = (values.array() <= 0.05).cast<double>().mean();
      table.rows.push_back({shapes[s].name, tests[t], fmt::format("{:.3f}", median(values)), fmt::format("{:.3g}", values.maxCoeff()),
                            fmt::format("{:.2f}", rejected)});
      e.numbers.emplace_back(fmt::format("max_p_{}_{}", shapes[s].word, test_words[t]), values.maxCoeff());
      e.numbers.emplace_back(fmt::format("share_below_5_percent_{}_{}", shapes[s].word, test_words[t]), rejected);
    }
    e.figures.push_back(data);
    e.figures.push_back(distribution);
  }
  e.tables.push_back(table);

  const double cubic = p[0].maxCoeff(), cosine = p[1].col(0).maxCoeff(), circle = p[2].col(0).maxCoeff();
  const double within = (p[1].col(0).array() <= 0.18).cast<double>().mean();
  const double uniform = std::max(distance_from_uniform(p[1].col(1)), distance_from_uniform(p[1].col(2)));
  const double critical = 1.63 / std::sqrt(static_cast<double>(repetitions));  // at 1 %
  const double ranks = std::min(median(p[2].col(1)), median(p[2].col(2)));
  e.numbers.emplace_back("distance_from_uniform_cosine", uniform);
  e.claims = {
      {fmt::format("cubic: every p-value of all three tests is at most {:.4f}", cubic), cubic < 0.01},
      {fmt::format("cosine: {:.0f} % of HSIC's p-values are at most the source's 0.18, the largest is {:.3f}", 100 * within, cosine),
       within >= 0.98},
      {fmt::format("cosine: rank tests give p-values like those of independence: {:.3f} from uniform, {:.3f} would be too far at 1 %",
                   uniform, critical),
       uniform < critical},
      {fmt::format("circle: every p-value of HSIC is at most {:.4f}", circle), circle < 0.05},
      {fmt::format("circle: rank tests do worse than by chance, their median p-values are {:.2f} and more", ranks), ranks > 0.5}};
  e.notes = {
      "HSIC is K (91), with 1/n²; K (90) is the same number with 1/n⁴ in place of the printed 1/n. Kernels: Gaussian, the median distance "
      "divided by √2."};
  e.program = "examples/gallery/e05_dependence.cpp";
  return e;
}

}  // namespace mercer::gallery
