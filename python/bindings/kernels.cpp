// Kernels as values, their algebra, and what is said about them.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernels.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <variant>

#include "bindings.hpp"
#include "mercer/error.hpp"
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

// Where kernels of strings, sets and graphs look: None where there are none, an empty list where one looks at all there is.
nb::object columns_of_objects(const Kernel& kernel) {
  const auto columns = object_columns(kernel);
  if (!columns) return nb::none();
  nb::list out;
  for (const ColumnRef& column : *columns) {
    if (column.index < 0) {
      out.append(nb::str(column.name.data(), column.name.size()));
    } else {
      out.append(column.index);
    }
  }
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
      .def_prop_ro("looks_at_objects", &Kernel::looks_at_objects)
      .def_prop_ro("object_columns", &columns_of_objects)
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
          "radial", [](const Kernel& k, const Scale& l) { return k.radial(length_scale(l)); }, "length_scale"_a.none())
      .def(
          "with_parameters", [](const Kernel& k, const std::vector<double>& values) { return k.with_parameters(values); }, "values"_a)
      .def(
          "resolve_columns", [](const Kernel& k, const std::vector<std::string>& names) { return resolve_columns(k, names); }, "names"_a)
      .def("gradient", &gradient, "X"_a, "Y"_a, "W"_a, "threads"_a = 0);
}

// A word of a list, by its place there.
template <class Choice>
Choice chosen(const std::string& word, const std::vector<std::string>& words, const char* what) {
  const auto it = std::find(words.begin(), words.end(), word);
  if (it == words.end()) throw InvalidArgument(std::string(what) + " must be one of those that the class names, got " + word);
  return static_cast<Choice>(it - words.begin());
}

void bind_object_kernels(nb::module_& m) {
  m.def("spectrum", &kernels::spectrum, "k"_a, "normalized"_a);
  m.def("weighted_degree", &kernels::weighted_degree, "degree"_a, "normalized"_a);
  m.def(
      "mismatch",
      [](int k, int mismatches, std::optional<int> letters, bool normalized) {
        return kernels::mismatch(k, mismatches, letters.value_or(0), normalized);
      },
      "k"_a, "m"_a, "letters"_a.none(), "normalized"_a);
  m.def("gappy", &kernels::gappy, "k"_a, "gaps"_a, "normalized"_a);
  m.def("subsequence", &kernels::subsequence, "k"_a, "decay"_a, "normalized"_a);
  m.def(
      "edit_distance", [](const Scale& l) { return kernels::edit_distance(length_scale(l)); }, "length_scale"_a.none());
  m.def(
      "bag_of",
      [](const Kernel& part, const std::string& form) {
        return kernels::bag_of(part, chosen<kernels::BagForm>(form, {"sum", "mean", "best"}, "form"));
      },
      "kernel"_a, "form"_a);
  m.def(
      "bag_of_words",
      [](const std::string& weights, bool normalized) {
        return kernels::bag_of_words(chosen<kernels::WordWeights>(weights, {"tfidf", "count", "binary"}, "weights"), normalized);
      },
      "weights"_a, "normalized"_a);
  m.def(
      "known_convolution", [](const std::string& parts, const Kernel& part) { return kernels::convolution(parts, part); }, "parts"_a,
      "kernel"_a);
  m.def(
      "weisfeiler_lehman",
      [](int iterations, const std::string& form, bool normalized) {
        return kernels::weisfeiler_lehman(iterations, chosen<kernels::LehmanForm>(form, {"subtree", "assignment"}, "form"), normalized);
      },
      "iterations"_a, "form"_a, "normalized"_a);
  m.def("shortest_path", &kernels::shortest_path, "normalized"_a);
  m.def(
      "random_walk", [](std::optional<double> decay, bool normalized) { return kernels::random_walk(decay.value_or(0), normalized); },
      "decay"_a.none(), "normalized"_a);
  m.def("graphlet", &kernels::graphlet, "size"_a, "normalized"_a);
}

}  // namespace

void bind_kernels(nb::module_& m) {
  bind_class(m);
  bind_object_kernels(m);
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
