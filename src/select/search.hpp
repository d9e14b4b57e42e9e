// Choosing model, kernel and penalty, cheap candidates first, within a time budget.
//
// Inside a family candidates are compared by what is cheapest and exact there (families.hpp); the best of each family then meet on the same
// folds of the same rows. What is tried depends on the data and the options alone; the budget only cuts the list short.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <span>

#include "mercer/folds.hpp"
#include "mercer/learn.hpp"

namespace mercer {

struct PresentClasses;

// What a search learns from: samples ready for a kernel, and numbers or class indices.
struct Problem {
  Samples X;
  Vector y;                          // numbers, or class indices
  std::vector<std::string> classes;  // empty: regression
  std::vector<Index> groups;         // of each row; empty: none
  bool time_ordered = false;

  bool classification() const { return !classes.empty(); }
  Index n_classes() const { return static_cast<Index>(classes.size()); }
  bool exchangeable() const { return groups.empty() && !time_ordered; }  // leaving out one row is leaving out what it knows
  Problem subset(std::span<const Index> rows) const;
  // At most so many rows, every class in proportion, and some of each; of rows in the order of time the last ones.
  std::vector<Index> sample_rows(Index most, std::uint64_t seed) const;
  Problem sample(Index most, std::uint64_t seed) const;
  // The columns a regression is fitted to: y itself; for two classes one column of -1 and +1; for more one such column per class.
  Matrix targets() const;
  // A sample whose folds have something to tell apart; where there is none, all rows.
  Problem sample_for_folds(Index most, Index k, std::uint64_t sample_seed, std::uint64_t fold_seed) const;
  // At most k, each with something to tell apart in its training part; groups stay whole.
  std::vector<Fold> folds(Index k, std::uint64_t seed) const;
  // A part of the rows may lack a class altogether: those that are there, numbered anew.
  PresentClasses present_classes() const;

 private:
  std::vector<Fold> useful_folds(Index k, std::uint64_t seed) const;
  std::vector<Fold> any_folds(Index k, std::uint64_t seed) const;
};

struct PresentClasses {
  std::vector<Index> classes;  // in the numbers of the whole
  Problem problem;             // numbered 0 .. among them
};

// Rows of a sparse file that are full of numbers, as dense ones: their products are several times as fast.
Samples dense_where_full(const Samples& X);

// What a model says of samples: numbers, or class indices.
Vector answers(const SavedModel& model, const Samples& X, bool classification, const Run& run);
// The standard deviation of targets, 1 where they are all equal: what penalties of support vector regression are relative to.
double spread_of(const Vector& y);
// RMSE, or the share of right answers.
double score_of(const Vector& truth, const Vector& predicted, bool classification);

struct SearchOptions {
  std::string model;             // "auto", or a word of `mercer fit`
  std::optional<Kernel> kernel;  // given: the only one
  Index folds = 5;
  Index rows = 5000;  // to compare candidates on, at most
  std::uint64_t seed = 0;
  double budget_seconds = 120;
  Run run;
};

struct SearchResult {
  std::vector<Candidate> candidates;  // best first; those that were judged otherwise than on the folds behind
  Candidate best;
  Candidate linear;         // the best linear one, tried in any case as a reference
  std::vector<Index> rows;  // those searched on
  Problem problem;          // made of them
  std::vector<Fold> folds;
  std::vector<std::string> notes;
};

SearchResult search(const Problem& problem, const SearchOptions& options);

// The candidate as a fitted model. `library` has the functions that a kernel of the user's needs.
AnyModel fit_candidate(const Candidate& candidate, const Problem& problem, const KernelLibrary& library, const Run& run);

// Predictions for rows by models that have not seen them: as `predict` of the model gives them, a column per score. NaN where no fold
// tests a row.
Matrix out_of_fold(const Candidate& candidate, const Problem& problem, const std::vector<Fold>& folds, const KernelLibrary& library,
                   const Run& run);

// Mean and deviation over folds go into the candidate.
void score_on_folds(Candidate& candidate, const Problem& problem, const std::vector<Fold>& folds, const KernelLibrary& library,
                    const Run& run);

// The words that learn knows, for a task.
const std::vector<std::string>& models_for(bool classification);

}  // namespace mercer
