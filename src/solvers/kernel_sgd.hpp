// Stochastic gradient descent for lambda/2 |w|^2 + mean hinge in the span of samples known by their Gram matrix.
//
// Method: source G, section 3, in blocks of steps. F = K beta is kept for all samples; within a block the scores of its samples follow its
// own Gram matrix, and the block's change of beta goes to F by one product. The average of beta_t / (lambda t) needs no vector operations:
// an update in step t stays in the iterates t+1 .. T, so it adds y (H_T - H_t) / (lambda T), H the harmonic numbers.
// Reference: Shalev-Shwartz and others, Pegasos, 2011; budgets: Wang, Crammer, Vucetic 2012. Cost: a column of K per update; with a budget
// B kernel values a step. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mercer/matrix.hpp"
#include "mercer/random.hpp"
#include "mercer/run.hpp"

namespace mercer::solvers {

// What is asked of the Gram matrix over the samples that may be drawn.
class SgdGram {
 public:
  virtual ~SgdGram() = default;
  virtual Index size() const = 0;
  virtual Index block_steps() const = 0;                                                     // steps that share a block
  virtual Matrix block(std::span<const Index> I, std::span<const Index> J) const = 0;        // K(I, J)
  virtual void add_columns(std::span<const Index> D, const Matrix& V, Matrix& F) const = 0;  // F += V' K(D, :)
};

// Draws with replacement, uniform or in proportion to weights. The same seed gives the same draws.
class DrawSequence {
 public:
  DrawSequence(Index samples, const Vector& weights, std::uint64_t seed);
  Index next();

 private:
  Index samples_;
  std::vector<double> sums_{};  // of the weights; empty: uniform
  RandomStream random_;
};

struct SgdProblem {
  std::vector<Index> labels{};  // of the samples of the Gram matrix
  Index functions = 1;          // 1: label 1 against the others; else label c against the others for each c
  double lambda = 1;
  Index iterations = 1;
  bool average = true;
  Index budget = 0;

  double sign(Index function, Index sample) const {
    return labels[static_cast<std::size_t>(sample)] == (functions == 1 ? 1 : function) ? 1 : -1;
  }
};

struct SgdSolution {
  Matrix coef;  // samples x functions
  Index updates = 0;
  Index removals = 0;
};

// `local` turns a draw into a sample of the Gram matrix.
SgdSolution kernel_sgd(const SgdGram& gram, const SgdProblem& problem, DrawSequence draws, const std::vector<Index>& local, Stage& stage);

// H_T.
long double harmonic_number(Index T);

}  // namespace mercer::solvers
