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
#include "stats/permuted_products.hpp"
#include "stats/test_result.hpp"

namespace mercer {

namespace {

using stats::FullGram;
using stats::HalfGram;

constexpr Index strip = HalfGram::strip;
constexpr Index most_parts = 64;

// Notation: K_l the Gram matrix of variable l of d, m_l its row means, M_l their mean, D_l the mean of its diagonal, S_l that of its
// squares.
struct Variables {
  Index n = 0;
  std::vector<Kernel> kernels{};
  std::vector<PreparedFamily<double>> grams{};
  std::vector<Vector> means{};  // m
  Vector mean{};                // M
  Vector diagonal{};            // D
  Vector squares{};             // S
  double products = 0;          // mean over i, j of prod_l K_l(i, j)

  Index count() const { return static_cast<Index>(grams.size()); }
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

// One pass over tiles of all variables at the same rows; the matrices are kept where `first` and `others` are given.
void add_sums(Variables& v, const Run& run, HalfGram* first, std::vector<FullGram>* others) {
  const Index n = v.n;
  const Index d = v.count();
  const Index blocks = block_count(n);
  const Index tiles = upper_count(blocks);
  const Index parts = std::min(tiles, most_parts);
  struct Sums {
    double products = 0;
    Vector squares{};
    std::vector<Vector> rows{};
  };
  std::vector<Sums> found(static_cast<std::size_t>(parts));
  with_threads(run.threads, [&] {
    Stage stage(run.progress, "dHSIC", static_cast<double>(tiles));
    parallel_for(parts, [&](Index part) {
      Sums& sums = found[static_cast<std::size_t>(part)];
      sums.squares = Vector::Zero(d);
      sums.rows.assign(static_cast<std::size_t>(d), Vector::Zero(n));
      TileMemory<double> memory;
      TileMemory<double> product_memory;
      for (Index number = part * tiles / parts; number < (part + 1) * tiles / parts; ++number) {
        const BlockPair pair = upper_pair(number, blocks);
        const Range I = block_range(pair.row, n);
        const Range J = block_range(pair.col, n);
        const double times = pair.row == pair.col ? 1 : 2;
        Eigen::Map<Matrix> product(product_memory.data(), I.count, J.count);
        for (Index l = 0; l < d; ++l) {
          v.grams[static_cast<std::size_t>(l)].tiles(I, J, memory.tile(I.count, J.count), [&](std::size_t, simd::Tile<double> tile) {
            const Eigen::Map<const Matrix> K(tile.data, I.count, J.count);
            const simd::Tile<const double> constant{tile.data, tile.rows, tile.cols, tile.stride};
            sums.squares[l] += times * K.squaredNorm();
            sums.rows[static_cast<std::size_t>(l)].segment(I.begin, I.count) += K.rowwise().sum();
            if (times > 1) sums.rows[static_cast<std::size_t>(l)].segment(J.begin, J.count) += K.colwise().sum().transpose();
            if (l == 0) {
              product = K;
              if (first != nullptr) first->put(I, J, constant);
            } else {
              product.array() *= K.array();
              if (others != nullptr) (*others)[static_cast<std::size_t>(l - 1)].put(I, J, constant);
            }
          });
        }
        sums.products += times * product.sum();
        stage.advance(1);
      }
    });
  });
  const auto m = static_cast<double>(n);
  v.squares = Vector::Zero(d);
  v.means.assign(static_cast<std::size_t>(d), Vector::Zero(n));
  v.mean.resize(d);
  v.diagonal.resize(d);
  for (const Sums& sums : found) {
    v.products += sums.products / (m * m);
    v.squares += sums.squares / (m * m);
    for (std::size_t l = 0; l < v.means.size(); ++l) v.means[l] += sums.rows[l] / m;
  }
  if (!std::isfinite(v.products) || !v.squares.allFinite())
    throw InvalidArgument("products of kernel values are not finite; scale the columns, or choose bounded kernels");
  for (Index l = 0; l < d; ++l) {
    v.mean[l] = v.means[static_cast<std::size_t>(l)].mean();
    v.diagonal[l] = v.grams[static_cast<std::size_t>(l)].diagonal(0).mean();
  }
}

// (1/n) sum_i prod_l m_l(p_l(i)): what the permuted variables have in common with the product of their means.
double mean_of_products(const Variables& v, const std::vector<std::vector<Index>>& orders) {
  double sum = 0;
  for (Index i = 0; i < v.n; ++i) {
    double product = v.means[0][i];
    for (std::size_t l = 1; l < v.means.size(); ++l) product *= v.means[l][orders[l - 1][static_cast<std::size_t>(i)]];
    sum += product;
  }
  return sum / static_cast<double>(v.n);
}

double dhsic_of(const Variables& v, double products, double middle) { return products + v.mean.prod() - 2 * middle; }

double dhsic_of(const Variables& v) {
  Vector middle = v.means[0];
  for (std::size_t l = 1; l < v.means.size(); ++l) middle.array() *= v.means[l].array();
  return dhsic_of(v, v.products, middle.mean());
}

// sum_ij K_0(i, j) prod_l K_l(p_l(i), p_l(j)) for one set of permutations: pairs j < i of the rows of K_0, fetched from the rows p_l(i).
class PermutedJoint {
 public:
  PermutedJoint(const HalfGram& first, const std::vector<FullGram>& others) : first_(first), others_(others) {}

  double operator()(const std::vector<std::vector<Index>>& orders) const {
    const Index n = first_.size();
    std::vector<std::vector<std::uint32_t>> places;
    for (const std::vector<Index>& order : orders) {
      std::vector<std::uint32_t>& p = places.emplace_back(static_cast<std::size_t>((n + strip - 1) / strip * strip), 0U);
      std::copy(order.begin(), order.end(), p.begin());
    }
    double pairs = 0;
    double diagonal = 0;
    std::vector<const float*> rows(others_.size());
    float products[strip];
    for (Index i = 0; i < n; ++i) {
      double own = first_.diagonal()[i];
      for (std::size_t l = 0; l < rows.size(); ++l) {
        const Index r = orders[l][static_cast<std::size_t>(i)];
        rows[l] = others_[l].row(r);
        own *= others_[l].diagonal()[r];
      }
      diagonal += own;
      for (Index s = 0; s * strip < i; ++s) {
        std::copy_n(first_.row(s, i), strip, products);
        for (std::size_t l = 0; l < rows.size(); ++l) {
          const std::uint32_t* p = places[l].data() + s * strip;
          const float* row = rows[l];
          for (Index j = 0; j < strip; ++j) products[j] *= row[p[j]];
        }
        pairs += static_cast<double>(Eigen::Map<const Eigen::ArrayXf>(products, strip).sum());
      }
    }
    double scale = first_.scale();
    for (const FullGram& gram : others_) scale *= gram.scale();
    return 2 * pairs / scale + diagonal;
  }

 private:
  const HalfGram& first_;
  const std::vector<FullGram>& others_;
};

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
  result.statistic = dhsic_of(v);
  // Variable l + 1 is permuted by the streams (seed + l, b): exchanges of their own.
  std::vector<stats::Exchanges> exchanges;
  for (Index l = 1; l < d; ++l)
    exchanges.emplace_back(n, n, ExchangeOptions{}, o.seed + static_cast<std::uint64_t>(l - 1) * 0x9e3779b97f4a7c15U);
  const PermutedJoint products(first, others);
  Vector found(o.permutations + 1);
  with_threads(o.run.threads, [&] {
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
      found[b] = dhsic_of(v, products(orders) / (static_cast<double>(n) * static_cast<double>(n)), mean_of_products(v, orders));
      stage.advance(1);
    });
  });
  stats::judge_by_exchanges(result, found[0], found.tail(o.permutations),
                            stats::tie_tolerance(std::abs(v.products) + std::abs(v.mean.prod())));
  result.exact = true;
  result.description = fmt::format("{} permutations of the rows of every variable but the first, exact level", o.permutations);
}

// With psi(z) the part of the product feature map that is left when all that depends on one variable at most is taken away, n dHSIC has in
// the limit the mean E |psi|^2 and the variance 2 |E psi psi'|^2. The features of a variable split into their mean mu and what is centred,
// of covariance Sigma: psi is the sum of all products with two or more centred factors. With s = |Sigma|^2, c = <mu, Sigma mu>, M = |mu|^2
// and t = tr Sigma both moments are sums of products, counted here by how many factors are centred (0, 1, 2 or more) so that no term is
// subtracted. For kernels of any diagonal; of two variables it is the gamma law of independence_test.
struct Moments {
  double mean = 0;
  double variance = 0;
};

Moments limit_moments(const Variables& v) {
  double traces[3] = {1, 0, 0};
  double squares[3][3] = {{1, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  for (Index l = 0; l < v.count(); ++l) {
    const double M = v.mean[l];
    const double squared_means = v.means[static_cast<std::size_t>(l)].squaredNorm() / static_cast<double>(v.n);
    const bool varies = v.diagonal[l] - M > 1e-12 * std::abs(M);  // else only rounding is left
    const double s = varies ? std::max(0.0, v.squares[l] - 2 * squared_means + M * M) : 0;
    const double c = varies ? std::max(0.0, squared_means - M * M) : 0;
    const double t = varies ? v.diagonal[l] - M : 0;
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
  if (o.null == IndependenceNull::gamma) {
    add_sums(v, o.run, nullptr, nullptr);
    result.statistic = dhsic_of(v);
    judge_by_gamma(result, v);
  } else {
    judge_by_permutations(result, v, o);
  }
  for (std::size_t l = 0; l < v.kernels.size(); ++l) {
    bool known = false;
    for (std::size_t k = 0; k < l; ++k) known = known || v.kernels[k].text() == v.kernels[l].text();
    if (!known) stats::remark_on_kernel(result, v.kernels[l], "dependence");
  }
  stats::conclude(result, "the variables are not jointly independent", "no dependence shown", start);
  return result;
}

}  // namespace mercer
