// What the support vector machines of the command line share: their options, and the run from data to a saved model.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

#include "fit.hpp"
#include "libsvm_options.hpp"

namespace mercer::cli {

enum class Machine : std::uint8_t { svc, nu_svc, svr, nu_svr, one_class };

struct SvmCommand : FitOptions {
  Machine machine = Machine::svc;
  double C = -1;  // not given: chosen
  double lambda = -1;
  double nu = 0.5;
  double epsilon = 0.1;
  bool hard_margin = false;
  bool balanced = false;
  bool probability = false;
  std::optional<bool> intercept{};
  MultiClass multi_class = MultiClass::one_vs_one;
  double tolerance = 1e-3;
  std::int64_t max_iterations = 0;
  double time_limit = 0;
  std::chrono::steady_clock::time_point begin{};
  std::optional<Precision> precision{};
  bool scaling_is_given = false;
  std::string libsvm_text{};
  std::optional<LibsvmOptions> libsvm{};

  bool classify() const { return machine == Machine::svc || machine == Machine::nu_svc; }
  bool has_C() const { return machine == Machine::svc || machine == Machine::svr || machine == Machine::nu_svr; }
};

// The whole job of one command.
void run_svm(SvmCommand o);

}  // namespace mercer::cli
