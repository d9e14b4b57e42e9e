// A distribution as a point of a function space: the mean embedding mu(p) = E k(X, .), estimated by mu(X) = sum_i w_i k(x_i, .).
//
//   RkhsFunction mu = mean_embedding(X, {.kernel = kernels::gaussian(1.0)});
//   double mean_of_f = expectation(f, X);            // sum_i w_i f(x_i), which is inner(f, mu): E f(X) for every f of the space
//   double apart = distance(mu, mean_embedding(Y, {.kernel = mu.kernel()}));   // the root of mmd-b
//   EmbeddingBound how_far = embedding_bound(mu, 0.05);                        // |mu(p) - mu(X)| with probability 95 %
//
// The embedding exists where E sqrt(k(X, X)) is finite: always for a bounded kernel, and where the moments of order d / 2 exist for a
// polynomial of degree d. What two distributions must share for their embeddings to coincide is what the kernel can see: the mean (linear),
// all moments up to d (polynomial of degree d with offset > 0), the moments of order d alone (homogeneous), the moment generating function
// (exponential_dot), and everything for a characteristic kernel such as the Gaussian one.
//
// Bound (source L, uniform convergence): for independent rows of p and weights that do not depend on them,
//   |mu(p) - mu(X)| <= sqrt(kappa / m) (1 + sqrt(2 log(1 / delta)))   with probability 1 - delta, kappa = sup k(x, x);
// m = 1 / sum w_i^2 is the number of rows that equal weights would need. Cost: nothing to make one, n^2 kernel values for a norm.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "mercer/rkhs_function.hpp"

namespace mercer {

struct MeanEmbeddingOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());  // auto: the median distance of the rows
  Vector weights{};                                                      // of the rows, >= 0; scaled to sum 1; empty: equal
};

// mu(X) as a value with all that functions have: points, inner products, norms, differences. The samples are shared, never copied.
RkhsFunction mean_embedding(const Samples& X, const MeanEmbeddingOptions& options = {});

// sum_i w_i f(x_i): the mean of f over a sample, <f, mu(X)>. Weights as above.
double expectation(const RkhsFunction& f, const Samples& X, const Vector& weights = {}, const Run& run = {});

struct EmbeddingBound {
  double bound = 0;
  double delta = 0.05;
  double kappa = 0;          // sup k(x, x)
  bool kappa_known = false;  // false: the largest of the rows stands for it, as the kernel has no bound, or none that is known
  double rows = 0;           // m: 1 / sum w_i^2
  double mean_root = 0;      // the mean of sqrt(k(x, x)) over the sample, whose limit must be finite
  std::string sentence{};
};

// kappa > 0: sup k(x, x), where the caller knows it; 0: that of the kernel, else the largest seen, which `kappa_known` and the sentence
// say. Throws InvalidArgument unless 0 < delta < 1 and the coefficients are weights: >= 0 with sum 1.
EmbeddingBound embedding_bound(const RkhsFunction& embedding, double delta = 0.05, double kappa = 0);

}  // namespace mercer
