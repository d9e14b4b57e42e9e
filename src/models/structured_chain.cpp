// Sequence labelling: every position has scores of its own for each label, neighbours have scores for pairs of labels, and the best
// sequence of labels is found by Viterbi's recursion. The loss counts wrong positions, so it joins the scores of single positions.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "mercer/error.hpp"
#include "models/class_counts.hpp"
#include "models/linear_rows.hpp"
#include "models/structured_fit.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;

// Where the parts of w are: one row of weights per label (with the constant behind), then transitions row by row, starts, ends.
struct ChainLayout {
  Index labels = 0;
  Index features = 0;
  bool intercept = true;

  Index width() const { return features + (intercept ? 1 : 0); }
  Index unary(Index label) const { return label * width(); }
  Index transition(Index a, Index b) const { return labels * width() + a * labels + b; }
  Index start(Index label) const { return labels * width() + labels * labels + label; }
  Index end(Index label) const { return start(labels) + label; }
  Index dimension() const { return end(labels); }
};

struct ChainWeights {
  Matrix transition;
  Vector start;
  Vector end;

  ChainWeights(const ChainLayout& at, const Vector& w)
      : transition(Eigen::Map<const Matrix>(w.data() + at.transition(0, 0), at.labels, at.labels)),
        start(w.segment(at.start(0), at.labels)),
        end(w.segment(at.end(0), at.labels)) {}
};

template <class Storage>
class ChainOracle final : public StructuredOracle {
 public:
  ChainOracle(const Storage& x, const std::vector<Index>& offsets, const std::vector<Index>& labels, ChainLayout at)
      : rows_{x}, offsets_(offsets), labels_(labels), at_(at) {}

  Index examples() const override { return std::ssize(offsets_) - 1; }
  Index dimension() const override { return at_.dimension(); }

  StructuredAnswer worst(Index s, const Vector& w) const override {
    const Index first = offsets_[static_cast<std::size_t>(s)];
    const Index length = offsets_[static_cast<std::size_t>(s) + 1] - first;
    Matrix unary(length, at_.labels);
    for (Index t = 0; t < length; ++t) {
      for (Index l = 0; l < at_.labels; ++l) {
        const double* weights = w.data() + at_.unary(l);
        unary(t, l) = rows_.dot(first + t, weights) + (at_.intercept ? weights[at_.features] : 0) + (l == truth(first + t) ? 0 : 1);
      }
    }
    const ChainWeights chain(at_, w);
    return difference(first, viterbi(unary, chain.transition, chain.start, chain.end));
  }

 private:
  Index truth(Index row) const { return labels_[static_cast<std::size_t>(row)]; }

  // phi of the truth less phi of y, from the positions where they differ.
  StructuredAnswer difference(Index first, const std::vector<Index>& y) const {
    StructuredAnswer out;
    const auto add = [&](Index index, double value) {
      out.difference.indices.push_back(index);
      out.difference.values.push_back(value);
    };
    std::vector<Index> touched;
    for (Index t = 0; t < std::ssize(y); ++t) {
      const Index guess = y[static_cast<std::size_t>(t)];
      if (guess == truth(first + t)) continue;
      out.loss += 1;
      touched.push_back(guess);
      touched.push_back(truth(first + t));
    }
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const Index label : touched) add_unary(first, y, label, add);
    for (Index t = 0; t + 1 < std::ssize(y); ++t) {
      const auto k = static_cast<std::size_t>(t);
      if (y[k] == truth(first + t) && y[k + 1] == truth(first + t + 1)) continue;
      add(at_.transition(truth(first + t), truth(first + t + 1)), 1);
      add(at_.transition(y[k], y[k + 1]), -1);
    }
    const Index last = first + std::ssize(y) - 1;
    if (y.front() != truth(first)) {
      add(at_.start(truth(first)), 1);
      add(at_.start(y.front()), -1);
    }
    if (y.back() != truth(last)) {
      add(at_.end(truth(last)), 1);
      add(at_.end(y.back()), -1);
    }
    return out;
  }

  // The weights of one label: rows where it is true less rows where it is guessed.
  template <class Add>
  void add_unary(Index first, const std::vector<Index>& y, Index label, const Add& add) const {
    constexpr bool is_sparse = requires { rows_.x.columns; };
    Vector sum = Vector::Zero(is_sparse ? 0 : at_.features);
    double constant = 0;
    for (Index t = 0; t < std::ssize(y); ++t) {
      const double sign = (truth(first + t) == label ? 1.0 : 0.0) - (y[static_cast<std::size_t>(t)] == label ? 1.0 : 0.0);
      if (sign == 0) continue;
      constant += sign;
      if constexpr (is_sparse) {
        for (Index k = rows_.x.begin(first + t); k < rows_.x.end(first + t); ++k)
          add(at_.unary(label) + rows_.x.columns[k], sign * static_cast<double>(rows_.x.values[k]));
      } else {
        rows_.add(first + t, sign, sum.data());
      }
    }
    for (Index j = 0; j < sum.size(); ++j) {
      if (sum[j] != 0) add(at_.unary(label) + j, sum[j]);
    }
    if (at_.intercept && constant != 0) add(at_.unary(label) + at_.features, constant);
  }

  RowLoops<Storage> rows_;
  const std::vector<Index>& offsets_;
  const std::vector<Index>& labels_;
  ChainLayout at_;
};

void require_offsets(const std::vector<Index>& offsets, Index rows) {
  if (offsets.size() < 2 || offsets.front() != 0 || offsets.back() != rows)
    throw InvalidArgument(fmt::format("offsets of sequences must go from 0 to the number of rows, {}", rows));
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    if (offsets[s + 1] <= offsets[s])
      throw InvalidArgument(
          fmt::format("sequence {} has no positions: offsets must grow, got {} behind {}", s, offsets[s + 1], offsets[s]));
  }
}

}  // namespace

std::vector<Index> viterbi(const Matrix& unary, const Matrix& transition, const Vector& start, const Vector& end) {
  const Index length = unary.rows();
  const Index labels = unary.cols();
  if (length == 0) return {};
  RowMatrix<Index> from(length, labels);
  Vector best = unary.row(0).transpose() + start;
  Vector next(labels);
  for (Index t = 1; t < length; ++t) {
    for (Index l = 0; l < labels; ++l) {
      next[l] = (best + transition.col(l)).maxCoeff(&from(t, l)) + unary(t, l);
    }
    best.swap(next);
  }
  std::vector<Index> y(static_cast<std::size_t>(length));
  (best + end).maxCoeff(&y.back());
  for (Index t = length - 1; t > 0; --t) y[static_cast<std::size_t>(t) - 1] = from(t, y[static_cast<std::size_t>(t)]);
  return y;
}

std::vector<Index> StructuredSvmModel::label_sequences(const Samples& X, const std::vector<Index>& offsets, const Run& run) const {
  if (form() != StructuredForm::chain)
    throw NotOffered(fmt::format("a {} machine labels no sequences; fit_chain_svm makes one that does", name_of(form())));
  require_offsets(offsets, X.size());
  const Matrix unary = decision(X, run);
  std::vector<Index> out(static_cast<std::size_t>(X.size()));
  with_run(run, [&] {
    parallel_for(std::ssize(offsets) - 1, [&](Index s) {
      const Index first = offsets[static_cast<std::size_t>(s)];
      const Index length = offsets[static_cast<std::size_t>(s) + 1] - first;
      const std::vector<Index> y = viterbi(unary.middleRows(first, length), parts_.transition, parts_.start, parts_.end);
      std::copy(y.begin(), y.end(), out.begin() + first);
    });
  });
  return out;
}

StructuredSvmModel fit_chain_svm(const Samples& X, const std::vector<Index>& offsets, const std::vector<Index>& labels,
                                 const StructuredSvmOptions& o) {
  const auto start = Clock::now();
  require_linear(o, "chain");
  require_columns(X, "chain");
  require_offsets(offsets, X.size());
  const ChainLayout at{.labels = require_classes(X, labels, {}), .features = X.width(), .intercept = o.fit_intercept};
  const Index sequences = std::ssize(offsets) - 1;
  const Vector C = structured_weights(o, sequences);
  StructuredFit fit;
  std::visit([&]<class Storage>(const Storage& x) { fit = fit_structured_svm(ChainOracle<Storage>(x, offsets, labels, at), o); },
             X.storage());
  const ChainWeights chain(at, fit.weights);
  StructuredSvmModel::Parts parts{.form = StructuredForm::chain, .kernel = o.kernel};
  const Eigen::Map<const Matrix> unary(fit.weights.data(), at.labels, at.width());
  parts.coef = unary.leftCols(at.features);
  parts.intercept = at.intercept ? Vector(unary.col(at.features)) : Vector(Vector::Zero(at.labels));
  parts.transition = chain.transition;
  parts.start = chain.start;
  parts.end = chain.end;
  parts.C = common_C(o, C);
  fit.summary.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return StructuredSvmModel::from_parts(std::move(parts), std::move(fit.summary));
}

}  // namespace mercer
