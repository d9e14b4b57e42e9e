// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/simulate.hpp"

#include "bindings.hpp"

namespace mercer::python {

namespace {

nb::tuple labelled(simulate::Labelled&& set) { return nb::make_tuple(std::move(set.X), std::move(set.y)); }
nb::tuple paired(simulate::Pair&& set) { return nb::make_tuple(std::move(set.x), std::move(set.y)); }

}  // namespace

void bind_simulate(nb::module_& m) {
  using std::uint64_t;
  m.def("two_gaussians", [](Index n, double distance, Index dimension, uint64_t seed) {
    return labelled(simulate::two_gaussians(n, distance, dimension, seed));
  });
  m.def("moons", [](Index n, double noise, uint64_t seed) { return labelled(simulate::moons(n, noise, seed)); });
  m.def("circles", [](Index n, double noise, double factor, uint64_t seed) { return labelled(simulate::circles(n, noise, factor, seed)); });
  m.def("disc_in_ring", [](Index n, uint64_t seed) { return labelled(simulate::disc_in_ring(n, seed)); });
  m.def("blobs", [](Index n, Index centres, Index dimension, double spread, uint64_t seed) {
    return labelled(simulate::blobs(n, centres, dimension, spread, seed));
  });
  m.def("parabola", [] { return labelled(simulate::parabola()); });
  m.def("waves", [](Index n, double noise, uint64_t seed) { return labelled(simulate::waves(n, noise, seed)); });
  m.def("waves_mean", &simulate::waves_mean);
  m.def("sine_band", [](Index n, uint64_t seed) { return labelled(simulate::sine_band(n, seed)); });
  m.def("cubic", [](Index n, uint64_t seed) { return paired(simulate::cubic(n, seed)); });
  m.def("cosine", [](Index n, uint64_t seed) { return paired(simulate::cosine(n, seed)); });
  m.def("noisy_circle", [](Index n, uint64_t seed) { return paired(simulate::noisy_circle(n, seed)); });
  m.def("regression",
        [](Index n, Index dimension, double noise, uint64_t seed) { return labelled(simulate::regression(n, dimension, noise, seed)); });
}

}  // namespace mercer::python
