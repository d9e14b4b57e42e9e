// mercer fit structured: support vector machines for outputs with parts: one of several classes (Crammer and Singer), or with --sequence a
// label for every row of a sequence.
// SPDX-License-Identifier: BSD-3-Clause
#include "apply.hpp"
#include "estimates.hpp"
#include "fit.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

struct StructuredCommand : FitOptions {
  double C = 1;
  double lambda = -1;
  std::optional<bool> intercept{};
  double tolerance = 1e-3;
  std::int64_t max_iterations = 1000;
};

Json summary_json(const StructuredSvmSummary& s) {
  return {{"status", s.status},
          {"passes", s.passes},
          {"searches", s.searches},
          {"objective", number_json(s.objective)},
          {"dual", number_json(s.dual)},
          {"gap", number_json(s.gap)},
          {"relative_gap", number_json(s.relative_gap)},
          {"planes", s.planes},
          {"support_vectors", s.support_vectors},
          {"seconds", s.seconds},
          {"bytes", s.bytes},
          {"sentence", s.sentence}};
}

StructuredSvmModel fit_chain(const StructuredCommand& o, const Training& t, const StructuredSvmOptions& options, Json& json) {
  const SequenceOrder order = sequence_order(t.groups);
  const std::vector<Index> labels = class_indices(t.data.y);
  std::vector<Index> in_order;
  for (const Index row : order.rows) in_order.push_back(labels[static_cast<std::size_t>(row)]);
  json["sequence"] = o.groups;
  json["sequences"] = std::ssize(order.offsets) - 1;
  return fit_chain_svm(t.data.X.subset(order.rows), order.offsets, in_order, options).with_sequence_column(o.groups);
}

// Some thirty passes over the rows, each with a score for every class; with a kernel, of kernel values with all rows.
void announce_fit(const StructuredCommand& o, const Training& t) {
  const auto n = static_cast<double>(t.data.X.size());
  const auto classes = static_cast<double>(t.data.encoder.classes.size());
  const bool linear = !t.kernel || t.kernel->text() == kernels::linear().text();
  const double row = linear ? 2 * values_in(t.data.X) / std::max(n, 1.0) : kernel_value_flops(t.data.X) + 2 * n;
  const double flops = 30 * n * classes * row + (linear ? 0 : n * n * kernel_value_flops(t.data.X));
  announce(fmt::format("a structured support vector machine on {} rows", t.data.X.size()), flops / estimated_flops(o.common.run()),
           8 * (linear ? 2 * values_in(t.data.X) : n * n), o.common.run());
}

Fitted fit_it(const StructuredCommand& o, const Training& t) {
  if (t.data.encoder.task != Task::classification) {
    throw InvalidArgument(
        fmt::format("this machine is for classes; the target \"{}\" is taken for numbers (fit svr, or --task classify to "
                    "take them for labels)",
                    t.data.encoder.target));
  }
  const bool chain = !o.groups.empty();
  (void)class_masses(t);  // a class without weight is said by its name
  StructuredSvmOptions options;
  options.kernel = kernel_for(t, kernels::linear());
  options.C = o.C;
  if (o.lambda >= 0) options.lambda = o.lambda;
  options.fit_intercept = o.intercept.value_or(true);
  if (!chain) options.sample_weight = t.weights;
  options.tolerance = o.tolerance;
  options.max_passes = static_cast<Index>(o.max_iterations);
  options.seed = o.reading.seed;
  announce_fit(o, t);
  ProgressBar bar;
  options.run = o.common.run(bar.callback());
  Json json = {{"form", chain ? "chain" : "multiclass"}};
  StructuredSvmModel model = chain ? fit_chain(o, t, options, json) : fit_multiclass_svm(t.data.X, class_indices(t.data.y), options);
  bar.erase();
  json["C"] = model.parts().C;
  json["kernel"] = model.kernel().text();
  json["summary"] = summary_json(model.summary());
  std::string sentence = chain ? fmt::format("structured support vector machine, chains of {}, C {:g}; {}", o.groups, model.parts().C,
                                             model.summary().sentence)
                               : fmt::format("structured support vector machine, multi-class, kernel {}, C {:g}; {}", model.kernel().text(),
                                             model.parts().C, model.summary().sentence);
  return {std::move(model), std::move(json), std::move(sentence)};
}

void run_structured(const StructuredCommand& o) {
  if (!o.groups.empty() && (!o.gram.empty() || (o.kernel && o.kernel->text() != kernels::linear().text())))
    throw UsageError("--kernel and --gram are for classes of single rows; with --sequence the machine is linear");
  if (!o.groups.empty() && !o.weights.empty())
    throw UsageError("--sample-weight weighs single rows; with --sequence the examples are whole sequences, which all weigh alike");
  run_fit(o, [&](const Training& t) { return fit_it(o, t); });
}

}  // namespace

void add_fit_structured(CLI::App& fit, Invocation& invocation) {
  auto o = std::make_shared<StructuredCommand>();
  o->groups_option = "--sequence";
  CLI::App* command =
      fit.add_subcommand("structured", "Structured support vector machine: all classes at once, or labels of whole sequences");
  add_shared(*command, *o);
  add_fit_kernel(*command, *o, "Kernel (default: linear)");
  command
      ->add_option("--sequence", o->groups,
                   "Column that tells sequences apart: rows with the same value are one sequence, in the order of the file (default: every "
                   "row by itself)")
      ->type_name("COL");
  CLI::Option* C = add_number(*command, "--C", o->C, 1e-300, 1e300, "a number > 0", "Weight of the losses beside |w|^2 / 2 (default: 1)");
  C->excludes(add_number(*command, "--lambda", o->lambda, 1e-300, 1e300, "a number > 0",
                         "The same as 1 / (2 C n), n the number of rows or sequences"));
  add_intercept(*command, o->intercept);
  command->get_option("--intercept")->description("Fit a constant for each label (the default); it is penalised like a weight");
  add_number(*command, "--tol", o->tolerance, 1e-15, 1, "a number > 0", "Stop at this relative duality gap (default: 1e-3)");
  add_whole(*command, "--max-iter", o->max_iterations, 1, 1'000'000'000, "Passes over the rows or sequences at most (default: 1000)");
  command->footer(
      "With --sequence the label of a row depends on its columns and on the labels of its neighbours; predict and score find the column "
      "by\n"
      "its name.\n"
      "Examples:\n"
      "  mercer fit structured train.csv --target kind --kernel 'gaussian(2)' --C 10 --out model.mercer\n"
      "  mercer fit structured words.csv --target tag --sequence sentence --C 0.1 --out tagger.mercer\n"
      "  mercer predict tagger.mercer new.csv");
  command->callback([o, &invocation] { invocation.job = [o] { run_structured(*o); }; });
}

}  // namespace mercer::cli
