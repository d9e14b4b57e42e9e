// Kernel PCA on the whole centred Gram matrix: all eigenpairs by LAPACK, or the top ones by block Krylov.
//
// Mixed precision: above some thousand samples the Gram matrix is kept in float32, half of it, and the basis is built on that. The Ritz
// vectors then begin a second block Krylov on float64 tiles that are made anew: its first product gives eigenvalues good to the square of
// the vectors' error, true residuals and the row means; it goes on only where those residuals are above the tolerance.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "gram/fill.hpp"
#include "linalg/lapack.hpp"
#include "linalg/symmetric_product.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "models/kernel_pca_parts.hpp"
#include "solvers/block_krylov.hpp"

namespace mercer {

namespace {

constexpr Index float64_limit = 5000;  // up to here the stored Gram matrix is float64 and needs no second look
constexpr double float32_tolerance = 1e-5;
constexpr double float64_tolerance = 1e-10;
constexpr double not_psd = 1e-5;  // scikit-learn's bound on how negative an eigenvalue may be

struct Spectrum {
  Vector values;   // descending
  Matrix vectors;  // n x k
  Vector row_means;
  double trace = 0;
};

void require_psd(double smallest, double largest, const Kernel& kernel) {
  if (smallest >= -not_psd * std::max(largest, 0.0) || smallest >= -1e-10) return;
  if (kernel.psd() == Verdict::yes)
    throw InvalidArgument(fmt::format(
        "the centred Gram matrix of {} has eigenvalues from {:.3g} to {:.3g}: its entries are so much larger than what rows differ "
        "by that rounding hides it; centre the columns first (subtract their means), or scale them",
        kernel.text(), smallest, largest));
  throw InvalidArgument(
      fmt::format("the centred Gram matrix of {} has eigenvalues from {:.3g} to {:.3g}: it is not positive semi-definite and has no "
                  "principal components; use a PSD kernel, or repair the matrix (clip its negative eigenvalues) and give it as precomputed",
                  kernel.text(), smallest, largest));
}

double centred_trace(double diagonal, const Vector& row_means, bool center) { return center ? diagonal - row_means.sum() : diagonal; }

Spectrum dense(const Kernel& kernel, const Samples& X, Index k, const KernelPcaOptions& o, KernelPcaSummary& s) {
  const auto n = static_cast<std::size_t>(X.size());
  s.bytes = 3 * n * n * sizeof(double);
  require_memory(s.bytes, o.run.memory, fmt::format("all eigenpairs of the {} x {} Gram matrix", n, n),
                 "ask for few components (the Krylov solver then keeps less), use the low-rank solver, or raise the memory budget");
  Matrix K = gram(kernel, X, {.precision = Precision::float64, .run = o.run});
  Spectrum out;
  out.row_means = K.rowwise().mean();
  out.trace = centred_trace(K.trace(), out.row_means, o.center);
  if (o.center) {
    const double mean = out.row_means.mean();
    parallel_for(K.rows(), [&](Index i) {
      for (Index j = 0; j < K.cols(); ++j) K(i, j) += mean - (out.row_means[i] + out.row_means[j]);
    });
  }
  const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(std::move(K), o.run.progress, o.run.memory);
  require_psd(eigen.values[0], eigen.values[eigen.values.size() - 1], kernel);
  out.values = eigen.values.reverse().head(k);
  out.vectors = eigen.vectors.colwise().reverse().topRows(k).transpose();
  return out;
}

Matrix centre(Matrix V, bool center) {
  if (center) V.rowwise() -= V.colwise().mean().eval();
  return V;
}

// H K H V, and on the first call the sums of K's rows too, in the same product.
BlockFunctionOf centred_product(const BlockFunctionOf& apply, bool center, Vector* row_sums) {
  return [=](const Matrix& V) {
    if (row_sums == nullptr || row_sums->size() > 0) return centre(apply(centre(V, center)), center);
    Matrix with_ones(V.rows(), V.cols() + 1);
    with_ones << centre(V, center), Vector::Ones(V.rows());
    const Matrix W = apply(with_ones);
    *row_sums = W.col(V.cols());
    return centre(W.leftCols(V.cols()), center);
  };
}

// Products with K in T: with the lower half of it where that fits the budget, else with tiles made anew.
template <class T>
BlockFunctionOf products(const Kernel& kernel, const Samples& X, const KernelPcaOptions& o, KernelPcaSummary& s, bool& stored) {
  const std::size_t bytes = linalg::SymmetricTiles<T>::bytes(X.size());
  stored = bytes <= memory_budget(o.run.memory);
  if (!stored) {
    const Operator op = gram_operator(kernel, X, {precision_of<T>, Storage::streamed, o.run});
    return [op](const Matrix& V) { return op->apply(V); };
  }
  s.bytes = std::max(s.bytes, bytes);
  const auto tiles = std::make_shared<linalg::SymmetricTiles<T>>(X.size());
  fill_lower(PreparedKernel<T>(kernel, X, X), Vector(), *tiles, o.run.progress);
  return [tiles](const Matrix& V) { return linalg::symmetric_product(*tiles, V); };
}

Spectrum krylov(const Kernel& kernel, const Samples& X, Index k, const KernelPcaOptions& o, KernelPcaSummary& s) {
  const Index n = X.size();
  const Vector diagonal = gram_diagonal(kernel, X);
  const double largest = diagonal.cwiseAbs().maxCoeff();
  const bool mixed = n > float64_limit && largest < 1e30 && largest > 1e-25;  // what float32 can hold
  const double tolerance = o.tolerance > 0 ? o.tolerance : mixed ? float32_tolerance : float64_tolerance;
  BlockKrylovOptions search{.pairs = k,
                            .tolerance = tolerance,
                            .max_products = o.max_iterations > 0 ? o.max_iterations : 200,
                            .seed = o.seed,
                            .progress = o.run.progress};
  Vector row_sums;
  BlockKrylovResult found;
  bool stored = false;
  if (mixed) {
    // Below some 1e-7 of the largest eigenvalue a float32 matrix is another matrix.
    search.tolerance = std::max(0.1 * tolerance, 2e-7);
    const BlockFunctionOf rough = products<float>(kernel, X, o, s, stored);
    found = block_krylov(n, centred_product(rough, o.center, nullptr), search);
    s.iterations = found.products;
    search.tolerance = tolerance;
    search.start = std::move(found.subspace);
    search.max_products = std::max<Index>(1, search.max_products - found.products);
    const Operator exact = gram_operator(kernel, X, {Precision::float64, Storage::streamed, o.run});
    found = block_krylov(n, centred_product([&](const Matrix& V) { return exact->apply(V); }, o.center, &row_sums), search);
  } else {
    found = block_krylov(n, centred_product(products<double>(kernel, X, o, s, stored), o.center, &row_sums), search);
  }
  s.iterations += found.products;
  s.status = found.converged ? "converged" : "iteration limit";
  s.residual = found.values[0] > 0 ? found.residuals.maxCoeff() / found.values[0] : 0;
  s.solver = fmt::format("block Krylov on a {} Gram matrix", stored ? (mixed ? "stored float32" : "stored float64") : "streamed");
  require_psd(found.values.minCoeff(), found.values[0], kernel);
  const Vector row_means = row_sums / static_cast<double>(n);
  const double trace = centred_trace(diagonal.sum(), row_means, o.center);
  return {std::move(found.values), std::move(found.vectors), row_means, trace};
}

}  // namespace

void fix_signs(Matrix& vectors) {
  for (Index j = 0; j < vectors.cols(); ++j) {
    Index largest = 0;
    vectors.col(j).cwiseAbs().maxCoeff(&largest);
    if (vectors.rows() > 0 && vectors(largest, j) < 0) vectors.col(j) *= -1;
  }
}

KernelPcaModel::Parts exact_kernel_pca(const Kernel& kernel, const Samples& X, Index components, KernelPcaSolver solver,
                                       const KernelPcaOptions& o) {
  KernelPcaModel::Parts parts;
  KernelPcaSummary& s = parts.summary;
  s.solver = "dense";
  s.status = "converged";
  Spectrum found = solver == KernelPcaSolver::dense ? dense(kernel, X, components, o, s) : krylov(kernel, X, components, o, s);
  const double n = static_cast<double>(X.size());
  fix_signs(found.vectors);
  Index kept = found.values.size();
  for (double& value : found.values) value = value > zero_eigenvalue * found.values[0] ? value : 0;
  if (o.remove_zero || o.n_components == 0) kept = std::max<Index>(1, (found.values.array() > 0).count());
  parts.eigenvalues = found.values.head(kept);
  parts.weights = found.vectors.leftCols(kept);
  for (Index j = 0; j < kept; ++j) {
    const double value = parts.eigenvalues[j];
    parts.weights.col(j) *= value > 0 ? 1 / std::sqrt(value) : 0;
  }
  parts.center = o.center;
  parts.mean = Vector::Constant(X.size(), o.center ? 1 / n : 0);
  parts.mean_square = o.center ? found.row_means.mean() : 0;
  parts.offset = o.center ? Vector(parts.weights.transpose() * found.row_means) : Vector(Vector::Zero(kept));
  s.trace = found.trace;
  return parts;
}

}  // namespace mercer
