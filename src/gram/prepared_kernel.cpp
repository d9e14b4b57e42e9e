// SPDX-License-Identifier: BSD-3-Clause
#include "gram/prepared_kernel.hpp"

#include <deque>

#include "mercer/error.hpp"

namespace mercer {

namespace {

template <class F>
void for_each_leaf(const KernelNode& node, F&& f) {
  if (node.kind() == KernelNode::Kind::leaf) {
    f(node);
  } else {
    for (const Kernel& part : node.parts()) for_each_leaf(part.node(), f);
  }
}

// Scratch tiles of this thread, by use: one per reduction that several leaves share, then one per nesting level. A deque keeps them in
// place as it grows.
template <class T>
Tile<T> scratch(std::size_t place, Index rows, Index cols) {
  thread_local std::deque<std::vector<T>> tiles;
  while (tiles.size() <= place) tiles.emplace_back();
  auto& memory = tiles[place];
  if (memory.size() < static_cast<std::size_t>(rows * cols)) memory.resize(static_cast<std::size_t>(rows * cols));
  return {memory.data(), rows, cols, cols};
}

template <class T>
void copy_tile(Tile<T> from, Tile<T> to) {
  for (Index i = 0; i < from.rows; ++i) std::copy_n(from.row(i), from.cols, to.row(i));
}

// Which shared reductions of the current tile are already there; valid during one call of tile() on one thread.
thread_local std::array<bool, 4> shared_ready{};

}  // namespace

ReductionSet reductions_of(const Kernel& kernel) {
  ReductionSet needed;
  for_each_leaf(kernel.node(), [&](const KernelNode& leaf) { needed.insert(leaf.reduction()); });
  return needed;
}

template <class T>
PreparedKernel<T>::PreparedKernel(const Kernel& kernel, const Samples& rows, const Samples& cols)
    : kernel_(kernel), reducer_(rows, cols, reductions_of(kernel)) {
  if (kernel.has_auto())
    throw InvalidArgument("the kernel " + kernel.text() + " still has automatic length scales: resolve(kernel, X) sets them");
  for_each_leaf(kernel_.node(), [&](const KernelNode& leaf) { ++uses_[static_cast<std::size_t>(leaf.reduction())]; });
  if (symmetric()) {
    diagonal_.resize(this->rows());
    evaluate_diagonal(kernel_.node(), diagonal_);
  }
}

template <class T>
void PreparedKernel<T>::evaluate_diagonal(const KernelNode& node, Vector& out) const {
  switch (node.kind()) {
    case KernelNode::Kind::leaf: {
      out = reducer_.self(node.reduction());
      node.finish(Tile<double>{out.data(), 1, out.size(), out.size()});
      break;
    }
    case KernelNode::Kind::scaled:
      evaluate_diagonal(node.parts()[0].node(), out);
      out *= node.factor();
      break;
    case KernelNode::Kind::sum:
    case KernelNode::Kind::product: {
      evaluate_diagonal(node.parts()[0].node(), out);
      Vector other(out.size());
      for (const Kernel& part : node.parts().subspan(1)) {
        evaluate_diagonal(part.node(), other);
        if (node.kind() == KernelNode::Kind::sum) {
          out += other;
        } else {
          out.array() *= other.array();
        }
      }
      break;
    }
  }
}

template <class T>
void PreparedKernel<T>::evaluate(const KernelNode& node, Range I, Range J, Tile<T> out, int level) const {
  const auto& ops = simd::ops<T>();
  switch (node.kind()) {
    case KernelNode::Kind::leaf: {
      const auto which = static_cast<std::size_t>(node.reduction());
      if (uses_[which] > 1 && node.reduction() != Reduction::none) {
        const Tile<T> shared = scratch<T>(which, out.rows, out.cols);
        if (!shared_ready[which]) reducer_.reduce(node.reduction(), I, J, shared);
        shared_ready[which] = true;
        copy_tile(shared, out);
      } else {
        reducer_.reduce(node.reduction(), I, J, out);
      }
      node.finish(out);
      break;
    }
    case KernelNode::Kind::scaled:
      evaluate(node.parts()[0].node(), I, J, out, level);
      simd::for_rows(out, [&](T* x, Index n) { ops.scale(x, n, static_cast<T>(node.factor())); });
      break;
    case KernelNode::Kind::sum:
    case KernelNode::Kind::product: {
      evaluate(node.parts()[0].node(), I, J, out, level + 1);
      const auto combine = node.kind() == KernelNode::Kind::sum ? ops.add : ops.multiply;
      for (const Kernel& part : node.parts().subspan(1)) {
        const Tile<T> other = scratch<T>(uses_.size() + static_cast<std::size_t>(level), out.rows, out.cols);
        evaluate(part.node(), I, J, other, level + 1);
        for (Index i = 0; i < out.rows; ++i) combine(out.row(i), other.row(i), out.cols);
      }
      break;
    }
  }
}

template <class T>
void PreparedKernel<T>::tile(Range I, Range J, Tile<T> out) const {
  shared_ready.fill(false);
  evaluate(kernel_.node(), I, J, out, 0);
  if (!symmetric()) return;
  const bool on_diagonal = I.begin == J.begin && I.count == J.count;
  for (Index i = 0; i < I.count; ++i) {
    const Index j = I.begin + i - J.begin;  // where this row meets itself
    if (j < 0 || j >= J.count) continue;
    out.row(i)[j] = static_cast<T>(diagonal_[I.begin + i]);
    if (on_diagonal) {
      for (Index c = i + 1; c < J.count; ++c) out.row(c)[i] = out.row(i)[c];
    }
  }
}

template class PreparedKernel<float>;
template class PreparedKernel<double>;

}  // namespace mercer
