// SPDX-License-Identifier: BSD-3-Clause
#include "models/preimage_slopes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gram/tiling.hpp"
#include "linalg/blas.hpp"

namespace mercer {

namespace {

using Kind = KernelNode::Kind;

// Below this share of |x|^2 + |y|^2 a squared distance from dot products has lost too many digits.
constexpr double cancellation = 1e-3;

Tile<double> tile_of(Matrix& m) { return {m.data(), m.rows(), m.cols(), m.cols()}; }
Tile<const double> tile_of(const Matrix& m) { return {m.data(), m.rows(), m.cols(), m.cols()}; }

std::vector<Index> positions(std::span<const ColumnRef> columns, Index width) {
  std::vector<Index> out;
  for (const ColumnRef& column : columns) out.push_back(column.index);
  if (columns.empty()) {
    out.resize(static_cast<std::size_t>(width));
    std::iota(out.begin(), out.end(), Index{0});
  }
  return out;
}

// Walks a kernel, numbers its terms and gathers what its leaves look at; stops at the first part that has no slope.
struct Builder {
  Index width;
  std::vector<SlopeView> views{};
  std::size_t terms = 0;
  std::optional<std::string> refused{};

  SlopeTerm term(const Kernel& kernel, const std::vector<ColumnRef>& columns) {
    const KernelNode& node = kernel.node();
    if (node.kind() == Kind::restricted) return term(node.parts()[0], columns_within(columns, node.columns()));
    SlopeTerm out;
    out.node = &node;
    out.number = terms++;
    switch (node.kind()) {
      case Kind::leaf:
        add_leaf(node, columns, out);
        break;
      case Kind::sum:
      case Kind::product:
      case Kind::scaled:
      case Kind::mapped:
        for (const Kernel& part : node.parts()) out.parts.push_back(term(part, columns));
        break;
      default:
        refuse(node);
    }
    return out;
  }

  void refuse(const KernelNode& node) {
    if (!refused) refused = node.text();
  }

  void add_leaf(const KernelNode& node, const std::vector<ColumnRef>& columns, SlopeTerm& out) {
    const Reduction reduction = node.reduction();
    const Transform& t = node.transform();
    const bool smooth = reduction == Reduction::dot || reduction == Reduction::squared_distance;
    if (!(smooth || reduction == Reduction::none) || t.map != nullptr || t.unit_rows || !t.periods.empty()) {
      refuse(node);
      return;
    }
    out.in_finish = node.own_parameters().size() - std::min(node.own_parameters().size(), t.scales.size());
    if (!smooth) return;  // a constant
    SlopeView view{.columns = positions(columns, width), .scales = t.scales, .reduction = reduction};
    const auto same = [&](const SlopeView& v) {
      return v.columns == view.columns && v.scales == view.scales && v.reduction == view.reduction;
    };
    const auto at = std::find_if(views.begin(), views.end(), same);
    out.view = at - views.begin();
    if (at == views.end()) views.push_back(std::move(view));
  }
};

}  // namespace

// One tile being worked on: reductions and their slopes by view, values by term.
struct KernelSlopes::Scratch {
  std::vector<Matrix> reductions{};
  std::vector<Matrix> slopes{};
  std::vector<Matrix> values{};
  std::vector<double> unused{};  // gradients of parameters, which nobody asks for here

  Scratch(std::size_t views, std::size_t terms) : reductions(views), slopes(views), values(terms) {}
};

std::optional<std::string> KernelSlopes::refusal(const Kernel& kernel, Index width) {
  Builder builder{.width = width};
  builder.term(kernel, {});
  if (builder.refused) return builder.refused;
  if (builder.views.empty()) return kernel.text();
  return {};
}

KernelSlopes::KernelSlopes(Kernel kernel, const Matrix& X) : kernel_(std::move(kernel)), n_(X.rows()), d_(X.cols()) {
  Builder builder{.width = d_};
  root_ = builder.term(kernel_, {});
  views_ = std::move(builder.views);
  terms_ = builder.terms;
  const Vector mean = X.colwise().mean();
  const Vector from_mean = (X.rowwise() - mean.transpose()).rowwise().squaredNorm();
  spread_ = std::sqrt(from_mean.mean());
  radius_ = std::sqrt(from_mean.maxCoeff());
  for (SlopeView& view : views_) {
    const auto columns = static_cast<Index>(view.columns.size());
    view.centre = Vector::Zero(columns);
    view.inverse_scale = Vector::Ones(columns);
    for (Index c = 0; c < columns; ++c) {
      if (!view.scales.empty()) view.inverse_scale[c] = 1 / view.scales[static_cast<std::size_t>(c)];
      if (view.reduction == Reduction::squared_distance) view.centre[c] = mean[view.columns[static_cast<std::size_t>(c)]];
    }
    view.rows = seen(view, X);
    view.squares = view.rows.rowwise().squaredNorm();
  }
}

Matrix KernelSlopes::seen(const SlopeView& view, const Matrix& Z) const {
  Matrix out(Z.rows(), static_cast<Index>(view.columns.size()));
  for (Index i = 0; i < Z.rows(); ++i) {
    for (Index c = 0; c < out.cols(); ++c)
      out(i, c) = (Z(i, view.columns[static_cast<std::size_t>(c)]) - view.centre[c]) * view.inverse_scale[c];
  }
  return out;
}

void KernelSlopes::reduce(const SlopeView& view, const Matrix& Zv, Index begin, Index count, Matrix& out) const {
  out.resize(Zv.rows(), count);
  const Index d = Zv.cols();
  const bool distances = view.reduction == Reduction::squared_distance;
  linalg::gemm_nt(Zv.rows(), count, d, distances ? -2.0 : 1.0, Zv.data(), d, view.rows.row(begin).data(), d, 0.0, out.data(), count);
  if (!distances) return;
  for (Index i = 0; i < Zv.rows(); ++i) {
    const double square = Zv.row(i).squaredNorm();
    for (Index j = 0; j < count; ++j) {
      const double sum = square + view.squares[begin + j];
      out(i, j) += sum;
      if (out(i, j) < cancellation * sum) out(i, j) = (Zv.row(i) - view.rows.row(begin + j)).squaredNorm();
    }
  }
}

// Values of a term and all below it, from the reductions; every value is kept for the way back.
void KernelSlopes::values(const SlopeTerm& term, Scratch& scratch) const {
  Matrix& out = scratch.values[term.number];
  for (const SlopeTerm& part : term.parts) values(part, scratch);
  switch (term.node->kind()) {
    case Kind::leaf:
      if (term.view >= 0) {
        out = scratch.reductions[static_cast<std::size_t>(term.view)];
      } else {
        out.resizeLike(scratch.reductions.front());
      }
      term.node->finish(tile_of(out));
      break;
    case Kind::sum:
      out = scratch.values[term.parts.front().number];
      for (std::size_t p = 1; p < term.parts.size(); ++p) out += scratch.values[term.parts[p].number];
      break;
    case Kind::product:
      out = scratch.values[term.parts.front().number];
      for (std::size_t p = 1; p < term.parts.size(); ++p) out.array() *= scratch.values[term.parts[p].number].array();
      break;
    case Kind::scaled:
      out = term.node->factor() * scratch.values[term.parts.front().number];
      break;
    default:  // mapped: nothing else was built
      out = scratch.values[term.parts.front().number];
      term.node->finish(tile_of(out));
  }
}

void KernelSlopes::backward(const SlopeTerm& term, Scratch& scratch, Matrix& weights) const {
  switch (term.node->kind()) {
    case Kind::leaf: {
      if (term.view < 0) return;
      const auto view = static_cast<std::size_t>(term.view);
      scratch.unused.assign(term.in_finish, 0);
      term.node->gradient(tile_of(std::as_const(scratch.reductions[view])), tile_of(std::as_const(scratch.values[term.number])),
                          tile_of(weights), scratch.unused);
      if (scratch.slopes[view].size() == 0) {
        scratch.slopes[view] = weights;
      } else {
        scratch.slopes[view] += weights;
      }
      return;
    }
    case Kind::sum:
    case Kind::product:
      for (std::size_t p = 0; p < term.parts.size(); ++p) {
        Matrix own = weights;
        for (std::size_t q = 0; term.node->kind() == Kind::product && q < term.parts.size(); ++q) {
          if (q != p) own.array() *= scratch.values[term.parts[q].number].array();
        }
        backward(term.parts[p], scratch, own);
      }
      return;
    case Kind::scaled:
      weights *= term.node->factor();
      break;
    default:
      term.node->gradient(tile_of(std::as_const(scratch.values[term.parts.front().number])),
                          tile_of(std::as_const(scratch.values[term.number])), tile_of(weights), {});
  }
  backward(term.parts.front(), scratch, weights);
}

// k(z, z) and its slope: of distances none, they stay 0.
void KernelSlopes::add_self(const std::vector<Matrix>& seen_rows, SlopeValues& out) const {
  const Index m = out.pull.rows();
  Scratch scratch(views_.size(), terms_);
  for (std::size_t v = 0; v < views_.size(); ++v) {
    scratch.reductions[v] = Matrix::Zero(1, m);
    if (views_[v].reduction == Reduction::dot) scratch.reductions[v].row(0) = seen_rows[v].rowwise().squaredNorm().transpose();
  }
  values(root_, scratch);
  out.self = scratch.values[root_.number].row(0).transpose();
  Matrix weights = Matrix::Ones(1, m);
  backward(root_, scratch, weights);
  for (std::size_t v = 0; v < views_.size(); ++v) {
    if (views_[v].reduction != Reduction::dot) continue;
    for (const Index c : views_[v].columns) out.stiffness.col(c) += scratch.slopes[v].row(0).transpose();
  }
}

SlopeValues KernelSlopes::evaluate(const Matrix& Z, const MatrixRef& G, std::span<const Index> ids) const {
  const Index m = Z.rows();
  SlopeValues out{Vector::Zero(m),     Vector::Zero(m),    Vector::Zero(m), std::vector<char>(static_cast<std::size_t>(m), 0),
                  Matrix::Zero(m, d_), Matrix::Zero(m, d_)};
  std::vector<Matrix> seen_rows;
  std::vector<Matrix> products;  // S X
  std::vector<Vector> sums;      // S 1
  for (const SlopeView& view : views_) {
    seen_rows.push_back(seen(view, Z));
    products.emplace_back(Matrix::Zero(m, view.rows.cols()));
    sums.emplace_back(Vector::Zero(m));
  }
  Scratch scratch(views_.size(), terms_);
  for (Index block = 0; block < block_count(n_); ++block) {
    const Range J = block_range(block, n_);
    for (std::size_t v = 0; v < views_.size(); ++v) {
      reduce(views_[v], seen_rows[v], J.begin, J.count, scratch.reductions[v]);
      scratch.slopes[v].resize(0, 0);
      for (Index i = 0; views_[v].reduction == Reduction::squared_distance && i < m; ++i) {
        if (scratch.reductions[v].row(i).minCoeff() == 0) out.touching[static_cast<std::size_t>(i)] = 1;
      }
    }
    values(root_, scratch);
    Matrix weights(m, J.count);
    for (Index i = 0; i < m; ++i) weights.row(i) = G.row(ids[static_cast<std::size_t>(i)]).segment(J.begin, J.count);
    const Matrix terms = weights.cwiseProduct(scratch.values[root_.number]);
    out.inner += terms.rowwise().sum();
    out.absolute += terms.cwiseAbs().rowwise().sum();
    backward(root_, scratch, weights);
    for (std::size_t v = 0; v < views_.size(); ++v) {
      const Matrix& S = scratch.slopes[v];
      const Index d = views_[v].rows.cols();
      sums[v] += S.rowwise().sum();
      linalg::gemm_n(false, m, d, J.count, 1.0, S.data(), J.count, views_[v].rows.row(J.begin).data(), d, 1.0, products[v].data(), d);
    }
  }
  for (std::size_t v = 0; v < views_.size(); ++v) {
    const SlopeView& view = views_[v];
    for (Index c = 0; c < products[v].cols(); ++c) {
      const Index column = view.columns[static_cast<std::size_t>(c)];
      if (view.reduction == Reduction::dot) {
        out.pull.col(column) += products[v].col(c);
        continue;
      }
      const double scale = view.inverse_scale[c];
      out.stiffness.col(column) -= 2 * scale * scale * sums[v];
      out.pull.col(column) -= 2 * scale * (products[v].col(c) + scale * view.centre[c] * sums[v]);
    }
  }
  add_self(seen_rows, out);
  return out;
}

bool KernelSlopes::radial() const {
  return views_.size() == 1 && views_[0].reduction == Reduction::squared_distance && std::ssize(views_[0].columns) == d_ &&
         kernel_.is_psd();
}

Vector KernelSlopes::profile(const Vector& s) const {
  Scratch scratch(1, terms_);
  scratch.reductions[0] = s.transpose();
  values(root_, scratch);
  return scratch.values[root_.number].row(0).transpose();
}

}  // namespace mercer
