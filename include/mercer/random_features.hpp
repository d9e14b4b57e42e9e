// Random Fourier features: an explicit map z of L numbers a row with z(x)'z(y) close to k(x, y), so that linear methods of cost n L^2
// stand for kernel methods of cost n^3.
//
//   auto map = random_fourier_features(kernels::gaussian(2.0), X.cols(), {.n_components = 500});
//   Matrix Z = map.transform(X);                                   // n x 500
//   map.hoeffding_error(0.95);                                     // |z(x)'z(y) - k(x, y)| is below this for a pair, with probability 0.95
//
// Method: a continuous kernel k(x - y) is the Fourier transform of its spectral measure (Bochner), k(x - y) = k(0) E cos w'(x - y), and w
// is drawn from it: Gaussian -> normal; Laplacian of the L1 norm -> a Cauchy number per column; Laplacian of the L2 norm and Matern ->
// Student's t of 2 nu degrees of freedom (multivariate); rational quadratic -> a normal with gamma distributed variance. Length scales per
// column, positive multiples, k.on(columns), products (frequencies add) and sums (each frequency belongs to one part, by chance in
// proportion to k(0)) are offered; other kernels are refused by name. Two forms, L output columns each: [cos w'x, sin w'x] for L/2
// frequencies, times sqrt(2 k(0) / L), and cos(w'x + b) for L frequencies and uniform b, times the same factor. Orthogonal features draw
// the frequencies orthogonal to each other in groups as large as the number of columns: each one is distributed as before, and for the
// Gaussian the variance is smaller. Structured features are orthogonal ones whose directions are rows of H D1 H D2 H D3, H the Hadamard
// matrix of a power of two p >= d and D random signs: directions are uniform only nearly, and p log p additions take the place of p d
// multiplications for p frequencies. Quasi-random features are the points of a Sobol sequence, moved by a random shift, through the inverse
// distribution functions: each is distributed as before, and all together lie more evenly. Cost: n d L multiplications for d columns, and n
// L sines and cosines. References: source N section 3 (11) to (13); Rahimi and Recht, NIPS 2007; Yu et al., Orthogonal random features,
// NIPS 2016; Avron et al., Quasi-Monte Carlo feature maps, JMLR 2016. SPEC C6, K8. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "mercer/kernels.hpp"
#include "mercer/run.hpp"
#include "mercer/samples.hpp"

namespace mercer {

enum class FourierForm : std::uint8_t { sine_cosine, cosine };
// How frequencies hang together; Hoeffding's bound is for independent ones.
enum class FourierDraw : std::uint8_t { independent, orthogonal, structured, quasi_random };
const char* name_of(FourierDraw draw);  // "independent", "orthogonal", "structured", "quasi"

// The factors of structured frequencies: frequency c = b p + i is lengths[c] times row i of H D1 H D2 H D3 (of block b, H of norm 1), times
// column_scale.
struct HadamardFactors {
  Matrix signs{};         // 3 rows for each block of p frequencies: D1, D2, D3; p columns
  Vector lengths{};       // one for each frequency
  Vector column_scale{};  // one for each column of X
};

struct FourierOptions {
  Index n_components = 100;  // output columns; even for the sine-cosine form
  FourierForm form = FourierForm::sine_cosine;
  FourierDraw draw = FourierDraw::independent;
  std::uint64_t seed = 0;
  std::size_t memory = 0;  // bytes that the frequencies may take; 0: the default budget
};

class RandomFourierFeatures {
 public:
  // n x n_components, in float64, or in the type of the memory given (row-major with `stride` numbers a row). The same bits for any number
  // of threads. Throws InvalidArgument for a wrong number of columns and for numbers that are not finite.
  Matrix transform(const Samples& X, const Run& run = {}) const;
  void transform_into(const Samples& X, double* out, Index stride, const Run& run = {}) const;
  void transform_into(const Samples& X, float* out, Index stride, const Run& run = {}) const;

  const Kernel& kernel() const { return kernel_; }
  FourierForm form() const { return form_; }
  FourierDraw draw() const { return draw_; }
  Index width() const { return frequencies_.rows(); }  // columns of X
  Index n_features() const { return width(); }
  Index n_components() const { return form_ == FourierForm::cosine ? n_frequencies() : 2 * n_frequencies(); }
  Index n_frequencies() const { return frequencies_.cols(); }
  const Matrix& frequencies() const { return frequencies_; }  // width x n_frequencies: w as columns
  const Vector& offsets() const { return offsets_; }          // b; zeros in the sine-cosine form
  double scale() const { return scale_; }                     // k(x, x)

  // Hoeffding's bound on P(|z(x)'z(y) - k(x, y)| > error) for some pair of n given samples (n = 2: one pair), at most 1: n (n - 1) / 2
  // times 2 exp(-L error^2 / 8) for cosines with offsets, 2 exp(-L error^2 / 4) for sine-cosine pairs, L output columns, errors in units of
  // k(0). The two others turn it round: the error that holds with this confidence. All three throw for frequencies that are not
  // independent.
  double hoeffding_failure(double error, Index samples = 2) const;
  double hoeffding_error(double confidence, Index samples = 2) const;

  // The same map, evaluated at x - centre with the phases made up for it: in float32 what is lost then depends on how far samples are from
  // the centre, not from 0. Dense rows only; changes rounding, nothing else.
  RandomFourierFeatures centred_at(Vector centre) const;
  const Vector& centre() const { return centre_; }  // empty: 0

  // What the fast transform of structured features works with; nullptr: none, the frequencies do.
  const HadamardFactors* hadamard() const { return hadamard_.get(); }
  RandomFourierFeatures with_hadamard(HadamardFactors factors) const;  // checks that they are those of the frequencies

  // From its parts (files, bindings). Checks that they agree.
  static RandomFourierFeatures from_parts(Kernel kernel, FourierForm form, FourierDraw draw, Matrix frequencies, Vector offsets,
                                          double scale, Vector centre = {});

 private:
  explicit RandomFourierFeatures(Kernel kernel) : kernel_(std::move(kernel)) {}
  Kernel kernel_;
  FourierForm form_ = FourierForm::sine_cosine;
  FourierDraw draw_ = FourierDraw::independent;
  Matrix frequencies_{};
  Vector offsets_{};
  double scale_ = 1;
  Vector centre_{};
  std::shared_ptr<const HadamardFactors> hadamard_{};
};

// Draws the map for rows of `width` columns. Throws InvalidArgument for kernels without a spectral measure to draw from, and while a length
// scale is automatic (resolve() sets it from data).
RandomFourierFeatures random_fourier_features(const Kernel& kernel, Index width, const FourierOptions& options = {});

// The least n_components for which the bound above gives this error with this confidence; k(0) = scale.
Index hoeffding_components(FourierForm form, double error, double confidence, Index samples = 2, double scale = 1);

}  // namespace mercer
