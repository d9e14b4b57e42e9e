// SPDX-License-Identifier: BSD-3-Clause
#include "persist/parts.hpp"

#include <fmt/format.h>

#include "mercer/error.hpp"

namespace mercer::persist {

void write_vector(const std::string& name, const Vector& values, ContainerWriter& out) { out.tensor(name, {values.size()}, values.data()); }

void write_matrix(const std::string& name, const Matrix& values, ContainerWriter& out) {
  out.tensor(name, {values.rows(), values.cols()}, values.data());
}

void write_kernel(const Kernel& kernel, ContainerWriter& out) {
  if (kernel.has_auto())
    throw InvalidArgument(fmt::format("the kernel {} still waits for data; resolve it before saving the model", kernel.text()));
  out.text("kernel", kernel.text());
}

Kernel read_kernel(const ContainerReader& in, const KernelLibrary& library) {
  Kernel kernel = parse_kernel(in.text("kernel"), library);
  if (kernel.has_auto()) in.fail("its kernel has a length scale without a number");
  return kernel;
}

Precision precision_from(const ContainerReader& in, const Json& options) {
  const std::string word = options.at("precision").get<std::string>();
  if (word != "float32" && word != "float64") in.fail(fmt::format("its precision is {:?}", word));
  return word == "float32" ? Precision::float32 : Precision::float64;
}

}  // namespace mercer::persist
