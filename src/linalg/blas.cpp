// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/blas.hpp"

#include <string>

namespace mercer::linalg {

namespace {

std::mutex& process_mutex() {
  static std::mutex mutex;
  return mutex;
}

// From load on: one thread a call.
const bool single_threaded_from_load = [] {
  openblas_set_num_threads(1);
  return true;
}();

}  // namespace

BlasThreads::BlasThreads(int threads) : lock_(process_mutex()) { openblas_set_num_threads(threads); }
BlasThreads::~BlasThreads() { openblas_set_num_threads(1); }

const char* blas_name() {
  static const std::string name = std::string("OpenBLAS (") + openblas_get_corename() + ")";
  return name.c_str();
}

}  // namespace mercer::linalg
