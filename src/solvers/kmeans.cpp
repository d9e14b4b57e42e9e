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

// Squared distances of all rows from one of them, not above those in `nearest`.
void nearer(const MatrixRef& rows, Index centre, const Vector& nearest, Vector& out) {
  parallel_for(blocks_of(rows.rows()), [&](Index b) {
    const Index begin = b * block;
    const Index count = std::min(block, rows.rows() - begin);
    out.segment(begin, count) =
        nearest.segment(begin, count).cwiseMin((rows.middleRows(begin, count).rowwise() - rows.row(centre)).rowwise().squaredNorm());
  });
}

Index draw(const Vector& chances, RandomStream& random) {
  Index chosen = random.below(chances.size());  // every row is a centre already: any
  const double total = chances.sum();
  if (!(total > 0)) return chosen;
  double left = random.uniform() * total;
  for (chosen = 0; chosen + 1 < chances.size() && left >= chances[chosen]; ++chosen) left -= chances[chosen];
  return chosen;
}

// k-means++: each next centre is a row, drawn with a chance proportional to its squared distance from the centres so far; with several
// trials, the best of several such draws.
Matrix first_centres(const MatrixRef& rows, Index k, const KMeansOptions& options, RandomStream& random, Stage& stage) {
  const Index n = rows.rows();
  const Vector& w = options.weights;
  const auto weighted = [&](const Vector& d) { return w.size() > 0 ? Vector(w.cwiseProduct(d)) : d; };
  Matrix centres(k, rows.cols());
  Vector distance = Vector::Constant(n, std::numeric_limits<double>::infinity());
  Index chosen = w.size() > 0 ? draw(w, random) : random.below(n);
  Vector best(n);
  Vector candidate(n);
  nearer(rows, chosen, distance, best);
  for (Index c = 0;; ++c) {
    centres.row(c) = rows.row(chosen);
    distance = best;
    if (c + 1 == k) return centres;
    const Vector chances = weighted(distance);
    double lowest = std::numeric_limits<double>::infinity();
    for (Index t = 0; t < options.trials; ++t) {
      const Index drawn = draw(chances, random);
      nearer(rows, drawn, distance, candidate);
      const double total = options.trials > 1 ? weighted(candidate).sum() : 0;
      if (total >= lowest) continue;
      lowest = total;
      chosen = drawn;
      best.swap(candidate);
    }
    stage.advance(1);
  }
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
void move_centres(const MatrixRef& rows, const Vector& w, const std::vector<Index>& labels, Vector distance, Matrix& centres) {
  centres.setZero();
  Vector mass = Vector::Zero(centres.rows());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double weight = w.size() > 0 ? w[static_cast<Index>(i)] : 1;
    centres.row(labels[i]) += weight * rows.row(static_cast<Index>(i));
    mass[labels[i]] += weight;
  }
  for (Index c = 0; c < centres.rows(); ++c) {
    if (mass[c] > 0) {
      centres.row(c) /= mass[c];
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
  const Vector& w = options.weights;
  if (w.size() != 0 && w.size() != rows.rows()) throw InvalidArgument(fmt::format("{} weights for {} rows", w.size(), rows.rows()));
  if (options.trials < 1) throw InvalidArgument(fmt::format("a centre takes at least one trial, got {}", options.trials));
  const auto total = [&](const Vector& d) { return w.size() > 0 ? w.dot(d) : d.sum(); };
  RandomStream random(options.seed, 0x6b6d65616e73);
  Stage stage(options.progress, "k-means", static_cast<double>(k + options.max_iterations * k / 8 + 1));
  KMeans result;
  result.centres = first_centres(rows, k, options, random, stage);
  result.labels.assign(static_cast<std::size_t>(rows.rows()), 0);
  Vector distance(rows.rows());
  assign(rows, result.centres, result.labels, distance);
  result.inertia = total(distance);
  while (result.iterations < options.max_iterations && !result.converged) {
    move_centres(rows, w, result.labels, w.size() > 0 ? Vector(w.cwiseProduct(distance)) : distance, result.centres);
    assign(rows, result.centres, result.labels, distance);
    const double inertia = total(distance);
    result.converged = result.inertia - inertia <= options.tolerance * result.inertia;
    result.inertia = inertia;
    ++result.iterations;
    stage.advance(static_cast<double>(k) / 8);
  }
  return result;
}

}  // namespace mercer::solvers
