// What tests answer with; mercer/_test_result.py is the class that people use.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/test_result.hpp"

#include <nanobind/stl/pair.h>

#include "bindings.hpp"

namespace mercer::python {

void bind_test_result(nb::module_& m) {
  nb::class_<TestResult>(m, "TestResult")
      .def_ro("test", &TestResult::test)
      .def_ro("statistic_name", &TestResult::statistic_name)
      .def_ro("statistic", &TestResult::statistic)
      .def_ro("p_value", &TestResult::p_value)
      .def_ro("level", &TestResult::level)
      .def_ro("rejected", &TestResult::rejected)
      .def_ro("threshold", &TestResult::threshold)
      .def_ro("method", &TestResult::method)
      .def_ro("description", &TestResult::description)
      .def_ro("exact", &TestResult::exact)
      .def_prop_ro("null", [](const TestResult& r) { return r.null; })
      .def_ro("kernels", &TestResult::kernels)
      .def_prop_ro("kernel", &TestResult::kernel)
      .def_ro("n", &TestResult::n)
      .def_ro("m", &TestResult::m)
      .def_ro("seed", &TestResult::seed)
      .def_ro("draws", &TestResult::draws)
      .def_ro("numbers", &TestResult::numbers)
      .def_ro("remarks", &TestResult::remarks)
      .def_ro("seconds", &TestResult::seconds)
      .def_ro("sentence", &TestResult::sentence);
}

}  // namespace mercer::python
