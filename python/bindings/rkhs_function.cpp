// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/rkhs_function.hpp"

#include "bindings.hpp"

namespace mercer::python {

namespace {

// Calls work(run) as a job; the answer of every job here is small but the one of feature_distance.
template <class Work>
auto run_job(int threads, Work&& work) {
  Job job(threads, 0, nb::none());
  return job(std::forward<Work>(work));
}

}  // namespace

void bind_rkhs_function(nb::module_& m) {
  nb::class_<RkhsFunction>(m, "RkhsFunction", "f = sum a_i k(x_i, .); mercer.RKHSFunction is the class that people use.")
      .def(
          "__init__",
          [](RkhsFunction* self, const Kernel& kernel, const Samples& samples, Vector coefficients) {
            new (self) RkhsFunction(kernel, samples, std::move(coefficients));
          },
          "kernel"_a, "samples"_a, "coefficients"_a)
      .def_prop_ro("kernel", [](const RkhsFunction& f) { return f.kernel(); })
      .def_prop_ro("samples", [](const RkhsFunction& f) { return f.samples(); })
      .def_prop_ro("coefficients", [](const RkhsFunction& f) { return f.coefficients(); })
      .def(
          "__call__",
          [](const RkhsFunction& f, const Samples& X, int threads) { return run_job(threads, [&](const Run& run) { return f(X, run); }); },
          "X"_a, "threads"_a = 0)
      .def(
          "norm", [](const RkhsFunction& f, int threads) { return run_job(threads, [&](const Run& run) { return f.norm(run); }); },
          "threads"_a = 0)
      .def(
          "squared_norm",
          [](const RkhsFunction& f, int threads) { return run_job(threads, [&](const Run& run) { return f.squared_norm(run); }); },
          "threads"_a = 0)
      .def(
          "bound",
          [](const RkhsFunction& f, const Samples& X, int threads) {
            return run_job(threads, [&](const Run& run) { return f.bound(X, run); });
          },
          "X"_a, "threads"_a = 0)
      .def(
          "inner",
          [](const RkhsFunction& f, const RkhsFunction& g, int threads) {
            return run_job(threads, [&](const Run& run) { return inner(f, g, run); });
          },
          "other"_a, "threads"_a = 0)
      .def(
          "distance",
          [](const RkhsFunction& f, const RkhsFunction& g, int threads) {
            return run_job(threads, [&](const Run& run) { return distance(f, g, run); });
          },
          "other"_a, "threads"_a = 0)
      .def(
          "plus", [](const RkhsFunction& f, const RkhsFunction& g) { return f + g; }, "other"_a)
      .def(
          "minus", [](const RkhsFunction& f, const RkhsFunction& g) { return f - g; }, "other"_a)
      .def(
          "times", [](const RkhsFunction& f, double c) { return c * f; }, "factor"_a);
  m.def(
      "feature_distance",
      [](const Kernel& kernel, const Samples& X, const Samples& Y, int threads, std::size_t memory) {
        Job job(threads, memory, nb::none());
        return job([&](const Run& run) { return feature_distance(kernel, X, Y, run); });
      },
      "kernel"_a, "X"_a, "Y"_a, "threads"_a = 0, "memory"_a = 0);
}

}  // namespace mercer::python
