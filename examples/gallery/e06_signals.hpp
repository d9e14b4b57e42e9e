// One-second signals of 178 samples in the form of the Bonn EEG data, for E6. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mercer/mercer.hpp>
#include <string>
#include <vector>

namespace mercer::gallery {

struct Signals {
  static constexpr Index length = 178;
  Matrix X;
  std::vector<Index> seizure;    // 1: yes
  std::vector<Index> recording;  // each was cut into several signals

  Signals part(const std::vector<Index>& rows) const;
};

// eeg.csv.xz, where class 1 of 5 is a seizure, and recordings.csv.xz beside it.
Signals read_signals(const std::string& signals, const std::string& recordings);

// Recordings of five signals each, one in five of them a seizure: a strong slow rhythm, or else a restless background with a weak fast one.
Signals simulated_signals(Index recordings, std::uint64_t seed);

}  // namespace mercer::gallery
