// Writing files so that no half file is ever seen: the model files, reports and tables all go through here.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace mercer {

// Takes the next bytes of a file.
using ByteSink = std::function<void(std::string_view)>;

// Writes `path` through a temporary name beside it, renamed when complete; on any exception nothing is left and an older file stays as
// it was. A new file gets the process's default mode, a replaced one keeps its own, a symbolic link stays a link. "-" is standard
// output; devices and pipes are written in place. Throws FileError naming the path and the reason.
void write_file_atomically(const std::string& path, const std::function<void(const ByteSink&)>& fill);
void write_file_atomically(const std::string& path, std::string_view bytes);

}  // namespace mercer
