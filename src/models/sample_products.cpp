// SPDX-License-Identifier: BSD-3-Clause
#include "models/sample_products.hpp"

#include <algorithm>
#include <variant>
#include <vector>

#include "linalg/blas.hpp"
#include "mercer/run.hpp"

namespace mercer {

namespace {

constexpr Index chunk = 512;
constexpr Index most_parts = 16;

Index chunks_of(Index n) { return (n + chunk - 1) / chunk; }

Matrix centred_rows(const Samples& X, Index first, Index count, const Vector& centre) {
  Matrix rows = X.slice(first, count).to_dense();
  rows.rowwise() -= centre.transpose();
  return rows;
}

// visit(row within the slice, column, value) for every entry that is stored.
template <class Visit>
void for_each_entry(const Samples& X, Index first, Index count, const Visit& visit) {
  std::visit(
      [&](const auto& rows) {
        if constexpr (requires { rows.columns; }) {
          for (Index i = first; i < first + count; ++i) {
            for (Index e = rows.begin(i); e < rows.end(i); ++e) visit(i - first, rows.columns[e], static_cast<double>(rows.values[e]));
          }
        }
      },
      X.storage());
}

}  // namespace

Matrix centred_times(const Samples& X, const Vector& centre, const Matrix& V) {
  const Index n = X.size();
  const Index k = V.cols();
  Matrix out = Matrix::Zero(n, k);
  const Eigen::RowVectorXd shift = centre.transpose() * V;
  parallel_for(chunks_of(n), [&](Index c) {
    const Index first = c * chunk;
    const Index count = std::min(chunk, n - first);
    if (X.is_sparse()) {
      for_each_entry(X, first, count, [&](Index i, Index j, double value) { out.row(first + i) += value * V.row(j); });
      out.middleRows(first, count).rowwise() -= shift;
    } else {
      const Matrix rows = centred_rows(X, first, count, centre);
      linalg::gemm_n(false, count, k, rows.cols(), 1.0, rows.data(), rows.cols(), V.data(), k, 0.0, out.data() + first * k, k);
    }
  });
  return out;
}

Matrix centred_transposed_times(const Samples& X, const Vector& centre, const Matrix& U) {
  const Index n = X.size();
  const Index p = X.width();
  const Index k = U.cols();
  const Index chunks = chunks_of(n);
  const Index parts = std::clamp<Index>(chunks, 1, most_parts);
  std::vector<Matrix> sums(static_cast<std::size_t>(parts));
  parallel_for(parts, [&](Index part) {
    Matrix& sum = sums[static_cast<std::size_t>(part)];
    sum = Matrix::Zero(p, k);
    for (Index c = part * chunks / parts; c < (part + 1) * chunks / parts; ++c) {
      const Index first = c * chunk;
      const Index count = std::min(chunk, n - first);
      if (X.is_sparse()) {
        for_each_entry(X, first, count, [&](Index i, Index j, double value) { sum.row(j) += value * U.row(first + i); });
      } else {
        const Matrix rows = centred_rows(X, first, count, centre);
        linalg::gemm_n(true, p, k, count, 1.0, rows.data(), p, U.data() + first * k, k, 1.0, sum.data(), k);
      }
    }
  });
  for (std::size_t s = 1; s < sums.size(); ++s) sums[0] += sums[s];
  if (X.is_sparse()) sums[0] -= centre * U.colwise().sum();
  return std::move(sums[0]);
}

Vector mean_row(const Samples& X) {
  const Vector zero = Vector::Zero(X.width());
  const auto n = static_cast<double>(X.size());
  const Vector mean = centred_transposed_times(X, zero, Matrix::Ones(X.size(), 1)).col(0) / n;
  if (X.is_sparse()) return mean;
  // What rounding left, which matters where columns are far from 0.
  return mean + centred_transposed_times(X, mean, Matrix::Ones(X.size(), 1)).col(0) / n;
}

Vector squared_distances_to(const Samples& X, const Vector& centre) {
  const Index n = X.size();
  Vector out(n);
  const double whole = centre.squaredNorm();
  parallel_for(chunks_of(n), [&](Index c) {
    const Index first = c * chunk;
    const Index count = std::min(chunk, n - first);
    if (!X.is_sparse()) {
      out.segment(first, count) = centred_rows(X, first, count, centre).rowwise().squaredNorm();
      return;
    }
    out.segment(first, count).setConstant(whole);
    for_each_entry(X, first, count, [&](Index i, Index j, double x) { out[first + i] += x * (x - 2 * centre[j]); });
  });
  return out;
}

}  // namespace mercer
