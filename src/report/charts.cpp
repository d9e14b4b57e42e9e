// The chart script as the build embedded it (cmake/charts.cmake), or nothing.
// SPDX-License-Identifier: BSD-3-Clause
#include <string_view>

#include "mercer/report.hpp"
#include "report/page.hpp"

#ifdef MERCER_CHARTS
extern "C" {
extern const char mercer_charts_begin[];
extern const char mercer_charts_end[];
}
#endif

namespace mercer {

namespace report {

std::string_view chart_script() {
#ifdef MERCER_CHARTS
  return {mercer_charts_begin, static_cast<std::size_t>(mercer_charts_end - mercer_charts_begin)};
#else
  return {};
#endif
}

}  // namespace report

bool charts_available() { return !report::chart_script().empty(); }

}  // namespace mercer
