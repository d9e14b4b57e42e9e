// mercer info: what a model file holds.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/ranges.h>

#include <filesystem>

#include "commands.hpp"
#include "files.hpp"
#include "objects.hpp"

namespace mercer::cli {

namespace {

struct InfoOptions {
  CommonOptions common{};
  std::string model{};
};

using Rows = std::vector<std::vector<std::string>>;

std::string listed(const std::vector<std::string>& words) {
  constexpr std::size_t most = 12;
  if (words.size() <= most) return fmt::format("{}", fmt::join(words, ", "));
  return fmt::format("{}, ... ({} in all)", fmt::join(words.begin(), words.begin() + most, ", "), words.size());
}

void describe(const KernelRidgeModel& model, Rows& rows) {
  const Samples& X = model.samples();
  rows.push_back({"kernel", model.kernel().text()});
  rows.push_back({"alpha", fmt::format("{:g}", fmt::join(model.alpha(), ", "))});
  rows.push_back({"training rows", samples_words(X)});
  rows.push_back({"precision", name_of(model.precision())});
  rows.push_back({"summary", model.summary().sentence});
}

void describe(const GaussianProcessModel& model, Rows& rows) {
  const Samples& X = model.samples();
  rows.push_back({"kernel", model.kernel().text()});
  rows.push_back({"noise", model.noise().size() == 1
                               ? fmt::format("{:g}", model.noise()[0])
                               : fmt::format("one per sample, {:g} to {:g}", model.noise().minCoeff(), model.noise().maxCoeff())});
  rows.push_back({"training rows", samples_words(X)});
  rows.push_back({"summary", model.summary().sentence});
}

void describe(const FalkonModel& model, Rows& rows) {
  const Samples& Z = model.landmarks();
  rows.push_back({"kernel", model.kernel().text()});
  rows.push_back({"alpha", fmt::format("{:g}", model.alpha())});
  rows.push_back({"landmarks", fmt::format("{} ({})", samples_words(Z), model.summary().landmarks)});
  rows.push_back({"precision", name_of(model.precision())});
  rows.push_back({"summary", model.summary().sentence});
}

void describe(const RidgeModel& model, Rows& rows) {
  rows.push_back({"columns", std::to_string(model.n_features())});
  if (model.degree() > 1) rows.push_back({"degree", fmt::format("{} ({} monomials)", model.degree(), model.coef().cols())});
  rows.push_back({"summary", model.summary().sentence});
}

std::string draw_words(const RandomFourierFeatures& map) {
  return map.draw() == FourierDraw::independent ? "" : fmt::format(", {}", name_of(map.draw()));
}

void describe(const RandomFeatureRidgeModel& model, Rows& rows) {
  const RandomFourierFeatures& map = model.features();
  rows.push_back({"kernel", model.kernel().text()});
  rows.push_back(
      {"features", fmt::format("{} random Fourier features of {} columns, {}{}", map.n_components(), map.width(),
                               map.form() == FourierForm::cosine ? "cosines with offsets" : "sines and cosines", draw_words(map))});
  rows.push_back({"alpha", fmt::format("{:g}", fmt::join(model.alpha(), ", "))});
  rows.push_back({"precision", name_of(model.precision())});
  rows.push_back({"summary", model.summary().sentence});
}

void describe(const LinearSvcModel& model, Rows& rows) {
  rows.push_back({"loss", model.loss() == LinearSvcOptions::Loss::hinge ? "hinge" : "squared_hinge"});
  rows.push_back({"C", fmt::format("{:g}", model.C())});
  rows.push_back({"columns", std::to_string(model.n_features())});
  rows.push_back({"summary", model.summary().sentence});
}

void describe_expansion(const Kernel& kernel, const Samples& X, const ConvexSummary& summary, Rows& rows) {
  rows.push_back({"kernel", kernel.text()});
  rows.push_back({summary.landmarks > 0 ? "landmarks" : "training rows", samples_words(X)});
  rows.push_back({"summary", summary.sentence});
}

void describe(const KernelLogisticModel& model, Rows& rows) {
  rows.push_back({"lambda", fmt::format("{:g}", model.lambda())});
  describe_expansion(model.kernel(), model.samples(), model.summary(), rows);
}

void describe(const RepresenterModel& model, Rows& rows) {
  rows.push_back({"loss", model.loss().text()});
  rows.push_back({"lambda", fmt::format("{:g}", fmt::join(model.lambda(), ", "))});
  describe_expansion(model.kernel(), model.samples(), model.summary(), rows);
}

// What the support vector machines share.
void describe_support(const SupportExpansion& parts, const SvmSetting& setting, const SvmSummary& summary, Rows& rows) {
  if (setting.hard_margin) rows.push_back({"margin", "hard"});
  if (setting.C) rows.push_back({"C", fmt::format("{:g}", *setting.C)});
  if (setting.nu) rows.push_back({"nu", fmt::format("{:g}", *setting.nu)});
  const Samples& X = parts.vectors;
  rows.push_back({"kernel", parts.kernel.text()});
  rows.push_back({"support vectors", samples_words(X)});
  rows.push_back({"at the bound", std::to_string(summary.at_bound)});
  rows.push_back({"summary", summary.sentence});
  if (!summary.remark.empty()) rows.push_back({"remark", summary.remark});
}

void describe(const SvcModel& model, Rows& rows) {
  if (model.n_classes() > 2)
    rows.push_back({"machines", fmt::format("{}, {}", model.functions(),
                                            model.multi_class() == MultiClass::one_vs_one ? "one for each pair of classes"
                                                                                          : "one class against the rest")});
  rows.push_back({"probabilities", model.has_probabilities() ? "yes" : "no"});
  describe_support(model.parts(), model.setting(), model.summary(), rows);
}

void describe(const SvrModel& model, Rows& rows) {
  rows.push_back({"epsilon", fmt::format("{:g}", model.epsilon())});
  describe_support(model.parts(), model.setting(), model.summary(), rows);
}

void describe(const OneClassModel& model, Rows& rows) { describe_support(model.parts(), model.setting(), model.summary(), rows); }

void describe(const KernelSGDModel& model, Rows& rows) {
  const Samples& X = model.samples();
  rows.push_back({"lambda", fmt::format("{:g}", model.lambda())});
  rows.push_back({"kernel", model.kernel().text()});
  rows.push_back({"support vectors", samples_words(X)});
  rows.push_back({"summary", model.summary().sentence});
}

void describe(const KernelMeanModel& model, Rows& rows) {
  const Samples& X = model.samples();
  rows.push_back({"rule", model.rule() == MeanRule::parzen ? "Parzen windows" : "nearest mean"});
  if (model.rule() == MeanRule::parzen) rows.push_back({"priors", fmt::format("{:g}", fmt::join(model.priors(), ", "))});
  rows.push_back({"kernel", model.kernel().text()});
  rows.push_back({"training rows", samples_words(X)});
  rows.push_back({"summary", model.summary().sentence});
}

void describe(const PcaModel& model, Rows& rows) {
  rows.push_back({"columns", std::to_string(model.n_features())});
  rows.push_back({"variance", fmt::format("{:.4g}", fmt::join(model.explained_variance(), ", "))});
  if (model.whiten()) rows.push_back({"scores", "of unit variance"});
  rows.push_back({"summary", model.summary().sentence});
}

void describe(const KernelPcaModel& model, Rows& rows) {
  const Samples& X = model.basis();
  rows.push_back({"kernel", model.kernel().text()});
  rows.push_back({model.is_low_rank() ? "landmarks" : "training rows", samples_words(X)});
  rows.push_back({"eigenvalues", fmt::format("{:.4g}", fmt::join(model.eigenvalues(), ", "))});
  rows.push_back({"summary", model.summary().sentence});
}

void describe(const KernelKMeansModel& model, Rows& rows) {
  const Samples& X = model.samples();
  rows.push_back({"clusters", fmt::format("{}, of {} rows", model.clusters(), fmt::join(model.sizes(), ", "))});
  rows.push_back({"kernel", model.kernel().text()});
  rows.push_back({model.summary().rank > 0 ? "pivots" : "training rows", samples_words(X)});
  rows.push_back({"summary", model.summary().sentence});
}

void describe_points(const Kernel& kernel, const char* name, const Samples& X, Index columns, Rows& rows) {
  rows.push_back({"kernel", kernel.text()});
  rows.push_back({name, samples_words(X)});
  rows.push_back({"features", std::to_string(columns)});
}

void describe(const NystromMap& map, Rows& rows) { describe_points(map.kernel(), "landmarks", map.landmarks(), map.n_components(), rows); }

void describe(const KernelMap& map, Rows& rows) {
  rows.push_back({"map", name_of(map.kind())});
  describe_points(map.kernel(), "points", map.points(), map.n_components(), rows);
}

void describe(const RandomFourierFeatures& map, Rows& rows) {
  rows.push_back({"kernel", map.kernel().text()});
  rows.push_back(
      {"features", fmt::format("{} random Fourier features of {} columns, {}{}", map.n_components(), map.width(),
                               map.form() == FourierForm::cosine ? "cosines with offsets" : "sines and cosines", draw_words(map))});
}

void describe(const TensorSketch& map, Rows& rows) {
  rows.push_back({"kernel", map.kernel().text()});
  rows.push_back({"features", fmt::format("{} sketches of {} columns", map.n_components(), map.n_features())});
}

void describe(const StructuredSvmModel& model, Rows& rows) {
  rows.push_back({"form", name_of(model.form())});
  rows.push_back({"C", fmt::format("{:g}", model.parts().C)});
  if (model.is_linear()) {
    rows.push_back({"columns", std::to_string(model.n_features())});
  } else {
    rows.push_back({"kernel", model.kernel().text()});
    rows.push_back({"support vectors", samples_words(model.samples())});
  }
  if (!model.parts().sequence_column.empty()) rows.push_back({"sequences", "told apart by the column " + model.parts().sequence_column});
  rows.push_back({"summary", model.summary().sentence});
}

void describe(const Encoder& encoder, Rows& rows) {
  const bool classify = encoder.task == Task::classification;
  if (!encoder.target.empty())
    rows.push_back({"target", fmt::format("{} ({})", encoder.target, classify ? "classification" : "regression")});
  if (classify) rows.push_back({"classes", listed(encoder.classes)});
  if (!encoder.sparse) rows.push_back({"features", listed(encoder.feature_names())});
  const char* scaling[] = {"none", "standard", "min-max"};
  rows.push_back({"scaling", scaling[static_cast<std::size_t>(encoder.scaler.kind)]});
  if (encoder.fills_missing) rows.push_back({"missing values", "filled in"});
}

void run_info(const InfoOptions& o) {
  const SavedModel saved = open_model(o.model);
  Json info = Json::parse(model_info(o.model));
  const auto bytes = std::filesystem::file_size(o.model);
  if (o.common.json) {
    Json json = {{"file", o.model}, {"bytes", bytes}};
    if (const auto* rff = std::get_if<RandomFeatureRidgeModel>(&saved.model)) {
      json["alpha"] = std::vector<double>(rff->alpha().begin(), rff->alpha().end());
    }
    if (const auto* krr = std::get_if<KernelRidgeModel>(&saved.model)) {
      json["alpha"] = std::vector<double>(krr->alpha().begin(), krr->alpha().end());
    }
    json.update(info);
    print_json(json);
    return;
  }
  Rows rows{{"file", fmt::format("{}, {}", o.model, format_bytes(static_cast<double>(bytes)))},
            {"model", is_libsvm_model(o.model) ? fmt::format("{}, a LIBSVM model", saved.kind())
                                               : fmt::format("{}, format version {}, saved by Mercer {}", saved.kind(),
                                                             info.value("format_version", ""), info.value("mercer_version", "?"))}};
  std::visit([&](const auto& model) { describe(model, rows); }, saved.model);
  if (const std::optional<Kernel> kernel = kernel_in(saved.model)) {
    if (const std::string tables = library_words(*kernel); !tables.empty()) rows.push_back({"tables of words", tables});
  }
  if (saved.encoder) describe(*saved.encoder, rows);
  if (info.contains("checksum")) rows.push_back({"checksum", info.value("checksum", "")});
  Speaker(o.common).say("{}", aligned(rows));
}

}  // namespace

void add_info(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<InfoOptions>();
  CLI::App* command = app.add_subcommand("info", "Say what a model file holds");
  command->add_option("MODELFILE", o->model, "A model that fit or learn saved")->required();
  add_common(*command, o->common);
  command->footer("Examples:\n  mercer info model.mercer\n  mercer info model.mercer --json");
  command->callback([o, &invocation] { invocation.job = [o] { run_info(*o); }; });
}

}  // namespace mercer::cli
