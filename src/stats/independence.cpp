// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/gamma.hpp>
#include <chrono>
#include <cmath>

#include "kernels/node.hpp"
#include "linalg/lapack.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "stats/hsic_sums.hpp"
#include "stats/independence_laws.hpp"
#include "stats/test_result.hpp"

namespace mercer {

const char* name_of(IndependenceNull null) {
  switch (null) {
    case IndependenceNull::permutation:
      return "permutation";
    case IndependenceNull::gamma:
      return "gamma";
    case IndependenceNull::spectral:
      return "spectral";
  }
  return "";
}

namespace stats {

namespace {

void remark_on_constant(TestResult& result) {
  result.remarks.emplace_back("a variable does not vary beyond the rounding of its kernel values: nothing can be seen to depend on it");
}

}  // namespace

void judge_by_gamma(TestResult& result, double mean, double variance) {
  if (!(mean > 0 && variance > 0)) {
    result.p_value = 1;
    return remark_on_constant(result);
  }
  const double shape = mean * mean / variance;
  const double scale = variance / mean;
  const boost::math::gamma_distribution<double> law(shape, scale);
  judge_by_law(
      result, [&](double t) { return t <= 0 ? 1.0 : boost::math::cdf(boost::math::complement(law, t)); },
      [&](double q) { return boost::math::quantile(law, q); });
  result.numbers.emplace_back("gamma shape", shape);
  result.numbers.emplace_back("gamma scale", scale);
}

namespace {

constexpr Index drawn_products = 4096;  // of eigenvalues; the smaller ones are many, and their sum is drawn as one number

// Every order but the identity, in lexicographic order.
std::vector<std::vector<Index>> all_orders(Index n) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
  std::vector<std::vector<Index>> out;
  while (std::next_permutation(order.begin(), order.end())) out.push_back(order);
  return out;
}

bool few_orders(Index n, const IndependenceOptions& o) {
  return o.exchange.scheme == Exchange::free &&
         std::lgamma(static_cast<double>(n) + 1) <= std::log(static_cast<double>(o.permutations) + 1.5);
}

void judge_by_permutations(TestResult& result, const HsicPair& pair, const IndependenceOptions& o) {
  const Index n = pair.size();
  const Exchanges exchanges(n, n, o.exchange, o.seed);
  require_memory(static_cast<std::size_t>(HalfGram::bytes(n) + FullGram::bytes(n) + Permutations::bytes(n, o.permutations)), o.run.memory,
                 fmt::format("the two Gram matrices of {} rows and {} permutations", n, o.permutations),
                 "null=gamma needs no matrix, fewer permutations need less");
  std::vector<HalfGram> K;
  std::vector<FullGram> L;
  K.push_back(pair.empty_x());
  L.push_back(pair.empty_y());
  const HsicSums sums = pair.sums(o.run, K.data(), L.data());
  result.statistic = sums.products / pair.divisor();
  result.numbers.emplace_back("correlation", correlation_of(sums));
  const bool all = few_orders(n, o);
  const Permutations permutations = all ? Permutations(n, all_orders(n)) : Permutations(exchanges, o.permutations, o.run);
  if (sums.squares_x == 0 || sums.squares_y == 0) {
    remark_on_constant(result);
    judge_by_exchanges(result, 0, Vector::Zero(permutations.count() - 1), 0);
  } else {
    const Vector found = permuted_products(K, L, permutations, o.run).col(0) / pair.divisor();
    const double scale = std::sqrt(sums.squares_x) * std::sqrt(sums.squares_y) / pair.divisor();
    judge_by_exchanges(result, found[0], found.tail(found.size() - 1), tie_tolerance(scale));
  }
  if (!all) remark_on_exchanges(result, exchanges.log_count());
  const bool series = o.exchange.scheme == Exchange::blocks || o.exchange.scheme == Exchange::shifts;
  result.exact = !series;
  result.description = fmt::format("{} of the rows of Y, {}",
                                   all ? fmt::format("all {} permutations", permutations.count()) : exchanges.describe(o.permutations),
                                   series ? "level approximate" : "exact level");
}

// SPEC: n HSIC_b has mean tr(HKH) tr(HLH) / n^2 and variance 2 |HKH|^2 |HLH|^2 / n^4, whatever the kernels' diagonals.
void judge_by_moments(TestResult& result, const HsicPair& pair, const IndependenceOptions& o) {
  const HsicSums sums = pair.sums(o.run);
  const auto n = static_cast<double>(pair.size());
  result.statistic = sums.products / pair.divisor();
  result.numbers.emplace_back("correlation", correlation_of(sums));
  judge_by_gamma(result, sums.trace_x * sums.trace_y / (n * n * n), 2 * sums.squares_x * sums.squares_y / std::pow(n, 6));
  result.description = "gamma law of the same mean and variance, level approximate";
}

// The eigenvalues of HKH / n above rounding, largest first.
Vector spectrum(const Kernel& kernel, const Samples& X, const Run& run) {
  Matrix K = gram(kernel, X, {.run = run});
  const Index n = K.rows();
  const Vector means = K.rowwise().mean();
  const double mean = means.mean();
  K.colwise() -= means;
  K.rowwise() -= means.transpose();
  K.array() += mean;
  Vector values;
  with_run(run, [&] { values = linalg::symmetric_eigen(std::move(K), run.progress, run.memory).values; });
  values = values.reverse().eval() / static_cast<double>(n);
  const double rounding = static_cast<double>(n) * std::numeric_limits<double>::epsilon() * std::max(0.0, values[0]);
  return values.head((values.array() > rounding).count());
}

}  // namespace

SpectralLaw::SpectralLaw(const Vector& x, const Vector& y) {
  // Of both sequences in descending order, the product of the i-th and the j-th has at least (i + 1)(j + 1) - 1 others above it.
  for (Index i = 0; i < x.size() && i < drawn_products; ++i) {
    for (Index j = 0; j < y.size() && (i + 1) * (j + 1) <= drawn_products; ++j) weights_.push_back(x[i] * y[j]);
  }
  std::sort(weights_.begin(), weights_.end(), std::greater<>());
  if (std::ssize(weights_) > drawn_products) weights_.resize(drawn_products);
  const bool complete = std::ssize(weights_) == x.size() * y.size();
  rest_mean_ = x.sum() * y.sum();
  rest_variance_ = 2 * x.squaredNorm() * y.squaredNorm();
  for (const double w : weights_) {
    rest_mean_ -= w;
    rest_variance_ -= 2 * w * w;
  }
  if (complete || !(rest_mean_ > 0) || !(rest_variance_ > 0)) {
    rest_mean_ = complete ? 0 : std::max(0.0, rest_mean_);
    rest_variance_ = 0;
  }
}

double SpectralLaw::draw(RandomStream& random) const {
  double sum = rest_mean_;
  if (rest_variance_ > 0) {
    const boost::math::gamma_distribution<double> rest(rest_mean_ * rest_mean_ / rest_variance_, rest_variance_ / rest_mean_);
    sum = boost::math::quantile(rest, random.uniform());
  }
  for (const double w : weights_) {
    const double eta = random.normal();
    sum += w * eta * eta;
  }
  return sum;
}

namespace {

// n HSIC_b -> sum_ij lambda_i mu_j eta_ij^2, over all products of eigenvalues of HKH/n and HLH/n.
void judge_by_spectrum(TestResult& result, const HsicPair& pair, const Samples& X, const Samples& Y, const IndependenceOptions& o) {
  const HsicSums sums = pair.sums(o.run);
  const Index n = pair.size();
  result.statistic = sums.products / pair.divisor();
  result.numbers.emplace_back("correlation", correlation_of(sums));
  const SpectralLaw law(spectrum(pair.kernel_x(), X, o.run), spectrum(pair.kernel_y(), Y, o.run));
  Vector draws(o.permutations);
  with_run(o.run, [&] {
    Stage stage(o.run.progress, "Draws of the null", static_cast<double>(o.permutations));
    parallel_for(o.permutations, [&](Index b) {
      RandomStream random(o.seed, static_cast<std::uint64_t>(b));
      draws[b] = law.draw(random) / static_cast<double>(n);
      stage.advance(1);
    });
  });
  judge_by_exchanges(result, result.statistic, std::move(draws), tie_tolerance(result.statistic));
  result.description = fmt::format("{} draws of the limiting law from all products of eigenvalues, level approximate", o.permutations);
}

}  // namespace

void require_null_fits(const Kernel& kernel, IndependenceNull null, TestResult& result) {
  if (kernel.psd() != Verdict::no) return;
  if (null != IndependenceNull::permutation)
    throw InvalidArgument(
        fmt::format("the {} null needs positive semi-definite kernels, and {} is not one; use null=permutation, or gaussian(auto)",
                    name_of(null), kernel.text()));
  result.remarks.push_back(fmt::format(
      "the kernel {} is not positive semi-definite: the statistic is no squared norm, and may be small where there is dependence",
      kernel.text()));
}

}  // namespace stats

TestResult independence_test(const Samples& X, const Samples& Y, const IndependenceOptions& o) {
  const auto start = std::chrono::steady_clock::now();
  stats::require_level(o.level);
  if (o.permutations < 1) throw InvalidArgument(fmt::format("permutations must be >= 1, got {}", o.permutations));
  if (o.exchange.scheme == Exchange::pairs)
    throw InvalidArgument(
        "exchanges of pairs are for two samples; an independence test exchanges the rows of Y: free, by groups, blocks or shifts");
  if (o.null != IndependenceNull::permutation) {
    if (o.form != HsicForm::biased)
      throw InvalidArgument(fmt::format("the {} null is that of the biased form; use it, or null=permutation for hsic-u", name_of(o.null)));
    if (o.exchange.scheme != Exchange::free)
      throw InvalidArgument(fmt::format("{} exchanges go with null=permutation; the {} null takes rows for independent",
                                        name_of(o.exchange.scheme), name_of(o.null)));
  }
  TestResult result;
  if (o.kernel_x) stats::require_null_fits(*o.kernel_x, o.null, result);
  if (o.kernel_y) stats::require_null_fits(*o.kernel_y, o.null, result);
  const stats::HsicPair pair(X, Y, o.kernel_x, o.kernel_y, o.form, o.run);
  result.test = "independence";
  result.statistic_name = pair.statistic_name();
  result.level = o.level;
  result.method = name_of(o.null);
  result.kernels = {pair.kernel_x().text(), pair.kernel_y().text()};
  result.n = pair.size();
  result.seed = o.seed;
  switch (o.null) {
    case IndependenceNull::permutation:
      stats::judge_by_permutations(result, pair, o);
      break;
    case IndependenceNull::gamma:
      stats::judge_by_moments(result, pair, o);
      break;
    case IndependenceNull::spectral:
      stats::judge_by_spectrum(result, pair, X, Y, o);
      break;
  }
  stats::remark_on_kernel(result, pair.kernel_x(), X, "dependence");
  stats::remark_on_kernel(result, pair.kernel_y(), Y, "dependence");
  stats::conclude(result, "the variables depend on each other", "no dependence shown", start);
  return result;
}

}  // namespace mercer
