// Families of candidates, each with its own quick way to compare its members. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

#include "select/search.hpp"

namespace mercer {

// What is left of the budget.
class Countdown {
 public:
  explicit Countdown(double seconds) : seconds_(seconds) {}
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool over() const { return elapsed() > seconds_; }
  double left() const { return std::max(1.0, seconds_ - elapsed()); }  // something is always tried

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  double seconds_;
};

// What a family is asked: the rows, the folds that decide between families, and kernels to try where none was given.
struct FamilyTask {
  const Problem& problem;
  const std::vector<Fold>& folds;
  const SearchOptions& options;
  const KernelLibrary& library;
  const Countdown& clock;
  std::vector<Kernel> kernels;
  std::string folds_text;
};

// Each gives all that it tried, what was judged on most rows first. Those with a score on the folds say so in judged_by; of the others the
// best few are worth a turn there.
std::vector<Candidate> try_linear(const FamilyTask& task);        // ridge, or linear-svc for classes: on the folds
std::vector<Candidate> try_kernel_ridge(const FamilyTask& task);  // leave-one-out on up to 600 rows, of the best kernels on up to 1500
std::vector<Candidate> try_svc(const FamilyTask& task);  // all kernels on up to 1500 rows, then the best and what lies about it on all
std::vector<Candidate> try_svr(const FamilyTask& task);  // the same on up to 1500 rows
std::vector<Candidate> try_gaussian_process(const FamilyTask& task);  // a length scale per column by the evidence of up to 600 rows
std::vector<Candidate> try_by_folds(const FamilyTask& task, const std::string& model);  // any other: fold by fold

// Gaussian, Laplacian and Matern kernels of several widths about the median distance, and polynomials; `rich` has more of them.
std::vector<Kernel> kernels_about(const Samples& X, bool rich);
std::vector<Kernel> gaussians_about(const Samples& X);

// Sorted best first; what was abandoned, or is not a number, last.
void sort_candidates(std::vector<Candidate>& candidates, bool classification);

}  // namespace mercer
