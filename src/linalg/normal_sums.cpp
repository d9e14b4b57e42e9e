// Running sums of a least squares problem. Notation: F features, S = diag(sqrt w), m features, t targets.
//
// A chunk is cut into slices of `slice_rows` rows; within a slice sums are of type T, across slices of double. Tasks are (tile, group of
// slices): several groups only where there are too few tiles to keep the cores busy. Every group writes to its own place, and places are
// added in order, so neither the threads nor their timing show in the result. SPDX-License-Identifier: BSD-3-Clause
#include "mercer/normal_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

#include "core/buffer.hpp"
#include "linalg/blas.hpp"
#include "mercer/error.hpp"
#include "mercer/run.hpp"

namespace mercer {

namespace {

constexpr Index tile = 256;
constexpr Index tile_numbers = tile * tile;
constexpr Index slice_rows = 2048;
constexpr Index wanted_tasks = 16;
constexpr std::uint64_t magic = 0x32304d5553524d01;  // "\1MRSUM02"
constexpr std::uint64_t magic_without_shift = 0x31304d5553524d01;

Index tiles_across(Index m) { return (m + tile - 1) / tile; }
Index lower_tiles(Index m) { return tiles_across(m) * (tiles_across(m) + 1) / 2; }

struct TilePlace {
  Index row = 0;
  Index col = 0;
};
TilePlace place_of(Index number) {
  Index row = 0;
  while ((row + 1) * (row + 2) / 2 <= number) ++row;
  return {row, number - row * (row + 1) / 2};
}

// C (m x n) = A' B for A, B with `depth` rows; on the diagonal (A is B) the lower half only.
void product(bool diagonal, Index m, Index n, Index depth, const float* a, const float* b, Index stride, float* c) {
  if (diagonal) {
    cblas_ssyrk(CblasRowMajor, CblasLower, CblasTrans, static_cast<int>(m), static_cast<int>(depth), 1, a, static_cast<int>(stride), 0, c,
                tile);
  } else {
    linalg::gemm_n(true, m, n, depth, 1.0F, a, stride, b, stride, 0.0F, c, tile);
  }
}
void product(bool diagonal, Index m, Index n, Index depth, const double* a, const double* b, Index stride, double* c) {
  if (diagonal) {
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, static_cast<int>(m), static_cast<int>(depth), 1, a, static_cast<int>(stride), 0, c,
                tile);
  } else {
    linalg::gemm_n(true, m, n, depth, 1.0, a, stride, b, stride, 0.0, c, tile);
  }
}

// One chunk's rows: S F as given (no weights) or copied, and S [Y - shift, 1] in double.
template <class T>
struct Chunk {
  const T* features = nullptr;
  Index stride = 0;
  Index rows = 0;
  Index width = 0;
  Matrix right;  // S [Y - shift, 1]
};

// Tile (i, j) of (S F)' (S F) over slices first .. last - 1, added to `sums` (tile x tile).
template <class T>
void add_tile(const Chunk<T>& chunk, TilePlace at, Index first, Index last, double* sums) {
  Buffer<T> scratch(static_cast<std::size_t>(tile_numbers));
  const Index rows = std::min(tile, chunk.width - at.row * tile);
  const Index cols = std::min(tile, chunk.width - at.col * tile);
  const bool diagonal = at.row == at.col;
  for (Index s = first; s < last; ++s) {
    const Index begin = s * slice_rows;
    const T* base = chunk.features + begin * chunk.stride;
    product(diagonal, rows, cols, std::min(slice_rows, chunk.rows - begin), base + at.row * tile, base + at.col * tile, chunk.stride,
            scratch.data());
    for (Index i = 0; i < rows; ++i) {
      const T* from = scratch.data() + i * tile;
      double* to = sums + i * tile;
      for (Index j = 0; j < (diagonal ? i + 1 : cols); ++j) to[j] += static_cast<double>(from[j]);
    }
  }
}

// sums += sum_i right_i f_i over `count` <= 4 rows of features: a plain loop, which compilers turn into vectors of doubles.
template <class T>
void add_rows(const T* f, Index stride, const double* right, Index right_stride, Index count, Index n, double* sums) {
  if (count < 4) {
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < n; ++j) sums[j] += right[i * right_stride] * static_cast<double>(f[i * stride + j]);
    }
    return;
  }
  const double r0 = right[0], r1 = right[right_stride], r2 = right[2 * right_stride], r3 = right[3 * right_stride];
  const T *f1 = f + stride, *f2 = f1 + stride, *f3 = f2 + stride;
  for (Index j = 0; j < n; ++j) {
    sums[j] += (r0 * static_cast<double>(f[j]) + r1 * static_cast<double>(f1[j])) +
               (r2 * static_cast<double>(f2[j]) + r3 * static_cast<double>(f3[j]));
  }
}

// (S F)' S [Y - shift, 1] for one block of features, in float64, added to `sums` (rows x right columns).
template <class T>
void add_cross(const Chunk<T>& chunk, Index block, Eigen::Ref<Matrix> sums) {
  const Index from = block * tile;
  const Index rows = std::min(tile, chunk.width - from);
  const Index columns = chunk.right.cols();
  if (columns <= 4) {  // too few for GEMM: each row of features is read once, as it is
    Matrix transposed = Matrix::Zero(columns, rows);
    for (Index i = 0; i < chunk.rows; i += 4) {
      for (Index t = 0; t < columns; ++t)
        add_rows(chunk.features + i * chunk.stride + from, chunk.stride, chunk.right.row(i).data() + t, columns,
                 std::min<Index>(4, chunk.rows - i), rows, transposed.row(t).data());
    }
    sums += transposed.transpose();
    return;
  }
  constexpr Index depth = 128;  // rows converted at a time: they stay in the cache
  Matrix converted;
  for (Index begin = 0; begin < chunk.rows; begin += depth) {
    const Index count = std::min(depth, chunk.rows - begin);
    const double* a = nullptr;
    Index stride = chunk.stride;
    if constexpr (std::is_same_v<T, double>) {
      a = chunk.features + begin * chunk.stride + from;
    } else {
      using Rows = Eigen::Map<const RowMatrix<T>, 0, Eigen::OuterStride<>>;
      converted =
          Rows(chunk.features + begin * chunk.stride + from, count, rows, Eigen::OuterStride<>(chunk.stride)).template cast<double>();
      a = converted.data();
      stride = rows;
    }
    linalg::gemm_n(true, rows, columns, count, 1.0, a, stride, chunk.right.row(begin).data(), columns, 1.0, sums.data(),
                   sums.outerStride());
  }
}

template <class T>
Buffer<T> scaled_rows(const Eigen::Ref<const RowMatrix<T>>& F, const Vector& s) {
  Buffer<T> scaled(static_cast<std::size_t>(F.rows() * F.cols()));
  parallel_for((F.rows() + slice_rows - 1) / slice_rows, [&](Index block) {
    const Index begin = block * slice_rows;
    const Index count = std::min(slice_rows, F.rows() - begin);
    Eigen::Map<RowMatrix<T>>(scaled.data() + begin * F.cols(), count, F.cols()) =
        s.segment(begin, count).cast<T>().asDiagonal() * F.middleRows(begin, count);
  });
  return scaled;
}

template <class T>
bool all_finite(const Eigen::Ref<const RowMatrix<T>>& F) {
  std::vector<char> good(static_cast<std::size_t>((F.rows() + slice_rows - 1) / slice_rows), 1);
  parallel_for(static_cast<Index>(good.size()), [&](Index block) {
    const Index begin = block * slice_rows;
    // NaN and infinity survive a multiplication by zero, and a sum of zeros is zero.
    const T sum = (F.middleRows(begin, std::min(slice_rows, F.rows() - begin)).array() * T(0)).sum();
    good[static_cast<std::size_t>(block)] = sum == T(0) ? 1 : 0;
  });
  return std::all_of(good.begin(), good.end(), [](char g) { return g == 1; });
}

void require(bool condition, const std::string& message) {
  if (!condition) throw InvalidArgument(message);
}

// FNV-1a over 64-bit words: notices a changed or lost byte, no protection against an adversary.
std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
    hash = (hash ^ word) * 1099511628211ULL;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

NormalSums::NormalSums(Index features, Index targets) : features_(features), targets_(targets) {
  require(features >= 0 && targets >= 0, fmt::format("running sums of {} features and {} targets are not possible", features, targets));
  tiles_.assign(static_cast<std::size_t>(lower_tiles(features) * tile_numbers), 0.0);
  shift_ = Vector::Zero(targets);
  cross_ = Matrix::Zero(features, targets + 1);
  target_sums_ = Vector::Zero(targets);
  target_squares_ = Vector::Zero(targets);
}

std::size_t NormalSums::bytes(Index features, Index targets) {
  return static_cast<std::size_t>(lower_tiles(features) * tile_numbers + features * (targets + 1) + 3 * targets) * sizeof(double);
}

template <class T>
void NormalSums::take(const Eigen::Ref<const RowMatrix<T>>& F, const MatrixRef& Y, const VectorRef& w) {
  require(F.cols() == features_, fmt::format("the rows have {} features, the running sums {}", F.cols(), features_));
  require(Y.cols() == targets_, fmt::format("the rows have {} targets, the running sums {}", Y.cols(), targets_));
  require(Y.rows() == F.rows(), fmt::format("{} rows of features but {} rows of targets", F.rows(), Y.rows()));
  require(w.size() == 0 || w.size() == F.rows(), fmt::format("{} rows but {} weights", F.rows(), w.size()));
  if (F.rows() == 0) return;
  require(Y.allFinite(), "a target is NaN or infinite");
  require(w.size() == 0 || (w.allFinite() && w.minCoeff() >= 0), "weights must be finite and >= 0");
  require(all_finite<T>(F), "a feature is NaN or infinite");

  const double weight = w.size() == 0 ? static_cast<double>(F.rows()) : w.sum();
  if (weight_ == 0 && weight > 0) shift_ = (w.size() == 0 ? Vector(Y.colwise().sum()) : Vector(Y.transpose() * w)) / weight;
  const Matrix shifted = Y.rowwise() - shift_.transpose();
  const Vector s = w.size() == 0 ? Vector() : Vector(w.cwiseSqrt());
  Chunk<T> chunk{F.data(), F.outerStride(), F.rows(), F.cols(), Matrix::Ones(F.rows(), targets_ + 1)};
  chunk.right.leftCols(targets_) = shifted;
  Buffer<T> scaled;
  if (s.size() > 0) {
    scaled = scaled_rows<T>(F, s);
    chunk.features = scaled.data();
    chunk.stride = F.cols();
    chunk.right = (s.asDiagonal() * chunk.right).eval();
  }

  const Index tiles = lower_tiles(features_);
  const Index slices = (F.rows() + slice_rows - 1) / slice_rows;
  const Index groups = tiles == 0 ? 1 : std::clamp<Index>(wanted_tasks / tiles, 1, slices);
  std::vector<double> extra(static_cast<std::size_t>((groups - 1) * tiles * tile_numbers), 0.0);
  const Index blocks = tiles_across(features_);
  parallel_for(tiles * groups + blocks, [&](Index task) {
    if (task < blocks) {
      add_cross(chunk, task, cross_.middleRows(task * tile, std::min(tile, features_ - task * tile)));
      return;
    }
    const Index group = (task - blocks) / tiles;
    const Index number = (task - blocks) % tiles;
    double* sums = group == 0 ? tiles_.data() + number * tile_numbers : extra.data() + ((group - 1) * tiles + number) * tile_numbers;
    add_tile(chunk, place_of(number), slices * group / groups, slices * (group + 1) / groups, sums);
  });
  const auto size = static_cast<Index>(tiles_.size());
  for (Index group = 1; group < groups; ++group)
    Eigen::Map<Vector>(tiles_.data(), size) += Eigen::Map<const Vector>(extra.data() + (group - 1) * size, size);

  rows_ += F.rows();
  weight_ += weight;
  target_sums_ += w.size() == 0 ? Vector(shifted.colwise().sum()) : Vector(shifted.transpose() * w);
  target_squares_ += w.size() == 0 ? Vector(shifted.cwiseAbs2().colwise().sum()) : Vector(shifted.cwiseAbs2().transpose() * w);
}

void NormalSums::accumulate(const Eigen::Ref<const MatrixF>& F, const MatrixRef& Y, const VectorRef& w) { take<float>(F, Y, w); }
void NormalSums::accumulate(const Eigen::Ref<const Matrix>& F, const MatrixRef& Y, const VectorRef& w) { take<double>(F, Y, w); }

void NormalSums::merge(const NormalSums& other) {
  require(other.features_ == features_ && other.targets_ == targets_,
          fmt::format("running sums of {} features and {} targets cannot take in those of {} and {}", features_, targets_, other.features_,
                      other.targets_));
  std::transform(tiles_.begin(), tiles_.end(), other.tiles_.begin(), tiles_.begin(), std::plus<>());
  if (weight_ == 0) shift_ = other.shift_;
  const Vector moved = other.shift_ - shift_;  // y - shift = (y - other.shift) + moved
  Matrix cross = other.cross_;
  cross.leftCols(targets_) += other.cross_.col(targets_) * moved.transpose();
  cross_ += cross;
  target_squares_ += other.target_squares_ + 2 * moved.cwiseProduct(other.target_sums_) + other.weight_ * moved.cwiseAbs2();
  target_sums_ += other.target_sums_ + other.weight_ * moved;
  rows_ += other.rows_;
  weight_ += other.weight_;
}

Matrix NormalSums::gram() const {
  Matrix G(features_, features_);
  parallel_for(lower_tiles(features_), [&](Index number) {
    const auto [row, col] = place_of(number);
    const Index rows = std::min(tile, features_ - row * tile);
    const Index cols = std::min(tile, features_ - col * tile);
    const double* values = tiles_.data() + number * tile_numbers;
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < (row == col ? i + 1 : cols); ++j) {
        const double value = values[i * tile + j];
        G(row * tile + i, col * tile + j) = value;
        G(col * tile + j, row * tile + i) = value;
      }
    }
  });
  return G;
}

Matrix NormalSums::cross() const { return cross_.leftCols(targets_) + cross_.col(targets_) * shift_.transpose(); }
Vector NormalSums::feature_sums() const { return cross_.col(targets_); }
Vector NormalSums::target_sums() const { return target_sums_ + weight_ * shift_; }
Vector NormalSums::target_squares() const { return target_squares_ + 2 * shift_.cwiseProduct(target_sums_) + weight_ * shift_.cwiseAbs2(); }

Vector NormalSums::target_means() const { return weight_ > 0 ? Vector(shift_ + target_sums_ / weight_) : Vector::Zero(targets_); }

Vector NormalSums::target_variation() const {
  if (!(weight_ > 0)) return Vector::Zero(targets_);
  constexpr double rounding = 1e-14;  // of a target, and of the mean of many
  const Vector variation = target_squares_ - target_sums_.cwiseAbs2() / weight_;
  const Vector noise = rounding * rounding * weight_ * target_means().cwiseAbs2();
  return (variation.array() > noise.array()).select(variation, 0);
}

Matrix NormalSums::centred_cross() const {
  if (!(weight_ > 0)) return Matrix::Zero(features_, targets_);
  return cross_.leftCols(targets_) - cross_.col(targets_) * (target_sums_ / weight_).transpose();
}

Vector NormalSums::squared_error(const MatrixRef& c, const VectorRef& intercept) const {
  require(c.rows() == features_ && c.cols() == targets_,
          fmt::format("{} x {} coefficients for {} features and {} targets", c.rows(), c.cols(), features_, targets_));
  require(intercept.size() == 0 || intercept.size() == targets_, fmt::format("{} intercepts for {} targets", intercept.size(), targets_));
  if (!(weight_ > 0)) return Vector::Zero(targets_);
  // About the means, y - ybar - (f - fbar)'c + (ybar - fbar'c - b): the last part is zero for the best b, and nothing large cancels.
  const Matrix Gc = gram() * c;
  const Matrix cross = centred_cross();
  const Vector variation = target_variation();
  const Vector means = target_means();
  Vector error(targets_);
  for (Index t = 0; t < targets_; ++t) {
    const double mean_of_f = c.col(t).dot(cross_.col(targets_)) / weight_;
    const double offset = means[t] - mean_of_f - (intercept.size() == 0 ? 0 : intercept[t]);
    const double value = variation[t] - 2 * c.col(t).dot(cross.col(t)) + (c.col(t).dot(Gc.col(t)) - weight_ * mean_of_f * mean_of_f);
    error[t] = std::max(value, 0.0) + weight_ * offset * offset;
  }
  return error;
}

// Words of 8 bytes: magic, features, targets, rows, then weight, shift, target sums and squares, F' W [Y - shift, 1], tiles; at last the
// checksum.
std::string NormalSums::to_bytes() const {
  std::string out;
  out.reserve(bytes(features_, targets_) + 64);
  const auto put = [&](const void* data, std::size_t count) { out.append(static_cast<const char*>(data), count * 8); };
  const std::array<std::uint64_t, 4> head{magic, static_cast<std::uint64_t>(features_), static_cast<std::uint64_t>(targets_),
                                          static_cast<std::uint64_t>(rows_)};
  put(head.data(), head.size());
  put(&weight_, 1);
  put(shift_.data(), static_cast<std::size_t>(targets_));
  put(target_sums_.data(), static_cast<std::size_t>(targets_));
  put(target_squares_.data(), static_cast<std::size_t>(targets_));
  put(cross_.data(), static_cast<std::size_t>(cross_.size()));
  put(tiles_.data(), tiles_.size());
  const std::uint64_t sum = checksum(out);
  put(&sum, 1);
  return out;
}

NormalSums NormalSums::from_bytes(std::string_view bytes) {
  constexpr std::size_t head_bytes = 5 * 8;
  constexpr std::uint64_t most = std::uint64_t{1} << 24U;  // features or targets: the product below stays far from overflow
  std::array<std::uint64_t, 4> head{};
  require(bytes.size() >= head_bytes + 8, fmt::format("{} bytes are too few for running sums", bytes.size()));
  std::memcpy(head.data(), bytes.data(), sizeof head);
  const bool shifted = head[0] != magic_without_shift;
  require(head[0] == magic || !shifted, "these bytes are not running sums (the magic word is missing)");
  require(head[1] <= most && head[2] <= most && head[3] <= (std::uint64_t{1} << 62U), "the sizes in these running sums are not possible");
  const auto features = static_cast<Index>(head[1]);
  const auto targets = static_cast<Index>(head[2]);
  const std::size_t wanted = head_bytes + NormalSums::bytes(features, targets) + 8 - (shifted ? 0 : head[2] * sizeof(double));
  require(bytes.size() == wanted, fmt::format("running sums of {} features and {} targets take {} bytes, got {}: cut short or changed",
                                              features, targets, wanted, bytes.size()));
  std::uint64_t sum = 0;
  std::memcpy(&sum, bytes.data() + bytes.size() - 8, 8);
  require(sum == checksum(bytes.substr(0, bytes.size() - 8)), "the checksum of these running sums does not fit: they were changed");
  NormalSums sums(features, targets);
  const char* at = bytes.data() + sizeof head;
  const auto get = [&](double* data, std::size_t count) {
    std::memcpy(data, at, count * 8);
    at += count * 8;
    require(std::all_of(data, data + count, [](double v) { return std::isfinite(v); }), "a number in these running sums is not finite");
  };
  sums.rows_ = static_cast<Index>(head[3]);
  get(&sums.weight_, 1);
  if (shifted) get(sums.shift_.data(), static_cast<std::size_t>(targets));
  get(sums.target_sums_.data(), static_cast<std::size_t>(targets));
  get(sums.target_squares_.data(), static_cast<std::size_t>(targets));
  get(sums.cross_.data(), static_cast<std::size_t>(sums.cross_.size()));
  get(sums.tiles_.data(), sums.tiles_.size());
  require(sums.weight_ >= 0, "the weight in these running sums is negative");
  return sums;
}

}  // namespace mercer
