// SPDX-License-Identifier: BSD-3-Clause
#include "models/preimage_distance.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <numeric>

namespace mercer {

Vector inverse_profile(const KernelSlopes& slopes, const Vector& values, double largest) {
  Vector low = Vector::Zero(values.size());
  Vector high = Vector::Constant(values.size(), largest);
  const double top = slopes.profile(Vector::Zero(1))[0];
  for (int halving = 0; halving < 100; ++halving) {
    const Vector middle = (low + high) / 2;
    const Vector k = slopes.profile(middle);
    for (Index i = 0; i < values.size(); ++i) (k[i] >= values[i] ? low : high)[i] = middle[i];
  }
  Vector out = (low + high) / 2;
  for (Index i = 0; i < out.size(); ++i) {
    if (values[i] >= top) out[i] = 0;
  }
  return out;
}

std::vector<Index> nearest_rows(const Eigen::Ref<const Eigen::RowVectorXd>& inner, const Vector& diagonal, Index count) {
  std::vector<Index> order(static_cast<std::size_t>(inner.size()));
  std::iota(order.begin(), order.end(), Index{0});
  const auto many = std::min<std::ptrdiff_t>(count, std::ssize(order));
  const auto nearer = [&](Index a, Index b) {
    const double x = inner[a] - diagonal[a] / 2;
    const double y = inner[b] - diagonal[b] / 2;
    return x != y ? x > y : a < b;
  };
  std::partial_sort(order.begin(), order.begin() + many, order.end(), nearer);
  order.resize(static_cast<std::size_t>(many));
  return order;
}

Vector locate(const Matrix& neighbors, const Vector& s) {
  const Vector mean = neighbors.colwise().mean();
  const Matrix C = neighbors.rowwise() - mean.transpose();
  const Vector gap = (C.rowwise().squaredNorm() - s) / 2;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(C * C.transpose());
  const double least = 1e-10 * std::max(0.0, eigen.eigenvalues().maxCoeff());
  Vector share = eigen.eigenvectors().transpose() * gap;
  for (Index i = 0; i < share.size(); ++i) share[i] = eigen.eigenvalues()[i] > least ? share[i] / eigen.eigenvalues()[i] : 0.0;
  return mean + C.transpose() * (eigen.eigenvectors() * share);
}

Vector preimage_from_distances(const KernelSlopes& slopes, const Eigen::Ref<const Eigen::RowVectorXd>& inner, double norm,
                               const std::vector<Index>& nearest) {
  const SlopeView& view = slopes.only_view();
  const double top = slopes.profile(Vector::Zero(1))[0];
  Matrix neighbors(std::ssize(nearest), view.rows.cols());
  Vector values(neighbors.rows());
  for (Index i = 0; i < neighbors.rows(); ++i) {
    const Index row = nearest[static_cast<std::size_t>(i)];
    neighbors.row(i) = view.rows.row(row);
    values[i] = inner[row] + (top - norm) / 2;
  }
  const double farthest = 16 * view.squares.maxCoeff();  // (4 radii)^2: rows are centred
  const Vector z = locate(neighbors, inverse_profile(slopes, values, farthest));
  Vector out(z.size());
  for (Index c = 0; c < z.size(); ++c) out[view.columns[static_cast<std::size_t>(c)]] = z[c] / view.inverse_scale[c] + view.centre[c];
  return out;
}

}  // namespace mercer
