// From a data set to a tuned, evaluated model: chooses length scale and alpha of kernel ridge by K-fold cross-validation, measures
// the choice on rows held out, refits.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mercer/dataset.hpp"
#include "mercer/model_file.hpp"

namespace mercer {

// How `learn` treats columns unless told otherwise: text becomes 0/1 columns, numbers are standardised.
EncodeOptions learn_encoding();

struct LearnOptions {
  EncodeOptions encode = learn_encoding();
  std::optional<Kernel> kernel{};  // given: only alpha is chosen
  std::string model = "auto";      // "krr" or "ridge"; "auto" takes the better one, or krr when a kernel is given
  double holdout = 0.3;            // fraction set aside for the final measurement, when no test table is given
  Index folds = 5;
  std::uint64_t seed = 0;
  double budget_seconds = 120;  // no new candidate is started after this
  Run run{};
};

struct Candidate {
  std::string model{};  // "krr", "ridge", "baseline"
  std::string kernel{};
  double alpha = 0;
  double score = 0;      // mean over folds: RMSE (regression) or accuracy
  double deviation = 0;  // over folds
};

struct Evaluation {
  Index n = 0;
  double rmse = 0, r2 = 0, mae = 0;                // regression
  double accuracy = 0, precision = 0, recall = 0;  // classification; precision and recall of the last of two classes, else macro
  double ci_low = 0, ci_high = 0;                  // 95 %: of accuracy (Wilson) or of RMSE (bootstrap)
};

struct LearnResult {
  SavedModel model;
  Evaluation test{};
  Evaluation baseline{};                // the training mean, or the most frequent class
  Evaluation linear{};                  // ridge on the same split
  std::vector<Candidate> candidates{};  // all that were tried, best first
  std::vector<std::string> notes{};
  Matrix test_truth_and_predicted{};  // n x 2, for plots
  Eigen::MatrixXi confusion{};        // classification; rows: truth, columns: predicted
  Matrix curve{};                     // one feature, regression: a grid of x and the prediction there, in the units of the data; else empty
  Matrix curve_points{};              // with `curve`: training x and y in the units of the data, at most some thousand rows
  std::string verdict{};              // two or three sentences
  Index n_train = 0;                  // rows set aside for training
  Index n_search = 0;                 // those of them that the candidates were compared on
  Index folds = 0;
  std::uint64_t seed = 0;
  double holdout = 0;  // fraction set aside; 0: a test table was given
  double seconds = 0;
  std::size_t peak_bytes = 0;  // of this process
};

LearnResult learn(const Table& data, const LearnOptions& options = {});
LearnResult learn(const Table& data, const Table& test, const LearnOptions& options = {});

}  // namespace mercer
