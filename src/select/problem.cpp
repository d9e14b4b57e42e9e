// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "mercer/error.hpp"
#include "mercer/labels.hpp"
#include "mercer/metrics.hpp"
#include "mercer/random.hpp"
#include "select/search.hpp"

namespace mercer {

namespace {

// A class in proportion may be one that is not there at all: some rows of it, where it has them.
std::vector<Index> with_rare_classes(std::vector<Index> rows, const Vector& y) {
  constexpr Index enough = 5;
  std::map<double, Index> taken;
  for (const Index i : rows) ++taken[y[i]];
  const std::set<Index> known(rows.begin(), rows.end());
  for (Index i = 0; i < y.size(); ++i) {
    if (taken[y[i]] >= enough || known.count(i) > 0) continue;
    ++taken[y[i]];
    rows.push_back(i);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace

Problem Problem::subset(std::span<const Index> rows) const {
  Problem part{X.subset(rows), Vector(static_cast<Index>(rows.size())), classes, {}, time_ordered};
  for (std::size_t i = 0; i < rows.size(); ++i) part.y[static_cast<Index>(i)] = y[rows[i]];
  if (!groups.empty()) {
    for (const Index i : rows) part.groups.push_back(groups[static_cast<std::size_t>(i)]);
  }
  return part;
}

std::vector<Index> Problem::sample_rows(Index most, std::uint64_t seed) const {
  const Index n = X.size();
  if (n > most && !time_ordered && classification())
    return with_rare_classes(stratified_holdout(class_indices(y), static_cast<double>(most) / static_cast<double>(n), seed).test, y);
  if (n > most && !time_ordered) {
    std::vector<Index> rows = RandomStream(seed, 1).sample(n, most);
    std::sort(rows.begin(), rows.end());
    return rows;
  }
  std::vector<Index> rows(static_cast<std::size_t>(std::min(n, most)));
  std::iota(rows.begin(), rows.end(), n - std::ssize(rows));
  return rows;
}

Problem Problem::sample(Index most, std::uint64_t seed) const {
  if (X.size() <= most) return *this;
  return subset(sample_rows(most, seed));
}

Matrix Problem::targets() const { return classification() ? score_targets(y, n_classes()) : Matrix(y); }

Problem Problem::sample_for_folds(Index most, Index k, std::uint64_t sample_seed, std::uint64_t fold_seed) const {
  Problem part = sample(most, sample_seed);
  return part.useful_folds(k, fold_seed).empty() ? *this : part;
}

std::vector<Fold> Problem::folds(Index k, std::uint64_t seed) const {
  std::vector<Fold> all = useful_folds(k, seed);
  if (!all.empty()) return all;
  if (!groups.empty() && std::set<Index>(groups.begin(), groups.end()).size() < 2)
    throw InvalidArgument("all training rows are in one group: nothing can be compared; split without groups");
  throw InvalidArgument(fmt::format("the training part of every fold has one class alone: {}",
                                    time_ordered      ? "the others come too late for folds that look ahead only"
                                    : !groups.empty() ? "each of the others is in few groups; split without groups"
                                                      : "give more rows of the rare class"));
}

std::vector<Fold> Problem::useful_folds(Index k, std::uint64_t seed) const {
  if (!groups.empty() && std::set<Index>(groups.begin(), groups.end()).size() < 2) return {};
  std::vector<Fold> all = any_folds(k, seed);
  if (!classification()) return all;
  // Where a class is rare, or comes late, a fold may have nothing to tell apart.
  std::erase_if(all, [&](const Fold& fold) {
    return std::all_of(fold.train.begin(), fold.train.end(), [&](Index i) { return y[i] == y[fold.train.front()]; });
  });
  return all;
}

std::vector<Fold> Problem::any_folds(Index k, std::uint64_t seed) const {
  if (time_ordered) return time_folds(X.size(), k);
  if (!groups.empty()) {
    const auto known = std::ssize(std::set<Index>(groups.begin(), groups.end()));
    return grouped_folds(groups, std::min(k, known), seed);
  }
  if (!classification()) return k_folds(X.size(), k, true, seed);
  const std::vector<Index> labels = class_indices(y);
  // A class with a single member cannot be on both sides of any fold: then chance decides where it lies.
  std::vector<Index> members(classes.size());
  for (const Index c : labels) ++members[static_cast<std::size_t>(c)];
  const bool lonely = std::find(members.begin(), members.end(), 1) != members.end();
  return lonely ? k_folds(X.size(), k, true, seed) : stratified_folds(labels, k, true, seed);
}

PresentClasses Problem::present_classes() const {
  std::vector<Index> count(classes.size());
  for (const double c : y) ++count[static_cast<std::size_t>(c)];
  PresentClasses present{{}, *this};
  std::vector<double> place(count.size());
  present.problem.classes.clear();
  for (std::size_t c = 0; c < count.size(); ++c) {
    if (count[c] == 0) continue;
    place[c] = static_cast<double>(present.classes.size());
    present.classes.push_back(static_cast<Index>(c));
    present.problem.classes.push_back(classes[c]);
  }
  for (double& c : present.problem.y) c = place[static_cast<std::size_t>(c)];
  return present;
}

Samples dense_where_full(const Samples& X) {
  if (!X.is_sparse() || X.has_objects()) return X;
  const auto filled = std::visit(
      []<class Rows>(const Rows& rows) {
        if constexpr (requires { rows.nonzeros(); }) {
          return static_cast<double>(rows.nonzeros());
        } else {
          return 0.0;
        }
      },
      X.storage());
  return filled > 0.5 * static_cast<double>(X.size()) * static_cast<double>(X.width()) ? Samples(X.to_dense()) : X;
}

Vector answers(const SavedModel& model, const Samples& X, bool classification, const Run& run) {
  if (!classification) return model.predict(X, run).col(0);
  const std::vector<Index> classes = model.classes(X, run);
  Vector out(std::ssize(classes));
  for (std::size_t i = 0; i < classes.size(); ++i) out[static_cast<Index>(i)] = static_cast<double>(classes[i]);
  return out;
}

double spread_of(const Vector& y) {
  const double deviation = std::sqrt((y.array() - y.mean()).square().mean());
  return deviation > 0 ? deviation : 1;
}

double score_of(const Vector& truth, const Vector& predicted, bool classification) {
  if (!classification) return root_mean_squared_error(truth, predicted);
  return (truth.array() == predicted.array()).cast<double>().mean();
}

}  // namespace mercer
