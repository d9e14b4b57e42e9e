// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>

#include "depend.hpp"
#include "objects.hpp"

namespace mercer::cli {

namespace {

// The values of the one column, as they are drawn.
ColorColumn drawn(const Column& column) {
  if (column.is_objects()) return {};
  if (column.is_text()) return {.name = column.name, .numbers = {}, .words = column.text()};
  return {.name = column.name, .numbers = column.numbers(), .words = {}};
}

Vector codes_of(const Column& column) {
  const std::vector<Index> codes = encode_labels(column.text()).indices;
  Vector out(std::ssize(codes));
  for (std::size_t i = 0; i < codes.size(); ++i) out[static_cast<Index>(i)] = static_cast<double>(codes[i]);
  return out;
}

}  // namespace

Variable variable_of(const Table& table, const std::vector<std::string>& columns, const std::string& option,
                     const std::optional<Kernel>& kernel, const EncodeOptions& encode) {
  if (table.sparse)
    throw InvalidArgument(fmt::format("{}: rows of a LIBSVM file have no named columns{}", source_word(table.source), option));
  std::set<Index> wanted;
  Variable v;
  for (const std::string& name : columns) {
    const Index j = require_column(table, name, option);
    if (wanted.insert(j).second) v.columns.push_back(table.names[static_cast<std::size_t>(j)]);
  }
  EncodeOptions only = encode;
  only.drop.clear();
  for (Index j = 0; j < std::ssize(table.columns); ++j) {
    if (!wanted.contains(j)) only.drop.push_back(table.names[static_cast<std::size_t>(j)]);
  }
  v.name = list_words(v.columns);
  v.kernel = kernel;
  std::vector<std::string> notes;
  suit_objects(table, v.kernel, only, notes);
  v.features = features_in(table, only);
  v.features.notes.insert(v.features.notes.end(), notes.begin(), notes.end());
  if (v.features.X.size() < 4) {
    throw InvalidArgument(fmt::format("{}: has {} row{}; a test of dependence needs at least 4", source_word(table.source),
                                      v.features.X.size(), v.features.X.size() == 1 ? "" : "s"));
  }
  if (v.kernel) {
    v.kernel = resolve_columns(*v.kernel, v.features.encoder.column_names());
  } else if (v.features.words_only) {
    v.delta = v.features.encoder.features.size() == 1;
    v.kernel = v.delta ? kernels::linear() : kernels::gaussian(1.0);
  }
  if (v.columns.size() == 1 && !v.features.X.has_objects()) v.values = drawn(table.columns[static_cast<std::size_t>(*wanted.begin())]);
  return v;
}

std::vector<TestResult> baselines_of(const Variable& x, const Variable& y, double level) {
  std::vector<TestResult> tests;
  if (!x.has_columns() || !y.has_columns()) return tests;
  if (x.columns.size() != 1 || y.columns.size() != 1 || x.features.words_only != y.features.words_only) return tests;
  if (x.features.words_only) {
    const Column of_x{x.name, x.values.words, {}};
    const Column of_y{y.name, y.values.words, {}};
    tests.push_back(correlation_test(codes_of(of_x), codes_of(of_y), Correlation::chi2, level));
    return tests;
  }
  const Vector a = x.features.X.to_dense().col(0);
  const Vector b = y.features.X.to_dense().col(0);
  if (a.minCoeff() == a.maxCoeff() || b.minCoeff() == b.maxCoeff()) return tests;  // no correlation of a constant
  for (const Correlation which : {Correlation::pearson, Correlation::spearman, Correlation::kendall})
    tests.push_back(correlation_test(a, b, which, level));
  return tests;
}

void drop_remarks_on_words(TestResult& test, const std::vector<const Variable*>& variables) {
  const bool words = std::any_of(variables.begin(), variables.end(), [](const Variable* v) { return v->delta; });
  const bool linear = std::any_of(variables.begin(), variables.end(),
                                  [](const Variable* v) { return !v->delta && v->kernel && v->kernel->text() == "linear"; });
  if (!words || linear) return;
  std::erase_if(test.remarks, [](const std::string& remark) { return remark.starts_with("the kernel linear "); });
}

}  // namespace mercer::cli
