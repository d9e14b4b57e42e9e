// Kernel k-means, spectral clustering, silhouettes and the number of clusters.
// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/eigen/sparse.h>

#include "mercer/cluster_quality.hpp"
#include "mercer/spectral_clustering.hpp"
#include "models.hpp"

namespace mercer::python {

namespace {

using Method = KernelKMeansOptions::Method;

Method method_of(const std::string& name) {
  return name == "exact" ? Method::exact : name == "low_rank" ? Method::low_rank : Method::automatic;
}

KernelKMeansModel fit_kmeans(const Samples& X, const Kernel& kernel, Index clusters, const Vector& weight, const std::string& method,
                             Index restarts, Index max_iterations, double tolerance, Index landmarks, std::uint64_t seed, int threads,
                             std::size_t memory, nb::object progress) {
  KernelKMeansOptions o;
  o.kernel = kernel;
  o.clusters = clusters;
  o.sample_weight = weight;
  o.method = method_of(method);
  o.restarts = restarts;
  o.max_iterations = max_iterations;
  o.tolerance = tolerance;
  o.landmarks = landmarks;
  o.seed = seed;
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return fit_kernel_kmeans(X, o);
  });
}

ClusterChoice choose(const Samples& X, const Kernel& kernel, Index k_min, Index k_max, bool gap, Index references, bool principal,
                     const Vector& weight, const std::string& method, Index restarts, Index max_iterations, double tolerance,
                     Index landmarks, std::uint64_t seed, int threads, std::size_t memory, nb::object progress) {
  ClusterChoiceOptions o;
  o.kernel = kernel;
  o.k_min = k_min;
  o.k_max = k_max;
  o.criterion = gap ? ClusterCriterion::gap : ClusterCriterion::silhouette;
  o.references = references;
  o.reference = principal ? ClusterChoiceOptions::Reference::principal_box : ClusterChoiceOptions::Reference::box;
  o.sample_weight = weight;
  o.method = method_of(method);
  o.restarts = restarts;
  o.max_iterations = max_iterations;
  o.tolerance = tolerance;
  o.landmarks = landmarks;
  o.seed = seed;
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return choose_clusters(X, o);
  });
}

SpectralClustering spectral(const Samples& X, Index clusters, const std::string& affinity, Index neighbors, const Kernel& kernel,
                            Index components, bool unit_rows, bool qr, Index restarts, double tolerance, std::uint64_t seed, int threads,
                            std::size_t memory, nb::object progress) {
  using Options = SpectralClusteringOptions;
  Options o;
  o.clusters = clusters;
  o.affinity = affinity == "nearest_neighbors" ? Options::Affinity::nearest_neighbors
               : affinity == "precomputed"     ? Options::Affinity::precomputed
                                               : Options::Affinity::kernel;
  o.neighbors = neighbors;
  o.kernel = kernel;
  o.components = components;
  o.embedding = unit_rows ? Options::Embedding::unit_rows : Options::Embedding::random_walk;
  o.assignment = qr ? Options::Assignment::cluster_qr : Options::Assignment::kmeans;
  o.restarts = restarts;
  o.tolerance = tolerance;
  o.seed = seed;
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return spectral_clustering(X, o);
  });
}

template <class Value>
auto column_of(Value ClusterCandidate::*member) {
  return [member](const ClusterChoice& choice) {
    std::vector<Value> out;
    for (const ClusterCandidate& c : choice.candidates) out.push_back(c.*member);
    return out;
  };
}

}  // namespace

void bind_clustering(nb::module_& m) {
  nb::class_<KernelKMeansSummary>(m, "KernelKMeansSummary", "How kernel k-means went.")
      .def_ro("samples", &KernelKMeansSummary::samples)
      .def_ro("wanted", &KernelKMeansSummary::wanted)
      .def_ro("clusters", &KernelKMeansSummary::clusters)
      .def_ro("inertia", &KernelKMeansSummary::inertia)
      .def_ro("iterations", &KernelKMeansSummary::iterations)
      .def_ro("restart", &KernelKMeansSummary::restart)
      .def_ro("converged", &KernelKMeansSummary::converged)
      .def_ro("method", &KernelKMeansSummary::method)
      .def_ro("rank", &KernelKMeansSummary::rank)
      .def_ro("trace_error", &KernelKMeansSummary::trace_error)
      .def_ro("looked_at", &KernelKMeansSummary::looked_at)
      .def_ro("bytes", &KernelKMeansSummary::bytes)
      .def_ro("seconds", &KernelKMeansSummary::seconds)
      .def("__str__", [](const KernelKMeansSummary& s) { return s.sentence; })
      .def("__repr__", [](const KernelKMeansSummary& s) { return s.sentence; });
  bind_model<KernelKMeansModel>(m, "KernelKMeansModel", "Cluster means in a feature space; immutable.")
      .def(
          "distances",
          [](const KernelKMeansModel& model, const Samples& X, int threads, std::size_t memory, nb::object progress) {
            Job job(threads, memory, std::move(progress));
            return job([&](const Run& run) { return model.distances(X, run); });
          },
          "X"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none())
      .def(
          "nearest",
          [](const KernelKMeansModel& model, const Samples& X, int threads, std::size_t memory, nb::object progress) {
            Job job(threads, memory, std::move(progress));
            return job([&](const Run& run) { return model.classes(X, run); });
          },
          "X"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none())
      .def_prop_ro("kernel", &KernelKMeansModel::kernel)
      .def_prop_ro("samples", &KernelKMeansModel::samples)
      .def_prop_ro("coefficients", &KernelKMeansModel::coefficients, nb::rv_policy::copy)
      .def_prop_ro("squared_norms", &KernelKMeansModel::squared_norms, nb::rv_policy::copy)
      .def_prop_ro("labels", &KernelKMeansModel::labels)
      .def_prop_ro("n_clusters", &KernelKMeansModel::clusters)
      .def_prop_ro("summary", &KernelKMeansModel::summary, nb::rv_policy::copy);
  m.def("fit_kernel_kmeans", &fit_kmeans, "X"_a, "kernel"_a, "clusters"_a, "sample_weight"_a, "method"_a, "restarts"_a, "max_iterations"_a,
        "tolerance"_a, "landmarks"_a, "seed"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());

  nb::class_<ClusterChoice>(m, "ClusterChoice", "What several numbers of clusters are worth.")
      .def_ro("k", &ClusterChoice::k)
      .def_ro("by_silhouette", &ClusterChoice::by_silhouette)
      .def_ro("by_gap", &ClusterChoice::by_gap)
      .def_ro("kernel", &ClusterChoice::kernel)
      .def_ro("silhouette_rows", &ClusterChoice::silhouette_rows)
      .def_ro("method", &ClusterChoice::method)
      .def_ro("seconds", &ClusterChoice::seconds)
      .def_ro("sentence", &ClusterChoice::sentence)
      .def_prop_ro("ks", column_of(&ClusterCandidate::k))
      .def_prop_ro("inertia", column_of(&ClusterCandidate::inertia))
      .def_prop_ro("silhouette", column_of(&ClusterCandidate::silhouette))
      .def_prop_ro("gap", column_of(&ClusterCandidate::gap))
      .def_prop_ro("gap_error", column_of(&ClusterCandidate::gap_error))
      .def_prop_ro("labels", column_of(&ClusterCandidate::labels));
  m.def("choose_clusters", &choose, "X"_a, "kernel"_a, "k_min"_a, "k_max"_a, "gap"_a, "references"_a, "principal"_a, "sample_weight"_a,
        "method"_a, "restarts"_a, "max_iterations"_a, "tolerance"_a, "landmarks"_a, "seed"_a, "threads"_a = 0, "memory"_a = 0,
        "progress"_a.none() = nb::none());

  nb::class_<SpectralClustering>(m, "SpectralClusteringResult", "A graph cut into clusters.")
      .def_ro("labels", &SpectralClustering::labels)
      .def_prop_ro("embedding", [](const SpectralClustering& r) { return r.embedding; })
      .def_prop_ro("eigenvalues", [](const SpectralClustering& r) { return r.eigenvalues; })
      .def_prop_ro(
          "graph",
          [](const SpectralClustering& r) { return std::visit([](const auto& graph) { return nb::object(nb::cast(graph)); }, r.graph); })
      .def_prop_ro("clusters", &SpectralClustering::clusters)
      .def_prop_ro("connected_components", [](const SpectralClustering& r) { return r.summary.connected_components; })
      .def_prop_ro("solver", [](const SpectralClustering& r) { return r.summary.solver; })
      .def_prop_ro("residual", [](const SpectralClustering& r) { return r.summary.residual; })
      .def_prop_ro("converged", [](const SpectralClustering& r) { return r.summary.converged; })
      .def_prop_ro("sentence", [](const SpectralClustering& r) { return r.summary.sentence; });
  m.def("spectral_clustering", &spectral, "X"_a, "clusters"_a, "affinity"_a, "neighbors"_a, "kernel"_a, "components"_a, "unit_rows"_a,
        "qr"_a, "restarts"_a, "tolerance"_a, "seed"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def(
      "silhouette_samples",
      [](const Samples& X, const std::vector<Index>& labels, std::optional<Kernel> kernel, int threads, std::size_t memory,
         nb::object progress) {
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) { return silhouette_samples(X, labels, {.kernel = kernel, .run = run}); });
      },
      "X"_a, "labels"_a, "kernel"_a.none(), "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
}

}  // namespace mercer::python
