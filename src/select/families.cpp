// SPDX-License-Identifier: BSD-3-Clause
#include "select/families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/kernel_ridge_cv.hpp"
#include "mercer/labels.hpp"
#include "mercer/svm_cv.hpp"

namespace mercer {

namespace {

constexpr Index first_rows = 600;    // kernel ridge costs n^3 for each kernel: few rows tell which are hopeless,
constexpr Index coarse_rows = 1500;  // and more than these hardly move the choice
constexpr std::size_t kernels_kept = 6;
constexpr Index many_classes = 5;     // above it their pairs make every candidate long
constexpr Index evidence_rows = 600;  // a length scale per column needs some fifty factorisations
constexpr double krr_alphas[] = {1e-4, 1e-3, 1e-2, 3e-2, 0.1, 0.3, 1, 3, 10, 100};
constexpr double ridge_alphas[] = {1, 10, 0.1, 100, 0.01, 1000};
constexpr double linear_C[] = {1, 0.1, 0.01, 10};
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Two digits are all that a grid deserves, and they read well.
double two_digits(double value) { return *parse_number(fmt::format("{:.2g}", value)); }

Candidate candidate_of(std::string model, std::string kernel, std::string penalty, double value) {
  Candidate c;
  c.model = std::move(model);
  c.kernel = std::move(kernel);
  c.penalty = std::move(penalty);
  c.value = value;
  return c;
}

Candidate from_table(const SvmCandidate& row, const std::string& model, const std::vector<Kernel>& kernels, const FamilyTask& task) {
  Candidate c = candidate_of(model, kernels[static_cast<std::size_t>(row.kernel)].text(), "C", row.C);
  c.epsilon = row.epsilon;
  c.judged_by = task.folds_text;
  c.score = row.abandoned ? nan : row.mean;
  c.deviation = nan;
  if (!row.abandoned) {
    const double n = static_cast<double>(row.fold_scores.size());
    c.deviation = n > 1 ? std::sqrt((row.fold_scores.array() - row.mean).square().sum() / (n - 1)) : 0;
  }
  return c;
}

// Nothing where no candidate was finished in time: what is known from before has to do.
template <class Search>
auto unless_late(const Search& search) -> std::optional<decltype(search())> {
  try {
    return search();
  } catch (const OutOfTime&) {
    return std::nullopt;
  }
}

std::vector<Candidate> svc_grid(const FamilyTask& task, const std::vector<Kernel>& kernels, const std::vector<double>& C) {
  SvcCvOptions options;
  options.kernels = kernels;
  options.C = C;
  options.folds = task.folds;
  options.run = task.options.run;
  options.solver.time_limit = task.clock.left();
  std::vector<Candidate> all;
  const PresentClasses present = task.problem.present_classes();
  if (present.classes.size() < 2) return all;
  const std::optional<SvcCvResult> found =
      unless_late([&] { return fit_svc_cv(task.problem.X, class_indices(present.problem.y), options); });
  if (!found) return all;
  for (const SvmCandidate& row : found->table) all.push_back(from_table(row, "svc", found->kernels, task));
  return all;
}

// Kernels of the same shape a little narrower and a little wider; the kernel itself where it has no width.
std::vector<Kernel> neighbours(const Kernel& best) {
  std::vector<Kernel> around;
  const std::vector<KernelParameter> parameters = best.parameters();
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (!parameters[p].name.ends_with("length_scale")) continue;
    for (const double factor : {0.6, 0.8, 1.25, 1.6}) {
      Vector values(std::ssize(parameters));
      for (std::size_t q = 0; q < parameters.size(); ++q) values[static_cast<Index>(q)] = parameters[q].value;
      values[static_cast<Index>(p)] = two_digits(values[static_cast<Index>(p)] * factor);
      around.push_back(best.with_parameters(std::span<const double>(values.data(), static_cast<std::size_t>(values.size()))));
    }
    break;
  }
  if (around.empty()) around.push_back(best);
  return around;
}

std::vector<double> about(double C) { return {C, two_digits(C / 3), two_digits(C * 3)}; }

// Of Gaussians, Laplacians, ... the best one each; the best three.
std::vector<Candidate> best_of_each_shape(std::vector<Candidate> all) {
  constexpr std::size_t most = 3;
  sort_candidates(all, true);
  std::vector<Candidate> best;
  std::vector<std::string> seen;
  for (const Candidate& c : all) {
    const std::string shape = c.kernel.substr(0, c.kernel.find('('));
    if (best.size() == most || std::isnan(c.score) || std::find(seen.begin(), seen.end(), shape) != seen.end()) continue;
    seen.push_back(shape);
    best.push_back(c);
  }
  return best;
}

void append(std::vector<Candidate>& all, std::vector<Candidate> more) {
  for (Candidate& c : more) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const Candidate& a) {
      return a.model == c.model && a.kernel == c.kernel && a.value == c.value && a.epsilon == c.epsilon;
    });
    if (same == all.end()) {
      all.push_back(std::move(c));
    } else if (std::isnan(same->score)) {
      *same = std::move(c);
    }
  }
}

// Every alpha of every kernel, from one factorisation each, by leaving out one row after the other.
std::vector<Candidate> krr_grid(const FamilyTask& task, const std::vector<Kernel>& kernels, Index rows) {
  const Problem part = task.problem.sample_for_folds(rows, task.options.folds, task.options.seed + 11, task.options.seed);
  const bool classes = part.classification();
  const bool alone = part.exchangeable();
  KernelRidgeCvOptions options;
  options.kernels = kernels;
  options.alphas.assign(std::begin(krr_alphas), std::end(krr_alphas));
  options.fit_intercept = true;
  options.keep_residuals = classes;
  options.run = task.options.run;
  if (!alone) options.folds = part.folds(task.options.folds, task.options.seed);
  const Matrix targets = part.targets();
  const KernelRidgeCvResult found = fit_kernel_ridge_cv(part.X, targets, options);
  std::vector<Candidate> all;
  for (const PathPoint& point : found.points()) {
    if (!point.valid) continue;
    Candidate c = candidate_of("krr", found.kernels()[static_cast<std::size_t>(point.kernel)].text(), "alpha", point.alpha);
    c.deviation = nan;
    c.judged_by = fmt::format("{}, {} rows", alone ? "leave-one-out" : task.folds_text, part.X.size());
    if (classes) {
      const Matrix predicted = targets - point.residuals;
      Index right = 0, counted = 0;
      for (Index i = 0; i < predicted.rows(); ++i) {
        if (!predicted.row(i).allFinite()) continue;  // of a row that no fold tests
        ++counted;
        right += classes_from_scores(predicted.row(i))[0] == static_cast<Index>(part.y[i]) ? 1 : 0;
      }
      c.score = counted > 0 ? static_cast<double>(right) / static_cast<double>(counted) : nan;
    } else {
      c.score = std::sqrt(-point.score);
    }
    all.push_back(std::move(c));
  }
  return all;
}

}  // namespace

std::vector<Kernel> gaussians_about(const Samples& X) {
  const double median = median_distance(X);
  std::vector<Kernel> kernels;
  for (const double factor : {1.0, 0.5, 2.0, 0.25, 4.0, 0.125}) kernels.push_back(kernels::gaussian(two_digits(factor * median)));
  return kernels;
}

std::vector<Kernel> kernels_about(const Samples& X, bool rich) {
  const double median = median_distance(X);
  std::vector<Kernel> kernels = gaussians_about(X);
  const double scale = two_digits(1 / std::max(1.0, static_cast<double>(X.width())));
  for (const double factor : {1.0, 0.5, 2.0}) kernels.push_back(kernels::matern(1.5, two_digits(factor * median)));
  for (const double factor : {1.0, 0.5, 2.0, 4.0}) kernels.push_back(kernels::laplacian(two_digits(factor * median)));
  for (const int degree : {2, 3}) kernels.push_back(kernels::polynomial(degree, scale, 1));
  if (rich) {
    for (const double factor : {1.0, 2.0, 4.0}) kernels.push_back(kernels::matern(2.5, two_digits(factor * median)));
  }
  return kernels;
}

void sort_candidates(std::vector<Candidate>& candidates, bool classification) {
  std::stable_sort(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
    if (std::isnan(a.score) != std::isnan(b.score)) return std::isnan(b.score);
    if (std::isnan(a.score) || a.score == b.score) return false;
    return classification ? a.score > b.score : a.score < b.score;
  });
}

std::vector<Candidate> try_linear(const FamilyTask& task) {
  std::vector<Candidate> all;
  const bool ridge = !task.problem.classification() || task.options.model == "ridge";
  if (!ridge) {
    for (const double C : linear_C) all.push_back(candidate_of("linear-svc", "", "C", C));
  } else {
    for (const double alpha : ridge_alphas) all.push_back(candidate_of("ridge", "", "alpha", alpha));
  }
  for (Candidate& c : all) {
    score_on_folds(c, task.problem, task.folds, task.library, task.options.run);
    c.judged_by = task.folds_text;
  }
  return all;
}

std::vector<Candidate> try_kernel_ridge(const FamilyTask& task) {
  if (task.kernels.size() <= kernels_kept || task.problem.X.size() <= first_rows) return krr_grid(task, task.kernels, coarse_rows);
  std::vector<Candidate> first = krr_grid(task, task.kernels, first_rows);
  sort_candidates(first, task.problem.classification());
  std::vector<Kernel> kept;
  std::vector<std::string> seen;
  for (const Candidate& c : first) {
    if (kept.size() == kernels_kept || std::find(seen.begin(), seen.end(), c.kernel) != seen.end()) continue;
    seen.push_back(c.kernel);
    kept.push_back(parse_kernel(c.kernel, task.library));
  }
  std::vector<Candidate> all = krr_grid(task, kept, coarse_rows);
  std::erase_if(first, [&](const Candidate& c) { return std::find(seen.begin(), seen.end(), c.kernel) != seen.end(); });
  all.insert(all.end(), first.begin(), first.end());
  return all;
}

std::vector<Candidate> try_svc(const FamilyTask& task) {
  const Problem part = task.problem.sample_for_folds(coarse_rows, task.options.folds, task.options.seed + 11, task.options.seed);
  const bool few = part.X.size() < task.problem.X.size();
  const std::vector<Fold> part_folds = few ? part.folds(task.options.folds, task.options.seed) : task.folds;
  const FamilyTask coarse{part,
                          part_folds,
                          task.options,
                          task.library,
                          task.clock,
                          task.kernels,
                          few ? fmt::format("{}, {} rows", task.folds_text, part.X.size()) : task.folds_text};
  const bool many = task.problem.n_classes() > many_classes;
  const std::vector<double> C = many ? std::vector<double>{1, 10, 100} : std::vector<double>{0.1, 1, 10, 100, 1000};
  std::vector<Candidate> first = svc_grid(coarse, task.kernels, C);
  std::vector<Candidate> all;
  if (few) {
    std::vector<Kernel> shapes;
    const std::vector<Candidate> best = best_of_each_shape(first);
    for (const Candidate& c : best) shapes.push_back(parse_kernel(c.kernel, task.library));
    if (!shapes.empty()) all = svc_grid(task, shapes, about(best.front().value));
  } else {
    all.swap(first);
  }
  // A shape within a standard error of the best one deserves a finer look too.
  const std::vector<Candidate> shapes = best_of_each_shape(all);
  std::vector<Kernel> around;
  for (const Candidate& c : shapes) {
    const double error = shapes.front().deviation / std::sqrt(static_cast<double>(task.folds.size()));
    if (c.score < shapes.front().score - error || (!around.empty() && many)) continue;
    const Kernel kernel = parse_kernel(c.kernel, task.library);
    const std::vector<Kernel> more = task.options.kernel ? std::vector<Kernel>{kernel} : neighbours(kernel);
    around.insert(around.end(), more.begin(), more.end());
  }
  if (!around.empty()) append(all, svc_grid(task, around, many ? std::vector<double>{shapes.front().value} : about(shapes.front().value)));
  all.insert(all.end(), first.begin(), first.end());
  return all;
}

std::vector<Candidate> try_svr(const FamilyTask& task) {
  const Problem part = task.problem.sample_for_folds(coarse_rows, task.options.folds, task.options.seed + 11, task.options.seed);
  const std::vector<Fold> folds = part.X.size() == task.problem.X.size() ? task.folds : part.folds(task.options.folds, task.options.seed);
  const double spread = spread_of(part.y);
  SvrCvOptions options;
  options.kernels = task.kernels;
  options.C.clear();
  for (const double C : {1.0, 10.0, 100.0}) options.C.push_back(two_digits(C * spread));
  options.epsilon = {two_digits(0.1 * spread), two_digits(0.02 * spread)};
  options.folds = folds;
  options.score = SvrScore::mean_squared_error;
  options.solver.time_limit = task.clock.left();
  options.run = task.options.run;
  std::vector<Candidate> all;
  const std::optional<SvrCvResult> tried = unless_late([&] { return fit_svr_cv(part.X, part.y, options); });
  if (!tried) return all;
  const SvrCvResult& found = *tried;
  for (const SvmCandidate& row : found.table) {
    Candidate c = from_table(row, "svr", found.kernels, task);
    if (!row.abandoned) {  // the mean of the folds' errors, as every other family has it
      const Vector errors = (-row.fold_scores.array()).sqrt();
      c.score = errors.mean();
      c.deviation = errors.size() > 1 ? std::sqrt((errors.array() - c.score).square().sum() / static_cast<double>(errors.size() - 1)) : 0;
    }
    if (part.X.size() < task.problem.X.size()) c.judged_by = fmt::format("{}, {} rows", task.folds_text, part.X.size());
    all.push_back(std::move(c));
  }
  return all;
}

std::vector<Candidate> try_gaussian_process(const FamilyTask& task) {
  const Problem part = task.problem.sample(evidence_rows, task.options.seed + 13);
  const std::vector<double> lengths(static_cast<std::size_t>(part.X.width()), two_digits(median_distance(part.X)));
  const Kernel starts[] = {1.0 * kernels::matern(1.5, lengths), 1.0 * kernels::gaussian(lengths)};
  std::vector<Candidate> all;
  for (const Kernel& start : starts) {
    GaussianProcessOptions options;
    options.kernel = start;
    options.noise = 0.1;
    options.optimize_noise = true;
    options.normalize_y = true;
    options.max_iterations = 40;
    options.run = task.options.run;
    const GaussianProcessModel fitted = fit_gaussian_process(part.X, part.y, options);
    Candidate c = candidate_of("gp", fitted.kernel().text(), "noise", fitted.new_noise() / std::pow(fitted.target_scale()[0], 2));
    c.score = nan;
    c.deviation = nan;
    c.judged_by = fmt::format("evidence, {} rows", part.X.size());
    all.push_back(std::move(c));
  }
  return all;
}

std::vector<Candidate> try_by_folds(const FamilyTask& task, const std::string& model) {
  struct Grid {
    const char* penalty;
    std::vector<double> values;
  };
  const auto grid = [&]() -> Grid {
    if (model == "logistic") return {"C", {1, 10, 100}};
    if (model == "nu-svc") return {"nu", {0.5, 0.3, 0.1, 0.03}};
    if (model == "nu-svr") return {"nu", {0.5, 0.8, 0.2}};
    if (model == "sgd-svm") return {"C", {1, 10, 0.1}};
    if (model == "falkon") return {"alpha", {0.1, 1, 0.01, 10, 1e-3}};
    if (model == "gp") return {"noise", {0.1, 0.03, 0.01, 0.3, 1}};
    return {"", {0}};  // mean
  }();
  std::vector<Candidate> all;
  for (const Kernel& kernel : task.kernels) {
    for (const double value : grid.values) {
      if (!all.empty() && task.clock.over()) return all;
      Candidate c = candidate_of(model, kernel.text(), grid.penalty, value);
      try {
        score_on_folds(c, task.problem, task.folds, task.library, task.options.run);
      } catch (const InvalidArgument&) {
        if (model != "nu-svc") throw;
        c.score = nan;  // a nu that these classes do not allow
      }
      c.judged_by = task.folds_text;
      all.push_back(std::move(c));
    }
  }
  return all;
}

}  // namespace mercer
