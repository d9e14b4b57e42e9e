// NPY, the array files of NumPy: magic, version, the length of a header, the header (a Python dictionary with descr, fortran_order and
// shape), then the values. Reference: numpy.lib.format. The header is checked against the file's size before anything is allocated.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "core/buffer.hpp"
#include "data/formats.hpp"
#include "data/number.hpp"
#include "data/python_literal.hpp"
#include "data/text.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

using namespace std::string_view_literals;

static_assert(std::endian::native == std::endian::little, "the NPY reader and writer assume a little-endian machine");

constexpr std::string_view magic = "\x93NUMPY";

struct Array {
  char kind = 'f';
  std::size_t size = 8;  // bytes of one value
  bool swapped = false;  // stored big endian
  bool fortran = false;
  Index rows = 0;
  Index cols = 0;
  const char* data = nullptr;
};

[[noreturn]] void fail(const std::string& source, std::string_view what) { throw FileError(fmt::format("{}: {}", source, what)); }

void read_type(Array& array, const PythonLiteral& descr, const std::string& source) {
  if (descr.kind == PythonLiteral::Kind::list)
    fail(source, "holds records with named fields, wanted one type of number; save the fields as the columns of one array");
  if (descr.kind != PythonLiteral::Kind::text) fail(source, "the NPY header's descr is not text");
  const std::string& type = descr.text;
  const std::string wanted =
      fmt::format("holds values of type {}, wanted f2, f4, f8, an integer type or bool; save it with .astype(float)", quoted(type));
  if (type.size() < 3 || std::string_view("<>|=").find(type[0]) == std::string_view::npos) fail(source, wanted);
  const std::string_view known = type[1] == 'f'                     ? "2 4 8"sv
                                 : type[1] == 'i' || type[1] == 'u' ? "1 2 4 8"sv
                                 : type[1] == 'b'                   ? "1"sv
                                                                    : ""sv;
  if (type.size() != 3 || known.find(type[2]) == std::string_view::npos || type[2] == ' ') fail(source, wanted);
  array.kind = type[1];
  array.size = static_cast<std::size_t>(type[2] - '0');
  array.swapped = type[0] == '>' && array.size > 1;
}

void read_shape(Array& array, const PythonLiteral& shape, const std::string& source) {
  if (shape.kind != PythonLiteral::Kind::tuple) fail(source, "the NPY header's shape is not a tuple");
  for (const PythonLiteral& length : shape.items) {
    if (length.kind != PythonLiteral::Kind::integer || length.integer < 0)
      fail(source, "the NPY header's shape is not made of numbers >= 0");
  }
  if (shape.items.empty() || shape.items.size() > 2) {
    fail(source, fmt::format("holds an array of {} dimensions, wanted 1 or 2; reshape it before saving", shape.items.size()));
  }
  array.rows = shape.items[0].integer;
  array.cols = shape.items.size() == 2 ? shape.items[1].integer : 1;
}

Array read_header(std::string_view bytes, const std::string& source) {
  if (!looks_like_npy(bytes)) fail(source, "does not begin like a NPY file");
  if (bytes.size() < 10) fail(source, "the NPY header is cut short; fetch or make the file again");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) fail(source, fmt::format("is NPY version {}, wanted 1, 2 or 3", version));
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  std::size_t length = 0;
  for (std::size_t k = 0; k < length_bytes && 8 + k < bytes.size(); ++k)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[8 + k])) << (8 * k);
  const std::size_t start = 8 + length_bytes;
  if (bytes.size() < start || length > bytes.size() - start) fail(source, "the NPY header is cut short; fetch or make the file again");

  const std::optional<PythonLiteral> header = parse_python_literal(bytes.substr(start, length));
  if (!header || header->kind != PythonLiteral::Kind::dict)
    fail(source, "the NPY header is not a Python dictionary; fetch or make the file again");
  const PythonLiteral* descr = header->find("descr");
  const PythonLiteral* order = header->find("fortran_order");
  const PythonLiteral* shape = header->find("shape");
  if (descr == nullptr || shape == nullptr || order == nullptr) fail(source, "the NPY header lacks descr, fortran_order or shape");
  if (order->kind != PythonLiteral::Kind::boolean) fail(source, "the NPY header's fortran_order is neither True nor False");
  Array array;
  read_type(array, *descr, source);
  read_shape(array, *shape, source);
  array.fortran = order->integer != 0;
  array.data = bytes.data() + start + length;

  const std::size_t there = bytes.size() - start - length;
  const auto rows = static_cast<std::size_t>(array.rows);
  const auto cols = static_cast<std::size_t>(array.cols);
  if (rows == 0 || cols == 0) fail(source, fmt::format("holds an empty array ({} x {}); wanted rows of numbers", rows, cols));
  if (rows > there / cols || rows * cols > there / array.size || rows * cols * array.size != there) {
    fail(source, fmt::format("has {} bytes of values, but its header announces {} x {} values of {} bytes; fetch or make the file again",
                             there, rows, cols, array.size));
  }
  return array;
}

template <class T>
double load(const char* at, bool swapped) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, at, sizeof(T));
  if (swapped) std::reverse(bytes, bytes + sizeof(T));
  if constexpr (std::is_same_v<T, bool>) {
    return bytes[0] != 0 ? 1 : 0;
  } else {
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    return static_cast<double>(value);
  }
}

using Load = double (*)(const char*, bool);

Load loader(const Array& array) {
  if (array.kind == 'b') return load<bool>;
  switch (array.size) {
    case 1:
      return array.kind == 'i' ? load<std::int8_t> : load<std::uint8_t>;
    case 2:
      return array.kind == 'f' ? load<Eigen::half> : array.kind == 'i' ? load<std::int16_t> : load<std::uint16_t>;
    case 4:
      return array.kind == 'f' ? load<float> : array.kind == 'i' ? load<std::int32_t> : load<std::uint32_t>;
    default:
      return array.kind == 'f' ? load<double> : array.kind == 'i' ? load<std::int64_t> : load<std::uint64_t>;
  }
}

}  // namespace

bool looks_like_npy(std::string_view bytes) { return bytes.starts_with(magic); }

Index npy_rows(std::string_view bytes, const std::string& source) { return read_header(bytes, source).rows; }
Index npy_columns(std::string_view bytes, const std::string& source) { return read_header(bytes, source).cols; }

Table read_npy(std::string_view bytes, const std::string& source, const ReadOptions& options) {
  return read_npy_rows(bytes, source, options, 0, npy_rows(bytes, source));
}

Table read_npy_rows(std::string_view bytes, const std::string& source, const ReadOptions& options, Index first, Index count) {
  Array array = read_header(bytes, source);
  const Index row_bytes = static_cast<Index>(array.size) * (array.fortran ? 1 : array.cols);
  const Index column_bytes = static_cast<Index>(array.size) * (array.fortran ? array.rows : 1);
  array.data += first * row_bytes;
  array.rows = count;
  const auto cols = static_cast<std::size_t>(array.cols);
  require_memory(static_cast<std::size_t>(array.rows) * cols * sizeof(double), options.run.memory,
                 fmt::format("{}: its {} x {} table", source, array.rows, array.cols), "read a part of it, or allow more (--memory)");
  Table table;
  table.source = source;
  table.format = FileFormat::npy;
  table.columns.resize(cols);
  std::vector<double*> out(cols);
  for (std::size_t j = 0; j < cols; ++j) {
    table.names.push_back(fmt::format("x{}", j + 1));
    table.columns[j].name = table.names.back();
    auto& values = table.columns[j].values.emplace<0>();
    values.reserve(static_cast<std::size_t>(array.rows));
    advise_huge_pages(values.data(), static_cast<std::size_t>(array.rows) * sizeof(double));
    values.resize(static_cast<std::size_t>(array.rows));
    out[j] = values.data();
  }

  const Load load_one = loader(array);
  constexpr Index block = 1024;
  Stage stage(options.run.progress, "reading " + source, static_cast<double>(array.rows));
  const Index blocks = (array.rows + block - 1) / block;
  std::vector<std::vector<std::pair<std::size_t, Index>>> missing(static_cast<std::size_t>(blocks));  // column, row
  for_each_chunk(blocks, [&](Index b) {
    const Index end = std::min(array.rows, (b + 1) * block);
    for (Index i = b * block; i < end; ++i) {
      const char* at = array.data + i * row_bytes;
      for (std::size_t j = 0; j < cols; ++j, at += column_bytes) {
        const double value = load_one(at, array.swapped);
        out[j][i] = value;
        if (std::isfinite(value)) continue;
        if (std::isinf(value))
          fail(
              source,
              fmt::format("the value in row {}, column {} is infinite, wanted a finite number; correct it, or write nan if it is not known",
                          first + i + 1, j + 1));
        missing[static_cast<std::size_t>(b)].emplace_back(j, i);
      }
    }
    stage.advance(static_cast<double>(end - b * block));
  });
  for (const auto& list : missing) {
    for (const auto& [column, row] : list) table.columns[column].missing.push_back(row);
  }
  return table;
}

std::string npy_header(Index rows, Index cols) {
  std::string dict = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", rows, cols);
  const std::size_t used = magic.size() + 4 + dict.size() + 1;
  dict.append((64 - used % 64) % 64, ' ');  // NumPy aligns the values so that they can be mapped
  dict += '\n';
  std::string out(magic);
  out += '\x01';
  out += '\0';
  out += static_cast<char>(dict.size() & 0xFF);
  out += static_cast<char>(dict.size() >> 8);
  return out + dict;
}

}  // namespace mercer
