// SPDX-License-Identifier: BSD-3-Clause
#include "select/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "mercer/gram.hpp"
#include "mercer/labels.hpp"
#include "mercer/metrics.hpp"
#include "mercer/random.hpp"

namespace mercer {

namespace {

constexpr Index most_search_rows = 3000;  // more rows cost n^3 each and hardly move the choice
constexpr Index widest_ridge = 2000;      // columns up to which a linear model is fitted on the columns themselves
constexpr double length_factors[] = {1, 0.5, 2, 0.25, 4, 0.125};
constexpr double krr_alphas[] = {1e-2, 1e-1, 1, 1e-3, 10, 1e-4, 100};
constexpr double ridge_alphas[] = {1, 10, 0.1, 100, 0.01, 1000};

std::vector<Candidate> candidates_for(const Problem& problem, const SearchOptions& options) {
  std::vector<Candidate> all;
  const bool by_columns = !problem.X.is_sparse() && problem.X.width() <= widest_ridge;
  // Linear models come first and always: they are cheap, and whoever is chosen is compared with the best of them.
  // Strings, sets and graphs have none.
  if (!problem.X.has_objects()) {
    for (const double alpha : ridge_alphas) all.push_back({by_columns ? "ridge" : "krr", "linear", alpha, 0, 0});
  }
  if (options.model == "ridge") return all;
  std::vector<std::string> kernels;
  if (options.kernel) {
    kernels.push_back(resolve(*options.kernel, problem.X).text());
  } else {
    const double median = median_distance(problem.X);
    // Two digits are all that a grid deserves, and they read well.
    for (const double factor : length_factors) kernels.push_back(fmt::format("gaussian({:.2g})", factor * median));
  }
  for (const std::string& kernel : kernels) {
    for (const double alpha : krr_alphas) all.push_back({"krr", kernel, alpha, 0, 0});
  }
  return all;
}

// A kernel or a model that was asked for rules out the linear reference.
bool may_win(const Candidate& candidate, const SearchOptions& options) {
  const bool reference = candidate.kernel == "linear";
  if (options.kernel) return !reference || options.kernel->text() == "linear";
  return options.model != "krr" || !reference;
}

void score_candidate(Candidate& candidate, const Problem& problem, const std::vector<Fold>& folds, const KernelLibrary& library,
                     const Run& run) {
  Vector scores(static_cast<Index>(folds.size()));
  for (std::size_t f = 0; f < folds.size(); ++f) {
    const Problem train = problem.subset(folds[f].train);
    const Problem test = problem.subset(folds[f].test);
    const SavedModel model{fit_candidate(candidate, train, library, run), std::nullopt};
    scores[static_cast<Index>(f)] =
        score_of(test.y, decide(model.predict(test.X, run), problem.classification()), problem.classification());
  }
  candidate.score = scores.mean();
  candidate.deviation =
      std::sqrt((scores.array() - candidate.score).square().sum() / static_cast<double>(std::max<Index>(1, scores.size() - 1)));
}

std::vector<Fold> folds_for(const Problem& problem, const SearchOptions& options) {
  if (!problem.classification()) return k_folds(problem.X.size(), options.folds, true, options.seed);
  std::vector<Index> classes(static_cast<std::size_t>(problem.y.size()));
  for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<Index>(problem.y[static_cast<Index>(i)]);
  // A class with a single member cannot be on both sides of any fold: then chance decides where it lies.
  std::vector<Index> members(problem.classes.size());
  for (const Index c : classes) ++members[static_cast<std::size_t>(c)];
  const bool lonely = std::find(members.begin(), members.end(), 1) != members.end();
  return lonely ? k_folds(problem.X.size(), options.folds, true, options.seed)
                : stratified_folds(classes, options.folds, true, options.seed);
}

}  // namespace

Problem Problem::subset(std::span<const Index> rows) const {
  Problem part{X.subset(rows), Vector(static_cast<Index>(rows.size())), classes};
  for (std::size_t i = 0; i < rows.size(); ++i) part.y[static_cast<Index>(i)] = y[rows[i]];
  return part;
}

Matrix Problem::targets() const { return classification() ? score_targets(y, n_classes()) : Matrix(y); }

Vector decide(const Matrix& scores, bool classification) {
  if (!classification) return scores.col(0);
  const std::vector<Index> classes = classes_from_scores(scores);
  Vector out(scores.rows());
  for (Index i = 0; i < out.size(); ++i) out[i] = static_cast<double>(classes[static_cast<std::size_t>(i)]);
  return out;
}

double score_of(const Vector& truth, const Vector& predicted, bool classification) {
  if (!classification) return root_mean_squared_error(truth, predicted);
  return (truth.array() == predicted.array()).cast<double>().mean();
}

AnyModel fit_candidate(const Candidate& candidate, const Problem& problem, const KernelLibrary& library, const Run& run) {
  if (candidate.model == "ridge") return fit_ridge(problem.X, problem.targets(), {.alpha = candidate.alpha, .run = run});
  return fit_kernel_ridge(problem.X, problem.targets(),
                          {.kernel = parse_kernel(candidate.kernel, library), .alpha = candidate.alpha, .fit_intercept = true, .run = run});
}

SearchResult search(const Problem& everything, const SearchOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  SearchResult result;
  Problem problem = everything;
  if (problem.X.size() > most_search_rows) {
    auto rows = RandomStream(options.seed, 1).sample(problem.X.size(), most_search_rows);
    std::sort(rows.begin(), rows.end());
    problem = problem.subset(rows);
    result.notes.push_back(fmt::format("the kernel and alpha were chosen on {} of the {} training rows, picked at random", most_search_rows,
                                       everything.X.size()));
  }
  const KernelLibrary library = options.kernel ? library_of(resolve(*options.kernel, problem.X)) : KernelLibrary{};
  const std::vector<Fold> folds = folds_for(problem, options);
  std::vector<Candidate> todo = candidates_for(problem, options);
  // One bar for the whole search: the parts' own progress is answered with that of the search, so that cancel reaches them at once.
  double done = 0;
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  Run quiet = options.run;
  if (options.run.progress) {
    quiet.progress = [&](const ProgressEvent&) {
      return options.run.progress({"cross-validation", done / static_cast<double>(todo.size()), elapsed()});
    };
  }
  std::size_t skipped = 0;
  for (std::size_t c = 0; c < todo.size(); ++c) {
    const bool first_of_kind = c == 0 || (todo[c].kernel == "linear") != (todo[c - 1].kernel == "linear");
    if (elapsed() > options.budget_seconds && !first_of_kind) {
      ++skipped;
      continue;
    }
    score_candidate(todo[c], problem, folds, library, quiet);
    result.candidates.push_back(todo[c]);
    done += 1;
  }
  if (skipped > 0) {
    result.notes.push_back(
        fmt::format("{} of {} candidates were not tried: the budget of {:.3g} s was used up; a larger budget tries them all", skipped,
                    todo.size(), options.budget_seconds));
  }
  const bool larger_is_better = problem.classification();
  // Equal scores: the larger penalty, the calmer function.
  std::stable_sort(result.candidates.begin(), result.candidates.end(), [&](const Candidate& a, const Candidate& b) {
    if (a.score != b.score) return larger_is_better ? a.score > b.score : a.score < b.score;
    return a.alpha > b.alpha;
  });
  auto& found = result.candidates;
  const auto linear = std::find_if(found.begin(), found.end(), [](const Candidate& c) { return c.kernel == "linear"; });
  if (linear != found.end()) result.linear = *linear;
  found.erase(std::remove_if(found.begin(), found.end(), [&](const Candidate& c) { return !may_win(c, options); }), found.end());
  result.n_rows = problem.X.size();
  return result;
}

}  // namespace mercer
