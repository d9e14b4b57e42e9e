// Two variables, each with its kernel, seen through tiles of both Gram matrices at the same rows: all sums that HSIC, its correlation and
// its approximate nulls need, without an n x n matrix.
//
// Two passes: row sums of K and L first, then sums of centred entries. The entries are centred before they are multiplied, so nothing
// cancels where a kernel is nearly constant. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/independence.hpp"
#include "stats/permuted_products.hpp"

namespace mercer::stats {

struct HsicSums {
  double products = 0;   // sum_ij A_ij B_ij of the centred matrices A and B
  double squares_x = 0;  // |A|_F^2
  double squares_y = 0;
  double trace_x = 0;
  double trace_y = 0;
};

// The kernel given, its automatic length scales set, or the default one. X must be finite.
Kernel kernel_for(const Samples& X, const std::optional<Kernel>& kernel);

class HsicPair {
 public:
  // Throws InvalidArgument where X and Y do not fit each other or are too short for the form. Automatic length scales are set.
  HsicPair(const Samples& X, const Samples& Y, const std::optional<Kernel>& kernel_x, const std::optional<Kernel>& kernel_y, HsicForm form,
           const Run& run);

  Index size() const { return x_.size(); }
  HsicForm form() const { return form_; }
  const Kernel& kernel_x() const { return kernel_x_; }
  const Kernel& kernel_y() const { return kernel_y_; }
  const char* statistic_name() const { return form_ == HsicForm::biased ? "hsic" : "hsic-u"; }
  // What sums of products of centred entries are divided by: n^2, or n (n - 3) of the unbiased form.
  double divisor() const;

  // Where permutations keep the centred matrices.
  HalfGram empty_x() const { return HalfGram(size(), scale_for(x_.diagonal(0), centre_x_)); }
  FullGram empty_y() const { return FullGram(size(), scale_for(y_.diagonal(0), centre_y_)); }
  // A is put into K and B into L where they are given. Throws InvalidArgument where kernel values are too large to be added up.
  HsicSums sums(const Run& run, HalfGram* K = nullptr, FullGram* L = nullptr) const;

 private:
  HsicForm form_;
  Kernel kernel_x_;
  Kernel kernel_y_;
  PreparedFamily<double> x_;
  PreparedFamily<double> y_;
  Centre centre_x_{};
  Centre centre_y_{};
};

// HSIC(x, y) / sqrt(HSIC(x, x) HSIC(y, y)); NaN where one of the variables does not vary.
double correlation_of(const HsicSums& sums);

}  // namespace mercer::stats
