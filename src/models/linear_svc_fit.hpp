// What a fit of a linear SVM and the search for its C share: checked input, and the problems of all classes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "mercer/linear_svc.hpp"
#include "models/linear_descent.hpp"
#include "models/linear_newton.hpp"

namespace mercer {

// Checked; samples of weight zero are gone.
struct LinearSvcTask {
  LinearSvcTask(const Samples& rows, const std::vector<Index>& given, const LinearSvcOptions& o);

  Samples X;
  std::vector<Index> labels;
  Vector weights;       // of the samples
  Vector class_weight;  // of all classes
  Index classes = 0;
  double bias = 0;  // the constant column, 0: none
};

struct LinearSvcFit {
  std::vector<LinearSolution> classes;  // one for two classes
  bool newton = true;
  std::size_t bytes = 0;
};

// `from`: solutions of the same problems with another C to start from, or none.
LinearSvcFit fit_classes(const LinearSvcTask& task, double C, const LinearSvcOptions& o, const std::vector<LinearSolution>& from,
                         Stage& stage);

LinearSvcModel model_of(const LinearSvcTask& task, const LinearSvcFit& fit, double C, const LinearSvcOptions& o, LinearSvcSummary summary);

}  // namespace mercer
