// Are X and Y independent given Z? Kernel conditional independence (KCI), and a randomised version for many rows.
//
//   TestResult r = conditional_independence_test(X, Y, Z, {.seed = 0});
//   std::puts(r.sentence.c_str());
//
// The three have the same number of rows, each its own kernel and its own automatic length scale.
// Statistic: with features phi(x), psi(y) and their residuals after regression on z, a_i = phi(x_i) - E[phi(x) | z_i] and b_i likewise,
// and k_z a kernel of z,
//   kci = (1/n) sum_ij <a_i, a_j> k_z(z_i, z_j) <b_i, b_j> = (1/n) tr(K_(X,Z)|Z K_Y|Z),   K_(X,Z)|Z = (R K_X R) o K_Z,  K_Y|Z = R K_Y R,
// R = eps (K_Z + eps I)^-1 the residual operator of kernel ridge regression on z, o the product of entries. It is zero in the limit if and
// only if X and Y are independent given Z, for characteristic kernels. That is the statistic of Zhang et al. with the product kernel for
// (x, z): given z the factor of z is known, so only the features of x are regressed.
// Regression: eps, and the length scale of an automatic kernel_z (1/2, 1, 2 and 4 times the median distance), are those with the least
// leave-one-out error, for X and for Y by themselves; all of them follow from one eigenproblem a length scale. Before that X and Y are
// replaced by what kernel ridge regression on z leaves of their columns (remove_means): (x, z) and (x - g(z), z) know the same, whatever g,
// so the question stays as it is, and features of residuals are far easier to predict from z than those of x. It is done for kernels that
// depend on x - x' alone.
// Null: M = K_(X,Z)|Z o K_Y|Z; the statistic's law is that of sum_k lambda_k N_k^2 / n, lambda the eigenvalues of M:
//   spectral  draws of it, as N'M N / n with standard normal N, which needs no eigenvalues and cuts none off
//   gamma     the gamma law with its mean tr(M) / n and variance 2 |M|^2 / n^2
// Both hold in the limit, if E[. | z] is learned well. No test of conditional independence holds its level against all distributions and
// has power against any (Shah and Peters 2020): docs/conditional-independence.md has measured levels, and says where they fail.
// Method kci: 9 n^3 flops and n^2 numbers for each of the length scales of z, n up to some thousands. Method randomized: random Fourier
// features (Strobl et al.), few for x and y, more for z, ridge residuals by generalised cross-validation, and the null from the covariance
// of the products of residuals: n f^2 flops, no n x n matrix. It takes k_z = 1 (RCoT) unless `features_weight` asks for features of z as
// weights (RCIT): then alone it sees dependence that cancels on average over z.
// References: Zhang, Peters, Janzing, Schoelkopf, Kernel-based conditional independence test (UAI 2011); Strobl, Zhang, Visweswaran,
// Approximate kernel-based conditional independence tests (2019); Shah and Peters, The hardness of conditional independence testing
// (Annals of Statistics 48, 2020). SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"
#include "mercer/test_result.hpp"

namespace mercer {

enum class ConditionalMethod : std::uint8_t { automatic, kci, randomized };
enum class ConditionalNull : std::uint8_t { spectral, gamma };

const char* name_of(ConditionalMethod method);  // "auto", "kci", "randomized"
const char* name_of(ConditionalNull null);      // "spectral", "gamma"

struct ConditionalIndependenceOptions {
  Kernel kernel_x = kernels::gaussian(kernels::LengthScale::automatic());
  Kernel kernel_y = kernels::gaussian(kernels::LengthScale::automatic());
  Kernel kernel_z = kernels::gaussian(kernels::LengthScale::automatic());
  ConditionalMethod method = ConditionalMethod::automatic;  // kci up to 1000 rows, and where kernels have no random features
  ConditionalNull null = ConditionalNull::spectral;
  Index draws = 1000;               // of the spectral null
  std::optional<double> epsilon{};  // of R; not given: by leave-one-out
  bool remove_means = true;
  Index features_xy = 10;     // of the randomised method, for x and for y
  Index features_z = 100;     // at most a quarter of the rows
  Index features_weight = 0;  // of z, as weights of the residuals
  double level = 0.05;
  std::uint64_t seed = 0;
  Run run{};
};

// Z without columns leaves the question of independence_test, which then answers. A constant Z is an InvalidArgument.
TestResult conditional_independence_test(const Samples& X, const Samples& Y, const Samples& Z,
                                         const ConditionalIndependenceOptions& options = {});

}  // namespace mercer
