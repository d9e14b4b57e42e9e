// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwy/targets.h>

#include <cstdlib>
#include <string_view>

#include "mercer/error.hpp"
#include "simd/scalar.hpp"
#include "simd/vector.hpp"

namespace mercer::simd {

namespace {

struct Level {
  std::string name;
  const TileOps<float>* f32;
  const TileOps<double>* f64;
};

const std::vector<Level>& supported() {
  static const std::vector<Level> all = [] {
    std::vector<Level> found{{"scalar", &scalar_ops<float>(), &scalar_ops<double>()}};
#if HWY_ARCH_X86
    const std::pair<const char*, std::int64_t> targets[] = {{"sse4", HWY_SSE4}, {"avx2", HWY_AVX2}, {"avx512", HWY_AVX3}};
    for (const auto& [name, target] : targets) {
      if ((hwy::SupportedTargets() & target) != 0) found.push_back({name, &vector_ops<float>(target), &vector_ops<double>(target)});
    }
#endif
    return found;
  }();
  return all;
}

const Level& find(const std::string& name, std::string_view origin = "") {
  for (const Level& level : supported()) {
    if (level.name == name) return level;
  }
  throw InvalidArgument(fmt::format("{}there is no SIMD level \"{}\" on this machine; it has {}", origin, name, fmt::join(levels(), ", ")));
}

const Level& chosen() {
  static const Level& level = [&]() -> const Level& {
    const char* forced = std::getenv("MERCER_SIMD");
    return forced != nullptr && *forced != '\0' ? find(forced, "MERCER_SIMD: ") : supported().back();
  }();
  return level;
}

template <class T>
const TileOps<T>& table_of(const Level& level) {
  if constexpr (std::is_same_v<T, float>) {
    return *level.f32;
  } else {
    return *level.f64;
  }
}

}  // namespace

std::vector<std::string> levels() {
  std::vector<std::string> names;
  for (const Level& level : supported()) names.push_back(level.name);
  return names;
}

const std::string& level() { return chosen().name; }

template <class T>
const TileOps<T>& ops() {
  static const TileOps<T>& table = table_of<T>(chosen());
  return table;
}

template <class T>
const TileOps<T>& ops_at(const std::string& name) {
  return table_of<T>(find(name));
}

template const TileOps<float>& ops<float>();
template const TileOps<double>& ops<double>();
template const TileOps<float>& ops_at<float>(const std::string&);
template const TileOps<double>& ops_at<double>(const std::string&);

}  // namespace mercer::simd
