// (F F' + alpha I)^-1 R for a tall factor F, by the Woodbury identity: (R - F (F'F + alpha I)^-1 F'R) / alpha.
// Cost: n r^2 once, 4 n r a column. Bits do not depend on the number of threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "linalg/cholesky.hpp"

namespace mercer {

class LowRankPreconditioner {
 public:
  // F must outlive it.
  LowRankPreconditioner(const Matrix& F, double alpha);
  Matrix apply(const Matrix& R) const;

 private:
  void fill(const Matrix& F);  // inner_ = F'F

  const Matrix& F_;
  double alpha_;
  linalg::SymmetricTiles<double> inner_;  // Cholesky factor of F'F + alpha I
};

}  // namespace mercer
