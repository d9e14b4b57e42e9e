// mercer kernels: what kernels there are.
// SPDX-License-Identifier: BSD-3-Clause
#include "commands.hpp"
#include "files.hpp"

namespace mercer::cli {

namespace {

struct KernelsOptions {
  CommonOptions common{};
  std::string name{};
};

Json json_of(const KernelInfo& info) {
  return {{"name", info.name}, {"formula", info.formula}, {"parameters", info.parameters}, {"properties", info.properties}};
}

void run_kernels(const KernelsOptions& o) {
  std::vector<KernelInfo> chosen;
  std::vector<std::string> names;
  for (const KernelInfo& info : kernel_catalogue()) {
    names.push_back(info.name);
    if (o.name.empty() || info.name == o.name) chosen.push_back(info);
  }
  if (chosen.empty()) {
    const std::string near = nearest(o.name, names);
    throw UsageError(fmt::format("there is no kernel \"{}\"{}; mercer kernels lists them", o.name,
                                 near.empty() ? "" : fmt::format(", did you mean {}?", near)));
  }
  if (o.common.json) {
    Json json = {{"kernels", Json::array()}};
    for (const KernelInfo& info : chosen) json["kernels"].push_back(json_of(info));
    print_json(json);
    return;
  }
  const Speaker speaker(o.common);
  if (o.name.empty()) {
    std::vector<std::vector<std::string>> rows{{"kernel", "formula", "properties"}};
    for (const KernelInfo& info : chosen) rows.push_back({info.name, info.formula, info.properties});
    speaker.say("{}", aligned(rows));
    speaker.say("Combine them with + and *: \"gaussian(2) + 0.5*linear\". mercer kernels NAME says more about one.");
    return;
  }
  const KernelInfo& info = chosen.front();
  speaker.say(
      "{}", aligned({{"kernel", info.name}, {"formula", info.formula}, {"parameters", info.parameters}, {"properties", info.properties}}));
}

}  // namespace

void add_kernels(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<KernelsOptions>();
  CLI::App* command = app.add_subcommand("kernels", "List the kernels: formula, parameters, properties");
  command->add_option("NAME", o->name, "Only this kernel");
  add_common(*command, o->common);
  command->footer("Examples:\n  mercer kernels\n  mercer kernels gaussian --json");
  command->callback([o, &invocation] { invocation.job = [o] { run_kernels(*o); }; });
}

}  // namespace mercer::cli
