// Ridge models in files.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "mercer/error.hpp"
#include "persist/models.hpp"
#include "persist/parts.hpp"

namespace mercer::persist {

void write_ridge(const AnyModel& any, ContainerWriter& out) {
  const auto& model = std::get<RidgeModel>(any);
  out.json("options", {{"degree", model.degree()}, {"n_features", model.n_features()}});
  const RidgeSummary& s = model.summary();
  out.json("summary", {{"rank", s.rank},
                       {"condition_before", number_to_json(s.condition_before)},
                       {"condition_after", number_to_json(s.condition_after)},
                       {"degrees_of_freedom", number_to_json(s.degrees_of_freedom)},
                       {"seconds", number_to_json(s.seconds)},
                       {"sentence", text_to_json(s.sentence)}});
  write_matrix("coef", model.coef(), out);
  write_vector("intercept", model.intercept(), out);
  write_vector("singular_values", s.singular_values, out);
  write_vector("filter", s.filter, out);
}

AnyModel read_ridge(const ContainerReader& in, const KernelLibrary& /*library*/) {
  const Json options = in.json("options");
  const Json about = in.json("summary");
  RidgeSummary s;
  s.singular_values = in.vector("singular_values");
  s.filter = in.vector("filter");
  s.rank = about.at("rank").get<Index>();
  s.condition_before = number_from_json(about.at("condition_before"));
  s.condition_after = number_from_json(about.at("condition_after"));
  s.degrees_of_freedom = number_from_json(about.at("degrees_of_freedom"));
  s.seconds = number_from_json(about.at("seconds"));
  s.sentence = text_from_json(about.at("sentence"));
  const auto degree = options.at("degree").get<std::int64_t>();
  if (degree < 1 || degree > 100) in.fail(fmt::format("its polynomial degree is {}", degree));
  return RidgeModel::from_parts(in.matrix("coef"), in.vector("intercept"), static_cast<int>(degree), options.at("n_features").get<Index>(),
                                std::move(s));
}

}  // namespace mercer::persist
