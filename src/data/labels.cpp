// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mercer/error.hpp"
#include "mercer/table.hpp"

namespace mercer {

namespace {

// The distinct values in ascending order, and where each label stands among them.
template <class T>
std::vector<T> rank(std::span<const T> labels, std::vector<Index>& indices) {
  std::vector<T> distinct(labels.begin(), labels.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  indices.reserve(labels.size());
  for (const T& label : labels) indices.push_back(std::lower_bound(distinct.begin(), distinct.end(), label) - distinct.begin());
  return distinct;
}

// All labels as finite numbers, or nothing: one word among them makes them all text.
std::optional<std::vector<double>> as_numbers(std::span<const std::string> labels) {
  std::vector<double> numbers;
  numbers.reserve(labels.size());
  for (const std::string& label : labels) {
    const std::optional<double> number = parse_number(label);
    if (!number || !std::isfinite(*number)) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace

LabelEncoding encode_labels(std::span<const double> labels) {
  std::vector<double> numbers(labels.begin(), labels.end());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!std::isfinite(numbers[i])) {
      throw InvalidArgument(
          fmt::format("the label of row {} (counting from 0) is {}; remove the row", i, std::isnan(numbers[i]) ? "NaN" : "infinite"));
    }
    numbers[i] += 0.0;  // -0 and 0 are one class
  }
  LabelEncoding encoding;
  for (const double value : rank<double>(numbers, encoding.indices)) encoding.classes.push_back(format_number(value));
  return encoding;
}

LabelEncoding encode_labels(std::span<const std::string> labels) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i].empty())
      throw InvalidArgument(fmt::format("the label of row {} (counting from 0) is empty; fill it in or remove the row", i));
  }
  if (const auto numbers = as_numbers(labels)) return encode_labels(std::span<const double>(*numbers));
  LabelEncoding encoding;
  encoding.classes = rank<std::string>(labels, encoding.indices);
  return encoding;
}

std::vector<Index> class_indices(const Vector& y) {
  std::vector<Index> out(static_cast<std::size_t>(y.size()));
  std::transform(y.begin(), y.end(), out.begin(), [](double value) { return static_cast<Index>(value); });
  return out;
}

Matrix score_targets(const Vector& y, Index classes) {
  if (classes == 2) return (2 * y.array() - 1).matrix();
  Matrix targets = Matrix::Constant(y.size(), classes, -1);
  for (Index i = 0; i < y.size(); ++i) targets(i, static_cast<Index>(y[i])) = 1;
  return targets;
}

}  // namespace mercer
