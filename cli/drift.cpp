// mercer drift: says when the rows of a stream have left a reference, as they come.
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cmath>

#include "commands.hpp"
#include "explore.hpp"
#include "series.hpp"
#include "stream.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

struct DriftCommandOptions : SeriesOptions {
  std::string stream{};
  std::int64_t window = 0;
  double run_length = 1000;
  std::int64_t simulations = 0;
  std::int64_t max_reference = 4000;
  bool go_on = false;
};

struct Alarm {
  DriftStep step{};
  std::string time{};
};

// A monitor that begins anew after each alarm, unless it is told to go on: the alarms that follow one of the same drift say nothing new.
class Watch {
 public:
  Watch(const DriftCommandOptions& o, const Dataset& reference, DriftMonitor monitor, const Speaker& speaker)
      : o_(o), encoder_(reference.encoder), monitor_(std::move(monitor)), speaker_(speaker) {}

  void see(const Table& table) {
    const Samples rows = encoder_.features_of(table);
    const std::vector<std::string> times = times_in(table, o_.time);
    const Index before = monitor_.time();
    for (Index at = 0; at < rows.size();) {
      DriftMonitor tried = monitor_;
      std::vector<DriftStep> steps = tried.update(rows.slice(at, rows.size() - at), o_.common.run());
      const auto first = std::find_if(steps.begin(), steps.end(), [](const DriftStep& s) { return s.alarm; });
      if (first == steps.end() || o_.go_on) {
        monitor_ = std::move(tried);
      } else {
        steps.erase(first + 1, steps.end());
        monitor_.update(rows.slice(at, std::ssize(steps)), o_.common.run());
        monitor_.reset();
      }
      for (const DriftStep& step : steps) note(step, times.empty() ? "" : times[static_cast<std::size_t>(step.time - before)]);
      at += std::ssize(steps);
    }
  }

  const DriftMonitor& monitor() const { return monitor_; }
  const std::vector<Alarm>& alarms() const { return alarms_; }
  const std::vector<DriftStep>& steps() const { return steps_; }
  Index rows() const { return monitor_.time(); }

 private:
  void note(const DriftStep& step, const std::string& time) {
    if (!o_.out.empty() || !o_.report.empty()) steps_.push_back(step);
    if (!step.alarm) return;
    alarms_.push_back({step, time});
    speaker_.say("row {}{}: drift, mmd-u {:.4g} above {:.4g}", step.time, time.empty() ? "" : fmt::format(" ({})", time), step.statistic,
                 step.threshold);
    std::fflush(stdout);  // whoever watches wants to know now
  }

  const DriftCommandOptions& o_;
  const Encoder& encoder_;
  DriftMonitor monitor_;
  const Speaker& speaker_;
  std::vector<Alarm> alarms_{};
  std::vector<DriftStep> steps_{};
};

std::string verdict(const Watch& watch) {
  const DriftMonitor& m = watch.monitor();
  const std::string allowed = fmt::format("one false alarm in {:g} rows is to be expected", m.expected_run_length());
  if (watch.rows() < m.window())
    return fmt::format("{} rows are fewer than the window of {}: nothing can be said yet", watch.rows(), m.window());
  if (watch.alarms().empty()) return fmt::format("no drift in {} rows; {}", watch.rows(), allowed);
  return fmt::format("drift: {} alarm{} in {} rows, the first at row {} (from 0); {}", watch.alarms().size(),
                     watch.alarms().size() == 1 ? "" : "s", watch.rows(), watch.alarms().front().step.time, allowed);
}

void write_steps(const DriftCommandOptions& o, const Watch& watch) {
  const auto n = std::ssize(watch.steps());
  Matrix numbers(n, 4);
  for (Index i = 0; i < n; ++i) {
    const DriftStep& s = watch.steps()[static_cast<std::size_t>(i)];
    numbers.row(i) << static_cast<double>(s.time), s.statistic, s.threshold, s.alarm ? 1.0 : 0.0;
  }
  // A statistic that is not there yet is an empty cell.
  Table table = answers_table(numbers, {"row", "statistic", "threshold", "alarm"}, {});
  for (const std::size_t c : {1U, 2U}) {
    for (Index i = 0; i < n; ++i) {
      if (std::isnan(numbers(i, static_cast<Index>(c)))) table.columns[c].missing.push_back(i);
    }
  }
  write_carefully(o.out, o.common, [&](const Run& run) { write_table(table, o.out, {.format = format_of_output(o.out), .run = run}); });
}

void write_drift_report(const DriftCommandOptions& o, const Watch& watch, const std::vector<std::string>& notes, double seconds) {
  const DriftMonitor& m = watch.monitor();
  const auto n = std::ssize(watch.steps());
  Vector statistic(n);
  Vector threshold(n);
  for (Index i = 0; i < n; ++i) {
    statistic[i] = watch.steps()[static_cast<std::size_t>(i)].statistic;
    threshold[i] = watch.steps()[static_cast<std::size_t>(i)].threshold;
  }
  SeriesReport page;
  page.title = watch.alarms().empty() ? "No drift" : "Drift";
  page.source = fmt::format("{} against {}", source_word(o.stream), source_word(o.reading.path));
  page.command = o.command_line;
  page.verdict = verdict(watch) + ".";
  page.numbers = {{std::to_string(watch.alarms().size()), watch.alarms().size() == 1 ? "alarm" : "alarms",
                   fmt::format("one false alarm in {:g} rows is expected", m.expected_run_length())},
                  {std::to_string(watch.rows()), "rows of the stream", fmt::format("in windows of {}", m.window())},
                  {std::to_string(m.reference_rows()), "rows of the reference", ""}};
  std::vector<double> marks;
  page.table_columns = {"row", "mmd-u", "threshold"};
  page.table_caption = "Alarms";
  for (const Alarm& a : watch.alarms()) {
    marks.push_back(static_cast<double>(a.step.time));
    page.table_rows.push_back({a.time.empty() ? std::to_string(a.step.time) : fmt::format("{} ({})", a.step.time, a.time),
                               fmt::format("{:.4g}", a.step.statistic), fmt::format("{:.4g}", a.step.threshold)});
  }
  page.panels.push_back({.title = "Statistic and threshold",
                         .description = "mmd-u of the last rows against the reference; alarms are dashed lines.",
                         .unit = "mmd-u",
                         .lines = {{"mmd-u", statistic}, {"threshold", threshold}},
                         .marks = marks});
  page.facts = {{"Rows of the stream", std::to_string(watch.rows())},
                {"Rows of the reference compared with", std::to_string(m.reference_rows())},
                {"Window", std::to_string(m.window())},
                {"Expected rows to a false alarm", fmt::format("{:g}", m.expected_run_length())},
                {"Kernel", m.kernel().text()},
                {"Seed", std::to_string(m.seed())},
                {"Time", seconds_word(seconds)}};
  page.notes = notes;
  const std::string html = series_report(page);
  const CarefulStop careful;
  write_text_file(html, o.report);
}

Json json_of(const Watch& watch) {
  const DriftMonitor& m = watch.monitor();
  Json alarms = Json::array();
  for (const Alarm& a : watch.alarms()) {
    Json one = {{"row", a.step.time}, {"statistic", a.step.statistic}, {"threshold", a.step.threshold}};
    if (!a.time.empty()) one["time"] = a.time;
    alarms.push_back(std::move(one));
  }
  return {{"drift", !watch.alarms().empty()},
          {"alarms", alarms},
          {"rows", watch.rows()},
          {"window", m.window()},
          {"expected_run_length", m.expected_run_length()},
          {"threshold", m.thresholds()[m.window() - 1]},
          {"reference_rows", m.reference_rows()},
          {"simulations", m.simulations()},
          {"kernel", m.kernel().text()},
          {"seed", m.seed()},
          {"remarks", m.remarks()},
          {"sentence", verdict(watch)}};
}

DriftMonitor calibrate(const DriftCommandOptions& o, const Dataset& reference) {
  const auto n = static_cast<double>(std::min<Index>(reference.X.size(), o.max_reference));
  const double window = o.window > 0 ? static_cast<double>(o.window) : std::min(50.0, n / 4);
  const double streams = o.simulations > 0 ? static_cast<double>(o.simulations) : std::max(2000.0, 25 * o.run_length);
  announce("Thresholds by simulation", (n * n * (static_cast<double>(reference.X.width()) + 30) + streams * 8 * window * window) / 1e9,
           8 * (n * n + streams * window), o.common.run());
  ProgressBar bar;
  return DriftMonitor(reference.X, {.kernel = kernel_for(o, reference),
                                    .window = o.window,
                                    .expected_run_length = o.run_length,
                                    .simulations = o.simulations,
                                    .max_reference = o.max_reference,
                                    .seed = o.seed,
                                    .run = o.common.run(bar.callback())});
}

void run_drift(DriftCommandOptions& o) {
  const auto start = std::chrono::steady_clock::now();
  if (o.reading.path == "-" && o.stream == "-") throw UsageError("REFERENCE and STREAM cannot both be standard input");
  check_outputs({{"--out", o.out}, {"--report", o.report}}, {o.reading.path, o.stream}, o.common.json);
  o.reading.seed = o.seed;
  const Speaker speaker(o.common, o.out);
  const Dataset reference = series_of(read_data(o.reading, o.common), o, speaker);
  Watch watch(o, reference, calibrate(o, reference), speaker);
  speaker.notes(watch.monitor().remarks());
  for_each_arrival(o.reading, o.stream, o.common, [&](const Table& table) { watch.see(table); });

  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Json files = Json::object();
  if (!o.out.empty()) {
    write_steps(o, watch);
    files["steps"] = o.out;
  }
  if (!o.report.empty()) {
    write_drift_report(o, watch, reference.notes, seconds);
    files["report"] = o.report;
  }
  if (o.common.json) {
    Json json = json_of(watch);
    json["notes"] = reference.notes;
    json["seconds"] = seconds;
    json["files"] = files;
    return print_json(json);
  }
  speaker.verdict(verdict(watch));
  if (!o.report.empty()) speaker.say("The report is {}.", o.report);
}

}  // namespace

void add_drift(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<DriftCommandOptions>();
  CLI::App* command = app.add_subcommand("drift", "Has a stream left its reference? Alarms as rows come, at a set rate of false ones");
  add_series(*command, *o, "REFERENCE", invocation);
  command->add_option("STREAM", o->stream, "The rows to watch, with the same columns; - is standard input, watched as lines come")
      ->required();
  add_whole(*command, "--window", o->window, 2, 1000000,
            "Rows compared with the reference at a time (default: a quarter of it, at most 50)");
  add_number(*command, "--run-length", o->run_length, 2, 1e6, "a number from 2 to 1000000",
             "Rows to a false alarm on average, once the window is full (default: 1000)");
  add_whole(*command, "--simulations", o->simulations, 1, 100000000,
            "Streams drawn from the reference to find the threshold (default: 25 times the run length)");
  add_whole(*command, "--max-reference", o->max_reference, 6, 100000,
            "Rows of the reference used; more are thinned at random (default: 4000)");
  command->add_flag("--go-on", o->go_on,
                    "Keep the window after an alarm (default: begin anew, so that one drift is not told at every row)");
  add_series_outputs(*command, *o, "statistic, threshold and alarm of each row");
  command->footer(
      "Examples:\n"
      "  mercer drift last_month.csv today.csv --run-length 5000\n"
      "  tail -n +1 -f sensor.csv | mercer drift reference.csv - --window 30\n"
      "Rows are counted from 0. The scales of the reference are those of the stream.");
  command->callback([o, &invocation] { invocation.job = [o] { run_drift(*o); }; });
}

}  // namespace mercer::cli
