// The memory budget, and the one place big buffers come from. Fresh 4 KiB pages cost more to touch (1.3 GB/s) than the arithmetic that
// fills them, so buffers ask for huge pages, and a few freed ones are kept for the next matrix.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <mutex>
#include <new>
#include <vector>

#include "core/buffer.hpp"
#include "core/cgroup.hpp"
#include "mercer/error.hpp"
#include "mercer/run.hpp"

namespace mercer {

namespace {

constexpr double share_of_available = 0.8;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t small = huge_page / 2;  // below this, ordinary memory: a huge page would mostly lie idle
constexpr std::size_t cache_line = 64;
constexpr std::size_t kept_at_most = std::size_t{1} << 30;
constexpr std::size_t blocks_at_most = 64;

struct Block {
  void* data;
  std::size_t bytes;
};

struct Pool {
  std::mutex guard{};
  std::vector<Block> free{};  // longest idle first
  std::vector<Block> lent{};  // with their whole size: a block may serve a smaller request
  std::size_t kept = 0;       // bytes in `free`
};

// Never destroyed: buffers of static lifetime may outlive any order we could choose. Made before the program starts, not at first use: a
// fork in the middle of that would leave the child waiting for a thread it does not have.
union PoolForEver {
  Pool pool{};
  constexpr PoolForEver() {}  // NOLINT(modernize-use-equals-default): a union with such a member has no default
  ~PoolForEver() {}           // NOLINT(modernize-use-equals-default)
};
constinit PoolForEver the_pool;

Pool& pool() { return the_pool.pool; }

// A child must not find the lock taken by a thread that the fork left behind.
[[maybe_unused]] const int fork_handlers =
    pthread_atfork([] { pool().guard.lock(); }, [] { pool().guard.unlock(); }, [] { pool().guard.unlock(); });

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

void free_kept(Pool& p) {
  for (const Block& block : p.free) std::free(block.data);
  p.free.clear();
  p.kept = 0;
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
  return std::min(available, cgroup_free_memory());
}

// A kept block that fits, or nullptr. A block may serve a smaller request, but not one so small that most of it would lie idle.
void* reuse(Pool& p, std::size_t wanted) {
  auto best = p.free.end();
  for (auto it = p.free.begin(); it != p.free.end(); ++it) {
    if (it->bytes >= wanted && it->bytes <= wanted + wanted / 4 + huge_page && (best == p.free.end() || it->bytes < best->bytes)) best = it;
  }
  if (best == p.free.end()) return nullptr;
  const Block block = *best;
  p.lent.push_back(block);
  p.kept -= block.bytes;
  p.free.erase(best);
  return block.data;
}

[[noreturn]] void throw_no_memory(std::size_t bytes) {
  throw OverBudget(fmt::format("the machine has no {} to give; use fewer rows or float32", format_bytes(static_cast<double>(bytes))));
}

}  // namespace

void* acquire_bytes(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::ptrdiff_t>::max() - huge_page) throw_no_memory(bytes);
  if (bytes < small) {
    void* data = std::aligned_alloc(cache_line, round_up(std::max<std::size_t>(bytes, 1), cache_line));
    if (data == nullptr) throw_no_memory(bytes);
    return data;
  }
  const std::size_t wanted = round_up(bytes, huge_page);
  Pool& p = pool();
  const std::lock_guard lock(p.guard);
  if (void* data = reuse(p, wanted); data != nullptr) return data;
  // The budget counts what is kept as free, so a request of that order gets its place.
  if (wanted >= p.kept) free_kept(p);
  void* data = std::aligned_alloc(huge_page, wanted);
  if (data == nullptr) {
    free_kept(p);
    data = std::aligned_alloc(huge_page, wanted);
  }
  if (data == nullptr) throw_no_memory(bytes);
  try {
    p.lent.push_back({data, wanted});
    p.free.reserve(blocks_at_most);  // so that giving back never allocates
  } catch (const std::bad_alloc&) {
    std::free(data);
    throw_no_memory(bytes);
  }
  madvise(data, wanted, MADV_HUGEPAGE);
  return data;
}

void release_bytes(void* data, std::size_t bytes) noexcept {
  if (bytes >= small) {
    Pool& p = pool();
    const std::lock_guard lock(p.guard);
    const auto it = std::find_if(p.lent.begin(), p.lent.end(), [&](const Block& block) { return block.data == data; });
    const Block block = *it;
    p.lent.erase(it);
    if (p.kept + block.bytes <= kept_at_most && p.free.size() < blocks_at_most) {
      p.free.push_back(block);
      p.kept += block.bytes;
      return;
    }
  }
  std::free(data);
}

void release_memory() {
  Pool& p = pool();
  const std::lock_guard lock(p.guard);
  free_kept(p);
}

void advise_huge_pages(void* data, std::size_t bytes) {
  const auto first = (reinterpret_cast<std::uintptr_t>(data) + huge_page - 1) / huge_page * huge_page;
  const auto last = (reinterpret_cast<std::uintptr_t>(data) + bytes) / huge_page * huge_page;
  if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // NOLINT(performance-no-int-to-ptr)
}

std::size_t memory_budget(std::size_t requested) {
  if (requested != 0) return requested;
  if (const char* text = std::getenv("MERCER_MEMORY"); text != nullptr && *text != '\0') return parse_bytes(text);
  const double machine = available_memory();
  Pool& p = pool();
  const std::lock_guard lock(p.guard);
  return static_cast<std::size_t>(share_of_available * (machine + static_cast<double>(p.kept)));
}

void require_memory(std::size_t bytes, std::size_t requested, std::string_view what, std::string_view remedy) {
  const std::size_t budget = memory_budget(requested);
  if (bytes <= budget) return;
  throw OverBudget(fmt::format("{} needs {}, but the memory budget is {}; {}", what, format_bytes(static_cast<double>(bytes)),
                               format_bytes(static_cast<double>(budget)), remedy));
}

std::size_t parse_bytes(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const char* first = std::find_if_not(text.begin(), text.end(), is_blank);
  double number = -1;
  const auto [end, error] = std::from_chars(first, text.end(), number);  // not strtod: the decimal point must not follow the locale
  std::string unit(std::find_if_not(end, text.end(), is_blank), text.end());
  while (!unit.empty() && is_blank(unit.back())) unit.pop_back();
  for (char& c : unit) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  double factor = -1;
  if (unit.empty() || unit == "B") factor = 1;
  const std::string_view letters = "KMGT";
  for (std::size_t power = 1; power <= letters.size(); ++power) {
    const std::string letter(1, letters[power - 1]);
    if (unit == letter || unit == letter + "IB") factor = std::pow(1024.0, power);
    if (unit == letter + "B") factor = std::pow(1000.0, power);
  }
  const double bytes = number * factor;
  if (error != std::errc() || factor < 0 || !(bytes >= 1 && bytes <= 1e18)) {
    throw InvalidArgument(fmt::format("\"{}\" is not an amount of memory; write something like 4G, 512M or 1.5GB", text));
  }
  return static_cast<std::size_t>(bytes);
}

std::string format_bytes(double bytes) {
  constexpr std::array units{"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < units.size()) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.3g} {}", bytes, units[unit]);
}

}  // namespace mercer
