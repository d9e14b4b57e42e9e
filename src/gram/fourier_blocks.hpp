// A Fourier feature map made ready in one precision: rows in, rows of features out, a block at a time. What ridge regression on the
// features calls while it runs through the data; transform() calls it for every block of the answer. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "gram/hadamard.hpp"
#include "gram/tiling.hpp"
#include "mercer/random_features.hpp"

namespace mercer {

template <class T>
class FourierBlocks {
 public:
  explicit FourierBlocks(const RandomFourierFeatures& map);

  Index columns() const { return pairs_ ? 2 * frequencies_.cols() : frequencies_.cols(); }

  // Features of rows `rows` of X (of the right width, finite) into out, `stride` numbers a row.
  void fill(const Samples& X, Range rows, T* out, Index stride) const;
  // The same for all rows, in parallel.
  void fill(const Samples& X, T* out, Index stride) const;

  static std::size_t bytes(Index width, Index frequencies) {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(frequencies) * sizeof(T);
  }

 private:
  template <class S>
  void project(const DenseRows<S>& X, Range rows, T* out, Index stride) const;
  template <class S>
  void project(const CsrRows<S>& X, Range rows, T* out, Index stride) const;

  bool pairs_;
  T factor_;
  RowMatrix<T> frequencies_;    // width x frequencies
  std::vector<T> plain_phase_;  // for rows as they are
  std::vector<T> phase_;        // for rows moved by -centre
  const Vector centre_;
  std::optional<HadamardPhases<T>> fast_{};  // of structured frequencies, where it is the faster way
};

}  // namespace mercer
