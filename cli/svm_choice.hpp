// C and the length scale of a support vector machine, when the command line does not say them: a small grid on folds, by the search of the
// library. Also the held-out
// predictions of `--libsvm "-v 5"`.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "files.hpp"
#include "fit_svm.hpp"

namespace mercer::cli {

// What a machine learns from: class indices, or numbers, or neither (one class).
struct SvmRows {
  Samples X{};
  std::vector<Index> labels{};
  Vector y{};
  Vector weights{};  // empty: all 1

  bool classify() const { return !labels.empty(); }
  SvmRows at(std::span<const Index> rows) const;
};

// Of each row, what a model says that was fitted without the row's fold: a class index, or a number.
Vector held_out_predictions(const SvmRows& rows, Index folds, std::uint64_t seed, const std::function<AnyModel(const SvmRows&)>& fit);

struct SvmChoice {
  Kernel kernel;
  double C = 1;
  Json json{};
  std::string sentence{};
};

// The number of folds, at most 5, for which every class is in every training part; 0: there is none. `labels` are empty for numbers.
Index possible_folds(const std::vector<Index>& labels, Index n);

// The C (and, where no kernel was said, the multiple of the median distance as the length scale of a Gaussian) with the smallest error in
// cross-validation on at most 2000 rows; of equals the first: small C before large, large length scales before small ones. nu-svr is judged
// by an epsilon of a tenth of the targets' spread. `time_limit` in seconds; 0: none.
SvmChoice choose_svm(const SvmCommand& o, const SvmRows& rows, const Kernel& kernel, const Vector& class_weight, double time_limit);

}  // namespace mercer::cli
