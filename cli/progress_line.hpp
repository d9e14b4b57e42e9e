// What a progress bar says: how long is left, and one line that fits the terminal.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mercer::cli {

// The time that the stage under way still needs, from how fast it went so far: what went lately counts more, yet a single jump does not
// move it far. Nothing is said before a stage has run long enough, and done enough, to be judged.
class Remaining {
 public:
  // `fraction` of the stage is done after `seconds` of it. A smaller fraction, or another stage, begins anew.
  void note(std::string_view stage, double fraction, double seconds);
  std::optional<double> seconds() const;

 private:
  std::string stage_{};
  double fraction_ = 0;
  double elapsed_ = 0;
  double rate_ = 0;  // of the stage, a second
};

// "8 s", "2 min 10 s", "1 h 05 min".
std::string duration_words(double seconds);

// "Cholesky [#####.....]  50 %  12.3 s, 8 s left" in at most `width` columns. What there is no room for is left out: first the bar gets
// shorter and goes, then the stage, then the times.
std::string progress_line(std::string_view stage, double fraction, double elapsed, std::optional<double> remaining, int width);

}  // namespace mercer::cli
