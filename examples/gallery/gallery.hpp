// The experiments of the source documents, each a short program over the public API: a function that makes data, fits, and says what came
// out. `mercer gallery` runs them; tests/gallery checks that their claims hold.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mercer/gallery_report.hpp>
#include <mercer/mercer.hpp>
#include <optional>
#include <string>
#include <vector>

namespace mercer::gallery {

struct Setting {
  bool quick = true;   // all experiments together in two minutes, on built-in data; else as the sources have them
  std::string data{};  // folder of real data sets; empty: built-in data only
  std::uint64_t seed = 0;
  Run run{};
};

// One experiment: its id, its title, and the function that runs it.
struct Entry {
  std::string id{};
  std::string title{};
  Experiment (*make)(const Setting&) = nullptr;
};

// E1 to E14, in that order.
const std::vector<Entry>& experiments();

// The path of a file below the data folder, where there is one: "eeg/eeg.csv.xz".
std::optional<std::string> data_file(const Setting& setting, const std::string& name);

Experiment ridge_calms(const Setting& setting);          // E1
Experiment lifting(const Setting& setting);              // E2
Experiment ridge_kernels(const Setting& setting);        // E3
Experiment svm_kernels(const Setting& setting);          // E4
Experiment dependence_shapes(const Setting& setting);    // E5
Experiment seizures(const Setting& setting);             // E6
Experiment daily_temperature(const Setting& setting);    // E7
Experiment words_in_the_plane(const Setting& setting);   // E8
Experiment random_features(const Setting& setting);      // E9
Experiment witness_of_laplace(const Setting& setting);   // E10
Experiment null_distributions(const Setting& setting);   // E11
Experiment digits_denoised(const Setting& setting);      // E12
Experiment shift_and_squashing(const Setting& setting);  // E13
Experiment explaining_pictures(const Setting& setting);  // E14

}  // namespace mercer::gallery
