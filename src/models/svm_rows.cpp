// SPDX-License-Identifier: BSD-3-Clause
#include "models/svm_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <variant>

#include "gram/kernel_rows.hpp"
#include "linalg/tiling.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"

namespace mercer {

namespace {

constexpr Index exact_rows = 2000;  // up to here float64, a stored Gram matrix and polished solutions

// Some rows and columns of rows that lie elsewhere.
template <class T>
class PartRows final : public RowSource<T> {
 public:
  PartRows(const StoredRows<T>& all, std::span<const Index> samples) : all_(all), samples_(samples.begin(), samples.end()) {
    diagonal_ = all.diagonal()(samples_);
  }
  Index size() const override { return std::ssize(samples_); }
  const Vector& diagonal() const override { return diagonal_; }
  void rows(std::span<const Index> I, std::span<T* const> out) const override {
    parallel_for(std::ssize(I), [&](Index a) {
      const auto k = static_cast<std::size_t>(a);
      const T* from = all_.stored(samples_[static_cast<std::size_t>(I[k])]);
      for (std::size_t j = 0; j < samples_.size(); ++j) out[k][j] = from[samples_[j]];
    });
  }

 private:
  const StoredRows<T>& all_;
  std::vector<Index> samples_;
  Vector diagonal_;
};

bool is_all(std::span<const Index> samples, Index n) {
  if (std::ssize(samples) != n) return false;
  for (Index i = 0; i < n; ++i) {
    if (samples[static_cast<std::size_t>(i)] != i) return false;
  }
  return true;
}

template <class T>
struct Rows {
  Kernel kernel = kernels::linear();
  Samples X{};
  std::unique_ptr<StoredRows<T>> stored{};
  std::unique_ptr<KernelRows<T>> computed{};  // of all rows, when nothing is stored

  const Vector& diagonal() const { return stored != nullptr ? stored->diagonal() : computed->diagonal(); }

  Eigen::MatrixXd products(std::span<const Index> at, const std::vector<PairExpansion>& expansions, const Run& run) const {
    Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(std::ssize(at), std::ssize(expansions));
    if (stored == nullptr) {
      for (std::size_t e = 0; e < expansions.size(); ++e) {
        if (expansions[e].samples.empty()) continue;
        const auto values =
            gram_operator(kernel, X.subset(at), X.subset(expansions[e].samples), {Precision::float64, Storage::streamed, run});
        sums.col(static_cast<Index>(e)) = values->apply(expansions[e].b).col(0);
      }
      return sums;
    }
    std::vector<std::vector<std::pair<Index, double>>> uses(static_cast<std::size_t>(X.size()));  // of each row: expansion and coefficient
    for (std::size_t e = 0; e < expansions.size(); ++e) {
      for (std::size_t j = 0; j < expansions[e].samples.size(); ++j) {
        const double b = expansions[e].b[static_cast<Index>(j)];
        if (b != 0) uses[static_cast<std::size_t>(expansions[e].samples[j])].emplace_back(static_cast<Index>(e), b);
      }
    }
    Vector values(std::ssize(at));
    for (std::size_t row = 0; row < uses.size(); ++row) {
      if (uses[row].empty()) continue;
      const T* from = stored->stored(static_cast<Index>(row));
      for (std::size_t i = 0; i < at.size(); ++i) values[static_cast<Index>(i)] = static_cast<double>(from[at[i]]);
      for (const auto& [e, b] : uses[row]) sums.col(e) += b * values;
    }
    return sums;
  }

  BoxSolution solve(std::span<const Index> samples, const BoxProblem& problem, const BoxOptions& options) const {
    const bool all = is_all(samples, X.size());
    if (stored != nullptr) {
      if (all) return solve_box_qp<T>(*stored, problem, options);
      if (std::ssize(samples) <= exact_rows) return solve_box_qp<T>(*stored->part(samples), problem, options);
      return solve_box_qp<T>(PartRows<T>(*stored, samples), problem, options);
    }
    if (all) return solve_box_qp<T>(*computed, problem, options);
    const Samples part = X.subset(samples);
    return solve_box_qp<T>(KernelRows<T>(PreparedKernel<T>(kernel, part, part)), problem, options);
  }
};

}  // namespace

struct SvmRows::Impl {
  std::variant<Rows<float>, Rows<double>> rows{};
  Precision precision = Precision::float64;
  bool polish = false;
  std::size_t stored_bytes = 0;
  std::size_t row_memory = 0;  // of one problem, of as many as are solved at a time

  // What is settled before any row is there: precision, and whether solutions are polished.
  static Impl plan(const Kernel& kernel, const Samples& X, const SvmSolver& solver, double largest_coefficient) {
    Impl out;
    const double largest = gram_diagonal(kernel, X).cwiseAbs().maxCoeff();
    const bool coarse = X.size() > exact_rows && largest_coefficient * largest * 1e-6 <= solver.tolerance;
    out.precision = solver.precision.value_or(coarse ? Precision::float32 : Precision::float64);
    out.polish = X.size() <= exact_rows && out.precision == Precision::float64;
    return out;
  }
};

namespace {

std::size_t square_bytes(Index n, Precision precision) {
  return static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * bytes_of(precision);
}

std::size_t rows_budget(const Run& run) { return memory_budget(run.memory) / 5 * 4; }

// Beyond a fifth of all rows (or 2 GB) it costs less to compute a row again than to touch fresh memory for it: half the time at n = 50000.
std::size_t row_memory(Index n, Precision precision, bool stored, bool many_problems, const Run& run) {
  const std::size_t bytes = square_bytes(n, precision);
  const std::size_t taken = stored ? std::min(bytes, rows_budget(run)) : 0;
  const auto at_a_time = static_cast<std::size_t>(many_problems ? current_threads() : 1);
  return std::clamp<std::size_t>((rows_budget(run) - taken) / at_a_time, 1, std::max<std::size_t>(std::size_t{2} << 30, bytes / 5));
}

}  // namespace

SvmRows::SvmRows(const Kernel& kernel, const Samples& X, const SvmSolver& solver, double largest_coefficient, bool many_problems,
                 const Run& run) {
  const Index n = X.size();
  auto impl = std::make_unique<Impl>(Impl::plan(kernel, X, solver, largest_coefficient));
  const std::size_t bytes = square_bytes(n, impl->precision);
  const bool store = (many_problems || n <= exact_rows) && bytes <= rows_budget(run);
  impl->row_memory = row_memory(n, impl->precision, store, many_problems, run);
  linalg::with_type_of(impl->precision, [&]<class T>(T) {
    Rows<T> rows{kernel, X, nullptr, nullptr};
    PreparedKernel<T> prepared(kernel, X, X);
    if (store) {
      rows.stored = StoredRows<T>::of(prepared, run.progress);
      impl->stored_bytes = bytes;
    } else {
      rows.computed = std::make_unique<KernelRows<T>>(std::move(prepared));
    }
    impl->rows = std::move(rows);
  });
  impl_ = std::move(impl);
}

SvmRows::SvmRows(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
SvmRows::~SvmRows() = default;

std::vector<std::shared_ptr<const SvmRows>> SvmRows::of_each(const std::vector<Kernel>& kernels, const Samples& X, const SvmSolver& solver,
                                                             double largest_coefficient, const Run& run) {
  std::vector<std::unique_ptr<Impl>> impls;
  Precision precision = Precision::float32;
  for (const Kernel& kernel : kernels) {
    impls.push_back(std::make_unique<Impl>(Impl::plan(kernel, X, solver, largest_coefficient)));
    if (impls.back()->precision == Precision::float64) precision = Precision::float64;
  }
  linalg::with_type_of(precision, [&]<class T>(T) {
    auto stored = StoredRows<T>::of_each(PreparedFamily<T>(kernels, X), run.progress);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      impls[k]->precision = precision;
      impls[k]->stored_bytes = square_bytes(X.size(), precision);
      impls[k]->row_memory = row_memory(X.size(), precision, true, true, run);
      impls[k]->rows = Rows<T>{kernels[k], X, std::move(stored[k]), nullptr};
    }
  });
  std::vector<std::shared_ptr<const SvmRows>> out;
  for (auto& impl : impls) out.push_back(std::shared_ptr<const SvmRows>(new SvmRows(std::move(impl))));
  return out;
}

Index SvmRows::size() const { return diagonal().size(); }
Precision SvmRows::precision() const { return impl_->precision; }
std::size_t SvmRows::stored_bytes() const { return impl_->stored_bytes; }
const Vector& SvmRows::diagonal() const {
  return std::visit([](const auto& rows) -> const Vector& { return rows.diagonal(); }, impl_->rows);
}

BoxSolution SvmRows::solve(std::span<const Index> samples, const BoxProblem& problem, const SvmSolver& solver, const Run& run,
                           bool to_tolerance) const {
  BoxOptions options;
  options.tolerance = solver.tolerance;
  options.max_steps = solver.max_iterations;
  options.time_limit = solver.time_limit;
  options.memory = impl_->row_memory;
  options.run = run;
  options.polish = impl_->polish && !to_tolerance;
  return std::visit([&](const auto& rows) { return rows.solve(samples, problem, options); }, impl_->rows);
}

Eigen::MatrixXd SvmRows::products(std::span<const Index> at, const std::vector<PairExpansion>& expansions, const Run& run) const {
  return std::visit([&](const auto& rows) { return rows.products(at, expansions, run); }, impl_->rows);
}

std::shared_ptr<const SvmRows> SvmRows::part(const std::vector<Index>& samples) const {
  // The pairs of k classes have some 2 n^2 entries together, and every thread may be at another fold.
  const bool small = 8 * impl_->stored_bytes <= impl_->row_memory;
  if (!small || std::ssize(samples) > exact_rows) return nullptr;
  return std::visit(
      [&]<class T>(const Rows<T>& rows) -> std::shared_ptr<const SvmRows> {
        if (rows.stored == nullptr) return nullptr;
        auto impl = std::make_unique<Impl>();
        impl->precision = impl_->precision;
        impl->polish = impl_->polish;
        impl->row_memory = impl_->row_memory;
        impl->rows = Rows<T>{rows.kernel, rows.X.subset(samples), rows.stored->part(samples), nullptr};
        return std::shared_ptr<const SvmRows>(new SvmRows(std::move(impl)));
      },
      impl_->rows);
}

Vector balanced(const Vector& b) {
  const double above = b.cwiseMax(0).sum();
  const double below = -b.cwiseMin(0).sum();
  const double kept = std::min(above, below);
  return (b.array() *
          (b.array() > 0).select(kept / std::max(above, 1e-300), Vector::Constant(b.size(), kept / std::max(below, 1e-300)).array()))
      .matrix();
}

double box_bound(double C, const std::optional<double>& lambda, Index n) {
  if (lambda) {
    if (!(*lambda > 0) || !std::isfinite(*lambda))
      throw InvalidArgument(fmt::format("lambda must be a finite number > 0, got {}", *lambda));
    return 1 / (2 * static_cast<double>(n) * *lambda);
  }
  if (!(C > 0) || !std::isfinite(C)) throw InvalidArgument(fmt::format("C must be a finite number > 0, got {}", C));
  return C;
}

void require_solver(const SvmSolver& solver) {
  if (!(solver.tolerance > 0) || !std::isfinite(solver.tolerance))
    throw InvalidArgument(fmt::format("tolerance must be a finite number > 0, got {}", solver.tolerance));
  if (solver.max_iterations < 0) throw InvalidArgument(fmt::format("max_iterations must be >= 0, got {}", solver.max_iterations));
  if (!(solver.time_limit >= 0)) throw InvalidArgument(fmt::format("time_limit must be >= 0 seconds, got {}", solver.time_limit));
}

void require_nu(double nu) {
  if (!(nu > 0) || !(nu <= 1)) throw InvalidArgument(fmt::format("nu must be in (0, 1], got {}", nu));
}

void add_to_summary(const BoxSolution& solution, const BoxProblem& problem, SvmSummary& s) {
  s.iterations += solution.steps;
  s.objective += solution.objective;
  s.gap += solution.gap;
  s.violation = std::max(s.violation, solution.violation);
  s.kernel_rows += solution.rows_computed;
  s.bytes = std::max(s.bytes, solution.bytes);
  for (Index i = 0; i < solution.b.size(); ++i) {
    const bool at_bound = solution.b[i] != 0 && (solution.b[i] >= problem.upper[i] || solution.b[i] <= problem.lower[i]);
    s.at_bound += at_bound ? 1 : 0;
  }
  if (solution.status == BoxStatus::step_limit) s.status = "step limit";
  if (solution.status == BoxStatus::time_limit) s.status = "time limit";
  if (solution.status == BoxStatus::rounding) s.status = "rounding";
}

namespace {

// The column whose spread is furthest above the others', when it is far above.
std::string scale_remark(const Samples& X) {
  if (X.is_given() || X.has_objects() || X.is_sparse() || X.width() < 1 || X.size() < 2) return {};
  const Matrix some = X.slice(0, std::min<Index>(X.size(), 1000)).to_dense();
  const Vector spread = ((some.rowwise() - some.colwise().mean()).array().square().colwise().mean()).sqrt().matrix().transpose();
  Index worst = 0;
  const double most = spread.maxCoeff(&worst);
  std::vector<double> others(spread.begin(), spread.end());
  others.erase(others.begin() + worst);
  if (others.empty()) others.push_back(0);
  std::nth_element(others.begin(), others.begin() + std::ssize(others) / 2, others.end());
  const double typical = others[others.size() / 2];
  if (most <= 100 || (X.width() > 1 && most <= 100 * typical)) return {};
  return fmt::format(
      "the columns are not scaled: column {} spreads by {:.3g}{}; standardised columns converge faster and often predict better", worst,
      most, X.width() > 1 ? fmt::format(", a typical one by {:.3g}", typical) : "");
}

}  // namespace

void finish_summary(SvmSummary& s, const SvmSolver& solver, const Samples& X, Index n) {
  const std::string remark = scale_remark(X);
  const auto say = [&](const std::string& text) { s.remark += (s.remark.empty() ? "" : "; ") + text; };
  std::string verdict = "converged";
  if (s.status == "step limit" || s.status == "time limit") {
    verdict = fmt::format("not converged ({})", s.status);
    say(fmt::format(
        "stopped at the {} with violation {:.2g} > {:g}: the model is usable but not optimal; allow more {}, lower C or scale the "
        "columns",
        s.status, s.violation, solver.tolerance, s.status == "step limit" ? "steps" : "time"));
  } else if (s.status == "rounding") {
    verdict = "not converged (rounding)";
    say(fmt::format("ended where {} numbers cannot be told apart, with violation {:.2g} > {:g}: lower C or scale the columns{}",
                    name_of(s.precision), s.violation, solver.tolerance, s.precision == Precision::float32 ? ", or use float64" : ""));
  } else if (s.status != "converged") {
    verdict = s.status;
  }
  if (!remark.empty()) say(remark);
  s.sentence =
      fmt::format("{}: {} steps{}, {} support vectors of {}, duality gap {:.1e} (objective {:.6g}), {:.2f} s", verdict, s.iterations,
                  s.problems > 1 ? fmt::format(" in {} problems", s.problems) : "", s.support_vectors, n, s.gap, s.objective, s.seconds);
}

}  // namespace mercer
