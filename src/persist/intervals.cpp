// SPDX-License-Identifier: BSD-3-Clause
#include "persist/intervals.hpp"

#include <fmt/format.h>

#include "mercer/error.hpp"
#include "persist/parts.hpp"

namespace mercer::persist {

namespace {

using Tiles = linalg::SymmetricTiles<double>;

// The entry of row i and column j <= i.
double* entry(Tiles& A, Index i, Index j) {
  constexpr Index edge = linalg::cholesky_tile;
  return A.tile(i / edge, j / edge) + (i % edge) * edge + j % edge;
}
const double* entry(const Tiles& A, Index i, Index j) {
  constexpr Index edge = linalg::cholesky_tile;
  return A.tile(i / edge, j / edge) + (i % edge) * edge + j % edge;
}

void write_half(const std::string& name, const Tiles& A, ContainerWriter& out) {
  auto packed = std::make_shared<std::vector<double>>();
  packed->reserve(static_cast<std::size_t>(A.size() * (A.size() + 1) / 2));
  for (Index i = 0; i < A.size(); ++i) {
    for (Index j = 0; j <= i; ++j) packed->push_back(*entry(A, i, j));
  }
  out.tensor(name, {static_cast<Index>(packed->size())}, packed->data(), packed);
}

Tiles read_half(const std::string& name, Index n, const ContainerReader& in) {
  const Vector packed = in.vector(name);
  if (packed.size() != n * (n + 1) / 2) in.fail(fmt::format("tensor {} has {} numbers for {} samples", name, packed.size(), n));
  Tiles A(n);
  Index next = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) *entry(A, i, j) = packed[next++];
  }
  return A;
}

void read_groups(const Json& about, Index n, const ContainerReader& in, IntervalParts& parts) {
  parts.scale = in.vector("intervals.scale");
  for (std::size_t g = 0; g < about.at("groups").size(); ++g) {
    JackknifeGroup group{about.at("groups").at(g).get<std::vector<Index>>(), read_half(fmt::format("intervals.inverse.{}", g), n, in), {}};
    const std::string border = fmt::format("intervals.border.{}", g);
    if (in.has_tensor(border)) group.border = in.vector(border);
    parts.groups.push_back(std::move(group));
  }
}

}  // namespace

void write_intervals(const IntervalParts& parts, ContainerWriter& out) {
  const IntervalSummary& s = parts.summary;
  const bool jackknife = s.method == IntervalMethod::jackknife_plus;
  Json groups = Json::array();
  write_matrix("intervals.residuals", parts.residuals, out);
  if (jackknife) {
    write_vector("intervals.scale", parts.scale, out);
    for (std::size_t g = 0; g < parts.groups.size(); ++g) {
      const JackknifeGroup& group = parts.groups[g];
      groups.push_back(group.targets);
      write_half(fmt::format("intervals.inverse.{}", g), group.inverse, out);
      if (group.border.size() > 0) write_vector(fmt::format("intervals.border.{}", g), group.border, out);
    }
  } else {
    const auto folds = std::make_shared<std::vector<std::int64_t>>(parts.fold_of.begin(), parts.fold_of.end());
    out.tensor("intervals.fold_of", {static_cast<Index>(folds->size())}, folds->data(), folds);
    write_matrix("intervals.fold_coef", parts.fold_coef, out);
    write_matrix("intervals.fold_intercept", parts.fold_intercept, out);
  }
  out.json("intervals", {{"method", jackknife ? "jackknife+" : "CV+"},
                         {"folds", s.folds},
                         {"bytes", s.bytes},
                         {"seconds", number_to_json(s.seconds)},
                         {"sentence", text_to_json(s.sentence)},
                         {"groups", groups}});
}

std::shared_ptr<const IntervalParts> read_intervals(const ContainerReader& in, Index n, Index targets) {
  const Json about = in.json("intervals");
  auto parts = std::make_shared<IntervalParts>();
  const std::string method = about.at("method").get<std::string>();
  if (method != "jackknife+" && method != "CV+") in.fail(fmt::format("its intervals are by {:?}", method));
  IntervalSummary& s = parts->summary;
  s.method = method == "CV+" ? IntervalMethod::cv_plus : IntervalMethod::jackknife_plus;
  s.folds = about.at("folds").get<Index>();
  s.bytes = about.at("bytes").get<std::size_t>();
  s.seconds = number_from_json(about.at("seconds"));
  s.sentence = text_from_json(about.at("sentence"));
  parts->residuals = in.matrix("intervals.residuals");
  if (s.method == IntervalMethod::jackknife_plus) {
    read_groups(about, n, in, *parts);
  } else {
    const auto folds = in.tensor<std::int64_t>("intervals.fold_of");
    parts->fold_of.assign(folds.begin(), folds.end());
    parts->fold_coef = in.matrix("intervals.fold_coef");
    parts->fold_intercept = in.matrix("intervals.fold_intercept");
  }
  try {
    check_parts(*parts, n, targets);
  } catch (const InvalidArgument& e) {
    in.fail(e.what());
  }
  return parts;
}

}  // namespace mercer::persist
