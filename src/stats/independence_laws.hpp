// Laws of independence statistics under the null, and what the tests of two and of several variables share.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "mercer/independence.hpp"
#include "mercer/random.hpp"

namespace mercer::stats {

// p-value, threshold and quantiles by the gamma law of this mean and variance, in the units of the statistic.
void judge_by_gamma(TestResult& result, double mean, double variance);

// sum_ij x_i y_j eta_ij^2 with standard normal eta. The largest 4096 products are drawn one by one; the sum of all others, which are many
// and small, as one gamma variable of its mean and variance.
class SpectralLaw {
 public:
  // Both descending and > 0.
  SpectralLaw(const Vector& x, const Vector& y);
  double draw(RandomStream& random) const;

 private:
  std::vector<double> weights_{};
  double rest_mean_ = 0;
  double rest_variance_ = 0;
};

// Of a kernel that is known not to be positive semi-definite: throws unless the null is by permutations, which hold their level all the
// same; then a remark.
void require_null_fits(const Kernel& kernel, IndependenceNull null, TestResult& result);

}  // namespace mercer::stats
