// Models of stochastic gradient descent and of class means through files: the same values come back, forged ones are refused.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "unit/core/support.hpp"
#include "unit/persist/models.hpp"

namespace mercer {
namespace {

using namespace mercer::testing;

SavedModel sgd_model(Index functions) {
  const KernelSGDSummary summary{1234, "last iterate", 77, 5, 3, true, 0.1 + 0.2, 3.5, 1e-3, 3e-3, true, 0.25, 12345, "said"};
  return {KernelSGDModel::from_parts(parse_kernel("gaussian(0.7)"), Samples(numbers(5, 3)), {0, 4, 5, 9, 1000000007},
                                     numbers(5, functions, 0.71), 0.0125, summary),
          std::nullopt};
}

SavedModel mean_model(MeanRule rule) {
  std::vector<Index> labels{0, 1, 2, 1, 0};
  Vector weights(5);
  weights << 0.25, 0.5, 1, 0.5, 0.75;
  Vector priors(3);
  priors << 0.2, 0.3, 0.5;
  const KernelMeanSummary summary{5, 3, numbers(3, 3, 0.3), 1, 2, true, 0.5, "said"};
  return {KernelMeanModel::from_parts(parse_kernel("gaussian(0.7)"), rule, Samples(numbers(5, 3)), labels, weights, priors,
                                      numbers(3, 3, 0.4), summary),
          std::nullopt};
}

TEST(ClassModelFile, SgdSurvives) {
  const Matrix X = numbers(9, 3, 0.5);
  for (const Index functions : {1, 3}) {
    const SavedModel model = sgd_model(functions);
    const SavedModel again = model_from_bytes(model_to_bytes(model));
    EXPECT_EQ(again.kind(), "sgd-svm");
    EXPECT_EQ(again.n_targets(), functions);
    EXPECT_EQ(again.width(), 3);
    EXPECT_EQ(again.predict(X), model.predict(X));
    const auto& a = std::get<KernelSGDModel>(model.model);
    const auto& b = std::get<KernelSGDModel>(again.model);
    EXPECT_EQ(b.lambda(), 0.0125);
    EXPECT_EQ(b.support(), a.support());
    EXPECT_EQ(b.dual_coef(), a.dual_coef());
    const KernelSGDSummary& s = a.summary();
    const KernelSGDSummary& t = b.summary();
    EXPECT_EQ(std::tie(s.iterations, s.output, s.updates, s.support_vectors, s.removals, s.certified, s.objective, s.squared_norm),
              std::tie(t.iterations, t.output, t.updates, t.support_vectors, t.removals, t.certified, t.objective, t.squared_norm));
    EXPECT_EQ(std::tie(s.gap, s.relative_gap, s.stored, s.seconds, s.bytes, s.sentence),
              std::tie(t.gap, t.relative_gap, t.stored, t.seconds, t.bytes, t.sentence));
    EXPECT_NE(message_of([&] { again.probabilities(X); }).find("no probabilities"), std::string::npos);
  }
}

TEST(ClassModelFile, MeansSurvive) {
  const Matrix X = numbers(9, 3, 0.5);
  for (const MeanRule rule : {MeanRule::nearest, MeanRule::parzen}) {
    const SavedModel model = mean_model(rule);
    const SavedModel again = model_from_bytes(model_to_bytes(model));
    EXPECT_EQ(again.kind(), "mean");
    EXPECT_EQ(again.n_targets(), 3);
    EXPECT_EQ(again.predict(X), model.predict(X));
    const auto& a = std::get<KernelMeanModel>(model.model);
    const auto& b = std::get<KernelMeanModel>(again.model);
    EXPECT_EQ(b.rule(), rule);
    EXPECT_EQ(b.labels(), a.labels());
    EXPECT_EQ(b.weights(), a.weights());
    EXPECT_EQ(b.priors(), a.priors());
    EXPECT_EQ(b.mean_gram(), a.mean_gram());
    EXPECT_EQ(b.log_densities(X), a.log_densities(X));
    const KernelMeanSummary& s = a.summary();
    const KernelMeanSummary& t = b.summary();
    EXPECT_EQ(s.distances, t.distances);
    EXPECT_EQ(std::tie(s.samples, s.classes, s.nearest_a, s.nearest_b, s.coincide, s.seconds, s.sentence),
              std::tie(t.samples, t.classes, t.nearest_a, t.nearest_b, t.coincide, t.seconds, t.sentence));
    if (rule == MeanRule::parzen) {
      EXPECT_EQ(again.probabilities(X), model.probabilities(X));
    } else {
      EXPECT_NE(message_of([&] { again.probabilities(X); }).find("no probabilities"), std::string::npos);
    }
  }
}

TEST(ClassModelFile, ForgedSettingsAreRefused) {
  const auto error = [](const SavedModel& model, const char* key, const char* value) {
    Parts parts = take_apart(model_to_bytes(model));
    parts.header["__metadata__"][key] = value;
    return message_of([&] { model_from_bytes(forge(parts)); });
  };
  EXPECT_NE(error(sgd_model(1), "options", R"({"lambda":-1.0})").find("lambda is not positive"), std::string::npos);
  EXPECT_NE(error(sgd_model(1), "summary", "{}").find("missing or has the wrong type"), std::string::npos);
  EXPECT_NE(error(mean_model(MeanRule::nearest), "options", R"({"rule":"median"})").find("neither nearest nor parzen"), std::string::npos);
  EXPECT_NE(error(mean_model(MeanRule::nearest), "summary",
                  R"({"samples":5,"classes":3,"nearest":[0,7],"coincide":false,"seconds":1.0,"sentence":""})")
                .find("does not fit its classes"),
            std::string::npos);
  const auto sgd = std::get<KernelSGDModel>(sgd_model(1).model);
  EXPECT_EQ(message_of([&] {
              KernelSGDModel::from_parts(sgd.kernel(), sgd.samples(), {1, 2}, sgd.dual_coef(), 1, {});
            }).find("an SGD model of 5 support vectors cannot have 2 indices"),
            0U);
  const auto mean = std::get<KernelMeanModel>(mean_model(MeanRule::nearest).model);
  EXPECT_NE(message_of([&] {
              KernelMeanModel::from_parts(mean.kernel(), MeanRule::nearest, mean.samples(), {0, 1, 2, 3, 0}, mean.weights(), mean.priors(),
                                          mean.mean_gram(), {});
            }).find("cannot have a class 3"),
            std::string::npos);
}

}  // namespace
}  // namespace mercer
