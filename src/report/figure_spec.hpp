// Figures of plain values as Vega-Lite specifications. Colours are CSS variables, so that pictures follow the page into dark mode.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include "mercer/figure.hpp"
#include "report/page.hpp"

namespace mercer::report {

nlohmann::json figure_spec(const Figure& figure);
Chart figure_chart(const Figure& figure);

// Throws InvalidArgument where the sizes of a layer do not agree, or a mark is given what it does not draw.
void check_layers(const Figure& figure);

}  // namespace mercer::report
