// mercer gram: the Gram matrix of a table, written, looked at, checked, repaired.
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <limits>

#include "commands.hpp"
#include "files.hpp"
#include "given_gram.hpp"
#include "objects.hpp"
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
  double alpha = 0;  // 0: no effective dimension
  std::string target{};
  std::optional<Repair> repair{};
  std::string gram{};  // a file of the matrix itself
};

// What is checked, repaired and written, wherever it came from.
struct Subject {
  Matrix K{};
  std::string kernel{};
  std::optional<bool> claims_psd{};  // none: a matrix without a kernel claims nothing
  Index features = 0;
  std::vector<std::string> notes{};
  Vector y{};  // empty: no numeric target
};

// The column that is no feature: the one given by --target, or one that is named like a target. Empty: there is none.
std::string target_column(const Table& table, const std::string& given, std::vector<std::string>& notes) {
  if (table.sparse || !given.empty()) return given;
  for (const char* usual : {"y", "label", "target", "class"}) {
    for (const std::string& name : table.names) {
      if (CLI::detail::to_lower(name) != usual) continue;
      notes.push_back(fmt::format("Column {} is left out, by its name; --target names another.", name));
      return name;
    }
  }
  return "";
}

Dataset features_only(const Table& table, EncodeOptions encode, const std::string& left_out, std::vector<std::string> notes) {
  if (table.sparse) notes.emplace_back("The labels of the LIBSVM file are left out.");
  if (!left_out.empty() && !table.sparse) encode.drop.push_back(left_out);
  encode.no_target = true;
  Dataset data = make_dataset(table, encode);
  data.notes.insert(data.notes.begin(), notes.begin(), notes.end());
  return data;
}

// The target's numbers, for the alignment of the matrix with it; empty, with a sentence, when it has none.
Vector numeric_target(const Table& table, const std::string& name, std::vector<std::string>& notes) {
  if (table.sparse) return Eigen::Map<const Vector>(table.sparse_labels.data(), static_cast<Index>(table.sparse_labels.size()));
  if (name.empty()) return {};
  const Column& column = table.columns[static_cast<std::size_t>(require_column(table, name))];
  if (column.is_text() || column.is_objects() || !column.missing.empty()) {
    notes.push_back(fmt::format("Column {} is {}: no target alignment.", column.name,
                                column.is_text() || column.is_objects() ? "not numeric" : "not there in every row"));
    return {};
  }
  return Eigen::Map<const Vector>(column.numbers().data(), static_cast<Index>(column.numbers().size()));
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

Json json_of(const EntryPair& pair) {
  return {{"row", pair.row},
          {"col", pair.col},
          {"entry", pair.entry},
          {"row_diagonal", pair.row_diagonal},
          {"col_diagonal", pair.col_diagonal}};
}

Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json json_of(const GramCheck& check) {
  Json json = {{"is_gram", check.is_gram()},
               {"symmetric", check.symmetric},
               {"asymmetry", check.asymmetry},
               {"asymmetry_at", {check.asymmetry_row, check.asymmetry_col}},
               {"psd", check.psd},
               {"smallest_eigenvalue", check.smallest_eigenvalue},
               {"largest_eigenvalue", check.largest_eigenvalue},
               {"tolerance", check.tolerance},
               {"violation", check.violation},
               {"violating", check.psd ? Json(nullptr) : Json(std::vector<double>(check.violating.begin(), check.violating.end()))},
               {"smallest_diagonal", check.smallest_diagonal},
               {"negative_diagonal", check.negative_diagonal},
               {"vanishing_diagonal", Json::array()},
               {"cauchy_schwarz", check.cauchy_schwarz ? json_of(*check.cauchy_schwarz) : Json(nullptr)},
               {"strictly_positive", check.strictly_positive},
               {"nonsingular", check.nonsingular},
               {"rank", check.rank},
               {"condition", number_json(check.condition)},
               {"duplicates", Json::array()},
               {"alpha", json_of(check.alpha)},
               {"effective_dimension", json_of(check.effective_dimension)},
               {"alignment", json_of(check.alignment)},
               {"centred_alignment", json_of(check.centred_alignment)}};
  for (const EntryPair& pair : check.vanishing_diagonal) json["vanishing_diagonal"].push_back(json_of(pair));
  for (const auto& [row, earlier] : check.duplicates) json["duplicates"].push_back({row, earlier});
  return json;
}

Json json_of(const GramRepair& repair) {
  const char* method = repair.method == Repair::clip ? "clip" : repair.method == Repair::flip ? "flip" : "shift";
  return {{"method", method},
          {"changed", repair.changed},
          {"frobenius_distance", repair.frobenius_distance},
          {"spectral_distance", repair.spectral_distance},
          {"shift", repair.shift},
          {"sentence", repair.sentence()}};
}

std::string verdict_of(const Subject& subject, const GramCheck& check) {
  return subject.claims_psd ? KernelCheck{subject.kernel, *subject.claims_psd, check}.verdict() : check.verdict();
}

// The matrix of a file, whatever it is: that is the question. DATA, if there is any, has the target.
Subject given_matrix(const GramCommandOptions& o, const Speaker& speaker) {
  Subject subject;
  subject.K = read_kernel_values(o.gram, o.common);
  if (subject.K.rows() != subject.K.cols())
    throw InvalidArgument(fmt::format("{}: is {} x {}; a Gram matrix is square, a row and a column for each object", o.gram,
                                      subject.K.rows(), subject.K.cols()));
  subject.kernel = kernels::precomputed().text();
  subject.features = subject.K.cols();
  if (!o.reading.path.empty()) {
    const Table table = read_data(o.reading, o.common);
    if (table.rows() != subject.K.rows())
      throw InvalidArgument(fmt::format("{}: is the matrix of {} objects, and {} has {} rows; row i of one must be row i of the other",
                                        o.gram, subject.K.rows(), o.reading.path, table.rows()));
    const std::string target = target_column(table, o.target, subject.notes);
    if (o.check) subject.y = numeric_target(table, target, subject.notes);
  }
  speaker.notes(subject.notes);
  return subject;
}

// The Gram matrix of a table.
Subject evaluate(const GramCommandOptions& o, const Speaker& speaker) {
  const Table table = read_data(o.reading, o.common);
  std::vector<std::string> notes;
  const std::string target = target_column(table, o.target, notes);
  EncodeOptions encode = o.encode;
  std::optional<Kernel> wanted = o.kernel;
  {
    EncodeOptions features = encode;  // as features_only will take them
    features.no_target = true;
    if (!target.empty()) features.drop.push_back(target);
    suit_objects(table, wanted, features, notes);
    encode.keep_text = features.keep_text;
    encode.drop = features.drop;
    if (!target.empty()) std::erase(encode.drop, target);
  }
  if (wanted && wanted->needs_given_gram() && encode.scaling != ScalingKind::none) {
    encode.scaling = ScalingKind::none;
    notes.emplace_back("The columns are taken for the Gram matrix of the rows, without scaling.");
  }
  const Dataset data = features_only(table, encode, target, notes);
  const Samples& X = data.X;
  Subject subject;
  subject.features = X.width();
  subject.notes = data.notes;
  if (o.check) subject.y = numeric_target(table, target, subject.notes);
  speaker.notes(subject.notes);

  const auto n = static_cast<double>(X.size());
  const Run limits = o.common.run();
  const double matrices = o.repair ? 5 : o.check ? 4 : 1;  // that the library will ask for
  require_memory(static_cast<std::size_t>(n * n * 8 * matrices), limits.memory,
                 fmt::format("the {0} x {0} Gram matrix in float64{1}", X.size(), matrices > 1 ? " with its spectrum" : ""),
                 "use fewer rows");
  const double spectra = (o.check ? 9 : 0) + (o.repair ? 10 : 0);
  announce(fmt::format("Gram matrix of {} rows", X.size()),
           n * n * (static_cast<double>(X.width()) + 30 + spectra * n) / estimated_flops(limits), n * n * 8 * matrices, limits);
  const Kernel asked = resolve_columns(wanted.value_or(kernels::gaussian(kernels::LengthScale::automatic())), data.encoder.column_names());
  if (asked == kernels::precomputed()) {  // the table is the matrix, whatever it is: that is the question
    if (X.size() != X.width())
      throw InvalidArgument(fmt::format("{}: a Gram matrix has as many columns as rows, this table has {} rows and {} columns",
                                        o.reading.path, X.size(), X.width()));
    subject.kernel = asked.text();
    subject.K = X.to_dense();
    return subject;
  }
  const Kernel kernel = resolve(asked, X);
  subject.kernel = kernel.text();
  subject.claims_psd = kernel.is_psd();
  ProgressBar bar;
  subject.K = gram(kernel, X, {.run = o.common.run(bar.callback())});
  return subject;
}

void run_gram(const GramCommandOptions& o) {
  const auto start = Clock::now();
  if (!o.out.empty()) check_output("--out", o.out, {o.reading.path, o.gram}, !o.common.json);
  if (o.alpha > 0 && !o.check) throw UsageError("--alpha is for --check, which says the effective dimension at it; give both");
  const Speaker speaker(o.common, o.out);
  Subject subject = o.gram.empty() ? evaluate(o, speaker) : given_matrix(o, speaker);
  Matrix& K = subject.K;
  std::optional<GramCheck> check;
  std::optional<GramRepair> repair;
  if (!o.gram.empty() && (o.check || o.repair)) {
    const auto n = static_cast<double>(K.rows());
    announce(fmt::format("the spectrum of {} rows", K.rows()),
             ((o.check ? 9 : 0) + (o.repair ? 10 : 0)) * n * n * n / estimated_flops(o.common.run()), n * n * 8 * (o.repair ? 5 : 4),
             o.common.run());
  }
  const std::string range = fmt::format("entries from {:.6g} to {:.6g}", K.minCoeff(), K.maxCoeff());
  {
    ProgressBar bar;
    const Run run = o.common.run(bar.callback());
    const std::optional<double> alpha = o.alpha > 0 ? std::optional(o.alpha) : std::nullopt;
    if (o.check) check = check_gram(K, {.alpha = alpha, .y = subject.y, .run = run});
    if (o.repair) {
      repair = repair_gram(K, *o.repair, run);
      K = std::move(repair->K);
    }
  }
  if (!o.out.empty()) {
    write_carefully(o.out, o.common, [&](const Run& writing) {
      write_matrix(K, {}, o.out, {.format = format_of_output(o.out), .header = false, .run = writing});
    });
  }

  if (o.common.json) {
    Json json = {{"n", K.rows()}, {"features", subject.features}, {"kernel", subject.kernel}};
    if (check) {
      json["check"] = json_of(*check);
      json["check"]["claims_psd"] = subject.claims_psd ? Json(*subject.claims_psd) : Json(nullptr);
      json["check"]["verdict"] = verdict_of(subject, *check);
    }
    if (repair) json["repair"] = json_of(*repair);
    json["notes"] = subject.notes;
    json["seconds"] = std::chrono::duration<double>(Clock::now() - start).count();
    json["files"] = Json::object();
    if (!o.out.empty()) json["files"]["gram"] = o.out;
    print_json(json);
    return;
  }
  speaker.say("Gram matrix {0} x {0} of {1}, {2}", K.rows(), subject.kernel, range);
  if (check) speaker.say("{}", verdict_of(subject, *check));
  if (repair) speaker.say("{}", repair->sentence());
  if (o.out.empty() && !o.check) speaker.say("{}", corner(K));
  if (!o.out.empty() && o.out != "-") speaker.say("The matrix is {}.", o.out);
}

}  // namespace

void add_gram(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<GramCommandOptions>();
  CLI::App* command = app.add_subcommand("gram", "Gram matrix of a table: write it, check that it is one, repair it");
  add_reading(*command, o->reading);
  add_kernel(*command, o->kernel, "Kernel, like \"gaussian(2) + 0.5*linear\" (default: gaussian(auto), the median distance)");
  add_gram_file(*command, o->gram,
                "Take the matrix from this file, .npy or .csv without names, to check or repair it; DATA may have the target");
  command->add_option("--out", o->out, "Write the matrix to this file: .npy, .csv or .tsv; - is CSV on standard output")->type_name("FILE");
  command->add_flag(
      "--check", o->check,
      "Say whether the matrix is a Gram matrix: symmetry, eigenvalues, diagonal, Cauchy-Schwarz, rank; alignment with the target");
  add_number(*command, "--alpha", o->alpha, std::numeric_limits<double>::min(), std::numeric_limits<double>::max(), "a number > 0",
             "With --check: the effective dimension tr K(K + alpha I)^-1 too");
  add_choice<std::optional<Repair>>(
      *command, "--repair", o->repair, {{"clip", Repair::clip}, {"flip", Repair::flip}, {"shift", Repair::shift}},
      "Make the matrix positive semi-definite: negative eigenvalues become 0 (clip) or positive (flip), or all move up (shift)");
  command->add_option("--target", o->target, "Column that is not a feature (default: one named y, label, target or class)")
      ->type_name("COL");
  add_encoding(*command, o->encode);
  command->add_flag("--one-hot", o->encode.one_hot, "Turn text columns into 0/1 columns, one for each word (default: text is an error)");
  add_scaling(*command, o->encode.scaling);
  add_seed(*command, o->reading.seed, "Seed of built-in sets (default: 0)");
  add_common(*command, o->common);
  command->footer(
      "Examples:\n"
      "  mercer gram X.npy --kernel \"gaussian(2)\" --out K.npy\n"
      "  mercer gram train.csv --kernel \"polynomial(2, 1, -1)\" --check\n"
      "  mercer gram train.csv --check --alpha 0.1 --target price\n"
      "  mercer gram train.csv --kernel \"polynomial(2, 1, -1)\" --repair clip --out K.npy\n"
      "  mercer gram --gram K.npy --check\n"
      "  mercer gram genes.fasta --kernel \"spectrum(4)\" --out K.npy");
  command->callback([o, &invocation] { invocation.job = [o] { run_gram(*o); }; });
}

}  // namespace mercer::cli
