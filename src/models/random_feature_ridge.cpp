// Ridge regression on random Fourier features by running sums.
//
// A slab of rows is made into features (blocks of rows in parallel) and taken into the sums (tiles in parallel), then its memory serves the
// next one: what is stored does not grow with the rows. Slabs are counted from the first row, so the bits do not depend on the threads.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/random_feature_ridge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "core/buffer.hpp"
#include "gram/fourier_blocks.hpp"
#include "gram/rows.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "models/normal_equations.hpp"
#include "models/weights.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;

// The streams of a seed from here on say which rows are held out; those below draw the features.
constexpr std::uint64_t held_out_streams = std::uint64_t{1} << 63U;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// A slab is some 64 MB of features: large enough that sums are updated seldom, small against the sums of wide maps.
template <class T>
Index slab_rows(Index components) {
  constexpr Index unit = 2048;  // the slice of NormalSums
  const auto numbers = static_cast<Index>((std::size_t{1} << 26U) / sizeof(T));
  return std::clamp(numbers / components / unit * unit, unit, 32 * unit);
}

std::size_t fit_bytes(Index components, Index targets, Precision precision, bool validation) {
  const Index rows = precision == Precision::float32 ? slab_rows<float>(components) : slab_rows<double>(components);
  const double slab = static_cast<double>(rows) * static_cast<double>(components) * static_cast<double>(bytes_of(precision));
  const double sums = static_cast<double>(NormalSums::bytes(components, targets)) * (validation ? 3 : 1);
  return static_cast<std::size_t>(std::min(slab + sums, 1e18)) + ridge_from_sums_bytes(components);
}

// float32 halves the time, which matters from some ten million features on; a penalty as small as its rounding needs float64.
Precision precision_for(Index rows, Index components, const Vector& alpha) {
  const auto n = static_cast<double>(rows);
  return n * static_cast<double>(components) >= 1e7 && alpha.minCoeff() >= 1e-8 * n ? Precision::float32 : Precision::float64;
}

void require_components(Index components) {
  if (components < 1 || components > 1000000)
    throw InvalidArgument(fmt::format("n_components must be a whole number from 1 to 1000000, got {}", components));
}

Vector root_mean_square(const NormalSums& sums, const RidgeFromSums& fit) {
  return (sums.squared_error(fit.coef, fit.intercept) / sums.weight()).cwiseSqrt();
}

std::string sentence_of(const RandomFeatureSummary& s, Index components) {
  const std::string kind = s.method == "Cholesky" ? fmt::format("Cholesky of {0} x {0}", components)
                                                  : fmt::format("pseudo-inverse of {0} x {0}, rank {1}", components, s.rank);
  const std::string held_out =
      s.held_out_rows > 0 ? fmt::format(", RMSE {:.4g} on {} held-out rows", s.held_out_rmse.mean(), s.held_out_rows) : "";
  return fmt::format("solved: {} from {} rows, relative residual {:.1e}, training RMSE {:.4g}{}, {}, {:.2f} s", kind, s.rows, s.residual,
                     s.training_rmse.mean(), held_out, format_bytes(static_cast<double>(s.bytes)), s.seconds);
}

bool same_map(const RandomFourierFeatures& a, const RandomFourierFeatures& b) {
  return a.form() == b.form() && a.scale() == b.scale() && a.frequencies().rows() == b.frequencies().rows() &&
         a.frequencies().cols() == b.frequencies().cols() && a.frequencies() == b.frequencies() && a.offsets() == b.offsets();
}

}  // namespace

RandomFeatureRidgeModel RandomFeatureRidgeModel::from_parts(RandomFourierFeatures features, Matrix coef, Vector intercept, Vector alpha,
                                                            Precision precision, RandomFeatureSummary summary) {
  if (coef.rows() != features.n_components() || coef.cols() < 1 || intercept.size() != coef.cols() || alpha.size() != coef.cols())
    throw InvalidArgument(fmt::format("a model of {} random features and {} targets cannot have {} x {} coefficients",
                                      features.n_components(), intercept.size(), coef.rows(), coef.cols()));
  RandomFeatureRidgeModel model(std::move(features));
  model.coef_ = std::move(coef);
  model.intercept_ = std::move(intercept);
  model.alpha_ = std::move(alpha);
  model.precision_ = precision;
  model.summary_ = std::move(summary);
  return model;
}

namespace {

template <class T>
void predict_rows(const RandomFeatureRidgeModel& model, const Samples& X, Matrix& out, Stage& stage) {
  const FourierBlocks<T> blocks(model.features());
  parallel_for(block_count(X.size()), [&](Index block) {
    const Range rows = block_range(block, X.size());
    RowMatrix<T> Z(rows.count, blocks.columns());
    blocks.fill(X, rows, Z.data(), Z.cols());
    out.middleRows(rows.begin, rows.count) = (Z.template cast<double>() * model.coef()).rowwise() + model.intercept().transpose();
    stage.advance(static_cast<double>(rows.count));
  });
}

}  // namespace

Matrix RandomFeatureRidgeModel::predict(const Samples& X, const Run& run) const {
  if (X.width() != features_.width())
    throw InvalidArgument(fmt::format("X has {} columns, the model was fitted on {}", X.width(), features_.width()));
  require_finite(X, "X");
  Matrix out(X.size(), n_targets());
  Stage stage(run.progress, "prediction", static_cast<double>(X.size()));
  with_run(run, [&] {
    if (precision_ == Precision::float32) {
      predict_rows<float>(*this, X, out, stage);
    } else {
      predict_rows<double>(*this, X, out, stage);
    }
  });
  return out;
}

RandomFeatureSums::RandomFeatureSums(RandomFourierFeatures features, Index targets, Precision precision, double validation_fraction,
                                     std::uint64_t seed)
    : features_(std::move(features)), precision_(precision), validation_fraction_(validation_fraction), seed_(seed) {
  if (targets < 1) throw InvalidArgument(fmt::format("there must be at least one target, got {}", targets));
  if (!(validation_fraction >= 0 && validation_fraction < 1))
    throw InvalidArgument(fmt::format("validation_fraction must lie in [0, 1), got {}", validation_fraction));
  training_ = NormalSums(features_.n_components(), targets);
  held_out_ = NormalSums(validation_fraction > 0 ? features_.n_components() : 0, targets);
}

template <class T>
void RandomFeatureSums::take(const Samples& X, const MatrixRef& Y, const Vector& w, const Run& run) {
  const FourierBlocks<T> blocks(features_);
  const Index L = features_.n_components();
  const Index most = std::min(slab_rows<T>(L), X.size());
  Buffer<T> slab(static_cast<std::size_t>(most) * static_cast<std::size_t>(L));
  Stage stage(run.progress, "random features", static_cast<double>(X.size()));
  const auto add = [&](NormalSums& sums, const Samples& rows, const MatrixRef& targets, const Vector& weights) {
    if (rows.empty()) return;
    blocks.fill(rows, slab.data(), L);
    sums.accumulate(Eigen::Map<const RowMatrix<T>>(slab.data(), rows.size(), L), targets, weights);
  };
  for (Index begin = 0; begin < X.size(); begin += most) {
    const Index count = std::min(most, X.size() - begin);
    const Samples rows = X.slice(begin, count);
    const Vector weights = w.size() == 0 ? Vector() : Vector(w.segment(begin, count));
    if (validation_fraction_ == 0) {
      add(training_, rows, Y.middleRows(begin, count), weights);
    } else {
      std::vector<Index> part[2];
      for (Index i = 0; i < count; ++i) {
        const double draw = RandomStream(seed_, held_out_streams + static_cast<std::uint64_t>(rows_ + i)).uniform();
        part[draw < validation_fraction_ ? 1 : 0].push_back(i);
      }
      for (const int held : {0, 1}) {
        const Matrix targets = Y.middleRows(begin, count)(part[held], Eigen::all);
        add(held == 1 ? held_out_ : training_, rows.subset(part[held]), targets,
            weights.size() == 0 ? Vector() : Vector(weights(part[held])));
      }
    }
    rows_ += count;
    stage.advance(static_cast<double>(count));
  }
}

void RandomFeatureSums::accumulate(const Samples& X, const MatrixRef& Y, const Vector& w, const Run& run) {
  const auto start = Clock::now();
  if (X.empty()) return;
  if (X.is_given()) throw InvalidArgument("random Fourier features need the columns of the samples, but a given Gram matrix has none");
  if (X.width() != features_.width())
    throw InvalidArgument(fmt::format("X has {} columns, the feature map takes {}", X.width(), features_.width()));
  require_matching(X, Y);
  if (Y.cols() != targets()) throw InvalidArgument(fmt::format("y has {} columns, the sums have {} targets", Y.cols(), targets()));
  require_finite(X, "X");
  if (w.size() > 0 && (w.size() != X.size() || !w.allFinite() || w.minCoeff() < 0))
    throw InvalidArgument(fmt::format("sample_weight must be {} finite numbers >= 0, got {}", X.size(),
                                      w.size() == X.size() ? "a negative or non-finite one" : fmt::format("{} numbers", w.size())));
  with_run(run, [&] {
    if (precision_ == Precision::float32) {
      take<float>(X, Y, w, run);
    } else {
      take<double>(X, Y, w, run);
    }
  });
  seconds_ += seconds_since(start);
}

void RandomFeatureSums::merge(const RandomFeatureSums& other) {
  if (!same_map(features_, other.features_) || precision_ != other.precision_)
    throw InvalidArgument(
        "running sums can be merged only if they are of the same feature map (kernel, components, form, seed) and precision");
  if (targets() != other.targets())
    throw InvalidArgument(fmt::format("running sums of {} targets cannot be merged with those of {}", targets(), other.targets()));
  if (validation_fraction_ != other.validation_fraction_)
    throw InvalidArgument(
        fmt::format("running sums with validation_fraction {} cannot be merged with those with {}; make both with the same",
                    validation_fraction_, other.validation_fraction_));
  training_.merge(other.training_);
  held_out_.merge(other.held_out_);
  rows_ += other.rows_;
  seconds_ += other.seconds_;
}

RandomFeatureRidgeModel RandomFeatureSums::solve(const RandomFeatureSolve& options) const {
  const auto start = Clock::now();
  const bool validated = held_out_.rows() > 0 && held_out_.weight() > 0 && training_.weight() > 0;
  NormalSums all = training_;
  if (held_out_.features() > 0) all.merge(held_out_);
  if (!(all.weight() > 0))
    throw InvalidArgument(all.rows() == 0 ? "no rows were seen yet: nothing to learn from"
                                          : "all sample weights are zero: nothing to learn from");
  const auto penalty = [&](Index rows) { return penalties(options.alpha, options.alpha_per_target, options.lambda, rows, targets()); };
  const Vector alpha = penalty(all.rows());
  RandomFeatureSummary summary;
  RidgeFromSums fit;
  with_run(options.run, [&] {
    if (validated) {
      const RidgeFromSums part = ridge_from_sums(training_, penalty(training_.rows()), options.fit_intercept, precision_, options.run);
      summary.held_out_rows = held_out_.rows();
      summary.held_out_rmse = root_mean_square(held_out_, part);
      const Vector variance = held_out_.target_variation() / held_out_.weight();
      const Vector unexplained = summary.held_out_rmse.cwiseAbs2().cwiseQuotient(variance);
      summary.held_out_r2 = (variance.array() > 0).select(1 - unexplained.array(), 0);  // nothing to explain in constant targets
    }
    fit = ridge_from_sums(all, alpha, options.fit_intercept, precision_, options.run);
    summary.training_rmse = root_mean_square(all, fit);
  });
  summary.method = fit.method;
  summary.rows = all.rows();
  summary.rank = fit.rank;
  summary.residual = fit.residual;
  summary.bytes = fit_bytes(features_.n_components(), targets(), precision_, held_out_.features() > 0);
  summary.seconds = seconds_ + seconds_since(start);
  summary.sentence = sentence_of(summary, features_.n_components());
  return RandomFeatureRidgeModel::from_parts(features_, std::move(fit.coef), std::move(fit.intercept), alpha, precision_,
                                             std::move(summary));
}

// The number of rows in 8 bytes, the length of the first sums in 8, the sums of training and of held-out rows.
std::string RandomFeatureSums::to_bytes() const {
  const std::string first = training_.to_bytes();
  const std::uint64_t head[2] = {static_cast<std::uint64_t>(rows_), first.size()};
  return std::string(reinterpret_cast<const char*>(head), sizeof head) + first + held_out_.to_bytes();
}

void RandomFeatureSums::restore(std::string_view bytes) {
  std::uint64_t head[2] = {0, 0};
  if (bytes.size() < sizeof head) throw InvalidArgument(fmt::format("{} bytes are too few for running sums", bytes.size()));
  std::memcpy(head, bytes.data(), sizeof head);
  bytes.remove_prefix(sizeof head);
  if (head[1] > bytes.size()) throw InvalidArgument("these running sums of random features are cut short or changed");
  NormalSums training = NormalSums::from_bytes(bytes.substr(0, head[1]));
  NormalSums held_out = NormalSums::from_bytes(bytes.substr(head[1]));
  if (head[0] != static_cast<std::uint64_t>(training.rows() + held_out.rows()) || held_out.targets() != training.targets())
    throw InvalidArgument("these running sums of random features are cut short or changed");
  if (training.features() == training_.features() && held_out.features() != held_out_.features())
    throw InvalidArgument(fmt::format("these are running sums {} held-out rows, wanted are some {}",
                                      held_out.features() > 0 ? "with" : "without", held_out_.features() > 0 ? "with" : "without"));
  if (training.features() != training_.features() || training.targets() != targets())
    throw InvalidArgument(fmt::format("these are running sums of {} features and {} targets, wanted are {} and {}", training.features(),
                                      training.targets(), training_.features(), targets()));
  rows_ = static_cast<Index>(head[0]);
  training_ = std::move(training);
  held_out_ = std::move(held_out);
}

RandomFeatureSums random_feature_sums(const Samples& X, const MatrixRef& Y, const RandomFeatureRidgeOptions& options) {
  require_matching(X, Y);
  require_components(options.n_components);
  if (X.is_given() || options.kernel.needs_given_gram())
    throw InvalidArgument("random Fourier features need the columns of the samples, but a given Gram matrix has none");
  require_finite(X, "X");
  root_weights(options.sample_weight, X.size());  // checks them
  const Vector alpha = penalties(options.alpha, options.alpha_per_target, options.lambda, X.size(), Y.cols());
  const Precision precision = options.precision.value_or(precision_for(X.size(), options.n_components, alpha));
  const std::size_t bytes = fit_bytes(options.n_components, Y.cols(), precision, options.validation_fraction > 0);
  require_memory(bytes, options.run.memory, fmt::format("ridge regression on {} random features", options.n_components),
                 "use fewer components");
  std::optional<RandomFourierFeatures> map;
  with_run(options.run, [&] {
    map = random_fourier_features(resolve(options.kernel, X), X.width(),
                                  {.n_components = options.n_components,
                                   .form = options.form,
                                   .draw = options.draw,
                                   .seed = options.seed,
                                   .memory = options.run.memory});
    if (!X.is_sparse()) map = map->centred_at(column_means(X));
  });
  RandomFeatureSums sums(std::move(*map), Y.cols(), precision, options.validation_fraction, options.seed);
  sums.accumulate(X, Y, options.sample_weight, options.run);
  return sums;
}

RandomFeatureRidgeModel fit_random_feature_ridge(const Samples& X, const MatrixRef& Y, const RandomFeatureRidgeOptions& options) {
  return random_feature_sums(X, Y, options)
      .solve({options.alpha, options.alpha_per_target, options.lambda, options.fit_intercept, options.run});
}

}  // namespace mercer
