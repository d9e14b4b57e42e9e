// SPDX-License-Identifier: BSD-3-Clause
#include "data/witnesses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "data/encode.hpp"
#include "data/formats.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

constexpr std::size_t most_words = 50'000;     // of a text column
constexpr std::size_t enough_values = 21;      // of a target whose task is not given: more than a class can have
constexpr std::size_t most_classes = 100'000;  // of a target of numbers that are said to be classes

}  // namespace

void Witnesses::begin(const Table& part) {
  kept_.source = part.source;
  kept_.names = part.names;
  kept_.has_header = part.has_header;
  kept_.format = part.format;
  if (part.sparse) return;
  columns_.resize(part.columns.size());
  for (const Column& column : part.columns) {
    Column& copy = kept_.columns.emplace_back();
    copy.name = column.name;
    if (column.is_text()) copy.values.emplace<1>();
  }
  std::vector<bool> left_out(part.names.size(), false);
  for (const std::string& name : options_.drop) {
    if (const Index j = part.find(name); j >= 0) left_out[static_cast<std::size_t>(j)] = true;  // make_dataset complains about others
  }
  if (!options_.no_target) target_ = options_.target.empty() ? default_target(part.names, left_out) : part.find(options_.target);
  if (target_ >= 0) left_out[static_cast<std::size_t>(target_)] = true;
  const std::vector<bool> kept = kept_text(part, options_, left_out);
  if (const auto text = std::find(kept.begin(), kept.end(), true); text != kept.end()) {
    throw FileError(
        fmt::format("{}: {} is text for a kernel of strings, and a file of strings is read whole, not in parts; take fewer rows, "
                    "or allow more memory (--memory)",
                    source_name(part), column_words(part, text - kept.begin())));
  }
}

void Witnesses::notice_numbers(const std::vector<double>& values, bool is_target, Numbers& state, std::vector<Index>& rows) const {
  Index count = 0;
  double sum = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    if (state.count + count == 0) state.first = state.low = state.high = value;
    ++count;
    sum += value;
    state.low = std::min(state.low, value);
    state.high = std::max(state.high, value);
  }
  if (count > 0) {
    const double n = static_cast<double>(count);
    const double mean = sum / n;
    double squares = 0;
    for (const double value : values) squares += std::isnan(value) ? 0 : (value - mean) * (value - mean);
    const double before = static_cast<double>(state.count);  // two parts into one: Chan, Golub and LeVeque
    const double shift = mean - state.mean;
    state.mean += shift * n / (before + n);
    state.squares += squares + shift * shift * before * n / (before + n);
    state.count += count;
  }
  if (!state.varies && state.low != state.high) {
    state.varies = true;
    const auto other = std::find_if(values.begin(), values.end(), [&](double v) { return !std::isnan(v) && v != state.first; });
    rows.push_back(other - values.begin());
  }
  if (!is_target || options_.task == Task::regression) return;
  const std::size_t most = options_.task == Task::classification ? most_classes : enough_values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    if (!state.fraction && values[i] != std::floor(values[i])) {
      state.fraction = true;
      rows.push_back(static_cast<Index>(i));
    }
    if (state.distinct.size() < most && state.distinct.insert(values[i]).second) rows.push_back(static_cast<Index>(i));
  }
}

void Witnesses::notice_words(const Table& part, std::size_t column, std::vector<Index>& rows) {
  Words& state = columns_[column].words;
  const auto& text = part.columns[column].text();
  for (std::size_t i = 0; i < text.size() && !state.given_up; ++i) {
    const auto [place, fresh] = state.counts.try_emplace(text[i], 0);
    ++place->second;
    if (fresh || !state.repeated) rows.push_back(static_cast<Index>(i));
    if (!fresh) state.repeated = true;
    if (state.counts.size() <= most_words) continue;
    if (state.repeated) {
      throw FileError(fmt::format("{}: {} has more than {} different words; leave it out with --drop {}",
                                  place_of(part, static_cast<Index>(i)), column_words(part, static_cast<Index>(column)), most_words,
                                  part.names[column]));
    }
    state.given_up = true;
  }
}

std::vector<Index> Witnesses::notice(const Table& part, std::size_t j) {
  const Column& column = part.columns[j];
  ColumnState& state = columns_[j];
  std::vector<Index> rows;
  if (column.is_text()) {
    notice_words(part, j, rows);
  } else {
    notice_numbers(column.numbers(), static_cast<Index>(j) == target_, state.numbers, rows);
  }
  if (!state.missing && !column.missing.empty()) {
    state.missing = true;
    rows.push_back(column.missing.front());
  }
  return rows;
}

void Witnesses::keep(const Table& part, Index row) {
  const auto i = static_cast<std::size_t>(row);
  const Index here = kept_.rows();
  for (std::size_t j = 0; j < part.columns.size(); ++j) {
    const Column& from = part.columns[j];
    Column& to = kept_.columns[j];
    if (from.is_text()) {
      std::get<1>(to.values).push_back(from.text()[i]);
    } else {
      std::get<0>(to.values).push_back(from.numbers()[i]);
    }
    if (std::binary_search(from.missing.begin(), from.missing.end(), row)) to.missing.push_back(here);
  }
  kept_.lines.push_back(part.line_of(row));
}

void Witnesses::add_sparse(const Table& part) {
  const auto& rows = std::get<CsrRows<double>>(part.sparse->storage());
  for (Index p = rows.rows == 0 ? 0 : rows.begin(0); rows.rows > 0 && p < rows.end(rows.rows - 1); ++p) {
    const auto j = static_cast<std::size_t>(rows.columns[p]);
    if (j >= sparse_.size()) sparse_.resize(j + 1);
    if (j == 0) has_index_zero_ = true;
    sparse_[j].largest = std::max(sparse_[j].largest, std::abs(rows.values[p]));
    sparse_[j].squares += rows.values[p] * rows.values[p];
  }
  std::vector<Index> kept{};
  if (rows_ == 0) kept.push_back(0);
  notice_numbers(part.sparse_labels, true, labels_, kept);
  for (const Index row : kept) {
    kept_.sparse_labels.push_back(part.sparse_labels[static_cast<std::size_t>(row)]);
    kept_.lines.push_back(part.line_of(row));
  }
}

void Witnesses::add(const Table& part) {
  if (rows_ == 0) begin(part);
  if (part.sparse) {
    add_sparse(part);
  } else {
    std::vector<std::vector<Index>> noticed(part.columns.size());
    parallel_for(static_cast<Index>(noticed.size()),
                 [&](Index j) { noticed[static_cast<std::size_t>(j)] = notice(part, static_cast<std::size_t>(j)); });
    std::vector<Index> rows;
    if (rows_ == 0) rows.push_back(0);
    for (const auto& list : noticed) rows.insert(rows.end(), list.begin(), list.end());
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    for (const Index row : rows) keep(part, row);
  }
  rows_ += part.rows();
}

void Witnesses::set_scaler(Dataset& data) const {
  Encoder& encoder = data.encoder;
  const auto n = static_cast<double>(rows_);
  Scaler scaler{options_.scaling, Vector::Zero(encoder.width), Vector::Ones(encoder.width)};
  const bool standard = options_.scaling == ScalingKind::standard;
  if (encoder.sparse) {
    for (Index j = 0; j < std::min(encoder.width, largest_index() + 1 - base_); ++j) {
      const SparseColumn& column = sparse_[static_cast<std::size_t>(j + base_)];
      const double scale = standard ? std::sqrt(column.squares / n) : column.largest;
      if (scale > 0) scaler.scale[j] = scale;
    }
  }
  Index at = 0;
  const auto put = [&](double mean, double variance, double low, double high) {
    scaler.shift[at] = standard ? mean : low;
    const double eps = std::numeric_limits<double>::epsilon();
    const bool rounding = variance <= n * eps * variance + (n * mean * eps) * (n * mean * eps);  // as fit_scaler has it
    const double scale = standard ? (rounding ? 0 : std::sqrt(variance)) : high - low;
    if (scale > 0) scaler.scale[at] = scale;
    ++at;
  };
  for (const FeatureColumn& feature : encoder.features) {
    const ColumnState& state = columns_[static_cast<std::size_t>(feature.position)];
    if (feature.categories.empty()) {
      const Numbers& numbers = state.numbers;
      put(numbers.varies ? numbers.mean : numbers.first, numbers.squares / n, numbers.low, numbers.high);  // gaps are filled with the mean
      continue;
    }
    for (const std::string& word : feature.categories) {
      const double share = static_cast<double>(state.words.counts.at(word)) / n;
      put(share, share * (1 - share), share < 1 ? 0 : 1, share > 0 ? 1 : 0);
    }
  }
  for (Index j = 0; j < encoder.width; ++j) {
    if (!std::isfinite(scaler.shift[j]) || !std::isfinite(scaler.scale[j]))
      throw InvalidArgument(
          fmt::format("column {} (counting from 0) is too large to scale: its spread overflows; divide it by a power of ten", j));
  }
  encoder.scaler = options_.scaling == ScalingKind::none ? Scaler{} : std::move(scaler);
}

Dataset Witnesses::decide() const {
  if (options_.impute == Impute::median)
    throw InvalidArgument("the median of a column needs all rows at once; with a file read in parts use --impute mean");
  EncodeOptions choices = options_;
  choices.scaling = ScalingKind::none;
  Table table = kept_;
  if (columns_.empty()) {  // LIBSVM: the labels decide, the rows do not matter
    const CsrMatrix<double> empty(static_cast<Index>(table.sparse_labels.size()), width_);
    table.sparse = Samples(empty);
  }
  Dataset data = make_dataset(table, choices);
  for (FeatureColumn& feature : data.encoder.features) {
    const ColumnState& state = columns_[static_cast<std::size_t>(feature.position)];
    if (options_.impute == Impute::mean && feature.categories.empty()) feature.fill = state.numbers.mean;
  }
  set_scaler(data);
  return data;
}

}  // namespace mercer
