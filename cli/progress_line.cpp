// SPDX-License-Identifier: BSD-3-Clause
#include "progress_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mercer::cli {

void Remaining::note(std::string_view stage, double fraction, double seconds) {
  const double done = std::clamp(fraction, 0.0, 1.0);
  if (stage != stage_ || done < fraction_ || seconds < elapsed_) {
    *this = Remaining();
    stage_ = stage;
  }
  const double step = seconds - elapsed_;
  if (step <= 0) return;
  const double rate = (done - fraction_) / step;
  const double memory = std::max(2.0, 0.25 * seconds);  // seconds that the rate remembers
  const double weight = elapsed_ == 0 ? 1 : 1 - std::exp(-step / memory);
  rate_ += weight * (rate - rate_);
  fraction_ = done;
  elapsed_ = seconds;
}

std::optional<double> Remaining::seconds() const {
  constexpr double least_seconds = 1;
  constexpr double least_fraction = 0.02;
  constexpr double longest = 100.0 * 3600;  // beyond that a rate is no forecast
  if (elapsed_ < least_seconds || fraction_ < least_fraction || rate_ <= 0) return std::nullopt;
  const double left = (1 - fraction_) / rate_;
  return left < longest ? std::optional(left) : std::nullopt;
}

std::string duration_words(double seconds) {
  const auto whole = static_cast<long long>(std::llround(std::max(seconds, 0.0)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string progress_line(std::string_view stage, double fraction, double elapsed, std::optional<double> remaining, int width) {
  constexpr std::size_t longest_stage = 24;
  constexpr std::size_t longest_bar = 30;
  constexpr std::size_t shortest_bar = 8;
  const double done = std::clamp(fraction, 0.0, 1.0);
  const std::size_t room = static_cast<std::size_t>(std::max(width, 1));
  const std::string percent = fmt::format("{:3.0f} %", 100 * done);
  std::string times = elapsed < 100 ? fmt::format("  {:.1f} s", elapsed) : "  " + duration_words(elapsed);
  if (remaining) times += fmt::format(", {} left", duration_words(*remaining));
  if (room < percent.size() + times.size()) return percent.substr(0, room);
  const std::string end = percent + times;
  std::size_t left = room - end.size();
  if (left < 2) return end;
  const std::size_t letters = std::min(left - 1, longest_stage);
  const std::string name = fmt::format("{0:<{1}.{1}} ", stage, letters);
  left -= name.size();
  if (left < shortest_bar + 3) return name + end;
  const std::size_t bar = std::min(longest_bar, left - 3);
  const auto filled = static_cast<std::size_t>(std::lround(static_cast<double>(bar) * done));
  return fmt::format("{}[{}{}] {}", name, std::string(filled, '#'), std::string(bar - filled, '.'), end);
}

}  // namespace mercer::cli
