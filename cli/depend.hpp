// What the parts of `mercer depend` share: its options and the variables as they were read.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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
};

// One variable: some columns of the table together.
struct Variable {
  std::string name{};  // "age", "age and dose"
  std::vector<std::string> columns{};
  Features features{};
  std::optional<Kernel> kernel{};  // given, or that of words; else the test has one
  bool delta = false;              // one column of words: 1 for equal words, else 0
  ColorColumn values{};            // of a variable of one column; else empty

  bool single_number() const { return columns.size() == 1 && !features.words_only; }
};

// The columns of an option (" for --x") as a variable, with the kernel given or the one that suits it.
Variable variable_of(const Table& table, const std::vector<std::string>& columns, const std::string& option,
                     const std::optional<Kernel>& kernel, const EncodeOptions& encode);

// The tests that people know, beside HSIC: of two columns of numbers Pearson, Spearman and Kendall, of two of words chi squared.
std::vector<TestResult> baselines_of(const Variable& x, const Variable& y, double level);

// Of the kernel of words, which the library knows as linear: it sees every dependence of words.
void drop_remarks_on_words(TestResult& test, const std::vector<const Variable*>& variables);

// All pairs of columns.
void depend_all(const DependOptions& o, const Table& table);

}  // namespace mercer::cli
