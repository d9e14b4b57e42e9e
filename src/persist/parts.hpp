// The parts that models share, to and from a container: samples, kernels, tensors and the encoder.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/dataset.hpp"
#include "mercer/kernels.hpp"
#include "mercer/samples.hpp"
#include "persist/container.hpp"

namespace mercer::persist {

// Dense rows are the tensor "samples"; CSR rows are "samples.values", "samples.columns" and "samples.offsets", in their own
// precision; objects of a given Gram matrix are "samples.ids".
void write_samples(const Samples& samples, ContainerWriter& out);
Samples read_samples(const ContainerReader& in);  // shares the reader's bytes

void write_vector(const std::string& name, const Vector& values, ContainerWriter& out);
void write_matrix(const std::string& name, const Matrix& values, ContainerWriter& out);

// The text of a kernel without automatic parts, under "kernel"; a library has the functions that text cannot tell.
void write_kernel(const Kernel& kernel, ContainerWriter& out);
Kernel read_kernel(const ContainerReader& in, const KernelLibrary& library);

// A precision under its name within an object.
Precision precision_from(const ContainerReader& in, const Json& options);

void write_encoder(const Encoder& encoder, ContainerWriter& out);
Encoder read_encoder(const ContainerReader& in);

}  // namespace mercer::persist
