// Ridge models on random Fourier features in files: the map by its frequencies, not by its seed, so that a file outlives changes of the
// draw. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "mercer/error.hpp"
#include "persist/maps.hpp"
#include "persist/models.hpp"
#include "persist/parts.hpp"

namespace mercer::persist {

void write_random_feature_ridge(const AnyModel& any, ContainerWriter& out) {
  const auto& model = std::get<RandomFeatureRidgeModel>(any);
  const RandomFourierFeatures& map = model.features();
  write_kernel(map.kernel(), out);
  Json options = {{"precision", name_of(model.precision())}};
  add_fourier_options(map, options);
  out.json("options", options);
  const RandomFeatureSummary& s = model.summary();
  out.json("summary", {{"method", text_to_json(s.method)},
                       {"rows", s.rows},
                       {"rank", s.rank},
                       {"residual", number_to_json(s.residual)},
                       {"held_out_rows", s.held_out_rows},
                       {"seconds", number_to_json(s.seconds)},
                       {"bytes", s.bytes},
                       {"sentence", text_to_json(s.sentence)}});
  write_fourier(map, out);
  write_matrix("coef", model.coef(), out);
  write_vector("intercept", model.intercept(), out);
  write_vector("alpha", model.alpha(), out);
  write_vector("training_rmse", s.training_rmse, out);
  write_vector("held_out_rmse", s.held_out_rmse, out);
  write_vector("held_out_r2", s.held_out_r2, out);
}

AnyModel read_random_feature_ridge(const ContainerReader& in, const KernelLibrary& library) {
  const Json options = in.json("options");
  const Precision precision = precision_from(in, options);
  const Json about = in.json("summary");
  RandomFeatureSummary s;
  s.method = text_from_json(about.at("method"));
  s.rows = about.at("rows").get<Index>();
  s.rank = about.at("rank").get<Index>();
  s.residual = number_from_json(about.at("residual"));
  s.held_out_rows = about.at("held_out_rows").get<Index>();
  s.seconds = number_from_json(about.at("seconds"));
  s.bytes = about.at("bytes").get<std::size_t>();
  s.sentence = text_from_json(about.at("sentence"));
  s.training_rmse = in.vector("training_rmse");
  s.held_out_rmse = in.vector("held_out_rmse");
  s.held_out_r2 = in.vector("held_out_r2");
  Vector alpha = in.vector("alpha");
  if ((alpha.array() < 0).any()) in.fail("its alpha is negative");
  RandomFourierFeatures map = read_fourier(in, options, library);
  return RandomFeatureRidgeModel::from_parts(std::move(map), in.matrix("coef"), in.vector("intercept"), std::move(alpha), precision,
                                             std::move(s));
}

}  // namespace mercer::persist
