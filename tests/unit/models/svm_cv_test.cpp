// Tuned support vector machines against plain loops of fits on the rows of each fold.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/svm_cv.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mercer/error.hpp"
#include "mercer/metrics.hpp"
#include "mercer/random.hpp"

namespace mercer {
namespace {

struct Data {
  Samples X;
  Matrix rows;
  std::vector<Index> labels;
  Vector y;
};

// Classes by angle of the first two of three columns, with noise; a smooth target beside them.
Data data(Index n, Index classes, std::uint64_t seed = 3) {
  RandomStream rng(seed);
  Data out;
  out.rows.resize(n, 3);
  out.y.resize(n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < 3; ++j) out.rows(i, j) = rng.normal();
    const double angle = std::atan2(out.rows(i, 1) + 0.3 * rng.normal(), out.rows(i, 0)) + 3.14159265;
    out.labels.push_back(std::min<Index>(classes - 1, static_cast<Index>(angle / 6.2831854 * static_cast<double>(classes))));
    out.y[i] = std::sin(2 * out.rows(i, 0)) + 0.5 * out.rows(i, 1) + 0.1 * rng.normal();
  }
  out.X = Samples(out.rows);
  return out;
}

const std::vector<Kernel> three{kernels::gaussian(0.3), kernels::gaussian(1), kernels::gaussian(4)};
const SvmSolver precise{.tolerance = 1e-6, .precision = Precision::float64};

std::vector<Index> part(const std::vector<Index>& labels, const std::vector<Index>& rows) {
  std::vector<Index> out;
  for (const Index i : rows) out.push_back(labels[static_cast<std::size_t>(i)]);
  return out;
}

// Every score of the table is that of a model fitted on the training rows alone, within `slack` samples of the test part.
void expect_scores(const Data& d, const SvcCvOptions& o, const SvcCvResult& found, const std::vector<Fold>& folds, double slack) {
  ASSERT_EQ(found.table.size(), o.C.size() * o.kernels.size());
  for (const SvmCandidate& c : found.table) {
    for (std::size_t f = 0; f < folds.size(); ++f) {
      const double score = c.fold_scores[static_cast<Index>(f)];
      if (std::isnan(score)) continue;
      const Vector weight = o.sample_weight.size() > 0 ? Vector(o.sample_weight(folds[f].train)) : Vector();
      const SvcModel model = fit_svc(d.X.subset(folds[f].train), part(d.labels, folds[f].train),
                                     {.kernel = o.kernels[static_cast<std::size_t>(c.kernel)],
                                      .C = c.C,
                                      .sample_weight = weight,
                                      .multi_class = o.multi_class,
                                      .solver = precise});
      const std::vector<Index> guess = model.classes(d.X.subset(folds[f].test));
      double expected = 0;
      double total = 0;
      for (std::size_t i = 0; i < guess.size(); ++i) {
        const Index at = folds[f].test[i];
        const double w = o.sample_weight.size() > 0 ? o.sample_weight[at] : 1;
        total += w;
        expected += guess[i] == d.labels[static_cast<std::size_t>(at)] ? w : 0;
      }
      expected /= total;
      EXPECT_LE(std::abs(score - expected), slack / static_cast<double>(folds[f].test.size()) + 1e-12)
          << "C " << c.C << " kernel " << c.kernel;
    }
  }
}

TEST(SvcCv, ScoresAreThoseOfFitsOnTheTrainingRows) {
  for (const Index classes : {2, 4}) {
    const Data d = data(160, classes);
    for (const MultiClass way : {MultiClass::one_vs_one, MultiClass::one_vs_rest}) {
      const SvcCvOptions o{.kernels = three, .C = {100, 0.5, 5}, .abandon = false, .multi_class = way, .solver = precise};
      expect_scores(d, o, fit_svc_cv(d.X, d.labels, o), stratified_folds(d.labels, 5, false), 0);
    }
  }
}

TEST(SvcCv, TheUsualToleranceMovesBorderlineSamplesOnly) {
  const Data d = data(300, 3);
  const SvcCvOptions o{.kernels = three, .C = {0.1, 1, 10, 100}, .abandon = false};
  expect_scores(d, o, fit_svc_cv(d.X, d.labels, o), stratified_folds(d.labels, 5, false), 1);
}

TEST(SvcCv, WeightsAndGivenFolds) {
  Data d = data(150, 2);
  Vector weight(150);
  for (Index i = 0; i < 150; ++i) weight[i] = i % 7 == 0 ? 0 : 0.5 + static_cast<double>(i % 3);
  const std::vector<Fold> folds = time_folds(150, 4);  // whose parts do not cover all samples
  const SvcCvOptions o{.kernels = three, .C = {1, 10}, .folds = folds, .abandon = false, .sample_weight = weight, .solver = precise};
  std::vector<Fold> without = folds;  // zero weights leave samples out
  for (Fold& fold : without) std::erase_if(fold.train, [&](Index i) { return weight[i] == 0; });
  expect_scores(d, o, fit_svc_cv(d.X, d.labels, o), without, 0);
}

TEST(SvcCv, TheBestIsRefittedOnAllRows) {
  const Data d = data(200, 2);
  const SvcCvResult found = fit_svc_cv(d.X, d.labels, {.kernels = three, .C = {0.1, 1, 10}});
  const SvmCandidate& best = found.table[found.best];
  for (const SvmCandidate& c : found.table) EXPECT_FALSE(c.mean > best.mean);
  const SvcModel same = fit_svc(d.X, d.labels, {.kernel = three[static_cast<std::size_t>(best.kernel)], .C = best.C});
  EXPECT_EQ((found.model.decision(d.X) - same.decision(d.X)).cwiseAbs().maxCoeff(), 0);
  EXPECT_NE(found.summary.sentence.find("best of 9 candidates"), std::string::npos);
}

TEST(SvcCv, AbandoningNeverChangesTheChoiceNorAScore) {
  Index abandoned = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Data d = data(120, seed % 2 == 0 ? 2 : 3, seed);
    SvcCvOptions o{.kernels = {kernels::gaussian(0.02), kernels::gaussian(0.3), kernels::gaussian(2), kernels::gaussian(50)},
                   .C = {0.01, 1, 100},
                   .score = seed % 3 == 0 ? SvcScore::balanced_accuracy : SvcScore::accuracy};
    const SvcCvResult some = fit_svc_cv(d.X, d.labels, o);
    o.abandon = false;
    const SvcCvResult all = fit_svc_cv(d.X, d.labels, o);
    EXPECT_EQ(some.best, all.best) << seed;
    EXPECT_EQ(all.summary.abandoned, 0);
    abandoned += some.summary.abandoned;
    for (std::size_t k = 0; k < all.table.size(); ++k) {
      EXPECT_EQ(some.table[k].abandoned, std::isnan(some.table[k].mean));
      if (some.table[k].abandoned) {
        EXPECT_LT(all.table[k].mean, all.table[all.best].mean);
      }
      for (Index f = 0; f < 5; ++f) {
        const double score = some.table[k].fold_scores[f];
        if (!std::isnan(score)) {
          EXPECT_EQ(score, all.table[k].fold_scores[f]);
        }
      }
    }
  }
  EXPECT_GT(abandoned, 10);
}

TEST(SvcCv, NothingDependsOnTheThreads) {
  const Data d = data(400, 3);
  SvcCvOptions o{.kernels = three, .C = {1, 10, 100}};
  o.run.threads = 1;
  const SvcCvResult one = fit_svc_cv(d.X, d.labels, o);
  o.run.threads = 2;
  const SvcCvResult two = fit_svc_cv(d.X, d.labels, o);
  o.run.memory = 400 * 400 * 4 * 4;  // less than all matrices need: one after the other
  const SvcCvResult little = fit_svc_cv(d.X, d.labels, o);
  for (const SvcCvResult* other : {&two, &little}) {
    EXPECT_EQ(one.best, other->best);
    EXPECT_EQ(one.summary.iterations, other->summary.iterations);
    for (std::size_t k = 0; k < one.table.size(); ++k) {
      for (Index f = 0; f < 5; ++f) {
        const double a = one.table[k].fold_scores[f];
        const double b = other->table[k].fold_scores[f];
        EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b)));
      }
    }
  }
}

TEST(SvcCv, GroupsStayTogether) {
  const Data d = data(120, 2);
  std::vector<Index> groups(120);
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<Index>(i) % 9;
  const SvcCvOptions o{.kernels = {three[1]}, .C = {1, 10}, .cv = 3, .groups = groups, .abandon = false, .solver = precise};
  expect_scores(d, o, fit_svc_cv(d.X, d.labels, o), grouped_folds(groups, 3), 0);
}

TEST(SvcCv, BadInputIsRefused) {
  const Data d = data(40, 2);
  const auto fit = [&](const SvcCvOptions& o) { return fit_svc_cv(d.X, d.labels, o); };
  EXPECT_THROW(fit({.C = {}}), InvalidArgument);
  EXPECT_THROW(fit({.C = {1, -1}}), InvalidArgument);
  EXPECT_THROW(fit({.C = {1, std::nan("")}}), InvalidArgument);
  EXPECT_THROW(fit({.kernels = {}}), InvalidArgument);
  EXPECT_THROW(fit({.cv = 1}), InvalidArgument);
  EXPECT_THROW(fit({.groups = {0, 1}}), InvalidArgument);
  EXPECT_THROW(fit({.folds = {{{0, 1}, {1, 2}}}}), InvalidArgument);
  EXPECT_THROW(fit({.folds = {{{0, 1}, {40}}}}), InvalidArgument);
  EXPECT_THROW(fit({.balanced = true, .class_weight = Vector::Ones(2)}), InvalidArgument);
  EXPECT_THROW(fit_svc_cv(d.X, std::vector<Index>(40, 0)), InvalidArgument);
  EXPECT_THROW(fit_svc_cv(d.X, {0, 1}), InvalidArgument);
  std::vector<Index> sorted(40, 0);
  std::fill(sorted.begin() + 20, sorted.end(), 1);
  EXPECT_THROW(fit_svc_cv(d.X, sorted, {.folds = k_folds(40, 2, false)}), InvalidArgument);  // one class to learn from
}

TEST(SvrCv, ScoresAreThoseOfFitsOnTheTrainingRows) {
  const Data d = data(150, 2);
  const std::vector<Fold> folds = k_folds(150, 5, false);
  for (const SvrScore score : {SvrScore::r2, SvrScore::mean_squared_error, SvrScore::mean_absolute_error}) {
    const SvrCvOptions o{.kernels = three, .C = {10, 0.5}, .epsilon = {0.1, 0}, .score = score, .abandon = false, .solver = precise};
    const SvrCvResult found = fit_svr_cv(d.X, d.y, o);
    ASSERT_EQ(found.table.size(), 12U);
    for (const SvmCandidate& c : found.table) {
      for (std::size_t f = 0; f < folds.size(); ++f) {
        const SvrModel model =
            fit_svr(d.X.subset(folds[f].train), d.y(folds[f].train),
                    {.kernel = three[static_cast<std::size_t>(c.kernel)], .C = c.C, .epsilon = c.epsilon, .solver = precise});
        const Vector guess = model.predict(d.X.subset(folds[f].test)).col(0);
        const Vector truth = d.y(folds[f].test);
        const double expected = score == SvrScore::r2                   ? r2_score(truth, guess)
                                : score == SvrScore::mean_squared_error ? -mean_squared_error(truth, guess)
                                                                        : -mean_absolute_error(truth, guess);
        EXPECT_NEAR(c.fold_scores[static_cast<Index>(f)], expected, 1e-5);
      }
    }
  }
}

TEST(SvrCv, AbandoningNeverChangesTheChoice) {
  for (const SvrScore score : {SvrScore::r2, SvrScore::mean_squared_error}) {
    const Data d = data(150, 2);
    SvrCvOptions o{.kernels = {kernels::gaussian(0.05), kernels::gaussian(1), kernels::gaussian(40)}, .C = {0.1, 10}, .score = score};
    const SvrCvResult some = fit_svr_cv(d.X, d.y, o);
    o.abandon = false;
    const SvrCvResult all = fit_svr_cv(d.X, d.y, o);
    EXPECT_EQ(some.best, all.best);
    EXPECT_GT(some.summary.abandoned, 0);
    EXPECT_EQ(some.table[some.best].mean, all.table[all.best].mean);
  }
}

}  // namespace
}  // namespace mercer
