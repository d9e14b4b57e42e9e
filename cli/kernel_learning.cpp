// SPDX-License-Identifier: BSD-3-Clause
#include "kernel_learning.hpp"

#include "terminal.hpp"

namespace mercer::cli {

namespace {

// "gaussian.length_scale[2]" with the column's name behind it, where all columns have one scale each.
std::string label_of(const std::string& name, const std::vector<std::string>& columns, bool all_columns) {
  const auto bracket = name.find('[');
  if (!all_columns || bracket == std::string::npos) return name;
  const auto place = std::stoul(name.substr(bracket + 1));
  return place < columns.size() ? fmt::format("{} ({})", name, columns[place]) : name;
}

Json json_of(const LearnedKernel& k) {
  Json parameters = Json::array();
  for (const LearnedParameter& p : k.parameters)
    parameters.push_back({{"name", p.name}, {"start", p.start}, {"value", p.value}, {"at_bound", p.at_bound}});
  Json json = {{"objective", name_of(k.objective)},
               {"start_value", number_json(k.start_value)},
               {"value", number_json(k.value)},
               {"rows", k.rows},
               {"evaluations", k.path.size()},
               {"parameters", parameters},
               {"seconds", k.seconds},
               {"sentence", k.sentence}};
  if (k.objective == KernelObjective::evidence) json["signal_variance"] = number_json(k.signal_variance);
  return json;
}

}  // namespace

void add_kernel_learning(CLI::App& command, KernelLearningOptions& o) {
  CLI::Option* learn = command.add_option_function<std::string>(
      "--learn-kernel",
      [&o](const std::string& word) {
        try {
          o.objective = parse_kernel_objective(word);
        } catch (const InvalidArgument&) {
          throw CLI::ValidationError("--learn-kernel", "must be loo|evidence|alignment, or stand behind DATA with nothing after it, got " +
                                                           word + did_you_mean(word, {"loo", "evidence", "alignment"}));
        }
      },
      "Learn the kernel's parameters, and alpha unless it is given, before the fit (default: loo, leave-one-out)");
  learn->type_name("loo|evidence|alignment")->expected(0, 1)->default_str("loo");
  command.add_flag("--ard", o.ard, "A length scale for each column")->needs(learn);
  add_whole(command, "--learn-rows", o.rows, 3, 100000, "Learn on this many random rows at most (default: 2000)")->needs(learn);
  add_whole(command, "--learn-restarts", o.restarts, 0, 1000, "Starting points besides the given kernel (default: 2)")->needs(learn);
}

KernelChoice choose_kernel(const KernelLearningOptions& o, const Training& t, const Kernel& kernel, std::optional<double> alpha,
                           bool intercept, std::uint64_t seed, const CommonOptions& common) {
  if (!o.objective) return {kernel};
  const auto rows = static_cast<double>(std::min<Index>(o.rows, t.data.X.size()));
  const bool cubic = *o.objective != KernelObjective::alignment;
  announce(fmt::format("learning the kernel on {:.0f} rows", rows),
           50 * (cubic ? 2 * rows * rows * rows : 100 * rows * rows) / estimated_flops(common.run()), 20 * rows * rows, common.run());
  ProgressBar bar;
  const LearnedKernel learned = learn_kernel(t.data.X, t.targets, kernel,
                                             {.objective = *o.objective,
                                              .ard = o.ard,
                                              .alpha = alpha,
                                              .fit_intercept = intercept,
                                              .sample_weight = t.weights,
                                              .max_rows = o.rows,
                                              .n_restarts = static_cast<int>(o.restarts),
                                              .seed = seed,
                                              .run = common.run(bar.callback())});
  KernelChoice choice{learned.kernel, {}, json_of(learned)};
  if (!alpha) choice.alpha = learned.alpha;
  choice.text = fmt::format("kernel {}\n", learned.sentence);
  const auto& names = t.data.encoder.column_names();
  const bool all_columns = kernel.text().find(".on(") == std::string::npos;
  for (const LearnedParameter& p : learned.parameters) {
    choice.text += fmt::format("  {}: {:.4g} -> {:.4g}{}\n", label_of(p.name, names, all_columns), p.start, p.value,
                               p.at_bound ? " (as far as it may go)" : "");
  }
  return choice;
}

}  // namespace mercer::cli
