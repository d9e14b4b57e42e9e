// numpy arrays and scipy's CSR as Samples, without a copy. The Python side sees to types, order and finite values.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <memory>
#include <variant>

#include "bindings.hpp"

namespace mercer::python {

namespace {

using Dense = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
Samples borrow_dense(const Dense& array) {
  const auto rows = static_cast<Index>(array.shape(0));
  const auto cols = static_cast<Index>(array.shape(1));
  return Samples::borrow(DenseRows<T>{static_cast<const T*>(array.data()), rows, cols, rows > 1 ? array.stride(0) : cols}, hold(array));
}

Samples dense(const Dense& array) {
  const bool rows_in_order = array.shape(0) <= 1 || array.stride(0) >= static_cast<std::int64_t>(array.shape(1));
  if ((array.shape(1) > 1 && array.stride(1) != 1) || !rows_in_order)
    throw InvalidArgument("each row of the array must lie in one piece: pass numpy.ascontiguousarray(X)");
  if (array.dtype() == nb::dtype<double>()) return borrow_dense<double>(array);
  if (array.dtype() == nb::dtype<float>()) return borrow_dense<float>(array);
  throw InvalidArgument("the array must hold float32 or float64 numbers");
}

template <class T>
Samples csr(const Column<T>& values, const Column<std::int32_t>& columns, const Column<std::int64_t>& offsets, Index width) {
  const auto rows = static_cast<Index>(offsets.shape(0)) - 1;
  const auto stored = static_cast<std::int64_t>(std::min(values.shape(0), columns.shape(0)));
  if (rows < 0 || offsets.data()[0] < 0 || offsets.data()[rows] > stored)
    throw InvalidArgument("the index arrays of a CSR matrix do not agree");
  for (Index i = 0; i < rows; ++i) {
    if (offsets.data()[i] > offsets.data()[i + 1]) throw InvalidArgument("the offsets of a CSR matrix must not descend");
    for (std::int64_t p = offsets.data()[i]; p < offsets.data()[i + 1]; ++p) {
      const std::int32_t c = columns.data()[p];
      if (c < 0 || c >= width || (p > offsets.data()[i] && c <= columns.data()[p - 1]))
        throw InvalidArgument("the column indices of a CSR matrix must lie in range and ascend within a row: call sum_duplicates() first");
    }
  }
  return Samples::borrow(CsrRows<T>{values.data(), columns.data(), offsets.data(), rows, width}, hold(values, columns, offsets));
}

template <class T>
nb::object column(const T* data, std::size_t count, const nb::handle& owner) {
  return nb::cast(nb::ndarray<nb::numpy, const T, nb::ndim<1>>(data, {count}, owner));
}

// A numpy view of the rows, or (data, indices, indptr, width) with indptr counting from its first; both keep the samples alive.
nb::object arrays(const Samples& samples) {
  const nb::capsule owner = keep(Samples(samples));
  return std::visit(
      [&]<class Rows>(const Rows& rows) -> nb::object {
        using T = typename Rows::Scalar;
        if constexpr (requires { rows.stride; }) {
          return nb::cast(nb::ndarray<nb::numpy, const T, nb::ndim<2>>(
              rows.data, {static_cast<std::size_t>(rows.rows), static_cast<std::size_t>(rows.cols)}, owner, {rows.stride, 1}));
        } else {
          const Index first = rows.rows == 0 ? 0 : rows.offsets[0];
          const auto count = static_cast<std::size_t>(rows.nonzeros());
          return nb::make_tuple(column(rows.values + first, count, owner), column(rows.columns + first, count, owner),
                                column(rows.offsets, static_cast<std::size_t>(rows.rows) + 1, owner), rows.cols);
        }
      },
      samples.storage());
}

}  // namespace

void bind_samples(nb::module_& m) {
  nb::class_<Samples>(m, "Samples", "Rows that a kernel can look at; shares memory with the arrays it is made of.")
      .def_static("dense", &dense, "array"_a)
      .def_static("csr", &csr<double>, "values"_a, "columns"_a, "offsets"_a, "width"_a)
      .def_static("csr", &csr<float>, "values"_a, "columns"_a, "offsets"_a, "width"_a)
      .def_static("given_gram", &Samples::given_gram, "K"_a, "Objects known by their Gram matrix.")
      .def_static("given_rows", &Samples::given_rows, "K_new"_a,
                  "New objects, known by rows of kernel values against those of a Gram matrix.")
      .def_static("given_part", &Samples::given_part, "rows"_a, "ids"_a, "Rows of kernel values of the objects with these ids.")
      .def_prop_ro("given_ids", [](const Samples& s) { return std::vector<Index>(s.given_ids().begin(), s.given_ids().end()); })
      .def("arrays", &arrays)
      .def(
          "require_finite", [](const Samples& s, const std::string& name) { require_finite(s, name); }, "name"_a)
      .def_prop_ro("size", &Samples::size)
      .def_prop_ro("width", &Samples::width)
      .def_prop_ro("is_sparse", &Samples::is_sparse)
      .def_prop_ro("is_given", &Samples::is_given)
      .def_prop_ro("is_float32", [](const Samples& s) { return s.precision() == Precision::float32; });
}

}  // namespace mercer::python
