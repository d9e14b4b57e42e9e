// Kernel k-means in files: the basis of the means, their coefficients and norms, the labels of the training rows.
// SPDX-License-Identifier: BSD-3-Clause
#include "persist/models.hpp"
#include "persist/parts.hpp"

namespace mercer::persist {

void write_kernel_kmeans(const AnyModel& any, ContainerWriter& out) {
  const auto& model = std::get<KernelKMeansModel>(any);
  const KernelKMeansSummary& s = model.summary();
  write_kernel(model.kernel(), out);
  out.json("summary", {{"samples", s.samples},
                       {"wanted", s.wanted},
                       {"clusters", s.clusters},
                       {"inertia", number_to_json(s.inertia)},
                       {"iterations", s.iterations},
                       {"restart", s.restart},
                       {"converged", s.converged},
                       {"method", text_to_json(s.method)},
                       {"rank", s.rank},
                       {"trace_error", number_to_json(s.trace_error)},
                       {"looked_at", number_to_json(s.looked_at)},
                       {"bytes", s.bytes},
                       {"seconds", number_to_json(s.seconds)},
                       {"sentence", text_to_json(s.sentence)}});
  write_samples(model.samples(), out);
  write_matrix("coefficients", model.coefficients(), out);
  write_vector("squared_norms", model.squared_norms(), out);
  const auto labels = std::make_shared<std::vector<std::int64_t>>(model.labels().begin(), model.labels().end());
  out.tensor("labels", {std::ssize(*labels)}, labels->data(), labels);
}

AnyModel read_kernel_kmeans(const ContainerReader& in, const KernelLibrary& library) {
  Kernel kernel = read_kernel(in, library);
  const Json about = in.json("summary");
  KernelKMeansSummary s;
  s.samples = about.at("samples").get<Index>();
  s.wanted = about.at("wanted").get<Index>();
  s.clusters = about.at("clusters").get<Index>();
  s.inertia = number_from_json(about.at("inertia"));
  s.iterations = about.at("iterations").get<Index>();
  s.restart = about.at("restart").get<Index>();
  s.converged = about.at("converged").get<bool>();
  s.method = text_from_json(about.at("method"));
  s.rank = about.at("rank").get<Index>();
  s.trace_error = number_from_json(about.at("trace_error"));
  s.looked_at = number_from_json(about.at("looked_at"));
  s.bytes = about.at("bytes").get<std::size_t>();
  s.seconds = number_from_json(about.at("seconds"));
  s.sentence = text_from_json(about.at("sentence"));
  const auto numbers = in.tensor<std::int64_t>("labels");
  std::vector<Index> labels(numbers.begin(), numbers.end());
  if (static_cast<Index>(labels.size()) != s.samples) in.fail("its summary does not fit its labels");
  return KernelKMeansModel::from_parts(std::move(kernel), read_samples(in), in.matrix("coefficients"), in.vector("squared_norms"),
                                       std::move(labels), std::move(s));
}

}  // namespace mercer::persist
