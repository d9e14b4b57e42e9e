// Tests with many kernels; mercer/_aggregated.py has the functions and the result that people use.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/aggregated_tests.hpp"

#include <nanobind/stl/pair.h>

#include "bindings.hpp"

namespace mercer::python {

namespace {

ExchangeOptions exchange_of(const std::string& word, std::vector<Index> groups, Index block_length) {
  for (const Exchange scheme :
       {Exchange::free, Exchange::within_groups, Exchange::whole_groups, Exchange::blocks, Exchange::shifts, Exchange::pairs}) {
    if (word == name_of(scheme)) return {scheme, std::move(groups), block_length};
  }
  throw InvalidArgument(R"(exchange must be "free", "within-groups", "whole-groups", "blocks", "shifts" or "pairs", got ")" + word + '"');
}

// A word, or the weights themselves.
template <class Options>
void set_weights(Options& options, const std::string& word, std::optional<Vector> weights) {
  if (weights) {
    options.weights = std::move(*weights);
    if (options.weights.size() == 0) throw InvalidArgument("weights must be one for each kernel, got none");
    return;
  }
  for (const KernelWeights weighting :
       {KernelWeights::uniform, KernelWeights::increasing, KernelWeights::decreasing, KernelWeights::centred}) {
    if (word != name_of(weighting)) continue;
    options.weighting = weighting;
    return;
  }
  throw InvalidArgument(R"(weights must be "uniform", "increasing", "decreasing", "centred" or one number for each kernel, got ")" + word +
                        '"');
}

AggregatedResult mmd_aggregated(const Samples& X, const Samples& Y, std::vector<Kernel> kernels, Index bandwidths,
                                const std::string& weighting, std::optional<Vector> weights, std::pair<Index, Index> permutations,
                                const std::string& exchange, std::vector<Index> groups, Index block_length, double level,
                                std::uint64_t seed, int threads, std::size_t memory, nb::object progress) {
  MmdAggregatedOptions o;
  o.kernels = std::move(kernels);
  o.bandwidths = bandwidths;
  set_weights(o, weighting, std::move(weights));
  o.permutations = permutations.first;
  o.level_permutations = permutations.second;
  o.exchange = exchange_of(exchange, std::move(groups), block_length);
  o.level = level;
  o.seed = seed;
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return mmd_aggregated_test(X, Y, o);
  });
}

AggregatedResult mmd_fuse(const Samples& X, const Samples& Y, std::vector<Kernel> kernels, Index bandwidths, double lambda,
                          Index permutations, const std::string& exchange, std::vector<Index> groups, Index block_length, double level,
                          std::uint64_t seed, int threads, std::size_t memory, nb::object progress) {
  MmdFuseOptions o;
  o.kernels = std::move(kernels);
  o.bandwidths = bandwidths;
  o.lambda = lambda;
  o.permutations = permutations;
  o.exchange = exchange_of(exchange, std::move(groups), block_length);
  o.level = level;
  o.seed = seed;
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return mmd_fuse_test(X, Y, o);
  });
}

AggregatedResult hsic_aggregated(const Samples& X, const Samples& Y, std::vector<Kernel> kernels_x, std::vector<Kernel> kernels_y,
                                 Index bandwidths, const std::string& weighting, std::optional<Vector> weights,
                                 std::pair<Index, Index> permutations, const std::string& exchange, std::vector<Index> groups,
                                 Index block_length, double level, std::uint64_t seed, int threads, std::size_t memory,
                                 nb::object progress) {
  HsicAggregatedOptions o;
  o.kernels_x = std::move(kernels_x);
  o.kernels_y = std::move(kernels_y);
  o.bandwidths = bandwidths;
  set_weights(o, weighting, std::move(weights));
  o.permutations = permutations.first;
  o.level_permutations = permutations.second;
  o.exchange = exchange_of(exchange, std::move(groups), block_length);
  o.level = level;
  o.seed = seed;
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return hsic_aggregated_test(X, Y, o);
  });
}

}  // namespace

void bind_aggregated(nb::module_& m) {
  nb::class_<KernelVerdict>(m, "KernelVerdict")
      .def_ro("kernel", &KernelVerdict::kernel)
      .def_ro("kernel_y", &KernelVerdict::kernel_y)
      .def_ro("weight", &KernelVerdict::weight)
      .def_ro("statistic", &KernelVerdict::statistic)
      .def_ro("threshold", &KernelVerdict::threshold)
      .def_ro("p_value", &KernelVerdict::p_value)
      .def_ro("level", &KernelVerdict::level)
      .def_ro("rejected", &KernelVerdict::rejected);
  nb::class_<AggregatedResult, TestResult>(m, "AggregatedResult")
      .def_ro("table", &AggregatedResult::table)
      .def_ro("correction", &AggregatedResult::correction)
      .def_prop_ro("rejecting", &AggregatedResult::rejecting);
  m.def("mmd_aggregated_test", &mmd_aggregated, "X"_a, "Y"_a, "kernels"_a, "bandwidths"_a, "weighting"_a, "weights"_a.none(),
        "permutations"_a, "exchange"_a, "groups"_a, "block_length"_a, "level"_a, "seed"_a, "threads"_a = 0, "memory"_a = 0,
        "progress"_a.none() = nb::none());
  m.def("mmd_fuse_test", &mmd_fuse, "X"_a, "Y"_a, "kernels"_a, "bandwidths"_a, "lambda_"_a, "permutations"_a, "exchange"_a, "groups"_a,
        "block_length"_a, "level"_a, "seed"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def("hsic_aggregated_test", &hsic_aggregated, "X"_a, "Y"_a, "kernels_x"_a, "kernels_y"_a, "bandwidths"_a, "weighting"_a,
        "weights"_a.none(), "permutations"_a, "exchange"_a, "groups"_a, "block_length"_a, "level"_a, "seed"_a, "threads"_a = 0,
        "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def("with_bandwidths", &with_bandwidths, "kernels"_a, "X"_a, "bandwidths"_a);
}

}  // namespace mercer::python
