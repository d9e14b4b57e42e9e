// Models on disk: the safetensors layout (8-byte length, JSON header, raw tensors), readable by other tools; nothing executes on
// load and every size is checked before anything is allocated.
//
//   save_model({model}, "model.mercer");
//   SavedModel m = load_model("model.mercer");
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "mercer/dataset.hpp"
#include "mercer/falkon.hpp"
#include "mercer/gaussian_process.hpp"
#include "mercer/kernel_kmeans.hpp"
#include "mercer/kernel_logistic.hpp"
#include "mercer/kernel_map.hpp"
#include "mercer/kernel_mean.hpp"
#include "mercer/kernel_pca.hpp"
#include "mercer/kernel_ridge.hpp"
#include "mercer/kernel_sgd.hpp"
#include "mercer/linear_svc.hpp"
#include "mercer/nystrom.hpp"
#include "mercer/pca.hpp"
#include "mercer/random_feature_ridge.hpp"
#include "mercer/representer.hpp"
#include "mercer/ridge.hpp"
#include "mercer/structured_svm.hpp"
#include "mercer/svm.hpp"
#include "mercer/tensor_sketch.hpp"

namespace mercer {

using AnyModel =
    std::variant<KernelRidgeModel, RidgeModel, GaussianProcessModel, KernelLogisticModel, RepresenterModel, FalkonModel,
                 RandomFeatureRidgeModel, SvcModel, SvrModel, OneClassModel, LinearSvcModel, KernelSGDModel, KernelMeanModel, PcaModel,
                 KernelPcaModel, KernelKMeansModel, NystromMap, RandomFourierFeatures, KernelMap, TensorSketch, StructuredSvmModel>;

struct SavedModel {
  AnyModel model;
  std::optional<Encoder> encoder;  // how tables become samples; absent for models fitted on plain matrices

  std::string kind() const;  // "krr", "ridge", "gp", ...: the word of `mercer fit`
  // Predictions for samples already encoded: one column per target, or per class score; of a feature map, the features.
  Matrix predict(const Samples& X, const Run& run = {}) const;
  // The class of each row: by predict (classes_from_scores), or as the model itself decides (votes of pairs, probabilities).
  std::vector<Index> classes(const Samples& X, const Run& run = {}) const;
  // One column per class, of a model that has probabilities (logistic, svc with them, class means by Parzen windows); NotOffered for
  // others.
  Matrix probabilities(const Samples& X, const Run& run = {}) const;
  Index width() const;      // feature columns expected
  Index n_targets() const;  // columns of predict
};

// Written to a temporary name and renamed; an interrupted save leaves nothing.
void save_model(const SavedModel& model, const std::string& path, const Run& run = {});
// A kernel that was written by the user is looked up in `library` by its name. A LIBSVM model file is read too (libsvm_model.hpp).
SavedModel load_model(const std::string& path, const KernelLibrary& library = {});
// The same to and from memory (pickling).
std::string model_to_bytes(const SavedModel& model);
SavedModel model_from_bytes(std::string_view bytes, const std::string& source = "memory", const KernelLibrary& library = {});

// The header as JSON text, after the checks of load_model: what `mercer info --json` prints. Settings that the file holds as JSON text are
// objects here; "tensors" has the type and shape of each.
std::string model_info(const std::string& path);

// A class index per row from scores: one column is thresholded at 0, several take the largest.
std::vector<Index> classes_from_scores(const MatrixRef& scores);

}  // namespace mercer
