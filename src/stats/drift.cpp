// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/drift.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gram/row_evaluator.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "mercer/rkhs_function.hpp"
#include "stats/drift_thresholds.hpp"

namespace mercer {

namespace {

constexpr Index usual_window = 50;
constexpr Index rows_at_a_time = 256;
constexpr Index few_rows = 8;  // up to so many, the way for single rows is faster than that of batches
constexpr double not_yet = std::numeric_limits<double>::quiet_NaN();

RkhsFunction embedding_of(const Kernel& kernel, const Samples& reference) {
  return {kernel, reference, Vector::Constant(reference.size(), 1 / static_cast<double>(reference.size()))};
}

// The mean of k over pairs of different reference rows.
double mean_of_pairs(const RkhsFunction& embedding) {
  const auto n = static_cast<double>(embedding.size());
  const double squares = gram_diagonal(embedding.kernel(), embedding.samples()).sum();
  return (inner(embedding, embedding) * n * n - squares) / (n * (n - 1));
}

Samples some_rows(const Samples& X, Index wanted, std::uint64_t seed, std::uint64_t stream) {
  if (wanted >= X.size()) return X;
  std::vector<Index> picked = RandomStream(seed, stream).sample(X.size(), wanted);
  std::sort(picked.begin(), picked.end());
  return X.subset(picked);
}

void check(const Samples& reference, const DriftOptions& o) {
  if (o.kernel.needs_given_gram() || reference.is_given())
    throw InvalidArgument("a drift monitor needs rows that a kernel can be evaluated on: new rows have no values in a given Gram matrix");
  if (o.kernel.psd() == Verdict::no)
    throw InvalidArgument(fmt::format("a drift monitor needs a positive semi-definite kernel, and {} is not", o.kernel.text()));
  if (!(o.expected_run_length >= 2 && o.expected_run_length <= 1e6))
    throw InvalidArgument(fmt::format("expected_run_length must be from 2 to 1000000 rows, got {}", o.expected_run_length));
  if (o.window < 0 || o.window == 1) throw InvalidArgument(fmt::format("window must be >= 2 rows (0: chosen), got {}", o.window));
  if (o.simulations < 0) throw InvalidArgument(fmt::format("simulations must be >= 0 (0: chosen), got {}", o.simulations));
  if (o.simulations > 0 && static_cast<double>(o.simulations) < 2 * o.expected_run_length)
    throw InvalidArgument(fmt::format("simulations must be at least twice the expected run length {:g}, better 25 times, got {}",
                                      o.expected_run_length, o.simulations));
  const Index window = std::max<Index>(o.window, 2);
  if (reference.size() < 3 * window)
    throw InvalidArgument(
        fmt::format("the reference needs at least {} rows, three windows of {}, got {}", 3 * window, window, reference.size()));
  if (o.max_reference < 3 * window)
    throw InvalidArgument(fmt::format("max_reference must be at least {}, three windows, got {}", 3 * window, o.max_reference));
  require_finite(reference, "the reference");
}

}  // namespace

struct DriftMonitor::Calibration {
  RkhsFunction embedding;  // of the reference
  double pairs;            // mean of k over pairs of reference rows
  double rounding;         // of a statistic
  std::shared_ptr<const RowEvaluator> evaluator;
  Vector thresholds;
  Index window;
  double run_length;
  Index simulations;
  std::uint64_t seed;
  std::vector<std::string> remarks;

  Calibration(const Kernel& kernel, const Samples& reference, Vector steps, double length, Index streams, std::uint64_t from,
              std::vector<std::string> said)
      : embedding(embedding_of(kernel, reference)),
        pairs(mean_of_pairs(embedding)),
        rounding(1e-12 * gram_diagonal(kernel, reference).cwiseAbs().mean()),
        evaluator(RowEvaluator::make(kernel, reference)),
        thresholds(std::move(steps)),
        window(thresholds.size()),
        run_length(length),
        simulations(streams),
        seed(from),
        remarks(std::move(said)) {}

  // The mean of k(row, reference).
  Vector means(const Samples& rows, const Run& run) const {
    if (!evaluator || rows.size() > few_rows || rows.is_sparse() || rows.has_objects()) return embedding(rows, run);
    const Matrix dense = rows.to_dense();
    Vector out(dense.rows());
    for (Index i = 0; i < dense.rows(); ++i) {
      const auto values = evaluator->values({dense.data() + i * dense.cols(), static_cast<std::size_t>(dense.cols())});
      out[i] = Eigen::Map<const Vector>(values.data(), embedding.size()).mean();
    }
    return out;
  }
};

DriftMonitor::DriftMonitor(const Samples& given, const DriftOptions& o) {
  check(given, o);
  std::vector<std::string> remarks;
  const Samples reference = some_rows(given, o.max_reference, o.seed, std::uint64_t{1} << 40U);
  if (reference.size() < given.size())
    remarks.push_back(fmt::format("{} of the {} reference rows are used, drawn at random (max_reference)", reference.size(), given.size()));
  const Index window = o.window > 0 ? o.window : std::clamp<Index>(reference.size() / 4, 2, usual_window);
  const Index simulations =
      o.simulations > 0 ? o.simulations : std::clamp<Index>(static_cast<Index>(25 * o.expected_run_length), 2000, 1000000);
  const Kernel kernel = resolve(o.kernel, reference);
  if (kernel.is_characteristic() == Verdict::no)
    remarks.push_back(fmt::format("the kernel {} is not characteristic: there are drifts that it cannot see{}", kernel.text(),
                                  kernel.looks_at_objects() ? "" : "; gaussian(auto) sees them all"));
  with_run(o.run, [&] {
    Vector thresholds = stats::drift_thresholds(kernel, reference, window, o.expected_run_length, simulations, o.seed, o.run);
    const Samples compared = some_rows(reference, reference.size() - 2 * window + 1, o.seed, (std::uint64_t{1} << 40U) + 1);
    calibration_ = std::make_shared<const Calibration>(kernel, compared, std::move(thresholds), o.expected_run_length, simulations, o.seed,
                                                       std::move(remarks));
  });
  reset();
}

DriftMonitor::DriftMonitor(const DriftParts& p) : time_(p.time), steps_(p.steps), last_alarm_(p.last_alarm) {
  if (p.reference.size() < 2 || p.window < 2 || p.thresholds.size() != p.window || p.recent.size() > p.window || p.time < p.recent.size() ||
      (!p.recent.empty() && p.recent.width() != p.reference.width()))
    throw InvalidArgument("these are not the parts of a drift monitor: sizes do not fit");
  calibration_ =
      std::make_shared<const Calibration>(p.kernel, p.reference, p.thresholds, p.expected_run_length, p.simulations, p.seed, p.remarks);
  recent_ = p.recent;
  if (recent_.empty()) return;
  means_ = calibration_->means(recent_, {});
  within_ = gram(calibration_->embedding.kernel(), recent_);
}

void DriftMonitor::reset() {
  recent_ = {};
  means_ = {};
  within_ = {};
  steps_ = 0;
  last_alarm_ = -1;
}

std::vector<DriftStep> DriftMonitor::update(const Samples& rows, const Run& run) {
  if (rows.empty()) return {};
  if (rows.is_given() || rows.width() != width())
    throw InvalidArgument(fmt::format("rows of the stream must have the {} columns of the reference, got {}", width(), rows.width()));
  require_finite(rows, "the stream");
  std::vector<DriftStep> steps;
  Stage stage(run.progress, "Stream", static_cast<double>(rows.size()));
  rows.for_each_chunk(rows_at_a_time, [&](const Samples& some, Index) {
    const std::vector<DriftStep> more = update_some(some, {.threads = some.size() <= few_rows ? 1 : run.threads, .memory = run.memory});
    steps.insert(steps.end(), more.begin(), more.end());
    stage.advance(static_cast<double>(some.size()));
  });
  return steps;
}

// Notation: rows 0 .. old - 1 were in the window, old .. old + count - 1 are new; G is k between all of them.
std::vector<DriftStep> DriftMonitor::update_some(const Samples& rows, const Run& run) {
  const Calibration& c = *calibration_;
  const Index old = recent_.size();
  const Index count = rows.size();
  const Samples all = old > 0 ? concatenate(recent_, rows) : rows;
  Matrix G(old + count, old + count);
  if (old > 0) G.topLeftCorner(old, old) = within_;
  const Samples fresh = all.slice(old, count);
  G.bottomRows(count) = gram(c.embedding.kernel(), fresh, all, {.run = run});
  G.topRightCorner(old, count) = G.bottomLeftCorner(count, old).transpose();
  Vector means(old + count);
  if (old > 0) means.head(old) = means_;
  means.tail(count) = c.means(fresh, run);

  std::vector<DriftStep> steps;
  const auto w = static_cast<double>(c.window);
  double within = old > 1 ? within_.sum() - within_.trace() : 0;  // sums over the window
  double across = means.head(old).sum();
  Index begin = 0;  // of the window
  for (Index i = old; i < old + count; ++i) {
    if (i - begin == c.window) {
      within -= 2 * G.row(begin).segment(begin + 1, c.window - 1).sum();
      across -= means[begin++];
    }
    within += 2 * G.row(i).segment(begin, i - begin).sum();
    across += means[i];
    DriftStep step{time_ + i - old, not_yet, not_yet, false};
    if (i - begin + 1 == c.window) {
      step.statistic = c.pairs + within / (w * (w - 1)) - 2 * across / w;
      step.threshold = c.thresholds[std::min(steps_++, c.window - 1)];
      step.alarm = step.statistic > step.threshold + c.rounding;
      if (step.alarm) last_alarm_ = step.time;
    }
    steps.push_back(step);
  }
  const Index keep = old + count - begin;
  std::vector<Index> kept(static_cast<std::size_t>(keep));
  for (Index i = 0; i < keep; ++i) kept[static_cast<std::size_t>(i)] = begin + i;
  recent_ = all.subset(kept);
  means_ = means.tail(keep).eval();
  within_ = G.bottomRightCorner(keep, keep).eval();
  time_ += count;
  return steps;
}

const Kernel& DriftMonitor::kernel() const { return calibration_->embedding.kernel(); }
const Vector& DriftMonitor::thresholds() const { return calibration_->thresholds; }
Index DriftMonitor::window() const { return calibration_->window; }
Index DriftMonitor::reference_rows() const { return calibration_->embedding.size(); }
double DriftMonitor::expected_run_length() const { return calibration_->run_length; }
Index DriftMonitor::simulations() const { return calibration_->simulations; }
std::uint64_t DriftMonitor::seed() const { return calibration_->seed; }
const std::vector<std::string>& DriftMonitor::remarks() const { return calibration_->remarks; }
Index DriftMonitor::width() const { return calibration_->embedding.samples().width(); }

std::string DriftMonitor::sentence() const {
  const std::string state = last_alarm_ >= 0      ? fmt::format("drift: the last alarm was at row {}", last_alarm_)
                            : filled() < window() ? fmt::format("{} of {} rows in the window", filled(), window())
                                                  : "no drift since the window was full";
  return fmt::format("{} rows seen, {} (mmd-u of the last {} rows against {}, one false alarm in {:g} rows expected, {})", time_, state,
                     window(), reference_rows(), expected_run_length(), kernel().text());
}

DriftParts DriftMonitor::parts() const {
  const Calibration& c = *calibration_;
  return {.kernel = kernel(),
          .reference = c.embedding.samples(),
          .thresholds = c.thresholds,
          .window = c.window,
          .expected_run_length = c.run_length,
          .simulations = c.simulations,
          .seed = c.seed,
          .remarks = c.remarks,
          .recent = recent_,
          .time = time_,
          .steps = steps_,
          .last_alarm = last_alarm_};
}

}  // namespace mercer
