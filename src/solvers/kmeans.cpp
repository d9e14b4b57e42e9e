// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/kmeans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "linalg/blas.hpp"
#include "mercer/error.hpp"
#include "mercer/random.hpp"

namespace mercer::solvers {

namespace {

constexpr Index block = 256;

Index blocks_of(Index n) { return (n + block - 1) / block; }

// k-means++: each next centre is a row, drawn with a chance proportional to its squared distance from the centres so far.
Matrix first_centres(const MatrixRef& rows, Index k, RandomStream& random, Stage& stage) {
  const Index n = rows.rows();
  Matrix centres(k, rows.cols());
  Vector distance = Vector::Constant(n, std::numeric_limits<double>::infinity());
  centres.row(0) = rows.row(random.below(n));
  for (Index c = 1; c < k; ++c) {
    parallel_for(blocks_of(n), [&](Index b) {
      const Index begin = b * block;
      const Index count = std::min(block, n - begin);
      distance.segment(begin, count) =
          distance.segment(begin, count).cwiseMin((rows.middleRows(begin, count).rowwise() - centres.row(c - 1)).rowwise().squaredNorm());
    });
    const double total = distance.sum();
    Index chosen = random.below(n);  // every row is a centre already: any
    if (total > 0) {
      double left = random.uniform() * total;
      for (chosen = 0; chosen + 1 < n && left >= distance[chosen]; ++chosen) left -= distance[chosen];
    }
    centres.row(c) = rows.row(chosen);
    stage.advance(1);
  }
  return centres;
}

// Nearest centres of all rows; the distances are recomputed by differences, for the GEMM's lose digits.
void assign(const MatrixRef& rows, const Matrix& centres, std::vector<Index>& labels, Vector& distance) {
  const Index n = rows.rows();
  const Vector squares = centres.rowwise().squaredNorm();
  parallel_for(blocks_of(n), [&](Index b) {
    const Index begin = b * block;
    const Index count = std::min(block, n - begin);
    Matrix score = squares.transpose().replicate(count, 1);
    linalg::gemm_nt(count, centres.rows(), rows.cols(), -2.0, rows.row(begin).data(), rows.outerStride(), centres.data(), centres.cols(),
                    1.0, score.data(), score.cols());
    for (Index i = 0; i < count; ++i) {
      Index nearest = 0;
      score.row(i).minCoeff(&nearest);
      labels[static_cast<std::size_t>(begin + i)] = nearest;
      distance[begin + i] = (rows.row(begin + i) - centres.row(nearest)).squaredNorm();
    }
  });
}

// Means of the rows of each centre; a centre without rows moves to the row that is farthest from its own.
void move_centres(const MatrixRef& rows, const std::vector<Index>& labels, Vector distance, Matrix& centres) {
  centres.setZero();
  std::vector<Index> counts(static_cast<std::size_t>(centres.rows()), 0);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    centres.row(labels[i]) += rows.row(static_cast<Index>(i));
    ++counts[static_cast<std::size_t>(labels[i])];
  }
  for (Index c = 0; c < centres.rows(); ++c) {
    if (const Index count = counts[static_cast<std::size_t>(c)]; count > 0) {
      centres.row(c) /= static_cast<double>(count);
    } else {
      Index farthest = 0;
      distance.maxCoeff(&farthest);
      centres.row(c) = rows.row(farthest);
      distance[farthest] = 0;
    }
  }
}

}  // namespace

KMeans kmeans(const MatrixRef& rows, Index k, const KMeansOptions& options) {
  if (k < 1 || k > rows.rows())
    throw InvalidArgument(fmt::format("k-means of {} rows can have 1 to {} centres, got {}", rows.rows(), rows.rows(), k));
  RandomStream random(options.seed, 0x6b6d65616e73);
  Stage stage(options.progress, "k-means", static_cast<double>(k + options.max_iterations * k / 8 + 1));
  KMeans result;
  result.centres = first_centres(rows, k, random, stage);
  result.labels.assign(static_cast<std::size_t>(rows.rows()), 0);
  Vector distance(rows.rows());
  assign(rows, result.centres, result.labels, distance);
  result.inertia = distance.sum();
  while (result.iterations < options.max_iterations && !result.converged) {
    move_centres(rows, result.labels, distance, result.centres);
    assign(rows, result.centres, result.labels, distance);
    const double inertia = distance.sum();
    result.converged = result.inertia - inertia <= options.tolerance * result.inertia;
    result.inertia = inertia;
    ++result.iterations;
    stage.advance(static_cast<double>(k) / 8);
  }
  return result;
}

}  // namespace mercer::solvers
