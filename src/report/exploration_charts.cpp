// SPDX-License-Identifier: BSD-3-Clause
#include "report/exploration_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/error.hpp"
#include "report/chart_parts.hpp"
#include "report/escape.hpp"

namespace mercer::report {

namespace {

using nlohmann::json;

constexpr Index most_components = 50;  // that a spectrum shows

// Few words have a shape besides their colour, for eyes that do not tell colours apart.
void color_by_words(json& encoding, const std::string& name, const json& domain) {
  const json channel = {{"field", "w"}, {"type", "nominal"}, {"title", clean_text(name)}, {"scale", {{"domain", domain}}}};
  encoding["color"] = channel;
  if (domain.size() <= 5) {
    encoding["shape"] = channel;
  } else {
    encoding["color"]["scale"]["scheme"] = domain.size() <= 10 ? "tableau10" : "tableau20";
  }
}

std::string name_at(const std::vector<std::string>& names, Index j) {
  return j < std::ssize(names) ? names[static_cast<std::size_t>(j)] : fmt::format("PC{}", j + 1);
}

}  // namespace

Chart points_chart(const std::string& title, const Matrix& scores, const std::vector<std::string>& names, const ColorColumn& color) {
  const Index n = scores.rows();
  const bool flat = scores.cols() < 2;
  const std::vector<std::string> legend = legend_of(color.words);
  bool left_over = false;
  json points = json::array();
  for (Index i = 0; i < n; i += stride_for(n)) {
    json point = {{"x", finite(scores(i, 0))}, {"y", flat ? json(i + 1) : finite(scores(i, 1))}, {"i", i + 1}};
    const auto row = static_cast<std::size_t>(i);
    if (!color.words.empty()) {
      const std::string& word = color.words[row];
      const bool known = std::find(legend.begin(), legend.end(), word) != legend.end();
      left_over = left_over || !known;
      point["w"] = known ? clean_text(word) : others;
    } else if (!color.numbers.empty()) {
      point["c"] = finite(color.numbers[row]);
    }
    points.push_back(std::move(point));
  }
  const std::string x = name_at(names, 0);
  const std::string y = flat ? "row" : name_at(names, 1);
  json encoding = {{"x", quantitative("x", x)}, {"y", quantitative("y", y)}};
  json tips = {{{"field", "i"}, {"type", "quantitative"}, {"title", "row"}}, tooltip("x", x)};
  if (!flat) tips.push_back(tooltip("y", y));
  if (!color.words.empty()) {
    json domain = json::array();
    for (const std::string& word : legend) domain.push_back(clean_text(word));
    if (left_over) domain.push_back(others);
    color_by_words(encoding, color.name, domain);
    tips.push_back({{"field", "w"}, {"type", "nominal"}, {"title", clean_text(color.name)}});
  } else if (!color.numbers.empty()) {
    encoding["color"] = {
        {"field", "c"}, {"type", "quantitative"}, {"title", clean_text(color.name)}, {"scale", {{"scheme", "viridis"}, {"zero", false}}}};
    tips.push_back(tooltip("c", color.name));
  }
  encoding["tooltip"] = tips;
  json spec = chart_base(440);
  spec["data"] = {{"values", points}};
  spec["mark"] = {{"type", "point"}, {"size", n > 500 ? 26 : 42}, {"opacity", 0.65}};
  spec["encoding"] = encoding;
  std::string description = fmt::format("{} rows, {} across and {} upwards", shown_of(n), x, y);
  if (!color.empty()) description += fmt::format(", coloured by {}", color.name);
  return {.title = title, .description = description + ".", .spec = spec};
}

Chart spectrum_chart(const Vector& explained) {
  const Index shown = std::min(explained.size(), most_components);
  json bars = json::array();
  double sum = 0;
  for (Index j = 0; j < shown; ++j) {
    sum += explained[j];
    bars.push_back({{"j", j + 1}, {"share", finite(explained[j])}, {"sum", finite(sum)}});
  }
  const json format = {{"format", ".0%"}};
  const auto share = [&](const char* field) {
    return json{{"field", field}, {"type", "quantitative"}, {"title", "share of the variance"}, {"axis", format}};
  };
  const json tips = {{{"field", "j"}, {"type", "ordinal"}, {"title", "component"}},
                     {{"field", "share"}, {"type", "quantitative"}, {"title", "its share"}, {"format", ".2%"}},
                     {{"field", "sum"}, {"type", "quantitative"}, {"title", "up to here"}, {"format", ".2%"}}};
  json spec = chart_base(280);
  spec["data"] = {{"values", bars}};
  spec["encoding"] = {
      {"x", {{"field", "j"}, {"type", "ordinal"}, {"title", "component"}, {"axis", {{"labelAngle", 0}, {"labelOverlap", true}}}}},
      {"tooltip", tips}};
  spec["layer"] = {{{"mark", {{"type", "bar"}, {"opacity", 0.8}}}, {"encoding", {{"y", share("share")}}}},
                   {{"mark", {{"type", "line"}, {"color", "var(--second)"}, {"point", {{"color", "var(--second)"}, {"size", 40}}}}},
                    {"encoding", {{"y", share("sum")}}}}};
  return {.title = "Spectrum",
          .description = fmt::format("Share of the variance of each component (bars) and of all up to it (line): the first {} have {}.",
                                     shown == 1 ? "component" : fmt::format("{} components", shown), percent(sum)),
          .spec = spec};
}

namespace {

Chart candidate_chart(const std::vector<ClusterReport::Candidate>& candidates, Index chosen, const std::string& title, const char* word,
                      double ClusterReport::Candidate::*value, double ClusterReport::Candidate::*error) {
  json points = json::array();
  for (const ClusterReport::Candidate& c : candidates) {
    if (!std::isfinite(c.*value)) continue;
    const double half = error != nullptr && std::isfinite(c.*error) ? c.*error : 0;
    points.push_back({{"k", c.k}, {"v", c.*value}, {"low", c.*value - half}, {"high", c.*value + half}, {"best", c.k == chosen}});
  }
  json spec = chart_base(260);
  spec["data"] = {{"values", points}};
  spec["encoding"] = {{"x", {{"field", "k"}, {"type", "ordinal"}, {"title", "clusters"}, {"axis", {{"labelAngle", 0}}}}}};
  const json tips = {{{"field", "k"}, {"type", "ordinal"}, {"title", "clusters"}}, tooltip("v", word)};
  spec["layer"] = json::array();
  if (error != nullptr) {
    spec["layer"].push_back({{"mark", {{"type", "rule"}, {"color", "var(--accent)"}, {"opacity", 0.45}, {"strokeWidth", 2}}},
                             {"encoding", {{"y", quantitative("low", word)}, {"y2", {{"field", "high"}}}}}});
  }
  spec["layer"].push_back({{"mark", "line"}, {"encoding", {{"y", quantitative("v", word)}}}});
  spec["layer"].push_back({{"mark", {{"type", "point"}, {"size", 70}, {"opacity", 1}}},
                           {"encoding",
                            {{"y", quantitative("v", word)},
                             {"color", {{"condition", {{"test", "datum.best"}, {"value", "var(--second)"}}}, {"value", "var(--accent)"}}},
                             {"tooltip", tips}}}});
  return {.title = title,
          .description = fmt::format("For {} to {} clusters; {}, chosen, is marked.", candidates.front().k, candidates.back().k, chosen),
          .spec = spec};
}

}  // namespace

std::vector<Chart> candidate_charts(const std::vector<ClusterReport::Candidate>& candidates, Index chosen) {
  using Candidate = ClusterReport::Candidate;
  const auto measured = [&](double Candidate::*value) {
    return std::count_if(candidates.begin(), candidates.end(), [&](const Candidate& c) { return std::isfinite(c.*value); }) > 1;
  };
  std::vector<Chart> charts;
  if (measured(&Candidate::silhouette))
    charts.push_back(
        candidate_chart(candidates, chosen, "Silhouette by number of clusters", "mean silhouette", &Candidate::silhouette, nullptr));
  if (measured(&Candidate::gap))
    charts.push_back(
        candidate_chart(candidates, chosen, "Gap statistic by number of clusters", "gap", &Candidate::gap, &Candidate::gap_error));
  if (measured(&Candidate::eigengap))
    charts.push_back(candidate_chart(candidates, chosen, "Eigengap by number of clusters", "eigengap", &Candidate::eigengap, nullptr));
  return charts;
}

Chart sizes_chart(const std::vector<Index>& sizes) {
  json bars = json::array();
  for (std::size_t c = 0; c < sizes.size(); ++c) bars.push_back({{"c", c}, {"n", sizes[c]}});
  json spec = chart_base(260);
  spec["data"] = {{"values", bars}};
  spec["mark"] = {{"type", "bar"}, {"opacity", 0.8}};
  spec["encoding"] = {
      {"x", {{"field", "c"}, {"type", "ordinal"}, {"title", "cluster"}, {"axis", {{"labelAngle", 0}, {"labelOverlap", true}}}}},
      {"y", {{"field", "n"}, {"type", "quantitative"}, {"title", "rows"}, {"axis", {{"tickMinStep", 1}}}}},
      {"tooltip", {{{"field", "c"}, {"type", "ordinal"}, {"title", "cluster"}}, tooltip("n", "rows")}}};
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  return {.title = "Cluster sizes",
          .description = fmt::format("{} clusters of {} to {} rows.", sizes.size(), count_text(*least), count_text(*most)),
          .spec = spec};
}

Chart silhouettes_chart(const Vector& silhouettes, const std::vector<Index>& labels) {
  std::vector<Index> order(labels.size());
  std::iota(order.begin(), order.end(), 0);
  const auto label = [&](Index i) { return labels[static_cast<std::size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return label(a) != label(b) ? label(a) < label(b) : silhouettes[a] > silhouettes[b]; });
  const auto n = static_cast<Index>(labels.size());
  json bars = json::array();
  for (Index at = 0; at < n; at += stride_for(n)) {
    const Index i = order[static_cast<std::size_t>(at)];
    bars.push_back({{"at", at}, {"s", finite(silhouettes[i])}, {"w", std::to_string(label(i))}, {"i", i + 1}});
  }
  const Index clusters = *std::max_element(labels.begin(), labels.end()) + 1;
  json domain = json::array();
  for (Index c = 0; c < std::min<Index>(clusters, most_words); ++c) domain.push_back(std::to_string(c));
  json color = {{"field", "w"}, {"type", "nominal"}, {"title", "cluster"}, {"scale", {{"domain", domain}}}};
  if (clusters > 5) color["scale"]["scheme"] = clusters <= 10 ? "tableau10" : "tableau20";
  json spec = chart_base(300);
  spec["data"] = {{"values", bars}};
  spec["mark"] = {{"type", "rule"}, {"strokeWidth", 1.5}};
  spec["encoding"] = {
      {"x", {{"field", "at"}, {"type", "quantitative"}, {"title", "rows, by cluster"}, {"axis", {{"labels", false}, {"ticks", false}}}}},
      {"y", {{"field", "s"}, {"type", "quantitative"}, {"title", "silhouette"}}},
      {"y2", {{"datum", 0}}},
      {"color", color},
      {"tooltip", {{{"field", "i"}, {"type", "quantitative"}, {"title", "row"}}, tooltip("s", "silhouette")}}};
  const double below = (silhouettes.array() < 0).cast<double>().mean();
  return {.title = "Silhouettes",
          .description = fmt::format("How much nearer each row is to its own cluster than to the next: 1 clearly, 0 on the fence, below 0 "
                                     "nearer to another ({} of the rows). Mean {}.",
                                     percent(below), fixed_text(silhouettes.mean())),
          .spec = spec};
}

Chart eigenvalues_chart(const Vector& eigenvalues, Index clusters) {
  json points = json::array();
  for (Index j = 0; j < std::min(eigenvalues.size(), most_components); ++j) points.push_back({{"j", j + 1}, {"v", finite(eigenvalues[j])}});
  json spec = chart_base(260);
  spec["data"] = {{"values", points}};
  spec["mark"] = {{"type", "point"}, {"size", 60}, {"opacity", 0.9}};
  spec["encoding"] = {{"x", {{"field", "j"}, {"type", "ordinal"}, {"title", "number"}, {"axis", {{"labelAngle", 0}}}}},
                      {"y", quantitative("v", "eigenvalue")},
                      {"tooltip", {{{"field", "j"}, {"type", "ordinal"}, {"title", "number"}}, tooltip("v", "eigenvalue")}}};
  return {.title = "Eigenvalues of the graph",
          .description =
              fmt::format("The smallest of the normalised Laplacian; a jump after number {} speaks for {} clusters.", clusters, clusters),
          .spec = spec};
}

void check_strip(const ImageStrip& strip) {
  const auto require = [](bool holds, const std::string& message) {
    if (!holds) throw InvalidArgument("a report: " + message);
  };
  for (const ImageStrip::Line& line : strip.lines) {
    require(strip.height > 0 && strip.width > 0, "images need a height and a width");
    require(line.pixels.rows() > 0 && line.pixels.rows() == strip.lines.front().pixels.rows(), "every line of images has as many images");
    require(line.pixels.cols() == strip.height * strip.width, fmt::format("images of {} x {} have {} pixels, got {}", strip.height,
                                                                          strip.width, strip.height * strip.width, line.pixels.cols()));
  }
}

ImageFigure strip_figure(const ImageStrip& strip) {
  const Matrix& first = strip.lines.front().pixels;
  const double low = first.minCoeff();
  const double spread = first.maxCoeff() - low;
  const Index shown = first.rows();
  ImageFigure figure{
      .title = "Images",
      .description = fmt::format("{} rows as images of {} x {} pixels, the same row under each other.", shown, strip.height, strip.width),
      .lines = {}};
  for (const ImageStrip::Line& line : strip.lines) {
    Matrix picture = Matrix::Constant(strip.height, shown * (strip.width + 1) - 1, std::numeric_limits<double>::quiet_NaN());
    for (Index r = 0; r < shown; ++r) {
      for (Index i = 0; i < strip.height; ++i) {
        for (Index j = 0; j < strip.width; ++j)
          picture(i, r * (strip.width + 1) + j) = (line.pixels(r, i * strip.width + j) - low) / (spread > 0 ? spread : 1);
      }
    }
    figure.lines.emplace_back(line.title, std::move(picture));
  }
  return figure;
}

}  // namespace mercer::report
