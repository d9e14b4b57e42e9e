// SPDX-License-Identifier: BSD-3-Clause
#include "persist/kinds.hpp"

#include <fmt/format.h>

#include <array>

#include "mercer/error.hpp"
#include "persist/parts.hpp"

namespace mercer::persist {

namespace {

void write_vector(const std::string& name, const Vector& values, ContainerWriter& out) { out.tensor(name, {values.size()}, values.data()); }

void write_matrix(const std::string& name, const Matrix& values, ContainerWriter& out) {
  out.tensor(name, {values.rows(), values.cols()}, values.data());
}

void write_kernel_ridge(const AnyModel& any, ContainerWriter& out) {
  const auto& model = std::get<KernelRidgeModel>(any);
  if (model.kernel().has_auto()) {
    throw InvalidArgument(fmt::format("the kernel {} still waits for data; resolve it before saving the model", model.kernel().text()));
  }
  out.text("kernel", model.kernel().text());
  out.json("options", {{"precision", name_of(model.precision())}});
  const SolveSummary& s = model.summary();
  out.json("summary", {{"method", text_to_json(s.method)},
                       {"positive_definite", s.positive_definite},
                       {"rank", s.rank},
                       {"residual", number_to_json(s.residual)},
                       {"seconds", number_to_json(s.seconds)},
                       {"bytes", s.bytes},
                       {"sentence", text_to_json(s.sentence)}});
  write_samples(model.samples(), out);
  write_matrix("dual_coef", model.dual_coef(), out);
  write_vector("intercept", model.intercept(), out);
  write_vector("alpha", model.alpha(), out);
}

AnyModel read_kernel_ridge(const ContainerReader& in, const KernelLibrary& library) {
  Kernel kernel = parse_kernel(in.text("kernel"), library);
  if (kernel.has_auto()) in.fail("its kernel has a length scale without a number");
  const std::string precision = in.json("options").at("precision").get<std::string>();
  if (precision != "float32" && precision != "float64") in.fail(fmt::format("its precision is {:?}", precision));
  const Json about = in.json("summary");
  SolveSummary s;
  s.method = text_from_json(about.at("method"));
  s.positive_definite = about.at("positive_definite").get<bool>();
  s.rank = about.at("rank").get<Index>();
  s.residual = number_from_json(about.at("residual"));
  s.seconds = number_from_json(about.at("seconds"));
  s.bytes = about.at("bytes").get<std::size_t>();
  s.sentence = text_from_json(about.at("sentence"));
  Vector alpha = in.vector("alpha");
  if ((alpha.array() < 0).any()) in.fail("its alpha is negative");
  return KernelRidgeModel::from_parts(std::move(kernel), read_samples(in), in.matrix("dual_coef"), in.vector("intercept"), std::move(alpha),
                                      precision == "float32" ? Precision::float32 : Precision::float64, std::move(s));
}

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

// Row i is for alternative i of AnyModel.
constexpr std::array<ModelKind, std::variant_size_v<AnyModel>> kinds{
    {{"krr", write_kernel_ridge, read_kernel_ridge}, {"ridge", write_ridge, read_ridge}}};

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
