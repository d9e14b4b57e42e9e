// What the bindings of models share: arrays in, the quick way to predictions, pickling.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "bindings.hpp"
#include "mercer/model_file.hpp"

namespace mercer::python {

using Targets = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

inline Eigen::Map<const Matrix> matrix_of(const Targets& y) {
  return {y.data(), static_cast<Index>(y.shape(0)), static_cast<Index>(y.shape(1))};
}

// Rows as they are: one row (1-D) or several (2-D), float32 or float64, C order. Nothing is kept beyond the call.
inline Samples rows_of(const Rows& x) {
  if (x.ndim() != 1 && x.ndim() != 2) throw InvalidArgument("decision takes one row or a matrix of rows");
  const auto rows = x.ndim() == 1 ? Index{1} : static_cast<Index>(x.shape(0));
  const auto cols = static_cast<Index>(x.shape(x.ndim() - 1));
  if (x.dtype() == nb::dtype<double>())
    return Samples::borrow(DenseRows<double>{static_cast<const double*>(x.data()), rows, cols, cols}, nullptr);
  if (x.dtype() == nb::dtype<float>())
    return Samples::borrow(DenseRows<float>{static_cast<const float*>(x.data()), rows, cols, cols}, nullptr);
  throw InvalidArgument("decision takes float32 or float64 rows");
}

template <class Model>
Matrix predict_with(const Model& model, const Samples& X, const Run& run) {
  if constexpr (requires { model.predict(X, run); }) {
    return model.predict(X, run);
  } else {
    return model.predict(X);
  }
}

// The quick way in: no validation in Python, a number for one row of one target, else an array without the axes of length one.
template <class Model>
nb::object decision(const Model& model, const Rows& x) {
  Samples X = rows_of(x);
  if constexpr (requires { model.samples(); }) {
    if (model.samples().is_given()) X = Samples::given_rows(X);
  }
  Matrix f;
  if (X.size() == 1) {
    f = predict_with(model, X, Run{.threads = 1});
  } else {
    const nb::gil_scoped_release released;
    f = predict_with(model, X, Run{});
  }
  if (x.ndim() == 1 && f.cols() == 1) return nb::float_(f(0, 0));
  if (x.ndim() == 1) return nb::cast(Vector(f.row(0).transpose()));
  if (f.cols() == 1) return nb::cast(Vector(f.col(0)));
  return nb::cast(std::move(f));
}

template <class Model>
Matrix predict(const Model& model, const Samples& X, int threads, std::size_t memory, nb::object progress) {
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) { return predict_with(model, X, run); });
}

template <class Model>
nb::class_<Model> bind_model(nb::module_& m, const char* name, const char* doc,
                             nb::object (*quick)(const Model&, const Rows&) = &decision<Model>) {
  return nb::class_<Model>(m, name, doc)
      .def("decision", quick, "x"_a, "Predictions without validation, for one row (1-D) or several (2-D).")
      .def("predict", &predict<Model>, "X"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none())
      .def("__getstate__",
           [](const Model& model) {
             return pickled({model, std::nullopt});
           })
      .def("__setstate__", [](Model& self, const nb::object& state) { new (&self) Model(std::get<Model>(unpickled(state).model)); });
}

}  // namespace mercer::python
