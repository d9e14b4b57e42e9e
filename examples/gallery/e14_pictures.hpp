// The parts of E14: each adds its pictures, numbers and claims.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "gallery.hpp"

namespace mercer::gallery {

void margin_and_slack(const Setting& setting, Experiment& out);  // K fig 3-5
void lifts(const Setting& setting, Experiment& out);             // K fig 8; L, All Degree 2 Monomials
void surfaces(const Setting& setting, Experiment& out);          // K fig 6-7
void class_means(const Setting& setting, Experiment& out);       // L, An Example of a Kernel Algorithm

// Names of the classes 0 and 1 in the legend.
inline std::vector<std::string> named(const std::vector<Index>& labels, const std::string& zero, const std::string& one) {
  std::vector<std::string> words;
  for (const Index label : labels) words.push_back(label == 0 ? zero : one);
  return words;
}

}  // namespace mercer::gallery
