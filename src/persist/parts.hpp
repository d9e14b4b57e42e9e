// The parts that models share, to and from a container: samples and the encoder.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/dataset.hpp"
#include "mercer/samples.hpp"
#include "persist/container.hpp"

namespace mercer::persist {

// Dense rows are the tensor "samples"; CSR rows are "samples.values", "samples.columns" and "samples.offsets", in their own
// precision; objects of a given Gram matrix are "samples.ids".
void write_samples(const Samples& samples, ContainerWriter& out);
Samples read_samples(const ContainerReader& in);  // shares the reader's bytes

void write_encoder(const Encoder& encoder, ContainerWriter& out);
Encoder read_encoder(const ContainerReader& in);

}  // namespace mercer::persist
