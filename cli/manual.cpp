// mercer man: the manual page, as roff. Commands and options are read from the tool's own command line.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "commands.hpp"
#include "files.hpp"
#include "words.hpp"

namespace mercer::cli {

namespace {

// roff takes these for commands; as they are typed is how they should be printed, and copied.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        out += c;
    }
  }
  return out.starts_with(".") ? "\\&" + out : out;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

std::vector<std::string> lines_in(const std::string& text) { return CLI::detail::split(text, '\n'); }

// Text on its own lines, as it stands.
std::string as_typed(const std::vector<std::string>& lines) {
  std::string out = ".RS 4\n.nf\n";
  for (const std::string& line : lines) out += roff(line) + "\n";
  return out + ".fi\n.RE\n";
}

std::string item(const OptionWords& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + bold(name);
  if (!option.value.empty()) names += " " + italic(option.value);
  return fmt::format(".TP\n{}\n{}{}\n", names, roff(option.about), option.required ? " (required)" : "");
}

// The words behind an option's text: paragraphs, then lines of examples.
std::string footer(const std::string& text) {
  std::string out;
  std::vector<std::string> examples;
  std::string words;
  for (const std::string& line : lines_in(text)) {
    if (line == "Examples:" || line == "Example:") continue;
    if (line.starts_with("  ")) {
      examples.push_back(line.substr(2));
    } else if (!line.empty()) {
      words += roff(line) + "\n";
    }
  }
  if (!words.empty()) out += ".PP\n" + words;
  if (!examples.empty()) out += ".PP\nFor example:\n" + as_typed(examples);
  return out;
}

// Options that mean the same in half of the commands or more are explained once.
std::vector<OptionWords> shared_options(const std::vector<const CommandWords*>& leaves) {
  std::vector<OptionWords> shared;
  for (const CommandWords* leaf : leaves) {
    for (const OptionWords& option : leaf->options) {
      if (std::find(shared.begin(), shared.end(), option) != shared.end()) continue;
      const auto having = std::count_if(leaves.begin(), leaves.end(), [&](const CommandWords* one) {
        return std::find(one->options.begin(), one->options.end(), option) != one->options.end();
      });
      if (2 * having >= std::ssize(leaves)) shared.push_back(option);
    }
  }
  return shared;
}

std::string section(const CommandWords& command, const std::vector<OptionWords>& shared) {
  std::string synopsis = bold(command.name);
  for (const OptionWords& argument : command.arguments) {
    std::string word = italic(argument.names.front()) + (argument.many ? " ..." : "");
    synopsis += argument.required ? " " + word : " [" + word + "]";
  }
  std::string out = fmt::format(".SS {}\n{} [{}]\n.PP\n{}.\n", roff(command.name), synopsis, italic("OPTIONS"), roff(command.about));
  for (const OptionWords& argument : command.arguments) {
    if (!argument.about.empty()) out += item({.names = argument.names, .about = argument.about});
  }
  std::vector<std::string> others;
  for (const OptionWords& option : command.options) {
    if (std::find(shared.begin(), shared.end(), option) == shared.end()) {
      out += item(option);
    } else {
      others.push_back(bold(option.names.back()));
    }
  }
  if (!others.empty()) out += fmt::format(".PP\nShared options: {}.\n", fmt::join(others, ", "));
  return out + footer(command.footer);
}

constexpr const char* status_text = R"roff(.SH EXIT STATUS
.TP
0
done; a verdict of a test or an alarm of drift is an answer, not a failure
.TP
1
the job failed: a file is missing, bad or cannot be written, or memory is not enough
.TP
2
wrong use: an unknown command or option, or a value out of range
.TP
130
stopped by Ctrl\-C (143: by termination, 129: by a terminal that closed)
.PP
A command that failed or was stopped leaves no file behind.
.SH ENVIRONMENT
.TP
MERCER_NUM_THREADS
threads to use where \fB\-\-threads\fR does not say; else all cores
.TP
MERCER_MEMORY
memory to use where \fB\-\-memory\fR does not say, like 4G; else 80 % of what is free
.TP
MERCER_SIMD
instructions to use: scalar, sse4, avx2 or avx512; else the best there are
.TP
NO_COLOR, CLICOLOR_FORCE, TERM
colours are for terminals; any NO_COLOR, and TERM=dumb, turn them off, CLICOLOR_FORCE=1 turns them on. TERM=dumb has no progress bar
either
.SH FILES
.TP
\fI*.mercer\fR
a model: a header in JSON and raw tensors, as in safetensors. \fBmercer info\fR says what it holds; nothing in it is run
.TP
\fIFILE.NUMBER\-NUMBER.part\fR
a file under way; it gets its name when it is complete
)roff";

std::string manual_page(const CommandWords& root) {
  const std::vector<const CommandWords*> leaves = leaves_of(root);
  const std::vector<OptionWords> shared = shared_options(leaves);
  std::string about = root.about;
  about[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(about[0])));
  if (about.ends_with('.')) about.pop_back();
  std::string out = ".\\\" Written by: mercer man\n.\\\" SPDX-License-Identifier: BSD-3-Clause\n";
  out += fmt::format(".TH MERCER 1 \"\" \"mercer {}\" \"User Commands\"\n", version());
  out += fmt::format(".SH NAME\nmercer \\- {}\n", roff(about));
  out += fmt::format(".SH SYNOPSIS\n{} {} [{}]\n.br\n{} {} | {}\n", bold("mercer"), italic("COMMAND"), italic("ARGUMENTS"), bold("mercer"),
                     bold("--help"), bold("--version"));
  out += ".SH DESCRIPTION\nEach command has its own help: " + bold("mercer learn --help") +
         ". Text for people goes to standard output, with " + bold("--json") +
         " one JSON object in its place; errors, estimates and the progress bar go to standard error. Errors are text with " +
         bold("--json") + " too.\n";
  out += ".SH COMMANDS\n";
  for (const CommandWords* leaf : leaves) out += section(*leaf, shared);
  out += ".SH SHARED OPTIONS\n";
  for (const OptionWords& option : shared) out += item(option);
  out += status_text;
  std::vector<std::string> examples;
  for (const std::string& line : lines_in(root.footer)) {
    if (line.starts_with("  ")) examples.push_back(line.substr(2));
  }
  return out + ".SH EXAMPLES\n" + as_typed(examples);
}

}  // namespace

void add_manual(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<CommonOptions>();
  CLI::App* command = app.add_subcommand("man", "Print the manual page, for man: mercer man | man -l -");
  add_json(*command, *o);
  command->footer(
      "An installed Mercer has it as man mercer.\n"
      "Examples:\n"
      "  mercer man | man -l -\n"
      "  mercer man > mercer.1");
  command->callback([o, &app, &invocation] {
    invocation.job = [o, &app] {
      const std::string page = manual_page(words_of(app));
      if (o->json) {
        print_json({{"page", page}});
      } else {
        fmt::print("{}", page);
      }
    };
  });
}

}  // namespace mercer::cli
