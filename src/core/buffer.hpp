// Big arrays: 2 MiB aligned, huge pages asked for, freed ones kept for reuse (memory.cpp says why). Contents start undefined.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>

namespace mercer {

void* acquire_bytes(std::size_t bytes);
void release_bytes(void* data, std::size_t bytes) noexcept;

// Asks for huge pages under memory that somebody else allocated and nobody has touched yet.
void advise_huge_pages(void* data, std::size_t bytes);

template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t count) : data_(count == 0 ? nullptr : static_cast<T*>(acquire_bytes(count * sizeof(T)))), count_(count) {}
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
  void reset() {
    if (data_ != nullptr) release_bytes(data_, count_ * sizeof(T));
    data_ = nullptr;
    count_ = 0;
  }

  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace mercer
