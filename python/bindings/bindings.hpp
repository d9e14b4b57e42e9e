// What the files of the extension share: arrays in and out, and jobs that run without the GIL yet hear Ctrl-C.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "mercer/error.hpp"
#include "mercer/kernels.hpp"
#include "mercer/matrix.hpp"
#include "mercer/model_file.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer::python {

namespace nb = nanobind;
using namespace nb::literals;

// One call into the library: threads, memory and progress from Python, the GIL released while it works. The library reports
// progress on the calling thread some twenty times a second; there signals are looked at, so Ctrl-C stops any long job.
class Job {
 public:
  Job(int threads, std::size_t memory, nb::object progress) : progress_(std::move(progress)) {
    run_.threads = threads;
    run_.memory = memory;
    run_.progress = [this](const ProgressEvent& event) { return report(event); };
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  template <class Work>
  auto operator()(Work&& work) {
    try {
      const nb::gil_scoped_release released;
      return std::forward<Work>(work)(std::as_const(run_));
    } catch (const Cancelled&) {
      if (error_) throw nb::python_error(std::move(*error_));
      throw;
    }
  }

 private:
  bool report(const ProgressEvent& event) {
    const nb::gil_scoped_acquire held;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!progress_.is_none()) progress_(nb::str(event.stage.data(), event.stage.size()), event.fraction, event.seconds);
      return true;
    } catch (nb::python_error& error) {
      error_.emplace(std::move(error));  // raised again when the job has come back
      return false;
    }
  }

  Run run_{};
  nb::object progress_;
  std::optional<nb::python_error> error_{};
};

// A C++ value moved to the heap, kept alive by the arrays that look into it.
template <class T>
nb::capsule keep(T value) {
  return nb::capsule(new T(std::move(value)), [](void* p) noexcept { delete static_cast<T*>(p); });
}

// Holds Python objects from C++; they are let go wherever the last copy of what looks into them dies, under the GIL.
template <class... Objects>
std::shared_ptr<const std::tuple<Objects...>> hold(Objects... objects) {
  using Held = const std::tuple<Objects...>;
  return std::shared_ptr<Held>(new Held(std::move(objects)...), [](Held* held) {
    if (Py_IsInitialized() == 0) return;  // the interpreter is gone, and the objects with it
    const nb::gil_scoped_acquire gil;
    delete held;
  });
}

// Kernels written in Python, by name: what a kernel uses, as the objects that mercer/_callbacks.py made of them, and back. Values of the
// dictionary are such objects or kernels.
nb::dict callbacks_of(const Kernel& kernel);
KernelLibrary library_from(const nb::dict& callbacks);

// For pickle: the bytes of a model file; where the kernel has parts in Python, a pair of those bytes and the parts.
nb::object pickled(const SavedModel& model);
SavedModel unpickled(const nb::object& state);

void bind_samples(nb::module_& m);
void bind_callbacks(nb::module_& m);
void bind_kernels(nb::module_& m);
void bind_gram(nb::module_& m);
void bind_diagnosis(nb::module_& m);
void bind_rkhs_function(nb::module_& m);
void bind_models(nb::module_& m);
void bind_random_features(nb::module_& m);
void bind_gaussian_process(nb::module_& m);
void bind_kernel_learning(nb::module_& m);
void bind_representer(nb::module_& m);
void bind_falkon(nb::module_& m);
void bind_kernel_ridge_cv(nb::module_& m);
void bind_model_files(nb::module_& m);
void bind_simulate(nb::module_& m);
void bind_linear_svc(nb::module_& m);
void bind_structured_svm(nb::module_& m);
void bind_class_models(nb::module_& m);
void bind_svm(nb::module_& m);
void bind_svm_cv(nb::module_& m);
void bind_preimage(nb::module_& m);
void bind_clustering(nb::module_& m);
void bind_maps(nb::module_& m);
void bind_pca(nb::module_& m);
void bind_test_result(nb::module_& m);
void bind_further_tests(nb::module_& m);
void bind_two_sample(nb::module_& m);
void bind_aggregated(nb::module_& m);
void bind_weights(nb::module_& m);
void bind_witness(nb::module_& m);
void bind_change_points(nb::module_& m);
void bind_independence(nb::module_& m);

}  // namespace mercer::python
