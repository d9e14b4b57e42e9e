// Two samples of equal means and variances: the test that looks at everything finds what the one that looks at means cannot.
#include <mercer/mercer.hpp>

#include <cmath>
#include <cstdio>

int main() {
  using namespace mercer;
  RandomStream random(0);
  const Matrix X = random.normal_matrix(200, 2);
  Matrix Y(200, 2);  // exponential, moved to mean 0: variance 1
  for (Index i = 0; i < Y.size(); ++i) Y.data()[i] = -std::log(1 - random.uniform()) - 1;

  std::puts(mmd(X, Y, {.kernel = kernels::gaussian(1.0)}).sentence.c_str());
  for (const MmdNull null : {MmdNull::permutation, MmdNull::gamma, MmdNull::pearson, MmdNull::spectral, MmdNull::bound})
    std::puts(two_sample_test(X, Y, {.null = null}).sentence.c_str());

  const TestResult blind = two_sample_test(X, Y, {.kernel = kernels::linear()});
  std::printf("%s\n  %s\n", blind.sentence.c_str(), blind.remarks[0].c_str());
  std::puts(level_check(X, Y, {.null = MmdNull::gamma}).sentence.c_str());
  std::puts(two_sample_power(X, Y, 100).sentence.c_str());
}
