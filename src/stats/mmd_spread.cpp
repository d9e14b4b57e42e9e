// SPDX-License-Identifier: BSD-3-Clause
#include "stats/mmd_spread.hpp"

#include <cmath>
#include <limits>

namespace mercer::stats {

namespace {

// sum over a sample of the weights (to the power 1 or 2).
struct Mass {
  double total = 0;
  double squares = 0;
  double pairs() const { return total * total - squares; }  // sum over i != j of w_i w_j
};
Mass mass_of(const Eigen::Ref<const Vector>& w) { return {w.sum(), w.squaredNorm()}; }

// The variance of the weighted mean of g, times as many rows as the weights are worth.
double weighted_variance(const Vector& g, const Eigen::Ref<const Vector>& w) {
  const Mass mass = mass_of(w);
  const double mean = g.dot(w) / mass.total;
  const double sum = (w.array().square() * (g.array() - mean).square()).sum();
  const double rows = mass.total * mass.total / mass.squares;
  if (rows <= 1) return std::numeric_limits<double>::quiet_NaN();
  return sum / mass.squares * rows / (rows - 1);
}

}  // namespace

Spread spread_of(const Pooled& p, const SampleSums& s, MmdStatistic statistic, const Vector& weights) {
  const Vector w = weights.size() > 0 ? weights : Vector::Ones(p.size());
  const auto wx = w.head(p.n);
  const auto wy = w.tail(p.m);
  const Mass x = mass_of(wx);
  const Mass y = mass_of(wy);
  Spread out;
  if (statistic == MmdStatistic::h) {
    const auto n = static_cast<double>(p.n);
    const LabelSums sums{.n = n, .m = n, .xx = s.xx, .yy = s.yy, .xy = s.xy, .paired = s.paired.sum()};
    out.squared = statistic_of(statistic, sums);
    // mean over j of h(z_i, z_j): what row i contributes.
    const Vector means =
        (s.against.col(0).head(p.n) + s.against.col(1).tail(p.n) - s.against.col(1).head(p.n) - s.against.col(0).tail(p.n) + 2 * s.paired) /
        (n - 1);
    out.variance_x = weighted_variance(means, wx);
    out.variance_y = 0;
    out.deviation = std::sqrt(4 * out.variance_x / n);
    return out;
  }
  if (statistic == MmdStatistic::b) {
    const double xx = s.xx + wx.cwiseAbs2().dot(s.diagonal.head(p.n));
    const double yy = s.yy + wy.cwiseAbs2().dot(s.diagonal.tail(p.m));
    out.squared = xx / (x.total * x.total) + yy / (y.total * y.total) - 2 * s.xy / (x.total * y.total);
    if (p.kernel.is_psd()) out.squared = std::max(0.0, out.squared);  // below 0 by rounding alone
  } else {
    out.squared = s.xx / x.pairs() + s.yy / y.pairs() - 2 * s.xy / (x.total * y.total);
  }
  if (p.n < 2 || p.m < 2) {
    out.deviation = out.variance_x = out.variance_y = std::numeric_limits<double>::quiet_NaN();
    return out;
  }
  // The witness at each row, the row itself left out, of the kernel centred by its means r over all rows: the statistic does not see r, but
  // leaving rows out does, and a large part that kernel values share would drown the witness (a linear kernel far from 0).
  const Vector r = (s.against.rowwise().sum() + w.cwiseProduct(s.diagonal)) / (x.total + y.total);
  const Vector wr = w.cwiseProduct(r);
  const double rx = wr.head(p.n).sum();
  const double ry = wr.tail(p.m).sum();
  const Vector at_x = (s.against.col(0).head(p.n).array() - (rx - wr.head(p.n).array())) / (x.total - wx.array()) -
                      (s.against.col(1).head(p.n).array() - ry) / y.total;
  const Vector at_y = (s.against.col(1).tail(p.m).array() - (ry - wr.tail(p.m).array())) / (y.total - wy.array()) -
                      (s.against.col(0).tail(p.m).array() - rx) / x.total;
  out.variance_x = weighted_variance(at_x, wx);
  out.variance_y = weighted_variance(at_y, wy);
  out.deviation = std::sqrt(4 * out.variance_x * x.squares / (x.total * x.total) + 4 * out.variance_y * y.squares / (y.total * y.total));
  return out;
}

MeanOfBlocks mean_of(const Vector& values) {
  MeanOfBlocks out;
  out.blocks = values.size();
  out.value = values.mean();
  const auto blocks = static_cast<double>(values.size());
  out.deviation = std::sqrt((values.array() - out.value).square().sum() / (blocks - 1) / blocks);
  return out;
}

}  // namespace mercer::stats
