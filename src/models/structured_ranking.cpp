// Label ranking: an output is the place r_l of each label, phi = sum_l v(r_l) (e_l x) with v(p) = 1 - 2 p / (L - 1), the loss
// (1 - Spearman's rho) / 2 = 3 sum_l (p_l - r_l)^2 / (L^3 - L). Both are sums over labels of terms that the place enters linearly, up to
// sum p^2, which is the same for all orders; so by the rearrangement inequality sorting gives the exact argmax, with the loss and without.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "mercer/error.hpp"
#include "models/linear_rows.hpp"
#include "models/structured_fit.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;

template <class Storage>
class RankingOracle final : public StructuredOracle {
 public:
  RankingOracle(const Storage& x, const RowMatrix<Index>& ranks, bool intercept) : rows_{x}, ranks_(ranks), intercept_(intercept) {}

  Index examples() const override { return ranks_.rows(); }
  Index dimension() const override { return labels() * width(); }

  // sum_l v(p_l) f_l + 3 (p_l - r_l)^2 / (L^3 - L) = constant - sum_l p_l (2 f_l / (L - 1) + 6 r_l / (L^3 - L)): small places belong to
  // large brackets.
  StructuredAnswer worst(Index i, const Vector& w) const override {
    const auto L = static_cast<double>(labels());
    const double cubic = L * L * L - L;
    Vector bracket(labels());
    for (Index l = 0; l < labels(); ++l) {
      const double* weights = w.data() + l * width();
      const double f = rows_.dot(i, weights) + (intercept_ ? weights[rows_.x.cols] : 0);
      bracket[l] = 2 * f / (L - 1) + 6 * static_cast<double>(ranks_(i, l)) / cubic;
    }
    const std::vector<Index> places = places_of(bracket);
    StructuredAnswer out;
    for (Index l = 0; l < labels(); ++l) {
      const auto moved = static_cast<double>(places[static_cast<std::size_t>(l)] - ranks_(i, l));
      if (moved == 0) continue;
      out.loss += 3 * moved * moved / cubic;
      add(i, l, 2 * moved / (L - 1), out.difference);  // v(r) - v(p)
    }
    return out;
  }

 private:
  Index labels() const { return ranks_.cols(); }
  Index width() const { return rows_.x.cols + (intercept_ ? 1 : 0); }

  void add(Index i, Index label, double amount, JointFeature& out) const {
    const auto put = [&](Index column, double value) {
      if (value == 0) return;
      out.indices.push_back(label * width() + column);
      out.values.push_back(amount * value);
    };
    if constexpr (requires { rows_.x.columns; }) {
      for (Index k = rows_.x.begin(i); k < rows_.x.end(i); ++k) put(rows_.x.columns[k], static_cast<double>(rows_.x.values[k]));
    } else {
      for (Index j = 0; j < rows_.x.cols; ++j) put(j, static_cast<double>(rows_.x.row(i)[j]));
    }
    if (intercept_) put(rows_.x.cols, 1);
  }

  RowLoops<Storage> rows_;
  const RowMatrix<Index>& ranks_;
  bool intercept_;
};

void require_ranks(const RowMatrix<Index>& ranks, Index rows) {
  if (ranks.rows() != rows) throw InvalidArgument(fmt::format("X has {} samples but there are {} rankings", rows, ranks.rows()));
  if (ranks.cols() < 2) throw InvalidArgument(fmt::format("a ranking needs at least two labels, got {}", ranks.cols()));
  std::vector<bool> seen(static_cast<std::size_t>(ranks.cols()));
  for (Index i = 0; i < rows; ++i) {
    std::fill(seen.begin(), seen.end(), false);
    for (Index l = 0; l < ranks.cols(); ++l) {
      const Index place = ranks(i, l);
      if (place < 0 || place >= ranks.cols())
        throw InvalidArgument(fmt::format("the rank of label {} in row {} is {}, wanted 0 .. {}", l, i, place, ranks.cols() - 1));
      if (seen[static_cast<std::size_t>(place)])
        throw InvalidArgument(fmt::format("row {} gives rank {} to two labels; a ranking is a permutation, without ties", i, place));
      seen[static_cast<std::size_t>(place)] = true;
    }
  }
}

}  // namespace

std::vector<Index> places_of(const Eigen::Ref<const Vector>& scores) {
  std::vector<Index> order(static_cast<std::size_t>(scores.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return scores[a] > scores[b]; });
  std::vector<Index> places(order.size());
  for (std::size_t p = 0; p < order.size(); ++p) places[static_cast<std::size_t>(order[p])] = static_cast<Index>(p);
  return places;
}

RowMatrix<Index> StructuredSvmModel::ranks(const Samples& X, const Run& run) const {
  if (form() != StructuredForm::ranking)
    throw NotOffered(fmt::format("a {} machine ranks no labels; fit_ranking_svm makes one that does", name_of(form())));
  const Matrix scores = decision(X, run);
  RowMatrix<Index> out(scores.rows(), scores.cols());
  for (Index i = 0; i < scores.rows(); ++i) {
    const std::vector<Index> places = places_of(scores.row(i).transpose());
    out.row(i) = Eigen::Map<const Eigen::Matrix<Index, 1, Eigen::Dynamic>>(places.data(), scores.cols());
  }
  return out;
}

StructuredSvmModel fit_ranking_svm(const Samples& X, const RowMatrix<Index>& ranks, const StructuredSvmOptions& o) {
  require_linear(o, "ranking");
  require_columns(X, "ranking");
  require_ranks(ranks, X.size());
  const Vector C = structured_weights(o, X.size());
  StructuredFit fit;
  std::visit([&]<class Storage>(const Storage& x) { fit = fit_structured_svm(RankingOracle<Storage>(x, ranks, o.fit_intercept), o); },
             X.storage());
  const Index width = X.width() + (o.fit_intercept ? 1 : 0);
  const Eigen::Map<const Matrix> weights(fit.weights.data(), ranks.cols(), width);
  StructuredSvmModel::Parts parts{.form = StructuredForm::ranking, .kernel = o.kernel};
  parts.coef = weights.leftCols(X.width());
  parts.intercept = o.fit_intercept ? Vector(weights.col(X.width())) : Vector(Vector::Zero(ranks.cols()));
  parts.C = common_C(o, C);
  return StructuredSvmModel::from_parts(std::move(parts), std::move(fit.summary));
}

}  // namespace mercer
