// What can be typed, as plain data: the commands, options and arguments of the tool, read from its own command line. Messages on wrong
// words, the completion of shells and the manual are made of it, so they cannot say anything that the tool does not know.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace mercer::cli {

// An option, or an argument that goes by its place.
struct OptionWords {
  std::vector<std::string> names{};  // "-m", "--rows"; of an argument its one name, "DATA"
  std::string value{};               // what it takes, "FILE" or "mean|median"; empty: a flag
  std::string about{};
  bool required = false;
  bool many = false;  // takes more than one

  bool operator==(const OptionWords&) const = default;
};

struct CommandWords {
  std::string name{};  // in full: "mercer fit krr"
  std::string about{};
  std::string footer{};
  std::vector<OptionWords> options{};
  std::vector<OptionWords> arguments{};
  std::vector<CommandWords> commands{};
};

CommandWords words_of(const CLI::App& app);

// All commands that do something by themselves, in order: "mercer learn", "mercer fit krr", ...
std::vector<const CommandWords*> leaves_of(const CommandWords& root);

std::string full_name(const CLI::App& app);
std::vector<std::string> command_names(const CLI::App& app);
std::vector<std::string> option_names(const CLI::App& app);

// What completes a value.
enum class ValueKind : std::uint8_t { none, words, files, data, kernels, tables };
struct Value {
  ValueKind kind = ValueKind::none;
  std::vector<std::string> words{};
};
Value value_of_option(const OptionWords& option);
Value value_of_argument(const OptionWords& argument);

// The words that a value kind stands for: names of kernels, of built-in sets.
std::vector<std::string> kernel_words();
std::vector<std::string> builtin_words();  // "builtin:waves", ...

}  // namespace mercer::cli
