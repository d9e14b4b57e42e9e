// Two samples of three columns: how far apart they are, where they differ, and which column carries it.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <mercer/mercer.hpp>

int main() {
  mercer::RandomStream random(1);
  const mercer::Matrix X = random.normal_matrix(250, 3);
  mercer::Matrix Y = random.normal_matrix(200, 3);
  Y.col(2) *= 2.5;  // the same means, another spread

  const mercer::RkhsFunction mu = mercer::mean_embedding(X);
  std::printf("%s\n", mercer::embedding_bound(mu).sentence.c_str());
  const mercer::Witness w = mercer::witness(X, Y);
  std::printf("distance of the embeddings: %.4f\n", w.distance());
  for (const mercer::TellingPoint& p : w.telling_points(3).more_y)
    std::printf("typical of Y: row %td of %s, witness %.4f\n", p.row, p.from_x ? "X" : "Y", p.value);
  const mercer::ColumnTable table = mercer::witness_columns(X, Y);
  std::printf("%s\n", table.sentence.c_str());
  for (const mercer::WitnessColumn& c : table.columns)
    std::printf("column %td: mmd-u %.5f, p %.3f, share %.0f %%\n", c.column, c.squared, c.adjusted, 100 * c.share);
  return table.ranked()[0] == 2 ? 0 : 1;
}
