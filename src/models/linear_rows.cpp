// SPDX-License-Identifier: BSD-3-Clause
#include "models/linear_rows.hpp"

#include <algorithm>

#include "data/numbers_only.hpp"
#include "linalg/blas.hpp"
#include "mercer/run.hpp"

namespace mercer {

namespace {

using Part = std::span<const std::int32_t>;

template <class Storage>
class RowsOf final : public LinearRows {
 public:
  RowsOf(const Storage& x, double bias) : rows_{x}, bias_(bias), width_(x.cols) {
    // A block's sums cost as much as some passes over its share of rows unless that has several nonzeros for each of them.
    const double most = std::min(16.0, rows_.nonzeros() / (8.0 * static_cast<double>(cols())));
    make_blocks(static_cast<Index>(std::clamp(std::min(most, rows_.nonzeros() / 20000), 1.0, 16.0)));
  }

  Index size() const override { return rows_.x.rows; }
  Index cols() const override { return width_ + (bias_ != 0 ? 1 : 0); }
  double nonzeros() const override { return rows_.nonzeros(); }

  Vector scores(const Vector& w) const override {
    Vector z(size());
    const double b = bias_ != 0 ? bias_ * w[width_] : 0;
    parallel_for(blocks(), [&](Index k) {
      for (Index i = cut(k); i < cut(k + 1); ++i) z[i] = rows_.dot(i, w.data()) + b;
    });
    return z;
  }

  Vector combine(const Vector& a) const override {
    Vector out(cols());
    sum_blocks(out, [&](Index k, double* sum) {
      for (Index i = cut(k); i < cut(k + 1); ++i) {
        if (a[i] != 0) add(i, a[i], sum);
      }
    });
    return out;
  }

  Vector squared_norms() const override {
    Vector out(size());
    parallel_for(blocks(), [&](Index k) {
      for (Index i = cut(k); i < cut(k + 1); ++i) out[i] = rows_.squared_norm(i) + bias_ * bias_;
    });
    return out;
  }

  void apply_normal(Part A, const Vector& h, const Vector& s, Vector& out) const override {
    const double b = bias_ != 0 ? bias_ * s[width_] : 0;
    out.resize(cols());
    sum_blocks(out, [&](Index k, double* sum) {
      for (const std::int32_t i : within(A, k)) add(i, h[i] * (rows_.dot(i, s.data()) + b), sum);
    });
  }

  Vector normal_diagonal(Part A, const Vector& h) const override {
    Vector out(cols());
    sum_blocks(out, [&](Index k, double* sum) {
      for (const std::int32_t i : within(A, k)) {
        rows_.add_squares(i, h[i], sum);
        if (bias_ != 0) sum[width_] += h[i] * bias_ * bias_;
      }
    });
    return out;
  }

  void add_normal(Part A, const Vector& h, Matrix& H) const override {
    // Two halves at most: each has a matrix of its own.
    const Index parts = std::min<Index>(blocks(), 2);
    Matrix second = parts > 1 ? Matrix(Matrix::Zero(H.rows(), H.cols())) : Matrix();
    const std::int32_t middle = parts > 1 ? static_cast<std::int32_t>(cut(blocks() / 2)) : static_cast<std::int32_t>(size());
    const auto at = std::lower_bound(A.begin(), A.end(), middle) - A.begin();
    parallel_for(parts, [&](Index k) {
      if (k == 0) {
        add_products(A.first(static_cast<std::size_t>(at)), h, H);
      } else {
        add_products(A.subspan(static_cast<std::size_t>(at)), h, second);
      }
    });
    if (parts > 1) H += second;
  }

  bool small_normal() const override {
    const double per_row = rows_.nonzeros() / static_cast<double>(std::max<Index>(size(), 1));
    return cols() <= (is_sparse ? 1000 : 400) && (!is_sparse || per_row <= 100);
  }

 private:
  static constexpr bool is_sparse = requires(const Storage& s) { s.columns; };

  Index blocks() const { return std::ssize(cuts_) - 1; }
  Index cut(Index k) const { return cuts_[static_cast<std::size_t>(k)]; }

  void make_blocks(Index count) {
    cuts_.assign(1, 0);
    const double share = (rows_.nonzeros() + static_cast<double>(size())) / static_cast<double>(count);
    double sum = 0;
    for (Index i = 0; i < size() && std::ssize(cuts_) < count; ++i) {
      sum += rows_.row_nonzeros(i) + 1;
      if (sum >= share * static_cast<double>(cuts_.size())) cuts_.push_back(i + 1);
    }
    cuts_.push_back(size());
  }

  Part within(Part A, Index k) const {
    const auto begin = std::lower_bound(A.begin(), A.end(), cut(k));
    const auto end = std::lower_bound(begin, A.end(), cut(k + 1));
    return A.subspan(static_cast<std::size_t>(begin - A.begin()), static_cast<std::size_t>(end - begin));
  }

  void add(Index i, double a, double* sum) const {
    rows_.add(i, a, sum);
    if (bias_ != 0) sum[width_] += a * bias_;
  }

  // Each block's sums, then their total in the order of the blocks.
  template <class Body>
  void sum_blocks(Vector& out, const Body& body) const {
    const Index p = cols();
    if (blocks() == 1) {
      out.setZero();
      body(0, out.data());
      return;
    }
    sums_.resize(blocks(), p);
    parallel_for(blocks(), [&](Index k) {
      sums_.row(k).setZero();
      body(k, sums_.row(k).data());
    });
    constexpr Index piece = 8192;
    parallel_for((p + piece - 1) / piece, [&](Index j) {
      const Index first = j * piece;
      const Index count = std::min(piece, p - first);
      out.segment(first, count) = sums_.row(0).segment(first, count).transpose();
      for (Index k = 1; k < blocks(); ++k) out.segment(first, count) += sums_.row(k).segment(first, count).transpose();
    });
  }

  void add_products(Part A, const Vector& h, Matrix& H) const {
    if constexpr (is_sparse) {
      for (const std::int32_t i : A) {
        for (Index k = rows_.x.begin(i); k < rows_.x.end(i); ++k) {
          const double v = h[i] * static_cast<double>(rows_.x.values[k]);
          double* line = H.row(rows_.x.columns[k]).data();
          for (Index l = rows_.x.begin(i); l <= k; ++l) line[rows_.x.columns[l]] += v * static_cast<double>(rows_.x.values[l]);
          if (bias_ != 0) H(width_, rows_.x.columns[k]) += v * bias_;
        }
        if (bias_ != 0) H(width_, width_) += h[i] * bias_ * bias_;
      }
    } else {
      constexpr std::size_t piece = 256;
      Matrix left(piece, cols());
      Matrix right(piece, cols());
      for (std::size_t first = 0; first < A.size(); first += piece) {
        const auto count = static_cast<Index>(std::min(piece, A.size() - first));
        for (Index r = 0; r < count; ++r) {
          const std::int32_t i = A[first + static_cast<std::size_t>(r)];
          right.row(r).head(width_) = rows_.line(i).transpose().template cast<double>();
          if (bias_ != 0) right(r, width_) = bias_;
          left.row(r) = h[i] * right.row(r);
        }
        linalg::gemm_n(true, cols(), cols(), count, 1.0, left.data(), cols(), right.data(), cols(), 1.0, H.data(), H.cols());
      }
    }
  }

  RowLoops<Storage> rows_;
  double bias_;
  Index width_;
  std::vector<Index> cuts_{};
  mutable Matrix sums_{};
};

}  // namespace

std::unique_ptr<LinearRows> linear_rows(const Samples& X, double bias) {
  require_numbers(X, "a linear machine");
  return std::visit(
      [&]<class Storage>(const Storage& x) -> std::unique_ptr<LinearRows> { return std::make_unique<RowsOf<Storage>>(x, bias); },
      X.storage());
}

}  // namespace mercer
