// Data in, answers out: reading with all that DATA may be, and checks of output files that come before the work.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <functional>
#include <mercer/mercer.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "colour.hpp"
#include "options.hpp"

namespace mercer::cli {

using Json = nlohmann::ordered_json;

Table read_data(const ReadingOptions& options, const CommonOptions& common);
Table read_data(const ReadingOptions& options, const std::string& path, const CommonOptions& common);

// read_table, with a bar.
Table read_with_bar(const std::string& path, ReadOptions reading, const CommonOptions& common);

// Throws where there is no such file, naming one beside it whose name is like it; what else may be wrong with it the readers say.
void require_file(const std::string& path);
SavedModel open_model(const std::string& path);

// A column by its name, or the numbers in it; the error says what it was wanted for (" for --sample-weight").
Index require_column(const Table& table, const std::string& name, const std::string& purpose = "");
// Throws where a column holds sets or graphs, which are neither numbers nor words for an option to go by.
void require_cells(const Table& table, const Column& column, const std::string& option);
Vector numbers_in(const Table& table, const std::string& name, const std::string& purpose = "");

// Throws at once if `path` cannot be written later, or is one of the inputs. An empty path is none.
void check_output(const std::string& option, const std::string& path, const std::vector<std::string>& inputs, bool allow_stdout);

// Calls write(run) with a bar and a Ctrl-C that leaves no half file. Standard output has nothing to clean up: Ctrl-C ends the process.
void write_carefully(const std::string& path, const CommonOptions& common, const std::function<void(const Run&)>& write);

// What a table is written as, by the name; CSV when the name does not say.
FileFormat format_of_output(const std::string& path);
bool is_npy(const std::string& path);

// Text for people, on standard output; on standard error when standard output carries data; nowhere when JSON was asked for.
class Speaker {
 public:
  explicit Speaker(const CommonOptions& common, const std::string& output = "")
      : silent_(common.json), stream_(output == "-" ? stderr : stdout) {}

  template <class... T>
  void say(fmt::format_string<T...> format, T&&... values) const {
    if (!silent_) fmt::print(stream_, "{}\n", fmt::format(format, std::forward<T>(values)...));
  }
  // A sentence that matters more than the others; a table whose first line is its heading.
  void verdict(const std::string& sentence) const { say("{}", painted(stream_, Style::heading, sentence)); }
  void table(const std::string& text) const { say("{}", with_heading(stream_, text)); }
  void notes(const std::vector<std::string>& sentences) const {
    for (const std::string& sentence : sentences) say("{}", sentence);
  }

 private:
  bool silent_;
  std::FILE* stream_;
};

void print_json(const Json& json);
Json number_json(double value);  // null when it is not finite

// Everything printed must have arrived. A reader that stopped early (head) is no failure.
void finish_stdout();
bool stdout_closed_by_reader();

// Rows of words under each other, the first row a heading.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

// How well predictions fit, as JSON and as lines: R2, RMSE, MAE; or accuracy, precision, recall, confusion.
struct Quality {
  Json json;
  std::vector<std::string> lines;
};
// `guess`: the class of each row, where the model itself decides; otherwise the scores do.
Quality quality_of(const Encoder* encoder, const Vector& truth, const Matrix& predicted, const std::vector<Index>* guess = nullptr);
Quality class_quality(const std::vector<std::string>& classes, const Vector& truth, const std::vector<Index>& guess);

}  // namespace mercer::cli
