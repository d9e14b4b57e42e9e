// The Cholesky factor of a Gaussian process: there from the fit on, made anew on first use in a model that was read from a file, so that
// files stay as small as the samples. Safe from several threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>
#include <optional>

#include "linalg/cholesky.hpp"
#include "mercer/gaussian_process.hpp"

namespace mercer {

struct GaussianProcessModel::Factor {
 public:
  Factor() = default;
  explicit Factor(linalg::SymmetricTiles<double> tiles) : tiles_(std::move(tiles)) {}

  const linalg::SymmetricTiles<double>& of(const GaussianProcessModel& model, const Run& run) const;

 private:
  mutable std::once_flag once_{};
  mutable std::optional<linalg::SymmetricTiles<double>> tiles_{};
};

}  // namespace mercer
