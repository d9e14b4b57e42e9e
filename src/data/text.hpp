// What the readers of text files share: fixed chunks in parallel with the first error of the file, line numbers.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "mercer/matrix.hpp"

namespace mercer {

// Chunks fit a core's second-level cache, so that the passes over one after another read memory once.
inline constexpr std::size_t chunk_bytes = std::size_t{1} << 18;

inline Index chunk_count(std::size_t bytes) { return static_cast<Index>((bytes + chunk_bytes - 1) / chunk_bytes); }

// body(c) for every chunk, in parallel. If some fail with an Error, the one of the earliest chunk is thrown, whatever the threads did.
void for_each_chunk(Index count, const std::function<void(Index)>& body);

// 1-based number of the line that holds `at`.
std::int64_t line_number(std::string_view text, const char* at, char end_of_line = '\n');

// \n, or \r for a file in the style of old Macs that has no \n at all.
char find_end_of_line(std::string_view text);

// Throws FileError if the chunk holds a NUL byte, which no text has.
void reject_nul(std::string_view text, std::string_view chunk, const std::string& source);

}  // namespace mercer
