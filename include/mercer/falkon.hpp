// Kernel regression on landmarks, for many rows: f(x) = sum_j c_j k(x, z_j) + b over m landmarks z, minimising
//   sum_i w_i (y_i - f(x_i))^2 + alpha |f|^2,   alpha = n lambda.
//
//   auto model = fit_falkon(X, y, {.kernel = kernels::gaussian(2.0), .n_landmarks = 1000});
//   Matrix f = model.predict(X_new);
//
// Method, chosen by the numbers of rows and landmarks and reported: (1) one pass over the rows for K_nm' W K_nm and K_nm' W Y (SYRK in
// fixed tiles), then a dense solve in coordinates whitened by the Cholesky factor of K_mm; (2) conjugate gradients on the same whitened
// system, K_nm' W K_nm applied in tiles, preconditioned by (n/m) L'L + alpha I where K_mm = L L' (Falkon). The tiles are made anew each
// time, unless the rows are in memory and K_nm fits half the budget: then it is kept. The first never holds n x m numbers.
// Cost: (1) n m (kernel + m) + 3 m^3 flops, (2) n m (kernel + 4) flops an iteration + m^3; memory of some m^2 numbers and one chunk of
// rows, and n m numbers where (2) keeps K_nm. Reference: Rudi, Carratino, Rosasco, "FALKON: an optimal large scale kernel method", 2017;
// Williams and Seeger 2001; landmarks by approximate ridge leverage scores after Rudi, Calandriello, Carratino, Rosasco 2018, by randomly
// pivoted Cholesky after Chen, Epperly, Tropp, Webber 2023. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mercer/chunks.hpp"
#include "mercer/kernels.hpp"
#include "mercer/normal_sums.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

enum class LandmarkMethod : std::uint8_t {
  uniform,     // rows drawn without replacement
  kmeans,      // centres of k-means on a sample of rows; dense rows only
  rpcholesky,  // randomly pivoted Cholesky on a sample of rows
  leverage,    // rows drawn by approximate ridge leverage scores of a sample of rows
};
const char* name_of(LandmarkMethod method);  // "uniform", "kmeans", "rpcholesky", "leverage"

enum class FalkonRoute : std::uint8_t { automatic, one_pass, conjugate_gradients };

struct FalkonOptions {
  Kernel kernel = kernels::gaussian(kernels::LengthScale::automatic());
  double alpha = 1;                // >= 0
  std::optional<double> lambda{};  // alpha / n; overrides alpha
  Index n_landmarks = 1000;        // all rows, if there are not more
  LandmarkMethod landmarks = LandmarkMethod::uniform;
  std::optional<Samples> given_landmarks{};  // these, instead of choosing
  bool fit_intercept = false;                // b, not penalised
  Vector sample_weight{};                    // empty: all 1; of rows in memory
  // Of kernel values. Not given: float64 up to ten million of them (n x m), above that float32, and float64 again should rounding turn out
  // to matter. Sums over rows are in float64 in any case.
  std::optional<Precision> precision{};
  FalkonRoute route = FalkonRoute::automatic;
  double tolerance = 1e-6;  // conjugate gradients: relative residual of the preconditioned system
  Index max_iterations = 200;
  double validation = 0;  // share of rows, drawn at random, kept out of the fit to measure its error; in [0, 1)
  std::uint64_t seed = 0;
  Run run{};
};

// How it went, for people and for tests.
struct FalkonSummary {
  std::string method{};                           // "one pass" or "conjugate gradients"
  std::string landmarks{};                        // "uniform", ..., "given"
  Index rows = 0;                                 // fitted on
  Precision sums_precision = Precision::float64;  // within a tile of K_nm' K_nm
  double jitter = 0;                              // added to the diagonal of K_mm
  // (trace K - trace K_nm K_mm^-1 K_mn) / trace K, in [0, 1]: what the landmarks leave out of the kernel.
  double trace_error = 0;
  Index trace_rows = 0;  // the rows it was measured on: all, or a random sample of 2048
  double train_mse = 0;  // mean squared error on the rows fitted on (weighted, mean over targets)
  Index validation_rows = 0;
  double validation_mse = 0;  // mean over targets
  double validation_r2 = 0;   // mean over targets
  Index iterations = 0;       // of conjugate gradients
  double residual = 0;        // relative, of the (whitened) linear system, recomputed; worst target
  bool converged = true;
  double rounding = 0;  // expected effect of float32 kernel values on a prediction, relative to the spread of y; 0 in float64
  Index passes = 0;     // over the rows
  double seconds = 0;
  std::size_t bytes = 0;   // asked of the memory budget, with K_nm where it was kept
  std::string sentence{};  // "solved: one pass over 1000000 rows, 1000 landmarks (uniform), trace error 12 %, ..."
};

class FalkonModel {
 public:
  Matrix predict(const Samples& X, const Run& run = {}) const;  // one column per target

  const Kernel& kernel() const { return kernel_; }
  const Samples& landmarks() const { return landmarks_; }
  const Samples& samples() const { return landmarks_; }                       // the same under the name that all kernel models have
  const std::vector<Index>& landmark_rows() const { return landmark_rows_; }  // which rows they are; empty: they are no rows, or given
  const Matrix& dual_coef() const { return dual_coef_; }                      // landmarks x targets
  const Vector& intercept() const { return intercept_; }                      // one per target; zeros without fit_intercept
  double alpha() const { return alpha_; }
  Precision precision() const { return precision_; }  // of kernel values
  const FalkonSummary& summary() const { return summary_; }
  Index n_targets() const { return dual_coef_.cols(); }

  // From its parts (files, bindings). Checks that the sizes agree.
  static FalkonModel from_parts(Kernel kernel, Samples landmarks, std::vector<Index> landmark_rows, Matrix dual_coef, Vector intercept,
                                double alpha, Precision precision, FalkonSummary summary);

 private:
  FalkonModel(Kernel kernel, Samples landmarks) : kernel_(std::move(kernel)), landmarks_(std::move(landmarks)) {}
  Kernel kernel_;
  Samples landmarks_;
  std::vector<Index> landmark_rows_;
  Matrix dual_coef_;
  Vector intercept_{};
  double alpha_ = 0;
  Precision precision_ = Precision::float64;
  FalkonSummary summary_;
};

FalkonModel fit_falkon(const Samples& X, const MatrixRef& Y, const FalkonOptions& options = {});
// Rows from anywhere, in several passes; weights come with them, options.sample_weight must be empty.
FalkonModel fit_falkon(const RowSource& source, const FalkonOptions& options = {});

// The one-pass route in pieces, for whoever spreads the rows over machines: everybody makes the sums of their rows for the same landmarks,
// the sums are merged in any order, one solves. The kernel must have no automatic length scale left.
struct LandmarkSums {
  NormalSums sums;            // of the features k(x, z_j)
  double weighted_trace = 0;  // sum w_i k(x_i, x_i)

  void merge(const LandmarkSums& other);
  std::string to_bytes() const;
  static LandmarkSums from_bytes(std::string_view bytes);
};
LandmarkSums landmark_sums(const Kernel& kernel, const Samples& landmarks, const RowSource& source,
                           Precision precision = Precision::float64, const Run& run = {});
FalkonModel solve_landmark_sums(const Kernel& kernel, const Samples& landmarks, const LandmarkSums& sums, double alpha,
                                bool fit_intercept = false, Precision precision = Precision::float64, const Run& run = {});

}  // namespace mercer
