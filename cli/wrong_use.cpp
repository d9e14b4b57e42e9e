// SPDX-License-Identifier: BSD-3-Clause
#include "wrong_use.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "options.hpp"
#include "words.hpp"

namespace mercer::cli {

namespace {

const CLI::App& deepest(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : deepest(*chosen.front());
}

// What the commands below one are called.
const char* kind_below(const CLI::App& app) {
  if (app.get_parent() == nullptr) return "command";
  return app.get_name() == "fit" ? "model" : "method";
}

// A word that came too many. Options of another command with a typing error in them are looked for in this one.
std::string extra_word(const CLI::App& command) {
  for (const std::string& word : command.remaining(true)) {
    if (!word.starts_with("-") || word == "-") continue;
    const std::string typed = word.substr(0, word.find('='));
    return fmt::format("{} has no option {}{}", full_name(command), typed, did_you_mean(typed, option_names(command)));
  }
  return fmt::format("{} does not expect \"{}\"", full_name(command), fmt::join(command.remaining(true), " "));
}

// "DATA is required" does not say what that is.
std::string missing_word(const CLI::App& command, const std::string& message) {
  const std::string name = message.substr(0, message.find(' '));
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_name(option->get_positional()) == name)
      return fmt::format("{}: {} is required: {}", full_name(command), name, option->get_description());
  }
  return fmt::format("{}: {}", full_name(command), message);
}

// "--alpha: 1 required NUMBER missing" is what CLI11 says.
std::string missing_value(const std::string& message) {
  const std::size_t colon = message.find(": 1 required ");
  if (colon == std::string::npos || !message.ends_with(" missing")) return message;
  const std::size_t begin = colon + std::string_view(": 1 required ").size();
  const std::string value = message.substr(begin, message.size() - begin - std::string_view(" missing").size());
  return fmt::format("{} needs a value, {}, and nothing follows it", message.substr(0, colon), value);
}

std::string excluded(const std::string& message) {
  constexpr std::string_view word = " excludes ";
  const std::size_t at = message.find(word);
  if (at == std::string::npos) return message;
  return fmt::format("{} and {} cannot go together; leave out one of them", message.substr(0, at), message.substr(at + word.size()));
}

}  // namespace

void check_command_words(const CLI::App& app, const std::vector<std::string>& words, std::size_t from) {
  const std::vector<std::string> known = command_names(app);
  const std::string what = kind_below(app);
  if (from >= words.size())
    throw UsageError(fmt::format("{} needs a {}: {} ({} --help)", full_name(app), what, fmt::join(known, ", "), full_name(app)));
  const std::string& word = words[from];
  if (word == "-h" || word == "--help" || (word == "--version" && from == 0)) return;
  if (std::find(known.begin(), known.end(), word) != known.end()) {
    const CLI::App* command = app.get_subcommand(word);
    if (!command_names(*command).empty()) check_command_words(*command, words, from + 1);
    return;
  }
  if (word.starts_with("-")) {
    const std::string typed = word.substr(0, word.find('='));
    throw UsageError(
        fmt::format("{} has no option {}{} ({} --help)", full_name(app), typed, did_you_mean(typed, option_names(app)), full_name(app)));
  }
  throw UsageError(fmt::format("there is no {} \"{}\"{}; there are {} ({} --help)", what, word, did_you_mean(word, known),
                               fmt::join(known, ", "), full_name(app)));
}

std::string wrong_use_of(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = deepest(app);
  std::string message = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    message = extra_word(command);
  } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    message = missing_word(command, message);
  } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    message = missing_value(message);
  } else if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    message = excluded(message);
  }
  return fmt::format("{} ({} --help)", message, full_name(command));
}

}  // namespace mercer::cli
