// SPDX-License-Identifier: BSD-3-Clause
#include "stats/mmd_features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gram/pivoted_cholesky.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random_features.hpp"

namespace mercer::stats {

namespace {

constexpr Index usual_features = 1000;
constexpr Index chunk_rows = 4096;
constexpr double normal_975 = 1.959963984540054;

// Weighted sums over a sample of the features, and of the squares of the weighted features: what u leaves out.
struct Moments {
  Vector sums{};
  Vector squares{};
  double total = 0;          // of the weights
  double total_squares = 0;  // of their squares
};

void add_rows(Moments& to, const MatrixRef& Z, const Eigen::Ref<const Vector>& w) {
  if (to.sums.size() == 0) to.sums = to.squares = Vector::Zero(Z.cols());
  to.sums += Z.transpose() * w;
  to.squares += Z.cwiseAbs2().transpose() * w.cwiseAbs2();
  to.total += w.sum();
  to.total_squares += w.squaredNorm();
}

// What each feature contributes; their sum is the statistic.
Vector contributions(MmdStatistic statistic, const Moments& x, const Moments& y) {
  if (statistic == MmdStatistic::b) return (x.sums / x.total - y.sums / y.total).cwiseAbs2();
  const auto within = [](const Moments& s) -> Vector { return (s.sums.cwiseAbs2() - s.squares) / (s.total * s.total - s.total_squares); };
  return within(x) + within(y) - 2 * x.sums.cwiseProduct(y.sums) / (x.total * y.total);
}

FeatureEstimate by_random_features(const Pooled& p, MmdStatistic statistic, const Vector& w, const MmdOptions& o) {
  if (p.rows.is_given()) throw InvalidArgument("random features need columns, but a given Gram matrix has none; use method = nystrom");
  const Index columns = o.features > 0 ? o.features : usual_features;
  if (columns < 4) throw InvalidArgument(fmt::format("features must be at least 4, got {}", columns));
  const RandomFourierFeatures map = random_fourier_features(p.kernel, p.rows.width(),
                                                            {.n_components = columns,
                                                             .form = columns % 2 == 0 ? FourierForm::sine_cosine : FourierForm::cosine,
                                                             .seed = o.seed,
                                                             .memory = o.run.memory});
  Moments x;
  Moments y;
  const auto add = [&](Moments& to, Index begin, Index count) {
    p.rows.slice(begin, count).for_each_chunk(chunk_rows, [&](const Samples& chunk, Index first) {
      add_rows(to, map.transform(chunk, o.run), w.segment(begin + first, chunk.size()));
    });
  };
  add(x, 0, p.n);
  add(y, p.n, p.m);
  const Vector each = contributions(statistic, x, y);
  // Sine and cosine of a frequency belong together.
  const Index draws = map.n_frequencies();
  const Vector per_draw = draws == each.size() ? each : Vector(each.head(draws) + each.tail(draws));
  const auto count = static_cast<double>(draws);
  const double variance = (per_draw.array() - per_draw.mean()).square().sum() / (count - 1);
  FeatureEstimate out;
  out.squared = each.sum();
  out.error = normal_975 * std::sqrt(variance * count);  // of a sum of `draws` independent terms
  out.statement =
      fmt::format("by {} random features: within {:.2g} of the exact statistic for 95 % of all draws of the features", columns, out.error);
  return out;
}

FeatureEstimate by_nystrom(const Pooled& p, MmdStatistic statistic, const Vector& w, const MmdOptions& o) {
  const Index rank = std::min(o.features > 0 ? o.features : usual_features, p.size());
  PivotedCholeskyOptions options{.rank = rank, .tolerance = 1e-14, .seed = o.seed, .progress = o.run.progress};
  PivotedCholesky factor;
  with_run(o.run, [&] { factor = pivoted_cholesky(p.kernel, p.rows, options, o.run.memory); });
  Moments x;
  Moments y;
  add_rows(x, factor.factor.topRows(p.n), w.head(p.n));
  add_rows(y, factor.factor.bottomRows(p.m), w.tail(p.m));
  FeatureEstimate out;
  out.squared = contributions(statistic, x, y).sum();
  const double left = std::max(0.0, factor.trace_error);
  if (statistic == MmdStatistic::b) {
    out.error = left * (x.total_squares / (x.total * x.total) + y.total_squares / (y.total * y.total));
    out.statement = fmt::format("by {} Nystrom features: at most {:.2g} below the exact statistic", factor.pivots.size(), out.error);
    return out;
  }
  const double norms = std::sqrt(x.total_squares * y.total_squares);
  out.error = left * (x.total_squares / (x.total * x.total - x.total_squares) + y.total_squares / (y.total * y.total - y.total_squares) +
                      2 * norms / (x.total * y.total));
  out.statement = fmt::format("by {} Nystrom features: within {:.2g} of the exact statistic", factor.pivots.size(), out.error);
  return out;
}

}  // namespace

FeatureEstimate mmd_by_features(const Pooled& pooled, MmdStatistic statistic, const Vector& weights, const MmdOptions& options) {
  if (options.features < 0)
    throw InvalidArgument(fmt::format("features must be >= 1, or 0 for {}, got {}", usual_features, options.features));
  const Vector w = weights.size() > 0 ? weights : Vector::Ones(pooled.size());
  return options.method == MmdMethod::nystrom ? by_nystrom(pooled, statistic, w, options)
                                              : by_random_features(pooled, statistic, w, options);
}

}  // namespace mercer::stats
