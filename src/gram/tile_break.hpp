// Where single values are slow (subsequences of long strings, sets of many elements) a tile takes long too: while this value lives, what
// makes tiles on this thread looks now and then whether the job around it has been stopped. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/run.hpp"

namespace mercer {

class TileBreak {
 public:
  explicit TileBreak(Stage& stage) : before_(current()) { current() = &stage; }
  ~TileBreak() { current() = before_; }
  TileBreak(const TileBreak&) = delete;
  TileBreak& operator=(const TileBreak&) = delete;

  // Throws Cancelled where the job has been stopped.
  static void check() {
    if (current() != nullptr) current()->check();
  }

 private:
  static Stage*& current() {
    thread_local Stage* stage = nullptr;
    return stage;
  }

  Stage* before_;
};

}  // namespace mercer
