// Threads that help with a loop work for the stage of the thread that started it. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mercer/run.hpp"

namespace mercer {

class StageScope {
 public:
  explicit StageScope(Stage* stage);
  ~StageScope();
  StageScope(const StageScope&) = delete;
  StageScope& operator=(const StageScope&) = delete;

  static Stage* current();  // of this thread; none: null

 private:
  Stage* before_;
};

}  // namespace mercer
