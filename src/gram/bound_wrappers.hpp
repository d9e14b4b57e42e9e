// Kernels around another bound to samples: normalised by the diagonal, or composed with itself over given points.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <limits>

#include "gram/fill.hpp"
#include "gram/row_scratch.hpp"
#include "linalg/blas.hpp"
#include "mercer/error.hpp"

namespace mercer {

// k(x,y) g(x) g(y), g = k(x,x)^-h with h = 1/2 or 1.
template <class T>
class BoundNormalized final : public BoundNode<T> {
 public:
  BoundNormalized(const KernelNode& node, std::unique_ptr<BoundNode<T>> part, bool same)
      : node_(node), half_(node.normalization() == Normalization::root), same_(same), part_(std::move(part)) {
    this->parameters = part_->parameters;
  }

  void prepare() override {
    part_->prepare();
    if (!(part_->largest() < static_cast<double>(std::numeric_limits<T>::max())))  // it is made before it is divided
      throw InvalidArgument(fmt::format("{} overflows {} before it is normalised; lower its factors, or scale the columns", node_.text(),
                                        name_of(precision_of<T>)));
    rows_ = prepared(Side::rows);
    if (!same_) cols_ = prepared(Side::cols);
  }
  void tile(TileInProgress<T>& at, Tile<T> out) const override {
    part_->tile(at, out);
    const Vector& columns = of(Side::cols).factor;
    for (Index i = 0; i < out.rows; ++i) {
      const double row = rows_.factor[at.I[i]];
      for (Index j = 0; j < out.cols; ++j)
        out.row(i)[j] = static_cast<T>(static_cast<double>(out.row(i)[j]) * row * columns[at.J.begin + j]);
    }
  }
  Vector self(Side side) const override {
    if (half_) return Vector::Ones(of(side).factor.size());
    return of(side).factor;
  }
  double largest() const override {
    const bool unit = half_ && node_.parts()[0].is_psd();  // Cauchy-Schwarz
    return unit ? 1.0 : part_->largest() * rows_.factor.maxCoeff() * of(Side::cols).factor.maxCoeff();
  }
  // d k~ = g g dk - h k~ (d log k(x,x) + d log k(y,y))
  void add_gradient(TileInProgress<T>& at, Tile<double> weights, std::span<double> gradient) const override {
    if (this->parameters == 0) return;
    TileMemory<T> memory;
    const Tile<T> values = memory.tile(weights.rows, weights.cols);
    tile(at, values);
    std::vector<double> row_weights(static_cast<std::size_t>(weights.rows), 0);
    std::vector<double> col_weights(static_cast<std::size_t>(weights.cols), 0);
    const double h = half_ ? 0.5 : 1;
    const Factors& x = rows_;
    const Factors& y = of(Side::cols);
    for (Index i = 0; i < weights.rows; ++i) {
      for (Index j = 0; j < weights.cols; ++j) {
        double& w = weights.row(i)[j];
        const double share = -h * w * static_cast<double>(values.row(i)[j]);
        row_weights[static_cast<std::size_t>(i)] += share / x.diagonal[at.I.begin + i];
        col_weights[static_cast<std::size_t>(j)] += share / y.diagonal[at.J.begin + j];
        w *= x.factor[at.I.begin + i] * y.factor[at.J.begin + j];
      }
    }
    part_->add_gradient(at, weights, gradient);
    part_->add_self_gradient(Side::rows, at.I, row_weights, gradient);
    part_->add_self_gradient(Side::cols, at.J, col_weights, gradient);
  }
  void add_self_gradient(Side side, Range range, std::span<const double> weights, std::span<double> gradient) const override {
    if (half_) return;  // always 1
    std::vector<double> mine(weights.begin(), weights.end());
    for (Index i = 0; i < range.count; ++i) {
      const double g = of(side).factor[range.begin + i];
      mine[static_cast<std::size_t>(i)] *= -g * g;  // of 1/k(x,x)
    }
    part_->add_self_gradient(side, range, mine, gradient);
  }

 private:
  struct Factors {
    Vector diagonal;
    Vector factor;
  };

  Factors prepared(Side side) const {
    Factors out{part_->diagonal(side), {}};
    for (Index i = 0; i < out.diagonal.size(); ++i) {
      if (!(out.diagonal[i] > 0))
        throw InvalidArgument(fmt::format("a normalised kernel needs k(x,x) > 0, but it is {} for row {} (counting from 0) of {}",
                                          out.diagonal[i], i, side == Side::rows ? "X" : "Y"));
    }
    out.factor = half_ ? Vector(out.diagonal.cwiseSqrt().cwiseInverse()) : Vector(out.diagonal.cwiseInverse());
    return out;
  }
  const Factors& of(Side side) const { return side == Side::rows || same_ ? rows_ : cols_; }

  const KernelNode& node_;
  bool half_;
  bool same_;
  std::unique_ptr<BoundNode<T>> part_;
  Factors rows_;
  Factors cols_;
};

// sum_z k(x,z) k(z,y) = A B', A = K(X, Z), B = K(Y, Z).
template <class T>
class BoundComposed final : public BoundNode<T> {
 public:
  BoundComposed(const Kernel& part, const Matrix& points, const Samples& rows, const Samples& cols) {
    if (rows.width() != points.cols())
      throw InvalidArgument(fmt::format("the points of over() have {} columns, but the samples have {}; both must have the same",
                                        points.cols(), rows.width()));
    const Samples Z(points);
    left_.emplace(part, rows, Z);
    if (!rows.same_rows(cols)) right_.emplace(part, cols, Z);
    this->parameters = part.parameters().size();
  }

  void tile(TileInProgress<T>& at, Tile<T> out) const override {
    const Index z = left_->points();
    RowScratch<T> scratch;
    const T* rows = scratch.gather(left_->row(0), z, z, at.I);
    linalg::gemm_nt(at.I.count, at.J.count, z, T{1}, rows, z, right().row(at.J.begin), z, T{0}, out.data, out.stride);
  }
  Vector self(Side side) const override {
    const Factor& factor = side == Side::rows ? *left_ : right();
    const Index n = factor.kernel.rows();
    Vector out(n);
    for (Index i = 0; i < n; ++i)
      out[i] = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>(factor.row(i), factor.points()).template cast<double>().squaredNorm();
    return out;
  }
  double largest() const override {
    const auto of = [](const Factor& f) {
      return static_cast<double>(Eigen::Map<const RowMatrix<T>>(f.values.data(), f.kernel.rows(), f.points()).cwiseAbs().maxCoeff());
    };
    return static_cast<double>(left_->points()) * of(*left_) * of(right());
  }
  // dK = dA B' + A dB', so the weights of dA are W B and those of dB are W'A.
  void add_gradient(TileInProgress<T>& at, Tile<double> weights, std::span<double> gradient) const override {
    if (this->parameters == 0) return;
    const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> W(weights.data, weights.rows, weights.cols,
                                                              Eigen::OuterStride<>(weights.stride));
    const Matrix A = left_->rows(at.I);
    const Matrix B = right().rows(at.J);
    left_->add_gradient(at.I, W * B, gradient);
    right().add_gradient(at.J, W.transpose() * A, gradient);
  }
  void add_self_gradient(Side side, Range range, std::span<const double> weights, std::span<double> gradient) const override {
    const Factor& factor = side == Side::rows ? *left_ : right();
    const Eigen::Map<const Vector> w(weights.data(), range.count);
    factor.add_gradient(range, 2 * w.asDiagonal() * factor.rows(range), gradient);
  }

 private:
  struct Factor {
    PreparedKernel<T> kernel;
    Buffer<T> values;

    Factor(const Kernel& part, const Samples& X, const Samples& Z) : kernel(part, X, Z) {
      const std::size_t count = static_cast<std::size_t>(X.size()) * static_cast<std::size_t>(Z.size());
      require_memory(count * sizeof(T), 0, fmt::format("the kernel between {} rows and the {} points of over()", X.size(), Z.size()),
                     "use fewer points or fewer rows");
      values = Buffer<T>(count);
      fill_full(kernel, values.data(), Z.size(), {});
    }
    Index points() const { return kernel.cols(); }
    const T* row(Index i) const { return values.data() + i * points(); }
    Matrix rows(Range range) const {
      return Eigen::Map<const RowMatrix<T>>(row(range.begin), range.count, points()).template cast<double>();
    }
    void add_gradient(Range I, const Matrix& weights, std::span<double> gradient) const {
      for (Index block = 0; block < block_count(points()); ++block) {
        const Range J = block_range(block, points());
        Matrix part = weights.middleCols(J.begin, J.count);
        kernel.add_gradient(I, J, Tile<double>{part.data(), I.count, J.count, J.count}, gradient);
      }
    }
  };
  const Factor& right() const { return right_ ? *right_ : *left_; }

  std::optional<Factor> left_;
  std::optional<Factor> right_;
};

}  // namespace mercer
