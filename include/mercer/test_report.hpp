// The page of a statistical test (`mercer compare`, `mercer depend`): what was asked, the verdict, the null distribution with the statistic
// in it, where the difference or the dependence is, and everything needed to run the test again.
//
//   TestReport page{.title = "Two samples", .source = "before.csv and after.csv", .verdict = "The samples differ (p = 0.001)."};
//   page.statistic_name = r.statistic_name;  // of a TestResult r, as are the next
//   page.statistic = r.statistic;
//   page.null = r.null;
//   write_text_file(test_report(page), "samples.html");
//
// Plain values, whatever test they come from; a part that is empty is left out. Names, words and cells are data: escaped in HTML and in
// script. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "mercer/exploration_report.hpp"
#include "mercer/matrix.hpp"

namespace mercer {

// The witness function over one column: above 0 where the first sample has more mass, below where the second has.
struct WitnessCurve {
  std::string column{};
  Vector at{};                                   // ascending
  Vector values{};                               // one for each
  std::vector<std::vector<double>> sample_at{};  // where the rows of each sample are, to be drawn under the curve
};

// The same over two columns: values(i, j) at (x[j], y[i]), both ascending and evenly spaced.
struct WitnessMap {
  std::string x_name{};
  std::string y_name{};
  Vector x{};
  Vector y{};
  Matrix values{};
};

// A row where the witness is far from 0: most unlike the other sample.
struct TellingRow {
  std::string sample{};
  Index row = 0;  // of its sample, counted from 1
  double witness = 0;
  std::vector<std::string> cells{};  // of the columns
};

// How much of the difference one column carries.
struct ColumnContribution {
  std::string name{};
  double statistic = 0;
  double share = std::numeric_limits<double>::quiet_NaN();    // of the sum over the columns, in [0, 1]
  double p_value = std::numeric_limits<double>::quiet_NaN();  // adjusted for their number; NaN: not tested
};

// A table of its own: pairs of samples, the kernels of an aggregated test, baselines.
struct ReportTable {
  std::string title{};
  std::string caption{};
  std::vector<std::string> columns{};
  std::vector<bool> numeric{};  // of each column; empty: none
  std::vector<std::vector<std::string>> rows{};
  int marked = -1;  // a row that stands out
};

struct TestReport {
  std::string title{};     // "Two samples"
  std::string source{};    // the data
  std::string command{};   // what a person types to get the page again
  std::string question{};  // what was asked, in a sentence
  std::string verdict{};   // the answer, one or two sentences

  std::string statistic_name{};
  double statistic = 0;
  double p_value = 1;
  double level = 0.05;
  bool rejected = false;
  double threshold = std::numeric_limits<double>::quiet_NaN();
  std::string method{};                                  // how the null was made: "permutation"
  std::string description{};                             // the same in a sentence
  Vector null{};                                         // draws, or quantiles of a law; empty: no picture
  std::vector<std::pair<std::string, Index>> samples{};  // names and rows

  // Where it is.
  std::vector<std::string> sample_names{};  // of the witness: the first is where it is above 0
  std::vector<WitnessCurve> curves{};
  WitnessMap map{};
  Matrix points{};  // rows at two coordinates
  std::vector<std::string> point_names{};
  ColorColumn point_color{};
  std::vector<std::string> telling_columns{};
  std::vector<TellingRow> telling{};
  std::vector<ColumnContribution> columns{};
  // Two variables against each other: numbers as points, a number and words as boxes, words as a table of counts.
  ColorColumn x{};
  ColorColumn y{};

  std::vector<ReportTable> tables{};
  Vector level_p_values{};  // of a check on data where the null holds by construction
  std::string level_sentence{};
  ReportFacts facts{};
  std::vector<std::string> remarks{};  // what a reader must know
  std::vector<std::string> notes{};    // how the data were read
};

// Throws InvalidArgument where the sizes do not agree.
std::string test_report(const TestReport& report);

}  // namespace mercer
