// What is said about every kernel, in one table: `mercer kernels`, the docs and the parser's suggestions read it.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernels.hpp"

namespace mercer {

const std::vector<KernelInfo>& kernel_catalogue() {
  static const std::vector<KernelInfo> all{
      {"linear", "<x,y>", "none", "psd; not universal, not characteristic"},
      {"polynomial", "(offset + scale <x,y>)^degree", "degree = 3 (whole, >= 1), scale = 1, offset = 1",
       "psd when scale > 0 and offset >= 0; not universal, not characteristic"},
      {"gaussian", "exp(-|x-y|^2 / (2 length_scale^2))", "length_scale = 1 (> 0, or auto: the median distance)",
       "psd, universal, characteristic"},
      {"laplacian", "exp(-|x-y| / length_scale)", "length_scale = 1 (> 0, or auto: the median distance), norm = l2 (or l1)",
       "psd, universal, characteristic"},
      {"constant", "value", "value = 1", "psd when value >= 0; not universal, not characteristic"},
  };
  return all;
}

}  // namespace mercer
