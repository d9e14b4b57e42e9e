// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include "core/buffer.hpp"
#include "mercer/run.hpp"

namespace mercer {

std::shared_ptr<void> allocate_big(std::size_t bytes) {
  auto buffer = std::make_shared<Buffer<std::byte>>(bytes == 0 ? 1 : bytes);
  void* data = buffer->data();
  return {std::move(buffer), data};
}

}  // namespace mercer
