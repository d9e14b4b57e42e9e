// Is it a kernel? Verdicts with evidence on matrices, on kernels and on functions of a distance, and repairs of matrices that are none.
//
//   GramCheck check = check_gram(K, {.alpha = 0.1});
//   std::puts(check.verdict().c_str());                      // one sentence, then the evidence
//   Matrix nearest = repair_gram(K, Repair::clip).K;         // the nearest positive semi-definite matrix
//   check_bochner([](double r) { return std::exp(-r * r * r * r); }).violated  // true: no kernel, though it looks like one
//
// A matrix shows that a function is no kernel; that it is one no finite sample can show. The same holds for frequencies.
// References: source D section 2.4, eq. (7) and (11); source N theorem 2 (Bochner); source L (Cauchy-Schwarz).
// Cost: check_gram and repair_gram take all eigenvalues, 9 n^3 flops about and four n x n matrices with K itself; n <= 32766.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mercer/kernels.hpp"
#include "mercer/matrix.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

struct GramCheckOptions {
  std::optional<double> alpha{};             // > 0: the effective dimension tr K (K + alpha I)^-1 is wanted
  Vector y{};                                // n numbers: alignment with this target is wanted; empty: it is not
  Precision precision = Precision::float64;  // that the entries were computed in: its epsilon sets the tolerance
  Run run{};
};

// An entry K_ij with the diagonal entries that bound it: a Gram matrix has K_ij^2 <= K_ii K_jj.
struct EntryPair {
  Index row = 0;
  Index col = 0;
  double entry = 0;  // of the symmetric part
  double row_diagonal = 0;
  double col_diagonal = 0;
};

// What is found, as values. The spectrum and the pairs are those of the symmetric part (K + K')/2, which is K when K is symmetric.
//
// Tolerance: t = n eps max|eigenvalue| is what rounding alone may do to an eigenvalue, so a negative one is below -t. K_ij^2 breaks
// Cauchy-Schwarz above (K_ii + t)(K_jj + t), which makes a 2 x 2 minor of K + t I negative: a pair that is named proves an eigenvalue
// below -t. Negative diagonal entries are listed even where they are within t, for they may be exact.
struct GramCheck {
  Index size = 0;
  double tolerance = 0;

  bool symmetric = false;   // asymmetry <= n eps max|K_ij| (n = 4 at least)
  double asymmetry = 0;     // largest |K_ij - K_ji|
  Index asymmetry_row = 0;  // and where it is
  Index asymmetry_col = 0;

  bool psd = false;
  double smallest_eigenvalue = 0;
  double largest_eigenvalue = 0;
  Vector violating{};    // v with v'Kv < 0, unit length; empty when PSD
  double violation = 0;  // v'Kv, 0 when PSD

  double smallest_diagonal = 0;
  std::vector<Index> negative_diagonal{};       // rows i with K_ii < 0
  std::vector<EntryPair> vanishing_diagonal{};  // rows i with K_ii = 0 that are not zero: |Phi(x_i)| = 0 would make them so
  std::optional<EntryPair> cauchy_schwarz{};    // the pair with K_ii, K_jj >= 0 that breaks K_ij^2 <= K_ii K_jj most

  bool strictly_positive = false;                     // every eigenvalue above the tolerance
  bool nonsingular = false;                           // every eigenvalue beyond the tolerance, on either side
  Index rank = 0;                                     // eigenvalues beyond the tolerance
  double condition = 0;                               // max|eigenvalue| / min|eigenvalue|; infinite when singular
  std::vector<std::pair<Index, Index>> duplicates{};  // (row, the earlier row it equals): why a matrix is singular; empty if it is not

  std::optional<double> alpha{};
  std::optional<double> effective_dimension{};  // tr K (K + alpha I)^-1, when alpha was given and K is PSD
  std::optional<double> alignment{};            // <K, yy'>_F / (|K|_F |y|^2); none without y, or where it is 0/0
  std::optional<double> centred_alignment{};    // the same of HKH and Hy: blind to constants in k and y
  bool has_target = false;                      // y was given

  bool is_gram() const { return symmetric && psd; }
  std::string verdict() const;  // a sentence, then lines of evidence
};
GramCheck check_gram(const MatrixRef& K, const GramCheckOptions& options = {});

// How an indefinite matrix becomes positive semi-definite.
enum class Repair : std::uint8_t {
  clip,   // negative eigenvalues become 0: the nearest PSD matrix in Frobenius norm (Higham 1988)
  flip,   // they change their sign: the size of what they carried is kept
  shift,  // all eigenvalues move up: K + s I changes the diagonal alone
};

struct GramRepair {
  Matrix K{};  // symmetric to the bit; the symmetric part of what was given when that was PSD already
  Repair method = Repair::clip;
  Index changed = 0;              // eigenvalues that moved; those within rounding of 0 do not count
  double frobenius_distance = 0;  // |given - K|_F, the antisymmetric part that went included
  double spectral_distance = 0;   // the largest change of an eigenvalue of the symmetric part
  double shift = 0;               // s of Repair::shift
  std::string sentence() const;
};
GramRepair repair_gram(const MatrixRef& K, Repair method = Repair::clip, const Run& run = {});

// A kernel on given samples: its Gram matrix checked, beside what is known of the kernel itself.
struct KernelCheck {
  std::string kernel{};     // with automatic length scales set
  bool claims_psd = false;  // Kernel::is_psd(): PSD for every sample
  GramCheck gram;
  bool agrees() const { return gram.is_gram() || !claims_psd; }  // the data do not contradict the claim
  std::string verdict() const;
};
KernelCheck check_kernel(const Kernel& kernel, const Samples& X, const GramCheckOptions& options = {});

// Bochner: k(x, y) = f(|x - y|) is a kernel on R^d exactly if f is the Fourier transform of a finite measure that is nowhere negative.
//
// Method: f is multiplied by the window exp(-r^2 / (2 R^2)), a kernel itself, so the product is one if f is. Its transform is that of f
// smoothed over 1/R, and exists even for functions that never decay, such as cos:
//   F(w) = |S^(d-1)| int_0^inf f(r) exp(-r^2/(2R^2)) r^(d-1) O_d(w r) dr,   O_d(t) = Gamma(d/2) (2/t)^(d/2-1) J_(d/2-1)(t),
// with exp(-i <w, x>) under the integral (source N; w = 2 pi xi in source D's). Integrals are sums over panels (Gauss-Kronrod, 15 points)
// no longer than half an oscillation, halved until f is resolved. Error bound: the difference to the Gauss rule inside, summed over
// panels, plus rounding, plus f(0) times the integral of the window beyond the cut, which bounds what is left out if f is a kernel.
// F + bound < 0 is then a proof, up to that quadrature estimate, that f is none.
// Cost: panels x frequencies; panels grow as window x max_frequency.
struct BochnerOptions {
  int dimension = 1;                      // 1 to 12: above, r^(d-1) weighs f where its rounding decides
  std::optional<double> window{};         // R; not given: ten times the distance at which f has fallen to half of f(0)
  std::optional<double> max_frequency{};  // not given: 20 over that distance; with 200 frequencies the steps are then 1 / R
  Index frequencies = 200;                // from 0 to max_frequency, evenly
  Run run{};
};

struct BochnerCheck {
  std::string function = "f";  // a kernel's text
  int dimension = 1;
  double at_zero = 0;                                    // f(0)
  std::optional<std::pair<double, double>> exceeding{};  // (r, f(r)) with |f(r)| > f(0): no kernel at once
  double window = 0;
  double cut = 0;         // where the integral ends
  double tail_bound = 0;  // what may lie beyond
  Index evaluations = 0;  // of f
  Vector frequencies{};   // what was tried: empty when f(0) <= 0 or |f(r)| > f(0) settled it
  Vector transform{};     // F at each
  Vector bound{};         // |error| of each at most
  double lowest = 0;      // the transform where value + bound is least
  double lowest_frequency = 0;
  double lowest_bound = 0;
  bool violated = false;  // f is no kernel on R^d
  std::string verdict() const;
};

// f(r) for many distances r >= 0 at once, or for one.
using RadialProfile = std::function<Vector(const Vector& r)>;
BochnerCheck check_bochner(const RadialProfile& f, const BochnerOptions& options = {});
BochnerCheck check_bochner(const std::function<double(double)>& f, const BochnerOptions& options = {});
// A kernel that is a function of |x - y|. Others are refused, with a pair of points that shows it.
BochnerCheck check_bochner(const Kernel& kernel, const BochnerOptions& options = {});

// What a user should know of a kernel on these samples, in sentences: that it is not positive semi-definite, known or seen in given kernel
// values (their diagonal; for up to 500 objects a factorisation too), and that it finds nothing in some objects, k(x, x) = 0. Rows of
// numbers cost nothing.
std::vector<std::string> kernel_remarks(const Kernel& kernel, const Samples& X);

}  // namespace mercer
