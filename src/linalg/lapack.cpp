// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/lapack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <limits>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "core/buffer.hpp"
#include "linalg/blas.hpp"
#include "mercer/error.hpp"

// NOLINTBEGIN(readability-identifier-naming): LAPACK's names
extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info);
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w, double* work, const int* lwork,
             int* iwork, const int* liwork, int* info);
void dgesdd_(const char* jobz, const int* m, const int* n, double* a, const int* lda, double* s, double* u, const int* ldu, double* vt,
             const int* ldvt, double* work, const int* lwork, int* iwork, int* info);
}
// NOLINTEND(readability-identifier-naming)

namespace mercer::linalg {

namespace {

std::atomic<int> abandoned{0};  // cancelled calls that still compute

// OpenBLAS gives its buffers back when the process exits, under the feet of a call that still computes. The process is ending anyway and
// its status is known: end it here, with its output written, rather than crash or wait for an answer that nobody wants.
void end_before_openblas(int status, void*) {
  if (abandoned == 0) return;
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(status);
}

// Runs `job` (which must own all it touches) and returns its result; when the progress callback asks to stop, throws Cancelled at once
// and leaves the job to finish unseen, on one thread.
template <class Result>
Result cancellable(const ProgressCallback& progress, const char* name, const std::function<Result()>& job) {
  if (!progress) return job();
  struct State {
    std::mutex guard;
    std::condition_variable ready;
    bool done = false;
    bool forgotten = false;
    std::exception_ptr error;
    std::unique_ptr<Result> result;
  };
  const auto state = std::make_shared<State>();
  try {
    std::thread([state, job] {
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
      if (state->forgotten) --abandoned;
      state->ready.notify_one();
    }).detach();
  } catch (const std::system_error&) {
    return job();  // no thread to be had: the answer is worth more than the cancel button
  }
  Stage stage(progress, name, 1);
  std::unique_lock lock(state->guard);
  const auto done = [&] { return state->done; };
  while (!state->ready.wait_for(lock, std::chrono::milliseconds(60), done)) {
    lock.unlock();
    try {
      stage.check();
    } catch (...) {
      static const bool registered = on_exit(end_before_openblas, nullptr) == 0;
      lock.lock();
      if (!state->done && registered) state->forgotten = true, ++abandoned;
      BlasThreads::calm();
      throw;
    }
    lock.lock();
  }
  if (state->error) std::rethrow_exception(state->error);
  return std::move(*state->result);
}

void require_finite(const Matrix& A, const char* what) {
  if (!A.allFinite()) throw InvalidArgument(fmt::format("{} contains NaN or infinity; remove those entries first", what));
}

void require_size(Index n, Index limit, const char* what) {
  if (n > limit)
    throw InvalidArgument(
        fmt::format("{} of size {} is beyond dense LAPACK ({} at most); use a subset or a low-rank method", what, n, limit));
}

void require_eigenproblem(const Matrix& A) {
  if (A.rows() != A.cols()) throw InvalidArgument(fmt::format("eigenvalues need a square matrix, got {} x {}", A.rows(), A.cols()));
  require_size(A.rows(), 32766, "an eigenproblem");
  require_finite(A, "the matrix of an eigenproblem");
}

SymmetricEigen eigen_now(Matrix A, bool with_vectors, int threads) {
  const int n = static_cast<int>(A.rows());
  const char* job = with_vectors ? "V" : "N";
  SymmetricEigen out;
  out.values.resize(n);
  if (n > 0) {
    int info = 0;
    int query = -1;
    double work_size = 0;
    int iwork_size = 0;
    dsyevd_(job, "U", &n, A.data(), &n, out.values.data(), &work_size, &query, &iwork_size, &query, &info);
    int lwork = static_cast<int>(work_size);
    Buffer<double> work(static_cast<std::size_t>(lwork));
    Buffer<int> iwork(static_cast<std::size_t>(iwork_size));
    const BlasThreads guard(threads);
    dsyevd_(job, "U", &n, A.data(), &n, out.values.data(), work.data(), &lwork, iwork.data(), &iwork_size, &info);
    if (info != 0) throw Error(fmt::format("the eigensolver failed (dsyevd: {}); check the matrix for extreme values", info));
  }
  if (with_vectors) out.vectors = std::move(A);  // column j of LAPACK's matrix is row j of ours
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
  Buffer<double> work(static_cast<std::size_t>(lwork));
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

SymmetricEigen symmetric_eigen(Matrix A, const ProgressCallback& progress, std::size_t memory) {
  require_eigenproblem(A);
  const auto n = static_cast<std::size_t>(A.rows());
  require_memory(2 * n * n * sizeof(double), memory, fmt::format("the workspace of a {} x {} eigenproblem", n, n),
                 "use fewer samples or a low-rank method, or raise the memory budget");
  const int threads = current_threads();
  auto shared = std::make_shared<Matrix>(std::move(A));
  return cancellable<SymmetricEigen>(progress, "eigenvalues", [shared, threads] { return eigen_now(std::move(*shared), true, threads); });
}

Vector symmetric_eigenvalues(Matrix A, const ProgressCallback& progress) {
  require_eigenproblem(A);
  const int threads = current_threads();
  auto shared = std::make_shared<Matrix>(std::move(A));
  return cancellable<SymmetricEigen>(progress, "eigenvalues", [shared, threads] { return eigen_now(std::move(*shared), false, threads); })
      .values;
}

ThinSvd thin_svd(Matrix A, const ProgressCallback& progress, std::size_t memory) {
  const Index r = std::min(A.rows(), A.cols());
  require_size(r, 20000, "a singular value decomposition");
  require_size(std::max(A.rows(), A.cols()), std::numeric_limits<int>::max() / 2, "a singular value decomposition");
  require_finite(A, "the matrix of a singular value decomposition");
  const auto n = static_cast<std::size_t>(std::max(A.rows(), A.cols()) + 4 * r);
  require_memory(n * static_cast<std::size_t>(r) * sizeof(double), memory,
                 fmt::format("the singular value decomposition of a {} x {} matrix", A.rows(), A.cols()),
                 "use fewer rows or columns, or raise the memory budget");
  const int threads = current_threads();
  auto shared = std::make_shared<Matrix>(std::move(A));
  return cancellable<ThinSvd>(progress, "singular values", [shared, threads] { return svd_now(std::move(*shared), threads); });
}

}  // namespace mercer::linalg
