// Three shapes of dependence, and what a rank correlation and HSIC see of them (source K, section 5.3).
// SPDX-License-Identifier: BSD-3-Clause
#include <iostream>
#include <mercer/mercer.hpp>

int main() {
  const std::pair<const char*, mercer::simulate::Pair> sets[] = {{"a cubic curve", mercer::simulate::cubic(100)},
                                                                 {"a cosine wave", mercer::simulate::cosine(100)},
                                                                 {"a noisy circle", mercer::simulate::noisy_circle(100)}};
  for (const auto& [name, data] : sets) {
    const mercer::Vector x = data.x.col(0);
    const mercer::Vector y = data.y.col(0);
    const mercer::TestResult ranks = mercer::correlation_test(x, y, mercer::Correlation::spearman);
    const mercer::TestResult any = mercer::independence_test(data.x, data.y, {.seed = 0});
    std::cout << name << ": Spearman p = " << ranks.p_value << ", HSIC p = " << any.p_value << '\n';
  }
}
