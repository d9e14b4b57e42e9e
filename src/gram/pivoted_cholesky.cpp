// SPDX-License-Identifier: BSD-3-Clause
#include "gram/pivoted_cholesky.hpp"

#include <fmt/format.h>

#include "mercer/gram.hpp"

namespace mercer {

PivotedCholesky pivoted_cholesky(const Kernel& kernel, const Samples& X, const PivotedCholeskyOptions& options, std::size_t memory) {
  const auto numbers = static_cast<std::size_t>(X.size()) * static_cast<std::size_t>(std::min(options.rank, X.size()));
  require_memory(numbers * sizeof(double), memory, fmt::format("a factor of rank {} for {} samples", options.rank, X.size()),
                 "use a smaller rank");
  const Vector diagonal = gram_diagonal(kernel, X);
  const auto columns = [&](std::span<const Index> J) {
    Matrix C = gram(kernel, X, X.subset(J));
    // A sample meets itself here, which two sample sets do not tell (white noise).
    for (std::size_t c = 0; c < J.size(); ++c) C(J[c], static_cast<Index>(c)) = diagonal[J[c]];
    return C;
  };
  return pivoted_cholesky(diagonal, columns, options);
}

}  // namespace mercer
