// Gaussian process regression: what a fitted model tells.
//
// Notation: A = K + N = L L', a = A^-1 y. At new rows Z: mean K_ZX a, covariance K_ZZ - V V', V = K_ZX L^-T, a block of rows at a time.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/gaussian_process.hpp"

#include <fmt/format.h>

#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "gram/fill.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "models/gp_factor.hpp"
#include "models/gp_likelihood.hpp"

namespace mercer {

namespace {

Vector whole(const Vector& noise, Index n) { return noise.size() == 1 ? Vector(Vector::Constant(n, noise[0])) : noise; }

// New rows as the kernel takes them, none of them taken for a training sample.
Samples new_rows(const GaussianProcessModel& model, const Samples& X) {
  if (X.width() != model.samples().width())
    throw InvalidArgument(fmt::format("X has {} columns, the model was fitted on {}", X.width(), model.samples().width()));
  return as_new(model.kernel(), as_given(model.kernel(), X, model.samples()), model.samples());
}

void require_self_values(const GaussianProcessModel& model) {
  if (model.samples().is_given())
    throw InvalidArgument("variances need k(x,x) of new objects, which rows of a given Gram matrix do not tell: ask for the mean alone");
}

// Calls visit(I, rows) with the rows K(Z_I, X), n numbers each, block by block and in parallel.
void for_row_blocks(const GaussianProcessModel& model, const Samples& Z, const Run& run, const char* what,
                    const std::function<void(Range, Matrix&)>& visit) {
  const PreparedKernel<double> kernel(model.kernel(), Z, model.samples());
  const Index n = kernel.cols();
  Stage stage(run.progress, what, static_cast<double>(block_count(Z.size())));
  parallel_for(block_count(Z.size()), [&](Index block) {
    const Range I = block_range(block, Z.size());
    Matrix rows(I.count, n);
    for (Index b = 0; b < block_count(n); ++b) {
      const Range J = block_range(b, n);
      kernel.tile(I, J, {rows.data() + J.begin, I.count, J.count, n});
      stage.check();
    }
    visit(I, rows);
    stage.advance(1);
  });
}

// C = F F' with the least of 1e-14, 1e-13, ... of the mean variance on the diagonal that makes it possible: covariances are singular to
// rounding where the process is known, or rows repeat.
linalg::SymmetricTiles<double> root_of(const Matrix& C, const ProgressCallback& progress) {
  const Index m = C.rows();
  const double typical = std::max(C.diagonal().mean(), 0.0);
  for (double share = 0; share < 1e-3; share = share == 0 ? 1e-14 : 10 * share) {
    linalg::SymmetricTiles<double> L(m);
    for (Index i = 0; i < m; ++i) {
      for (Index j = 0; j <= i; ++j)
        L.tile(i / linalg::cholesky_tile, j / linalg::cholesky_tile)[i % linalg::cholesky_tile * L.stride() + j % linalg::cholesky_tile] =
            C(i, j);
    }
    L.add_to_diagonal(share * typical + (typical == 0 ? 1e-300 : 0));
    if (linalg::cholesky(L, progress) < 0) return L;
  }
  throw InvalidArgument(
      "the covariance at these rows is not positive semi-definite: the kernel is none (check_kernel), or the noise is too small");
}

}  // namespace

const linalg::SymmetricTiles<double>& GaussianProcessModel::Factor::of(const GaussianProcessModel& model, const Run& run) const {
  std::call_once(once_, [&] {
    if (tiles_) return;
    const Index n = model.samples().size();
    require_memory(linalg::SymmetricTiles<double>::bytes(n), run.memory, fmt::format("the Cholesky factor of {} samples", n),
                   "use fewer samples, or raise the memory budget");
    const Vector noise = whole(model.noise(), n);
    FactoredCovariance f = factored(model.kernel(), model.samples(), noise, Matrix::Zero(n, 1), run.progress);
    if (f.failed >= 0) throw_not_positive(model.kernel(), model.samples(), noise, f.failed);
    tiles_.emplace(std::move(f.L));
  });
  return *tiles_;
}

GaussianProcessModel GaussianProcessModel::from_parts(Kernel kernel, Samples samples, Matrix dual_coef, Vector noise, Vector target_mean,
                                                      Vector target_scale, GaussianProcessSummary summary,
                                                      std::shared_ptr<const Factor> factor, std::optional<double> new_noise) {
  const Index targets = dual_coef.cols();
  if (dual_coef.rows() != samples.size() || targets == 0 || target_mean.size() != targets || target_scale.size() != targets)
    throw InvalidArgument(fmt::format("a Gaussian process of {} samples and {} targets cannot have {} x {} coefficients", samples.size(),
                                      target_mean.size(), dual_coef.rows(), targets));
  if (noise.size() != 1 && noise.size() != samples.size())
    throw InvalidArgument(fmt::format("{} noise variances for {} samples: give one, or one each", noise.size(), samples.size()));
  if (!(noise.array() >= 0).all() || !noise.allFinite()) throw InvalidArgument("noise variances must be finite and >= 0");
  if (new_noise && !(*new_noise >= 0 && std::isfinite(*new_noise)))
    throw InvalidArgument(fmt::format("the noise of new observations must be finite and >= 0, got {}", *new_noise));
  GaussianProcessModel model(std::move(kernel), std::move(samples));
  model.dual_coef_ = std::move(dual_coef);
  model.new_noise_ = new_noise.value_or(noise.mean());
  model.noise_ = std::move(noise);
  model.target_mean_ = std::move(target_mean);
  model.target_scale_ = std::move(target_scale);
  model.summary_ = std::move(summary);
  model.factor_ = factor != nullptr ? std::move(factor) : std::make_shared<const Factor>();
  return model;
}

Matrix GaussianProcessModel::predict(const Samples& X, const Run& run) const {
  if (X.empty()) return Matrix(0, n_targets());
  Matrix mean = gram_operator(kernel_, new_rows(*this, X), samples_, {Precision::float64, Storage::streamed, run})->apply(dual_coef_);
  mean = mean * target_scale_.asDiagonal();
  mean.rowwise() += target_mean_.transpose();
  return mean;
}

GaussianPrediction GaussianProcessModel::predict_with_variance(const Samples& X, const Run& run) const {
  GaussianPrediction out{Matrix(X.size(), n_targets()), Matrix(X.size(), n_targets())};
  if (X.empty()) return out;
  require_self_values(*this);
  const Samples Z = new_rows(*this, X);
  with_run(run, [&] {
    const linalg::SymmetricTiles<double>& L = factor_->of(*this, run);
    const Vector prior = gram_diagonal(kernel_, Z);
    for_row_blocks(*this, Z, run, "Variances", [&](Range I, Matrix& rows) {
      out.mean.middleRows(I.begin, I.count) = rows * dual_coef_;
      linalg::half_solve_rows(L, rows.data(), I.count, rows.cols());
      const Vector variance = (prior.segment(I.begin, I.count) - rows.rowwise().squaredNorm()).cwiseMax(0.0);
      out.variance.middleRows(I.begin, I.count) = variance * target_scale_.cwiseAbs2().transpose();
    });
  });
  out.mean = out.mean * target_scale_.asDiagonal();
  out.mean.rowwise() += target_mean_.transpose();
  return out;
}

std::vector<Matrix> GaussianProcessModel::covariance(const Samples& X, const Run& run) const {
  if (X.empty()) return std::vector<Matrix>(static_cast<std::size_t>(n_targets()), Matrix(0, 0));
  require_self_values(*this);
  const Samples Z = new_rows(*this, X);
  const Index m = Z.size();
  const Index n = samples_.size();
  const auto numbers = static_cast<std::size_t>(m) * static_cast<std::size_t>(n + m * (1 + n_targets()));
  require_memory(numbers * sizeof(double), run.memory, fmt::format("the covariance of {} rows under {} samples", m, n),
                 "ask for variances alone, or for fewer rows at a time");
  Matrix C;
  with_run(run, [&] {
    const linalg::SymmetricTiles<double>& L = factor_->of(*this, run);
    Matrix V(m, n);
    for_row_blocks(*this, Z, run, "Covariances", [&](Range I, Matrix& rows) {
      linalg::half_solve_rows(L, rows.data(), I.count, n);
      V.middleRows(I.begin, I.count) = rows;
    });
    C = gram(kernel_, Z, {.precision = Precision::float64, .run = run});
    const Index blocks = block_count(m);
    parallel_for(upper_count(blocks), [&](Index number) {
      const BlockPair pair = upper_pair(number, blocks);
      const Range I = block_range(pair.row, m);
      const Range J = block_range(pair.col, m);
      const Matrix known = V.middleRows(I.begin, I.count) * V.middleRows(J.begin, J.count).transpose();
      C.block(I.begin, J.begin, I.count, J.count) -= known;
      if (pair.row != pair.col) C.block(J.begin, I.begin, J.count, I.count) -= known.transpose();
    });
  });
  C = 0.5 * (C + C.transpose()).eval();
  C.diagonal() = C.diagonal().cwiseMax(0.0);
  std::vector<Matrix> out;
  for (Index t = 0; t < n_targets(); ++t) out.emplace_back(target_scale_[t] * target_scale_[t] * C);
  return out;
}

std::vector<Matrix> GaussianProcessModel::sample(const Samples& X, Index draws, std::uint64_t seed, const Run& run) const {
  if (draws < 0) throw InvalidArgument(fmt::format("the number of draws must be >= 0, got {}", draws));
  if (X.empty()) return std::vector<Matrix>(static_cast<std::size_t>(n_targets()), Matrix(0, draws));
  const Matrix mean = predict(X, run);
  std::vector<Matrix> out = covariance(X, run);
  with_run(run, [&] {
    for (Index t = 0; t < n_targets(); ++t) {
      const linalg::SymmetricTiles<double> L = root_of(out[static_cast<std::size_t>(t)], run.progress);
      const Matrix normal = RandomStream(seed, static_cast<std::uint64_t>(t)).normal_matrix(draws, X.size());
      Matrix values = linalg::lower_multiply(L, normal.transpose());
      values.colwise() += mean.col(t);
      out[static_cast<std::size_t>(t)] = std::move(values);
    }
  });
  return out;
}

IntervalPrediction GaussianProcessModel::predict_interval(const Samples& X, double level, const Run& run) const {
  if (!(level > 0 && level < 1)) throw InvalidArgument(fmt::format("the level of an interval must lie between 0 and 1, got {}", level));
  GaussianPrediction at = predict_with_variance(X, run);
  const double z = boost::math::quantile(boost::math::normal(), 0.5 + level / 2);
  const Vector added = new_noise_ * target_scale_.cwiseAbs2();
  const Matrix half = z * (at.variance.rowwise() + added.transpose()).cwiseSqrt();
  Matrix lower = at.mean - half;
  Matrix upper = at.mean + half;
  return {std::move(at.mean), std::move(lower), std::move(upper)};
}

Matrix GaussianProcessModel::factor(const Run& run) const {
  const linalg::SymmetricTiles<double>& L = factor_->of(*this, run);
  Matrix out = Matrix::Zero(L.size(), L.size());
  for (Index i = 0; i < L.size(); ++i) {
    for (Index j = 0; j <= i; ++j)
      out(i, j) =
          L.tile(i / linalg::cholesky_tile, j / linalg::cholesky_tile)[i % linalg::cholesky_tile * L.stride() + j % linalg::cholesky_tile];
  }
  return out;
}

}  // namespace mercer
