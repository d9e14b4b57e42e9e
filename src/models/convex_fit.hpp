// One column of targets fitted in a space of functions, for any loss; what the representer solver and logistic regression share.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>

#include "mercer/representer.hpp"
#include "models/spaces.hpp"

namespace mercer {

struct ColumnFit {
  Matrix coefficients;  // in the space's basis, one column per output
  Vector intercept;
  double lambda = 0;
  double loss = 0;
  double squared_norm = 0;
  double objective = 0;
  double gap = 0;
  double gradient_norm = 0;
  Index iterations = 0;
  bool converged = false;
  bool stalled = false;
};

struct ColumnOptions {
  double lambda = 1;
  bool intercept = false;
  double tolerance = 1e-7;
  Index max_iterations = 300;
};

ColumnFit fit_column(const solvers::FunctionSpace& space, const Loss& loss, const Vector& y, const Vector& p, const ColumnOptions& options,
                     Stage& stage);
ColumnFit fit_softmax(const solvers::FunctionSpace& space, const std::vector<Index>& labels, Index classes, const Vector& p,
                      const ColumnOptions& options, Stage& stage);

// The space for a fit, exact or on landmarks, and the samples that coefficients belong to.
struct FitSpace {
  std::unique_ptr<solvers::FunctionSpace> space;
  Samples samples;
  Index landmarks = 0;
  std::size_t bytes = 0;

  Matrix dual_coef(const Matrix& coefficients) const;
};

// Refuses kernels that are not PSD: by name where that is known, else by looking at their Gram matrix.
FitSpace make_space(const Kernel& kernel, const Samples& X, Index landmarks, std::uint64_t seed, const Run& run, const std::string& what);

// The kernel made ready: automatic scales set, what can never predict refused.
Kernel ready_kernel(const Kernel& kernel, const Samples& X);

// w / sum w.
Vector proportions(const Vector& sample_weight, Index n);

// Adds a column to a summary; finish_summary writes the sentence.
void add_to_summary(const ColumnFit& fit, ConvexSummary& summary);
void finish_summary(ConvexSummary& summary, double tolerance, Index n);

// f(x) + b of a kernel expansion at new rows.
Matrix expansion_at(const Kernel& kernel, const Samples& samples, const Matrix& coef, const Vector& intercept, const Samples& X,
                    const Run& run);

}  // namespace mercer
