// Models of the representer solver and of kernel logistic regression through files: the same values come back, forged ones are refused.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "unit/core/support.hpp"
#include "unit/persist/models.hpp"

namespace mercer {
namespace {

using namespace mercer::testing;

const ConvexSummary summary{"Newton", "iteration limit", 7, 0.1 + 0.2, 3.5, 1e-9, 3e-9, 1e-5, 5, 0.25, 12345, "said"};

SavedModel logistic_model(Index functions) {
  return {KernelLogisticModel::from_parts(parse_kernel("gaussian(0.7)"), Samples(numbers(5, 3)), numbers(5, functions, 0.71),
                                          numbers(functions, 1, 0.2), 0.0125, summary),
          std::nullopt};
}

SavedModel representer_model(const Loss& loss) {
  return {RepresenterModel::from_parts(parse_kernel("gaussian(0.7)"), loss, Samples(numbers(5, 3)), numbers(5, 2, 0.71), numbers(2, 1, 0.2),
                                       Vector::Constant(2, 0.01), summary),
          std::nullopt};
}

void expect_same_summary(const ConvexSummary& a, const ConvexSummary& b) {
  EXPECT_EQ(a.method, b.method);
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.iterations, b.iterations);
  EXPECT_EQ(a.objective, b.objective);
  EXPECT_EQ(a.squared_norm, b.squared_norm);
  EXPECT_EQ(a.gap, b.gap);
  EXPECT_EQ(a.relative_gap, b.relative_gap);
  EXPECT_EQ(a.gradient_norm, b.gradient_norm);
  EXPECT_EQ(a.landmarks, b.landmarks);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.sentence, b.sentence);
}

TEST(ConvexModelFile, LogisticSurvives) {
  const Matrix X = numbers(9, 3, 0.5);
  for (const Index functions : {1, 3}) {
    const SavedModel model = logistic_model(functions);
    const SavedModel again = model_from_bytes(model_to_bytes(model));
    EXPECT_EQ(again.kind(), "logistic");
    EXPECT_EQ(again.predict(X), model.predict(X));
    EXPECT_EQ(again.probabilities(X), model.probabilities(X));
    EXPECT_EQ(again.probabilities(X).cols(), functions == 1 ? 2 : 3);
    EXPECT_EQ(std::get<KernelLogisticModel>(again.model).lambda(), 0.0125);
    expect_same_summary(std::get<KernelLogisticModel>(again.model).summary(), summary);
  }
}

TEST(ConvexModelFile, RepresenterSurvivesWithItsLoss) {
  const Matrix X = numbers(9, 3, 0.5);
  const Loss own = losses::custom("mine", [](const VectorRef& y, const VectorRef& z) { return losses::squared()(y, z); });
  for (const Loss& loss : {losses::quantile(0.1 + 0.2), losses::poisson(), losses::hinge(), own}) {
    const SavedModel model = representer_model(loss);
    const SavedModel again = model_from_bytes(model_to_bytes(model));
    EXPECT_EQ(again.kind(), "representer");
    EXPECT_EQ(again.predict(X), model.predict(X));
    EXPECT_EQ(std::get<RepresenterModel>(again.model).loss().text(), loss.text());
    expect_same_summary(std::get<RepresenterModel>(again.model).summary(), summary);
    EXPECT_NE(message_of([&] { again.probabilities(X); }).find("no probabilities"), std::string::npos);
  }
  const SavedModel again = model_from_bytes(model_to_bytes(representer_model(own)));
  EXPECT_NE(message_of([&] {
              std::get<RepresenterModel>(again.model).loss()(Vector::Zero(1), Vector::Zero(1));
            }).find("only predictions are possible"),
            std::string::npos);
}

TEST(ConvexModelFile, ForgedSettingsAreRefused) {
  const auto error = [](const SavedModel& model, const char* key, const char* value) {
    Parts parts = take_apart(model_to_bytes(model));
    parts.header["__metadata__"][key] = value;
    return message_of([&] { model_from_bytes(forge(parts)); });
  };
  EXPECT_NE(error(representer_model(losses::squared()), "options", R"({"loss":"hugs"})").find("is not a loss"), std::string::npos);
  EXPECT_NE(error(representer_model(losses::squared()), "options", R"x({"loss":"quantile(7)"})x").find("between 0 and 1"),
            std::string::npos);
  EXPECT_NE(error(logistic_model(1), "options", R"({"lambda":-1.0})").find("lambda is not positive"), std::string::npos);
  EXPECT_NE(error(logistic_model(1), "summary", "{}").find("missing or has the wrong type"), std::string::npos);
  EXPECT_EQ(message_of([] {
              KernelLogisticModel::from_parts(parse_kernel("linear"), Samples(numbers(4, 2)), numbers(4, 2), numbers(2, 1), 1, {});
            }).find("a logistic model of 4 samples"),
            0U);
}

}  // namespace
}  // namespace mercer
