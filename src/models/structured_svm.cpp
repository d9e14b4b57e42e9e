// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/structured_svm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/node.hpp"
#include "mercer/error.hpp"
#include "models/structured_fit.hpp"
#include "models/weights.hpp"

namespace mercer {

namespace {

using solvers::Plane;
using Clock = std::chrono::steady_clock;

// w is a vector and planes are sparse ones.
class VectorSpace final : public solvers::PlaneSpace {
 public:
  explicit VectorSpace(const StructuredOracle& oracle) : oracle_(oracle), w_(Vector::Zero(oracle.dimension())) {}

  Index examples() const override { return oracle_.examples(); }
  bool parallel() const override { return oracle_.parallel(); }
  Plane worst(Index i) const override { return plane_of(oracle_.worst(i, w_), w_.size()); }
  double product(Index /*i*/, const Plane& plane) const override {
    double sum = 0;
    for (std::size_t k = 0; k < plane.indices.size(); ++k) sum += w_[plane.indices[k]] * plane.values[k];
    return sum;
  }
  double inner(Index /*i*/, const Plane& a, const Plane& b) const override {
    double sum = 0;
    std::size_t l = 0;
    for (std::size_t k = 0; k < a.indices.size(); ++k) {
      while (l < b.indices.size() && b.indices[l] < a.indices[k]) ++l;
      if (l < b.indices.size() && b.indices[l] == a.indices[k]) sum += a.values[k] * b.values[l];
    }
    return sum;
  }
  void restart() override { w_.setZero(); }
  void add(Index /*i*/, const Plane& plane, double amount) override {
    for (std::size_t k = 0; k < plane.indices.size(); ++k) w_[plane.indices[k]] += amount * plane.values[k];
  }
  void settle() override {}
  double squared_norm() const override { return w_.squaredNorm(); }

  const Vector& w() const { return w_; }

 private:
  const StructuredOracle& oracle_;
  Vector w_;
};

// A problem of outputs as an oracle of differences.
class OutputOracle final : public StructuredOracle {
 public:
  explicit OutputOracle(const StructuredProblem& problem) : problem_(problem) {
    for (Index i = 0; i < problem.examples(); ++i) {
      const StructuredOutput truth = problem.truth(i);
      if (const double loss = problem.loss(i, truth); loss != 0)
        throw InvalidArgument(fmt::format("the loss of the true output of example {} must be 0, got {:g}", i, loss));
      truth_.push_back(problem.joint_feature(i, truth));
      require_pairs(truth_.back(), i);
    }
  }
  Index examples() const override { return problem_.examples(); }
  Index dimension() const override { return problem_.dimension(); }
  bool parallel() const override { return problem_.parallel(); }
  StructuredAnswer worst(Index i, const Vector& w) const override {
    const StructuredOutput y = problem_.loss_augmented_argmax(i, w);
    JointFeature other = problem_.joint_feature(i, y);
    require_pairs(other, i);
    StructuredAnswer out{truth_[static_cast<std::size_t>(i)], problem_.loss(i, y)};
    out.difference.indices.insert(out.difference.indices.end(), other.indices.begin(), other.indices.end());
    for (const double value : other.values) out.difference.values.push_back(-value);
    return out;
  }

 private:
  static void require_pairs(const JointFeature& phi, Index i) {
    if (phi.indices.size() != phi.values.size())
      throw InvalidArgument(
          fmt::format("a joint feature of example {} has {} indices and {} values", i, phi.indices.size(), phi.values.size()));
  }

  const StructuredProblem& problem_;
  std::vector<JointFeature> truth_{};
};

void require_positive(const char* name, double value) {
  if (!(value > 0) || !std::isfinite(value)) throw InvalidArgument(fmt::format("{} must be a finite number > 0, got {}", name, value));
}

std::string sentence_of(const StructuredSvmSummary& s, const StructuredSvmOptions& o, const std::string& what) {
  const std::string how = fmt::format("{} passes, relative duality gap {:.2g}", s.passes, s.relative_gap);
  std::string text = s.status == "converged"
                         ? fmt::format("converged: {} <= {:g}", how, o.tolerance)
                         : fmt::format("not converged: {} > {:g} at the limit of {} passes; allow more, or take a smaller C", how,
                                       o.tolerance, o.max_passes);
  text += fmt::format(", objective {:.6g}, {} planes, {}", s.objective, s.planes, what);
  if (s.missed > 0)
    text += fmt::format("; {} of {} searches missed an output already known to be better, so the gap is no bound", s.missed, s.searches);
  return text + fmt::format(", {:.2f} s", s.seconds);
}

}  // namespace

Vector structured_weights(const StructuredSvmOptions& o, Index examples) {
  require_positive("C", o.C);
  if (o.lambda) require_positive("lambda", *o.lambda);
  require_positive("tolerance", o.tolerance);
  if (o.max_passes < 1) throw InvalidArgument(fmt::format("max_passes must be at least 1, got {}", o.max_passes));
  if (examples < 1) throw InvalidArgument("there are no examples: a structured machine needs at least one");
  root_weights(o.sample_weight, examples);  // for its checks
  const Vector weights = o.sample_weight.size() > 0 ? o.sample_weight : Vector(Vector::Ones(examples));
  return (o.lambda ? 1 / (2 * *o.lambda * weights.sum()) : o.C) * weights;
}

StructuredSvmSummary run_structured(solvers::PlaneSpace& space, const StructuredSvmOptions& o, const Vector& C, Clock::time_point start,
                                    std::size_t bytes, const std::string& what) {
  solvers::FrankWolfeSolution solution;
  with_run(o.run, [&] { solution = frank_wolfe(space, C, {o.tolerance, o.max_passes, o.seed}, o.run.progress); });
  StructuredSvmSummary s;
  s.status = solution.converged ? "converged" : "iteration limit";
  s.passes = solution.passes;
  s.searches = solution.oracle_calls;
  s.objective = solution.objective;
  s.dual = solution.dual;
  s.gap = solution.gap;
  s.relative_gap = solution.gap == 0 ? 0 : solution.gap / solution.objective;
  s.planes = solution.planes;
  s.missed = solution.missed;
  s.bytes = bytes;
  s.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  s.sentence = sentence_of(s, o, what);
  if (solution.squared_norm < -1e-8 * std::abs(solution.objective)) {
    throw InvalidArgument(fmt::format("the kernel {} is not positive semi-definite on this data: |w|^2 is {:g}; use a PSD kernel",
                                      o.kernel.text(), solution.squared_norm));
  }
  return s;
}

Plane plane_of(StructuredAnswer answer, Index dimension) {
  const JointFeature& d = answer.difference;
  if (!(answer.loss >= 0) || !std::isfinite(answer.loss))
    throw InvalidArgument(fmt::format("a loss must be a finite number >= 0, got {}", answer.loss));
  if (d.indices.size() != d.values.size())
    throw InvalidArgument(fmt::format("a joint feature has {} indices and {} values", d.indices.size(), d.values.size()));
  for (std::size_t k = 0; k < d.indices.size(); ++k) {
    if (d.indices[k] < 0 || d.indices[k] >= dimension)
      throw InvalidArgument(fmt::format("a joint feature has index {}, wanted 0 .. {}", d.indices[k], dimension - 1));
    if (!std::isfinite(d.values[k]))
      throw InvalidArgument(fmt::format("a joint feature has the value {}, wanted finite ones", d.values[k]));
  }
  Plane plane{.loss = answer.loss};
  const bool ascending = std::adjacent_find(d.indices.begin(), d.indices.end(), std::greater_equal<>()) == d.indices.end();
  std::vector<std::size_t> order(d.indices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!ascending) std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return d.indices[a] < d.indices[b]; });
  for (std::size_t k = 0; k < order.size();) {
    const Index index = d.indices[order[k]];
    double sum = 0;
    for (; k < order.size() && d.indices[order[k]] == index; ++k) sum += d.values[order[k]];
    if (sum == 0) continue;
    plane.indices.push_back(index);
    plane.values.push_back(sum);
  }
  return plane;
}

void require_columns(const Samples& X, const char* machine) {
  if (X.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  if (X.is_given() || X.has_objects())
    throw InvalidArgument(fmt::format("a {} machine looks at columns of numbers; kernels of other samples are for multi-class", machine));
  if (X.width() == 0) throw InvalidArgument("the samples have no columns: X must have at least one column");
  require_finite(X, "X");
}

void require_linear(const StructuredSvmOptions& o, const char* machine) {
  if (o.kernel.text() != kernels::linear().text())
    throw InvalidArgument(
        fmt::format("a {} machine is linear, got the kernel {}; make features first (Nystrom, random features), or use "
                    "the multi-class machine",
                    machine, o.kernel.text()));
}

StructuredFit fit_structured_svm(const StructuredOracle& oracle, const StructuredSvmOptions& options) {
  const auto start = Clock::now();
  const Vector C = structured_weights(options, oracle.examples());
  if (oracle.dimension() < 1) throw InvalidArgument(fmt::format("w must have at least one dimension, got {}", oracle.dimension()));
  VectorSpace space(oracle);
  const auto bytes = static_cast<std::size_t>(oracle.dimension()) * sizeof(double);
  const std::string what = fmt::format("{} examples, w of {} dimensions", oracle.examples(), oracle.dimension());
  StructuredSvmSummary summary = run_structured(space, options, C, start, bytes, what);
  return {space.w(), std::move(summary)};
}

StructuredFit fit_structured_svm(const StructuredProblem& problem, const StructuredSvmOptions& options) {
  structured_weights(options, problem.examples());  // wrong options are said before the problem is asked
  return fit_structured_svm(OutputOracle(problem), options);
}

}  // namespace mercer
