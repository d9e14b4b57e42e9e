// Rows of a Gram matrix for solvers that visit some of them (linalg/row_source.hpp): computed by tiles when asked for, or kept whole.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "core/buffer.hpp"
#include "gram/prepared_kernel.hpp"
#include "linalg/row_source.hpp"
#include "mercer/run.hpp"

namespace mercer {

// Computes the rows that are asked for, 256 columns at a time. The kernel must be symmetric.
template <class T>
class KernelRows final : public RowSource<T> {
 public:
  explicit KernelRows(PreparedKernel<T> kernel) : kernel_(std::move(kernel)) {}

  Index size() const override { return kernel_.rows(); }
  const Vector& diagonal() const override { return kernel_.diagonal(); }
  void rows(std::span<const Index> I, std::span<T* const> out) const override;

 private:
  PreparedKernel<T> kernel_;
};

// A Gram matrix in memory, or the part of one that belongs to some of its samples.
template <class T>
class StoredRows final : public RowSource<T> {
 public:
  StoredRows(Buffer<T> entries, Vector diagonal) : entries_(std::move(entries)), diagonal_(std::move(diagonal)) {}
  static std::unique_ptr<StoredRows> of(const PreparedKernel<T>& kernel, const ProgressCallback& progress);
  // One for each of some kernels, which share the work on what they look at.
  static std::vector<std::unique_ptr<StoredRows>> of_each(const PreparedFamily<T>& kernels, const ProgressCallback& progress);
  std::unique_ptr<StoredRows> part(std::span<const Index> samples) const;

  Index size() const override { return diagonal_.size(); }
  const Vector& diagonal() const override { return diagonal_; }
  const T* stored(Index row) const override { return entries_.data() + row * size(); }
  void rows(std::span<const Index> I, std::span<T* const> out) const override;

 private:
  Buffer<T> entries_;
  Vector diagonal_;
};

}  // namespace mercer
