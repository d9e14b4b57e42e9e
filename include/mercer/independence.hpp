// Are two variables independent? The Hilbert-Schmidt independence criterion (HSIC), its tests, and the rank correlations people know.
//
//   HsicEstimate h = hsic(X, Y, {.kernel_x = kernels::gaussian(1.0)});
//   TestResult r = independence_test(X, Y, {.null = IndependenceNull::permutation, .permutations = 1000, .seed = 0});
//
// X and Y have the same number of rows; each has its own kernel and its own automatic length scale.
//   hsic    (1/n^2) tr(K H L H), biased: the squared norm of the difference between the joint and the product embedding (source K eq. 91)
//   hsic-u  unbiased (Song et al. 2012); may be negative
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mercer/exchange.hpp"
#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"
#include "mercer/test_result.hpp"

namespace mercer {

enum class HsicForm : std::uint8_t { biased, unbiased };
enum class IndependenceNull : std::uint8_t { permutation, gamma, spectral };

const char* name_of(IndependenceNull null);

struct HsicOptions {
  Kernel kernel_x = kernels::gaussian(kernels::LengthScale::automatic());
  Kernel kernel_y = kernels::gaussian(kernels::LengthScale::automatic());
  HsicForm form = HsicForm::biased;
  Run run{};
};

struct HsicEstimate {
  double value = 0;
  double correlation = 0;  // HSIC(x,y) / sqrt(HSIC(x,x) HSIC(y,y)), in [0, 1]: centred kernel alignment
  std::string statistic_name{};
  std::string kernel_x{};
  std::string kernel_y{};
  Index n = 0;
  double seconds = 0;
  std::string sentence{};
};
HsicEstimate hsic(const Samples& X, const Samples& Y, const HsicOptions& options = {});

struct IndependenceOptions {
  Kernel kernel_x = kernels::gaussian(kernels::LengthScale::automatic());
  Kernel kernel_y = kernels::gaussian(kernels::LengthScale::automatic());
  HsicForm form = HsicForm::biased;
  IndependenceNull null = IndependenceNull::permutation;
  Index permutations = 1000;
  ExchangeOptions exchange{};  // of the rows of Y; all schemes but pairs
  double level = 0.05;
  std::uint64_t seed = 0;
  Run run{};
};
TestResult independence_test(const Samples& X, const Samples& Y, const IndependenceOptions& options = {});

// Joint independence of several variables (dHSIC), all with the same number of rows.
struct JointIndependenceOptions {
  std::vector<Kernel> kernels{};  // one for each variable, or one for all; empty: gaussian(auto)
  IndependenceNull null = IndependenceNull::permutation;
  Index permutations = 1000;
  double level = 0.05;
  std::uint64_t seed = 0;
  Run run{};
};
TestResult joint_independence_test(const std::vector<Samples>& variables, const JointIndependenceOptions& options = {});

// The baselines, for two columns of numbers: two-sided p-values in the same result type.
//   pearson   r, by Student's t
//   spearman  rho of mid-ranks; exact for n <= 9 without ties, else by Student's t
//   kendall   tau-b; exact for n <= 33 or so without ties, else normal with the variance corrected for ties
//   chi2      of the contingency table of two columns of categories
enum class Correlation : std::uint8_t { pearson, spearman, kendall, chi2 };
TestResult correlation_test(const VectorRef& x, const VectorRef& y, Correlation which, double level = 0.05);

}  // namespace mercer
