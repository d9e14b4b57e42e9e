// What `mercer changes` and `mercer drift` share: tables whose rows are in time order. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "files.hpp"

namespace mercer::cli {

struct SeriesOptions {
  CommonOptions common{};
  ReadingOptions reading{};
  EncodeOptions encode{.target = {}, .no_target = true, .drop = {}, .scaling = ScalingKind::standard};
  std::vector<std::string> columns{};  // looked at; empty: all
  std::string time{};                  // a column that names the rows
  std::optional<Kernel> kernel{};
  std::string gram{};  // a file of kernel values in place of a kernel and columns
  std::uint64_t seed = 0;
  std::string out{};
  std::string report{};
  std::string command_line{};
};

void add_series(CLI::App& command, SeriesOptions& o, const std::string& position, Invocation& invocation);
void add_series_outputs(CLI::App& command, SeriesOptions& o, const std::string& answers);

// Features of the chosen columns, scaled; the notes are said.
Dataset series_of(const Table& table, const SeriesOptions& o, const Speaker& speaker);
// The column that names the rows as words, empty when none was asked for.
std::vector<std::string> times_in(const Table& table, const std::string& name);
Kernel kernel_for(const SeriesOptions& o, const Dataset& data);

}  // namespace mercer::cli
