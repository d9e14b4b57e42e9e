// Models of stochastic gradient descent and of class means in files.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "persist/models.hpp"
#include "persist/parts.hpp"

namespace mercer::persist {

namespace {

Json summary_to_json(const KernelSGDSummary& s) {
  return {{"iterations", s.iterations},
          {"output", text_to_json(s.output)},
          {"updates", s.updates},
          {"support_vectors", s.support_vectors},
          {"removals", s.removals},
          {"certified", s.certified},
          {"objective", number_to_json(s.objective)},
          {"squared_norm", number_to_json(s.squared_norm)},
          {"gap", number_to_json(s.gap)},
          {"relative_gap", number_to_json(s.relative_gap)},
          {"stored", s.stored},
          {"seconds", number_to_json(s.seconds)},
          {"bytes", s.bytes},
          {"sentence", text_to_json(s.sentence)}};
}

KernelSGDSummary sgd_summary_from_json(const Json& about) {
  KernelSGDSummary s;
  s.iterations = about.at("iterations").get<Index>();
  s.output = text_from_json(about.at("output"));
  s.updates = about.at("updates").get<Index>();
  s.support_vectors = about.at("support_vectors").get<Index>();
  s.removals = about.at("removals").get<Index>();
  s.certified = about.at("certified").get<bool>();
  s.objective = number_from_json(about.at("objective"));
  s.squared_norm = number_from_json(about.at("squared_norm"));
  s.gap = number_from_json(about.at("gap"));
  s.relative_gap = number_from_json(about.at("relative_gap"));
  s.stored = about.at("stored").get<bool>();
  s.seconds = number_from_json(about.at("seconds"));
  s.bytes = about.at("bytes").get<std::size_t>();
  s.sentence = text_from_json(about.at("sentence"));
  return s;
}

void write_indices(const std::string& name, const std::vector<Index>& values, ContainerWriter& out) {
  const auto numbers = std::make_shared<std::vector<std::int64_t>>(values.begin(), values.end());
  out.tensor(name, {std::ssize(values)}, numbers->data(), numbers);
}

std::vector<Index> read_indices(const std::string& name, const ContainerReader& in) {
  const auto numbers = in.tensor<std::int64_t>(name);
  for (const std::int64_t number : numbers) {
    if (number < 0) in.fail("its " + name + " are not whole numbers >= 0");
  }
  return {numbers.begin(), numbers.end()};
}

bool is_positive(double value) { return value > 0 && std::isfinite(value); }

}  // namespace

void write_kernel_sgd(const AnyModel& any, ContainerWriter& out) {
  const auto& model = std::get<KernelSGDModel>(any);
  out.json("options", {{"lambda", number_to_json(model.lambda())}});
  write_kernel(model.kernel(), out);
  out.json("summary", summary_to_json(model.summary()));
  write_samples(model.samples(), out);
  write_indices("support", model.support(), out);
  write_matrix("dual_coef", model.dual_coef(), out);
}

AnyModel read_kernel_sgd(const ContainerReader& in, const KernelLibrary& library) {
  Kernel kernel = read_kernel(in, library);
  const double lambda = number_from_json(in.json("options").at("lambda"));
  if (!is_positive(lambda)) in.fail("its lambda is not positive");
  return KernelSGDModel::from_parts(std::move(kernel), read_samples(in), read_indices("support", in), in.matrix("dual_coef"), lambda,
                                    sgd_summary_from_json(in.json("summary")));
}

void write_kernel_mean(const AnyModel& any, ContainerWriter& out) {
  const auto& model = std::get<KernelMeanModel>(any);
  const KernelMeanSummary& s = model.summary();
  out.json("options", {{"rule", model.rule() == MeanRule::parzen ? "parzen" : "nearest"}});
  write_kernel(model.kernel(), out);
  out.json("summary", {{"samples", s.samples},
                       {"classes", s.classes},
                       {"nearest", {s.nearest_a, s.nearest_b}},
                       {"coincide", s.coincide},
                       {"seconds", number_to_json(s.seconds)},
                       {"sentence", text_to_json(s.sentence)}});
  write_samples(model.samples(), out);
  write_indices("labels", model.labels(), out);
  write_vector("weights", model.weights(), out);
  write_vector("priors", model.priors(), out);
  write_matrix("mean_gram", model.mean_gram(), out);
  write_matrix("distances", s.distances, out);
}

AnyModel read_kernel_mean(const ContainerReader& in, const KernelLibrary& library) {
  Kernel kernel = read_kernel(in, library);
  const std::string rule = text_from_json(in.json("options").at("rule"));
  if (rule != "parzen" && rule != "nearest") in.fail("its rule is neither nearest nor parzen");
  const Json about = in.json("summary");
  KernelMeanSummary s;
  s.samples = about.at("samples").get<Index>();
  s.classes = about.at("classes").get<Index>();
  s.nearest_a = about.at("nearest").at(0).get<Index>();
  s.nearest_b = about.at("nearest").at(1).get<Index>();
  s.coincide = about.at("coincide").get<bool>();
  s.seconds = number_from_json(about.at("seconds"));
  s.sentence = text_from_json(about.at("sentence"));
  s.distances = in.matrix("distances");
  Vector priors = in.vector("priors");
  for (const double prior : priors) {
    if (!is_positive(prior)) in.fail("its priors are not positive");
  }
  const Index classes = priors.size();
  if (s.classes != classes || s.distances.rows() != classes || s.distances.cols() != classes || s.nearest_a < 0 || s.nearest_b < 0 ||
      s.nearest_a >= classes || s.nearest_b >= classes) {
    in.fail("its summary does not fit its classes");
  }
  return KernelMeanModel::from_parts(std::move(kernel), rule == "parzen" ? MeanRule::parzen : MeanRule::nearest, read_samples(in),
                                     read_indices("labels", in), in.vector("weights"), std::move(priors), in.matrix("mean_gram"),
                                     std::move(s));
}

}  // namespace mercer::persist
