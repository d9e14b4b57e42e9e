// The charts of a `learn` run, as Vega-Lite specifications. A chart that the result has nothing for is left out.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "mercer/learn.hpp"
#include "report/page.hpp"

namespace mercer::report {

bool is_classification(const LearnResult& result);
std::string target_name(const LearnResult& result);
std::string class_name(const LearnResult& result, Index c);
nlohmann::json class_names(const LearnResult& result);
// A colour for each class, the same in all charts of the page.
nlohmann::json class_color(const LearnResult& result, const char* field);
// A held-out row by its line in the file, or by its number where lines are not known.
std::int64_t row_name(const LearnResult& result, Index i);
nlohmann::json row_tip(const LearnResult& result);

// Numbers: predicted against true, residuals as a histogram and against the prediction, intervals.
std::vector<Chart> number_charts(const LearnResult& result);
// Classes: the confusion matrix; of two, the scores of each.
std::vector<Chart> class_charts(const LearnResult& result);
// Two classes: ROC, precision and recall, calibration of probabilities.
std::vector<Chart> threshold_charts(const LearnResult& result);
// The fitted function of one column, or of two.
std::vector<Chart> shape_charts(const LearnResult& result);
// Eigenvalues of the Gram matrix.
std::vector<Chart> spectrum_charts(const LearnResult& result);
// What shuffling each column costs.
std::vector<Chart> importance_charts(const LearnResult& result);

// The best of each family side by side.
std::vector<Chart> family_charts(const LearnResult& result);
// Cross-validated score over the candidates of each family, best family first: a heat map where the kernel's number and the penalty vary
// (and paths over the penalty, for the best), a line where one does.
std::vector<Chart> search_charts(const LearnResult& result);

}  // namespace mercer::report
