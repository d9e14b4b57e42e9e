// The options --learn-kernel, --ard and their companions, for every `mercer fit` whose model has a kernel.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "fit.hpp"

namespace mercer::cli {

struct KernelLearningOptions {
  std::optional<KernelObjective> objective{};  // not given: the kernel is taken as it is
  bool ard = false;
  std::int64_t rows = 2000;
  std::int64_t restarts = 2;
};
void add_kernel_learning(CLI::App& command, KernelLearningOptions& o);

// What a model goes on with.
struct KernelChoice {
  Kernel kernel;
  std::optional<double> alpha{};  // learned; empty where nothing was learned or alpha was given
  Json json{};                    // null where nothing was learned
  std::string text{};             // for people: lines, each with its end
};

// The kernel learned from the training rows, or `kernel` where that was not asked for. `alpha`: what the user gave; it is kept then.
KernelChoice choose_kernel(const KernelLearningOptions& o, const Training& t, const Kernel& kernel, std::optional<double> alpha,
                           bool intercept, std::uint64_t seed, const CommonOptions& common);

}  // namespace mercer::cli
