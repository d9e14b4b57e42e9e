// The memory budget, and the one place big buffers come from. Fresh 4 KiB pages cost more to touch (1.3 GB/s) than the arithmetic that
// fills them, so buffers ask for huge pages, and a few freed ones are kept for the next matrix.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <new>
#include <vector>

#include "core/buffer.hpp"
#include "mercer/error.hpp"
#include "mercer/run.hpp"

namespace mercer {

namespace {

constexpr double share_of_available = 0.8;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t kept_at_most = std::size_t{1} << 30;

struct Block {
  void* data;
  std::size_t bytes;
};

struct Pool {
  std::mutex guard;
  std::vector<Block> free;
  std::size_t kept = 0;
};

Pool& pool() {
  static auto* instance = new Pool;  // never destroyed: buffers of static lifetime may outlive any order we could choose
  return *instance;
}

std::size_t round_up(std::size_t bytes) { return (bytes + huge_page - 1) / huge_page * huge_page; }

// The limit of the control group this process runs in, if it has one (containers); else a huge number.
double read_number(const char* path) {
  std::ifstream in(path);
  double value = 0;
  return in >> value ? value : -1;
}

double available_memory() {
  double available = 0;
  std::ifstream in("/proc/meminfo");
  for (std::string key; in >> key;) {
    double kib = 0;
    in >> kib;
    if (key == "MemAvailable:") available = kib * 1024;
    in.ignore(256, '\n');
  }
  if (available == 0) available = static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const double limit = read_number("/sys/fs/cgroup/memory.max");
  const double used = read_number("/sys/fs/cgroup/memory.current");
  if (limit > 0 && used >= 0) available = std::min(available, std::max(0.0, limit - used));
  return available;
}

}  // namespace

void* acquire_bytes(std::size_t bytes) {
  const std::size_t wanted = round_up(bytes);
  Pool& p = pool();
  {
    const std::lock_guard lock(p.guard);
    auto best = p.free.end();
    for (auto it = p.free.begin(); it != p.free.end(); ++it) {
      // A block may serve a smaller request, but not one so small that most of it would lie idle.
      if (it->bytes >= wanted && it->bytes <= wanted + wanted / 4 + huge_page && (best == p.free.end() || it->bytes < best->bytes)) best = it;
    }
    if (best != p.free.end()) {
      void* data = best->data;
      p.kept -= best->bytes;
      p.free.erase(best);
      return data;
    }
  }
  void* data = std::aligned_alloc(huge_page, wanted);
  if (data == nullptr) throw OverBudget(fmt::format("the machine has no {} to give; use fewer rows or float32", format_bytes(static_cast<double>(bytes))));
  madvise(data, wanted, MADV_HUGEPAGE);
  return data;
}

void release_bytes(void* data, std::size_t bytes) noexcept {
  const std::size_t size = round_up(bytes);
  Pool& p = pool();
  {
    const std::lock_guard lock(p.guard);
    if (p.kept + size <= kept_at_most && p.free.size() < 64) {
      try {
        p.free.push_back({data, size});
        p.kept += size;
        return;
      } catch (const std::bad_alloc&) {  // then it is simply freed
      }
    }
  }
  std::free(data);
}

void release_memory() {
  Pool& p = pool();
  const std::lock_guard lock(p.guard);
  for (const Block& block : p.free) std::free(block.data);
  p.free.clear();
  p.kept = 0;
}

void advise_huge_pages(void* data, std::size_t bytes) {
  const auto first = (reinterpret_cast<std::uintptr_t>(data) + huge_page - 1) / huge_page * huge_page;
  const auto last = (reinterpret_cast<std::uintptr_t>(data) + bytes) / huge_page * huge_page;
  if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // NOLINT(performance-no-int-to-ptr)
}

std::size_t memory_budget(std::size_t requested) {
  if (requested != 0) return requested;
  if (const char* text = std::getenv("MERCER_MEMORY"); text != nullptr && *text != '\0') return parse_bytes(text);
  const Pool& p = pool();
  return static_cast<std::size_t>(share_of_available * (available_memory() + static_cast<double>(p.kept)));
}

void require_memory(std::size_t bytes, std::size_t requested, std::string_view what, std::string_view remedy) {
  const std::size_t budget = memory_budget(requested);
  if (bytes <= budget) return;
  throw OverBudget(fmt::format("{} needs {}, but the memory budget is {}; {}", what, format_bytes(static_cast<double>(bytes)),
                               format_bytes(static_cast<double>(budget)), remedy));
}

std::size_t parse_bytes(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  std::string unit;
  for (const char* c = end; *c != '\0'; ++c) {
    if (std::isspace(static_cast<unsigned char>(*c)) == 0) unit += static_cast<char>(std::toupper(static_cast<unsigned char>(*c)));
  }
  double factor = -1;
  if (unit.empty() || unit == "B") factor = 1;
  const char* const letters = "KMGT";
  for (int power = 1; power <= 4; ++power) {
    const std::string letter(1, letters[power - 1]);
    if (unit == letter || unit == letter + "IB") factor = std::pow(1024.0, power);
    if (unit == letter + "B") factor = std::pow(1000.0, power);
  }
  const double bytes = number * factor;
  if (end == copy.c_str() || !(bytes >= 1) || bytes > 1e18) {
    throw InvalidArgument(fmt::format("\"{}\" is not an amount of memory; write something like 4G, 512M or 1.5GB", text));
  }
  return static_cast<std::size_t>(bytes);
}

std::string format_bytes(double bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  int unit = 0;
  while (bytes >= 999.5 && unit < 5) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.3g} {}", bytes, units[unit]);
}

}  // namespace mercer
