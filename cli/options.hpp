// Options that several commands share, and where a command puts the job it was asked for.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <mercer/mercer.hpp>
#include <mercer/nearest_word.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace mercer::cli {

// Wrong use: exit status 2. Everything else that fails is exit status 1.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The command line is parsed first, completely; then the job runs.
struct Invocation {
  std::function<void()> job;
  std::vector<std::string> words;  // as typed
  std::string command_line() const;
};

// On every command.
struct CommonOptions {
  bool json = false;
  int threads = 0;
  std::size_t memory = 0;

  Run run(ProgressCallback progress = {}) const { return {threads, memory, std::move(progress)}; }
};
void add_common(CLI::App& command, CommonOptions& options);
void add_json(CLI::App& command, CommonOptions& options);  // of commands that have nothing to compute

// How a file becomes a table.
struct ReadingOptions {
  std::string path{};
  ReadOptions read{};
  std::uint64_t seed = 0;  // of built-in sets
};
void add_reading(CLI::App& command, ReadingOptions& options, const std::string& position = "DATA");
void add_reading(CLI::App& command, ReadingOptions& options, std::vector<std::string>& paths, const std::string& position);
void add_formats(CLI::App& command, ReadingOptions& options);  // the options alone
void add_seed(CLI::App& command, std::uint64_t& seed, const std::string& words);

// How a table becomes features and a target.
void add_encoding(CLI::App& command, EncodeOptions& options);
void add_target(CLI::App& command, EncodeOptions& options);
void add_scaling(CLI::App& command, ScalingKind& scaling);

// --table NAME=FILE: the tables of words that kernels name. Before the kernels, for these are parsed where the command line is.
std::shared_ptr<const KernelLibrary> add_tables(CLI::App& command);

// A kernel expression, under --kernel or another name; parse_with is parse_kernel whose complaint is that of the option.
// Without `tables` the command gets an option for them too.
CLI::Option* add_kernel(CLI::App& command, std::optional<Kernel>& kernel, const std::string& words, const std::string& name = "--kernel",
                        std::shared_ptr<const KernelLibrary> tables = nullptr);
Kernel parse_with(const std::string& text, const KernelLibrary& tables, const std::string& option);

// Names of columns, separated by commas; may be given more than once.
CLI::Option* add_columns(CLI::App& command, const std::string& name, std::vector<std::string>& columns, const std::string& about);

// "a, b and c"; of more than `most`, "a, b, ... and 7 more".
std::string list_words(const std::vector<std::string>& words, std::size_t most = 5);
// The error of an option that takes one of some words.
CLI::ValidationError wrong_choice(const std::string& option, const std::string& given, const std::vector<std::string>& known);

// An option that takes one of some words.
template <class E>
CLI::Option* add_choice(CLI::App& command, const std::string& name, E& value, const std::vector<std::pair<std::string, E>>& words,
                        const std::string& about) {
  std::vector<std::string> known;
  for (const auto& [word, unused] : words) known.push_back(word);
  CLI::Option* option = command.add_option_function<std::string>(
      name,
      [&value, words, name, known](const std::string& given) {
        for (const auto& [word, meaning] : words) {
          if (word == given) {
            value = meaning;
            return;
          }
        }
        throw wrong_choice(name, given, known);
      },
      about);
  option->type_name(CLI::detail::join(known, "|"));
  return option;
}

// A number with a range, as an option; the message says what was wanted.
CLI::Option* add_number(CLI::App& command, const std::string& name, double& value, double low, double high, const std::string& wanted,
                        const std::string& about);
CLI::Option* add_whole(CLI::App& command, const std::string& name, std::int64_t& value, std::int64_t low, std::int64_t high,
                       const std::string& about);

}  // namespace mercer::cli
