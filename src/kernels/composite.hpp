// What all composites share: text, properties and depth are worked out once, when one is built; asked for afresh at every level they would
// cost exponential time in the depth.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "kernels/node.hpp"

namespace mercer {

class Composite : public KernelNode {
 public:
  std::span<const Kernel> parts() const override { return parts_; }
  std::string text() const override { return text_; }
  Properties properties() const override { return properties_; }
  int depth() const override { return depth_; }
  bool has_auto() const override { return has_auto_; }

 protected:
  Composite(std::vector<Kernel> parts, std::string text, Properties properties, int depth);

 private:
  std::vector<Kernel> parts_;
  std::string text_;
  Properties properties_;
  int depth_ = 0;
  bool has_auto_ = false;
};

// How a part stands in a product (sums in brackets) and before a postfix such as ^2 or .exp() (all but names and calls in brackets), and
// how deep that makes the whole.
std::string in_product(const Kernel& part);
std::string before_postfix(const Kernel& part);
int depth_in_product(const Kernel& part);
int depth_before_postfix(const Kernel& part);

}  // namespace mercer
