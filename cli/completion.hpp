// Scripts that complete words of the command line in a shell.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "words.hpp"

namespace mercer::cli {

std::string bash_completion(const CommandWords& root);
std::string zsh_completion(const CommandWords& root);

// The script with marks like @OPTIONS@ replaced.
std::string filled_in(std::string script, const std::vector<std::pair<std::string, std::string>>& parts);

}  // namespace mercer::cli
