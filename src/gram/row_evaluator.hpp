// k(x, x_j) of one new row x against all rows of a model, for answers within microseconds: the model's rows are laid out at the first
// call, 64 side by side, and nothing is allocated on the way from then on. For kernels of one leaf (and a factor) that looks at all columns
// of dense rows: others go the way of batches. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <span>

#include "core/buffer.hpp"
#include "mercer/kernels.hpp"
#include "mercer/samples.hpp"

namespace mercer {

class RowEvaluator {
 public:
  // Null where the kernel or the rows are not of that kind. float64 throughout.
  static std::shared_ptr<const RowEvaluator> make(const Kernel& kernel, const Samples& rows);

  Index size() const { return size_; }
  Index width() const { return width_; }
  bool is_packed() const { return packed_.size() > 0; }  // while no other thread asks for values
  // The kernel values, valid until the thread's next call. x has width() finite numbers.
  std::span<const double> values(std::span<const double> x) const;

 private:
  RowEvaluator(const Kernel& kernel, const Samples& rows);
  void pack() const;

  static constexpr Index lanes = 64;
  Kernel kernel_;
  double factor_ = 1;
  Index size_;
  Index width_;
  Samples rows_;                     // a handle on the model's own
  mutable std::once_flag once_{};    // a fit or a loaded file that is only asked for batches never pays for the layout
  mutable Buffer<double> packed_{};  // block after block: width x 64, the last one filled up with zeros
};

}  // namespace mercer
