// The list of the experiments, and where their data are.
// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>

#include "gallery.hpp"

namespace mercer::gallery {

const std::vector<Entry>& experiments() {
  static const std::vector<Entry> all{
      {"E1", "Ridge is calm where least squares wiggles", ridge_calms},
      {"E2", "Lifting makes sets separable", lifting},
      {"E3", "Four kernels on one curve", ridge_kernels},
      {"E4", "Three sets, three kernels, their boundaries", svm_kernels},
      {"E5", "HSIC sees what ranks do not", dependence_shapes},
      {"E6", "Seizures in one second of EEG", seizures},
      {"E7", "How far back a day looks", daily_temperature},
      {"E8", "Countries and emotions part in the plane", words_in_the_plane},
      {"E9", "Random features stand in for a kernel", random_features},
      {"E10", "The witness of a normal against a Laplace law", witness_of_laplace},
      {"E11", "Null distributions of n MMD²", null_distributions},
      {"E12", "Digits without their noise", digits_denoised},
      {"E13", "Weights that move a sample, and a few rows for all", shift_and_squashing},
      {"E14", "The pictures that explain", explaining_pictures},
  };
  return all;
}

std::optional<std::string> data_file(const Setting& setting, const std::string& name) {
  if (setting.data.empty()) return std::nullopt;
  const std::filesystem::path path = std::filesystem::path(setting.data) / name;
  std::error_code unreadable;  // what cannot be looked at is not there
  if (!std::filesystem::is_regular_file(path, unreadable)) return std::nullopt;
  return path.string();
}

}  // namespace mercer::gallery
