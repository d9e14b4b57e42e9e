// Reading and writing the safetensors layout. Cost: one pass over the bytes for the checksum.
// Reference: the safetensors format description (header length, `__metadata__`, dtype, shape, data_offsets; no holes, no overlaps).
// SPDX-License-Identifier: BSD-3-Clause
#include "persist/container.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "mercer/error.hpp"
#include "mercer/version.hpp"

namespace mercer::persist {

static_assert(std::endian::native == std::endian::little, "model files hold little-endian numbers");

namespace {

constexpr std::size_t length_bytes = 8;
constexpr std::size_t longest_header = 100'000'000;  // the limit of the safetensors format
constexpr int deepest_header = 8;
constexpr std::string_view checksum_mark = R"("checksum":"crc32:)";
constexpr std::string_view checksum_zeros = "00000000";

struct DtypeRow {
  Dtype dtype;
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array<DtypeRow, 5> dtypes{
    {{Dtype::f64, "F64", 8}, {Dtype::i64, "I64", 8}, {Dtype::f32, "F32", 4}, {Dtype::i32, "I32", 4}, {Dtype::u8, "U8", 1}}};

const DtypeRow& row_of(Dtype dtype) { return dtypes[static_cast<std::size_t>(dtype)]; }

std::uint32_t crc(std::uint32_t so_far, std::string_view bytes) {
  return static_cast<std::uint32_t>(crc32_z(so_far, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string length_field(std::size_t header) {
  std::string field(length_bytes, '\0');
  const auto length = static_cast<std::uint64_t>(header);
  std::memcpy(field.data(), &length, length_bytes);
  return field;
}

// Where the digits of the checksum stand in the header; npos when there is none, or more than one to choose from.
std::size_t checksum_at(std::string_view header) {
  const std::size_t mark = header.find(checksum_mark);
  if (mark == std::string_view::npos || header.find(checksum_mark, mark + 1) != std::string_view::npos) return std::string_view::npos;
  const std::size_t digits = mark + checksum_mark.size();
  return digits + checksum_zeros.size() < header.size() ? digits : std::string_view::npos;
}

// Some megabytes at a time, so that a large model can be stopped while it is written.
void in_pieces(std::string_view bytes, Stage& stage, const ByteSink& take) {
  constexpr std::size_t piece = std::size_t{1} << 22;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    take(bytes.substr(0, piece));
    stage.advance(static_cast<double>(std::min(piece, bytes.size())));
  }
}

Json parse_bounded(std::string_view text) {
  return Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
    if (depth > deepest_header) throw InvalidArgument("the header is nested too deeply");
    return true;
  });
}

}  // namespace

void ContainerWriter::add(Entry entry) {
  const auto narrower = [](const Entry& a, const Entry& b) { return row_of(a.dtype).bytes > row_of(b.dtype).bytes; };
  tensors_.insert(std::upper_bound(tensors_.begin(), tensors_.end(), entry, narrower), std::move(entry));
}

void ContainerWriter::write(const ByteSink& sink, const ProgressCallback& progress) const {
  Json metadata = {{"checksum", "crc32:" + std::string(checksum_zeros)},
                   {"format", "mercer"},
                   {"format_version", std::to_string(format_version)},
                   {"mercer_version", version()}};
  metadata.update(metadata_);
  Json layout = {{"__metadata__", std::move(metadata)}};
  std::size_t offset = 0;
  for (const Entry& entry : tensors_) {
    layout[entry.name] = {
        {"dtype", row_of(entry.dtype).name}, {"shape", entry.shape}, {"data_offsets", {offset, offset + entry.bytes.size()}}};
    offset += entry.bytes.size();
  }
  std::string header = layout.dump();
  header.append((length_bytes - header.size() % length_bytes) % length_bytes, ' ');
  if (header.size() > longest_header) {
    throw InvalidArgument(
        fmt::format("the names and labels of this model take {} bytes; a model file holds at most {}", header.size(), longest_header));
  }
  const std::string length = length_field(header.size());
  std::uint32_t sum = crc(crc(0, length), header);
  Stage writing(progress, "writing", 2 * static_cast<double>(offset));
  for (const Entry& entry : tensors_) {
    in_pieces(entry.bytes, writing, [&](std::string_view piece) { sum = crc(sum, piece); });
  }
  header.replace(checksum_at(header), checksum_zeros.size(), fmt::format("{:08x}", sum));

  sink(length);
  sink(header);
  for (const Entry& entry : tensors_) in_pieces(entry.bytes, writing, sink);
}

void ContainerReader::fail(const std::string& message) const { throw FileError(fmt::format("{}: {}", source_, message)); }

std::string_view ContainerReader::header_of(std::string_view bytes) const {
  if (bytes.size() < length_bytes + 2) fail(fmt::format("is not a model file: it has only {} bytes", bytes.size()));
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), length_bytes);
  if (bytes[length_bytes] != '{') fail("is not a model file: no header follows its first 8 bytes");
  if (length > longest_header) fail(fmt::format("its header claims {} bytes; at most {} are allowed", length, longest_header));
  if (length > bytes.size() - length_bytes) {
    fail(fmt::format("is cut short: its header claims {} bytes, the file has {}", length, bytes.size()));
  }
  return bytes.substr(length_bytes, static_cast<std::size_t>(length));
}

ContainerReader::ContainerReader(std::string_view bytes, std::shared_ptr<const void> owner, std::string source)
    : source_(std::move(source)), owner_(std::move(owner)) {
  const std::string_view header_text = header_of(bytes);
  Json header;
  try {
    header = parse_bounded(header_text);
    const Json& metadata = header.at("__metadata__");
    for (const auto& [key, value] : metadata.items()) metadata_[key] = value.get<std::string>();
  } catch (const std::exception&) {  // the parser's own words would quote bytes of a broken file
    fail("is not a Mercer model file, or is damaged: its header cannot be understood");
  }
  check_identity();

  const std::size_t digits = checksum_at(header_text);
  if (digits == std::string_view::npos) fail("has no checksum, or more than one; save the model again");
  const std::string_view data = bytes.substr(length_bytes + header_text.size());
  std::uint32_t sum = crc(crc(0, bytes.substr(0, length_bytes)), header_text.substr(0, digits));
  sum = crc(crc(sum, checksum_zeros), header_text.substr(digits + checksum_zeros.size()));
  sum = crc(sum, data);
  try {
    read_tensors(header, data);
  } catch (const Json::exception&) {
    fail("is damaged: a tensor's description in the header cannot be understood");
  }
  if (header_text.substr(digits, checksum_zeros.size()) != fmt::format("{:08x}", sum)) {
    fail("is damaged: its checksum does not fit its contents; copy or save it again");
  }
}

void ContainerReader::check_identity() const {
  if (!has("format") || text("format") != "mercer") fail("is a safetensors file, but not a model that Mercer saved");
  const std::string version_text = has("format_version") ? text("format_version") : "";
  const bool digits = !version_text.empty() && version_text.size() < 10 &&
                      std::all_of(version_text.begin(), version_text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || std::stol(version_text) < 1) fail("has no valid format_version in its header");
  if (std::stol(version_text) > format_version) {
    fail(fmt::format("has format version {}; this Mercer ({}) reads versions up to {}: install a newer Mercer", version_text, version(),
                     format_version));
  }
}

ContainerReader::Entry ContainerReader::read_entry(const std::string& name, const Json& value, std::string_view data,
                                                   std::size_t& begin) const {
  const std::string dtype = value.at("dtype").get<std::string>();
  const auto row = std::find_if(dtypes.begin(), dtypes.end(), [&](const DtypeRow& r) { return r.name == dtype; });
  if (row == dtypes.end()) fail(fmt::format("tensor {} has type {:?}; F64, F32, I64, I32 and U8 are known", name, dtype));
  Entry entry{row->dtype, {}, {}};
  std::size_t bytes = row->bytes;
  for (const Json& extent : value.at("shape")) {
    if (!extent.is_number_unsigned()) fail(fmt::format("the shape of tensor {} is not made of whole numbers", name));
    const auto n = extent.get<std::uint64_t>();
    if (n > static_cast<std::uint64_t>(std::numeric_limits<Index>::max()) || __builtin_mul_overflow(bytes, n, &bytes)) {
      fail(fmt::format("tensor {} claims more numbers than memory can hold", name));
    }
    entry.shape.push_back(static_cast<Index>(n));
  }
  const Json& offsets = value.at("data_offsets");
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned()) {
    fail(fmt::format("data_offsets of tensor {} must be two whole numbers", name));
  }
  begin = offsets[0].get<std::size_t>();
  const auto end = offsets[1].get<std::size_t>();
  if (begin > end || end > data.size()) {
    fail(fmt::format("tensor {} lies at bytes {} to {}, but the file has {} bytes of tensors; it is cut short or damaged", name, begin, end,
                     data.size()));
  }
  if (end - begin != bytes) fail(fmt::format("tensor {} needs {} bytes by its shape, but has {}", name, bytes, end - begin));
  entry.bytes = data.substr(begin, bytes);
  if (reinterpret_cast<std::uintptr_t>(entry.bytes.data()) % row->bytes != 0) fail(fmt::format("tensor {} is not aligned", name));
  return entry;
}

void ContainerReader::read_tensors(const Json& header, std::string_view data) {
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") continue;
    std::size_t begin = 0;
    const Entry entry = read_entry(name, value, data, begin);
    ranges.emplace_back(begin, begin + entry.bytes.size());
    if (!tensors_.emplace(name, entry).second) fail(fmt::format("tensor {} is there twice", name));
  }
  check_no_holes(std::move(ranges), data.size());
}

void ContainerReader::check_no_holes(std::vector<std::pair<std::size_t, std::size_t>> ranges, std::size_t size) const {
  std::sort(ranges.begin(), ranges.end());
  std::size_t covered = 0;
  for (const auto& [begin, end] : ranges) {
    if (begin != covered) fail(fmt::format("its tensors {} at byte {}", begin < covered ? "overlap" : "leave a hole", begin));
    covered = end;
  }
  if (covered != size) fail(fmt::format("has {} bytes after its last tensor that belong to nothing", size - covered));
}

const ContainerReader::Entry& ContainerReader::find(const std::string& name) const {
  const auto it = tensors_.find(name);
  if (it == tensors_.end()) fail(fmt::format("has no tensor {}", name));
  return it->second;
}

const ContainerReader::Entry& ContainerReader::find(const std::string& name, Dtype wanted) const {
  const Entry& entry = find(name);
  if (entry.dtype != wanted) {
    fail(fmt::format("tensor {} has type {}, wanted {}", name, row_of(entry.dtype).name, row_of(wanted).name));
  }
  return entry;
}

std::vector<Index> ContainerReader::shape(const std::string& name) const { return find(name).shape; }

std::string ContainerReader::text(const std::string& key) const {
  const auto it = metadata_.find(key);
  if (it == metadata_.end()) fail(fmt::format("its header lacks {}", key));
  return it->second;
}

Json ContainerReader::json(const std::string& key) const {
  try {
    Json value = parse_bounded(text(key));
    if (value.is_object()) return value;
  } catch (const Json::exception&) {
  }
  fail(fmt::format("{} in its header is not a JSON object", key));
}

Vector ContainerReader::vector(const std::string& name) const {
  const auto values = tensor<double>(name);
  if (shape(name).size() != 1) fail(fmt::format("tensor {} must have one dimension, has {}", name, shape(name).size()));
  if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); })) {
    fail(fmt::format("tensor {} has a value that is not finite", name));
  }
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

Matrix ContainerReader::matrix(const std::string& name) const {
  const auto values = tensor<double>(name);
  const std::vector<Index> extent = shape(name);
  if (extent.size() != 2) fail(fmt::format("tensor {} must have two dimensions, has {}", name, extent.size()));
  if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); })) {
    fail(fmt::format("tensor {} has a value that is not finite", name));
  }
  return Eigen::Map<const Matrix>(values.data(), extent[0], extent[1]);
}

Json ContainerReader::description() const {
  Json out = Json::object();
  for (const auto& [key, value] : metadata_) {
    // Settings are shown as the objects they are; what is not one, or is nested without end, stays the text it is.
    Json shown = value;
    try {
      if (value.starts_with('{')) shown = parse_bounded(value);
    } catch (const std::exception&) {
    }
    out[key] = std::move(shown);
  }
  Json tensors = Json::object();
  for (const auto& [name, entry] : tensors_) tensors[name] = {{"dtype", row_of(entry.dtype).name}, {"shape", entry.shape}};
  out["tensors"] = std::move(tensors);
  return out;
}

Json number_to_json(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

double number_from_json(const Json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string word = value.get<std::string>();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "-inf") return -std::numeric_limits<double>::infinity();
  throw InvalidArgument(fmt::format("a number in the header is {:?}", word));
}

Json text_to_json(const std::string& text) {
  try {
    (void)Json(text).dump();
    return text;
  } catch (const Json::exception&) {
    std::string digits;
    for (const char c : text) digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return {{"hex", digits}};
  }
}

std::string text_from_json(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  const std::string digits = value.at("hex").get<std::string>();
  if (digits.size() % 2 != 0 || digits.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw InvalidArgument("a text in the header is not made of hexadecimal digits");
  }
  std::string text;
  for (std::size_t i = 0; i < digits.size(); i += 2) text += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return text;
}

}  // namespace mercer::persist
