// --gram: kernel values that come from a file, in place of a kernel and of columns for it to look at. Row i of the matrix is row i of DATA,
// which then has only what a model learns (and weights, groups, labels): it may be left out where there is nothing to learn.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "files.hpp"

namespace mercer::cli {

// With it, DATA may be left out and --kernel must be.
CLI::Option* add_gram_file(CLI::App& command, std::string& path, const std::string& about, const std::string& name = "--gram",
                           const std::string& position = "DATA");

// A matrix of numbers without names, whatever its shape. Throws naming the file and the first cell that is no number.
Matrix read_kernel_values(const std::string& path, const CommonOptions& common);

// The objects of a Gram matrix, checked: square, symmetric, finite; of as many rows as `data` has, if it is given.
Samples read_gram(const std::string& path, const Table* data, const CommonOptions& common);

// The rows of kernel values k(new, training object) that a model of a given Gram matrix takes in place of DATA.
Samples read_gram_rows(const std::string& path, const SavedModel& saved, const std::string& model, const CommonOptions& common);

// So many rows each, one after the other.
std::vector<Samples> consecutive_parts(const Samples& all, const std::vector<Index>& sizes);

// The objects of one Gram matrix that are those of several files, one after the other: of `sizes` rows each.
std::vector<Samples> read_gram_parts(const std::string& path, const std::vector<Index>& sizes, const CommonOptions& common);

// Throws where the rows of kernel values are not as many as those of DATA.
void require_rows(const std::string& path, const Samples& X, const Table& data);

// What a fit learns from: the objects, and the target of DATA unless the options say that there is none.
Dataset gram_dataset(const std::string& path, const Table* data, const EncodeOptions& encode, const CommonOptions& common);

// The answers in DATA that stand beside rows of kernel values; empty: the table lacks the target.
std::optional<Vector> gram_target(const Encoder& encoder, const Table& table);

}  // namespace mercer::cli
