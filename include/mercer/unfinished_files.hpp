// Files that are being written, for programs that must end at once.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace mercer {

// Mercer writes a file under a temporary name beside it and renames it when it is complete. This removes the temporary files of all
// threads; call it right before the process ends, in the handler of a signal say: it is async-signal-safe. Up to 16 files at a time are
// known to it.
void remove_unfinished_files() noexcept;

}  // namespace mercer
