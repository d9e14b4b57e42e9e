// mercer compare --gram: samples known by the Gram matrix of all their rows.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/ranges.h>

#include <cmath>
#include <numeric>

#include "compare.hpp"
#include "given_gram.hpp"

namespace mercer::cli {

namespace {

// Samples that are so many rows each, one after the other.
SampleTables parts_of_sizes(const std::vector<Index>& sizes) {
  SampleTables parts;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    parts.names.push_back(fmt::format("sample {}", k + 1));
    Table table;
    table.has_header = true;
    table.names = {"row"};
    std::vector<double> rows(static_cast<std::size_t>(sizes[k]));
    std::iota(rows.begin(), rows.end(),
              static_cast<double>(std::accumulate(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(k), Index{1})));
    table.columns.push_back({"row", std::move(rows), {}});
    parts.tables.push_back(std::move(table));
  }
  for (Index i = 0; i < std::accumulate(sizes.begin(), sizes.end(), Index{0}); ++i) parts.file_rows.push_back(i);
  return parts;
}

}  // namespace

void add_given(CLI::App& command, CompareOptions& o) {
  add_gram_file(command, o.gram, "Kernel values of all rows in place of a kernel: a square matrix, .npy or .csv without names");
  command
      .add_option_function<std::string>(
          "--sizes",
          [&o](const std::string& text) {
            for (const std::string& word : CLI::detail::split(text, ',')) {
              const std::optional<double> number = parse_number(word);
              if (!number || *number != std::floor(*number) || *number < 2 || *number > 1e9)
                throw CLI::ValidationError("--sizes", "must be two whole numbers >= 2 or more, like 30,40, got " + text);
              o.sizes.push_back(static_cast<Index>(*number));
            }
            if (o.sizes.size() < 2)
              throw CLI::ValidationError("--sizes", "must be two whole numbers >= 2 or more, like 30,40, got " + text);
          },
          "With --gram and no DATA: the rows of each sample, one after the other")
      ->type_name("N,M,..");
}

void check_gram_use(const CompareOptions& o) {
  if (!o.sizes.empty() && o.gram.empty()) throw UsageError("--sizes is for --gram: it splits the rows of the matrix into samples");
  if (o.kernel && o.kernel->needs_given_gram()) throw UsageError("--kernel precomputed: a given Gram matrix comes as a file: --gram K.npy");
  if (o.gram.empty()) return;
  if (!o.to.empty()) throw UsageError("--to compares columns with a law; --gram has kernel values");
  if (!o.columns.empty()) throw UsageError("--columns names columns; --gram has kernel values in place of them");
  if (!o.sizes.empty() && (!o.paths.empty() || !o.by.empty()))
    throw UsageError("--sizes splits the rows of --gram by itself; leave out DATA and --by, or --sizes");
  if (o.sizes.empty() && o.paths.empty())
    throw UsageError(
        "--gram has the kernel values of all rows; say which sample each is of: --sizes N,M, or DATA with --by COL, or the files");
}

SampleSet read_given_samples(const CompareOptions& o) {
  SampleTables parts = o.sizes.empty() ? read_tables(o) : parts_of_sizes(o.sizes);
  const Samples all = read_gram(o.gram, nullptr, o.common);
  SampleSet s;
  std::vector<Index> sizes;
  for (const Table& table : parts.tables) sizes.push_back(table.rows());
  const Index rows = std::accumulate(sizes.begin(), sizes.end(), Index{0});
  if (rows != all.size()) {
    throw InvalidArgument(fmt::format("{}: is the Gram matrix of {} objects, and the samples have {} rows together ({})",
                                      source_word(o.gram), all.size(), rows,
                                      o.sizes.empty() ? list_words(parts.names) : fmt::format("--sizes {}", fmt::join(o.sizes, ","))));
  }
  s.exchange = pooled_exchange(o, parts.tables);
  // Split by a column, the rows of the matrix are in the order of the file; files follow each other.
  s.pooled = o.by.empty() ? all : all.subset(parts.file_rows);
  s.kernel = kernels::precomputed();
  s.samples = consecutive_parts(s.pooled, sizes);
  s.features.X = s.pooled;
  s.features.notes.push_back(fmt::format("The kernel values are those of {}; columns of DATA are not compared.", source_word(o.gram)));
  s.names = std::move(parts.names);
  s.file_rows = std::move(parts.file_rows);
  s.source = o.by.empty() ? list_words(s.names) : fmt::format("{} by {}", source_word(o.paths.front()), o.by);
  return s;
}

}  // namespace mercer::cli
