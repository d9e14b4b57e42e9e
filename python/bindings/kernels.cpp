// Kernels as values, their algebra, and what is said about them.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernels.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <variant>

#include "bindings.hpp"
#include "mercer/gram.hpp"

namespace mercer::python {

namespace {

std::optional<bool> answer(Verdict verdict) { return verdict == Verdict::unknown ? std::nullopt : std::optional(verdict == Verdict::yes); }

// A number, one per column, or None for automatic.
using Scale = std::optional<std::variant<double, std::vector<double>>>;
kernels::LengthScale length_scale(const Scale& scale) {
  if (!scale) return kernels::LengthScale::automatic();
  return std::visit([](const auto& value) { return kernels::LengthScale(value); }, *scale);
}

// One property of all kernels: its answer as True, False or None.
template <Verdict (Kernel::*property)() const>
std::optional<bool> asked(const Kernel& kernel) {
  return answer((kernel.*property)());
}

Kernel restricted(const Kernel& kernel, const std::vector<std::variant<Index, std::string>>& columns) {
  std::vector<ColumnRef> out;
  for (const auto& column : columns) std::visit([&](const auto& one) { out.emplace_back(one); }, column);
  return kernel.on(std::move(out));
}

std::vector<std::pair<std::string, double>> parameters_of(const Kernel& kernel) {
  std::vector<std::pair<std::string, double>> out;
  for (const KernelParameter& parameter : kernel.parameters()) out.emplace_back(parameter.name, parameter.value);
  return out;
}

using Weights = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// sum_ij W_ij dK_ij/d log(parameter).
Vector gradient(const Kernel& kernel, const Samples& X, const Samples& Y, const Weights& W, int threads) {
  const Eigen::Map<const Matrix> weights(W.data(), static_cast<Index>(W.shape(0)), static_cast<Index>(W.shape(1)));
  Job job(threads, 0, nb::none());
  return job([&](const Run& run) {
    return gram_operator(kernel, X, Y, {.precision = Precision::float64, .storage = Storage::streamed, .run = run})
        ->gradient_inner(weights);
  });
}

nb::list catalogue() {
  nb::list out;
  for (const KernelInfo& info : kernel_catalogue()) {
    nb::list parameters;
    for (const ParameterInfo& parameter : info.parameters) {
      nb::dict one;
      one["name"] = parameter.name;
      one["default"] = parameter.standard;
      one["range"] = parameter.range;
      parameters.append(one);
    }
    nb::dict row;
    row["name"] = info.name;
    row["formula"] = info.formula;
    row["parameters"] = parameters;
    row["note"] = info.note;
    row["source"] = info.source;
    row["psd"] = answer(info.psd);
    row["strictly_pd"] = answer(info.strictly_pd);
    row["universal"] = answer(info.universal);
    row["characteristic"] = answer(info.characteristic);
    row["bounded"] = answer(info.bounded);
    row["shift_invariant"] = answer(info.shift_invariant);
    out.append(row);
  }
  return out;
}

nb::list operations() {
  nb::list out;
  for (const KernelOperation& operation : kernel_operations()) {
    nb::dict row;
    row["text"] = operation.text;
    row["formula"] = operation.formula;
    row["note"] = operation.note;
    out.append(row);
  }
  return out;
}

void bind_class(nb::module_& m) {
  nb::class_<Kernel>(m, "Kernel", "A kernel as a value; mercer.kernels has the classes that people use.")
      .def_prop_ro("text", &Kernel::text)
      .def_prop_ro("is_psd", &asked<&Kernel::psd>)
      .def_prop_ro("is_strictly_pd", &asked<&Kernel::is_strictly_pd>)
      .def_prop_ro("is_universal", &asked<&Kernel::is_universal>)
      .def_prop_ro("is_characteristic", &asked<&Kernel::is_characteristic>)
      .def_prop_ro("is_bounded", &asked<&Kernel::is_bounded>)
      .def_prop_ro("is_shift_invariant", &asked<&Kernel::is_shift_invariant>)
      .def_prop_ro("has_auto", &Kernel::has_auto)
      .def_prop_ro("needs_given_gram", &Kernel::needs_given_gram)
      .def_prop_ro("has_named_columns", &Kernel::has_named_columns)
      .def_prop_ro("parameters", &parameters_of)
      .def_prop_ro("callbacks", &callbacks_of, "The parts written in Python, by name.")
      .def(
          "plus", [](const Kernel& a, const Kernel& b) { return a + b; }, "other"_a)
      .def(
          "times", [](const Kernel& a, const Kernel& b) { return a * b; }, "other"_a)
      .def(
          "scaled", [](const Kernel& a, double factor) { return factor * a; }, "factor"_a)
      .def("power", &Kernel::power, "exponent"_a)
      .def(
          "normalized", [](const Kernel& k, bool root) { return k.normalized(root ? Normalization::root : Normalization::product); },
          "root"_a)
      .def("on", &restricted, "columns"_a)
      .def("exp", &Kernel::exp)
      .def("geometric", &Kernel::geometric)
      .def("series", &Kernel::series, "coefficients"_a)
      .def("over", &Kernel::over, "points"_a)
      .def(
          "with_parameters", [](const Kernel& k, const std::vector<double>& values) { return k.with_parameters(values); }, "values"_a)
      .def(
          "resolve_columns", [](const Kernel& k, const std::vector<std::string>& names) { return resolve_columns(k, names); }, "names"_a)
      .def("gradient", &gradient, "X"_a, "Y"_a, "W"_a, "threads"_a = 0);
}

}  // namespace

void bind_kernels(nb::module_& m) {
  bind_class(m);
  m.def("linear", &kernels::linear);
  m.def("polynomial", &kernels::polynomial, "degree"_a, "scale"_a, "offset"_a);
  m.def("sigmoid", &kernels::sigmoid, "scale"_a, "offset"_a);
  m.def("exponential_dot", &kernels::exponential_dot, "scale"_a);
  m.def("cosine", &kernels::cosine);
  m.def(
      "gaussian", [](const Scale& l) { return kernels::gaussian(length_scale(l)); }, "length_scale"_a.none());
  m.def(
      "laplacian",
      [](const Scale& l, const std::string& norm) {
        return kernels::laplacian(length_scale(l), norm == "l1" ? kernels::Norm::l1 : kernels::Norm::l2);
      },
      "length_scale"_a.none(), "norm"_a);
  m.def(
      "matern", [](double nu, const Scale& l) { return kernels::matern(nu, length_scale(l)); }, "nu"_a, "length_scale"_a.none());
  m.def(
      "rational_quadratic", [](const Scale& l, double alpha) { return kernels::rational_quadratic(length_scale(l), alpha); },
      "length_scale"_a.none(), "alpha"_a);
  m.def(
      "periodic", [](const Scale& l, const Scale& period) { return kernels::periodic(length_scale(l), length_scale(period)); },
      "length_scale"_a.none(), "period"_a.none());
  m.def("chi2", &kernels::chi2, "gamma"_a);
  m.def("histogram_intersection", &kernels::histogram_intersection);
  m.def("constant", &kernels::constant, "value"_a);
  m.def("white", &kernels::white, "variance"_a);
  m.def("precomputed", &kernels::precomputed);
  m.def(
      "parse_kernel", [](const std::string& text, const nb::dict& library) { return parse_kernel(text, library_from(library)); }, "text"_a,
      "library"_a);
  m.def("kernel_catalogue", &catalogue);
  m.def("kernel_operations", &operations);
}

}  // namespace mercer::python
