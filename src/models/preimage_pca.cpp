// Pre-images of points that kernel principal components span. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "mercer/error.hpp"
#include "mercer/preimage.hpp"

namespace mercer {

namespace {

void require_rows(const KernelPcaModel& model) {
  if (model.basis().is_given())
    throw InvalidArgument("pre-images are rows, but this model was fitted on a given Gram matrix; fit rows with a kernel of rows");
}

}  // namespace

Preimages preimages(const KernelPcaModel& model, const Matrix& scores, const PreimageOptions& options) {
  require_rows(model);
  require_finite(scores, "scores");
  const auto cells = static_cast<std::size_t>(scores.rows()) * static_cast<std::size_t>(model.basis().size());
  require_memory(cells * sizeof(double), options.run.memory,
                 fmt::format("the weights of {} points over {} rows", scores.rows(), model.basis().size()),
                 "look for fewer pre-images at a time");
  return preimages(model.kernel(), model.basis(), model.expansion(scores), options);
}

Preimages denoise(const KernelPcaModel& model, const Samples& X, const PreimageOptions& options) {
  require_rows(model);
  require_finite(X, "X");
  return preimages(model, model.transform(X, options.run), options);
}

KernelRidgeModel fit_preimage_map(const KernelPcaModel& model, const Samples& X, const KernelRidgeOptions& options) {
  require_rows(model);
  return fit_kernel_ridge(model.transform(X, options.run), X.to_dense(), options);
}

}  // namespace mercer
