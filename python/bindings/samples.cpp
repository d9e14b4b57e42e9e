// numpy arrays and scipy's CSR as Samples, without a copy; strings, graphs and sets, copied. The Python side sees to types, order and
// finite values. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "bindings.hpp"
#include "mercer/objects.hpp"

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

// -- objects

std::string utf8(nb::handle text, std::size_t place, const char* what) {
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_Check(text.ptr()) ? PyUnicode_AsUTF8AndSize(text.ptr(), &size) : nullptr;
  if (bytes == nullptr) {
    PyErr_Clear();
    throw InvalidArgument(std::string(what) + " " + std::to_string(place) + " (counting from 0) is no text that UTF-8 can hold");
  }
  return {bytes, static_cast<std::size_t>(size)};
}

std::vector<std::string> texts(const nb::list& values, const char* what) {
  std::vector<std::string> out;
  out.reserve(nb::len(values));
  for (std::size_t i = 0; i < nb::len(values); ++i) out.push_back(utf8(values[i], i, what));
  return out;
}

Samples strings(const nb::list& values) { return Samples::strings(texts(values, "string")); }

using Edges = nb::ndarray<const std::int64_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

// Each graph is a tuple (number of nodes, edges, labels of the nodes, labels of the edges), lists of labels being empty where there are
// none.
Samples graphs(const nb::list& values) {
  Graphs out;
  out.reserve(nb::len(values));
  for (const nb::handle value : values) {
    const auto parts = nb::cast<nb::tuple>(value);
    const auto edges = nb::cast<Edges>(parts[1]);
    Graph graph;
    graph.nodes = nb::cast<Index>(parts[0]);
    for (std::size_t e = 0; e < edges.shape(0); ++e) graph.edges.emplace_back(edges(e, 0), edges(e, 1));
    graph.labels = texts(nb::cast<nb::list>(parts[2]), "node label");
    graph.edge_labels = texts(nb::cast<nb::list>(parts[3]), "edge label");
    out.push_back(std::move(graph));
  }
  return Samples::graphs(std::move(out));
}

nb::list list_of(const std::vector<std::string>& values) {
  nb::list out;
  for (const std::string& value : values) out.append(nb::str(value.data(), value.size()));
  return out;
}

nb::dict dictionary(const Graph& graph) {
  nb::dict out;
  out["n"] = graph.nodes;
  nb::list edges;
  for (const auto& [u, v] : graph.edges) edges.append(nb::make_tuple(u, v));
  out["edges"] = edges;
  if (!graph.labels.empty()) out["labels"] = list_of(graph.labels);
  if (!graph.edge_labels.empty()) out["edge_labels"] = list_of(graph.edge_labels);
  return out;
}

Samples only_column(const Samples& samples, Index place) { return samples.columns(std::vector<Index>{place}); }

// The objects at one column: a list of str or of dictionaries; of sets, their elements as samples and where each set ends.
nb::object objects_at(const Samples& samples, Index place) {
  const Samples column = only_column(samples, place);
  const std::string who = "column " + std::to_string(place);
  nb::list out;
  switch (kind_of(column, who)) {
    case ObjectKind::string:
      for (const std::string_view text : strings_of(column, who)) out.append(nb::str(text.data(), text.size()));
      return out;
    case ObjectKind::graph:
      for (const Graph* graph : graphs_of(column, who)) out.append(dictionary(*graph));
      return out;
    default: {
      Sets sets = sets_of(column, who);
      return nb::make_tuple(nb::cast(std::move(sets.elements)), nb::cast(std::move(sets.offsets)));
    }
  }
}

Samples joined(const std::vector<Samples>& parts) {
  if (parts.empty()) throw InvalidArgument("there is nothing to join");
  Samples out = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) out = concatenate(out, parts[i]);
  return out;
}

// What each column holds: "numbers", "strings", "sets" or "graphs".
std::vector<std::string> kinds(const Samples& samples) {
  std::vector<std::string> out(static_cast<std::size_t>(samples.width()), "numbers");
  if (!samples.has_objects()) return out;
  const ObjectRows& rows = samples.object_rows();
  for (std::size_t c = 0; c < rows.columns.size(); ++c) out[static_cast<std::size_t>(rows.places[c])] = name_of(rows.columns[c]->kind());
  return out;
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
      .def_static("strings", &strings, "values"_a)
      .def_static("graphs", &graphs, "values"_a, "Tuples of the number of nodes, edges, labels of nodes and labels of edges.")
      .def_static(
          "sets", [](const Samples& elements, std::vector<Index> offsets) { return Samples::sets(elements, std::move(offsets)); },
          "elements"_a, "offsets"_a, "Set i is the elements from offsets[i] to offsets[i + 1].")
      .def_static("records", &Samples::records, "parts"_a, "The columns of all parts side by side.")
      .def_static("joined", &joined, "parts"_a, "The samples of all parts, one after the other.")
      .def_prop_ro("has_objects", &Samples::has_objects)
      .def_prop_ro("kinds", &kinds, "What each column holds.")
      .def("objects_at", &objects_at, "column"_a)
      .def("column", &only_column, "column"_a)
      .def(
          "subset", [](const Samples& s, const std::vector<Index>& rows) { return s.subset(rows); }, "rows"_a)
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
