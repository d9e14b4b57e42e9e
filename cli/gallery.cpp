// mercer gallery: the experiments of the source documents, each run, checked and drawn on one page.
// SPDX-License-Identifier: BSD-3-Clause
#include "gallery/gallery.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>

#include "commands.hpp"
#include "files.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

struct GalleryOptions {
  CommonOptions common{};
  std::vector<std::string> names{};
  std::string data{};
  std::string out = "gallery";
  std::uint64_t seed = 0;
  bool quick = false;
  bool list = false;
  std::string command_line{};

  std::string page() const { return (std::filesystem::path(out) / "gallery.html").string(); }
  std::string numbers() const { return (std::filesystem::path(out) / "gallery.json").string(); }
};

std::vector<gallery::Entry> chosen(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const gallery::Entry& entry : gallery::experiments()) known.push_back(entry.id);
  std::vector<std::string> asked;
  for (std::string name : names) {
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw UsageError(fmt::format("there is no experiment \"{}\"{}; there are {} to {} (mercer gallery --list)", name,
                                   did_you_mean(name, known), known.front(), known.back()));
    }
    asked.push_back(name);
  }
  std::vector<gallery::Entry> entries;
  for (const gallery::Entry& entry : gallery::experiments()) {
    if (asked.empty() || std::find(asked.begin(), asked.end(), entry.id) != asked.end()) entries.push_back(entry);
  }
  return entries;
}

void list_experiments(const GalleryOptions& o) {
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows{{"name", "experiment"}};
  for (const gallery::Entry& entry : chosen(o.names)) {
    list.push_back({{"name", entry.id}, {"title", entry.title}});
    rows.push_back({entry.id, entry.title});
  }
  if (o.common.json) return print_json({{"experiments", list}});
  Speaker(o.common).say("{}", aligned(rows));
}

void check_data(const std::string& folder) {
  if (folder.empty()) return;
  std::error_code unreadable;
  if (std::filesystem::is_directory(folder, unreadable)) return;
  const char* what = std::filesystem::exists(folder, unreadable) ? "is not a folder" : "there is no such folder";
  throw FileError(fmt::format("{}: {}; --data names the folder of the data sets, without it they are simulated", folder, what));
}

// Before the work: the folder is there afterwards, and both files can be written.
void prepare_out(const GalleryOptions& o) {
  if (o.out.empty()) throw UsageError("--out needs the name of a folder, got an empty one");
  std::error_code error;
  std::filesystem::create_directories(o.out, error);
  if (error || !std::filesystem::is_directory(o.out, error))
    throw FileError(fmt::format("{}: cannot be made a folder: {}", o.out, error ? error.message() : "there is a file of that name"));
  check_output("--out", o.page(), {}, false);
  check_output("--out", o.numbers(), {}, false);
}

// One experiment; what it could not do is a claim that did not hold, so that the others are shown all the same.
Experiment run_one(const gallery::Entry& entry, const gallery::Setting& setting) {
  const auto start = std::chrono::steady_clock::now();
  Experiment e;
  try {
    with_run(setting.run, [&] { e = entry.make(setting); });
  } catch (const Error& error) {
    e = {};
    e.claims.push_back({fmt::format("it runs to its end, but: {}", error.what()), false});
  }
  e.id = entry.id;
  if (e.title.empty()) e.title = entry.title;
  e.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return e;
}

GalleryReport run_all(const GalleryOptions& o, const std::vector<gallery::Entry>& entries) {
  GalleryReport report{.experiments = {},
                       .command = o.command_line,
                       .setting = fmt::format("{}, {}, seed {}", o.quick ? "A quick run" : "A full run",
                                              o.data.empty() ? "built-in data" : "data of " + o.data, o.seed)};
  constexpr double quick_seconds = 2;  // of one experiment on two cores, about
  constexpr double full_seconds = 30;
  const double seconds = static_cast<double>(entries.size()) * (o.quick ? quick_seconds : full_seconds);
  announce(fmt::format("running {} experiment{}", entries.size(), entries.size() == 1 ? "" : "s"), seconds, 1e9, o.common.run());
  ProgressBar bar;
  const ProgressCallback show = bar.callback();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const double before = static_cast<double>(i) / static_cast<double>(entries.size());
    const auto progress = [&](const ProgressEvent& event) {
      const std::string stage = fmt::format("{} {}", entries[i].id, event.stage);
      return show({.stage = stage, .fraction = before, .seconds = event.seconds});
    };
    gallery::Setting setting{.quick = o.quick, .data = o.data, .seed = o.seed, .run = o.common.run(progress)};
    report.experiments.push_back(run_one(entries[i], setting));
  }
  return report;
}

Json summary_json(const GalleryOptions& o, const GalleryReport& report, double seconds) {
  Json experiments = Json::object();
  bool held = true;
  for (const Experiment& e : report.experiments) {
    held = held && e.held();
    Json claims = Json::array();
    for (const Claim& claim : e.claims) claims.push_back({{"text", claim.text}, {"held", claim.held}});
    Json numbers = Json::object();
    for (const auto& [name, value] : e.numbers) numbers[name] = number_json(value);
    experiments[e.id] = {{"title", e.title}, {"source", e.source}, {"held", e.held()},
                         {"claims", claims}, {"numbers", numbers}, {"seconds", e.seconds}};
  }
  return {{"held", held},
          {"setting", report.setting},
          {"experiments", experiments},
          {"seconds", seconds},
          {"files", {{"page", o.page()}, {"numbers", o.numbers()}}}};
}

void say_summary(const GalleryOptions& o, const GalleryReport& report, double seconds) {
  const Speaker speaker(o.common);
  std::vector<std::vector<std::string>> rows{{"name", "experiment", "held", "seconds"}};
  for (const Experiment& e : report.experiments) {
    const auto held = std::count_if(e.claims.begin(), e.claims.end(), [](const Claim& claim) { return claim.held; });
    rows.push_back({e.id, e.title, fmt::format("{} of {}", held, e.claims.size()), fmt::format("{:.1f}", e.seconds)});
  }
  speaker.say("{}", aligned(rows));
  for (const Experiment& e : report.experiments) {
    for (const Claim& claim : e.claims) {
      if (!claim.held) speaker.say("{} did not hold: {}", e.id, claim.text);
    }
    if (e.claims.empty()) speaker.say("{} claims nothing", e.id);
  }
  speaker.say("{:.1f} s; the page is {}, its numbers are in {}", seconds, o.page(), o.numbers());
}

void run_gallery(const GalleryOptions& o) {
  const std::vector<gallery::Entry> entries = chosen(o.names);
  if (o.list) return list_experiments(o);
  check_data(o.data);
  prepare_out(o);
  const auto start = std::chrono::steady_clock::now();
  const GalleryReport report = run_all(o, entries);
  {
    const CarefulStop careful;
    write_text_file(gallery_page(report), o.page());
    write_text_file(gallery_json(report), o.numbers());
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (o.common.json) {
    print_json(summary_json(o, report, seconds));
  } else {
    say_summary(o, report, seconds);
  }
  std::vector<std::string> failed;
  for (const Experiment& e : report.experiments) {
    if (!e.held()) failed.push_back(e.id);
  }
  if (!failed.empty())
    throw Error(
        fmt::format("{} of {} experiments did not come out: {}", failed.size(), report.experiments.size(), fmt::join(failed, ", ")));
}

}  // namespace

void add_gallery(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<GalleryOptions>();
  CLI::App* command = app.add_subcommand("gallery", "Run the experiments of the source documents and draw them on one page");
  command->add_option("NAMES", o->names, "Only these experiments: E1 to E14 (default: all)");
  command->add_option("--data", o->data, "Folder of the real data sets (default: built-in sets stand in for them)")->type_name("DIR");
  command->add_option("--out", o->out, "Write gallery.html and gallery.json into this folder (default: gallery)")->type_name("DIR");
  command->add_flag("--quick", o->quick, "Smaller sizes: all experiments together in less than two minutes");
  command->add_flag("--list", o->list, "List the experiments and run none");
  add_seed(*command, o->seed, "Seed of everything random (default: 0)");
  add_common(*command, o->common);
  command->footer(
      "Examples:\n"
      "  mercer gallery --quick\n"
      "  mercer gallery E1 E10 --out pictures\n"
      "  mercer gallery --data data --json");
  command->callback([o, &invocation] {
    o->command_line = invocation.command_line();
    invocation.job = [o] { run_gallery(*o); };
  });
}

}  // namespace mercer::cli
