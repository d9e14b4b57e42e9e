// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/mixture_weights.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <chrono>
#include <cmath>

#include "kernels/node.hpp"
#include "mercer/diagnosis.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "stats/mean_products.hpp"
#include "stats/simplex_qp.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;

// The squared length scale of each column, where the kernel is a Gaussian on all columns.
Vector squared_scales(const Kernel& kernel, Index width) {
  const KernelNode& node = kernel.node();
  const SpectralMeasure measure = node.kind() == KernelNode::Kind::leaf ? node.spectral_measure() : SpectralMeasure{};
  if (measure.family != SpectralMeasure::Family::normal)
    throw NotOffered(
        fmt::format("Gaussian components have a closed form under a Gaussian kernel on all columns; {} is not one: draw samples "
                    "from the components and give those",
                    kernel.text()));
  Vector out(width);
  for (Index j = 0; j < width; ++j) {
    const double scale = measure.scales.size() == 1 ? measure.scales[0] : measure.scales[static_cast<std::size_t>(j)];
    out[j] = scale * scale;
  }
  return out;
}

// E k(x, y) over y ~ N(0, S), as a function of x, with S + L factored once.
class SmoothedGaussian {
 public:
  SmoothedGaussian(const Matrix& S, const Vector& scales) {
    Matrix sum = S;
    sum.diagonal() += scales;
    const Eigen::LLT<Matrix> factor(sum);
    if (factor.info() != Eigen::Success) throw InvalidArgument("a covariance is not positive semi-definite");
    L_ = factor.matrixL();
    log_factor_ = 0.5 * scales.array().log().sum() - L_.diagonal().array().log().sum();  // -1/2 log det(I + S/L)
  }
  double operator()(const Vector& x) const {
    const Vector z = L_.triangularView<Eigen::Lower>().solve(x);
    return std::exp(log_factor_ - 0.5 * z.squaredNorm());
  }

 private:
  Matrix L_;
  double log_factor_ = 0;
};

void require_gaussian(const GaussianComponent& g, std::size_t j, Index width) {
  if (g.mean.size() != width || g.covariance.rows() != width || g.covariance.cols() != width)
    throw InvalidArgument(fmt::format("component {} has a mean of {} numbers and a {} x {} covariance; X has {} columns", j, g.mean.size(),
                                      g.covariance.rows(), g.covariance.cols(), width));
  if (!g.mean.allFinite() || !g.covariance.allFinite())
    throw InvalidArgument(fmt::format("component {} has a mean or a covariance that is not finite", j));
  const double size = g.covariance.cwiseAbs().maxCoeff();
  if ((g.covariance - g.covariance.transpose()).cwiseAbs().maxCoeff() > 1e-10 * size)
    throw InvalidArgument(fmt::format("the covariance of component {} is not symmetric", j));
  const double least = Eigen::SelfAdjointEigenSolver<Matrix>(g.covariance, Eigen::EigenvaluesOnly).eigenvalues().minCoeff();
  if (least < -1e-10 * size)
    throw InvalidArgument(
        fmt::format("the covariance of component {} has the eigenvalue {:.4g} < 0; it must be positive semi-definite", j, least));
}

// The embeddings of the components, and of X as the last one: all products between them.
class Embeddings {
 public:
  Embeddings(const Samples& X, const Vector& weights, const std::vector<MixtureComponent>& components, const MixtureOptions& o)
      : kernel_(o.kernel), run_(o.run) {
    const Samples rows = stats::embedded(o.kernel, X, "X");
    kernel_ = resolve(o.kernel, rows);
    for (std::size_t j = 0; j < components.size(); ++j) add(components[j], j, rows.width());
    parts_.push_back({rows, stats::proportions(weights, rows.size(), "weights"), nullptr});
  }

  const Kernel& kernel() const { return kernel_; }

  Matrix products() {
    const auto count = static_cast<Index>(parts_.size());
    Matrix out(count, count);
    with_run(run_, [&] {
      for (Index a = 0; a < count; ++a)
        for (Index b = a; b < count; ++b)
          out(a, b) = out(b, a) = product(parts_[static_cast<std::size_t>(a)], parts_[static_cast<std::size_t>(b)]);
    });
    if (!out.allFinite()) throw InvalidArgument("kernel values overflow; scale the data");
    return out;
  }

 private:
  struct Part {
    Samples rows{};
    Vector weights{};
    const GaussianComponent* gaussian = nullptr;
  };

  void add(const MixtureComponent& component, std::size_t j, Index width) {
    if (const auto* g = std::get_if<GaussianComponent>(&component)) {
      if (scales_.size() == 0) scales_ = squared_scales(kernel_, width);
      require_gaussian(*g, j, width);
      parts_.push_back({{}, {}, g});
      return;
    }
    const auto& s = std::get<SampleComponent>(component);
    const std::string name = fmt::format("component {}", j);
    const Samples rows = stats::embedded(kernel_, s.rows, name);
    if (rows.width() != width) throw InvalidArgument(fmt::format("{} has {} columns, X has {}", name, rows.width(), width));
    parts_.push_back({rows, stats::proportions(s.weights, rows.size(), "weights of " + name), nullptr});
  }

  double product(const Part& a, const Part& b) const {
    if (a.gaussian != nullptr && b.gaussian != nullptr) {
      const Matrix both = a.gaussian->covariance + b.gaussian->covariance;
      return SmoothedGaussian(both, scales_)(a.gaussian->mean - b.gaussian->mean);
    }
    if (a.gaussian != nullptr || b.gaussian != nullptr) return mixed(a.gaussian != nullptr ? a : b, a.gaussian != nullptr ? b : a);
    const GramOptions streamed{.precision = Precision::float64, .storage = Storage::streamed, .run = run_};
    const Operator K = &a == &b ? gram_operator(kernel_, a.rows, streamed) : gram_operator(kernel_, a.rows, b.rows, streamed);
    return a.weights.dot(K->apply(b.weights).col(0));
  }

  double mixed(const Part& gaussian, const Part& sample) const {
    const SmoothedGaussian value(gaussian.gaussian->covariance, scales_);
    constexpr Index chunk = 256;
    const Index chunks = (sample.rows.size() + chunk - 1) / chunk;
    Vector sums = Vector::Zero(chunks);
    Stage stage(run_.progress, "Gaussian components", static_cast<double>(chunks));
    parallel_for(chunks, [&](Index c) {
      const Index first = c * chunk;
      const Matrix rows = sample.rows.slice(first, std::min(chunk, sample.rows.size() - first)).to_dense();
      for (Index i = 0; i < rows.rows(); ++i)
        sums[c] += sample.weights[first + i] * value(rows.row(i).transpose() - gaussian.gaussian->mean);
      stage.advance(1);
    });
    return sums.sum();
  }

  Kernel kernel_;
  const Run& run_;
  std::vector<Part> parts_{};
  Vector scales_{};
};

// Whether the components that have weight could share it otherwise: Q on them is singular.
bool is_unique(const Matrix& Q, const Vector& weights) {
  std::vector<Index> used;
  for (Index j = 0; j < weights.size(); ++j) {
    if (weights[j] > 0) used.push_back(j);
  }
  if (used.size() > 500) return true;  // not looked at
  const Matrix part = Q(used, used);
  const Vector values = Eigen::SelfAdjointEigenSolver<Matrix>(part, Eigen::EigenvaluesOnly).eigenvalues();
  return values.minCoeff() > 1e-12 * static_cast<double>(used.size()) * values.maxCoeff();
}

void solve(const Matrix& Q, const Vector& p, double squared_norm, const Run& run, MixtureWeights& out) {
  const stats::SimplexWeights found = stats::simplex_weights(Q, p, run);
  out.weights = found.weights;
  out.gap = 2 * found.gap;
  out.gram = Q;
  out.products = p;
  out.component_mmd = Vector::Constant(p.size(), std::numeric_limits<double>::quiet_NaN());
  if (std::isfinite(squared_norm)) {
    out.mmd = stats::distance_of(squared_norm + found.weights.dot(Q * found.weights) - 2 * p.dot(found.weights));
    out.component_mmd = (squared_norm + Q.diagonal().array() - 2 * p.array()).max(0).sqrt();
  }
  out.unique = is_unique(Q, found.weights);
  if (!out.unique) out.remarks.emplace_back("some components can stand for others: the mixture is determined, its weights are not");
  if (!found.converged)
    out.remarks.push_back(fmt::format("stopped early: the squared distance may be {:.2g} above its least value", out.gap));
}

void conclude(MixtureWeights& out, Clock::time_point start) {
  const Index k = out.weights.size();
  std::string list;
  for (Index j = 0; j < std::min<Index>(k, 8); ++j) list += fmt::format("{}{:.4f}", j == 0 ? "" : ", ", out.weights[j]);
  if (k > 8) list += ", ...";
  out.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  out.sentence = fmt::format("{} component{} with weight{} {}", k, k == 1 ? "" : "s", k == 1 ? "" : "s", list);
  if (std::isfinite(out.mmd)) {
    Index best = 0;
    out.component_mmd.minCoeff(&best);
    out.sentence += fmt::format(": the mixture is at a distance (MMD) of {:.4g}", out.mmd);
    if (k > 1) out.sentence += fmt::format(", component {} alone, the nearest, at {:.4g}", best, out.component_mmd[best]);
  }
}

}  // namespace

MixtureWeights mixture_weights(const Samples& X, const std::vector<MixtureComponent>& components, const MixtureOptions& options) {
  const auto start = Clock::now();
  if (components.empty()) throw InvalidArgument("a mixture needs at least one component, got none");
  Embeddings embeddings(X, options.weights, components, options);
  const Matrix all = embeddings.products();
  const auto k = static_cast<Index>(components.size());
  MixtureWeights out;
  out.kernel = embeddings.kernel().text();
  with_run(options.run, [&] { solve(all.topLeftCorner(k, k), all.col(k).head(k), all(k, k), options.run, out); });
  if (embeddings.kernel().is_characteristic() == Verdict::no)
    out.remarks.push_back(fmt::format("{} is not characteristic: components that differ in what it cannot see share weight freely",
                                      embeddings.kernel().text()));
  conclude(out, start);
  return out;
}

MixtureWeights mixture_weights_of_products(const Matrix& Q, const Vector& p, double squared_norm, const Run& run) {
  const auto start = Clock::now();
  if (Q.rows() == 0 || Q.rows() != Q.cols() || p.size() != Q.rows())
    throw InvalidArgument(fmt::format("Q must be k x k and p have k numbers, k >= 1; got {} x {} and {}", Q.rows(), Q.cols(), p.size()));
  require_finite(Q, "Q");
  if (!p.allFinite()) throw InvalidArgument("p has a number that is not finite");
  if (squared_norm < 0) throw InvalidArgument(fmt::format("squared_norm is |mu(X)|^2, which is >= 0; got {}", squared_norm));
  const GramCheck check = check_gram(Q, {.run = run});
  if (!check.is_gram())
    throw InvalidArgument(fmt::format("Q must be a Gram matrix of the components' embeddings, but it is {}", check.verdict()));
  MixtureWeights out;
  with_run(run, [&] { solve((Q + Q.transpose()) / 2, p, squared_norm, run, out); });
  conclude(out, start);
  return out;
}

}  // namespace mercer
