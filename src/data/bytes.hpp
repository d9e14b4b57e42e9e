// The content of a file, whole: mapped, read from a pipe, or unpacked.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/file.hpp"
#include "mercer/run.hpp"

namespace mercer {

struct Bytes {
  std::string_view view;
  std::shared_ptr<const void> owner;  // keeps the view alive; nullptr: somebody else does
  bool mapped = false;                // the view is of a mapped file: its pages can be read again
};

// A plain file is mapped, anything else (pipes, devices, "-" for standard input) is read to its end within the memory budget.
Bytes read_bytes(const std::string& path, const Run& run);

// gzip and xz by their first bytes, unpacked within the memory budget; anything else comes back as it is. Archives and compressors
// that Mercer does not read are rejected by name.
Bytes unpack(Bytes packed, const std::string& source, const Run& run);

// Skips a UTF-8 byte order mark; UTF-16 and UTF-32 are rejected by name.
std::string_view without_byte_order_mark(std::string_view text, const std::string& source);

enum class Packing { none, gzip, xz };
Packing packing_of_name(std::string_view path);  // .gz, .xz
Packing packing_of_content(std::string_view bytes);

// gzip or xz bytes, unpacked and handed on a block at a time: the content need not fit in memory. The sink may throw to stop.
void unpack_into(std::string_view packed, const std::string& source, const Run& run, const ByteSink& sink);

// A sink that compresses into `sink`; call the returned function once more, with nothing, at the end.
std::function<void(std::string_view, bool last)> packing_sink(Packing packing, const ByteSink& sink);

}  // namespace mercer
