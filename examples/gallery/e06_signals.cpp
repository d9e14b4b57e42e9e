// SPDX-License-Identifier: BSD-3-Clause
#include "e06_signals.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace mercer::gallery {

Signals Signals::part(const std::vector<Index>& rows) const {
  Signals out{X(rows, Eigen::all), {}, {}};
  for (const Index row : rows) {
    out.seizure.push_back(seizure[static_cast<std::size_t>(row)]);
    out.recording.push_back(recording[static_cast<std::size_t>(row)]);
  }
  return out;
}

Signals read_signals(const std::string& signals, const std::string& recordings) {
  const Table table = read_table(signals), cut_from = read_table(recordings);
  const Dataset data = make_dataset(table, {.target = "y", .task = Task::classification, .positive = "1"});
  if (cut_from.rows() != table.rows())
    throw FileError(
        fmt::format("{} has {} rows, {} has {}; both need one for each signal", signals, table.rows(), recordings, cut_from.rows()));
  return {data.X.to_dense(), class_indices(data.y), encode_labels(cut_from.columns.at(0).text()).indices};
}

Signals simulated_signals(Index recordings, std::uint64_t seed) {
  constexpr Index each = 5;
  Signals s{Matrix(recordings * each, Signals::length), {}, {}};
  for (Index r = 0; r < recordings; ++r) {
    RandomStream random(seed, static_cast<std::uint64_t>(r));
    const bool seizure = r % 5 == 0;
    const double strength = std::exp(0.6 * random.normal());
    const double hertz = seizure ? random.uniform(3, 6) : random.uniform(8, 12);
    for (Index i = r * each; i < (r + 1) * each; ++i) {
      const double phase = random.uniform(0, 2 * std::numbers::pi);
      double background = 0;
      for (Index t = 0; t < Signals::length; ++t) {
        background = 0.9 * background + 20 * random.normal();
        const double turn = 2 * std::numbers::pi * hertz * static_cast<double>(t) / Signals::length + phase;
        const double rhythm = seizure ? 180 * std::sin(turn) + 60 * std::sin(2 * turn) : 25 * std::sin(turn);
        s.X(i, t) = strength * (rhythm + background);
      }
      s.seizure.push_back(seizure ? 1 : 0);
      s.recording.push_back(r);
    }
  }
  return s;
}

}  // namespace mercer::gallery
