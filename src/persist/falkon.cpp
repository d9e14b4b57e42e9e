// Models on landmarks in files.
// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include "mercer/error.hpp"
#include "persist/models.hpp"
#include "persist/parts.hpp"

namespace mercer::persist {

namespace {

Json to_json(const FalkonSummary& s) {
  return {{"method", text_to_json(s.method)},
          {"landmarks", text_to_json(s.landmarks)},
          {"rows", s.rows},
          {"sums_precision", name_of(s.sums_precision)},
          {"jitter", number_to_json(s.jitter)},
          {"trace_error", number_to_json(s.trace_error)},
          {"trace_rows", s.trace_rows},
          {"train_mse", number_to_json(s.train_mse)},
          {"validation_rows", s.validation_rows},
          {"validation_mse", number_to_json(s.validation_mse)},
          {"validation_r2", number_to_json(s.validation_r2)},
          {"iterations", s.iterations},
          {"residual", number_to_json(s.residual)},
          {"converged", s.converged},
          {"rounding", number_to_json(s.rounding)},
          {"passes", s.passes},
          {"seconds", number_to_json(s.seconds)},
          {"bytes", s.bytes},
          {"sentence", text_to_json(s.sentence)}};
}

FalkonSummary summary_from(const Json& j) {
  FalkonSummary s;
  s.method = text_from_json(j.at("method"));
  s.landmarks = text_from_json(j.at("landmarks"));
  s.rows = j.at("rows").get<Index>();
  s.sums_precision = j.at("sums_precision").get<std::string>() == "float32" ? Precision::float32 : Precision::float64;
  s.jitter = number_from_json(j.at("jitter"));
  s.trace_error = number_from_json(j.at("trace_error"));
  s.trace_rows = j.at("trace_rows").get<Index>();
  s.train_mse = number_from_json(j.at("train_mse"));
  s.validation_rows = j.at("validation_rows").get<Index>();
  s.validation_mse = number_from_json(j.at("validation_mse"));
  s.validation_r2 = number_from_json(j.at("validation_r2"));
  s.iterations = j.at("iterations").get<Index>();
  s.residual = number_from_json(j.at("residual"));
  s.converged = j.at("converged").get<bool>();
  s.rounding = number_from_json(j.at("rounding"));
  s.passes = j.at("passes").get<Index>();
  s.seconds = number_from_json(j.at("seconds"));
  s.bytes = j.at("bytes").get<std::size_t>();
  s.sentence = text_from_json(j.at("sentence"));
  return s;
}

}  // namespace

void write_falkon(const AnyModel& any, ContainerWriter& out) {
  const auto& model = std::get<FalkonModel>(any);
  write_kernel(model.kernel(), out);
  out.json("options", {{"precision", name_of(model.precision())}, {"alpha", number_to_json(model.alpha())}});
  out.json("summary", to_json(model.summary()));
  write_samples(model.landmarks(), out);
  // Row numbers are far below 2^53. The container looks at memory until it is written, so it keeps the copy alive.
  const auto rows = std::make_shared<Vector>(std::ssize(model.landmark_rows()));
  for (Index i = 0; i < rows->size(); ++i) (*rows)[i] = static_cast<double>(model.landmark_rows()[static_cast<std::size_t>(i)]);
  out.tensor("landmark_rows", {rows->size()}, rows->data(), rows);
  write_matrix("dual_coef", model.dual_coef(), out);
  write_vector("intercept", model.intercept(), out);
}

AnyModel read_falkon(const ContainerReader& in, const KernelLibrary& library) {
  Kernel kernel = read_kernel(in, library);
  const Json options = in.json("options");
  const Precision precision = precision_from(in, options);
  const double alpha = number_from_json(options.at("alpha"));
  if (!(alpha >= 0)) in.fail("its alpha is negative");
  std::vector<Index> rows;
  for (const double row : in.vector("landmark_rows")) {
    if (!(row >= 0 && row < 0x1p53)) in.fail("a row number of its landmarks is impossible");
    rows.push_back(static_cast<Index>(row));
  }
  return FalkonModel::from_parts(std::move(kernel), read_samples(in), std::move(rows), in.matrix("dual_coef"), in.vector("intercept"),
                                 alpha, precision, summary_from(in.json("summary")));
}

}  // namespace mercer::persist
