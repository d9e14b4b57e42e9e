// Notation: W the graph, d its degrees without loops, M = D^-1/2 W D^-1/2, L = I - M.
// SPDX-License-Identifier: BSD-3-Clause
#include "models/laplacian.hpp"

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "linalg/lapack.hpp"
#include "mercer/error.hpp"
#include "solvers/top_eigen.hpp"

namespace mercer {

namespace {

using Columns = Eigen::MatrixXd;
using Sparse = CsrMatrix<double>;

constexpr Index dense_limit = 600;
constexpr Index block = 256;
constexpr double shift = 1e-7;
constexpr double factor_entries = 3e7;
constexpr double factor_flops = 4e9;

template <class Visit>
void for_each_edge(const Sparse& W, Index i, const Visit& visit) {
  for (Sparse::InnerIterator it(W, i); it; ++it) {
    if (it.col() != i && it.value() != 0) visit(it.col(), it.value());
  }
}
template <class Visit>
void for_each_edge(const Matrix& W, Index i, const Visit& visit) {
  for (Index j = 0; j < W.cols(); ++j) {
    if (j != i && W(i, j) != 0) visit(j, W(i, j));
  }
}

template <class Graph>
void find_parts(const Graph& W, LaplacianEigen& out) {
  const Index n = W.rows();
  out.degrees = Vector::Zero(n);
  std::vector<Index> part(static_cast<std::size_t>(n), -1);
  std::vector<std::pair<double, Index>> volumes;  // negative, so that sorting puts the largest first and the earlier of equals
  std::vector<Index> waiting;
  for (Index start = 0; start < n; ++start) {
    if (part[static_cast<std::size_t>(start)] >= 0) continue;
    const auto number = std::ssize(volumes);
    double volume = 0;
    waiting.assign(1, start);
    part[static_cast<std::size_t>(start)] = number;
    Index size = 0;
    while (!waiting.empty()) {
      const Index i = waiting.back();
      waiting.pop_back();
      ++size;
      for_each_edge(W, i, [&](Index j, double weight) {
        out.degrees[i] += weight;
        if (part[static_cast<std::size_t>(j)] >= 0) return;
        part[static_cast<std::size_t>(j)] = number;
        waiting.push_back(j);
      });
      volume += out.degrees[i];
    }
    if (size == 1) ++out.isolated;
    volumes.emplace_back(-volume, number);
  }
  std::sort(volumes.begin(), volumes.end());
  out.parts = std::ssize(volumes);
  std::vector<Index> place(volumes.size());
  for (std::size_t p = 0; p < volumes.size(); ++p) place[static_cast<std::size_t>(volumes[p].second)] = static_cast<Index>(p);
  out.part.resize(part.size());
  for (std::size_t i = 0; i < part.size(); ++i) out.part[i] = place[static_cast<std::size_t>(part[i])];
}

// The vectors of eigenvalue 0, one of each part.
Columns part_vectors(const LaplacianEigen& e, Index count) {
  const Index n = e.degrees.size();
  Columns vectors = Columns::Zero(n, count);
  for (Index i = 0; i < n; ++i) {
    const Index p = e.part[static_cast<std::size_t>(i)];
    if (p < count) vectors(i, p) = e.degrees[i] > 0 ? std::sqrt(e.degrees[i]) : 1;
  }
  vectors.colwise().normalize();
  return vectors;
}

Vector inverse_roots(const Vector& degrees) {
  return degrees.unaryExpr([](double d) { return d > 0 ? 1 / std::sqrt(d) : 0.0; });
}

Columns multiply(const Sparse& W, const Vector& r, const Columns& V) {
  Columns out(V.rows(), V.cols());
  parallel_for((W.rows() + block - 1) / block, [&](Index b) {
    for (Index i = b * block; i < std::min<Index>(W.rows(), (b + 1) * block); ++i) {
      Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(V.cols());
      for_each_edge(W, i, [&](Index j, double weight) { sum += (weight * r[j]) * V.row(j); });
      out.row(i) = r[i] * sum;
    }
  });
  return out;
}

Columns multiply(const Matrix& W, const Vector& r, const Columns& V) {
  const Columns scaled = r.asDiagonal() * V;
  Columns out(V.rows(), V.cols());
  parallel_for((W.rows() + block - 1) / block, [&](Index b) {
    const Index first = b * block;
    const Index count = std::min(block, W.rows() - first);
    Columns part = W.middleRows(first, count) * scaled;
    part -= W.diagonal().segment(first, count).asDiagonal() * scaled.middleRows(first, count);  // no loops
    out.middleRows(first, count) = r.segment(first, count).asDiagonal() * part;
  });
  return out;
}

// Eigen's sparse factor, with a look at what it would cost before it is made.
class Factor : public Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> {
 public:
  bool is_cheap() const {
    const auto counts = m_nonZerosPerCol.cast<double>();
    return counts.sum() <= factor_entries && counts.squaredNorm() <= factor_flops;
  }
};

Eigen::SparseMatrix<double> shifted_laplacian(const Sparse& W, const Vector& r) {
  std::vector<Eigen::Triplet<double>> entries;
  for (Index i = 0; i < W.rows(); ++i) {
    entries.emplace_back(static_cast<int>(i), static_cast<int>(i), (r[i] > 0 ? 1.0 : 0.0) + shift);
    for_each_edge(W, i,
                  [&](Index j, double weight) { entries.emplace_back(static_cast<int>(i), static_cast<int>(j), -r[i] * weight * r[j]); });
  }
  Eigen::SparseMatrix<double> L(W.rows(), W.rows());
  L.setFromTriplets(entries.begin(), entries.end());
  return L;
}

void keep(solvers::TopEigen found, LaplacianEigen& e) {
  e.vectors.conservativeResize(Eigen::NoChange, e.known + found.vectors.cols());
  e.vectors.rightCols(found.vectors.cols()) = found.vectors;
  e.products = found.products;
  e.converged = found.converged;
}

bool shift_invert(const Sparse& W, const Vector& r, Index wanted, const solvers::TopEigenOptions& options, LaplacianEigen& e) {
  const Eigen::SparseMatrix<double> L = shifted_laplacian(W, r);
  Factor factor;
  factor.analyzePattern(L);
  if (!factor.is_cheap()) return false;
  factor.factorize(L);
  if (factor.info() != Eigen::Success) return false;
  const auto solve = [&](const Columns& V) {
    Columns out(V.rows(), V.cols());
    parallel_for(V.cols(), [&](Index j) { out.col(j) = factor.solve(V.col(j)); });
    return out;
  };
  solvers::TopEigenOptions mild = options;
  mild.max_products = 2000;
  solvers::TopEigen found = solvers::top_eigen(W.rows(), wanted, solve, e.vectors, mild);
  if (!found.converged) return false;
  e.solver = "shift-invert Krylov";
  keep(std::move(found), e);
  return true;
}
bool shift_invert(const Matrix&, const Vector&, Index, const solvers::TopEigenOptions&, LaplacianEigen&) { return false; }

// All of them by LAPACK; vectors of the parts' space are told by their eigenvalue, so that one comes out pure: P = known vectors are moved
// up.
template <class Graph>
void by_lapack(const Graph& W, const Vector& r, Index wanted, const ProgressCallback& progress, std::size_t memory, LaplacianEigen& e) {
  const Index n = W.rows();
  Matrix L = Matrix::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    L(i, i) = r[i] > 0 ? 1 : 0;
    for_each_edge(W, i, [&](Index j, double weight) { L(i, j) = -r[i] * weight * r[j]; });
  }
  // The known vectors are lifted above the spectrum, which ends at 2: what comes first then is orthogonal to them.
  const Columns all = part_vectors(e, e.parts);
  L += 4 * Matrix(all * all.transpose());
  const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(std::move(L), progress, memory);
  e.vectors.conservativeResize(Eigen::NoChange, e.known + wanted);
  e.vectors.rightCols(wanted) = eigen.vectors.topRows(wanted).transpose();
  solvers::fix_signs(e.vectors.rightCols(wanted));
  e.solver = "LAPACK";
}

template <class Graph>
LaplacianEigen smallest(const Graph& W, Index k, double tolerance, std::uint64_t seed, const ProgressCallback& progress,
                        std::size_t memory) {
  LaplacianEigen e;
  find_parts(W, e);
  const Index n = W.rows();
  e.known = std::min(k, e.parts);
  e.vectors = part_vectors(e, e.known);
  e.solver = "components";
  const Vector r = inverse_roots(e.degrees);
  if (const Index wanted = k - e.known; wanted > 0) {
    const solvers::TopEigenOptions options{.tolerance = tolerance, .seed = seed, .progress = progress};
    if (n <= dense_limit) {
      by_lapack(W, r, wanted, progress, memory, e);
    } else if (!shift_invert(W, r, wanted, options, e)) {
      e.solver = "Krylov";
      keep(solvers::top_eigen(
               n, wanted, [&](const Columns& V) { return multiply(W, r, V); }, e.vectors, options),
           e);
    }
  }
  // Values and residuals from L itself, whichever way the vectors came.
  Columns LV = e.vectors - multiply(W, r, e.vectors);
  for (Index i = 0; i < n; ++i) {
    if (!(r[i] > 0)) LV.row(i).setZero();
  }
  e.values = e.vectors.cwiseProduct(LV).colwise().sum().transpose();
  e.values.head(e.known).setZero();
  std::vector<Index> order(static_cast<std::size_t>(e.values.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin() + e.known, order.end(), [&](Index a, Index b) { return e.values[a] < e.values[b]; });
  e.values = Vector(e.values(order));
  e.vectors = Columns(e.vectors(Eigen::all, order));
  LV = Columns(LV(Eigen::all, order));
  e.residual = (LV - e.vectors * e.values.asDiagonal()).colwise().norm().maxCoeff();
  return e;
}

}  // namespace

LaplacianEigen laplacian_eigen(const SpectralClustering::Graph& graph, Index k, double tolerance, std::uint64_t seed,
                               const ProgressCallback& progress, std::size_t memory) {
  return std::visit([&](const auto& W) { return smallest(W, k, tolerance, seed, progress, memory); }, graph);
}

}  // namespace mercer
