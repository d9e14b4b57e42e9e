// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernels.hpp"

#include "bindings.hpp"

namespace mercer::python {

namespace {

std::optional<bool> answer(Verdict verdict) { return verdict == Verdict::unknown ? std::nullopt : std::optional(verdict == Verdict::yes); }

kernels::LengthScale length_scale(std::optional<double> value) { return value ? *value : kernels::LengthScale::automatic(); }

}  // namespace

void bind_kernels(nb::module_& m) {
  nb::class_<Kernel>(m, "Kernel", "A kernel as a value; mercer.kernels has the classes that people use.")
      .def_prop_ro("text", &Kernel::text)
      .def_prop_ro("is_psd", &Kernel::is_psd)
      .def_prop_ro("is_universal", [](const Kernel& k) { return answer(k.is_universal()); })
      .def_prop_ro("is_characteristic", [](const Kernel& k) { return answer(k.is_characteristic()); })
      .def_prop_ro("has_auto", &Kernel::has_auto)
      .def(
          "plus", [](const Kernel& a, const Kernel& b) { return a + b; }, "other"_a)
      .def(
          "times", [](const Kernel& a, const Kernel& b) { return a * b; }, "other"_a)
      .def(
          "scaled", [](const Kernel& a, double factor) { return factor * a; }, "factor"_a);
  m.def("linear", &kernels::linear);
  m.def("polynomial", &kernels::polynomial, "degree"_a, "scale"_a, "offset"_a);
  m.def(
      "gaussian", [](std::optional<double> l) { return kernels::gaussian(length_scale(l)); }, "length_scale"_a.none());
  m.def(
      "laplacian",
      [](std::optional<double> l, bool l1) { return kernels::laplacian(length_scale(l), l1 ? kernels::Norm::l1 : kernels::Norm::l2); },
      "length_scale"_a.none(), "l1"_a);
  m.def("constant", &kernels::constant, "value"_a);
  m.def(
      "parse_kernel", [](const std::string& text) { return parse_kernel(text); }, "text"_a);
  m.def("kernel_catalogue", [] {
    nb::list out;
    for (const KernelInfo& info : kernel_catalogue()) {
      nb::dict row;
      row["name"] = info.name;
      row["formula"] = info.formula;
      row["parameters"] = info.parameters;
      row["properties"] = info.properties;
      out.append(row);
    }
    return out;
  });
}

}  // namespace mercer::python
