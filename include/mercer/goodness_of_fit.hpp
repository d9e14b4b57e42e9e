// Does a sample come from a given distribution? The kernel Stein discrepancy (KSD) and its tests. The distribution is known by its score
// s(x) = d/dx log p(x), so densities need no normalising constant; and whether a sample is normal at all, with parameters fitted to it.
//
//   TestResult r = goodness_of_fit_test(X, Distribution::normal(mean, covariance));
//   TestResult s = goodness_of_fit_test(X, Distribution::from_score("mine", [](const Matrix& x) -> Matrix { return -x; }));
//   TestResult t = normality_test(X);
//
// Statistic: with the Stein kernel of p and a kernel k,
//   k_p(x, y) = s(x)'s(y) k(x, y) + s(x)' d_y k(x, y) + s(y)' d_x k(x, y) + trace d_x d_y k(x, y),
// E k_p(x, y) = 0 for x from p and every y, so
//   ksd-u  mean of k_p(x_i, x_j) over i != j: unbiased for the squared discrepancy of the sample's distribution from p; may be negative
//   ksd-v  mean over all i, j: the squared norm of the sample's mean in the space of k_p
// both unscaled. For k = f(|x - y|^2) and u = x - y: k_p = s(x)'s(y) f + 2 f' (s(y) - s(x))'u - 4 f'' |u|^2 - 2 d f'. Kernels: gaussian
// and rational_quadratic, which with alpha = 1/2 is the inverse multiquadric (the default: with it the discrepancy is zero in the limit
// only where the samples converge to p, which Gaussian kernels do not promise in three dimensions and more).
// Null: wild bootstrap, mean of e_i e_j k_p(x_i, x_j) with random signs e; asymptotic level. For dependent rows (Markov chains) the signs
// are a chain themselves that changes with probability flip_probability < 1/2 from one row to the next. All draws are vectors of one pass
// over the tiles of k_p: n^2 B flops, no n x n matrix. Of fitted parameters the parametric bootstrap: samples are drawn from the fitted
// distribution and fitted again, because a fit to the same rows makes every statistic small.
// References: Chwialkowski, Strathmann, Gretton, A kernel test of goodness of fit (ICML 2016); Liu, Lee, Jordan, A kernelized Stein
// discrepancy for goodness-of-fit tests (ICML 2016); Gorham and Mackey, Measuring sample quality with kernels (ICML 2017); Key et al.,
// Composite goodness-of-fit tests with kernels (2021). SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mercer/kernels.hpp"
#include "mercer/random.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"
#include "mercer/test_result.hpp"

namespace mercer {

// A distribution on R^d that samples are compared with: an immutable value.
class Distribution {
 public:
  using Score = std::function<Matrix(const Matrix& X)>;                               // rows to rows: d/dx log p(x)
  using Sampler = std::function<Matrix(Index n, RandomStream& random, Index width)>;  // n rows

  struct Component {
    double weight = 1;  // > 0; weights are divided by their sum
    Vector mean{};
    Matrix covariance{};  // symmetric positive definite
  };

  static Distribution normal(const Vector& mean, const Matrix& covariance);
  static Distribution mixture(const std::vector<Component>& components);
  static Distribution from_score(std::string name, Score score, Sampler sampler = {});

  Index width() const { return width_; }  // columns; 0: any
  const std::string& name() const { return name_; }
  bool is_mixture() const { return mixture_; }  // of two or more components
  // One row for each of X. Throws InvalidArgument where the answer has another shape or is not finite.
  Matrix scores(const Matrix& X) const;
  bool can_sample() const { return static_cast<bool>(sampler_); }
  Matrix sample(Index n, RandomStream& random, Index width) const;  // NotOffered without a sampler

 private:
  Distribution(std::string name, Index width, Score score, Sampler sampler)
      : name_(std::move(name)), width_(width), score_(std::move(score)), sampler_(std::move(sampler)) {}
  std::string name_;
  Index width_;
  Score score_;
  Sampler sampler_;
  bool mixture_ = false;
};

enum class KsdStatistic : std::uint8_t { u, v };

struct GoodnessOfFitOptions {
  Kernel kernel = kernels::rational_quadratic(kernels::LengthScale::automatic(), 0.5);  // auto: the median distance of the rows
  KsdStatistic statistic = KsdStatistic::u;
  Index draws = 1000;             // of the null
  double flip_probability = 0.5;  // in (0, 1/2]; 1/2: independent rows
  double level = 0.05;
  std::uint64_t seed = 0;
  Run run{};
};

// Dense rows of numbers; others are made dense.
TestResult goodness_of_fit_test(const Samples& X, const Distribution& p, const GoodnessOfFitOptions& options = {});

// The same where the parameters are fitted to X: `fit` maps rows to the distribution, and is called again for every draw (from several
// threads at a time). The distribution must be able to sample. Level: that of the parametric bootstrap, asymptotic.
using DistributionFit = std::function<Distribution(const Matrix& X)>;
TestResult fitted_goodness_of_fit_test(const Samples& X, const DistributionFit& fit, const GoodnessOfFitOptions& options = {});

// Is the sample normal, with whatever mean and covariance? The rows are whitened by those fitted to them and compared with the standard
// normal. That makes the statistic the same for every mean and covariance, so draws from the standard normal, whitened in the same way,
// have exactly its law: the level is exact. Length scales are in units of whitened rows; auto: the median distance of two standard normal
// rows. Needs n >= 2 d + 2 rows or so and a covariance that is not singular.
TestResult normality_test(const Samples& X, const GoodnessOfFitOptions& options = {});

}  // namespace mercer
