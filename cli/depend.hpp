// What the parts of `mercer depend` share: its options and the variables as they were read.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "judge.hpp"

namespace mercer::cli {

struct DependOptions : JudgeOptions {
  std::vector<std::string> x{};
  std::vector<std::string> y{};
  std::vector<std::string> z{};
  std::vector<std::string> joint{};
  bool all = false;
  std::optional<IndependenceNull> null{};
  ConditionalMethod method = ConditionalMethod::automatic;
  std::optional<Kernel> kernel_x{};
  std::optional<Kernel> kernel_y{};
  std::optional<Kernel> kernel_z{};
  std::string gram_x{};  // files of kernel values in place of columns and kernels
  std::string gram_y{};
  std::string gram_z{};

  bool given() const { return !gram_x.empty() || !gram_y.empty() || !gram_z.empty(); }
};

// One variable: some columns of the table together.
struct Variable {
  std::string name{};  // "age", "age and dose"
  std::vector<std::string> columns{};
  Features features{};
  std::optional<Kernel> kernel{};  // given, or that of words; else the test has one
  bool delta = false;              // one column of words: 1 for equal words, else 0
  ColorColumn values{};            // of a variable of one column; else empty

  bool has_columns() const { return !features.X.has_objects() && !features.X.is_given(); }
};

// The columns of an option (" for --x") as a variable, with the kernel given or the one that suits it.
Variable variable_of(const Table& table, const std::vector<std::string>& columns, const std::string& option,
                     const std::optional<Kernel>& kernel, const EncodeOptions& encode);

// The tests that people know, beside HSIC: of two columns of numbers Pearson, Spearman and Kendall, of two of words chi squared.
std::vector<TestResult> baselines_of(const Variable& x, const Variable& y, double level);

// Of the kernel of words, which the library knows as linear: it sees every dependence of words.
void drop_remarks_on_words(TestResult& test, const std::vector<const Variable*>& variables);

// A test and what it was of.
struct Dependence : Judgement {
  std::vector<Variable> variables{};  // x and y, then z; or all of a joint test
  std::vector<TestResult> baselines{};
  double correlation = std::nan("");  // of the kernels, in [0, 1]
};
// Says, prints and draws it.
void finish_dependence(const DependOptions& o, Dependence& d);

// All pairs of columns.
void depend_all(const DependOptions& o, const Table& table);

}  // namespace mercer::cli
