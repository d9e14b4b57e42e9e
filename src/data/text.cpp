// SPDX-License-Identifier: BSD-3-Clause
#include "data/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>

#include "mercer/error.hpp"
#include "mercer/run.hpp"

namespace mercer {

void for_each_chunk(Index count, const std::function<void(Index)>& body) {
  std::atomic<Index> failed{count};
  std::exception_ptr error;
  std::mutex guard;
  parallel_for(count, [&](Index chunk) {
    if (chunk > failed.load(std::memory_order_relaxed)) return;
    try {
      body(chunk);
    } catch (const Error&) {
      const std::lock_guard lock(guard);
      if (chunk < failed) {
        failed = chunk;
        error = std::current_exception();
      }
    }
  });
  if (error) std::rethrow_exception(error);
}

std::int64_t line_number(std::string_view text, const char* at, char end_of_line) { return 1 + std::count(text.data(), at, end_of_line); }

char find_end_of_line(std::string_view text) {
  return text.find('\n') == std::string_view::npos && text.find('\r') != std::string_view::npos ? '\r' : '\n';
}

void reject_nul(std::string_view text, std::string_view chunk, const std::string& source) {
  if (chunk.empty()) return;
  const void* nul = std::memchr(chunk.data(), '\0', chunk.size());
  if (nul == nullptr) return;
  throw FileError(
      fmt::format("{}:{}: has a NUL byte, so it is not text; wanted CSV, LIBSVM, JSON lines or other text, or NPY (UTF-16 text: iconv -f "
                  "UTF-16 -t UTF-8)",
                  source, line_number(text, static_cast<const char*>(nul))));
}

}  // namespace mercer
