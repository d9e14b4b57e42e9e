// Limits of control groups, version 1 (one tree per controller) and 2 (one tree). A limit may sit on any group from this process's own
// up to the root, and inside a container only the lower end of that path may be visible, so every level that exists is asked.
// SPDX-License-Identifier: BSD-3-Clause
#include "core/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace mercer {

namespace {

namespace fs = std::filesystem;

constexpr double unlimited = std::numeric_limits<double>::infinity();

// The first numbers of a file; none for "max", or when there is no such file.
std::vector<double> read_numbers(const fs::path& path) {
  std::vector<double> numbers;
  std::ifstream in(path);
  for (double value = 0; in >> value;) numbers.push_back(value);
  return numbers;
}

double read_number(const fs::path& path) {
  const auto numbers = read_numbers(path);
  return numbers.empty() ? -1 : numbers.front();
}

double read_field(const fs::path& path, const std::string& name) {
  std::ifstream in(path);
  double value = 0;
  for (std::string key; in >> key >> value;) {
    if (key == name) return value;
  }
  return 0;
}

struct Level {
  fs::path folder;
  bool unified;  // version 2
};

// Every folder from the process's group for `controller` up to the root of its tree.
std::vector<Level> levels_of(const std::string& controller, const fs::path& root, const fs::path& groups) {
  std::vector<Level> levels;
  std::ifstream in(groups);
  for (std::string line; std::getline(in, line);) {  // "4:memory:/a/b", or "0::/a/b" in version 2
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool unified = controllers == ",,";
    if (!unified && controllers.find("," + controller + ",") == std::string::npos) continue;
    const fs::path top = unified ? root : root / controller;
    fs::path group = fs::path(line.substr(second + 1)).relative_path();
    for (; !group.empty(); group = group.parent_path()) levels.push_back({top / group, unified});
    levels.push_back({top, unified});
  }
  return levels;
}

}  // namespace

double cgroup_free_memory(const fs::path& root, const fs::path& groups) {
  double least = unlimited;
  for (const auto& [folder, unified] : levels_of("memory", root, groups)) {
    const double limit = read_number(folder / (unified ? "memory.max" : "memory.limit_in_bytes"));
    const double used = read_number(folder / (unified ? "memory.current" : "memory.usage_in_bytes"));
    if (limit < 0 || used < 0) continue;
    const double reclaimable = read_field(folder / "memory.stat", unified ? "inactive_file" : "total_inactive_file");
    least = std::min(least, std::max(0.0, limit - std::max(0.0, used - reclaimable)));
  }
  return least;
}

double cgroup_cpus(const fs::path& root, const fs::path& groups) {
  double least = unlimited;
  for (const auto& [folder, unified] : levels_of("cpu", root, groups)) {
    double quota = -1;
    double period = -1;
    if (unified) {
      const auto numbers = read_numbers(folder / "cpu.max");  // "150000 100000", or "max 100000"
      if (numbers.size() == 2) quota = numbers[0], period = numbers[1];
    } else {
      quota = read_number(folder / "cpu.cfs_quota_us");
      period = read_number(folder / "cpu.cfs_period_us");
    }
    if (quota > 0 && period > 0) least = std::min(least, quota / period);
  }
  return least;
}

}  // namespace mercer
