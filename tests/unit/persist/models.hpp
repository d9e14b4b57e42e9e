// Small models made from their parts, and tools to take model files apart and to forge them with a fitting checksum.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>
#include <zlib.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "mercer/error.hpp"
#include "mercer/model_file.hpp"

namespace mercer::testing {

using Json = nlohmann::ordered_json;

inline Matrix numbers(Index rows, Index cols, double step = 0.37) {
  Matrix out(rows, cols);
  for (Index i = 0; i < out.size(); ++i) out.data()[i] = std::sin(step * static_cast<double>(i + 1)) / 3;
  return out;
}

inline Encoder odd_encoder() {  // four columns: a number, one category with three odd names
  Encoder e;
  e.features = {{"size, \"cm\"", {}, 0.1, 3}, {"colour", {"", "\xff\xfe not UTF-8", "</script><b>\n\xc3\xa9"}, 0, 0}};
  e.named = false;
  e.table_columns = 5;
  e.target_position = 1;
  e.fills_missing = true;
  e.width = 4;
  e.target = "\xe4pfel";  // Latin-1, not UTF-8
  e.task = Task::classification;
  e.classes = {"no", "yes\t\"checksum\":\"crc32:00000000\""};
  e.scaler = {ScalingKind::standard, numbers(4, 1), numbers(4, 1).cwiseAbs()};
  return e;
}

inline SavedModel krr_model(Samples samples, Index targets = 1, const std::string& kernel = "gaussian(0.1) + 0.3*linear",
                            Precision precision = Precision::float64) {
  const Index n = samples.size();
  const SolveSummary s{.method = "Cholesky", .rank = n, .residual = 1.25e-16, .seconds = 0.1 + 0.2, .bytes = 123, .sentence = "solved"};
  return {KernelRidgeModel::from_parts(parse_kernel(kernel), std::move(samples), numbers(n, targets, 0.71), numbers(targets, 1, 0.2),
                                       numbers(targets, 1, 0.3).cwiseAbs(), precision, s),
          std::nullopt};
}

inline SavedModel small_model() {
  SavedModel model = krr_model(numbers(3, 4));
  model.encoder = odd_encoder();
  return model;
}

inline CsrMatrix<double> sparse_numbers() {
  CsrMatrix<double> m(4, 9);
  m.insert(0, 2) = 0.1;
  m.insert(0, 8) = -3;
  m.insert(2, 0) = 1e-300;
  m.insert(3, 4) = 7;
  m.makeCompressed();
  return m;
}

struct Parts {
  Json header;
  std::string data;
};

inline Parts take_apart(const std::string& bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  return {Json::parse(bytes.substr(8, length)), bytes.substr(8 + length)};
}

// A file of these parts whose checksum fits, so that the checks behind the checksum are reached.
inline std::string forge(Parts parts) {
  parts.header["__metadata__"]["checksum"] = "crc32:00000000";
  std::string header = parts.header.dump();
  while (header.size() % 8 != 0) header += ' ';
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  bytes += header + parts.data;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
  const std::string zeros = "\"checksum\":\"crc32:00000000\"";
  bytes.replace(bytes.find(zeros), zeros.size(), fmt::format("\"checksum\":\"crc32:{:08x}\"", sum));
  return bytes;
}

// The message of the error that loading gives; "" when it loads.
inline std::string load_error(std::string_view bytes) {
  try {
    (void)model_from_bytes(bytes, "m.mercer");
  } catch (const FileError& error) {
    return error.what();
  }
  return "";
}

}  // namespace mercer::testing
