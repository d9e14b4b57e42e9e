// mercer completion bash|zsh: a script that lets the shell complete commands, options and what they take. Written from the command line
// of the tool itself, so it knows neither more nor less.
// SPDX-License-Identifier: BSD-3-Clause
#include "completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "commands.hpp"
#include "files.hpp"

namespace mercer::cli {

namespace {

// What a case of the shell function prints for a value.
std::string bash_value(const Value& value) {
  switch (value.kind) {
    case ValueKind::files:
      return "@files";
    case ValueKind::data:
      return "@data";
    case ValueKind::kernels:
      return "@kernels";
    case ValueKind::tables:
      return "@tables";
    case ValueKind::words:
      return fmt::format("{}", fmt::join(value.words, " "));
    default:
      return "@any";  // a value that cannot be guessed is still one: the word behind it is no place
  }
}

using Answers = std::map<std::string, std::map<std::string, std::vector<std::string>>>;  // option -> what it takes -> commands

void collect(const CommandWords& command, std::map<std::string, std::string>& subcommands, std::map<std::string, std::string>& options,
             Answers& values) {
  std::vector<std::string> names;
  for (const OptionWords& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
    if (option.value.empty()) continue;
    for (const std::string& name : option.names) values[name][bash_value(value_of_option(option))].push_back(command.name);
  }
  options[command.name] = fmt::format("{}", fmt::join(names, " "));
  for (std::size_t k = 0; k < command.arguments.size(); ++k) {
    const OptionWords& argument = command.arguments[k];
    const std::string place = argument.many ? "#*" : fmt::format("#{}", k + 1);
    values[place][bash_value(value_of_argument(argument))].push_back(command.name);
  }
  std::vector<std::string> below;
  for (const CommandWords& one : command.commands) {
    below.push_back(one.name.substr(command.name.size() + 1));
    collect(one, subcommands, options, values);
  }
  if (!below.empty()) subcommands[command.name] = fmt::format("{}", fmt::join(below, " "));
}

std::string cases(const std::map<std::string, std::string>& answers) {
  std::string out;
  for (const auto& [name, words] : answers) out += fmt::format("    '{}') echo '{}' ;;\n", name, words);
  return out;
}

// Patterns COMMAND:OPTION. What an option takes most often comes last, for every command that is not named before.
std::string value_cases(const Answers& values) {
  std::string out;
  for (const auto& [option, answers] : values) {
    const std::string word = option == "#*" ? "'#'*" : fmt::format("'{}'", option);
    const auto usual =
        std::max_element(answers.begin(), answers.end(), [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    const bool of_all = option.starts_with("-");  // places differ from command to command
    for (auto at = answers.begin(); at != answers.end(); ++at) {
      if (of_all && at == usual) continue;
      std::vector<std::string> patterns;
      for (const std::string& command : at->second) patterns.push_back(fmt::format("'{}:'{}", command, word));
      out += fmt::format("    {}) echo '{}' ;;\n", fmt::join(patterns, " | "), at->first);
    }
    if (of_all) out += fmt::format("    *:{}) echo '{}' ;;\n", word, usual->first);
  }
  return out;
}

constexpr const char* bash_script = R"bash(# Completion for bash (4.2 or newer), written by: mercer completion bash
# SPDX-License-Identifier: BSD-3-Clause

_mercer_commands() {
  case $1 in
@COMMANDS@  esac
}

_mercer_options() {
  case $1 in
@OPTIONS@  esac
}

# What an option or a place of a command takes: words to choose from, or @files, @data, @kernels, @tables, @any.
_mercer_values() {
  case $1:$2 in
@VALUES@  esac
}

_mercer_files() {
  mapfile -t COMPREPLY < <(compgen -f -- "$1")
  ((${#COMPREPLY[@]})) && compopt -o filenames 2>/dev/null
}

_mercer_replies() { # what it takes, the word so far, whether it is quoted
  local stem before
  case $1 in
    @any) ;;
    @files) _mercer_files "$2" ;;
    @data)
      if [[ -z $2 ]]; then
        _mercer_files ''
        COMPREPLY+=(builtin:)
      elif [[ $2 == builtin:* ]]; then
        mapfile -t COMPREPLY < <(compgen -W '@BUILTIN@' -- "$2")
      else
        _mercer_files "$2"
        if [[ builtin: == "$2"* && ${#COMPREPLY[@]} -eq 0 ]]; then
          mapfile -t COMPREPLY < <(compgen -W '@BUILTIN@' -- "$2")
        elif [[ builtin: == "$2"* ]]; then
          COMPREPLY+=(builtin:)
        fi
      fi
      ;;
    @kernels) # the name that an expression ends in
      stem=${2##*[!a-z0-9_]}
      before=${2%"$stem"}
      mapfile -t COMPREPLY < <(compgen -W '@KERNELS@' -- "$stem")
      COMPREPLY=("${COMPREPLY[@]/#/$before}")
      # The expression goes on: no blank, and of one name two forms, or readline would close the quotes.
      [[ $3 == quoted && ${#COMPREPLY[@]} -eq 1 ]] && COMPREPLY+=("${COMPREPLY[0]}(")
      compopt -o nospace 2>/dev/null
      ;;
    @tables)
      if [[ $2 == *=* ]]; then
        before=${2%%=*}=
        mapfile -t COMPREPLY < <(compgen -f -- "${2#*=}")
        COMPREPLY=("${COMPREPLY[@]/#/$before}")
      fi
      ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2") ;;
  esac
}

_mercer() {
  COMPREPLY=()
  local typed=$2 line=${COMP_LINE:0:COMP_POINT} word words=() path=mercer place=1 option= i full cur lead= before values quoted=
  # bash takes : and = for ends of words; what was typed without a blank is one word here.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    local apart=0
    [[ $i -eq 0 || $line == [[:space:]]* ]] && apart=1
    line=${line#"${line%%[![:space:]]*}"}
    word=${COMP_WORDS[i]}
    ((i == COMP_CWORD)) && word=$line
    line=${line#"$word"}
    if ((apart)); then words+=("$word"); else words[${#words[@]} - 1]+=$word; fi
  done
  for ((i = 1; i < ${#words[@]} - 1; i++)); do
    word=${words[i]}
    if [[ -n $option ]]; then
      option=
    elif [[ $word == --*=* ]]; then
      continue
    elif [[ $word == -?* ]]; then
      [[ -n $(_mercer_values "$path" "$word") ]] && option=$word
    elif [[ $place -eq 1 && " $(_mercer_commands "$path") " == *" $word "* ]]; then
      path+=" $word"
    else
      place=$((place + 1))
    fi
  done
  full=${words[${#words[@]} - 1]}
  [[ $full == [\"\']* ]] && quoted=quoted
  full=${full#[\"\']}
  cur=$full
  if [[ -n $option ]]; then
    values=$(_mercer_values "$path" "$option")
  elif [[ $cur == --*=* ]]; then
    values=$(_mercer_values "$path" "${cur%%=*}")
    lead=${cur%%=*}=
    cur=${cur#*=}
  elif [[ $cur == -* ]]; then
    values=$(_mercer_options "$path")
  else
    values=$(_mercer_commands "$path")
    [[ -n $values ]] || values=$(_mercer_values "$path" "#$place")
  fi
  [[ -n $values ]] || return 0
  _mercer_replies "$values" "$cur" "$quoted"
  ((${#COMPREPLY[@]})) || return 0
  # Only what readline calls the word is replaced: what stands before it is in the line already.
  [[ $full == *"$typed" ]] || typed=$full
  before=${full%"$typed"}
  COMPREPLY=("${COMPREPLY[@]/#/$lead}")
  COMPREPLY=("${COMPREPLY[@]#"$before"}")
}

complete -F _mercer mercer
)bash";

struct CompletionOptions {
  CommonOptions common{};
  int shell = 0;
};

void run_completion(const CLI::App& app, const CompletionOptions& o) {
  const CommandWords root = words_of(app);
  const std::string script = o.shell == 1 ? zsh_completion(root) : bash_completion(root);
  if (o.common.json) {
    print_json({{"shell", o.shell == 1 ? "zsh" : "bash"}, {"script", script}});
  } else {
    fmt::print("{}", script);
  }
}

}  // namespace

std::string filled_in(std::string script, const std::vector<std::pair<std::string, std::string>>& parts) {
  for (const auto& [mark, text] : parts) {
    for (std::size_t at = script.find(mark); at != std::string::npos; at = script.find(mark, at + text.size()))
      script.replace(at, mark.size(), text);
  }
  return script;
}

std::string bash_completion(const CommandWords& root) {
  std::map<std::string, std::string> subcommands;
  std::map<std::string, std::string> options;
  Answers values;
  collect(root, subcommands, options, values);
  return filled_in(bash_script, {{"@COMMANDS@", cases(subcommands)},
                                 {"@OPTIONS@", cases(options)},
                                 {"@VALUES@", value_cases(values)},
                                 {"@BUILTIN@", fmt::format("{}", fmt::join(builtin_words(), " "))},
                                 {"@KERNELS@", fmt::format("{}", fmt::join(kernel_words(), " "))}});
}

void add_completion(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<CompletionOptions>();
  CLI::App* command =
      app.add_subcommand("completion", "Print the script by which bash or zsh completes commands, options and their values");
  add_choice<int>(*command, "SHELL", o->shell, {{"bash", 0}, {"zsh", 1}}, "The shell")->required();
  add_json(*command, o->common);
  command->footer(
      "An installed Mercer has both scripts where the shells look for them. Otherwise:\n"
      "Examples:\n"
      "  source <(mercer completion bash)             # in ~/.bashrc\n"
      "  mercer completion zsh > ~/.zfunc/_mercer     # a folder of fpath, before compinit");
  command->callback([o, &app, &invocation] { invocation.job = [o, &app] { run_completion(app, *o); }; });
}

}  // namespace mercer::cli
