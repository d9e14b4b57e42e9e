// What a fitted support vector classifier answers.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gram/row_evaluator.hpp"
#include "mercer/error.hpp"
#include "mercer/svm.hpp"
#include "models/convex_fit.hpp"
#include "models/platt.hpp"
#include "models/svc_votes.hpp"

namespace mercer {

namespace {

// Probabilities so near 0 and 1 would make the coupling singular.
double inside(double p) { return std::clamp(p, 1e-7, 1 - 1e-7); }

}  // namespace

SvcModel SvcModel::from_parts(Parts parts) {
  const SupportExpansion& e = parts.expansion;
  const auto k = std::ssize(parts.n_support);
  const bool pairs = by_pairs(parts.multi_class, k);
  const Index functions = function_count(parts.multi_class, k);
  const Index columns = pairs ? k - 1 : functions;
  Index vectors = 0;
  bool valid = k >= 2;
  for (const Index count : parts.n_support) {
    valid = valid && count >= 0 && count <= e.vectors.size();
    vectors += valid ? count : 0;
  }
  valid = valid && vectors == e.vectors.size() && e.coef.rows() == vectors && e.coef.cols() == columns && e.intercept.size() == functions &&
          std::ssize(e.support) == vectors && (parts.squared_norm.size() == functions || parts.squared_norm.size() == 0) &&
          (parts.sigmoids.rows() == 0 || (parts.sigmoids.rows() == functions && parts.sigmoids.cols() == 2));
  if (!valid) {
    throw InvalidArgument(
        fmt::format("a support vector classifier of {} classes and {} support vectors cannot have {} x {} coefficients and "
                    "{} intercepts",
                    k, e.vectors.size(), e.coef.rows(), e.coef.cols(), e.intercept.size()));
  }
  SvcModel model;
  model.parts_ = std::move(parts.expansion);
  model.n_support_ = std::move(parts.n_support);
  model.multi_class_ = parts.multi_class;
  model.break_ties_ = parts.break_ties;
  model.squared_norm_ = std::move(parts.squared_norm);
  model.sigmoids_ = std::move(parts.sigmoids);
  model.summary_ = std::move(parts.summary);
  model.setting_ = parts.setting;
  model.row_ = RowEvaluator::make(model.parts_.kernel, model.parts_.vectors);
  return model;
}

// Pairs by the support vectors of one class at a time: k - 1 sums each, which then go to their pairs.
Matrix SvcModel::decision(const Samples& X, const Run& run) const {
  const SupportExpansion& e = parts_;
  if (!by_pairs(multi_class_, n_classes())) return expansion_at(e.kernel, e.vectors, e.coef, e.intercept, X, run);
  Matrix f = e.intercept.transpose().replicate(X.size(), 1);
  const Vector zero = Vector::Zero(e.coef.cols());
  Index first = 0;
  for (Index c = 0; c < n_classes(); ++c) {
    const Index count = n_support_[static_cast<std::size_t>(c)];
    if (count > 0) {
      const Matrix part = expansion_at(e.kernel, e.vectors.slice(first, count), e.coef.middleRows(first, count), zero, X, run);
      for_pairs(n_classes(), [&](Index pair, Index a, Index b) {
        if (a == c) f.col(pair) += part.col(b - 1);
        if (b == c) f.col(pair) += part.col(a);
      });
    }
    first += count;
  }
  return f;
}

void SvcModel::decision_row(std::span<const double> x, std::span<double> out) const {
  const SupportExpansion& e = parts_;
  if (std::ssize(x) != e.vectors.width())
    throw InvalidArgument(fmt::format("x has {} numbers, the model was fitted on {} columns", x.size(), e.vectors.width()));
  if (std::ssize(out) != functions()) throw InvalidArgument(fmt::format("out has {} places for {} functions", out.size(), functions()));
  if (row_ == nullptr) {
    const Matrix row = Eigen::Map<const Matrix>(x.data(), 1, std::ssize(x));
    Eigen::Map<Eigen::RowVectorXd>(out.data(), functions()) = decision(Samples(row));
    return;
  }
  const std::span<const double> k = row_->values(x);
  std::copy(e.intercept.begin(), e.intercept.end(), out.begin());
  if (!by_pairs(multi_class_, n_classes())) {
    Eigen::Map<Vector>(out.data(), functions()) += e.coef.transpose() * Eigen::Map<const Vector>(k.data(), std::ssize(k));
    return;
  }
  Index first = 0;
  for (Index c = 0; c < n_classes(); ++c) {
    const Index count = n_support_[static_cast<std::size_t>(c)];
    const Eigen::Map<const Vector> values(k.data() + first, count);
    for_pairs(n_classes(), [&](Index pair, Index a, Index b) {
      if (a == c) out[static_cast<std::size_t>(pair)] += e.coef.col(b - 1).segment(first, count).dot(values);
      if (b == c) out[static_cast<std::size_t>(pair)] += e.coef.col(a).segment(first, count).dot(values);
    });
    first += count;
  }
}

Matrix SvcModel::scores(const Samples& X, const Run& run) const { return scores_of(decision(X, run)); }

std::vector<Index> SvcModel::classes(const Samples& X, const Run& run) const { return classes_of(decision(X, run)); }

Matrix SvcModel::probabilities(const Samples& X, const Run& run) const {
  require_probabilities();  // before the work
  return probabilities_of(decision(X, run));
}

void SvcModel::require_probabilities() const {
  if (!has_probabilities())
    throw NotOffered("this classifier was fitted without probabilities: fit it with probability = true (--proba on the command line)");
}

void SvcModel::require_functions(const Matrix& f) const {
  if (f.cols() != functions())
    throw InvalidArgument(fmt::format("decision values have {} columns, the model has {} functions", f.cols(), functions()));
}

Matrix SvcModel::scores_of(const Matrix& f) const {
  require_functions(f);
  return by_pairs(multi_class_, n_classes()) ? pair_scores(f, n_classes()) : f;
}

std::vector<Index> SvcModel::classes_of(const Matrix& f) const {
  require_functions(f);
  return has_probabilities() ? largest_columns(probabilities_of(f)) : chosen_classes(f, n_classes(), multi_class_, break_ties_);
}

Matrix SvcModel::probabilities_of(const Matrix& f) const {
  require_probabilities();
  require_functions(f);
  const Index k = n_classes();
  const auto p = [&](Index i, Index m) { return Sigmoid{sigmoids_(m, 0), sigmoids_(m, 1)}(f(i, m)); };
  Matrix out(f.rows(), k);
  for (Index i = 0; i < f.rows(); ++i) {
    if (k == 2) {
      out(i, 1) = p(i, 0);
      out(i, 0) = 1 - out(i, 1);
    } else if (by_pairs(multi_class_, k)) {
      Matrix r = Matrix::Zero(k, k);
      for_pairs(k, [&](Index pair, Index a, Index b) {
        r(a, b) = inside(p(i, pair));
        r(b, a) = 1 - r(a, b);
      });
      out.row(i) = couple_pairs(r).transpose();
    } else {
      for (Index c = 0; c < k; ++c) out(i, c) = inside(p(i, c));
      out.row(i) /= out.row(i).sum();
    }
  }
  return out;
}

Matrix SvcModel::coefficients(Index n) const {
  for (const Index row : parts_.support) {
    if (row < 0 || row >= n) throw InvalidArgument(fmt::format("support vector {} is not among {} training rows", row, n));
  }
  Matrix out = Matrix::Zero(n, functions());
  Index first = 0;
  for (Index c = 0; c < n_classes(); ++c) {
    for (Index s = first; s < first + n_support_[static_cast<std::size_t>(c)]; ++s) {
      const Index row = parts_.support[static_cast<std::size_t>(s)];
      if (by_pairs(multi_class_, n_classes())) {
        for_pairs(n_classes(), [&](Index pair, Index a, Index b) {
          if (a == c) out(row, pair) = parts_.coef(s, b - 1);
          if (b == c) out(row, pair) = parts_.coef(s, a);
        });
      } else {
        out.row(row) = parts_.coef.row(s);
      }
    }
    first += n_support_[static_cast<std::size_t>(c)];
  }
  return out;
}

Vector slacks(const SvcModel& model, const Samples& X, const std::vector<Index>& labels, const Run& run) {
  if (model.n_classes() != 2) throw InvalidArgument(fmt::format("slacks are of two classes, the model has {}", model.n_classes()));
  if (static_cast<Index>(labels.size()) != X.size())
    throw InvalidArgument(fmt::format("X has {} samples but y has {}", X.size(), labels.size()));
  Vector out = model.decision(X, run).col(0);
  for (Index i = 0; i < out.size(); ++i) out[i] = std::max(0.0, 1 - (labels[static_cast<std::size_t>(i)] == 1 ? out[i] : -out[i]));
  return out;
}

}  // namespace mercer
