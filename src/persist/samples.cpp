// Samples in a model file: packed rows on writing (a slice or a strided view is stored as what it shows), and on reading the checks
// that every later loop over CSR rows relies on: offsets that never fall, columns in range and ascending, finite values.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "mercer/error.hpp"
#include "persist/parts.hpp"

namespace mercer::persist {

namespace {

// `held` keeps the rows alive until the file is written.
using Held = std::shared_ptr<const void>;

template <class T>
void write_rows(const DenseRows<T>& rows, ContainerWriter& out, const std::string& name, const Held& held) {
  out.json(name, {{"layout", "dense"}, {"rows", rows.rows}, {"width", rows.cols}});
  if (rows.stride == rows.cols || rows.rows <= 1) {
    out.tensor(name, {rows.rows, rows.cols}, rows.data, held);
    return;
  }
  auto packed = std::make_shared<std::vector<T>>();
  packed->reserve(static_cast<std::size_t>(rows.rows * rows.cols));
  for (Index i = 0; i < rows.rows; ++i) packed->insert(packed->end(), rows.row(i), rows.row(i) + rows.cols);
  out.tensor(name, {rows.rows, rows.cols}, packed->data(), packed);
}

template <class T>
void write_rows(const CsrRows<T>& rows, ContainerWriter& out, const std::string& name, const Held& held) {
  out.json(name, {{"layout", "csr"}, {"rows", rows.rows}, {"width", rows.cols}});
  auto offsets = std::make_shared<std::vector<std::int64_t>>(static_cast<std::size_t>(rows.rows) + 1, 0);
  const Index first = rows.rows == 0 ? 0 : rows.begin(0);
  for (Index i = 0; i < rows.rows; ++i) (*offsets)[static_cast<std::size_t>(i) + 1] = rows.end(i) - first;
  out.tensor(name + ".values", {rows.nonzeros()}, rows.values + first, held);
  out.tensor(name + ".columns", {rows.nonzeros()}, rows.columns + first, held);
  out.tensor(name + ".offsets", {rows.rows + 1}, offsets->data(), offsets);
}

template <class T>
Samples read_dense(const ContainerReader& in, Index rows, Index width, const std::string& name) {
  if (in.shape(name) != std::vector<Index>{rows, width}) in.fail(fmt::format("tensor {} is not {} x {}", name, rows, width));
  return Samples::borrow(DenseRows<T>{in.tensor<T>(name).data(), rows, width, width}, in.owner());
}

void check_csr(const ContainerReader& in, std::span<const std::int64_t> offsets, std::span<const std::int32_t> columns, Index width) {
  const auto nonzeros = static_cast<std::int64_t>(columns.size());
  if (offsets.front() != 0 || offsets.back() != nonzeros || !std::is_sorted(offsets.begin(), offsets.end())) {
    in.fail("the offsets of its sparse rows do not ascend from 0 to the number of values");
  }
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    std::int64_t previous = -1;
    for (std::int64_t p = offsets[i]; p < offsets[i + 1]; ++p) {
      const std::int32_t column = columns[static_cast<std::size_t>(p)];
      if (column <= previous || column >= width) {
        in.fail(fmt::format("the columns of sparse row {} are not ascending numbers below {}", i, width));
      }
      previous = column;
    }
  }
}

template <class T>
Samples read_csr(const ContainerReader& in, Index rows, Index width, const std::string& name) {
  const auto values = in.tensor<T>(name + ".values");
  const auto columns = in.tensor<std::int32_t>(name + ".columns");
  const auto offsets = in.tensor<std::int64_t>(name + ".offsets");
  if (values.size() != columns.size() || offsets.size() != static_cast<std::size_t>(rows) + 1) {
    in.fail("the tensors of its sparse rows do not fit together");
  }
  check_csr(in, offsets, columns, width);
  return Samples::borrow(CsrRows<T>{values.data(), columns.data(), offsets.data(), rows, width}, in.owner());
}

// Objects of a given Gram matrix: which ones, without kernel values.
Samples read_given(const ContainerReader& in, Index rows, Index width, const std::string& name) {
  const auto ids = in.tensor<std::int64_t>(name + ".ids");
  if (ids.size() != static_cast<std::size_t>(rows)) in.fail("the tensor of its samples does not have one number per sample");
  const auto in_range = [&](std::int64_t id) { return id >= 0 && id < width; };
  if (!std::all_of(ids.begin(), ids.end(), in_range)) in.fail(fmt::format("its samples are not objects of a Gram matrix of {}", width));
  return Samples::given_objects(width, std::vector<Index>(ids.begin(), ids.end()));
}

}  // namespace

void write_samples(const Samples& samples, ContainerWriter& out, const std::string& name) {
  if (samples.is_given()) {
    out.json(name, {{"layout", "given"}, {"rows", samples.size()}, {"width", samples.width()}});
    auto ids = std::make_shared<std::vector<std::int64_t>>(samples.given_ids().begin(), samples.given_ids().end());
    out.tensor(name + ".ids", {samples.size()}, ids->data(), ids);
    return;
  }
  if (samples.has_objects()) return write_records(samples, out, name);
  const auto held = std::make_shared<const Samples>(samples);
  std::visit([&](const auto& rows) { write_rows(rows, out, name, held); }, samples.storage());
}

Samples read_samples(const ContainerReader& in, const std::string& name) {
  const Json about = in.json(name);
  const std::string layout = about.at("layout").get<std::string>();
  const auto rows = about.at("rows").get<Index>();
  const auto width = about.at("width").get<Index>();
  if (rows < 0 || width < 0 || rows == std::numeric_limits<Index>::max()) in.fail("the number of its samples is out of range");
  if (layout == "given") return read_given(in, rows, width, name);
  if (layout == "records") return read_records(in, about, name);
  const bool sparse = layout == "csr";
  if (!sparse && layout != "dense") in.fail(fmt::format("its samples have layout {:?}; dense, csr, records and given are known", layout));
  if (sparse && width > std::numeric_limits<std::int32_t>::max()) in.fail("its sparse samples are too wide");
  const bool single = in.dtype(sparse ? name + ".values" : name) == Dtype::f32;
  Samples samples = sparse ? (single ? read_csr<float>(in, rows, width, name) : read_csr<double>(in, rows, width, name))
                           : (single ? read_dense<float>(in, rows, width, name) : read_dense<double>(in, rows, width, name));
  require_finite(samples, "samples");
  return samples;
}

}  // namespace mercer::persist
