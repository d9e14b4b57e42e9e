// Choosing kernel and penalty by K-fold cross-validation, cheap candidates first, within a time budget.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "mercer/folds.hpp"
#include "mercer/learn.hpp"

namespace mercer {

// What a search learns from: samples ready for a kernel, and targets as columns (one per number, or +1 / -1 per class).
struct Problem {
  Samples X;
  Vector y;                          // numbers, or class indices
  std::vector<std::string> classes;  // empty: regression

  bool classification() const { return !classes.empty(); }
  Index n_classes() const { return static_cast<Index>(classes.size()); }
  Problem subset(std::span<const Index> rows) const;
  // The columns a regression is fitted to: y itself; for two classes one column of -1 and +1; for more one such column per class.
  Matrix targets() const;
};

// The same question for both kinds of task: what does a model say about samples, as numbers or as class indices?
Vector decide(const Matrix& scores, bool classification);

// RMSE, or the share of right answers.
double score_of(const Vector& truth, const Vector& predicted, bool classification);

struct SearchOptions {
  std::string model;             // "auto", "krr", "ridge"
  std::optional<Kernel> kernel;  // given: the only one
  Index folds = 5;
  std::uint64_t seed = 0;
  double budget_seconds = 120;
  Run run;
};

struct SearchResult {
  std::vector<Candidate> candidates;  // best first
  Candidate linear;                   // the best linear one, tried in any case as a reference
  Index n_rows = 0;                   // that were searched on
  std::vector<std::string> notes;
};

// Every candidate is scored on the same folds. At least one candidate of each model is always tried.
SearchResult search(const Problem& problem, const SearchOptions& options);

// The candidate as a fitted model.
// `library` has the functions that a kernel of the user's needs.
AnyModel fit_candidate(const Candidate& candidate, const Problem& problem, const KernelLibrary& library, const Run& run);

}  // namespace mercer
