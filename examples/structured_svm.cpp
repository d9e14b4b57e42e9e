// Structured machines: labels of sequences against labels of single positions, and the same chain written as a problem of one's own.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <mercer/mercer.hpp>

namespace {

using mercer::Index;

struct Sequences {
  mercer::Matrix X;
  std::vector<Index> offsets{0};
  std::vector<Index> labels{};
};

// Walks round three states, seen through noise.
Sequences draw(Index count, std::uint64_t seed) {
  mercer::RandomStream random(seed);
  Sequences s;
  for (Index k = 0; k < count; ++k) {
    Index state = random.below(3);
    for (Index t = 0; t < 10; ++t) {
      s.labels.push_back(state);
      if (random.uniform() < 0.8) state = (state + 1) % 3;
    }
    s.offsets.push_back(std::ssize(s.labels));
  }
  s.X = 0.8 * random.normal_matrix(std::ssize(s.labels), 3);
  for (Index i = 0; i < s.X.rows(); ++i) s.X(i, s.labels[static_cast<std::size_t>(i)]) += 1;
  return s;
}

double accuracy(const std::vector<Index>& guess, const std::vector<Index>& truth) {
  Index right = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) right += guess[i] == truth[i];
  return static_cast<double>(right) / static_cast<double>(truth.size());
}

// Two neighbours as one output of two labels, searched by trying all nine.
class Pairs final : public mercer::StructuredProblem {
 public:
  explicit Pairs(const Sequences& s) : s_(s) {}
  Index examples() const override { return s_.X.rows() / 2; }
  Index dimension() const override { return 9 + 9; }  // scores of positions, then of pairs of labels
  mercer::StructuredOutput truth(Index i) const override { return {label(2 * i), label(2 * i + 1)}; }
  mercer::JointFeature joint_feature(Index i, const mercer::StructuredOutput& y) const override {
    mercer::JointFeature phi;
    for (Index t = 0; t < 2; ++t) {
      for (Index j = 0; j < 3; ++j) {
        phi.indices.push_back(y[static_cast<std::size_t>(t)] * 3 + j);
        phi.values.push_back(s_.X(2 * i + t, j));
      }
    }
    phi.indices.push_back(9 + y[0] * 3 + y[1]);
    phi.values.push_back(1);
    return phi;
  }
  double loss(Index i, const mercer::StructuredOutput& y) const override { return (y[0] != truth(i)[0]) + (y[1] != truth(i)[1]); }
  mercer::StructuredOutput loss_augmented_argmax(Index i, const mercer::Vector& w) const override {
    mercer::StructuredOutput best{0, 0};
    double most = -1e300;
    for (Index a = 0; a < 3; ++a) {
      for (Index b = 0; b < 3; ++b) {
        const mercer::JointFeature phi = joint_feature(i, {a, b});
        double value = loss(i, {a, b});
        for (std::size_t k = 0; k < phi.indices.size(); ++k) value += w[phi.indices[k]] * phi.values[k];
        if (value > most) {
          most = value;
          best = {a, b};
        }
      }
    }
    return best;
  }

 private:
  Index label(Index row) const { return s_.labels[static_cast<std::size_t>(row)]; }
  const Sequences& s_;
};

}  // namespace

int main() {
  const Sequences train = draw(60, 1);
  const Sequences test = draw(100, 2);

  const auto chain = mercer::fit_chain_svm(train.X, train.offsets, train.labels, {.C = 0.1});
  const auto single = mercer::fit_multiclass_svm(train.X, train.labels, {.C = 0.1});
  const double together = accuracy(chain.label_sequences(test.X, test.offsets), test.labels);
  const double alone = accuracy(single.classes(test.X), test.labels);
  std::printf("%s\nsequences %.3f, single positions %.3f\n", chain.summary().sentence.c_str(), together, alone);

  const auto own = mercer::fit_structured_svm(Pairs(train), {.C = 0.1});
  std::printf("a problem of one's own: %s\n", own.summary.sentence.c_str());
  return together > alone + 0.05 && own.summary.status == "converged" ? 0 : 1;
}
