// Kernels written in Python. The library calls them from its own threads while the thread that asked has let the GIL go, so each call takes
// it: once per tile, never per pair. What Python raises travels as nb::python_error through the library and is raised again in the caller.
// Beside them, tables of words: what else text cannot tell of a kernel.
// SPDX-License-Identifier: BSD-3-Clause
#include "bindings.hpp"
#include "mercer/kernels.hpp"
#include "mercer/objects.hpp"

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

// The same of a decomposition, which gives samples of sets.
class PartsCallback {
 public:
  explicit PartsCallback(nb::object callable) : held_(hold(std::move(callable))) {}

  Samples operator()(const Samples& X) const {
    const nb::gil_scoped_acquire held;
    return nb::cast<Samples>(callable()(Samples(X)));
  }

  const nb::object& callable() const { return std::get<0>(*held_); }

 private:
  std::shared_ptr<const std::tuple<nb::object>> held_;
};

// A table of words as Python holds it.
struct Table {
  std::shared_ptr<const WordTable> held;
};

Table table_of(const std::vector<std::string>& words, const Values& vectors) {
  auto table = std::make_shared<WordTable>();
  table->words = words;
  table->vectors = Eigen::Map<const Matrix>(vectors.data(), static_cast<Index>(vectors.shape(0)), static_cast<Index>(vectors.shape(1)));
  if (std::ssize(table->words) != table->vectors.rows())
    throw InvalidArgument("a table of words needs a row of numbers for each word, got " + std::to_string(words.size()) + " words and " +
                          std::to_string(table->vectors.rows()) + " rows");
  return {std::move(table)};
}

nb::object vectors_of(const Table& table) {
  const Matrix& v = table.held->vectors;
  return nb::cast(nb::ndarray<nb::numpy, const double, nb::ndim<2>>(
      v.data(), {static_cast<std::size_t>(v.rows()), static_cast<std::size_t>(v.cols())}, keep(Table(table))));
}

bool same_table(const Table& a, const Table& b) {
  if (a.held == b.held) return true;
  const Matrix& x = a.held->vectors;
  const Matrix& y = b.held->vectors;
  return a.held->words == b.held->words && x.rows() == y.rows() && x.cols() == y.cols() && x == y;
}

// The Python object behind a function, feature map, decomposition or table; None where a function was written in C++.
nb::object callback_of(const Kernel& leaf) {
  if (auto table = kernels::word_table_of(leaf)) return nb::cast(Table{std::move(table)});
  if (const auto* parts = kernels::decomposition_of(leaf)) {
    const auto* callback = parts->target<PartsCallback>();
    return callback == nullptr ? nb::none() : callback->callable();
  }
  const auto* f = kernels::function_of(leaf);
  const auto* phi = kernels::feature_map_of(leaf);
  const Callback* callback = f != nullptr ? f->target<Callback>() : phi != nullptr ? phi->target<Callback>() : nullptr;
  return callback == nullptr ? nb::none() : callback->callable();
}

void bind_tables(nb::module_& m) {
  nb::class_<Table>(m, "WordTable", "Words and their vectors, a row each.")
      .def_static("of", &table_of, "words"_a, "vectors"_a)
      .def_static(
          "read",
          [](const std::string& path, Index limit) { return Table{std::make_shared<const WordTable>(read_word_table(path, limit))}; },
          "path"_a, "limit"_a = 0, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("words", [](const Table& t) { return t.held->words; })
      .def_prop_ro("vectors", &vectors_of)
      .def("__len__", [](const Table& t) { return t.held->words.size(); })
      .def("__eq__", &same_table, nb::is_operator())
      .def("__hash__", [](const Table& t) { return t.held->words.size(); })
      .def("__getstate__", [](const Table& t) { return nb::make_tuple(t.held->words, vectors_of(t)); })
      .def("__setstate__", [](Table& self, const nb::tuple& state) {
        new (&self) Table(table_of(nb::cast<std::vector<std::string>>(state[0]), nb::cast<Values>(state[1])));
      });
  m.def(
      "words", [](const std::string& name, const Table& table, const Kernel& part) { return kernels::words(name, table.held, part); },
      "name"_a, "table"_a, "kernel"_a);
}

}  // namespace

nb::dict callbacks_of(const Kernel& kernel) {
  nb::dict out;
  for (const auto& [name, leaf] : library_of(kernel)) out[nb::str(name.data(), name.size())] = callback_of(leaf);
  return out;
}

KernelLibrary library_from(const nb::dict& callbacks) {
  KernelLibrary out;
  for (const auto& [key, value] : callbacks) {
    const auto name = nb::cast<std::string>(key);
    if (nb::isinstance<Table>(value)) {
      out.emplace(name, kernels::words(name, nb::cast<Table>(value).held));
      continue;
    }
    const nb::object kernel = nb::isinstance<Kernel>(value) ? nb::borrow(value) : value.attr("native")();
    out.emplace(name, nb::cast<Kernel>(kernel));
  }
  return out;
}

void bind_callbacks(nb::module_& m) {
  bind_tables(m);
  m.def(
      "function",
      [](const std::string& name, nb::object callable, std::optional<bool> psd) {
        return kernels::function(name, Callback(std::move(callable)), !psd ? Verdict::unknown : *psd ? Verdict::yes : Verdict::no);
      },
      "name"_a, "callable"_a, "psd"_a.none());
  m.def(
      "feature_map", [](const std::string& name, nb::object callable) { return kernels::feature_map(name, Callback(std::move(callable))); },
      "name"_a, "callable"_a);
  m.def(
      "convolution",
      [](const std::string& name, nb::object callable, const Kernel& part) {
        return kernels::convolution(name, PartsCallback(std::move(callable)), part);
      },
      "name"_a, "callable"_a, "kernel"_a);
}

}  // namespace mercer::python
