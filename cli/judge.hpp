// What `mercer compare` and `mercer depend` share: how a test is asked for, and how its result is said, printed as JSON and drawn.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

#include "explore.hpp"

namespace mercer::cli {

struct JudgeOptions {
  CommonOptions common{};
  ReadingOptions reading{};
  EncodeOptions encode{.target = {}, .no_target = true, .drop = {}, .one_hot = true, .scaling = ScalingKind::standard};
  std::int64_t permutations = 0;  // 0: not given, 1000
  double level = 0.05;
  Exchange scheme = Exchange::free;
  std::string groups{};  // column
  std::int64_t block_length = 0;
  bool aggregate = false;
  bool json_null = false;
  std::string report{};
  std::string command_line{};
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); }
};

// Reading, scaling, --level, --permutations, --seed, --report, --json and the exchanges in `schemes`.
void add_judging(CLI::App& command, JudgeOptions& o, Invocation& invocation, const std::vector<Exchange>& schemes);

// Exchanges that ask for groups must have them, and the other way round. Throws UsageError.
void check_exchange(const JudgeOptions& o);
// The exchanges, their groups read from the column; of a table whose rows are those of the test.
ExchangeOptions exchange_of(const JudgeOptions& o, const Table& table);

// Columns as numbers: numbers scaled as asked, words as 0/1 columns of their own, never scaled: two rows with different words are as far
// apart as two rows whose number differs by 1.4 standard deviations.
struct Features {
  Samples X;
  Encoder encoder;
  std::vector<std::string> names{};  // of the columns of X
  std::vector<std::string> notes{};
  bool words_only = false;  // made of text columns alone
};
Features features_in(const Table& table, const EncodeOptions& options);

// "p = 0.0123", "p < 1e-300".
std::string p_word(double p);
// A first letter as a sentence has it, and its full stop.
std::string as_sentence(std::string words);

// What both commands answer with.
struct Judgement {
  TestResult test{};
  std::string verdict{};                                     // sentences for people
  std::vector<std::string> kernel_owners{};                  // names, where each has a kernel of its own
  std::vector<KernelVerdict> kernels{};                      // of a test with many
  std::vector<std::string> notes{};                          // how the data were read
  std::vector<std::pair<std::string, std::string>> facts{};  // further ones, beside the statistic
  std::vector<std::string> lines{};                          // of tables and further sentences, for the terminal
  std::vector<std::pair<std::string, std::string>> files{};  // written, by key
};

Json judgement_json(const Judgement& j, const JudgeOptions& o);
void say_judgement(const Judgement& j, const Speaker& speaker);
// The parts of the page that all tests have.
TestReport page_of(const Judgement& j, const JudgeOptions& o, const std::string& title, const std::string& source);
void write_page(const TestReport& page, const std::string& path);

// The kernels of an aggregated test as a table, those that reject first.
std::string kernels_table(const std::vector<KernelVerdict>& kernels);

}  // namespace mercer::cli
