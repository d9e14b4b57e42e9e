// Kernels written in Python. The library calls them from its own threads while the thread that asked has let the GIL go, so each call takes
// it: once per tile, never per pair. What Python raises travels as nb::python_error through the library and is raised again in the caller.
// SPDX-License-Identifier: BSD-3-Clause
#include "bindings.hpp"
#include "mercer/kernels.hpp"

namespace mercer::python {

namespace {

using Values = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A callable of mercer/_callbacks.py, which gives a float64 matrix in C order.
class Callback {
 public:
  explicit Callback(nb::object callable) : held_(hold(std::move(callable))) {}

  template <class... Rows>
  Matrix operator()(const Rows&... samples) const {
    const nb::gil_scoped_acquire held;
    const auto values = nb::cast<Values>(callable()(Samples(samples)...));
    return Eigen::Map<const Matrix>(values.data(), static_cast<Index>(values.shape(0)), static_cast<Index>(values.shape(1)));
  }

  const nb::object& callable() const { return std::get<0>(*held_); }

 private:
  std::shared_ptr<const std::tuple<nb::object>> held_;
};

// The Python object behind a function or feature map; None where it was written in C++.
nb::object callback_of(const Kernel& leaf) {
  const auto* f = kernels::function_of(leaf);
  const auto* phi = kernels::feature_map_of(leaf);
  const Callback* callback = f != nullptr ? f->target<Callback>() : phi != nullptr ? phi->target<Callback>() : nullptr;
  return callback == nullptr ? nb::none() : callback->callable();
}

}  // namespace

nb::dict callbacks_of(const Kernel& kernel) {
  nb::dict out;
  for (const auto& [name, leaf] : library_of(kernel)) out[nb::str(name.data(), name.size())] = callback_of(leaf);
  return out;
}

KernelLibrary library_from(const nb::dict& callbacks) {
  KernelLibrary out;
  for (const auto& [name, value] : callbacks) {
    const nb::object kernel = nb::isinstance<Kernel>(value) ? nb::borrow(value) : value.attr("native")();
    out.emplace(nb::cast<std::string>(name), nb::cast<Kernel>(kernel));
  }
  return out;
}

void bind_callbacks(nb::module_& m) {
  m.def(
      "function",
      [](const std::string& name, nb::object callable, std::optional<bool> psd) {
        return kernels::function(name, Callback(std::move(callable)), !psd ? Verdict::unknown : *psd ? Verdict::yes : Verdict::no);
      },
      "name"_a, "callable"_a, "psd"_a.none());
  m.def(
      "feature_map", [](const std::string& name, nb::object callable) { return kernels::feature_map(name, Callback(std::move(callable))); },
      "name"_a, "callable"_a);
}

}  // namespace mercer::python
