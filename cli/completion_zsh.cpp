// The script for zsh: a function for each command that hands its options to _arguments.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "completion.hpp"

namespace mercer::cli {

namespace {

std::string function_name(const CommandWords& command) {
  std::string name = "_" + command.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return name;
}

// Within single quotes, and within what _arguments and _describe take apart at colons and brackets.
std::string escaped(const std::string& text, const char* special) {
  std::string out;
  for (const char c : text) {
    if (std::string_view(special).find(c) != std::string_view::npos) out += '\\';
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out;
}

std::string action(const Value& value) {
  switch (value.kind) {
    case ValueKind::files:
    case ValueKind::tables:
      return "_files";
    case ValueKind::data:
      return "__mercer_data";
    case ValueKind::kernels:
      return "__mercer_kernel_names";
    case ValueKind::words:
      return fmt::format("({})", fmt::join(value.words, " "));
    default:
      return " ";
  }
}

// '--folds=[Folds of the cross-validation]:N: '
std::string specification(const OptionWords& option, const std::string& name) {
  const std::string many = option.many || option.value == "NAME=FILE" ? "*" : "";
  const std::string about = escaped(option.about, "[]:");
  if (option.value.empty()) return fmt::format("'{}[{}]'", name, about);
  const char* link = name.starts_with("--") ? "=" : "+";  // the value may follow in the same word
  return fmt::format("'{}{}{}[{}]:{}:{}'", many, name, link, about, escaped(option.value, "[]:"),
                     option.value == "NAME=FILE" ? "__mercer_tables" : action(value_of_option(option)));
}

std::string leaf_function(const CommandWords& command) {
  std::string out = fmt::format("{}() {{\n  _arguments -S", function_name(command));
  for (const OptionWords& option : command.options) {
    for (const std::string& name : option.names) out += " \\\n    " + specification(option, name);
  }
  for (std::size_t k = 0; k < command.arguments.size(); ++k) {
    const OptionWords& argument = command.arguments[k];
    const std::string place = argument.many ? "*" : std::to_string(k + 1);
    out += fmt::format(" \\\n    '{}{}{}:{}'", place, argument.required ? ":" : "::", escaped(argument.names.front(), "[]:"),
                       action(value_of_argument(argument)));
  }
  return out + "\n}\n\n";
}

std::string group_function(const CommandWords& command) {
  std::string described;
  std::string chosen;
  std::string options;
  for (const CommandWords& one : command.commands) {
    const std::string word = one.name.substr(command.name.size() + 1);
    described += fmt::format("        '{}:{}'\n", word, escaped(one.about, ":"));
    chosen += fmt::format("        {}) {} ;;\n", word, function_name(one));
  }
  for (const OptionWords& option : command.options) {
    for (const std::string& name : option.names) options += fmt::format("    {} \\\n", specification(option, name));
  }
  constexpr const char* script = R"zsh(@NAME@() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  _arguments -C -S \
@OPTIONS@    '1: :->command' \
    '*:: :->rest'
  case $state in
    command)
      local -a commands=(
@COMMANDS@      )
      _describe -t commands '@FULL@' commands
      ;;
    rest)
      case $words[1] in
@CASES@      esac
      ;;
  esac
}

)zsh";
  return filled_in(script, {{"@NAME@", function_name(command)},
                            {"@OPTIONS@", options},
                            {"@COMMANDS@", described},
                            {"@FULL@", command.name},
                            {"@CASES@", chosen}});
}

std::string functions(const CommandWords& command) {
  if (command.commands.empty()) return leaf_function(command);
  std::string out;
  for (const CommandWords& one : command.commands) out += functions(one);
  return out + group_function(command);
}

constexpr const char* zsh_script = R"zsh(#compdef mercer
# Completion for zsh, written by: mercer completion zsh
# SPDX-License-Identifier: BSD-3-Clause

__mercer_data() {
  if compset -P 'builtin:'; then
    local -a sets=(@BUILTIN@)
    _describe -t sets 'built-in set' sets
  else
    _alternative 'files:file:_files' 'sets:built-in set:(builtin\:)'
  fi
}

# The name that an expression ends in.
__mercer_kernel_names() {
  compset -P '*[^a-z0-9_]'
  local -a kernels=(@KERNELS@)
  compadd -S '' -a kernels
}

__mercer_tables() {
  compset -P '*=' && _files
}

@FUNCTIONS@if [[ $funcstack[1] == _mercer ]]; then
  _mercer "$@"
else
  compdef _mercer mercer
fi
)zsh";

}  // namespace

std::string zsh_completion(const CommandWords& root) {
  std::vector<std::string> sets;
  for (const std::string& word : builtin_words()) sets.push_back(word.substr(word.find(':') + 1));
  return filled_in(zsh_script, {{"@FUNCTIONS@", functions(root)},
                                {"@BUILTIN@", fmt::format("{}", fmt::join(sets, " "))},
                                {"@KERNELS@", fmt::format("{}", fmt::join(kernel_words(), " "))}});
}

}  // namespace mercer::cli
