// Where two samples differ: the witness function on the page and in a file, the columns that carry the difference, and the shift that a
// test of these sizes could have found. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "compare.hpp"
#include "objects.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

constexpr Index telling_rows = 5;  // on each side

// For each column of the samples: is it a number (or one of the 0/1 columns of a word)?
std::vector<bool> number_columns(const Features& f) {
  std::vector<bool> numbers;
  for (const FeatureColumn& feature : f.encoder.features)
    numbers.insert(numbers.end(), std::max<std::size_t>(1, feature.categories.size()), feature.categories.empty() && !feature.object);
  if (numbers.empty()) numbers.assign(static_cast<std::size_t>(f.X.width()), true);  // LIBSVM rows
  return numbers;
}

std::string cell_word(const Column& column, Index row) {
  const auto i = static_cast<std::size_t>(row);
  if (column.is_objects()) return object_words(column.objects(), row);
  return column.is_text() ? column.text()[i] : fmt::format("{:.5g}", column.numbers()[i]);
}

// Columns of the table, those that carry most first.
std::vector<const Column*> columns_to_list(const SampleSet& s, const Differences& d) {
  constexpr std::size_t most = 8;
  const std::vector<std::string> names = s.features.encoder.column_names();
  std::vector<const Column*> columns;
  const auto add = [&](const Column& column) {
    if (columns.size() < most && std::find(columns.begin(), columns.end(), &column) == columns.end()) columns.push_back(&column);
  };
  if (d.columns) {
    for (const Index j : d.columns->ranked()) {
      const Index place = s.table.find(names[static_cast<std::size_t>(j)]);
      if (place >= 0) add(s.table.columns[static_cast<std::size_t>(place)]);
    }
  }
  for (const Column& column : s.table.columns) add(column);
  return columns;
}

void list_telling(TestReport& page, const SampleSet& s, const Differences& d) {
  const std::vector<const Column*> columns = columns_to_list(s, d);
  for (const Column* column : columns) page.telling_columns.push_back(column->name);
  const TellingPoints points = d.witness->telling_points(telling_rows);
  for (const auto* side : {&points.more_x, &points.more_y}) {
    for (const TellingPoint& p : *side) {
      const std::size_t sample = p.from_x ? 0 : 1;
      TellingRow row{.sample = s.names[sample], .row = s.file_row(s.first_row(sample) + p.row) + 1, .witness = p.value, .cells = {}};
      for (const Column* column : columns) row.cells.push_back(cell_word(*column, s.first_row(sample) + p.row));
      page.telling.push_back(std::move(row));
    }
  }
}

// The columns of numbers, those that carry most first.
std::vector<Index> columns_to_draw(const SampleSet& s, const Differences& d) {
  const std::vector<bool> numbers = number_columns(s.features);
  std::vector<Index> order;
  if (d.columns) {
    order = d.columns->ranked();
  } else {
    for (Index j = 0; j < s.pooled.width(); ++j) order.push_back(j);
  }
  std::erase_if(order, [&](Index j) { return !numbers[static_cast<std::size_t>(j)]; });
  return order;
}

WitnessCurve curve_over(const SampleSet& s, Index column, const WitnessOptions& options) {
  const WitnessGrid grid = witness_grid(s.samples[0], s.samples[1], {column}, 101, options);
  WitnessCurve curve{.column = s.features.names[static_cast<std::size_t>(column)],
                     .at = in_units(s.features, column, grid.axes[0]),
                     .values = grid.values.col(0),
                     .sample_at = {}};
  for (const Samples& X : s.samples) {
    const Vector at = in_units(s.features, column, X.to_dense().col(column));
    curve.sample_at.emplace_back(at.begin(), at.end());
  }
  return curve;
}

void draw_rows(TestReport& page, const SampleSet& s, Index x, Index y) {
  const Matrix rows = s.pooled.to_dense();
  page.points.resize(rows.rows(), 2);
  page.points.col(0) = in_units(s.features, x, rows.col(x));
  page.points.col(1) = in_units(s.features, y, rows.col(y));
  page.point_names = {s.features.names[static_cast<std::size_t>(x)], s.features.names[static_cast<std::size_t>(y)]};
  page.point_color = {.name = "sample", .numbers = {}, .words = {}};
  for (std::size_t k = 0; k < s.samples.size(); ++k)
    page.point_color.words.insert(page.point_color.words.end(), static_cast<std::size_t>(s.samples[k].size()), s.names[k]);
}

void draw_map(TestReport& page, const SampleSet& s, const WitnessOptions& options) {
  const WitnessGrid grid = witness_grid(s.samples[0], s.samples[1], {0, 1}, 41, options);
  page.map = {.x_name = s.features.names[0],
              .y_name = s.features.names[1],
              .x = in_units(s.features, 0, grid.axes[0]),
              .y = in_units(s.features, 1, grid.axes[1]),
              .values = grid.values.transpose()};
}

}  // namespace

Vector in_units(const Features& f, Index column, const Vector& values) {
  const Scaler& scaler = f.encoder.scaler;
  if (scaler.kind == ScalingKind::none) return values;
  const double shift = scaler.shift.size() > column ? scaler.shift[column] : 0;
  return values * scaler.scale[column] + Vector::Constant(values.size(), shift);
}

void draw_differences(TestReport& page, const SampleSet& s, const Differences& d, const Kernel& kernel, const Run& run) {
  page.sample_names = s.names;
  const WitnessOptions options{.kernel = kernel, .weights_x = {}, .weights_y = {}, .run = run};
  const std::vector<Index> draw =
      s.pooled.is_sparse() || s.pooled.has_objects() || s.pooled.is_given() ? std::vector<Index>() : columns_to_draw(s, d);
  if (s.samples.size() == 2 && s.pooled.width() == 2 && draw.size() == 2) {
    draw_map(page, s, options);
  } else if (s.samples.size() == 2) {
    for (std::size_t k = 0; k < std::min<std::size_t>(draw.size(), 2); ++k) page.curves.push_back(curve_over(s, draw[k], options));
  }
  if (draw.size() >= 2) draw_rows(page, s, draw[0], draw[1]);
  if (page.map.values.size() > 0) draw_rows(page, s, 0, 1);
  if (d.witness && !s.table.columns.empty()) list_telling(page, s, d);
  if (!d.columns) return;
  for (const Index j : d.columns->ranked()) {
    const WitnessColumn& c = d.columns->columns[static_cast<std::size_t>(j)];
    page.columns.push_back(
        {.name = s.features.names[static_cast<std::size_t>(c.column)], .statistic = c.squared, .share = c.share, .p_value = c.adjusted});
  }
}

void write_witness(const SampleSet& s, const Witness& w, const std::string& path, const CommonOptions& common) {
  const Index n = w.n() + w.m();
  std::vector<std::string> sample;
  std::vector<double> row;
  std::vector<double> value;
  for (Index i = 0; i < n; ++i) {
    const bool first = i < w.n();
    sample.push_back(s.names[first ? 0 : 1]);
    row.push_back(static_cast<double>(s.file_row(i) + 1));
    value.push_back(first ? w.at_x()[i] : w.at_y()[i - w.n()]);
  }
  Table out;
  out.has_header = true;
  out.columns = {{"sample", sample, {}}, {"row", row, {}}, {"witness", value, {}}};
  for (const Column& column : out.columns) out.names.push_back(column.name);
  for (Column column : s.table.columns) {
    if (column.is_objects()) continue;  // no cell of a table; the row says which it is
    while (out.find(column.name) >= 0) column.name += '_';
    out.names.push_back(column.name);
    out.columns.push_back(std::move(column));
  }
  const FileFormat format = format_of_output(path);
  if (format == FileFormat::npy) {  // numbers alone
    out.names = {"witness"};
    out.columns = {{"witness", value, {}}};
  }
  write_carefully(path, common, [&](const Run& run) { write_table(out, path, {.format = format, .run = run}); });
}

std::string columns_lines(const SampleSet& s, const ColumnTable& columns) {
  constexpr std::size_t listed = 20;
  const std::vector<Index> order = columns.ranked();
  std::vector<std::vector<std::string>> rows{{"column", "mmd-u alone", "p, adjusted", "share"}};
  for (std::size_t k = 0; k < std::min(order.size(), listed); ++k) {
    const WitnessColumn& c = columns.columns[static_cast<std::size_t>(order[k])];
    rows.push_back({s.features.names[static_cast<std::size_t>(c.column)], fmt::format("{:.4g}", c.squared),
                    fmt::format("{:.4g}", c.adjusted), percent_word(c.share)});
  }
  if (order.size() > listed) rows.push_back({fmt::format("... {} more", order.size() - listed)});
  return aligned(rows) + "\n  Each column alone is compared by gaussian(auto) of that column, whatever --kernel is.";
}

Json columns_json(const SampleSet& s, const ColumnTable& columns) {
  Json list = Json::array();
  for (const WitnessColumn& c : columns.columns) {
    list.push_back({{"column", s.features.names[static_cast<std::size_t>(c.column)]},
                    {"statistic", number_json(c.squared)},
                    {"p_value", number_json(c.p_value)},
                    {"adjusted", number_json(c.adjusted)},
                    {"differs", c.differs},
                    {"drop", number_json(c.drop)},
                    {"share", number_json(c.share)}});
  }
  return list;
}

std::string columns_sentence(const SampleSet& s, const ColumnTable& columns) {
  std::vector<WitnessColumn> sorted = columns.columns;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  std::vector<std::string> words;
  double sum = 0;
  for (const WitnessColumn& c : sorted) {
    if (sum >= 0.75 || c.share < 0.05 || words.size() == 5) break;
    if (!c.differs) continue;  // a share by itself is no finding
    sum += c.share;
    words.push_back(fmt::format("{} ({:.0f} %)", s.features.names[static_cast<std::size_t>(c.column)], 100 * c.share));
  }
  const bool alone = std::any_of(columns.columns.begin(), columns.columns.end(), [](const auto& c) { return c.differs; });
  if (!alone) return "No single column shows it alone.";
  if (words.empty()) return "";
  return fmt::format("{} of the difference is in column{} {}.", sum >= 0.5 ? "Most" : "Part", words.size() == 1 ? "" : "s",
                     list_words(words));
}

std::optional<Detectable> detectable_shift(const SampleSet& s, const TestResult& test, const Kernel& kernel, bool at_any_cost,
                                           const Run& run) {
  constexpr Index draws = 20;
  constexpr double wanted = 0.8;
  constexpr double most = 3;
  const bool plain = test.statistic_name == "mmd-u" || test.statistic_name == "mmd-b";
  if (s.samples.size() != 2 || !plain || !std::isfinite(test.threshold) || s.pooled.is_sparse()) return std::nullopt;
  if (s.pooled.has_objects() || s.pooled.is_given()) return std::nullopt;
  if (s.features.encoder.scaler.kind != ScalingKind::standard || s.features.words_only) return std::nullopt;
  const auto rows = static_cast<double>(s.pooled.size());
  const double seconds = 7 * draws * rows * rows * (2 * static_cast<double>(s.pooled.width()) + 30) / estimated_flops(run);
  if (seconds > 1.5 && !at_any_cost) return std::nullopt;
  const Matrix pooled = s.pooled.to_dense();
  const std::vector<bool> numbers = number_columns(s.features);
  Eigen::RowVectorXd direction = Eigen::RowVectorXd::Zero(pooled.cols());
  for (Index j = 0; j < pooled.cols(); ++j) {
    const bool moves = numbers[static_cast<std::size_t>(j)] && pooled.col(j).minCoeff() < pooled.col(j).maxCoeff();
    direction[j] = moves ? 1 : 0;
  }
  if (direction.isZero()) return std::nullopt;
  const Index n = s.samples[0].size();
  std::vector<std::vector<Index>> splits;
  RandomStream stream(test.seed, 0x5817f7);
  for (Index k = 0; k < draws; ++k) splits.push_back(stream.permutation(pooled.rows()));
  Stage stage(run.progress, "detectable shift", 7 * draws);
  const MmdOptions options{.kernel = kernel,
                           .statistic = test.statistic_name == "mmd-u" ? MmdStatistic::u : MmdStatistic::b,
                           .run = {.threads = run.threads, .memory = run.memory}};
  const auto found = [&](double shift) {
    Index count = 0;
    for (const auto& order : splits) {
      const std::span<const Index> all(order);
      Matrix X = pooled(std::vector<Index>(order.begin(), order.begin() + n), Eigen::all);
      Matrix Y = pooled(std::vector<Index>(order.begin() + n, order.end()), Eigen::all);
      Y.rowwise() += shift * direction;
      count += mmd(Samples::own(std::move(X)), Samples::own(std::move(Y)), options).squared > test.threshold ? 1 : 0;
      stage.advance(1);
    }
    return static_cast<double>(count) / static_cast<double>(draws);
  };
  double high = most;
  double share = found(high);
  if (share < wanted) return Detectable{.shift = std::nan(""), .share = share, .draws = draws};
  double low = 0;
  for (int step = 0; step < 6; ++step) {
    const double middle = (low + high) / 2;
    const double here = found(middle);
    if (here >= wanted) {
      high = middle;
      share = here;
    } else {
      low = middle;
    }
  }
  return Detectable{.shift = high, .share = share, .draws = draws};
}

}  // namespace mercer::cli
