// Simulated data sets: the shapes every kernel book draws, and the sets of the experiments. Deterministic in the seed.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mercer/matrix.hpp"
#include "mercer/table.hpp"

namespace mercer::simulate {

struct Labelled {
  Matrix X;
  Vector y;  // class 0, 1, ... or a number
};

struct Pair {  // two samples of the same length, dependent in some way
  Matrix x;
  Matrix y;
};

Labelled two_gaussians(Index n, double distance = 2, Index dimension = 2, std::uint64_t seed = 0);
Labelled moons(Index n, double noise = 0.1, std::uint64_t seed = 0);
Labelled circles(Index n, double noise = 0.05, double factor = 0.5, std::uint64_t seed = 0);
Labelled disc_in_ring(Index n, std::uint64_t seed = 0);  // 0: disc of radius 1, 1: ring between 1.5 and 2.5
Labelled blobs(Index n, Index centres = 3, Index dimension = 2, double spread = 1, std::uint64_t seed = 0);

Labelled parabola();                                                        // -10 .. 10; class 1 where |x| > 2 (experiment E2, source G)
double waves_mean(double x);                                                // sin 2x + exp(1.5 (x - 9))
Labelled waves(Index n = 100, double noise = 0.3, std::uint64_t seed = 0);  // E3: x ~ U[0, 10], y = waves_mean(x) + noise
Labelled sine_band(Index n = 600, std::uint64_t seed = 0);                  // E4 set 3: U[-3,3]^2, 1 iff |x2 - 1.5 sin 2 x1| < 0.8
Pair cubic(Index n = 100, std::uint64_t seed = 0);                          // E5 (1): y = x^3 + 0.2 e, x ~ U[-1, 1]
Pair cosine(Index n = 100, std::uint64_t seed = 0);                         // E5 (2): y = cos 2 pi x + 0.3 e
Pair noisy_circle(Index n = 100, std::uint64_t seed = 0);                   // E5 (3): unit circle + 0.1 e on both
Labelled regression(Index n, Index dimension = 20, double noise = 0.1,
                    std::uint64_t seed = 0);  // y = sin 2z0 + cos(z1) z2 + noise, z = X W

// The built-in sets by name ("waves", "moons", ...) as tables, for the command line (`mercer learn builtin:waves`).
Table builtin(const std::string& name, std::uint64_t seed = 0);
std::vector<std::string> builtin_names();

}  // namespace mercer::simulate
