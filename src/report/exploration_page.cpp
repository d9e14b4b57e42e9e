// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/error.hpp"
#include "mercer/exploration_report.hpp"
#include "report/chart_parts.hpp"
#include "report/escape.hpp"
#include "report/exploration_charts.hpp"
#include "report/page.hpp"

namespace mercer {

namespace report {

namespace {

void require(bool holds, const std::string& message) {
  if (!holds) throw InvalidArgument("a report: " + message);
}

void check_color(const ColorColumn& color, Index rows) {
  require(color.numbers.empty() || color.words.empty(), "a colour column has numbers or words, not both");
  const Index size = color.words.empty() ? std::ssize(color.numbers) : std::ssize(color.words);
  require(color.empty() || size == rows, fmt::format("{} colours for {} rows", size, rows));
}

void add_novelty(Page& page, const Vector& novelty) {
  constexpr std::size_t listed = 10;
  std::vector<Index> order(static_cast<std::size_t>(novelty.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return novelty[a] > novelty[b]; });
  order.resize(std::min(order.size(), listed));
  page.section("The most unusual rows");
  page.paragraph("Squared distance in feature space between a row and what the components say of it.");
  TableSpec table;
  table.caption = fmt::format("The {} largest of {}; mean {}.", order.size(), count_text(novelty.size()), number_text(novelty.mean()));
  table.columns = {{"Row", true}, {"Reconstruction error", true}};
  const double largest = novelty[order.front()];
  for (const Index i : order) {
    table.rows.push_back({std::to_string(i + 1), measure_text(novelty[i])});
    table.bars.push_back(largest > 0 ? novelty[i] / largest : 0);
  }
  page.table(table);
}

std::vector<Index> sizes_of(const std::vector<Index>& labels) {
  std::vector<Index> sizes(static_cast<std::size_t>(*std::max_element(labels.begin(), labels.end()) + 1), 0);
  for (const Index label : labels) ++sizes[static_cast<std::size_t>(label)];
  return sizes;
}

std::vector<Tile> embedding_tiles(const EmbeddingReport& r) {
  const Index components = r.scores.cols();
  std::vector<Tile> tiles{{count_text(r.scores.rows()), "rows", ""},
                          {count_text(components), components == 1 ? "component" : "components", ""}};
  const Index known = std::min(components, r.explained.size());
  if (known > 0)
    tiles.push_back({percent(r.explained.head(known).sum()), "of the variance",
                     known == 1 ? "in the first component" : fmt::format("in the first {} components", known)});
  if (r.novelty.size() > 0) tiles.push_back({measure_text(r.novelty.mean()), "mean reconstruction error", ""});
  return tiles;
}

std::vector<Tile> cluster_tiles(const ClusterReport& r, const std::vector<Index>& sizes) {
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  std::vector<Tile> tiles{
      {std::to_string(sizes.size()), sizes.size() == 1 ? "cluster" : "clusters", r.method},
      {count_text(std::ssize(r.labels)), "rows",
       *least == *most ? count_text(*most) + " in each" : fmt::format("{} to {} in a cluster", count_text(*least), count_text(*most))}};
  if (r.silhouettes.size() > 0) tiles.push_back({fixed_text(r.silhouettes.mean()), "mean silhouette", "1 is well apart, 0 on the fence"});
  return tiles;
}

void add_candidates(Page& page, const std::vector<ClusterReport::Candidate>& candidates, Index chosen) {
  if (candidates.empty()) return;
  page.section("How many clusters");
  page.charts(candidate_charts(candidates, chosen));
  using Candidate = ClusterReport::Candidate;
  TableSpec table;
  table.caption = "Numbers of clusters that were tried.";
  table.columns = {{"Clusters", true}};
  for (const Candidate& c : candidates) {
    if (c.k == chosen) table.marked = static_cast<int>(table.rows.size());
    table.rows.push_back({std::to_string(c.k)});
  }
  // Only what was measured has a column.
  const auto add = [&](const char* title, double Candidate::*value, bool fixed) {
    if (std::none_of(candidates.begin(), candidates.end(), [&](const Candidate& c) { return std::isfinite(c.*value); })) return;
    table.columns.push_back({title, true});
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const double number = candidates[i].*value;
      table.rows[i].push_back(fixed || !std::isfinite(number) ? fixed_text(number) : measure_text(number));
    }
  };
  add("Inertia", &Candidate::inertia, false);
  add("Silhouette", &Candidate::silhouette, true);
  add("Gap", &Candidate::gap, true);
  add("Its standard error", &Candidate::gap_error, true);
  add("Eigengap", &Candidate::eigengap, true);
  page.table(table);
}

// How the clusters and a column of labels meet: a row for each label.
void add_truth(Page& page, const ClusterReport& r, std::size_t clusters) {
  constexpr std::size_t most = 20;
  if (r.truth.words.empty() || clusters > most) return;
  std::vector<std::string> words = r.truth.words;
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  TableSpec table;
  table.caption = fmt::format("Rows of each {} in each cluster.", r.truth.name);
  table.columns = {{r.truth.name, false}};
  for (std::size_t c = 0; c < clusters; ++c) table.columns.push_back({std::to_string(c), true});
  for (const std::string& word : words) {
    std::vector<Index> counts(clusters, 0);
    for (std::size_t i = 0; i < r.labels.size(); ++i) counts[static_cast<std::size_t>(r.labels[i])] += r.truth.words[i] == word ? 1 : 0;
    table.rows.push_back({word});
    for (const Index count : counts) table.rows.back().push_back(std::to_string(count));
  }
  page.table(table);
}

void check(const ClusterReport& r) {
  const Index n = std::ssize(r.labels);
  require(n > 0, "there are no rows");
  require(*std::min_element(r.labels.begin(), r.labels.end()) >= 0, "labels are 0, 1, ...");
  require(r.scores.size() == 0 || r.scores.rows() == n, fmt::format("{} points for {} rows", r.scores.rows(), n));
  require(r.silhouettes.size() == 0 || r.silhouettes.size() == n, fmt::format("{} silhouettes for {} rows", r.silhouettes.size(), n));
  check_color(r.truth, n);
}

}  // namespace

}  // namespace report

std::string embedding_report(const EmbeddingReport& r) {
  using namespace report;
  require(r.scores.rows() > 0 && r.scores.cols() > 0, "there are no components");
  require(r.novelty.size() == 0 || r.novelty.size() == r.scores.rows(),
          fmt::format("{} reconstruction errors for {} rows", r.novelty.size(), r.scores.rows()));
  check_color(r.color, r.scores.rows());
  check_strip(r.images);
  Page page(r.method, "of " + r.source);
  if (!r.verdict.empty()) page.lead(r.verdict);
  page.tiles(embedding_tiles(r));
  page.section("The rows");
  page.charts({points_chart("Rows by their components", r.scores, r.names, r.color)});
  if (!r.images.lines.empty()) page.images(strip_figure(r.images));
  if (r.explained.size() > 0) {
    page.section("The components");
    page.charts({spectrum_chart(r.explained)});
  }
  if (r.novelty.size() > 0) add_novelty(page, r.novelty);
  page.section("The run");
  page.run(r.facts, r.notes, r.command);
  return page.html();
}

std::string cluster_report(const ClusterReport& r) {
  using namespace report;
  check(r);
  const std::vector<Index> sizes = sizes_of(r.labels);
  const auto clusters = static_cast<Index>(sizes.size());
  Page page(fmt::format("{} cluster{}", clusters, clusters == 1 ? "" : "s"), fmt::format("in {}, by {}", r.source, r.method));
  if (!r.verdict.empty()) page.lead(r.verdict);
  page.tiles(cluster_tiles(r, sizes));
  page.section("The clusters");
  if (r.scores.size() > 0) {
    ColorColumn color{.name = "cluster", .words = {}};
    for (const Index label : r.labels) color.words.push_back(std::to_string(label));
    std::vector<Chart> pictures{points_chart("Rows by cluster", r.scores, r.names, color)};
    if (!r.truth.empty()) pictures.push_back(points_chart("Rows by " + r.truth.name, r.scores, r.names, r.truth));
    page.charts(pictures);
  }
  std::vector<Chart> charts{sizes_chart(sizes)};
  if (r.silhouettes.size() > 0) charts.push_back(silhouettes_chart(r.silhouettes, r.labels));
  page.charts(charts);
  add_truth(page, r, sizes.size());
  add_candidates(page, r.candidates, clusters);
  if (r.eigenvalues.size() > 1) {
    page.section("The graph");
    page.charts({eigenvalues_chart(r.eigenvalues, clusters)});
  }
  page.section("The run");
  page.run(r.facts, r.notes, r.command);
  return page.html();
}

}  // namespace mercer
