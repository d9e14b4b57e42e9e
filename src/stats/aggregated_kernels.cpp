// SPDX-License-Identifier: BSD-3-Clause
#include "stats/aggregated_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "gram/length_scale.hpp"
#include "mercer/diagnosis.hpp"
#include "mercer/error.hpp"
#include "stats/test_result.hpp"

namespace mercer {

const char* name_of(KernelWeights weights) {
  switch (weights) {
    case KernelWeights::uniform:
      return "uniform";
    case KernelWeights::increasing:
      return "increasing";
    case KernelWeights::decreasing:
      return "decreasing";
    case KernelWeights::centred:
      return "centred";
  }
  return "";
}

namespace {

constexpr Index most_bandwidths = 1000;

struct Span {
  double low = 1;
  double high = 1;
};

// Half the 5 % quantile to twice the 95 % quantile of the distances between rows that differ; a kernel cannot tell the others apart anyway.
Span span_of(std::vector<double> distances) {
  std::erase_if(distances, [](double d) { return !(d > 0); });
  if (distances.empty()) return {};
  const auto quantile = [&](double part) {
    const auto at = distances.begin() + static_cast<std::ptrdiff_t>(std::floor(part * static_cast<double>(distances.size() - 1)));
    std::nth_element(distances.begin(), at, distances.end());
    return *at;
  };
  const double low = quantile(0.05);
  return {low / 2, 2 * quantile(0.95)};
}

// Distances are worked out once for each thing that some kernel looks at.
class Spans {
 public:
  explicit Spans(const Samples& X) : X_(&X) {}

  Span of(Reduction reduction, std::span<const ColumnRef> columns) {
    auto key = std::pair(reduction, std::vector<ColumnRef>(columns.begin(), columns.end()));
    const auto known = spans_.find(key);
    if (known != spans_.end()) return known->second;
    return spans_.emplace(std::move(key), span_of(length_scale_distances(*X_, reduction, columns))).first->second;
  }

 private:
  const Samples* X_;
  std::map<std::pair<Reduction, std::vector<ColumnRef>>, Span> spans_{};
};

// A grid need not be finer than people can read.
double four_digits(double value) { return std::stod(fmt::format("{:.4g}", value)); }

void append(std::vector<Kernel>& out, const Kernel& kernel, Index bandwidths, Spans& spans) {
  for (Index b = 0; b < bandwidths; ++b) {
    const double part = bandwidths == 1 ? 0.5 : static_cast<double>(b) / static_cast<double>(bandwidths - 1);
    out.push_back(with_length_scales(kernel, [&](Reduction reduction, std::span<const ColumnRef> columns) {
      const Span span = spans.of(reduction, columns);
      return four_digits(span.low * std::pow(span.high / span.low, part));
    }));
  }
}

}  // namespace

std::vector<Kernel> with_bandwidths(const std::vector<Kernel>& kernels, const Samples& X, Index bandwidths) {
  return stats::collect(kernels, {}, X, bandwidths, "kernels").kernels;
}

namespace stats {

std::vector<std::string> KernelCollection::texts() const {
  std::vector<std::string> texts;
  for (const Kernel& kernel : kernels) texts.push_back(kernel.text());
  return texts;
}

std::vector<Kernel> two_sample_kernels() {
  using kernels::LengthScale;
  return {kernels::laplacian(LengthScale::automatic(), kernels::Norm::l1), kernels::gaussian(LengthScale::automatic())};
}

KernelCollection collect(const std::vector<Kernel>& given, const std::vector<Kernel>& otherwise, const Samples& X, Index bandwidths,
                         std::string_view name) {
  if (bandwidths < 1 || bandwidths > most_bandwidths)
    throw InvalidArgument(fmt::format("bandwidths must be from 1 to {}, got {}", most_bandwidths, bandwidths));
  const std::vector<Kernel>& wanted = given.empty() ? otherwise : given;
  KernelCollection collection;
  Spans spans(X);
  for (const Kernel& kernel : wanted) {
    if (kernel.needs_given_gram() != X.is_given())
      throw InvalidArgument(
          kernel.needs_given_gram()
              ? fmt::format("{} has {}, which looks up a given Gram matrix, but the samples are rows of numbers: make "
                            "them parts of Samples::given_gram(K)",
                            name, kernel.text())
              : fmt::format("the samples are objects of a given Gram matrix, which {} cannot look at: every kernel must be "
                            "made of precomputed",
                            kernel.text()));
    const std::size_t before = collection.kernels.size();
    if (kernel.has_auto()) {
      append(collection.kernels, kernel, bandwidths, spans);
    } else {
      collection.kernels.push_back(kernel);
    }
    collection.families.push_back(static_cast<Index>(collection.kernels.size() - before));
  }
  return collection;
}

Vector weights_of(const KernelCollection& collection, KernelWeights weighting) {
  const auto kernels = static_cast<Index>(collection.kernels.size());
  if (weighting == KernelWeights::uniform) return Vector::Constant(kernels, 1 / static_cast<double>(kernels));
  Vector weights(kernels);
  Index begin = 0;
  for (const Index count : collection.families) {
    for (Index i = 0; i < count; ++i) {
      const double middle = 0.5 * static_cast<double>(count - 1);
      const double place = weighting == KernelWeights::increasing   ? static_cast<double>(count - i)
                           : weighting == KernelWeights::decreasing ? static_cast<double>(i + 1)
                                                                    : std::abs(static_cast<double>(i) - middle) + 1;
      weights[begin + i] = 1 / place;
    }
    weights.segment(begin, count) /= weights.segment(begin, count).sum() * static_cast<double>(collection.families.size());
    begin += count;
  }
  return weights;
}

Vector scaled_weights(const Vector& given, Index count) {
  if (given.size() != count)
    throw InvalidArgument(fmt::format("weights must be one for each of the {} kernels, got {}", count, given.size()));
  if (!given.allFinite() || !(given.minCoeff() > 0))
    throw InvalidArgument("weights must be finite and > 0; leave kernels out to give them none");
  return given / given.maxCoeff() / (given / given.maxCoeff()).sum();
}

std::string level_words(TestResult& result, Exchange scheme) {
  result.exact = scheme != Exchange::blocks && scheme != Exchange::shifts;
  if (scheme == Exchange::blocks) return "level right in the limit of long blocks";
  if (scheme == Exchange::shifts) return "level right in the limit of long series";
  if (scheme == Exchange::whole_groups) return "exact level for groups that are exchangeable as wholes, their sizes included";
  return "exact level";
}

void remark_on_kernels(TestResult& result, const std::vector<Kernel>& kernels, const Samples& X, std::string_view what) {
  for (const Kernel& kernel : kernels) {
    const std::vector<std::string> remarks = kernel_remarks(kernel, X);
    result.remarks.insert(result.remarks.end(), remarks.begin(), remarks.end());
    if (!remarks.empty()) break;  // of the first that has some
  }
  const auto sees_all = [](const Kernel& k) { return k.is_characteristic() == Verdict::yes; };
  if (std::any_of(kernels.begin(), kernels.end(), sees_all)) return;
  if (kernels.size() > 1)
    result.remarks.push_back(fmt::format("none of the {} kernels is known to be characteristic; of the first:", kernels.size()));
  remark_on_kernel(result, kernels.front(), X, what);
}

}  // namespace stats

}  // namespace mercer
