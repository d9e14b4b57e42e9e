// What the charts of all pages are made of.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "mercer/matrix.hpp"

namespace mercer::report {

nlohmann::json chart_base(int height);
// An axis of numbers that need not begin at 0.
nlohmann::json quantitative(const char* field, const std::string& title);
nlohmann::json tooltip(const char* field, const std::string& title);
nlohmann::json text_tip(const char* field, const std::string& title);
nlohmann::json share_tip(const char* field, const std::string& title);  // as a percentage

// JSON has no NaN and no infinity: null, which charts leave out.
nlohmann::json finite(double value);

struct Range {
  double low, high;
};
// The range of the values with a margin, never empty.
Range padded_range(double low, double high);
// An axis over just that range.
nlohmann::json axis_of(const char* field, const std::string& title, Range range);

// Counts of the values in bins of equal width, as {a, b, n}: from, to, how many.
nlohmann::json histogram(const Vector& values, Range range, Index bins);
// How many bins so many values deserve.
Index bins_for(Index n, Index least = 6);
// A straight dashed line in soft ink, what to compare with: a layer over the fields that the chart's own encoding names.
nlohmann::json guide_line(const char* x, const char* y, double x1, double y1, double x2, double y2);

// Every so manieth row is drawn, so that a page stays swift.
Index stride_for(Index n);
std::string shown_of(Index n);  // "2 000 of 9 000"

std::string percent(double fraction);  // "12.3 %"; a dash when there is none

constexpr std::size_t most_words = 20;     // that a chart has colours for
constexpr const char* others = "(other)";  // the words beyond them
// The words in the order of a legend, numbers in theirs; of very many, the most frequent.
std::vector<std::string> legend_of(const std::vector<std::string>& words);

}  // namespace mercer::report
