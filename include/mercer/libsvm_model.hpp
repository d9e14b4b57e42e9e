// Support vector machines in the text files of LIBSVM (svm-train, svm-predict).
//
//   write_libsvm_model({model}, "model.libsvm");
//   SavedModel m = read_libsvm_model("model.libsvm");   // load_model does the same: it looks at the first line
//
// Kernels: linear, polynomial, gaussian with one length scale (rbf: gamma = 1 / (2 l^2)) and sigmoid. Decision values of a pair of classes
// are positive for the first of the `label` line in LIBSVM; with two classes they are positive for the second class here: signs are turned.
// Reference: the README of LIBSVM 3.24; Chang and Lin, ACM TIST 2011.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "mercer/model_file.hpp"

namespace mercer {

// Throws InvalidArgument for what such a file cannot say: other models and kernels, one_vs_rest of more than two classes, labels that are
// not whole numbers, columns that the encoder scales or makes of text. Without an encoder classes are 0, 1, ...
void write_libsvm_model(const SavedModel& model, const std::string& path);
std::string libsvm_model_to_text(const SavedModel& model);

// The file does not say how many columns the training data had: the width is the largest index, or `width` if that is more. Classes keep
// the order of the file, in which votes that are equal are decided. The encoder takes LIBSVM rows. Throws FileError naming the line.
SavedModel read_libsvm_model(const std::string& path, Index width = 0);
SavedModel libsvm_model_from_text(std::string_view text, const std::string& source = "memory", Index width = 0);

// The text begins with "svm_type".
bool is_libsvm_model_text(std::string_view bytes);
bool is_libsvm_model(const std::string& path);  // false also for what cannot be read

}  // namespace mercer
