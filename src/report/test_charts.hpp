// The charts of pages about statistical tests, as Vega-Lite specifications.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "mercer/test_report.hpp"
#include "report/page.hpp"

namespace mercer::report {

// The null distribution as a histogram, the statistic and the threshold as lines in it.
Chart null_chart(const TestReport& report);
// The witness as a line, the rows of the samples as ticks under it.
Chart witness_curve_chart(const WitnessCurve& curve, const std::vector<std::string>& samples);
// The witness as colours over two columns, with the rows on it.
Chart witness_map_chart(const TestReport& report);
// The rows by two columns, coloured by sample.
Chart rows_chart(const TestReport& report);
// What each column carries, as bars; the largest first.
Chart contributions_chart(const std::vector<ColumnContribution>& columns);
// Two variables against each other, by their kinds.
Chart pair_chart(const ColorColumn& x, const ColorColumn& y);
// p-values of tests whose null holds by construction: flat where the level is right.
Chart level_chart(const Vector& p_values, double level);

}  // namespace mercer::report
