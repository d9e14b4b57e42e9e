// What a comparison is written and said as: JSON, the page, the file of the witness, the words.
// SPDX-License-Identifier: BSD-3-Clause
#include "compare.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

Json level_json(const LevelCheck& l) {
  return {
      {"repetitions", l.repetitions}, {"rejections", l.rejections}, {"rate", l.rate}, {"low", l.low}, {"high", l.high}, {"holds", l.holds},
      {"sentence", l.sentence}};
}

Json power_json(const PowerEstimate& p) {
  return {{"power", number_json(p.power)},
          {"n", p.n},
          {"wanted", p.wanted},
          {"needed", p.needed},
          {"squared", number_json(p.squared)},
          {"deviation", number_json(p.deviation)},
          {"threshold", number_json(p.threshold)},
          {"sentence", p.sentence}};
}

Json pairs_json(const SampleSet& s, const std::vector<KSamplePair>& pairs) {
  Json list = Json::array();
  for (const KSamplePair& p : pairs) {
    list.push_back({{"a", s.names[static_cast<std::size_t>(p.first)]},
                    {"b", s.names[static_cast<std::size_t>(p.second)]},
                    {"statistic", number_json(p.squared)},
                    {"p_value", number_json(p.p_value)},
                    {"adjusted", number_json(p.adjusted)},
                    {"rejected", p.rejected}});
  }
  return list;
}

void print_comparison_json(const CompareOptions& o, const SampleSet& s, const Comparison& c) {
  Json json = judgement_json(c, o);
  Json samples = Json::array();
  for (std::size_t k = 0; k < s.samples.size(); ++k) samples.push_back({{"name", s.names[k]}, {"n", s.samples[k].size()}});
  json["samples"] = std::move(samples);
  json["features"] = s.features.names;
  json["columns"] = c.where.columns ? columns_json(s, *c.where.columns) : Json();
  json["pairs"] = c.pairs.empty() ? Json() : pairs_json(s, c.pairs);
  json["level_check"] = c.level ? level_json(*c.level) : Json();
  json["power"] = c.power ? power_json(*c.power) : Json();
  json["detectable_shift"] = c.detectable ? number_json(c.detectable->shift) : Json();
  json["notes"] = c.notes;
  json["seconds"] = o.seconds();
  json["files"] = Json::object();
  for (const auto& [key, path] : c.files) json["files"][key] = path;
  print_json(json);
}

void write_report(const CompareOptions& o, const SampleSet& s, const Comparison& c, const Kernel& kernel) {
  TestReport page = page_of(c, o, o.to.empty() ? "Samples compared" : "Goodness of fit", s.source);
  page.question = o.to.empty() ? fmt::format("Do the rows of {} come from one distribution?", list_words(s.names))
                               : fmt::format("Do the rows of {} come from a normal distribution?", s.source);
  for (std::size_t k = 0; k < s.samples.size(); ++k) page.samples.emplace_back(s.names[k], s.samples[k].size());
  {
    ProgressBar bar;
    draw_differences(page, s, c.where, kernel, o.common.run(bar.callback()));
  }
  if (!c.pairs.empty()) {
    ReportTable table{.title = "Pairs of samples",
                      .caption = "Each pair by itself; p-values adjusted for the number of pairs.",
                      .columns = {"Sample", "and", "statistic", "p", "p, adjusted", "differ"},
                      .numeric = {false, false, true, true, true, false}};
    for (const KSamplePair& p : c.pairs) {
      table.rows.push_back({s.names[static_cast<std::size_t>(p.first)], s.names[static_cast<std::size_t>(p.second)],
                            fmt::format("{:.4g}", p.squared), fmt::format("{:.4g}", p.p_value), fmt::format("{:.4g}", p.adjusted),
                            p.rejected ? "yes" : "no"});
    }
    page.tables.push_back(std::move(table));
  }
  if (c.level) {
    page.level_p_values = c.level->p_values;
    page.level_sentence = as_sentence(c.level->sentence);
  }
  if (c.power) page.facts.emplace_back("Power", c.power->sentence);
  page.facts.emplace_back("Columns", std::to_string(s.pooled.width()));
  write_page(page, o.report);
}

}  // namespace

void finish_comparison(const CompareOptions& o, const SampleSet& s, Comparison& c, const Kernel& kernel) {
  c.notes = s.features.notes;
  if (!o.report.empty()) {
    write_report(o, s, c, kernel);
    c.files.emplace_back("report", o.report);
  }
  if (!o.witness.empty()) {
    write_witness(s, *c.where.witness, o.witness, o.common);
    c.files.emplace_back("witness", o.witness);
  }
  if (o.common.json) {
    print_comparison_json(o, s, c);
  } else {
    say_judgement(c, Speaker(o.common, o.witness));
  }
}

}  // namespace mercer::cli
