// C and the length scale of a support vector machine, when the command line does not say them: a small grid on folds. Also the held-out
// predictions of `--libsvm "-v 5"`.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "files.hpp"

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

using SvmFit = std::function<AnyModel(const SvmRows& rows, const Kernel& kernel, double C, const Run& run)>;

// Of each row, what a model says that was fitted without the row's fold: a class index, or a number.
Vector held_out_predictions(const SvmRows& rows, Index folds, std::uint64_t seed, const std::function<AnyModel(const SvmRows&)>& fit);

struct SvmChoice {
  Kernel kernel;
  double C = 1;
  Json json{};
  std::string sentence{};
};

// The C (and, where `scales` says so, the multiple of the median distance as the length scale of a Gaussian) with the smallest error in
// 5-fold cross-validation on at most 2000 rows; of equals the first: large length scales before small ones, small C before large.
SvmChoice choose_svm(const SvmRows& rows, const Kernel& kernel, bool scales, std::uint64_t seed, const CommonOptions& common,
                     const SvmFit& fit);

}  // namespace mercer::cli
