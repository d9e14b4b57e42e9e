// SPDX-License-Identifier: BSD-3-Clause
#include "stats/stein.hpp"

#include <fmt/format.h>

#include <cmath>

#include "gram/tiling.hpp"
#include "kernels/node.hpp"
#include "linalg/blas.hpp"
#include "mercer/error.hpp"

namespace mercer::stats {

void RadialKernel::at(const Row& q, Row& f, Row& first, Row& second) const {
  if (family == Family::gaussian) {
    const double a = 1 / (2 * length_scale * length_scale);
    f = (-a * q).exp();
    first = -a * f;
    second = a * a * f;
    return;
  }
  const double a = 1 / (2 * alpha * length_scale * length_scale);
  second = (1 + a * q).inverse();  // for a while the base
  f = alpha == 0.5 ? Row(second.sqrt()) : Row(second.pow(alpha));
  first = -alpha * a * f * second;
  second *= -(alpha + 1) * a * first;
}

RadialKernel radial_of(const Kernel& kernel) {
  const KernelNode& node = kernel.node();
  if (node.kind() == KernelNode::Kind::leaf && node.reduction() == Reduction::squared_distance && node.transform().empty()) {
    const SpectralMeasure measure = node.spectral_measure();
    using Family = SpectralMeasure::Family;
    if (measure.scales.size() == 1 && measure.family == Family::normal) return {RadialKernel::Family::gaussian, measure.scales[0], 0};
    if (measure.scales.size() == 1 && measure.family == Family::normal_times_root_gamma)
      return {RadialKernel::Family::rational_quadratic, measure.scales[0], measure.shape};
  }
  throw InvalidArgument(fmt::format(
      "a Stein discrepancy needs derivatives of the kernel, which gaussian and rational_quadratic with one length scale have here; got {}",
      kernel.text()));
}

Matrix stein_block(const RadialKernel& k, const MatrixRef& X, const MatrixRef& score_x, const MatrixRef& Y, const MatrixRef& score_y) {
  const Index n = X.rows();
  const Index m = Y.rows();
  const Index d = X.cols();
  const auto width = static_cast<double>(d);
  Matrix products(n, m);  // x'y
  Matrix scores(n, m);    // s(x)'s(y)
  Matrix mixed(n, m);     // s(x)'y + s(y)'x
  linalg::gemm_nt(n, m, d, 1.0, X.data(), X.outerStride(), Y.data(), Y.outerStride(), 0.0, products.data(), m);
  linalg::gemm_nt(n, m, d, 1.0, score_x.data(), score_x.outerStride(), score_y.data(), score_y.outerStride(), 0.0, scores.data(), m);
  linalg::gemm_nt(n, m, d, 1.0, score_x.data(), score_x.outerStride(), Y.data(), Y.outerStride(), 0.0, mixed.data(), m);
  linalg::gemm_nt(n, m, d, 1.0, X.data(), X.outerStride(), score_y.data(), score_y.outerStride(), 1.0, mixed.data(), m);
  const Vector square_x = X.rowwise().squaredNorm();
  const Vector square_y = Y.rowwise().squaredNorm();
  const Vector own_x = X.cwiseProduct(score_x).rowwise().sum();
  const Vector own_y = Y.cwiseProduct(score_y).rowwise().sum();
  Eigen::Array<double, 1, Eigen::Dynamic> q(m);
  Eigen::Array<double, 1, Eigen::Dynamic> f(m);
  Eigen::Array<double, 1, Eigen::Dynamic> first(m);   // f'
  Eigen::Array<double, 1, Eigen::Dynamic> second(m);  // f''
  for (Index i = 0; i < n; ++i) {
    q = (square_y.transpose().array() + square_x[i] - 2 * products.row(i).array()).max(0.0);
    k.at(q, f, first, second);
    // (s(y) - s(x))'(x - y) = s(x)'y + s(y)'x - s(x)'x - s(y)'y
    scores.row(i).array() =
        scores.row(i).array() * f + 2 * first * (mixed.row(i).array() - own_y.transpose().array() - own_x[i] - width) - 4 * second * q;
  }
  return scores;
}

Kernel stein_kernel(const RadialKernel& k, Index width) {
  return kernels::function(
      "stein",
      [k, width](const Samples& A, const Samples& B) -> Matrix {
        const auto& a = std::get<DenseRows<double>>(A.storage());
        const auto& b = std::get<DenseRows<double>>(B.storage());
        using Map = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>;
        return stein_block(k, Map(a.data, a.rows, width, Eigen::OuterStride<>(a.stride)),
                           Map(a.data + width, a.rows, width, Eigen::OuterStride<>(a.stride)),
                           Map(b.data, b.rows, width, Eigen::OuterStride<>(b.stride)),
                           Map(b.data + width, b.rows, width, Eigen::OuterStride<>(b.stride)));
      },
      Verdict::yes);
}

SteinSums stein_sums(const RadialKernel& k, const Matrix& X, const Matrix& scores) {
  const Index n = X.rows();
  const Index blocks = block_count(n);
  double off_diagonal = 0;
  double on_diagonal = 0;
  double size = 0;
  for (Index r = 0; r < blocks; ++r) {
    const Range I = block_range(r, n);
    for (Index c = r; c < blocks; ++c) {
      const Range J = block_range(c, n);
      const Matrix tile = stein_block(k, X.middleRows(I.begin, I.count), scores.middleRows(I.begin, I.count),
                                      X.middleRows(J.begin, J.count), scores.middleRows(J.begin, J.count));
      if (r == c) {
        off_diagonal += tile.sum() - tile.trace();
        on_diagonal += tile.trace();
        size += tile.diagonal().cwiseAbs().sum();
      } else {
        off_diagonal += 2 * tile.sum();
      }
    }
  }
  const auto rows = static_cast<double>(n);
  return {off_diagonal / (rows * (rows - 1)), (off_diagonal + on_diagonal) / (rows * rows), size / rows};
}

}  // namespace mercer::stats
