// Pearson's system of curves: the law with given mean, variance, skewness and kurtosis whose density p solves
// p'/p = -(x + a) / (c0 + c1 x + c2 x^2), of the type that the moments decide.
//
// The criterion is kappa = b1 (b2 + 3)^2 / (4 (4 b2 - 3 b1)(2 b2 - 3 b1 - 6)), b1 the squared skewness and b2 the kurtosis: below 0 type I
// (beta), infinite type III (gamma), between 0 and 1 type IV, 1 type V (inverse gamma), above 1 type VI (beta prime); without skewness the
// symmetric types II (in I) and VII (in IV), and the normal law. Type IV has no closed distribution function: its density on an angle is
// summed by Simpson's rule. Moments beyond Pearson's limit b2 >= b1 + 1 belong to no law and are refused.
// Reference: Pearson 1895, 1916; Heinrich, A guide to the Pearson type IV distribution, 2004. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

namespace mercer::stats {

class PearsonCurve {
 public:
  // kurtosis: 3 for the normal law. variance > 0.
  PearsonCurve(double mean, double variance, double skewness, double kurtosis);

  double upper_tail(double x) const;  // P(T >= x)
  double quantile(double p) const;
  const std::string& type() const { return type_; }  // "I", "III", "IV", "V", "VI" or "normal"

  // The same in units of the deviation from the mean, skewness >= 0.
  class Standard {
   public:
    virtual ~Standard() = default;
    virtual double lower_tail(double x) const = 0;
    virtual double upper_tail(double x) const = 0;
    virtual double quantile(double p) const = 0;
  };

 private:
  double mean_;
  double deviation_;
  bool mirrored_;  // of negative skewness: -T is looked at
  std::string type_{};
  std::shared_ptr<const Standard> law_{};
};

}  // namespace mercer::stats
