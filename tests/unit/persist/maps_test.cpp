// Feature maps in files: the same map comes back, and files that do not fit together are refused.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "mercer/model_file.hpp"
#include "unit/core/support.hpp"
#include "unit/persist/models.hpp"

namespace mercer {
namespace {

using namespace mercer::testing;

std::vector<SavedModel> maps() {
  const Matrix X = numbers(30, 3);
  const Samples sparse(CsrMatrix<double>(X.sparseView(1, 0.1)));
  const Kernel kernel = 2 * kernels::matern(1.5, 3);
  std::vector<SavedModel> out;
  const auto add = [&](AnyModel model) { out.push_back({std::move(model), std::nullopt}); };
  add(fit_nystrom(X, {.kernel = kernel, .n_components = 7}));
  add(fit_nystrom(sparse, {.kernel = kernel, .given_landmarks = sparse.slice(2, 4)}));
  for (const FourierDraw draw : {FourierDraw::independent, FourierDraw::orthogonal, FourierDraw::structured, FourierDraw::quasi_random}) {
    for (const FourierForm form : {FourierForm::sine_cosine, FourierForm::cosine}) {
      const auto map = random_fourier_features(kernel, 3, {.n_components = 10, .form = form, .draw = draw});
      add(map);
      add(map.centred_at(Vector::Ones(3)));
    }
  }
  add(fit_empirical_kernel_map(X, {.kernel = kernel}));
  add(fit_empirical_kernel_map(sparse, {.kernel = kernel, .whiten = true, .n_components = 9}));
  add(fit_mercer_map(X, {.kernel = kernel, .n_components = 4}));
  add(tensor_sketch(3, {.degree = 3, .scale = 0.3, .offset = 1, .n_components = 16}));
  add(tensor_sketch(3, {.n_components = 5}));
  return out;
}

TEST(ModelFile, FeatureMapsSurvive) {
  const Matrix X = numbers(9, 3, 0.5);
  std::vector<std::string> kinds;
  for (const SavedModel& model : maps()) {
    const std::string bytes = model_to_bytes(model);
    const SavedModel again = model_from_bytes(bytes);
    EXPECT_EQ(again.kind(), model.kind());
    EXPECT_EQ(again.width(), 3);
    EXPECT_EQ(again.n_targets(), model.predict(X).cols());
    EXPECT_EQ(again.predict(X), model.predict(X)) << model.kind();
    EXPECT_EQ(model_to_bytes(again), bytes) << model.kind();
    if (kinds.empty() || kinds.back() != model.kind()) kinds.push_back(model.kind());
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"nystrom", "fourier", "kernel-map", "tensor-sketch"}));
}

TEST(ModelFile, FeatureMapsThatDoNotFitTogetherAreRefused) {
  const std::vector<SavedModel> all = maps();
  const std::string nothing = "(no exception)";
  const auto says = [&](std::size_t which, const std::function<void(Json&)>& change, const char* what) {
    Parts parts = take_apart(model_to_bytes(all[which]));
    change(parts.header);
    const std::string message = message_of<FileError>([&] { model_from_bytes(forge(parts)); });
    EXPECT_NE(message.find(what), std::string::npos) << message;
    EXPECT_EQ(message == nothing, what == nothing);
  };
  const auto set = [](Json& header, const std::string& key, const Json& value) {
    Json settings = Json::parse(header["__metadata__"]["options"].get<std::string>());
    settings[key] = value;
    header["__metadata__"]["options"] = settings.dump();
  };
  const std::size_t last = all.size() - 1;
  says(
      0, [](Json&) {}, nothing.c_str());
  says(
      0, [](Json& h) { h["__metadata__"].erase("kernel"); }, "");
  says(
      2, [&](Json& h) { set(h, "draw", "dice"); }, "unknown draw");
  says(
      2, [&](Json& h) { set(h, "form", "tan"); }, "unknown form");
  says(
      10,
      [](Json& h) {
        h["hadamard.signs"]["shape"] = {4, 9};
      },
      "");
  says(
      last - 2, [&](Json& h) { set(h, "map", "magic"); }, "unknown kernel map");
  says(
      last - 2, [&](Json& h) { set(h, "map", "empirical"); }, "cannot have");
  says(
      last, [&](Json& h) { set(h, "n_components", 2); }, "places");
  says(
      last, [&](Json& h) { set(h, "offset", -1); }, "offset");
}

}  // namespace
}  // namespace mercer
