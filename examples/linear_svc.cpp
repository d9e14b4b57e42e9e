// A linear support vector machine: C by cross-validation, then both losses and both solvers on the same rows.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  const auto data = mercer::simulate::two_gaussians(400);
  const std::vector<mercer::Index> labels = mercer::class_indices(data.y);

  const auto search = mercer::search_linear_svc(data.X, labels);
  std::printf("%s\n", search.sentence.c_str());
  mercer::LinearSvcOptions options{.C = search.C[search.best]};
  const auto squared = mercer::fit_linear_svc(data.X, labels, options);
  std::printf("squared hinge: %s\n", squared.summary().sentence.c_str());

  options.solver = mercer::LinearSvcOptions::Solver::coordinate_descent;
  const auto descent = mercer::fit_linear_svc(data.X, labels, options);
  std::printf("the same by the dual: %s\n", descent.summary().sentence.c_str());

  options.loss = mercer::LinearSvcOptions::Loss::hinge;
  std::printf("hinge: %s\n", mercer::fit_linear_svc(data.X, labels, options).summary().sentence.c_str());
  const double best = squared.summary().objective;
  return std::abs(descent.summary().objective - best) <= 1e-5 * best && search.mean[search.best] > 0.8 ? 0 : 1;
}
