// The two spaces of functions that regularised problems are solved in.
//
// KernelSpace: all of the RKHS, by the representer theorem f = sum c_i k(x_i, .); A = K, A* g = g, <a, b> = a'K b. The Gram matrix is
// stored;
//   (2 lambda + s K) x = r becomes (I + S K S) e = S K r / (2 lambda), S = sqrt(s / (2 lambda)), over the samples with s_i > 0 alone: a
//   system with eigenvalues >= 1 whatever K is, and small where few samples have curvature (margins, kinks). Cost: m^3/3 flops a factor.
// LandmarkSpace: the span of M landmarks, f = F w with F = K_nM E, E = L'^-1, L L' = K_MM + a rounding (Nystrom features), never an n x n
// matrix; F is stored when
//   it fits the budget, else its tiles are made again in each pass. Cost: n M^2 flops a factor.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "mercer/gram.hpp"
#include "solvers/convex_newton.hpp"

namespace mercer {

class KernelSpace final : public solvers::FunctionSpace {
 public:
  // The kernel has no automatic parts left. Throws OverBudget naming `what`.
  KernelSpace(const Kernel& kernel, const Samples& X, const Run& run, const std::string& what);

  Index samples() const override { return n_; }
  Index dimension() const override { return n_; }
  Matrix scores(const Matrix& coefficients) const override { return K_->apply(coefficients); }
  Matrix adjoint(const Matrix& g) const override { return g; }
  Vector diagonal() const override { return K_->diagonal(); }
  double inner(const solvers::Functions& a, const solvers::Functions& b) const override;
  std::unique_ptr<solvers::SpaceSolver> factor(const Vector& s, double ridge, bool intercept) const override;

  const Operator& gram() const { return K_; }
  static std::size_t bytes(Index n);
  // Throws InvalidArgument when the Gram matrix has a negative eigenvalue beyond rounding.
  void require_psd(const Kernel& kernel) const;

 private:
  Index n_;
  Operator K_;
  Run run_;
};

class LandmarkSpace final : public solvers::FunctionSpace {
 public:
  LandmarkSpace(const Kernel& kernel, const Samples& X, const Samples& landmarks, const Run& run);

  Index samples() const override { return n_; }
  Index dimension() const override { return basis_.cols(); }
  Matrix scores(const Matrix& coefficients) const override;
  Matrix adjoint(const Matrix& g) const override;
  Vector diagonal() const override { return diagonal_; }
  double inner(const solvers::Functions& a, const solvers::Functions& b) const override;
  std::unique_ptr<solvers::SpaceSolver> factor(const Vector& s, double ridge, bool intercept) const override;

  Matrix landmark_coefficients(const Matrix& coefficients) const { return basis_ * coefficients; }  // of k(landmark, .)
  bool stored() const { return features_.size() > 0; }

 private:
  Matrix normal_matrix(const Vector& s) const;  // F' diag(s) F

  Index n_;
  Operator cross_;   // K_nM
  Matrix basis_;     // E
  Vector diagonal_;  // k(x, x), of which the landmarks see most
  Matrix features_;  // F, or empty
  Run run_;
};

}  // namespace mercer
