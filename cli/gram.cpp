// mercer gram: the Gram matrix of a table, written, looked at, checked.
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>

#include "commands.hpp"
#include "files.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

using Clock = std::chrono::steady_clock;

struct GramCommandOptions {
  CommonOptions common{};
  ReadingOptions reading{};
  EncodeOptions encode{};
  std::optional<Kernel> kernel{};
  std::string out{};
  bool check = false;
};

// Features without a target: all columns but the one given by --target, or one that is named like a target.
Dataset features_only(const Table& table, EncodeOptions encode) {
  std::vector<std::string> notes;
  if (table.sparse) notes.emplace_back("The labels of the LIBSVM file are left out.");
  std::string left_out = encode.target;
  for (const char* usual : {"y", "label", "target", "class"}) {
    for (const std::string& name : table.names) {
      if (table.sparse || !left_out.empty() || CLI::detail::to_lower(name) != usual) continue;
      left_out = name;
      notes.push_back(fmt::format("Column {} is left out, by its name; --target names another.", name));
    }
  }
  if (!left_out.empty() && !table.sparse) encode.drop.push_back(left_out);
  encode.no_target = true;
  Dataset data = make_dataset(table, encode);
  data.notes.insert(data.notes.begin(), notes.begin(), notes.end());
  return data;
}

std::string corner(const Matrix& K) {
  constexpr Index shown = 6;
  const Index n = std::min(shown, K.rows());
  std::vector<std::vector<std::string>> rows;
  for (Index i = 0; i < n; ++i) {
    rows.emplace_back();
    for (Index j = 0; j < n; ++j) rows.back().push_back(fmt::format("{:.5g}", K(i, j)));
    if (K.cols() > n) rows.back().emplace_back("...");
  }
  return aligned(rows);
}

void run_gram(const GramCommandOptions& o) {
  const auto start = Clock::now();
  if (!o.out.empty()) check_output("--out", o.out, {o.reading.path}, !o.common.json);
  const Speaker speaker(o.common, o.out);
  const Table table = read_data(o.reading, o.common);
  const Dataset data = features_only(table, o.encode);
  speaker.notes(data.notes);
  const Samples& X = data.X;
  const auto n = static_cast<double>(X.size());
  const Run limits = o.common.run();
  require_memory(static_cast<std::size_t>(n * n * 8), limits.memory, fmt::format("the {0} x {0} Gram matrix in float64", X.size()),
                 "use fewer rows");
  const double work = n * n * (static_cast<double>(X.width()) + 30) + (o.check ? 9 * n * n * n : 0);
  announce(fmt::format("Gram matrix of {} rows", X.size()), work / estimated_flops(limits), n * n * 8 * (o.check ? 5 : 1));

  const Kernel kernel = resolve(o.kernel.value_or(kernels::gaussian(kernels::LengthScale::automatic())), X);
  Matrix K;
  std::optional<GramCheck> check;
  {
    ProgressBar bar;
    const Run run = o.common.run(bar.callback());
    K = gram(kernel, X, {.run = run});
    if (o.check) check = check_gram(K, run);
  }
  if (!o.out.empty()) {
    write_carefully(o.out, o.common, [&](const Run& writing) {
      write_matrix(K, {}, o.out, {.format = format_of_output(o.out), .header = false, .run = writing});
    });
  }

  if (o.common.json) {
    Json json = {{"n", X.size()}, {"features", X.width()}, {"kernel", kernel.text()}};
    if (check) {
      json["check"] = {{"symmetric", check->symmetric},
                       {"psd", check->psd},
                       {"smallest_eigenvalue", check->smallest_eigenvalue},
                       {"largest_eigenvalue", check->largest_eigenvalue},
                       {"tolerance", check->tolerance},
                       {"rank", check->rank},
                       {"verdict", check->verdict()}};
    }
    json["notes"] = data.notes;
    json["seconds"] = std::chrono::duration<double>(Clock::now() - start).count();
    json["files"] = Json::object();
    if (!o.out.empty()) json["files"]["gram"] = o.out;
    print_json(json);
    return;
  }
  speaker.say("Gram matrix {0} x {0} of {1}, entries from {2:.6g} to {3:.6g}", X.size(), kernel.text(), K.minCoeff(), K.maxCoeff());
  if (check) speaker.say("{}", check->verdict());
  if (o.out.empty() && !o.check) speaker.say("{}", corner(K));
  if (!o.out.empty() && o.out != "-") speaker.say("The matrix is {}.", o.out);
}

}  // namespace

void add_gram(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<GramCommandOptions>();
  CLI::App* command = app.add_subcommand("gram", "Gram matrix of a table: write it, or check that it is one");
  add_reading(*command, o->reading);
  add_kernel(*command, o->kernel, "Kernel, like \"gaussian(2) + 0.5*linear\" (default: gaussian(auto), the median distance)");
  command->add_option("--out", o->out, "Write the matrix to this file: .npy, .csv or .tsv; - is CSV on standard output")->type_name("FILE");
  command->add_flag("--check", o->check, "Say whether the matrix is positive semi-definite, from its eigenvalues");
  command->add_option("--target", o->encode.target, "Column that is not a feature (default: one named y, label, target or class)")
      ->type_name("COL");
  add_encoding(*command, o->encode);
  command->add_flag("--one-hot", o->encode.one_hot, "Turn text columns into 0/1 columns, one for each word (default: text is an error)");
  add_scaling(*command, o->encode.scaling);
  add_seed(*command, o->reading.seed, "Seed of built-in sets (default: 0)");
  add_common(*command, o->common);
  command->footer(
      "Examples:\n"
      "  mercer gram X.npy --kernel \"gaussian(2)\" --out K.npy\n"
      "  mercer gram train.csv --kernel \"polynomial(2, 1, -1)\" --check");
  command->callback([o, &invocation] { invocation.job = [o] { run_gram(*o); }; });
}

}  // namespace mercer::cli
