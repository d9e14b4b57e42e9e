// Random Fourier features in files, by themselves and inside of a ridge model. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/kernels.hpp"
#include "mercer/random_features.hpp"
#include "persist/container.hpp"

namespace mercer::persist {

void add_fourier_options(const RandomFourierFeatures& map, Json& options);
void write_fourier(const RandomFourierFeatures& map, ContainerWriter& out);  // tensors; the kernel is under "kernel"
RandomFourierFeatures read_fourier(const ContainerReader& in, const Json& options, const KernelLibrary& library);

}  // namespace mercer::persist
