// SPDX-License-Identifier: BSD-3-Clause
#include "stats/conditional_ridge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/blas.hpp"
#include "linalg/lapack.hpp"
#include "mercer/error.hpp"

namespace mercer::stats {

namespace {

constexpr Index panel = 128;
constexpr int penalties = 17;  // 1e-7, 10^-6.5, ..., 10 times the trace

Vector kept_share(const RidgeBasis& basis, double epsilon) {
  return (epsilon / (basis.values.array() + epsilon)).matrix();  // what a residual keeps of each eigenvector
}

// The leave-one-out errors' sum of squares; infinite where a row determines its own prediction.
double left_out_error(const RidgeBasis& basis, double epsilon, const Matrix& coordinates) {
  const Vector kept = kept_share(basis, epsilon);
  const Index n = basis.rows.cols();
  const Index r = coordinates.cols();
  const Matrix scaled = kept.asDiagonal() * coordinates;
  Matrix residual(n, r);
  linalg::gemm_n(true, n, r, n, 1.0, basis.rows.data(), n, scaled.data(), r, 0.0, residual.data(), r);
  Vector leverage = Vector::Constant(n, -1 / static_cast<double>(n));
  for (Index j = 0; j < n; ++j) leverage.array() += basis.rows.row(j).transpose().array().square() * kept[j];
  if (!(leverage.minCoeff() > 1e-9)) return std::numeric_limits<double>::infinity();
  return (residual.rowwise().squaredNorm().array() / leverage.array().square()).sum();
}

}  // namespace

Matrix product(const Matrix& A, const Matrix& B) {
  Matrix out(A.rows(), B.cols());
  parallel_for((A.rows() + panel - 1) / panel, [&](Index p) {
    const Index first = p * panel;
    const Index some = std::min(panel, A.rows() - first);
    linalg::gemm_n(false, some, B.cols(), A.cols(), 1.0, A.row(first).data(), A.cols(), B.data(), B.cols(), 0.0, out.row(first).data(),
                   B.cols());
  });
  return out;
}

Matrix transposed_product(const Matrix& A, const Matrix& B) {
  Matrix out(A.cols(), B.cols());
  parallel_for((A.cols() + panel - 1) / panel, [&](Index p) {
    const Index first = p * panel;
    const Index some = std::min(panel, A.cols() - first);
    linalg::gemm_n(true, some, B.cols(), A.rows(), 1.0, A.data() + first, A.cols(), B.data(), B.cols(), 0.0, out.row(first).data(),
                   B.cols());
  });
  return out;
}

void centre(Matrix& K) {
  const Vector means = K.rowwise().mean();
  const double mean = means.mean();
  K.colwise() -= means;
  K.rowwise() -= (means.array() - mean).matrix().transpose();
}

Kernel with_length_factor(const Kernel& kernel, double factor) {
  if (factor == 1) return kernel;
  const std::vector<KernelParameter> parameters = kernel.parameters();
  std::vector<double> values;
  for (const KernelParameter& p : parameters)
    values.push_back(p.name.find("length_scale") != std::string::npos ? p.value * factor : p.value);
  return kernel.with_parameters(values);
}

RidgeBasis ridge_basis(const Kernel& kernel, const Samples& Z, double factor, const Run& run) {
  Matrix K = gram(with_length_factor(kernel, factor), Z, {.run = run});
  centre(K);
  if (!K.allFinite()) throw InvalidArgument("values of the kernel of Z overflow; scale the data");
  linalg::SymmetricEigen eigen = linalg::symmetric_eigen(std::move(K), run.progress, run.memory);
  if (eigen.values.size() > 0 && eigen.values[0] < -1e-6 * std::abs(eigen.values[eigen.values.size() - 1]))
    throw InvalidArgument("the Gram matrix of Z is not positive semi-definite: use a PSD kernel, or repair_gram");
  RidgeBasis basis;
  basis.values = eigen.values.cwiseMax(0.0);
  basis.trace = basis.values.sum();
  basis.rows = std::move(eigen.vectors);
  basis.factor = factor;
  return basis;
}

RidgeChoice choose_ridge(const std::vector<RidgeBasis>& bases, const Matrix& targets, std::optional<double> epsilon, const Run& run) {
  const auto count = std::ssize(bases);
  const int tried = epsilon ? 1 : penalties;
  std::vector<Matrix> coordinates;
  for (const RidgeBasis& basis : bases) coordinates.push_back(product(basis.rows, targets));
  const auto penalty = [&](Index b, Index e) {
    return epsilon ? *epsilon : bases[static_cast<std::size_t>(b)].trace * std::pow(10.0, -7 + 0.5 * static_cast<double>(e));
  };
  Vector errors(count * tried);
  Stage stage(run.progress, "Regression on Z", static_cast<double>(count * tried));
  parallel_for(count * tried, [&](Index at) {
    const Index b = at / tried;
    errors[at] = left_out_error(bases[static_cast<std::size_t>(b)], penalty(b, at % tried), coordinates[static_cast<std::size_t>(b)]);
    stage.advance(1);
  });
  Index best = 0;
  for (Index at = 1; at < errors.size(); ++at) {
    // Ties (a kernel that is constant on the data) go to the larger penalty.
    if (errors[at] < errors[best] || (errors[at] == errors[best] && at % tried > best % tried)) best = at;
  }
  RidgeChoice choice;
  choice.basis = static_cast<std::size_t>(best / tried);
  choice.epsilon = penalty(best / tried, best % tried);
  choice.degrees = static_cast<double>(targets.rows()) - kept_share(bases[choice.basis], choice.epsilon).sum();
  const double total = targets.squaredNorm();
  choice.share = total > 0 ? errors[best] / total : 1;
  return choice;
}

Matrix ridge_residuals(const RidgeBasis& basis, double epsilon, const Matrix& targets) {
  Matrix coordinates = product(basis.rows, targets);
  coordinates = (kept_share(basis, epsilon).asDiagonal() * coordinates).eval();
  return transposed_product(basis.rows, coordinates);
}

}  // namespace mercer::stats
