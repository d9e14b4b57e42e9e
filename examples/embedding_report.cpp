// Two rings, pulled apart by kernel PCA, as a page with a picture.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  const mercer::Dataset data = mercer::make_dataset(mercer::simulate::builtin("circles"));
  const auto model = mercer::fit_kernel_pca(data.X, {.kernel = mercer::kernels::gaussian(0.5), .n_components = 2});
  mercer::EmbeddingReport page{.method = "Kernel PCA", .source = "two rings"};
  page.verdict = model.summary().sentence;
  page.scores = model.transform(data.X);
  page.explained = model.explained_variance_ratio();
  page.color.name = "ring";
  for (const double ring : data.y) page.color.words.push_back(ring == 0 ? "first" : "second");
  const std::string html = mercer::embedding_report(page);
  std::printf("two components have %.0f %% of the variance; page: %zu bytes\n", 100 * page.explained.sum(), html.size());
  return html.find("coloured by ring") != std::string::npos ? 0 : 1;
}
