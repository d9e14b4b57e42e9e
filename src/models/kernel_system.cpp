// Notation: A = S K S + alpha I, M the preconditioner, F F' ~ S K S.
// SPDX-License-Identifier: BSD-3-Clause
#include "models/kernel_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "gram/fill.hpp"
#include "gram/pivoted_cholesky.hpp"
#include "linalg/symmetric_product.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "models/low_rank_preconditioner.hpp"
#include "solvers/conjugate_gradient.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;
using linalg::SymmetricTiles;

constexpr Index mixed_from = 2000;      // samples; below, the float64 factor takes no time worth saving
constexpr Index iterative_from = 8000;  // samples; below, a factorisation is quicker than its alternatives
constexpr Index most_refinements = 60;  // steps of conjugate gradients after a float32 factor
constexpr Index largest_rank = 2000;    // of the preconditioner
constexpr double inner_tolerance = 1e-4;

bool all_finite(const Matrix& X) { return X.allFinite(); }

}  // namespace

class KernelSystem::Parts {
 public:
  Parts(const Kernel& kernel, const Samples& X, Vector s, SystemOptions options)
      : kernel_(kernel), X_(X), s_(std::move(s)), options_(std::move(options)), n_(X.size()) {}

  std::optional<SystemSolution> solve(double alpha, const Matrix& B) {
    switch (choose()) {
      case KernelRidgeSolver::conjugate_gradients:
        return iterative(alpha, B);
      case KernelRidgeSolver::mixed_cholesky:
        return mixed(alpha, B);
      default:
        return options_.precision == Precision::float32 ? factored<float>(alpha, B) : factored<double>(alpha, B);
    }
  }

 private:
  KernelRidgeSolver choose() const {
    if (options_.solver != KernelRidgeSolver::automatic) return options_.solver;
    if (options_.precision == Precision::float32 || n_ < mixed_from) return KernelRidgeSolver::cholesky;
    // Preconditioning by a low-rank factor needs a kernel that is known to be positive semi-definite.
    if (kernel_.is_psd() && (n_ >= iterative_from || !fits(SymmetricTiles<float>::bytes(n_))))
      return KernelRidgeSolver::conjugate_gradients;
    return KernelRidgeSolver::mixed_cholesky;
  }

  bool fits(std::size_t bytes) const { return bytes <= memory_budget(options_.run.memory); }

  // -- by a factor alone

  template <class T>
  std::optional<SystemSolution> factored(double alpha, const Matrix& B) {
    half_.reset();
    const std::size_t bytes = SymmetricTiles<T>::bytes(n_);
    require_memory(bytes, options_.run.memory, fmt::format("kernel ridge regression on {} samples in {}", n_, name_of(precision_of<T>)),
                   sizeof(T) == 8 ? "use the solver cg, precision float32 (half of it), or fewer samples" : "use fewer samples");
    SymmetricTiles<T> A(n_);
    fill_lower(PreparedKernel<T>(kernel_, X_, X_), s_, A, options_.run.progress);
    A.add_to_diagonal(alpha);
    if (linalg::cholesky(A, options_.run.progress) >= 0) return std::nullopt;
    RowMatrix<T> b = B.cast<T>();
    linalg::cholesky_solve(A, b);
    SystemSolution out{b.template cast<double>(), "Cholesky", 0, true, bytes};
    if (!all_finite(out.X)) return std::nullopt;
    return out;
  }

  // -- by a float32 factor and refinement

  std::optional<SystemSolution> mixed(double alpha, const Matrix& B) {
    std::optional<SystemSolution> found = refined(alpha, B);
    return found ? found : factored<double>(alpha, B);
  }

  // Nothing: A is too ill-conditioned for a float32 factor.
  std::optional<SystemSolution> refined(double alpha, const Matrix& B) {
    const std::size_t bytes = SymmetricTiles<float>::bytes(n_);
    require_memory(bytes, options_.run.memory, fmt::format("kernel ridge regression on {} samples with a float32 factor", n_),
                   "use the solver cg, or fewer samples");
    SymmetricTiles<float> A = take_half();
    // What rounding to float32 can take from the smallest eigenvalues, given back so that the factor exists; refinement undoes it.
    const double largest = largest_diagonal(A);
    const double shift = 2 * std::numeric_limits<float>::epsilon() * std::sqrt(static_cast<double>(n_)) * largest;
    A.add_to_diagonal(alpha + shift);
    if (linalg::cholesky(A, options_.run.progress) < 0) {
      const auto precondition = [&](const Matrix& R) {
        // Scaled so that small residuals stay within what float32 can hold.
        const double scale = R.cwiseAbs().maxCoeff();
        if (scale == 0) return R;
        RowMatrix<float> r = (R / scale).cast<float>();
        linalg::cholesky_solve(A, r);
        return Matrix(r.cast<double>() * scale);
      };
      const ConjugateGradientResult found = refine(alpha, B, precondition);
      if (found.converged) return SystemSolution{found.X, "mixed-precision Cholesky", found.iterations, true, bytes};
    }
    return std::nullopt;
  }

  ConjugateGradientResult refine(double alpha, const Matrix& B, const BlockFunctionOf& precondition) {
    const Bar bar(options_.run, "refinement", options_.tolerance);
    const Operator K = streamed(bar.run());
    ConjugateGradientOptions how{options_.tolerance, most_refinements, {}};
    how.observe = [&](Index, double residual) { bar.show(residual); };
    return conjugate_gradient([&](const Matrix& V) { return Matrix(K->apply(V) + alpha * V); }, precondition, B, {}, how);
  }

  // -- by conjugate gradients with a low-rank preconditioner

  std::optional<SystemSolution> iterative(double alpha, const Matrix& B) {
    const std::size_t half_bytes = SymmetricTiles<float>::bytes(n_);
    const Index rank = rank_within(fits(half_bytes) ? memory_budget(options_.run.memory) - half_bytes : memory_budget(options_.run.memory));
    const std::size_t factor_bytes = static_cast<std::size_t>(n_) * static_cast<std::size_t>(rank) * sizeof(double);
    const bool stored = fits(half_bytes + factor_bytes);
    prepare_low_rank(rank, stored);
    const LowRankPreconditioner M(low_rank_->factor, alpha);
    const auto precondition = [&](const Matrix& R) { return M.apply(R); };
    const std::size_t bytes = (stored ? half_bytes : 0) + factor_bytes;
    ConjugateGradientResult found = stored ? by_rounds(alpha, B, precondition) : by_streaming(alpha, B, precondition, {});
    if (!found.converged && options_.solver == KernelRidgeSolver::automatic && fits(half_bytes)) {
      if (std::optional<SystemSolution> other = refined(alpha, B)) return other;
      if (fits(SymmetricTiles<double>::bytes(n_))) return factored<double>(alpha, B);
    }
    // What float32 entries could not settle, float64 tiles do; they alone may call the system indefinite.
    if (!found.converged && stored) found = by_streaming(alpha, B, precondition, found.X);
    if (!found.converged && found.indefinite) return std::nullopt;
    return SystemSolution{found.X, "conjugate gradients", found.iterations, found.converged, bytes};
  }

  // Half of what is free at most goes into the preconditioner.
  Index rank_within(std::size_t free) const {
    const auto affordable = static_cast<Index>(free / 2 / (static_cast<std::size_t>(n_) * sizeof(double)));
    return std::clamp<Index>(std::min(std::max<Index>(n_ / 16, 64), largest_rank), 1, std::clamp<Index>(affordable, 1, n_));
  }

  void prepare_low_rank(Index rank, bool stored) {
    if (stored && !half_) half_.emplace(take_half());
    if (low_rank_) return;
    const PivotedCholeskyOptions how{.rank = rank, .progress = options_.run.progress};
    if (stored) {
      Vector diagonal = gram_diagonal(kernel_, X_);
      if (s_.size() > 0) diagonal = diagonal.cwiseProduct(s_.cwiseAbs2());
      low_rank_ = pivoted_cholesky(
          diagonal, [&](std::span<const Index> J) { return linalg::symmetric_columns(*half_, J); }, how);
    } else {
      low_rank_ = pivoted_cholesky(kernel_, X_, how, options_.run.memory);
      if (s_.size() > 0) low_rank_->factor = s_.asDiagonal() * low_rank_->factor;
    }
  }

  // Rounds on the float32 half of K, each from the float64 residual that the last one left.
  ConjugateGradientResult by_rounds(double alpha, const Matrix& B, const BlockFunctionOf& precondition) {
    const Bar bar(options_.run, "conjugate gradients", options_.tolerance);
    const Operator K = streamed(bar.run());
    const auto rough = [&](const Matrix& V) {
      bar.check();
      return Matrix(linalg::symmetric_product(*half_, V) + alpha * V);
    };
    // A step costs about as much as 40 n^2 multiply-adds of a factorisation do: beyond n / 40 of them that is the better way.
    const Index most = options_.solver == KernelRidgeSolver::automatic ? std::max<Index>(100, n_ / 40) : std::max<Index>(1000, n_ / 4);
    const Vector scale = B.colwise().norm().transpose().unaryExpr([](double v) { return v > 0 ? v : 1.0; });
    ConjugateGradientResult out{Matrix::Zero(B.rows(), B.cols()), Vector::Ones(B.cols()), 0, false, false};
    Matrix R = B;
    while (!out.indefinite && out.iterations < most) {
      const double before = out.residuals.maxCoeff();
      ConjugateGradientOptions how{std::max(inner_tolerance, 0.5 * options_.tolerance / before), most - out.iterations, {}};
      how.observe = [&](Index, double residual) { bar.show(before * residual); };
      const ConjugateGradientResult round = conjugate_gradient(rough, precondition, R, {}, how);
      out.X += round.X;
      out.iterations += round.iterations;
      out.indefinite = round.indefinite;
      R = B - K->apply(out.X) - alpha * out.X;
      out.residuals = R.colwise().norm().transpose().cwiseQuotient(scale);
      const double now = out.residuals.maxCoeff();
      if (now <= options_.tolerance) out.converged = true;
      if (out.converged || !(now < before / 4)) break;
    }
    return out;
  }

  ConjugateGradientResult by_streaming(double alpha, const Matrix& B, const BlockFunctionOf& precondition, const Matrix& start) {
    const Bar bar(options_.run, "conjugate gradients", options_.tolerance);
    const Operator K = streamed(bar.run());
    ConjugateGradientOptions how{options_.tolerance, std::max<Index>(1000, n_ / 40), {}};
    how.observe = [&](Index, double residual) { bar.show(residual); };
    return conjugate_gradient([&](const Matrix& V) { return Matrix(K->apply(V) + alpha * V); }, precondition, B,
                              start.allFinite() ? start : Matrix(), how);
  }

  // -- what they share

  // One bar for all steps: decades of the residual that are won. The operators' own progress is answered with it, so that cancelling
  // reaches them at once.
  class Bar {
   public:
    Bar(const Run& run, std::string name, double goal)
        : name_(std::move(name)), goal_(goal), start_(Clock::now()), inner_(run), outer_(run.progress) {
      if (outer_) inner_.progress = [this](const ProgressEvent&) { return report(); };
    }
    Bar(const Bar&) = delete;
    Bar& operator=(const Bar&) = delete;
    const Run& run() const { return inner_; }
    void show(double residual) const {
      fraction_ = std::clamp(std::log(std::min(1.0, std::max(residual, 1e-300))) / std::log(goal_), 0.0, 1.0);
      check();
    }
    void check() const {
      if (outer_ && !report()) throw Cancelled();
    }

   private:
    bool report() const { return outer_({name_, fraction_, std::chrono::duration<double>(Clock::now() - start_).count()}); }

    std::string name_;
    double goal_;
    Clock::time_point start_;
    Run inner_;
    const ProgressCallback& outer_;
    mutable double fraction_ = 0;
  };

  Operator streamed(const Run& run) const {
    const Operator K = gram_operator(kernel_, X_, {Precision::float64, Storage::streamed, run});
    return s_.size() > 0 ? scaled_by(K, s_, s_) : K;
  }

  // The float32 half of S K S: the one kept for the next system, or a new one.
  SymmetricTiles<float> take_half() {
    if (half_) {
      SymmetricTiles<float> kept = std::move(*half_);
      half_.reset();
      return kept;
    }
    SymmetricTiles<float> A(n_);
    fill_lower(PreparedKernel<float>(kernel_, X_, X_), s_, A, options_.run.progress);
    return A;
  }

  static double largest_diagonal(const SymmetricTiles<float>& A) {
    double largest = 0;
    for (Index i = 0; i < A.tiles(); ++i) {
      for (Index r = 0; r < A.tile_rows(i); ++r)
        largest = std::max(largest, static_cast<double>(A.tile(i, i)[r * SymmetricTiles<float>::stride() + r]));
    }
    return largest;
  }

  const Kernel& kernel_;
  const Samples& X_;
  Vector s_;
  SystemOptions options_;
  Index n_;
  std::optional<SymmetricTiles<float>> half_{};
  std::optional<PivotedCholesky> low_rank_{};
};

KernelSystem::KernelSystem(const Kernel& kernel, const Samples& X, Vector s, SystemOptions options)
    : parts_(std::make_unique<Parts>(kernel, X, std::move(s), std::move(options))) {}
KernelSystem::~KernelSystem() = default;
KernelSystem::KernelSystem(KernelSystem&&) noexcept = default;
KernelSystem& KernelSystem::operator=(KernelSystem&&) noexcept = default;

std::optional<SystemSolution> KernelSystem::solve(double alpha, const Matrix& B) { return parts_->solve(alpha, B); }

}  // namespace mercer
