// Models in files, with what turns a table into their features.
// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <cmath>

#include "bindings.hpp"
#include "mercer/model_file.hpp"

namespace mercer::python {

namespace {

// Numbers or words, as a table column has them.
using Values = std::variant<std::vector<double>, std::vector<std::string>>;
using NamedColumns = std::vector<std::pair<std::string, Values>>;

Table table_of(NamedColumns&& columns, bool named) {
  Table table;
  table.source = "X";
  table.format = FileFormat::npy;  // rows have numbers, not lines
  table.has_header = named;
  for (auto& [name, values] : columns) {
    Column column;
    column.name = name;
    std::visit(
        [&]<class Cells>(Cells& cells) {
          for (std::size_t i = 0; i < cells.size(); ++i) {
            bool is_missing = false;
            if constexpr (std::is_same_v<Cells, std::vector<double>>) {
              is_missing = std::isnan(cells[i]);
            } else {
              is_missing = cells[i].empty();
            }
            if (is_missing) column.missing.push_back(static_cast<Index>(i));
          }
          column.values = std::move(cells);
        },
        values);
    table.names.push_back(name);
    table.columns.push_back(std::move(column));
  }
  return table;
}

// Only the names of the columns matter to a model fitted on a plain matrix.
Encoder names_only(const std::vector<std::string>& names, const std::string& target) {
  Encoder encoder;
  for (const std::string& name : names) encoder.features.push_back({.name = name, .categories = {}, .fill = 0});
  encoder.width = static_cast<Index>(names.size());
  encoder.target = target;
  return encoder;
}

// Every feature is a column of numbers as it stands: no categories, nothing filled in.
bool numbers_only(const Encoder& encoder) {
  const auto is_number = [](const FeatureColumn& column) { return column.categories.empty(); };
  return !encoder.fills_missing && std::all_of(encoder.features.begin(), encoder.features.end(), is_number);
}

bool changes_columns(const Encoder& encoder) { return !numbers_only(encoder) || encoder.scaler.kind != ScalingKind::none; }

bool changes_values(const Encoder& encoder) { return changes_columns(encoder) || encoder.task == Task::classification; }

// Rows of numbers as they stand, of which a classifier says a label.
bool labels_only(const Encoder& encoder) { return !changes_columns(encoder) && encoder.task == Task::classification; }

// Of a classifier, its labels too; features without names are then x1, x2, ...
SavedModel saved(const AnyModel& model, const std::optional<std::vector<std::string>>& names,
                 const std::optional<std::vector<std::string>>& classes) {
  SavedModel out{model, names ? std::optional(names_only(*names, "y")) : std::nullopt};
  if (!classes) return out;
  if (!out.encoder) {
    const bool sparse = std::visit(
        []<class Model>(const Model& m) {
          if constexpr (requires { m.samples(); }) {
            return m.samples().is_sparse();
          } else if constexpr (requires { m.landmarks(); }) {
            return m.landmarks().is_sparse();
          } else {
            return false;
          }
        },
        model);
    std::vector<std::string> numbered;
    for (Index j = 1; j <= out.width() && !sparse; ++j) numbered.push_back("x" + std::to_string(j));
    out.encoder = names_only(numbered, "y");
    out.encoder->width = out.width();
    out.encoder->named = false;
    out.encoder->sparse = sparse;
    if (!sparse) out.encoder->table_columns = out.width();
  }
  out.encoder->task = Task::classification;
  out.encoder->classes = *classes;
  return out;
}

// The predictions, and sentences about words that the model never saw.
std::pair<Matrix, std::vector<std::string>> predict_table(const SavedModel& self, NamedColumns columns, bool named, int threads,
                                                          bool probabilities) {
  if (!self.encoder) throw InvalidArgument("this model was fitted on a plain matrix: it takes rows, not a table");
  Job job(threads, 0, nb::none());
  return job([&](const Run& run) {
    const Table table = table_of(std::move(columns), named);
    const Samples X = self.encoder->features_of(table);
    return std::pair(probabilities ? self.probabilities(X, run) : self.predict(X, run), self.encoder->unseen_categories(table));
  });
}

// Encoded and scaled rows of a table, and the same sentences.
std::pair<Samples, std::vector<std::string>> features_of(const SavedModel& self, NamedColumns columns, bool named) {
  if (!self.encoder) throw InvalidArgument("this model was fitted on a plain matrix: it takes rows, not a table");
  const Table table = table_of(std::move(columns), named);
  return {self.encoder->features_of(table), self.encoder->unseen_categories(table)};
}

void save(const SavedModel& model, const std::string& path) {
  Job job(0, 0, nb::none());
  job([&](const Run& run) { save_model(model, path, run); });
}

}  // namespace

nb::object pickled(const SavedModel& model) {
  std::string bytes;
  {
    const nb::gil_scoped_release released;
    bytes = model_to_bytes(model);
  }
  nb::bytes file(bytes.data(), bytes.size());
  const nb::dict callbacks = std::visit(
      []<class Model>(const Model& m) {
        if constexpr (requires { m.kernel(); }) {
          nb::dict code = callbacks_of(m.kernel());
          for (const auto& [name, part] : library_of(m.kernel())) {  // tables of words are in the file already
            if (kernels::word_table_of(part) != nullptr) nb::del(code[nb::str(name.data(), name.size())]);
          }
          return code;
        } else {
          return nb::dict();
        }
      },
      model.model);
  if (callbacks.empty()) return file;
  return nb::make_tuple(file, callbacks);
}

SavedModel unpickled(const nb::object& state) {
  nb::bytes file;
  nb::dict callbacks;
  if (nb::isinstance<nb::tuple>(state)) {
    file = nb::cast<nb::bytes>(state[0]);
    callbacks = nb::cast<nb::dict>(state[1]);
  } else {
    file = nb::cast<nb::bytes>(state);
  }
  return model_from_bytes({file.c_str(), file.size()}, "pickle", library_from(callbacks));
}

void bind_model_files(nb::module_& m) {
  nb::class_<SavedModel>(m, "SavedModel", "What a model file holds.")
      .def_prop_ro("kind", &SavedModel::kind)
      .def_prop_ro("width", &SavedModel::width)
      .def_prop_ro("n_targets", &SavedModel::n_targets)
      .def_prop_ro("model", [](const SavedModel& s) { return s.model; })
      .def_prop_ro("has_encoder", [](const SavedModel& s) { return s.encoder.has_value(); })
      .def_prop_ro("changes_values", [](const SavedModel& s) { return s.encoder && changes_values(*s.encoder); })
      .def_prop_ro("only_labels", [](const SavedModel& s) { return s.encoder && labels_only(*s.encoder); })
      .def_prop_ro("changes_columns", [](const SavedModel& s) { return s.encoder && changes_columns(*s.encoder); })
      .def_prop_ro("is_named", [](const SavedModel& s) { return s.encoder && s.encoder->named; })
      .def_prop_ro("is_numbers_only", [](const SavedModel& s) { return s.encoder && numbers_only(*s.encoder); })
      .def_prop_ro("is_sparse", [](const SavedModel& s) { return s.encoder && s.encoder->sparse; })
      .def_prop_ro("feature_names", [](const SavedModel& s) { return s.encoder ? s.encoder->feature_names() : std::vector<std::string>(); })
      .def_prop_ro("column_names",
                   [](const SavedModel& s) {
                     std::vector<std::string> names;
                     if (s.encoder) {
                       for (const FeatureColumn& column : s.encoder->features) names.push_back(column.name);
                     }
                     return names;
                   })
      .def_prop_ro("target", [](const SavedModel& s) { return s.encoder ? s.encoder->target : std::string(); })
      .def_prop_ro("positive", [](const SavedModel& s) { return s.encoder ? s.encoder->positive : std::string(); })
      .def_prop_ro("classes",
                   [](const SavedModel& s) {
                     const bool any = s.encoder && s.encoder->task == Task::classification;
                     return any ? std::optional(s.encoder->classes) : std::nullopt;
                   })
      .def(
          "scaled", [](const SavedModel& s, const Samples& X) { return s.encoder ? s.encoder->scaler.apply(X) : X; }, "X"_a)
      .def("predict_table", &predict_table, "columns"_a, "named"_a, "threads"_a = 0, "probabilities"_a = false)
      .def("features_of", &features_of, "columns"_a, "named"_a)
      .def(
          "probabilities",
          [](const SavedModel& s, const Samples& X, int threads) {
            Job job(threads, 0, nb::none());
            return job([&](const Run& run) { return s.probabilities(X, run); });
          },
          "X"_a, "threads"_a = 0)
      .def(
          "class_indices",
          [](const SavedModel& s, const Samples& X, int threads) {
            Job job(threads, 0, nb::none());
            return job([&](const Run& run) { return s.classes(X, run); });
          },
          "X"_a, "threads"_a = 0)
      .def("__getstate__", &pickled)
      .def("__setstate__", [](SavedModel& self, const nb::object& state) { new (&self) SavedModel(unpickled(state)); });
  m.def(
      "save_model",
      [](const AnyModel& model, const std::optional<std::vector<std::string>>& names, const std::string& path,
         const std::optional<std::vector<std::string>>& classes) {
        Job job(0, 0, nb::none());
        job([&](const Run& run) { save_model(saved(model, names, classes), path, run); });
      },
      "model"_a, "feature_names"_a.none(), "path"_a, "classes"_a.none() = nb::none());
  m.def("save_saved", &save, "model"_a, "path"_a);
  m.def(
      "load_model",
      [](const std::string& path, const nb::dict& library) {
        const KernelLibrary kernels = library_from(library);
        const nb::gil_scoped_release released;
        return load_model(path, kernels);
      },
      "path"_a, "library"_a);
  m.def("model_info", &model_info, "path"_a, nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "classes_from_scores", [](const Matrix& scores) { return classes_from_scores(scores); }, "scores"_a);
}

}  // namespace mercer::python
