// The fitted machines with structured outputs.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "mercer/error.hpp"
#include "models/convex_fit.hpp"
#include "models/linear_rows.hpp"
#include "models/structured_fit.hpp"

namespace mercer {

const char* name_of(StructuredForm form) {
  return form == StructuredForm::multiclass ? "multiclass" : form == StructuredForm::chain ? "chain" : "ranking";
}

StructuredSvmModel StructuredSvmModel::from_parts(Parts parts, StructuredSvmSummary summary) {
  const Index labels = parts.intercept.size();
  const bool linear = parts.samples.empty();
  const bool fits = linear ? parts.coef.rows() == labels && parts.coef.cols() > 0 && parts.support.empty()
                           : parts.coef.cols() == labels && parts.coef.rows() == parts.samples.size() &&
                                 std::ssize(parts.support) == parts.samples.size() && parts.form == StructuredForm::multiclass;
  const Index states = parts.form == StructuredForm::chain ? labels : 0;
  if (labels < 2 || !fits || parts.transition.rows() != states || parts.transition.cols() != states || parts.start.size() != states ||
      parts.end.size() != states) {
    throw InvalidArgument(
        fmt::format("a {} machine of {} labels and {} support vectors cannot have {} x {} coefficients, {} x {} "
                    "transitions, {} starts and {} ends",
                    name_of(parts.form), labels, parts.samples.size(), parts.coef.rows(), parts.coef.cols(), parts.transition.rows(),
                    parts.transition.cols(), parts.start.size(), parts.end.size()));
  }
  StructuredSvmModel model;
  model.parts_ = std::move(parts);
  model.summary_ = std::move(summary);
  return model;
}

StructuredSvmModel StructuredSvmModel::with_sequence_column(std::string name) const {
  StructuredSvmModel out = *this;
  out.parts_.sequence_column = std::move(name);
  return out;
}

Matrix StructuredSvmModel::decision(const Samples& X, const Run& run) const {
  if (!is_linear()) return expansion_at(parts_.kernel, parts_.samples, parts_.coef, parts_.intercept, X, run);
  if (X.is_given() || X.has_objects() || X.width() != parts_.coef.cols())
    throw InvalidArgument(fmt::format("X has {} columns, the model was fitted on {} columns of numbers", X.width(), parts_.coef.cols()));
  require_finite(X, "X");
  const Matrix& W = parts_.coef;
  Matrix out(X.size(), W.rows());
  with_run(run, [&] {
    std::visit(
        [&]<class Storage>(const Storage& x) {
          const RowLoops<Storage> rows{x};
          constexpr Index piece = 1024;
          const Index pieces = (X.size() + piece - 1) / piece;
          Stage stage(run.progress, "scores", static_cast<double>(pieces));
          parallel_for(pieces, [&](Index k) {
            for (Index i = k * piece; i < std::min(X.size(), (k + 1) * piece); ++i) {
              for (Index l = 0; l < W.rows(); ++l) out(i, l) = rows.dot(i, W.row(l).data()) + parts_.intercept[l];
            }
            stage.advance(1);
          });
        },
        X.storage());
  });
  return out;
}

std::vector<Index> StructuredSvmModel::classes(const Samples& X, const Run& run) const {
  if (form() == StructuredForm::ranking)
    throw NotOffered("a ranking machine orders labels, it chooses none; ranks() gives the place of each, 0 the best");
  if (form() == StructuredForm::chain) return X.empty() ? std::vector<Index>() : label_sequences(X, {0, X.size()}, run);
  const Matrix scores = decision(X, run);
  std::vector<Index> out(static_cast<std::size_t>(X.size()));
  for (Index i = 0; i < scores.rows(); ++i) scores.row(i).maxCoeff(&out[static_cast<std::size_t>(i)]);
  return out;
}

}  // namespace mercer
