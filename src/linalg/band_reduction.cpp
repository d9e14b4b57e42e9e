// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/band_reduction.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "linalg/blas.hpp"
#include "linalg/inverse.hpp"

extern "C" {
// NOLINTNEXTLINE(readability-identifier-naming): LAPACK's name
void dgeqrt3_(const int* m, const int* n, double* a, const int* lda, double* t, const int* ldt, int* info);
}

namespace mercer::linalg {

namespace {

constexpr Index tile = cholesky_tile;

// Rows begin .. end - 1 of one row of tiles, as far as they belong to rows first .. size - 1.
struct Strip {
  Index number = 0;
  Index begin = 0;
  Index end = 0;
  Index rows() const { return end - begin; }
};

Index strip_count(Index first, Index size) { return size <= first ? 0 : (size - 1) / tile - first / tile + 1; }

Strip strip_at(Index t, Index first, Index size) {
  const Index number = first / tile + t;
  return {number, std::max(first, number * tile), std::min(size, (number + 1) * tile)};
}

// Tile (I, J) from row I.begin and column J.begin on, I >= J.
const double* corner(const SymmetricTiles<double>& A, const Strip& I, const Strip& J) {
  return A.tile(I.number, J.number) + (I.begin - I.number * tile) * tile + (J.begin - J.number * tile);
}
double* corner(SymmetricTiles<double>& A, const Strip& I, const Strip& J) {
  return A.tile(I.number, J.number) + (I.begin - I.number * tile) * tile + (J.begin - J.number * tile);
}

// Y_I = sum_J A_IJ V_J over rows and columns first .. size - 1; v and y start at row `first` and have k numbers a row.
void multiply_strip(const SymmetricTiles<double>& A, const Strip& I, Index first, Index size, Index k, const double* v, double* y) {
  double* out = y + (I.begin - first) * k;
  double beta = 0;
  for (Index t = 0; t < strip_count(first, size); ++t) {
    const Strip J = strip_at(t, first, size);
    const double* in = v + (J.begin - first) * k;
    if (J.number == I.number) {
      cblas_dsymm(CblasRowMajor, CblasLeft, CblasLower, static_cast<int>(I.rows()), static_cast<int>(k), 1.0, corner(A, I, I),
                  static_cast<int>(tile), in, static_cast<int>(k), beta, out, static_cast<int>(k));
    } else if (J.number < I.number) {
      gemm_n(false, I.rows(), k, J.rows(), 1.0, corner(A, I, J), tile, in, k, beta, out, k);
    } else {
      gemm_n(true, I.rows(), k, J.rows(), 1.0, corner(A, J, I), tile, in, k, beta, out, k);
    }
    beta = 1;
  }
}

// A_IJ <- A_IJ - L_I R_J', where on the diagonal L R' is symmetric: L = [V W], R = [W V].
void update_tile(SymmetricTiles<double>& A, const Strip& I, const Strip& J, Index first, Index k, const double* left, const double* right) {
  const double* l = left + (I.begin - first) * 2 * k;
  if (I.number == J.number) {
    cblas_dsyr2k(CblasRowMajor, CblasLower, CblasNoTrans, static_cast<int>(I.rows()), static_cast<int>(k), -1.0, l, static_cast<int>(2 * k),
                 l + k, static_cast<int>(2 * k), 1.0, corner(A, I, I), static_cast<int>(tile));
  } else {
    gemm_nt(I.rows(), J.rows(), 2 * k, -1.0, l, 2 * k, right + (J.begin - first) * 2 * k, 2 * k, 1.0, corner(A, I, J), tile);
  }
}

struct LowerPair {
  Index row, col;
};
LowerPair lower_pair(Index t) {
  auto row = static_cast<Index>((std::sqrt(8.0 * static_cast<double>(t) + 1) - 1) / 2);
  while (row * (row + 1) / 2 > t) --row;
  while ((row + 1) * (row + 2) / 2 <= t) ++row;
  return {row, t - row * (row + 1) / 2};
}

// Columns begin .. begin + width - 1 of A below row `first`: taken out column-major, put into the band, replaced by their QR.
class Panel {
 public:
  Panel(const SymmetricTiles<double>& A, Index begin, Index width, Index first, Index size)
      : begin_(begin), width_(width), first_(first), rows_(size - first), a_(static_cast<std::size_t>(rows_ * width)) {
    for (Index t = 0; t < strip_count(first, size); ++t) {
      const Strip I = strip_at(t, first, size);
      for (Index i = I.begin; i < I.end; ++i) {
        for (Index j = 0; j < width; ++j) a_[at(i - first, j)] = entry(A, i, begin + j);
      }
    }
  }

  // A(i, j), i >= j.
  static double entry(const SymmetricTiles<double>& A, Index i, Index j) {
    return A.tile(i / tile, j / tile)[(i % tile) * tile + j % tile];
  }

  // R goes to the band, V and T to the reflectors. The columns behind the reflectors (of the last panel) are turned with them.
  Reflectors factor(Matrix& band) {
    const Index k = std::min(rows_, width_);
    Reflectors h{first_, rows_, k, Buffer<double>(static_cast<std::size_t>(rows_ * k)), Matrix::Zero(k, k)};
    const int m = static_cast<int>(rows_);
    const int n = static_cast<int>(k);
    int info = 0;
    Eigen::MatrixXd t = Eigen::MatrixXd::Zero(k, k);
    dgeqrt3_(&m, &n, a_.data(), &m, t.data(), &n, &info);
    h.t = t.triangularView<Eigen::Upper>();
    for (Index j = 0; j < k; ++j) {
      for (Index i = 0; i < rows_; ++i) {
        h.v[static_cast<std::size_t>(i * k + j)] = i > j ? a_[at(i, j)] : (i == j ? 1.0 : 0.0);
      }
    }
    const Index rest = width_ - k;
    if (rest > 0) {
      const Eigen::Map<const Matrix> V(h.v.data(), rows_, k);
      Eigen::Map<Eigen::MatrixXd> C(a_.data() + at(0, k), rows_, rest);
      const Eigen::MatrixXd inner = h.t.transpose() * (V.transpose() * C);
      C -= V * inner;
    }
    for (Index j = 0; j < width_; ++j) {
      for (Index i = 0; i <= std::min(j, rows_ - 1); ++i) band(begin_ + j, first_ + i - begin_ - j) = a_[at(i, j)];
    }
    return h;
  }

 private:
  std::size_t at(Index i, Index j) const { return static_cast<std::size_t>(j * rows_ + i); }
  Index begin_, width_, first_, rows_;
  Buffer<double> a_;
};

// What is on and near the diagonal of columns begin .. end - 1 and does not lie in the panel below.
void copy_diagonal_block(const SymmetricTiles<double>& A, Index begin, Index end, Matrix& band) {
  for (Index j = begin; j < end; ++j) {
    for (Index i = j; i < end; ++i) band(j, i - j) = Panel::entry(A, i, j);
  }
}

// A22 <- (I - V T' V') A22 (I - V T V') = A22 - V W' - W V', W = X - V S / 2, X = A22 V T, S = T' V' X.
void update_rest(SymmetricTiles<double>& A, const Reflectors& h, Index size, Buffer<double>& work) {
  const Index first = h.first;
  const Index k = h.count;
  const Index strips = strip_count(first, size);
  const double* v = h.v.data();
  double* y = work.data();
  double* x = y + h.rows * k;
  double* left = x + h.rows * k;
  double* right = left + 2 * h.rows * k;
  std::vector<Matrix> parts(static_cast<std::size_t>(strips));
  parallel_for(strips, [&](Index t) {
    const Strip I = strip_at(t, first, size);
    const Index begin = (I.begin - first) * k;
    multiply_strip(A, I, first, size, k, v, y);
    gemm_n(false, I.rows(), k, k, 1.0, y + begin, k, h.t.data(), k, 0.0, x + begin, k);
    Matrix part(k, k);
    gemm_n(true, k, k, I.rows(), 1.0, v + begin, k, x + begin, k, 0.0, part.data(), k);
    parts[static_cast<std::size_t>(t)] = std::move(part);
  });
  Matrix sum = Matrix::Zero(k, k);
  for (const Matrix& part : parts) sum += part;
  const Matrix s = h.t.transpose() * sum;
  parallel_for(strips, [&](Index t) {
    const Strip I = strip_at(t, first, size);
    const Index begin = (I.begin - first) * k;
    gemm_n(false, I.rows(), k, k, -0.5, v + begin, k, s.data(), k, 1.0, x + begin, k);  // x is W now
    for (Index i = I.begin - first; i < I.end - first; ++i) {
      const auto bytes = static_cast<std::size_t>(k) * sizeof(double);
      std::memcpy(left + i * 2 * k, v + i * k, bytes);
      std::memcpy(left + i * 2 * k + k, x + i * k, bytes);
      std::memcpy(right + i * 2 * k, x + i * k, bytes);
      std::memcpy(right + i * 2 * k + k, v + i * k, bytes);
    }
  });
  parallel_for(strips * (strips + 1) / 2, [&](Index t) {
    const LowerPair pair = lower_pair(strips * (strips + 1) / 2 - 1 - t);  // whole tiles first, the cut ones last
    update_tile(A, strip_at(pair.row, first, size), strip_at(pair.col, first, size), first, k, left, right);
  });
}

// Y <- (I - V op(T) V') Y on the rows of h; few columns.
void apply_reflectors(const Reflectors& h, bool transposed, Matrix& Y) {
  const Index columns = Y.cols();
  double* y = Y.data() + h.first * columns;
  Matrix inner(h.count, columns);
  gemm_n(true, h.count, columns, h.rows, 1.0, h.v.data(), h.count, y, columns, 0.0, inner.data(), columns);
  const Matrix turned = transposed ? Matrix(h.t.transpose() * inner) : Matrix(h.t * inner);
  gemm_n(false, h.rows, columns, h.count, -1.0, h.v.data(), h.count, turned.data(), columns, 1.0, y, columns);
}

}  // namespace

void BandReduction::apply_q(Matrix& Y) const {
  for (auto h = panels.rbegin(); h != panels.rend(); ++h) apply_reflectors(*h, false, Y);
}

void BandReduction::apply_q_transposed(Matrix& Y) const {
  for (const Reflectors& h : panels) apply_reflectors(h, true, Y);
}

BandReduction reduce_to_band(SymmetricTiles<double> A, Index size, Index bandwidth, const ProgressCallback& progress) {
  BandReduction out{size, bandwidth, Matrix::Zero(size, bandwidth + 1), {}};
  const auto n = static_cast<double>(size);
  Stage stage(progress, "reduction to a band", n * n * n / 3);
  Buffer<double> work(static_cast<std::size_t>(6 * size * bandwidth));
  Index begin = 0;
  for (; begin + bandwidth < size - 1; begin += bandwidth) {
    const Index first = begin + bandwidth;
    copy_diagonal_block(A, begin, first, out.band);
    Reflectors h = Panel(A, begin, bandwidth, first, size).factor(out.band);
    update_rest(A, h, size, work);
    out.panels.push_back(std::move(h));
    const auto rest = static_cast<double>(size - first);
    stage.advance(rest * rest * static_cast<double>(bandwidth));
  }
  for (Index j = begin; j < size; ++j) {
    for (Index i = j; i < std::min(size, j + bandwidth + 1); ++i) out.band(j, i - j) = Panel::entry(A, i, j);
  }
  return out;
}

Buffer<double> transposed_q(const BandReduction& reduction, Index stride, const ProgressCallback& progress) {
  constexpr Index block = 128;
  const Index n = reduction.size;
  Buffer<double> g(static_cast<std::size_t>(n * stride));
  const Index blocks = (n + block - 1) / block;
  Stage stage(progress, "orthogonal factor", static_cast<double>(blocks));
  // Row j of G is e_j' H_p' .. H_0': each block of rows stays in cache while all reflectors pass over it.
  parallel_for(blocks, [&](Index t) {
    const Index begin = (blocks - 1 - t) * block;  // the longest work first
    const Index rows = std::min(block, n - begin);
    double* out = g.data() + begin * stride;
    std::memset(out, 0, static_cast<std::size_t>(rows * stride) * sizeof(double));
    for (Index j = 0; j < rows; ++j) out[j * stride + begin + j] = 1;
    Matrix inner(rows, reduction.bandwidth);
    Matrix turned(rows, reduction.bandwidth);
    for (auto h = reduction.panels.rbegin(); h != reduction.panels.rend(); ++h) {
      if (h->first >= begin + rows) continue;  // these rows are still unit vectors where h acts not
      const Index k = h->count;
      // Only what the unit vectors have grown into: columns from max(first, begin of the latest reflector) on are all of h's rows.
      double* part = out + h->first;
      gemm_n(false, rows, k, h->rows, 1.0, part, stride, h->v.data(), k, 0.0, inner.data(), k);
      gemm_nt(rows, k, k, 1.0, inner.data(), k, h->t.data(), k, 0.0, turned.data(), k);  // times T'
      gemm_nt(rows, h->rows, k, -1.0, turned.data(), k, h->v.data(), k, 1.0, part, stride);
    }
    stage.advance(1);
  });
  return g;
}

void reflect(SymmetricTiles<double>& A, const Vector& u) {
  const Index n = A.size();
  const Vector q = symmetric_multiply(A, Matrix(u)).col(0);
  const Vector w = 2 * (q - u.dot(q) * u);
  const Index strips = strip_count(0, n);
  parallel_for(strips * (strips + 1) / 2, [&](Index t) {
    const LowerPair pair = lower_pair(t);
    const Strip I = strip_at(pair.row, 0, n);
    const Strip J = strip_at(pair.col, 0, n);
    double* out = corner(A, I, J);
    for (Index i = 0; i < I.rows(); ++i) {
      for (Index j = 0; j < J.rows(); ++j) out[i * tile + j] -= u[I.begin + i] * w[J.begin + j] + w[I.begin + i] * u[J.begin + j];
    }
  });
}

}  // namespace mercer::linalg
