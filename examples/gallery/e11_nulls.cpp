// E11: what n MMD² is when both samples come from one law, by every method that a test can use, against permutations and fresh samples.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "gallery.hpp"

namespace mercer::gallery {

namespace {

const std::vector<double> levels = {0.9, 0.95, 0.99};

// The quantiles of n MMD_b² that a method says.
struct Law {
  std::string name{};
  Vector values{};      // draws, or quantiles at even steps, ascending
  Vector at_levels{};   // one for each of `levels`
  bool is_law = false;  // a formula that stands for permutations
};

double quantile(const Vector& values, double p) {                     // of ascending ones
  const double place = p * static_cast<double>(values.size()) - 0.5;  // the i-th of n is the quantile at (i + 1/2) / n
  const Index low = std::clamp<Index>(static_cast<Index>(std::floor(place)), 0, values.size() - 2);
  return values[low] + std::clamp(place - static_cast<double>(low), 0.0, 1.0) * (values[low + 1] - values[low]);
}

Law law_of(const std::string& name, Vector values, bool is_law) {
  std::sort(values.begin(), values.end());
  Law law{.name = name, .values = values, .at_levels = Vector(static_cast<Index>(levels.size())), .is_law = is_law};
  for (std::size_t i = 0; i < levels.size(); ++i) law.at_levels[static_cast<Index>(i)] = quantile(law.values, levels[i]);
  return law;
}

}  // namespace

Experiment null_distributions(const Setting& setting) {
  const Index n = 200;  // rows of each sample
  const Index draws = 20000;
  const Index fresh_pairs = setting.quick ? 4000 : 20000;
  const auto size = static_cast<double>(n);
  const Kernel kernel = kernels::gaussian(1.0);
  const Matrix X = RandomStream(setting.seed, 1).normal_matrix(n, 1), Y = RandomStream(setting.seed, 2).normal_matrix(n, 1);
  const auto test = [&](MmdStatistic statistic, MmdNull null, double level = 0.05) {
    TwoSampleOptions options;
    options.kernel = kernel;
    options.statistic = statistic;
    options.null = null;
    options.permutations = draws;
    options.level = level;
    options.seed = setting.seed;
    options.run = setting.run;
    return two_sample_test(X, Y, options);
  };

  // The truth, which only a simulation has: other samples of the same law, again and again.
  Vector fresh(fresh_pairs);
  with_run(setting.run, [&] {
    parallel_for(fresh_pairs, [&](Index i) {
      RandomStream random(setting.seed, 100 + static_cast<std::uint64_t>(i));
      const Matrix A = random.normal_matrix(n, 1), B = random.normal_matrix(n, 1);
      fresh[i] = size * mmd(A, B, {.kernel = kernel, .statistic = MmdStatistic::b}).squared;
    });
  });
  std::vector<Law> laws = {law_of("fresh samples", fresh, false),
                           law_of("permutation", size * test(MmdStatistic::b, MmdNull::permutation).null, false),
                           law_of("permutation of bins", size * test(MmdStatistic::b, MmdNull::binned).null, false),
                           law_of("random signs", size * test(MmdStatistic::b, MmdNull::wild).null, false),
                           law_of("spectrum", size * test(MmdStatistic::b, MmdNull::spectral).null, true),
                           law_of("gamma", size * test(MmdStatistic::b, MmdNull::gamma).null, true)};
  const Law permuted = laws[1];
  // Pearson's curve is a law of MMD_u², whose mean is 0; MMD_b² has the mean of the permutations.
  const Vector pearson = size * test(MmdStatistic::u, MmdNull::pearson).null;
  laws.push_back(law_of("Pearson curve", pearson.array() + permuted.values.mean(), true));
  // (83) as printed lacks the factor 2.
  laws.push_back(law_of("limit as K prints it", 0.5 * laws[4].values, false));
  Law bound{.name = "uniform bound", .at_levels = Vector(3)};  // has thresholds, no distribution
  for (Index i = 0; i < 3; ++i)
    bound.at_levels[i] = size * test(MmdStatistic::b, MmdNull::bound, 1 - levels[static_cast<std::size_t>(i)]).threshold;
  laws.push_back(bound);

  Experiment out{.id = "E11", .title = "Null distributions of n MMD²", .source = "K Th. 6, (83) to (88); L Th. 6-7"};
  out.equation = "P_X = P_Y:  n MMD_b² → 2 Σᵢ λᵢ ηᵢ²,  n MMD_u² → 2 Σᵢ λᵢ (ηᵢ² − 1),  ηᵢ ~ N(0, 1),  λᵢ the eigenvalues of HKH / (2n)";
  out.data = fmt::format("simulated: two samples of {} rows of N(0, 1), kernel {}", n, kernel.text());
  out.see =
      "The spectrum, Pearson's curve and gamma lie near the permutations; bins and signs exchange other things and have laws of their own, "
      "with the same limit. The uniform bound is far to the right: it never rejects too often, and seldom at all.";
  Figure curves{.title = "Distribution functions by method",
                .description = "the distribution function of n times the biased squared MMD, by every method",
                .x_title = "n MMD_b²",
                .y_title = "probability"};
  const Vector steps = Vector::LinSpaced(199, 0.005, 0.995);
  for (const Law& law : laws) {
    if (law.values.size() == 0) continue;
    const Vector at = steps.unaryExpr([&](double p) { return quantile(law.values, p); });
    FigureLayer line = figures::line(at, steps, law.name);
    line.dashed = !law.is_law;
    curves.layers.push_back(line);
  }
  out.figures = {curves,
                 {.title = "Quantiles over those of the permutations",
                  .description = "for each method but the bound its quantiles at 0.9, 0.95 and 0.99 divided by those of the permutations",
                  .x_title = "method",
                  .y_title = "ratio",
                  .from_zero = true}};
  out.tables = {{.caption = fmt::format("Quantiles of n MMD_b² ({} permutations and draws, {} pairs of fresh samples)", draws, fresh_pairs),
                 .columns = {"method", "0.9", "0.95", "0.99", "fresh samples above the 0.95 quantile"}}};
  double worst = 0, worst_share = 0;
  std::string worst_name;
  for (const Law& law : laws) {
    const double share = (fresh.array() > law.at_levels[1]).cast<double>().mean();
    out.tables[0].rows.push_back({law.name, fmt::format("{:.3f}", law.at_levels[0]), fmt::format("{:.3f}", law.at_levels[1]),
                                  fmt::format("{:.3f}", law.at_levels[2]), fmt::format("{:.1f} %", 100 * share)});
    std::string word = law.name;
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return c == ' ' ? '_' : static_cast<char>(std::tolower(c)); });
    for (std::size_t i = 0; i < levels.size(); ++i)
      out.numbers.emplace_back(fmt::format("{}_{:g}", word, 100 * levels[i]), law.at_levels[static_cast<Index>(i)]);
    out.numbers.emplace_back(word + "_level", share);
    if (!law.is_law) continue;
    worst_share = std::max(worst_share, std::abs(share - 0.05));
    const double off = (law.at_levels.head(2).array() / permuted.at_levels.head(2).array() - 1).abs().maxCoeff();
    if (off > worst) worst = off, worst_name = law.name;
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    FigureLayer bars{.mark = Mark::named, .name = fmt::format("{:g}", levels[i]), .y = Vector(static_cast<Index>(laws.size()) - 1)};
    const auto level = static_cast<Index>(i);
    for (std::size_t l = 0; l + 1 < laws.size(); ++l) {  // without the bound, which is ten times as high
      bars.words.push_back(laws[l].name);
      bars.y[static_cast<Index>(l)] = laws[l].at_levels[level] / permuted.at_levels[level];
    }
    out.figures[1].layers.push_back(bars);
  }
  const double truth = laws[0].at_levels[1], printed = laws[7].at_levels[1];
  const double rejected = (fresh.array() > printed).cast<double>().mean();
  out.claims = {
      {fmt::format("permutations have the 0.95 quantile of fresh samples: {:.3f} against {:.3f}, within 10 %", permuted.at_levels[1],
                   truth),
       std::abs(permuted.at_levels[1] / truth - 1) < 0.1},
      {fmt::format(
           "spectrum, gamma and Pearson curve have the 0.9 and 0.95 quantiles of the permutations within 10 %: at worst {:.1f} % off ({})",
           100 * worst, worst_name),
       worst < 0.1},
      {fmt::format("a test at 5 % by any of these three rejects fresh samples in 5 % of cases within 2 points: at worst {:.1f} points off",
                   100 * worst_share),
       worst_share < 0.02},
      {fmt::format("K (83) as printed rejects them in {:.0f} %: its 0.95 quantile is {:.3f}", 100 * rejected, printed), rejected > 0.15},
      {fmt::format("the bound is above the permutations at every level: {:.2f} against {:.2f} at 0.95", bound.at_levels[1],
                   permuted.at_levels[1]),
       (bound.at_levels.array() > permuted.at_levels.array()).all()}};
  out.notes = {
      "K (83) prints n MMD_b² → Σ λᵢ ηᵢ²: the factor 2 is lacking, as (84) and L (3) show; nm/(n + m) MMD_b² → Σ λᵢ ηᵢ² in general.",
      "K after (88) takes the eigenvalues of k(xᵢ, yⱼ): they are those of HKH of the pooled sample divided by its rows, n + m.",
      "K (88) is of the moments of MMD_b², not of MMD_b."};
  if (setting.quick) out.notes.push_back(fmt::format("Quick run: {} pairs of fresh samples (else 20000).", fresh_pairs));
  out.program = "examples/gallery/e11_nulls.cpp";
  return out;
}

}  // namespace mercer::gallery
