// The safetensors layout: 8 bytes little-endian header length, a JSON header of named tensors, the tensors' bytes. All text of a model
// lies in the header's `__metadata__`, which maps strings to strings as the format demands; numbers in bulk are tensors.
//
// The checksum is the crc32 of the whole file with its own eight hexadecimal digits written as zeros, so that every byte is covered
// and other safetensors readers still open the file. A reader trusts nothing: every size and offset is checked before it is used.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/file.hpp"
#include "mercer/matrix.hpp"
#include "mercer/run.hpp"

namespace mercer::persist {

using Json = nlohmann::ordered_json;

inline constexpr int format_version = 1;

enum class Dtype : std::uint8_t { f64, i64, f32, i32, u8 };

template <class T>
struct DtypeOf;
template <>
struct DtypeOf<double> {
  static constexpr Dtype value = Dtype::f64;
};
template <>
struct DtypeOf<float> {
  static constexpr Dtype value = Dtype::f32;
};
template <>
struct DtypeOf<std::int64_t> {
  static constexpr Dtype value = Dtype::i64;
};
template <>
struct DtypeOf<std::int32_t> {
  static constexpr Dtype value = Dtype::i32;
};

template <>
struct DtypeOf<std::uint8_t> {
  static constexpr Dtype value = Dtype::u8;
};

// Collects what a model consists of, then writes it. Tensors are not copied: they must live until written, or have an owner.
class ContainerWriter {
 public:
  void text(const std::string& key, std::string value) { metadata_[key] = std::move(value); }
  void json(const std::string& key, const Json& value) { metadata_[key] = value.dump(); }

  template <class T>
  void tensor(std::string name, std::vector<Index> shape, const T* data, std::shared_ptr<const void> owner = nullptr) {
    std::size_t count = 1;
    for (const Index extent : shape) count *= static_cast<std::size_t>(extent);
    const std::string_view bytes(count == 0 ? "" : reinterpret_cast<const char*>(data), count * sizeof(T));
    add({std::move(name), DtypeOf<T>::value, std::move(shape), bytes, std::move(owner)});
  }

  void write(const ByteSink& sink, const ProgressCallback& progress = {}) const;

 private:
  struct Entry {
    std::string name;
    Dtype dtype;
    std::vector<Index> shape;
    std::string_view bytes;
    std::shared_ptr<const void> owner;
  };
  void add(Entry entry);

  Json metadata_ = Json::object();
  std::vector<Entry> tensors_;  // wide types first, so that all are aligned
};

// What a file holds, checked. Spans point into the bytes, which `owner()` keeps alive.
class ContainerReader {
 public:
  // `bytes` starts at an address aligned to 8.
  ContainerReader(std::string_view bytes, std::shared_ptr<const void> owner, std::string source);

  [[noreturn]] void fail(const std::string& message) const;

  bool has(const std::string& key) const { return metadata_.contains(key); }
  std::string text(const std::string& key) const;
  Json json(const std::string& key) const;  // metadata that is JSON text: always an object

  bool has_tensor(const std::string& name) const { return tensors_.contains(name); }
  std::vector<Index> shape(const std::string& name) const;
  Dtype dtype(const std::string& name) const { return find(name).dtype; }
  template <class T>
  std::span<const T> tensor(const std::string& name) const {
    const Entry& entry = find(name, DtypeOf<T>::value);
    return {reinterpret_cast<const T*>(entry.bytes.data()), entry.bytes.size() / sizeof(T)};
  }
  Vector vector(const std::string& name) const;  // one dimension, float64, finite
  Matrix matrix(const std::string& name) const;  // two dimensions, float64, finite

  const std::shared_ptr<const void>& owner() const { return owner_; }
  Json description() const;  // metadata and the shapes of tensors, for people

 private:
  struct Entry {
    Dtype dtype;
    std::vector<Index> shape;
    std::string_view bytes;
  };
  const Entry& find(const std::string& name) const;
  const Entry& find(const std::string& name, Dtype wanted) const;
  std::string_view header_of(std::string_view bytes) const;
  void check_identity() const;
  void read_tensors(const Json& header, std::string_view data);
  Entry read_entry(const std::string& name, const Json& value, std::string_view data, std::size_t& begin) const;
  void check_no_holes(std::vector<std::pair<std::size_t, std::size_t>> ranges, std::size_t size) const;

  std::string source_;
  std::shared_ptr<const void> owner_;
  std::map<std::string, std::string> metadata_;
  std::map<std::string, Entry> tensors_;
};

// Doubles in JSON text: exact, and "inf", "-inf", "nan" as words, for which JSON has no numbers.
Json number_to_json(double value);
double number_from_json(const Json& value);
// Text in JSON text: as it is, or as hexadecimal digits when it is not UTF-8 (a name from a file in another encoding).
Json text_to_json(const std::string& text);
std::string text_from_json(const Json& value);

}  // namespace mercer::persist
