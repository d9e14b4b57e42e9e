// From the statistics of many kernels under the same exchanges to one p-value: the combination step of MMDAgg and HSICAgg.
//
// Notation: T_jk the statistic of kernel k, j = 0 as observed, j = 1 .. B1 and B1+1 .. B1+B2 the exchanges; w_k weights with sum 1.
//   p_jk = (1 + #{b <= B1: T_bk >= T_jk}) / (B1 + 1)     for j = 0 and j > B1
//   m_j  = min_k p_jk / w_k                              the weighted Bonferroni p-value of labelling j
//   p    = (1 + #{j > B1: m_j <= m_0}) / (B2 + 1)        the adjusted p-value
//   u    = the largest with (1 + #{j > B1: m_j < u}) / (B2 + 1) <= level; kernel k rejects where p_0k < u w_k, some kernel does iff
//          p <= level
// Given the first B1 exchanges, m_0 and the m_j are the same function of labellings that are exchangeable under the null, so P(p <= level)
// <= level whatever B1, B2, the kernels and the weights are. (Published forms count without the 1 + and hold the level up to 1/B2; they
// find u by bisection, here it is an order statistic.) Statistics above all B1 exchanges would all have p = 1/(B1 + 1), and the adjusted
// p-value could not go below about (kernels that differ)/B1; there ranks go on by distance, p = 1/((B1 + 1)(1 + (T - largest)/deviation)).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/aggregated_tests.hpp"

namespace mercer::stats {

struct Aggregation {
  double p_value = 1;
  double correction = 0;  // u
  double statistic = 0;   // -log10 m_0
  Vector null{};          // -log10 m_j, B2 of them
  double tolerance = 0;   // of ties among them
  Vector p_values{};      // p_0k, by ranks alone
  Vector thresholds{};    // of T_0k
  std::vector<bool> rejected{};
};

// T: 1 + B1 + B2 rows, one column a kernel. Statistics of kernel k nearer than tolerance[k] are ties.
Aggregation aggregate(const Matrix& T, Index quantile_draws, const Vector& weights, const Vector& tolerance, double level);

// What the aggregated tests answer with, all but the question and the sentence: `statistics` are those of the table, in float64.
AggregatedResult aggregated_result(const Matrix& T, Index quantile_draws, const Vector& weights, const Vector& tolerance,
                                   const Vector& statistics, double level);

}  // namespace mercer::stats
