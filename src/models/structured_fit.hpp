// What the machines with structured outputs share: options to weights, the run of the solver with its summary, w as a vector, and Viterbi's
// recursion.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <vector>

#include "mercer/structured_svm.hpp"
#include "solvers/frank_wolfe.hpp"

namespace mercer {

// C of each example; checks the options.
Vector structured_weights(const StructuredSvmOptions& options, Index examples);

// The C that the weights of the examples multiply.
inline double common_C(const StructuredSvmOptions& o, const Vector& C) {
  return o.sample_weight.size() > 0 ? C.sum() / o.sample_weight.sum() : C[0];
}

// The solver on a space, with every thread the options allow, and what there is to say of it. `what` names the examples and their size.
StructuredSvmSummary run_structured(solvers::PlaneSpace& space, const StructuredSvmOptions& options, const Vector& C,
                                    std::chrono::steady_clock::time_point start, std::size_t bytes, const std::string& what);

// Sorted, without zeros; an index that comes twice is added up. Throws InvalidArgument for numbers that no w of this dimension takes.
solvers::Plane plane_of(StructuredAnswer answer, Index dimension);

// Rows of numbers are wanted: objects and given kernel values are refused.
void require_columns(const Samples& X, const char* machine);
void require_linear(const StructuredSvmOptions& options, const char* machine);

// argmax over y of sum_t unary(t, y_t) + sum_t transition(y_t, y_t+1) + start(y_first) + end(y_last); of equals the one whose labels, read
// from the last position, are smaller. Cost: t L^2.
std::vector<Index> viterbi(const Matrix& unary, const Matrix& transition, const Vector& start, const Vector& end);

// The places of scores in descending order, 0 for the largest; of equal scores the first is before.
std::vector<Index> places_of(const Eigen::Ref<const Vector>& scores);

}  // namespace mercer
