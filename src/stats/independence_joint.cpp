// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "gram/tile_memory.hpp"
#include "kernels/node.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "stats/hsic_sums.hpp"
#include "stats/independence_laws.hpp"
#include "stats/independence_terms.hpp"
#include "stats/permuted_products.hpp"
#include "stats/quadratic_forms.hpp"
#include "stats/test_result.hpp"

namespace mercer {

namespace {

using stats::FullGram;
using stats::HalfGram;

constexpr Index strip = HalfGram::strip;
constexpr Index most_parts = 64;

// Notation (stats/independence_terms.hpp): K_l = M_l + a_l(i) + a_l(j) + c_l(i, j) the Gram matrix of variable l of d.
struct Variables {
  Index n = 0;
  std::vector<Kernel> kernels{};
  std::vector<PreparedFamily<double>> grams{};
  std::vector<stats::Centre> centres{};
  std::vector<Vector> a{};
  Vector mean{};     // M
  Vector trace{};    // mean of c(i, i)
  Vector squares{};  // mean of c(i, j)^2
  double dhsic = 0;

  Index count() const { return static_cast<Index>(grams.size()); }
  // Else only rounding is left of it.
  bool varies(Index l) const { return std::sqrt(squares[l]) > 1e-13 * std::abs(mean[l]); }
};

std::vector<std::optional<Kernel>> kernels_for(std::size_t d, const JointIndependenceOptions& o) {
  if (o.kernels.empty()) return std::vector<std::optional<Kernel>>(d);
  if (o.kernels.size() == 1) return std::vector<std::optional<Kernel>>(d, o.kernels[0]);
  if (o.kernels.size() != d)
    throw InvalidArgument(
        fmt::format("there are {} kernels for {} variables; give one for each, one for all, or none", o.kernels.size(), d));
  return o.kernels;
}

Variables bind(const std::vector<Samples>& variables, const JointIndependenceOptions& o, TestResult& result) {
  if (variables.size() < 2) throw InvalidArgument(fmt::format("joint independence is of at least two variables, got {}", variables.size()));
  Variables v;
  v.n = variables[0].size();
  const std::vector<std::optional<Kernel>> given = kernels_for(variables.size(), o);
  if (v.n < 2) throw InvalidArgument(fmt::format("dhsic needs at least 2 rows, got {}", v.n));
  for (std::size_t l = 0; l < variables.size(); ++l) {
    require_finite(variables[l], fmt::format("variable {}", l));
    if (variables[l].size() != v.n)
      throw InvalidArgument(fmt::format("variable {} has {} rows but variable 0 has {}: row i of all must belong to the same observation",
                                        l, variables[l].size(), v.n));
    if (given[l]) stats::require_null_fits(*given[l], o.null, result);
    v.kernels.push_back(stats::kernel_for(variables[l], given[l]));
    v.grams.emplace_back(std::vector<Kernel>{v.kernels[l]}, as_given(v.kernels[l], variables[l]));
  }
  return v;
}

void add_means(Variables& v, const Run& run) {
  v.mean.resize(v.count());
  for (Index l = 0; l < v.count(); ++l) {
    const Vector sums = stats::row_sums(v.grams[static_cast<std::size_t>(l)], stats::Diagonal::whole, run).col(0);
    const Vector means = sums / static_cast<double>(v.n);
    v.mean[l] = means.mean();
    v.a.emplace_back(means.array() - v.mean[l]);
    v.centres.push_back(stats::centre_of(sums, stats::Centring::whole));
  }
}

// What the rows alone have: of variable l the terms of the variables before it, for places of the rows of each variable in `orders` (empty:
// as they are), all of them times the scales.
template <class T>
struct RowSides {
  std::vector<T> means{};
  std::vector<std::vector<T>> a{};
  std::vector<std::vector<T>> ones{};
  std::vector<std::vector<T>> mores{};
  std::vector<T> nones{};

  RowSides(const Variables& v, const std::vector<double>& scales, const std::vector<std::vector<Index>>& orders) {
    std::vector<stats::RowTerms<double>> terms(static_cast<std::size_t>(v.n));
    for (std::size_t l = 0; l < v.a.size(); ++l) {
      const double mean = scales[l] * v.mean[static_cast<Index>(l)];
      means.push_back(static_cast<T>(mean));
      nones.push_back(static_cast<T>(terms[0].none));
      std::vector<T>& own = a.emplace_back(terms.size());
      std::vector<T>& one = ones.emplace_back(terms.size());
      std::vector<T>& more = mores.emplace_back(terms.size());
      for (std::size_t i = 0; i < terms.size(); ++i) {
        const double value = scales[l] * v.a[l][l == 0 || orders.empty() ? static_cast<Index>(i) : orders[l - 1][i]];
        own[i] = static_cast<T>(value);
        one[i] = static_cast<T>(terms[i].one);
        more[i] = static_cast<T>(terms[i].more);
        terms[i].take(mean, value);
      }
    }
  }

  // The factor of variable l > 0 for row i and `count` rows from `begin` on, whose c are in c[].
  void take(std::size_t l, Index i, Index begin, Index count, const T* c, T* s11, T* s12, T* s21, T* s22) const {
    const T own = a[l][static_cast<std::size_t>(i)];
    const T* others = a[l].data() + begin;
    if (a.size() == 2) {  // only the product is left
      for (Index j = 0; j < count; ++j) s22[j] = s11[j] * c[j];
      return;
    }
    if (l + 1 == a.size()) return stats::take_last_factor(count, means[l], own, others, c, s11, s12, s21, s22);
    const stats::RowTerms<T> row{nones[l], ones[l][static_cast<std::size_t>(i)], mores[l][static_cast<std::size_t>(i)]};
    if (l == 1) return stats::take_second_factor(count, means[l], own, others, c, row, ones[l].data() + begin, s11, s12, s21, s22);
    stats::take_factor(count, means[l], own, others, c, row, ones[l].data() + begin, mores[l].data() + begin, s11, s12, s21, s22);
  }
};

// One pass over tiles of all variables at the same rows; the matrices c are kept where `first` and `others` are given.
void add_sums(Variables& v, const Run& run, HalfGram* first, std::vector<FullGram>* others) {
  const Index n = v.n;
  const Index d = v.count();
  const Index blocks = block_count(n);
  const Index tiles = upper_count(blocks);
  const Index parts = std::min(tiles, most_parts);
  const RowSides<double> sides(v, std::vector<double>(static_cast<std::size_t>(d), 1.0), {});
  struct Sums {
    double dhsic = 0;
    Vector squares{};
    Vector traces{};
  };
  std::vector<Sums> found(static_cast<std::size_t>(parts));
  with_run(run, [&] {
    Stage stage(run.progress, "dHSIC", static_cast<double>(tiles));
    parallel_for(parts, [&](Index part) {
      Sums& sums = found[static_cast<std::size_t>(part)];
      sums.squares = Vector::Zero(d);
      sums.traces = Vector::Zero(d);
      TileMemory<double> memory;
      TileMemory<double> s[4];  // s11, s12, s21, s22
      for (Index number = part * tiles / parts; number < (part + 1) * tiles / parts; ++number) {
        const BlockPair pair = upper_pair(number, blocks);
        const Range I = block_range(pair.row, n);
        const Range J = block_range(pair.col, n);
        const double times = pair.row == pair.col ? 1 : 2;
        for (Index l = 0; l < d; ++l) {
          const auto at = static_cast<std::size_t>(l);
          v.grams[at].tiles(I, J, memory.tile(I.count, J.count), [&](std::size_t, simd::Tile<double> tile) {
            for (Index i = 0; i < I.count; ++i) {
              double* c = tile.row(i);
              for (Index j = 0; j < J.count; ++j) c[j] = v.centres[at](c[j], I.begin + i, J.begin + j);
              if (times == 1) sums.traces[l] += c[i];
              sums.squares[l] += times * Eigen::Map<const Vector>(c, J.count).squaredNorm();
              double* terms[4];
              for (std::size_t k = 0; k < 4; ++k) terms[k] = s[k].data() + i * J.count;
              if (l == 0) {
                std::copy_n(c, J.count, terms[0]);
              } else {
                sides.take(at, I.begin + i, J.begin, J.count, c, terms[0], terms[1], terms[2], terms[3]);
              }
            }
            const simd::Tile<const double> constant{tile.data, tile.rows, tile.cols, tile.stride};
            if (l == 0 && first != nullptr) first->put(I, J, constant);
            if (l > 0 && others != nullptr) (*others)[at - 1].put(I, J, constant);
          });
        }
        sums.dhsic += times * Eigen::Map<const Matrix>(s[3].data(), I.count, J.count).sum();
        stage.advance(1);
      }
    });
  });
  const auto m = static_cast<double>(n);
  v.squares = Vector::Zero(d);
  v.trace = Vector::Zero(d);
  for (const Sums& sums : found) {
    v.dhsic += sums.dhsic / (m * m);
    v.squares += sums.squares / (m * m);
    v.trace += sums.traces / m;
  }
  if (!std::isfinite(v.dhsic) || !v.squares.allFinite())
    throw InvalidArgument("products of kernel values are not finite; scale the columns, or choose bounded kernels");
}

// dHSIC for one set of permutations: pairs j < i of the rows of c_0, the other c fetched from the rows p_l(i).
class PermutedJoint {
 public:
  PermutedJoint(const Variables& v, const HalfGram& first, const std::vector<FullGram>& others) : v_(v), first_(first), others_(others) {
    scales_.push_back(first.scale());
    for (const FullGram& gram : others) scales_.push_back(gram.scale());
  }

  double operator()(const std::vector<std::vector<Index>>& orders) const {
    const Index n = first_.size();
    const RowSides<float> sides(v_, scales_, orders);
    std::vector<std::vector<std::uint32_t>> places;
    for (const std::vector<Index>& order : orders) {
      std::vector<std::uint32_t>& p = places.emplace_back(static_cast<std::size_t>((n + strip - 1) / strip * strip), 0U);
      std::copy(order.begin(), order.end(), p.begin());
    }
    double pairs = 0;
    float c[strip];
    float s[4][strip];
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < i; j += strip) {
        const Index count = std::min(strip, i - j);
        std::copy_n(first_.row(j / strip, i), strip, s[0]);
        for (std::size_t l = 0; l < others_.size(); ++l) {
          const std::uint32_t* p = places[l].data() + j;
          const float* row = others_[l].row(orders[l][static_cast<std::size_t>(i)]);
          for (Index k = 0; k < strip; ++k) c[k] = row[p[k]];
          sides.take(l + 1, i, j, count, c, s[0], s[1], s[2], s[3]);
        }
        pairs += static_cast<double>(Eigen::Map<const Eigen::ArrayXf>(s[3], count).sum());
      }
    }
    double scale = 1;
    for (const double one : scales_) scale *= one;
    return (2 * pairs / scale + diagonal(orders)) / (static_cast<double>(n) * static_cast<double>(n));
  }

 private:
  // The pairs i = j, in float64.
  double diagonal(const std::vector<std::vector<Index>>& orders) const {
    const RowSides<double> sides(v_, std::vector<double>(scales_.size(), 1.0), orders);
    double sum = 0;
    for (Index i = 0; i < first_.size(); ++i) {
      double s[4] = {first_.diagonal()[i], 0, 0, 0};
      for (std::size_t l = 0; l < others_.size(); ++l) {
        const double c = others_[l].diagonal()[orders[l][static_cast<std::size_t>(i)]];
        sides.take(l + 1, i, i, 1, &c, s, s + 1, s + 2, s + 3);
      }
      sum += s[3];
    }
    return sum;
  }

  const Variables& v_;
  const HalfGram& first_;
  const std::vector<FullGram>& others_;
  std::vector<double> scales_{};
};

struct Moments {
  double mean = 0;
  double variance = 0;
};
Moments limit_moments(const Variables& v);

void judge_by_permutations(TestResult& result, Variables& v, const JointIndependenceOptions& o) {
  const Index n = v.n;
  const Index d = v.count();
  require_memory(static_cast<std::size_t>(HalfGram::bytes(n) + FullGram::bytes(n) * static_cast<double>(d - 1)), o.run.memory,
                 fmt::format("the {} Gram matrices of {} rows", d, n), "null=gamma needs no matrix");
  const stats::Centre none{Vector::Zero(n), true};
  HalfGram first(n, stats::scale_for(v.grams[0].diagonal(0), none));
  std::vector<FullGram> others;
  for (std::size_t l = 1; l < v.grams.size(); ++l) others.emplace_back(n, stats::scale_for(v.grams[l].diagonal(0), none));
  add_sums(v, o.run, &first, &others);
  result.statistic = v.dhsic;
  // Variable l + 1 is permuted by the streams (seed + l, b): exchanges of their own.
  std::vector<stats::Exchanges> exchanges;
  for (Index l = 1; l < d; ++l)
    exchanges.emplace_back(n, n, ExchangeOptions{}, o.seed + static_cast<std::uint64_t>(l - 1) * 0x9e3779b97f4a7c15U);
  const PermutedJoint dhsic(v, first, others);
  Vector found(o.permutations + 1);
  with_run(o.run, [&] {
    Stage stage(o.run.progress, "Permutations", static_cast<double>(found.size()));
    parallel_for(found.size(), [&](Index b) {
      std::vector<std::vector<Index>> orders(exchanges.size(), std::vector<Index>(static_cast<std::size_t>(n)));
      for (std::size_t l = 0; l < orders.size(); ++l) {
        if (b > 0) {
          exchanges[l].draw(b - 1, orders[l]);
        } else {
          for (Index i = 0; i < n; ++i) orders[l][static_cast<std::size_t>(i)] = i;
        }
      }
      found[b] = dhsic(orders);
      stage.advance(1);
    });
  });
  Index varying = 0;
  for (Index l = 0; l < d; ++l) varying += v.varies(l) ? 1 : 0;
  if (varying < 2) found.setZero();  // what is left is rounding
  // Sums with random signs are rounded in proportion to the root of their squares, which is the spread of the limit law.
  const double scale = 64 * std::sqrt(limit_moments(v).variance) / static_cast<double>(n);
  stats::judge_by_exchanges(result, found[0], found.tail(o.permutations), stats::tie_tolerance(scale));
  stats::remark_on_exchanges(result, static_cast<double>(d - 1) * std::lgamma(static_cast<double>(n) + 1));
  result.exact = true;
  result.description = fmt::format("{} permutations of the rows of every variable but the first, exact level", o.permutations);
}

// With psi(z) the part of the product feature map that is left when all that depends on one variable at most is taken away, n dHSIC has in
// the limit the mean E |psi|^2 and the variance 2 |E psi psi'|^2. The features of a variable split into their mean mu and what is centred,
// of covariance Sigma: psi is the sum of all products with two or more centred factors. With s = |Sigma|^2, c = <mu, Sigma mu>, M = |mu|^2
// and t = tr Sigma both moments are sums of products, counted here by how many factors are centred (0, 1, 2 or more) so that no term is
// subtracted. For kernels of any diagonal; of two variables it is the gamma law of independence_test.
Moments limit_moments(const Variables& v) {
  double traces[3] = {1, 0, 0};
  double squares[3][3] = {{1, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  for (Index l = 0; l < v.count(); ++l) {
    const double M = v.mean[l];
    const double s = v.varies(l) ? v.squares[l] : 0;
    const double c = v.varies(l) ? v.a[static_cast<std::size_t>(l)].squaredNorm() / static_cast<double>(v.n) : 0;
    const double t = v.varies(l) ? v.trace[l] : 0;
    double next[3] = {};
    double grid[3][3] = {};
    for (int a = 0; a < 3; ++a) {
      const int more_a = std::min(a + 1, 2);
      next[a] += traces[a] * M;
      next[more_a] += traces[a] * t;
      for (int b = 0; b < 3; ++b) {
        const int more_b = std::min(b + 1, 2);
        grid[a][b] += squares[a][b] * M * M;
        grid[more_a][b] += squares[a][b] * c;
        grid[a][more_b] += squares[a][b] * c;
        grid[more_a][more_b] += squares[a][b] * s;
      }
    }
    std::copy(&next[0], &next[0] + 3, &traces[0]);
    std::copy(&grid[0][0], &grid[0][0] + 9, &squares[0][0]);
  }
  return {traces[2], 2 * squares[2][2]};
}

void judge_by_gamma(TestResult& result, const Variables& v) {
  const Moments limit = limit_moments(v);
  const auto n = static_cast<double>(v.n);
  stats::judge_by_gamma(result, limit.mean / n, limit.variance / (n * n));
  result.description = "gamma law of the same mean and variance, level approximate";
}

}  // namespace

TestResult joint_independence_test(const std::vector<Samples>& variables, const JointIndependenceOptions& o) {
  const auto start = std::chrono::steady_clock::now();
  stats::require_level(o.level);
  if (o.permutations < 1) throw InvalidArgument(fmt::format("permutations must be >= 1, got {}", o.permutations));
  if (o.null == IndependenceNull::spectral)
    throw InvalidArgument("the spectral null is that of two variables; joint independence has null=permutation and null=gamma");
  TestResult result;
  Variables v = bind(variables, o, result);
  result.test = "joint independence";
  result.statistic_name = "dhsic";
  result.level = o.level;
  result.method = name_of(o.null);
  for (const Kernel& kernel : v.kernels) result.kernels.push_back(kernel.text());
  result.n = v.n;
  result.seed = o.seed;
  result.numbers.emplace_back("variables", static_cast<double>(v.count()));
  add_means(v, o.run);
  if (o.null == IndependenceNull::gamma) {
    add_sums(v, o.run, nullptr, nullptr);
    result.statistic = v.dhsic;
    judge_by_gamma(result, v);
  } else {
    judge_by_permutations(result, v, o);
  }
  for (Index l = 0; l < v.count(); ++l) {
    if (!v.varies(l))
      result.remarks.push_back(fmt::format(
          "variable {} does not vary beyond the rounding of its kernel values: nothing can be seen to depend on it; where rows are "
          "far from 0 beside their differences, subtract the column means",
          l));
  }
  for (std::size_t l = 0; l < v.kernels.size(); ++l) {
    stats::remark_on_kernel(result, v.kernels[l], variables[l], "dependence");
  }
  stats::conclude(result, "the variables are not jointly independent", "no dependence shown", start);
  return result;
}

}  // namespace mercer
