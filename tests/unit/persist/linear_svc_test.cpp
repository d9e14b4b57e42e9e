// Linear support vector machines in files.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/linear_svc.hpp"

#include <gtest/gtest.h>

#include "mercer/error.hpp"
#include "mercer/model_file.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

LinearSvcModel make_model(Index classes, const Matrix& X) {
  std::vector<Index> labels;
  for (Index i = 0; i < X.rows(); ++i) labels.push_back(i % classes);
  LinearSvcOptions o;
  o.loss = LinearSvcOptions::Loss::hinge;
  o.C = 0.3;
  return fit_linear_svc(X, labels, o);
}

TEST(ModelFile, LinearSvcSurvives) {
  const Matrix X = RandomStream(1).normal_matrix(60, 3);
  for (const Index classes : {2, 4}) {
    const LinearSvcModel model = make_model(classes, X);
    const SavedModel back = model_from_bytes(model_to_bytes({model, std::nullopt}));
    EXPECT_EQ(back.kind(), "linear-svc");
    EXPECT_EQ(back.width(), 3);
    EXPECT_EQ(back.n_targets(), classes == 2 ? 1 : classes);
    const auto& again = std::get<LinearSvcModel>(back.model);
    EXPECT_EQ(again.coef(), model.coef());
    EXPECT_EQ(again.intercept(), model.intercept());
    EXPECT_EQ(again.loss(), LinearSvcOptions::Loss::hinge);
    EXPECT_EQ(again.C(), 0.3);
    EXPECT_EQ(again.classes(), classes);
    const LinearSvcSummary& x = model.summary();
    const LinearSvcSummary& y = again.summary();
    EXPECT_EQ(y.sentence, x.sentence);
    EXPECT_EQ(y.method, x.method);
    EXPECT_EQ(y.status, x.status);
    EXPECT_EQ(y.iterations, x.iterations);
    EXPECT_EQ(y.objective, x.objective);
    EXPECT_EQ(y.gap, x.gap);
    EXPECT_EQ(y.relative_gap, x.relative_gap);
    EXPECT_EQ(y.support_vectors, x.support_vectors);
    EXPECT_EQ(y.seconds, x.seconds);
    EXPECT_EQ(y.bytes, x.bytes);
    EXPECT_EQ(back.predict(X), model.decision(X));
    EXPECT_THROW(back.probabilities(X), NotOffered);
  }
}

TEST(ModelFile, LinearSvcThatDoesNotFitTogetherIsRefused) {
  const LinearSvcModel m = make_model(2, RandomStream(1).normal_matrix(60, 3));
  const auto refused = [&](const Matrix& coef, const Vector& intercept) {
    return testing::message_of<InvalidArgument>([&] { LinearSvcModel::from_parts(coef, intercept, m.loss(), 1, {}); });
  };
  EXPECT_EQ(refused(m.coef(), Vector::Zero(3)), "a linear SVM with 3 intercepts cannot have 1 x 3 coefficients");
  EXPECT_EQ(refused(Matrix::Zero(2, 3), Vector::Zero(2)), "a linear SVM with 2 intercepts cannot have 2 x 3 coefficients");
  EXPECT_EQ(refused(Matrix::Zero(1, 0), Vector::Zero(1)), "a linear SVM with 1 intercepts cannot have 1 x 0 coefficients");
}

}  // namespace
}  // namespace mercer
