// The one table of model kinds. A new model is a further alternative of AnyModel, two functions and one row here, in the same order.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "mercer/model_file.hpp"
#include "persist/container.hpp"

namespace mercer::persist {

struct ModelKind {
  std::string_view name;  // the word of `mercer fit`
  void (*write)(const AnyModel& model, ContainerWriter& out);
  AnyModel (*read)(const ContainerReader& in, const KernelLibrary& library);
};

const ModelKind& kind_of(const AnyModel& model);
const ModelKind* find_kind(std::string_view name);  // nullptr: not known
std::string kind_names();                           // "krr, ridge"

}  // namespace mercer::persist
