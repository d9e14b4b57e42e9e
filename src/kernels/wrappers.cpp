// A kernel normalised, restricted to columns, or composed with itself over given points.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "kernels/composite.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

std::string text_of(const Matrix& points) {
  std::string out = "[";
  for (Index i = 0; i < points.rows(); ++i) {
    out += i > 0 ? ", [" : "[";
    for (Index j = 0; j < points.cols(); ++j) out += fmt::format("{}{}", j > 0 ? ", " : "", points(i, j));
    out += "]";
  }
  return out + "]";
}

// S10: the form with the root needs k(x,x) > 0; the one without is k(x,y) times g(x) g(y), a kernel too.
class NormalizedKernel final : public Composite {
 public:
  NormalizedKernel(const Kernel& part, Normalization form)
      : Composite({part}, before_postfix(part) + (form == Normalization::root ? ".normalized()" : ".normalized(product)"),
                  normalized_properties(form, part.node().properties()), depth_before_postfix(part)),
        form_(form) {}
  Kind kind() const override { return Kind::normalized; }
  Normalization normalization() const override { return form_; }
  std::shared_ptr<const KernelNode> rebuilt(std::vector<Kernel> parts, std::span<const double>) const override {
    return std::make_shared<NormalizedKernel>(parts[0], form_);
  }

 private:
  Normalization form_;
};

class RestrictedKernel final : public Composite {
 public:
  RestrictedKernel(const Kernel& part, std::vector<ColumnRef> columns)
      : Composite({part}, fmt::format("{}.on({})", before_postfix(part), mercer::text_of(columns)),
                  restricted_properties(columns, part.node().properties()), depth_before_postfix(part)),
        columns_(std::move(columns)) {}
  Kind kind() const override { return Kind::restricted; }
  std::span<const ColumnRef> columns() const override { return columns_; }
  std::shared_ptr<const KernelNode> rebuilt(std::vector<Kernel> parts, std::span<const double>) const override {
    return std::make_shared<RestrictedKernel>(parts[0], columns_);
  }

 private:
  std::vector<ColumnRef> columns_;
};

class ComposedKernel final : public Composite {
 public:
  ComposedKernel(const Kernel& part, std::shared_ptr<const Matrix> points)
      : Composite({part}, fmt::format("{}.over({})", before_postfix(part), text_of(*points)), composed_properties(part.node().properties()),
                  depth_before_postfix(part)),
        points_(std::move(points)) {}
  Kind kind() const override { return Kind::composed; }
  const Matrix& points() const override { return *points_; }
  std::shared_ptr<const KernelNode> rebuilt(std::vector<Kernel> parts, std::span<const double>) const override {
    return std::make_shared<ComposedKernel>(parts[0], points_);
  }

 private:
  std::shared_ptr<const Matrix> points_;
};

}  // namespace

Kernel Kernel::normalized(Normalization form) const { return Kernel(std::make_shared<NormalizedKernel>(*this, form)); }

Kernel Kernel::on(std::vector<ColumnRef> columns) const {
  if (columns.empty()) throw InvalidArgument("on() needs at least one column");
  constexpr Index most = 1000000;  // what text may say of columns, and what fits in a file
  if (std::ssize(columns) > most) throw InvalidArgument(fmt::format("on() takes at most {} columns, got {}", most, columns.size()));
  std::vector<ColumnRef> sorted = columns;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    throw InvalidArgument(fmt::format("on() names column {} twice", mercer::text_of(std::span(&*twice, 1))));
  for (const ColumnRef& column : columns) {
    if (column.index > 1000000000) throw InvalidArgument(fmt::format("a column's position is at most 1000000000, got {}", column.index));
    if (column.index < 0 && column.name.empty())
      throw InvalidArgument(fmt::format("a column is counted from 0 or named, got {}", column.index));
  }
  return Kernel(std::make_shared<RestrictedKernel>(*this, std::move(columns)));
}

Kernel Kernel::over(Matrix points) const {
  if (points.size() == 0) throw InvalidArgument("over() needs at least one point with at least one column");
  require_finite(points, "the points of over()");
  if (needs_given_gram())
    throw InvalidArgument("a given Gram matrix has no values at other points: precomputed cannot be composed over them");
  return Kernel(std::make_shared<ComposedKernel>(*this, std::make_shared<const Matrix>(std::move(points))));
}

}  // namespace mercer
