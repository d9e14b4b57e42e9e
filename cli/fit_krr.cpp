// mercer fit krr: kernel ridge regression.
// SPDX-License-Identifier: BSD-3-Clause
#include "fit.hpp"
#include "kernel_learning.hpp"
#include "krr_path.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

struct KrrOptions : FitOptions {
  PenaltyOptions penalty{};
  KernelLearningOptions learning{};
  std::optional<Precision> precision{};
  KernelRidgeSolver solver = KernelRidgeSolver::automatic;
  double tolerance = 1e-10;
  KrrPathOptions path{};
};

struct Cost {
  double flops, bytes;
};

// What n samples cost by the solver that will probably be taken.
Cost cost_of(const KrrOptions& o, double n, double width) {
  if ((o.penalty.lambda >= 0 ? o.penalty.lambda : o.penalty.alpha) == 0) return {9 * n * n * n, 32 * n * n};
  const bool chosen = o.solver != KernelRidgeSolver::automatic;
  const auto budget = static_cast<double>(memory_budget(o.common.memory));
  const bool short_of_memory = 2 * n * n > budget;
  if (o.solver == KernelRidgeSolver::conjugate_gradients || (!chosen && !o.precision && (n >= 8000 || (n >= 2000 && short_of_memory)))) {
    if (short_of_memory) return {50 * n * n * (2 * width + 60), budget / 2};  // kernel values are made anew each step
    return {1500 * n * n, std::min(2.5 * n * n, budget)};                     // some hundred steps, each bound by memory traffic
  }
  const bool single = o.precision == Precision::float32 || o.solver == KernelRidgeSolver::mixed_cholesky || (!chosen && n >= 2000);
  return {n * n * n / 3 / (single ? 1.8 : 1.0), n * n / 2 * (single ? 4 : 8)};
}

// Options that the path would leave unused are refused rather than ignored.
void check_together(const KrrOptions& o) {
  if (!o.path.given) return;
  if (o.penalty.given_alpha(1)) throw UsageError("--alpha and --lambda give the penalty; --alphas, --loo, --kernels and --folds choose it");
  if (o.solver != KernelRidgeSolver::automatic || o.precision)
    throw UsageError("--solver and --precision are for one alpha; the path comes from one reduction in float64");
  if (o.learning.objective && !o.path.kernels.empty())
    throw UsageError("--learn-kernel learns one kernel; give it by --kernel, or choose among --kernels without it");
}

// Without a constant, f is drawn towards 0 wherever samples are few: bad for targets that live elsewhere.
std::string advice_on_intercept(const KrrOptions& o, const Training& t) {
  if (o.penalty.intercept || t.data.encoder.task == Task::classification) return "";
  const double mean = t.data.y.mean();
  const double deviation = std::sqrt((t.data.y.array() - mean).square().mean());
  if (std::abs(mean) <= 3 * deviation) return "";
  return fmt::format(
      "The target's mean ({:.4g}) is far from 0 for its deviation ({:.4g}): --intercept fits a constant, and probably better.\n", mean,
      deviation);
}

Fitted fit_krr(const KrrOptions& o, const Training& t) {
  KernelRidgeOptions options;
  options.fit_intercept = o.penalty.intercept.value_or(false);
  const KernelChoice choice = choose_kernel(o.learning, t, kernel_for(t, options.kernel), o.penalty.given_alpha(t.data.X.size()),
                                            options.fit_intercept, o.reading.seed, o.common);
  if (o.path.given) {
    Fitted fitted = fit_krr_path(o, choice.kernel, options.fit_intercept, o.path, t);
    if (!choice.json.is_null()) fitted.json["learned"] = choice.json;
    fitted.sentence = advice_on_intercept(o, t) + choice.text + fitted.sentence;
    return fitted;
  }
  options.kernel = choice.kernel;
  options.alpha = choice.alpha.value_or(o.penalty.alpha);
  options.lambda = o.penalty.given_lambda();
  options.sample_weight = t.weights;
  options.precision = o.precision;
  options.solver = o.solver;
  options.tolerance = o.tolerance;
  options.intervals = o.path.intervals.value_or(false);
  const auto n = static_cast<double>(t.data.X.size());
  const auto [work, bytes] = cost_of(o, n, static_cast<double>(t.data.X.width()));
  const char* advice = n > 40000 ? " (mercer fit falkon gives nearly the same for much less)" : "";
  announce(fmt::format("kernel ridge on {} rows{}", t.data.X.size(), advice), work / estimated_flops(o.common.run()), bytes,
           o.common.run());
  ProgressBar bar;
  options.run = o.common.run(bar.callback());
  KernelRidgeModel model = fit_kernel_ridge(t.data.X, t.targets, options);
  const SolveSummary& s = model.summary();
  Json json = {{"kernel", model.kernel().text()},
               {"alpha", model.alpha()[0]},
               {"lambda", model.alpha()[0] / n},
               {"precision", name_of(model.precision())},
               {"summary", summary_json(s)}};
  if (!choice.json.is_null()) json["learned"] = choice.json;
  std::string sentence = advice_on_intercept(o, t) + choice.text +
                         fmt::format("kernel ridge, {}, alpha {:g}; {}", model.kernel().text(), model.alpha()[0], s.sentence);
  if (model.has_intervals()) {
    json["intervals"] = model.interval_summary().sentence;
    sentence += "\n" + model.interval_summary().sentence;
  }
  return {std::move(model), std::move(json), sentence};
}

}  // namespace

void add_fit_krr(CLI::App& fit, Invocation& invocation) {
  auto krr = std::make_shared<KrrOptions>();
  CLI::App* krr_command = fit.add_subcommand("krr", "Kernel ridge regression; classes by the sign or the largest score");
  add_shared(*krr_command, *krr);
  add_penalty(*krr_command, krr->penalty);
  const auto tables = add_tables(*krr_command);
  add_fit_kernel(*krr_command, *krr, "Kernel, like \"gaussian(2) + 0.5*linear\" (default: gaussian(auto), the median distance)", tables);
  add_kernel_learning(*krr_command, krr->learning);
  add_precision(*krr_command, krr->precision);
  add_choice<KernelRidgeSolver>(*krr_command, "--solver", krr->solver,
                                {{"auto", KernelRidgeSolver::automatic},
                                 {"cholesky", KernelRidgeSolver::cholesky},
                                 {"mixed", KernelRidgeSolver::mixed_cholesky},
                                 {"cg", KernelRidgeSolver::conjugate_gradients}},
                                "How the system is solved (default: auto, by size and memory)");
  add_number(*krr_command, "--tolerance", krr->tolerance, 1e-15, 0.1, "a number from 1e-15 to 0.1",
             "Relative residual that the solvers mixed and cg must reach (default: 1e-10)");
  add_path(*krr_command, *krr, krr->path, tables);
  krr_command->footer(
      "Examples:\n"
      "  mercer fit krr train.csv --target price --alpha 0.1 --out model.mercer\n"
      "  mercer fit krr train.csv --alphas auto --kernels \"gaussian(1); gaussian(3)\" --out model.mercer\n"
      "  mercer fit krr builtin:moons --kernel \"gaussian(0.5)\" --lambda 0.001\n"
      "  mercer fit krr train.csv --kernel \"matern(1.5, auto) + linear\" --learn-kernel evidence --ard\n"
      "  zcat big.csv.gz | mercer fit krr - --kernel \"laplacian(auto)\" --precision float32 --json");
  krr_command->callback([krr, &invocation] {
    invocation.job = [krr] {
      check_path(krr->path);
      check_together(*krr);
      for (const Kernel& kernel : krr->path.kernels) krr->looked_at = krr->looked_at ? *krr->looked_at + kernel : kernel;
      run_fit(*krr, [&](const Training& t) { return fit_krr(*krr, t); });
    };
  });
}

}  // namespace mercer::cli
