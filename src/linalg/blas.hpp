// The doors to OpenBLAS and LAPACK. BLAS runs on one thread (Mercer's own tiles are the parallelism); only BlasThreads raises that, for the
// few LAPACK calls that cannot be cut into tiles. LAPACK is column-major: a row-major symmetric matrix is its own other triangle.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cblas.h>

#include "mercer/matrix.hpp"

namespace mercer::linalg {

// C = alpha A B' + beta C, all row-major: A is m x k, B is n x k.
inline void gemm_nt(Index m, Index n, Index k, double alpha, const double* a, Index lda, const double* b, Index ldb, double beta, double* c,
                    Index ldc) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), alpha, a,
              static_cast<int>(lda), b, static_cast<int>(ldb), beta, c, static_cast<int>(ldc));
}
inline void gemm_nt(Index m, Index n, Index k, float alpha, const float* a, Index lda, const float* b, Index ldb, float beta, float* c,
                    Index ldc) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), alpha, a,
              static_cast<int>(lda), b, static_cast<int>(ldb), beta, c, static_cast<int>(ldc));
}

// C = alpha op(A) B + beta C, op = transpose when `transposed`: op(A) is m x k, B is k x n.
inline void gemm_n(bool transposed, Index m, Index n, Index k, double alpha, const double* a, Index lda, const double* b, Index ldb,
                   double beta, double* c, Index ldc) {
  cblas_dgemm(CblasRowMajor, transposed ? CblasTrans : CblasNoTrans, CblasNoTrans, static_cast<int>(m), static_cast<int>(n),
              static_cast<int>(k), alpha, a, static_cast<int>(lda), b, static_cast<int>(ldb), beta, c, static_cast<int>(ldc));
}
inline void gemm_n(bool transposed, Index m, Index n, Index k, float alpha, const float* a, Index lda, const float* b, Index ldb,
                   float beta, float* c, Index ldc) {
  cblas_sgemm(CblasRowMajor, transposed ? CblasTrans : CblasNoTrans, CblasNoTrans, static_cast<int>(m), static_cast<int>(n),
              static_cast<int>(k), alpha, a, static_cast<int>(lda), b, static_cast<int>(ldb), beta, c, static_cast<int>(ldc));
}

// y += op(A) x for one vector of stride 1.
inline void gemv_add(bool transposed, Index rows, Index cols, double alpha, const double* a, Index lda, const double* x, double* y) {
  cblas_dgemv(CblasRowMajor, transposed ? CblasTrans : CblasNoTrans, static_cast<int>(rows), static_cast<int>(cols), alpha, a,
              static_cast<int>(lda), x, 1, 1.0, y, 1);
}
inline void gemv_add(bool transposed, Index rows, Index cols, float alpha, const float* a, Index lda, const float* x, float* y) {
  cblas_sgemv(CblasRowMajor, transposed ? CblasTrans : CblasNoTrans, static_cast<int>(rows), static_cast<int>(cols), alpha, a,
              static_cast<int>(lda), x, 1, 1.0F, y, 1);
}

// While it lives, BLAS and LAPACK may use this many threads, in the whole process; where several live at a time, the last to begin or end
// decides. So a Cholesky that runs beside an eigenproblem in another thread of the same program is equal to rounding then, not to the bit.
class BlasThreads {
 public:
  explicit BlasThreads(int threads);
  ~BlasThreads();
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;

  // From here on one thread, whoever is alive: for a call whose answer nobody waits for any more. Safe while it runs.
  static void calm();

 private:
  bool raises_;
};

// "OpenBLAS (Zen)"
const char* blas_name();

}  // namespace mercer::linalg
