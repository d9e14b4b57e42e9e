// Support vector machines for outputs with parts: a class, a label for every position of a sequence, an order of labels, or whatever a user
// can search for a best output. With joint features phi(x, y) and a loss L(y_i, y) between the true output and another:
//
//   min over w of |w|^2 / 2 + C sum_i max over y of [ L(y_i, y) - <w, phi(x_i, y_i)> + <w, phi(x_i, y)> ]
//
//   auto model = fit_multiclass_svm(X, labels, {.kernel = kernels::gaussian(2.0), .C = 10});   // Crammer and Singer's machine
//   auto model = fit_chain_svm(X, offsets, labels);                // sequences one after the other
//   auto model = fit_ranking_svm(X, ranks);                        // ranks(i, l): the place of label l for sample i, 0 the best
//   auto fit = fit_structured_svm(problem);                        // a StructuredProblem of the user's
//
// C = 1 / (2 n lambda) in source K's scaling (mean loss + lambda |w|^2); Frank-Wolfe papers write lambda_FW = 1 / (n C). The prediction is
// argmax over y of <w, phi(x, y)>. The shipped instances, with x continued by a constant 1 when there is an intercept (which |w|^2
// contains):
//   multi-class   <w, phi> = w_y.x                                                          loss 1 for a wrong class
//   chain         sum_t (w_{y_t}.x_t) + sum_t T(y_t, y_t+1) + S(y_1) + E(y_last)            loss: how many positions are wrong
//   ranking       sum_l v(r_l) w_l.x,  v(p) = 1 - 2 p / (L - 1) for places p = 0 .. L-1     loss (1 - Spearman's rho) / 2, in [0, 1]
// The last is, up to the factor 1 / (L - 1), the sum of w_a.x - w_b.x over all pairs with a before b, so the best order sorts w_l.x. Its
// loss-augmented search is exact by sorting too: sum_l (p_l - r_l)^2 is a constant minus 2 sum_l p_l r_l, linear in the places as v is.
// Method: block-coordinate Frank-Wolfe with a certified duality gap (src/solvers/frank_wolfe.hpp). Multi-class with any kernel but `linear`
// keeps one coefficient per sample and class and the scores of all samples. Cost of a pass: n calls of the search (K d for K classes; t L^2
// for a chain of t positions; L log L for a ranking) and, with a kernel, n K for each sample whose coefficients change. References:
// Crammer, Singer 2001; Tsochantaridis, Joachims, Hofmann, Altun 2005; Lacoste-Julien, Jaggi, Schmidt, Pletscher 2013.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

struct StructuredSvmOptions {
  Kernel kernel = kernels::linear();  // of a multi-class machine; the others are linear
  double C = 1;                       // > 0
  std::optional<double> lambda{};     // mean loss + lambda |w|^2, that is C = 1 / (2 lambda sum of sample_weight); overrides C
  bool fit_intercept = true;          // of the shipped instances: a constant column of ones
  Vector sample_weight{};             // one per example, multiplies C; empty: all 1
  double tolerance = 1e-3;            // on the duality gap, relative to the objective
  Index max_passes = 1000;            // over the examples with the search
  std::uint64_t seed = 0;             // of the order in which a pass visits the examples
  Run run{};
};

struct StructuredSvmSummary {
  std::string status{};  // "converged" or "iteration limit"
  Index passes = 0;
  Index searches = 0;    // calls of the loss-augmented argmax
  double objective = 0;  // recomputed at the end, as the two below are
  double dual = 0;
  double gap = 0;  // objective - dual
  double relative_gap = 0;
  Index planes = 0;           // pairs of an example and a wrong output with a positive coefficient
  Index support_vectors = 0;  // samples with a coefficient, of a machine with a kernel
  Index missed = 0;           // searches that returned less than an output already known: the gap is then no bound
  double seconds = 0;
  std::size_t bytes = 0;
  std::string sentence{};
};

// --- A problem of the user's ---

// phi or a difference of two: indices in any order, no index twice.
struct JointFeature {
  std::vector<Index> indices{};
  std::vector<double> values{};
};

using StructuredOutput = std::vector<Index>;

class StructuredProblem {
 public:
  virtual ~StructuredProblem() = default;

  virtual Index examples() const = 0;
  virtual Index dimension() const = 0;  // of w
  virtual StructuredOutput truth(Index example) const = 0;
  virtual JointFeature joint_feature(Index example, const StructuredOutput& y) const = 0;
  virtual double loss(Index example, const StructuredOutput& y) const = 0;  // >= 0, and 0 for the truth
  // argmax over y of loss(y) + <w, phi(y)>. A search that is not exact still gives a model; the summary tells when that was seen.
  virtual StructuredOutput loss_augmented_argmax(Index example, const Vector& w) const = 0;
  virtual bool parallel() const { return true; }  // the above may be called from several threads at once
};

struct StructuredFit {
  Vector weights;
  StructuredSvmSummary summary{};
};

// `kernel` and `fit_intercept` are not looked at.
StructuredFit fit_structured_svm(const StructuredProblem& problem, const StructuredSvmOptions& options = {});

// The same by less: a problem that gives phi(truth) - phi(y) and loss(y) of its loss-augmented argmax y at once.
struct StructuredAnswer {
  JointFeature difference{};
  double loss = 0;
};
class StructuredOracle {
 public:
  virtual ~StructuredOracle() = default;
  virtual Index examples() const = 0;
  virtual Index dimension() const = 0;
  virtual StructuredAnswer worst(Index example, const Vector& w) const = 0;
  virtual bool parallel() const { return true; }
};
StructuredFit fit_structured_svm(const StructuredOracle& oracle, const StructuredSvmOptions& options = {});

// --- The shipped instances ---

enum class StructuredForm : std::uint8_t { multiclass, chain, ranking };
const char* name_of(StructuredForm form);

class StructuredSvmModel {
 public:
  // One column per label: w_l.x + b_l of each row. Of a chain it is what one position says for itself, without its neighbours.
  Matrix decision(const Samples& X, const Run& run = {}) const;
  Matrix predict(const Samples& X, const Run& run = {}) const { return decision(X, run); }  // as models in files have it
  // The label of each row; of a chain the rows are one sequence.
  std::vector<Index> classes(const Samples& X, const Run& run = {}) const;
  // Of a chain: the labels of sequences that lie one after the other, rows offsets[s] .. offsets[s + 1] - 1 being those of sequence s.
  std::vector<Index> label_sequences(const Samples& X, const std::vector<Index>& offsets, const Run& run = {}) const;
  // Of a ranking: the place of each label (column) for each row, 0 the best; of labels with equal scores the first is before the others.
  RowMatrix<Index> ranks(const Samples& X, const Run& run = {}) const;

  // What a model is made of. Linear: coef has one row per label and one column per feature. With another kernel: one row per support
  // vector, one column per label.
  struct Parts {
    StructuredForm form = StructuredForm::multiclass;
    Kernel kernel = kernels::linear();
    Samples samples{};             // support vectors; empty: linear
    std::vector<Index> support{};  // which training samples they are
    Matrix coef{};
    Vector intercept{};
    Matrix transition{};  // chain: T(a, b) for label a before label b
    Vector start{};       // chain: S
    Vector end{};         // chain: E
    double C = 1;
    std::string sequence_column{};  // chain: the column of a table that tells sequences apart; empty: not known
  };

  StructuredForm form() const { return parts_.form; }
  const Parts& parts() const { return parts_; }
  const Kernel& kernel() const { return parts_.kernel; }
  const Samples& samples() const { return parts_.samples; }
  const Vector& intercept() const { return parts_.intercept; }
  bool is_linear() const { return parts_.samples.empty(); }
  Index n_features() const { return is_linear() ? parts_.coef.cols() : parts_.samples.width(); }
  Index n_targets() const { return parts_.intercept.size(); }
  const StructuredSvmSummary& summary() const { return summary_; }
  StructuredSvmModel with_sequence_column(std::string name) const;

  static StructuredSvmModel from_parts(Parts parts, StructuredSvmSummary summary);

 private:
  StructuredSvmModel() = default;
  Parts parts_{};
  StructuredSvmSummary summary_{};
};

// labels: class indices 0 .. k-1, each present with positive weight (encode_labels makes them).
StructuredSvmModel fit_multiclass_svm(const Samples& X, const std::vector<Index>& labels, const StructuredSvmOptions& options = {});

// Positions are rows; rows offsets[s] .. offsets[s + 1] - 1 are those of sequence s. labels: one per row, 0 .. k-1, each present.
StructuredSvmModel fit_chain_svm(const Samples& X, const std::vector<Index>& offsets, const std::vector<Index>& labels,
                                 const StructuredSvmOptions& options = {});

// ranks: a permutation of 0 .. L-1 in each row, the place of each label.
StructuredSvmModel fit_ranking_svm(const Samples& X, const RowMatrix<Index>& ranks, const StructuredSvmOptions& options = {});

}  // namespace mercer
