// mercer fit sgd-svm and mercer fit mean: the support vector machine by stochastic gradients, and the nearest class mean.
// SPDX-License-Identifier: BSD-3-Clause
#include "estimates.hpp"
#include "fit.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

struct SgdOptions : FitOptions {
  double lambda = -1;
  std::int64_t iterations = 0;
  std::int64_t budget = 0;
  KernelSGDOptions::Output output = KernelSGDOptions::Output::automatic;
};

struct MeanOptions : FitOptions {
  MeanRule rule = MeanRule::nearest;
  std::optional<KernelMeanOptions::Priors> priors{};
};

// Labels of classes, each with a row of positive weight; the library would name classes by number.
std::vector<Index> labels_of(const Training& t, const char* what) {
  if (t.data.encoder.task != Task::classification) {
    throw InvalidArgument(fmt::format("{} is for classes; the target \"{}\" is taken for numbers (--task classify takes them for labels)",
                                      what, t.data.encoder.target));
  }
  std::vector<Index> labels = class_indices(t.data.y);
  if (t.weights.size() == 0) return labels;
  const std::vector<std::string>& classes = t.data.encoder.classes;
  Vector mass = Vector::Zero(std::ssize(classes));
  for (std::size_t i = 0; i < labels.size(); ++i) mass[labels[i]] += t.weights[static_cast<Index>(i)];
  for (Index c = 0; c < mass.size(); ++c) {
    if (mass[c] == 0)
      throw InvalidArgument(fmt::format("the class {} has no row of positive weight", classes[static_cast<std::size_t>(c)]));
  }
  return labels;
}

Fitted fit_sgd(const SgdOptions& o, const Training& t) {
  const std::vector<Index> labels = labels_of(t, "sgd-svm");
  KernelSGDOptions options;
  options.kernel = kernel_for(t, options.kernel);
  if (o.lambda >= 0) options.lambda = o.lambda;
  options.iterations = static_cast<Index>(o.iterations);
  options.output = o.output;
  options.budget = static_cast<Index>(o.budget);
  options.sample_weight = t.weights;
  options.seed = o.reading.seed;
  const auto n = static_cast<double>(t.data.X.size());
  announce(fmt::format("stochastic gradients on {} rows", t.data.X.size()),
           n * n / 2 * kernel_value_flops(t.data.X) / estimated_flops(o.common.run()), 8 * n * n, o.common.run());
  ProgressBar bar;
  options.run = o.common.run(bar.callback());
  KernelSGDModel model = fit_kernel_sgd(t.data.X, labels, options);
  const KernelSGDSummary& s = model.summary();
  const auto known = [&](double value) { return s.certified ? number_json(value) : Json(nullptr); };
  Json json = {{"kernel", model.kernel().text()},
               {"lambda", model.lambda()},
               {"C", 1 / (n * model.lambda())},
               {"summary",
                {{"iterations", s.iterations},
                 {"output", s.output},
                 {"updates", s.updates},
                 {"support_vectors", s.support_vectors},
                 {"removals", s.removals},
                 {"objective", known(s.objective)},
                 {"squared_norm", known(s.squared_norm)},
                 {"gap", known(s.gap)},
                 {"relative_gap", known(s.relative_gap)},
                 {"stored", s.stored},
                 {"seconds", s.seconds},
                 {"bytes", s.bytes},
                 {"sentence", s.sentence}}}};
  const std::string sentence = fmt::format("support vector machine by stochastic gradients, {}, C {:g}{}; {}", model.kernel().text(),
                                           1 / (n * model.lambda()), o.lambda >= 0 ? "" : " (the default)", s.sentence);
  return {std::move(model), std::move(json), sentence};
}

Fitted fit_mean(const MeanOptions& o, const Training& t) {
  const std::vector<Index> labels = labels_of(t, "mean");
  KernelMeanOptions options;
  options.kernel = kernel_for(t, options.kernel);
  options.rule = o.rule;
  options.priors = o.priors.value_or(options.priors);
  options.sample_weight = t.weights;
  const auto n = static_cast<double>(t.data.X.size());
  announce(fmt::format("class means on {} rows", t.data.X.size()),
           n * n / 2 * kernel_value_flops(t.data.X) / estimated_flops(o.common.run()), 8 * n, o.common.run());
  ProgressBar bar;
  options.run = o.common.run(bar.callback());
  KernelMeanModel model = fit_kernel_mean(t.data.X, labels, options);
  const KernelMeanSummary& s = model.summary();
  const std::vector<std::string>& classes = t.data.encoder.classes;
  const std::vector<std::string> nearest{classes[static_cast<std::size_t>(s.nearest_a)], classes[static_cast<std::size_t>(s.nearest_b)]};
  Json distances = Json::array();
  for (Index c = 0; c < s.classes; ++c) distances.push_back(std::vector<double>(s.distances.row(c).begin(), s.distances.row(c).end()));
  const Vector intercept = model.intercept();
  Json json = {
      {"kernel", model.kernel().text()},
      {"rule", o.rule == MeanRule::parzen ? "parzen" : "nearest"},
      {"priors", o.rule == MeanRule::parzen ? Json(std::vector<double>(model.priors().begin(), model.priors().end())) : Json(nullptr)},
      {"intercept", std::vector<double>(intercept.begin(), intercept.end())},
      {"summary",
       {{"samples", s.samples},
        {"classes", s.classes},
        {"distances", std::move(distances)},
        {"nearest", nearest},
        {"coincide", s.coincide},
        {"seconds", s.seconds},
        {"sentence", s.sentence}}}};
  std::string sentence = fmt::format("class means, {}; {}", model.kernel().text(), s.sentence);
  if (s.coincide || s.classes > 2)
    sentence += fmt::format(" (class {} is {}, class {} is {})", s.nearest_a, nearest[0], s.nearest_b, nearest[1]);
  return {std::move(model), std::move(json), sentence};
}

constexpr const char* kernel_words = "Kernel, like \"gaussian(2) + 0.5*linear\" (default: gaussian(auto), the median distance)";

}  // namespace

void add_fit_sgd_svm(CLI::App& fit, Invocation& invocation) {
  using Output = KernelSGDOptions::Output;
  auto o = std::make_shared<SgdOptions>();
  CLI::App* command = fit.add_subcommand("sgd-svm", "Support vector machine without bias by stochastic gradients");
  add_shared(*command, *o);
  command->get_option("--seed")->description("Seed of the draws, and of built-in sets (default: 0)");
  add_fit_kernel(*command, *o, kernel_words);
  add_number(*command, "--lambda", o->lambda, 1e-300, 1e300, "a number > 0",
             "Weight of |w|^2 / 2 beside the mean hinge loss, 1 / (C n) (default: 1 / n, which is C = 1)");
  add_whole(*command, "--iterations", o->iterations, 1, 1'000'000'000'000, "Steps, a row each (default: 20 for each row, at least 100000)");
  add_choice<Output>(*command, "--output", o->output, {{"auto", Output::automatic}, {"averaged", Output::averaged}, {"last", Output::last}},
                     "The average of all iterates, or the last one (default: averaged, with --budget last)");
  add_whole(*command, "--budget", o->budget, 1, 1'000'000, "Support vectors for each class at most (default: no limit)");
  command->footer(
      "Examples:\n"
      "  mercer fit sgd-svm train.csv --target kind --lambda 1e-4 --iterations 1000000 --out model.mercer\n"
      "  mercer fit sgd-svm train.csv --budget 500");
  command->callback([o, &invocation] {
    invocation.job = [o] {
      if (o->budget > 0 && o->output == Output::averaged)
        throw UsageError("--output averaged has more support vectors than --budget allows; leave one of them out");
      run_fit(*o, [&](const Training& t) { return fit_sgd(*o, t); });
    };
  });
}

void add_fit_mean(CLI::App& fit, Invocation& invocation) {
  using Priors = KernelMeanOptions::Priors;
  auto o = std::make_shared<MeanOptions>();
  CLI::App* command = fit.add_subcommand("mean", "The class whose mean in the feature space is nearest, or Parzen windows");
  add_shared(*command, *o);
  add_fit_kernel(*command, *o, kernel_words);
  add_choice<MeanRule>(*command, "--rule", o->rule, {{"nearest", MeanRule::nearest}, {"parzen", MeanRule::parzen}},
                       "The nearest mean, or the largest prior times density estimate, which has probabilities (default: nearest)");
  command
      ->add_option_function<std::string>(
          "--priors",
          [o](const std::string& word) {
            if (word != "equal" && word != "empirical") throw wrong_choice("--priors", word, {"equal", "empirical"});
            o->priors = word == "equal" ? Priors::equal : Priors::empirical;
          },
          "With --rule parzen: classes alike, or by their share of the rows (default: equal)")
      ->type_name("equal|empirical");
  command->footer(
      "Examples:\n"
      "  mercer fit mean train.csv --target kind --out model.mercer\n"
      "  mercer fit mean train.csv --rule parzen --priors empirical --out model.mercer\n"
      "  mercer predict model.mercer new.csv --proba");
  command->callback([o, &invocation] {
    invocation.job = [o] {
      if (o->priors && o->rule != MeanRule::parzen) throw UsageError("--priors is for --rule parzen; the nearest mean has none");
      run_fit(*o, [&](const Training& t) { return fit_mean(*o, t); });
    };
  });
}

}  // namespace mercer::cli
