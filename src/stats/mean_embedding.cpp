// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/mean_embedding.hpp"

#include <fmt/format.h>

#include <cmath>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "stats/sample_weights.hpp"

namespace mercer {

namespace stats {

Vector shares_of(const Vector& weights, Index rows, const char* name) {
  if (weights.size() == 0) return Vector::Constant(rows, 1 / static_cast<double>(rows));
  if (weights.size() != rows)
    throw InvalidArgument(fmt::format("{} has {} numbers for {} rows; give one for each", name, weights.size(), rows));
  for (Index i = 0; i < rows; ++i) {
    if (!(std::isfinite(weights[i]) && weights[i] >= 0))
      throw InvalidArgument(fmt::format("{} must be finite and >= 0, got {} for row {}", name, weights[i], i));
  }
  const double largest = weights.maxCoeff();
  if (!(largest > 0)) throw InvalidArgument(fmt::format("{} must not all be 0", name));
  const Vector scaled = weights / largest;  // first, so that a sum of huge weights is finite
  return scaled / scaled.sum();
}

}  // namespace stats

RkhsFunction mean_embedding(const Samples& X, const MeanEmbeddingOptions& options) {
  if (X.empty()) throw InvalidArgument("a mean embedding needs at least one row, got none");
  return {options.kernel, X, stats::shares_of(options.weights, X.size(), "weights")};
}

double expectation(const RkhsFunction& f, const Samples& X, const Vector& weights, const Run& run) {
  if (X.empty()) throw InvalidArgument("an expectation over a sample needs at least one row, got none");
  const Vector shares = stats::shares_of(weights, X.size(), "weights");
  require_finite(X, "X");
  return shares.dot(f(X, run));
}

EmbeddingBound embedding_bound(const RkhsFunction& embedding, double delta, double kappa) {
  if (!(delta > 0 && delta < 1)) throw InvalidArgument(fmt::format("delta must be between 0 and 1, got {}", delta));
  if (!(kappa >= 0 && std::isfinite(kappa))) throw InvalidArgument(fmt::format("kappa must be a finite number > 0, got {}", kappa));
  const Vector& w = embedding.coefficients();
  if (w.minCoeff() < 0 || std::abs(w.sum() - 1) > 1e-9)
    throw InvalidArgument(
        fmt::format("the bound is for mean embeddings, whose coefficients are >= 0 with sum 1; these go from {:g} with sum {:g}",
                    w.minCoeff(), w.sum()));
  const Kernel& kernel = embedding.kernel();
  if (kernel.psd() == Verdict::no)
    throw InvalidArgument(fmt::format("the bound is one of a norm, and {} is not positive semi-definite: there is no norm", kernel.text()));
  const Vector diagonal = gram_diagonal(kernel, embedding.samples());
  EmbeddingBound b;
  b.delta = delta;
  b.rows = 1 / w.squaredNorm();
  b.mean_root = w.dot(diagonal.cwiseMax(0).cwiseSqrt());
  const double largest = diagonal.maxCoeff();
  if (kappa > 0 && largest > kappa * (1 + 1e-9))
    throw InvalidArgument(fmt::format("kappa must be at least every k(x, x), got {:g}, but a row has {:g}", kappa, largest));
  b.kappa = kappa > 0 ? kappa : largest;
  b.kappa_known = kappa > 0 || kernel.is_shift_invariant() == Verdict::yes;
  b.bound = std::sqrt(b.kappa / b.rows) * (1 + std::sqrt(2 * std::log(1 / delta)));
  b.sentence =
      fmt::format("with probability {:g}, the embedding of these {:.6g} rows is within {:.4g} of the distribution's (kappa = {:.4g}{})",
                  1 - delta, b.rows, b.bound, b.kappa,
                  b.kappa_known                        ? ""
                  : kernel.is_bounded() == Verdict::no ? ", the largest k(x, x) seen: the kernel has no bound, so this is a rough guide"
                                                       : ", the largest k(x, x) seen");
  return b;
}

}  // namespace mercer
