// The dense and sparse matrix types that cross every interface: Eigen, row-major, one sample a row.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <cstdint>

namespace mercer {

using Index = Eigen::Index;

template <class T>
using RowMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

using Matrix = RowMatrix<double>;
using MatrixF = RowMatrix<float>;
using Vector = Eigen::VectorXd;

using MatrixRef = Eigen::Ref<const Matrix>;
using VectorRef = Eigen::Ref<const Vector>;

template <class T>
using CsrMatrix = Eigen::SparseMatrix<T, Eigen::RowMajor, std::int32_t>;

// How numbers are stored and tiles are computed. Sums, norms and answers are float64 in both cases.
enum class Precision : std::uint8_t { float32, float64 };

template <class T>
inline constexpr Precision precision_of = sizeof(T) == 4 ? Precision::float32 : Precision::float64;

inline constexpr std::size_t bytes_of(Precision p) { return p == Precision::float32 ? 4 : 8; }
inline constexpr const char* name_of(Precision p) { return p == Precision::float32 ? "float32" : "float64"; }

}  // namespace mercer
