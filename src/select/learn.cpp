// The main job: read, split, scale, search, fit, measure. Everything learned about columns (scaling, categories, fill values) is learned on
// the training rows alone; the model that is saved is the one that was measured. SPDX-License-Identifier: BSD-3-Clause
#include "mercer/learn.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "mercer/diagnosis.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/labels.hpp"
#include "mercer/metrics.hpp"
#include "mercer/random.hpp"
#include "select/search.hpp"

namespace mercer {

namespace {

constexpr double flops_per_second = 3e10;  // a careful guess, only to keep the final fit within the time budget
constexpr Index curve_grid = 400;
constexpr Index most_curve_points = 2000;
constexpr Index bootstraps = 1000;

Table rows_of(const Table& table, std::span<const Index> rows) {
  Table part;
  part.source = table.source;
  part.names = table.names;
  part.has_header = table.has_header;
  part.format = table.format;
  for (const Index i : rows) part.lines.push_back(table.line_of(i));
  for (const Column& column : table.columns) {
    Column& out = part.columns.emplace_back();
    out.name = column.name;
    std::visit(
        [&]<class Values>(const Values& values) {
          if constexpr (std::is_same_v<Values, Samples>) {
            out.values = values.subset(rows);
          } else {
            Values picked;
            for (const Index i : rows) picked.push_back(values[static_cast<std::size_t>(i)]);
            out.values = std::move(picked);
          }
        },
        column.values);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (std::binary_search(column.missing.begin(), column.missing.end(), rows[r])) out.missing.push_back(static_cast<Index>(r));
    }
  }
  if (table.sparse) {
    part.sparse = table.sparse->subset(rows);
    for (const Index i : rows) part.sparse_labels.push_back(table.sparse_labels[static_cast<std::size_t>(i)]);
  }
  return part;
}

std::pair<double, double> rmse_interval(const Vector& truth, const Vector& predicted, std::uint64_t seed) {
  const Vector squares = (truth - predicted).cwiseAbs2();
  RandomStream random(seed, 2);
  std::vector<double> drawn(bootstraps);
  for (double& value : drawn) {
    double sum = 0;
    for (Index i = 0; i < squares.size(); ++i) sum += squares[random.below(squares.size())];
    value = std::sqrt(sum / static_cast<double>(squares.size()));
  }
  std::sort(drawn.begin(), drawn.end());
  return {drawn[bootstraps * 25 / 1000], drawn[bootstraps * 975 / 1000 - 1]};
}

Evaluation evaluate(const Vector& truth, const Vector& predicted, const Problem& problem, std::uint64_t seed) {
  Evaluation e;
  e.n = truth.size();
  if (!problem.classification()) {
    e.rmse = root_mean_squared_error(truth, predicted);
    e.r2 = r2_score(truth, predicted);
    e.mae = mean_absolute_error(truth, predicted);
    std::tie(e.ci_low, e.ci_high) = rmse_interval(truth, predicted, seed);
    return e;
  }
  const auto t = class_indices(truth);
  const auto p = class_indices(predicted);
  e.accuracy = accuracy(t, p);
  std::tie(e.precision, e.recall) = precision_and_recall(t, p, problem.n_classes());
  std::tie(e.ci_low, e.ci_high) = proportion_interval(static_cast<Index>(std::lround(e.accuracy * static_cast<double>(e.n))), e.n);
  return e;
}

// What one would say without looking at the features: the mean, or the most frequent class.
double naive_answer(const Problem& train) {
  if (!train.classification()) return train.y.mean();
  Vector counts = Vector::Zero(train.n_classes());
  for (const double c : train.y) counts[static_cast<Index>(c)] += 1;
  Index most = 0;
  counts.maxCoeff(&most);
  return static_cast<double>(most);
}

// Exact kernel ridge costs n^3/3: beyond what the budget allows, a random part of the rows is used, and said.
Problem affordable(const Problem& train, const LearnOptions& options, std::vector<std::string>& notes) {
  const double in_time = std::cbrt(3 * flops_per_second * std::max(1.0, options.budget_seconds) / 2);
  const double in_memory =
      std::sqrt(static_cast<double>(memory_budget(options.run.memory)) / 8 * 2 * 0.9);  // half a matrix of doubles, and some air
  const auto most = static_cast<Index>(std::min(in_time, in_memory));
  if (train.X.size() <= most) return train;
  auto rows = RandomStream(options.seed, 3).sample(train.X.size(), most);
  std::sort(rows.begin(), rows.end());
  notes.push_back(
      fmt::format("the model was fitted on {} of the {} training rows, picked at random: exact kernel ridge on all of them would take "
                  "longer than the budget",
                  most, train.X.size()));
  return train.subset(rows);
}

void draw_curve(LearnResult& result, const Dataset& train) {
  const Encoder& encoder = *result.model.encoder;
  if (encoder.task != Task::regression || encoder.sparse || train.X.width() != 1 || train.X.has_objects()) return;
  if (!encoder.features[0].categories.empty()) return;
  const Matrix x = encoder.scaler.undo(train.X.to_dense());
  Matrix grid(curve_grid, 1);
  grid.col(0) = Vector::LinSpaced(curve_grid, x.minCoeff(), x.maxCoeff());
  result.curve.resize(curve_grid, 2);
  result.curve.col(0) = grid.col(0);
  result.curve.col(1) = result.model.predict(encoder.scaler.apply(grid)).col(0);
  const Index shown = std::min<Index>(x.rows(), most_curve_points);
  result.curve_points.resize(shown, 2);
  result.curve_points.col(0) = x.col(0).head(shown);
  result.curve_points.col(1) = train.y.head(shown);
}

std::string verdict_of(const LearnResult& r, const Candidate& best, bool classification) {
  const std::string what = best.model == "ridge" ? "Ridge regression on the columns" : "Kernel ridge with " + best.kernel;
  const bool numbers = r.linear.n > 0;  // of strings, sets and graphs there is no linear model to compare with
  if (classification) {
    return fmt::format(
        "{}, alpha {:g}: {:.1f} % right on {} held-out rows (95 % interval {:.1f} to {:.1f}). {} the most frequent class {} %.", what,
        best.alpha, 100 * r.test.accuracy, r.test.n, 100 * r.test.ci_low, 100 * r.test.ci_high,
        numbers ? fmt::format("A linear model gets {:.1f} %, always saying", 100 * r.linear.accuracy) : "Always saying",
        numbers ? fmt::format("{:.1f}", 100 * r.baseline.accuracy) : fmt::format("gets {:.1f}", 100 * r.baseline.accuracy));
  }
  return fmt::format("{}, alpha {:g}: RMSE {:.4g} on {} held-out rows (95 % interval {:.4g} to {:.4g}), R2 {:.3f}. {} the mean {}{:.4g}.",
                     what, best.alpha, r.test.rmse, r.test.n, r.test.ci_low, r.test.ci_high, r.test.r2,
                     numbers ? fmt::format("A linear model has RMSE {:.4g}, always saying", r.linear.rmse) : "Always saying",
                     numbers ? "" : "has RMSE ", r.baseline.rmse);
}

std::size_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

void check_options(const LearnOptions& options) {
  if (options.model != "auto" && options.model != "krr" && options.model != "ridge") {
    throw InvalidArgument(fmt::format("there is no model \"{}\" here; choose auto, krr or ridge", options.model));
  }
  if (!(options.holdout > 0 && options.holdout < 1))
    throw InvalidArgument(fmt::format("holdout must lie between 0 and 1, got {}", options.holdout));
  if (options.kernel && options.kernel->needs_given_gram())
    throw InvalidArgument("learn splits and scales rows, which a given Gram matrix does not have; use fit krr with the kernel precomputed");
  if (options.model == "ridge" && options.kernel)
    throw InvalidArgument("ridge works on the columns themselves and takes no kernel; use krr with a kernel");
  if (options.folds < 2) throw InvalidArgument(fmt::format("folds must be at least 2, got {}", options.folds));
}

LearnResult learn_split(const Dataset& train, const Table& test_table, const LearnOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const std::optional<Vector> truth = train.encoder.target_of(test_table);
  if (!truth) throw InvalidArgument(fmt::format("the test data has no column \"{}\" to compare with", train.encoder.target));
  const Samples test_X = train.encoder.features_of(test_table);
  const Problem problem{train.X, train.y, train.encoder.classes};
  if (problem.classification() && problem.n_classes() < 2) {
    throw InvalidArgument(
        fmt::format("the target \"{}\" has only one class in the training rows: there is nothing to tell apart", train.encoder.target));
  }
  if (problem.X.size() < options.folds) {
    throw InvalidArgument(
        fmt::format("{} training rows are too few for {} folds; give more data or fewer folds", problem.X.size(), options.folds));
  }

  std::optional<Kernel> kernel;
  if (options.kernel) kernel = resolve_columns(*options.kernel, train.encoder.column_names());
  if (train.X.has_objects() && (!kernel || options.model == "ridge"))
    throw InvalidArgument("strings, sets and graphs need a kernel that looks at them, and kernel ridge: give a kernel");
  const KernelLibrary library = kernel ? library_of(resolve(*kernel, problem.X)) : KernelLibrary{};
  SearchResult found = search(problem, {options.model, kernel, options.folds, options.seed, options.budget_seconds, options.run});
  std::vector<std::string> notes = train.notes;
  notes.insert(notes.end(), found.notes.begin(), found.notes.end());
  if (kernel) {
    const std::vector<std::string> remarks = kernel_remarks(*kernel, problem.X);
    notes.insert(notes.end(), remarks.begin(), remarks.end());
  }
  if (problem.X.has_objects()) notes.emplace_back("there is no linear model to compare with: it would need columns of numbers alone");
  const Candidate best = found.candidates.front();
  const bool best_is_linear = best.kernel == "linear";

  const Problem fitted_on = best.model == "ridge" ? problem : affordable(problem, options, notes);
  LearnResult result{.model = {fit_candidate(best, fitted_on, library, options.run), train.encoder}};
  const bool classification = problem.classification();
  const auto measured = [&](const SavedModel& model) { return decide(model.predict(test_X, options.run), classification); };
  const Vector predicted = measured(result.model);
  result.test = evaluate(*truth, predicted, problem, options.seed);
  result.baseline = evaluate(*truth, Vector::Constant(truth->size(), naive_answer(problem)), problem, options.seed);
  if (!problem.X.has_objects()) {
    const SavedModel linear_model =
        best_is_linear
            ? result.model
            : SavedModel{fit_candidate(found.linear, found.linear.model == "ridge" ? problem : fitted_on, library, options.run), {}};
    result.linear = evaluate(*truth, measured(linear_model), problem, options.seed);
  }
  result.test_truth_and_predicted.resize(truth->size(), 2);
  result.test_truth_and_predicted << *truth, predicted;
  if (classification) result.confusion = confusion_matrix(class_indices(*truth), class_indices(predicted), problem.n_classes());
  draw_curve(result, train);
  result.candidates = std::move(found.candidates);
  result.notes = std::move(notes);
  result.n_train = problem.X.size();
  result.n_search = found.n_rows;
  result.folds = options.folds;
  result.seed = options.seed;
  result.verdict = verdict_of(result, best, classification);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.peak_bytes = peak_bytes();
  return result;
}

}  // namespace

EncodeOptions learn_encoding() {
  EncodeOptions encode;
  encode.one_hot = true;
  encode.scaling = ScalingKind::standard;
  return encode;
}

LearnResult learn(const Table& data, const LearnOptions& options) {
  check_options(options);
  if (data.rows() < 4)
    throw InvalidArgument(
        fmt::format("{} has {} rows; at least 4 are needed to hold some out and learn from the rest", data.source, data.rows()));
  // Once over all rows, to know the task and the classes; what is learned from columns comes from the training part below.
  EncodeOptions encode = options.encode;
  const Dataset all = make_dataset(data, encode);
  encode.target = all.encoder.sparse ? encode.target : all.encoder.target;
  encode.task = all.encoder.task;
  const Fold split = all.encoder.task == Task::classification ? stratified_holdout(class_indices(all.y), options.holdout, options.seed)
                                                              : holdout(data.rows(), options.holdout, options.seed);
  Dataset train = make_dataset(rows_of(data, split.train), encode);
  train.notes = all.notes;  // the first look was told nothing, so it says how things were found out
  LearnResult result = learn_split(train, rows_of(data, split.test), options);
  result.holdout = options.holdout;
  return result;
}

LearnResult learn(const Table& data, const Table& test, const LearnOptions& options) {
  check_options(options);
  if (test.rows() == 0) throw InvalidArgument(fmt::format("{} has no rows to test on", test.source));
  return learn_split(make_dataset(data, options.encode), test, options);
}

}  // namespace mercer
