// Is it a kernel? A matrix with the vector that shows it is none, its repair, and a function whose Fourier transform gives it away.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  const mercer::Matrix X = mercer::RandomStream(0).normal_matrix(50, 2);
  const mercer::Kernel suspect = mercer::kernels::polynomial(2, 1, -1);  // a negative offset
  const mercer::KernelCheck check = mercer::check_kernel(suspect, X);
  std::printf("%s\n\n", check.verdict().c_str());

  const mercer::Matrix K = mercer::gram(suspect, X);
  const mercer::GramRepair repair = mercer::repair_gram(K, mercer::Repair::clip);
  std::printf("%s\n", repair.sentence().c_str());
  const bool mended = mercer::check_gram(repair.K, {.alpha = 0.1}).is_gram();

  // As flat as one likes at the top, but not a kernel; the Gaussian is the limit.
  for (const double power : {1.0, 2.0, 4.0}) {
    const auto f = [power](double r) { return std::exp(-std::pow(r, power)); };
    std::printf("exp(-r^%g): %s\n", power, mercer::check_bochner(f).verdict().c_str());
  }
  const bool found = mercer::check_bochner([](double r) { return std::exp(-std::pow(r, 4)); }).violated;
  return !check.gram.is_gram() && mended && found ? 0 : 1;
}
