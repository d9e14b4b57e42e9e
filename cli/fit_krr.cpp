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
Cost cost_of(const KrrOptions& o, double n) {
  if ((o.penalty.lambda >= 0 ? o.penalty.lambda : o.penalty.alpha) == 0) return {9 * n * n * n, 32 * n * n};
  const bool chosen = o.solver != KernelRidgeSolver::automatic;
  if (o.solver == KernelRidgeSolver::conjugate_gradients || (!chosen && n >= 8000 && !o.precision))
    return {1500 * n * n, 2.5 * n * n};  // some hundred steps, each bound by memory traffic
  const bool single = o.precision == Precision::float32 || o.solver == KernelRidgeSolver::mixed_cholesky || (!chosen && n >= 2000);
  return {n * n * n / 3 / (single ? 1.8 : 1.0), n * n / 2 * (single ? 4 : 8)};
}

Fitted fit_krr(const KrrOptions& o, const Training& t) {
  if (o.path.given) return fit_krr_path(o, o.penalty.intercept.value_or(false), o.path, t);
  KernelRidgeOptions options;
  options.fit_intercept = o.penalty.intercept.value_or(false);
  const KernelChoice choice = choose_kernel(o.learning, t, kernel_for(o, t, options.kernel), o.penalty.given_alpha(t.data.X.size()),
                                            options.fit_intercept, o.reading.seed, o.common);
  options.kernel = choice.kernel;
  options.alpha = choice.alpha.value_or(o.penalty.alpha);
  options.lambda = o.penalty.given_lambda();
  options.sample_weight = t.weights;
  options.precision = o.precision;
  options.solver = o.solver;
  options.tolerance = o.tolerance;
  options.intervals = o.path.intervals.value_or(false);
  const auto n = static_cast<double>(t.data.X.size());
  const auto [work, bytes] = cost_of(o, n);
  announce(fmt::format("kernel ridge on {} rows", t.data.X.size()), work / estimated_flops(o.common.run()), bytes, o.common.run());
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
  std::string sentence = choice.text + fmt::format("kernel ridge, {}, alpha {:g}; {}", model.kernel().text(), model.alpha()[0], s.sentence);
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
  add_kernel(*krr_command, krr->kernel, "Kernel, like \"gaussian(2) + 0.5*linear\" (default: gaussian(auto), the median distance)");
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
  add_path(*krr_command, *krr, krr->path);
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
      run_fit(*krr, [&](const Training& t) { return fit_krr(*krr, t); });
    };
  });
}

}  // namespace mercer::cli
