// SPDX-License-Identifier: BSD-3-Clause
#include "persist/kinds.hpp"

#include <fmt/format.h>

#include <array>

#include "persist/models.hpp"

namespace mercer::persist {

namespace {

// Row i is for alternative i of AnyModel.
constexpr std::array<ModelKind, std::variant_size_v<AnyModel>> kinds{{
    {"krr", write_kernel_ridge, read_kernel_ridge},
    {"ridge", write_ridge, read_ridge},
    {"gp", write_gaussian_process, read_gaussian_process},
    {"logistic", write_kernel_logistic, read_kernel_logistic},
    {"representer", write_representer, read_representer},
    {"falkon", write_falkon, read_falkon},
    {"rff", write_random_feature_ridge, read_random_feature_ridge},
    {"svc", write_svc, read_svc},
    {"svr", write_svr, read_svr},
    {"one-class", write_one_class, read_one_class},
    {"linear-svc", write_linear_svc, read_linear_svc},
    {"sgd-svm", write_kernel_sgd, read_kernel_sgd},
    {"mean", write_kernel_mean, read_kernel_mean},
    {"pca", write_pca, read_pca},
    {"kernel-pca", write_kernel_pca, read_kernel_pca},
    {"kernel-kmeans", write_kernel_kmeans, read_kernel_kmeans},
    {"nystrom", write_nystrom, read_nystrom},
    {"fourier", write_fourier_map, read_fourier_map},
    {"kernel-map", write_kernel_map, read_kernel_map},
    {"tensor-sketch", write_tensor_sketch, read_tensor_sketch},
    {"structured", write_structured_svm, read_structured_svm},
}};

}  // namespace

const ModelKind& kind_of(const AnyModel& model) { return kinds[model.index()]; }

const ModelKind* find_kind(std::string_view name) {
  for (const ModelKind& kind : kinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

std::string kind_names() {
  std::string names;
  for (const ModelKind& kind : kinds) names += fmt::format("{}{}", names.empty() ? "" : ", ", kind.name);
  return names;
}

}  // namespace mercer::persist
