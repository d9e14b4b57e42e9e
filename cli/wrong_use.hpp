// What is said when words of the command line are not known, or do not fit: what, what was got, what there is, what was meant.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace mercer::cli {

// Throws UsageError for a command, model or method that there is not, or that is missing. CLI11 would say only that something was not
// expected.
void check_command_words(const CLI::App& app, const std::vector<std::string>& words, std::size_t from = 0);

// The message for what CLI11 found wrong.
std::string wrong_use_of(const CLI::App& app, const CLI::ParseError& error);

}  // namespace mercer::cli
