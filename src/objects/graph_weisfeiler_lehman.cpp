// Colour refinement of all graphs at once. Signatures are made and hashed graph by graph in parallel; numbers are given node by node in one
// fixed order, so they depend on no thread.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "mercer/error.hpp"
#include "mercer/run.hpp"
#include "objects/graph_adjacency.hpp"
#include "objects/graph_counts.hpp"
#include "objects/graph_kernels.hpp"

namespace mercer::objects {

namespace {

using Colours = std::vector<std::int32_t>;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// Neighbours are few as a rule, and insertion is the fastest way to sort a few.
void sort_few(std::uint64_t* begin, std::uint64_t* end) {
  if (end - begin > 24) {
    std::sort(begin, end);
    return;
  }
  for (std::uint64_t* next = begin + (begin != end); next < end; ++next) {
    const std::uint64_t value = *next;
    std::uint64_t* place = next;
    for (; place > begin && place[-1] > value; --place) *place = place[-1];
    *place = value;
  }
}

class Refinement {
 public:
  explicit Refinement(const Adjacency& graphs)
      : graphs_(graphs), words_(at(graphs.nodes()) + graphs.neighbours.size()), hashes_(at(graphs.nodes())) {}

  // The colours one iteration further, numbered from 0 in the order of the nodes; `count` becomes how many there are.
  Colours next(const Colours& colours, Index& count) {
    parallel_for(graphs_.graphs(), [&](Index g) { sign(g, colours, count); });
    return number(count);
  }

 private:
  // A node's words: its own colour, then its neighbours in ascending order, each with the label of the edge that leads there.
  std::uint64_t* words_of(Index v) { return words_.data() + graphs_.offsets[at(v)] + v; }
  Index length_of(Index v) const { return 1 + graphs_.offsets[at(v) + 1] - graphs_.offsets[at(v)]; }

  void sign(Index g, const Colours& colours, Index count) {
    const Index begin = graphs_.first[at(g)];
    const std::int32_t* of_graph = colours.data() + begin;
    for (Index v = begin; v < graphs_.first[at(g) + 1]; ++v) {
      std::uint64_t* const words = words_of(v);
      std::uint64_t* out = words;
      *out++ = static_cast<std::uint64_t>(colours[at(v)]);
      for (std::int64_t e = graphs_.offsets[at(v)]; e < graphs_.offsets[at(v) + 1]; ++e) {
        const auto colour = static_cast<std::uint64_t>(of_graph[graphs_.neighbours[at(e)]]);
        *out++ = graphs_.edge_labels.empty()
                     ? colour
                     : static_cast<std::uint64_t>(graphs_.edge_labels[at(e)]) * static_cast<std::uint64_t>(count) + colour;
      }
      sort_few(words + 1, out);
      auto hash = static_cast<std::uint64_t>(out - words);
      for (const std::uint64_t* word = words; word < out; ++word) {
        hash = (hash ^ *word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
      }
      hashes_[at(v)] = hash;
    }
  }

  bool alike(Index v, Index w) {
    return hashes_[at(v)] == hashes_[at(w)] && length_of(v) == length_of(w) &&
           std::equal(words_of(v), words_of(v) + length_of(v), words_of(w));
  }

  Colours number(Index& count) {
    const Index nodes = graphs_.nodes();
    const std::size_t places = std::bit_ceil(2 * at(nodes) + 1);
    std::vector<std::int32_t> table(places, -1);  // colours
    std::vector<std::int32_t> examples;           // the first node of every colour
    Colours colours(at(nodes));
    for (Index v = 0; v < nodes; ++v) {
      std::size_t place = hashes_[at(v)] & (places - 1);
      while (table[place] >= 0 && !alike(v, examples[at(table[place])])) place = (place + 1) & (places - 1);
      if (table[place] < 0) {
        table[place] = static_cast<std::int32_t>(examples.size());
        examples.push_back(static_cast<std::int32_t>(v));
      }
      colours[at(v)] = table[place];
    }
    count = std::ssize(examples);
    return colours;
  }

  const Adjacency& graphs_;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> hashes_;
};

// The colours of every iteration, and where the columns of each begin.
struct Palette {
  std::vector<Colours> colours;
  std::vector<Index> first;
};

Palette refine(const Adjacency& graphs, int iterations) {
  Palette palette{{graphs.labels}, {0, graphs.label_count}};
  if (graphs.nodes() == 0) return palette;
  Refinement refinement(graphs);
  Index count = graphs.label_count;
  bool stable = false;
  for (int i = 0; i < iterations; ++i) {
    const Index before = count;
    palette.colours.push_back(stable ? palette.colours.back() : refinement.next(palette.colours.back(), count));
    // A refinement that splits no colour splits none later, and numbers in the order of the nodes stay as they are.
    stable = stable || count == before;
    palette.first.push_back(palette.first.back() + count);
  }
  return palette;
}

// Sorts the colours of every graph and iteration, then writes their runs.
GraphCountRows count_colours(const Adjacency& graphs, Palette palette) {
  std::vector<std::int64_t> runs(at(graphs.graphs()) + 1, 0);
  parallel_for(graphs.graphs(), [&](Index g) {
    for (Colours& colours : palette.colours) {
      const auto begin = colours.begin() + graphs.first[at(g)];
      const auto end = colours.begin() + graphs.first[at(g) + 1];
      std::sort(begin, end);
      for (auto it = begin; it != end; ++it) runs[at(g) + 1] += it == begin || *it != it[-1];
    }
  });
  GraphCountRows counts{std::move(runs), {}, {}};
  for (std::size_t g = 1; g < counts.offsets.size(); ++g) counts.offsets[g] += counts.offsets[g - 1];
  counts.columns.resize(at(counts.offsets.back()));
  counts.values.resize(at(counts.offsets.back()));
  parallel_for(graphs.graphs(), [&](Index g) {
    auto out = at(counts.offsets[at(g)]);
    for (std::size_t i = 0; i < palette.colours.size(); ++i) {
      const auto end = palette.colours[i].begin() + graphs.first[at(g) + 1];
      for (auto it = palette.colours[i].begin() + graphs.first[at(g)]; it != end;) {
        const auto next = std::find_if(it, end, [colour = *it](std::int32_t other) { return other != colour; });
        counts.columns[out] = static_cast<std::int32_t>(palette.first[i] + *it);
        counts.values[out++] = static_cast<double>(next - it);
        it = next;
      }
    }
  });
  return counts;
}

Vector assignment_self(std::span<const Graph* const> graphs, int iterations) {
  Vector self(std::ssize(graphs));
  for (Index g = 0; g < self.size(); ++g) self(g) = static_cast<double>(graphs[at(g)]->nodes) * (iterations + 1.0);
  return self;
}

}  // namespace

Features weisfeiler_lehman(const BothGraphs& both, int iterations) {
  if (iterations < 0) throw InvalidArgument(fmt::format("the iterations of weisfeiler_lehman must be >= 0, got {}", iterations));
  const Adjacency graphs = adjacency_of(both);
  const double entries = static_cast<double>(graphs.nodes()) * (iterations + 1.0);
  if (entries > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument(
        fmt::format("weisfeiler_lehman of {} nodes and {} iterations can have more than 2^31 colours; take fewer iterations",
                    graphs.nodes(), iterations));
  require_memory(static_cast<std::size_t>(16 * entries), 0, fmt::format("the colours of {} iterations of weisfeiler_lehman", iterations),
                 "take fewer iterations");
  Palette palette = refine(graphs, iterations);
  const Index width = palette.first.back();
  return features_of(count_colours(graphs, std::move(palette)), width, both);
}

Features weisfeiler_lehman_assignment(const BothGraphs& both, int iterations) {
  Features features = weisfeiler_lehman(both, iterations);
  features.self_rows = assignment_self(both.rows, iterations);
  features.self_cols = both.same ? features.self_rows : assignment_self(both.cols, iterations);
  return features;
}

}  // namespace mercer::objects
