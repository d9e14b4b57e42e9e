// MMD and its tests; mercer/_two_sample.py has the functions that people use.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/two_sample.hpp"

#include "bindings.hpp"

namespace mercer::python {

namespace {

MmdStatistic statistic_of(const std::string& word) {
  for (const MmdStatistic s :
       {MmdStatistic::automatic, MmdStatistic::u, MmdStatistic::b, MmdStatistic::h, MmdStatistic::linear, MmdStatistic::block}) {
    if (word == name_of(s)) return s;
  }
  throw InvalidArgument(R"(statistic must be "mmd-u", "mmd-b", "mmd-h", "mmd-linear" or "mmd-block", got ")" + word + '"');
}

MmdNull null_of(const std::string& word) {
  for (const MmdNull n : {MmdNull::permutation, MmdNull::binned, MmdNull::wild, MmdNull::gamma, MmdNull::pearson, MmdNull::spectral,
                          MmdNull::normal, MmdNull::bound}) {
    if (word == name_of(n)) return n;
  }
  throw InvalidArgument(R"(null must be "permutation", "binned", "wild", "gamma", "pearson", "spectral", "normal" or "bound", got ")" +
                        word + '"');
}

Exchange scheme_of(const std::string& word) {
  for (const Exchange scheme :
       {Exchange::free, Exchange::within_groups, Exchange::whole_groups, Exchange::blocks, Exchange::shifts, Exchange::pairs}) {
    if (word == name_of(scheme)) return scheme;
  }
  throw InvalidArgument(R"(exchange must be "free", "within-groups", "whole-groups", "blocks", "shifts" or "pairs", got ")" + word + '"');
}

MmdMethod method_of(const std::string& word) {
  if (word == "exact") return MmdMethod::exact;
  if (word == "random-features") return MmdMethod::random_features;
  if (word == "nystrom") return MmdMethod::nystrom;
  throw InvalidArgument(R"(method must be "exact", "random-features" or "nystrom", got ")" + word + '"');
}

void bind_estimate(nb::module_& m) {
  nb::class_<MmdEstimate>(m, "MmdEstimate")
      .def_ro("squared", &MmdEstimate::squared)
      .def_ro("distance", &MmdEstimate::distance)
      .def_ro("deviation", &MmdEstimate::deviation)
      .def_ro("error", &MmdEstimate::error)
      .def_ro("error_statement", &MmdEstimate::error_statement)
      .def_ro("statistic_name", &MmdEstimate::statistic_name)
      .def_ro("kernel", &MmdEstimate::kernel)
      .def_ro("n", &MmdEstimate::n)
      .def_ro("m", &MmdEstimate::m)
      .def_ro("seconds", &MmdEstimate::seconds)
      .def_ro("sentence", &MmdEstimate::sentence);
  m.def(
      "mmd",
      [](const Samples& X, const Samples& Y, const Kernel& kernel, const std::string& statistic, std::optional<Vector> weights_x,
         std::optional<Vector> weights_y, Index block_size, const std::string& method, Index features, std::uint64_t seed, int threads,
         std::size_t memory, nb::object progress) {
        MmdOptions o{.kernel = kernel, .statistic = statistic_of(statistic)};
        if (weights_x) o.weights_x = std::move(*weights_x);
        if (weights_y) o.weights_y = std::move(*weights_y);
        o.block_size = block_size;
        o.method = method_of(method);
        o.features = features;
        o.seed = seed;
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          o.run = run;
          return mmd(X, Y, o);
        });
      },
      "X"_a, "Y"_a, "kernel"_a, "statistic"_a, "weights_x"_a.none(), "weights_y"_a.none(), "block_size"_a, "method"_a, "features"_a,
      "seed"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
}

// How a test is done, made once and used by the three functions that take it.
void bind_options(nb::module_& m) {
  nb::class_<TwoSampleOptions>(m, "TwoSampleOptions")
      .def(
          "__init__",
          [](TwoSampleOptions* self, const Kernel& kernel, const std::string& statistic, const std::string& null, Index permutations,
             const std::string& exchange, std::vector<Index> groups, Index block_length, Index bins, Index block_size, double level,
             std::uint64_t seed) {
            const MmdStatistic word = statistic_of(statistic);
            const MmdNull null_word = null_of(null);
            const Exchange scheme = scheme_of(exchange);
            new (self) TwoSampleOptions{.kernel = kernel,
                                        .statistic = word,
                                        .null = null_word,
                                        .permutations = permutations,
                                        .exchange = {scheme, std::move(groups), block_length},
                                        .bins = bins,
                                        .block_size = block_size,
                                        .level = level,
                                        .seed = seed};
          },
          "kernel"_a, "statistic"_a, "null"_a, "permutations"_a, "exchange"_a, "groups"_a, "block_length"_a, "bins"_a, "block_size"_a,
          "level"_a, "seed"_a);
}

}  // namespace

void bind_two_sample(nb::module_& m) {
  bind_estimate(m);
  bind_options(m);
  m.def(
      "two_sample_test",
      [](const Samples& X, const Samples& Y, const TwoSampleOptions& options, int threads, std::size_t memory, nb::object progress) {
        TwoSampleOptions o = options;
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          o.run = run;
          return two_sample_test(X, Y, o);
        });
      },
      "X"_a, "Y"_a, "options"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());

  nb::class_<LevelCheck>(m, "LevelCheck")
      .def_ro("repetitions", &LevelCheck::repetitions)
      .def_ro("rejections", &LevelCheck::rejections)
      .def_ro("level", &LevelCheck::level)
      .def_ro("rate", &LevelCheck::rate)
      .def_ro("low", &LevelCheck::low)
      .def_ro("high", &LevelCheck::high)
      .def_ro("holds", &LevelCheck::holds)
      .def_prop_ro("p_values", [](const LevelCheck& c) { return c.p_values; })
      .def_ro("sentence", &LevelCheck::sentence);
  m.def(
      "level_check",
      [](const Samples& X, const Samples& Y, const TwoSampleOptions& options, Index repetitions, int threads, std::size_t memory,
         nb::object progress) {
        TwoSampleOptions o = options;
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          o.run = run;
          return level_check(X, Y, o, repetitions);
        });
      },
      "X"_a, "Y"_a, "options"_a, "repetitions"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());

  nb::class_<PowerEstimate>(m, "PowerEstimate",
                            "The power of a test at a number of rows, from a pilot sample.\n"
                            "\n"
                            ">>> import mercer\n"
                            ">>> X, y = mercer.datasets.moons(60, random_state=0)\n"
                            ">>> estimate = mercer.two_sample_power(X[y == 0], X[y == 1], n=50)\n"
                            ">>> estimate.n, 0 <= estimate.power <= 1\n"
                            "(50, True)\n")
      .def_ro("squared", &PowerEstimate::squared)
      .def_ro("deviation", &PowerEstimate::deviation)
      .def_ro("threshold", &PowerEstimate::threshold)
      .def_ro("n", &PowerEstimate::n)
      .def_ro("power", &PowerEstimate::power)
      .def_ro("low", &PowerEstimate::low)
      .def_ro("high", &PowerEstimate::high)
      .def_ro("needed", &PowerEstimate::needed)
      .def_ro("wanted", &PowerEstimate::wanted)
      .def_ro("sentence", &PowerEstimate::sentence)
      .def("__str__", [](const PowerEstimate& p) { return p.sentence; })
      .def("__repr__", [](const PowerEstimate& p) { return p.sentence; });
  m.def(
      "two_sample_power",
      [](const Samples& X, const Samples& Y, const TwoSampleOptions& options, Index rows, double wanted, int threads, std::size_t memory,
         nb::object progress) {
        TwoSampleOptions o = options;
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          o.run = run;
          return two_sample_power(X, Y, rows, wanted, o);
        });
      },
      "X"_a, "Y"_a, "options"_a, "rows"_a, "wanted"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
}

}  // namespace mercer::python
