// SPDX-License-Identifier: BSD-3-Clause
#include "judge.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "terminal.hpp"

namespace mercer::cli {

namespace {

constexpr std::size_t kernels_listed = 10;

Json numbers_json(const std::vector<std::pair<std::string, double>>& numbers) {
  Json json = Json::object();
  for (const auto& [name, value] : numbers) json[name] = number_json(value);
  return json;
}

// Where the null lies, in a few numbers.
Json null_json(const TestResult& test) {
  if (test.null.size() == 0) return {};
  Vector sorted = test.null;
  std::sort(sorted.begin(), sorted.end());
  Json quantiles = Json::object();
  for (const double q : {0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99}) {
    const auto at = static_cast<Index>(std::floor(q * static_cast<double>(sorted.size() - 1) + 0.5));
    quantiles[fmt::format("{:g}", q)] = number_json(sorted[at]);
  }
  const double mean = test.null.mean();
  const double deviation = std::sqrt((test.null.array() - mean).square().mean());
  return {{"size", test.null.size()}, {"mean", number_json(mean)}, {"deviation", number_json(deviation)}, {"quantiles", quantiles}};
}

Json kernels_json(const std::vector<KernelVerdict>& kernels) {
  Json list = Json::array();
  for (const KernelVerdict& k : kernels) {
    Json row = {{"kernel", k.kernel}};
    if (!k.kernel_y.empty()) row["kernel_y"] = k.kernel_y;
    row.update({{"weight", number_json(k.weight)},
                {"statistic", number_json(k.statistic)},
                {"threshold", number_json(k.threshold)},
                {"p_value", number_json(k.p_value)},
                {"level", number_json(k.level)},
                {"rejected", k.rejected}});
    list.push_back(std::move(row));
  }
  return list;
}

std::vector<KernelVerdict> ranked(std::vector<KernelVerdict> kernels) {
  std::stable_sort(kernels.begin(), kernels.end(), [](const KernelVerdict& a, const KernelVerdict& b) {
    return a.rejected != b.rejected ? a.rejected : a.p_value < b.p_value;
  });
  return kernels;
}

std::vector<std::string> kernel_cells(const KernelVerdict& k, bool pairs) {
  std::vector<std::string> cells{k.kernel};
  if (pairs) cells.push_back(k.kernel_y);
  cells.insert(cells.end(), {fmt::format("{:.4g}", k.statistic), fmt::format("{:.4g}", k.threshold), fmt::format("{:.4g}", k.p_value),
                             k.rejected ? "yes" : "no"});
  return cells;
}

std::vector<std::string> kernel_titles(bool pairs) {
  std::vector<std::string> titles{pairs ? "kernel of x" : "kernel"};
  if (pairs) titles.emplace_back("kernel of y");
  titles.insert(titles.end(), {"statistic", "threshold", "p alone", "rejects"});
  return titles;
}

std::string capitalised(std::string words) {
  if (!words.empty()) words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
  return words;
}

bool are_pairs(const std::vector<KernelVerdict>& kernels) { return !kernels.empty() && !kernels.front().kernel_y.empty(); }

}  // namespace

void add_judging(CLI::App& command, JudgeOptions& o, Invocation& invocation, const std::vector<Exchange>& schemes) {
  add_encoding(command, o.encode);
  add_scaling(command, o.encode.scaling);
  add_number(command, "--level", o.level, 1e-12, 1 - 1e-12, "between 0 and 1", "Level of the test (default: 0.05)");
  add_whole(command, "--permutations", o.permutations, 1, 100000000, "Exchanges of rows, or draws of the null (default: 1000)");
  std::vector<std::pair<std::string, Exchange>> words;
  for (const Exchange scheme : schemes) words.emplace_back(name_of(scheme), scheme);
  add_choice<Exchange>(command, "--exchange", o.scheme, words,
                       "What the exchanges may move, when rows depend on each other (default: free)");
  command.add_option("--groups", o.groups, "Column with the group of each row, for --exchange within-groups or whole-groups; no feature")
      ->type_name("COL");
  add_whole(command, "--block-length", o.block_length, 1, 1000000000, "Rows that stay together in --exchange blocks (default: by size)");
  add_seed(command, o.reading.seed, "Seed of the exchanges, and of built-in sets (default: 0)");
  command.add_option("--report", o.report, "Write a self-contained HTML page with charts to this file")->type_name("FILE");
  command.add_flag("--json-null", o.json_null, "With --json: the whole null distribution too");
  add_common(command, o.common);
  o.command_line = invocation.command_line();
}

void check_exchange(const JudgeOptions& o) {
  const bool grouped = o.scheme == Exchange::within_groups || o.scheme == Exchange::whole_groups;
  if (grouped && o.groups.empty())
    throw UsageError(fmt::format("--exchange {} needs --groups COL, the group of each row", name_of(o.scheme)));
  if (!grouped && !o.groups.empty())
    throw UsageError("--groups needs --exchange within-groups (rows change places within their group) or whole-groups (groups as wholes)");
  if (o.block_length > 0 && o.scheme != Exchange::blocks) throw UsageError("--block-length needs --exchange blocks");
  if (o.json_null && !o.common.json) throw UsageError("--json-null needs --json");
}

ExchangeOptions exchange_of(const JudgeOptions& o, const Table& table) {
  ExchangeOptions exchange{.scheme = o.scheme, .groups = {}, .block_length = static_cast<Index>(o.block_length)};
  if (!o.groups.empty()) {
    if (table.sparse) throw InvalidArgument(fmt::format("{}: rows of a LIBSVM file have no named columns for --groups", table.source));
    exchange.groups = classes_in(table, table.columns[static_cast<std::size_t>(require_column(table, o.groups, " for --groups"))]);
  }
  return exchange;
}

Features features_in(const Table& table, const EncodeOptions& options) {
  EncodeOptions plain = options;
  plain.scaling = ScalingKind::none;
  Dataset data = make_dataset(table, plain);
  Features f{.X = {}, .encoder = std::move(data.encoder), .names = {}, .notes = std::move(data.notes)};
  Scaler scaler = fit_scaler(data.X, options.scaling);
  f.names = f.encoder.feature_names();
  f.words_only = !f.encoder.features.empty();
  if (f.names.empty()) {  // LIBSVM rows
    for (Index j = 0; j < data.X.width(); ++j) f.names.push_back(fmt::format("x{}", j + 1));
  }
  Index column = 0;  // among those of numbers, which the scaler knows alone
  for (const FeatureColumn& feature : f.encoder.features) {
    const Index width = std::max<Index>(1, std::ssize(feature.categories));
    if (feature.object) {
      f.words_only = false;
      continue;
    }
    if (feature.categories.empty()) {
      f.words_only = false;
    } else if (scaler.kind != ScalingKind::none) {
      scaler.shift.segment(column, width).setZero();
      scaler.scale.segment(column, width).setOnes();
    }
    column += width;
  }
  f.X = scaler.kind == ScalingKind::none ? data.X : scaler.apply(data.X);
  f.encoder.scaler = std::move(scaler);
  std::erase_if(f.notes, [](const std::string& note) { return note.ends_with("can teach nothing."); });
  return f;
}

std::string p_word(double p) { return p < 1e-300 ? "p < 1e-300" : fmt::format("p = {:.4g}", p); }

std::string as_sentence(std::string words) {
  if (words.empty()) return words;
  if (words.back() != '.') words += '.';
  return capitalised(std::move(words));
}

std::string kernels_table(const std::vector<KernelVerdict>& kernels) {
  const bool pairs = are_pairs(kernels);
  const std::vector<KernelVerdict> sorted = ranked(kernels);
  std::vector<std::vector<std::string>> rows{kernel_titles(pairs)};
  for (std::size_t i = 0; i < std::min(sorted.size(), kernels_listed); ++i) rows.push_back(kernel_cells(sorted[i], pairs));
  if (sorted.size() > kernels_listed) rows.push_back({fmt::format("... {} more", sorted.size() - kernels_listed)});
  return aligned(rows);
}

Json judgement_json(const Judgement& j, const JudgeOptions& o) {
  const TestResult& t = j.test;
  Json json = {{"test", t.test},
               {"verdict", j.verdict},
               {"rejected", t.rejected},
               {"p_value", number_json(t.p_value)},
               {"level", t.level},
               {"statistic_name", t.statistic_name},
               {"statistic", number_json(t.statistic)},
               {"threshold", number_json(t.threshold)},
               {"method", t.method},
               {"description", t.description},
               {"exact", t.exact},
               {"exchange", name_of(o.scheme)},
               {"kernel", t.kernel()},
               {"kernels", t.kernels},
               {"n", t.n},
               {"m", t.m},
               {"seed", t.seed},
               {"draws", t.draws},
               {"null", null_json(t)},
               {"numbers", numbers_json(t.numbers)},
               {"remarks", t.remarks}};
  if (o.json_null) {
    Json sample = Json::array();
    for (const double value : t.null) sample.push_back(number_json(value));
    json["null_sample"] = std::move(sample);
  }
  if (!j.kernels.empty()) json["kernel_verdicts"] = kernels_json(j.kernels);
  return json;
}

void say_judgement(const Judgement& j, const Speaker& speaker) {
  const TestResult& t = j.test;
  speaker.verdict(j.verdict);
  std::vector<std::vector<std::string>> rows;
  rows.push_back({t.statistic_name,
                  fmt::format("{:.6g}{}", t.statistic, std::isfinite(t.threshold) ? fmt::format(", threshold {:.6g}", t.threshold) : "")});
  rows.push_back({"null", t.description});
  if (t.kernels.size() == 1) rows.push_back({"kernel", t.kernel()});
  for (std::size_t k = 0; k < t.kernels.size() && t.kernels.size() == j.kernel_owners.size(); ++k)
    rows.push_back({"kernel of " + j.kernel_owners[k], t.kernels[k]});
  rows.push_back({"rows", t.m > 0 ? fmt::format("{} and {}", t.n, t.m) : fmt::format("{}", t.n)});
  rows.push_back({"seed", fmt::format("{}", t.seed)});
  for (const auto& [name, value] : j.facts) rows.push_back({name, value});
  speaker.say("{}", aligned(rows));
  for (const std::string& line : j.lines) speaker.say("{}", line);
  for (const std::string& remark : t.remarks) speaker.say("Note: {}", as_sentence(remark));
  for (const auto& [key, path] : j.files) {
    if (key == "report") {
      speaker.say("The report is {}.{}", path, charts_available() ? "" : " It has no charts: make setup, then make build.");
    } else {
      speaker.say("The {} is {}.", key, path);
    }
  }
}

TestReport page_of(const Judgement& j, const JudgeOptions& o, const std::string& title, const std::string& source) {
  const TestResult& t = j.test;
  TestReport page{.title = title, .source = source, .command = o.command_line};
  page.verdict = j.verdict;
  page.statistic_name = t.statistic_name;
  page.statistic = t.statistic;
  page.p_value = t.p_value;
  page.level = t.level;
  page.rejected = t.rejected;
  page.threshold = t.threshold;
  page.method = t.method;
  page.description = as_sentence(t.description);
  page.null = t.null;
  page.remarks = t.remarks;
  for (std::string& remark : page.remarks) remark = as_sentence(remark);
  page.notes = j.notes;
  page.facts = {{"Level held", t.exact ? "exactly, for every number of rows" : "in the limit of many rows"}};
  if (t.kernels.size() == 1) page.facts.emplace_back("Kernel", t.kernel());
  if (t.draws > 0) page.facts.emplace_back("Draws of the null", std::to_string(t.draws));
  if (o.scheme != Exchange::free) page.facts.emplace_back("Exchanges", name_of(o.scheme));
  page.facts.emplace_back("Seed", std::to_string(t.seed));
  for (const auto& [name, value] : t.numbers) page.facts.emplace_back(capitalised(name), fmt::format("{:.6g}", value));
  page.facts.emplace_back("Time", seconds_word(o.seconds()));
  if (!j.kernels.empty()) {
    const bool pairs = are_pairs(j.kernels);
    ReportTable table{.title = "Kernels",
                      .caption = "What each kernel says: its statistic rejects above its threshold, within the test of all of them.",
                      .columns = kernel_titles(pairs)};
    table.numeric.assign(table.columns.size(), true);
    table.numeric[0] = table.numeric.back() = false;
    if (pairs) table.numeric[1] = false;
    for (const KernelVerdict& k : ranked(j.kernels)) table.rows.push_back(kernel_cells(k, pairs));
    page.tables.push_back(std::move(table));
  }
  return page;
}

void write_page(const TestReport& page, const std::string& path) {
  const std::string html = test_report(page);
  const CarefulStop careful;
  write_text_file(html, path);
}

}  // namespace mercer::cli
