// Bochner's test: the sign of the Fourier transform of a function of a distance. The method is told in mercer/diagnosis.hpp.
//
// One set of samples of f serves every frequency: panels are short against the fastest oscillation and are halved where f itself is
// rough, so f is asked in a few large batches (a Python function, a Gram matrix) and never again.
// References: source N theorem 2, source D eq. (11) and, for the Gaussian, (14) with slip S14; Wendland, Scattered Data Approximation,
// theorem 5.26 (the radial transform). Quadrature rules and Bessel functions: Boost.Math.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/math/constants/constants.hpp>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>

#include "kernels/node.hpp"
#include "mercer/diagnosis.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"

namespace mercer {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double pi = boost::math::constants::pi<double>();
constexpr int points = 15;
constexpr Index most_panels = Index{1} << 16;
constexpr double wanted_error = 1e-13;         // of the integral of |f|, before rounding
constexpr double value_slack = 256 * epsilon;  // relative error that values of f may have: what Gram entries keep

// The 15 Kronrod points on [-1, 1] and their weights; `gauss` is 0 but at the 7 points of the Gauss rule inside.
struct Rule {
  std::array<double, points> x{};
  std::array<double, points> kronrod{};
  std::array<double, points> gauss{};

  Rule() {
    const auto& abscissa = boost::math::quadrature::gauss_kronrod<double, points>::abscissa();
    const auto& weights = boost::math::quadrature::gauss_kronrod<double, points>::weights();
    const auto& inner_weights = boost::math::quadrature::gauss<double, 7>::weights();
    std::size_t k = 0;
    for (std::size_t i = 0; i < abscissa.size(); ++i) {
      for (const double sign : {-1.0, 1.0}) {
        if (i == 0 && sign > 0) continue;  // the middle comes once
        x[k] = sign * abscissa[i];
        kronrod[k] = weights[i];
        gauss[k++] = i % 2 == 0 ? inner_weights[i / 2] : 0;
      }
    }
  }
};

const Rule& rule() {
  static const Rule one;
  return one;
}

struct Panel {
  double middle = 0;
  double half = 0;
  std::array<double, points> r{};
  std::array<double, points> g{};  // |S^(d-1)| f(r) exp(-r^2/(2R^2)) r^(d-1)
  double error = 0;                // at frequency 0 or at the highest, whichever is larger
  double size = 0;                 // integral of |g|

  Panel(double begin, double end) : middle((begin + end) / 2), half((end - begin) / 2) {
    for (std::size_t k = 0; k < points; ++k) r[k] = middle + half * rule().x[k];
  }
};

// O_d(t), the mean of exp(i <w, x>) over directions, t = |w||x|: 1 at 0, between -1 and 1.
double mean_wave(int d, double t) {
  if (d == 1) return std::cos(t);
  if (d == 2) return boost::math::cyl_bessel_j(0, t);
  // The next term of the series is t^6 / (48 d (d+2) (d+4)), 2e-16 at most.
  if (t < 0.01) return 1 - t * t / (2 * d) + t * t * t * t / (8.0 * d * (d + 2));
  if (d == 3) return std::sin(t) / t;
  const double order = d / 2.0 - 1;
  return std::tgamma(d / 2.0) * std::pow(2 / t, order) * boost::math::cyl_bessel_j(order, t);
}

double sphere_area(int d) { return 2 * std::pow(pi, d / 2.0) / std::tgamma(d / 2.0); }

Vector values_at(const RadialProfile& f, const Vector& r) {
  Vector values = f(r);
  if (values.size() != r.size())
    throw InvalidArgument(
        fmt::format("the function returned {} values for {} distances; it must return one for each", values.size(), r.size()));
  return values;
}

void require_options(const BochnerOptions& o) {
  if (o.dimension < 1 || o.dimension > 12) throw InvalidArgument(fmt::format("dimension must be from 1 to 12, got {}", o.dimension));
  if (o.frequencies < 2 || o.frequencies > 1000000)
    throw InvalidArgument(fmt::format("frequencies must be from 2 to 1000000, got {}", o.frequencies));
  for (const auto& [name, value] : {std::pair("window", o.window), std::pair("max_frequency", o.max_frequency)}) {
    if (value && !(*value > 0 && std::isfinite(*value)))
      throw InvalidArgument(fmt::format("{} must be a finite number > 0, got {}", name, *value));
  }
}

// Notes the largest excess of |f(r)| over f(0) beyond rounding.
void note_excess(BochnerCheck& check, double r, double value) {
  if (std::abs(value) <= check.at_zero + value_slack * std::abs(check.at_zero)) return;
  if (!check.exceeding || std::abs(value) > std::abs(check.exceeding->second)) check.exceeding = {r, value};
}

// The distance at which f has fallen half way from f(0) to the least value it takes between 1e-12 and 1e12; 1 when it does not fall.
double typical_length(const RadialProfile& f, BochnerCheck& check) {
  constexpr int octaves = 40;
  Vector r(4 * octaves + 2);
  r[0] = 0;
  for (Index k = 1; k < r.size(); ++k) r[k] = std::exp2(static_cast<double>(k - 1) / 2 - octaves);
  const Vector values = values_at(f, r);
  check.evaluations += r.size();
  check.at_zero = values[0];
  if (!std::isfinite(values[0]))
    throw InvalidArgument(fmt::format("the function must be finite, got f(0) = {}; give it its limit there", values[0]));
  double least = values[0];
  for (Index k = 1; k < r.size(); ++k) {
    if (!std::isfinite(values[k])) continue;  // far out, where the window leaves nothing of it
    note_excess(check, r[k], values[k]);
    least = std::min(least, values[k]);
  }
  if (!(values[0] - least > value_slack * std::abs(values[0]))) return 1;
  Index k = 1;
  while (!(values[k] <= (values[0] + least) / 2)) ++k;
  return r[k];
}

// Samples of f on [0, cut], in panels; at most 2^16 of them.
class SampledProfile {
 public:
  SampledProfile(const RadialProfile& f, const BochnerOptions& options, BochnerCheck& check)
      : dimension_(check.dimension), highest_(check.frequencies[check.frequencies.size() - 1]) {
    const double wanted = std::max(16.0, std::ceil(check.cut * highest_ / pi));
    if (wanted > static_cast<double>(most_panels) / 2)
      throw InvalidArgument(
          fmt::format("a window of {:.6g} and frequencies up to {:.6g} need {:.3g} panels, more than {}; lower one of them", check.window,
                      highest_, wanted, most_panels / 2));
    std::vector<Panel> fresh;
    const auto count = static_cast<Index>(wanted);
    for (Index i = 0; i < count; ++i)
      fresh.emplace_back(check.cut * static_cast<double>(i) / wanted, check.cut * static_cast<double>(i + 1) / wanted);
    Stage stage(options.run.progress, "samples of the function", 1);
    while (!fresh.empty()) {
      stage.check();
      sample(f, fresh, check);
      if (check.exceeding) return;
      panels_.insert(panels_.end(), fresh.begin(), fresh.end());
      fresh = halves_of_rough_panels(check.cut);
    }
    // One order of sums, whatever the order of halving.
    std::sort(panels_.begin(), panels_.end(), [](const Panel& a, const Panel& b) { return a.middle < b.middle; });
  }

  // The transform at frequency w and a bound of its error inside the cut.
  std::pair<double, double> transform(double w) const {
    long double sum = 0;
    double error = 0;
    for (const Panel& p : panels_) {
      const Sums sums = sums_over(p, w);
      sum += static_cast<long double>(sums.kronrod);
      error += std::abs(sums.kronrod - sums.gauss) + sums.rounding;
    }
    return {static_cast<double>(sum), error};
  }

 private:
  struct Sums {
    double kronrod = 0;
    double gauss = 0;
    double rounding = 0;
  };
  Sums sums_over(const Panel& p, double w) const {
    Sums sums;
    for (std::size_t k = 0; k < points; ++k) {
      const double term = p.half * p.g[k] * mean_wave(dimension_, w * p.r[k]);
      sums.kronrod += rule().kronrod[k] * term;
      sums.gauss += rule().gauss[k] * term;
      // The phase w r is known to eps w r.
      sums.rounding += p.half * rule().kronrod[k] * std::abs(p.g[k]) * (value_slack + epsilon * w * p.r[k]);
    }
    return sums;
  }

  void sample(const RadialProfile& f, std::vector<Panel>& fresh, BochnerCheck& check) const {
    Vector r(static_cast<Index>(fresh.size()) * points);
    for (std::size_t i = 0; i < fresh.size(); ++i) std::copy(fresh[i].r.begin(), fresh[i].r.end(), r.data() + i * points);
    const Vector values = values_at(f, r);
    check.evaluations += r.size();
    const double area = sphere_area(dimension_);
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      Panel& p = fresh[i];
      for (std::size_t k = 0; k < points; ++k) {
        const double value = values[static_cast<Index>(i * points + k)];
        if (!std::isfinite(value)) throw InvalidArgument(fmt::format("the function must be finite, got f({:.17g}) = {}", p.r[k], value));
        note_excess(check, p.r[k], value);
        const double u = p.r[k] / check.window;
        p.g[k] = area * value * std::exp(-u * u / 2) * std::pow(p.r[k], dimension_ - 1);
        p.size += p.half * rule().kronrod[k] * std::abs(p.g[k]);
      }
      for (const double w : {0.0, highest_}) {
        const Sums sums = sums_over(p, w);
        p.error = std::max(p.error, std::abs(sums.kronrod - sums.gauss));
      }
    }
  }

  // Takes out the panels on which f is not resolved and returns their halves; none when the error is small, or no more panels are left:
  // the error bound then says so.
  std::vector<Panel> halves_of_rough_panels(double cut) {
    double size = 0;
    for (const Panel& p : panels_) size += p.size;
    const double allowed = wanted_error * size / static_cast<double>(panels_.size());
    const auto rough = [&](const Panel& p) { return p.error > std::max(allowed, 16 * epsilon * p.size) && p.half > 4 * epsilon * cut; };
    std::vector<Panel> halves;
    const auto count = std::count_if(panels_.begin(), panels_.end(), rough);
    if (static_cast<Index>(panels_.size()) + count > most_panels) return halves;
    for (const Panel& p : panels_) {
      if (!rough(p)) continue;
      halves.emplace_back(p.middle - p.half, p.middle);
      halves.emplace_back(p.middle, p.middle + p.half);
    }
    std::erase_if(panels_, rough);
    return halves;
  }

  int dimension_;
  double highest_;
  std::vector<Panel> panels_{};
};

// Fills in the transform; `length` is the typical length of f.
void transform_profile(const RadialProfile& f, double length, const BochnerOptions& options, BochnerCheck& check) {
  const double d = check.dimension;
  check.window = options.window.value_or(10 * length);
  // The window's integral beyond the cut, relative to the whole, is as small against F as 1e-18 is when f falls over its typical length.
  const double left_out = std::max(1e-300, 1e-18 * std::min(1.0, std::pow(length / check.window, d)));
  check.cut = check.window * std::sqrt(2 * boost::math::gamma_q_inv(d / 2, left_out));
  const double beyond = boost::math::gamma_q(d / 2, check.cut * check.cut / (2 * check.window * check.window));
  check.tail_bound = check.at_zero * std::pow(std::sqrt(2 * pi) * check.window, d) * beyond;
  check.frequencies = Vector::LinSpaced(options.frequencies, 0, options.max_frequency.value_or(20 / length));
  const SampledProfile samples(f, options, check);
  if (check.exceeding) return;
  check.transform.resize(options.frequencies);
  check.bound.resize(options.frequencies);
  with_run(options.run, [&] {
    Stage stage(options.run.progress, "Fourier transform", static_cast<double>(options.frequencies));
    parallel_for(options.frequencies, [&](Index i) {
      const auto [value, error] = samples.transform(check.frequencies[i]);
      check.transform[i] = value;
      check.bound[i] = error + check.tail_bound;
      stage.advance(1);
    });
  });
  Index where = 0;
  const double highest = (check.transform + check.bound).minCoeff(&where);
  check.lowest = check.transform[where];
  check.lowest_frequency = check.frequencies[where];
  check.lowest_bound = check.bound[where];
  check.violated = highest < 0;
}

BochnerCheck run_check(const RadialProfile& f, double length, const BochnerOptions& options, BochnerCheck check) {
  if (check.at_zero >= 0 && !check.exceeding) transform_profile(f, length, options, check);
  if (check.at_zero < 0 || check.exceeding) {
    check.violated = true;
    check.frequencies.resize(0);
  }
  return check;
}

// k(0, r e_1) in R^d.
RadialProfile profile_of(const Kernel& kernel, int d, const Run& run) {
  return [kernel, d, run](const Vector& r) {
    constexpr Index chunk = 65536;
    Vector out(r.size());
    for (Index first = 0; first < r.size(); first += chunk) {
      const Index count = std::min(chunk, r.size() - first);
      Matrix at = Matrix::Zero(count, d);
      at.col(0) = r.segment(first, count);
      out.segment(first, count) = gram(kernel, Matrix::Zero(1, d), at, {.run = run}).row(0).transpose();
    }
    return out;
  };
}

std::string point_text(const Vector& x) {
  std::string text;
  for (Index i = 0; i < x.size(); ++i) text += fmt::format("{}{:.6g}", i == 0 ? "(" : ", ", x[i]);
  return text + ")";
}

// k(x, y) = f(|x - y|) at random pairs, whose distances are around the typical one.
void require_radial(const Kernel& kernel, const RadialProfile& f, int d, double length) {
  constexpr int pairs = 16;
  // Entries are good to 1e-13; a shift of x by a few lengths moves |x - y| by a few eps of them.
  constexpr double apart = 1e-10;
  RandomStream random(0, 0x626f6368);
  for (int i = 0; i < pairs; ++i) {
    const Vector x = 2 * length * random.normal_matrix(1, d).row(0).transpose();
    const Vector step = random.normal_matrix(1, d).row(0).transpose();
    const Vector y = x + length * random.uniform(0.1, 3) * step.normalized();
    const double got = gram(kernel, Matrix(x.transpose()), Matrix(y.transpose()))(0, 0);
    const double r = (y - x).norm();
    const Vector at = f(Vector{{0, r}});
    const double wanted = at[1];
    if (std::abs(got - wanted) > apart * std::max({std::abs(got), std::abs(wanted), std::abs(at[0])}))
      throw InvalidArgument(
          fmt::format("{} is not a function of |x - y| on R^{}: it is {:.6g} for x = {}, y = {}, but {:.6g} at the same "
                      "distance {:.6g} from 0; check_kernel looks at other kernels",
                      kernel.text(), d, got, point_text(x), point_text(y), wanted, r));
  }
}

}  // namespace

BochnerCheck check_bochner(const RadialProfile& f, const BochnerOptions& options) {
  require_options(options);
  BochnerCheck check;
  check.dimension = options.dimension;
  const double length = typical_length(f, check);
  return run_check(f, length, options, check);
}

BochnerCheck check_bochner(const std::function<double(double)>& f, const BochnerOptions& options) {
  return check_bochner(RadialProfile([&](const Vector& r) -> Vector { return r.unaryExpr(f); }), options);
}

BochnerCheck check_bochner(const Kernel& kernel, const BochnerOptions& options) {
  require_options(options);
  if (kernel.has_auto())
    throw InvalidArgument(fmt::format("{} waits for data to set its length scale; give it one, or resolve it first", kernel.text()));
  if (looks_at(kernel, Reduction::same))
    throw InvalidArgument(
        fmt::format("{} has white noise, which is no function of |x - y|; check the rest of it, or use check_kernel", kernel.text()));
  const RadialProfile f = profile_of(kernel, options.dimension, options.run);
  BochnerCheck check;
  check.function = kernel.text();
  check.dimension = options.dimension;
  const double length = typical_length(f, check);
  require_radial(kernel, f, options.dimension, length);
  return run_check(f, length, options, check);
}

std::string BochnerCheck::verdict() const {
  const std::string no_kernel = fmt::format("{} is no kernel on R^{}", function, dimension);
  if (at_zero < 0) return fmt::format("{}: f(0) = {:.6g} is negative", no_kernel, at_zero);
  if (exceeding)
    return fmt::format("{}: |f({:.6g})| = {:.6g} is larger than f(0) = {:.6g}, against Cauchy-Schwarz", no_kernel, exceeding->first,
                       std::abs(exceeding->second), at_zero);
  const std::string how = fmt::format("  f was smoothed by the window exp(-r^2/(2 R^2)), R = {:.6g}, and asked {} times up to r = {:.6g}",
                                      window, evaluations, cut);
  if (violated)
    return fmt::format("{}: its Fourier transform is {:.6g} < 0 at the frequency {:.6g}, known to {:.1g}\n{}", no_kernel, lowest,
                       lowest_frequency, lowest_bound, how);
  return fmt::format(
      "no violation found at {} frequencies up to {:.6g}: evidence, not proof, that {} is a kernel on R^{}\n  the lowest transform is "
      "{:.3g} "
      "at the frequency {:.6g}, known to {:.1g}\n{}",
      frequencies.size(), frequencies[frequencies.size() - 1], function, dimension, lowest, lowest_frequency, lowest_bound, how);
}

}  // namespace mercer
