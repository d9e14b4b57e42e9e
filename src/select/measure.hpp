// How good a fitted model is on rows that it has not seen. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "select/search.hpp"

namespace mercer {

Evaluation evaluate(const Vector& truth, const Vector& predicted, const Problem& problem, std::uint64_t seed);
// What one would say without looking at the features: the mean, or the most frequent class.
double naive_answer(const Problem& train);

// Of scores (NaN: not scored) of rows of class 0 or 1; one point per distinct score.
ThresholdCurve threshold_curve(const Vector& truth, const Vector& scores);
// The threshold of largest recall whose precision reaches `wanted`, counted as if one more "yes" were wrong: a threshold chosen as the best
// of many looks better than it is. Where none does, the one of best precision. The test part of the point is not filled.
struct ChosenPoint {
  OperatingPoint point{};
  bool reached = false;
};
ChosenPoint choose_operating_point(const ThresholdCurve& curve, const Vector& truth, const Vector& scores, double wanted);
// The same for precisions that people ask for, with what each threshold gives on the test rows; those that the folds do not reach are left
// out.
std::vector<OperatingPoint> precision_trade(const ThresholdCurve& curve, const Vector& truth, const Vector& scores,
                                            const Vector& test_truth, const Vector& test_scores);
// A model of two classes whose score is less by `threshold`: it says "yes" where the first one's score exceeds that.
AnyModel with_threshold(const AnyModel& model, double threshold);

// Half the width of an interval that holds a new value with probability `level`, from residuals of rows not seen (NaN: none).
double interval_half_width(const Vector& residuals, double level);

}  // namespace mercer
