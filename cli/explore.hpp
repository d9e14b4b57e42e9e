// What `mercer embed` and `mercer cluster` share: tables without a target to learn, and a column kept aside to colour or compare by.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

#include "files.hpp"

namespace mercer::cli {

struct ExploreOptions {
  CommonOptions common{};
  ReadingOptions reading{};
  EncodeOptions encode{.target = {}, .no_target = true, .drop = {}, .scaling = ScalingKind::standard};
  std::string target{};  // a column that is no feature, kept beside the answers
  std::string color{};   // another, or the same
  std::optional<Kernel> kernel{};
  std::string gram{};  // a file of kernel values in place of a kernel and columns
  std::string out{};
  std::string model{};
  std::string report{};
  std::string command_line{};

  const std::string& source() const { return reading.path.empty() ? gram : reading.path; }
};

void add_exploring(CLI::App& command, ExploreOptions& o, Invocation& invocation);
// --kernel with its tables, and --gram in place of it.
CLI::Option* add_exploring_kernel(CLI::App& command, ExploreOptions& o, const std::string& words);
// --out for the answers, and --report.
void add_exploring_outputs(CLI::App& command, ExploreOptions& o, const std::string& answers);

struct Exploration {
  Dataset data;
  std::vector<Column> kept{};      // the target, then the colour, if there are any
  ColorColumn color{};             // for the report; empty: none
  std::string target{};            // name of that column; empty: none
  std::optional<Kernel> kernel{};  // asked for, or chosen for columns of objects, or that of a given Gram matrix
  std::chrono::steady_clock::time_point start{};

  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); }
};

// Reads and encodes; the notes say which columns were left out. Throws for fewer than two rows. `read`, if given, is left the table itself.
Exploration explore(const ExploreOptions& o, const Speaker& speaker, Table* read = nullptr);
// The kernel of the exploration (default: gaussian(auto)) with names of columns turned into positions and automatic scales set.
Kernel kernel_of(const Exploration& e);

// Files other than the answers must be files, all must differ from each other and from the inputs.
void check_outputs(const std::vector<std::pair<std::string, std::string>>& outputs, const std::vector<std::string>& inputs, bool json);

// A column as words or numbers to colour by: text, and few whole numbers, are words.
ColorColumn color_of(const Column& column);
// Numbers for the classes of a column; rows without a value are an error.
std::vector<Index> classes_in(const Table& table, const Column& column);

// Numbers beside the kept columns; a kept name that is taken gets an underscore. NPY has no place for words: the numbers alone.
Table answers_table(const Matrix& numbers, const std::vector<std::string>& names, const std::vector<Column>& kept);
void write_answers(const Matrix& numbers, const std::vector<std::string>& names, const std::vector<Column>& kept, const std::string& path,
                   const CommonOptions& common);
Json answers_json(const Table& answers);  // a list for each column

std::string seconds_word(double seconds);
std::string percent_word(double share);
std::string source_word(const std::string& path);

}  // namespace mercer::cli
