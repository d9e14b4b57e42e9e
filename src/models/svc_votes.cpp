// SPDX-License-Identifier: BSD-3-Clause
#include "models/svc_votes.hpp"

#include <cmath>

namespace mercer {

namespace {

// Votes of the pairs, and the sums of their decision values.
struct Votes {
  Matrix votes;
  Matrix sums;
};

Votes votes_of(const Matrix& f, Index classes) {
  Votes out{Matrix::Zero(f.rows(), classes), Matrix::Zero(f.rows(), classes)};
  for_pairs(classes, [&](Index pair, Index a, Index b) {
    for (Index i = 0; i < f.rows(); ++i) {
      if (std::isnan(f(i, pair))) continue;
      out.votes(i, f(i, pair) >= 0 ? a : b) += 1;
      out.sums(i, a) += f(i, pair);
      out.sums(i, b) -= f(i, pair);
    }
  });
  return out;
}

Matrix squeezed(const Votes& v) { return v.votes + (v.sums.array() / (3 * (v.sums.array().abs() + 1))).matrix(); }

}  // namespace

Matrix pair_scores(const Matrix& decision, Index classes) { return squeezed(votes_of(decision, classes)); }

std::vector<Index> chosen_classes(const Matrix& f, Index classes, MultiClass multi_class, bool break_ties) {
  if (classes == 2) {
    std::vector<Index> out(static_cast<std::size_t>(f.rows()));
    for (Index i = 0; i < f.rows(); ++i) out[static_cast<std::size_t>(i)] = f(i, 0) > 0 ? 1 : 0;
    return out;
  }
  if (!by_pairs(multi_class, classes)) return largest_columns(f);
  const Votes votes = votes_of(f, classes);
  return largest_columns(break_ties ? squeezed(votes) : votes.votes);
}

std::vector<Index> largest_columns(const Matrix& scores) {
  std::vector<Index> out(static_cast<std::size_t>(scores.rows()));
  for (Index i = 0; i < scores.rows(); ++i) scores.row(i).maxCoeff(&out[static_cast<std::size_t>(i)]);
  return out;
}

}  // namespace mercer
