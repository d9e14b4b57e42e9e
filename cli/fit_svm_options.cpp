// The commands svc, nu-svc, svr, nu-svr and one-class of `mercer fit`, and their options.
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include "fit_svm.hpp"

namespace mercer::cli {

namespace {

void add_solver_options(CLI::App& command, SvmCommand& o) {
  add_number(command, "--tol", o.tolerance, 1e-15, 1e3, "a number > 0",
             "Stop when the optimality conditions are violated by less (default: 1e-3)");
  add_whole(command, "--max-iter", o.max_iterations, 1, std::numeric_limits<std::int64_t>::max() / 2,
            "Steps at most (default: ten million, or 100 a row)");
  add_number(command, "--time-limit", o.time_limit, 1e-9, 1e12, "a number of seconds > 0",
             "Seconds for the whole command, at most: reading, choosing C, the fit (default: no limit)");
  add_precision(command, o.precision)->description("Precision of kernel values (default: chosen by rows and tolerance)");
}

void add_class_options(CLI::App& command, SvmCommand& o) {
  add_choice<bool>(command, "--class-weight", o.balanced, {{"none", false}, {"balanced", true}},
                   "All rows alike, or all classes: a row weighs n / (classes * rows of its class) (default: none)");
  add_choice<MultiClass>(command, "--multi-class", o.multi_class, {{"ovo", MultiClass::one_vs_one}, {"ovr", MultiClass::one_vs_rest}},
                         "More than two classes: each pair, or each class against the rest (default: ovo)");
  command.add_flag("--probability", o.probability, "Probabilities of classes too, by sigmoids on held-out rows: six fits for one");
}

void add_C(CLI::App& command, SvmCommand& o, bool with_lambda) {
  CLI::Option* C = add_number(command, "--C", o.C, 1e-300, 1e300, "a number > 0",
                              "Weight of the losses beside |f|^2 / 2 (default: chosen by 5-fold cross-validation)");
  if (!with_lambda) return;
  CLI::Option* lambda = add_number(command, "--lambda", o.lambda, 1e-300, 1e300, "a number > 0", "The same as 1 / (2 C n)");
  C->excludes(lambda);
  add_intercept(command, o.intercept);
}

CLI::App* add_machine(CLI::App& fit, Invocation& invocation, const std::shared_ptr<SvmCommand>& o, const char* name, Machine machine,
                      const char* about) {
  o->machine = machine;
  CLI::App* command = fit.add_subcommand(name, about);
  add_shared(*command, *o);
  add_fit_kernel(*command, *o, "Kernel, like \"gaussian(2) + 0.5*linear\" (default: gaussian, its length scale from the median distance)");
  add_solver_options(*command, *o);
  command->get_option("--scale")->each([o](const std::string&) { o->scaling_is_given = true; });
  command->callback([o, &invocation] { invocation.job = [o] { run_svm(*o); }; });
  return command;
}

void add_libsvm_option(CLI::App& command, SvmCommand& o) {
  CLI::Option* libsvm = command
                            .add_option_function<std::string>(
                                "--libsvm",
                                [&o](const std::string& text) {
                                  o.libsvm_text = text.find_first_not_of(" \t") == std::string::npos ? "-s 0" : text;
                                  (void)parse_libsvm_options(o.libsvm_text);
                                },
                                "Options of LIBSVM's svm-train instead of those of Mercer, its defaults and no scaling: \"-c 10 -g 0.5\"")
                            ->type_name("TEXT");
  for (const char* other : {"--kernel", "--table", "--gram", "--C", "--lambda", "--hard-margin", "--intercept", "--no-intercept",
                            "--class-weight", "--multi-class", "--probability", "--tol"}) {
    libsvm->excludes(command.get_option(other));
  }
}

void add_nu(CLI::App& command, SvmCommand& o, const char* about) {
  add_number(command, "--nu", o.nu, 1e-300, 1, "a number > 0 and at most 1", about);
}

}  // namespace

void add_fit_svm(CLI::App& fit, Invocation& invocation) {
  auto svc = std::make_shared<SvmCommand>();
  CLI::App* command = add_machine(fit, invocation, svc, "svc", Machine::svc, "Support vector classifier");
  add_C(*command, *svc, true);
  CLI::Option* hard = command->add_flag("--hard-margin", svc->hard_margin, "No row inside the margin; says when that cannot be had");
  hard->excludes(command->get_option("--C"));
  hard->excludes(command->get_option("--lambda"));
  add_class_options(*command, *svc);
  add_libsvm_option(*command, *svc);
  command->footer(
      "Examples:\n"
      "  mercer fit svc train.csv --target kind --C 10 --out model.mercer\n"
      "  mercer fit svc train.csv --kernel \"polynomial(2)\" --class-weight balanced --probability --out model.mercer\n"
      "  mercer fit svc genes.tsv --kernel \"spectrum(5)\" --target kind --out model.mercer\n"
      "  mercer fit svc a9a.svm --libsvm \"-c 1 -g 0.05\" --out model.mercer && mercer convert model.mercer a9a.model");

  auto nu_svc = std::make_shared<SvmCommand>();
  command = add_machine(fit, invocation, nu_svc, "nu-svc", Machine::nu_svc, "Support vector classifier with a share of margin errors");
  add_nu(*command, *nu_svc, "At most this share of rows inside the margin, at least this share support vectors (default: 0.5)");
  add_class_options(*command, *nu_svc);
  command->footer("Examples:\n  mercer fit nu-svc train.csv --target kind --nu 0.1 --out model.mercer");

  auto svr = std::make_shared<SvmCommand>();
  command = add_machine(fit, invocation, svr, "svr", Machine::svr, "Support vector regression: small errors cost nothing");
  add_C(*command, *svr, true);
  add_number(*command, "--epsilon", svr->epsilon, 0, 1e300, "a number >= 0",
             "Errors up to this cost nothing, in units of the target (default: 0.1)");
  command->footer("Examples:\n  mercer fit svr train.csv --target price --C 100 --epsilon 0.5 --out model.mercer");

  auto nu_svr = std::make_shared<SvmCommand>();
  command = add_machine(fit, invocation, nu_svr, "nu-svr", Machine::nu_svr, "Support vector regression that chooses its epsilon");
  add_C(*command, *nu_svr, false);
  add_nu(*command, *nu_svr, "At most this share of rows outside the tube (default: 0.5)");
  command->footer("Examples:\n  mercer fit nu-svr train.csv --target price --nu 0.2 --out model.mercer");

  auto one = std::make_shared<SvmCommand>();
  command = add_machine(fit, invocation, one, "one-class", Machine::one_class, "The region where rows are: outliers of new data");
  add_nu(*command, *one, "At most this share of rows is left outside (default: 0.5)");
  command->footer(
      "Every column is a feature; --target names one that is none.\n"
      "Examples:\n"
      "  mercer fit one-class normal.csv --nu 0.05 --out model.mercer\n"
      "  mercer predict model.mercer new.csv --scores     (1 inside, -1 outside)");
}

}  // namespace mercer::cli
