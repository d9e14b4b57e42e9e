// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_mean.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/node.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "models/class_counts.hpp"
#include "models/convex_fit.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;
using Priors = KernelMeanOptions::Priors;

// The samples as columns of weights, one per class.
Matrix columns_of(const std::vector<Index>& labels, const Vector& weights, Index classes) {
  Matrix V = Matrix::Zero(weights.size(), classes);
  for (Index i = 0; i < weights.size(); ++i) V(i, labels[static_cast<std::size_t>(i)]) = weights[i];
  return V;
}

Vector priors_of(const KernelMeanOptions& o, const Vector& mass) {
  const Index classes = mass.size();
  if (o.priors != Priors::given && o.given_priors.size() > 0)
    throw InvalidArgument("given_priors are only looked at with priors = given; set it, or leave them out");
  if (o.priors == Priors::equal) return Vector::Constant(classes, 1 / static_cast<double>(classes));
  if (o.priors == Priors::empirical) return mass / mass.sum();
  if (o.given_priors.size() != classes)
    throw InvalidArgument(fmt::format("priors have {} numbers for {} classes", o.given_priors.size(), classes));
  if (!(o.given_priors.minCoeff() > 0) || !o.given_priors.allFinite()) throw InvalidArgument("priors must be finite and > 0");
  return o.given_priors / o.given_priors.sum();
}

void require_windows(const Matrix& values, const Kernel& kernel) {
  if (values.size() == 0 || values.minCoeff() >= 0) return;
  throw InvalidArgument(fmt::format(
      "the kernel {} has negative values, so it is no Parzen window; use the rule of the nearest mean, or a kernel such as gaussian",
      kernel.text()));
}

// Distances of the means. What rounding leaves of equal means is a part of the squares that were added up: |psi(x)| over each class.
void compare_means(const Matrix& M, const Vector& length, KernelMeanSummary& s) {
  s.distances = Matrix::Zero(M.rows(), M.rows());
  double smallest = std::numeric_limits<double>::infinity();
  for (Index a = 0; a < M.rows(); ++a) {
    for (Index b = a + 1; b < M.rows(); ++b) {
      const double square = M(a, a) + M(b, b) - 2 * M(a, b);
      s.distances(a, b) = s.distances(b, a) = std::sqrt(std::max(0.0, square));
      const double total = length[a] + length[b];
      const bool same = square <= 64 * std::numeric_limits<double>::epsilon() * total * total;
      if (s.distances(a, b) >= smallest && !(same && !s.coincide)) continue;
      smallest = s.distances(a, b);
      s.nearest_a = a;
      s.nearest_b = b;
      s.coincide = s.coincide || same;
    }
  }
}

std::string sentence_of(const KernelMeanSummary& s, MeanRule rule) {
  std::string text = fmt::format("means of {} classes from {} samples, {}", s.classes, s.samples,
                                 rule == MeanRule::parzen ? "Parzen windows" : "nearest mean");
  const double distance = s.distances(s.nearest_a, s.nearest_b);
  if (s.coincide) {
    text += fmt::format("; the means of classes {} and {} coincide (distance {:.1e}): this kernel cannot tell them apart", s.nearest_a,
                        s.nearest_b, distance);
  } else if (s.classes == 2) {
    text += fmt::format(", at a distance (MMD) of {:.6g}", distance);
  } else {
    text += fmt::format(", the nearest two, {} and {}, at a distance (MMD) of {:.6g}", s.nearest_a, s.nearest_b, distance);
  }
  return text + fmt::format(", {:.2f} s", s.seconds);
}

// log of the integral of exp(-sum (x_j / l_j)^2 / 2), where the kernel is that on all columns.
double log_window_mass(const Kernel& kernel, Index width) {
  const KernelNode& node = kernel.node();
  const SpectralMeasure measure = node.kind() == KernelNode::Kind::leaf ? node.spectral_measure() : SpectralMeasure{};
  if (measure.family != SpectralMeasure::Family::normal)
    throw NotOffered(fmt::format("densities need a kernel of known mass, a Gaussian on all columns; {} is not", kernel.text()));
  double log_mass = 0;
  for (Index j = 0; j < width; ++j) {
    const double scale = measure.scales.size() == 1 ? measure.scales[0] : measure.scales[static_cast<std::size_t>(j)];
    log_mass += std::log(scale) + 0.5 * std::log(2 * std::numbers::pi);
  }
  return log_mass;
}

struct Kept {
  std::vector<Index> rows{};
  std::vector<Index> labels{};
  Vector weights{};  // within the class
  Vector mass{};     // of the classes
};

Kept positive_rows(const std::vector<Index>& labels, const Vector& sample_weight, Index classes) {
  Kept kept;
  kept.mass = Vector::Zero(classes);
  std::vector<double> weights;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double weight = sample_weight.size() > 0 ? sample_weight[static_cast<Index>(i)] : 1;
    if (weight == 0) continue;
    kept.rows.push_back(static_cast<Index>(i));
    kept.labels.push_back(labels[i]);
    weights.push_back(weight);
    kept.mass[labels[i]] += weight;
  }
  kept.weights = Eigen::Map<const Vector>(weights.data(), std::ssize(weights));
  for (Index i = 0; i < kept.weights.size(); ++i) kept.weights[i] /= kept.mass[kept.labels[static_cast<std::size_t>(i)]];
  return kept;
}

}  // namespace

KernelMeanModel KernelMeanModel::from_parts(Kernel kernel, MeanRule rule, Samples samples, std::vector<Index> labels, Vector weights,
                                            Vector priors, Matrix mean_gram, KernelMeanSummary summary) {
  const Index classes = priors.size();
  if (classes < 2 || samples.empty() || std::ssize(labels) != samples.size() || weights.size() != samples.size() ||
      mean_gram.rows() != classes || mean_gram.cols() != classes) {
    throw InvalidArgument(fmt::format("a model of {} class means cannot have {} samples, {} labels, {} weights and {} x {} products",
                                      classes, samples.size(), labels.size(), weights.size(), mean_gram.rows(), mean_gram.cols()));
  }
  for (const Index label : labels) {
    if (label < 0 || label >= classes)
      throw InvalidArgument(fmt::format("a model of {} class means cannot have a class {}", classes, label));
  }
  KernelMeanModel model(std::move(kernel), std::move(samples));
  model.rule_ = rule;
  model.labels_ = std::move(labels);
  model.weights_ = std::move(weights);
  model.priors_ = std::move(priors);
  model.mean_gram_ = std::move(mean_gram);
  model.summary_ = std::move(summary);
  return model;
}

Matrix KernelMeanModel::mean_values(const Samples& X, const Run& run) const {
  return expansion_at(kernel_, samples_, columns_of(labels_, weights_, classes()), Vector::Zero(classes()), X, run);
}

Matrix KernelMeanModel::class_scores(const Samples& X, const Run& run) const {
  Matrix scores = mean_values(X, run);
  if (rule_ == MeanRule::parzen) {
    scores.array().rowwise() *= priors_.transpose().array();
  } else {
    scores.rowwise() -= mean_gram_.diagonal().transpose() / 2;
  }
  return scores;
}

Vector KernelMeanModel::intercept() const {
  if (rule_ == MeanRule::parzen) return Vector::Zero(n_targets());
  if (classes() > 2) return -mean_gram_.diagonal() / 2;
  return Vector::Constant(1, (mean_gram_(0, 0) - mean_gram_(1, 1)) / 2);
}

Matrix KernelMeanModel::decision(const Samples& X, const Run& run) const {
  // Of the Parzen rule the posteriors: prior times density is small wherever samples are few, whichever class is the likelier.
  Matrix scores = rule_ == MeanRule::parzen ? probabilities(X, run) : class_scores(X, run);
  if (classes() > 2) return scores;
  return scores.col(1) - scores.col(0);
}

Matrix KernelMeanModel::probabilities(const Samples& X, const Run& run) const {
  if (rule_ != MeanRule::parzen) throw NotOffered("the nearest mean has scores but no probabilities; the Parzen rule has both");
  Matrix p = class_scores(X, run);
  require_windows(p, kernel_);
  for (Index i = 0; i < p.rows(); ++i) {
    const double sum = p.row(i).sum();
    if (sum > 0) {
      p.row(i) /= p.row(i).maxCoeff();  // a sum of the smallest numbers has no reciprocal
      p.row(i) /= p.row(i).sum();
    } else {
      p.row(i) = priors_.transpose();
    }
  }
  return p;
}

Matrix KernelMeanModel::log_densities(const Samples& X, const Run& run) const {
  const double log_mass = log_window_mass(kernel_, samples_.width());
  return mean_values(X, run).array().log() - log_mass;
}

KernelMeanModel fit_kernel_mean(const Samples& rows, const std::vector<Index>& labels, const KernelMeanOptions& options) {
  const auto start = Clock::now();
  const Samples all = as_given(options.kernel, rows);
  const Index classes = require_classes(all, labels, options.sample_weight);
  if (options.rule == MeanRule::nearest && options.kernel.psd() == Verdict::no) {
    throw InvalidArgument(fmt::format("the kernel {} is not positive semi-definite, so there is no distance to a mean; use a PSD kernel",
                                      options.kernel.text()));
  }
  Kept kept = positive_rows(labels, options.sample_weight, classes);
  Vector priors = priors_of(options, kept.mass);
  const Samples X = std::ssize(kept.rows) == all.size() ? all : all.subset(kept.rows);
  KernelMeanSummary summary;
  Kernel kernel = options.kernel;
  Matrix M;
  with_run(options.run, [&] {
    kernel = ready_kernel(options.kernel, X);
    const Matrix V = columns_of(kept.labels, kept.weights, classes);
    const Operator K = gram_operator(kernel, X, {Precision::float64, Storage::streamed, options.run});
    const Matrix KV = K->apply(V);
    if (options.rule == MeanRule::parzen) require_windows(KV, kernel);
    M = V.transpose() * KV;
    M = ((M + M.transpose()) / 2).eval();
    compare_means(M, V.transpose() * K->diagonal().cwiseAbs().cwiseSqrt(), summary);
  });
  if (!M.allFinite()) throw InvalidArgument("kernel values overflow; scale the data");
  summary.samples = X.size();
  summary.classes = classes;
  summary.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  summary.sentence = sentence_of(summary, options.rule);
  return KernelMeanModel::from_parts(kernel, options.rule, X.without_values(), std::move(kept.labels), std::move(kept.weights),
                                     std::move(priors), std::move(M), std::move(summary));
}

}  // namespace mercer
