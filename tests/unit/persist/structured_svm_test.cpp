// Machines with structured outputs in files.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/structured_svm.hpp"

#include <gtest/gtest.h>

#include "mercer/error.hpp"
#include "mercer/model_file.hpp"
#include "mercer/random.hpp"
#include "unit/core/support.hpp"

namespace mercer {
namespace {

std::vector<Index> labels_of(Index rows, Index classes) {
  std::vector<Index> labels;
  for (Index i = 0; i < rows; ++i) labels.push_back(i % classes);
  return labels;
}

void expect_equal(const StructuredSvmSummary& x, const StructuredSvmSummary& y) {
  EXPECT_EQ(x.status, y.status);
  EXPECT_EQ(x.passes, y.passes);
  EXPECT_EQ(x.searches, y.searches);
  EXPECT_EQ(x.objective, y.objective);
  EXPECT_EQ(x.dual, y.dual);
  EXPECT_EQ(x.gap, y.gap);
  EXPECT_EQ(x.relative_gap, y.relative_gap);
  EXPECT_EQ(x.planes, y.planes);
  EXPECT_EQ(x.support_vectors, y.support_vectors);
  EXPECT_EQ(x.missed, y.missed);
  EXPECT_EQ(x.seconds, y.seconds);
  EXPECT_EQ(x.bytes, y.bytes);
  EXPECT_EQ(x.sentence, y.sentence);
}

SavedModel again(const StructuredSvmModel& model) {
  const SavedModel back = model_from_bytes(model_to_bytes({model, std::nullopt}));
  EXPECT_EQ(back.kind(), "structured");
  EXPECT_EQ(back.width(), model.n_features());
  EXPECT_EQ(back.n_targets(), model.n_targets());
  const auto& read = std::get<StructuredSvmModel>(back.model);
  EXPECT_EQ(read.form(), model.form());
  EXPECT_EQ(read.parts().C, model.parts().C);
  EXPECT_EQ(read.parts().coef, model.parts().coef);
  EXPECT_EQ(read.parts().support, model.parts().support);
  EXPECT_EQ(read.kernel().text(), model.kernel().text());
  EXPECT_EQ(read.intercept(), model.intercept());
  expect_equal(read.summary(), model.summary());
  return back;
}

TEST(ModelFile, StructuredSvmSurvives) {
  const Matrix X = RandomStream(1).normal_matrix(60, 3);
  for (const Kernel& kernel : {kernels::linear(), kernels::gaussian(1.5)}) {
    for (const Index classes : {2, 4}) {
      const auto model = fit_multiclass_svm(X, labels_of(60, classes), {.kernel = kernel, .C = 0.3});
      const SavedModel back = again(model);
      EXPECT_EQ(back.predict(X), model.decision(X));
      EXPECT_EQ(back.classes(X), model.classes(X));
      EXPECT_THROW(back.probabilities(X), NotOffered);
    }
  }
  const std::vector<Index> offsets{0, 7, 30, 60};
  const auto chain = fit_chain_svm(X, offsets, labels_of(60, 3)).with_sequence_column("sentence");
  const SavedModel saved_chain = again(chain);
  const auto& read = std::get<StructuredSvmModel>(saved_chain.model);
  EXPECT_EQ(read.parts().sequence_column, "sentence");
  EXPECT_EQ(read.parts().transition, chain.parts().transition);
  EXPECT_EQ(read.label_sequences(X, offsets), chain.label_sequences(X, offsets));
  EXPECT_EQ(saved_chain.classes(X), chain.label_sequences(X, {0, 60}));
  RowMatrix<Index> ranks(60, 4);
  for (Index i = 0; i < 60; ++i) {
    for (Index l = 0; l < 4; ++l) ranks(i, l) = (l + i) % 4;
  }
  const auto ranking = fit_ranking_svm(X, ranks);
  EXPECT_EQ(std::get<StructuredSvmModel>(again(ranking).model).ranks(X), ranking.ranks(X));
}

TEST(ModelFile, StructuredSvmThatDoesNotFitTogetherIsRefused) {
  const Matrix X = RandomStream(2).normal_matrix(30, 3);
  const auto chain = fit_chain_svm(X, {0, 30}, labels_of(30, 2));
  const auto refused = [&](const auto& change) {
    StructuredSvmModel::Parts parts = chain.parts();
    change(parts);
    return testing::message_of<InvalidArgument>([&] { StructuredSvmModel::from_parts(parts, {}); });
  };
  EXPECT_EQ(refused([](auto&) {}), "(no exception)");
  EXPECT_EQ(refused([](auto& p) { p.start = Vector::Zero(3); }),
            "a chain machine of 2 labels and 0 support vectors cannot have 2 x 3 coefficients, 2 x 2 transitions, 3 starts and 2 ends");
  EXPECT_NE(refused([](auto& p) { p.coef = Matrix::Zero(3, 3); }), "(no exception)");
  EXPECT_NE(refused([](auto& p) { p.form = StructuredForm::ranking; }), "(no exception)");
  EXPECT_NE(refused([&](auto& p) { p.samples = X; }), "(no exception)");
  EXPECT_NE(refused([](auto& p) { p.intercept = Vector::Zero(1); }), "(no exception)");
}

}  // namespace
}  // namespace mercer
