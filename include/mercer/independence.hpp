// Are two variables independent? The Hilbert-Schmidt independence criterion (HSIC), its tests, and the correlations people know.
//
//   HsicEstimate h = hsic(X, Y, {.kernel_x = kernels::gaussian(1.0)});
//   TestResult r = independence_test(X, Y, {.null = IndependenceNull::permutation, .permutations = 1000, .seed = 0});
//
// X and Y have the same number of rows; each has its own kernel. One that is not given is exp(-|x - y|^2 / m^2) with the median m of the
// variable's distances: gaussian(m / sqrt 2), as independence tests have it since Gretton et al. 2007; gaussian(auto) is the wider
// gaussian(m). With K and L their Gram matrices and
// H = I - 11'/n the statistics are
//   hsic    (1/n^2) tr(K H L H), biased: the squared distance between the embeddings of the joint and of the product distribution
//           (source K eq. 91; eq. 90 is the same number with 1/n^4 in place of the printed 1/n)
//   hsic-u  sum of A_ij B_ij / (n (n - 3)) over i != j, unbiased (Song et al. 2012): A and B are K and L centred without their diagonals,
//           which are 0; may be negative; n >= 4
// and the nulls, which only the biased form has all of,
//   permutation  rows of Y change places; exact level, the exact statistic for every permutation. All n! of them where they are no more
//                than asked for
//   gamma        the gamma law whose mean and variance are those that n HSIC has in the limit: tr(HKH) tr(HLH) / n^2 and
//                2 |HKH|^2 |HLH|^2 / n^4, for kernels of any diagonal
//   spectral     draws of sum_ij lambda_i mu_j eta_ij^2, over all products of eigenvalues of HKH/n and HLH/n (source K Th. 7, whose printed
//                h needs the factor 6)
//
// Cost: n^2 kernel values of each variable, twice, and no n x n matrix; permutation n^2 B / 2 more and 6 n^2 bytes, spectral two
// eigenproblems. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mercer/exchange.hpp"
#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"
#include "mercer/test_result.hpp"

namespace mercer {

// gaussian(m / sqrt 2), m the median distance of the rows of X.
Kernel default_kernel(const Samples& X);

enum class HsicForm : std::uint8_t { biased, unbiased };
enum class IndependenceNull : std::uint8_t { permutation, gamma, spectral };

const char* name_of(IndependenceNull null);

struct HsicOptions {
  std::optional<Kernel> kernel_x{};  // not given: default_kernel(X)
  std::optional<Kernel> kernel_y{};
  HsicForm form = HsicForm::biased;
  Run run{};
};

struct HsicEstimate {
  double value = 0;
  // HSIC(x,y) / sqrt(HSIC(x,x) HSIC(y,y)), centred kernel alignment: in [0, 1] for the biased form; NaN where a variable does not vary.
  double correlation = 0;
  std::string statistic_name{};
  std::string kernel_x{};
  std::string kernel_y{};
  Index n = 0;
  double seconds = 0;
  std::string sentence{};
};
HsicEstimate hsic(const Samples& X, const Samples& Y, const HsicOptions& options = {});

struct IndependenceOptions {
  std::optional<Kernel> kernel_x{};  // not given: default_kernel(X)
  std::optional<Kernel> kernel_y{};
  HsicForm form = HsicForm::biased;
  IndependenceNull null = IndependenceNull::permutation;
  Index permutations = 1000;   // or draws of the spectral null
  ExchangeOptions exchange{};  // of the rows of Y, for the permutation null; all schemes but pairs
  double level = 0.05;
  std::uint64_t seed = 0;
  Run run{};
};
TestResult independence_test(const Samples& X, const Samples& Y, const IndependenceOptions& options = {});

// Categories for a test: their numbers in one column, and the kernel that is 1 for the same category and 0 for any two others.
struct Categories {
  Samples codes{};
  Kernel kernel = kernels::gaussian(0.01);  // of numbers 1 apart exp(-5000), which is 0
  std::vector<std::string> names{};         // by number, in the order of their first rows
};
Categories categories(const std::vector<std::string>& labels);

// Joint independence of several variables, all with the same number of rows: dHSIC (Pfister et al. 2018), the squared distance between the
// embeddings of the joint distribution and of the product of all. Of two variables it is hsic. Nulls: permutation (the rows of every
// variable but the first change places, each on its own; exact level) and gamma (the two moments that n dHSIC has in the limit).
struct JointIndependenceOptions {
  std::vector<std::optional<Kernel>> kernels{};  // one for each variable, or one for all; not given: default_kernel of the variable
  IndependenceNull null = IndependenceNull::permutation;
  Index permutations = 1000;
  double level = 0.05;
  std::uint64_t seed = 0;
  Run run{};
};
TestResult joint_independence_test(const std::vector<Samples>& variables, const JointIndependenceOptions& options = {});

// The baselines, for two columns of numbers: two-sided p-values in the same result type.
//   pearson   r, by Student's t; exact for normal variables
//   spearman  rho of mid-ranks; exact for n <= 9, with ties too, else by Student's t
//   kendall   tau-b; exact for n <= 9, without ties for n <= 33 and for orders at most one exchange from perfect, else normal with the
//             variance that ties leave
//   chi2      of the contingency table of two columns of categories, with Cramer's V; by the chi-square law
enum class Correlation : std::uint8_t { pearson, spearman, kendall, chi2 };
TestResult correlation_test(const VectorRef& x, const VectorRef& y, Correlation which, double level = 0.05);

}  // namespace mercer
