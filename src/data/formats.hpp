// The readers and writers of one format each, behind table.hpp.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/file.hpp"
#include "mercer/table.hpp"

namespace mercer {

bool looks_like_libsvm(std::string_view text);
// `first_line` is that of the text in its file.
Table read_libsvm(std::string_view text, const std::string& source, const ReadOptions& options, std::int64_t first_line = 1);

bool looks_like_npy(std::string_view bytes);
Table read_npy(std::string_view bytes, const std::string& source, const ReadOptions& options);
// The number of rows, by the header; and some of the rows.
Index npy_rows(std::string_view bytes, const std::string& source);
Index npy_columns(std::string_view bytes, const std::string& source);
Table read_npy_rows(std::string_view bytes, const std::string& source, const ReadOptions& options, Index first, Index count);
// The bytes before the values of a rows x cols float64 array in C order.
std::string npy_header(Index rows, Index cols);

// The format a name's ending asks for (.csv .tsv .txt .svm .libsvm .npy, before .gz or .xz); automatic: none of them.
FileFormat format_of_name(std::string_view path);

// The column of a table that a model is to predict, if nobody said: named y, label, target or class, else the last of those not left out.
Index default_target(const std::vector<std::string>& names, const std::vector<bool>& left_out);
bool is_target_name(std::string_view name);  // one of those four, in any case

}  // namespace mercer
