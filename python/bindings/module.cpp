// The extension module mercer._mercer: converts, releases the GIL, calls the library. Checks and defaults live in the Python files.
// SPDX-License-Identifier: BSD-3-Clause
#include "bindings.hpp"
#include "mercer/version.hpp"

namespace mercer::python {

namespace {

PyObject* file_error = PyExc_ValueError;  // until mercer/_errors.py gives its class, which type checkers can see

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const InvalidArgument& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const FileError& error) {
    PyErr_SetString(file_error, error.what());
  } catch (const OverBudget& error) {
    PyErr_SetString(PyExc_MemoryError, error.what());
  } catch (const NotOffered& error) {
    PyErr_SetString(PyExc_NotImplementedError, error.what());
  } catch (const Cancelled&) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  }
}

}  // namespace

}  // namespace mercer::python

NB_MODULE(_mercer, m) {
  using namespace mercer::python;  // NOLINT(google-build-using-namespace)
  nb::set_leak_warnings(false);    // a kernel or model that a program holds in a global is alive at exit, and no leak
  m.doc() = "The compiled part of Mercer; import mercer instead.";
  nb::register_exception_translator(translate);
  m.def(
      "use_file_error", [](nb::type_object type) { file_error = type.release().ptr(); }, "type"_a);

  m.def("version", &mercer::version);
  m.def("default_threads", &mercer::default_threads);
  m.def(
      "parse_bytes", [](const std::string& text) { return mercer::parse_bytes(text); }, "text"_a);
  m.def("memory_budget", &mercer::memory_budget, "requested"_a = 0);
  m.def("release_memory", &mercer::release_memory);
  bind_samples(m);
  bind_callbacks(m);
  bind_kernels(m);
  bind_gram(m);
  bind_diagnosis(m);
  bind_rkhs_function(m);
  bind_models(m);
  bind_random_features(m);
  bind_gaussian_process(m);
  bind_kernel_learning(m);
  bind_representer(m);
  bind_falkon(m);
  bind_kernel_ridge_cv(m);
  bind_class_models(m);
  bind_model_files(m);
  bind_simulate(m);
  bind_linear_svc(m);
  bind_structured_svm(m);
  bind_svm(m);
  bind_svm_cv(m);
  bind_preimage(m);
  bind_clustering(m);
  bind_maps(m);
  bind_pca(m);
  bind_test_result(m);
  bind_further_tests(m);
  bind_two_sample(m);
  bind_aggregated(m);
  bind_weights(m);
  bind_witness(m);
  bind_change_points(m);
  bind_independence(m);
}
