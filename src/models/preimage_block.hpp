// The search for the pre-images of one block of points, by the methods asked for.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "mercer/kernel_ridge.hpp"
#include "mercer/preimage.hpp"
#include "models/preimage_slopes.hpp"

namespace mercer {

// What is known before the first point is looked at.
struct PreimageProblem {
  Kernel kernel;
  Matrix X{};
  Samples basis{};
  Vector diagonal{};
  std::optional<KernelSlopes> slopes{};
  std::optional<KernelRidgeModel> ridge{};
  PreimageOptions options{};
};

// Points of one chunk: their weights and what follows from them by one pass over the Gram matrix.
struct PreimagePoints {
  Matrix G{};
  Matrix inner{};  // <p, phi(x_i)>
  Vector norm{};   // |p|^2
  Matrix ridge{};  // the learned map's answers, where they are asked for
  Index first = 0;
};

// Answers for the points of a block.
struct PreimageCandidate {
  Matrix rows{};
  Vector objective{};
  std::vector<PreimageMethod> method{};
  std::vector<Index> iterations{};
  std::vector<bool> converged{};
};

// Whether the kernel has this method.
bool has_method(const PreimageProblem& problem, PreimageMethod method);

// Points begin .. begin + count - 1; `check` is called once a step and may throw to cancel.
PreimageCandidate solve_block(const PreimageProblem& problem, const PreimagePoints& points, Index begin, Index count,
                              std::function<void()> check);

}  // namespace mercer
