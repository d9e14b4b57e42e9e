// SPDX-License-Identifier: BSD-3-Clause
#include "estimates.hpp"

#include <fmt/format.h>

#include <concepts>
#include <filesystem>

#include "terminal.hpp"

namespace mercer::cli {

namespace {

// The rows that a model compares new ones with; 0: it compares with none.
template <class Model>
double rows_of(const Model& model) {
  if constexpr (requires { model.is_linear(); }) {
    if (model.is_linear()) return 0;
  }
  if constexpr (requires { model.samples().size(); }) {
    return static_cast<double>(model.samples().size());
  } else if constexpr (requires { model.basis().size(); }) {
    return static_cast<double>(model.basis().size());
  } else if constexpr (requires { model.landmarks().size(); }) {
    return static_cast<double>(model.landmarks().size());
  } else if constexpr (requires { model.points().size(); }) {
    return static_cast<double>(model.points().size());
  } else {
    return 0;
  }
}

// Features that a model makes of a row by products with its columns; 1 where it makes a number of each.
template <class Model>
double features_of(const Model& model) {
  if constexpr (requires { model.map().n_components(); }) {
    return static_cast<double>(model.map().n_components());
  } else if constexpr (requires { model.n_components(); }) {
    return static_cast<double>(model.n_components());
  } else {
    return 1;
  }
}

}  // namespace

double values_in(const Samples& X) {
  const auto dense = static_cast<double>(X.size()) * static_cast<double>(std::max<Index>(X.width(), 1));
  if (!X.is_sparse()) return dense;
  if (const auto* rows = std::get_if<CsrRows<double>>(&X.storage())) return static_cast<double>(rows->nonzeros());
  if (const auto* rows = std::get_if<CsrRows<float>>(&X.storage())) return static_cast<double>(rows->nonzeros());
  return dense;
}

double kernel_value_flops(const Samples& X) { return X.empty() ? 0 : 2 * values_in(X) / static_cast<double>(X.size()) + 60; }

void announce_application(const std::string& what, const SavedModel& saved, const Samples& X, const Run& run) {
  const auto n = static_cast<double>(X.size());
  const double compared = std::visit([](const auto& model) { return rows_of(model); }, saved.model);
  const double features = std::visit([](const auto& model) { return features_of(model); }, saved.model);
  const double flops =
      compared > 0 ? n * compared * (kernel_value_flops(X) + (features > 1 ? 2 * features : 0)) : 2 * values_in(X) * features;
  announce(fmt::format("{} {} rows", what, X.size()), flops / estimated_flops(run), 8 * (values_in(X) + n * features), run);
}

void announce_reading(const std::string& path, const Run& run) {
  constexpr double bytes_a_second = 1.5e8;  // of text, on one core
  std::error_code unknown;
  const auto bytes = static_cast<double>(std::filesystem::file_size(path, unknown));
  if (unknown) return;
  const double unpacked = path.ends_with(".gz") || path.ends_with(".xz") ? 5 * bytes : bytes;
  announce("reading " + path, unpacked / bytes_a_second, unpacked, run);
}

}  // namespace mercer::cli
