// One row at a time through a fitted classifier, from C++.
// SPDX-License-Identifier: BSD-3-Clause
#include <mercer/svm.hpp>
#include <mercer/table.hpp>

#include <numeric>
#include <optional>

#include "../competitor.hpp"

namespace {

mercer::Matrix load(const std::string& file) {
  const mercer::Table table = mercer::read_table(file);
  mercer::Matrix out(table.rows(), static_cast<mercer::Index>(table.columns.size()));
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    for (mercer::Index i = 0; i < out.rows(); ++i)
      out(i, static_cast<mercer::Index>(j)) = table.columns[j].numbers()[static_cast<std::size_t>(i)];
  }
  return out;
}

constexpr mercer::Index training_rows = 6000;
constexpr mercer::Index new_rows = 1000;

}  // namespace

int main() {
  mercer::Matrix X;
  std::optional<mercer::SvcModel> model;
  std::vector<double> out(new_rows);
  bench::serve(
      [&](const auto& files) {
        X = load(files.at(0));
        const mercer::Matrix y = load(files.at(1));
        std::vector<mercer::Index> labels;
        for (mercer::Index i = 0; i < training_rows; ++i) labels.push_back(y(i, 0) > 0 ? 1 : 0);
        model = mercer::fit_svc(mercer::Matrix(X.topRows(training_rows)), labels, {.kernel = mercer::kernels::gaussian(5.0), .C = 1});
      },
      [&] {
        for (mercer::Index i = 0; i < new_rows; ++i) {
          const std::span<const double> row(X.data() + (training_rows + i) * X.cols(), static_cast<std::size_t>(X.cols()));
          double value = 0;
          model->decision_row(row, {&value, 1});
          out[static_cast<std::size_t>(i)] = value > 0 ? 1 : 0;
        }
      },
      [&] {
        return std::vector<double>{1.0, std::accumulate(out.begin(), out.end(), 0.0) / new_rows};
      });
}
