// Ridge regression and ordinary least squares by singular values.
//
// Notation: Z = S (X - 1 m') with S = diag(sqrt w) and m the weighted column means (zero without intercept), Z = U diag(s) V',
// w = V diag(s / (s^2 + a)) U' S (y - mean y).  Source K equations 9 to 12 (slips S13: the condition number is that of [X; sqrt(n lambda)
// I]). SPDX-License-Identifier: BSD-3-Clause
#include "mercer/ridge.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "linalg/lapack.hpp"
#include "mercer/error.hpp"
#include "models/weights.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;

std::size_t monomial_count(Index width, int degree) {
  double count = 1;  // binomial(width + degree, degree), the constant included
  for (int k = 1; k <= degree; ++k) count = count * static_cast<double>(width + k) / k;
  return static_cast<std::size_t>(std::min(count + 0.5, 1e15)) - 1;  // more columns than any machine holds: the budget refuses them
}

Matrix expand(const Samples& X, int degree, std::size_t budget) {
  const std::size_t columns = monomial_count(X.width(), degree);
  // Three of this size: the design, and the factors and workspace of its SVD.
  const double bytes = 3 * 8 * static_cast<double>(X.size()) * static_cast<double>(columns);
  require_memory(static_cast<std::size_t>(std::min(bytes, 1e18)), budget,
                 fmt::format("ridge regression on {} rows and {} columns", X.size(), columns),
                 "use fewer columns, a lower degree, or kernel ridge with a linear kernel");
  return degree == 1 ? X.to_dense() : monomials(X.to_dense(), degree);
}

void summarise(RidgeSummary& summary, const Vector& s, double alpha, Index n, Index p, Clock::time_point start) {
  const double largest = s.size() > 0 ? s[0] : 0;
  const double cut = largest * std::numeric_limits<double>::epsilon() * static_cast<double>(std::max(n, p));
  summary.singular_values = s;
  summary.rank = (s.array() > cut).count();
  summary.filter = s.unaryExpr([&](double v) { return v > cut || alpha > 0 ? v / (v * v + alpha) : 0.0; });
  summary.degrees_of_freedom = (s.array() * summary.filter.array()).sum();
  const double smallest = s.size() == p && s.size() > 0 ? s[s.size() - 1] : 0;  // fewer rows than columns: some directions have none
  summary.condition_before = smallest > cut ? largest / smallest : std::numeric_limits<double>::infinity();
  summary.condition_after = std::sqrt((largest * largest + alpha) / (smallest * smallest + alpha));
  if (alpha == 0) summary.condition_after = summary.condition_before;
  summary.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  summary.sentence =
      fmt::format("solved: SVD of {} x {}, rank {}, {:.4g} degrees of freedom, condition number {:.3g} before and {:.3g} after, {:.2f} s",
                  n, p, summary.rank, summary.degrees_of_freedom, summary.condition_before, summary.condition_after, summary.seconds);
}

}  // namespace

Matrix monomials(const MatrixRef& X, int degree) {
  if (degree < 1) throw InvalidArgument(fmt::format("degree must be a whole number >= 1, got {}", degree));
  Matrix out(X.rows(), static_cast<Index>(monomial_count(X.cols(), degree)));
  // The monomials of degree k are those of degree k - 1 times a column not before their last one, so each is made by one product.
  std::vector<Index> first;  // where the monomials of the previous degree whose first variable is j begin
  Index at = 0;
  for (Index j = 0; j < X.cols(); ++j, ++at) {
    out.col(at) = X.col(j);
    first.push_back(at);
  }
  for (int k = 2; k <= degree; ++k) {
    const Index end = at;
    for (Index j = 0; j < X.cols(); ++j) {
      const Index begin = at;
      for (Index c = first[static_cast<std::size_t>(j)]; c < end; ++c, ++at) out.col(at) = out.col(c).cwiseProduct(X.col(j));
      first[static_cast<std::size_t>(j)] = begin;
    }
  }
  return out;
}

RidgeModel RidgeModel::from_parts(Matrix coef, Vector intercept, int degree, Index n_features, RidgeSummary summary) {
  if (degree < 1 || degree > 100 || n_features < 1 || intercept.size() != coef.rows() ||
      static_cast<std::size_t>(coef.cols()) != monomial_count(n_features, degree)) {
    throw InvalidArgument(fmt::format("a ridge model of {} features and degree {} cannot have {} x {} coefficients", n_features, degree,
                                      coef.rows(), coef.cols()));
  }
  RidgeModel model;
  model.coef_ = std::move(coef);
  model.intercept_ = std::move(intercept);
  model.degree_ = degree;
  model.n_features_ = n_features;
  model.summary_ = std::move(summary);
  return model;
}

Matrix RidgeModel::predict(const Samples& X) const {
  if (X.width() != n_features_) throw InvalidArgument(fmt::format("X has {} columns, the model was fitted on {}", X.width(), n_features_));
  require_finite(X, "X");
  Matrix out(X.size(), coef_.rows());
  X.for_each_chunk(4096, [&](const Samples& chunk, Index first) {
    const Matrix features = degree_ == 1 ? chunk.to_dense() : monomials(chunk.to_dense(), degree_);
    out.middleRows(first, chunk.size()) = (features * coef_.transpose()).rowwise() + intercept_.transpose();
  });
  return out;
}

RidgeModel fit_ridge(const Samples& X, const MatrixRef& Y, const RidgeOptions& options) {
  const auto start = Clock::now();
  require_matching(X, Y);
  require_finite(X, "X");
  if (X.width() == 0) throw InvalidArgument("the samples have no columns: X must have at least one column");
  if (options.degree < 1 || options.degree > 100)
    throw InvalidArgument(fmt::format("degree must be a whole number from 1 to 100, got {}", options.degree));
  const Vector alpha = penalties(options.alpha, options.alpha_per_target, options.lambda, X.size(), Y.cols());
  const Vector s = root_weights(options.sample_weight, X.size());
  const double total = s.squaredNorm();
  Matrix Z = expand(X, options.degree, options.run.memory);
  require_finite(MatrixRef(Z), options.degree == 1 ? "X" : "the polynomial expansion of X (scale the columns)");

  Vector x_mean = Vector::Zero(Z.cols());
  Vector y_mean = Vector::Zero(Y.cols());
  if (options.fit_intercept) {
    const Vector w = s.cwiseAbs2() / total;
    x_mean = Z.transpose() * w;
    y_mean = Y.transpose() * w;
    Z.rowwise() -= x_mean.transpose();
  }
  Z = s.asDiagonal() * Z;
  const Matrix target = s.asDiagonal() * (Y.rowwise() - y_mean.transpose());

  const Index n = Z.rows();
  const Index p = Z.cols();
  linalg::ThinSvd svd;
  with_run(options.run, [&] { svd = linalg::thin_svd(std::move(Z), options.run.progress, options.run.memory); });
  const Matrix projected = svd.u.transpose() * target;
  RidgeSummary summary;
  Matrix coef(Y.cols(), p);
  for (Index t = Y.cols() - 1; t >= 0; --t) {  // the first target's summary stays
    summarise(summary, svd.singular_values, alpha[t], n, p, start);
    coef.row(t) = (svd.vt.transpose() * summary.filter.cwiseProduct(projected.col(t))).transpose();
  }
  Vector intercept = y_mean - coef * x_mean;
  return RidgeModel::from_parts(std::move(coef), std::move(intercept), options.degree, X.width(), std::move(summary));
}

}  // namespace mercer
