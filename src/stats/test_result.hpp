// The parts that all tests share: counting, thresholds, laws with a formula, and the sentence.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <string_view>

#include "mercer/kernels.hpp"
#include "mercer/test_result.hpp"

namespace mercer::stats {

// Throws InvalidArgument unless 0 < level < 1.
void require_level(double level);

// What rounding may do to a statistic whose terms have this size: statistics nearer than that are ties.
double tie_tolerance(double scale);

// (1 + #{null >= statistic - tolerance}) / (1 + B); 1 where the statistic is not a number.
double exchange_p_value(double statistic, const Vector& null, double tolerance);

// The value that a statistic must exceed for (1 + #{null >= statistic}) / (1 + B) <= level; infinity when B is too small for the level.
double exchange_threshold(const Vector& null, double level);

// p_value, threshold and null from the statistics of B exchanges; `observed` is the statistic as computed beside them, with the same
// rounding.
void judge_by_exchanges(TestResult& result, double observed, Vector null, double tolerance);

// p_value, threshold and 1000 quantiles of a law: its upper tail P(T >= t) and its quantile function.
void judge_by_law(TestResult& result, const std::function<double(double)>& upper_tail, const std::function<double(double)>& quantile);

// Says in the remarks what is wrong with the kernel on these samples (kernel_remarks), and what a kernel that is not characteristic cannot
// see; `what` is what the test looks for ("difference", "dependence").
void remark_on_kernel(TestResult& result, const Kernel& kernel, const Samples& X, std::string_view what);

// Says that the exchanges differ by no more than the rounding of the kernel values, and what helps.
void remark_on_rounding(TestResult& result);

// Says that these draws are too few for the level, where they are and no remark on them is there yet; conclude() does.
void remark_on_draws(TestResult& result);

// Says how many different exchanges there are, where they are too few for the level; `log_count` is their logarithm, the data as they are
// among them.
void remark_on_exchanges(TestResult& result, double log_count);

// rejected, seconds and the sentence: "<yes> : mmd-u = ..., p = ..." or "<no>..."; remark_on_draws.
void conclude(TestResult& result, std::string_view when_rejected, std::string_view when_not, std::chrono::steady_clock::time_point start);

// "0.0123", "< 1e-300": a p-value as people write it.
std::string p_text(double p);

}  // namespace mercer::stats
