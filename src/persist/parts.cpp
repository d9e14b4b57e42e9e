// SPDX-License-Identifier: BSD-3-Clause
#include "persist/parts.hpp"

#include <fmt/format.h>

#include "mercer/error.hpp"
#include "mercer/objects.hpp"

namespace mercer::persist {

void write_vector(const std::string& name, const Vector& values, ContainerWriter& out) { out.tensor(name, {values.size()}, values.data()); }

void write_matrix(const std::string& name, const Matrix& values, ContainerWriter& out) {
  out.tensor(name, {values.rows(), values.cols()}, values.data());
}

void write_kernel(const Kernel& kernel, ContainerWriter& out) {
  if (kernel.has_auto())
    throw InvalidArgument(fmt::format("the kernel {} still waits for data; resolve it before saving the model", kernel.text()));
  out.text("kernel", kernel.text());
  Json names = Json::array();
  for (const auto& [name, part] : library_of(kernel)) {
    const auto table = kernels::word_table_of(part);
    if (table == nullptr) continue;
    const std::string place = fmt::format("kernel.tables.{}", names.size());
    write_strings(table->words, out, place + ".words");
    out.tensor(place + ".vectors", {table->vectors.rows(), table->vectors.cols()}, table->vectors.data(), table);
    names.push_back(text_to_json(name));
  }
  if (!names.empty()) out.json("kernel.tables", {{"names", names}});
}

Kernel read_kernel(const ContainerReader& in, const KernelLibrary& library) {
  KernelLibrary all = library;
  if (in.has("kernel.tables")) {
    const Json names = in.json("kernel.tables").at("names");
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string place = fmt::format("kernel.tables.{}", i);
      auto table = std::make_shared<WordTable>();
      table->words = read_strings(in, place + ".words");
      table->vectors = in.matrix(place + ".vectors");
      const std::string name = text_from_json(names[i]);
      all.insert_or_assign(name, kernels::words(name, std::move(table)));
    }
  }
  Kernel kernel = parse_kernel(in.text("kernel"), all);
  if (kernel.has_auto()) in.fail("its kernel has a length scale without a number");
  return kernel;
}

Precision precision_from(const ContainerReader& in, const Json& options) {
  const std::string word = options.at("precision").get<std::string>();
  if (word != "float32" && word != "float64") in.fail(fmt::format("its precision is {:?}", word));
  return word == "float32" ? Precision::float32 : Precision::float64;
}

}  // namespace mercer::persist
