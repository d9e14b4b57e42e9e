// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace mercer::cli {

namespace {

constexpr const char* what_data_may_be =
    "CSV, TSV, LIBSVM, NPY, FASTA, JSON lines, lines of text or graphs, plain, .gz or .xz; - is standard input; builtin:NAME a built-in "
    "set";

char delimiter_of(const std::string& word) {
  static const std::vector<std::pair<std::string, char>> words{{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'},
                                                               {"\\t", '\t'},  {"space", ' '},     {"pipe", '|'}};
  for (const auto& [name, character] : words) {
    if (word == name) return character;
  }
  if (word.size() == 1 && word != "\"" && word != "\n" && word != "\r") return word[0];
  throw CLI::ValidationError("--delimiter", "must be one character, or comma, semicolon, tab, space or pipe, got \"" + word + "\"");
}

std::int64_t whole_number(const std::string& name, const std::string& text, std::int64_t low, std::int64_t high) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    throw CLI::ValidationError(name, fmt::format("must be a whole number from {} to {}, got {}", low, high, text));
  }
  return value;
}

}  // namespace

std::string list_words(const std::vector<std::string>& words, std::size_t most) {
  if (words.empty()) return "";
  if (words.size() == 1) return words[0];
  if (words.size() > most) {
    return fmt::format("{} and {} more", fmt::join(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(most), ", "),
                       words.size() - most);
  }
  return fmt::format("{} and {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

CLI::ValidationError wrong_choice(const std::string& option, const std::string& given, const std::vector<std::string>& known) {
  return CLI::ValidationError(option, fmt::format("must be {}, got {}{}", fmt::join(known, "|"), given, did_you_mean(given, known)));
}

// What a shell would need to run it again.
std::string Invocation::command_line() const {
  std::string line = "mercer";
  for (const std::string& word : words) {
    const bool plain =
        !word.empty() &&
        word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,=+#@%") == std::string::npos;
    line += ' ';
    if (plain) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

CLI::Option* add_number(CLI::App& command, const std::string& name, double& value, double low, double high, const std::string& wanted,
                        const std::string& about) {
  CLI::Option* option = command.add_option_function<std::string>(
      name,
      [&value, name, low, high, wanted](const std::string& text) {
        const std::optional<double> number = parse_number(text);
        if (!number || !std::isfinite(*number) || *number < low || *number > high) {
          throw CLI::ValidationError(name, fmt::format("must be {}, got {}", wanted, text));
        }
        value = *number;
      },
      about);
  option->type_name("NUMBER");
  return option;
}

CLI::Option* add_whole(CLI::App& command, const std::string& name, std::int64_t& value, std::int64_t low, std::int64_t high,
                       const std::string& about) {
  CLI::Option* option = command.add_option_function<std::string>(
      name, [&value, name, low, high](const std::string& text) { value = whole_number(name, text, low, high); }, about);
  option->type_name("N");
  return option;
}

// Not an option with many values: that would swallow the words behind it, DATA too.
CLI::Option* add_columns(CLI::App& command, const std::string& name, std::vector<std::string>& columns, const std::string& about) {
  CLI::Option* option = command.add_option_function<std::string>(
      name, [&columns](const std::string& text) { columns = CLI::detail::split(text, ','); }, about);
  option->type_name("COLS")->multi_option_policy(CLI::MultiOptionPolicy::Join)->delimiter(',');
  return option;
}

void add_json(CLI::App& command, CommonOptions& options) {
  command.add_flag("--json", options.json, "Print one JSON object instead of text");
}

void add_common(CLI::App& command, CommonOptions& options) {
  add_json(command, options);
  command
      .add_option_function<std::string>(
          "--threads", [&](const std::string& text) { options.threads = static_cast<int>(whole_number("--threads", text, 1, 4096)); },
          "Threads to use (default: MERCER_NUM_THREADS, else all cores)")
      ->type_name("N");
  command
      .add_option_function<std::string>(
          "--memory",
          [&](const std::string& text) {
            try {
              options.memory = parse_bytes(text);
            } catch (const Error& error) {
              throw CLI::ValidationError("--memory", error.what());
            }
            if (options.memory == 0) throw CLI::ValidationError("--memory", "must be more than 0 bytes, got " + text);
          },
          "Memory to use at most, like 4G (default: MERCER_MEMORY, else 80 % of what is free)")
      ->type_name("BYTES");
}

void add_reading(CLI::App& command, ReadingOptions& options, const std::string& position) {
  command.add_option(position, options.path, what_data_may_be)->required();
  add_formats(command, options);
}

void add_reading(CLI::App& command, ReadingOptions& options, std::vector<std::string>& paths, const std::string& position) {
  command.add_option(position, paths, what_data_may_be)->required();
  add_formats(command, options);
}

void add_formats(CLI::App& command, ReadingOptions& options) {
  add_choice<FileFormat>(command, "--format", options.read.format,
                         {{"auto", FileFormat::automatic},
                          {"csv", FileFormat::csv},
                          {"tsv", FileFormat::tsv},
                          {"libsvm", FileFormat::libsvm},
                          {"npy", FileFormat::npy},
                          {"lines", FileFormat::lines},
                          {"fasta", FileFormat::fasta},
                          {"jsonl", FileFormat::jsonl},
                          {"graphs", FileFormat::graphs},
                          {"tu", FileFormat::tu}},
                         "Format of the data (default: found by content and name)");
  command
      .add_option_function<std::string>(
          "--delimiter", [&](const std::string& word) { options.read.delimiter = delimiter_of(word); },
          "Delimiter of a CSV file: one character, or comma, semicolon, tab, space, pipe (default: found)")
      ->type_name("CHAR");
  CLI::Option* with = command.add_flag_callback(
      "--header", [&] { options.read.header = true; }, "The first line of a CSV file names the columns");
  CLI::Option* without = command.add_flag_callback(
      "--no-header", [&] { options.read.header = false; }, "It does not (default: found)");
  with->excludes(without);
  add_columns(command, "--text", options.read.text_columns, "Columns to keep as text though they look like numbers");
  command
      .add_option_function<std::string>(
          "--width",
          [&](const std::string& text) { options.read.width = whole_number("--width", text, 1, std::numeric_limits<std::int32_t>::max()); },
          "Number of features of a LIBSVM file (default: the largest index)")
      ->type_name("N");
  command.add_flag_callback(
      "--zero-based", [&] { options.read.zero_based = true; }, "The first feature of a LIBSVM file has index 0 (default: found)");
}

void add_seed(CLI::App& command, std::uint64_t& seed, const std::string& words) {
  command
      .add_option_function<std::string>(
          "--seed",
          [&](const std::string& text) {
            seed = static_cast<std::uint64_t>(whole_number("--seed", text, 0, std::numeric_limits<std::int64_t>::max()));
          },
          words)
      ->type_name("N");
}

void add_target(CLI::App& command, EncodeOptions& options) {
  command.add_option("--target", options.target, "Target column, by name or as #3 (default: y, label, target or class, else the last)")
      ->type_name("COL");
}

void add_encoding(CLI::App& command, EncodeOptions& options) {
  add_columns(command, "--drop", options.drop, "Columns to leave out, separated by commas");
  add_choice<Impute>(command, "--impute", options.impute, {{"mean", Impute::mean}, {"median", Impute::median}},
                     "Fill missing feature values (default: they are an error)");
}

void add_scaling(CLI::App& command, ScalingKind& scaling) {
  const char* now = scaling == ScalingKind::none ? "none" : "standard";
  add_choice<ScalingKind>(command, "--scale", scaling,
                          {{"standard", ScalingKind::standard}, {"min-max", ScalingKind::min_max}, {"none", ScalingKind::none}},
                          fmt::format("Scaling of the features (default: {})", now));
}

std::shared_ptr<const KernelLibrary> add_tables(CLI::App& command) {
  auto tables = std::make_shared<KernelLibrary>();
  command
      .add_option_function<std::vector<std::string>>(
          "--table",
          [tables](const std::vector<std::string>& given) {
            for (const std::string& text : given) {
              const std::size_t at = text.find('=');
              if (at == std::string::npos || at == 0 || at + 1 == text.size())
                throw CLI::ValidationError("--table", "must be NAME=FILE, like glove=glove.txt, got " + text);
              const std::string name = text.substr(0, at);
              tables->insert_or_assign(name, kernels::words(name, std::make_shared<const WordTable>(read_word_table(text.substr(at + 1)))));
            }
          },
          "A table of words that the kernel names, like glove=glove.txt for words(\"glove\"): a word and its numbers in each line")
      ->type_name("NAME=FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return tables;
}

Kernel parse_with(const std::string& text, const KernelLibrary& tables, const std::string& option) {
  try {
    return parse_kernel(text, tables);
  } catch (const Error& error) {
    std::string message = error.what();
    if (message.find("the table of words") != std::string::npos) {  // the library's remedy is for programs
      const std::size_t remedy = message.find(": give it along");
      const std::size_t end = message.find('\n', remedy);
      if (remedy != std::string::npos)
        message.replace(remedy, end - remedy, "; --table NAME=FILE gives one: a word and its numbers in each line");
    }
    throw CLI::ValidationError(option, message);
  }
}

CLI::Option* add_kernel(CLI::App& command, std::optional<Kernel>& kernel, const std::string& words, const std::string& name,
                        std::shared_ptr<const KernelLibrary> tables) {
  if (tables == nullptr) tables = add_tables(command);
  CLI::Option* option = command.add_option_function<std::string>(
      name,
      [&kernel, tables, name](const std::string& text) {
        if (text != "auto") kernel = parse_with(text, *tables, name);
      },
      words);
  option->type_name("EXPR");
  return option;
}

}  // namespace mercer::cli
