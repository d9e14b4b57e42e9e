// Eigenpairs and singular values against their definitions; calls that are cancelled, forked around and left behind at exit.
// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/lapack.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <thread>

#include "linalg/blas.hpp"
#include "mercer/error.hpp"
#include "unit/core/support.hpp"

namespace mercer::linalg {
namespace {

using testing::message_of;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Matrix random_symmetric(Index n) {
  const Matrix A = Matrix::Random(n, n);
  return A + A.transpose();
}

const ProgressCallback go_on = [](const ProgressEvent&) { return true; };
const ProgressCallback stop = [](const ProgressEvent&) { return false; };

double largest(const Matrix& A) { return A.size() == 0 ? 0 : A.cwiseAbs().maxCoeff(); }

void expect_eigen(const Matrix& A, const ProgressCallback& progress) {
  const Index n = A.rows();
  const SymmetricEigen e = symmetric_eigen(A, progress);
  ASSERT_EQ(e.values.size(), n);
  ASSERT_EQ(e.vectors.rows(), n);
  ASSERT_EQ(e.vectors.cols(), n);
  const double tolerance = 10 * static_cast<double>(n) * 2.3e-16;
  EXPECT_TRUE(std::is_sorted(e.values.begin(), e.values.end()));
  EXPECT_LE(largest(e.vectors * e.vectors.transpose() - Matrix::Identity(n, n)), tolerance);
  // Row j is the vector of value j: A v = lambda v.
  EXPECT_LE(largest(e.vectors * A - e.values.asDiagonal() * e.vectors), tolerance * (1 + largest(A) * static_cast<double>(n)));
}

TEST(SymmetricEigen, Definition) {
  for (const Index n : {0, 1, 2, 3, 31, 200}) {
    SCOPED_TRACE(n);
    expect_eigen(random_symmetric(n), {});
    expect_eigen(random_symmetric(n), go_on);
  }
  expect_eigen(Matrix::Zero(5, 5), {});
  const Matrix one_direction = Vector::LinSpaced(40, 1, 2) * Vector::LinSpaced(40, 1, 2).transpose();
  expect_eigen(one_direction, {});
}

TEST(SymmetricEigen, KnownValues) {
  // The second difference on n points: 2 - 2 cos(k pi / (n + 1)).
  const Index n = 50;
  Matrix A = 2 * Matrix::Identity(n, n);
  A.diagonal(1).setConstant(-1);
  A.diagonal(-1).setConstant(-1);
  const SymmetricEigen e = symmetric_eigen(A, {});
  for (Index k = 1; k <= n; ++k) {
    EXPECT_NEAR(e.values[k - 1], 2 - 2 * std::cos(static_cast<double>(k) * M_PI / static_cast<double>(n + 1)), 1e-14);
  }
}

TEST(SymmetricEigen, ReadsTheLowerTriangle) {
  const Matrix A = random_symmetric(20);
  Matrix lower = A;
  lower.triangularView<Eigen::StrictlyUpper>().setConstant(1e6);
  EXPECT_EQ(symmetric_eigen(lower, {}).values, symmetric_eigen(A, {}).values);
}

void expect_svd(const Matrix& A, Index rank, const ProgressCallback& progress) {
  SCOPED_TRACE(::testing::Message() << A.rows() << " x " << A.cols());
  const Index r = std::min(A.rows(), A.cols());
  const ThinSvd s = thin_svd(A, progress);
  ASSERT_EQ(s.u.rows(), A.rows());
  ASSERT_EQ(s.u.cols(), r);
  ASSERT_EQ(s.vt.rows(), r);
  ASSERT_EQ(s.vt.cols(), A.cols());
  ASSERT_EQ(s.singular_values.size(), r);
  const double tolerance = 10 * static_cast<double>(A.rows() + A.cols()) * 2.3e-16;
  EXPECT_LE(largest(s.u.transpose() * s.u - Matrix::Identity(r, r)), tolerance);
  EXPECT_LE(largest(s.vt * s.vt.transpose() - Matrix::Identity(r, r)), tolerance);
  const double scale = r == 0 ? 0 : s.singular_values[0];
  EXPECT_LE(largest(s.u * s.singular_values.asDiagonal() * s.vt - A), tolerance * scale);
  EXPECT_TRUE(std::is_sorted(s.singular_values.begin(), s.singular_values.end(), std::greater<>()));
  EXPECT_EQ((s.singular_values.array() > tolerance * scale).count(), rank);
}

TEST(ThinSvd, Definition) {
  for (const auto& [n, p] :
       {std::pair<Index, Index>{1, 1}, {1, 9}, {9, 1}, {30, 30}, {300, 7}, {7, 300}, {40, 39}, {0, 3}, {3, 0}, {0, 0}}) {
    expect_svd(Matrix::Random(n, p), std::min(n, p), {});
    expect_svd(Matrix::Random(n, p), std::min(n, p), go_on);
  }
}

TEST(ThinSvd, RankDeficient) {
  expect_svd(Matrix::Random(60, 3) * Matrix::Random(3, 20), 3, {});
  expect_svd(Matrix::Random(20, 3) * Matrix::Random(3, 60), 3, {});
  expect_svd(Matrix::Zero(12, 5), 0, {});
  expect_svd(Matrix::Ones(5, 12), 1, {});
}

TEST(LapackErrors, SayWhatIsWrong) {
  EXPECT_EQ(message_of([] { symmetric_eigen(Matrix::Zero(2, 3), {}); }), "eigenvalues need a square matrix, got 2 x 3");
  Matrix bad = random_symmetric(4);
  bad(3, 1) = std::nan("");
  EXPECT_EQ(message_of([&] { symmetric_eigen(bad, {}); }),
            "the matrix of an eigenproblem contains NaN or infinity; remove those entries first");
  bad(3, 1) = INFINITY;
  EXPECT_EQ(message_of([&] { thin_svd(bad, go_on); }),
            "the matrix of a singular value decomposition contains NaN or infinity; remove those entries first");
  EXPECT_THROW(symmetric_eigen(random_symmetric(600), {}, 1000000), OverBudget);
  EXPECT_THROW(thin_svd(Matrix::Random(600, 600), {}, 1000000), OverBudget);
}

TEST(Potrf, NamesTheRow) {
  Matrix A = Matrix::Identity(5, 5);
  EXPECT_EQ(potrf_lower(5, A.data(), 5), -1);
  A = Matrix::Identity(5, 5);
  A(3, 3) = -2;
  EXPECT_EQ(potrf_lower(5, A.data(), 5), 3);
  MatrixF B = MatrixF::Identity(5, 5);
  B(0, 0) = 0;
  EXPECT_EQ(potrf_lower(5, B.data(), 5), 0);
}

// A problem that takes longer than the 60 ms between questions, stopped: the answer comes at once, and the next problem does not wait for
// the abandoned one.
TEST(LapackCancel, ReturnsPromptlyAndStaysUsable) {
  const Matrix A = random_symmetric(1500);
  auto start = Clock::now();
  EXPECT_THROW(symmetric_eigen(A, stop), Cancelled);
  EXPECT_LT(seconds_since(start), 1);
  start = Clock::now();
  EXPECT_THROW(thin_svd(A, stop), Cancelled);
  EXPECT_LT(seconds_since(start), 1);
  EXPECT_EQ(openblas_get_num_threads(), 1);
  expect_eigen(random_symmetric(50), go_on);
}

TEST(BlasThreads, OneOutsideManyInside) {
  EXPECT_EQ(openblas_get_num_threads(), 1);
  {
    const BlasThreads outer(2);
    EXPECT_EQ(openblas_get_num_threads(), 2);
    const BlasThreads single(1);
    EXPECT_EQ(openblas_get_num_threads(), 2);
    const BlasThreads inner(3);  // does not wait for the other
    EXPECT_EQ(openblas_get_num_threads(), 3);
  }
  EXPECT_EQ(openblas_get_num_threads(), 1);
}

// A child that is forked while another thread of the parent is inside LAPACK can use LAPACK itself.
TEST(BlasThreads, ForkWhileAtWork) {
  std::thread worker([] { symmetric_eigen(random_symmetric(400), {}); });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);  // a child that hangs is ended by this
    bool right = openblas_get_num_threads() == 1;
    right = right && symmetric_eigen(2 * Matrix::Identity(300, 300), {}).values.isConstant(2, 1e-12);
    right = right && thin_svd(Matrix::Identity(300, 300), go_on).singular_values.isConstant(1, 1e-12);
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  worker.join();
}

// The process may end while an abandoned call still computes: at once, with its own status, and no crash.
TEST(LapackCancel, ExitWithACallLeftBehind) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto leave = [] {
    try {
      symmetric_eigen(Matrix(Matrix::Identity(3000, 3000) + Matrix::Ones(3000, 3000)), stop);
    } catch (const Cancelled&) {
      std::fputs("written before the end", stderr);
      std::exit(3);
    }
  };
  const auto start = Clock::now();
  EXPECT_EXIT(leave(), ::testing::ExitedWithCode(3), "written before the end");
  EXPECT_LT(seconds_since(start), 3);
}

// A BLAS that does not know the CPU must not fall back to kernels of twenty years ago (they are several times slower, and nobody would
// say).
TEST(Blas, UsesWhatTheCpuHas) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") == 0 || std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
  for (const char* old : {"Prescott", "Core2", "Penryn", "Nehalem", "Sandybridge", "Barcelona", "Generic"})
    EXPECT_EQ(std::string(blas_name()).find(old), std::string::npos) << blas_name();
#endif
}

}  // namespace
}  // namespace mercer::linalg
