// SPDX-License-Identifier: BSD-3-Clause
#include "given_gram.hpp"

#include <fmt/ranges.h>

#include <cmath>
#include <numeric>

#include "objects.hpp"

namespace mercer::cli {

namespace {

std::string file_word(const std::string& path) { return path == "-" ? "standard input" : path; }

// How the rows of a matrix become samples of a model: by position, in the order of the objects, the target behind them if there is one.
Encoder encoder_of_objects(Encoder encoder, Index objects) {
  encoder.features.clear();
  for (Index j = 0; j < objects; ++j) {
    encoder.features.push_back({.name = fmt::format("k{}", j + 1), .categories = {}, .fill = 0, .position = j, .object = {}});
  }
  encoder.named = false;
  encoder.width = objects;
  encoder.target_position = encoder.target.empty() ? -1 : objects;
  encoder.table_columns = objects + (encoder.target.empty() ? 0 : 1);
  return encoder;
}

// A column that counts the rows, to stand where features do while the target is found and read as ever.
std::vector<double> counted(Index rows) {
  std::vector<double> out(static_cast<std::size_t>(rows));
  std::iota(out.begin(), out.end(), 0.0);
  return out;
}

Dataset target_alone(const Table& data, EncodeOptions encode) {
  const Index target = target_column(data, encode);
  if (target < 0)
    throw InvalidArgument(encode.target.empty()
                              ? fmt::format("{}: every column is left out", file_word(data.source))
                              : fmt::format("{}: has no column \"{}\" to be the target{}; it has {}", file_word(data.source), encode.target,
                                            did_you_mean(encode.target, data.names), fmt::join(data.names, ", ")));
  const auto place = static_cast<std::size_t>(target);
  Table table = data;
  Column rows{"row", counted(data.rows()), {}};
  while (data.find(rows.name) >= 0) rows.name += '_';
  table.names.push_back(rows.name);
  table.columns.push_back(std::move(rows));
  const std::string how = !encode.target.empty() ? "as asked" : is_target_name(data.names[place]) ? "by its name" : "the last one";
  encode.target = data.names[place];
  encode.drop.clear();
  for (std::size_t j = 0; j < data.names.size(); ++j) {
    if (j != place) encode.drop.push_back(data.names[j]);
  }
  encode.scaling = ScalingKind::none;
  Dataset out = make_dataset(table, encode);
  for (std::string& note : out.notes) {
    if (const std::size_t at = note.find("), as asked;"); at != std::string::npos) note.replace(at, 12, fmt::format("), {};", how));
  }
  return out;
}

Dataset labels_alone(const Table& data, EncodeOptions encode) {
  Table table = data;
  const std::vector<double> rows = counted(data.rows());
  table.sparse = Samples(Eigen::Map<const Vector>(rows.data(), std::ssize(rows)));
  encode.scaling = ScalingKind::none;
  Dataset out = make_dataset(table, encode);
  out.encoder.sparse = false;
  return out;
}

}  // namespace

CLI::Option* add_gram_file(CLI::App& command, std::string& path, const std::string& about, const std::string& name,
                           const std::string& position) {
  CLI::Option* data = command.get_option(position);
  CLI::Option* option = command.add_option_function<std::string>(
      name,
      [&path, data, name](const std::string& given) {
        if (given.empty()) throw CLI::ValidationError(name, "needs the name of a file, got an empty one");
        path = given;
        data->required(false);
      },
      about);
  option->type_name("FILE");
  for (const char* other : {"--kernel", "--table"}) {
    if (CLI::Option* has = command.get_option_no_throw(other)) option->excludes(has);
  }
  return option;
}

Matrix read_kernel_values(const std::string& path, const CommonOptions& common) {
  const Table table = read_with_bar(path, {}, common);
  if (table.sparse) throw FileError(fmt::format("{}: is LIBSVM; kernel values come as NPY, or as CSV without names", file_word(path)));
  if (table.rows() == 0) throw FileError(fmt::format("{}: has no kernel values", file_word(path)));
  const Index columns = std::ssize(table.columns);
  require_memory(static_cast<std::size_t>(table.rows() * columns) * sizeof(double), common.memory,
                 fmt::format("the {} x {} kernel values of {}", table.rows(), columns, file_word(path)), "use fewer objects");
  Matrix K(table.rows(), columns);
  for (Index j = 0; j < columns; ++j) {
    const Column& column = table.columns[static_cast<std::size_t>(j)];
    if (column.is_text() || column.is_objects())
      throw FileError(
          fmt::format("{}: column {} is not of numbers; kernel values come as NPY, or as CSV without names", file_word(path), j + 1));
    const std::vector<double>& values = column.numbers();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i]))
        throw FileError(fmt::format("{}: row {}, column {} has no finite kernel value", file_word(path), i + 1, j + 1));
    }
    K.col(j) = Eigen::Map<const Vector>(values.data(), table.rows());
  }
  return K;
}

Samples read_gram(const std::string& path, const Table* data, const CommonOptions& common) {
  Matrix K = read_kernel_values(path, common);
  if (K.rows() != K.cols()) {
    throw InvalidArgument(
        fmt::format("{}: is {} x {}; a Gram matrix is square, a row and a column for each object", file_word(path), K.rows(), K.cols()));
  }
  const Samples rows = Samples::own(std::move(K));
  if (data != nullptr) require_rows(path, rows, *data);
  try {
    return Samples::given_gram(rows);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("{}: {}", file_word(path), error.what()));
  }
}

Samples read_gram_rows(const std::string& path, const SavedModel& saved, const std::string& model, const CommonOptions& common) {
  const std::optional<Kernel> kernel = kernel_in(saved.model);
  if (!kernel || !kernel->needs_given_gram()) {
    throw UsageError(fmt::format("--gram is for models that were fitted with --gram; {} is a {} model{}", model, saved.kind(),
                                 kernel ? fmt::format(" of {}", kernel->text()) : std::string()));
  }
  Matrix K = read_kernel_values(path, common);
  if (K.cols() != saved.width()) {
    throw InvalidArgument(fmt::format("{}: is {} x {}; wanted {} columns, one for each object that {} was fitted on: k(new, object)",
                                      file_word(path), K.rows(), K.cols(), saved.width(), model));
  }
  return Samples::own(std::move(K));
}

std::vector<Samples> consecutive_parts(const Samples& all, const std::vector<Index>& sizes) {
  std::vector<Samples> parts;
  Index first = 0;
  for (const Index size : sizes) {
    std::vector<Index> own(static_cast<std::size_t>(size));
    std::iota(own.begin(), own.end(), first);
    parts.push_back(all.subset(own));
    first += size;
  }
  return parts;
}

std::vector<Samples> read_gram_parts(const std::string& path, const std::vector<Index>& sizes, const CommonOptions& common) {
  const Samples all = read_gram(path, nullptr, common);
  const Index rows = std::accumulate(sizes.begin(), sizes.end(), Index{0});
  if (rows != all.size()) {
    throw InvalidArgument(fmt::format("{}: is the Gram matrix of {} objects, and the files have {} rows together ({})", file_word(path),
                                      all.size(), rows, fmt::join(sizes, " + ")));
  }
  return consecutive_parts(all, sizes);
}

void require_rows(const std::string& path, const Samples& X, const Table& data) {
  if (X.size() == data.rows()) return;
  throw InvalidArgument(fmt::format("{}: has kernel values of {} objects, and {} has {} rows; row i of one must be row i of the other",
                                    file_word(path), X.size(), file_word(data.source), data.rows()));
}

Dataset gram_dataset(const std::string& path, const Table* data, const EncodeOptions& encode, const CommonOptions& common) {
  Dataset out;
  Samples X = read_gram(path, data, common);
  if (!encode.no_target) {
    if (data == nullptr) throw UsageError("--gram has the kernel values alone; give DATA too, the file with the target");
    out = data->sparse ? labels_alone(*data, encode) : target_alone(*data, encode);
  }
  out.encoder = encoder_of_objects(std::move(out.encoder), X.size());
  out.X = std::move(X);
  out.notes.push_back(
      fmt::format("The kernel values are those of {}, {} objects; columns of DATA are no features.", file_word(path), out.X.size()));
  return out;
}

std::optional<Vector> gram_target(const Encoder& encoder, const Table& table) {
  Encoder by_name = encoder;
  if (table.sparse) return by_name.target_of(table);
  const Index place = table.find(encoder.target);
  if (place < 0) return std::nullopt;
  Table target;
  target.source = table.source;
  target.has_header = by_name.named = true;
  target.names = {encoder.target};
  target.columns = {table.columns[static_cast<std::size_t>(place)]};
  target.columns.front().name = encoder.target;
  for (Index i = 0; i < table.rows(); ++i) target.lines.push_back(table.line_of(i));
  return by_name.target_of(target);
}

}  // namespace mercer::cli
