// Support vector machines in files.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include "persist/models.hpp"
#include "persist/parts.hpp"

namespace mercer::persist {

namespace {

Json summary_to_json(const SvmSummary& s) {
  return {{"status", text_to_json(s.status)},
          {"problems", s.problems},
          {"iterations", s.iterations},
          {"steps", s.steps},
          {"support_vectors", s.support_vectors},
          {"at_bound", s.at_bound},
          {"objective", number_to_json(s.objective)},
          {"gap", number_to_json(s.gap)},
          {"violation", number_to_json(s.violation)},
          {"precision", name_of(s.precision)},
          {"kernel_rows", s.kernel_rows},
          {"seconds", number_to_json(s.seconds)},
          {"bytes", s.bytes},
          {"sentence", text_to_json(s.sentence)},
          {"remark", text_to_json(s.remark)}};
}

SvmSummary summary_from_json(const ContainerReader& in) {
  const Json about = in.json("summary");
  SvmSummary s;
  s.status = text_from_json(about.at("status"));
  s.problems = about.at("problems").get<Index>();
  s.iterations = about.at("iterations").get<Index>();
  s.steps = about.at("steps").get<std::vector<Index>>();
  s.support_vectors = about.at("support_vectors").get<Index>();
  s.at_bound = about.at("at_bound").get<Index>();
  s.objective = number_from_json(about.at("objective"));
  s.gap = number_from_json(about.at("gap"));
  s.violation = number_from_json(about.at("violation"));
  s.precision = precision_from(in, about);
  s.kernel_rows = about.at("kernel_rows").get<Index>();
  s.seconds = number_from_json(about.at("seconds"));
  s.bytes = about.at("bytes").get<std::size_t>();
  s.sentence = text_from_json(about.at("sentence"));
  s.remark = text_from_json(about.at("remark"));
  return s;
}

void write_expansion(const SupportExpansion& e, const SvmSummary& summary, ContainerWriter& out) {
  write_kernel(e.kernel, out);
  out.json("summary", summary_to_json(summary));
  write_samples(e.vectors, out);
  write_matrix("dual_coef", e.coef, out);
  write_vector("intercept", e.intercept, out);
  const auto support = std::make_shared<std::vector<std::int64_t>>(e.support.begin(), e.support.end());
  out.tensor("support", {std::ssize(*support)}, support->data(), support);
}

SupportExpansion read_expansion(const ContainerReader& in, const KernelLibrary& library) {
  SupportExpansion e;
  e.kernel = read_kernel(in, library);
  e.vectors = read_samples(in);
  e.coef = in.matrix("dual_coef");
  e.intercept = in.vector("intercept");
  for (const std::int64_t row : in.tensor<std::int64_t>("support")) {
    if (row < 0) in.fail("a support vector's row is negative");
    e.support.push_back(row);
  }
  return e;
}

// Fields that came later than the first files: a reader of those leaves them alone, and a file without them has none of the numbers.
void add_setting(const SvmSetting& s, Json& options) {
  if (s.by_nu) options["form"] = "nu";
  if (s.hard_margin) options["form"] = "hard margin";
  if (s.C) options["C"] = number_to_json(*s.C);
  if (s.nu) options["nu"] = number_to_json(*s.nu);
}

SvmSetting setting_of(const Json& options, const ContainerReader& in) {
  SvmSetting s;
  const auto form = options.value("form", std::string());
  if (!form.empty() && form != "nu" && form != "hard margin") in.fail("its form is neither nu nor hard margin");
  s.by_nu = form == "nu";
  s.hard_margin = form == "hard margin";
  const auto positive = [&](const char* name, double most) -> std::optional<double> {
    if (!options.contains(name)) return std::nullopt;
    const double value = number_from_json(options.at(name));
    if (!(value > 0) || !(value <= most)) in.fail(std::string("its ") + name + " is not a number that a fit can have had");
    return value;
  };
  s.C = positive("C", std::numeric_limits<double>::max());
  s.nu = positive("nu", 1);
  return s;
}

}  // namespace

void write_svc(const AnyModel& any, ContainerWriter& out) {
  const auto& model = std::get<SvcModel>(any);
  Json options = {{"multi_class", model.multi_class() == MultiClass::one_vs_one ? "ovo" : "ovr"},
                  {"break_ties", model.break_ties()},
                  {"n_support", model.n_support()}};
  add_setting(model.setting(), options);
  out.json("options", options);
  write_expansion(model.parts(), model.summary(), out);
  write_vector("squared_norm", model.squared_norm(), out);
  if (model.has_probabilities()) write_matrix("sigmoids", model.sigmoids(), out);
}

AnyModel read_svc(const ContainerReader& in, const KernelLibrary& library) {
  const Json options = in.json("options");
  SvcModel::Parts parts;
  parts.expansion = read_expansion(in, library);
  parts.n_support = options.at("n_support").get<std::vector<Index>>();
  const auto multi_class = options.at("multi_class").get<std::string>();
  if (multi_class != "ovo" && multi_class != "ovr") in.fail("its multi_class is neither ovo nor ovr");
  parts.multi_class = multi_class == "ovo" ? MultiClass::one_vs_one : MultiClass::one_vs_rest;
  parts.break_ties = options.at("break_ties").get<bool>();
  parts.squared_norm = in.vector("squared_norm");
  if (in.has_tensor("sigmoids")) parts.sigmoids = in.matrix("sigmoids");
  parts.summary = summary_from_json(in);
  parts.setting = setting_of(options, in);
  return SvcModel::from_parts(std::move(parts));
}

void write_svr(const AnyModel& any, ContainerWriter& out) {
  const auto& model = std::get<SvrModel>(any);
  Json options = {{"epsilon", number_to_json(model.epsilon())}, {"squared_norm", number_to_json(model.squared_norm())}};
  add_setting(model.setting(), options);
  out.json("options", options);
  write_expansion(model.parts(), model.summary(), out);
}

AnyModel read_svr(const ContainerReader& in, const KernelLibrary& library) {
  const Json options = in.json("options");
  const double epsilon = number_from_json(options.at("epsilon"));
  if (!std::isfinite(epsilon)) in.fail("its epsilon is not a finite number");
  return SvrModel::from_parts(read_expansion(in, library), epsilon, number_from_json(options.at("squared_norm")), summary_from_json(in),
                              setting_of(options, in));
}

void write_one_class(const AnyModel& any, ContainerWriter& out) {
  const auto& model = std::get<OneClassModel>(any);
  Json options = Json::object();
  add_setting(model.setting(), options);
  out.json("options", options);
  write_expansion(model.parts(), model.summary(), out);
}

AnyModel read_one_class(const ContainerReader& in, const KernelLibrary& library) {
  const SvmSetting setting = in.has("options") ? setting_of(in.json("options"), in) : SvmSetting{};
  return OneClassModel::from_parts(read_expansion(in, library), summary_from_json(in), setting);
}

}  // namespace mercer::persist
