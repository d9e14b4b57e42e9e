// SPDX-License-Identifier: BSD-3-Clause
#include "models/class_counts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mercer/error.hpp"
#include "models/weights.hpp"

namespace mercer {

Index require_classes(const Samples& X, const std::vector<Index>& labels, const Vector& sample_weight) {
  if (X.empty()) throw InvalidArgument("there are no samples: X must have at least one row");
  if (static_cast<Index>(labels.size()) != X.size())
    throw InvalidArgument(fmt::format("X has {} samples but y has {}", X.size(), labels.size()));
  root_weights(sample_weight, X.size());  // for its checks
  Index classes = 0;
  for (const Index label : labels) {
    if (label < 0 || label >= X.size()) throw InvalidArgument(fmt::format("labels must be class indices 0, 1, ..., got {}", label));
    classes = std::max(classes, label + 1);
  }
  if (classes < 2) throw InvalidArgument("there is only one class: a classifier needs samples of at least two");
  Vector mass = Vector::Zero(classes);
  for (std::size_t i = 0; i < labels.size(); ++i) mass[labels[i]] += sample_weight.size() > 0 ? sample_weight[static_cast<Index>(i)] : 1;
  for (Index c = 0; c < classes; ++c) {
    if (mass[c] == 0) throw InvalidArgument(fmt::format("class {} has no sample of positive weight", c));
  }
  return classes;
}

}  // namespace mercer
