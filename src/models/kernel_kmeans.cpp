// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_kmeans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "models/convex_fit.hpp"
#include "models/kmeans_problem.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

KernelKMeansModel KernelKMeansModel::from_parts(Kernel kernel, Samples samples, Matrix coefficients, Vector squared_norms,
                                                std::vector<Index> labels, KernelKMeansSummary summary) {
  const Index clusters = coefficients.cols();
  if (clusters < 1 || samples.empty() || coefficients.rows() != samples.size() || squared_norms.size() != clusters) {
    throw InvalidArgument(fmt::format("a model of {} means cannot have {} samples, {} x {} coefficients and {} norms", clusters,
                                      samples.size(), coefficients.rows(), coefficients.cols(), squared_norms.size()));
  }
  for (const Index label : labels) {
    if (label < 0 || label >= clusters) throw InvalidArgument(fmt::format("a model of {} means cannot have a cluster {}", clusters, label));
  }
  KernelKMeansModel model(std::move(kernel), std::move(samples));
  model.coefficients_ = std::move(coefficients);
  model.squared_norms_ = std::move(squared_norms);
  model.labels_ = std::move(labels);
  model.summary_ = std::move(summary);
  return model;
}

Matrix KernelKMeansModel::predict(const Samples& X, const Run& run) const {
  return expansion_at(kernel_, samples_, coefficients_, -squared_norms_ / 2, X, run);
}

std::vector<Index> KernelKMeansModel::classes(const Samples& X, const Run& run) const {
  const Matrix scores = predict(X, run);
  std::vector<Index> nearest(static_cast<std::size_t>(scores.rows()));
  for (Index i = 0; i < scores.rows(); ++i) scores.row(i).maxCoeff(&nearest[static_cast<std::size_t>(i)]);
  return nearest;
}

Matrix KernelKMeansModel::distances(const Samples& X, const Run& run) const {
  const Samples rows = as_given(kernel_, X, samples_);
  if (rows.is_given() && std::ranges::any_of(rows.given_ids(), [](Index id) { return id < 0; }))
    throw NotOffered("distances of new objects to the means need k(x, x), which is not among their kernel values; classes needs none");
  Matrix d = -2 * predict(X, run);
  if (d.rows() > 0) d.colwise() += gram_diagonal(kernel_, rows);
  return d.cwiseMax(0.0).cwiseSqrt();
}

double KernelKMeansModel::inertia(const Samples& X, const Run& run) const {
  return X.empty() ? 0 : distances(X, run).rowwise().minCoeff().squaredNorm();
}

std::vector<Index> KernelKMeansModel::sizes() const {
  std::vector<Index> out(static_cast<std::size_t>(clusters()), 0);
  for (const Index label : labels_) ++out[static_cast<std::size_t>(label)];
  return out;
}

KernelKMeansModel fit_kernel_kmeans(const Samples& X, const KernelKMeansOptions& options) {
  const auto start = Clock::now();
  std::optional<KernelKMeansModel> model;
  with_run(options.run, [&] {
    require_clusters(options.clusters, X.size());
    model = KMeansProblem(X, options).fit(options.clusters, options.seed);
  });
  KernelKMeansSummary summary = model->summary();
  summary.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  summary.sentence += fmt::format(", {:.2f} s", summary.seconds);
  return KernelKMeansModel::from_parts(model->kernel(), model->samples(), model->coefficients(), model->squared_norms(), model->labels(),
                                       std::move(summary));
}

}  // namespace mercer
