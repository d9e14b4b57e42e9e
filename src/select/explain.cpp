// SPDX-License-Identifier: BSD-3-Clause
#include "select/explain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "linalg/lapack.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"

namespace mercer {

namespace {

constexpr Index most_importance_rows = 1000;
constexpr int shuffles = 5;
constexpr Index most_influence_rows = 500;
constexpr std::size_t influential_shown = 20;
constexpr Index most_spectrum_rows = 1000;
constexpr Index spectrum_shown = 50;
constexpr Index curve_grid = 400;
constexpr Index surface_grid = 60;  // a side
constexpr Index most_points = 2000;

std::vector<Index> some_rows(Index n, Index most, std::uint64_t seed) {
  std::vector<Index> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), 0);
  if (n <= most) return rows;
  rows = RandomStream(seed, 5).sample(n, most);
  std::sort(rows.begin(), rows.end());
  return rows;
}

Vector picked(const Vector& y, const std::vector<Index>& rows) {
  Vector out(std::ssize(rows));
  for (std::size_t i = 0; i < rows.size(); ++i) out[static_cast<Index>(i)] = y[rows[i]];
  return out;
}

ColumnSummary summarise_numbers(const Column& column) {
  ColumnSummary s{.name = column.name, .kind = "number", .missing = std::ssize(column.missing)};
  double n = 0, mean = 0, squares = 0;
  s.least = std::numeric_limits<double>::infinity();
  s.largest = -s.least;
  for (const double x : column.numbers()) {
    if (!std::isfinite(x)) continue;
    n += 1;
    const double step = x - mean;
    mean += step / n;
    squares += step * (x - mean);
    s.least = std::min(s.least, x);
    s.largest = std::max(s.largest, x);
  }
  if (n == 0) s.least = s.largest = std::numeric_limits<double>::quiet_NaN();
  s.mean = mean;
  s.deviation = n > 1 ? std::sqrt(squares / (n - 1)) : 0;
  return s;
}

ColumnSummary summarise_text(const Column& column) {
  ColumnSummary s{.name = column.name, .kind = "text", .missing = std::ssize(column.missing)};
  std::map<std::string_view, Index> counts;
  for (const std::string& word : column.text()) ++counts[word];
  s.distinct = std::ssize(counts);
  Index most = 0;
  for (const auto& [word, count] : counts) {
    if (count > most) {
      most = count;
      s.most_frequent = word;
    }
  }
  return s;
}

// The rows of training that the coefficients of a model belong to: its own numbering, or all of them in order.
template <class Model>
std::vector<Index> rows_of_model(const Model& model) {
  if constexpr (requires { model.support(); }) {
    return model.support();
  } else if constexpr (requires { model.landmark_rows(); }) {
    return model.landmark_rows();
  } else {
    std::vector<Index> rows(static_cast<std::size_t>(model.samples().size()));
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
  }
}

}  // namespace

std::vector<ColumnSummary> summarise_columns(const Table& table) {
  std::vector<ColumnSummary> all;
  for (const Column& column : table.columns) {
    if (column.is_objects()) {
      all.push_back({.name = column.name, .kind = "objects"});
    } else {
      all.push_back(column.is_text() ? summarise_text(column) : summarise_numbers(column));
    }
  }
  return all;
}

std::vector<ColumnImportance> permutation_importance(const SavedModel& model, const Samples& test, const Vector& truth, std::uint64_t seed,
                                                     const Run& run) {
  if (test.has_objects() || test.is_sparse()) return {};
  const bool classification = model.encoder->task == Task::classification;
  const std::vector<Index> rows = some_rows(test.size(), most_importance_rows, seed);
  const Matrix X = test.subset(rows).to_dense();
  const Vector y = picked(truth, rows);
  const double before = score_of(y, answers(model, X, classification, run), classification);
  const std::vector<std::string> columns = model.encoder->column_names();
  std::vector<ColumnImportance> all;
  Stage stage(run.progress, "importance of columns", static_cast<double>(columns.size()));
  const Run inner{.threads = run.threads, .memory = run.memory};
  for (std::size_t first = 0; first < columns.size();) {
    std::size_t end = first + 1;
    while (end < columns.size() && columns[end] == columns[first]) ++end;  // the categories of one column move together
    Vector change(shuffles);
    for (int s = 0; s < shuffles; ++s) {
      RandomStream random(seed, 1000 + first * shuffles + static_cast<std::size_t>(s));
      const std::vector<Index> order = random.sample(X.rows(), X.rows());
      Matrix shuffled = X;
      for (Index i = 0; i < X.rows(); ++i) {
        for (std::size_t j = first; j < end; ++j)
          shuffled(i, static_cast<Index>(j)) = X(order[static_cast<std::size_t>(i)], static_cast<Index>(j));
      }
      const double after = score_of(y, answers(model, shuffled, classification, inner), classification);
      change[s] = classification ? before - after : after - before;
    }
    const double mean = change.mean();
    all.push_back({columns[first], mean, std::sqrt((change.array() - mean).square().sum() / (shuffles - 1))});
    stage.advance(static_cast<double>(end - first));
    first = end;
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.mean > b.mean; });
  return all;
}

std::vector<InfluentialRow> influential_rows(const AnyModel& model, const Samples& test, const std::vector<std::int64_t>& lines,
                                             const std::vector<std::string>& targets, const Run& run) {
  return std::visit(
      [&]<class Model>(const Model& m) -> std::vector<InfluentialRow> {
        if constexpr (requires {
                        m.kernel();
                        m.samples();
                        m.dual_coef();
                      }) {
          const Matrix coef = m.dual_coef();
          const std::vector<Index> rows = rows_of_model(m);
          if (std::ssize(rows) != coef.rows()) return {};  // landmarks that are no rows
          const std::vector<Index> some = some_rows(test.size(), most_influence_rows, 0);
          const Matrix K = gram(m.kernel(), m.samples(), test.subset(some), {.run = run});
          const Vector share = coef.cwiseAbs().rowwise().sum().cwiseProduct(K.cwiseAbs().rowwise().mean());
          const double total = share.sum();
          std::vector<std::size_t> order(rows.size());
          std::iota(order.begin(), order.end(), std::size_t{0});
          std::stable_sort(order.begin(), order.end(),
                           [&](std::size_t a, std::size_t b) { return share[static_cast<Index>(a)] > share[static_cast<Index>(b)]; });
          std::vector<InfluentialRow> all;
          for (std::size_t r = 0; r < std::min(order.size(), influential_shown) && total > 0; ++r) {
            const auto place = static_cast<Index>(order[r]);
            const auto row = static_cast<std::size_t>(rows[order[r]]);
            Index strongest = 0;
            coef.row(place).cwiseAbs().maxCoeff(&strongest);
            all.push_back({lines[row], targets[row], coef(place, strongest), share[place] / total});
          }
          return all;
        } else {
          return {};
        }
      },
      model);
}

const Kernel* kernel_of(const AnyModel& model) {
  return std::visit(
      []<class Model>(const Model& m) -> const Kernel* {
        if constexpr (requires {
                        m.kernel();
                        m.samples();
                      }) {
          return &m.kernel();
        } else {
          return nullptr;
        }
      },
      model);
}

void add_spectrum(LearnResult& result, const Samples& train, std::uint64_t seed, const Run& run) {
  const Kernel* kernel = kernel_of(result.model.model);
  if (kernel == nullptr || kernel->needs_given_gram()) return;
  const Samples part = train.subset(some_rows(train.size(), most_spectrum_rows, seed));
  const Vector values = linalg::symmetric_eigenvalues(gram(*kernel, part, {.run = run}), run.progress);
  const Index shown = std::min(values.size(), spectrum_shown);
  const double trace = values.sum();
  if (!(trace > 0)) return;
  result.spectrum = values.reverse().head(shown) / trace;
  result.spectrum_rows = part.size();
}

void add_shape(LearnResult& result, const Dataset& train, const Run& run) {
  const Encoder& encoder = *result.model.encoder;
  const Index width = train.X.width();
  if (encoder.sparse || train.X.has_objects() || width > 2) return;
  for (const FeatureColumn& feature : encoder.features) {
    if (!feature.categories.empty()) return;
  }
  const bool classification = encoder.task == Task::classification;
  if (width == 1 && classification) return;
  const Matrix x = encoder.scaler.undo(train.X.to_dense());
  const std::vector<Index> some = some_rows(x.rows(), most_points, 0);
  Matrix points(std::ssize(some), width + 1);
  for (std::size_t i = 0; i < some.size(); ++i) points.row(static_cast<Index>(i)) << x.row(some[i]), train.y[some[i]];
  if (width == 1) {
    Matrix grid(curve_grid, 1);
    grid.col(0) = Vector::LinSpaced(curve_grid, x.minCoeff(), x.maxCoeff());
    result.curve.resize(curve_grid, 2);
    result.curve << grid, result.model.predict(encoder.scaler.apply(grid), run).col(0);
    result.curve_points = std::move(points);
    return;
  }
  Matrix grid(surface_grid * surface_grid, 2);
  for (Index i = 0; i < surface_grid; ++i) {
    for (Index j = 0; j < surface_grid; ++j) {
      for (const Index c : {Index{0}, Index{1}}) {
        const double low = x.col(c).minCoeff(), high = x.col(c).maxCoeff(), margin = 0.05 * (high - low);
        const double place = static_cast<double>(c == 0 ? j : i) / static_cast<double>(surface_grid - 1);
        grid(i * surface_grid + j, c) = low - margin + place * (high - low + 2 * margin);
      }
    }
  }
  const Samples scaled = encoder.scaler.apply(grid);
  result.surface.resize(grid.rows(), 3);
  result.surface << grid, answers(result.model, scaled, classification, run);
  if (classification && encoder.classes.size() == 2) result.surface_score = result.model.predict(scaled, run).col(0);
  result.surface_points = std::move(points);
  result.surface_names = encoder.feature_names();
}

}  // namespace mercer
