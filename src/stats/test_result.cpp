// SPDX-License-Identifier: BSD-3-Clause
#include "stats/test_result.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "kernels/node.hpp"
#include "mercer/error.hpp"

namespace mercer {

std::string TestResult::kernel() const { return fmt::format("{}", fmt::join(kernels, ", ")); }

namespace stats {

namespace {

constexpr Index law_quantiles = 1000;

}  // namespace

void require_level(double level) {
  if (!(level > 0 && level < 1)) throw InvalidArgument(fmt::format("level must be between 0 and 1, got {}", level));
}

double tie_tolerance(double scale) { return 1e-6 * std::abs(scale); }

double exchange_p_value(double statistic, const Vector& null, double tolerance) {
  const Index at_least = (null.array() >= statistic - tolerance).count();
  return (1.0 + static_cast<double>(at_least)) / (1.0 + static_cast<double>(null.size()));
}

double exchange_threshold(const Vector& null, double level) {
  // A statistic with r of the null at or above it has p = (1 + r) / (1 + B), so r may be at most `most`.
  const auto most = static_cast<Index>(std::floor(level * (1.0 + static_cast<double>(null.size())) * (1 + 1e-12))) - 1;
  if (most < 0) return std::numeric_limits<double>::infinity();
  if (most >= null.size()) return -std::numeric_limits<double>::infinity();
  Vector sorted = null;
  std::nth_element(sorted.begin(), sorted.begin() + most, sorted.end(), std::greater<>());
  return sorted[most];
}

void judge_by_exchanges(TestResult& result, double observed, Vector null, double tolerance) {
  result.p_value = exchange_p_value(observed, null, tolerance);
  result.threshold = exchange_threshold(null, result.level);
  result.draws = null.size();
  result.null = std::move(null);
}

void judge_by_law(TestResult& result, const std::function<double(double)>& upper_tail, const std::function<double(double)>& quantile) {
  result.p_value = std::clamp(upper_tail(result.statistic), 0.0, 1.0);
  result.threshold = quantile(1 - result.level);
  result.null.resize(law_quantiles);
  for (Index i = 0; i < law_quantiles; ++i) result.null[i] = quantile((static_cast<double>(i) + 0.5) / static_cast<double>(law_quantiles));
}

void remark_on_kernel(TestResult& result, const Kernel& kernel, std::string_view what) {
  const Verdict characteristic = kernel.is_characteristic();
  if (characteristic == Verdict::yes) return;
  if (characteristic == Verdict::no) {
    result.remarks.push_back(fmt::format(
        "the kernel {} is not characteristic: there are {}s that it cannot see, whatever the number of rows; gaussian(auto) sees them all",
        kernel.text(), what));
  } else {
    result.remarks.push_back(fmt::format("it is not known whether the kernel {} is characteristic, so there may be {}s that it cannot see",
                                         kernel.text(), what));
  }
}

std::string p_text(double p) {
  if (p < 1e-300) return "< 1e-300";
  return fmt::format("= {:.4g}", p);
}

void conclude(TestResult& result, std::string_view when_rejected, std::string_view when_not, std::chrono::steady_clock::time_point start) {
  result.rejected = result.p_value <= result.level;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.sentence = fmt::format("{} at level {:g}: {} = {:.6g}, p {} ({})", result.rejected ? when_rejected : when_not, result.level,
                                result.statistic_name, result.statistic, p_text(result.p_value), result.description);
}

}  // namespace stats

}  // namespace mercer
