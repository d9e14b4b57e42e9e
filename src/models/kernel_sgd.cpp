// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_sgd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "kernels/node.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "models/class_counts.hpp"
#include "models/convex_fit.hpp"
#include "solvers/kernel_sgd.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;
using Output = KernelSGDOptions::Output;
using solvers::DrawSequence;

constexpr Index least_iterations = 100000;
constexpr double passes = 20;

// Every entry at hand: small blocks, because gathering a block's own Gram matrix misses the cache at each entry.
class StoredRows final : public solvers::SgdGram {
 public:
  explicit StoredRows(Operator K) : K_(std::move(K)), rows_(K_->row_block(0, K_->rows())) {}
  Index size() const override { return K_->rows(); }
  Index block_steps() const override { return 64; }
  Matrix block(std::span<const Index> I, std::span<const Index> J) const override { return K_->block(I, J); }
  void add_columns(std::span<const Index> D, const Matrix& V, Matrix& F) const override {
    constexpr Index width = 1024;
    parallel_for((size() + width - 1) / width, [&](Index chunk) {
      const Index begin = chunk * width;
      const Index count = std::min(width, size() - begin);
      for (std::size_t d = 0; d < D.size(); ++d) {
        const Eigen::Map<const Eigen::RowVectorXd> row(std::get<const double*>(rows_.values) + D[d] * rows_.stride + begin, count);
        for (Index c = 0; c < F.rows(); ++c) F.row(c).segment(begin, count) += V(static_cast<Index>(d), c) * row;
      }
    });
  }

 private:
  Operator K_;
  RowBlock rows_;
};

// Tiles made when they are asked for. A block is of a tile's size, or of the size that a budget of support vectors was checked for.
class StreamedRows final : public solvers::SgdGram {
 public:
  StreamedRows(const Kernel& kernel, const Samples& X) : kernel_(kernel), X_(X) { run_.memory = std::numeric_limits<std::size_t>::max(); }
  Index size() const override { return X_.size(); }
  Index block_steps() const override { return 256; }
  Matrix block(std::span<const Index> I, std::span<const Index> J) const override {
    const Samples rows = X_.subset(I);
    const bool same = std::equal(I.begin(), I.end(), J.begin(), J.end());
    return gram(kernel_, rows, same ? rows : X_.subset(J), {.precision = Precision::float64, .run = run_});
  }
  void add_columns(std::span<const Index> D, const Matrix& V, Matrix& F) const override {
    F += gram_operator(kernel_, X_, X_.subset(D), {Precision::float64, Storage::streamed, run_})->apply(V).transpose();
  }

 private:
  const Kernel& kernel_;
  const Samples& X_;
  Run run_{};
};

void require_options(const KernelSGDOptions& o) {
  if (o.lambda && (!(*o.lambda > 0) || !std::isfinite(*o.lambda)))
    throw InvalidArgument(fmt::format("lambda must be a finite number > 0, got {}", *o.lambda));
  if (o.iterations < 0) throw InvalidArgument(fmt::format("iterations must be >= 0 (0: as many as serve), got {}", o.iterations));
  if (o.budget < 0) throw InvalidArgument(fmt::format("budget must be >= 0 (0: none), got {}", o.budget));
  if (o.budget > 0 && o.output == Output::averaged)
    throw InvalidArgument("the average of all iterates has more support vectors than a budget allows; take the last iterate, or no budget");
}

Index iterations_of(const KernelSGDOptions& o, Index n) {
  return o.iterations > 0 ? o.iterations : std::max(least_iterations, static_cast<Index>(passes * static_cast<double>(n)));
}

double lambda_of(const KernelSGDOptions& o, Index n) { return o.lambda.value_or(1 / static_cast<double>(n)); }

// What is ever drawn, ascending, and for each sample its place there.
struct Drawn {
  std::vector<Index> samples{};
  std::vector<Index> local{};
};

Drawn look_ahead(DrawSequence draws, Index n, Index iterations) {
  Drawn out;
  out.local.assign(static_cast<std::size_t>(n), -1);
  for (Index t = 0; t < iterations && std::ssize(out.samples) < n; ++t) {
    const Index i = draws.next();
    if (out.local[static_cast<std::size_t>(i)] >= 0) continue;
    out.local[static_cast<std::size_t>(i)] = 0;
    out.samples.push_back(i);
  }
  std::sort(out.samples.begin(), out.samples.end());
  for (std::size_t place = 0; place < out.samples.size(); ++place)
    out.local[static_cast<std::size_t>(out.samples[place])] = static_cast<Index>(place);
  return out;
}

// The Gram matrix of the samples in play, and how it is held.
struct Rows {
  Operator stored{};
  std::unique_ptr<solvers::SgdGram> access{};
  std::size_t bytes = 0;
};

Rows make_rows(const Kernel& kernel, const Samples& X, const KernelSGDOptions& o, Index iterations, Index functions) {
  const auto n = static_cast<double>(X.size());
  const auto bytes = static_cast<std::size_t>(X.size()) * static_cast<std::size_t>(X.size()) * sizeof(double);
  // With a budget, a small one needs fewer kernel values than there are pairs.
  const bool worth =
      o.budget == 0 || n * n / 2 <= static_cast<double>(iterations) * static_cast<double>(functions) * static_cast<double>(o.budget + 256);
  const bool must = looks_at(kernel, Reduction::same);  // white noise sees a sample meet itself only within one sample set
  Rows rows;
  if (o.budget > 0) {  // each function has the kernel values between its support vectors, once more while a block comes in
    const auto side = static_cast<std::size_t>(std::min(o.budget, X.size()) + 256);
    rows.bytes = 2 * side * side * sizeof(double) * static_cast<std::size_t>(functions);
    require_memory(rows.bytes, o.run.memory, fmt::format("the kernel values between {} support vectors", o.budget), "use a smaller budget");
  }
  if (must || (worth && bytes <= memory_budget(o.run.memory))) {
    rows.stored = gram_operator(kernel, X, {Precision::float64, Storage::stored, o.run});
    rows.access = std::make_unique<StoredRows>(rows.stored);
    rows.bytes += bytes;
  } else {
    rows.access = std::make_unique<StreamedRows>(kernel, X);
    rows.bytes += static_cast<std::size_t>(X.size()) * static_cast<std::size_t>(3 * functions) * sizeof(double);
  }
  return rows;
}

// K (A, B) at all samples; A, B belong to `support` of them.
Matrix products_at(const Kernel& kernel, const Samples& X, const std::vector<Index>& support, const Matrix& V, const Operator& stored,
                   const Run& run) {
  const bool whole = (stored && stored->rows() == X.size()) || looks_at(kernel, Reduction::same);
  if (!whole) return gram_operator(kernel, X, X.subset(support), {Precision::float64, Storage::streamed, run})->apply(V);
  Matrix all = Matrix::Zero(X.size(), V.cols());
  for (std::size_t s = 0; s < support.size(); ++s) all.row(support[s]) = V.row(static_cast<Index>(s));
  if (stored && stored->rows() == X.size()) return stored->apply(all);
  return gram_operator(kernel, X, {Precision::float64, Storage::streamed, run})->apply(all);
}

// The objective, and a lower bound of it: for 0 <= a_i <= p_i (p the samples' shares of the weight) the dual function
// sum a - |sum a_i y_i psi(x_i)|^2 / (2 lambda) is one. a = lambda y alpha, cut to its bounds and scaled as serves best, tends to the
// solution.
struct Certificate {
  double objective = 0;
  double squared_norm = 0;
  double bound = 0;
};

Certificate certify(const Kernel& kernel, const Samples& X, const solvers::SgdProblem& problem, const Vector& p,
                    const std::vector<Index>& support, const Matrix& coef, const Operator& stored, const Run& run) {
  const Index functions = coef.cols();
  const double lambda = problem.lambda;
  Matrix V(coef.rows(), 2 * functions);
  Vector mass = Vector::Zero(functions);
  V.leftCols(functions) = coef;
  for (Index s = 0; s < coef.rows(); ++s) {
    const Index i = support[static_cast<std::size_t>(s)];
    for (Index c = 0; c < functions; ++c) {
      const double a = std::clamp(lambda * problem.sign(c, i) * coef(s, c), 0.0, p[i]);
      V(s, functions + c) = problem.sign(c, i) * a;
      mass[c] += a;
    }
  }
  const Matrix f = products_at(kernel, X, support, V, stored, run);
  Certificate out;
  for (Index c = 0; c < functions; ++c) {
    double norm = 0;
    double dual_norm = 0;
    for (Index s = 0; s < coef.rows(); ++s) {
      norm += coef(s, c) * f(support[static_cast<std::size_t>(s)], c);
      dual_norm += V(s, functions + c) * f(support[static_cast<std::size_t>(s)], functions + c);
    }
    double hinge = 0;
    for (Index i = 0; i < X.size(); ++i) hinge += p[i] * std::max(0.0, 1 - problem.sign(c, i) * f(i, c));
    const double share = dual_norm > 0 ? std::min(1.0, lambda * mass[c] / dual_norm) : 1;
    out.squared_norm += norm;
    out.objective += lambda / 2 * norm + hinge;
    out.bound += std::max(0.0, share * mass[c] - share * share * dual_norm / (2 * lambda));
  }
  return out;
}

void require_psd_so_far(const Kernel& kernel, const Certificate& c, double lambda) {
  if (!(lambda / 2 * c.squared_norm < -1e-8 * std::abs(c.objective))) return;
  throw InvalidArgument(fmt::format("the kernel {} is not positive semi-definite on this data: |w|^2 is {:g}; use a PSD kernel",
                                    kernel.text(), c.squared_norm));
}

std::string sentence_of(const KernelSGDSummary& s, double lambda, Index functions) {
  std::string text =
      fmt::format("{} steps with lambda {:g}{}: {} updates, {}, {} support vectors", s.iterations, lambda,
                  functions > 1 ? fmt::format(" for each of {} classes", functions) : "", s.updates, s.output, s.support_vectors);
  if (s.removals > 0) text += fmt::format(" ({} removed)", s.removals);
  text += s.certified ? fmt::format(", objective {:.6g}, relative duality gap {:.1e}", s.objective, s.relative_gap) : ", no duality gap";
  return text + fmt::format(", Gram matrix {}, {}, {:.2f} s", s.stored ? "stored" : "streamed", format_bytes(static_cast<double>(s.bytes)),
                            s.seconds);
}

Vector shares_of(const Vector& sample_weight, Index n) {
  return sample_weight.size() > 0 ? Vector(sample_weight / sample_weight.sum()) : Vector(Vector::Constant(n, 1 / static_cast<double>(n)));
}

void require_finite_coef(const Matrix& coef, double lambda) {
  if (!coef.allFinite()) throw InvalidArgument(fmt::format("lambda {:g} is too small: coefficients of 1 / lambda overflow", lambda));
}

}  // namespace

KernelSGDModel KernelSGDModel::from_parts(Kernel kernel, Samples samples, std::vector<Index> support, Matrix dual_coef, double lambda,
                                          KernelSGDSummary summary) {
  if (samples.empty() || dual_coef.rows() != samples.size() || std::ssize(support) != samples.size() || dual_coef.cols() == 0 ||
      dual_coef.cols() == 2) {
    throw InvalidArgument(fmt::format("an SGD model of {} support vectors cannot have {} indices and {} x {} coefficients", samples.size(),
                                      support.size(), dual_coef.rows(), dual_coef.cols()));
  }
  KernelSGDModel model(std::move(kernel), std::move(samples));
  model.support_ = std::move(support);
  model.dual_coef_ = std::move(dual_coef);
  model.lambda_ = lambda;
  model.summary_ = std::move(summary);
  return model;
}

Matrix KernelSGDModel::decision(const Samples& X, const Run& run) const {
  return expansion_at(kernel_, samples_, dual_coef_, Vector::Zero(dual_coef_.cols()), X, run);
}

std::vector<Index> sgd_draws(Index samples, Index iterations, std::uint64_t seed, const Vector& sample_weight) {
  if (samples < 1 || iterations < 0) throw InvalidArgument(fmt::format("{} draws from {} samples do not exist", iterations, samples));
  proportions(sample_weight, samples);  // for its checks
  DrawSequence draws(samples, sample_weight, seed);
  std::vector<Index> out(static_cast<std::size_t>(iterations));
  for (Index& i : out) i = draws.next();
  return out;
}

KernelSGDModel fit_kernel_sgd(const Samples& rows, const std::vector<Index>& labels, const KernelSGDOptions& options) {
  const auto start = Clock::now();
  require_options(options);
  const Samples X = as_given(options.kernel, rows);
  const Index classes = require_classes(X, labels, options.sample_weight);
  if (options.kernel.psd() == Verdict::no) {
    throw InvalidArgument(
        fmt::format("the kernel {} is not positive semi-definite, so |w|^2 is no penalty; use a PSD kernel", options.kernel.text()));
  }
  const Index n = X.size();
  solvers::SgdProblem problem{.labels = labels, .functions = functions_for(classes), .lambda = lambda_of(options, n)};
  problem.iterations = iterations_of(options, n);
  problem.average = options.output == Output::averaged || (options.output == Output::automatic && options.budget == 0);
  problem.budget = options.budget;
  KernelSGDSummary summary;
  Kernel kernel = options.kernel;
  std::vector<Index> support;
  Matrix coef;
  with_run(options.run, [&] {
    kernel = ready_kernel(options.kernel, X);
    const DrawSequence draws(n, options.sample_weight, options.seed);
    const Drawn drawn = look_ahead(draws, n, problem.iterations);
    const Samples seen = std::ssize(drawn.samples) == n ? X : X.subset(drawn.samples);
    solvers::SgdProblem on_seen = problem;
    for (std::size_t s = 0; s < drawn.samples.size(); ++s) on_seen.labels[s] = labels[static_cast<std::size_t>(drawn.samples[s])];
    const Rows gram_rows = make_rows(kernel, seen, options, problem.iterations, problem.functions);
    Stage stage(options.run.progress, "Stochastic gradient", static_cast<double>(problem.iterations));
    solvers::SgdSolution solution = kernel_sgd(*gram_rows.access, on_seen, draws, drawn.local, stage);
    require_finite_coef(solution.coef, problem.lambda);
    std::vector<Index> kept;
    for (Index s = 0; s < solution.coef.rows(); ++s) {
      if (!solution.coef.row(s).isZero(0)) kept.push_back(s);
    }
    summary.support_vectors = std::ssize(kept);
    if (kept.empty()) kept.push_back(0);  // one step of the average: w = 0, written with one sample
    for (const Index s : kept) support.push_back(drawn.samples[static_cast<std::size_t>(s)]);
    coef = solution.coef(kept, Eigen::all);
    summary.updates = solution.updates;
    summary.removals = solution.removals;
    summary.stored = gram_rows.stored != nullptr;
    summary.bytes = gram_rows.bytes;
    if (!options.certify.value_or(problem.iterations >= n)) return;
    const Vector p = shares_of(options.sample_weight, n);
    const Certificate c = certify(kernel, X, problem, p, support, coef, gram_rows.stored, options.run);
    require_psd_so_far(kernel, c, problem.lambda);
    summary.certified = true;
    summary.objective = c.objective;
    summary.squared_norm = c.squared_norm;
    summary.gap = std::max(0.0, c.objective - c.bound);
    summary.relative_gap = summary.gap == 0 ? 0 : summary.gap / c.objective;
  });
  summary.iterations = problem.iterations;
  summary.output = problem.average ? "average of all iterates" : "last iterate";
  summary.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  summary.sentence = sentence_of(summary, problem.lambda, problem.functions);
  Samples vectors = X.subset(support).without_values();
  return KernelSGDModel::from_parts(kernel, std::move(vectors), std::move(support), std::move(coef), problem.lambda, std::move(summary));
}

ExplicitSGD fit_explicit_sgd(const MatrixRef& features, const std::vector<Index>& labels, const KernelSGDOptions& options) {
  require_options(options);
  const Index n = features.rows();
  const Index classes = require_classes(Samples::borrow(DenseRows<double>{features.data(), n, features.cols(), features.outerStride()}, {}),
                                        labels, options.sample_weight);
  require_finite(features, "features");
  const solvers::SgdProblem problem{.labels = labels, .functions = functions_for(classes)};
  ExplicitSGD out;
  out.lambda = lambda_of(options, n);
  out.iterations = iterations_of(options, n);
  const bool average = options.output != Output::last;
  Matrix theta = Matrix::Zero(problem.functions, features.cols());
  Matrix sum = Matrix::Zero(problem.functions, features.cols());
  DrawSequence draws(n, options.sample_weight, options.seed);
  Stage stage(options.run.progress, "Stochastic gradient", static_cast<double>(out.iterations));
  long double left = solvers::harmonic_number(out.iterations);
  for (Index t = 1; t <= out.iterations; ++t) {
    const Index i = draws.next();
    left -= 1 / static_cast<long double>(t);
    for (Index c = 0; c < problem.functions; ++c) {
      const double y = problem.sign(c, i);
      if (!(y * theta.row(c).dot(features.row(i)) < out.lambda * static_cast<double>(t))) continue;
      theta.row(c) += y * features.row(i);
      if (average) sum.row(c) += y * static_cast<double>(std::max(left, 0.0L)) * features.row(i);
      ++out.updates;
    }
    if (t % 256 == 0) stage.advance(256);
  }
  const auto T = static_cast<double>(out.iterations);
  out.coef = average ? Matrix(sum / (out.lambda * T)) : Matrix(theta / (out.lambda * (T + 1)));
  require_finite_coef(out.coef, out.lambda);
  return out;
}

}  // namespace mercer
