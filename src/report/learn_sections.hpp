// The tables of the page of a `learn` run. A part that the result has nothing for is left out.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/learn.hpp"
#include "report/page.hpp"

namespace mercer::report {

std::string rows_text(Index n);  // "1 row", "13 221 rows"

// This model, the linear one and the naive answer on the held-out rows.
void add_comparison(Page& page, const LearnResult& result);
// What became of each class: its rows, precision and recall.
void add_classes(Page& page, const LearnResult& result);
// What several precisions cost.
void add_trade(Page& page, const LearnResult& result);
// The training rows that the model leans on.
void add_influential(Page& page, const LearnResult& result);
// Every candidate of the search.
void add_candidates(Page& page, const LearnResult& result);
// The columns of the table as they were read, and what became of them.
void add_columns(Page& page, const LearnResult& result);
// Seconds of each part of the job.
void add_stages(Page& page, const LearnResult& result);

// The chosen model in words, and what there is to say of it: kernel, penalty, how many rows carry it, how the fit went.
std::string model_words(const LearnResult& result);
Facts model_facts(const LearnResult& result);

}  // namespace mercer::report
