// The two-class problems behind a support vector classifier: which samples meet, and what the engine makes of them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "models/svm_rows.hpp"

namespace mercer {

enum class SvcForm : std::uint8_t { penalty, nu, hard_margin };

// What the two families of options have in common, checked.
struct SvcTask {
  SvcForm form = SvcForm::penalty;
  double C = 1;
  double nu = 0.5;
  bool fit_intercept = true;
  MultiClass multi_class = MultiClass::one_vs_one;
  std::vector<Index> labels{};
  Index classes = 0;
  Vector weights{};  // class times sample weights, one per sample
  SvmSolver solver{};
  double spread = 0;  // of the samples in the feature space: the largest squared distance from the first; nu and hard margins
};

// One function of the classifier: positive for class `positive`, negative for class `negative` (-1: all others).
struct Machine {
  Index positive = 0;
  Index negative = 0;
  std::vector<Index> samples{};  // the positive ones first
  Index positives = 0;
  // Filled in by solve:
  Vector b{};         // signed coefficients, one per sample
  Vector decision{};  // f of every sample
  double intercept = 0;
  double squared_norm = 0;
};

// Pairs 01, 02, ..., 12, ... or one class against the rest; for two classes one machine that is positive for the second.
std::vector<Machine> make_machines(const SvcTask& task);

// Solves one machine. Samples whose `use` is 0 keep b = 0 but get a decision value (empty: all are used); `start` may be empty.
void solve_machine(const SvcTask& task, const SvmRows& rows, Machine& machine, const std::vector<char>& use, const Vector& start,
                   double time_limit, const Run& run, SvmSummary& summary);

// The largest nu that is feasible for a machine on the samples in use.
double largest_nu(const SvcTask& task, const Machine& machine, const std::vector<char>& use);

// The largest |b| that a problem of this task can have.
double largest_coefficient(const SvcTask& task);

}  // namespace mercer
