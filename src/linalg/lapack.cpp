// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/lapack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "linalg/blas.hpp"
#include "mercer/error.hpp"

extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info);
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w, double* work, const int* lwork,
             int* iwork, const int* liwork, int* info);
void dgesdd_(const char* jobz, const int* m, const int* n, double* a, const int* lda, double* s, double* u, const int* ldu, double* vt,
             const int* ldvt, double* work, const int* lwork, int* iwork, int* info);
}

namespace mercer::linalg {

namespace {

// Runs `job` (which must own all it touches) and returns its result; when the progress callback asks to stop, throws Cancelled at once
// and leaves the job to finish unseen.
template <class Result>
Result cancellable(const ProgressCallback& progress, const char* name, std::function<Result()> job) {
  if (!progress) return job();
  struct State {
    std::mutex guard;
    std::condition_variable ready;
    bool done = false;
    std::exception_ptr error;
    std::unique_ptr<Result> result;
  };
  const auto state = std::make_shared<State>();
  std::thread([state, job = std::move(job)] {
    std::exception_ptr error;
    std::unique_ptr<Result> result;
    try {
      result = std::make_unique<Result>(job());
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(state->guard);
    state->result = std::move(result);
    state->error = error;
    state->done = true;
    state->ready.notify_one();
  }).detach();
  Stage stage(progress, name, 1);
  std::unique_lock lock(state->guard);
  while (!state->ready.wait_for(lock, std::chrono::milliseconds(60), [&] { return state->done; })) {
    lock.unlock();
    stage.check();
    lock.lock();
  }
  if (state->error) std::rethrow_exception(state->error);
  return std::move(*state->result);
}

int to_int(Index n, const char* what) {
  if (n > 32766) throw InvalidArgument(fmt::format("{} of size {} is beyond the dense eigensolver (32766 at most)", what, n));
  return static_cast<int>(n);
}

SymmetricEigen eigen_now(Matrix A, int threads) {
  const int n = to_int(A.rows(), "a symmetric matrix");
  SymmetricEigen out;
  out.values.resize(n);
  if (n == 0) return out;
  int info = 0;
  int query = -1;
  double work_size = 0;
  int iwork_size = 0;
  dsyevd_("V", "U", &n, A.data(), &n, out.values.data(), &work_size, &query, &iwork_size, &query, &info);
  int lwork = static_cast<int>(work_size);
  std::vector<double> work(static_cast<std::size_t>(lwork));
  std::vector<int> iwork(static_cast<std::size_t>(iwork_size));
  const BlasThreads guard(threads);
  dsyevd_("V", "U", &n, A.data(), &n, out.values.data(), work.data(), &lwork, iwork.data(), &iwork_size, &info);
  if (info != 0) throw Error(fmt::format("the eigensolver failed (dsyevd: {}); check the matrix for extreme values", info));
  out.vectors = std::move(A);  // column j of LAPACK's matrix is row j of ours
  return out;
}

ThinSvd svd_now(Matrix A, int threads) {
  // LAPACK sees A' (p x n) = V S U', so its "U" is our V and its "VT" our U'.
  const int p = static_cast<int>(A.cols());
  const int n = static_cast<int>(A.rows());
  const int r = std::min(n, p);
  ThinSvd out;
  out.singular_values.resize(r);
  out.vt.resize(r, p);
  out.u.resize(n, r);
  if (r == 0) return out;
  int info = 0;
  int query = -1;
  double work_size = 0;
  std::vector<int> iwork(8 * static_cast<std::size_t>(r));
  dgesdd_("S", &p, &n, A.data(), &p, out.singular_values.data(), out.vt.data(), &p, out.u.data(), &r, &work_size, &query, iwork.data(),
          &info);
  int lwork = static_cast<int>(work_size);
  std::vector<double> work(static_cast<std::size_t>(lwork));
  const BlasThreads guard(threads);
  dgesdd_("S", &p, &n, A.data(), &p, out.singular_values.data(), out.vt.data(), &p, out.u.data(), &r, work.data(), &lwork, iwork.data(),
          &info);
  if (info != 0)
    throw Error(fmt::format("the singular value decomposition failed (dgesdd: {}); check the matrix for extreme values", info));
  return out;
}

}  // namespace

Index potrf_lower(Index n, double* a, Index stride) {
  const int size = static_cast<int>(n);
  const int lda = static_cast<int>(stride);
  int info = 0;
  dpotrf_("U", &size, a, &lda, &info);  // the row-major lower half is the column-major upper one
  return info == 0 ? -1 : info - 1;
}

Index potrf_lower(Index n, float* a, Index stride) {
  const int size = static_cast<int>(n);
  const int lda = static_cast<int>(stride);
  int info = 0;
  spotrf_("U", &size, a, &lda, &info);
  return info == 0 ? -1 : info - 1;
}

SymmetricEigen symmetric_eigen(Matrix A, const ProgressCallback& progress) {
  const int threads = current_threads();
  auto shared = std::make_shared<Matrix>(std::move(A));
  return cancellable<SymmetricEigen>(progress, "eigenvalues", [shared, threads] { return eigen_now(std::move(*shared), threads); });
}

ThinSvd thin_svd(Matrix A, const ProgressCallback& progress) {
  const int threads = current_threads();
  auto shared = std::make_shared<Matrix>(std::move(A));
  return cancellable<ThinSvd>(progress, "singular values", [shared, threads] { return svd_now(std::move(*shared), threads); });
}

}  // namespace mercer::linalg
