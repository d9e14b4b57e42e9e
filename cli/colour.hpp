// Colours, sparingly: what went wrong, what was meant, headings and verdicts. Only on a terminal; NO_COLOR and TERM=dumb turn them off,
// CLICOLOR_FORCE on. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace mercer::cli {

enum class Style : std::uint8_t { heading, error, warning, hint };

bool colours_on(std::FILE* stream);

// The text as it should stand on this stream: as it is, where there are no colours.
std::string painted(std::FILE* stream, Style style, const std::string& text);
// The same for the first line alone: the heading of a table.
std::string with_heading(std::FILE* stream, const std::string& text);
// The same for the headings of a help text: lines that begin at the left and end in a colon.
std::string help_text(std::FILE* stream, const std::string& text);

// "mercer: ..." on standard error, what was meant standing out.
void print_error(const std::string& message);
void print_warning(const std::string& message);

}  // namespace mercer::cli
