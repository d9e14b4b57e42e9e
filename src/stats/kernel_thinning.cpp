// SPDX-License-Identifier: BSD-3-Clause
#include "stats/kernel_thinning.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "gram/kernel_rows.hpp"
#include "gram/tile_memory.hpp"
#include "linalg/tiling.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "stats/mean_products.hpp"

namespace mercer::stats {

namespace {

constexpr Index direct_rows = 8192;       // halved as one block from the start
constexpr double most_mean_values = 4e9;  // kernel values for the mean of all rows at the pool, and for swaps

// Calls body(i) for each i: side by side where there are enough of them, else one after the other with threads inside. The order of sums is
// the same either way.
template <class Body>
void for_each_block(Index count, Body&& body) {
  if (count >= current_threads()) {
    parallel_for(count, [&](Index i) { body(i, false); });
  } else {
    for (Index i = 0; i < count; ++i) body(i, true);
  }
}

// What the coin of a pair needs to know of those before it (Dwivedi and Mackey, Algorithm 1a): the deviation s of the walk so far.
class Threshold {
 public:
  explicit Threshold(double log_term) : log_term_(log_term) {}

  // Of a pair at the squared distance b2; takes the pair into account.
  double next(double b2) {
    const double a = std::max(std::sqrt(b2 * s2_ * log_term_), b2);
    if (!(a > 0)) return 1;  // equal rows: either way is the same
    s2_ += std::max(0.0, b2 * (1 + (b2 - 2 * a) * s2_ / (a * a)));
    return a;
  }

 private:
  double log_term_;  // 2 log(2 / failure probability of a pair)
  double s2_ = 0;
};

// Of every pair of rows (0, 1), (2, 3), ... one gets -1 (left), the other +1 (right). The rows' number is even.
template <class T>
std::vector<T> balancing_signs(const PreparedKernel<T>& K, double log_term, RandomStream& random, bool threads_inside, Stage& stage) {
  const Index n = K.rows();
  const Index blocks = block_count(n);
  std::vector<T> sign(static_cast<std::size_t>(n));
  Vector drift = Vector::Zero(n);  // <right - left, k(x_j, .)>
  Threshold threshold(log_term);
  for (Index block = 0; block < blocks; ++block) {
    const Range I = block_range(block, n);
    T* const s = sign.data() + I.begin;
    {
      TileMemory<T> memory;
      const simd::Tile<T> tile = memory.tile(I.count, I.count);
      K.tile(I, I, tile);
      for (Index i = 0; i < I.count; i += 2) {
        const T* x = tile.row(i);
        const T* y = tile.row(i + 1);
        const double b2 = std::max(0.0, static_cast<double>(x[i]) + static_cast<double>(y[i + 1]) - 2 * static_cast<double>(x[i + 1]));
        const double a = drift[I.begin + i] - drift[I.begin + i + 1];
        const bool left = random.uniform() < 0.5 * (1 + a / threshold.next(b2));
        s[i] = left ? T{-1} : T{1};
        s[i + 1] = -s[i];
        for (Index j = i + 2; j < I.count; ++j) drift[I.begin + j] += static_cast<double>(s[i]) * static_cast<double>(x[j] - y[j]);
      }
    }
    const auto add = [&](Index later) {
      const Range J = block_range(later, n);
      TileMemory<T> memory;
      const simd::Tile<T> tile = memory.tile(I.count, J.count);
      K.tile(I, J, tile);
      const Eigen::Map<const RowMatrix<T>> values(tile.data, I.count, J.count);
      const Eigen::Map<const Eigen::Matrix<T, 1, Eigen::Dynamic>> signs(s, I.count);
      const Eigen::Matrix<T, 1, Eigen::Dynamic> sum = signs * values;
      drift.segment(J.begin, J.count) += sum.transpose().template cast<double>();
      stage.advance(static_cast<double>(I.count * J.count));
    };
    const Index rest = blocks - block - 1;
    if (threads_inside) {
      parallel_for(rest, [&](Index j) { add(block + 1 + j); });
    } else {
      for (Index j = 0; j < rest; ++j) add(block + 1 + j);
    }
    stage.check();
  }
  return sign;
}

template <class T>
class Thinner {
 public:
  Thinner(const Kernel& kernel, const Samples& X, Index m, const ThinOptions& options, Thinned& out)
      : kernel_(kernel), X_(X), m_(m), o_(options), out_(out) {}

  void run() {
    start();
    Stage stage(o_.run.progress, "thinning", total_work());
    stage_ = &stage;
    std::vector<Index> pool;
    Index round = 0;
    for (; round < out_.rounds && !whole(round, std::ssize(rows_)); ++round) {
      if (round + 1 == out_.rounds) pool = rows_;
      halve(round);
    }
    if (round < out_.rounds) {
      pool = rows_;
      rows_ = best_part(round);
    } else if (!pool.empty() && o_.swap_passes > 0) {
      from_pool(pool);
    }
    if (o_.swap_passes > 0 && !pool.empty()) swap(pool);
    std::sort(rows_.begin(), rows_.end());
    out_.rows = std::move(rows_);
  }

 private:
  using Part = std::vector<Index>;  // places in a list of rows

  // h, and the n' = m 2^h rows that take part: one in every n / n', from a random start.
  void start() {
    const Index n = X_.size();
    while ((m_ << (out_.rounds + 1)) <= n) ++out_.rounds;
    out_.taking_part = m_ << out_.rounds;
    const double step = static_cast<double>(n) / static_cast<double>(out_.taking_part);
    const double offset = RandomStream(o_.seed, 1).uniform();
    rows_.resize(static_cast<std::size_t>(out_.taking_part));
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto place = static_cast<Index>((static_cast<double>(i) + offset) * step);
      rows_[i] = std::min({place, n - 1, n - out_.taking_part + static_cast<Index>(i)});
      if (i > 0) rows_[i] = std::max(rows_[i], rows_[i - 1] + 1);
    }
    // A failure probability for every pair of every round, all adding up to what is allowed.
    double pairs = 0;
    Index left = out_.taking_part;
    for (Index round = 0; round < out_.rounds; ++round) {
      pairs += static_cast<double>(left) / 2;
      if (!whole(round, left)) left /= 2;
    }
    log_term_ = 2 * std::log(2 * std::max(1.0, pairs) / o_.failure);
  }

  Index block_length(Index round) const { return Index{1} << std::min<Index>(2 * (o_.oversampling + 1) + round, 40); }
  bool whole(Index round, Index left) const { return out_.taking_part <= direct_rows || left <= block_length(round); }

  double total_work() const {
    double work = 0;
    Index left = out_.taking_part;
    for (Index round = 0; round < out_.rounds; ++round, left /= 2) {
      const double length = static_cast<double>(std::min(left, whole(round, left) ? left : block_length(round)));
      work += static_cast<double>(left) * length / 2;
    }
    return std::max(1.0, work);
  }

  RandomStream stream(Index round, Index block) const {
    return RandomStream(o_.seed, (static_cast<std::uint64_t>(round + 1) << 32) + static_cast<std::uint64_t>(block));
  }

  // rows_ becomes half as long, block by block.
  void halve(Index round) {
    const Index pairs = std::ssize(rows_) / 2;
    const Index blocks = std::max<Index>(1, std::ssize(rows_) / block_length(round));
    std::vector<Index> left(static_cast<std::size_t>(pairs));
    for_each_block(blocks, [&](Index block, bool threads_inside) {
      const Index first = pairs * block / blocks;
      const Index count = pairs * (block + 1) / blocks - first;
      const std::span<const Index> rows(rows_.data() + 2 * first, static_cast<std::size_t>(2 * count));
      const Samples part = X_.subset(rows);
      RandomStream random = stream(round, block);
      const std::vector<T> sign = balancing_signs<T>(PreparedKernel<T>(kernel_, part, part), log_term_, random, threads_inside, *stage_);
      const T kept = random.below(2) == 0 ? T{-1} : T{1};  // either half, so that none is favoured by how pairs are tossed
      auto to = left.begin() + first;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (sign[i] == kept) *to++ = rows[i];
      }
    });
    rows_ = std::move(left);
  }

  // All rows that are left, halved to 2^G parts of m; the part whose mean is nearest.
  std::vector<Index> best_part(Index round) {
    const Samples left = X_.subset(rows_);
    std::vector<Part> parts(1, Part(rows_.size()));
    std::iota(parts[0].begin(), parts[0].end(), Index{0});
    for (; round < out_.rounds; ++round) {
      std::vector<Part> halves(2 * parts.size());
      for_each_block(std::ssize(parts), [&](Index p, bool threads_inside) {
        const Part& part = parts[static_cast<std::size_t>(p)];
        const Samples rows = left.subset(part);
        RandomStream random = stream(round, p);
        const std::vector<T> sign = balancing_signs<T>(PreparedKernel<T>(kernel_, rows, rows), log_term_, random, threads_inside, *stage_);
        for (std::size_t i = 0; i < part.size(); ++i) halves[2 * static_cast<std::size_t>(p) + (sign[i] > 0 ? 1 : 0)].push_back(part[i]);
      });
      parts = std::move(halves);
    }
    mean_ = mean_of(left);
    Vector value(std::ssize(parts));
    for_each_block(std::ssize(parts), [&](Index p, bool) {
      const Part& part = parts[static_cast<std::size_t>(p)];
      value[p] = own_product(left.subset(part)) - 2 * mean_(part).mean();
    });
    Index best = 0;
    value.minCoeff(&best);
    chosen_ = parts[static_cast<std::size_t>(best)];
    std::vector<Index> out;
    for (const Index place : chosen_) out.push_back(rows_[static_cast<std::size_t>(place)]);
    return out;
  }

  // The mean of all rows at some of them; of these alone where that would take too long.
  Vector mean_of(const Samples& at) {
    const double values = static_cast<double>(X_.size()) * static_cast<double>(at.size());
    out_.mean_of_all = values <= most_mean_values;
    const Samples& over = out_.mean_of_all ? X_ : at;
    const Run quiet{o_.run.threads, o_.run.memory, o_.run.progress};
    return mean_at(kernel_, over, Vector::Constant(over.size(), 1 / static_cast<double>(over.size())), at, precision_of<T>, quiet);
  }

  // |mean of these rows|^2.
  double own_product(const Samples& rows) const {
    const PreparedKernel<T> K(kernel_, rows, rows);
    const Index blocks = block_count(K.rows());
    double sum = 0;
    TileMemory<T> memory;
    for (Index number = 0; number < upper_count(blocks); ++number) {
      const BlockPair pair = upper_pair(number, blocks);
      const Range I = block_range(pair.row, K.rows());
      const Range J = block_range(pair.col, K.rows());
      const simd::Tile<T> tile = memory.tile(I.count, J.count);
      K.tile(I, J, tile);
      for (Index i = 0; i < I.count; ++i) {
        const Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>> row(tile.row(i), J.count);
        sum += (pair.row == pair.col ? 1 : 2) * static_cast<double>(row.sum());
      }
    }
    return sum / (static_cast<double>(K.rows()) * static_cast<double>(K.rows()));
  }

  // Many rows wanted: the rounds end before one block is left. What the last round left out may still be swapped in, if there is time.
  void from_pool(std::vector<Index>& pool) {
    if (2 * static_cast<double>(m_) * static_cast<double>(pool.size()) > most_mean_values) {
      pool.clear();
      return;
    }
    mean_ = mean_of(X_.subset(pool));
    chosen_.clear();
    std::size_t next = 0;
    for (std::size_t i = 0; i < pool.size() && next < rows_.size(); ++i) {
      if (pool[i] != rows_[next]) continue;
      chosen_.push_back(static_cast<Index>(i));
      ++next;
    }
  }

  // Each chosen row in turn gives its place to the row of the pool that brings the mean nearest: k(z, z) / 2 + sum over the others of
  // k(x, z), over m, less the mean at z, is least there.
  void swap(const std::vector<Index>& pool) {
    out_.pool = std::ssize(pool);
    const Index size = std::ssize(pool);
    const auto m = static_cast<double>(m_);
    const Samples rows = X_.subset(pool);
    const KernelRows<T> K(PreparedKernel<T>(kernel_, rows, rows));
    const Eigen::ArrayXd own = K.diagonal().array() / 2 - m * mean_.array();
    std::vector<char> taken(pool.size(), 0);
    for (const Index place : chosen_) taken[static_cast<std::size_t>(place)] = 1;
    Buffer<T> memory(static_cast<std::size_t>((tile_size + 1) * size));
    Eigen::ArrayXd sum = Eigen::ArrayXd::Zero(size);  // over the chosen of k(x, z)
    const auto row_at = [&](Index slot) { return Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>(memory.data() + slot * size, size); };
    const auto fetch = [&](std::span<const Index> places) {
      std::vector<T*> to;
      for (std::size_t i = 0; i < places.size(); ++i) to.push_back(memory.data() + static_cast<Index>(i) * size);
      K.rows(places, to);
    };
    const auto for_chunks = [&](auto&& body) {
      for (Index first = 0; first < m_; first += tile_size) {
        const auto count = static_cast<std::size_t>(std::min(tile_size, m_ - first));
        fetch(std::span<const Index>(chosen_.data() + first, count));
        for (std::size_t i = 0; i < count; ++i) body(first + static_cast<Index>(i), static_cast<Index>(i));
        stage_->check();
      }
    };
    for_chunks([&](Index, Index slot) { sum += row_at(slot).template cast<double>(); });
    for (int pass = 0; pass < o_.swap_passes; ++pass) {
      bool moved = false;
      for_chunks([&](Index i, Index slot) {
        Index& place = chosen_[static_cast<std::size_t>(i)];
        sum -= row_at(slot).template cast<double>();
        taken[static_cast<std::size_t>(place)] = 0;
        Index best = place;
        double least = own[place] + sum[place];
        for (Index z = 0; z < size; ++z) {
          const double value = own[z] + sum[z];
          if (value < least && taken[static_cast<std::size_t>(z)] == 0) {
            least = value;
            best = z;
          }
        }
        moved = moved || best != place;
        if (best != place) {
          T* fresh = memory.data() + slot * size;
          K.rows(std::span<const Index>(&best, 1), std::span<T* const>(&fresh, 1));
        }
        place = best;
        taken[static_cast<std::size_t>(place)] = 1;
        sum += row_at(slot).template cast<double>();
      });
      if (!moved) break;
    }
    for (std::size_t i = 0; i < chosen_.size(); ++i) rows_[i] = pool[static_cast<std::size_t>(chosen_[i])];
  }

  const Kernel& kernel_;
  const Samples& X_;
  Index m_;
  const ThinOptions& o_;
  Thinned& out_;
  std::vector<Index> rows_{};  // that are left
  double log_term_ = 0;
  Vector mean_{};  // at the rows of the pool
  Part chosen_{};  // places in the pool
  Stage* stage_ = nullptr;
};

}  // namespace

Thinned thinned_rows(const Kernel& kernel, const Samples& X, Index m, const ThinOptions& options) {
  Thinned out;
  const Index n = X.size();
  if (2 * m > n && m < n) {  // less than one halving: those left out are to have the mean of all, and so have the others
    out = thinned_rows(kernel, X, n - m, options);
    std::vector<Index> others;
    std::size_t next = 0;
    for (Index i = 0; i < n; ++i) {
      if (next < out.rows.size() && out.rows[next] == i) {
        ++next;
      } else {
        others.push_back(i);
      }
    }
    out.rows = std::move(others);
    return out;
  }
  const double values = static_cast<double>(X.size()) * std::ldexp(1.0, static_cast<int>(2 * options.oversampling + 2));
  linalg::with_type_of(working_precision(kernel, X, values), [&]<class T>(T) { Thinner<T>(kernel, X, m, options, out).run(); });
  return out;
}

}  // namespace mercer::stats
