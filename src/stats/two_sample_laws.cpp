// Nulls with a formula. Notation: N = n + m, H = I - 11'/N, K the pooled kernel matrix; (nm/N) MMD_b^2 -> sum lambda_i eta_i^2 and
// (nm/N) MMD_u^2 -> sum lambda_i (eta_i^2 - 1), lambda the eigenvalues of HKH / N (source K eq. 83 prints the first without its factor,
// SPEC S1; after eq. 88 it names another matrix, S2). SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <vector>

#include "linalg/blas.hpp"
#include "linalg/lapack.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "stats/mmd_spread.hpp"
#include "stats/pearson_curve.hpp"
#include "stats/quadratic_forms.hpp"
#include "stats/test_result.hpp"
#include "stats/two_sample_parts.hpp"

namespace mercer::stats {

namespace {

// nm / N: what a statistic is multiplied by to have a limit.
double multiplier(const Pooled& p) { return static_cast<double>(p.n) * static_cast<double>(p.m) / static_cast<double>(p.size()); }

// A statistic that cannot vary has no law to be compared with.
void no_spread(TestResult& result) {
  result.p_value = 1;
  result.remarks.emplace_back(
      "all kernel values are equal up to rounding: nothing can be told apart; where the rows differ but lie far from 0, subtract the "
      "column "
      "means");
}

Matrix pooled_gram(const Pooled& p, const char* null, const Run& run) {
  const auto count = static_cast<std::size_t>(p.size());
  require_memory(count * count * sizeof(double), run.memory, fmt::format("the {0} x {0} Gram matrix of null = {1}", p.size(), null),
                 "use null = permutation or gamma, which do not store it");
  return gram(p.kernel, p.rows, {.run = run});
}

// Sums of powers that the shape of the limit law takes: of A^2, A^3 and A^4 for a symmetric A without diagonal, over distinct rows.
struct PowerSums {
  double second = 0;
  double third = 0;
  double fourth = 0;
};
PowerSums power_sums(const Matrix& A, const Run& run) {
  const Index N = A.rows();
  const Index panels = block_count(N);
  Matrix parts = Matrix::Zero(panels, 4);
  with_run(run, [&] {
    Stage stage(run.progress, "Moments", static_cast<double>(panels));
    parallel_for(panels, [&](Index panel) {
      const Range rows = block_range(panel, N);
      Matrix product(rows.count, N);  // rows of A^2
      linalg::gemm_nt(rows.count, N, N, 1.0, A.data() + rows.begin * N, N, A.data(), N, 0.0, product.data(), N);
      const auto A_rows = A.middleRows(rows.begin, rows.count);
      parts(panel, 0) = A_rows.squaredNorm();
      parts(panel, 1) = A_rows.cwiseProduct(product).sum();
      parts(panel, 2) = product.squaredNorm();
      // Closed walks i j k l with i = k or j = l are not of distinct rows; those with both are counted twice.
      for (Index i = 0; i < rows.count; ++i) parts(panel, 3) += 2 * std::pow(product(i, rows.begin + i), 2);
      parts(panel, 3) -= A_rows.cwiseAbs2().squaredNorm();
      stage.advance(1);
    });
  });
  const Eigen::RowVector4d sums = parts.colwise().sum();
  return {sums[0], sums[1], sums[2] - sums[3]};
}

// Off-diagonal entries centred so that they sum to 0 in every row, diagonal 0: mmd-u sees no difference.
void centre_pairs(Matrix& K) {
  const auto N = static_cast<double>(K.rows());
  K.diagonal().setZero();
  const Vector r = K.rowwise().sum() / (N - 2);
  const double mean = r.sum() / (N - 1);
  K.rowwise() -= r.transpose();
  K.colwise() -= r;
  K.array() += mean;
  K.diagonal().setZero();
}

void centre(Matrix& K) {
  const auto N = static_cast<double>(K.rows());
  const Vector r = K.rowwise().sum() / N;
  const double mean = r.sum() / N;
  K.rowwise() -= r.transpose();
  K.colwise() -= r;
  K.array() += mean;
}

}  // namespace

double permutation_variance(double centred_squares, double n, double m) {
  const double N = n + m;
  return 2 * centred_squares * (1 / (n * (n - 1)) + 1 / (m * (m - 1)) + 2 / (n * m)) / (N * (N - 3));
}

void by_gamma(TestResult& result, const Pooled& pooled, const TwoSampleOptions& o) {
  const SampleSums sums = sample_sums(pooled, {}, o.run);
  const auto N = static_cast<double>(pooled.size());
  result.statistic = spread_of(pooled, sums, MmdStatistic::b, {}).squared;
  result.exact = false;
  result.description = "gamma law of the right mean and variance, level right up to the shape of the law";
  // tr(HKH) and |HKH|_F^2 of entries centred by the row means of K, one by one.
  const double squares = sums.squares + sums.diagonal.squaredNorm();
  require_no_overflow(std::isfinite(squares));
  const Vector r = (sums.against.rowwise().sum() + sums.diagonal) / N;
  const Vector centred_diagonal = (sums.diagonal - 2 * r).array() + r.mean();
  const double trace = centred_diagonal.sum();
  const double frobenius = centred_squares(pooled, r, r.mean(), o.run) + centred_diagonal.squaredNorm();
  const double mean = trace / N / multiplier(pooled);
  const double variance = 2 * frobenius / (N * N) / (multiplier(pooled) * multiplier(pooled));
  if (!(frobenius > 1e-24 * squares)) return no_spread(result);
  if (!(mean > 0))
    throw InvalidArgument(fmt::format(
        "null = gamma needs a positive semi-definite kernel, and {} is not on these rows; use null = permutation", pooled.kernel.text()));
  const boost::math::gamma_distribution<> law(mean * mean / variance, variance / mean);
  judge_by_law(
      result, [&](double x) { return boost::math::cdf(boost::math::complement(law, std::max(0.0, x))); },
      [&](double p) { return boost::math::quantile(law, p); });
  result.numbers.emplace_back("gamma shape", law.shape());
  result.numbers.emplace_back("gamma scale", law.scale());
}

void by_pearson(TestResult& result, const Pooled& pooled, const TwoSampleOptions& o) {
  if (pooled.size() < 5) throw InvalidArgument(fmt::format("null = pearson needs at least 5 rows in all, got {}", pooled.size()));
  result.statistic = spread_of(pooled, sample_sums(pooled, {}, o.run), MmdStatistic::u, {}).squared;
  result.exact = false;
  Matrix A = pooled_gram(pooled, "pearson", o.run);
  const double size = A.squaredNorm();
  require_no_overflow(std::isfinite(size));
  centre_pairs(A);
  const PowerSums sums = power_sums(A, o.run);
  if (!(sums.second > 1e-24 * size)) {
    result.description = "Pearson curve of four moments";
    return no_spread(result);
  }
  const double variance = permutation_variance(sums.second, static_cast<double>(pooled.n), static_cast<double>(pooled.m));
  // sum lambda (eta^2 - 1) has cumulants 2 s2, 8 s3 and 48 s4 for the sums s of powers of lambda.
  const double skewness = std::sqrt(8.0) * sums.third / std::pow(sums.second, 1.5);
  const double least = 3 + 1.5 * skewness * skewness;  // what sums of squares obey; an estimate may fall short of it
  const double kurtosis = std::max(least, 3 + 12 * sums.fourth / (sums.second * sums.second));
  const PearsonCurve curve(0, variance, skewness, kurtosis);
  judge_by_law(
      result, [&](double x) { return curve.upper_tail(x); }, [&](double p) { return curve.quantile(p); });
  result.description =
      fmt::format("Pearson curve of type {} by four moments: mean and variance of all permutations, skewness and kurtosis of the limit law",
                  curve.type());
  result.numbers.emplace_back("null deviation", std::sqrt(variance));
  result.numbers.emplace_back("null skewness", skewness);
  result.numbers.emplace_back("null kurtosis", kurtosis);
}

void by_spectrum(TestResult& result, const Pooled& pooled, MmdStatistic statistic, const TwoSampleOptions& o) {
  result.statistic = spread_of(pooled, sample_sums(pooled, {}, o.run), statistic, {}).squared;
  result.exact = false;
  Matrix K = pooled_gram(pooled, "spectral", o.run);
  const double size = K.norm();
  require_no_overflow(std::isfinite(size));
  centre(K);
  Vector lambda;
  with_run(o.run, [&] { lambda = linalg::symmetric_eigenvalues(std::move(K), o.run.progress); });
  const double largest = lambda.cwiseAbs().maxCoeff();
  result.description =
      fmt::format("{} draws of the limit law with the eigenvalues of the centred Gram matrix, level right in the limit", o.permutations);
  if (!(largest > 1e-12 * size)) return no_spread(result);
  std::vector<double> kept;  // largest first; the rest is rounding
  for (Index i = lambda.size(); i-- > 0;) {
    if (std::abs(lambda[i]) > 1e-12 * largest) kept.push_back(lambda[i] / static_cast<double>(pooled.size()) / multiplier(pooled));
  }
  const double centre_at = statistic == MmdStatistic::b ? 0 : 1;
  Vector null(o.permutations);
  with_run(o.run, [&] {
    Stage stage(o.run.progress, "Draws", static_cast<double>(o.permutations));
    parallel_for(o.permutations, [&](Index b) {
      RandomStream random(o.seed, static_cast<std::uint64_t>(b));
      double sum = 0;
      for (const double value : kept) {
        const double eta = random.normal();
        sum += value * (eta * eta - centre_at);
      }
      null[b] = sum;
      stage.advance(1);
    });
  });
  judge_by_exchanges(result, result.statistic, std::move(null), 0);
  result.numbers.emplace_back("eigenvalues", static_cast<double>(kept.size()));
}

void by_normal(TestResult& result, const Pooled& pooled, MmdStatistic statistic, const TwoSampleOptions& o) {
  const Vector values = block_values(pooled, statistic, o.block_size, o.run);
  const MeanOfBlocks mean = mean_of(values);
  result.statistic = mean.value;
  result.exact = false;
  result.description =
      fmt::format("normal law of the mean of {} independent {}, their variance estimated (Student's t), level right in the limit",
                  mean.blocks, statistic == MmdStatistic::linear ? "pairs" : "blocks");
  if (!(mean.deviation > 0)) return no_spread(result);
  const boost::math::students_t_distribution<> law(static_cast<double>(mean.blocks - 1));
  judge_by_law(
      result, [&](double x) { return boost::math::cdf(boost::math::complement(law, x / mean.deviation)); },
      [&](double p) { return mean.deviation * boost::math::quantile(law, p); });
  result.numbers.emplace_back("blocks", static_cast<double>(mean.blocks));
  result.numbers.emplace_back("deviation", mean.deviation);
}

void by_bound(TestResult& result, const Pooled& pooled, const TwoSampleOptions& o) {
  const Vector diagonal = gram_diagonal(pooled.kernel, pooled.rows);
  const double kappa = diagonal.maxCoeff();
  // The bound needs sup k(x, x) over all that could come up, not over these rows.
  if (pooled.kernel.is_bounded() != Verdict::yes || !(kappa - diagonal.minCoeff() <= 1e-12 * kappa))
    throw InvalidArgument(
        fmt::format("null = bound needs a bound of k(x, x) over all x, and that of {} is not known; use a kernel such as "
                    "gaussian, or kernel.normalized(), whose k(x, x) is 1",
                    pooled.kernel.text()));
  const SampleSums sums = sample_sums(pooled, {}, o.run);
  result.statistic = spread_of(pooled, sums, MmdStatistic::b, {}).squared;
  result.exact = false;
  const double unit = std::sqrt(kappa * (1 / static_cast<double>(pooled.n) + 1 / static_cast<double>(pooled.m)));
  const double threshold = unit * (1 + std::sqrt(2 * std::log(1 / o.level)));
  result.threshold = threshold * threshold;
  const double beyond = std::sqrt(result.statistic) / unit - 1;
  result.p_value = beyond > 0 ? std::exp(-beyond * beyond / 2) : 1;
  result.description =
      fmt::format("distribution-free bound with k(x, x) <= {:g}: the level is at most that named, and far below it", kappa);
  result.numbers.emplace_back("kappa", kappa);
}

}  // namespace mercer::stats
