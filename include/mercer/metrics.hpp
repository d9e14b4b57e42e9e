// How good predictions are. All take the truth first.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "mercer/matrix.hpp"

namespace mercer {

double mean_squared_error(const VectorRef& truth, const VectorRef& predicted);
double root_mean_squared_error(const VectorRef& truth, const VectorRef& predicted);
double mean_absolute_error(const VectorRef& truth, const VectorRef& predicted);
// 1 - residual / total sum of squares; a constant truth gives 1 if predicted exactly, else 0, as scikit-learn has it.
double r2_score(const VectorRef& truth, const VectorRef& predicted);

double accuracy(std::span<const Index> truth, std::span<const Index> predicted);
// Rows: truth, columns: predicted.
Eigen::MatrixXi confusion_matrix(std::span<const Index> truth, std::span<const Index> predicted, Index n_classes);
// Of one class against the rest; 0 when nothing was predicted (precision) or nothing is there (recall).
double precision_of_class(std::span<const Index> truth, std::span<const Index> predicted, Index positive);
double recall_of_class(std::span<const Index> truth, std::span<const Index> predicted, Index positive);
// What a classifier is summed up by: precision and recall of the second of two classes; of more, their means over all classes.
std::pair<double, double> precision_and_recall(std::span<const Index> truth, std::span<const Index> predicted, Index n_classes);
// The mean over classes present in the truth.
double balanced_accuracy(std::span<const Index> truth, std::span<const Index> predicted, Index n_classes);

// Wilson's interval for a proportion of `successes` among n, at the given two-sided level (0.95).
std::pair<double, double> proportion_interval(Index successes, Index n, double level = 0.95);

}  // namespace mercer
