// What `mercer learn` is asked and what it says. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "files.hpp"
#include "options.hpp"

namespace mercer::cli {

struct LearnCommandOptions {
  CommonOptions common{};
  ReadingOptions reading{};
  LearnOptions learn{};
  std::string test{};
  std::int64_t folds = 5;
  std::string out{};
  std::string report{};
  std::string command_line{};
};

Json learn_json(const LearnCommandOptions& o, const LearnResult& result);
void say_learned(const LearnCommandOptions& o, const LearnResult& result);

}  // namespace mercer::cli
