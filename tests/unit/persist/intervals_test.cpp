// Prediction intervals in model files: the same numbers after a round trip, and named errors for forged parts.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "unit/persist/models.hpp"

namespace mercer {
namespace {

using namespace mercer::testing;

SavedModel fitted(IntervalMethod method) {
  Vector alpha(2);
  alpha << 0.1, 0.7;
  const Matrix X = numbers(40, 2);
  const Matrix Y = numbers(40, 2, 0.9);
  const auto plain = fit_kernel_ridge(X, Y, {.kernel = kernels::gaussian(0.5), .alpha_per_target = alpha, .fit_intercept = true});
  return {add_intervals(plain, X, Y, {.fit_intercept = true, .method = method}), std::nullopt};
}

TEST(IntervalsInFiles, SurviveToTheBit) {
  for (const IntervalMethod method : {IntervalMethod::jackknife_plus, IntervalMethod::cv_plus}) {
    const SavedModel model = fitted(method);
    const SavedModel again = model_from_bytes(model_to_bytes(model));
    const auto& a = std::get<KernelRidgeModel>(model.model);
    const auto& b = std::get<KernelRidgeModel>(again.model);
    ASSERT_TRUE(b.has_intervals());
    EXPECT_EQ(a.interval_summary().sentence, b.interval_summary().sentence);
    EXPECT_EQ(a.interval_summary().method, b.interval_summary().method);
    EXPECT_EQ(a.interval_summary().bytes, b.interval_summary().bytes);
    const auto p = a.predict_interval(numbers(5, 2, 0.5), 0.9);
    const auto q = b.predict_interval(numbers(5, 2, 0.5), 0.9);
    EXPECT_EQ(p.lower, q.lower);
    EXPECT_EQ(p.upper, q.upper);
  }
  EXPECT_FALSE(std::get<KernelRidgeModel>(model_from_bytes(model_to_bytes(small_model())).model).has_intervals());
}

std::string forged_error(const SavedModel& model, const std::function<void(Json&)>& change) {
  Parts parts = take_apart(model_to_bytes(model));
  Json about = Json::parse(parts.header["__metadata__"]["intervals"].get<std::string>());
  change(about);
  parts.header["__metadata__"]["intervals"] = about.dump();
  return load_error(forge(std::move(parts)));
}

TEST(IntervalsInFiles, ForgedPartsAreNamed) {
  const SavedModel jackknife = fitted(IntervalMethod::jackknife_plus);
  EXPECT_NE(forged_error(jackknife, [](Json& j) { j["method"] = "guess"; }).find("its intervals are by \"guess\""), std::string::npos);
  EXPECT_NE(forged_error(jackknife, [](Json& j) { j["method"] = "CV+"; }).find("intervals.fold_of"), std::string::npos);
  EXPECT_NE(forged_error(jackknife, [](Json& j) { j["groups"] = Json::array({{0, 7}, {1}}); }).find("do not fit"), std::string::npos);
  EXPECT_NE(forged_error(jackknife, [](Json& j) { j["groups"] = Json::array({{0}}); }).find("do not fit"), std::string::npos);
  EXPECT_NE(forged_error(jackknife, [](Json& j) { j["groups"] = 3; }), "");
}

}  // namespace
}  // namespace mercer
