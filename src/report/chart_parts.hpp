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

struct Range {
  double low, high;
};
// The range of the values with a margin, never empty.
Range padded_range(double low, double high);

// Every so manieth row is drawn, so that a page stays swift.
Index stride_for(Index n);
std::string shown_of(Index n);  // "2 000 of 9 000"

std::string percent(double fraction);  // "12.3 %"; a dash when there is none

nlohmann::json finite(double value);  // null where there is no number

constexpr std::size_t most_words = 20;     // that a chart has colours for
constexpr const char* others = "(other)";  // the words beyond them
// The words in the order of a legend, numbers in theirs; of very many, the most frequent.
std::vector<std::string> legend_of(const std::vector<std::string>& words);

}  // namespace mercer::report
