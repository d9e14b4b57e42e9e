// HSIC and the tests of independence; mercer/_independence.py has the functions that people use.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/independence.hpp"

#include "bindings.hpp"

namespace mercer::python {

namespace {

ExchangeOptions exchange_of(const std::string& word, std::vector<Index> groups, Index block_length) {
  for (const Exchange scheme : {Exchange::free, Exchange::within_groups, Exchange::whole_groups, Exchange::blocks, Exchange::shifts}) {
    if (word == name_of(scheme)) return {scheme, std::move(groups), block_length};
  }
  throw InvalidArgument(R"(exchange must be "free", "within-groups", "whole-groups", "blocks" or "shifts", got ")" + word + '"');
}

IndependenceNull null_of(const std::string& word) {
  for (const IndependenceNull null : {IndependenceNull::permutation, IndependenceNull::gamma, IndependenceNull::spectral}) {
    if (word == name_of(null)) return null;
  }
  throw InvalidArgument(R"(null must be "permutation", "gamma" or "spectral", got ")" + word + '"');
}

HsicForm form_of(bool unbiased) { return unbiased ? HsicForm::unbiased : HsicForm::biased; }

Correlation correlation_of(const std::string& word) {
  if (word == "pearson") return Correlation::pearson;
  if (word == "spearman") return Correlation::spearman;
  if (word == "kendall") return Correlation::kendall;
  if (word == "chi2") return Correlation::chi2;
  throw InvalidArgument(R"(method must be "pearson", "spearman", "kendall" or "chi2", got ")" + word + '"');
}

HsicEstimate estimate(const Samples& X, const Samples& Y, std::optional<Kernel> kernel_x, std::optional<Kernel> kernel_y, bool unbiased,
                      int threads, std::size_t memory, nb::object progress) {
  HsicOptions o{.kernel_x = std::move(kernel_x), .kernel_y = std::move(kernel_y), .form = form_of(unbiased)};
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return hsic(X, Y, o);
  });
}

TestResult independence(const Samples& X, const Samples& Y, std::optional<Kernel> kernel_x, std::optional<Kernel> kernel_y, bool unbiased,
                        const std::string& null, Index permutations, const std::string& exchange, std::vector<Index> groups,
                        Index block_length, double level, std::uint64_t seed, int threads, std::size_t memory, nb::object progress) {
  IndependenceOptions o{.kernel_x = std::move(kernel_x),
                        .kernel_y = std::move(kernel_y),
                        .form = form_of(unbiased),
                        .null = null_of(null),
                        .permutations = permutations,
                        .exchange = exchange_of(exchange, std::move(groups), block_length),
                        .level = level,
                        .seed = seed};
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return independence_test(X, Y, o);
  });
}

TestResult joint(const std::vector<Samples>& variables, std::vector<std::optional<Kernel>> kernels, const std::string& null,
                 Index permutations, double level, std::uint64_t seed, int threads, std::size_t memory, nb::object progress) {
  JointIndependenceOptions o{
      .kernels = std::move(kernels), .null = null_of(null), .permutations = permutations, .level = level, .seed = seed};
  Job job(threads, memory, std::move(progress));
  return job([&](const Run& run) {
    o.run = run;
    return joint_independence_test(variables, o);
  });
}

}  // namespace

void bind_independence(nb::module_& m) {
  nb::class_<HsicEstimate>(m, "HsicEstimate")
      .def_ro("value", &HsicEstimate::value)
      .def_ro("correlation", &HsicEstimate::correlation)
      .def_ro("statistic_name", &HsicEstimate::statistic_name)
      .def_ro("kernel_x", &HsicEstimate::kernel_x)
      .def_ro("kernel_y", &HsicEstimate::kernel_y)
      .def_ro("n", &HsicEstimate::n)
      .def_ro("seconds", &HsicEstimate::seconds)
      .def_ro("sentence", &HsicEstimate::sentence);
  m.def("hsic", &estimate, "X"_a, "Y"_a, "kernel_x"_a.none(), "kernel_y"_a.none(), "unbiased"_a, "threads"_a = 0, "memory"_a = 0,
        "progress"_a.none() = nb::none());
  m.def("independence_test", &independence, "X"_a, "Y"_a, "kernel_x"_a.none(), "kernel_y"_a.none(), "unbiased"_a, "null"_a,
        "permutations"_a, "exchange"_a, "groups"_a, "block_length"_a, "level"_a, "seed"_a, "threads"_a = 0, "memory"_a = 0,
        "progress"_a.none() = nb::none());
  m.def("joint_independence_test", &joint, "variables"_a, "kernels"_a, "null"_a, "permutations"_a, "level"_a, "seed"_a, "threads"_a = 0,
        "memory"_a = 0, "progress"_a.none() = nb::none());
  m.def(
      "correlation_test",
      [](const Vector& x, const Vector& y, const std::string& method, double level) {
        return correlation_test(x, y, correlation_of(method), level);
      },
      "x"_a, "y"_a, "method"_a, "level"_a);
  m.def("category_kernel", [] { return Categories{}.kernel; });
}

}  // namespace mercer::python
