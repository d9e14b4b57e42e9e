// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>

#include "mercer/error.hpp"
#include "mercer/independence.hpp"
#include "stats/test_result.hpp"

namespace mercer {

namespace {

constexpr Index quantiles = 1000;
constexpr Index exact_rows = 9;           // whose orders are all looked at: 9! = 362880
constexpr Index exact_kendall_rows = 33;  // without ties, where the orders need not be looked at

double quantile_at(Index i) { return (static_cast<double>(i) + 0.5) / static_cast<double>(quantiles); }

void require_varying(const VectorRef& x, const char* name, const char* what) {
  if (x.minCoeff() == x.maxCoeff()) throw InvalidArgument(fmt::format("{} is constant: {} is not defined", name, what));
}

double pearson(const Vector& x, const Vector& y) {
  // Scaled first, so that squares of very large or small numbers stay in range.
  Vector a = x.array() - x.mean();
  Vector b = y.array() - y.mean();
  a /= a.cwiseAbs().maxCoeff();
  b /= b.cwiseAbs().maxCoeff();
  return std::clamp(a.dot(b) / (a.norm() * b.norm()), -1.0, 1.0);
}

// Two-sided p-value of a correlation, and the quantiles of its law, by Student's t.
void judge_by_student(TestResult& result, double r, Index n) {
  const boost::math::students_t_distribution<double> law(static_cast<double>(n - 2));
  const double freedom = static_cast<double>(n - 2);
  const double rest = (1 - r) * (1 + r);
  result.p_value =
      rest <= 0 ? 0 : std::min(1.0, 2 * boost::math::cdf(boost::math::complement(law, std::abs(r) * std::sqrt(freedom / rest))));
  result.null.resize(quantiles);
  for (Index i = 0; i < quantiles; ++i) {
    const double t = boost::math::quantile(law, quantile_at(i));
    result.null[i] = t / std::sqrt(freedom + t * t);
  }
  result.method = "t";
}

Vector mid_ranks(const VectorRef& x) {
  const Index n = x.size();
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return x[a] < x[b]; });
  Vector ranks(n);
  for (Index begin = 0; begin < n;) {
    Index end = begin;
    while (end < n && x[order[static_cast<std::size_t>(end)]] == x[order[static_cast<std::size_t>(begin)]]) ++end;
    for (Index i = begin; i < end; ++i) ranks[order[static_cast<std::size_t>(i)]] = static_cast<double>(begin + end + 1) / 2;
    begin = end;
  }
  return ranks;
}

// A law on finitely many values, ascending, with their probabilities; two-sided by |value|.
void judge_by_table(TestResult& result, const Vector& values, const Vector& probabilities, double tolerance) {
  result.p_value = 0;
  for (Index i = 0; i < values.size(); ++i) {
    if (std::abs(values[i]) >= std::abs(result.statistic) - tolerance) result.p_value += probabilities[i];
  }
  result.p_value = std::min(1.0, result.p_value);
  result.null.resize(quantiles);
  Index at = 0;
  double below = probabilities[0];
  for (Index i = 0; i < quantiles; ++i) {
    while (below < quantile_at(i) && at + 1 < values.size()) below += probabilities[++at];
    result.null[i] = values[at];
  }
  result.method = "exact";
  result.exact = true;
}

using Marks = std::vector<int>;

// Mid-ranks r as 2 r - (n + 1): whole numbers, of mean 0, that products of compare without rounding.
Marks centred_ranks(const VectorRef& x) {
  const Vector ranks = mid_ranks(x);
  Marks marks(static_cast<std::size_t>(x.size()));
  for (std::size_t i = 0; i < marks.size(); ++i)
    marks[i] = static_cast<int>(std::lround(2 * ranks[static_cast<Index>(i)])) - static_cast<int>(marks.size()) - 1;
  return marks;
}

// The law of score(x, y), a whole number from -most to most, over all orders of y, each as likely as another; of equal y only one order
// is looked at, as all have equally many. The statistic is score / scale.
template <class Score>
void judge_by_all_orders(TestResult& result, const Marks& x, Marks y, int most, double scale, Score&& score) {
  Vector counts = Vector::Zero(2 * most + 1);
  std::sort(y.begin(), y.end());
  do {
    counts[score(x, y) + most] += 1;
  } while (std::next_permutation(y.begin(), y.end()));
  const Vector values = Vector::LinSpaced(2 * most + 1, -most, most) / scale;
  judge_by_table(result, values, counts / counts.sum(), 1e-9 / scale);
}

std::string exact_description(Index n, bool ties) {
  return ties ? fmt::format("exact law over all orders of {} rows with ties", n) : fmt::format("exact law of {} rows without ties", n);
}

int product_of_ranks(const Marks& x, const Marks& y) { return std::inner_product(x.begin(), x.end(), y.begin(), 0); }

void judge_spearman(TestResult& result, const VectorRef& x, const VectorRef& y) {
  const Index n = x.size();
  result.statistic = pearson(mid_ranks(x), mid_ranks(y));
  if (n > exact_rows) {
    judge_by_student(result, result.statistic, n);
    result.description = "Student's t of mid-ranks, level approximate";
    return;
  }
  const Marks a = centred_ranks(x);
  const Marks b = centred_ranks(y);
  const auto most = static_cast<int>(n * (n * n - 1) / 3);  // the sum of squares without ties; ties make it smaller
  const int square_x = product_of_ranks(a, a);
  const int square_y = product_of_ranks(b, b);
  judge_by_all_orders(result, a, b, most, std::sqrt(static_cast<double>(square_x) * square_y), product_of_ranks);
  result.description = exact_description(n, square_x < most || square_y < most);
}

struct KendallCounts {
  double pairs = 0;
  double discordant = 0;
  double ties_x = 0;  // pairs
  double ties_y = 0;
  double ties_both = 0;
  double triples_x = 0;  // sum over groups of t (t - 1) (t - 2)
  double triples_y = 0;
  double weighted_x = 0;  // sum over groups of t (t - 1) (2 t + 5)
  double weighted_y = 0;
};

// Inversions of `values`, which is sorted on the way (Knight 1966).
double inversions(std::vector<double>& values, std::vector<double>& memory, std::size_t begin, std::size_t end) {
  if (end - begin < 2) return 0;
  const std::size_t middle = begin + (end - begin) / 2;
  double count = inversions(values, memory, begin, middle) + inversions(values, memory, middle, end);
  std::size_t a = begin;
  std::size_t b = middle;
  for (std::size_t k = begin; k < end; ++k) {
    if (a < middle && (b >= end || values[a] <= values[b])) {
      memory[k] = values[a++];
    } else {
      memory[k] = values[b++];
      count += static_cast<double>(middle - a);
    }
  }
  std::copy(memory.begin() + static_cast<std::ptrdiff_t>(begin), memory.begin() + static_cast<std::ptrdiff_t>(end),
            values.begin() + static_cast<std::ptrdiff_t>(begin));
  return count;
}

template <class Same, class Add>
void for_groups(std::size_t n, Same&& same, Add&& add) {
  for (std::size_t begin = 0; begin < n;) {
    std::size_t end = begin + 1;
    while (end < n && same(begin, end)) ++end;
    add(static_cast<double>(end - begin));
    begin = end;
  }
}

KendallCounts count_pairs(const VectorRef& x, const VectorRef& y) {
  const auto n = static_cast<std::size_t>(x.size());
  KendallCounts c;
  c.pairs = static_cast<double>(n) * static_cast<double>(n - 1) / 2;
  std::vector<std::pair<double, double>> rows(n);
  for (std::size_t i = 0; i < n; ++i) rows[i] = {x[static_cast<Index>(i)], y[static_cast<Index>(i)]};
  std::sort(rows.begin(), rows.end());
  for_groups(
      n, [&](std::size_t a, std::size_t b) { return rows[a].first == rows[b].first; },
      [&](double t) {
        c.ties_x += t * (t - 1) / 2;
        c.triples_x += t * (t - 1) * (t - 2);
        c.weighted_x += t * (t - 1) * (2 * t + 5);
      });
  for_groups(
      n, [&](std::size_t a, std::size_t b) { return rows[a] == rows[b]; }, [&](double t) { c.ties_both += t * (t - 1) / 2; });
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = rows[i].second;
  std::vector<double> memory(n);
  c.discordant = inversions(values, memory, 0, n);
  for_groups(
      n, [&](std::size_t a, std::size_t b) { return values[a] == values[b]; },
      [&](double t) {
        c.ties_y += t * (t - 1) / 2;
        c.triples_y += t * (t - 1) * (t - 2);
        c.weighted_y += t * (t - 1) * (2 * t + 5);
      });
  return c;
}

// How many inversions a random order has: the order of n rows is that of n - 1 with the last put at one of n places.
void judge_kendall_exactly(TestResult& result, Index n) {
  const Index pairs = n * (n - 1) / 2;
  Vector law = Vector::Zero(pairs + 1);
  law[0] = 1;
  for (Index rows = 2; rows <= n; ++rows) {
    Vector next = Vector::Zero(pairs + 1);
    double window = 0;
    for (Index d = 0; d <= rows * (rows - 1) / 2; ++d) {
      window += law[d];
      if (d >= rows) window -= law[d - rows];
      next[d] = window / static_cast<double>(rows);
    }
    law = next;
  }
  // Both ends are known to all digits only from below; the law is symmetric.
  for (Index d = pairs / 2 + 1; d <= pairs; ++d) law[d] = law[pairs - d];
  judge_by_table(result, Vector::LinSpaced(pairs + 1, 1, -1).reverse(), law.reverse(), 1e-12);
}

// Concordant minus discordant pairs.
int surplus_of_pairs(const Marks& x, const Marks& y) {
  int surplus = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int product = (x[i] - x[j]) * (y[i] - y[j]);
      surplus += (product > 0) - (product < 0);
    }
  }
  return surplus;
}

void judge_kendall(TestResult& result, const VectorRef& x, const VectorRef& y) {
  const Index n = x.size();
  const KendallCounts c = count_pairs(x, y);
  // concordant - discordant: of all pairs those without ties are one or the other.
  const double surplus = c.pairs - c.ties_x - c.ties_y + c.ties_both - 2 * c.discordant;
  result.statistic = std::clamp(surplus / std::sqrt(c.pairs - c.ties_x) / std::sqrt(c.pairs - c.ties_y), -1.0, 1.0);
  const bool untied = c.ties_x == 0 && c.ties_y == 0;
  const double fewer = std::min(c.discordant, c.pairs - c.discordant);
  if (untied && n <= exact_kendall_rows) {
    judge_kendall_exactly(result, n);
    result.description = exact_description(n, false);
    return;
  }
  if (n <= exact_rows) {
    const double scale = std::sqrt(c.pairs - c.ties_x) * std::sqrt(c.pairs - c.ties_y);
    judge_by_all_orders(result, centred_ranks(x), centred_ranks(y), static_cast<int>(c.pairs), scale, surplus_of_pairs);
    result.description = exact_description(n, true);
    return;
  }
  const auto m = static_cast<double>(n);
  const double ordered = m * (m - 1);
  double variance = (ordered * (2 * m + 5) - c.weighted_x - c.weighted_y) / 18 + 2 * c.ties_x * c.ties_y / ordered;
  if (n > 2) variance += c.triples_x * c.triples_y / (9 * ordered * (m - 2));
  const boost::math::normal_distribution<double> law;
  const double deviation = std::sqrt(variance);
  result.p_value = std::min(1.0, 2 * boost::math::cdf(boost::math::complement(law, std::abs(surplus) / deviation)));
  result.null.resize(quantiles);
  for (Index i = 0; i < quantiles; ++i)
    result.null[i] = deviation * boost::math::quantile(law, quantile_at(i)) / std::sqrt(c.pairs - c.ties_x) / std::sqrt(c.pairs - c.ties_y);
  result.method = "normal";
  result.description = untied ? "normal law" : "normal law, its variance corrected for ties";
  if (untied && fewer <= 1) {  // so near a perfect order that all orders as near can be counted: the identity, and n - 1 neighbours
    const double nearer = fewer == 0 ? 1 : m;
    result.p_value = 2 * std::exp(std::log(nearer) - std::lgamma(m + 1));
    result.method = "exact";
    result.exact = true;
    result.description = "exact law: the order is perfect but for one exchange at most";
  }
}

void judge_table(TestResult& result, const VectorRef& x, const VectorRef& y) {
  std::map<double, Index> rows;
  std::map<double, Index> cols;
  for (const double value : x) rows.try_emplace(value, 0);
  for (const double value : y) cols.try_emplace(value, 0);
  for (auto* names : {&rows, &cols}) {
    Index number = 0;
    for (auto& [value, at] : *names) at = number++;
  }
  const auto n = static_cast<double>(x.size());
  Matrix counts = Matrix::Zero(std::ssize(rows), std::ssize(cols));
  for (Index i = 0; i < x.size(); ++i) counts(rows[x[i]], cols[y[i]]) += 1;
  const Matrix expected = counts.rowwise().sum() * counts.colwise().sum() / n;
  result.statistic = ((counts - expected).array().square() / expected.array()).sum();
  const double freedom = static_cast<double>((counts.rows() - 1) * (counts.cols() - 1));
  const boost::math::chi_squared_distribution<double> law(freedom);
  stats::judge_by_law(
      result, [&](double t) { return boost::math::cdf(boost::math::complement(law, t)); },
      [&](double q) { return boost::math::quantile(law, q); });
  const auto smaller = static_cast<double>(std::min(counts.rows(), counts.cols()) - 1);
  result.numbers.emplace_back("degrees of freedom", freedom);
  result.numbers.emplace_back("Cramer's V", std::sqrt(result.statistic / (n * smaller)));
  result.numbers.emplace_back("smallest expected count", expected.minCoeff());
  if (expected.minCoeff() < 5)
    result.remarks.push_back(fmt::format(
        "the smallest expected count is {:.3g}, below 5: the chi-square law is rough; independence_test with permutations is exact",
        expected.minCoeff()));
  result.method = "chi-square";
  result.description = fmt::format("chi-square law with {:g} degrees of freedom", freedom);
}

}  // namespace

TestResult correlation_test(const VectorRef& x, const VectorRef& y, Correlation which, double level) {
  const auto start = std::chrono::steady_clock::now();
  stats::require_level(level);
  if (x.size() != y.size())
    throw InvalidArgument(
        fmt::format("x has {} numbers but y has {}: number i of both must belong to the same observation", x.size(), y.size()));
  require_finite(Matrix(x), "x");
  require_finite(Matrix(y), "y");
  const Index least = which == Correlation::chi2 || which == Correlation::kendall ? 2 : 3;
  if (x.size() < least) throw InvalidArgument(fmt::format("this test needs at least {} rows, got {}", least, x.size()));
  const char* what = which == Correlation::chi2 ? "dependence on it" : "its correlation";
  require_varying(x, "x", what);
  require_varying(y, "y", what);
  TestResult result;
  result.test = "correlation";
  result.level = level;
  result.n = x.size();
  switch (which) {
    case Correlation::pearson:
      result.statistic_name = "pearson r";
      result.statistic = pearson(x, y);
      judge_by_student(result, result.statistic, x.size());
      result.description = "Student's t, exact for normal variables";
      break;
    case Correlation::spearman:
      result.statistic_name = "spearman rho";
      judge_spearman(result, x, y);
      break;
    case Correlation::kendall:
      result.statistic_name = "kendall tau-b";
      judge_kendall(result, x, y);
      break;
    case Correlation::chi2:
      result.statistic_name = "chi2";
      judge_table(result, x, y);
      break;
  }
  stats::conclude(result, "the variables depend on each other", "no dependence shown", start);
  return result;
}

}  // namespace mercer
