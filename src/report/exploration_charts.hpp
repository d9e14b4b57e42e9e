// The charts of pages about tables without a target, as Vega-Lite specifications.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "mercer/exploration_report.hpp"
#include "report/page.hpp"

namespace mercer::report {

// The rows at two coordinates (one: against the row's number), coloured by a column; words beyond the 19 most frequent are one colour.
Chart points_chart(const std::string& title, const Matrix& scores, const std::vector<std::string>& names, const ColorColumn& color);
// Share of the variance of each component as bars, of all up to it as a line.
Chart spectrum_chart(const Vector& explained);
// How good each number of clusters is; those that were measured: silhouette, gap with its standard error. The chosen one is marked.
std::vector<Chart> candidate_charts(const std::vector<ClusterReport::Candidate>& candidates, Index chosen);
// Rows in each cluster.
Chart sizes_chart(const std::vector<Index>& sizes);
// Silhouettes of the rows, sorted within each cluster.
Chart silhouettes_chart(const Vector& silhouettes, const std::vector<Index>& labels);
// Eigenvalues of the Laplacian, ascending.
Chart eigenvalues_chart(const Vector& eigenvalues, Index clusters);
// Throws InvalidArgument where the sizes of the images do not agree.
void check_strip(const ImageStrip& strip);
ImageFigure strip_figure(const ImageStrip& strip);

}  // namespace mercer::report
