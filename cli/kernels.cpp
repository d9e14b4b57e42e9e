// mercer kernels: what kernels there are, and what can be made of them.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "commands.hpp"
#include "files.hpp"

namespace mercer::cli {

namespace {

struct KernelsOptions {
  CommonOptions common{};
  std::string name{};
};

std::vector<std::pair<const char*, Verdict>> verdicts_of(const KernelInfo& info) {
  return {{"psd", info.psd},
          {"strictly_pd", info.strictly_pd},
          {"universal", info.universal},
          {"characteristic", info.characteristic},
          {"bounded", info.bounded},
          {"shift_invariant", info.shift_invariant}};
}

Json json_of(const KernelInfo& info) {
  Json json = {{"name", info.name}, {"formula", info.formula}, {"parameters", Json::array()}};
  for (const ParameterInfo& p : info.parameters)
    json["parameters"].push_back({{"name", p.name}, {"default", p.standard}, {"range", p.range}});
  for (const auto& [name, verdict] : verdicts_of(info)) json[name] = name_of(verdict);
  json["note"] = info.note;
  json["source"] = info.source;
  return json;
}

// What holds, what does not and what is not known, with the default parameters.
std::string sentence_of(const KernelInfo& info) {
  std::string out;
  for (const auto& [name, verdict] : verdicts_of(info)) {
    std::string word = name;
    std::replace(word.begin(), word.end(), '_', ' ');
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", verdict == Verdict::no ? "not " : "", word);
    if (verdict == Verdict::unknown) out += " unknown";
  }
  return out;
}

void list_all(const Speaker& speaker) {
  const auto mark = [](Verdict verdict) { return std::string(verdict == Verdict::unknown ? "?" : name_of(verdict)); };
  std::vector<std::vector<std::string>> rows{{"kernel", "psd", "strict", "universal", "charact.", "bounded", "shift-inv.", "formula"}};
  for (const KernelInfo& info : kernel_catalogue()) {
    rows.push_back({info.name});
    for (const auto& [unused, verdict] : verdicts_of(info)) rows.back().push_back(mark(verdict));
    rows.back().push_back(info.formula);
  }
  speaker.table(aligned(rows));
  rows = {{"operation", "makes", ""}};
  for (const KernelOperation& operation : kernel_operations()) rows.push_back({operation.text, operation.formula, operation.note});
  speaker.say("");
  speaker.table(aligned(rows));
  speaker.say(
      "\nFor example \"gaussian(2) + 0.5*linear.on(0, 3)\". mercer kernels NAME says more about one kernel: parameters and conditions.");
}

void run_kernels(const KernelsOptions& o) {
  std::vector<KernelInfo> chosen;
  std::vector<std::string> names;
  for (const KernelInfo& info : kernel_catalogue()) {
    names.push_back(info.name);
    if (o.name.empty() || info.name == o.name) chosen.push_back(info);
  }
  if (chosen.empty()) {
    throw UsageError(fmt::format("there is no kernel \"{}\"{}; mercer kernels lists them", o.name, did_you_mean(o.name, names)));
  }
  if (o.common.json) {
    Json json = {{"kernels", Json::array()}};
    for (const KernelInfo& info : chosen) json["kernels"].push_back(json_of(info));
    if (o.name.empty()) {
      json["operations"] = Json::array();
      for (const KernelOperation& op : kernel_operations())
        json["operations"].push_back({{"text", op.text}, {"formula", op.formula}, {"note", op.note}});
    }
    print_json(json);
    return;
  }
  const Speaker speaker(o.common);
  if (o.name.empty()) return list_all(speaker);
  const KernelInfo& info = chosen.front();
  std::vector<std::vector<std::string>> rows{{"kernel", info.name}, {"formula", info.formula}};
  for (const ParameterInfo& p : info.parameters) rows.push_back({"parameter", fmt::format("{} = {}: {}", p.name, p.standard, p.range)});
  rows.push_back({"properties", sentence_of(info)});
  if (!info.note.empty()) rows.push_back({"note", info.note});
  rows.push_back({"source", info.source});
  speaker.say("{}", aligned(rows));
}

}  // namespace

void add_kernels(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<KernelsOptions>();
  CLI::App* command = app.add_subcommand("kernels", "List the kernels and operations: formula, parameters, properties");
  command->add_option("NAME", o->name, "Only this kernel")->type_name("KERNEL");
  add_common(*command, o->common);
  command->footer("Examples:\n  mercer kernels\n  mercer kernels gaussian --json");
  command->callback([o, &invocation] { invocation.job = [o] { run_kernels(*o); }; });
}

}  // namespace mercer::cli
