// What the models of `mercer fit` share: their options, the reading of training data, and the run from data to a saved model.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "files.hpp"

namespace mercer::cli {

// Options of every model. A model's own options derive from it.
struct FitOptions {
  CommonOptions common{};
  ReadingOptions reading{};
  EncodeOptions encode{.target = {}, .drop = {}, .scaling = ScalingKind::standard};
  std::string weights{};
  std::string groups{};                    // column of groups that folds keep together, or of sequences; other models leave it alone
  std::string groups_option = "--groups";  // that named it, for messages
  std::string out{};
  std::optional<Kernel> kernel{};     // models without one leave it alone
  std::optional<Kernel> looked_at{};  // with several candidates: their sum, which says what columns of objects they look at
  std::string gram{};                 // a file of kernel values in place of a kernel and columns
};

// The penalty and the intercept of a ridge problem.
struct PenaltyOptions {
  double alpha = 1;
  double lambda = -1;
  std::optional<bool> intercept{};
  bool alpha_is_given = false;

  // What the user said, as alpha for n rows; empty: nothing was said.
  std::optional<double> given_alpha(Index n) const {
    if (lambda >= 0) return lambda * static_cast<double>(n);
    return alpha_is_given ? std::optional<double>(alpha) : std::nullopt;
  }
  std::optional<double> given_lambda() const { return lambda >= 0 ? std::optional<double>(lambda) : std::nullopt; }
};

struct Training {
  Dataset data;
  Matrix targets;  // y; for two classes one column of -1 and +1, for more one such column each
  Vector weights;
  std::vector<Index> groups{};     // of each row, when a column of groups was named
  std::optional<Kernel> kernel{};  // asked for, or chosen for columns of objects, or that of a given Gram matrix
};

// Reads and encodes, says what was chosen.
Training prepare(const FitOptions& o, const Speaker& speaker);
// The weight of the rows of each class.
Vector class_masses(const Training& t);
// What makes all classes weigh alike: n / (classes * rows of the class).
Vector balanced_weights(const Training& t);

struct Fitted {
  AnyModel model;
  Json json;  // what is special about this kind of model
  std::string sentence;
};

void add_shared(CLI::App& command, FitOptions& o);
// --kernel with its tables, and --gram in place of it.
CLI::Option* add_fit_kernel(CLI::App& command, FitOptions& o, const std::string& words,
                            const std::shared_ptr<const KernelLibrary>& tables = nullptr);
void add_penalty(CLI::App& command, PenaltyOptions& o);
void add_intercept(CLI::App& command, std::optional<bool>& intercept);
CLI::Option* add_precision(CLI::App& command, std::optional<Precision>& precision);

// The whole job: reads, fits, measures on the training rows, saves, reports.
void run_fit(const FitOptions& o, const std::function<Fitted(const Training&)>& fit);

// The kernel of the training (or `standard`), with column names turned into positions.
Kernel kernel_for(const Training& t, const Kernel& standard);

// One line per model: each adds its command to `mercer fit`.
void add_fit_falkon(CLI::App& fit, Invocation& invocation);
void add_fit_krr(CLI::App& fit, Invocation& invocation);
void add_fit_gp(CLI::App& fit, Invocation& invocation);
void add_fit_ridge(CLI::App& fit, Invocation& invocation);
void add_fit_rff(CLI::App& fit, Invocation& invocation);
void add_fit_logistic(CLI::App& fit, Invocation& invocation);
void add_fit_representer(CLI::App& fit, Invocation& invocation);
void add_fit_sgd_svm(CLI::App& fit, Invocation& invocation);
void add_fit_mean(CLI::App& fit, Invocation& invocation);
void add_fit_svm(CLI::App& fit, Invocation& invocation);
void add_fit_linear_svc(CLI::App& fit, Invocation& invocation);
void add_fit_structured(CLI::App& fit, Invocation& invocation);

}  // namespace mercer::cli
