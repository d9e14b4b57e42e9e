// mercer fit svc, nu-svc, svr, nu-svr and one-class: support vector machines. Their options are in fit_svm_options.cpp.
// SPDX-License-Identifier: BSD-3-Clause
#include "fit_svm.hpp"

#include <chrono>

#include "svm_choice.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

const char* words_of(Machine machine) {
  switch (machine) {
    case Machine::svc:
      return "support vector classifier";
    case Machine::nu_svc:
      return "support vector classifier (nu)";
    case Machine::svr:
      return "support vector regression";
    case Machine::nu_svr:
      return "support vector regression (nu)";
    default:
      return "one-class support vector machine";
  }
}

using Clock = std::chrono::steady_clock;

// What is left of the command's time; 0: no limit.
double time_left(const SvmCommand& o) {
  if (!(o.time_limit > 0)) return 0;
  return std::max(1e-9, o.time_limit - std::chrono::duration<double>(Clock::now() - o.begin).count());
}

SvmSolver solver_of(const SvmCommand& o) {
  return {.tolerance = o.tolerance,
          .max_iterations = static_cast<Index>(o.max_iterations),
          .time_limit = time_left(o),
          .precision = o.precision};
}

// The one place where a machine of the command line is fitted, whole or on folds.
AnyModel fit_machine(const SvmCommand& o, const SvmRows& rows, const Kernel& kernel, double C, const Vector& class_weight, bool probability,
                     const Run& run) {
  const std::optional<double> lambda = o.lambda >= 0 ? std::optional(o.lambda) : std::nullopt;
  switch (o.machine) {
    case Machine::svc: {
      SvcOptions options{.kernel = kernel, .C = C, .lambda = lambda, .hard_margin = o.hard_margin};
      options.fit_intercept = o.intercept.value_or(true);
      options.class_weight = class_weight;
      options.sample_weight = rows.weights;
      options.multi_class = o.multi_class;
      options.probability = probability;
      options.seed = o.reading.seed;
      options.solver = solver_of(o);
      options.run = run;
      return fit_svc(rows.X, rows.labels, options);
    }
    case Machine::nu_svc: {
      NuSvcOptions options{.kernel = kernel, .nu = o.nu, .class_weight = class_weight, .sample_weight = rows.weights};
      options.multi_class = o.multi_class;
      options.probability = probability;
      options.seed = o.reading.seed;
      options.solver = solver_of(o);
      options.run = run;
      return fit_nu_svc(rows.X, rows.labels, options);
    }
    case Machine::svr: {
      SvrOptions options{.kernel = kernel, .C = C, .lambda = lambda, .epsilon = o.epsilon, .fit_intercept = o.intercept.value_or(true)};
      options.sample_weight = rows.weights;
      options.solver = solver_of(o);
      options.run = run;
      return fit_svr(rows.X, rows.y, options);
    }
    case Machine::nu_svr:
      return fit_nu_svr(rows.X, rows.y,
                        {.kernel = kernel, .C = C, .nu = o.nu, .sample_weight = rows.weights, .solver = solver_of(o), .run = run});
    default:
      return fit_one_class(rows.X, {.kernel = kernel, .nu = o.nu, .sample_weight = rows.weights, .solver = solver_of(o), .run = run});
  }
}

Vector weights_of_classes(const SvmCommand& o, const Training& t) {
  if (o.balanced) return balanced_weights(t);
  if (!o.libsvm || o.libsvm->weights.empty()) return {};
  const std::vector<std::string>& classes = t.data.encoder.classes;
  Vector out = Vector::Ones(std::ssize(classes));
  for (const auto& [label, weight] : o.libsvm->weights) {
    Index found = -1;
    for (std::size_t c = 0; c < classes.size(); ++c) {
      if (parse_number(classes[c]) == parse_number(label)) found = static_cast<Index>(c);
    }
    if (found < 0) throw InvalidArgument(fmt::format("--libsvm: -w{} names a label that the data do not have", label));
    out[found] = weight;
  }
  return out;
}

void check_task(const SvmCommand& o, const Training& t) {
  const Encoder& encoder = t.data.encoder;
  if (o.machine == Machine::one_class) return;
  if (o.classify() && encoder.task != Task::classification) {
    throw InvalidArgument(
        fmt::format("this machine is for classes; the target \"{}\" is taken for numbers (fit svr, or --task classify to "
                    "take them for labels)",
                    encoder.target));
  }
  if (!o.classify() && encoder.task == Task::classification) {
    throw InvalidArgument(
        fmt::format("this machine is for numbers; the target \"{}\" is taken for classes (fit svc, or --task regress to "
                    "take it for numbers)",
                    encoder.target));
  }
  if (o.classify()) (void)class_masses(t);  // a class without weight is said by its name
}

SvmRows rows_of(const SvmCommand& o, const Training& t, const Kernel& kernel) {
  SvmRows rows;
  rows.X = kernel.needs_given_gram() && !t.data.X.is_given() ? Samples::given_gram(t.data.X) : t.data.X;
  rows.weights = t.weights;
  if (o.classify()) rows.labels = class_indices(t.data.y);
  if (o.machine == Machine::svr || o.machine == Machine::nu_svr) rows.y = t.data.y;
  return rows;
}

Kernel kernel_of(const SvmCommand& o, const Training& t) {
  return o.libsvm ? o.libsvm->kernel_for(t.data.X.width()) : kernel_for(t, kernels::gaussian(kernels::LengthScale::automatic()));
}

// Nothing was said of the penalty: it is chosen, and with the standard kernel its length scale.
SvmChoice choice_of(const SvmCommand& o, const SvmRows& rows, const Kernel& kernel, const Vector& class_weight) {
  const bool said = o.C > 0 || o.lambda >= 0 || o.hard_margin || o.libsvm;
  if (said || !o.has_C()) return {kernel, o.C > 0 ? o.C : 1, {}, {}};
  return choose_svm(o, rows, kernel, class_weight, time_left(o) / 2);
}

Json summary_json(const SvmSummary& s) {
  return {{"status", s.status},
          {"problems", s.problems},
          {"iterations", s.iterations},
          {"support_vectors", s.support_vectors},
          {"at_bound", s.at_bound},
          {"objective", number_json(s.objective)},
          {"gap", number_json(s.gap)},
          {"violation", number_json(s.violation)},
          {"precision", name_of(s.precision)},
          {"kernel_rows", s.kernel_rows},
          {"seconds", s.seconds},
          {"bytes", s.bytes},
          {"sentence", s.sentence},
          {"remark", s.remark}};
}

struct Told {
  SvmSummary summary;
  std::string kernel;
};

Told told_by(const AnyModel& model) {
  return std::visit(
      [](const auto& m) -> Told {
        if constexpr (requires { m.parts().vectors; }) {
          return {m.summary(), m.kernel().text()};
        } else {
          return {};
        }
      },
      model);
}

Fitted fit_svm(const SvmCommand& asked, const Training& t) {
  SvmCommand o = asked;
  o.kernel = t.kernel;  // which may have been chosen for what the columns hold
  check_task(o, t);
  const Kernel kernel = kernel_of(o, t);
  const SvmRows rows = rows_of(o, t, kernel);
  const Vector class_weight = weights_of_classes(o, t);
  const SvmChoice choice = choice_of(o, rows, kernel, class_weight);
  const auto n = static_cast<double>(t.data.X.size());
  announce(fmt::format("{} on {} rows", words_of(o.machine), t.data.X.size()),
           n * n * (2 * static_cast<double>(t.data.X.width()) + 60) * (o.probability ? 5 : 1) / estimated_flops(o.common.run()),
           4 * n * std::min(n, 20000.0), o.common.run());
  ProgressBar bar;
  AnyModel model = fit_machine(o, rows, choice.kernel, choice.C, class_weight, o.probability, o.common.run(bar.callback()));
  bar.erase();
  const Told told = told_by(model);
  Json json = {{"kernel", told.kernel}};
  std::string penalty;
  if (o.hard_margin) {
    penalty = "hard margin";
  } else if (o.has_C()) {
    const double C = o.lambda >= 0 ? 1 / (2 * n * o.lambda) : choice.C;
    json["C"] = C;
    json["lambda"] = 1 / (2 * n * C);
    penalty = fmt::format("C {:g}", C);
  }
  if (o.machine != Machine::svc && o.machine != Machine::svr) {
    json["nu"] = o.nu;
    penalty += fmt::format("{}nu {:g}", penalty.empty() ? "" : ", ", o.nu);
  }
  if (const auto* svr = std::get_if<SvrModel>(&model)) {
    json["epsilon"] = svr->epsilon();
    penalty += fmt::format(", epsilon {:g}", svr->epsilon());
  }
  json["hard_margin"] = o.hard_margin;
  if (!choice.json.is_null()) json["choice"] = choice.json;
  json["support_vectors"] = told.summary.support_vectors;
  json["summary"] = summary_json(told.summary);
  std::string sentence = choice.sentence + fmt::format("{}, {}, {}; {}", words_of(o.machine), told.kernel, penalty, told.summary.sentence);
  if (!told.summary.remark.empty()) sentence += "\n" + told.summary.remark;
  return {std::move(model), std::move(json), std::move(sentence)};
}

// What svm-train -v prints, in its words.
void run_cross_validation(const SvmCommand& o) {
  if (!o.out.empty()) throw UsageError("--libsvm: -v makes no model; leave out --out, or -v");
  const Speaker speaker(o.common);
  const Training t = prepare(o, speaker);
  check_task(o, t);
  const Kernel kernel = kernel_of(o, t);
  const SvmRows rows = rows_of(o, t, kernel);
  const Vector class_weight = weights_of_classes(o, t);
  if (o.libsvm->folds > rows.X.size())
    throw InvalidArgument(fmt::format("--libsvm: -v {} wants more folds than there are rows, {}", o.libsvm->folds, rows.X.size()));
  ProgressBar bar;
  const Run run = o.common.run(bar.callback());
  const Vector predicted = held_out_predictions(rows, o.libsvm->folds, o.reading.seed, [&](const SvmRows& part) {
    return fit_machine(o, part, kernel, o.C, class_weight, o.probability, run);
  });
  bar.erase();
  Json json = {{"folds", o.libsvm->folds}, {"n", rows.X.size()}};
  if (o.classify()) {
    const double share = accuracy(rows.labels, class_indices(predicted));
    json["accuracy"] = share;
    speaker.say("Cross Validation Accuracy = {:g}%", 100 * share);
  } else {
    const Vector a = rows.y.array() - rows.y.mean();
    const Vector b = predicted.array() - predicted.mean();
    const double correlation = a.dot(b) * a.dot(b) / (a.squaredNorm() * b.squaredNorm());
    json["mse"] = number_json(mean_squared_error(rows.y, predicted));
    json["squared_correlation"] = number_json(correlation);
    speaker.say("Cross Validation Mean squared error = {:g}", mean_squared_error(rows.y, predicted));
    speaker.say("Cross Validation Squared correlation coefficient = {:g}", correlation);
  }
  if (o.common.json) print_json(json);
}

// svm-train's own defaults hold, and columns stay as they are.
void take_libsvm(SvmCommand& o) {
  using Type = LibsvmOptions::Type;
  const LibsvmOptions& l = o.libsvm.emplace(parse_libsvm_options(o.libsvm_text));
  const std::pair<Type, Machine> machines[] = {{Type::c_svc, Machine::svc},
                                               {Type::nu_svc, Machine::nu_svc},
                                               {Type::one_class, Machine::one_class},
                                               {Type::epsilon_svr, Machine::svr},
                                               {Type::nu_svr, Machine::nu_svr}};
  for (const auto& [type, machine] : machines) {
    if (type == l.type) o.machine = machine;
  }
  o.C = l.C;
  o.nu = l.nu;
  o.epsilon = l.epsilon;
  o.tolerance = l.tolerance;
  o.probability = l.probability;
  if (!o.scaling_is_given) o.encode.scaling = ScalingKind::none;
}

}  // namespace

void run_svm(SvmCommand o) {
  o.begin = Clock::now();
  if (!o.libsvm_text.empty()) take_libsvm(o);
  if (o.machine == Machine::one_class && o.reading.path.empty() && !o.weights.empty())
    throw UsageError("--sample-weight names a column of DATA, which is not given");
  if (o.machine == Machine::one_class) {  // a target is no feature, and nothing else
    if (!o.encode.target.empty()) o.encode.drop.push_back(o.encode.target);
    o.encode.target.clear();
    o.encode.no_target = true;
  } else if (o.encode.task == Task::automatic) {
    o.encode.task = o.classify() ? Task::automatic : Task::regression;
    if (o.libsvm && o.classify()) o.encode.task = Task::classification;
  }
  if (o.libsvm && o.libsvm->folds > 0) {
    run_cross_validation(o);
    return;
  }
  run_fit(o, [&](const Training& t) { return fit_svm(o, t); });
}

}  // namespace mercer::cli
