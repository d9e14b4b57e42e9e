// Candidates of a search by family: those of one model and one kind of kernel, which differ in the kernel's leading number (its length
// scale) and in the penalty. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <string>
#include <vector>

#include "mercer/learn.hpp"

namespace mercer::report {

struct Cell {
  double scale = 0;  // 0 when the kernel has no leading number
  double penalty = 0;
  double score = 0;
  double deviation = 0;
  std::string judged_by;
};

struct Family {
  std::string name;                    // "krr, gaussian"
  std::string scale_word;              // "length scale", "degree"
  std::string penalty_word;            // "alpha", "C"
  bool reference = false;              // only to compare with
  std::vector<Cell> cells;             // in the order of the candidates
  std::set<double> scales, penalties;  // those of its cells
  std::ptrdiff_t best = -1;            // of the cells; -1: none has a score
  std::ptrdiff_t worst = -1;

  const Cell& best_cell() const { return cells[static_cast<std::size_t>(best)]; }
  const Cell& worst_cell() const { return cells[static_cast<std::size_t>(worst)]; }
};

// The family of the chosen candidate first, the others by their best score, those without a score last.
std::vector<Family> families_of(const LearnResult& result);

// The text of a kernel with four digits of each number: a length scale that was optimised has seventeen.
std::string short_kernel(const std::string& text);

// "gaussian(0.5)" is "gaussian" with 0.5, "matern(1.5, 2)" is "matern(1.5, ...)" with 2. Other kernels (sums, products, a scale per
// column) stay whole, with 0.
struct SplitKernel {
  std::string family;
  std::string word;
  double value = 0;
};
SplitKernel split_kernel(const std::string& text);

}  // namespace mercer::report
