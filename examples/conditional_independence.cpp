// Two effects of one cause depend on each other, until the cause is known.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  mercer::RandomStream random(1);
  const mercer::Index n = 200;
  mercer::Matrix cause(n, 1);
  mercer::Matrix x(n, 1);
  mercer::Matrix y(n, 1);
  mercer::Matrix follower(n, 1);
  for (mercer::Index i = 0; i < n; ++i) {
    cause(i, 0) = random.normal();
    x(i, 0) = std::sin(cause(i, 0)) + 0.3 * random.normal();
    y(i, 0) = cause(i, 0) * cause(i, 0) + cause(i, 0) + 0.3 * random.normal();
    follower(i, 0) = y(i, 0) + x(i, 0);
  }
  std::printf("%s\n", mercer::independence_test(x, y).sentence.c_str());
  const auto given = mercer::conditional_independence_test(x, y, cause);
  std::printf("%s\n", given.sentence.c_str());
  const auto direct = mercer::conditional_independence_test(x, follower, cause);
  std::printf("%s\n", direct.sentence.c_str());
  return !given.rejected && direct.rejected ? 0 : 1;
}
