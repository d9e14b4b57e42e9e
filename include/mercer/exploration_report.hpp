// Pages about tables without a target: rows as points of a few components (`mercer embed`), rows in clusters (`mercer cluster`).
//
//   EmbeddingReport page{.method = "Kernel PCA", .source = "digits.csv"};
//   page.scores = model.transform(X);
//   page.color = {.name = "digit", .words = digits};
//   write_text_file(embedding_report(page), "digits.html");
//
// Both take plain values, whatever model they come from. Names, words and cells are data: escaped in HTML and in script.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "mercer/matrix.hpp"

namespace mercer {

// What the points of a scatter are coloured by: a number or a word for each row. Without either, points have one colour.
struct ColorColumn {
  std::string name{};
  std::vector<double> numbers{};  // NaN: not known
  std::vector<std::string> words{};

  bool empty() const { return numbers.empty() && words.empty(); }
};

// Images side by side, one line of them for each of `lines`: the same rows as they were, with noise, without it again.
struct ImageStrip {
  struct Line {
    std::string title{};
    Matrix pixels{};  // one image a row, its pixels line by line
  };
  Index height = 0;
  Index width = 0;
  std::vector<Line> lines{};  // shades of grey from the least to the largest value of the first line
};

using ReportFacts = std::vector<std::pair<std::string, std::string>>;

struct EmbeddingReport {
  std::string method{};              // "Kernel PCA"
  std::string source{};              // the data
  std::string command{};             // what a person types to get the page again
  std::string verdict{};             // the answer, one or two sentences
  Matrix scores{};                   // one row of components for each row of the data
  std::vector<std::string> names{};  // of its columns
  ColorColumn color{};
  Vector explained{};  // share of the variance of each component, not necessarily of those in scores alone; empty: not known
  Vector novelty{};    // reconstruction error of each row; empty: not asked for
  ImageStrip images{};
  ReportFacts facts{};
  std::vector<std::string> notes{};
};

// Throws InvalidArgument where the sizes do not agree.
std::string embedding_report(const EmbeddingReport& report);

struct ClusterReport {
  // One number of clusters that was looked at; NaN is what was not measured.
  struct Candidate {
    Index k = 0;
    double inertia = std::numeric_limits<double>::quiet_NaN();
    double silhouette = std::numeric_limits<double>::quiet_NaN();
    double gap = std::numeric_limits<double>::quiet_NaN();
    double gap_error = std::numeric_limits<double>::quiet_NaN();
    double eigengap = std::numeric_limits<double>::quiet_NaN();  // of a graph: the next eigenvalue less the k-th
  };
  std::string method{};  // "Kernel k-means"
  std::string source{};
  std::string command{};
  std::string verdict{};
  std::vector<Index> labels{};       // of each row, 0, 1, ...
  Matrix scores{};                   // two coordinates of each row, to draw it at; empty: no picture
  std::vector<std::string> names{};  // of these
  Vector silhouettes{};              // of each row; empty: not measured
  std::vector<Candidate> candidates{};
  ColorColumn truth{};   // a label column to compare with
  Vector eigenvalues{};  // of the graph's Laplacian, ascending; empty: none
  ReportFacts facts{};
  std::vector<std::string> notes{};
};

// Throws InvalidArgument where the sizes do not agree.
std::string cluster_report(const ClusterReport& report);

}  // namespace mercer
