// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/explicit_maps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <variant>

#include "gram/tiling.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

constexpr int most_degrees = 100;

void require_degrees(const MonomialOptions& o) {
  if (o.min_degree < 0 || o.max_degree < std::max(o.min_degree, 1) || o.max_degree > most_degrees)
    throw InvalidArgument(fmt::format("degrees must be whole numbers with 0 <= min <= max and 1 <= max <= {}, got {} to {}", most_degrees,
                                      o.min_degree, o.max_degree));
}

double count_of_degree(double width, int r, bool ordered) {
  if (ordered) return std::pow(width, r);
  double count = 1;  // binomial(width + r - 1, r)
  for (int k = 1; k <= r; ++k) count *= (width + k - 1) / k;
  return std::round(count);
}

double columns_between(Index width, int low, int high, bool ordered) {
  double sum = 0;
  for (int r = low; r <= high; ++r) sum += count_of_degree(static_cast<double>(width), r, ordered);
  return sum;
}

// Every monomial up to the highest degree: a factor times one of a degree less. Entry 0 is the constant.
struct Recipe {
  std::vector<Index> parent{-1};
  std::vector<Index> factor{-1};
  std::vector<double> multiplicity{1};  // the multinomial coefficient
  std::size_t first = 0;                // of those that are wanted
};

Recipe recipe_for(Index width, const MonomialOptions& o) {
  const bool ordered = o.weighting == MonomialWeighting::ordered;
  Recipe recipe;
  std::vector<int> run{0};  // how often the first factor stands in front
  std::size_t begin = 0;    // the monomials of the degree before
  for (int r = 1; r <= o.max_degree; ++r) {
    const std::size_t end = recipe.parent.size();
    if (r == o.min_degree) recipe.first = end;
    for (Index j = 0; j < width; ++j) {
      for (std::size_t c = begin; c < end; ++c) {
        if (!ordered && recipe.factor[c] != -1 && recipe.factor[c] < j) continue;
        run.push_back(recipe.factor[c] == j ? run[c] + 1 : 1);
        recipe.parent.push_back(static_cast<Index>(c));
        recipe.factor.push_back(j);
        recipe.multiplicity.push_back(recipe.multiplicity[c] * r / run.back());
      }
    }
    begin = end;
  }
  return recipe;
}

void require_columns(Index rows, Index width, const MonomialOptions& o) {
  const bool ordered = o.weighting == MonomialWeighting::ordered;
  const double columns = monomial_columns(width, o);
  const std::string what = fmt::format("{:.6g} {} of degree {} to {} of {} columns", columns, ordered ? "ordered products" : "monomials",
                                       o.min_degree, o.max_degree, width);
  // The recipe, 32 bytes an entry, and the answer.
  const double bytes = 40 * columns_between(width, 0, o.max_degree, ordered) + 8 * columns * static_cast<double>(rows);
  require_memory(static_cast<std::size_t>(std::min(bytes, 1e18)), o.run.memory, what,
                 "use a lower degree or fewer columns, a polynomial kernel, which never makes them, or TensorSketch");
}

// Calls row(i, values) with the numbers of each row as doubles; blocks of rows in parallel.
template <class Row>
void for_dense_rows(const Samples& X, const char* label, const Run& run, const Row& row) {
  if (X.is_given()) throw InvalidArgument("an explicit map needs the columns of the samples, but a given Gram matrix has none");
  require_finite(X, "X");
  Stage stage(run.progress, label, static_cast<double>(X.size()));
  with_run(run, [&] {
    parallel_for(block_count(X.size()), [&](Index block) {
      const Range rows = block_range(block, X.size());
      const Matrix values = X.slice(rows.begin, rows.count).to_dense();
      for (Index i = 0; i < rows.count; ++i) row(rows.begin + i, values.row(i).data());
      stage.advance(static_cast<double>(rows.count));
    });
  });
}

}  // namespace

double monomial_columns(Index width, const MonomialOptions& o) {
  require_degrees(o);
  return columns_between(width, o.min_degree, o.max_degree, o.weighting == MonomialWeighting::ordered);
}

std::vector<std::vector<Index>> monomial_factors(Index width, const MonomialOptions& o) {
  require_degrees(o);
  require_columns(0, width, o);
  const Recipe recipe = recipe_for(width, o);
  std::vector<std::vector<Index>> out;
  for (std::size_t c = recipe.first; c < recipe.parent.size(); ++c) {
    std::vector<Index>& factors = out.emplace_back();
    for (auto at = c; recipe.parent[at] >= 0; at = static_cast<std::size_t>(recipe.parent[at])) factors.push_back(recipe.factor[at]);
  }
  return out;
}

Matrix monomial_features(const Samples& X, const MonomialOptions& o) {
  require_degrees(o);
  require_columns(X.size(), X.width(), o);
  const Recipe recipe = recipe_for(X.width(), o);
  const std::size_t all = recipe.parent.size();
  std::vector<double> weight(all, 1.0);
  if (o.weighting == MonomialWeighting::root)
    std::transform(recipe.multiplicity.begin(), recipe.multiplicity.end(), weight.begin(), [](double m) { return std::sqrt(m); });
  Matrix out(X.size(), static_cast<Index>(all - recipe.first));
  for_dense_rows(X, "monomials", o.run, [&](Index i, const double* x) {
    thread_local std::vector<double> value;
    value.resize(all);
    value[0] = 1;
    for (std::size_t c = 1; c < all; ++c) value[c] = value[static_cast<std::size_t>(recipe.parent[c])] * x[recipe.factor[c]];
    double* to = out.row(i).data();
    for (std::size_t c = recipe.first; c < all; ++c) *to++ = weight[c] * value[c];
  });
  if (!out.allFinite()) throw InvalidArgument("a monomial is too large for a number: scale the columns to about [-1, 1] first");
  return out;
}

double additive_chi2_interval(const AdditiveChi2Options& o) {
  if (o.sample_steps < 1 || o.sample_steps > 1000)
    throw InvalidArgument(fmt::format("sample_steps must be from 1 to 1000, got {}", o.sample_steps));
  if (!o.sample_interval) {
    // Vedaldi and Zisserman, figure 2 (c).
    constexpr double best[] = {0.8, 0.5, 0.4};
    if (o.sample_steps > 3) throw InvalidArgument("sample_interval must be given for more than 3 sample_steps");
    return best[o.sample_steps - 1];
  }
  if (!(*o.sample_interval > 0 && std::isfinite(*o.sample_interval)))
    throw InvalidArgument(fmt::format("sample_interval must be a finite number > 0, got {}", *o.sample_interval));
  return *o.sample_interval;
}

Matrix additive_chi2_features(const Samples& X, const AdditiveChi2Options& o) {
  const double interval = additive_chi2_interval(o);
  const Index d = X.width();
  const Index blocks = 2 * o.sample_steps - 1;
  const double bytes = 8.0 * static_cast<double>(X.size()) * static_cast<double>(blocks) * static_cast<double>(d);
  require_memory(static_cast<std::size_t>(std::min(bytes, 1e18)), o.run.memory,
                 fmt::format("the {} x {} features of the additive chi-squared map", X.size(), blocks * d), "transform chunks of rows");
  std::vector<double> factor{std::sqrt(interval)};
  for (int j = 1; j < o.sample_steps; ++j) factor.push_back(std::sqrt(2 * interval / std::cosh(std::numbers::pi * j * interval)));
  Matrix out = Matrix::Zero(X.size(), blocks * d);
  for_dense_rows(X, "additive chi-squared map", o.run, [&](Index i, const double* x) {
    double* to = out.row(i).data();
    for (Index k = 0; k < d; ++k) {
      if (x[k] < 0)
        throw InvalidArgument(fmt::format("the additive chi-squared map needs numbers >= 0, got {} in row {}, column {}", x[k], i, k));
      if (x[k] == 0) continue;
      const double root = std::sqrt(x[k]);
      const double log_step = interval * std::log(x[k]);
      to[k] = factor[0] * root;
      for (int j = 1; j < o.sample_steps; ++j) {
        to[(2 * j - 1) * d + k] = factor[static_cast<std::size_t>(j)] * root * std::cos(j * log_step);
        to[2 * j * d + k] = factor[static_cast<std::size_t>(j)] * root * std::sin(j * log_step);
      }
    }
  });
  return out;
}

}  // namespace mercer
