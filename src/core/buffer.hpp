// Big arrays: 2 MiB aligned, huge pages asked for, freed ones kept for reuse (memory.cpp says why); below 1 MiB plain memory aligned
// to 64 bytes. Contents start undefined.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

namespace mercer {

// Throws OverBudget when the machine has none left. release_bytes wants the pointer and the size that were given.
void* acquire_bytes(std::size_t bytes);
void release_bytes(void* data, std::size_t bytes) noexcept;

// Asks for huge pages under memory that somebody else allocated and nobody has touched yet.
void advise_huge_pages(void* data, std::size_t bytes);

template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>, "nothing is constructed or destroyed here");

 public:
  Buffer() = default;
  explicit Buffer(std::size_t count) : data_(count == 0 ? nullptr : static_cast<T*>(acquire_bytes(bytes_for(count)))), count_(count) {}
  ~Buffer() { reset(); }
  Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    if (this != &other) {
      reset();
      data_ = std::exchange(other.data_, nullptr);
      count_ = std::exchange(other.count_, 0);
    }
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  static std::size_t bytes_for(std::size_t count) {  // a count too large for memory asks for all of it, and is refused there
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    return count > most / sizeof(T) ? most : count * sizeof(T);
  }

  void reset() {
    if (data_ != nullptr) release_bytes(data_, count_ * sizeof(T));
    data_ = nullptr;
    count_ = 0;
  }

  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace mercer
