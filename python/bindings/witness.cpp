// Mean embeddings, witness functions and what they say of columns. SPDX-License-Identifier: BSD-3-Clause
#include "mercer/witness.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "bindings.hpp"
#include "mercer/mean_embedding.hpp"

namespace mercer::python {

namespace {

void bind_mean_embedding(nb::module_& m) {
  m.def(
      "mean_embedding",
      [](const Samples& X, const Kernel& kernel, const Vector& weights) {
        return mean_embedding(X, {.kernel = kernel, .weights = weights});
      },
      "X"_a, "kernel"_a, "weights"_a);
  nb::class_<EmbeddingBound>(m, "EmbeddingBound")
      .def_ro("bound", &EmbeddingBound::bound)
      .def_ro("delta", &EmbeddingBound::delta)
      .def_ro("kappa", &EmbeddingBound::kappa)
      .def_ro("kappa_known", &EmbeddingBound::kappa_known)
      .def_ro("rows", &EmbeddingBound::rows)
      .def_ro("mean_root", &EmbeddingBound::mean_root)
      .def_ro("sentence", &EmbeddingBound::sentence);
  m.def("embedding_bound", &embedding_bound, "embedding"_a, "delta"_a, "kappa"_a);
}

using Points = std::vector<std::tuple<bool, Index, double>>;

Points points_of(const std::vector<TellingPoint>& points) {
  Points out;
  for (const TellingPoint& p : points) out.emplace_back(p.from_x, p.row, p.value);
  return out;
}

void bind_witness_class(nb::module_& m) {
  nb::class_<Witness>(m, "Witness", "mu(X) - mu(Y); mercer.Witness is the class that people use.")
      .def_prop_ro("function", [](const Witness& w) { return w.function(); })
      .def_prop_ro("kernel", [](const Witness& w) { return w.kernel(); })
      .def_prop_ro("n", &Witness::n)
      .def_prop_ro("m", &Witness::m)
      .def_prop_ro("squared", &Witness::squared)
      .def_prop_ro("distance", &Witness::distance)
      .def_prop_ro("at_x", [](const Witness& w) { return w.at_x(); })
      .def_prop_ro("at_y", [](const Witness& w) { return w.at_y(); })
      .def(
          "__call__",
          [](const Witness& w, const Samples& Z, bool normalised, int threads) {
            Job job(threads, 0, nb::none());
            return job([&](const Run& run) { return normalised ? w.normalised(Z, run) : w(Z, run); });
          },
          "Z"_a, "normalised"_a, "threads"_a)
      .def(
          "telling_points",
          [](const Witness& w, Index most) {
            const TellingPoints found = w.telling_points(most);
            return std::pair(points_of(found.more_x), points_of(found.more_y));
          },
          "most"_a);
  m.def(
      "witness",
      [](const Samples& X, const Samples& Y, const Kernel& kernel, const Vector& weights_x, const Vector& weights_y, int threads,
         std::size_t memory, nb::object progress) {
        Job job(threads, memory, std::move(progress));
        return job(
            [&](const Run& run) { return witness(X, Y, {.kernel = kernel, .weights_x = weights_x, .weights_y = weights_y, .run = run}); });
      },
      "X"_a, "Y"_a, "kernel"_a, "weights_x"_a, "weights_y"_a, "threads"_a, "memory"_a, "progress"_a.none());
}

void bind_witness_grid(nb::module_& m) {
  nb::class_<WitnessGrid>(m, "WitnessGrid")
      .def_ro("columns", &WitnessGrid::columns)
      .def_prop_ro("axes", [](const WitnessGrid& g) { return g.axes; })
      .def_prop_ro("values", [](const WitnessGrid& g) { return g.values; })
      .def_ro("squared", &WitnessGrid::squared)
      .def_ro("kernel", &WitnessGrid::kernel);
  m.def(
      "witness_grid",
      [](const Samples& X, const Samples& Y, std::vector<Index> columns, Index points, const Kernel& kernel, const Vector& weights_x,
         const Vector& weights_y, int threads, std::size_t memory, nb::object progress) {
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          return witness_grid(X, Y, std::move(columns), points,
                              {.kernel = kernel, .weights_x = weights_x, .weights_y = weights_y, .run = run});
        });
      },
      "X"_a, "Y"_a, "columns"_a, "points"_a, "kernel"_a, "weights_x"_a, "weights_y"_a, "threads"_a, "memory"_a, "progress"_a.none());
}

Exchange exchange_named(const std::string& word) {
  for (const Exchange e :
       {Exchange::free, Exchange::within_groups, Exchange::whole_groups, Exchange::blocks, Exchange::shifts, Exchange::pairs}) {
    if (word == name_of(e)) return e;
  }
  throw InvalidArgument(R"(exchange must be "free", "within-groups", "whole-groups", "blocks", "shifts" or "pairs", got ")" + word + '"');
}

void bind_witness_columns(nb::module_& m) {
  nb::class_<WitnessColumn>(m, "WitnessColumn")
      .def_ro("column", &WitnessColumn::column)
      .def_ro("squared", &WitnessColumn::squared)
      .def_ro("p_value", &WitnessColumn::p_value)
      .def_ro("adjusted", &WitnessColumn::adjusted)
      .def_ro("differs", &WitnessColumn::differs)
      .def_ro("drop", &WitnessColumn::drop)
      .def_ro("share", &WitnessColumn::share);
  nb::class_<ColumnTable>(m, "ColumnTable")
      .def_ro("columns", &ColumnTable::columns)
      .def_ro("squared", &ColumnTable::squared)
      .def_ro("n", &ColumnTable::n)
      .def_ro("m", &ColumnTable::m)
      .def_ro("permutations", &ColumnTable::permutations)
      .def_ro("seed", &ColumnTable::seed)
      .def_ro("kernel", &ColumnTable::kernel)
      .def_ro("remarks", &ColumnTable::remarks)
      .def_ro("seconds", &ColumnTable::seconds)
      .def_ro("sentence", &ColumnTable::sentence)
      .def_prop_ro("ranked", &ColumnTable::ranked);
  m.def(
      "witness_columns",
      [](const Samples& X, const Samples& Y, const Kernel& kernel, const Kernel& column_kernel, Index permutations,
         const std::string& exchange, std::vector<Index> groups, Index block_length, Index shuffles, Index max_rows, double level,
         std::uint64_t seed, int threads, std::size_t memory, nb::object progress) {
        WitnessColumnsOptions o;
        o.kernel = kernel;
        o.column_kernel = column_kernel;
        o.permutations = permutations;
        o.exchange = {exchange_named(exchange), std::move(groups), block_length};
        o.shuffles = shuffles;
        o.max_rows = max_rows;
        o.level = level;
        o.seed = seed;
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          o.run = run;
          return witness_columns(X, Y, o);
        });
      },
      "X"_a, "Y"_a, "kernel"_a, "column_kernel"_a, "permutations"_a, "exchange"_a, "groups"_a, "block_length"_a, "shuffles"_a, "max_rows"_a,
      "level"_a, "seed"_a, "threads"_a, "memory"_a, "progress"_a.none());
}

}  // namespace

void bind_witness(nb::module_& m) {
  bind_mean_embedding(m);
  bind_witness_class(m);
  bind_witness_grid(m);
  bind_witness_columns(m);
}

}  // namespace mercer::python
