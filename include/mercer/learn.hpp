// From a data set to a tuned, measured model: the main job, `mercer learn`.
//
//   auto result = learn(read_table("houses.csv"), {.encode = {...}, .budget_seconds = 60});
//   save_model(result.model, "houses.mercer");
//
// Method: a part of the rows is set aside. Candidates are compared on the rest, cheap ones first: inside a family by what is cheapest and
// exact (leave-one-out for kernel ridge, one Gram matrix for all folds and penalties of support vector machines, the evidence for Gaussian
// processes), between families on the same folds. The winner is fitted to all training rows, on landmarks (Falkon) where an exact fit
// would not end within the budget, and measured once on the part set aside. A linear model and the naive answer are always beside it.
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
  std::optional<Kernel> kernel{};  // given: only the penalty is chosen
  std::string model = "auto";      // or a word of `mercer fit`: "ridge", "krr", "gp", "svr", "svc", "linear-svc", "logistic", "falkon", ...
  double holdout = 0.3;            // fraction set aside for the final measurement, when no test table is given
  std::string groups{};            // a column: rows that share its value stay on one side of every split; not a feature
  bool time_ordered = false;       // rows are in the order of time: the last ones are the test part, folds look ahead only
  double precision = 0;            // > 0: choose the operating point, inside the training folds, that reaches this precision
  bool explain = false;            // permutation importance and influential rows
  Index folds = 5;
  Index search_rows = 5000;  // candidates are compared on at most so many training rows
  std::uint64_t seed = 0;
  double budget_seconds = 120;  // no new candidate is started after this
  Run run{};
};

struct Candidate {
  std::string model{};      // the word of `mercer fit`; "baseline"
  std::string kernel{};     // empty: the model works on the columns themselves
  std::string penalty{};    // the name of the parameter: "alpha", "C", "lambda", "noise"; empty: none
  double value = 0;         // of it
  double epsilon = 0;       // svr
  double score = 0;         // mean over folds: RMSE (regression) or accuracy; NaN: abandoned, it could not win any more
  double deviation = 0;     // over folds
  std::string judged_by{};  // "5 folds", "leave-one-out", "evidence", "200 rows set aside"
  bool reference = false;   // tried to compare with, not to be chosen
};

struct Evaluation {
  Index n = 0;
  double rmse = 0, r2 = 0, mae = 0;                // regression
  double accuracy = 0, precision = 0, recall = 0;  // classification; precision and recall of the last of two classes, else macro
  double ci_low = 0, ci_high = 0;                  // 95 %: of accuracy (Wilson) or of RMSE (bootstrap)
};

// A column of the table as it was read.
struct ColumnSummary {
  std::string name{};
  std::string kind{};  // "number", "text", "string", "set", "graph"
  Index missing = 0;
  Index distinct = 0;                                      // text
  std::string most_frequent{};                             // text
  double mean = 0, deviation = 0, least = 0, largest = 0;  // number
};

// How much worse the model is on the test rows when one column of the table is shuffled: RMSE gained, or accuracy lost.
struct ColumnImportance {
  std::string column{};
  double mean = 0;       // over shuffles
  double deviation = 0;  // over shuffles
};

// A training row that the model leans on.
struct InfluentialRow {
  std::int64_t line = 0;  // of the file; 0: not known
  std::string target{};   // its label or number
  double weight = 0;      // its coefficient
  double influence = 0;   // mean |weight k(x, .)| over the test rows, as a share of all rows' sum
};

// Rows sorted by a score of the positive class, best first: what one gets by saying "yes" down to a threshold.
struct ThresholdCurve {
  Vector threshold{};
  Vector precision{}, recall{};  // recall is also the true positive rate
  Vector false_positive_rate{};
  double area_roc = 0, average_precision = 0;
};

// The threshold that was chosen in the training folds to reach a precision.
struct OperatingPoint {
  double wanted = 0;                               // precision asked for
  double threshold = 0;                            // of the model's score of the positive class
  double fold_precision = 0, fold_recall = 0;      // out of fold, training rows
  double precision = 0, recall = 0, accuracy = 0;  // on the test rows
  double precision_low = 0, precision_high = 0;    // 95 %, Wilson
};

struct StageTime {
  std::string stage{};
  double seconds = 0;
};

struct LearnResult {
  SavedModel model;
  Evaluation test{};
  Evaluation baseline{};                // the training mean, or the most frequent class
  Evaluation linear{};                  // the best linear model on the same split
  std::vector<Candidate> candidates{};  // all that were tried, best first
  std::vector<std::string> notes{};
  std::vector<ColumnSummary> columns{};
  Matrix test_truth_and_predicted{};       // n x 2, for plots
  std::vector<std::int64_t> test_lines{};  // of the file, one per test row; empty: not known
  Eigen::MatrixXi confusion{};             // classification; rows: truth, columns: predicted
  Vector test_scores{};                    // two classes: the score of the second one, larger is likelier; else empty
  Vector test_probability{};               // two classes, of a model with probabilities: that of the second one; else empty
  ThresholdCurve test_curve{};             // two classes
  ThresholdCurve fold_curve{};             // two classes: out of fold on the training rows
  std::optional<OperatingPoint> operating_point{};
  std::vector<OperatingPoint> trade{};  // two classes: what several precisions cost, by thresholds chosen in the training folds
  Matrix test_intervals{};              // regression: lower and upper end for each test row; empty: none
  double interval_level = 0;            // of them
  double interval_coverage = 0;         // share of test rows inside
  Matrix curve{};         // one feature, regression: a grid of x and the prediction there, in the units of the data; else empty
  Matrix curve_points{};  // with `curve`: training x and y in the units of the data, at most some thousand rows
  Matrix surface{};  // two number columns: grid of x1, x2 and the prediction (number, or class index) there; x1 changes fastest; else empty
  Vector surface_score{};                    // two classes: the score at each point of the grid, zero on the boundary
  Matrix surface_points{};                   // with `surface`: x1, x2 and the target of training rows
  std::vector<std::string> surface_names{};  // of the two columns
  Vector spectrum{};  // leading eigenvalues of the chosen kernel's Gram matrix on training rows, divided by its trace, descending; empty:
                      // no kernel
  Index spectrum_rows = 0;                     // training rows it was made of
  std::vector<ColumnImportance> importance{};  // with explain; largest first
  std::vector<InfluentialRow> influential{};   // with explain; largest first
  std::vector<StageTime> stages{};
  std::string verdict{};  // two or three sentences
  std::string split{};    // how the test part was set aside: "30 % of the rows at random", "the last 30 % of the rows", ...
  Index n_train = 0;      // rows set aside for training
  Index n_search = 0;     // those of them that the candidates were compared on
  std::vector<std::int64_t> search_lines{};  // of the file, where these are not all training rows
  Index folds = 0;
  std::uint64_t seed = 0;
  double holdout = 0;                 // fraction set aside; 0: a test table was given
  double budget_seconds = 0;          // of the search; 0: not known
  std::vector<Index> class_counts{};  // classification: training rows of each class
  double seconds = 0;
  std::size_t peak_bytes = 0;  // of this process
};

LearnResult learn(const Table& data, const LearnOptions& options = {});
LearnResult learn(const Table& data, const Table& test, const LearnOptions& options = {});

}  // namespace mercer
