// SPDX-License-Identifier: BSD-3-Clause
#include "gram/row_evaluator.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/node.hpp"
#include "simd/smo_ops.hpp"
#include "simd/tile_ops.hpp"

namespace mercer {

namespace {

bool is_plain_leaf(const KernelNode& node) {
  const Reduction r = node.reduction();
  return node.kind() == KernelNode::Kind::leaf && node.transform().empty() &&
         (r == Reduction::dot || r == Reduction::squared_distance || r == Reduction::l1_distance);
}

}  // namespace

std::shared_ptr<const RowEvaluator> RowEvaluator::make(const Kernel& kernel, const Samples& rows) {
  const KernelNode& node = kernel.node();
  const bool scaled = node.kind() == KernelNode::Kind::scaled;
  if (rows.empty() || rows.is_sparse() || rows.is_given() || rows.has_objects() || !is_plain_leaf(scaled ? node.parts()[0].node() : node))
    return nullptr;
  return std::shared_ptr<const RowEvaluator>(new RowEvaluator(kernel, rows));
}

RowEvaluator::RowEvaluator(const Kernel& kernel, const Samples& rows)
    : kernel_(kernel), size_(rows.size()), width_(rows.width()), rows_(rows) {
  if (kernel.node().kind() == KernelNode::Kind::scaled) {
    factor_ = kernel.node().factor();
    kernel_ = kernel.node().parts()[0];
  }
}

void RowEvaluator::pack() const {
  const Index blocks = (size_ + lanes - 1) / lanes;
  Buffer<double> packed(static_cast<std::size_t>(blocks * lanes * width_));
  std::fill_n(packed.data(), packed.size(), 0.0);
  std::visit(
      [&](const auto& all) {
        if constexpr (requires { all.data; }) {
          for (Index j = 0; j < size_; ++j) {
            double* block = packed.data() + j / lanes * lanes * width_ + j % lanes;
            for (Index k = 0; k < width_; ++k) block[k * lanes] = static_cast<double>(all.row(j)[k]);
          }
        }
      },
      rows_.storage());
  packed_ = std::move(packed);
}

std::span<const double> RowEvaluator::values(std::span<const double> x) const {
  std::call_once(once_, [this] { pack(); });
  thread_local std::vector<double> memory;
  thread_local std::vector<const double*> columns;
  const Index padded = (size_ + lanes - 1) / lanes * lanes;
  if (static_cast<Index>(memory.size()) < padded) memory.resize(static_cast<std::size_t>(padded));
  if (static_cast<Index>(columns.size()) < width_) columns.resize(static_cast<std::size_t>(width_));
  double* out = memory.data();
  const KernelNode& node = kernel_.node();
  const Reduction reduction = node.reduction();
  const auto& tile_ops = simd::ops<double>();
  const auto& smo_ops = simd::smo_ops<double>();
  for (Index j = 0; j < padded; j += lanes) {
    const double* block = packed_.data() + j * width_;
    if (reduction == Reduction::dot) {
      std::fill_n(out + j, lanes, 0.0);
      for (Index k = 0; k < width_; ++k) columns[static_cast<std::size_t>(k)] = block + k * lanes;
      smo_ops.add_rows(out + j, columns.data(), x.data(), width_, lanes);
    } else {
      const auto distances = reduction == Reduction::squared_distance ? tile_ops.squared_distances : tile_ops.l1_distances;
      distances(x.data(), width_, block, lanes, width_, {out + j, 1, lanes, lanes});
    }
  }
  node.finish(simd::Tile<double>{out, 1, size_, size_});
  if (factor_ != 1) tile_ops.scale(out, size_, factor_);
  return {out, static_cast<std::size_t>(size_)};
}

}  // namespace mercer
