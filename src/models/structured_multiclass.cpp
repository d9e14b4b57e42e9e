// The multi-class machine: w holds one function per class, and a plane is the number of a wrong class.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "gram/kernel_rows.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "models/class_counts.hpp"
#include "models/convex_fit.hpp"
#include "models/linear_rows.hpp"
#include "models/structured_fit.hpp"
#include "solvers/row_cache.hpp"

namespace mercer {

namespace {

using solvers::Plane;
using Clock = std::chrono::steady_clock;

// psi_i(y) = k(x_i, .) (e_truth - e_y), so <psi_i(y), psi_i(z)> is k(x_i, x_i), twice that for y = z.
class ClassSpace : public solvers::PlaneSpace {
 public:
  ClassSpace(const std::vector<Index>& labels, Index classes, Vector diagonal)
      : labels_(labels), classes_(classes), diagonal_(std::move(diagonal)) {}

  Index examples() const override { return std::ssize(labels_); }
  Plane worst(Index i) const override {
    Index best = truth(i);
    double most = score(i, best);
    for (Index c = 0; c < classes_; ++c) {
      if (c == truth(i)) continue;
      if (const double value = score(i, c) + 1; value > most) {
        most = value;
        best = c;
      }
    }
    return {.loss = best == truth(i) ? 0.0 : 1.0, .indices = {best}, .values = {}};
  }
  double product(Index i, const Plane& plane) const override { return score(i, truth(i)) - score(i, plane.indices[0]); }
  double inner(Index i, const Plane& a, const Plane& b) const override {
    if (a.indices[0] == truth(i) || b.indices[0] == truth(i)) return 0;
    return a.indices[0] == b.indices[0] ? 2 * diagonal_[i] : diagonal_[i];
  }
  void add(Index i, const Plane& plane, double amount) override {
    change(i, truth(i), amount);
    change(i, plane.indices[0], -amount);
  }

 protected:
  virtual double score(Index i, Index c) const = 0;
  virtual void change(Index i, Index c, double amount) = 0;  // w_c += amount k(x_i, .)

  Index truth(Index i) const { return labels_[static_cast<std::size_t>(i)]; }
  Index classes() const { return classes_; }

 private:
  const std::vector<Index>& labels_;
  Index classes_;
  Vector diagonal_;
};

template <class Storage>
Vector squared_rows(const RowLoops<Storage>& rows, Index n, double bias) {
  Vector out(n);
  for (Index i = 0; i < n; ++i) out[i] = rows.squared_norm(i) + bias;
  return out;
}

template <class Storage>
class LinearClassSpace final : public ClassSpace {
 public:
  LinearClassSpace(const Storage& x, const std::vector<Index>& labels, Index classes, bool intercept)
      : ClassSpace(labels, classes, squared_rows(RowLoops<Storage>{x}, x.rows, intercept ? 1 : 0)),
        rows_{x},
        W_(Matrix::Zero(classes, x.cols)),
        b_(Vector::Zero(classes)),
        bias_(intercept ? 1 : 0) {}

  void restart() override {
    W_.setZero();
    b_.setZero();
  }
  void settle() override {}
  double squared_norm() const override { return W_.squaredNorm() + b_.squaredNorm(); }

  const Matrix& coef() const { return W_; }
  const Vector& intercept() const { return b_; }

 protected:
  double score(Index i, Index c) const override { return rows_.dot(i, W_.row(c).data()) + b_[c]; }
  void change(Index i, Index c, double amount) override {
    rows_.add(i, amount, W_.row(c).data());
    b_[c] += amount * bias_;
  }

 private:
  RowLoops<Storage> rows_;
  Matrix W_;
  Vector b_;
  double bias_;
};

// The Gram matrix of the samples: stored where it fits the budget, else its rows are computed when they are asked for and kept while
// there is room.
class GramRows {
 public:
  GramRows(const Kernel& kernel, const Samples& X, const Run& run) {
    const auto n = static_cast<std::size_t>(X.size());
    const std::size_t budget = memory_budget(run.memory);
    if (n * n * sizeof(double) <= budget / 5 * 4) {
      op_ = gram_operator(kernel, X, {Precision::float64, Storage::stored, run});
      stored_ = op_->row_block(0, op_->rows());
      bytes_ = n * n * sizeof(double);
      return;
    }
    op_ = gram_operator(kernel, X, {Precision::float64, Storage::streamed, run});
    source_ = std::make_unique<KernelRows<double>>(PreparedKernel<double>(kernel, X, X));
    cache_ = std::make_unique<RowCache<double>>(*source_, budget / 5 * 4, 1);
    bytes_ = budget / 5 * 4;
  }

  const double* row(Index i) {
    if (cache_ == nullptr) return std::get<const double*>(stored_.values) + i * stored_.stride;
    return cache_->rows(std::span<const Index>(&i, 1))[0];
  }
  Matrix apply(const Matrix& V) const { return op_->apply(V); }
  Vector diagonal() const { return op_->diagonal(); }
  std::size_t bytes() const { return bytes_; }
  bool is_stored() const { return cache_ == nullptr; }

 private:
  Operator op_{};
  RowBlock stored_{};
  std::unique_ptr<KernelRows<double>> source_{};
  std::unique_ptr<RowCache<double>> cache_{};
  std::size_t bytes_ = 0;
};

// w_c = sum_i A(i, c) k(x_i, .), with the scores F = (A'K) of all samples, one row per class. The intercept is the kernel 1 beside k.
class KernelClassSpace final : public ClassSpace {
 public:
  KernelClassSpace(GramRows& gram, const std::vector<Index>& labels, Index classes, bool intercept)
      : ClassSpace(labels, classes, Vector((gram.diagonal().array() + (intercept ? 1 : 0)).matrix())),
        gram_(gram),
        A_(Matrix::Zero(std::ssize(labels), classes)),
        F_(Matrix::Zero(classes, std::ssize(labels))),
        change_(Vector::Zero(classes)),
        bias_(intercept ? 1 : 0) {}

  void restart() override {
    A_.setZero();
    F_.setZero();
    change_.setZero();
    at_ = -1;
    whole_ = true;
  }
  void settle() override {
    if (whole_) {
      if (!A_.isZero(0)) {
        F_ = gram_.apply(A_).transpose();
        F_.colwise() += bias_ * Vector(A_.colwise().sum().transpose());
      }
    } else if (at_ >= 0) {
      const Eigen::Map<const Eigen::RowVectorXd> row(gram_.row(at_), A_.rows());
      for (Index c = 0; c < change_.size(); ++c) {
        if (change_[c] != 0) F_.row(c).array() += change_[c] * row.array() + change_[c] * bias_;
      }
    }
    whole_ = false;
    at_ = -1;
    change_.setZero();
  }
  double squared_norm() const override { return A_.transpose().cwiseProduct(F_).sum(); }

  const Matrix& coef() const { return A_; }
  Vector intercept() const { return bias_ * A_.colwise().sum().transpose(); }

 protected:
  double score(Index i, Index c) const override { return F_(c, i); }
  void change(Index i, Index c, double amount) override {
    A_(i, c) += amount;
    change_[c] += amount;
    at_ = i;
  }

 private:
  GramRows& gram_;
  Matrix A_;
  Matrix F_;
  Vector change_;  // of row at_ of A, since the last settle
  Index at_ = -1;  // the one example that changed; all did when `whole`
  bool whole_ = true;
  double bias_;
};

using Parts = StructuredSvmModel::Parts;

StructuredSvmModel fit_linear(const Samples& X, const std::vector<Index>& labels, Index classes, const StructuredSvmOptions& o,
                              const Vector& C, Clock::time_point start) {
  require_columns(X, "linear");
  return std::visit(
      [&]<class Storage>(const Storage& x) {
        LinearClassSpace<Storage> space(x, labels, classes, o.fit_intercept);
        const auto bytes = static_cast<std::size_t>(classes * X.width()) * sizeof(double);
        const std::string what = fmt::format("{} x {} {}, {} classes", X.size(), X.width(), X.is_sparse() ? "sparse" : "dense", classes);
        StructuredSvmSummary summary = run_structured(space, o, C, start, bytes, what);
        Parts parts{.form = StructuredForm::multiclass,
                    .kernel = o.kernel,
                    .coef = space.coef(),
                    .intercept = space.intercept(),
                    .C = common_C(o, C)};
        return StructuredSvmModel::from_parts(std::move(parts), std::move(summary));
      },
      X.storage());
}

StructuredSvmModel fit_kernel(const Samples& X, const std::vector<Index>& labels, Index classes, const StructuredSvmOptions& o,
                              const Vector& C, Clock::time_point start) {
  if (o.kernel.psd() == Verdict::no) {
    throw InvalidArgument(
        fmt::format("the kernel {} is not positive semi-definite, so |w|^2 is no penalty; use a PSD kernel", o.kernel.text()));
  }
  const auto state = static_cast<std::size_t>(2 * X.size() * classes) * sizeof(double);
  require_memory(state, o.run.memory, fmt::format("scores and coefficients of {} samples for {} classes", X.size(), classes),
                 "use fewer rows or a larger budget");
  StructuredSvmOptions resolved = o;
  std::optional<GramRows> gram;
  with_run(o.run, [&] {
    resolved.kernel = ready_kernel(o.kernel, X);
    gram.emplace(resolved.kernel, X, o.run);
  });
  KernelClassSpace space(*gram, labels, classes, o.fit_intercept);
  const std::string what =
      fmt::format("{} samples, {} classes, Gram matrix {}", X.size(), classes, gram->is_stored() ? "stored" : "by rows");
  StructuredSvmSummary summary = run_structured(space, resolved, C, start, gram->bytes() + state, what);
  std::vector<Index> support;
  for (Index i = 0; i < X.size(); ++i) {
    if (!space.coef().row(i).isZero(0)) support.push_back(i);
  }
  summary.support_vectors = std::ssize(support);
  if (support.empty()) support.push_back(0);  // w = 0, written with one sample
  Parts parts{.form = StructuredForm::multiclass, .kernel = resolved.kernel, .samples = X.subset(support).without_values()};
  parts.coef = space.coef()(support, Eigen::all);
  parts.intercept = space.intercept();
  parts.support = std::move(support);
  parts.C = common_C(o, C);
  return StructuredSvmModel::from_parts(std::move(parts), std::move(summary));
}

}  // namespace

StructuredSvmModel fit_multiclass_svm(const Samples& rows, const std::vector<Index>& labels, const StructuredSvmOptions& options) {
  const auto start = Clock::now();
  const Samples X = as_given(options.kernel, rows);
  const Index classes = require_classes(X, labels, options.sample_weight);
  const Vector C = structured_weights(options, X.size());
  const bool linear = options.kernel.text() == kernels::linear().text() && !X.is_given() && !X.has_objects();
  return linear ? fit_linear(X, labels, classes, options, C, start) : fit_kernel(X, labels, classes, options, C, start);
}

}  // namespace mercer
