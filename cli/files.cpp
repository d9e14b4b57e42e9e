// SPDX-License-Identifier: BSD-3-Clause
#include "files.hpp"

#include <fmt/ranges.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "estimates.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

constexpr std::string_view builtin_mark = "builtin:";

bool same_file(const std::string& a, const std::string& b) {
  struct stat x {};
  struct stat y {};
  return ::stat(a.c_str(), &x) == 0 && ::stat(b.c_str(), &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool ends_with(std::string name, std::initializer_list<std::string_view> endings) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view packing : {".gz", ".xz"}) {
    if (name.ends_with(packing)) name.resize(name.size() - packing.size());
  }
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

}  // namespace

void require_file(const std::string& path) {
  struct stat info {};
  if (path == "-" || path.empty() || ::stat(path.c_str(), &info) == 0 || errno != ENOENT) return;
  const std::filesystem::path asked(path);
  const std::filesystem::path folder = asked.has_parent_path() ? asked.parent_path() : ".";
  std::error_code none;
  if (!std::filesystem::is_directory(folder, none))
    throw FileError(fmt::format("{}: cannot be read: No such file or directory; there is no folder {}", path, folder.string()));
  std::string near;
  const std::vector<std::string> sets = simulate::builtin_names();
  if (std::find(sets.begin(), sets.end(), path) != sets.end()) {
    near = std::string(builtin_mark) + path;
  } else {
    std::vector<std::string> beside;
    for (std::filesystem::directory_iterator at(folder, none); !none && at != std::filesystem::directory_iterator(); at.increment(none))
      beside.push_back(at->path().filename().string());
    near = nearest_word(asked.filename().string(), beside);
    if (!near.empty() && asked.has_parent_path()) near = (asked.parent_path() / near).string();
  }
  throw FileError(
      fmt::format("{}: cannot be read: No such file or directory{}", path, near.empty() ? "" : fmt::format(", did you mean {}?", near)));
}

SavedModel open_model(const std::string& path) {
  require_file(path);
  return load_model(path);
}

Table read_with_bar(const std::string& path, ReadOptions reading, const CommonOptions& common) {
  require_file(path);
  if (path == "-") {  // comes when it comes; a bar would be in the way of what is typed
    reading.run = common.run();
    return read_table(path, reading);
  }
  announce_reading(path, common.run());
  ProgressBar bar(ProgressBar::Stop::at_once);
  reading.run = common.run(bar.callback());
  return read_table(path, reading);
}

Table read_data(const ReadingOptions& options, const CommonOptions& common) { return read_data(options, options.path, common); }

Table read_data(const ReadingOptions& options, const std::string& path, const CommonOptions& common) {
  if (path.starts_with(builtin_mark)) {
    const std::string name = path.substr(builtin_mark.size());
    const std::vector<std::string> known = simulate::builtin_names();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw InvalidArgument(
          fmt::format("there is no built-in set \"{}\"{}; there are {}", name, did_you_mean(name, known), fmt::join(known, ", ")));
    }
    return simulate::builtin(name, options.seed);
  }
  return read_with_bar(path, options.read, common);
}

void check_output(const std::string& option, const std::string& path, const std::vector<std::string>& inputs, bool allow_stdout) {
  if (path == "-") {
    if (!allow_stdout) throw UsageError(fmt::format("{} must name a file; - is not offered here", option));
    return;
  }
  if (path.empty()) throw UsageError(fmt::format("{} needs the name of a file, got an empty one", option));
  for (const std::string& input : inputs) {
    if (same_file(path, input))
      throw UsageError(fmt::format("{} {} is also an input and would be overwritten; name another file", option, path));
  }
  const auto fail = [&](const std::string& why) { throw FileError(fmt::format("{}: cannot be written: {}", path, why)); };
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) fail("it is a directory; name a file in it");
    if (::access(path.c_str(), W_OK) != 0) fail(std::strerror(errno));
    if (!S_ISREG(info.st_mode)) return;
  } else if (errno != ENOENT) {
    fail(std::strerror(errno));
  }
  std::string folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (::stat(folder.c_str(), &info) != 0) fail(fmt::format("the folder {} does not exist", folder));
  if (!S_ISDIR(info.st_mode)) fail(fmt::format("{} is not a folder", folder));
  if (::access(folder.c_str(), W_OK | X_OK) != 0) fail(fmt::format("the folder {} is not writable", folder));
}

Index require_column(const Table& table, const std::string& name, const std::string& purpose) {
  const Index index = table.find(name);
  if (index < 0) {
    const std::string source = table.source == "-" ? "standard input" : table.source;
    if (table.names.empty()) throw InvalidArgument(fmt::format("{}: has no named columns{}, got \"{}\"", source, purpose, name));
    throw InvalidArgument(fmt::format("{}: has no column \"{}\"{}{}; it has {}", source, name, purpose, did_you_mean(name, table.names),
                                      list_words(table.names, 20)));
  }
  return index;
}

void require_cells(const Table& table, const Column& column, const std::string& option) {
  if (column.is_objects())
    throw InvalidArgument(fmt::format("{}: column {} for {} holds {}; wanted numbers or words", table.source, column.name, option,
                                      name_of(column.objects().object_rows().columns.front()->kind())));
}

Vector numbers_in(const Table& table, const std::string& name, const std::string& purpose) {
  const Column& column = table.columns[static_cast<std::size_t>(require_column(table, name, purpose))];
  if (column.is_text() || column.is_objects() || !column.missing.empty()) {
    throw InvalidArgument(fmt::format("{}: column \"{}\"{} must have a number in every row", table.source, name, purpose));
  }
  return Eigen::Map<const Vector>(column.numbers().data(), table.rows());
}

void write_carefully(const std::string& path, const CommonOptions& common, const std::function<void(const Run&)>& write) {
  if (path == "-") {
    write(common.run());
    return;
  }
  ProgressBar bar;
  write(common.run(bar.callback()));
}

FileFormat format_of_output(const std::string& path) {
  if (is_npy(path)) return FileFormat::npy;
  if (ends_with(path, {".tsv"})) return FileFormat::tsv;
  if (ends_with(path, {".svm", ".libsvm", ".svmlight"})) return FileFormat::libsvm;
  if (ends_with(path, {".jsonl", ".ndjson", ".json"})) return FileFormat::jsonl;
  return FileFormat::csv;
}

bool is_npy(const std::string& path) { return ends_with(path, {".npy"}); }

void print_json(const Json& json) {
  // Names from files in another encoding are not UTF-8: their bytes become replacement characters here.
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(); }

bool stdout_closed_by_reader() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

void finish_stdout() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  if (stdout_closed_by_reader()) return;
  throw FileError(fmt::format("standard output: cannot be written: {}", std::strerror(errno)));
}

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t j = 0; j < row.size(); ++j) widths[j] = std::max(widths[j], row[j].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line = "  ";
    for (std::size_t j = 0; j < row.size(); ++j) line += fmt::format("{:<{}}  ", row[j], widths[j]);
    line.resize(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  if (!out.empty()) out.pop_back();
  return out;
}

namespace {

Quality regression_quality(const Vector& truth, const Vector& predicted) {
  const double r2 = r2_score(truth, predicted);
  const double rmse = root_mean_squared_error(truth, predicted);
  const double mae = mean_absolute_error(truth, predicted);
  return {{{"n", truth.size()}, {"r2", number_json(r2)}, {"rmse", number_json(rmse)}, {"mae", number_json(mae)}},
          {fmt::format("R2    {:.6g}", r2), fmt::format("RMSE  {:.6g}", rmse), fmt::format("MAE   {:.6g}", mae)}};
}

std::vector<std::string> confusion_lines(const Eigen::MatrixXi& confusion, const std::vector<std::string>& classes) {
  constexpr Index most = 12;
  if (confusion.rows() > most) return {};
  std::vector<std::vector<std::string>> rows{{"truth \\ predicted"}};
  rows[0].insert(rows[0].end(), classes.begin(), classes.end());
  for (Index i = 0; i < confusion.rows(); ++i) {
    rows.push_back({classes[static_cast<std::size_t>(i)]});
    for (Index j = 0; j < confusion.cols(); ++j) rows.back().push_back(std::to_string(confusion(i, j)));
  }
  return CLI::detail::split(aligned(rows), '\n');
}

}  // namespace

Quality class_quality(const std::vector<std::string>& classes, const Vector& y, const std::vector<Index>& guess) {
  const std::vector<Index> truth = class_indices(y);
  const auto k = static_cast<Index>(classes.size());
  const Eigen::MatrixXi confusion = confusion_matrix(truth, guess, k);
  const auto n = static_cast<Index>(truth.size());
  const Index right = confusion.diagonal().sum();
  const auto [low, high] = proportion_interval(right, n);
  const auto [precision, recall] = precision_and_recall(truth, guess, k);
  Json matrix = Json::array();
  for (Index i = 0; i < k; ++i) {
    Json row = Json::array();
    for (Index j = 0; j < k; ++j) row.push_back(confusion(i, j));
    matrix.push_back(std::move(row));
  }
  const double share_right = accuracy(truth, guess);
  Quality quality;
  quality.json = {{"n", n},
                  {"accuracy", share_right},
                  {"precision", precision},
                  {"recall", recall},
                  {"ci", {low, high}},
                  {"classes", classes},
                  {"confusion", matrix}};
  const std::string whose = k == 2 ? fmt::format("of class {}", classes[1]) : "mean over classes";
  quality.lines = {fmt::format("accuracy   {:.6g}  ({} of {} right; 95 % interval {:.4g} to {:.4g})", share_right, right, n, low, high),
                   fmt::format("precision  {:.6g}  ({})", precision, whose), fmt::format("recall     {:.6g}  ({})", recall, whose)};
  for (std::string& line : confusion_lines(confusion, classes)) quality.lines.push_back(std::move(line));
  return quality;
}

Quality quality_of(const Encoder* encoder, const Vector& truth, const Matrix& predicted, const std::vector<Index>* guess) {
  if (encoder != nullptr && encoder->task == Task::classification)
    return class_quality(encoder->classes, truth, guess != nullptr ? *guess : classes_from_scores(predicted));
  return regression_quality(truth, predicted.col(0));
}

}  // namespace mercer::cli
