// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/preimage.hpp"

#include <algorithm>
#include <map>

#include "bindings.hpp"

namespace mercer::python {

namespace {

// The words of mercer/_preimage.py, which checks them.
PreimageMethod method_of(const std::string& word) {
  static const std::map<std::string, PreimageMethod> words{{"best", PreimageMethod::best},
                                                           {"fixed_point", PreimageMethod::fixed_point},
                                                           {"gradient", PreimageMethod::gradient},
                                                           {"distance", PreimageMethod::distance},
                                                           {"ridge", PreimageMethod::ridge}};
  return words.at(word);
}

std::vector<std::string> words_of(const std::vector<PreimageMethod>& methods) {
  std::vector<std::string> out;
  for (const PreimageMethod method : methods) {
    out.emplace_back(name_of(method));
    std::replace(out.back().begin(), out.back().end(), ' ', '_');
  }
  return out;
}

}  // namespace

void bind_preimage(nb::module_& m) {
  nb::class_<PreimageOptions>(m, "PreimageOptions")
      .def(
          "__init__",
          [](PreimageOptions* self, const std::string& method, Matrix start, Matrix learned, Index neighbors, double ridge_alpha,
             double tolerance, Index max_iterations, Index restarts) {
            new (self) PreimageOptions{.method = method_of(method),
                                       .start = std::move(start),
                                       .learned = std::move(learned),
                                       .neighbors = neighbors,
                                       .ridge_alpha = ridge_alpha,
                                       .tolerance = tolerance,
                                       .max_iterations = max_iterations,
                                       .restarts = restarts};
          },
          "method"_a, "start"_a, "learned"_a, "neighbors"_a, "ridge_alpha"_a, "tolerance"_a, "max_iterations"_a, "restarts"_a);
  nb::class_<Preimages>(m, "Preimages")
      .def_prop_ro("rows", [](const Preimages& p) { return p.rows; })
      .def_prop_ro("squared_distance", [](const Preimages& p) { return p.squared_distance; })
      .def_prop_ro("squared_norm", [](const Preimages& p) { return p.squared_norm; })
      .def_prop_ro("method", [](const Preimages& p) { return words_of(p.method); })
      .def_prop_ro("iterations", [](const Preimages& p) { return p.iterations; })
      .def_prop_ro("converged", [](const Preimages& p) { return p.converged; })
      .def_prop_ro("sentence", [](const Preimages& p) { return p.summary.sentence; });
  m.def(
      "preimages",
      [](const Kernel& kernel, const Samples& basis, const Matrix& weights, PreimageOptions options, int threads, std::size_t memory,
         nb::object progress) {
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          options.run = run;
          return preimages(kernel, basis, weights, options);
        });
      },
      "kernel"_a, "basis"_a, "weights"_a, "options"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def(
      "preimage_methods", [](const Kernel& kernel, Index width) { return words_of(preimage_methods(kernel, width)); }, "kernel"_a,
      "width"_a);
}

}  // namespace mercer::python
