// From decision values of the functions of a support vector classifier to classes: what fitted models and folds of a search share.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "mercer/svm.hpp"

namespace mercer {

// Calls f(pair, a, b) for the pairs 01, 02, ..., 12, ...
template <class F>
void for_pairs(Index classes, F&& f) {
  Index pair = 0;
  for (Index a = 0; a < classes; ++a) {
    for (Index b = a + 1; b < classes; ++b) f(pair++, a, b);
  }
}

inline bool by_pairs(MultiClass multi_class, Index classes) { return classes > 2 && multi_class == MultiClass::one_vs_one; }

// Columns of decision values.
inline Index function_count(MultiClass multi_class, Index classes) {
  return classes == 2 ? 1 : by_pairs(multi_class, classes) ? classes * (classes - 1) / 2 : classes;
}

// Votes of the pairs with their summed decision values squeezed below one vote. A pair without a machine is NaN and has no vote.
Matrix pair_scores(const Matrix& decision, Index classes);

// The class of each row: positive for the second of two; of most votes (of equals the first, or with break_ties that of the largest sum);
// or of the largest function.
std::vector<Index> chosen_classes(const Matrix& decision, Index classes, MultiClass multi_class, bool break_ties);

// The column of the largest number of each row, of equals the first.
std::vector<Index> largest_columns(const Matrix& scores);

}  // namespace mercer
