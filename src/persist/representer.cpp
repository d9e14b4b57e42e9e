// Models of the representer solver and kernel logistic regression in files.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "persist/models.hpp"
#include "persist/parts.hpp"

namespace mercer::persist {

namespace {

Json summary_to_json(const ConvexSummary& s) {
  return {{"method", text_to_json(s.method)},
          {"status", text_to_json(s.status)},
          {"iterations", s.iterations},
          {"objective", number_to_json(s.objective)},
          {"squared_norm", number_to_json(s.squared_norm)},
          {"gap", number_to_json(s.gap)},
          {"relative_gap", number_to_json(s.relative_gap)},
          {"gradient_norm", number_to_json(s.gradient_norm)},
          {"landmarks", s.landmarks},
          {"seconds", number_to_json(s.seconds)},
          {"bytes", s.bytes},
          {"sentence", text_to_json(s.sentence)}};
}

ConvexSummary summary_from_json(const Json& about) {
  ConvexSummary s;
  s.method = text_from_json(about.at("method"));
  s.status = text_from_json(about.at("status"));
  s.iterations = about.at("iterations").get<Index>();
  s.objective = number_from_json(about.at("objective"));
  s.squared_norm = number_from_json(about.at("squared_norm"));
  s.gap = number_from_json(about.at("gap"));
  s.relative_gap = number_from_json(about.at("relative_gap"));
  s.gradient_norm = number_from_json(about.at("gradient_norm"));
  s.landmarks = about.at("landmarks").get<Index>();
  s.seconds = number_from_json(about.at("seconds"));
  s.bytes = about.at("bytes").get<std::size_t>();
  s.sentence = text_from_json(about.at("sentence"));
  return s;
}

// The expansion that both kinds of models are.
template <class Model>
void write_expansion(const Model& model, ContainerWriter& out) {
  write_kernel(model.kernel(), out);
  out.json("summary", summary_to_json(model.summary()));
  write_samples(model.samples(), out);
  write_matrix("dual_coef", model.dual_coef(), out);
  write_vector("intercept", model.intercept(), out);
}

bool is_penalty(double lambda) { return lambda > 0 && std::isfinite(lambda); }

}  // namespace

void write_representer(const AnyModel& any, ContainerWriter& out) {
  const auto& model = std::get<RepresenterModel>(any);
  out.json("options", {{"loss", text_to_json(model.loss().text())}});
  write_expansion(model, out);
  write_vector("lambda", model.lambda(), out);
}

AnyModel read_representer(const ContainerReader& in, const KernelLibrary& library) {
  Kernel kernel = read_kernel(in, library);
  Loss loss = parse_loss(text_from_json(in.json("options").at("loss")));
  Vector lambda = in.vector("lambda");
  for (const double value : lambda) {
    if (!is_penalty(value)) in.fail("its lambda is not positive");
  }
  return RepresenterModel::from_parts(std::move(kernel), std::move(loss), read_samples(in), in.matrix("dual_coef"), in.vector("intercept"),
                                      std::move(lambda), summary_from_json(in.json("summary")));
}

void write_kernel_logistic(const AnyModel& any, ContainerWriter& out) {
  const auto& model = std::get<KernelLogisticModel>(any);
  out.json("options", {{"lambda", number_to_json(model.lambda())}});
  write_expansion(model, out);
}

AnyModel read_kernel_logistic(const ContainerReader& in, const KernelLibrary& library) {
  Kernel kernel = read_kernel(in, library);
  const double lambda = number_from_json(in.json("options").at("lambda"));
  if (!is_penalty(lambda)) in.fail("its lambda is not positive");
  return KernelLogisticModel::from_parts(std::move(kernel), read_samples(in), in.matrix("dual_coef"), in.vector("intercept"), lambda,
                                         summary_from_json(in.json("summary")));
}

}  // namespace mercer::persist
