// The command line tool. Exit status: 0 done, 1 the job failed, 2 wrong use, 130 stopped by Ctrl-C.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <sstream>
#include <system_error>

#include "colour.hpp"
#include "commands.hpp"
#include "files.hpp"
#include "terminal.hpp"
#include "wrong_use.hpp"

namespace mercer::cli {

namespace {

constexpr int failed = 1;
constexpr int wrong_use = 2;

int complain(const std::string& message, int status) {
  std::fflush(stdout);
  print_error(message);
  return status;
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
  add_completion(app, invocation);
  add_manual(app, invocation);
}

// "mercer help fit krr" is "mercer fit krr --help", "mercer version" is "mercer --version".
std::vector<std::string> spell_out(std::vector<std::string> words) {
  if (words.empty() || (words[0] != "help" && words[0] != "version")) return words;
  if (words[0] == "version") {
    words[0] = "--version";
    return words;
  }
  std::erase_if(words, [](const std::string& word) { return word == "help" || word == "version"; });
  words.emplace_back("--help");
  return words;
}

// CLI11 answers --version by itself, as text.
bool asks_version_as_json(const std::vector<std::string>& words) {
  return words.size() == 2 && ((words[0] == "--version" && words[1] == "--json") || (words[0] == "--json" && words[1] == "--version"));
}

int run(const std::vector<std::string>& words) {
  CLI::App app("Kernel methods: learn from tables, predict, look at kernels.");
  Invocation invocation{{}, words};
  build(app, invocation);
  try {
    const std::vector<std::string> spelt = spell_out(words);
    if (asks_version_as_json(spelt)) {
      print_json({{"name", "mercer"}, {"version", version()}});
      finish_stdout();
      return 0;
    }
    check_command_words(app, spelt);
    std::vector<std::string> reversed(spelt.rbegin(), spelt.rend());
    app.parse(reversed);
    invocation.job();
    finish_stdout();
    return 0;
  } catch (const CLI::Success& help) {
    std::ostringstream out;
    app.exit(help, out, out);
    fmt::print("{}", help_text(stdout, out.str()));
    finish_stdout();
    return 0;
  } catch (const CLI::ParseError& error) {
    return complain(wrong_use_of(app, error), wrong_use);
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
  } catch (const OverBudget& error) {
    const std::string message = error.what();
    return complain(message + (message.find("--memory") == std::string::npos ? "; --memory says how much may be used" : ""), failed);
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
