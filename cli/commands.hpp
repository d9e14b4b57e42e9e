// The commands of the tool: each adds itself to the command line and leaves its job in the invocation.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options.hpp"

namespace mercer::cli {

void add_learn(CLI::App& app, Invocation& invocation);
void add_fit(CLI::App& app, Invocation& invocation);
void add_predict(CLI::App& app, Invocation& invocation);
void add_score(CLI::App& app, Invocation& invocation);
void add_embed(CLI::App& app, Invocation& invocation);
void add_cluster(CLI::App& app, Invocation& invocation);
void add_compare(CLI::App& app, Invocation& invocation);
void add_depend(CLI::App& app, Invocation& invocation);
void add_weights(CLI::App& app, Invocation& invocation);
void add_changes(CLI::App& app, Invocation& invocation);
void add_drift(CLI::App& app, Invocation& invocation);
void add_gram(CLI::App& app, Invocation& invocation);
void add_kernels(CLI::App& app, Invocation& invocation);
void add_info(CLI::App& app, Invocation& invocation);
void add_convert(CLI::App& app, Invocation& invocation);
void add_gallery(CLI::App& app, Invocation& invocation);
void add_completion(CLI::App& app, Invocation& invocation);
void add_manual(CLI::App& app, Invocation& invocation);

}  // namespace mercer::cli
