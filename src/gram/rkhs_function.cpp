// f = sum a_i k(x_i, .): evaluation, inner products and norms over streamed Gram operators.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/rkhs_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/node.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"

namespace mercer {

namespace {

// Where nothing is known of the kernel (a function of the user's, a given Gram matrix) the numbers themselves decide.
void require_psd(const Kernel& kernel, const char* what, const char* remedy) {
  if (kernel.psd() == Verdict::no)
    throw InvalidArgument(fmt::format("{} is not defined for {}, which is not positive semi-definite; {}", what, kernel.text(), remedy));
}

[[noreturn]] void throw_negative(const Kernel& kernel, const char* what, double value) {
  throw InvalidArgument(
      fmt::format("{} would be the root of {:.6g}: {} is not positive semi-definite on these samples", what, value, kernel.text()));
}

void require_width(const Samples& X, const Samples& own) {
  if (X.width() != own.width())
    throw InvalidArgument(fmt::format("X has {} columns but the function lives on samples of {}", X.width(), own.width()));
}

// Objects of one given Gram matrix: k(x_i, z_j) is the same from either side.
void require_same_gram(const Samples& a, const Samples& b) {
  const auto& x = std::get<DenseRows<double>>(a.storage());
  const auto& z = std::get<DenseRows<double>>(b.storage());
  if (x.cols != a.width() || z.cols != b.width()) return;  // without values nothing can be compared
  for (Index i = 0; i < x.rows; ++i) {
    for (Index j = 0; j < z.rows; ++j) {
      const double one = x.row(i)[b.given_ids()[static_cast<std::size_t>(j)]];
      const double other = z.row(j)[a.given_ids()[static_cast<std::size_t>(i)]];
      if (std::abs(one - other) > 1e-6 * std::max(std::abs(one), std::abs(other)))
        throw InvalidArgument(fmt::format(
            "the functions live in different spaces: their given Gram matrices have {:.6g} and {:.6g} for the same pair", one, other));
    }
  }
}

void require_same_kernel(const RkhsFunction& f, const RkhsFunction& g) {
  if (f.kernel() == g.kernel()) {
    require_width(g.samples(), f.samples());
    if (f.samples().is_given() && g.samples().is_given()) require_same_gram(f.samples(), g.samples());
    return;
  }
  throw InvalidArgument(fmt::format("the functions live in different spaces: one has the kernel {}, the other {}; give both the same",
                                    f.kernel().text(), g.kernel().text()));
}

// K(X, Z) c from tiles that are not kept, in float64.
Vector applied(const Kernel& kernel, const Samples& X, const Samples& Z, const Vector& c, const Run& run) {
  if (X.empty()) return {};
  return gram_operator(kernel, X, Z, {.precision = Precision::float64, .storage = Storage::streamed, .run = run})->apply(c);
}

template <class Rows>
bool equal_rows(const Rows& a, const Rows& b) {
  for (Index i = 0; i < a.rows; ++i) {
    if constexpr (requires { a.stride; }) {
      if (!std::equal(a.row(i), a.row(i) + a.cols, b.row(i))) return false;
    } else {
      const Index count = a.end(i) - a.begin(i);
      if (b.end(i) - b.begin(i) != count || !std::equal(a.columns + a.begin(i), a.columns + a.end(i), b.columns + b.begin(i)) ||
          !std::equal(a.values + a.begin(i), a.values + a.end(i), b.values + b.begin(i)))
        return false;
    }
  }
  return true;
}

bool equal_samples(const Samples& a, const Samples& b) {
  if (a.same_rows(b)) return true;
  if (a.has_objects() || b.has_objects()) return false;  // equal ones are joined like others, which costs only time
  if (a.size() != b.size() || a.width() != b.width() || a.storage().index() != b.storage().index() || a.is_given() != b.is_given())
    return false;
  if (!std::equal(a.given_ids().begin(), a.given_ids().end(), b.given_ids().begin())) return false;
  return std::visit([&]<class Rows>(const Rows& rows) { return equal_rows(rows, std::get<Rows>(b.storage())); }, a.storage());
}

// f + c g.
RkhsFunction combined(const RkhsFunction& f, double c, const RkhsFunction& g) {
  require_same_kernel(f, g);
  if (equal_samples(f.samples(), g.samples())) return {f.kernel(), f.samples(), f.coefficients() + c * g.coefficients()};
  Vector both(f.size() + g.size());
  both << f.coefficients(), c * g.coefficients();
  return {f.kernel(), concatenate(f.samples(), g.samples()), std::move(both)};
}

}  // namespace

RkhsFunction::RkhsFunction(const Kernel& kernel, Samples samples, Vector coefficients)
    : kernel_(kernel), samples_(std::move(samples)), coefficients_(std::move(coefficients)) {
  if (looks_at(kernel, Reduction::same))
    throw InvalidArgument(fmt::format(
        "{} has white noise, which tells samples apart and not points: it has no function k(x, .); leave white out", kernel.text()));
  if (samples_.empty()) throw InvalidArgument("a function needs at least one sample x_i, got none");
  if (coefficients_.size() != samples_.size())
    throw InvalidArgument(fmt::format("{} coefficients for {} samples; give one for each", coefficients_.size(), samples_.size()));
  require_finite(samples_, "X");
  samples_ = as_given(kernel, samples_);
  for (Index i = 0; i < coefficients_.size(); ++i) {
    if (!std::isfinite(coefficients_[i]))
      throw InvalidArgument(fmt::format("coefficient {} (counting from 0) is {}, not a finite number", i, coefficients_[i]));
  }
  kernel_ = resolve(kernel, samples_);
}

Vector RkhsFunction::operator()(const Samples& X, const Run& run) const {
  require_width(X, samples_);
  return applied(kernel_, X, samples_, coefficients_, run);
}

double RkhsFunction::squared_norm(const Run& run) const {
  require_psd(kernel_, "the norm of a function", "inner(f, f) is still a bilinear form");
  const double square = inner(*this, *this, run);
  if (!kernel_.is_psd()) {
    // n^2 products that cancel: what rounding may leave of their sizes.
    const double sizes =
        coefficients_.cwiseAbs().sum() * coefficients_.cwiseAbs().maxCoeff() * gram_diagonal(kernel_, samples_).cwiseAbs().maxCoeff();
    if (square < -static_cast<double>(size()) * std::numeric_limits<double>::epsilon() * sizes)
      throw_negative(kernel_, "the norm of this function", square);
  }
  return std::max(0.0, square);  // rounding may leave a tiny negative number where f is 0
}

double RkhsFunction::norm(const Run& run) const { return std::sqrt(squared_norm(run)); }

Vector RkhsFunction::bound(const Samples& X, const Run& run) const {
  require_width(X, samples_);
  const double length = norm(run);
  return length * gram_diagonal(kernel_, X).cwiseMax(0).cwiseSqrt();
}

double inner(const RkhsFunction& f, const RkhsFunction& g, const Run& run) {
  require_same_kernel(f, g);
  return f.coefficients().dot(applied(f.kernel(), f.samples(), g.samples(), g.coefficients(), run));
}

double distance(const RkhsFunction& f, const RkhsFunction& g, const Run& run) { return (f - g).norm(run); }

RkhsFunction operator+(const RkhsFunction& f, const RkhsFunction& g) { return combined(f, 1, g); }
RkhsFunction operator-(const RkhsFunction& f, const RkhsFunction& g) { return combined(f, -1, g); }
RkhsFunction operator-(const RkhsFunction& f) { return {f.kernel(), f.samples(), -f.coefficients()}; }
RkhsFunction operator*(double c, const RkhsFunction& f) { return {f.kernel(), f.samples(), c * f.coefficients()}; }
RkhsFunction operator*(const RkhsFunction& f, double c) { return c * f; }

Matrix feature_distance(const Kernel& kernel, const Samples& X, const Run& run) { return feature_distance(kernel, X, X, run); }

Matrix feature_distance(const Kernel& kernel, const Samples& X, const Samples& Y, const Run& run) {
  if (X.width() != Y.width()) throw InvalidArgument(fmt::format("X has {} columns but Y has {}", X.width(), Y.width()));
  const Kernel known = resolve(kernel, Y);
  require_psd(known, "the distance in feature space", "use a kernel that is");
  Matrix out = gram(known, X, Y, {.run = run});
  const bool itself = X.same_rows(Y);
  const Vector x = gram_diagonal(known, X);
  const Vector y = itself ? x : gram_diagonal(known, Y);
  with_run(run, [&] {
    Stage stage(run.progress, "feature distances", static_cast<double>(X.size()));
    parallel_for(X.size(), [&](Index i) {
      auto row = out.row(i).array();
      row = (x[i] + y.transpose().array()) - 2 * row;
      if (const double least = row.minCoeff(); !known.is_psd() && least < -1e-10 * (std::abs(x[i]) + y.cwiseAbs().maxCoeff()))
        throw_negative(known, "a distance", least);
      row = row.max(0).sqrt();
      if (itself) out(i, i) = 0;
      stage.advance(1);
    });
  });
  return out;
}

}  // namespace mercer
