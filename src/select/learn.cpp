// The main job: read, split, scale, search, fit, measure. Everything learned about columns (scaling, categories, fill values) is learned on
// the training rows alone; the model that is saved is the one that was measured. SPDX-License-Identifier: BSD-3-Clause
#include "mercer/learn.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "mercer/diagnosis.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/labels.hpp"
#include "mercer/metrics.hpp"
#include "mercer/random.hpp"
#include "models/platt.hpp"
#include "select/explain.hpp"
#include "select/measure.hpp"
#include "select/split.hpp"
#include "select/verdict.hpp"

namespace mercer {

namespace {

constexpr double flops_per_second = 3e10;  // a careful guess, only to keep the final fit within the time budget
constexpr Index most_svc_rows = 120000;    // a fit takes some minutes there
constexpr Index most_fold_rows = 20000;    // for scores of training rows out of fold
constexpr double interval_level = 0.9;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using Clock = std::chrono::steady_clock;

std::size_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

// Seconds of each part of the job, in the order they happen.
class Stopwatch {
 public:
  void lap(LearnResult& result, std::string stage) {
    const auto now = Clock::now();
    result.stages.push_back({std::move(stage), std::chrono::duration<double>(now - last_).count()});
    last_ = now;
  }
  double total() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

void check_options(const LearnOptions& options) {
  if (!(options.holdout > 0 && options.holdout < 1))
    throw InvalidArgument(fmt::format("holdout must lie between 0 and 1, got {}", options.holdout));
  if (options.kernel && options.kernel->needs_given_gram())
    throw InvalidArgument("learn splits and scales rows, which a given Gram matrix does not have; use fit with the kernel precomputed");
  if ((options.model == "ridge" || options.model == "linear-svc") && options.kernel)
    throw InvalidArgument(fmt::format("{} works on the columns themselves and takes no kernel; use {} with a kernel", options.model,
                                      options.model == "ridge" ? "krr" : "svc"));
  if (options.folds < 2) throw InvalidArgument(fmt::format("folds must be at least 2, got {}", options.folds));
  if (options.precision < 0 || options.precision >= 1)
    throw InvalidArgument(fmt::format("precision must lie between 0 and 1, got {}", options.precision));
  if (options.time_ordered && !options.groups.empty())
    throw InvalidArgument("rows are split by time or by groups, not both; leave one out");
}

void check_problem(const Problem& problem, const Encoder& encoder, const LearnOptions& options) {
  const std::vector<std::string>& known = models_for(problem.classification());
  if (std::find(known.begin(), known.end(), options.model) == known.end()) {
    throw InvalidArgument(fmt::format("there is no model \"{}\" for {} here; choose {}", options.model,
                                      problem.classification() ? "classes" : "numbers", fmt::join(known, ", ")));
  }
  if (problem.classification()) {
    Vector counts = Vector::Zero(problem.n_classes());
    for (const double c : problem.y) counts[static_cast<Index>(c)] += 1;
    if ((counts.array() > 0).count() < 2) {
      throw InvalidArgument(
          fmt::format("the target \"{}\" has only one class in the training rows: there is nothing to tell apart", encoder.target));
    }
  }
  if (problem.X.size() < options.folds) {
    throw InvalidArgument(
        fmt::format("{} training rows are too few for {} folds; give more data or fewer folds", problem.X.size(), options.folds));
  }
  if (problem.X.has_objects() && (!options.kernel || options.model == "ridge" || options.model == "linear-svc"))
    throw InvalidArgument("strings, sets and graphs need a kernel that looks at them: give a kernel");
  if (options.precision > 0 && problem.n_classes() != 2) {
    throw InvalidArgument(problem.classification()
                              ? fmt::format("an operating point of given precision needs two classes, but \"{}\" has {}; choose one "
                                            "against the rest with a positive label",
                                            encoder.target, problem.n_classes())
                              : fmt::format("an operating point of given precision needs classes, but \"{}\" is a number", encoder.target));
  }
  if (options.precision > 0 && (options.model == "mean" || options.model == "sgd-svm")) {
    throw InvalidArgument(
        fmt::format("an operating point moves the constant of a model, and {} has none; choose svc, linear-svc, logistic, "
                    "krr or falkon",
                    options.model));
  }
}

// Where an exact fit to all rows would not end within the budget or the memory: landmarks.
Candidate affordable(const Candidate& best, const Problem& train, const Problem& searched, const LearnOptions& options,
                     const KernelLibrary& library, std::vector<std::string>& notes) {
  const bool cubic = best.model == "krr" || best.model == "gp" || best.model == "logistic";
  const double in_time = std::cbrt(3 * flops_per_second * std::max(1.0, options.budget_seconds) / 2);
  const double in_memory = std::sqrt(static_cast<double>(memory_budget(options.run.memory)) / 8 * 2 * 0.9);  // half a matrix of doubles
  const auto most = cubic ? static_cast<Index>(std::min(in_time, in_memory)) : most_svc_rows;
  if (best.kernel.empty() || best.model == "falkon" || train.X.size() <= most || train.X.has_objects()) return best;
  Candidate falkon = best;
  falkon.model = "falkon";
  falkon.penalty = "alpha";
  falkon.epsilon = 0;
  if (best.model != "krr") falkon.value = best.model == "gp" ? best.value : 0.1;
  // The penalty is looked at again: it belongs to another loss, and to landmarks.
  const std::vector<Fold> folds{searched.folds(options.folds, options.seed).back()};  // in time: the one with the longest past
  Candidate chosen = falkon;
  bool first = true;
  for (const double factor : {1.0, 0.1, 10.0, 0.01}) {
    Candidate tried = falkon;
    tried.value = falkon.value * factor;
    score_on_folds(tried, searched, folds, library, options.run);
    if (first || (train.classification() ? tried.score > chosen.score : tried.score < chosen.score)) chosen = tried;
    first = false;
  }
  chosen.judged_by = "one fold";
  notes.push_back(
      fmt::format("{} training rows are many for an exact fit of {} within {:.3g} s: the model is fitted on landmarks (Falkon) with the "
                  "same kernel and all rows",
                  train.X.size(), best.model, options.budget_seconds));
  return chosen;
}

struct Parts {
  const Dataset& train;
  const Table& train_table;
  const Table& test_table;
  const LearnOptions& options;
  Problem problem;
  Samples test_X;
  Vector truth;
  KernelLibrary library;
};

// Scores of the second of two classes on rows out of fold: the operating point is chosen there, and probabilities come from them.
void choose_threshold(LearnResult& result, const Parts& p, const Candidate& chosen, const SearchResult& found) {
  const bool all = p.problem.X.size() <= most_fold_rows && chosen.model != "krr" && chosen.model != "logistic";
  const Problem& rows = all ? p.problem : found.problem;
  const std::vector<Fold> folds = all ? p.problem.folds(p.options.folds, p.options.seed) : found.folds;
  const Vector scores = out_of_fold(chosen, rows, folds, p.library, p.options.run).col(0);
  result.fold_curve = threshold_curve(rows.y, scores);
  if (result.fold_curve.threshold.size() == 0) {
    if (p.options.precision > 0)
      throw InvalidArgument("the folds have rows of one class alone to try thresholds on: no operating point can be chosen there");
    return;
  }
  std::vector<char> positive;
  std::vector<double> scored;
  for (Index i = 0; i < scores.size(); ++i) {
    if (!std::isfinite(scores[i])) continue;
    scored.push_back(scores[i]);
    positive.push_back(rows.y[i] > 0 ? 1 : 0);
  }
  const Vector f = Eigen::Map<const Vector>(scored.data(), std::ssize(scored));
  result.trade = precision_trade(result.fold_curve, rows.y, scores, p.truth, result.test_scores);
  const Sigmoid sigmoid = fit_sigmoid(f, positive, Vector::Ones(f.size()));
  result.test_probability = result.test_scores.unaryExpr([&](double s) { return sigmoid(s); });
  if (p.options.precision <= 0) return;
  const auto [point, reached] = choose_operating_point(result.fold_curve, rows.y, scores, p.options.precision);
  if (!reached) {
    result.notes.push_back(fmt::format(
        "no threshold reaches a precision of {:.3g} in the training folds with one more wrong yes to spare; the nearest is taken, of "
        "precision {:.3g} there",
        p.options.precision, point.fold_precision));
  }
  result.model.model = with_threshold(result.model.model, point.threshold);
  result.operating_point = point;
}

void measure_classes(LearnResult& result, const Parts& p, const Candidate& chosen, const SearchResult& found) {
  if (p.problem.n_classes() == 2) {
    result.test_scores = result.model.predict(p.test_X, p.options.run).col(0);
    result.test_curve = threshold_curve(p.truth, result.test_scores);
    choose_threshold(result, p, chosen, found);
  }
  const Vector said = answers(result.model, p.test_X, true, p.options.run);
  result.test = evaluate(p.truth, said, p.problem, p.options.seed);
  result.confusion = confusion_matrix(class_indices(p.truth), class_indices(said), p.problem.n_classes());
  result.test_truth_and_predicted.resize(p.truth.size(), 2);
  result.test_truth_and_predicted << p.truth, said;
  if (result.operating_point) {
    OperatingPoint& point = *result.operating_point;
    point.precision = result.test.precision;
    point.recall = result.test.recall;
    point.accuracy = result.test.accuracy;
    const Index yes = result.confusion.col(1).sum();
    point.precision_low = point.precision_high = nan;
    if (yes > 0) {
      std::tie(point.precision_low, point.precision_high) = proportion_interval(result.confusion(1, 1), yes);
    } else {
      point.precision = nan;
    }
    if (result.confusion.row(1).sum() == 0) point.recall = nan;
  }
}

void measure_numbers(LearnResult& result, const Parts& p, const Candidate& chosen, const SearchResult& found) {
  const Vector said = answers(result.model, p.test_X, false, p.options.run);
  result.test = evaluate(p.truth, said, p.problem, p.options.seed);
  result.test_truth_and_predicted.resize(p.truth.size(), 2);
  result.test_truth_and_predicted << p.truth, said;
  result.interval_level = interval_level;
  if (const auto* process = std::get_if<GaussianProcessModel>(&result.model.model)) {
    const IntervalPrediction intervals = process->predict_interval(p.test_X, interval_level, p.options.run);
    result.test_intervals.resize(said.size(), 2);
    result.test_intervals << intervals.lower.col(0), intervals.upper.col(0);
  } else {
    const Vector left_out = out_of_fold(chosen, found.problem, found.folds, p.library, p.options.run).col(0);
    const double half = interval_half_width(found.problem.y - left_out, interval_level);
    result.test_intervals.resize(said.size(), 2);
    result.test_intervals << said.array() - half, said.array() + half;
  }
  result.interval_coverage =
      ((p.truth.array() >= result.test_intervals.col(0).array()) && (p.truth.array() <= result.test_intervals.col(1).array()))
          .cast<double>()
          .mean();
}

void explain(LearnResult& result, const Parts& p) {
  result.importance = permutation_importance(result.model, p.test_X, p.truth, p.options.seed, p.options.run);
  if (result.importance.empty()) result.notes.emplace_back("the importance of columns is given for tables of numbers and words alone");
  std::vector<std::int64_t> lines;
  std::vector<std::string> targets;
  const bool classification = p.problem.classification();
  for (Index i = 0; i < p.problem.X.size(); ++i) {
    lines.push_back(p.train_table.line_of(i));
    targets.push_back(classification ? p.problem.classes[static_cast<std::size_t>(p.problem.y[i])] : format_number(p.problem.y[i]));
  }
  result.influential = influential_rows(result.model.model, p.test_X, lines, targets, p.options.run);
}

LearnResult learn_parts(const Parts& p, Stopwatch& watch) {
  const LearnOptions& o = p.options;
  check_problem(p.problem, p.train.encoder, o);
  std::optional<Kernel> kernel;
  if (o.kernel) kernel = resolve_columns(*o.kernel, p.train.encoder.column_names());
  Parts parts = p;
  if (kernel) parts.library = library_of(resolve(*kernel, p.problem.X));
  const SearchResult found = search(p.problem, {o.model, kernel, o.folds, o.search_rows, o.seed, o.budget_seconds, o.run});
  std::vector<std::string> notes = p.train.notes;
  notes.insert(notes.end(), found.notes.begin(), found.notes.end());
  if (kernel) {
    const std::vector<std::string> remarks = kernel_remarks(*kernel, found.problem.X);
    notes.insert(notes.end(), remarks.begin(), remarks.end());
  }
  if (p.problem.X.has_objects()) notes.emplace_back("there is no linear model to compare with: it would need columns of numbers alone");
  const Candidate chosen = affordable(found.best, p.problem, found.problem, o, parts.library, notes);
  const double searched = watch.total();
  LearnResult result{.model = {fit_candidate(chosen, p.problem, parts.library, o.run), p.train.encoder}};
  result.notes = std::move(notes);
  result.stages.push_back({"search", searched});
  watch.lap(result, "final fit");
  result.stages.back().seconds -= searched;
  if (p.problem.classification()) {
    measure_classes(result, parts, chosen, found);
  } else {
    measure_numbers(result, parts, chosen, found);
  }
  result.baseline = evaluate(p.truth, Vector::Constant(p.truth.size(), naive_answer(p.problem)), p.problem, o.seed);
  if (!p.problem.X.has_objects()) {
    const bool same = chosen.model == found.linear.model && chosen.value == found.linear.value && o.precision == 0;
    const SavedModel linear = same ? result.model : SavedModel{fit_candidate(found.linear, p.problem, parts.library, o.run), {}};
    result.linear = evaluate(p.truth, answers(linear, p.test_X, p.problem.classification(), o.run), p.problem, o.seed);
  }
  watch.lap(result, "measuring");
  result.candidates = found.candidates;
  if (chosen.model != found.best.model) result.candidates.insert(result.candidates.begin(), chosen);
  result.n_search = found.problem.X.size();
  if (result.n_search < p.problem.X.size()) {
    for (const Index i : found.rows) result.search_lines.push_back(p.train_table.line_of(i));
  }
  add_spectrum(result, p.problem.X, o.seed, o.run);
  add_shape(result, p.train, o.run);
  if (o.explain) explain(result, parts);
  watch.lap(result, o.explain ? "explaining, pictures" : "pictures");
  for (Index i = 0; i < p.test_table.rows(); ++i) result.test_lines.push_back(p.test_table.line_of(i));
  return result;
}

LearnResult learn_split(const Dataset& train, const Table& train_table, const Table& test_table, std::vector<Index> groups,
                        const LearnOptions& options, Stopwatch& watch) {
  std::optional<Vector> truth = train.encoder.target_of(test_table);
  if (!truth) throw InvalidArgument(fmt::format("the test data has no column \"{}\" to compare with", train.encoder.target));
  const Parts parts{train,
                    train_table,
                    test_table,
                    options,
                    {dense_where_full(train.X), train.y, train.encoder.classes, std::move(groups), options.time_ordered},
                    dense_where_full(train.encoder.features_of(test_table)),
                    std::move(*truth),
                    {}};
  LearnResult result = learn_parts(parts, watch);
  result.columns = summarise_columns(train_table);
  result.n_train = parts.problem.X.size();
  result.folds = options.folds;
  result.seed = options.seed;
  result.budget_seconds = options.budget_seconds;
  if (parts.problem.classification()) {
    result.class_counts.assign(parts.problem.classes.size(), 0);
    for (const double c : parts.problem.y) ++result.class_counts[static_cast<std::size_t>(c)];
  }
  return result;
}

void finish(LearnResult& result, const Stopwatch& watch) {
  result.verdict = verdict_of(result);
  result.seconds = watch.total();
  result.peak_bytes = peak_bytes();
}

// The column that names groups is no feature.
EncodeOptions without_groups(const Table& data, const LearnOptions& options) {
  EncodeOptions encode = options.encode;
  if (options.groups.empty()) return encode;
  const std::string name = data.names[static_cast<std::size_t>(group_column(data, options.groups))];
  if (std::find(encode.drop.begin(), encode.drop.end(), name) == encode.drop.end()) encode.drop.push_back(name);
  return encode;
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
  Stopwatch watch;
  if (data.rows() < 4)
    throw InvalidArgument(
        fmt::format("{} has {} rows; at least 4 are needed to hold some out and learn from the rest", data.source, data.rows()));
  // Once over all rows, to know the task and the classes; what is learned from columns comes from the training part below.
  EncodeOptions encode = without_groups(data, options);
  const Dataset all = make_dataset(data, encode);
  encode.target = all.encoder.sparse ? encode.target : all.encoder.target;
  encode.task = all.encoder.task;
  const std::vector<Index> groups = options.groups.empty() ? std::vector<Index>{} : groups_of(data, options.groups);
  const Split split = split_rows(data.rows(), all, groups, options);
  const Table train_table = rows_of(data, split.fold.train), test_table = rows_of(data, split.fold.test);
  Dataset train = make_dataset(train_table, encode);
  for (const std::string& label : all.encoder.classes) {
    if (std::find(train.encoder.classes.begin(), train.encoder.classes.end(), label) == train.encoder.classes.end()) {
      throw InvalidArgument(
          fmt::format("the class \"{}\" of \"{}\" has all its rows in the part set aside ({}), so nothing can learn it; split "
                      "otherwise, or leave those rows out",
                      label, all.encoder.target, split.sentence));
    }
  }
  train.notes = all.notes;  // the first look was told nothing, so it says how things were found out
  LearnResult result = learn_split(train, train_table, test_table, picked_groups(groups, split.fold.train), options, watch);
  result.holdout = options.holdout;
  result.split = split.sentence;
  finish(result, watch);
  return result;
}

LearnResult learn(const Table& data, const Table& test, const LearnOptions& options) {
  check_options(options);
  Stopwatch watch;
  if (test.rows() == 0) throw InvalidArgument(fmt::format("{} has no rows to test on", test.source));
  const std::vector<Index> groups = options.groups.empty() ? std::vector<Index>{} : groups_of(data, options.groups);
  LearnResult result = learn_split(make_dataset(data, without_groups(data, options)), data, test, groups, options, watch);
  result.split = "a table of its own";
  finish(result, watch);
  return result;
}

}  // namespace mercer
