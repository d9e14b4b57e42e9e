// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_pca.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "kernels/node.hpp"
#include "linalg/blas.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "models/kernel_pca_parts.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;
using Output = KernelPcaOutput;
using Solver = KernelPcaSolver;

constexpr Index dense_limit = 500;      // up to here all eigenpairs take no time
constexpr Index pairs_for_krylov = 20;  // Krylov above, for at most one component in so many samples

Solver chosen_solver(const KernelPcaOptions& o, Index n) {
  if (o.solver != Solver::automatic) return o.solver;
  const bool wants_all = o.n_components == 0 || o.output == Output::whitened_map;
  if (n <= dense_limit || (wants_all && n <= o.exact_limit)) return Solver::dense;
  if (n > o.exact_limit && o.output != Output::whitened_map) return Solver::low_rank;
  return o.n_components * pairs_for_krylov > n ? Solver::dense : Solver::krylov;
}

void require_options(const KernelPcaOptions& o) {
  if (o.n_components < 0) throw InvalidArgument(fmt::format("n_components must be >= 0 (0: all), got {}", o.n_components));
  if (o.rank < 0) throw InvalidArgument(fmt::format("rank must be >= 0 (0: chosen), got {}", o.rank));
  if (!(o.tolerance >= 0) || !std::isfinite(o.tolerance))
    throw InvalidArgument(fmt::format("tolerance must be a number >= 0 (0: chosen), got {}", o.tolerance));
  if (o.max_iterations < 0) throw InvalidArgument(fmt::format("max_iterations must be >= 0 (0: 200), got {}", o.max_iterations));
  if (looks_at(o.kernel, Reduction::same))
    throw InvalidArgument(fmt::format("{} has white noise, which adds the same to every eigenvalue and nothing to a new point; take it out",
                                      o.kernel.text()));
  if (normalizes_given(o.kernel))
    throw InvalidArgument(fmt::format(
        "{} could be fitted but never applied: k(x,x) of new objects is not among given kernel values; normalise the matrix first",
        o.kernel.text()));
  if (o.output == Output::whitened_map && o.solver == Solver::low_rank)
    throw InvalidArgument("the whitened map has one column per training sample, which the low-rank form does not keep; use a Nystrom map");
}

double unit_scale(double value, Index n) { return value > 0 ? std::sqrt(static_cast<double>(std::max<Index>(n - 1, 1)) / value) : 0; }

void finish(KernelPcaModel::Parts& parts, const Kernel& kernel, Index n, Clock::time_point start) {
  KernelPcaSummary& s = parts.summary;
  s.samples = n;
  s.components = parts.eigenvalues.size();
  s.explained = s.trace > 0 ? parts.eigenvalues.sum() / s.trace : 0;
  if (s.explained > 1 + 1e-6)
    throw InvalidArgument(
        fmt::format("the components of {} have {:.1f} % of the trace: negative eigenvalues make up for the rest, so it is not positive "
                    "semi-definite here and has no principal components; use a PSD kernel, or repair the matrix and give it as precomputed",
                    kernel.text(), 100 * s.explained));
  s.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  write_sentence(s);
}

}  // namespace

void write_sentence(KernelPcaSummary& s) {
  std::string how = "all eigenpairs by LAPACK";
  if (s.landmarks > 0) {
    how = fmt::format("low rank on {} landmarks, which leave out {:.2g} % of the variance", s.landmarks, 100 * s.trace_error);
  } else if (s.iterations > 0) {
    how = fmt::format("{}, {} products, residual {:.1e} of the largest eigenvalue", s.solver, s.iterations, s.residual);
  }
  s.sentence = fmt::format("{}: {} component{} of {} samples, {:.1f} % of the variance; {}", s.status, s.components,
                           s.components == 1 ? "" : "s", s.samples, 100 * s.explained, how);
}

KernelPcaModel KernelPcaModel::from_parts(Kernel kernel, Samples basis, Parts parts) {
  const Index m = basis.size();
  const Index k = parts.eigenvalues.size();
  const KernelPcaSums& sums = parts.sums;
  const bool sums_fit = sums.rows == 0 || (sums.factor.rows() == m && sums.factor.cols() == m && sums.sum.size() == m &&
                                           sums.squares.rows() == m && sums.squares.cols() == m);
  if (k == 0 || parts.weights.rows() != m || parts.weights.cols() != k || parts.offset.size() != k || parts.mean.size() != m || !sums_fit) {
    throw InvalidArgument(
        fmt::format("kernel PCA of {} basis points and {} components cannot have {} x {} weights, {} offsets and {} means", m, k,
                    parts.weights.rows(), parts.weights.cols(), parts.offset.size(), parts.mean.size()));
  }
  KernelPcaModel model(std::move(kernel), std::move(basis));
  model.weights_ = std::move(parts.weights);
  model.offset_ = std::move(parts.offset);
  model.mean_ = std::move(parts.mean);
  model.mean_square_ = parts.mean_square;
  model.values_ = std::move(parts.eigenvalues);
  model.output_ = parts.output;
  model.center_ = parts.center;
  model.sums_ = std::move(parts.sums);
  model.summary_ = std::move(parts.summary);
  return model;
}

// One column per component, and k(x, basis) g behind them where the mean is asked for.
Matrix KernelPcaModel::raw_scores(const Samples& X, bool with_mean, const Run& run) const {
  if (X.width() != basis_.width())
    throw InvalidArgument(fmt::format("X has {} columns, the model was fitted on {}", X.width(), basis_.width()));
  const Index k = values_.size();
  Matrix coef(basis_.size(), k + (with_mean ? 1 : 0));
  coef.leftCols(k) = weights_;
  if (with_mean) coef.col(k) = mean_;
  if (X.empty()) return Matrix(0, coef.cols());
  const Samples rows = as_given(kernel_, X, basis_);
  Matrix Z = gram_operator(kernel_, rows, basis_, {Precision::float64, Storage::streamed, run})->apply(coef);
  Z.leftCols(k).rowwise() -= offset_.transpose();
  return Z;
}

Matrix KernelPcaModel::scores(const Samples& X, const Run& run) const { return raw_scores(X, false, run); }

Matrix KernelPcaModel::transform(const Samples& X, const Run& run) const {
  Matrix Z = raw_scores(X, false, run);
  if (output_ == Output::unit_variance) {
    for (Index j = 0; j < Z.cols(); ++j) Z.col(j) *= unit_scale(values_[j], summary_.samples);
  }
  if (output_ != Output::whitened_map) return Z;
  require_memory(static_cast<std::size_t>(X.size()) * static_cast<std::size_t>(basis_.size()) * sizeof(double), run.memory,
                 fmt::format("the {} x {} whitened map", X.size(), basis_.size()), "transform fewer rows at a time");
  return Z * eigenvectors().transpose();
}

Vector KernelPcaModel::reconstruction_error(const Samples& X, const Run& run) const {
  if (kernel_.needs_given_gram())
    throw NotOffered(fmt::format("{}: the error needs k(x, x) of new objects, which is not among given kernel values", kernel_.text()));
  const Matrix Z = raw_scores(X, true, run);
  const Index k = values_.size();
  if (X.empty()) return Vector(0);
  Vector error = gram_diagonal(kernel_, X) - 2 * Z.col(k) - Z.leftCols(k).rowwise().squaredNorm();
  error.array() += mean_square_;
  return error.cwiseMax(0);
}

Matrix KernelPcaModel::expansion(const Matrix& scores) const {
  if (scores.cols() != n_targets())
    throw InvalidArgument(fmt::format("scores have {} columns, the model gives {}", scores.cols(), n_targets()));
  Matrix Z = output_ == Output::whitened_map ? Matrix(scores * eigenvectors()) : scores;
  if (output_ == Output::unit_variance) {
    for (Index j = 0; j < Z.cols(); ++j) {
      const double scale = unit_scale(values_[j], summary_.samples);
      Z.col(j) *= scale > 0 ? 1 / scale : 0;
    }
  }
  Matrix out = Z * weights_.transpose();
  out.rowwise() += mean_.transpose();
  return out;
}

Matrix KernelPcaModel::eigenvectors() const {
  if (is_low_rank())
    throw NotOffered(
        "the low-rank form keeps no eigenvectors of the Gram matrix: the scores of the samples, divided by the roots of the "
        "eigenvalues, stand for them");
  return weights_ * values_.cwiseSqrt().asDiagonal();
}

Vector KernelPcaModel::explained_variance() const { return values_ / static_cast<double>(std::max<Index>(summary_.samples - 1, 1)); }

Vector KernelPcaModel::explained_variance_ratio() const {
  return summary_.trace > 0 ? Vector(values_ / summary_.trace) : Vector(Vector::Zero(values_.size()));
}

KernelPcaModel fit_kernel_pca(const Samples& rows, const KernelPcaOptions& o) {
  const auto start = Clock::now();
  if (rows.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  require_options(o);
  require_finite(rows, "X");
  const Samples X = as_given(o.kernel, rows);
  const Index n = X.size();
  Kernel kernel = o.kernel;
  KernelPcaModel::Parts parts;
  Samples basis = X;
  with_run(o.run, [&] {
    kernel = resolve(o.kernel, X);
    const Solver solver = chosen_solver(o, n);
    const Index components = o.n_components == 0 ? n : std::min(o.n_components, n);
    if (solver == Solver::low_rank) {
      if (kernel.psd() == Verdict::no)
        throw InvalidArgument(
            fmt::format("{} is not positive semi-definite: landmarks cannot stand for it; use a PSD kernel", kernel.text()));
      LowRankStart begun = low_rank_start(kernel, X, o.n_components, o);
      basis = begun.landmarks;
      add_rows(kernel, basis, X, begun.sums, o.run);
      parts = low_rank_parts(std::move(begun.sums), components, o.center, o.remove_zero || o.n_components == 0, o.run);
    } else {
      parts = exact_kernel_pca(kernel, X, components, solver, o);
    }
  });
  parts.output = o.output;
  finish(parts, kernel, n, start);
  return KernelPcaModel::from_parts(std::move(kernel), basis.without_values(), std::move(parts));
}

KernelPcaModel extend_kernel_pca(const KernelPcaModel& model, const Samples& X, const Run& run) {
  const auto start = Clock::now();
  if (!model.is_low_rank())
    throw NotOffered("only the low-rank form grows with new rows: fit with the low-rank solver, or fit again on all rows");
  if (model.kernel().needs_given_gram())
    throw NotOffered("a model of a given Gram matrix cannot grow: new objects have no kernel values among themselves");
  if (X.width() != model.basis().width())
    throw InvalidArgument(fmt::format("X has {} columns, the model was fitted on {}", X.width(), model.basis().width()));
  require_finite(X, "X");
  if (X.empty()) return model;
  KernelPcaModel::Parts parts;
  with_run(run, [&] {
    KernelPcaSums sums = model.sums();
    add_rows(model.kernel(), model.basis(), X, sums, run);
    parts = low_rank_parts(std::move(sums), model.n_components(), model.centered(), false, run);
  });
  parts.output = model.output();
  finish(parts, model.kernel(), parts.sums.rows, start);
  return KernelPcaModel::from_parts(model.kernel(), model.basis(), std::move(parts));
}

}  // namespace mercer
