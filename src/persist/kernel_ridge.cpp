// Kernel ridge models in files.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "mercer/error.hpp"
#include "persist/intervals.hpp"
#include "persist/models.hpp"
#include "persist/parts.hpp"

namespace mercer::persist {

void write_kernel_ridge(const AnyModel& any, ContainerWriter& out) {
  const auto& model = std::get<KernelRidgeModel>(any);
  write_kernel(model.kernel(), out);
  out.json("options", {{"precision", name_of(model.precision())}});
  const SolveSummary& s = model.summary();
  out.json("summary", {{"method", text_to_json(s.method)},
                       {"positive_definite", s.positive_definite},
                       {"converged", s.converged},
                       {"iterations", s.iterations},
                       {"rank", s.rank},
                       {"residual", number_to_json(s.residual)},
                       {"seconds", number_to_json(s.seconds)},
                       {"bytes", s.bytes},
                       {"sentence", text_to_json(s.sentence)}});
  write_samples(model.samples(), out);
  write_matrix("dual_coef", model.dual_coef(), out);
  write_vector("intercept", model.intercept(), out);
  write_vector("alpha", model.alpha(), out);
  if (model.has_intervals()) write_intervals(*model.interval_parts(), out);
}

AnyModel read_kernel_ridge(const ContainerReader& in, const KernelLibrary& library) {
  Kernel kernel = read_kernel(in, library);
  const Precision precision = precision_from(in, in.json("options"));
  const Json about = in.json("summary");
  SolveSummary s;
  s.method = text_from_json(about.at("method"));
  s.positive_definite = about.at("positive_definite").get<bool>();
  s.converged = about.value("converged", true);  // files of the first format do not say
  s.iterations = about.value("iterations", Index{0});
  s.rank = about.at("rank").get<Index>();
  s.residual = number_from_json(about.at("residual"));
  s.seconds = number_from_json(about.at("seconds"));
  s.bytes = about.at("bytes").get<std::size_t>();
  s.sentence = text_from_json(about.at("sentence"));
  Vector alpha = in.vector("alpha");
  if ((alpha.array() < 0).any()) in.fail("its alpha is negative");
  KernelRidgeModel model = KernelRidgeModel::from_parts(std::move(kernel), read_samples(in), in.matrix("dual_coef"), in.vector("intercept"),
                                                        std::move(alpha), precision, std::move(s));
  if (!in.has("intervals")) return model;
  return model.with_intervals(read_intervals(in, model.samples().size(), model.n_targets()));
}

}  // namespace mercer::persist
