// Kernels as values: combine them, print them and read them back, ask what is known of them, write one's own, and take gradients.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  namespace kernels = mercer::kernels;
  const auto X = mercer::simulate::moons(200).X;

  // A tensor product over columns, and a little noise; the text means the same kernel everywhere.
  const auto k = 2.0 * kernels::gaussian(0.5).on({0}) * kernels::matern(1.5, 1.0).on({1}) + kernels::white(0.1);
  std::printf("%s\n", k.text().c_str());
  std::printf("read back: %s, psd: %s, characteristic: %s\n", mercer::parse_kernel(k.text()) == k ? "the same" : "another",
              mercer::name_of(k.psd()).data(), mercer::name_of(k.is_characteristic()).data());

  // A function of one's own, called once per tile, goes wherever a kernel goes.
  const auto affine = kernels::function(
      "affine",
      [](const mercer::Samples& A, const mercer::Samples& B) -> mercer::Matrix {
        return (A.to_dense() * B.to_dense().transpose()).array() + 1;
      },
      mercer::Verdict::yes);
  const auto check = mercer::check_kernel((affine * kernels::gaussian(1.0)).normalized(), X);
  std::printf("%s\n", check.gram.is_gram() ? "a Gram matrix" : "no Gram matrix");

  // d <W, K> / d log(parameter) for every parameter at once.
  const mercer::Matrix W = mercer::Matrix::Ones(200, 200);
  const mercer::Vector gradient = mercer::gram_operator(k, X)->gradient_inner(W);
  for (mercer::Index p = 0; p < gradient.size(); ++p)
    std::printf("%-24s %10.4f\n", k.parameters()[static_cast<std::size_t>(p)].name.c_str(), gradient[p]);
}
