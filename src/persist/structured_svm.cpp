// Machines with structured outputs in files.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "persist/models.hpp"
#include "persist/parts.hpp"

namespace mercer::persist {

namespace {

StructuredForm form_of(const Json& options, const ContainerReader& in) {
  const std::string word = text_from_json(options.at("form"));
  for (const StructuredForm form : {StructuredForm::multiclass, StructuredForm::chain, StructuredForm::ranking}) {
    if (word == name_of(form)) return form;
  }
  in.fail("its form is none of multiclass, chain and ranking");
}

StructuredSvmSummary summary_from_json(const Json& about) {
  StructuredSvmSummary s;
  s.status = text_from_json(about.at("status"));
  s.passes = about.at("passes").get<Index>();
  s.searches = about.at("searches").get<Index>();
  s.objective = number_from_json(about.at("objective"));
  s.dual = number_from_json(about.at("dual"));
  s.gap = number_from_json(about.at("gap"));
  s.relative_gap = number_from_json(about.at("relative_gap"));
  s.planes = about.at("planes").get<Index>();
  s.support_vectors = about.at("support_vectors").get<Index>();
  s.missed = about.at("missed").get<Index>();
  s.seconds = number_from_json(about.at("seconds"));
  s.bytes = about.at("bytes").get<std::size_t>();
  s.sentence = text_from_json(about.at("sentence"));
  return s;
}

}  // namespace

void write_structured_svm(const AnyModel& any, ContainerWriter& out) {
  const auto& model = std::get<StructuredSvmModel>(any);
  const StructuredSvmModel::Parts& parts = model.parts();
  Json options = {{"form", name_of(parts.form)}, {"C", number_to_json(parts.C)}};
  if (!parts.sequence_column.empty()) options["sequence_column"] = text_to_json(parts.sequence_column);
  out.json("options", options);
  write_kernel(parts.kernel, out);
  const StructuredSvmSummary& s = model.summary();
  out.json("summary", {{"status", text_to_json(s.status)},
                       {"passes", s.passes},
                       {"searches", s.searches},
                       {"objective", number_to_json(s.objective)},
                       {"dual", number_to_json(s.dual)},
                       {"gap", number_to_json(s.gap)},
                       {"relative_gap", number_to_json(s.relative_gap)},
                       {"planes", s.planes},
                       {"support_vectors", s.support_vectors},
                       {"missed", s.missed},
                       {"seconds", number_to_json(s.seconds)},
                       {"bytes", s.bytes},
                       {"sentence", text_to_json(s.sentence)}});
  write_matrix(model.is_linear() ? "coef" : "dual_coef", parts.coef, out);
  write_vector("intercept", parts.intercept, out);
  if (!model.is_linear()) {
    write_samples(parts.samples, out);
    const auto support = std::make_shared<std::vector<std::int64_t>>(parts.support.begin(), parts.support.end());
    out.tensor("support", {std::ssize(*support)}, support->data(), support);
  }
  if (parts.form == StructuredForm::chain) {
    write_matrix("transition", parts.transition, out);
    write_vector("start", parts.start, out);
    write_vector("end", parts.end, out);
  }
}

AnyModel read_structured_svm(const ContainerReader& in, const KernelLibrary& library) {
  const Json options = in.json("options");
  StructuredSvmModel::Parts parts;
  parts.form = form_of(options, in);
  parts.C = number_from_json(options.at("C"));
  if (!(parts.C > 0) || !std::isfinite(parts.C)) in.fail("its C is not positive");
  if (options.contains("sequence_column")) parts.sequence_column = text_from_json(options.at("sequence_column"));
  parts.kernel = read_kernel(in, library);
  parts.intercept = in.vector("intercept");
  if (in.has_tensor("coef")) {
    parts.coef = in.matrix("coef");
  } else {
    parts.coef = in.matrix("dual_coef");
    parts.samples = read_samples(in);
    for (const std::int64_t row : in.tensor<std::int64_t>("support")) {
      if (row < 0) in.fail("a support vector's row is negative");
      parts.support.push_back(row);
    }
    if (parts.samples.empty()) in.fail("it has coefficients but no support vectors");
  }
  if (parts.form == StructuredForm::chain) {
    parts.transition = in.matrix("transition");
    parts.start = in.vector("start");
    parts.end = in.vector("end");
  }
  return StructuredSvmModel::from_parts(std::move(parts), summary_from_json(in.json("summary")));
}

}  // namespace mercer::persist
