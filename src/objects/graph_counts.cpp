// SPDX-License-Identifier: BSD-3-Clause
#include "objects/graph_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "mercer/error.hpp"
#include "mercer/run.hpp"

namespace mercer::objects {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

Vector squares_of(const CsrRows<double>& rows) {
  Vector squares(rows.rows);
  parallel_for(rows.rows, [&](Index i) {
    double sum = 0;
    for (Index e = rows.begin(i); e < rows.end(i); ++e) sum += rows.values[e] * rows.values[e];
    squares(i) = sum;
  });
  return squares;
}

}  // namespace

Features features_of(GraphCountRows counts, Index width, const BothGraphs& both) {
  const auto owner = std::make_shared<const GraphCountRows>(std::move(counts));
  const Index rows = std::ssize(both.rows);
  const CsrRows<double> first{owner->values.data(), owner->columns.data(), owner->offsets.data(), rows, width};
  Features features{Samples::borrow(first, owner), {}, squares_of(first), {}};
  if (both.same) {
    features.cols = features.rows;
    features.self_cols = features.self_rows;
  } else {
    const CsrRows<double> second{first.values, first.columns, first.offsets + rows, std::ssize(both.cols), width};
    features.cols = Samples::borrow(second, owner);
    features.self_cols = squares_of(second);
  }
  return features;
}

void KeyTally::add(std::uint64_t key, std::uint64_t times) {
  if (2 * used_ >= places_.size()) grow();
  const std::size_t mask = places_.size() - 1;
  // The middle bits of a product depend on all lower bits of the key.
  for (std::size_t place = (key * 0x9e3779b97f4a7c15u >> 20) & mask;; place = (place + 1) & mask) {
    Entry& entry = places_[place];
    if (entry.count == 0) {
      entry = {key, times};
      ++used_;
      return;
    }
    if (entry.key == key) {
      entry.count += times;
      return;
    }
  }
}

void KeyTally::grow() {
  const std::vector<Entry> before = std::exchange(places_, std::vector<Entry>(std::max<std::size_t>(64, 2 * places_.size())));
  used_ = 0;
  for (const Entry& entry : before)
    if (entry.count != 0) add(entry.key, entry.count);
}

std::vector<KeyTally::Entry> KeyTally::sorted() const {
  std::vector<Entry> entries;
  entries.reserve(used_);
  std::copy_if(places_.begin(), places_.end(), std::back_inserter(entries), [](const Entry& entry) { return entry.count != 0; });
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
  return entries;
}

Features features_of(const std::vector<std::vector<KeyTally::Entry>>& graphs, const BothGraphs& both) {
  KeyTally all;
  GraphCountRows counts{{0}, {}, {}};
  for (const auto& graph : graphs) {
    for (const KeyTally::Entry& entry : graph) all.add(entry.key);
    counts.offsets.push_back(counts.offsets.back() + std::ssize(graph));
  }
  const std::vector<KeyTally::Entry> keys = all.sorted();
  if (std::ssize(keys) > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument(fmt::format("the graphs have {} different features, wanted at most {}; take fewer graphs at a time", keys.size(),
                                      std::numeric_limits<std::int32_t>::max()));
  counts.columns.resize(at(counts.offsets.back()));
  counts.values.resize(at(counts.offsets.back()));
  parallel_for(std::ssize(graphs), [&](Index g) {
    auto column = keys.begin();
    auto out = at(counts.offsets[at(g)]);
    for (const KeyTally::Entry& entry : graphs[at(g)]) {
      column = std::lower_bound(column, keys.end(), entry.key, [](const KeyTally::Entry& a, std::uint64_t key) { return a.key < key; });
      counts.columns[out] = static_cast<std::int32_t>(column - keys.begin());
      counts.values[out++] = static_cast<double>(entry.count);
    }
  });
  return features_of(std::move(counts), std::ssize(keys), both);
}

}  // namespace mercer::objects
