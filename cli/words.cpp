// SPDX-License-Identifier: BSD-3-Clause
#include "words.hpp"

#include <algorithm>
#include <mercer/kernels.hpp>
#include <mercer/simulate.hpp>

namespace mercer::cli {

namespace {

OptionWords words_of(const CLI::Option& option) {
  OptionWords out;
  if (option.get_positional()) {
    out.names = {option.get_name(true)};
  } else {
    for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  }
  if (option.get_items_expected_max() > 0) out.value = option.get_type_name();
  out.about = option.get_description();
  out.required = option.get_required();
  out.many = option.get_items_expected_max() > 1;
  return out;
}

// Alternatives that are typed as they stand; HxW or NUMBER say what to type instead.
std::vector<std::string> literal_words(const std::string& value) {
  if (value.find('|') == std::string::npos) return {};
  std::vector<std::string> words = CLI::detail::split(value, '|');
  std::erase_if(words, [](const std::string& word) {
    return word.empty() || word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") != std::string::npos;
  });
  return words;
}

}  // namespace

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

CommandWords words_of(const CLI::App& app) {
  CommandWords out{.name = full_name(app), .about = app.get_description(), .footer = app.get_footer()};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    (option->get_positional() ? out.arguments : out.options).push_back(words_of(*option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
    out.commands.push_back(words_of(*command));
  return out;
}

std::vector<const CommandWords*> leaves_of(const CommandWords& root) {
  std::vector<const CommandWords*> out;
  for (const CommandWords& command : root.commands) {
    const std::vector<const CommandWords*> below = leaves_of(command);
    out.insert(out.end(), below.begin(), below.end());
  }
  if (root.commands.empty()) out.push_back(&root);
  return out;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

Value value_of_option(const OptionWords& option) {
  if (option.value.starts_with("FILE")) return {ValueKind::files, {}};
  if (option.value == "NAME=FILE") return {ValueKind::tables, {}};
  if (option.value.starts_with("EXPR")) return {ValueKind::kernels, {}};
  std::vector<std::string> words = literal_words(option.value);
  if (words.empty()) return {};
  return {ValueKind::words, std::move(words)};
}

Value value_of_argument(const OptionWords& argument) {
  if (argument.value == "KERNEL") return {ValueKind::kernels, {}};
  std::vector<std::string> words = literal_words(argument.value);
  if (!words.empty()) return {ValueKind::words, std::move(words)};
  const bool data = argument.names.front() != "MODELFILE" && argument.names.front() != "OUT";
  return {data ? ValueKind::data : ValueKind::files, {}};
}

std::vector<std::string> kernel_words() {
  std::vector<std::string> words;
  for (const KernelInfo& info : kernel_catalogue()) words.push_back(info.name);
  return words;
}

std::vector<std::string> builtin_words() {
  std::vector<std::string> words;
  for (const std::string& name : simulate::builtin_names()) words.push_back("builtin:" + name);
  return words;
}

}  // namespace mercer::cli
