// mercer changes: the rows of a series where its distribution changes.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cmath>

#include "commands.hpp"
#include "explore.hpp"
#include "given_gram.hpp"
#include "series.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

struct ChangesOptions : SeriesOptions {
  std::optional<double> penalty{};
  std::int64_t changes = -1;  // -1: chosen
  std::int64_t max_changes = 0;
  std::int64_t min_segment = 2;
  std::int64_t permutations = 0;  // 0: no test
  std::int64_t block_length = 0;  // 0: rows are exchanged freely
  double level = 0.05;
};

struct Segment {
  Index begin = 0;
  Index end = 0;
  Vector mean{};  // of the features, in the units of the table
  Vector deviation{};
};

struct Outcome {
  Dataset data;
  std::vector<std::string> times{};
  Matrix rows{};  // in the units of the table; empty where there are too many columns
  std::vector<std::string> names{};
  ChangePoints found{};
  std::vector<Segment> segments{};
  std::optional<TestResult> test{};
  double seconds = 0;
};

constexpr Index shown_columns = 4;

std::vector<Segment> segments_of(const Outcome& r) {
  std::vector<Segment> out;
  std::vector<Index> ends = r.found.positions();
  ends.push_back(r.found.n);
  Index begin = 0;
  for (const Index end : ends) {
    Segment s{begin, end, {}, {}};
    if (r.rows.cols() > 0) {
      const auto part = r.rows.middleRows(begin, end - begin);
      s.mean = part.colwise().mean();
      const auto free = static_cast<double>(std::max<Index>(1, end - begin - 1));
      s.deviation = ((part.rowwise() - s.mean.transpose()).colwise().squaredNorm() / free).cwiseSqrt();
    }
    out.push_back(std::move(s));
    begin = end;
  }
  return out;
}

std::string time_word(const Outcome& r, Index row) { return r.times.empty() ? "" : r.times[static_cast<std::size_t>(row)]; }

// Rows, then mean and deviation of the first columns, for every segment.
std::vector<std::vector<std::string>> segment_table(const Outcome& r) {
  const Index shown = std::min(shown_columns, r.rows.cols());
  std::vector<std::vector<std::string>> rows{{"rows"}};
  if (!r.times.empty()) rows[0].emplace_back("from");
  rows[0].emplace_back("count");
  for (Index c = 0; c < shown; ++c) rows[0].push_back(fmt::format("{} mean (sd)", r.names[static_cast<std::size_t>(c)]));
  rows[0].emplace_back("gain");
  for (std::size_t s = 0; s < r.segments.size(); ++s) {
    const Segment& segment = r.segments[s];
    std::vector<std::string> row{fmt::format("{} to {}", segment.begin, segment.end - 1)};
    if (!r.times.empty()) row.push_back(time_word(r, segment.begin));
    row.push_back(std::to_string(segment.end - segment.begin));
    for (Index c = 0; c < shown; ++c) row.push_back(fmt::format("{:.4g} ({:.3g})", segment.mean[c], segment.deviation[c]));
    row.push_back(s == 0 ? "" : fmt::format("{:.4g}", r.found.changes[s - 1].gain));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json json_of(const TestResult& t) {
  return {{"statistic_name", t.statistic_name},
          {"statistic", t.statistic},
          {"p_value", t.p_value},
          {"level", t.level},
          {"rejected", t.rejected},
          {"position", static_cast<Index>(t.numbers.at(0).second)},
          {"description", t.description},
          {"permutations", t.draws},
          {"seed", t.seed},
          {"sentence", t.sentence}};
}

Json numbers(const Vector& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number_json(value));
  return list;
}

void print_changes_json(const ChangesOptions& o, const Outcome& r, const Json& files) {
  Json changes = Json::array();
  for (const ChangePoint& c : r.found.changes) {
    Json one = {{"row", c.position}, {"gain", c.gain}, {"mmd_squared", c.squared}};
    if (!r.times.empty()) one["time"] = time_word(r, c.position);
    changes.push_back(std::move(one));
  }
  Json segments = Json::array();
  for (const Segment& s : r.segments) {
    segments.push_back({{"begin", s.begin}, {"end", s.end}, {"mean", numbers(s.mean)}, {"deviation", numbers(s.deviation)}});
  }
  print_json({{"n", r.found.n},
              {"features", r.data.X.width()},
              {"columns", r.names},
              {"changes", changes},
              {"segments", segments},
              {"method", r.found.method},
              {"penalty", r.found.penalty},
              {"cost", r.found.cost},
              {"costs", numbers(r.found.costs)},
              {"criterion", numbers(r.found.criterion)},
              {"min_segment", r.found.min_segment},
              {"kernel", r.found.kernel},
              {"test", r.test ? json_of(*r.test) : Json(nullptr)},
              {"sentence", r.found.sentence},
              {"remarks", r.found.remarks},
              {"notes", r.data.notes},
              {"seed", o.seed},
              {"seconds", r.seconds},
              {"files", files}});
}

void write_segments(const ChangesOptions& o, const Outcome& r) {
  Matrix labels(r.found.n, 2);
  for (std::size_t s = 0; s < r.segments.size(); ++s) {
    for (Index i = r.segments[s].begin; i < r.segments[s].end; ++i) labels.row(i) << static_cast<double>(i), static_cast<double>(s);
  }
  std::vector<Column> kept;
  if (!r.times.empty()) kept.push_back({o.time, r.times, {}});
  write_answers(labels, {"row", "segment"}, kept, o.out, o.common);
}

void write_changes_report(const ChangesOptions& o, const Outcome& r) {
  const std::size_t count = r.found.changes.size();
  SeriesReport page;
  page.title = count == 0 ? "No change" : fmt::format("{} change{}", count, count == 1 ? "" : "s");
  page.source = source_word(o.reading.path.empty() ? o.gram : o.reading.path);
  page.command = o.command_line;
  page.verdict = r.found.sentence + ".";
  if (r.test) page.verdict += fmt::format(" Test: {}.", r.test->sentence);
  page.numbers = {{std::to_string(count), count == 1 ? "change" : "changes", fmt::format("{} segments", count + 1)},
                  {std::to_string(r.found.n), "rows", fmt::format("{} columns", r.data.X.width())}};
  if (r.test) page.numbers.push_back({fmt::format("{:.3g}", r.test->p_value), "p-value", "if nothing changed"});
  std::vector<double> marks;
  for (const ChangePoint& c : r.found.changes) marks.push_back(static_cast<double>(c.position) - 0.5);
  for (Index c = 0; c < std::min(shown_columns, r.rows.cols()); ++c) {
    const std::string& name = r.names[static_cast<std::size_t>(c)];
    page.panels.push_back({.title = name,
                           .description = fmt::format("{} over {} rows, the changes as dashed lines.", name, r.found.n),
                           .unit = name,
                           .lines = {{name, r.rows.col(c)}},
                           .marks = marks});
  }
  if (r.found.costs.size() > 1 && r.found.criterion.size() > 0) {
    page.panels.push_back({.title = "Cost by number of segments",
                           .description = "What the segments cost, and the same with the penalty, which is least for the number chosen.",
                           .axis = "segments",
                           .unit = "cost",
                           .first = 1,
                           .lines = {{"cost", r.found.costs}, {"cost + penalty", r.found.criterion}},
                           .marks = {static_cast<double>(count + 1)}});
  }
  std::vector<std::vector<std::string>> table = segment_table(r);
  page.table_caption = "The segments; gain: what the cost would rise by without the cut before it.";
  page.table_columns = table[0];
  page.table_rows.assign(table.begin() + 1, table.end());
  page.facts = {{"Rows", std::to_string(r.found.n)},
                {"Columns", std::to_string(r.data.X.width())},
                {"Kernel", r.found.kernel},
                {"Fewest rows of a segment", std::to_string(r.found.min_segment)},
                {"Time", seconds_word(r.seconds)}};
  page.notes = r.data.notes;
  page.notes.insert(page.notes.end(), r.found.remarks.begin(), r.found.remarks.end());
  const std::string html = series_report(page);
  const CarefulStop careful;
  write_text_file(html, o.report);
}

Outcome find_changes(const ChangesOptions& o, const Speaker& speaker) {
  const bool given = !o.gram.empty();
  const bool has_data = !given || !o.reading.path.empty();
  const Table table = has_data ? read_data(o.reading, o.common) : Table{};
  Outcome r{.data = given ? gram_dataset(o.gram, has_data ? &table : nullptr, o.encode, o.common) : series_of(table, o, speaker)};
  if (given) speaker.notes(r.data.notes);
  r.times = times_in(table, o.time);
  const Samples& X = r.data.X;
  const Kernel kernel = given ? kernels::precomputed() : kernel_for(o, r.data);
  const auto n = static_cast<double>(X.size());
  const double levels = o.penalty ? 1 : o.changes >= 0 ? static_cast<double>(o.changes) : std::clamp(n / 20, 10.0, 100.0);
  announce(fmt::format("Segments of {} rows", X.size()),
           n * n * (static_cast<double>(X.width()) + 30 + levels + static_cast<double>(o.permutations)) / estimated_flops(o.common.run()),
           n * levels * 12, o.common.run());
  ProgressBar bar;
  const Run run = o.common.run(bar.callback());
  r.found = change_points(X, {.kernel = kernel,
                              .changes = o.changes >= 0 ? std::optional<Index>(o.changes) : std::nullopt,
                              .penalty = o.penalty,
                              .max_changes = o.max_changes,
                              .min_segment = o.min_segment,
                              .run = run});
  if (o.permutations > 0) {
    ExchangeOptions exchange;
    if (o.block_length > 0) exchange = {.scheme = Exchange::blocks, .groups = {}, .block_length = o.block_length};
    r.test = change_point_test(X, {.kernel = kernel,
                                   .permutations = o.permutations,
                                   .exchange = exchange,
                                   .min_segment = o.min_segment,
                                   .level = o.level,
                                   .seed = o.seed,
                                   .run = run});
  }
  r.names = r.data.encoder.feature_names();
  const bool drawn = !X.is_sparse() && !X.has_objects() && !kernel.needs_given_gram() && std::ssize(r.names) == X.width();
  if (drawn) r.rows = r.data.encoder.scaler.undo(X.to_dense());
  r.segments = segments_of(r);
  return r;
}

void run_changes(ChangesOptions& o) {
  const auto start = std::chrono::steady_clock::now();
  if (o.penalty && o.changes >= 0) throw UsageError("--penalty and --changes are two ways to say how many; give one of them");
  if (!o.gram.empty() && o.gram == o.reading.path) throw UsageError("SERIES and --gram name the same file; leave out SERIES");
  if (!o.gram.empty() && !o.columns.empty()) throw UsageError("--columns names columns; --gram has kernel values in place of them");
  if (!o.time.empty() && o.reading.path.empty()) throw UsageError("--time names a column of SERIES; give SERIES too");
  if (o.block_length > 0 && o.permutations == 0) throw UsageError("--block-length is for the test; give --permutations too");
  check_outputs({{"--out", o.out}, {"--report", o.report}}, {o.reading.path, o.gram}, o.common.json);
  o.reading.seed = o.seed;
  const Speaker speaker(o.common, o.out);
  Outcome r = find_changes(o, speaker);
  Json files = Json::object();
  r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!o.out.empty()) {
    write_segments(o, r);
    files["segments"] = o.out;
  }
  if (!o.report.empty()) {
    write_changes_report(o, r);
    files["report"] = o.report;
  }
  if (o.common.json) return print_changes_json(o, r, files);
  speaker.verdict(r.found.sentence);
  speaker.notes(r.found.remarks);
  if (!r.segments.empty()) speaker.table(aligned(segment_table(r)));
  if (r.test) speaker.say("{}", r.test->sentence);
  if (!o.report.empty()) speaker.say("The report is {}.", o.report);
}

}  // namespace

void add_changes(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<ChangesOptions>();
  CLI::App* command = app.add_subcommand("changes", "Where a series changes: kernel segmentation of rows in time order");
  add_series(*command, *o, "SERIES", invocation);
  add_gram_file(*command, o->gram,
                "Kernel values of the rows in place of a kernel: a square matrix, .npy or .csv without names; SERIES may be left out",
                "--gram", "SERIES");
  add_whole(*command, "--changes", o->changes, 0, 1000000, "Find exactly so many changes (default: their number is chosen)");
  add_whole(*command, "--max-changes", o->max_changes, 1, 1000000,
            "Changes looked at when their number is chosen (default: a twentieth of the rows, from 9 to 99)");
  command
      ->add_option_function<std::string>(
          "--penalty",
          [o](const std::string& text) {
            if (text == "auto") {
              o->penalty.reset();
              return;
            }
            const std::optional<double> number = parse_number(text);
            if (!number || !(*number > 0) || !std::isfinite(*number))
              throw CLI::ValidationError("--penalty", "must be auto or a number > 0, got " + text);
            o->penalty = number;
          },
          "What each change costs, in units of the kernel; auto finds it from the slope of the cost (default: auto)")
      ->type_name("NUMBER|auto");
  add_whole(*command, "--min-segment", o->min_segment, 1, 1000000000, "Fewest rows of a segment (default: 2)");
  add_whole(*command, "--permutations", o->permutations, 1, 10000000, "Also test whether there is any change, by so many permutations");
  add_whole(*command, "--block-length", o->block_length, 1, 1000000000,
            "Permute blocks of so many rows: for rows that depend on their neighbours");
  add_number(*command, "--level", o->level, std::numeric_limits<double>::min(), 1 - 1e-12, "a number between 0 and 1",
             "Level of the test (default: 0.05)");
  add_series_outputs(*command, *o, "the segment of each row");
  command->footer(
      "Examples:\n"
      "  mercer changes well.csv --columns resistivity --report well.html\n"
      "  mercer changes sensors.csv --time date --max-changes 40 --json\n"
      "  mercer changes sensors.csv --drop date --permutations 999 --block-length 24\n"
      "Rows are counted from 0; a change is named by the first row of the new segment.");
  command->callback([o, &invocation] { invocation.job = [o] { run_changes(*o); }; });
}

}  // namespace mercer::cli
