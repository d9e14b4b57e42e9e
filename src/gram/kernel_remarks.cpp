// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <Eigen/Cholesky>

#include "mercer/diagnosis.hpp"
#include "mercer/gram.hpp"

namespace mercer {

namespace {

constexpr Index most_objects = 500;        // of a given matrix that is factored for a remark
constexpr double rounding_allowed = 1e-8;  // of the largest diagonal entry: matrices that other tools wrote have few digits

bool has_negative_eigenvalue(const Kernel& kernel, const Samples& X, const Vector& diagonal) {
  Matrix K = gram(kernel, X);
  K.diagonal().array() += rounding_allowed * diagonal.cwiseAbs().maxCoeff();
  return Eigen::LLT<Matrix>(K).info() != Eigen::Success;
}

}  // namespace

std::vector<std::string> kernel_remarks(const Kernel& kernel, const Samples& samples) {
  std::vector<std::string> remarks;
  const bool given = kernel.needs_given_gram();
  if (kernel.psd() == Verdict::no) {
    remarks.push_back(
        fmt::format("the kernel {} is not positive semi-definite: distances and margins by it may be none, and what is learned may mislead",
                    kernel.text()));
  }
  if (samples.empty() || !(given || kernel.looks_at_objects())) return remarks;
  const Samples X = as_given(kernel, samples);
  const Vector diagonal = gram_diagonal(kernel, X);
  const auto zeros = (diagonal.array() == 0).count();
  if (zeros > 0) {
    remarks.push_back(fmt::format("k(x, x) = 0 for {} of {} samples: the kernel finds nothing in them, and its value with every other is 0",
                                  zeros, X.size()));
  }
  if (given && zeros < X.size() &&
      (diagonal.minCoeff() < 0 || (X.size() <= most_objects && has_negative_eigenvalue(kernel, X, diagonal)))) {
    remarks.emplace_back(
        "the given kernel values are not positive semi-definite: no kernel has them; check_gram shows where, repair_gram mends them "
        "(mercer gram --check, --repair)");
  }
  return remarks;
}

}  // namespace mercer
