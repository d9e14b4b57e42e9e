// Tables that arrive a few rows at a time. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "files.hpp"

namespace mercer::cli {

// visit(table) for the rows of a file, or, of standard input, for the rows that are there whenever some are: an end of line ends a row.
// Compressed and binary input is read to its end first.
void for_each_arrival(const ReadingOptions& reading, const std::string& path, const CommonOptions& common,
                      const std::function<void(const Table&)>& visit);

}  // namespace mercer::cli
