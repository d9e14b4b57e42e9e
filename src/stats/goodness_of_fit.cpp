// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/goodness_of_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>

#include "kernels/node.hpp"
#include "linalg/triangular.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "stats/quadratic_forms.hpp"
#include "stats/stein.hpp"
#include "stats/test_result.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;
using stats::RadialKernel;
using stats::SteinSums;

constexpr double chunk_bytes = 2.5e8;  // of signs made at a time
constexpr Index few_rows = 30;

const char* name_of(KsdStatistic statistic) { return statistic == KsdStatistic::u ? "ksd-u" : "ksd-v"; }

Matrix checked_rows(const Samples& X, const GoodnessOfFitOptions& o) {
  stats::require_level(o.level);
  if (o.draws < 1) throw InvalidArgument(fmt::format("draws must be >= 1, got {}", o.draws));
  if (!(o.flip_probability > 0 && o.flip_probability <= 0.5))
    throw InvalidArgument(fmt::format("flip_probability must be above 0 and at most 1/2 (independent rows), got {}", o.flip_probability));
  if (X.is_given()) throw InvalidArgument("a test of goodness of fit needs rows of numbers, not a Gram matrix: scores are of rows");
  if (X.size() < 2) throw InvalidArgument(fmt::format("a test of goodness of fit needs at least 2 rows, got {}", X.size()));
  if (X.width() < 1) throw InvalidArgument("the rows have no columns");
  require_finite(X, "X");
  return X.to_dense();
}

TestResult begun(const Matrix& X, const GoodnessOfFitOptions& o, const Kernel& kernel) {
  TestResult result;
  result.test = "goodness of fit";
  result.statistic_name = name_of(o.statistic);
  result.level = o.level;
  result.kernels = {kernel.text()};
  result.n = X.rows();
  result.seed = o.seed;
  return result;
}

double chosen(const SteinSums& sums, KsdStatistic statistic) { return statistic == KsdStatistic::u ? sums.u : sums.v; }

// Signs of draw b: those of draw 0 are all 1, the observed statistic.
void fill_signs(double* signs, Index n, Index draw, const GoodnessOfFitOptions& o) {
  if (draw == 0) {
    std::fill(signs, signs + n, 1.0);
    return;
  }
  RandomStream random(o.seed, static_cast<std::uint64_t>(draw));
  double sign = random.below(2) == 1 ? 1 : -1;
  for (Index i = 0; i < n; ++i) {
    if (i > 0 && random.uniform() < o.flip_probability) sign = -sign;
    signs[i] = sign;
  }
}

// e'K_p e without its diagonal (u) or with it (v), for the observed rows and all draws.
Vector sign_sums(const Kernel& stein, const Matrix& rows_and_scores, const GoodnessOfFitOptions& o) {
  const Index n = rows_and_scores.rows();
  const Index count = o.draws + 1;
  const Index chunk = std::clamp<Index>(static_cast<Index>(chunk_bytes / (8.0 * static_cast<double>(n))), 1, count);
  require_memory(static_cast<std::size_t>(n) * static_cast<std::size_t>(chunk) * sizeof(double), o.run.memory, "the signs of the draws",
                 "use fewer rows");
  const PreparedFamily<double> family({stein}, Samples(rows_and_scores));
  const auto diagonal = o.statistic == KsdStatistic::u ? stats::Diagonal::left_out : stats::Diagonal::whole;
  Vector out(count);
  for (Index first = 0; first < count; first += chunk) {
    const Index some = std::min(chunk, count - first);
    Matrix V(some, n);
    for (Index b = 0; b < some; ++b) fill_signs(V.row(b).data(), n, first + b, o);
    out.segment(first, some) = stats::quadratic_forms<double>(family, V, diagonal, o.run).col(0);
  }
  return out;
}

// The statistics of draws that are samples of their own; `sample_sums(random)` makes one.
Vector bootstrap(Index draws, const GoodnessOfFitOptions& o, const std::function<SteinSums(RandomStream&)>& sample_sums) {
  Vector null(draws);
  Stage stage(o.run.progress, "Parametric bootstrap", static_cast<double>(draws));
  parallel_for(draws, [&](Index b) {
    RandomStream random(o.seed, static_cast<std::uint64_t>(b) + 1);
    null[b] = chosen(sample_sums(random), o.statistic);
    stage.advance(1);
  });
  return null;
}

SteinSums sums_of(const RadialKernel& k, const Matrix& X, const Distribution& p) {
  const Matrix scores = p.scores(X);
  return stats::stein_sums(k, X.rowwise() - X.colwise().mean(), scores);
}

void judge(TestResult& result, const SteinSums& sums, const GoodnessOfFitOptions& o, Vector null) {
  if (!std::isfinite(sums.u) || !std::isfinite(sums.v) || !null.allFinite())
    throw InvalidArgument("values of the Stein kernel overflow; scale the data and the distribution");
  result.statistic = chosen(sums, o.statistic);
  result.numbers.emplace_back("ksd-u", sums.u);
  result.numbers.emplace_back("ksd-v", sums.v);
  stats::judge_by_exchanges(result, result.statistic, std::move(null), 1e-12 * sums.size);
}

Kernel with_scale(const Kernel& kernel, double scale) {
  return with_length_scales(kernel, [&](Reduction, std::span<const ColumnRef>) { return scale; });
}

// (X - mean) L^-T with L L' the covariance; empty where that is singular. Columns are scaled first, so that units do not matter.
Matrix whitened(const Matrix& X) {
  const auto n = static_cast<double>(X.rows());
  Matrix Y = X.rowwise() - X.colwise().mean();
  for (Index j = 0; j < Y.cols(); ++j) {
    const double size = Y.col(j).norm() / std::sqrt(n);
    if (!(size > 1e-13 * X.col(j).cwiseAbs().maxCoeff())) return {};
    Y.col(j) /= size;
  }
  const std::optional<Matrix> L = linalg::cholesky_lower(Y.transpose() * Y / n, 0, {});
  if (!L || !(L->diagonal().minCoeff() > 1e-6)) return {};
  linalg::solve_right_lower_transposed(*L, Y);
  return Y;
}

SteinSums standard_sums(const RadialKernel& k, const Matrix& whitened_rows) { return stats::stein_sums(k, whitened_rows, -whitened_rows); }

}  // namespace

TestResult goodness_of_fit_test(const Samples& samples, const Distribution& p, const GoodnessOfFitOptions& options) {
  const auto start = Clock::now();
  const Matrix X = checked_rows(samples, options);
  TestResult result;
  with_run(options.run, [&] {
    const Kernel kernel = resolve(options.kernel, samples);
    const RadialKernel radial = stats::radial_of(kernel);
    result = begun(X, options, kernel);
    const Index n = X.rows();
    const Index d = X.cols();
    Matrix both(n, 2 * d);
    both.leftCols(d) = X.rowwise() - X.colwise().mean();
    both.rightCols(d) = p.scores(X);
    const Vector sums = sign_sums(stats::stein_kernel(radial, d), both, options);
    // k_p(x, x) = |s(x)|^2 f(0) - 2 d f'(0)
    const double trace = both.rightCols(d).squaredNorm() - 2 * static_cast<double>(n * d) * radial.slope_at_zero();
    const auto rows = static_cast<double>(n);
    const bool u = options.statistic == KsdStatistic::u;
    const double off_diagonal = u ? sums[0] : sums[0] - trace;
    const SteinSums observed{off_diagonal / (rows * (rows - 1)), (off_diagonal + trace) / (rows * rows), trace / rows};
    judge(result, observed, options, sums.tail(options.draws) / (u ? rows * (rows - 1) : rows * rows));
  });
  result.method = "wild";
  result.description =
      options.flip_probability == 0.5
          ? fmt::format("wild bootstrap, {} draws of random signs, asymptotic level", options.draws)
          : fmt::format("wild bootstrap, {} draws of signs that change with probability {:g} from row to row, asymptotic level",
                        options.draws, options.flip_probability);
  if (X.rows() < few_rows)
    result.remarks.push_back(fmt::format("the level of the wild bootstrap is asymptotic, and {} rows are few", X.rows()));
  if (p.is_mixture())
    result.remarks.push_back("where components lie far apart, scores hardly depend on their weights: wrong weights may go unseen");
  stats::conclude(result, "the sample is not from " + p.name(), "no departure from " + p.name() + " found", start);
  return result;
}

TestResult fitted_goodness_of_fit_test(const Samples& samples, const DistributionFit& fit, const GoodnessOfFitOptions& options) {
  const auto start = Clock::now();
  const Matrix X = checked_rows(samples, options);
  if (!fit) throw InvalidArgument("a test with fitted parameters needs a function that fits them");
  if (options.flip_probability != 0.5)
    throw InvalidArgument("the parametric bootstrap is for independent rows; flip_probability goes with a given distribution");
  TestResult result;
  std::string name;
  with_run(options.run, [&] {
    const Kernel kernel = resolve(options.kernel, samples);
    const RadialKernel radial = stats::radial_of(kernel);
    result = begun(X, options, kernel);
    const Distribution p = fit(X);
    name = p.name();
    const SteinSums observed = sums_of(radial, X, p);
    judge(result, observed, options, bootstrap(options.draws, options, [&](RandomStream& random) {
            const Matrix drawn = p.sample(X.rows(), random, X.cols());
            return sums_of(radial, drawn, fit(drawn));
          }));
  });
  result.method = "parametric";
  result.description =
      fmt::format("parametric bootstrap, {} samples from the fitted distribution, fitted again; asymptotic level", options.draws);
  stats::conclude(result, "the sample is not from " + name + ", whatever its parameters", "no departure from " + name + " found", start);
  return result;
}

TestResult normality_test(const Samples& samples, const GoodnessOfFitOptions& options) {
  const auto start = Clock::now();
  const Matrix X = checked_rows(samples, options);
  const Index n = X.rows();
  const Index d = X.cols();
  if (options.flip_probability != 0.5)
    throw InvalidArgument("the test of normality is for independent rows; flip_probability goes with a given distribution");
  if (n < d + 2) throw InvalidArgument(fmt::format("a test of normality of {} columns needs at least {} rows, got {}", d, d + 2, n));
  TestResult result;
  with_run(options.run, [&] {
    const double typical = std::sqrt(2 * boost::math::quantile(boost::math::chi_squared(static_cast<double>(d)), 0.5));
    const Kernel kernel = with_scale(options.kernel, typical);
    const RadialKernel radial = stats::radial_of(kernel);
    result = begun(X, options, kernel);
    const Matrix Y = whitened(X);
    if (Y.size() == 0)
      throw InvalidArgument("the covariance of the rows is singular: a column is constant, or determined by the others; leave it out");
    const SteinSums observed = standard_sums(radial, Y);
    judge(result, observed, options, bootstrap(options.draws, options, [&](RandomStream& random) {
            const Matrix drawn = whitened(random.normal_matrix(n, d));
            if (drawn.size() == 0) throw InvalidArgument("too few rows for their covariance; use more rows, or fewer columns");
            return standard_sums(radial, drawn);
          }));
  });
  result.test = "normality";
  result.method = "parametric";
  result.exact = true;
  result.description = fmt::format("{} normal samples, fitted and whitened as the rows were, exact level", options.draws);
  stats::conclude(result, "the sample is not normal", "no departure from normality found", start);
  return result;
}

}  // namespace mercer
