// What the charts of all pages are made of.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>

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

}  // namespace mercer::report
