// mercer fit ridge: ridge regression on the columns or their monomials.
// SPDX-License-Identifier: BSD-3-Clause
#include "fit.hpp"
#include "objects.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

struct LinearOptions : FitOptions {
  PenaltyOptions penalty{};
  std::int64_t degree = 1;
};

Fitted fit_linear(const LinearOptions& o, const Training& t) {
  require_numbers(t.data.X, "ridge regression");
  RidgeOptions options;
  options.alpha = o.penalty.alpha;
  options.lambda = o.penalty.given_lambda();
  options.fit_intercept = o.penalty.intercept.value_or(true);
  options.degree = static_cast<int>(o.degree);
  options.sample_weight = t.weights;
  const auto n = static_cast<double>(t.data.X.size());
  const auto p = static_cast<double>(t.data.X.width());
  if (o.degree == 1) {
    announce(fmt::format("ridge on {} rows and {} columns", t.data.X.size(), t.data.X.width()),
             8 * n * p * std::min(n, p) / estimated_flops(o.common.run()), 24 * n * p, o.common.run());
  }
  ProgressBar bar;
  options.run = o.common.run(bar.callback());
  RidgeModel model = fit_ridge(t.data.X, t.targets, options);
  const RidgeSummary& s = model.summary();
  const double alpha = o.penalty.lambda >= 0 ? o.penalty.lambda * n : o.penalty.alpha;
  Json json = {{"degree", model.degree()},
               {"alpha", alpha},
               {"lambda", alpha / n},
               {"summary",
                {{"rank", s.rank},
                 {"condition_before", number_json(s.condition_before)},
                 {"condition_after", number_json(s.condition_after)},
                 {"degrees_of_freedom", number_json(s.degrees_of_freedom)},
                 {"seconds", s.seconds},
                 {"sentence", s.sentence}}}};
  const std::string sentence =
      fmt::format("ridge{}, alpha {:g}; {}", o.degree > 1 ? fmt::format(" of degree {}", o.degree) : "", alpha, s.sentence);
  return {std::move(model), std::move(json), sentence};
}

}  // namespace

void add_fit_ridge(CLI::App& fit, Invocation& invocation) {
  auto ridge = std::make_shared<LinearOptions>();
  CLI::App* ridge_command = fit.add_subcommand("ridge", "Ridge regression on the columns, or on their monomials");
  add_shared(*ridge_command, *ridge);
  add_penalty(*ridge_command, ridge->penalty);
  add_whole(*ridge_command, "--degree", ridge->degree, 1, 100, "All monomials up to this degree (default: 1)");
  ridge_command->footer(
      "Examples:\n"
      "  mercer fit ridge train.csv --target price --out model.mercer\n"
      "  mercer fit ridge builtin:cubic --degree 3 --alpha 0");
  ridge_command->callback(
      [ridge, &invocation] { invocation.job = [ridge] { run_fit(*ridge, [&](const Training& t) { return fit_linear(*ridge, t); }); }; });
}

}  // namespace mercer::cli
