// Kernels as values, Gram matrices stored and streamed, and the verdict on a matrix that is none.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  const mercer::Matrix X = mercer::RandomStream(0).normal_matrix(500, 3);
  const mercer::Kernel k = mercer::kernels::gaussian(2.0) + 0.5 * mercer::kernels::linear();
  std::printf("%s\n", k.text().c_str());

  const mercer::Matrix K = mercer::gram(k, X);
  std::printf("%s\n", mercer::check_gram(K).verdict().c_str());

  // The same product without ever keeping the matrix.
  const auto op = mercer::gram_operator(mercer::parse_kernel(k.text()), X, {.storage = mercer::Storage::streamed});
  const mercer::Matrix v = mercer::Matrix::Ones(500, 1);
  const double apart = (op->apply(v) - K * v).cwiseAbs().maxCoeff();
  std::printf("%s: K v differs by %.1e\n", op->describe().c_str(), apart);
  return apart < 1e-10 ? 0 : 1;
}
