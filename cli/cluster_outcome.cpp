// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "cluster.hpp"
#include "terminal.hpp"

namespace mercer::cli {

Silhouettes silhouettes_of(const Samples& X, const std::vector<Index>& labels, const std::optional<Kernel>& space, const Run& run) {
  constexpr Index most = 20000;
  const Index stride = (X.size() + most - 1) / most;
  std::vector<Index> rows;
  std::vector<Index> some;
  for (Index i = 0; i < X.size(); i += stride) {
    rows.push_back(i);
    some.push_back(labels[static_cast<std::size_t>(i)]);
  }
  const auto different = static_cast<std::size_t>(std::set<Index>(some.begin(), some.end()).size());
  if (different < 2 || different >= some.size()) return {};
  Vector each = silhouette_samples(stride == 1 ? X : X.subset(rows), some, {.kernel = space, .run = run});
  Silhouettes out{.mean = each.mean(), .each = {}, .rows = each.size()};
  if (stride == 1) out.each = std::move(each);
  return out;
}

namespace {

struct Outcome {
  Clusters found;
  std::vector<Index> sizes;
  Silhouettes silhouettes;
  double rand = unknown;  // adjusted Rand index against the target
  double seconds = 0;
};

// Two coordinates to draw rows at: the columns themselves if there are not more, else principal components.
std::pair<Matrix, std::vector<std::string>> picture(const Exploration& e, bool given_gram, const Run& run) {
  const Samples& X = e.data.X;
  if (given_gram || X.has_objects() || X.width() == 0) return {};
  const std::vector<std::string> names = e.data.encoder.feature_names();
  if (X.width() <= 2 && std::ssize(names) == X.width()) return {e.data.encoder.scaler.undo(X.to_dense()), names};
  const Index components = std::min<Index>({2, X.size(), X.width()});
  const PcaModel pca = fit_pca(X, {.n_components = components, .run = run});
  return {pca.transform(X, run), {"PC1", "PC2"}};
}

Json candidates_json(const std::vector<ClusterReport::Candidate>& candidates) {
  Json list = Json::array();
  for (const auto& c : candidates) {
    list.push_back({{"k", c.k},
                    {"inertia", number_json(c.inertia)},
                    {"silhouette", number_json(c.silhouette)},
                    {"gap", number_json(c.gap)},
                    {"gap_error", number_json(c.gap_error)},
                    {"eigengap", number_json(c.eigengap)}});
  }
  return list;
}

std::string candidates_table(const std::vector<ClusterReport::Candidate>& candidates, Index chosen) {
  using Candidate = ClusterReport::Candidate;
  std::vector<std::vector<std::string>> rows{{"k"}};
  for (const Candidate& c : candidates) rows.push_back({fmt::format("{}{}", c.k, c.k == chosen ? " *" : "")});
  const auto add = [&](const char* title, double Candidate::*value) {
    if (std::none_of(candidates.begin(), candidates.end(), [&](const Candidate& c) { return std::isfinite(c.*value); })) return;
    rows[0].emplace_back(title);
    for (std::size_t i = 0; i < candidates.size(); ++i)
      rows[i + 1].push_back(std::isfinite(candidates[i].*value) ? fmt::format("{:.4g}", candidates[i].*value) : "-");
  };
  add("inertia", &Candidate::inertia);
  add("silhouette", &Candidate::silhouette);
  add("gap", &Candidate::gap);
  add("+-", &Candidate::gap_error);
  add("eigengap", &Candidate::eigengap);
  return aligned(rows);
}

std::vector<Index> sizes_of(const std::vector<Index>& labels) {
  std::vector<Index> sizes(static_cast<std::size_t>(*std::max_element(labels.begin(), labels.end()) + 1), 0);
  for (const Index label : labels) ++sizes[static_cast<std::size_t>(label)];
  return sizes;
}

void write_report(const ClusterOptions& o, const Exploration& e, const Outcome& r) {
  ClusterReport page;
  page.method = r.found.title;
  page.source = source_word(o.source());
  page.command = o.command_line;
  page.verdict = r.found.sentence + ".";
  page.verdict[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(page.verdict[0])));
  if (!r.found.choice.empty()) page.verdict += " " + r.found.choice;
  if (std::isfinite(r.rand)) page.verdict += fmt::format(" Adjusted Rand index against {}: {:.3f}.", e.target, r.rand);
  page.labels = r.found.labels;
  {
    ProgressBar bar;
    std::tie(page.scores, page.names) = picture(e, e.kernel && e.kernel->needs_given_gram(), o.common.run(bar.callback()));
  }
  page.silhouettes = r.silhouettes.each;
  page.candidates = r.found.candidates;
  if (!e.target.empty()) page.truth = e.color;
  page.eigenvalues = r.found.eigenvalues;
  page.facts = {{"Rows", std::to_string(e.data.X.size())}, {"Columns", std::to_string(e.data.X.width())}};
  page.facts.insert(page.facts.end(), r.found.facts.begin(), r.found.facts.end());
  page.facts.emplace_back("Time", seconds_word(r.seconds));
  page.notes = e.data.notes;
  const std::string html = cluster_report(page);
  const CarefulStop careful;
  write_text_file(html, o.report);
}

Table labels_table(const Exploration& e, const std::vector<Index>& labels, const Vector& silhouettes) {
  Matrix numbers(static_cast<Index>(labels.size()), silhouettes.size() > 0 ? 2 : 1);
  for (std::size_t i = 0; i < labels.size(); ++i) numbers(static_cast<Index>(i), 0) = static_cast<double>(labels[i]);
  if (silhouettes.size() > 0) numbers.col(1) = silhouettes;
  return answers_table(numbers, {"cluster", "silhouette"}, e.kept);
}

void write_labels(const Exploration& e, const Outcome& r, const std::string& path, const CommonOptions& common) {
  const FileFormat format = format_of_output(path);
  Table answers = labels_table(e, r.found.labels, r.silhouettes.each);
  if (format == FileFormat::npy) {  // labels alone
    answers.names.resize(1);
    answers.columns.resize(1);
  }
  write_carefully(path, common, [&](const Run& run) { write_table(answers, path, {.format = format, .run = run}); });
}

void print_outcome_json(const ClusterOptions& o, const Exploration& e, const Outcome& r) {
  Json json = {{"method", Json()},
               {"n", e.data.X.size()},
               {"features", e.data.X.width()},
               {"k", std::ssize(r.sizes)},
               {"sizes", r.sizes},
               {"inertia", number_json(r.found.inertia)},
               {"silhouette", number_json(r.silhouettes.mean)},
               {"silhouette_rows", r.silhouettes.rows},
               {"target", e.target.empty() ? Json() : Json(e.target)},
               {"adjusted_rand_index", number_json(r.rand)},
               {"choice", Json()}};
  if (!r.found.candidates.empty()) {
    json["choice"] = {{"criterion", r.found.criterion}, {"candidates", candidates_json(r.found.candidates)}, {"sentence", r.found.choice}};
  }
  json.update(r.found.json);
  json["sentence"] = r.found.sentence;
  if (o.out.empty()) json["labels"] = r.found.labels;
  json["notes"] = e.data.notes;
  json["seconds"] = r.seconds;
  json["files"] = Json::object();
  for (const auto& [key, path] : {std::pair{"labels", o.out}, {"model", o.model}, {"report", o.report}}) {
    if (!path.empty()) json["files"][key] = path;
  }
  print_json(json);
}

void say_outcome(const ClusterOptions& o, const Exploration& e, const Outcome& r, const Speaker& speaker) {
  if (!r.found.candidates.empty()) {
    speaker.table(candidates_table(r.found.candidates, std::ssize(r.sizes)));
    speaker.say("{}", r.found.choice);
  }
  speaker.say("{} ({})", r.found.sentence, seconds_word(r.seconds));
  speaker.say("  sizes       {}", fmt::join(r.sizes, ", "));
  if (std::isfinite(r.silhouettes.mean)) {
    speaker.say("  silhouette  {:.4f}{}", r.silhouettes.mean,
                r.silhouettes.each.size() == 0 ? fmt::format("  (of {} of the rows)", r.silhouettes.rows) : "");
  }
  if (std::isfinite(r.rand)) speaker.say("  against {}: adjusted Rand index {:.4f}", e.target, r.rand);
  if (o.out.empty()) {
    speaker.say("The labels were not written; --out labels.csv writes them.");
  } else if (o.out != "-") {
    speaker.say("The labels are {}.", o.out);
  }
  if (!o.model.empty()) speaker.say("The model is {}; mercer cluster apply {} NEWDATA labels new rows.", o.model, o.model);
  if (!o.report.empty())
    speaker.say("The report is {}.{}", o.report, charts_available() ? "" : " It has no charts: make setup, then make build.");
}

// Whether the column to compare with is one of classes: text, or few whole numbers.
bool comparable(const Exploration& e) { return !e.target.empty() && !color_of(e.kept[0]).words.empty() && e.kept[0].missing.empty(); }

}  // namespace

void finish_clusters(const ClusterOptions& o, const Exploration& e, Clusters found, const Speaker& speaker) {
  Outcome r{.found = std::move(found), .sizes = {}, .silhouettes = {}};
  r.sizes = sizes_of(r.found.labels);
  {
    ProgressBar bar;
    r.silhouettes = silhouettes_of(e.data.X, r.found.labels, r.found.space, o.common.run(bar.callback()));
  }
  if (comparable(e)) {
    const Column& truth = e.kept[0];
    r.rand =
        adjusted_rand_index(truth.is_text() ? encode_labels(truth.text()).indices : encode_labels(truth.numbers()).indices, r.found.labels);
  }
  r.seconds = e.seconds();
  if (!o.report.empty()) write_report(o, e, r);
  if (!o.model.empty()) {
    write_carefully(o.model, o.common, [&](const Run& run) { save_model({*r.found.model, e.data.encoder}, o.model, run); });
  }
  if (!o.out.empty()) write_labels(e, r, o.out, o.common);
  if (o.common.json) {
    print_outcome_json(o, e, r);
  } else {
    say_outcome(o, e, r, speaker);
  }
}

}  // namespace mercer::cli
