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
  expect((gaussian() + linear()) * gaussian(), true, unknown, unknown);
  expect((gaussian() + laplacian()) * gaussian(), true, yes, yes);
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

double typical(Reduction reduction) { return reduction == Reduction::l1_distance ? 5 : 3; }

TEST(KernelAuto, EveryPartIsResolvedByItsOwnDistance) {
  const Kernel k = parse_kernel("2*gaussian(auto)*(laplacian(auto, norm=l1) + linear) + laplacian(auto) + gaussian(7)");
  EXPECT_TRUE(k.has_auto());
  const auto node = k.node().resolved(typical);
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(Kernel(node).text(), "2*gaussian(3)*(laplacian(5, norm=l1) + linear) + laplacian(3) + gaussian(7)");
  EXPECT_FALSE(node->has_auto());
  EXPECT_EQ(k.text(), "2*gaussian(auto)*(laplacian(auto, norm=l1) + linear) + laplacian(auto) + gaussian(7)")
      << "the kernel itself changed";
}

TEST(KernelAuto, NothingToResolve) {
  const auto never = [](Reduction) -> double { throw std::logic_error("nobody should ask"); };
  for (const char* text : {"linear", "gaussian(2)", "2*gaussian(2)*linear + 3"}) {
    const Kernel k = parse_kernel(text);
    EXPECT_FALSE(k.has_auto());
    EXPECT_EQ(k.node().resolved(never), nullptr) << text;
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
  EXPECT_THROW(k.node().resolved([](Reduction) { return 0.0; }), InvalidArgument);
  EXPECT_THROW(k.node().resolved([](Reduction) { return std::nan(""); }), InvalidArgument);
}

}  // namespace
}  // namespace mercer
