// One self-contained HTML page: text, tables and Vega-Lite charts, works offline, light and dark, printable.
// Everything that comes from users (column names, cells, file names) is data: escaped in HTML and in script.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mercer/learn.hpp"

namespace mercer {

// The page of a `learn` run. `command` is what a person types to get it again.
std::string learn_report(const LearnResult& result, const std::string& source, const std::string& command);
// Written to a temporary name and renamed. Throws FileError.
void write_text_file(const std::string& text, const std::string& path);
// False when the tool was built without the chart libraries; pages then say how to get them.
bool charts_available();

}  // namespace mercer
