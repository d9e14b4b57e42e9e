// Changes in series and drifts of streams. SPDX-License-Identifier: BSD-3-Clause
#include "mercer/change_points.hpp"

#include <nanobind/stl/tuple.h>

#include "bindings.hpp"
#include "mercer/drift.hpp"

namespace mercer::python {

namespace {

template <class Value>
auto each_change(Value ChangePoint::*member) {
  return [member](const ChangePoints& found) {
    std::vector<Value> out;
    for (const ChangePoint& c : found.changes) out.push_back(c.*member);
    return out;
  };
}

void bind_changes(nb::module_& m) {
  nb::class_<ChangePoints>(m, "ChangePoints")
      .def_prop_ro("positions", each_change(&ChangePoint::position))
      .def_prop_ro("gains", each_change(&ChangePoint::gain))
      .def_prop_ro("squared", each_change(&ChangePoint::squared))
      .def_ro("n", &ChangePoints::n)
      .def_ro("min_segment", &ChangePoints::min_segment)
      .def_ro("cost", &ChangePoints::cost)
      .def_prop_ro("costs", [](const ChangePoints& found) { return found.costs; })
      .def_prop_ro("criterion", [](const ChangePoints& found) { return found.criterion; })
      .def_ro("penalty", &ChangePoints::penalty)
      .def_ro("method", &ChangePoints::method)
      .def_ro("kernel", &ChangePoints::kernel)
      .def_ro("remarks", &ChangePoints::remarks)
      .def_ro("seconds", &ChangePoints::seconds)
      .def_ro("sentence", &ChangePoints::sentence);
  m.def(
      "change_points",
      [](const Samples& series, const Kernel& kernel, std::optional<Index> changes, std::optional<double> penalty, Index max_changes,
         Index min_segment, int threads, std::size_t memory, nb::object progress) {
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) { return change_points(series, {kernel, changes, penalty, max_changes, min_segment, run}); });
      },
      "series"_a, "kernel"_a, "changes"_a.none(), "penalty"_a.none(), "max_changes"_a, "min_segment"_a, "threads"_a, "memory"_a,
      "progress"_a.none());
  m.def(
      "change_point_test",
      [](const Samples& series, const Kernel& kernel, Index permutations, bool blocks, Index block_length, Index min_segment, double level,
         std::uint64_t seed, int threads, std::size_t memory, nb::object progress) {
        ChangePointTestOptions o;
        o.kernel = kernel;
        o.permutations = permutations;
        o.exchange = {blocks ? Exchange::blocks : Exchange::free, {}, block_length};
        o.min_segment = min_segment;
        o.level = level;
        o.seed = seed;
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          o.run = run;
          return change_point_test(series, o);
        });
      },
      "series"_a, "kernel"_a, "permutations"_a, "blocks"_a, "block_length"_a, "min_segment"_a, "level"_a, "seed"_a, "threads"_a, "memory"_a,
      "progress"_a.none());
}

// Times, statistics, thresholds and alarms as arrays of one length.
std::tuple<std::vector<Index>, Vector, Vector, std::vector<bool>> arrays_of(const std::vector<DriftStep>& steps) {
  std::tuple<std::vector<Index>, Vector, Vector, std::vector<bool>> out{{}, Vector(std::ssize(steps)), Vector(std::ssize(steps)), {}};
  auto& [times, statistics, thresholds, alarms] = out;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    times.push_back(steps[i].time);
    statistics[static_cast<Index>(i)] = steps[i].statistic;
    thresholds[static_cast<Index>(i)] = steps[i].threshold;
    alarms.push_back(steps[i].alarm);
  }
  return out;
}

void bind_drift(nb::module_& m) {
  nb::class_<DriftParts>(m, "DriftParts")
      .def(nb::init<>())
      .def_rw("kernel", &DriftParts::kernel)
      .def_rw("reference", &DriftParts::reference)
      .def_rw("thresholds", &DriftParts::thresholds)
      .def_rw("window", &DriftParts::window)
      .def_rw("expected_run_length", &DriftParts::expected_run_length)
      .def_rw("simulations", &DriftParts::simulations)
      .def_rw("seed", &DriftParts::seed)
      .def_rw("remarks", &DriftParts::remarks)
      .def_rw("recent", &DriftParts::recent)
      .def_rw("time", &DriftParts::time)
      .def_rw("steps", &DriftParts::steps)
      .def_rw("last_alarm", &DriftParts::last_alarm);
  nb::class_<DriftMonitor>(m, "DriftMonitor", "mercer.DriftMonitor is the class that people use.")
      .def(nb::init<const DriftParts&>(), "parts"_a)
      .def_prop_ro("kernel", [](const DriftMonitor& d) { return d.kernel(); })
      .def_prop_ro("thresholds", [](const DriftMonitor& d) { return d.thresholds(); })
      .def_prop_ro("window", &DriftMonitor::window)
      .def_prop_ro("reference_rows", &DriftMonitor::reference_rows)
      .def_prop_ro("expected_run_length", &DriftMonitor::expected_run_length)
      .def_prop_ro("simulations", &DriftMonitor::simulations)
      .def_prop_ro("seed", &DriftMonitor::seed)
      .def_prop_ro("remarks", [](const DriftMonitor& d) { return d.remarks(); })
      .def_prop_ro("width", &DriftMonitor::width)
      .def_prop_ro("time", &DriftMonitor::time)
      .def_prop_ro("filled", &DriftMonitor::filled)
      .def_prop_ro("last_alarm", &DriftMonitor::last_alarm)
      .def_prop_ro("sentence", &DriftMonitor::sentence)
      .def_prop_ro("parts", &DriftMonitor::parts)
      .def("reset", &DriftMonitor::reset)
      .def(
          "update",
          [](DriftMonitor& d, const Samples& rows, int threads, nb::object progress) {
            Job job(threads, 0, std::move(progress));
            return arrays_of(job([&](const Run& run) { return d.update(rows, run); }));
          },
          "rows"_a, "threads"_a, "progress"_a.none());
  m.def(
      "drift_monitor",
      [](const Samples& reference, const Kernel& kernel, Index window, double run_length, Index simulations, Index max_reference,
         std::uint64_t seed, int threads, std::size_t memory, nb::object progress) {
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          return DriftMonitor(reference, {kernel, window, run_length, simulations, max_reference, seed, run});
        });
      },
      "reference"_a, "kernel"_a, "window"_a, "run_length"_a, "simulations"_a, "max_reference"_a, "seed"_a, "threads"_a, "memory"_a,
      "progress"_a.none());
}

}  // namespace

void bind_change_points(nb::module_& m) {
  bind_changes(m);
  bind_drift(m);
}

}  // namespace mercer::python
