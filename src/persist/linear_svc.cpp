// Linear support vector machines in files.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "persist/models.hpp"
#include "persist/parts.hpp"

namespace mercer::persist {

void write_linear_svc(const AnyModel& any, ContainerWriter& out) {
  const auto& model = std::get<LinearSvcModel>(any);
  const bool hinge = model.loss() == LinearSvcOptions::Loss::hinge;
  out.json("options", {{"loss", hinge ? "hinge" : "squared_hinge"}, {"C", number_to_json(model.C())}});
  const LinearSvcSummary& s = model.summary();
  out.json("summary", {{"method", text_to_json(s.method)},
                       {"status", text_to_json(s.status)},
                       {"iterations", s.iterations},
                       {"objective", number_to_json(s.objective)},
                       {"gap", number_to_json(s.gap)},
                       {"relative_gap", number_to_json(s.relative_gap)},
                       {"support_vectors", s.support_vectors},
                       {"seconds", number_to_json(s.seconds)},
                       {"bytes", s.bytes},
                       {"sentence", text_to_json(s.sentence)}});
  write_matrix("coef", model.coef(), out);
  write_vector("intercept", model.intercept(), out);
}

AnyModel read_linear_svc(const ContainerReader& in, const KernelLibrary& /*library*/) {
  const Json options = in.json("options");
  const std::string loss = text_from_json(options.at("loss"));
  if (loss != "hinge" && loss != "squared_hinge") in.fail("its loss is neither hinge nor squared_hinge");
  const double C = number_from_json(options.at("C"));
  if (!(C > 0) || !std::isfinite(C)) in.fail("its C is not positive");
  const Json about = in.json("summary");
  LinearSvcSummary s;
  s.method = text_from_json(about.at("method"));
  s.status = text_from_json(about.at("status"));
  s.iterations = about.at("iterations").get<Index>();
  s.objective = number_from_json(about.at("objective"));
  s.gap = number_from_json(about.at("gap"));
  s.relative_gap = number_from_json(about.at("relative_gap"));
  s.support_vectors = about.at("support_vectors").get<Index>();
  s.seconds = number_from_json(about.at("seconds"));
  s.bytes = about.at("bytes").get<std::size_t>();
  s.sentence = text_from_json(about.at("sentence"));
  return LinearSvcModel::from_parts(in.matrix("coef"), in.vector("intercept"),
                                    loss == "hinge" ? LinearSvcOptions::Loss::hinge : LinearSvcOptions::Loss::squared_hinge, C,
                                    std::move(s));
}

}  // namespace mercer::persist
