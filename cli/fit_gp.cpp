// mercer fit gp: Gaussian process regression.
// SPDX-License-Identifier: BSD-3-Clause
#include "fit.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

struct GpOptions : FitOptions {
  double noise = 0.1;
  bool ard = false;
  bool optimize = true;
  std::int64_t restarts = 0;
  std::vector<std::string> fixed{};
  GaussianProcessObjective objective = GaussianProcessObjective::marginal;
};

// The usual kernel with a length scale for each column; all begin at the median distance.
Kernel with_scale_per_column(const Samples& X) {
  const double typical = median_distance(X);
  return 1.0 * kernels::gaussian(std::vector<double>(static_cast<std::size_t>(X.width()), typical > 0 ? typical : 1.0));
}

// Where the noise is learned too, one number of it; rows of weight w have noise / w.
GaussianProcessOptions options_for(const GpOptions& o, const Training& t) {
  GaussianProcessOptions options;
  if (o.ard && t.kernel)
    throw InvalidArgument(fmt::format("--ard gives a length scale to each column of numbers, and the kernel is {}", t.kernel->text()));
  options.kernel = kernel_for(t, o.ard ? with_scale_per_column(t.data.X) : options.kernel);
  options.noise = o.noise;
  if (t.weights.size() > 0) {
    if (!(t.weights.array() > 0).all())
      throw InvalidArgument("fit gp takes a weight as a share of the noise: --sample-weight must be > 0 in every row");
    options.noise_per_sample = o.noise * t.weights.cwiseInverse();
  }
  options.optimize = o.optimize;
  options.fixed = o.fixed;
  const auto noise = std::find(options.fixed.begin(), options.fixed.end(), "noise");
  options.optimize_noise = o.optimize && noise == options.fixed.end();
  if (noise != options.fixed.end()) options.fixed.erase(noise);
  options.objective = o.objective;
  options.restarts = static_cast<int>(o.restarts);
  options.seed = o.reading.seed;
  options.normalize_y = true;
  return options;
}

Json json_of(const GaussianProcessModel& model, const GpOptions& o) {
  const GaussianProcessSummary& s = model.summary();
  Json parameters = Json::array();
  for (const KernelParameter& p : model.kernel().parameters()) parameters.push_back({{"name", p.name}, {"value", p.value}});
  return {
      {"kernel", model.kernel().text()},
      {"parameters", parameters},
      {"noise", model.noise().size() == 1 ? Json(model.noise()[0]) : Json(std::vector<double>(model.noise().begin(), model.noise().end()))},
      {"target_mean", model.target_mean()[0]},
      {"target_scale", model.target_scale()[0]},
      {"objective", o.objective == GaussianProcessObjective::marginal ? "marginal" : "loo"},
      {"summary",
       {{"log_marginal_likelihood", number_json(s.log_marginal_likelihood)},
        {"leave_one_out_log_likelihood", number_json(s.leave_one_out_log_likelihood)},
        {"start_value", number_json(s.start_value)},
        {"gradient", number_json(s.gradient)},
        {"converged", s.converged},
        {"evaluations", s.evaluations},
        {"starts", s.starts},
        {"best_start", s.best_start},
        {"at_bound", s.at_bound},
        {"seconds", s.seconds},
        {"bytes", s.bytes},
        {"sentence", s.sentence}}}};
}

Fitted fit_gp(const GpOptions& o, const Training& t) {
  if (t.data.encoder.task == Task::classification)
    throw InvalidArgument(fmt::format(
        "fit gp is for numbers, but the target \"{}\" has classes: use --task regress, or fit krr or logistic", t.data.encoder.target));
  GaussianProcessOptions options = options_for(o, t);
  const auto n = static_cast<double>(t.data.X.size());
  const double evaluations = o.optimize ? 30.0 * static_cast<double>(o.restarts + 1) : 1;
  const double flops = o.objective == GaussianProcessObjective::marginal ? n * n * n : 2 * n * n * n;
  announce(fmt::format("a Gaussian process on {} rows", t.data.X.size()), evaluations * flops / estimated_flops(o.common.run()),
           n * n / 2 * 8 * (o.objective == GaussianProcessObjective::marginal ? 1 : 2), o.common.run());
  ProgressBar bar;
  options.run = o.common.run(bar.callback());
  GaussianProcessModel model = fit_gaussian_process(t.data.X, t.targets, options);
  Json json = json_of(model, o);
  const std::string noise = model.noise().size() == 1 ? fmt::format("{:.4g}", model.noise()[0])
                                                      : fmt::format("{:.4g} to {:.4g}", model.noise().minCoeff(), model.noise().maxCoeff());
  const std::string sentence =
      fmt::format("Gaussian process, {}, noise {} (of the target's variance); {}", model.kernel().text(), noise, model.summary().sentence);
  return {std::move(model), std::move(json), sentence};
}

}  // namespace

void add_fit_gp(CLI::App& fit, Invocation& invocation) {
  auto o = std::make_shared<GpOptions>();
  CLI::App* command = fit.add_subcommand("gp", "Gaussian process regression: its parameters maximise a likelihood");
  add_shared(*command, *o);
  CLI::Option* kernel =
      add_fit_kernel(*command, *o, "Kernel, like \"gaussian(1) + 0.5*periodic(1, 12)\" (default: 1*gaussian(auto), the median distance)");
  add_number(*command, "--noise", o->noise, 0, 1e300, "a number >= 0",
             "Variance of the noise as a share of the target's, where the search begins (default: 0.1)");
  command
      ->add_flag("--ard", o->ard,
                 "One length scale for each column, of a Gaussian; a kernel of your own has them as in gaussian([1, 1, 1])")
      ->excludes(kernel);
  add_choice<GaussianProcessObjective>(*command, "--objective", o->objective,
                                       {{"marginal", GaussianProcessObjective::marginal}, {"loo", GaussianProcessObjective::leave_one_out}},
                                       "Likelihood to maximise: marginal, or leave-one-out (default: marginal)");
  add_whole(*command, "--restarts", o->restarts, 0, 10000, "Further searches from random parameters; the best counts (default: 0)");
  add_columns(*command, "--fixed", o->fixed, "Parameters that stay, by name: noise, factor, gaussian.length_scale, ...");
  command->add_flag_callback(
      "--no-optimize", [o] { o->optimize = false; }, "Take kernel and noise as given");
  command->footer(
      "The target is brought to mean 0 and variance 1 first; noise and factors are in those units.\n"
      "Examples:\n"
      "  mercer fit gp train.csv --target price --ard --out model.mercer\n"
      "  mercer fit gp co2.csv --kernel \"gaussian(30) + 0.1*periodic(1, 12)\" --restarts 5\n"
      "  mercer predict model.mercer new.csv --interval 0.9");
  command->callback([o, &invocation] {
    invocation.job = [o] {
      if (o->noise == 0 && o->optimize && std::find(o->fixed.begin(), o->fixed.end(), "noise") == o->fixed.end())
        throw UsageError(
            "--noise 0 cannot be where the search for the noise begins; --fixed noise keeps it at 0, --no-optimize keeps all parameters");
      run_fit(*o, [&](const Training& t) { return fit_gp(*o, t); });
    };
  });
}

}  // namespace mercer::cli
