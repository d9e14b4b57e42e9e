// How much of each component is in a sample: weights a on the simplex that minimise |mu(X) - sum_j a_j mu_j|, the distance of the
// sample's mean embedding to that of the mixture (source L, application 2: measure estimation).
//
//   MixtureWeights found = mixture_weights(X, {MixtureComponent(A), MixtureComponent(B)});
//   found.weights;  found.mmd;  std::puts(found.sentence.c_str());
//
// Components: samples (weighted or not), Gaussians (mean, covariance) under a Gaussian kernel, whose embeddings have a closed form
//   E k(x, y) = det(I + S/L)^-1/2 exp(-(x - m)'(S + L)^-1 (x - m) / 2),   y ~ N(m, S), L = diag(length scales squared),
// with S1 + S2 in the place of S between two of them; or anything whose products the caller knows.
// Method: the convex quadratic programme min 1/2 a'Q a - p'a on the simplex, Q_jl = <mu_j, mu_l>, p_j = <mu_j, mu(X)>, by the engine of the
// support vector machines, to the last digits for few components. Weights are unique where the mu_j are linearly independent; otherwise the
// mixture still is. Cost: kernel values between all pairs of rows of X and of the components; no matrix of them is kept.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

struct SampleComponent {
  Samples rows;
  Vector weights{};  // of the rows, >= 0; empty: equal
};

struct GaussianComponent {
  Vector mean;
  Matrix covariance;  // symmetric, positive semi-definite; zeros: a point
};

using MixtureComponent = std::variant<SampleComponent, GaussianComponent>;

struct MixtureOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());  // auto: the median distance of X
  Vector weights{};                                                      // of the rows of X, >= 0; empty: equal
  Run run{};
};

struct MixtureWeights {
  Vector weights{};  // >= 0, adding up to 1
  // Distances |mu(X) - .| of the mixture, and of each component alone; NaN where |mu(X)| is not known.
  double mmd = std::numeric_limits<double>::quiet_NaN();
  Vector component_mmd{};
  double gap = 0;      // mmd^2 is above its least value by at most this
  Matrix gram{};       // Q
  Vector products{};   // p
  bool unique = true;  // the embeddings of the components with positive weight are linearly independent, as far as rounding can tell
  std::string kernel{};
  std::vector<std::string> remarks{};
  double seconds = 0;
  std::string sentence{};
};

MixtureWeights mixture_weights(const Samples& X, const std::vector<MixtureComponent>& components, const MixtureOptions& options = {});

// From products that are known: Q (positive semi-definite), p and, for the distance, |mu(X)|^2.
MixtureWeights mixture_weights_of_products(const Matrix& Q, const Vector& p, double squared_norm = std::numeric_limits<double>::quiet_NaN(),
                                           const Run& run = {});

}  // namespace mercer
