// SPDX-License-Identifier: BSD-3-Clause
#include <mercer/gram.hpp>
#include <mercer/table.hpp>

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

}  // namespace

int main() {
  mercer::Matrix X;
  mercer::Matrix V;
  mercer::Matrix out;
  bench::serve(
      [&](const auto& files) {
        X = load(files.at(0));
        V = load(files.at(1));
      },
      [&] { out = mercer::gram_operator(mercer::kernels::gaussian(3.0), X, {.storage = mercer::Storage::streamed})->apply(V); },
      [&] {
        std::vector<double> picked;
        for (mercer::Index i = 0; i < out.rows(); i += 97) {
          for (mercer::Index j = 0; j < out.cols(); ++j) picked.push_back(out(i, j));
        }
        return picked;
      });
}
