// Records of strings, sets and numbers; texts by tf-idf; a model file that keeps what prediction needs.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <mercer/mercer.hpp>

int main() {
  using namespace mercer;
  // 1. A sequence, a set of measurements and two numbers; the target needs all of them.
  RandomStream random(3);
  const Index n = 80;
  std::vector<std::string> sequences;
  std::vector<Matrix> sets;
  const Matrix numbers = random.normal_matrix(n, 2);
  Vector y(n);
  for (Index i = 0; i < n; ++i) {
    std::string s;
    for (int c = 0; c < 10; ++c) s += random.uniform() < 0.5 ? 'A' : 'C';
    const double level = random.uniform();
    sets.push_back(random.normal_matrix(20, 1).array() * 0.2 + level);
    y[i] = (s.find("AAA") != std::string::npos ? 1.0 : 0.0) + level + 0.3 * numbers(i, 0);
    sequences.push_back(s);
  }
  const Samples X = Samples::records({Samples::strings(sequences), Samples::sets(sets), numbers});

  // 2. One kernel a column, added up.
  const Kernel kernel = parse_kernel("spectrum(3).on(0) + bag_of(gaussian(0.5), mean).radial(auto).on(1) + gaussian(2).on(2, 3)");
  const KernelRidgeModel model = fit_kernel_ridge(X.slice(0, 60), y.head(60), {.kernel = kernel, .alpha = 0.01});
  const Vector f = model.predict(X.slice(60, 20)).col(0);
  const double error = std::sqrt((f - y.tail(20)).squaredNorm() / 20);
  std::printf("kernel ridge on records: root mean square error %.3f, spread of the target %.3f\n", error,
              std::sqrt((y.array() - y.mean()).square().mean()));

  // 3. Texts: weights of words are learned with the fit and kept with the model.
  const Samples texts = Samples::strings({"oil prices rose", "crude oil fell", "the bank bought shares", "shares were bought"});
  const SvcModel classifier = fit_svc(texts, {0, 0, 1, 1}, {.kernel = kernels::bag_of_words()});
  std::printf("oil output: %s\n", classifier.decision(Samples::strings({"oil output"}))(0, 0) < 0 ? "crude" : "acquisition");
  return error < 0.4 ? 0 : 1;
}
