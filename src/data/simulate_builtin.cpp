// The built-in sets by name: one table of names, sizes and makers.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "mercer/error.hpp"
#include "mercer/simulate.hpp"

namespace mercer::simulate {

namespace {

using Seed = std::uint64_t;

struct Builtin {
  const char* name;
  const char* target;  // the columns before it are x, or x1, x2, ...
  Labelled (*make)(Seed);
};

Labelled joined(Pair pair) { return {std::move(pair.x), pair.y.col(0)}; }

constexpr std::array builtins{
    Builtin{"two_gaussians", "class", [](Seed seed) { return two_gaussians(400, 2, 2, seed); }},
    Builtin{"moons", "class", [](Seed seed) { return moons(400, 0.25, seed); }},
    Builtin{"circles", "class", [](Seed seed) { return circles(400, 0.1, 0.5, seed); }},
    Builtin{"disc_in_ring", "class", [](Seed seed) { return disc_in_ring(400, seed); }},
    Builtin{"blobs", "class", [](Seed seed) { return blobs(400, 3, 2, 1, seed); }},
    Builtin{"parabola", "class", [](Seed) { return parabola(); }},
    Builtin{"sine_band", "class", [](Seed seed) { return sine_band(600, seed); }},
    Builtin{"waves", "y", [](Seed seed) { return waves(400, 0.3, seed); }},
    Builtin{"regression", "y", [](Seed seed) { return regression(1000, 20, 0.1, seed); }},
    Builtin{"cubic", "y", [](Seed seed) { return joined(cubic(100, seed)); }},
    Builtin{"cosine", "y", [](Seed seed) { return joined(cosine(100, seed)); }},
    Builtin{"noisy_circle", "y", [](Seed seed) { return joined(noisy_circle(100, seed)); }},
};

Column column_of(std::string name, const Vector& values) {
  return {std::move(name), std::vector<double>(values.begin(), values.end()), {}};
}

}  // namespace

Table builtin(const std::string& name, std::uint64_t seed) {
  for (const Builtin& set : builtins) {
    if (name != set.name) continue;
    const Labelled rows = set.make(seed);
    Table table;
    table.source = "builtin:" + name;
    table.has_header = true;
    for (Index j = 0; j < rows.X.cols(); ++j) {
      table.columns.push_back(column_of(rows.X.cols() == 1 ? "x" : fmt::format("x{}", j + 1), rows.X.col(j)));
    }
    table.columns.push_back(column_of(set.target, rows.y));
    for (const Column& column : table.columns) table.names.push_back(column.name);
    return table;
  }
  throw InvalidArgument(fmt::format("there is no built-in set \"{}\"; the built-in sets are {}", name, fmt::join(builtin_names(), ", ")));
}

std::vector<std::string> builtin_names() {
  std::vector<std::string> names;
  names.reserve(builtins.size());
  for (const Builtin& set : builtins) names.emplace_back(set.name);
  return names;
}

}  // namespace mercer::simulate
