// mercer fit rff: ridge regression on random Fourier features, in one pass.
// SPDX-License-Identifier: BSD-3-Clause
#include "fit.hpp"
#include "objects.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

struct RffOptions : FitOptions {
  PenaltyOptions penalty{};
  std::optional<Precision> precision{};
  std::int64_t components = 1000;
  FourierForm form = FourierForm::sine_cosine;
  bool orthogonal = false;
  double validation = 0;
};

Json list_json(const Vector& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number_json(value));
  return list;
}

Fitted fit_rff(const RffOptions& o, const Training& t) {
  require_numbers(t.data.X, "regression on random Fourier features");
  RandomFeatureRidgeOptions options;
  options.kernel = kernel_for(t, options.kernel);
  options.n_components = o.components;
  options.form = o.form;
  if (o.orthogonal) options.draw = FourierDraw::orthogonal;
  options.seed = o.reading.seed;
  options.alpha = o.penalty.alpha;
  options.lambda = o.penalty.given_lambda();
  options.fit_intercept = o.penalty.intercept.value_or(true);
  options.sample_weight = t.weights;
  options.validation_fraction = o.validation;
  options.precision = o.precision;
  const auto n = static_cast<double>(t.data.X.size());
  const auto L = static_cast<double>(o.components);
  const double work = n * L * L / (o.precision == Precision::float64 ? 1 : 1.8) + L * L * L / 3;
  announce(fmt::format("ridge on {} random features of {} rows", o.components, t.data.X.size()), work / estimated_flops(o.common.run()),
           64e6 + 24 * L * L, o.common.run());
  ProgressBar bar;
  options.run = o.common.run(bar.callback());
  RandomFeatureRidgeModel model = fit_random_feature_ridge(t.data.X, t.targets, options);
  const RandomFeatureSummary& s = model.summary();
  const RandomFourierFeatures& map = model.features();
  Json json = {{"kernel", model.kernel().text()},
               {"components", map.n_components()},
               {"form", map.form() == FourierForm::cosine ? "cos" : "sincos"},
               {"orthogonal", map.draw() == FourierDraw::orthogonal},
               {"alpha", model.alpha()[0]},
               {"lambda", model.alpha()[0] / n},
               {"precision", name_of(model.precision())},
               {"kernel_error", map.draw() == FourierDraw::orthogonal ? Json() : number_json(map.hoeffding_error(0.95))},
               {"held_out", Json()},
               {"summary",
                {{"method", s.method},
                 {"rank", s.rank},
                 {"residual", number_json(s.residual)},
                 {"seconds", s.seconds},
                 {"bytes", s.bytes},
                 {"sentence", s.sentence}}}};
  if (s.held_out_rows > 0)
    json["held_out"] = {{"n", s.held_out_rows}, {"rmse", list_json(s.held_out_rmse)}, {"r2", list_json(s.held_out_r2)}};
  const std::string bound =
      map.draw() == FourierDraw::orthogonal
          ? ""
          : fmt::format("; kernel values of a pair within {:.2g} with probability 0.95 (Hoeffding)", map.hoeffding_error(0.95));
  const std::string sentence = fmt::format("ridge on {} random Fourier features, {}, alpha {:g}{}; {}", map.n_components(),
                                           model.kernel().text(), model.alpha()[0], bound, s.sentence);
  return {std::move(model), std::move(json), sentence};
}

}  // namespace

void add_fit_rff(CLI::App& fit, Invocation& invocation) {
  auto rff = std::make_shared<RffOptions>();
  CLI::App* command = fit.add_subcommand("rff", "Ridge regression on random Fourier features: kernel ridge for very many rows");
  add_shared(*command, *rff);
  add_penalty(*command, rff->penalty);
  add_kernel(*command, rff->kernel,
             "Kernel: gaussian, laplacian, matern, rational_quadratic and what is made of them (default: gaussian(auto))");
  add_whole(*command, "--components", rff->components, 1, 1000000, "Number of random features, even for --form sincos (default: 1000)");
  add_choice<FourierForm>(*command, "--form", rff->form, {{"sincos", FourierForm::sine_cosine}, {"cos", FourierForm::cosine}},
                          "Sine and cosine of each frequency, or a cosine with a random offset (default: sincos)");
  command->add_flag("--orthogonal", rff->orthogonal, "Orthogonal frequencies: closer to the Gaussian kernel");
  add_number(*command, "--validation", rff->validation, 0, 0.9, "a number from 0 to 0.9",
             "Fraction of the rows to measure the error on; the model still learns from all (default: 0)");
  add_precision(*command, rff->precision)
      ->description("Precision of the features (default: float32 for very many, unless the penalty is tiny)");
  command->footer(
      "Examples:\n"
      "  mercer fit rff train.csv --target price --components 2000 --lambda 1e-6 --out model.mercer\n"
      "  mercer fit rff builtin:moons --kernel \"laplacian(0.5)\" --components 200 --validation 0.2");
  command->callback([rff, &invocation] {
    invocation.job = [rff] {
      if (rff->form == FourierForm::sine_cosine && rff->components % 2 != 0)
        throw UsageError(
            fmt::format("--components must be even for --form sincos, which has two features per frequency, got {}; use {}, or --form cos",
                        rff->components, rff->components + 1));
      run_fit(*rff, [&](const Training& t) { return fit_rff(*rff, t); });
    };
  });
}

}  // namespace mercer::cli
