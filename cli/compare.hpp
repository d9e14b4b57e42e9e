// What the parts of `mercer compare` share: its options, the samples as they were read, and what was found.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "judge.hpp"

namespace mercer::cli {

struct CompareOptions : JudgeOptions {
  std::vector<std::string> paths{};
  std::string by{};                    // column whose values are the samples of one file
  std::vector<std::string> columns{};  // compare these alone
  std::string to{};                    // a law: "normal"
  std::optional<MmdStatistic> statistic{};
  std::optional<MmdNull> null{};
  std::optional<Kernel> kernel{};
  std::string gram{};          // a file of kernel values in place of a kernel and columns
  std::vector<Index> sizes{};  // with it: rows of each sample, in place of files
  std::int64_t block_size = 0;
  bool fuse = false;
  std::string witness{};
  bool columns_table = false;
  bool level_check = false;
  std::int64_t level_repetitions = 0;  // 0: not given, 200
  bool power = false;
};

// The samples of one question, in the same columns: found by name in any order, scaled by all rows together.
struct SampleSet {
  std::vector<std::string> names{};  // "before.csv", "group = a"
  std::vector<Samples> samples{};
  Samples pooled{};            // one sample after the other
  Features features{};         // of the pooled rows
  Table table{};               // the pooled rows as they were read; of LIBSVM rows without columns
  ExchangeOptions exchange{};  // with the groups of the pooled rows
  std::string source{};        // "a.csv and b.csv"

  std::optional<Kernel> kernel{};  // asked for, or chosen for columns of objects, or that of a given Gram matrix

  std::vector<Index> file_rows{};  // for each pooled row its row of its file, from 0

  Index first_row(std::size_t sample) const;  // of it, in the pooled rows
  Index file_row(Index pooled_row) const { return file_rows[static_cast<std::size_t>(pooled_row)]; }
};
SampleSet read_samples(const CompareOptions& o);
// The same with kernel values from a file: rows of all samples, one after the other as the files are given, or split by a column.
SampleSet read_given_samples(const CompareOptions& o);
void add_given(CLI::App& command, CompareOptions& o);  // --gram and --sizes
void check_gram_use(const CompareOptions& o);          // what they go with

// The tables of the samples before they are put together.
struct SampleTables {
  std::vector<std::string> names{};
  std::vector<Table> tables{};
  std::vector<Index> file_rows{};  // of all tables, one after the other
};
SampleTables read_tables(const CompareOptions& o);
// The groups of the pooled rows, equal words in different files being one group.
ExchangeOptions pooled_exchange(const CompareOptions& o, const std::vector<Table>& tables);

// Where two samples differ.
struct Differences {
  std::optional<ColumnTable> columns{};
  std::optional<Witness> witness{};
};

// A shift of every column of numbers, in standard deviations, that a test of these sizes finds 8 times in 10; NaN: none up to 3.
struct Detectable {
  double shift = 0;
  double share = 0;  // of the draws in which it was found
  Index draws = 0;
};
std::optional<Detectable> detectable_shift(const SampleSet& s, const TestResult& test, const Kernel& kernel, bool at_any_cost,
                                           const Run& run);

struct Comparison : Judgement {
  Differences where{};
  std::optional<LevelCheck> level{};
  std::optional<PowerEstimate> power{};
  std::optional<Detectable> detectable{};
  std::vector<KSamplePair> pairs{};
};

// Writes and says what was found.
void finish_comparison(const CompareOptions& o, const SampleSet& s, Comparison& c, const Kernel& kernel);

// Columns of X in the units of the table.
Vector in_units(const Features& f, Index column, const Vector& values);
// The page: the witness over the one or two columns that carry the difference, the rows that tell most, the columns.
void draw_differences(TestReport& page, const SampleSet& s, const Differences& d, const Kernel& kernel, const Run& run);
void write_witness(const SampleSet& s, const Witness& w, const std::string& path, const CommonOptions& common);
std::string columns_lines(const SampleSet& s, const ColumnTable& columns);
Json columns_json(const SampleSet& s, const ColumnTable& columns);
// "Most of the difference is in columns age (62 %) and dose (21 %).", of columns that differ by themselves.
std::string columns_sentence(const SampleSet& s, const ColumnTable& columns);

}  // namespace mercer::cli
