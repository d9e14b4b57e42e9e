// SPDX-License-Identifier: BSD-3-Clause
#include "stats/pearson_curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/inverse_gamma.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "mercer/error.hpp"

namespace mercer::stats {

namespace {

using Standard = PearsonCurve::Standard;

// x = shift + scale t for a t of one of Boost's laws.
template <class Law>
class Moved final : public Standard {
 public:
  Moved(Law law, double shift, double scale) : law_(law), shift_(shift), scale_(scale) {}
  double lower_tail(double x) const override { return cdf(law_, inside((x - shift_) / scale_)); }
  double upper_tail(double x) const override { return cdf(complement(law_, inside((x - shift_) / scale_))); }
  double quantile(double p) const override { return shift_ + scale_ * boost::math::quantile(law_, p); }

 private:
  double inside(double t) const {
    const auto [low, high] = boost::math::support(law_);
    return std::clamp(t, low, high);
  }
  Law law_;
  double shift_;
  double scale_;
};

template <class Law>
std::shared_ptr<const Standard> moved(Law law, double shift, double scale) {
  return std::make_shared<Moved<Law>>(law, shift, scale);
}

// Type VI: x = shift + scale t / (1 - t), t of a beta law.
class BetaPrime final : public Standard {
 public:
  BetaPrime(double a, double b, double shift, double scale) : law_(a, b), shift_(shift), scale_(scale) {}
  double lower_tail(double x) const override { return boost::math::cdf(law_, at(x)); }
  double upper_tail(double x) const override { return boost::math::cdf(boost::math::complement(law_, at(x))); }
  double quantile(double p) const override {
    // 1 - t by the other tail: it is small where the quantile is large.
    const double t = boost::math::quantile(law_, p);
    const double rest = t < 0.5 ? 1 - t : boost::math::quantile(boost::math::beta_distribution<>(law_.beta(), law_.alpha()), 1 - p);
    return shift_ + scale_ * t / rest;
  }

 private:
  double at(double x) const {
    const double y = std::max(0.0, (x - shift_) / scale_);
    return std::isinf(y) ? 1 : y / (1 + y);
  }
  boost::math::beta_distribution<> law_;
  double shift_;
  double scale_;
};

// Type IV: density (1 + y^2)^-m exp(-nu atan y), y = (x - shift) / scale; on the angle phi = atan y it is cos(phi)^(2m - 2) exp(-nu phi).
class TypeIV final : public Standard {
 public:
  TypeIV(double m, double nu, double shift, double scale) : m_(m), nu_(nu), shift_(shift), scale_(scale), sums_(nodes + 1, 0.0) {
    const double peak = std::atan(-nu / (2 * m - 2));
    peak_log_ = log_density(peak);
    low_ = edge(peak, -std::numbers::pi / 2);
    high_ = edge(peak, std::numbers::pi / 2);
    for (std::size_t i = 0; i < nodes; ++i) sums_[i + 1] = sums_[i] + simpson(angle(i), angle(i + 1));
  }
  double lower_tail(double x) const override { return below(std::clamp(std::atan((x - shift_) / scale_), low_, high_)) / sums_.back(); }
  double upper_tail(double x) const override {
    const double phi = std::clamp(std::atan((x - shift_) / scale_), low_, high_);
    const std::size_t i = cell(phi);
    const double rest = simpson(phi, angle(i + 1));
    // From the right, where the terms are small.
    double tail = 0;
    for (std::size_t j = nodes; j > i + 1; --j) tail += simpson(angle(j - 1), angle(j));
    return (tail + rest) / sums_.back();
  }
  double quantile(double p) const override {
    const double wanted = std::clamp(p, 0.0, 1.0) * sums_.back();
    const auto after = std::upper_bound(sums_.begin(), sums_.end(), wanted);
    const auto i =
        static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(after - sums_.begin() - 1, 0, static_cast<std::ptrdiff_t>(nodes) - 1));
    double low = angle(i);
    double high = angle(i + 1);
    // Newton's steps, by halves where one leaves the cell.
    double phi = (low + high) / 2;
    for (int step = 0; step < 60; ++step) {
      const double excess = sums_[i] + simpson(angle(i), phi) - wanted;
      (excess < 0 ? low : high) = phi;
      const double next = phi - excess / density(phi);
      const double moved_to = next > low && next < high ? next : (low + high) / 2;
      const bool settled = std::abs(moved_to - phi) <= 1e-15 * (1 + std::abs(phi));
      phi = moved_to;
      if (settled) break;
    }
    return shift_ + scale_ * std::tan(phi);
  }

 private:
  static constexpr std::size_t nodes = 4000;
  double angle(std::size_t i) const { return low_ + (high_ - low_) * (static_cast<double>(i) / static_cast<double>(nodes)); }
  std::size_t cell(double phi) const {
    const double place = (phi - low_) / (high_ - low_) * static_cast<double>(nodes);
    return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(nodes) - 1));
  }
  // Where the density, which has one peak, has fallen to what float64 cannot tell from 0.
  double edge(double peak, double end) const {
    double inside = peak;
    double outside = end;
    for (int step = 0; step < 60; ++step) {
      const double middle = (inside + outside) / 2;
      (log_density(middle) - peak_log_ > -700 ? inside : outside) = middle;
    }
    return outside;
  }
  double log_density(double phi) const {
    const double c = std::cos(phi);
    return c <= 0 ? -std::numeric_limits<double>::infinity() : (2 * m_ - 2) * std::log(c) - nu_ * phi;
  }
  double density(double phi) const { return std::exp(log_density(phi) - peak_log_); }
  double simpson(double a, double b) const { return (b - a) / 6 * (density(a) + 4 * density((a + b) / 2) + density(b)); }
  double below(double phi) const {
    const std::size_t i = cell(phi);
    return sums_[i] + simpson(angle(i), phi);
  }
  double m_;
  double nu_;
  double shift_;
  double scale_;
  double low_ = 0;
  double high_ = 0;
  double peak_log_ = 0;
  std::vector<double> sums_;
};

struct Found {
  std::string type;
  std::shared_ptr<const Standard> law;
};

// Mean 0, variance 1, skewness g >= 0, kurtosis b2.
Found curve_of(double g, double b2) {
  constexpr double near = 1e-9;
  const double b1 = g * g;
  const double line = 2 * b2 - 3 * b1 - 6;
  if (g < near && std::abs(b2 - 3) < near) return {"normal", moved(boost::math::normal_distribution<>(), 0, 1)};
  if (std::abs(line) < 1e-6 * (b2 + 3)) {  // a gamma law, moved; between the types I and VI, where their shapes grow without bound
    const double shape = 4 / b1;
    return {"III", moved(boost::math::gamma_distribution<>(shape, 1 / std::sqrt(shape)), -std::sqrt(shape), 1)};
  }
  // p'/p = -(whole x + c1) / (c0 + c1 x + c2 x^2)
  const double whole = 10 * b2 - 12 * b1 - 18;
  const double c0 = 4 * b2 - 3 * b1;
  const double c1 = g * (b2 + 3);
  const double c2 = line;
  const double discriminant = c1 * c1 - 4 * c0 * c2;  // kappa = c1^2 / (4 c0 c2)
  if (line < 0) {                                     // roots of opposite sign: type I between them
    const double root = std::sqrt(discriminant);
    const double one = (-c1 + root) / (2 * c2);
    const double other = (-c1 - root) / (2 * c2);
    const double low = std::min(one, other);
    const double high = std::max(one, other);
    // Powers by partial fractions.
    const double at_low = -(whole * low + c1) / (c2 * (low - high));
    const double at_high = -(whole * high + c1) / (c2 * (high - low));
    return {"I", moved(boost::math::beta_distribution<>(at_low + 1, at_high + 1), low, high - low)};
  }
  if (std::abs(discriminant) < 1e-6 * c1 * c1) {  // a double root: type V
    const double root = -c1 / (2 * c2);
    // p'/p = -(whole/c2)/(x - root) - ((whole root + c1)/c2)/(x - root)^2, so x - root is of an inverse gamma law.
    return {"V", moved(boost::math::inverse_gamma_distribution<>(whole / c2 - 1, -(whole * root + c1) / c2), root, 1)};
  }
  if (discriminant > 0) {  // roots of the same sign, both left of the law: type VI
    const double root = std::sqrt(discriminant);
    const double high = (-c1 + root) / (2 * c2);
    const double low = (-c1 - root) / (2 * c2);
    const double at_high = -(whole * high + c1) / (c2 * (high - low));  // power of (x - high)
    const double at_low = -(whole * low + c1) / (c2 * (low - high));    // power of (x - low)
    return {"VI", std::make_shared<BetaPrime>(at_high + 1, -at_low - at_high - 1, high, high - low)};
  }
  const double shift = -c1 / (2 * c2);
  const double scale = std::sqrt(-discriminant) / (2 * c2);
  // p'/p = -(whole (x - shift) + (whole shift + c1)) / (c2 ((x - shift)^2 + scale^2))
  return {"IV", std::make_shared<TypeIV>(whole / (2 * c2), (whole * shift + c1) / (c2 * scale), shift, scale)};
}

}  // namespace

PearsonCurve::PearsonCurve(double mean, double variance, double skewness, double kurtosis)
    : mean_(mean), deviation_(std::sqrt(variance)), mirrored_(skewness < 0) {
  if (!(variance > 0) || !std::isfinite(variance) || !std::isfinite(mean) || !(kurtosis >= skewness * skewness + 1))
    throw InvalidArgument(fmt::format("no law has variance {:g}, skewness {:g} and kurtosis {:g}", variance, skewness, kurtosis));
  Found found = curve_of(std::abs(skewness), kurtosis);
  type_ = std::move(found.type);
  law_ = std::move(found.law);
}

double PearsonCurve::upper_tail(double x) const {
  const double t = (x - mean_) / deviation_;
  return mirrored_ ? law_->lower_tail(-t) : law_->upper_tail(t);
}

double PearsonCurve::quantile(double p) const {
  return mirrored_ ? mean_ - deviation_ * law_->quantile(1 - p) : mean_ + deviation_ * law_->quantile(p);
}

}  // namespace mercer::stats
