// Properties through the algebra (SPEC K3, S9, M9), formulas of the leaves, and automatic length scales.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/node.hpp"
#include "mercer/error.hpp"
#include "mercer/kernels.hpp"

namespace mercer {
namespace {

using kernels::constant;
using kernels::gaussian;
using kernels::laplacian;
using kernels::linear;
using kernels::polynomial;

constexpr Verdict yes = Verdict::yes;
constexpr Verdict no = Verdict::no;
constexpr Verdict unknown = Verdict::unknown;

void expect(const Kernel& k, bool psd, Verdict universal, Verdict characteristic) {
  EXPECT_EQ(k.is_psd(), psd) << k.text();
  EXPECT_EQ(k.is_universal(), universal) << k.text();
  EXPECT_EQ(k.is_characteristic(), characteristic) << k.text();
}

TEST(KernelProperties, Leaves) {
  expect(linear(), true, no, no);
  expect(gaussian(), true, yes, yes);
  expect(gaussian(kernels::LengthScale::automatic()), true, yes, yes);
  expect(laplacian(), true, yes, yes);
  expect(laplacian(1.0, kernels::Norm::l1), true, yes, yes);
  expect(constant(2), true, no, no);
  expect(constant(0), true, no, no);
  expect(constant(-1), false, no, no);
}

TEST(KernelProperties, PolynomialNeedsPositiveScaleAndOffset) {
  expect(polynomial(3, 1, 1), true, no, no);
  expect(polynomial(2, 0.5, 0), true, no, no);
  expect(polynomial(2, 1, -0.1), false, no, no);
  expect(polynomial(2, 0, 1), false, no, no);
  expect(polynomial(2, -1, 1), false, no, no);
  EXPECT_THROW(polynomial(0), InvalidArgument);
  EXPECT_THROW(polynomial(-2), InvalidArgument);
  EXPECT_THROW(polynomial(2, std::numeric_limits<double>::infinity()), InvalidArgument);
  EXPECT_THROW(polynomial(2, 1, std::nan("")), InvalidArgument);
}

TEST(KernelProperties, NonNegativeCombinations) {
  expect(2 * gaussian(), true, yes, yes);
  expect(0 * gaussian(), true, no, no);
  expect(-1 * gaussian(), false, unknown, unknown);
  expect(-1 * linear(), false, no, no);
  expect(-2 * (-3 * gaussian()), true, yes, yes);
  expect((-1 * gaussian()) * (-1 * gaussian(2.0)), true, yes, yes);
  expect(0 * polynomial(2, 1, -1), true, no, no);
}

TEST(KernelProperties, ASumWithARichKernelStaysRich) {
  expect(gaussian() + linear(), true, yes, yes);
  expect(linear() + constant(1) + laplacian(), true, yes, yes);
  expect(linear() + polynomial(2), true, no, no);
  expect(gaussian() + constant(-1), false, unknown, unknown);
  expect(gaussian() + -1 * laplacian(), false, unknown, unknown);
  expect(linear() + -1 * linear(), false, no, no);
}

TEST(KernelProperties, Products) {
  expect(gaussian() * laplacian(), true, yes, yes);
  expect(linear() * polynomial(2), true, no, no);
  expect(gaussian() * linear(), true, unknown, unknown);
  expect(gaussian() * polynomial(2, 1, -1), false, unknown, unknown);
  expect((gaussian() + linear()) * gaussian(), true, yes, unknown);
  expect(gaussian() * constant(2), true, yes, yes);
  expect(gaussian() * kernels::sigmoid(), false, unknown, unknown);
  expect((gaussian() + laplacian()) * gaussian(), true, yes, yes);
}

struct Verdicts {
  Verdict psd, strictly_pd, universal, characteristic, bounded, shift_invariant;
  bool operator==(const Verdicts&) const = default;
};

void expect_all(const char* text, const Verdicts& wanted) {
  const Kernel k = parse_kernel(text);
  EXPECT_EQ(k.psd(), wanted.psd) << text;
  EXPECT_EQ(k.is_strictly_pd(), wanted.strictly_pd) << text;
  EXPECT_EQ(k.is_universal(), wanted.universal) << text;
  EXPECT_EQ(k.is_characteristic(), wanted.characteristic) << text;
  EXPECT_EQ(k.is_bounded(), wanted.bounded) << text;
  EXPECT_EQ(k.is_shift_invariant(), wanted.shift_invariant) << text;
}

TEST(KernelProperties, EveryVerdictOfEveryLeaf) {
  expect_all("linear", {yes, no, no, no, no, no});
  expect_all("polynomial(2, offset=-1)", {no, no, no, no, no, no});
  expect_all("sigmoid", {no, no, unknown, unknown, yes, no});
  expect_all("exponential_dot", {yes, yes, yes, yes, no, no});
  expect_all("cosine", {yes, no, no, no, yes, no});
  for (const char* rich : {"gaussian", "gaussian([1, 2])", "laplacian", "laplacian(norm=l1)", "matern(0.5)", "matern(1.5)", "matern(2.5)",
                           "rational_quadratic"})
    expect_all(rich, {yes, yes, yes, yes, yes, yes});
  expect_all("periodic", {yes, no, no, no, yes, yes});
  expect_all("chi2", {yes, yes, yes, unknown, yes, no});
  expect_all("histogram_intersection", {yes, no, no, no, no, no});
  expect_all("constant(0)", {yes, no, no, no, yes, yes});
  expect_all("white", {yes, yes, no, no, yes, no});
  expect_all("white(-1)", {no, no, no, no, yes, no});
  expect_all("precomputed", {unknown, unknown, unknown, unknown, unknown, unknown});
}

TEST(KernelProperties, StrictnessBoundsAndShifts) {
  expect_all("linear + white", {yes, yes, unknown, unknown, no, unknown});
  expect_all("linear + constant(1)", {yes, no, no, no, no, no});
  expect_all("gaussian + white(0.1)", {yes, yes, yes, yes, yes, no});
  expect_all("gaussian*linear", {yes, unknown, unknown, unknown, no, no});
  expect_all("gaussian*periodic", {yes, yes, unknown, unknown, yes, yes});
  expect_all("gaussian*constant(0)", {yes, no, no, no, yes, yes});
  expect_all("gaussian + precomputed", {unknown, unknown, unknown, unknown, unknown, unknown});
  expect_all("gaussian*sigmoid", {no, no, unknown, unknown, yes, no});
}

// Verdicts are about the columns that the whole kernel looks at: direct sums see marginals, tensor products everything.
TEST(KernelProperties, ColumnGroups) {
  expect_all("gaussian.on(0, 1)", {yes, yes, yes, yes, yes, yes});
  expect_all("gaussian.on(0) + gaussian.on(1)", {yes, unknown, no, no, yes, yes});
  expect_all("gaussian.on(0) + gaussian.on(0, 1)", {yes, yes, yes, yes, yes, yes});
  expect_all("gaussian.on(0) + gaussian.on(1, 0) + constant(1)", {yes, yes, yes, yes, yes, yes});
  expect_all("gaussian.on(a) + gaussian.on(0)", {yes, unknown, unknown, unknown, yes, yes});
  expect_all("gaussian.on(0) + linear", {yes, unknown, unknown, unknown, no, no});
  expect_all("gaussian.on(0)*laplacian.on(1)", {yes, yes, yes, yes, yes, yes});
  expect_all("gaussian.on(0)*linear.on(1)", {yes, unknown, unknown, unknown, no, no});
  expect_all("gaussian.on(0)*periodic.on(1)", {yes, unknown, unknown, unknown, yes, yes});
  expect_all("(gaussian.on(0)*laplacian.on(1)).on(3, 5) + linear.on(5)", {yes, yes, yes, yes, no, no});
}

TEST(KernelProperties, MapsAndForms) {
  expect_all("gaussian^3", {yes, yes, yes, yes, yes, yes});
  expect_all("linear^2", {yes, no, no, no, unknown, unknown});
  expect_all("gaussian.exp()", {yes, yes, yes, yes, yes, yes});
  expect_all("linear.exp()", {yes, yes, yes, yes, no, no});
  expect_all("(0.5*linear).exp()", {yes, yes, yes, yes, no, no});
  expect_all("polynomial(2).exp()", {yes, unknown, unknown, unknown, no, no});
  expect_all("(0.5*gaussian).geometric()", {yes, yes, yes, yes, unknown, yes});
  expect_all("gaussian.series([1, 0.5])", {yes, yes, yes, yes, yes, yes});
  expect_all("gaussian.series([1, -0.5])", {unknown, unknown, unknown, unknown, yes, yes});
  expect_all("gaussian.series([2])", {yes, no, no, no, yes, yes});
  expect_all("(0*linear).series([0, 1])*gaussian", {yes, no, no, no, yes, yes});
  expect_all("linear.series([0, 1, 1])", {yes, no, no, no, no, unknown});
  expect_all("linear.series([1, 2])", {yes, no, no, no, no, no});
  expect_all("exponential_dot.series([0, 0, 1])", {yes, yes, yes, unknown, no, unknown});
  expect_all("histogram_intersection.series([0, 1, 1])", {yes, unknown, unknown, unknown, no, unknown});
  expect_all("gaussian.series([0, 0, 1])", {yes, yes, yes, yes, yes, yes});
  expect_all("sigmoid.exp()", {no, no, unknown, unknown, yes, no});
  expect_all("(-1*linear).exp()", {no, no, unknown, unknown, no, no});
  expect_all("exponential_dot.normalized()", {yes, yes, yes, unknown, yes, unknown});
  expect_all("gaussian.normalized(product)", {yes, yes, yes, yes, yes, yes});
  expect_all("polynomial(2).normalized()", {yes, no, no, no, yes, unknown});
  expect_all("sigmoid.over([[1], [2]])", {yes, no, no, no, yes, unknown});
}

// One finished number: what the leaf makes of the reduction r of a pair.
template <class T>
T finished(const Kernel& k, double r) {
  T tile[6] = {7, 7, 7, 7, 7, 7};
  tile[1] = tile[4] = static_cast<T>(r);
  k.node().finish(Tile<T>{tile + 1, 2, 1, 3});  // stride 3: the numbers between are not its own
  EXPECT_EQ(tile[0], T{7});
  EXPECT_EQ(tile[2], T{7});
  EXPECT_EQ(tile[3], T{7});
  EXPECT_EQ(tile[5], T{7});
  EXPECT_EQ(tile[1], tile[4]);
  return tile[1];
}

template <class T>
void expect_formulas() {
  const double eps = 4 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (const double r : {0.0, 0.25, 1.0, 2.0}) {
    EXPECT_EQ(finished<T>(linear(), r), static_cast<T>(r));
    EXPECT_EQ(finished<T>(constant(2.5), r), static_cast<T>(2.5));
    EXPECT_NEAR(finished<T>(polynomial(3, 0.5, 1), r), std::pow(1 + 0.5 * r, 3), eps * std::pow(1 + 0.5 * r, 3));
    EXPECT_NEAR(finished<T>(gaussian(2.0), r), std::exp(-r / 8), eps);
    EXPECT_NEAR(finished<T>(laplacian(2.0), r), std::exp(-std::sqrt(r) / 2), eps);
    EXPECT_NEAR(finished<T>(laplacian(2.0, kernels::Norm::l1), r), std::exp(-r / 2), eps);
  }
  // The extremes of a length scale: 1 at distance zero, 0 or 1 elsewhere, never NaN.
  for (const auto norm : {kernels::Norm::l1, kernels::Norm::l2}) {
    EXPECT_EQ(finished<T>(laplacian(1e-150, norm), 0), T{1});
    EXPECT_EQ(finished<T>(laplacian(1e-150, norm), 1), T{0});
    EXPECT_EQ(finished<T>(laplacian(1e150, norm), 1), T{1});
  }
  EXPECT_EQ(finished<T>(gaussian(1e-150), 0), T{1});
  EXPECT_EQ(finished<T>(gaussian(1e-150), 1), T{0});
  EXPECT_EQ(finished<T>(gaussian(1e150), 1), T{1});
}

TEST(KernelFormulas, Float) { expect_formulas<float>(); }
TEST(KernelFormulas, Double) { expect_formulas<double>(); }

TEST(KernelFormulas, Reductions) {
  EXPECT_EQ(linear().node().reduction(), Reduction::dot);
  EXPECT_EQ(polynomial().node().reduction(), Reduction::dot);
  EXPECT_EQ(gaussian().node().reduction(), Reduction::squared_distance);
  EXPECT_EQ(laplacian().node().reduction(), Reduction::squared_distance);
  EXPECT_EQ(laplacian(1.0, kernels::Norm::l1).node().reduction(), Reduction::l1_distance);
  EXPECT_EQ(constant().node().reduction(), Reduction::none);
}

double typical(Reduction reduction, std::span<const ColumnRef>) { return reduction == Reduction::l1_distance ? 5 : 3; }

TEST(KernelAuto, EveryPartIsResolvedByItsOwnDistance) {
  const Kernel k = parse_kernel("2*gaussian(auto)*(laplacian(auto, norm=l1) + linear) + laplacian(auto) + gaussian(7)");
  EXPECT_TRUE(k.has_auto());
  const Kernel resolved = with_length_scales(k, typical);
  EXPECT_EQ(resolved.text(), "2*gaussian(3)*(laplacian(5, norm=l1) + linear) + laplacian(3) + gaussian(7)");
  EXPECT_FALSE(resolved.has_auto());
  EXPECT_EQ(k.text(), "2*gaussian(auto)*(laplacian(auto, norm=l1) + linear) + laplacian(auto) + gaussian(7)")
      << "the kernel itself changed";
}

TEST(KernelAuto, ColumnsAreThoseOfTheData) {
  const auto sum_of_columns = [](Reduction, std::span<const ColumnRef> columns) {
    double sum = 100;
    for (const ColumnRef& column : columns) sum += static_cast<double>(column.index);
    return sum;
  };
  const Kernel k =
      parse_kernel("gaussian(auto) + (matern(1.5, auto).on(1) * gaussian(auto)).on(7, 3).normalized() + rational_quadratic(auto)^2");
  EXPECT_EQ(with_length_scales(k, sum_of_columns).text(),
            "gaussian(100) + (matern(1.5, 103).on(1)*gaussian(110)).on(7, 3).normalized() + rational_quadratic(100, alpha=1)^2");
}

TEST(KernelAuto, NothingToResolve) {
  const auto never = [](Reduction, std::span<const ColumnRef>) -> double { throw std::logic_error("nobody should ask"); };
  for (const char* text : {"linear", "gaussian(2)", "2*gaussian(2)*linear + 3"}) {
    const Kernel k = parse_kernel(text);
    EXPECT_FALSE(k.has_auto());
    EXPECT_EQ(with_length_scales(k, never), k) << text;
  }
}

TEST(KernelAuto, UnresolvedOrImpossible) {
  const Kernel k = gaussian(kernels::LengthScale::automatic());
  double value = 1;
  try {
    k.node().finish(Tile<double>{&value, 1, 1, 1});
    FAIL() << "no error";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "gaussian(auto) has no length scale yet: resolve(kernel, X) sets it from data");
  }
  EXPECT_THROW(with_length_scales(k, [](Reduction, std::span<const ColumnRef>) { return 0.0; }), InvalidArgument);
  EXPECT_THROW(with_length_scales(k, [](Reduction, std::span<const ColumnRef>) { return std::nan(""); }), InvalidArgument);
}

}  // namespace
}  // namespace mercer
