// Ridge models on random features in files: the same model comes back, and files that do not fit together are refused.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "mercer/model_file.hpp"
#include "unit/core/support.hpp"
#include "unit/persist/models.hpp"

namespace mercer {
namespace {

using namespace mercer::testing;

SavedModel rff_model(FourierForm form, bool centred, double validation) {
  const RandomFeatureRidgeOptions options{.kernel = 2 * kernels::matern(1.5, 3) + kernels::gaussian(std::vector<double>{1, 2}).on({0, 2}),
                                          .n_components = 10,
                                          .form = form,
                                          .seed = 7,
                                          .alpha_per_target = Vector{{0.1, 0.3}},
                                          .validation_fraction = validation};
  const Matrix X = numbers(60, 3);
  const Samples rows = centred ? Samples(X) : Samples(CsrMatrix<double>(X.sparseView()));
  return {fit_random_feature_ridge(rows, numbers(60, 2, 0.77), options), std::nullopt};
}

TEST(ModelFile, RandomFeatureRidgeSurvives) {
  for (const FourierForm form : {FourierForm::sine_cosine, FourierForm::cosine}) {
    for (const bool centred : {true, false}) {
      for (const double validation : {0.0, 0.3}) {
        const SavedModel model = rff_model(form, centred, validation);
        const SavedModel again = model_from_bytes(model_to_bytes(model));
        EXPECT_EQ(again.kind(), "rff");
        EXPECT_EQ(again.width(), 3);
        const auto& x = std::get<RandomFeatureRidgeModel>(model.model);
        const auto& y = std::get<RandomFeatureRidgeModel>(again.model);
        EXPECT_EQ(x.kernel(), y.kernel());
        EXPECT_EQ(x.features().frequencies(), y.features().frequencies());
        EXPECT_EQ(x.features().offsets(), y.features().offsets());
        EXPECT_EQ(x.features().centre(), y.features().centre());
        EXPECT_EQ(x.features().centre().size(), centred ? 3 : 0);
        EXPECT_EQ(x.features().scale(), y.features().scale());
        EXPECT_EQ(x.features().form(), y.features().form());
        EXPECT_EQ(x.coef(), y.coef());
        EXPECT_EQ(x.intercept(), y.intercept());
        EXPECT_EQ(x.alpha(), y.alpha());
        EXPECT_EQ(x.precision(), y.precision());
        EXPECT_EQ(x.summary().sentence, y.summary().sentence);
        EXPECT_EQ(x.summary().rows, y.summary().rows);
        EXPECT_EQ(x.summary().held_out_rows, y.summary().held_out_rows);
        EXPECT_EQ(x.summary().training_rmse, y.summary().training_rmse);
        EXPECT_EQ(x.summary().held_out_rmse, y.summary().held_out_rmse);
        EXPECT_EQ(x.summary().held_out_r2, y.summary().held_out_r2);
        EXPECT_EQ(model.predict(numbers(9, 3, 0.5)), again.predict(numbers(9, 3, 0.5)));
        EXPECT_EQ(model_to_bytes(again), model_to_bytes(model));
      }
    }
  }
}

TEST(ModelFile, RandomFeatureRidgeThatDoesNotFitTogetherIsRefused) {
  const std::string good = model_to_bytes(rff_model(FourierForm::cosine, true, 0));
  const auto says = [&](const std::function<void(Json&)>& change, const char* what) {
    Parts parts = take_apart(good);
    change(parts.header);
    const std::string message = message_of<FileError>([&] { model_from_bytes(forge(parts)); });
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  const auto options = [](Json& header, const std::string& key, const Json& value) {
    Json settings = Json::parse(header["__metadata__"]["options"].get<std::string>());
    settings[key] = value;
    header["__metadata__"]["options"] = settings.dump();
  };
  says([](Json&) {}, "(no exception)");
  says([&](Json& h) { options(h, "form", "tan"); }, "unknown form");
  says([&](Json& h) { options(h, "form", "sincos"); }, "coefficients");  // twice as many features as coefficients
  says([&](Json& h) { options(h, "scale", -1); }, "k(x, x) must be > 0");
  says([&](Json& h) { options(h, "orthogonal", "no"); }, "wrong type");
  says([](Json& h) { h["__metadata__"].erase("summary"); }, "");
  says([](Json& h) { h["offsets"]["shape"] = {5, 2}; }, "");
  EXPECT_THROW(model_from_bytes(good.substr(0, good.size() / 2)), FileError);
}

}  // namespace
}  // namespace mercer
