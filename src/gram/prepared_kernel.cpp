// SPDX-License-Identifier: BSD-3-Clause
#include "gram/prepared_kernel.hpp"

#include <cassert>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"

namespace mercer {

namespace {

const Kernel& resolved(const Kernel& kernel) {
  if (kernel.has_auto())
    throw InvalidArgument("the kernel " + kernel.text() + " still has automatic length scales: resolve(kernel, X) sets them");
  return kernel;
}

}  // namespace

template <class T>
PreparedKernel<T>::PreparedKernel(const Kernel& kernel, const Samples& X, const Samples& Y)
    : kernel_(std::make_unique<const Kernel>(resolved(kernel))), rows_(X.size()), cols_(Y.size()), symmetric_(X.same_rows(Y)) {
  const Samples cols = as_given(kernel, Y);
  bound_ = bind<T>(*kernel_, symmetric_ ? cols : as_given(kernel, X, Y), cols);
  if (symmetric_) diagonal_ = bound_.root->self(Side::rows);
}

template <class T>
void PreparedKernel<T>::tile(const RowSet& I, Range J, Tile<T> out) const {
  assert(I.count <= tile_size && J.count <= tile_size);
  TileInProgress<T> at(I, J, bound_.slots);
  bound_.root->tile(at, out);
  if (!symmetric_) return;
  const bool on_diagonal = I.ids == nullptr && I.begin == J.begin && I.count == J.count;
  for (Index i = 0; i < I.count; ++i) {
    const Index j = I[i] - J.begin;  // where this row meets itself
    if (j < 0 || j >= J.count) continue;
    out.row(i)[j] = static_cast<T>(diagonal_[I[i]]);
    if (on_diagonal) {
      for (Index c = i + 1; c < J.count; ++c) out.row(c)[i] = out.row(i)[c];
    }
  }
}

template <class T>
void PreparedKernel<T>::add_gradient(Range I, Range J, Tile<double> weights, std::span<double> gradient) const {
  assert((std::is_same_v<T, double>)&&"leaves know gradients in float64 alone");
  TileInProgress<T> at(I, J, bound_.slots);
  bound_.root->add_gradient(at, weights, gradient);
}

template class PreparedKernel<float>;
template class PreparedKernel<double>;

}  // namespace mercer
