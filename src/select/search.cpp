// SPDX-License-Identifier: BSD-3-Clause
#include "select/search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "select/families.hpp"

namespace mercer {

namespace {

constexpr Index most_logistic_rows = 2000;  // Newton steps on n x n, for every class
constexpr Index most_logistic_classes = 5;
constexpr Index most_process_columns = 60;  // a length scale each
constexpr Index most_krr_classification = 1500;
constexpr std::size_t most_finalists = 2;  // of a family that was judged on fewer rows

class Search {
 public:
  Search(const Problem& everything, const SearchOptions& options)
      : options_(options), clock_(options.budget_seconds), rows_(everything.sample_rows(options.rows, options.seed)) {
    problem_ = std::ssize(rows_) < everything.X.size() ? everything.subset(rows_) : everything;
    if (problem_.X.size() < everything.X.size()) {
      notes_.push_back(fmt::format("candidates were compared on {} of the {} training rows, {}", problem_.X.size(), everything.X.size(),
                                   problem_.time_ordered ? "the last ones" : "picked at random"));
    }
    folds_ = problem_.folds(options.folds, options.seed);
    if (options.kernel) {
      given_ = resolve(*options.kernel, problem_.X);
      library_ = library_of(*given_);
    }
    // One bar for the whole search: the parts' own progress is answered with that of the search, so that cancel reaches them at once.
    quiet_ = options;
    if (options.run.progress) {
      quiet_.run.progress = [this](const ProgressEvent& event) {
        const double fraction = (static_cast<double>(blocks_done_) + 0.9 * event.fraction) / static_cast<double>(blocks_);
        return options_.run.progress({"cross-validation", std::min(1.0, fraction), clock_.elapsed()});
      };
    }
  }

  SearchResult run() {
    const std::vector<std::string> models = families();
    blocks_ = models.size() + 2;
    if (!problem_.X.has_objects()) {
      take(try_linear(task({})), true);
      reference_ = best_of(all_);
      for (Candidate& c : all_) c.reference = !linear_may_win();
    }
    for (const std::string& model : models) {
      // The first family is always tried, whatever the budget.
      if (clock_.over() && model != models.front()) {
        left_out_.push_back(model);
        continue;
      }
      take(members_of(model), false);
    }
    play_off();
    return finish();
  }

 private:
  bool linear_may_win() const {
    if (options_.model == "auto") return !given_;
    return options_.model == "ridge" || options_.model == "linear-svc";
  }

  FamilyTask task(std::vector<Kernel> kernels) const {
    return {problem_,
            folds_,
            quiet_,
            library_,
            clock_,
            std::move(kernels),
            problem_.time_ordered ? fmt::format("{} steps in time", folds_.size())
                                  : fmt::format("{}{} folds", folds_.size(), problem_.groups.empty() ? "" : " grouped")};
  }

  // The kernel families to try, cheap ones first.
  std::vector<std::string> families() const {
    const bool classes = problem_.classification();
    if (options_.model == "ridge" || options_.model == "linear-svc") return {};
    if (options_.model != "auto") return {options_.model};
    const Index n = problem_.X.size();
    std::vector<std::string> models;
    if (classes) {
      models = {"svc"};
      if (n <= most_krr_classification) models.insert(models.begin(), "krr");
      if (n <= most_logistic_rows && problem_.n_classes() <= most_logistic_classes) models.emplace_back("logistic");
    } else {
      models = {"krr", "svr"};
      if (given_ || (!problem_.X.is_sparse() && !problem_.X.has_objects() && problem_.X.width() <= most_process_columns))
        models.emplace_back("gp");
    }
    return models;
  }

  std::vector<Candidate> members_of(const std::string& model) {
    const auto kernels = [&](std::vector<Kernel> otherwise) { return given_ ? std::vector<Kernel>{*given_} : std::move(otherwise); };
    const Samples& X = problem_.X;
    if (model == "krr") return try_kernel_ridge(task(given_ ? kernels({}) : kernels_about(X, !problem_.classification())));
    if (model == "svc") return try_svc(task(given_ ? kernels({}) : kernels_about(X, false)));
    if (model == "gp" && !given_) return try_gaussian_process(task({}));
    // These try the kernel that did best so far, where there is one.
    std::vector<Kernel> best;
    if (!given_) {
      best = best_kernels();
      if (best.empty()) best = gaussians_about(X);
      if (model == "svr" && options_.model == "svr") best = kernels_about(X, false);
      if (model != "svr" && best.size() > 3) best.erase(best.begin() + 3, best.end());
    }
    if (model == "svr") return try_svr(task(kernels(best)));
    return try_by_folds(task(kernels(best)), model);
  }

  // Of the kernels tried so far, the best few.
  std::vector<Kernel> best_kernels() const {
    std::vector<Candidate> sorted;
    for (const Candidate& c : all_) {
      if (!c.kernel.empty() && c.model != "gp") sorted.push_back(c);
    }
    sort_candidates(sorted, problem_.classification());
    std::vector<std::string> texts;
    for (const Candidate& c : sorted) {
      if (texts.size() < 3 && std::find(texts.begin(), texts.end(), c.kernel) == texts.end()) texts.push_back(c.kernel);
    }
    std::vector<Kernel> kernels;
    for (const std::string& text : texts) kernels.push_back(parse_kernel(text, library_));
    return kernels;
  }

  void take(std::vector<Candidate> found, bool linear) {
    const std::string finest = found.empty() ? "" : found.front().judged_by;
    sort_candidates(found, problem_.classification());
    const std::string judge = task({}).folds_text;
    const bool settled =
        std::any_of(found.begin(), found.end(), [&](const Candidate& c) { return c.judged_by == judge && !std::isnan(c.score); });
    std::vector<std::string> seen;
    for (Candidate& c : found) {
      c.reference = linear;
      // What was judged in another way alone comes to the folds with its best kernels.
      if (!settled && c.judged_by == finest && seen.size() < most_finalists &&
          std::find(seen.begin(), seen.end(), c.kernel) == seen.end()) {
        finalists_.push_back(c);
        seen.push_back(c.kernel);
      }
      all_.push_back(std::move(c));
    }
    ++blocks_done_;
  }

  void play_off() {
    for (Candidate& c : finalists_) {
      if (clock_.over() && &c != &finalists_.front()) break;  // the first of them is known to do well
      score_on_folds(c, problem_, folds_, library_, quiet_.run);
      c.judged_by = task({}).folds_text;
      std::erase_if(all_, [&](const Candidate& a) {
        return a.model == c.model && a.kernel == c.kernel && a.value == c.value && a.epsilon == c.epsilon;
      });
      all_.push_back(c);
    }
    ++blocks_done_;
  }

  Candidate best_of(const std::vector<Candidate>& candidates) const {
    std::vector<Candidate> sorted;
    const std::string judge = task({}).folds_text;
    for (const Candidate& c : candidates) {
      if (!c.reference && c.judged_by == judge && !std::isnan(c.score)) sorted.push_back(c);
    }
    if (sorted.empty()) {
      for (const Candidate& c : candidates) sorted.push_back(c);
    }
    sort_candidates(sorted, problem_.classification());
    return sorted.empty() ? Candidate{} : sorted.front();
  }

  SearchResult finish() {
    if (!linear_may_win() &&
        std::none_of(all_.begin(), all_.end(), [](const Candidate& c) { return !c.reference && !std::isnan(c.score); })) {
      throw InvalidArgument(fmt::format("no candidate was judged within the budget of {:.3g} s; allow more time", options_.budget_seconds));
    }
    if (!left_out_.empty()) {
      notes_.push_back(fmt::format("not tried: {}, for the budget of {:.3g} s was used up; a larger budget tries more",
                                   fmt::join(left_out_, ", "), options_.budget_seconds));
    }
    const std::string judge = task({}).folds_text;
    sort_candidates(all_, problem_.classification());
    std::stable_partition(all_.begin(), all_.end(), [&](const Candidate& c) { return c.judged_by == judge && !std::isnan(c.score); });
    SearchResult result{.candidates = all_,
                        .best = best_of(all_),
                        .linear = reference_,
                        .rows = rows_,
                        .problem = problem_,
                        .folds = folds_,
                        .notes = notes_};
    const auto first = std::find_if(result.candidates.begin(), result.candidates.end(), [&](const Candidate& c) {
      return c.model == result.best.model && c.kernel == result.best.kernel && c.value == result.best.value &&
             c.epsilon == result.best.epsilon;
    });
    std::rotate(result.candidates.begin(), first, first + 1);
    return result;
  }

  const SearchOptions& options_;
  SearchOptions quiet_;
  Countdown clock_;
  std::vector<Index> rows_;
  Problem problem_{};
  std::vector<Fold> folds_;
  std::optional<Kernel> given_{};
  KernelLibrary library_{};
  std::vector<Candidate> all_{};
  std::vector<Candidate> finalists_{};
  Candidate reference_{};
  std::vector<std::string> left_out_{};
  std::vector<std::string> notes_{};
  std::size_t blocks_ = 1;
  std::size_t blocks_done_ = 0;
};

}  // namespace

SearchResult search(const Problem& problem, const SearchOptions& options) { return Search(problem, options).run(); }

}  // namespace mercer
