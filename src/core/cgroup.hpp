// The limits of the control group (container) that this process runs in.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

namespace mercer {

// Bytes that the group may still take, page cache that can be given back included; infinity when there is no limit. The arguments
// are for tests: where the kernel shows groups, and the list of groups of this process.
double cgroup_free_memory(const std::filesystem::path& root = "/sys/fs/cgroup", const std::filesystem::path& groups = "/proc/self/cgroup");

// Processors' worth of time that the group may use (1.5, say); infinity when there is no limit.
double cgroup_cpus(const std::filesystem::path& root = "/sys/fs/cgroup", const std::filesystem::path& groups = "/proc/self/cgroup");

}  // namespace mercer
