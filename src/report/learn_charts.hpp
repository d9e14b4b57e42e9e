// The charts of a `learn` run, as Vega-Lite specifications.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "mercer/learn.hpp"
#include "report/page.hpp"

namespace mercer::report {

bool is_classification(const LearnResult& result);
std::string target_name(const LearnResult& result);

// Cross-validated score over the candidates of each family: a heat map over length scale and alpha, or a line where only one varies.
std::vector<Chart> search_charts(const LearnResult& result);
// Predicted against true values and the residuals, or the confusion matrix. Empty without held-out rows.
std::vector<Chart> outcome_charts(const LearnResult& result);
// Training points and the fitted function of a single feature. Empty when there is none.
std::vector<Chart> curve_charts(const LearnResult& result);

}  // namespace mercer::report
