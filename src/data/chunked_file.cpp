// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/chunked_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "data/bytes.hpp"
#include "data/encode.hpp"
#include "data/formats.hpp"
#include "data/table_chunks.hpp"
#include "data/witnesses.hpp"
#include "mercer/error.hpp"
#include "mercer/labels.hpp"
#include "mercer/run.hpp"

namespace mercer {

namespace {

constexpr std::size_t smallest_part = std::size_t{1} << 16;
constexpr std::size_t largest_part = std::size_t{1} << 25;
constexpr double copies = 3;           // a table, its features and their scaled copy
constexpr double whole_over_text = 3;  // all of them, by the bytes of the text
constexpr double text_over_packed = 5;

std::size_t part_bytes(const FileRowsOptions& o) {
  if (o.part_bytes > 0) return o.part_bytes;
  return std::clamp(memory_budget(o.read.run.memory) / 20, smallest_part, largest_part);
}

Vector weights_of(const Table& table, const std::string& name) {
  const Index j = table.find(name);
  if (j < 0) throw InvalidArgument(fmt::format("{}: has no column \"{}\" for sample weights", source_name(table), name));
  const Column& column = table.columns[static_cast<std::size_t>(j)];
  if (column.is_text() || column.is_objects() || !column.missing.empty())
    throw InvalidArgument(fmt::format("{}: column \"{}\" of sample weights must have a number in every row", source_name(table), name));
  for (Index i = 0; i < table.rows(); ++i) {
    if (const double w = column.numbers()[static_cast<std::size_t>(i)]; !(w >= 0))
      throw InvalidArgument(fmt::format("{}: sample weights must be >= 0, got {}", place_of(table, i), w));
  }
  return Eigen::Map<const Vector>(column.numbers().data(), table.rows());
}

}  // namespace

struct FileRows::State {
  std::string path;
  FileRowsOptions options;
  TableChunks chunks;
  Encoder encoder{};
  std::vector<std::string> notes{};
  Index rows = 0;

  State(const std::string& name, const FileRowsOptions& o) : path(name), options(o), chunks(name, without_base(o.read), part_bytes(o)) {}

  // The first pass over LIBSVM takes indices as they are.
  static ReadOptions without_base(ReadOptions read) {
    read.zero_based = true;
    read.width = 0;
    return read;
  }

  void decide_sparse_columns(Witnesses& witnesses) {
    if (options.read.zero_based == false && witnesses.has_index_zero()) {
      throw FileError(
          fmt::format("{}: has a feature with index 0, but indices were said to begin at 1; correct the file or the option", path));
    }
    const bool zero_based = options.read.zero_based.value_or(witnesses.has_index_zero());
    const Index seen = std::max<Index>(0, witnesses.largest_index() + (zero_based ? 1 : 0));
    const Index width = options.read.width > 0 ? options.read.width : seen;
    if (width == 0) throw FileError(fmt::format("{}: no row has a feature; wanted lines like \"1 3:0.5 7:1\"", path));
    chunks.fix_sparse_columns(width, zero_based);
    witnesses.set_sparse_columns(width, zero_based);
  }

  void learn() {
    EncodeOptions encode = options.encode;
    if (!options.weights.empty()) encode.drop.push_back(options.weights);
    Witnesses witnesses(encode);
    Stage stage(options.read.run.progress, "reading " + path, 1);
    chunks.for_each([&](const Table& part, Index) {
      if (!options.weights.empty()) weights_of(part, options.weights);
      witnesses.add(part);
      stage.check();
    });
    if (chunks.format() == FileFormat::libsvm) decide_sparse_columns(witnesses);
    Dataset decided = witnesses.decide();
    encoder = std::move(decided.encoder);
    notes = std::move(decided.notes);
    rows = witnesses.rows();
    if (encoder.task == Task::classification && encoder.classes.size() < 2)
      throw InvalidArgument(fmt::format("the target \"{}\" has only one class, {}; there is nothing to tell apart", encoder.target,
                                        encoder.classes.empty() ? "" : encoder.classes[0]));
  }

  // visit(X, y, weights) for slices of at most `most` rows.
  template <class Visit>
  void for_each(Index most, const Visit& visit) const {
    Index first = 0;
    Stage stage(options.read.run.progress, "reading " + path, 1);
    chunks.for_each([&](const Table& part, Index) {
      stage.check();
      const Samples X = encoder.features_of(part);
      const std::optional<Vector> y = encoder.target_of(part);
      if (!y) throw FileError(fmt::format("{}: the target {} is gone; was the file changed?", path, encoder.target));
      const Vector w = options.weights.empty() ? Vector() : weights_of(part, options.weights);
      for (Index at = 0; at < X.size(); at += most) {
        const Index count = std::min(most, X.size() - at);
        visit(X.slice(at, count), Vector(y->segment(at, count)), w.size() == 0 ? Vector() : Vector(w.segment(at, count)), first + at);
      }
      first += X.size();
      if (first > rows) throw FileError(fmt::format("{}: has more rows than at the first pass; was the file changed?", path));
    });
    if (first != rows) throw FileError(fmt::format("{}: has fewer rows than at the first pass; was the file changed?", path));
  }
};

FileRows::FileRows(const std::string& path, const FileRowsOptions& options) : state_(std::make_unique<State>(path, options)) {
  const auto learn = [&] { state_->learn(); };
  if (options.read.run.threads > 0) {
    with_threads(options.read.run.threads, learn);
  } else {
    learn();
  }
}
FileRows::~FileRows() = default;
FileRows::FileRows(FileRows&&) noexcept = default;
FileRows& FileRows::operator=(FileRows&&) noexcept = default;

Index FileRows::rows() const { return state_->rows; }
Index FileRows::width() const { return state_->encoder.width; }
Index FileRows::targets() const {
  const auto classes = static_cast<Index>(state_->encoder.classes.size());
  return state_->encoder.task == Task::classification && classes > 2 ? classes : 1;
}
const Encoder& FileRows::encoder() const { return state_->encoder; }
const std::vector<std::string>& FileRows::notes() const { return state_->notes; }

std::string FileRows::describe() const {
  return fmt::format("{} ({}), read in parts of {}", state_->path, format_bytes(static_cast<double>(state_->chunks.file_bytes())),
                     format_bytes(static_cast<double>(state_->chunks.piece_bytes())));
}

void FileRows::for_each_chunk(Index rows, const std::function<void(const RowChunk&)>& visit) const {
  const Encoder& encoder = state_->encoder;
  state_->for_each(rows, [&](const Samples& X, const Vector& y, const Vector& w, Index first) {
    const bool classify = encoder.task == Task::classification;
    visit({X, classify ? score_targets(y, static_cast<Index>(encoder.classes.size())) : Matrix(y), w, first});
  });
}

void FileRows::for_each_labelled(Index rows, const std::function<void(const Samples& X, const Vector& y)>& visit) const {
  state_->for_each(rows, [&](const Samples& X, const Vector& y, const Vector&, Index) { visit(X, y); });
}

bool exceeds_memory(const std::string& path, std::size_t memory) {
  std::error_code error;
  if (path == "-" || !std::filesystem::is_regular_file(path, error)) return false;
  const auto bytes = static_cast<double>(std::filesystem::file_size(path, error));
  if (error) return false;
  const auto budget = static_cast<double>(memory_budget(memory));
  std::array<char, 6> start{};
  std::ifstream(path, std::ios::binary).read(start.data(), start.size());
  const std::string_view begin(start.data(), start.size());
  if (looks_like_npy(begin)) {
    const Bytes file = read_bytes(path, {});
    const auto numbers = static_cast<double>(npy_rows(file.view, path)) * static_cast<double>(npy_columns(file.view, path));
    return numbers * sizeof(double) * copies > budget;
  }
  return bytes * whole_over_text * (packing_of_content(begin) == Packing::none ? 1 : text_over_packed) > budget;
}

}  // namespace mercer
