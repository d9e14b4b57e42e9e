// The whole job from a table to a measured model and a report.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  const mercer::Table table = mercer::simulate::builtin("moons");
  const mercer::LearnResult result = mercer::learn(table, {.folds = 3});
  std::puts(result.verdict.c_str());
  const std::string page = mercer::learn_report(result, "moons", "mercer learn builtin:moons");
  std::printf("report: %zu bytes\n", page.size());
  return result.test.accuracy > result.linear.accuracy - 0.02 ? 0 : 1;
}
