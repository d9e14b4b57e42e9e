// SPDX-License-Identifier: BSD-3-Clause
#include "stats/test_result.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "kernels/node.hpp"
#include "mercer/diagnosis.hpp"
#include "mercer/error.hpp"

namespace mercer {

std::string TestResult::kernel() const { return fmt::format("{}", fmt::join(kernels, ", ")); }

namespace stats {

namespace {

constexpr Index law_quantiles = 1000;

std::set<int> sums_of(const std::set<int>& a, const std::set<int>& b) {
  std::set<int> sums;
  for (const int i : a) {
    for (const int j : b) sums.insert(i + j);
  }
  return sums;
}

// The orders of the moments that a kernel compares: the powers of <x, y> in it, where it is a polynomial in <x, y> with coefficients >= 0.
std::optional<std::set<int>> orders_of(const KernelNode& node) {
  using Kind = KernelNode::Kind;
  if (node.properties().zero) return std::set<int>{};
  switch (node.kind()) {
    case Kind::leaf: {
      const std::string text = node.text();
      if (text == "linear") return std::set<int>{1};
      if (text.starts_with("constant")) return std::set<int>{0};
      if (!text.starts_with("polynomial(") || node.properties().psd != Verdict::yes) return std::nullopt;
      std::set<int> orders;
      const int degree = std::stoi(text.substr(std::string("polynomial(").size()));
      const bool offset = node.own_parameters().size() == 2;  // scale and offset, where they are positive
      for (int order = offset ? 0 : degree; order <= degree; ++order) orders.insert(order);
      return orders;
    }
    case Kind::scaled:
    case Kind::restricted:
      return orders_of(node.parts()[0].node());
    case Kind::sum:
    case Kind::product: {
      const bool sum = node.kind() == Kind::sum;
      std::set<int> orders = sum ? std::set<int>{} : std::set<int>{0};
      for (const Kernel& part : node.parts()) {
        if (part.node().kind() == Kind::restricted) return std::nullopt;  // parts that look at different columns mix moments
        const auto more = orders_of(part.node());
        if (!more) return std::nullopt;
        if (sum) {
          orders.insert(more->begin(), more->end());
        } else {
          orders = sums_of(orders, *more);
        }
      }
      return orders;
    }
    case Kind::mapped: {
      const std::string text = node.text();
      const std::string digits = text.substr(text.rfind('^') + 1);  // "linear^2"
      const auto part = orders_of(node.parts()[0].node());
      if (!part || text.rfind('^') == std::string::npos || digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
      std::set<int> orders = {0};
      for (int factor = std::min(std::stoi(digits), 20); factor > 0; --factor) orders = sums_of(orders, *part);
      return orders;
    }
    default:
      return std::nullopt;
  }
}

// "up to order 3", "of order 2 alone", "of orders 2 and 4 alone"; empty where the orders are not known.
std::string moments_text(const Kernel& kernel) {
  if (kernel.psd() != Verdict::yes) return {};
  auto orders = orders_of(kernel.node());
  if (!orders) return {};
  orders->erase(0);  // all distributions have the same total
  if (orders->empty()) return "no moments at all";
  if (*orders == std::set<int>{1}) return "means";
  if (static_cast<int>(orders->size()) == *orders->rbegin()) return fmt::format("moments up to order {}", *orders->rbegin());
  if (orders->size() == 1) return fmt::format("moments of order {} alone", *orders->begin());
  return fmt::format("moments of orders {} alone", fmt::join(*orders, ", "));
}

}  // namespace

void require_level(double level) {
  if (!(level > 0 && level < 1)) throw InvalidArgument(fmt::format("level must be between 0 and 1, got {}", level));
}

double tie_tolerance(double scale) { return 1e-6 * std::abs(scale); }

double exchange_p_value(double statistic, const Vector& null, double tolerance) {
  const Index below = (null.array() < statistic - tolerance).count();
  const Index at_least = null.size() - below;  // what is not a number counts against the statistic too
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

namespace {

// What a kernel that is not characteristic cannot see; empty: it sees everything.
std::string unseen_by(const Kernel& kernel, std::string_view what) {
  const Verdict characteristic = kernel.is_characteristic();
  if (characteristic == Verdict::yes) return {};
  if (const std::string moments = moments_text(kernel); !moments.empty() && what == "difference") {
    return fmt::format(
        "the kernel {} sees only a difference of {}: distributions that agree in these look the same to it, whatever the number of rows; "
        "gaussian(auto) sees every difference",
        kernel.text(), moments);
  }
  if (characteristic == Verdict::no && kernel.node().text() == "linear" && what == "dependence")
    return "the kernel linear sees only linear dependence, that is correlation; gaussian(auto) sees every dependence";
  if (characteristic == Verdict::no) {
    return fmt::format("the kernel {} is not characteristic: there are {}s that it cannot see, whatever the number of rows{}",
                       kernel.text(), what, kernel.looks_at_objects() ? "" : "; gaussian(auto) sees them all");
  }
  return fmt::format("it is not known whether the kernel {} is characteristic, so there may be {}s that it cannot see", kernel.text(),
                     what);
}

}  // namespace

void remark_on_kernel(TestResult& result, const Kernel& kernel, const Samples& X, std::string_view what) {
  std::vector<std::string> remarks = kernel_remarks(kernel, X);
  if (std::string unseen = unseen_by(kernel, what); !unseen.empty()) remarks.insert(remarks.begin(), std::move(unseen));
  for (std::string& remark : remarks) {  // once, where two variables have the same
    if (std::find(result.remarks.begin(), result.remarks.end(), remark) == result.remarks.end())
      result.remarks.push_back(std::move(remark));
  }
}

void remark_on_rounding(TestResult& result) {
  result.remarks.emplace_back(
      "the exchanges differ by no more than the rounding of the kernel values, so rounding decides; where rows are far from 0 beside their "
      "differences, subtract the column means");
}

void remark_on_draws(TestResult& result) {
  const double least = 1 / (1 + static_cast<double>(result.draws));
  if (result.draws < 1 || least <= result.level) return;
  // "20 exchanges ... are too few": said by a test in its own words.
  const std::string beginning = fmt::format("{} exchanges ", result.draws);
  for (const std::string& remark : result.remarks) {
    if (remark.starts_with(beginning)) return;
  }
  result.remarks.push_back(
      fmt::format("{} exchanges cannot give a p-value below {:.3g}, so nothing is rejected at level {:g}; at least {} are needed",
                  result.draws, least, result.level, std::ceil(1 / result.level) - 1));
}

void remark_on_exchanges(TestResult& result, double log_count) {
  const double least = std::exp(-log_count);
  if (least <= result.level * (1 + 1e-9)) return;
  result.remarks.push_back(fmt::format(
      "there are only {:.0f} different exchanges of these rows, so no p-value below {:.3g} is to be expected and hardly anything "
      "is rejected at level {:g}",
      std::exp(log_count), least, result.level));
}

std::string p_text(double p) {
  if (p < 1e-300) return "< 1e-300";
  return fmt::format("= {:.4g}", p);
}

void conclude(TestResult& result, std::string_view when_rejected, std::string_view when_not, std::chrono::steady_clock::time_point start) {
  remark_on_draws(result);
  result.rejected = result.p_value <= result.level;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.sentence = fmt::format("{} at level {:g}: {} = {:.6g}, p {} ({})", result.rejected ? when_rejected : when_not, result.level,
                                result.statistic_name, result.statistic, p_text(result.p_value), result.description);
}

}  // namespace stats

}  // namespace mercer
