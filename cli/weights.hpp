// What the methods of `mercer weights` share: rows of a table written with weights beside them, and the page.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "explore.hpp"

namespace mercer::cli {

void add_weights_shift(CLI::App& app, Invocation& invocation);
void add_weights_mixture(CLI::App& app, Invocation& invocation);
void add_weights_squash(CLI::App& app, Invocation& invocation);
void add_weights_herd(CLI::App& app, Invocation& invocation);
void add_weights_thin(CLI::App& app, Invocation& invocation);

// The options of DATA without --color: reading, encoding, scaling, kernel, outputs.
void add_weighing(CLI::App& command, ExploreOptions& o, Invocation& invocation, const std::string& answers);

// Rows of the table as they were read, in this order, with a last column of weights (none: empty). NPY has no place for words: weights, or
// the numbers of the chosen rows where there are none.
void write_rows(const Table& table, const std::vector<Index>& rows, const Vector& weights, const std::string& path,
                const CommonOptions& common);

// The first two components of the rows, coloured, with facts beside them.
void write_weights_report(const ExploreOptions& o, const Exploration& e, const std::string& method, const std::string& verdict,
                          ColorColumn color, ReportFacts facts, const std::vector<std::string>& remarks);

Json weights_json(const Vector& weights);
void finish_json(Json& json, const ExploreOptions& o, const Exploration& e, const std::vector<std::string>& remarks, const char* file);
void say_files(const ExploreOptions& o, const Speaker& speaker, const std::string& what, const std::string& hint);

}  // namespace mercer::cli
