// Whole rows of a symmetric matrix in any order: what a solver that visits a few rows at a time asks of an operator.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "mercer/matrix.hpp"

namespace mercer {

template <class T>
class RowSource {
 public:
  virtual ~RowSource() = default;
  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;

  virtual Index size() const = 0;
  virtual const Vector& diagonal() const = 0;
  // The row where it lies, when the whole matrix is in memory; null otherwise.
  virtual const T* stored(Index /*row*/) const { return nullptr; }
  // out[a] = row I[a], all size() numbers of it, for every a. In parallel.
  virtual void rows(std::span<const Index> I, std::span<T* const> out) const = 0;
};

}  // namespace mercer
