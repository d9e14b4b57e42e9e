// The regularisation path of `mercer fit krr`: its options, and the fit that chooses among kernels and alphas.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "fit.hpp"

namespace mercer::cli {

struct KrrPathOptions {
  std::vector<double> alphas{};   // empty: automatic
  std::vector<Kernel> kernels{};  // empty: the one of --kernel
  bool given = false;             // some option of the path was
  bool leave_one_out = false;
  std::int64_t folds = 0;
  PathCriterion criterion = PathCriterion::leave_one_out;
  std::optional<bool> intervals{};
};

void add_path(CLI::App& command, FitOptions& shared, KrrPathOptions& path, const std::shared_ptr<const KernelLibrary>& tables);

// Words that do not go together are a UsageError.
void check_path(const KrrPathOptions& path);

// `kernel` is the one candidate where --kernels gives none.
Fitted fit_krr_path(const FitOptions& shared, const Kernel& kernel, bool intercept, const KrrPathOptions& path, const Training& t);

Json summary_json(const SolveSummary& s);

}  // namespace mercer::cli
