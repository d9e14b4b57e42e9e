// The parts that models share, to and from a container: samples, kernels, tensors and the encoder.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/dataset.hpp"
#include "mercer/kernels.hpp"
#include "mercer/samples.hpp"
#include "persist/container.hpp"

namespace mercer::persist {

// Dense rows are the tensor "samples"; CSR rows are "samples.values", "samples.columns" and "samples.offsets", in their own
// precision; objects of a given Gram matrix are "samples.ids". Columns of objects are "samples.0", "samples.1" and so on, as objects.cpp
// has them, beside "samples.numbers". What stands inside others goes by a longer name than "samples".
void write_samples(const Samples& samples, ContainerWriter& out, const std::string& name = "samples");
Samples read_samples(const ContainerReader& in, const std::string& name = "samples");  // shares the reader's bytes

// Samples with objects (objects.cpp); `about` is what the file says of them.
void write_records(const Samples& samples, ContainerWriter& out, const std::string& name);
Samples read_records(const ContainerReader& in, const Json& about, const std::string& name);

// Texts one after the other as bytes, with where each begins.
void write_strings(const std::vector<std::string>& values, ContainerWriter& out, const std::string& name);
std::vector<std::string> read_strings(const ContainerReader& in, const std::string& name);

void write_vector(const std::string& name, const Vector& values, ContainerWriter& out);
void write_matrix(const std::string& name, const Matrix& values, ContainerWriter& out);

// The text of a kernel without automatic parts, under "kernel", with the tables of words that it names; a library has the functions that
// neither can tell.
void write_kernel(const Kernel& kernel, ContainerWriter& out);
Kernel read_kernel(const ContainerReader& in, const KernelLibrary& library);

// A precision under its name within an object.
Precision precision_from(const ContainerReader& in, const Json& options);

void write_encoder(const Encoder& encoder, ContainerWriter& out);
Encoder read_encoder(const ContainerReader& in);

}  // namespace mercer::persist
