// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/conditional_independence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/gamma.hpp>
#include <cmath>

#include "gram/pivoted_cholesky.hpp"
#include "linalg/blas.hpp"
#include "mercer/error.hpp"
#include "mercer/independence.hpp"
#include "mercer/random.hpp"
#include "mercer/random_features.hpp"
#include "stats/conditional_parts.hpp"
#include "stats/conditional_ridge.hpp"
#include "stats/test_result.hpp"

namespace mercer {

const char* name_of(ConditionalMethod method) {
  switch (method) {
    case ConditionalMethod::automatic:
      return "auto";
    case ConditionalMethod::kci:
      return "kci";
    case ConditionalMethod::randomized:
      return "randomized";
  }
  return "";
}

const char* name_of(ConditionalNull null) { return null == ConditionalNull::spectral ? "spectral" : "gamma"; }

namespace stats {

namespace {

constexpr Index factor_rank = 60;          // of the features that a penalty is chosen by
constexpr double factor_tolerance = 1e-3;  // of their trace that may be missing there
constexpr Index draw_panel = 128;

// N'M N / n for standard normal N, one for each draw.
Vector normal_forms(const Matrix& M, Index draws, std::uint64_t seed, const Run& run) {
  const Index n = M.rows();
  Vector out(draws);
  const Index panels = (draws + draw_panel - 1) / draw_panel;
  Stage stage(run.progress, "Null draws", static_cast<double>(panels));
  parallel_for(panels, [&](Index p) {
    const Index first = p * draw_panel;
    const Index some = std::min(draw_panel, draws - first);
    Matrix N(some, n);
    for (Index b = 0; b < some; ++b) {
      RandomStream random(seed, static_cast<std::uint64_t>(first + b) + 1);
      for (Index i = 0; i < n; ++i) N(b, i) = random.normal();
    }
    Matrix image(some, n);
    linalg::gemm_n(false, some, n, n, 1.0, N.data(), n, M.data(), n, 0.0, image.data(), n);
    out.segment(first, some) = N.cwiseProduct(image).rowwise().sum() / static_cast<double>(n);
    stage.advance(1);
  });
  return out;
}

struct Variable {
  Samples samples{};
  Matrix gram{};  // of the residual features
  std::string kernel{};
  double share = 1;
  double mean_degrees = 0;
  RidgeChoice choice{};
  bool determined = false;
};

// The Gram matrix of the features' residuals, the means taken away first.
Variable residual_gram(const Samples& given, const Kernel& kernel, const std::vector<RidgeBasis>& bases,
                       const ConditionalIndependenceOptions& o) {
  Variable v;
  v.samples = given;
  const bool by_means = means_can_go(kernel, given, o.remove_means);
  if (by_means) {
    Matrix columns = given.to_dense();
    const double size = columns.cwiseAbs().maxCoeff();
    columns.rowwise() -= columns.colwise().mean().eval();
    v.determined = !(columns.cwiseAbs().maxCoeff() > nothing_left * size);
    if (v.determined) return v;
    const RidgeChoice means = choose_ridge(bases, columns, o.epsilon, o.run);
    v.share = means.share;
    v.mean_degrees = means.degrees;
    v.samples = Samples(ridge_residuals(bases[means.basis], means.epsilon, columns));
  }
  const Kernel resolved = resolve(kernel, v.samples);
  v.kernel = resolved.text();
  v.gram = gram(resolved, v.samples, {.run = o.run});
  if (!v.gram.allFinite()) throw InvalidArgument("kernel values overflow; scale the data");
  const double trace = v.gram.trace();
  PivotedCholesky factor = pivoted_cholesky(v.gram.diagonal(),
                                            [&](std::span<const Index> J) {
                                              Matrix columns(v.gram.rows(), std::ssize(J));
                                              for (std::size_t j = 0; j < J.size(); ++j)
                                                columns.col(static_cast<Index>(j)) = v.gram.col(J[j]);
                                              return columns;
                                            },
                                            {.rank = std::min(factor_rank, v.gram.rows()), .tolerance = factor_tolerance, .seed = o.seed});
  centre(v.gram);
  v.determined = !(v.gram.trace() > nothing_left * trace);
  if (v.determined) return v;
  factor.factor.rowwise() -= factor.factor.colwise().mean().eval();
  v.choice = choose_ridge(bases, factor.factor, o.epsilon, o.run);
  if (!by_means) v.share = v.choice.share;
  const RidgeBasis& basis = bases[v.choice.basis];
  const Matrix half = ridge_residuals(basis, v.choice.epsilon, v.gram).transpose();
  v.gram = ridge_residuals(basis, v.choice.epsilon, half);
  return v;
}

void add_numbers(ConditionalParts& parts, const std::vector<RidgeBasis>& bases, const Variable& v, const char* name) {
  parts.numbers.emplace_back(fmt::format("epsilon {}", name), v.choice.epsilon);
  parts.numbers.emplace_back(fmt::format("degrees of freedom {}", name), v.choice.degrees);
  parts.numbers.emplace_back(fmt::format("length scale factor {}", name), bases[v.choice.basis].factor);
  if (v.mean_degrees > 0) parts.numbers.emplace_back(fmt::format("degrees of freedom of the mean {}", name), v.mean_degrees);
}

}  // namespace

bool means_can_go(const Kernel& kernel, const Samples& X, bool wanted) {
  return wanted && !X.is_given() && kernel.is_shift_invariant() == Verdict::yes;
}

std::vector<double> length_factors(const Kernel& kernel_z) {
  return kernel_z.has_auto() ? std::vector<double>{0.5, 1, 2, 4} : std::vector<double>{1};
}

ConditionalParts conditional_by_kernels(const Samples& X, const Samples& Y, const Samples& Z, const ConditionalIndependenceOptions& o) {
  const Index n = X.size();
  const std::vector<double> factors = length_factors(o.kernel_z);
  const auto square = static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * sizeof(double);
  require_memory(square * (factors.size() + 6), o.run.memory, fmt::format("the Gram matrices of {} rows", n),
                 "use method randomized, or fewer rows");
  ConditionalParts parts;
  const Kernel kernel_z = resolve(o.kernel_z, Z);
  std::vector<RidgeBasis> bases;
  bases.reserve(factors.size());
  for (const double factor : factors) bases.push_back(ridge_basis(kernel_z, Z, factor, o.run));
  if (!(bases.front().trace > nothing_left * static_cast<double>(n)))
    throw InvalidArgument("Z is constant, so there is nothing to condition on: use independence_test");
  Variable x = residual_gram(X, o.kernel_x, bases, o);
  Variable y = residual_gram(Y, o.kernel_y, bases, o);
  parts.kernels = {x.kernel, y.kernel, kernel_z.text()};
  parts.share_x = x.share;
  parts.share_y = y.share;
  parts.determined = x.determined || y.determined;
  if (parts.determined) return parts;
  add_numbers(parts, bases, x, "x");
  add_numbers(parts, bases, y, "y");
  bases.clear();
  Matrix M = gram(kernel_z, Z, {.run = o.run});
  M.array() *= x.gram.array() * y.gram.array();
  M = ((M + M.transpose()) / 2).eval();
  const auto rows = static_cast<double>(n);
  parts.statistic = M.sum() / rows;
  parts.mean = M.trace() / rows;
  parts.variance = 2 * M.squaredNorm() / (rows * rows);
  if (o.null == ConditionalNull::spectral) parts.null = normal_forms(M, o.draws, o.seed, o.run);
  return parts;
}

}  // namespace stats

namespace {

constexpr Index most_kernel_rows = 1000;  // of method auto
constexpr Index few_rows = 50;

void check(const Samples& X, const Samples& Y, const Samples& Z, const ConditionalIndependenceOptions& o) {
  stats::require_level(o.level);
  if (o.draws < 1) throw InvalidArgument(fmt::format("draws must be >= 1, got {}", o.draws));
  if (o.epsilon && !(*o.epsilon > 0 && std::isfinite(*o.epsilon)))
    throw InvalidArgument(fmt::format("epsilon must be > 0, got {}", *o.epsilon));
  if (o.features_xy < 1 || o.features_z < 2 || o.features_weight < 0)
    throw InvalidArgument(fmt::format("features_xy must be >= 1, features_z >= 2 and features_weight >= 0, got {}, {} and {}",
                                      o.features_xy, o.features_z, o.features_weight));
  if (X.size() != Y.size() || X.size() != Z.size())
    throw InvalidArgument(fmt::format("X, Y and Z must have the same number of rows, got {}, {} and {}", X.size(), Y.size(), Z.size()));
  if (X.size() < 8) throw InvalidArgument(fmt::format("a test of conditional independence needs at least 8 rows, got {}", X.size()));
  if (X.width() < 1 || Y.width() < 1) throw InvalidArgument("X and Y must have at least one column");
  require_finite(X, "X");
  require_finite(Y, "Y");
  require_finite(Z, "Z");
  for (const Kernel* kernel : {&o.kernel_x, &o.kernel_y, &o.kernel_z}) {
    if (kernel->psd() == Verdict::no)
      throw InvalidArgument(
          fmt::format("the kernel {} is not positive semi-definite; use a PSD kernel such as gaussian(auto)", kernel->text()));
  }
}

bool has_features(const Kernel& kernel, const Samples& X) {
  if (X.is_given() || kernel.is_shift_invariant() != Verdict::yes) return false;
  try {
    random_fourier_features(resolve(kernel, X), X.width(), {.n_components = 2});
    return true;
  } catch (const InvalidArgument&) {
    return false;
  }
}

// The method, and the remark that says why where it was chosen here.
ConditionalMethod chosen(const Samples& X, const Samples& Y, const Samples& Z, const ConditionalIndependenceOptions& o, TestResult& r) {
  if (o.method != ConditionalMethod::automatic) return o.method;
  if (X.size() <= most_kernel_rows) return ConditionalMethod::kci;
  if (!has_features(o.kernel_x, X) || !has_features(o.kernel_y, Y) || !has_features(o.kernel_z, Z)) return ConditionalMethod::kci;
  r.remarks.push_back(fmt::format("method auto took the randomised one, because {} rows are more than {}", X.size(), most_kernel_rows));
  return ConditionalMethod::randomized;
}

void judge(TestResult& result, const stats::ConditionalParts& parts, const ConditionalIndependenceOptions& o) {
  result.statistic = parts.statistic;
  if (parts.determined) {
    result.statistic = 0;
    result.p_value = 1;
    result.remarks.emplace_back("X or Y is constant, so there is nothing that could depend");
    return;
  }
  if (o.null == ConditionalNull::spectral) {
    stats::judge_by_exchanges(result, parts.statistic, parts.null, 0);
    return;
  }
  if (!(parts.mean > 0) || !(parts.variance > 0)) throw InvalidArgument("the null law has no spread: X or Y is determined by Z");
  const boost::math::gamma_distribution<double> law(parts.mean * parts.mean / parts.variance, parts.variance / parts.mean);
  stats::judge_by_law(
      result, [&](double t) { return t <= 0 ? 1.0 : boost::math::cdf(boost::math::complement(law, t)); },
      [&](double p) { return boost::math::quantile(law, p); });
  result.numbers.emplace_back("gamma shape", law.shape());
  result.numbers.emplace_back("gamma scale", law.scale());
}

TestResult unconditional(const Samples& X, const Samples& Y, const ConditionalIndependenceOptions& o) {
  IndependenceOptions options;
  options.kernel_x = o.kernel_x;
  options.kernel_y = o.kernel_y;
  options.permutations = o.draws;
  options.level = o.level;
  options.seed = o.seed;
  options.run = o.run;
  TestResult result = independence_test(X, Y, options);
  result.remarks.emplace_back("Z has no columns, so this is the test of independence");
  return result;
}

}  // namespace

TestResult conditional_independence_test(const Samples& x, const Samples& y, const Samples& z,
                                         const ConditionalIndependenceOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  if (z.width() == 0) return unconditional(x, y, options);
  const Samples X = as_given(options.kernel_x, x);
  const Samples Y = as_given(options.kernel_y, y);
  const Samples Z = as_given(options.kernel_z, z);
  check(X, Y, Z, options);
  TestResult result;
  result.test = "conditional independence";
  result.level = options.level;
  result.n = X.size();
  result.seed = options.seed;
  const ConditionalMethod method = chosen(X, Y, Z, options, result);
  const bool by_kernels = method == ConditionalMethod::kci;
  with_run(options.run, [&] {
    const stats::ConditionalParts parts =
        by_kernels ? stats::conditional_by_kernels(X, Y, Z, options) : stats::conditional_by_features(X, Y, Z, options);
    result.kernels = parts.kernels;
    result.numbers = parts.numbers;
    judge(result, parts, options);
    result.numbers.emplace_back("share of x that z leaves", parts.share_x);
    result.numbers.emplace_back("share of y that z leaves", parts.share_y);
    const auto remark = [&](double share, const char* name) {
      if (!parts.determined && share < 1e-3)
        result.remarks.push_back(
            fmt::format("Z determines {} almost wholly (all but {:.1e} of its variance): what is left may be the "
                        "regression's error, and the level is not to be relied on",
                        name, share));
    };
    remark(parts.share_x, "X");
    remark(parts.share_y, "Y");
  });
  result.statistic_name = by_kernels ? "kci" : options.features_weight > 0 ? "rcit" : "rcot";
  result.method = name_of(options.null);
  const std::string how =
      by_kernels ? "kernels" : fmt::format("{} random features of x and y, {} of z", options.features_xy, options.features_z);
  result.description = options.null == ConditionalNull::spectral
                           ? fmt::format("{}; {} draws of a weighted chi-square law, asymptotic level", how, options.draws)
                           : fmt::format("{}; gamma law with two moments, asymptotic level", how);
  if (X.size() < few_rows) result.remarks.push_back(fmt::format("{} rows are few to learn what Z says about X and Y", X.size()));
  stats::remark_on_kernel(result, options.kernel_x, X, "conditional dependence");
  stats::remark_on_kernel(result, options.kernel_y, Y, "conditional dependence");
  stats::conclude(result, "X and Y are dependent given Z", "no dependence of X and Y given Z found", start);
  return result;
}

}  // namespace mercer
