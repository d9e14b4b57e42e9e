// Strings: a classifier of DNA by its substrings, a two-sample test that finds a planted motif, and what a kernel says of two words.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <string>
#include <vector>

#include <mercer/mercer.hpp>

int main() {
  using namespace mercer;
  // 1. Half of the strings carry a motif.
  RandomStream random(1);
  std::vector<std::string> strings;
  std::vector<Index> labels;
  for (int i = 0; i < 80; ++i) {
    std::string s;
    for (int c = 0; c < 50; ++c) s += "ACGT"[static_cast<std::size_t>(random.uniform() * 4)];
    if (i % 2 == 1) s.replace(static_cast<std::size_t>(random.uniform() * 40), 8, "TATAATGC");
    strings.push_back(s);
    labels.push_back(i % 2);
  }
  const Samples X = Samples::strings(strings);

  // 2. A support vector machine on common substrings of five letters; the last twenty strings are kept for a check.
  const SvcModel model = fit_svc(X.slice(0, 60), {labels.begin(), labels.begin() + 60}, {.kernel = kernels::spectrum(5), .C = 10});
  const Matrix f = model.decision(X.slice(60, 20));
  int right = 0;
  for (Index i = 0; i < 20; ++i) right += (f(i, 0) > 0) == (labels[static_cast<std::size_t>(60 + i)] == 1) ? 1 : 0;
  std::printf("spectrum(5): %d of 20 new strings right\n", right);

  // 3. Do the two halves differ? Any test takes strings as it takes rows.
  std::vector<Index> even, odd;
  for (Index i = 0; i < X.size(); ++i) (i % 2 == 0 ? even : odd).push_back(i);
  const TestResult test = two_sample_test(X.subset(even), X.subset(odd), {.kernel = kernels::mismatch(5, 1), .seed = 0});
  std::printf("two-sample test: p = %.4f\n", test.p_value);

  // 4. The subsequence kernel of two words.
  const Matrix K = gram(kernels::subsequence(2, 0.5), Samples::strings({"car", "cat"}));
  std::printf("subsequence(2, 0.5) of car and cat: %.6f\n", K(0, 1));
  return right >= 17 && test.p_value < 0.05 ? 0 : 1;
}
