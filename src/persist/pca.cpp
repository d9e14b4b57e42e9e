// Models of principal component analysis and of kernel PCA in files.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "persist/models.hpp"
#include "persist/parts.hpp"

namespace mercer::persist {

namespace {

constexpr std::array<const char*, 3> outputs{"scores", "unit variance", "whitened map"};  // in the order of KernelPcaOutput

KernelPcaOutput output_from(const ContainerReader& in, const std::string& name) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (name == outputs[i]) return static_cast<KernelPcaOutput>(i);
  }
  in.fail(fmt::format("its output {:?} is not known", name));
}

Json to_json(const KernelPcaSummary& s) {
  return {{"solver", text_to_json(s.solver)},
          {"status", text_to_json(s.status)},
          {"samples", s.samples},
          {"components", s.components},
          {"landmarks", s.landmarks},
          {"iterations", s.iterations},
          {"residual", number_to_json(s.residual)},
          {"trace", number_to_json(s.trace)},
          {"explained", number_to_json(s.explained)},
          {"trace_error", number_to_json(s.trace_error)},
          {"seconds", number_to_json(s.seconds)},
          {"bytes", s.bytes},
          {"sentence", text_to_json(s.sentence)}};
}

KernelPcaSummary kernel_summary_from(const Json& j) {
  KernelPcaSummary s;
  s.solver = text_from_json(j.at("solver"));
  s.status = text_from_json(j.at("status"));
  s.samples = j.at("samples").get<Index>();
  s.components = j.at("components").get<Index>();
  s.landmarks = j.at("landmarks").get<Index>();
  s.iterations = j.at("iterations").get<Index>();
  s.residual = number_from_json(j.at("residual"));
  s.trace = number_from_json(j.at("trace"));
  s.explained = number_from_json(j.at("explained"));
  s.trace_error = number_from_json(j.at("trace_error"));
  s.seconds = number_from_json(j.at("seconds"));
  s.bytes = j.at("bytes").get<std::size_t>();
  s.sentence = text_from_json(j.at("sentence"));
  return s;
}

void require_spectrum(const ContainerReader& in, const Vector& values, const char* what) {
  if (values.size() == 0 || !(values.minCoeff() >= 0) || !values.allFinite()) in.fail(fmt::format("its {} are not numbers >= 0", what));
}

}  // namespace

void write_pca(const AnyModel& any, ContainerWriter& out) {
  const auto& model = std::get<PcaModel>(any);
  const PcaSummary& s = model.summary();
  out.json("options", {{"whiten", model.whiten()},
                       {"total_variance", number_to_json(model.total_variance())},
                       {"noise_variance", number_to_json(model.noise_variance())}});
  out.json("summary", {{"route", text_to_json(s.route)},
                       {"status", text_to_json(s.status)},
                       {"samples", s.samples},
                       {"components", s.components},
                       {"iterations", s.iterations},
                       {"explained", number_to_json(s.explained)},
                       {"seconds", number_to_json(s.seconds)},
                       {"sentence", text_to_json(s.sentence)}});
  write_matrix("components", model.components(), out);
  write_vector("mean", model.mean(), out);
  write_vector("variance", model.explained_variance(), out);
}

AnyModel read_pca(const ContainerReader& in, const KernelLibrary& /*library*/) {
  const Json options = in.json("options");
  const Json about = in.json("summary");
  PcaSummary s;
  s.route = text_from_json(about.at("route"));
  s.status = text_from_json(about.at("status"));
  s.samples = about.at("samples").get<Index>();
  s.components = about.at("components").get<Index>();
  s.iterations = about.at("iterations").get<Index>();
  s.explained = number_from_json(about.at("explained"));
  s.seconds = number_from_json(about.at("seconds"));
  s.sentence = text_from_json(about.at("sentence"));
  if (s.samples < 1) in.fail("it was fitted on no samples");
  Vector variance = in.vector("variance");
  require_spectrum(in, variance, "variances");
  return PcaModel::from_parts(in.matrix("components"), in.vector("mean"), std::move(variance),
                              number_from_json(options.at("total_variance")), number_from_json(options.at("noise_variance")),
                              options.at("whiten").get<bool>(), std::move(s));
}

void write_kernel_pca(const AnyModel& any, ContainerWriter& out) {
  const auto& model = std::get<KernelPcaModel>(any);
  write_kernel(model.kernel(), out);
  const KernelPcaSums& sums = model.sums();
  out.json("options", {{"output", outputs[static_cast<std::size_t>(model.output())]},
                       {"center", model.centered()},
                       {"mean_square", number_to_json(model.mean_square())},
                       {"rows", sums.rows},
                       {"diagonal", number_to_json(sums.diagonal)}});
  out.json("summary", to_json(model.summary()));
  write_samples(model.basis(), out);
  write_vector("eigenvalues", model.eigenvalues(), out);
  write_matrix("weights", model.weights(), out);
  write_vector("offset", model.offset(), out);
  write_vector("mean", model.mean_weights(), out);
  if (!model.is_low_rank()) return;
  write_matrix("factor", sums.factor, out);
  write_vector("sum", sums.sum, out);
  write_matrix("squares", sums.squares, out);
}

AnyModel read_kernel_pca(const ContainerReader& in, const KernelLibrary& library) {
  Kernel kernel = read_kernel(in, library);
  const Json options = in.json("options");
  KernelPcaModel::Parts parts;
  parts.output = output_from(in, options.at("output").get<std::string>());
  parts.center = options.at("center").get<bool>();
  parts.mean_square = number_from_json(options.at("mean_square"));
  parts.summary = kernel_summary_from(in.json("summary"));
  if (parts.summary.samples < 1) in.fail("it was fitted on no samples");
  parts.eigenvalues = in.vector("eigenvalues");
  require_spectrum(in, parts.eigenvalues, "eigenvalues");
  parts.weights = in.matrix("weights");
  parts.offset = in.vector("offset");
  parts.mean = in.vector("mean");
  parts.sums.rows = options.at("rows").get<Index>();
  parts.sums.diagonal = number_from_json(options.at("diagonal"));
  if (parts.sums.rows < 0) in.fail("it has seen a negative number of rows");
  if (parts.sums.rows > 0) {
    parts.sums.factor = in.matrix("factor");
    parts.sums.sum = in.vector("sum");
    parts.sums.squares = in.matrix("squares");
    if (parts.sums.factor.rows() < 1 || parts.sums.factor.rows() != parts.sums.factor.cols())
      in.fail("the factor of its landmarks is not square");
    if (!(parts.sums.factor.diagonal().minCoeff() > 0)) in.fail("the factor of its landmarks is not one");
  }
  if (parts.sums.rows > 0 && parts.output == KernelPcaOutput::whitened_map) in.fail("its low-rank form has no whitened map");
  return KernelPcaModel::from_parts(std::move(kernel), read_samples(in), std::move(parts));
}

}  // namespace mercer::persist
