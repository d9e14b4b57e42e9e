// The options of LIBSVM's svm-train, as one text: "-s 0 -t 2 -c 10 -g 0.5".
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "files.hpp"

namespace mercer::cli {

struct LibsvmOptions {
  enum class Type : std::uint8_t { c_svc, nu_svc, one_class, epsilon_svr, nu_svr } type = Type::c_svc;
  int kernel = 2;
  int degree = 3;
  double gamma = 0;  // 0: 1 / number of columns
  double coef0 = 0;
  double C = 1;
  double nu = 0.5;
  double epsilon = 0.1;
  double tolerance = 1e-3;
  bool probability = false;
  std::vector<std::pair<std::string, double>> weights{};  // of labels, times C
  Index folds = 0;                                        // -v; 0: a model is fitted

  Kernel kernel_for(Index columns) const;
};

// Throws UsageError naming the option.
LibsvmOptions parse_libsvm_options(const std::string& text);

}  // namespace mercer::cli
