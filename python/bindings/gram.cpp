// Gram matrices straight into numpy's memory, which comes from the library so that it lies in huge pages: fresh small pages cost more
// time than the arithmetic that fills them.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/gram.hpp"

#include "bindings.hpp"

namespace mercer::python {

namespace {

template <class T>
nb::object filled(const Kernel& kernel, const Samples& X, const Samples& Y, Job& job) {
  const auto n = static_cast<std::size_t>(X.size());
  const auto m = static_cast<std::size_t>(Y.size());
  const std::shared_ptr<void> memory = job([&](const Run& run) {
    require_memory(n * m * sizeof(T), run.memory, "the Gram matrix of " + std::to_string(n) + " x " + std::to_string(m) + " rows",
                   sizeof(T) == 8 ? "use fewer rows, or float32 (half of it)" : "use fewer rows");
    std::shared_ptr<void> out = allocate_big(n * m * sizeof(T));
    gram_into(kernel, X, Y, static_cast<T*>(out.get()), Y.size(), run);
    return out;
  });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<2>>(memory.get(), {n, m}, keep(memory)));
}

nb::object gram_of(const Kernel& kernel, const Samples& X, const Samples& Y, bool float32, int threads, std::size_t memory,
                   nb::object progress) {
  Job job(threads, memory, std::move(progress));
  return float32 ? filled<float>(kernel, X, Y, job) : filled<double>(kernel, X, Y, job);
}

}  // namespace

void bind_gram(nb::module_& m) {
  m.def("gram", &gram_of, "kernel"_a, "X"_a, "Y"_a, "float32"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def(
      "gram_diagonal",
      [](const Kernel& kernel, const Samples& X) {
        const nb::gil_scoped_release released;  // the kernel may be Python's own, called from other threads
        return gram_diagonal(kernel, X);
      },
      "kernel"_a, "X"_a);
  m.def(
      "resolve",
      [](const Kernel& kernel, const Samples& X) {
        const nb::gil_scoped_release released;  // as above: a distance in feature space is found by kernel values
        return resolve(kernel, X);
      },
      "kernel"_a, "X"_a);
}

}  // namespace mercer::python
