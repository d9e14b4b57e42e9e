// Gradients of <W, K> with respect to the logarithms of a kernel's parameters, against central differences of the Gram matrix itself.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "reference/kernel_cases.hpp"

namespace mercer {
namespace {

using naive::kernel_cases;

std::vector<double> values_of(const Kernel& kernel) {
  std::vector<double> out;
  for (const KernelParameter& parameter : kernel.parameters()) out.push_back(parameter.value);
  return out;
}

// f at the kernel with parameter p moved by a factor exp(+-h): central differences with an error of about h^2 times the third derivative.
template <class F>
double central_difference(const Kernel& kernel, std::size_t p, F&& f) {
  constexpr double h = 3e-5;
  std::vector<double> up = values_of(kernel);
  std::vector<double> down = up;
  up[p] *= std::exp(h);
  down[p] *= std::exp(-h);
  return (f(kernel.with_parameters(up)) - f(kernel.with_parameters(down))) / (2 * h);
}

void expect_gradient(const std::string& name, const Kernel& kernel, const Samples& X, const Samples& Y, std::uint64_t seed) {
  const Matrix W = RandomStream(seed).normal_matrix(X.size(), Y.size());
  const Vector gradient = gram_operator(kernel, X, Y, {.storage = Storage::streamed})->gradient_inner(W);
  ASSERT_EQ(gradient.size(), std::ssize(kernel.parameters())) << name;
  for (Index p = 0; p < gradient.size(); ++p) {
    const double wanted =
        central_difference(kernel, static_cast<std::size_t>(p), [&](const Kernel& k) { return W.cwiseProduct(gram(k, X, Y)).sum(); });
    // Rounding of the two sums divided by h, and h^2: about 1e-9 of the size of the terms.
    const double size = W.cwiseAbs().cwiseProduct(gram(kernel, X, Y).cwiseAbs()).sum();
    EXPECT_NEAR(gradient[p], wanted, 1e-8 * (size + std::abs(wanted)))
        << name << ", " << kernel.parameters()[static_cast<std::size_t>(p)].name;
  }
}

TEST(KernelGradient, AgreesWithDifferencesForEveryKernel) {
  for (const Index d : {1, 3}) {
    for (const auto& c : kernel_cases(d)) {
      const Samples X = c.data(RandomStream(1).normal_matrix(11, d));
      const Samples Y = c.data(RandomStream(2).normal_matrix(7, d));
      expect_gradient(c.name + " on one sample set", c.kernel, X, X, 3);
      expect_gradient(c.name + " on two", c.kernel, X, Y, 4);
    }
  }
}

TEST(KernelGradient, CoversTilesAndTheirMirrorImages) {
  const Samples X = RandomStream(5).normal_matrix(300, 2);
  const Samples Y = RandomStream(6).normal_matrix(270, 2);
  for (const Kernel& k :
       {kernels::gaussian(std::vector{0.8, 1.7}), 2.0 * kernels::matern(1.5, 1.2) * kernels::periodic(2, 3) + kernels::white(0.3),
        (kernels::polynomial(2, 0.5, 1)).normalized()}) {
    expect_gradient(k.text(), k, X, X, 7);
    expect_gradient(k.text(), k, X, Y, 8);
  }
}

TEST(KernelGradient, SparseRows) {
  CsrMatrix<double> A(20, 6);
  RandomStream random(9);
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 6; ++j) {
      if (random.uniform() < 0.4) A.insert(i, j) = std::abs(random.normal());
    }
  }
  A.makeCompressed();
  for (const auto& c : kernel_cases(6)) expect_gradient(c.name, c.kernel, A, A, 10);
}

TEST(KernelGradient, IsTheSameForAnyNumberOfThreadsAndForFloatSamples) {
  const Matrix X = RandomStream(11).normal_matrix(600, 3);
  const Matrix W = RandomStream(12).normal_matrix(600, 600);
  const Kernel k = kernels::gaussian(std::vector{1.0, 2.0, 3.0}) + kernels::white(0.1);
  const Vector one = gram_operator(k, X, {.run = {.threads = 1}})->gradient_inner(W);
  EXPECT_EQ(one, gram_operator(k, X, {.run = {.threads = 3}})->gradient_inner(W));
  const MatrixF Xf = X.cast<float>();
  const Vector from_float = gram_operator(k, Xf, {.storage = Storage::stored})->gradient_inner(W);
  EXPECT_EQ(from_float, gram_operator(k, Matrix(Xf.cast<double>()))->gradient_inner(W));
}

TEST(KernelGradient, GoesThroughTheViews) {
  const Samples X = RandomStream(13).normal_matrix(9, 2);
  const Kernel kernel = 1.5 * kernels::gaussian(1.2) + kernels::white(0.2);
  const Vector y = RandomStream(14).normal_matrix(9, 1).col(0);
  const Vector d = RandomStream(15).normal_matrix(9, 1).col(0);
  const std::vector<Index> picked{4, 0, 4, 7};
  using View = std::function<Operator(Operator)>;
  const std::vector<std::pair<const char*, View>> views{
      {"centred", [](Operator op) { return centred(std::move(op)); }},
      {"scaled", [&](Operator op) { return scaled_by(std::move(op), y, d); }},
      {"signed", [&](Operator op) { return signed_by(std::move(op), y); }},
      {"plus diagonal", [&](Operator op) { return plus_diagonal(std::move(op), d); }},
      {"doubled", [](Operator op) { return doubled(std::move(op)); }},
      {"subset", [&](Operator op) { return subset(std::move(op), picked); }},
  };
  for (const auto& [name, view] : views) {
    const Operator op = view(gram_operator(kernel, X));
    const Matrix W = RandomStream(16).normal_matrix(op->rows(), op->cols());
    const Vector gradient = op->gradient_inner(W);
    for (Index p = 0; p < gradient.size(); ++p) {
      const double wanted = central_difference(kernel, static_cast<std::size_t>(p), [&](const Kernel& k) {
        return W.cwiseProduct(view(gram_operator(k, X))->apply(Matrix::Identity(op->cols(), op->cols()))).sum();
      });
      EXPECT_NEAR(gradient[p], wanted, 1e-7) << name;
    }
    EXPECT_THROW(op->gradient_inner(Matrix::Zero(1, 2)), InvalidArgument) << name;
  }
  EXPECT_THROW(dense_operator(Matrix::Identity(3, 3))->gradient_inner(Matrix::Identity(3, 3)), NotOffered);
}

TEST(KernelParameters, AreThoseThatHaveALogarithm) {
  const auto names = [](const Kernel& k) {
    std::string out;
    for (const KernelParameter& p : k.parameters()) out += p.name + " ";
    return out;
  };
  EXPECT_EQ(names(kernels::linear()), "");
  EXPECT_EQ(names(kernels::polynomial(2, 0.5, 0)), "polynomial.scale ");
  EXPECT_EQ(names(kernels::polynomial(2, -1, 1)), "polynomial.offset ");
  EXPECT_EQ(names(-2.0 * kernels::gaussian(3)), "gaussian.length_scale ");
  EXPECT_EQ(names(2.0 * kernels::gaussian(std::vector{1.0, 2.0}).on({0, 1}) + kernels::white(0)),
            "factor gaussian.length_scale[0] gaussian.length_scale[1] ");
  EXPECT_EQ(names(kernels::periodic(std::vector{1.0, 2.0}, 3)), "periodic.length_scale[0] periodic.length_scale[1] periodic.period ");
  EXPECT_EQ(names(kernels::rational_quadratic(1, 2)), "rational_quadratic.alpha rational_quadratic.length_scale ");
}

TEST(KernelParameters, PutBackGiveTheSameKernel) {
  for (const auto& c : kernel_cases(3)) {
    const std::vector<double> values = values_of(c.kernel);
    EXPECT_EQ(c.kernel.with_parameters(values), c.kernel) << c.name;
    if (values.empty()) continue;
    std::vector<double> twice = values;
    for (double& v : twice) v *= 2;
    const Kernel other = c.kernel.with_parameters(twice);
    EXPECT_NE(other, c.kernel) << c.name;
    EXPECT_EQ(values_of(other), twice) << c.name;
  }
  EXPECT_THROW(kernels::gaussian(1).with_parameters(std::vector<double>{}), InvalidArgument);
  EXPECT_THROW(kernels::gaussian(1).with_parameters(std::vector{-1.0}), InvalidArgument);
  EXPECT_THROW(kernels::gaussian(kernels::LengthScale::automatic()).parameters(), InvalidArgument);
}

}  // namespace
}  // namespace mercer
