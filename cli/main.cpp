// The command line tool. Exit status: 0 done, 1 the job failed, 2 wrong use, 130 stopped by Ctrl-C.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <new>
#include <sstream>
#include <system_error>

#include "commands.hpp"
#include "files.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

constexpr int failed = 1;
constexpr int wrong_use = 2;

int complain(const std::string& message, int status) {
  std::fflush(stdout);
  fmt::print(stderr, "mercer: {}\n", message);
  return status;
}

const CLI::App& deepest(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : deepest(*chosen.front());
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// CLI11 would say only that something was not expected; people want to know what was meant.
void check_command_words(const CLI::App& app, const std::vector<std::string>& words, std::size_t from, const char* what) {
  const std::vector<std::string> known = command_names(app);
  if (from >= words.size()) {
    throw UsageError(fmt::format("{} needs a {}: {} ({} --help)", full_name(app), what, fmt::join(known, ", "), full_name(app)));
  }
  const std::string& word = words[from];
  if (word == "-h" || word == "--help" || (word == "--version" && from == 0)) return;
  if (std::find(known.begin(), known.end(), word) != known.end()) {
    const CLI::App* command = app.get_subcommand(word);
    if (!command_names(*command).empty()) check_command_words(*command, words, from + 1, word == "fit" ? "model" : "method");
    return;
  }
  if (word.starts_with("-")) throw UsageError(fmt::format("{} has no option {} ({} --help)", full_name(app), word, full_name(app)));
  const std::string near = nearest(word, known);
  throw UsageError(fmt::format("there is no {} \"{}\"{}; there are {} ({} --help)", what, word,
                               near.empty() ? "" : fmt::format(", did you mean {}?", near), fmt::join(known, ", "), full_name(app)));
}

int explain_wrong_use(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = deepest(app);
  const std::string more = fmt::format(" ({} --help)", full_name(command));
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    for (const std::string& word : command.remaining(true)) {
      if (!word.starts_with("-")) continue;
      const std::string typed = word.substr(0, word.find('='));
      const std::string near = nearest(typed, option_names(command));
      return complain(fmt::format("{} has no option {}{}{}", full_name(command), typed,
                                  near.empty() ? "" : fmt::format(", did you mean {}?", near), more),
                      wrong_use);
    }
    return complain(fmt::format("{} does not expect \"{}\"{}", full_name(command), fmt::join(command.remaining(true), " "), more),
                    wrong_use);
  }
  return complain(error.what() + more, wrong_use);
}

void build(CLI::App& app, Invocation& invocation) {
  app.name("mercer");
  app.set_version_flag("--version", std::string("mercer ") + version());
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer(
      "Examples:\n"
      "  mercer learn builtin:waves --out model.mercer --report report.html\n"
      "  mercer fit krr train.csv --target price --out model.mercer\n"
      "  mercer predict model.mercer new.csv --out predictions.csv\n"
      "Every command has its own help: mercer learn --help");
  add_learn(app, invocation);
  add_fit(app, invocation);
  add_predict(app, invocation);
  add_score(app, invocation);
  add_embed(app, invocation);
  add_cluster(app, invocation);
  add_compare(app, invocation);
  add_depend(app, invocation);
  add_weights(app, invocation);
  add_changes(app, invocation);
  add_drift(app, invocation);
  add_gram(app, invocation);
  add_kernels(app, invocation);
  add_info(app, invocation);
  add_convert(app, invocation);
  add_gallery(app, invocation);
}

// "mercer help fit krr" is "mercer fit krr --help", "mercer version" is "mercer --version".
std::vector<std::string> spell_out(std::vector<std::string> words) {
  if (words.empty() || (words[0] != "help" && words[0] != "version")) return words;
  if (words[0] == "version") return {"--version"};
  std::erase_if(words, [](const std::string& word) { return word == "help" || word == "version"; });
  words.emplace_back("--help");
  return words;
}

int run(const std::vector<std::string>& words) {
  CLI::App app("Kernel methods: learn from tables, predict, look at kernels.");
  Invocation invocation{{}, words};
  build(app, invocation);
  try {
    const std::vector<std::string> spelt = spell_out(words);
    check_command_words(app, spelt, 0, "command");
    std::vector<std::string> reversed(spelt.rbegin(), spelt.rend());
    app.parse(reversed);
    invocation.job();
    finish_stdout();
    return 0;
  } catch (const CLI::Success& help) {
    std::ostringstream out;
    app.exit(help, out, out);
    fmt::print("{}", out.str());
    finish_stdout();
    return 0;
  } catch (const CLI::ParseError& error) {
    return explain_wrong_use(app, error);
  } catch (const UsageError& error) {
    return complain(error.what(), wrong_use);
  }
}

int run_guarded(const std::vector<std::string>& words) {
  try {
    return run(words);
  } catch (const Cancelled&) {
    return complain("stopped", stop_status() != 0 ? stop_status() : 130);
  } catch (const FileError& error) {
    if (stdout_closed_by_reader()) return 0;  // the reader has seen enough
    return complain(error.what(), failed);
  } catch (const std::system_error& error) {  // long text is written before its end; fmt says that it could not
    if (stdout_closed_by_reader()) return 0;
    const bool writing = std::string_view(error.what()).starts_with("cannot write to file");
    return complain(writing ? fmt::format("standard output: cannot be written: {}", error.code().message()) : error.what(), failed);
  } catch (const std::bad_alloc&) {
    return complain("the machine has no memory left for this; use fewer rows, or --memory to be told earlier", failed);
  } catch (const std::exception& error) {
    return complain(error.what(), failed);
  }
}

}  // namespace

}  // namespace mercer::cli

int main(int argc, char** argv) {
  mercer::cli::prepare_process();
  return mercer::cli::run_guarded({argv + std::min(argc, 1), argv + argc});
}
