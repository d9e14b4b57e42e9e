// Gaussian processes in files: kernel, samples, coefficients and noise. The Cholesky factor, n^2/2 numbers, is made again when it is
// needed. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "mercer/error.hpp"
#include "persist/models.hpp"
#include "persist/parts.hpp"

namespace mercer::persist {

void write_gaussian_process(const AnyModel& any, ContainerWriter& out) {
  const auto& model = std::get<GaussianProcessModel>(any);
  write_kernel(model.kernel(), out);
  const GaussianProcessSummary& s = model.summary();
  Json at_bound = Json::array();
  for (const std::string& name : s.at_bound) at_bound.push_back(text_to_json(name));
  out.json("summary", {{"log_marginal_likelihood", number_to_json(s.log_marginal_likelihood)},
                       {"leave_one_out_log_likelihood", number_to_json(s.leave_one_out_log_likelihood)},
                       {"start_value", number_to_json(s.start_value)},
                       {"gradient", number_to_json(s.gradient)},
                       {"converged", s.converged},
                       {"evaluations", s.evaluations},
                       {"starts", s.starts},
                       {"best_start", s.best_start},
                       {"at_bound", at_bound},
                       {"status", text_to_json(s.status)},
                       {"seconds", number_to_json(s.seconds)},
                       {"bytes", s.bytes},
                       {"sentence", text_to_json(s.sentence)}});
  out.json("options", {{"new_noise", number_to_json(model.new_noise())}});
  write_samples(model.samples(), out);
  write_matrix("dual_coef", model.dual_coef(), out);
  write_vector("noise", model.noise(), out);
  write_vector("target_mean", model.target_mean(), out);
  write_vector("target_scale", model.target_scale(), out);
}

AnyModel read_gaussian_process(const ContainerReader& in, const KernelLibrary& library) {
  Kernel kernel = read_kernel(in, library);
  const Json about = in.json("summary");
  GaussianProcessSummary s;
  s.log_marginal_likelihood = number_from_json(about.at("log_marginal_likelihood"));
  s.leave_one_out_log_likelihood = number_from_json(about.at("leave_one_out_log_likelihood"));
  s.start_value = number_from_json(about.at("start_value"));
  s.gradient = number_from_json(about.at("gradient"));
  s.converged = about.at("converged").get<bool>();
  s.evaluations = about.at("evaluations").get<Index>();
  s.starts = about.at("starts").get<Index>();
  s.best_start = about.at("best_start").get<Index>();
  for (const Json& name : about.at("at_bound")) s.at_bound.push_back(text_from_json(name));
  if (about.contains("status")) s.status = text_from_json(about.at("status"));
  s.seconds = number_from_json(about.at("seconds"));
  s.bytes = about.at("bytes").get<std::size_t>();
  s.sentence = text_from_json(about.at("sentence"));
  Vector scale = in.vector("target_scale");
  if (!(scale.array() > 0).all()) in.fail("the scale of its targets is not positive");
  std::optional<double> new_noise;
  if (in.has("options")) new_noise = number_from_json(in.json("options").at("new_noise"));
  return GaussianProcessModel::from_parts(std::move(kernel), read_samples(in), in.matrix("dual_coef"), in.vector("noise"),
                                          in.vector("target_mean"), std::move(scale), std::move(s), nullptr, new_noise);
}

}  // namespace mercer::persist
