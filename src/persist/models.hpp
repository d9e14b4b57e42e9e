// To and from a container, one pair of functions per kind of model; kinds.cpp lists them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/model_file.hpp"
#include "persist/container.hpp"

namespace mercer::persist {

void write_kernel_ridge(const AnyModel& any, ContainerWriter& out);
AnyModel read_kernel_ridge(const ContainerReader& in, const KernelLibrary& library);

void write_gaussian_process(const AnyModel& any, ContainerWriter& out);
AnyModel read_gaussian_process(const ContainerReader& in, const KernelLibrary& library);

void write_kernel_logistic(const AnyModel& any, ContainerWriter& out);
AnyModel read_kernel_logistic(const ContainerReader& in, const KernelLibrary& library);

void write_representer(const AnyModel& any, ContainerWriter& out);
AnyModel read_representer(const ContainerReader& in, const KernelLibrary& library);

void write_falkon(const AnyModel& any, ContainerWriter& out);
AnyModel read_falkon(const ContainerReader& in, const KernelLibrary& library);

void write_ridge(const AnyModel& any, ContainerWriter& out);
AnyModel read_ridge(const ContainerReader& in, const KernelLibrary& library);

void write_random_feature_ridge(const AnyModel& any, ContainerWriter& out);
AnyModel read_random_feature_ridge(const ContainerReader& in, const KernelLibrary& library);

void write_svc(const AnyModel& any, ContainerWriter& out);
AnyModel read_svc(const ContainerReader& in, const KernelLibrary& library);

void write_svr(const AnyModel& any, ContainerWriter& out);
AnyModel read_svr(const ContainerReader& in, const KernelLibrary& library);

void write_one_class(const AnyModel& any, ContainerWriter& out);
AnyModel read_one_class(const ContainerReader& in, const KernelLibrary& library);

void write_linear_svc(const AnyModel& any, ContainerWriter& out);
AnyModel read_linear_svc(const ContainerReader& in, const KernelLibrary& library);
void write_kernel_sgd(const AnyModel& any, ContainerWriter& out);
AnyModel read_kernel_sgd(const ContainerReader& in, const KernelLibrary& library);

void write_kernel_mean(const AnyModel& any, ContainerWriter& out);
AnyModel read_kernel_mean(const ContainerReader& in, const KernelLibrary& library);

void write_pca(const AnyModel& any, ContainerWriter& out);
AnyModel read_pca(const ContainerReader& in, const KernelLibrary& library);

void write_kernel_pca(const AnyModel& any, ContainerWriter& out);
AnyModel read_kernel_pca(const ContainerReader& in, const KernelLibrary& library);

void write_kernel_kmeans(const AnyModel& any, ContainerWriter& out);
AnyModel read_kernel_kmeans(const ContainerReader& in, const KernelLibrary& library);

void write_nystrom(const AnyModel& any, ContainerWriter& out);
AnyModel read_nystrom(const ContainerReader& in, const KernelLibrary& library);

void write_fourier_map(const AnyModel& any, ContainerWriter& out);
AnyModel read_fourier_map(const ContainerReader& in, const KernelLibrary& library);

void write_kernel_map(const AnyModel& any, ContainerWriter& out);
AnyModel read_kernel_map(const ContainerReader& in, const KernelLibrary& library);

void write_tensor_sketch(const AnyModel& any, ContainerWriter& out);
AnyModel read_tensor_sketch(const ContainerReader& in, const KernelLibrary& library);

void write_structured_svm(const AnyModel& any, ContainerWriter& out);
AnyModel read_structured_svm(const ContainerReader& in, const KernelLibrary& library);

}  // namespace mercer::persist
