// For messages that say what may have been meant.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mercer {

// The known word that is nearest to what was typed: at most a third of its letters differ, and one always may. Empty: none is near.
std::string nearest_word(std::string_view typed, const std::vector<std::string>& known);
// The same within a sentence: ", did you mean gaussian?", or nothing.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& known);

}  // namespace mercer
