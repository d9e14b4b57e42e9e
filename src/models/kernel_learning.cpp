// Kernel learning: starting points, bounds, subsets of the rows and the search; the objectives are in kernel_objective.cpp.
//
// Notation: theta the logarithms of the kernel's parameters and, last, of alpha. A loss is what is minimised: log of the leave-one-out
// error (so that its scale does not matter to the stopping rule), minus the evidence per sample, minus the alignment.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/kernel_learning.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>

#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "models/kernel_forms.hpp"
#include "models/kernel_objective.hpp"
#include "solvers/minimize.hpp"

namespace mercer {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Index fewest_rows = 300;  // of the subset that all starting points are tried on
constexpr double value_tolerance = 1e-6;
constexpr Index most_parameters = 5000;  // every tile of a gradient has a sum for each

struct Bounds {
  double lower;  // as factors of the start
  double upper;
};

// Where alpha is free it does what large weights would do, and they would make it too small beside the kernel.
Bounds bounds_of(const std::string& name, bool alpha_is_free) {
  if (name.find(".period") != std::string::npos) return {0.25, 4};  // beyond, other minima than the one it starts in
  if (name == "factor") return {1e-4, alpha_is_free ? 30 : 1e4};
  return {1e-3, 1e3};
}
// As factors of the mean of k(x,x). Smaller ones would be lost in the rounding of a factorisation of some ten thousand rows.
constexpr Bounds alpha_bounds{1e-6, 1e4};

// The problem of one search: what moves, from where, how far.
struct Search {
  Kernel form;  // with numbers in all places
  KernelObjective objective = KernelObjective::loo;
  Vector start{};
  Vector lower{};
  Vector upper{};
  std::vector<Index> free{};
  std::vector<Index> weights{};  // of the parts of a sum

  Index alpha_place() const { return start.size() - 1; }
  Kernel kernel_at(const Vector& theta) const {
    std::vector<double> values;
    for (Index p = 0; p < alpha_place(); ++p) values.push_back(std::exp(theta[p]));
    return form.with_parameters(values);
  }
  double alpha_at(const Vector& theta) const { return std::exp(theta[alpha_place()]); }
  ProgressCallback outer{};
  ProgressCallback inner{};
};

// A job of many evaluations: the stages inside one are heard, so that it can be cancelled there, but they say how far the whole job is; and
// on the threads of a parallel loop they only learn whether to stop.
class Listener {
 public:
  explicit Listener(const ProgressCallback& progress) : progress_(progress) {}

  ProgressCallback outer() {
    if (!progress_) return {};
    return [this](const ProgressEvent& event) {
      stage_ = event.stage;
      fraction_ = event.fraction;
      return pass_on({stage_, fraction_, event.seconds});
    };
  }
  ProgressCallback inner() {
    if (!progress_) return {};
    return [this](const ProgressEvent& event) {
      return std::this_thread::get_id() == owner_ ? pass_on({stage_, fraction_, event.seconds}) : !stop_.load(std::memory_order_relaxed);
    };
  }

 private:
  bool pass_on(const ProgressEvent& event) {
    if (progress_(event)) return true;
    stop_ = true;
    return false;
  }

  const ProgressCallback& progress_;
  std::thread::id owner_ = std::this_thread::get_id();
  std::atomic<bool> stop_ = false;
  std::string stage_ = "Kernel learning";
  double fraction_ = 0;
};

// A score as a loss and its gradient over what is free; infinite where the score does not exist.
double loss_of(const Search& search, const LearningData& data, const std::optional<KernelScore>& score, Vector& gradient) {
  if (!score || !std::isfinite(score->value)) return std::numeric_limits<double>::infinity();
  double factor = -1;
  double loss = -score->value;
  if (search.objective == KernelObjective::loo) {
    loss = std::log(std::max(score->value, 1e-300));
    factor = 1 / std::max(score->value, 1e-300);
  } else if (search.objective == KernelObjective::evidence) {
    factor = -1 / static_cast<double>(data.Y.size());
    loss = factor * score->value;
  }
  gradient = factor * score->gradient(search.free);
  return loss;
}

struct Found {
  Vector theta{};
  double loss = 0;
  bool converged = false;
  std::vector<LearningStep> path{};
};

Found search_from(const Search& search, const LearningData& data, const Vector& theta, int start, int max_iterations, Stage& stage) {
  Found found{theta};
  const SmoothFunction loss = [&](const Vector& x, Vector& gradient) {
    Vector at = theta;
    at(search.free) = x;
    const auto score = evaluate(data, search.objective, search.kernel_at(at), search.alpha_at(at), search.inner);
    if (score) found.path.push_back({start, data.X.size(), score->value});
    stage.advance(1);
    return loss_of(search, data, score, gradient);
  };
  const Minimum minimum = minimize(loss, theta(search.free), search.lower(search.free), search.upper(search.free),
                                   {.max_evaluations = max_iterations, .value_tolerance = value_tolerance, .argument_tolerance = 1e-4});
  found.theta(search.free) = minimum.x;
  found.loss = minimum.value;
  found.converged = minimum.converged;
  return found;
}

// Near weight zero its logarithm is a flat direction: whether a part is needed at all is asked of the objective itself.
void drop_weights(const Search& search, const LearningData& data, int start, Found& found) {
  for (const Index p : search.weights) {
    if (std::find(search.free.begin(), search.free.end(), p) == search.free.end() || found.theta[p] <= search.lower[p]) continue;
    double total = 0;
    for (const Index q : search.weights) total += std::exp(found.theta[q]);
    if (std::exp(found.theta[p]) > 0.05 * total) continue;
    Vector without = found.theta;
    without[p] = search.lower[p];
    Vector gradient;
    const auto score = evaluate(data, search.objective, search.kernel_at(without), search.alpha_at(without), search.inner);
    const double loss = loss_of(search, data, score, gradient);
    if (!(loss <= found.loss + 10 * value_tolerance * (1 + std::abs(found.loss)))) continue;
    found.path.push_back({start, data.X.size(), score->value});
    found.theta = std::move(without);
    found.loss = loss;
  }
}

bool is_held(const std::string& name, const std::vector<std::string>& hold) {
  return std::any_of(hold.begin(), hold.end(), [&](const std::string& word) { return name == word || name.starts_with(word + "["); });
}

void require_known(const std::vector<KernelParameter>& parameters, const std::vector<std::string>& hold) {
  for (const std::string& word : hold) {
    if (std::any_of(parameters.begin(), parameters.end(), [&](const KernelParameter& p) { return is_held(p.name, {word}); })) continue;
    std::vector<std::string> names;
    for (const KernelParameter& p : parameters) names.push_back(p.name);
    throw InvalidArgument(fmt::format("the kernel has no parameter \"{}\" to hold; it has {}", word, fmt::join(names, ", ")));
  }
}

Search make_search(const LearningData& data, const Kernel& kernel, const LearnKernelOptions& options) {
  Kernel form = options.weights ? with_weights(kernel) : kernel;
  form = options.ard ? with_ard(form, data.X) : resolve(form, data.X);
  const std::vector<KernelParameter> parameters = form.parameters();
  require_known(parameters, options.hold);
  const Index count = std::ssize(parameters);
  if (count > most_parameters)
    throw InvalidArgument(fmt::format(
        "{} parameters are too many to learn (at most {}): one length scale for all columns, or fewer columns", count, most_parameters));
  const double scale = gram_diagonal(form, data.X).mean();
  if (!(scale > 0)) throw InvalidArgument(fmt::format("k(x,x) must be positive on average to learn {}, got {}", form.text(), scale));
  Search search{form, options.objective, Vector(count + 1), Vector(count + 1), Vector(count + 1)};
  search.weights = overall_weights(form);
  const bool learns_alpha = !options.alpha && options.objective != KernelObjective::alignment;
  // Where alpha is free, one overall factor says nothing that alpha does not say.
  const Index idle = search.weights.size() == 1 && !options.alpha ? search.weights[0] : -1;
  for (Index p = 0; p < count; ++p) {
    const KernelParameter& parameter = parameters[static_cast<std::size_t>(p)];
    const Bounds bounds = bounds_of(parameter.name, !options.alpha);
    search.start[p] = std::log(parameter.value);
    search.lower[p] = search.start[p] + std::log(bounds.lower);
    search.upper[p] = search.start[p] + std::log(bounds.upper);
    if (p != idle && !is_held(parameter.name, options.hold)) search.free.push_back(p);
  }
  search.start[count] = std::log(options.alpha.value_or(0.1 * scale));
  search.lower[count] = std::log(alpha_bounds.lower * scale);
  search.upper[count] = std::log(alpha_bounds.upper * scale);
  if (learns_alpha) search.free.push_back(count);
  return search;
}

// The given start, and others around it: all length scales larger or smaller together, each a little for itself, alpha over decades.
Vector starting_point(const Search& search, int start, std::uint64_t seed) {
  Vector theta = search.start;
  if (start == 0) return theta;
  RandomStream random(seed, 0x73746172740000ULL + static_cast<std::uint64_t>(start));
  const double together = random.uniform(-1.5, 1.0);
  const auto parameters = search.form.parameters();
  for (const Index p : search.free) {
    if (p == search.alpha_place()) {
      theta[p] += random.uniform(-5, 1);
    } else {
      const bool scale = parameters[static_cast<std::size_t>(p)].name.find("length_scale") != std::string::npos;
      theta[p] += (scale ? together : 0.0) + 0.3 * random.normal();
    }
    theta[p] = std::clamp(theta[p], search.lower[p], search.upper[p]);
  }
  return theta;
}

double loss_at(const Search& search, const LearningData& data, const Vector& theta) {
  Vector gradient;
  return loss_of(search, data, evaluate(data, search.objective, search.kernel_at(theta), search.alpha_at(theta), search.inner), gradient);
}

// From every starting point on the small subset; the best of them, and the given start, are where the large one begins.
Found search_all(const Search& search, const LearningData& small, const LearningData& large, const LearnKernelOptions& options,
                 std::vector<LearningStep>& path) {
  const int starts = 1 + options.n_restarts;
  const bool twice = small.X.size() < large.X.size();
  const auto evaluations = static_cast<double>(options.max_iterations);
  std::vector<Found> found(static_cast<std::size_t>(starts));
  {
    Stage stage(search.outer, "Starting points", evaluations * starts);
    parallel_for(starts, [&](Index s) {
      const auto start = static_cast<int>(s);
      Found& mine = found[static_cast<std::size_t>(s)];
      try {
        mine = search_from(search, small, starting_point(search, start, options.seed), start, options.max_iterations, stage);
      } catch (const InvalidArgument&) {  // nothing finite from here: another start may do better
        mine = {search.start, std::numeric_limits<double>::infinity()};
      }
    });
  }
  int best = 0;
  for (int s = 0; s < starts; ++s) {
    const Found& mine = found[static_cast<std::size_t>(s)];
    path.insert(path.end(), mine.path.begin(), mine.path.end());
    if (mine.loss < found[static_cast<std::size_t>(best)].loss) best = s;
  }
  Found result = std::move(found[static_cast<std::size_t>(best)]);
  result.path.clear();
  if (twice) {
    if (!(loss_at(search, large, result.theta) < loss_at(search, large, search.start))) {
      result.theta = search.start;
      best = 0;
    }
    Stage stage(search.outer, "Kernel learning", evaluations);
    result = search_from(search, large, result.theta, best, options.max_iterations, stage);
  }
  drop_weights(search, large, best, result);
  path.insert(path.end(), result.path.begin(), result.path.end());
  return result;
}

// Alpha by leave-one-out, the kernel as it is.
void choose_alpha(Search search, const LearningData& data, const LearnKernelOptions& options, Found& found) {
  search.objective = KernelObjective::loo;
  search.free = {search.alpha_place()};
  Stage stage(search.outer, "Alpha by leave-one-out", options.max_iterations);
  found.theta = search_from(search, data, found.theta, 0, options.max_iterations, stage).theta;
}

void require_options(const LearnKernelOptions& options) {
  if (options.max_rows < 3) throw InvalidArgument(fmt::format("max_rows must be at least 3, got {}", options.max_rows));
  if (options.n_restarts < 0 || options.n_restarts > 10000)
    throw InvalidArgument(fmt::format("n_restarts must lie between 0 and 10000, got {}", options.n_restarts));
  if (options.max_iterations < 1) throw InvalidArgument(fmt::format("max_iterations must be at least 1, got {}", options.max_iterations));
  if (options.alpha && (!(*options.alpha > 0) || !std::isfinite(*options.alpha)))
    throw InvalidArgument(fmt::format("alpha must be a finite number > 0, got {}", *options.alpha));
}

LearningData some_rows(const LearningData& data, const std::vector<Index>& order, Index count) {
  std::vector<Index> rows(order.begin(), order.begin() + std::min(count, data.X.size()));
  std::sort(rows.begin(), rows.end());
  return subset(data, rows);
}

std::string value_text(KernelObjective objective, double value) {
  if (objective == KernelObjective::loo) return fmt::format("leave-one-out RMSE {:.4g}", std::sqrt(value));
  return objective == KernelObjective::evidence ? fmt::format("log evidence {:.6g}", value) : fmt::format("alignment {:.4g}", value);
}

std::string sentence_of(const LearnedKernel& k, Index all_rows, int starts, bool converged) {
  const std::string rows = k.rows < all_rows ? fmt::format("{} of {} rows", k.rows, all_rows) : fmt::format("{} rows", k.rows);
  const std::string start =
      k.objective == KernelObjective::loo ? fmt::format("{:.4g}", std::sqrt(k.start_value)) : fmt::format("{:.6g}", k.start_value);
  return fmt::format("{}: {} (it was {} at the start) on {}, {} starting point{}, {} evaluations, {:.2f} s",
                     converged ? "learned" : "stopped early", value_text(k.objective, k.value), start, rows, starts, starts == 1 ? "" : "s",
                     k.path.size(), k.seconds);
}

bool at_bound(const Search& search, const Vector& theta, Index p) {
  const bool moves = std::find(search.free.begin(), search.free.end(), p) != search.free.end();
  return moves && (theta[p] <= search.lower[p] + 1e-6 || theta[p] >= search.upper[p] - 1e-6);
}

// What was found as a result. Where alpha is free the weights of a sum are made to add up to 1, which changes no prediction.
void take(const Search& search, const Vector& found, bool alpha_is_free, LearnedKernel& out) {
  Vector theta = found;
  Vector start = search.start;
  if (alpha_is_free && search.weights.size() > 1) {
    for (Vector* t : {&theta, &start}) {
      double total = 0;
      for (const Index p : search.weights) total += std::exp((*t)[p]);
      for (const Index p : search.weights) (*t)[p] -= std::log(total);
      (*t)[search.alpha_place()] -= std::log(total);
      if (t == &theta) out.signal_variance *= total;
    }
  }
  out.kernel = search.kernel_at(theta);
  out.alpha = search.alpha_at(theta);
  const auto parameters = search.form.parameters();
  for (Index p = 0; p < theta.size(); ++p) {
    const std::string name = p < search.alpha_place() ? parameters[static_cast<std::size_t>(p)].name : "alpha";
    out.parameters.push_back({name, std::exp(start[p]), std::exp(theta[p]), at_bound(search, found, p)});
  }
}

}  // namespace

LearnedKernel learn_kernel(const Samples& rows, const MatrixRef& Y, const Kernel& kernel, const LearnKernelOptions& options) {
  const auto begin = Clock::now();
  require_options(options);
  const LearningData data = learning_data(as_given(kernel, rows), Y, options.sample_weight, options.fit_intercept);
  require_variation(data, options.objective);
  const Index most = std::min(options.max_rows, data.X.size());
  const std::size_t bytes = objective_bytes(KernelObjective::loo, most);
  require_memory(bytes, options.run.memory, fmt::format("learning a kernel on {} samples", most), "use a smaller max_rows");
  const std::vector<Index> order = RandomStream(options.seed, 0x726f7773).permutation(data.X.size());
  const LearningData large = some_rows(data, order, most);
  require_variation(large, options.objective);
  LearnedKernel learned{.kernel = kernel, .objective = options.objective, .rows = most};
  bool converged = false;
  with_run(options.run, [&] {
    // Four times fewer rows are some fifty times faster, so starting points cost little; too few rows would choose among them badly.
    const Index few = options.n_restarts == 0 || most < 2 * fewest_rows ? most : std::max(fewest_rows, most / 4);
    LearningData small = few < most ? some_rows(data, order, few) : large;
    Listener listener(options.run.progress);
    Search search = make_search(large, kernel, options);
    search.outer = listener.outer();
    search.inner = listener.inner();
    const auto at_start = evaluate(large, search.objective, search.form, search.alpha_at(search.start), search.inner);
    if (!at_start)
      throw InvalidArgument(
          fmt::format("K + alpha I is not positive definite for {}: learning needs a positive semi-definite kernel", search.form.text()));
    learned.start_value = at_start->value;
    Found found = search_all(search, small, large, options, learned.path);
    converged = found.converged;
    const auto at_end = evaluate(large, search.objective, search.kernel_at(found.theta), search.alpha_at(found.theta), search.inner);
    learned.value = at_end->value;
    learned.signal_variance = at_end->signal_variance;
    if (options.objective == KernelObjective::alignment && !options.alpha) choose_alpha(search, large, options, found);
    take(search, found.theta, !options.alpha, learned);
  });
  learned.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  learned.sentence = sentence_of(learned, data.X.size(), 1 + options.n_restarts, converged);
  return learned;
}

}  // namespace mercer
