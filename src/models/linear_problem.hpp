// One linear support vector problem, min over w of P(w) = |w|^2 / 2 + sum_i C_i loss(m_i) with m = 1 - y * (X w), and its dual,
// max over 0 <= a_i (<= C_i for the hinge) of D(a) = sum a - |X'(y a)|^2 / 2 - sum a_i^2 / (4 C_i) (the last for the squared hinge alone).
// P(w) - D(a) bounds what either could still gain; it is what fits end on.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "mercer/run.hpp"
#include "models/linear_rows.hpp"

namespace mercer {

struct LinearProblem {
  const LinearRows& rows;
  Vector y;  // -1 or 1
  Vector C;  // > 0
  bool squared = true;
};

struct LinearStop {
  double tolerance = 1e-6;  // on the gap, relative to P
  Index max_iterations = 1000;
};

struct LinearSolution {
  Vector w;
  Vector a;  // feasible
  double objective = 0;
  double gap = 0;
  Index iterations = 0;
  std::string status{};
};

// P, D and their difference at w and a, from fresh products; returns the gap and puts P into `objective`.
double duality_gap(const LinearProblem& problem, const Vector& w, const Vector& a, double& objective);

// Calls part(begin, end) on fixed pieces of 0 .. n-1, in parallel, and adds what they return in order.
template <class Sum, class Part>
Sum sum_pieces(Index n, const Part& part) {
  constexpr Index piece = 8192;
  const Index count = (n + piece - 1) / piece;
  std::vector<Sum> sums(static_cast<std::size_t>(count));
  const auto one = [&](Index k) { sums[static_cast<std::size_t>(k)] = part(k * piece, std::min(n, (k + 1) * piece)); };
  if (count <= 2) {
    for (Index k = 0; k < count; ++k) one(k);
  } else {
    parallel_for(count, one);
  }
  Sum total{};
  for (const Sum& s : sums) total += s;
  return total;
}

}  // namespace mercer
