// Whether a matrix is a Gram matrix, with the evidence: symmetry, spectrum, diagonal, Cauchy-Schwarz, rank, and what it is good for.
//
// Method: one pass over pairs of tiles for what entries show, all eigenpairs (dsyevd) for the rest. References: source D 2.4, eq. (7);
// source L (Cauchy-Schwarz); Cristianini and others 2001 (alignment), Cortes and others 2012 (its centred form). Cost: 9 n^3 flops about.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gram/pairs.hpp"
#include "gram/rows.hpp"
#include "kernels/node.hpp"
#include "linalg/lapack.hpp"
#include "mercer/diagnosis.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"

namespace mercer {

namespace {

double epsilon_of(Precision precision) {
  return precision == Precision::float32 ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                         : std::numeric_limits<double>::epsilon();
}

void require_usable(const MatrixRef& K, const GramCheckOptions& options) {
  if (K.rows() != K.cols() || K.rows() == 0)
    throw InvalidArgument(fmt::format("a Gram matrix is square and not empty, got {} x {}", K.rows(), K.cols()));
  if (options.alpha && !(*options.alpha > 0 && std::isfinite(*options.alpha)))
    throw InvalidArgument(fmt::format(
        "alpha must be a finite number > 0 for the effective dimension, got {}; towards 0 it becomes the rank", *options.alpha));
  if (options.y.size() != 0 && options.y.size() != K.rows())
    throw InvalidArgument(fmt::format("y has {} values for a matrix of {} rows; give one for each row", options.y.size(), K.rows()));
  require_finite(K, "the Gram matrix");
  require_finite(options.y, "y");
}

void check_symmetry(const MatrixRef& K, double epsilon, const ProgressCallback& progress, GramCheck& check) {
  for_each_pair(K.rows(), progress, "symmetry", [&](Index i, Index j) {
    const double apart = std::abs(K(i, j) - K(j, i));
    if (apart <= check.asymmetry) return;
    check.asymmetry = apart;
    check.asymmetry_row = i;
    check.asymmetry_col = j;
  });
  // Entries that came out of products, as those of HKH do, are sums of n terms in two orders.
  const auto terms = static_cast<double>(std::max<Index>(4, K.rows()));
  check.symmetric = check.asymmetry <= terms * epsilon * K.cwiseAbs().maxCoeff();
}

// What the diagonal and the pairs show, within the tolerance t: K_ij^2 > (K_ii + t)(K_jj + t) makes a 2 x 2 minor of K + t I negative.
void check_entries(const MatrixRef& K, const ProgressCallback& progress, GramCheck& check) {
  const Index n = K.rows();
  const double t = check.tolerance;
  const Vector d = K.diagonal();
  const Vector root = (d.array() + t).max(0).sqrt();
  check.smallest_diagonal = d.minCoeff();
  for (Index i = 0; i < n; ++i) {
    if (d[i] < 0) check.negative_diagonal.push_back(i);
  }
  double worst = 0;
  Vector worst_of_row = Vector::Zero(n);
  std::vector<Index> partner(static_cast<std::size_t>(n), -1);
  const auto entry = [&](Index i, Index j) { return K(i, j) / 2 + K(j, i) / 2; };
  const auto pair_of = [&](Index i, Index j) { return EntryPair{i, j, entry(i, j), d[i], d[j]}; };
  for_each_pair(n, progress, "Cauchy-Schwarz", [&](Index i, Index j) {
    const double excess = std::abs(entry(i, j)) - root[i] * root[j];
    if (!(excess > 0)) return;
    // A negative diagonal is named already; the inequality says nothing of products of negative numbers.
    if (excess > worst && d[i] >= -t && d[j] >= -t) {
      worst = excess;
      check.cauchy_schwarz = pair_of(j, i);
    }
    for (const auto& [row, col] : {std::pair(i, j), std::pair(j, i)}) {
      if (excess > worst_of_row[row]) {
        worst_of_row[row] = excess;
        partner[static_cast<std::size_t>(row)] = col;
      }
    }
  });
  for (Index i = 0; i < n; ++i) {
    const Index j = partner[static_cast<std::size_t>(i)];
    if (j >= 0 && std::abs(d[i]) <= t) check.vanishing_diagonal.push_back(pair_of(i, j));
  }
}

// Rows of a symmetric K that equal an earlier one to rounding of their own entries. Phi(x_i) = Phi(x_j) needs K_ii = K_ij = K_jj, which
// rules out nearly all pairs by two numbers; a row that was found equal is compared no more.
void find_duplicates(const MatrixRef& K, double epsilon, const ProgressCallback& progress, GramCheck& check) {
  const Index n = K.rows();
  std::vector<Index> originals;
  Stage stage(progress, "equal rows", static_cast<double>(n));
  for (Index i = 0; i < n; ++i) {
    const double equal = 4 * epsilon * K.row(i).cwiseAbs().maxCoeff();
    const auto same = std::find_if(originals.begin(), originals.end(), [&](Index j) {
      if (std::abs(K(i, j) - K(i, i)) > equal || std::abs(K(i, j) - K(j, j)) > equal) return false;
      for (Index c = 0; c < n; ++c) {
        if (std::abs(K(i, c) - K(j, c)) > equal) return false;
      }
      return true;
    });
    if (same == originals.end()) {
      originals.push_back(i);
    } else {
      check.duplicates.emplace_back(i, *same);
    }
    stage.advance(1);
  }
}

void read_spectrum(const MatrixRef& K, const linalg::SymmetricEigen& eigen, double epsilon, GramCheck& check) {
  const Vector& values = eigen.values;
  const Vector sizes = values.cwiseAbs();
  const double largest = sizes.maxCoeff();
  const double t = static_cast<double>(K.rows()) * epsilon * largest;
  check.tolerance = t;
  check.smallest_eigenvalue = values[0];
  check.largest_eigenvalue = values[values.size() - 1];
  check.psd = values[0] >= -t;
  check.rank = (sizes.array() > t).count();
  check.nonsingular = check.rank == K.rows();
  check.strictly_positive = values[0] > t;
  check.condition = check.nonsingular ? largest / sizes.minCoeff() : std::numeric_limits<double>::infinity();
  if (!check.psd) {
    check.violating = eigen.vectors.row(0).transpose();
    check.violation = check.violating.dot(K * check.violating);
  }
  // Eigenvalues below zero by rounding are zeros; on an indefinite matrix a term lambda / (lambda + alpha) may be anything.
  if (check.alpha && check.psd) check.effective_dimension = (values.array().max(0) / (values.array().max(0) + *check.alpha)).sum();
}

// <A, yy'>_F / (|A|_F |y|^2), none where that is 0/0 to rounding: `size` and `length` are the norms that A and y came from.
std::optional<double> alignment_of(double product, double norm, double squared_length, double size, double length, double slack) {
  if (norm <= slack * size || std::sqrt(squared_length) <= slack * length) return std::nullopt;
  return product / (norm * squared_length);
}

void align(const MatrixRef& K, const Vector& y, GramCheck& check) {
  const auto n = static_cast<double>(K.rows());
  const Vector row_means = K.rowwise().mean();
  const Eigen::RowVectorXd col_means = K.colwise().mean();
  const Vector centred = y.array() - y.mean();
  double squares = 0;
  for (Index i = 0; i < K.rows(); ++i) {
    squares += (K.row(i).array() - col_means.array() - row_means[i] + row_means.mean()).square().sum();
  }
  const double size = K.norm();
  const double slack = n * std::numeric_limits<double>::epsilon();
  check.has_target = true;
  check.alignment = alignment_of(y.dot(K * y), size, y.squaredNorm(), size, y.norm(), 0);
  check.centred_alignment =
      alignment_of(centred.dot(K * centred), std::sqrt(squares), centred.squaredNorm(), size, y.norm(), slack);  // H(Hy) = Hy
}

}  // namespace

GramCheck check_gram(const MatrixRef& K, const GramCheckOptions& options) {
  require_usable(K, options);
  const auto n = static_cast<std::size_t>(K.rows());
  const Run& run = options.run;
  require_memory(4 * n * n * sizeof(double), run.memory, fmt::format("the spectrum of a {0} x {0} matrix", n),
                 "check a sample of the rows");
  const double epsilon = epsilon_of(options.precision);
  GramCheck check;
  check.size = K.rows();
  check.alpha = options.alpha;
  check_symmetry(K, epsilon, run.progress, check);
  with_run(run, [&] { read_spectrum(K, linalg::symmetric_eigen(K / 2 + K.transpose() / 2, run.progress, run.memory), epsilon, check); });
  check_entries(K, run.progress, check);
  if (check.symmetric && !check.nonsingular) find_duplicates(K, epsilon, run.progress, check);
  if (options.y.size() != 0) align(K, options.y, check);
  return check;
}

KernelCheck check_kernel(const Kernel& kernel, const Samples& X, const GramCheckOptions& options) {
  if (X.empty()) throw InvalidArgument("a kernel is checked on samples, got none; give at least one row");
  const auto n = static_cast<std::size_t>(X.size());
  require_memory(4 * n * n * sizeof(double), options.run.memory, fmt::format("the Gram matrix of {} samples and its spectrum", n),
                 "check a sample of the rows");
  const Kernel known = resolve(kernel, X);
  KernelCheck check;
  check.kernel = known.text();
  check.claims_psd = known.is_psd();
  // A Gram matrix is mirrored; a function of the user's may not be symmetric, so both halves are asked of it, as of two sample sets.
  const Samples twin = library_of(known).empty() || looks_at(known, Reduction::same) ? X : copy_of(X);
  check.gram = check_gram(gram(known, X, twin, {.run = options.run}), options);
  return check;
}

}  // namespace mercer
