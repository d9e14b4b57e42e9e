// SPDX-License-Identifier: BSD-3-Clause
#include "stats/exchanges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/error.hpp"
#include "mercer/random.hpp"

namespace mercer {

const char* name_of(Exchange exchange) {
  switch (exchange) {
    case Exchange::free:
      return "free";
    case Exchange::within_groups:
      return "within-groups";
    case Exchange::whole_groups:
      return "whole-groups";
    case Exchange::blocks:
      return "blocks";
    case Exchange::shifts:
      return "shifts";
    case Exchange::pairs:
      return "pairs";
  }
  return "";
}

namespace stats {

namespace {

double log_factorial(Index n) { return std::lgamma(static_cast<double>(n) + 1); }

std::vector<Index> identity(Index n) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  return order;
}

}  // namespace

Exchanges::Exchanges(Index rows, Index first, const ExchangeOptions& options, std::uint64_t seed)
    : rows_(rows), first_(first), scheme_(options.scheme), seed_(seed), members_(identity(rows)) {
  const bool grouped = scheme_ == Exchange::within_groups || scheme_ == Exchange::whole_groups;
  if (grouped && std::ssize(options.groups) != rows)
    throw InvalidArgument(fmt::format("exchanges by groups need one group for each of the {} rows, got {}", rows, options.groups.size()));
  if (!grouped && !options.groups.empty())
    throw InvalidArgument("groups are only looked at by within-groups and whole-groups exchanges; choose one of them, or leave groups out");
  if (options.block_length < 0 || (options.block_length > 0 && scheme_ != Exchange::blocks))
    throw InvalidArgument(fmt::format("block_length must be >= 1 and goes with exchanges of blocks, got {}", options.block_length));
  switch (scheme_) {
    case Exchange::free:
      begins_ = {0, rows};
      log_count_ = first == rows ? log_factorial(rows) : log_factorial(rows) - log_factorial(first) - log_factorial(rows - first);
      break;
    case Exchange::within_groups:
    case Exchange::whole_groups: {
      const auto& g = options.groups;
      std::stable_sort(members_.begin(), members_.end(),
                       [&](Index a, Index b) { return g[static_cast<std::size_t>(a)] < g[static_cast<std::size_t>(b)]; });
      for (Index i = 0; i < rows; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (i == 0 || g[static_cast<std::size_t>(members_[at])] != g[static_cast<std::size_t>(members_[at - 1])]) begins_.push_back(i);
      }
      begins_.push_back(rows);
      const auto units = std::ssize(begins_) - 1;
      if (scheme_ == Exchange::whole_groups) {
        if (units < 2) throw InvalidArgument("whole-groups exchanges need at least two groups");
        require_whole(options.groups);
        log_count_ = log_factorial(units);
      } else {
        for (std::size_t u = 0; u + 1 < begins_.size(); ++u) log_count_ += log_factorial(begins_[u + 1] - begins_[u]);
        if (log_count_ == 0)
          throw InvalidArgument("within-groups exchanges need a group of at least two rows: each row is a group of its own");
      }
      break;
    }
    case Exchange::blocks: {
      const Index shorter = first == rows ? rows : std::min(first, rows - first);
      block_length_ =
          options.block_length > 0 ? options.block_length : std::max<Index>(1, std::llround(std::cbrt(static_cast<double>(rows))));
      if (block_length_ * 2 > shorter && first == rows)
        throw InvalidArgument(fmt::format("block_length must be at most half of the {} rows, got {}", rows, block_length_));
      if (block_length_ > shorter)
        throw InvalidArgument(
            fmt::format("block_length must be at most {}, the rows of the smaller sample, got {}", shorter, block_length_));
      // A block never spans the two samples.
      for (Index i = 0; i < first; i += block_length_) begins_.push_back(i);
      for (Index i = first; i < rows; i += block_length_) begins_.push_back(i);
      begins_.push_back(rows);
      log_count_ = log_factorial(std::ssize(begins_) - 1);
      break;
    }
    case Exchange::shifts:
      log_count_ = std::log(static_cast<double>(std::max<Index>(1, rows)));
      break;
    case Exchange::pairs:
      if (first * 2 != rows)
        throw InvalidArgument(fmt::format("exchanges of pairs need two samples of equal size, got {} and {} rows", first, rows - first));
      log_count_ = static_cast<double>(first) * std::log(2.0);
      break;
  }
}

// Units in random order, the places filled one unit after the other.
void Exchanges::shuffle_units(Index exchange, std::span<Index> order) const {
  RandomStream random(seed_, static_cast<std::uint64_t>(exchange));
  const std::vector<Index> units = random.permutation(std::ssize(begins_) - 1);
  std::size_t place = 0;
  for (const Index u : units) {
    for (Index i = begins_[static_cast<std::size_t>(u)]; i < begins_[static_cast<std::size_t>(u) + 1]; ++i) {
      order[static_cast<std::size_t>(members_[place++])] = members_[static_cast<std::size_t>(i)];
    }
  }
}

void Exchanges::draw(Index exchange, std::span<Index> order) const {
  if (scheme_ == Exchange::whole_groups || scheme_ == Exchange::blocks) return shuffle_units(exchange, order);
  RandomStream random(seed_, static_cast<std::uint64_t>(exchange));
  for (Index i = 0; i < rows_; ++i) order[static_cast<std::size_t>(i)] = i;
  if (scheme_ == Exchange::shifts) {
    const Index by = random.below(rows_);
    for (Index i = 0; i < rows_; ++i) order[static_cast<std::size_t>(i)] = (i + by) % rows_;
  } else if (scheme_ == Exchange::pairs) {
    for (Index i = 0; i < first_; ++i) {
      if (random.below(2) == 1) std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(i + first_)]);
    }
  } else {
    for (std::size_t u = 0; u + 1 < begins_.size(); ++u) {
      for (Index i = begins_[u + 1] - 1; i > begins_[u]; --i) {
        const Index j = begins_[u] + random.below(i - begins_[u] + 1);
        std::swap(order[static_cast<std::size_t>(members_[static_cast<std::size_t>(i)])],
                  order[static_cast<std::size_t>(members_[static_cast<std::size_t>(j)])]);
      }
    }
  }
}

// Groups as wholes make sense where a group is of one sample, and, within one sample, where they can take each other's places.
void Exchanges::require_whole(const std::vector<Index>& groups) const {
  for (std::size_t u = 0; u + 1 < begins_.size(); ++u) {
    const Index group = groups[static_cast<std::size_t>(members_[static_cast<std::size_t>(begins_[u])])];
    const bool in_first = members_[static_cast<std::size_t>(begins_[u])] < first_;
    for (Index i = begins_[u]; i < begins_[u + 1]; ++i) {
      if ((members_[static_cast<std::size_t>(i)] < first_) != in_first)
        throw InvalidArgument(fmt::format("whole-groups exchanges need groups that lie in one sample; group {} has rows of both", group));
    }
    if (first_ == rows_ && begins_[u + 1] - begins_[u] != begins_[1])
      throw InvalidArgument(
          fmt::format("whole-groups exchanges of one sample need groups of equal size; group {} has {} rows, the first {}", group,
                      begins_[u + 1] - begins_[u], begins_[1]));
  }
}

// Every row tosses a coin of about the right chance; then rows drawn at random give up the label that there is too much of. By symmetry
// all choices of the right size come up equally often, whatever the coin: a byte of randomness a row, in place of a swap.
void Exchanges::draw_free_labels(Index exchange, std::span<char> in_first) const {
  RandomStream random(seed_, static_cast<std::uint64_t>(exchange));
  const auto chance = static_cast<std::uint64_t>(std::llround(256.0 * static_cast<double>(first_) / static_cast<double>(rows_)));
  Index count = 0;
  for (Index begin = 0; begin < rows_; begin += 8) {
    std::uint64_t bytes = random();
    for (Index i = begin; i < std::min(begin + 8, rows_); ++i, bytes >>= 8U) {
      in_first[static_cast<std::size_t>(i)] = (bytes & 255U) < chance ? 1 : 0;
      count += in_first[static_cast<std::size_t>(i)];
    }
  }
  const char too_many = count > first_ ? 1 : 0;
  while (count != first_) {
    char& label = in_first[static_cast<std::size_t>(random.below(rows_))];
    if (label != too_many) continue;
    label = too_many == 1 ? 0 : 1;
    count += too_many == 1 ? -1 : 1;
  }
}

std::vector<std::vector<char>> Exchanges::all_labels(Index most) const {
  if ((scheme_ != Exchange::free && scheme_ != Exchange::pairs) || first_ == rows_) return {};
  if (log_count_ > std::log(static_cast<double>(most) + 0.5)) return {};
  std::vector<char> labels(static_cast<std::size_t>(rows_), 0);
  std::fill_n(labels.begin(), first_, char{1});
  std::vector<std::vector<char>> all;
  if (scheme_ == Exchange::free) {
    do all.push_back(labels);
    while (std::prev_permutation(labels.begin(), labels.end()));
    return all;
  }
  for (std::uint64_t swapped = 0; swapped < std::uint64_t{1} << static_cast<std::uint64_t>(first_); ++swapped) {
    for (Index i = 0; i < first_; ++i) {
      const bool stays = (swapped >> static_cast<std::uint64_t>(i) & 1U) == 0;
      labels[static_cast<std::size_t>(i)] = stays ? 1 : 0;
      labels[static_cast<std::size_t>(first_ + i)] = stays ? 0 : 1;
    }
    all.push_back(labels);
  }
  return all;
}

void Exchanges::draw_labels(Index exchange, std::span<char> in_first) const {
  if (scheme_ == Exchange::free && first_ < rows_) {
    draw_free_labels(exchange, in_first);
    return;
  }
  if (scheme_ == Exchange::whole_groups || scheme_ == Exchange::blocks) {
    const std::vector<Index> units = RandomStream(seed_, static_cast<std::uint64_t>(exchange)).permutation(std::ssize(begins_) - 1);
    for (std::size_t u = 0; u < units.size(); ++u) {
      const Index other = members_[static_cast<std::size_t>(begins_[static_cast<std::size_t>(units[u])])];
      for (Index i = begins_[u]; i < begins_[u + 1]; ++i)
        in_first[static_cast<std::size_t>(members_[static_cast<std::size_t>(i)])] = other < first_ ? 1 : 0;
    }
    return;
  }
  std::vector<Index> order(static_cast<std::size_t>(rows_));
  draw(exchange, order);
  for (Index i = 0; i < rows_; ++i) in_first[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = i < first_ ? 1 : 0;
}

std::string Exchanges::describe(Index draws) const {
  switch (scheme_) {
    case Exchange::free:
      return fmt::format("{} permutations", draws);
    case Exchange::within_groups:
      return fmt::format("{} permutations of rows within their groups", draws);
    case Exchange::whole_groups:
      return fmt::format("{} permutations of whole groups", draws);
    case Exchange::blocks:
      return fmt::format("{} permutations of blocks of {} rows", draws, block_length_);
    case Exchange::shifts:
      return fmt::format("{} circular shifts", draws);
    case Exchange::pairs:
      return fmt::format("{} exchanges within pairs", draws);
  }
  return "";
}

}  // namespace stats

}  // namespace mercer
