// Labels to indices 0 .. k-1 and back. Numbers keep their numeric order, text its alphabetical one.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mercer/matrix.hpp"

namespace mercer {

struct LabelEncoding {
  std::vector<std::string> classes;  // as written; numbers in their shortest form
  std::vector<Index> indices;        // one per sample
};

LabelEncoding encode_labels(std::span<const std::string> labels);  // all numbers: numeric order ("10" after "9")
LabelEncoding encode_labels(std::span<const double> labels);

// Class indices that a vector of numbers holds.
std::vector<Index> class_indices(const Vector& y);
// Class indices to the targets of a score: +1 for the second and -1 for the first of two classes in one column, else one column for each.
Matrix score_targets(const Vector& y, Index classes);

}  // namespace mercer
