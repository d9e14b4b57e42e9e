// mercer cluster METHOD: rows in groups, by kernel k-means or a graph of neighbours, and how many groups there are.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "apply.hpp"
#include "cluster.hpp"
#include "commands.hpp"
#include "estimates.hpp"
#include "given_gram.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

Index whole_k(const std::string& text, const std::string& given) {
  const auto number = parse_number(text);
  if (!number || *number != std::floor(*number) || *number < 1 || *number > 1e6)
    throw CLI::ValidationError("-k", "must be a whole number >= 1, a range like 2-10, or auto, got " + given);
  return static_cast<Index>(*number);
}

void add_clusters(CLI::App& command, ClusterOptions& o, Invocation& invocation) {
  add_exploring(command, o, invocation);
  command
      .add_option_function<std::string>(
          "-k,--clusters",
          [&o](const std::string& text) {
            const std::size_t dash = text.find('-', 1);
            o.k_min = text == "auto" ? 1 : whole_k(text.substr(0, dash), text);
            o.k_max = text == "auto" ? 10 : dash == std::string::npos ? o.k_min : whole_k(text.substr(dash + 1), text);
            if (o.k_max < o.k_min) throw CLI::ValidationError("-k", "must be a range from the smaller to the larger, got " + text);
          },
          "Number of clusters; a range like 2-10 to choose from, or auto, 1 to 10")
      ->type_name("N|auto|A-B")
      ->required();
  add_whole(command, "--restarts", o.restarts, 1, 100000, "Starts of k-means, of which the best counts (default: 10)");
  add_exploring_outputs(command, o, "the labels");
}

// -k within what the rows allow. A range that was not asked for in numbers ends where they end.
void fit_range(ClusterOptions& o, Index rows, bool automatic) {
  if (automatic) o.k_max = std::min(o.k_max, std::max<Index>(rows - 1, 1));
  if (o.k_max > rows) {
    throw InvalidArgument(fmt::format("{}: -k must be at most {}, the number of rows, got {}", source_word(o.reading.path), rows, o.k_max));
  }
}

ClusterReport::Candidate best_by(const std::vector<ClusterReport::Candidate>& candidates, double ClusterReport::Candidate::*value) {
  ClusterReport::Candidate best;
  for (const auto& c : candidates) {
    if (std::isfinite(c.*value) && (best.k == 0 || c.*value > best.*value)) best = c;
  }
  return best;
}

template <class Options>
void run_cluster(Options o, Clusters (*cluster)(const Options&, const Exploration&)) {
  check_outputs({{"--out", o.out}, {"--model", o.model}, {"--report", o.report}}, {o.reading.path, o.gram}, o.common.json);
  const Speaker speaker(o.common, o.out);
  const Exploration e = explore(o, speaker);
  fit_range(o, e.data.X.size(), o.k_min == 1 && o.k_max == 10);
  finish_clusters(o, e, cluster(o, e), speaker);
}

// ---- kernel k-means

struct KMeansOptions : ClusterOptions {
  ClusterCriterion criterion = ClusterCriterion::silhouette;
  std::int64_t references = 10;
  KernelKMeansOptions::Method solver = KernelKMeansOptions::Method::automatic;
};

Index choose_k(const KMeansOptions& o, const Exploration& e, const Kernel& kernel, Clusters& out) {
  ClusterChoiceOptions options;
  options.kernel = kernel;
  options.k_min = o.k_min;
  options.k_max = o.k_max;
  options.criterion = o.criterion;
  const bool numbers = !e.data.X.has_objects() && !e.data.X.is_given();  // the gap statistic draws rows of them to compare with
  if (!numbers && o.criterion == ClusterCriterion::gap)
    throw InvalidArgument(
        "--criterion gap compares with random rows of numbers, which these are not; --criterion silhouette chooses among them");
  options.references = numbers ? static_cast<Index>(o.references) : 0;
  options.restarts = static_cast<Index>(o.restarts);
  options.method = o.solver;
  options.seed = o.reading.seed;
  ProgressBar bar;
  options.run = o.common.run(bar.callback());
  const ClusterChoice choice = choose_clusters(e.data.X, options);
  for (const ClusterCandidate& c : choice.candidates)
    out.candidates.push_back({.k = c.k, .inertia = c.inertia, .silhouette = c.silhouette, .gap = c.gap, .gap_error = c.gap_error});
  out.criterion = o.criterion == ClusterCriterion::gap ? "gap" : "silhouette";
  out.choice = choice.sentence + ".";
  return choice.k;
}

Clusters cluster_kmeans(const KMeansOptions& o, const Exploration& e) {
  const Samples& X = e.data.X;
  Clusters out;
  KernelKMeansOptions options;
  options.kernel = kernel_of(e);
  const auto n = static_cast<double>(X.size());
  announce(fmt::format("kernel k-means of {} rows", X.size()),
           std::min(n, 20000.0) * n * (static_cast<double>(X.width()) + 60) / estimated_flops(o.common.run()), n * std::min(n, 20000.0) * 8,
           o.common.run());
  options.clusters = o.chooses() ? choose_k(o, e, options.kernel, out) : o.k_min;
  options.restarts = static_cast<Index>(o.restarts);
  options.method = o.solver;
  options.seed = o.reading.seed;
  {
    ProgressBar bar;
    options.run = o.common.run(bar.callback());
    out.model = fit_kernel_kmeans(X, options);
  }
  const auto& model = std::get<KernelKMeansModel>(*out.model);
  const KernelKMeansSummary& s = model.summary();
  out.title = "kernel k-means";
  out.labels = model.labels();
  out.inertia = s.inertia;
  out.space = model.kernel();
  out.sentence =
      fmt::format("{} clusters by kernel k-means, {}: inertia {:.6g}, {}", s.clusters, model.kernel().text(), s.inertia,
                  s.converged ? fmt::format("converged in {} iteration{}", s.iterations, s.iterations == 1 ? "" : "s") : "iteration limit");
  if (s.clusters < s.wanted)
    out.sentence += fmt::format("; {} were asked for, but the rows have only {} distinct places", s.wanted, s.clusters);
  out.facts = {{"Kernel", model.kernel().text()}, {"Method", s.method}, {"Fit", s.sentence}};
  out.json = {{"method", "kmeans"},       {"kernel", model.kernel().text()}, {"solver", s.method},
              {"converged", s.converged}, {"iterations", s.iterations},      {"wanted", s.wanted}};
  return out;
}

// ---- spectral clustering

struct SpectralOptions : ClusterOptions {
  std::int64_t neighbors = 10;
  bool by_silhouette = false;
  SpectralClusteringOptions::Assignment assignment = SpectralClusteringOptions::Assignment::kmeans;
};

// Eigenvalues of the graph for all k at once, then a clustering of the same graph for each.
Index choose_k(const SpectralOptions& o, const Exploration& e, const SpectralClusteringOptions& options, Clusters& out) {
  const Index n = e.data.X.size();
  SpectralClusteringOptions widest = options;
  widest.clusters = o.k_max;
  widest.components = std::min(o.k_max + 1, n);
  const SpectralClustering all = spectral_clustering(e.data.X, widest);
  SpectralClusteringOptions same = options;
  same.affinity = SpectralClusteringOptions::Affinity::precomputed;
  const Samples graph = std::visit([](const auto& W) { return Samples(W); }, all.graph);
  for (Index k = std::max<Index>(2, o.k_min); k <= o.k_max; ++k) {  // the first gap of a graph in one part says nothing
    ClusterReport::Candidate c{.k = k};
    if (k < all.eigenvalues.size()) c.eigengap = all.eigenvalues[k] - all.eigenvalues[k - 1];
    if (k < n) {
      same.clusters = k;
      c.silhouette = silhouettes_of(e.data.X, spectral_clustering(graph, same).labels, out.space, options.run).mean;
    }
    out.candidates.push_back(c);
  }
  out.eigenvalues = all.eigenvalues;
  out.criterion = o.by_silhouette ? "silhouette" : "eigengap";
  const auto value = o.by_silhouette ? &ClusterReport::Candidate::silhouette : &ClusterReport::Candidate::eigengap;
  const ClusterReport::Candidate best = best_by(out.candidates, value);
  if (best.k == 0) {
    throw InvalidArgument(
        fmt::format("-k {}-{}: there is no number of clusters to choose for {} rows; give -k a number", o.k_min, o.k_max, n));
  }
  std::vector<ClusterReport::Candidate> others = out.candidates;
  std::erase_if(others, [&](const auto& c) { return c.k == best.k; });
  const ClusterReport::Candidate second = best_by(others, value);
  const bool clear = second.k == 0 || !(second.*value > 0.8 * best.*value);
  out.choice = fmt::format("{} clusters by the largest {} of 2 and more, {:.4g}{}.", best.k, out.criterion, best.*value,
                           clear ? "" : fmt::format("; {} clusters come close, so the choice is weak", second.k));
  return best.k;
}

Clusters cluster_spectral(const SpectralOptions& o, const Exploration& e) {
  const Samples& X = e.data.X;
  Clusters out;
  SpectralClusteringOptions options;
  const bool by_kernel = e.kernel.has_value();
  options.affinity = by_kernel ? SpectralClusteringOptions::Affinity::kernel : SpectralClusteringOptions::Affinity::nearest_neighbors;
  if (by_kernel) {
    options.kernel = kernel_of(e);
    out.space = options.kernel;
  } else if (o.neighbors > X.size()) {
    throw InvalidArgument(
        fmt::format("{}: --neighbors must be at most {}, the number of rows, got {}", source_word(o.reading.path), X.size(), o.neighbors));
  }
  options.neighbors = static_cast<Index>(o.neighbors);
  options.assignment = o.assignment;
  options.restarts = static_cast<Index>(o.restarts);
  options.seed = o.reading.seed;
  const auto n = static_cast<double>(X.size());
  const double tried = o.chooses() ? static_cast<double>(o.k_max - o.k_min) + 1 : 1;
  const double edges = by_kernel ? n * n : n * static_cast<double>(o.neighbors);
  announce(fmt::format("spectral clustering of {} rows", X.size()),
           (n * n * kernel_value_flops(X) + tried * 200 * edges) / estimated_flops(o.common.run()), 16 * edges, o.common.run());
  ProgressBar bar;
  options.run = o.common.run(bar.callback());
  options.clusters = o.chooses() ? choose_k(o, e, options, out) : o.k_min;
  const SpectralClustering found = spectral_clustering(X, options);
  const SpectralClusteringSummary& s = found.summary;
  const std::string graph = by_kernel ? options.kernel.text() : fmt::format("{} nearest neighbours", o.neighbors);
  out.title = "spectral clustering";
  out.labels = found.labels;
  out.inertia = s.inertia;
  if (out.eigenvalues.size() == 0) out.eigenvalues = found.eigenvalues;
  out.sentence = fmt::format("{} clusters by spectral clustering, graph of {}: {} connected part{}, eigenvalues by {}", s.clusters, graph,
                             s.connected_components, s.connected_components == 1 ? "" : "s", s.solver);
  if (s.connected_components > s.wanted) out.sentence += "; the parts outnumber the clusters, so the smaller ones are put together";
  out.facts = {{"Graph", graph}, {"Solver", s.solver}, {"Fit", s.sentence}};
  Json eigenvalues = Json::array();
  for (const double value : out.eigenvalues) eigenvalues.push_back(number_json(value));
  out.json = {{"method", "spectral"},
              {"kernel", by_kernel ? Json(options.kernel.text()) : Json()},
              {"neighbors", by_kernel ? Json() : Json(o.neighbors)},
              {"solver", s.solver},
              {"converged", s.converged},
              {"connected_components", s.connected_components},
              {"eigenvalues", std::move(eigenvalues)},
              {"wanted", s.wanted}};
  return out;
}

// ---- apply

struct ApplyOptions : ExploreOptions {
  std::string map{};
};

void run_apply(const ApplyOptions& o) {
  check_outputs({{"--out", o.out}}, {o.map, o.reading.path}, o.common.json);
  const SavedModel saved = open_model(o.map);  // a wrong file is said before the data are read
  const auto* model = std::get_if<KernelKMeansModel>(&saved.model);
  if (model == nullptr)
    throw UsageError(fmt::format("{} is a {} model; mercer cluster kmeans --model saves what labels new rows", o.map, saved.kind()));
  const Samples X =
      o.gram.empty() ? features_for(saved, read_data(o.reading, o.common), "") : read_gram_rows(o.gram, saved, o.map, o.common);
  const std::string path = o.out.empty() ? "-" : o.out;
  std::vector<Index> labels;
  announce_application("labelling", saved, X, o.common.run());
  {
    ProgressBar bar;
    labels = model->classes(X, o.common.run(bar.callback()));
  }
  if (!(o.common.json && o.out.empty())) {
    Matrix numbers(static_cast<Index>(labels.size()), 1);
    for (std::size_t i = 0; i < labels.size(); ++i) numbers(static_cast<Index>(i), 0) = static_cast<double>(labels[i]);
    write_answers(numbers, {"cluster"}, {}, path, o.common);
  }
  if (o.common.json) {
    Json json = {{"method", "kmeans"}, {"model", o.map}, {"n", std::ssize(labels)}, {"k", model->clusters()}};
    std::vector<Index> sizes(static_cast<std::size_t>(model->clusters()), 0);
    for (const Index label : labels) ++sizes[static_cast<std::size_t>(label)];
    json["sizes"] = sizes;
    if (o.out.empty()) json["labels"] = labels;
    json["files"] = Json::object();
    if (!o.out.empty()) json["files"]["labels"] = o.out;
    print_json(json);
  } else {
    Speaker(o.common, path).say("{} label{}{}", labels.size(), labels.size() == 1 ? "" : "s", path == "-" ? "" : " in " + path);
  }
}

void add_cluster_kmeans(CLI::App& cluster, Invocation& invocation) {
  auto o = std::make_shared<KMeansOptions>();
  CLI::App* command = cluster.add_subcommand("kmeans", "Kernel k-means: clusters around means in the feature space of a kernel");
  add_clusters(*command, *o, invocation);
  add_exploring_kernel(*command, *o, "Kernel; linear is plain k-means (default: gaussian(auto), the median distance)");
  add_choice<ClusterCriterion>(*command, "--criterion", o->criterion,
                               {{"silhouette", ClusterCriterion::silhouette}, {"gap", ClusterCriterion::gap}},
                               "What chooses k from a range (default: silhouette)");
  add_whole(*command, "--references", o->references, 0, 1000, "Reference sets of the gap statistic; 0: none (default: 10)");
  add_choice<KernelKMeansOptions::Method>(*command, "--solver", o->solver,
                                          {{"auto", KernelKMeansOptions::Method::automatic},
                                           {"exact", KernelKMeansOptions::Method::exact},
                                           {"low-rank", KernelKMeansOptions::Method::low_rank}},
                                          "A stored Gram matrix, or landmarks for many rows (default: auto, by size)");
  command->add_option("--model", o->model, "Save the clusters, for mercer cluster apply")->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  mercer cluster kmeans builtin:blobs -k 3 --out labels.csv\n"
      "  mercer cluster kmeans data.csv -k auto --report clusters.html");
  command->callback([o, &invocation] {
    invocation.job = [o] {
      if (o->criterion == ClusterCriterion::gap && o->references == 0)
        throw UsageError("--criterion gap needs reference sets; give --references a number > 0");
      run_cluster<KMeansOptions>(*o, cluster_kmeans);
    };
  });
}

void add_cluster_spectral(CLI::App& cluster, Invocation& invocation) {
  auto o = std::make_shared<SpectralOptions>();
  CLI::App* command = cluster.add_subcommand("spectral", "Spectral clustering: parts of a graph of neighbours, whatever their shape");
  add_clusters(*command, *o, invocation);
  CLI::Option* neighbors =
      add_whole(*command, "--neighbors", o->neighbors, 2, 100000, "Neighbours in the graph, the row itself being one (default: 10)");
  add_exploring_kernel(*command, *o, "Kernel values as edges, in place of neighbours")->excludes(neighbors);
  add_choice<bool>(*command, "--criterion", o->by_silhouette, {{"eigengap", false}, {"silhouette", true}},
                   "What chooses k from a range (default: eigengap)");
  add_choice<SpectralClusteringOptions::Assignment>(
      *command, "--assign", o->assignment,
      {{"kmeans", SpectralClusteringOptions::Assignment::kmeans}, {"qr", SpectralClusteringOptions::Assignment::cluster_qr}},
      "From eigenvectors to clusters (default: kmeans)");
  command->footer(
      "Examples:\n"
      "  mercer cluster spectral builtin:moons -k 2 --out labels.csv\n"
      "  mercer cluster spectral data.csv -k 2-8 --neighbors 15 --report clusters.html");
  command->callback([o, &invocation] { invocation.job = [o] { run_cluster<SpectralOptions>(*o, cluster_spectral); }; });
}

void add_cluster_apply(CLI::App& cluster, Invocation& invocation) {
  auto o = std::make_shared<ApplyOptions>();
  CLI::App* command = cluster.add_subcommand("apply", "Label new rows by clusters that kmeans --model saved");
  command->add_option("MODELFILE", o->map, "A model that mercer cluster kmeans saved")->required();
  add_reading(*command, o->reading);
  add_gram_file(*command, o->gram, "Kernel values k(new, training object) in place of columns, for clusters of a given Gram matrix");
  command->add_option("--out", o->out, "Write the labels to this file: .csv, .tsv or .npy (default: CSV on standard output)")
      ->type_name("FILE");
  add_seed(*command, o->reading.seed, "Seed of built-in sets (default: 0)");
  add_common(*command, o->common);
  command->footer("Examples:\n  mercer cluster apply m.mercer new.csv --out labels.csv");
  command->callback([o, &invocation] { invocation.job = [o] { run_apply(*o); }; });
}

}  // namespace

void add_cluster(CLI::App& app, Invocation& invocation) {
  CLI::App* cluster = app.add_subcommand("cluster", "Rows in groups: kernel k-means, spectral clustering, how many groups");
  cluster->require_subcommand(1);
  cluster->footer(
      "Examples:\n"
      "  mercer cluster kmeans data.csv -k 3 --out labels.csv\n"
      "  mercer cluster spectral data.csv -k auto --report clusters.html");
  add_cluster_kmeans(*cluster, invocation);
  add_cluster_spectral(*cluster, invocation);
  add_cluster_apply(*cluster, invocation);
}

}  // namespace mercer::cli
