// Convex losses l(y, z) of a target y and a score z, as small values.
//
//   Loss loss = losses::quantile(0.9);
//   LossValues at = loss(y, z);              // value, first and second derivative in z, sample by sample
//   Loss own = losses::custom("logcosh", [](const VectorRef& y, const VectorRef& z) { ... return LossValues{...}; });
//
//   squared              (y - z)^2                       hinge           max(0, 1 - y z), y = -1 or 1
//   huber(d)             r^2/2, d |r| - d^2/2 beyond d   squared_hinge   max(0, 1 - y z)^2
//   epsilon(e)           max(0, |r| - e)                 logistic        log(1 + exp(-y z))
//   squared_epsilon(e)   max(0, |r| - e)^2               poisson         exp(z) - y z + y log y - y, y >= 0: half the deviance
//   quantile(t)          t r, (t - 1) r below 0          expectile(t)    t r^2, (1 - t) r^2 below 0              (r = y - z)
//
// The second derivative of a loss with corners in its first is one of its generalised derivatives. Losses with corners of their own (hinge,
// epsilon, quantile) are sums of kinks, which is all that solvers and duality gaps need to know of them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/matrix.hpp"

namespace mercer {

// Derivatives with respect to the score; one of each per sample.
struct LossValues {
  Vector value;
  Vector first;
  Vector second;
};

using LossFunction = std::function<LossValues(const VectorRef& y, const VectorRef& z)>;

// low (z - at) for z < at, high (z - at) for z > at, with low <= 0 <= high.
struct Kink {
  double at = 0;
  double low = 0;
  double high = 0;
};

class Loss {
 public:
  enum class Kind : std::uint8_t {
    squared,
    hinge,
    squared_hinge,
    logistic,
    huber,
    epsilon,
    squared_epsilon,
    quantile,
    expectile,
    poisson,
    custom
  };
  enum class Targets : std::uint8_t { real, signs, counts };  // any number, -1 or 1, >= 0

  // Throws InvalidArgument for targets that the loss does not take, and where a custom loss gives something other than finite derivatives.
  LossValues operator()(const VectorRef& y, const VectorRef& z) const;
  void require_targets(const VectorRef& y) const;

  Kind kind() const { return kind_; }
  double parameter() const { return parameter_; }  // delta, epsilon, quantile; 0 where there is none
  std::string text() const;                        // "huber(1.345)"; parse_loss reads it back
  bool smooth() const;                             // has a derivative everywhere
  Targets targets() const;
  std::vector<Kink> kinks(double y) const;  // of a loss that is not smooth
  Vector mean(const VectorRef& z) const;    // what a score predicts: exp(z) for poisson, z for all others

  static Loss make(Kind kind, double parameter, std::string name = {}, LossFunction function = {});

 private:
  Loss() = default;
  Kind kind_ = Kind::squared;
  double parameter_ = 0;
  std::string name_{};
  LossFunction function_{};
};

namespace losses {

Loss squared();
Loss hinge();
Loss squared_hinge();
Loss logistic();
Loss huber(double delta = 1.345);
Loss epsilon(double width = 0.1);
Loss squared_epsilon(double width = 0.1);
Loss quantile(double level = 0.5);
Loss expectile(double level = 0.5);
Loss poisson();
// Convex in z with a derivative everywhere; called with all samples at once. The name goes into model files.
Loss custom(std::string name, LossFunction function);

}  // namespace losses

// "hinge", "quantile(0.9)", "epsilon_insensitive(0.2)"; a number left out is the default. Throws InvalidArgument naming the known words.
Loss parse_loss(std::string_view text);
std::vector<std::string> loss_names();

}  // namespace mercer
