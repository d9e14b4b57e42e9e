// SPDX-License-Identifier: BSD-3-Clause
#include "objects.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace mercer::cli {

namespace {

// The columns that are neither target nor left out.
std::vector<Index> feature_columns(const Table& table, const EncodeOptions& encode) {
  std::vector<bool> left_out(table.columns.size(), false);
  for (const std::string& name : encode.drop) {
    if (const Index j = table.find(name); j >= 0) left_out[static_cast<std::size_t>(j)] = true;
  }
  if (const Index target = target_column(table, encode); target >= 0) left_out[static_cast<std::size_t>(target)] = true;
  std::vector<Index> features;
  for (Index j = 0; j < std::ssize(table.columns); ++j) {
    if (!left_out[static_cast<std::size_t>(j)]) features.push_back(j);
  }
  return features;
}

const Column& column_at(const Table& table, Index j) { return table.columns[static_cast<std::size_t>(j)]; }

bool is_number(const Column& column) { return !column.is_text() && !column.is_objects(); }

std::vector<std::string> names_of(const Table& table, const std::vector<Index>& columns) {
  std::vector<std::string> names;
  for (const Index j : columns) names.push_back(table.names[static_cast<std::size_t>(j)]);
  return names;
}

double mean_words(const std::vector<std::string>& texts) {
  double words = 0;
  for (const std::string& text : texts) {
    bool inside = false;
    for (const char c : text) {
      const bool blank = c == ' ' || (c >= '\t' && c <= '\r');
      if (!blank && !inside) words += 1;
      inside = !blank;
    }
  }
  return texts.empty() ? 0 : words / static_cast<double>(texts.size());
}

double mean_length(const Column& column) {
  if (!column.is_text()) return std::numeric_limits<double>::infinity();
  double letters = 0;
  for (const std::string& text : column.text()) letters += static_cast<double>(text.size());
  return letters / std::max(1.0, static_cast<double>(column.text().size()));
}

constexpr double words_of_a_text = 4;  // on average: with fewer, letters say more than words

// Columns that say who an object is, not what: features only where a kernel names them. Of graphs the label, where it is not to be learned.
bool says_who(const Table& table, const EncodeOptions& encode, const std::string& name) {
  if (table.format == FileFormat::fasta) return name == "name" || name == "description";
  return (table.format == FileFormat::graphs || table.format == FileFormat::tu) && encode.no_target && name == "label";
}

void leave_out_names(const Table& table, const std::vector<ColumnRef>& named, EncodeOptions& encode, std::vector<Index>& features,
                     std::vector<std::string>& notes) {
  const auto leaves = [&](Index j) {
    const std::string& name = table.names[static_cast<std::size_t>(j)];
    const bool asked = std::any_of(named.begin(), named.end(), [&](const ColumnRef& ref) { return ref.name == name; });
    return says_who(table, encode, name) && !asked;
  };
  if (std::all_of(features.begin(), features.end(), leaves)) return;  // the only ones: they were asked for by name
  std::vector<std::string> names;
  for (const Index j : features) {
    if (leaves(j)) names.push_back(table.names[static_cast<std::size_t>(j)]);
  }
  std::erase_if(features, leaves);
  if (names.empty()) return;
  encode.drop.insert(encode.drop.end(), names.begin(), names.end());
  notes.push_back(fmt::format("The {} of the {} {} no feature{}.", fmt::join(names, " and "),
                              table.format == FileFormat::fasta ? "sequences" : "graphs", names.size() == 1 ? "is" : "are",
                              names.size() == 1 ? "" : "s"));
}

// A kernel of objects that names no column can look at one alone.
void require_one_column(const Table& table, const Kernel& kernel, const std::vector<Index>& features) {
  std::vector<Index> holders;
  std::vector<std::string> others;
  for (const Index j : features) {
    if (is_number(column_at(table, j))) {
      others.push_back(column_at(table, j).name);
    } else {
      holders.push_back(j);
    }
  }
  if (holders.size() == 1 && others.empty()) return;
  const std::string source = table.source == "-" ? "standard input" : table.source;
  if (holders.empty()) {
    throw InvalidArgument(fmt::format("{}: the kernel {} looks at strings, sets or graphs, and {}", source, kernel.text(),
                                      others.empty() ? "there is no column of them"
                                                     : fmt::format("the columns hold numbers; --text {} keeps one as it is written, "
                                                                   "--format says what kind of file this is",
                                                                   others.front())));
  }
  // The longest texts, or the first sets or graphs, are what is most likely meant.
  const auto meant = *std::max_element(holders.begin(), holders.end(), [&](Index a, Index b) {
    return mean_length(column_at(table, a)) < mean_length(column_at(table, b));
  });
  for (const Index j : holders) {
    if (j != meant) others.push_back(column_at(table, j).name);
  }
  throw InvalidArgument(
      fmt::format("{}: the kernel {} names no column, and there are {}; say which it looks at, like spectrum(3).on(\"{}\"), or leave "
                  "others out with --drop {}",
                  source, kernel.text(), fmt::join(names_of(table, features), ", "), column_at(table, meant).name, fmt::join(others, ",")));
}

// What a kernel that was asked for must find in the samples.
void keep_for(const Table& table, const Kernel& kernel, const std::vector<ColumnRef>& looked_at, const std::vector<Index>& features,
              EncodeOptions& encode) {
  if (looked_at.empty()) {
    require_one_column(table, kernel, features);
    encode.keep_text = {"*"};
    return;
  }
  for (const ColumnRef& ref : looked_at) {
    if (ref.name.empty()) {  // positions are those of feature columns, so no text may become several
      encode.keep_text = {"*"};
      return;
    }
    const auto found = std::find(table.names.begin(), table.names.end(), ref.name);
    if (found == table.names.end()) {
      const auto shown = static_cast<std::ptrdiff_t>(std::min<std::size_t>(8, table.names.size()));
      throw InvalidArgument(
          fmt::format("{}: the kernel looks at column {}, which is not there{}; the columns are {}{}",
                      table.source == "-" ? "standard input" : table.source, ref.name, did_you_mean(ref.name, table.names),
                      fmt::join(table.names.begin(), table.names.begin() + shown, ", "), shown < std::ssize(table.names) ? ", ..." : ""));
    }
    const Column& column = table.columns[static_cast<std::size_t>(found - table.names.begin())];
    if (is_number(column)) {
      throw InvalidArgument(
          fmt::format("{}: the kernel {} looks at strings, sets or graphs, and column {} holds numbers; --text {} keeps "
                      "them as they are written",
                      table.source == "-" ? "standard input" : table.source, kernel.text(), ref.name, ref.name));
    }
    if (column.is_text()) encode.keep_text.push_back(ref.name);
  }
}

// One kernel for each column of objects, a Gaussian for all numbers: their product.
Kernel chosen_for(const Table& table, const std::vector<Index>& features, EncodeOptions& encode) {
  std::vector<Kernel> parts;
  std::vector<ColumnRef> numbers;
  const bool alone = features.size() == 1;
  for (const Index j : features) {
    const Column& column = column_at(table, j);
    if (holds_objects(table, column)) {
      const Kernel kernel = usual_kernel(column);
      parts.push_back(alone ? kernel : kernel.on({column.name}));
      if (column.is_text()) encode.keep_text.push_back(column.name);
    } else if (is_number(column) || encode.one_hot) {
      numbers.emplace_back(column.name);
    }
  }
  if (!numbers.empty()) parts.push_back(kernels::gaussian(kernels::LengthScale::automatic()).on(numbers));
  Kernel all = parts.front();
  for (std::size_t k = 1; k < parts.size(); ++k) all = all * parts[k];
  return all;
}

}  // namespace

bool is_target_name(const std::string& name) {
  const std::string lower = CLI::detail::to_lower(name);
  return lower == "y" || lower == "label" || lower == "target" || lower == "class";
}

Index target_column(const Table& table, const EncodeOptions& encode) {
  if (encode.no_target) return -1;
  if (!encode.target.empty()) return table.find(encode.target);
  const auto left_out = [&](std::size_t j) {
    return std::any_of(encode.drop.begin(), encode.drop.end(),
                       [&](const std::string& name) { return table.find(name) == static_cast<Index>(j); });
  };
  for (const char* usual : {"y", "label", "target", "class"}) {
    for (std::size_t j = 0; j < table.names.size(); ++j) {
      if (CLI::detail::to_lower(table.names[j]) == usual && !left_out(j)) return static_cast<Index>(j);
    }
  }
  for (std::size_t j = table.names.size(); j-- > 0;) {
    if (!left_out(j)) return static_cast<Index>(j);
  }
  return -1;
}

bool holds_objects(const Table& table, const Column& column) {
  if (column.is_objects()) return true;
  if (!column.is_text()) return false;
  if (table.format == FileFormat::lines || table.format == FileFormat::fasta) return true;
  return table.format == FileFormat::jsonl && mean_words(column.text()) >= words_of_a_text;
}

Kernel usual_kernel(const Column& column) {
  if (column.is_text()) return mean_words(column.text()) >= words_of_a_text ? kernels::bag_of_words() : kernels::spectrum(3);
  const ObjectColumn& objects = *column.objects().object_rows().columns.front();
  if (objects.kind() == ObjectKind::graph) return kernels::weisfeiler_lehman(5);
  if (objects.kind() == ObjectKind::string) return kernels::spectrum(3);
  if (objects.sets().elements.has_objects()) return kernels::bag_of_words();
  const auto scale = kernels::LengthScale::automatic();
  return kernels::bag_of(kernels::gaussian(scale), kernels::BagForm::mean).radial(scale);
}

void suit_objects(const Table& table, std::optional<Kernel>& kernel, EncodeOptions& encode, std::vector<std::string>& notes) {
  if (table.sparse) return;
  std::vector<Index> features = feature_columns(table, encode);
  const std::optional<std::vector<ColumnRef>> looked_at = kernel ? object_columns(*kernel) : std::nullopt;
  leave_out_names(table, looked_at.value_or(std::vector<ColumnRef>()), encode, features, notes);
  if (looked_at) {
    keep_for(table, *kernel, *looked_at, features, encode);
    return;
  }
  if (kernel || std::none_of(features.begin(), features.end(), [&](Index j) { return holds_objects(table, column_at(table, j)); })) return;
  kernel = chosen_for(table, features, encode);
  notes.push_back(fmt::format("The kernel is {}, for what the columns hold; --kernel says another.", kernel->text()));
}

void require_numbers(const Samples& X, const std::string& who) {
  if (!X.has_objects()) return;
  throw InvalidArgument(
      fmt::format("{} works on columns of numbers, and the rows hold {}; fit krr, svc or embed kpca take kernels of these", who,
                  name_of(X.object_rows().columns.front()->kind())));
}

std::string samples_words(const Samples& X) {
  if (X.is_given()) return fmt::format("{} objects of a given Gram matrix of {}", X.size(), X.width());
  if (!X.has_objects())
    return fmt::format("{} x {}, {} {}", X.size(), X.width(), X.is_sparse() ? "sparse" : "dense", name_of(X.precision()));
  const ObjectRows& rows = X.object_rows();
  const Index numbers = X.width() - std::ssize(rows.columns);
  if (rows.columns.size() == 1 && numbers == 0) return fmt::format("{} {}", X.size(), name_of(rows.columns.front()->kind()));
  std::vector<std::string> kinds;
  for (const auto& column : rows.columns) kinds.emplace_back(name_of(column->kind()));
  if (numbers > 0) kinds.push_back(fmt::format("{} number{}", numbers, numbers == 1 ? "" : "s"));
  return fmt::format("{} records of {}", X.size(), fmt::join(kinds, ", "));
}

std::string object_words(const Samples& column, Index row) {
  const ObjectColumn& objects = *column.object_rows().columns.front();
  const Index id = column.object_rows().ids[static_cast<std::size_t>(row)];
  const auto at = static_cast<std::size_t>(id);
  switch (objects.kind()) {
    case ObjectKind::string:
      return objects.strings()[at];
    case ObjectKind::set:
      return fmt::format("set of {}", objects.sets().offsets[at + 1] - objects.sets().offsets[at]);
    default:
      return fmt::format("graph of {} nodes", objects.graphs()[at].nodes);
  }
}

std::optional<Kernel> kernel_in(const AnyModel& model) {
  return std::visit(
      [](const auto& m) -> std::optional<Kernel> {
        if constexpr (requires { m.kernel(); }) {
          return m.kernel();
        } else {
          return std::nullopt;
        }
      },
      model);
}

std::string library_words(const Kernel& kernel) {
  std::vector<std::string> words;
  for (const auto& [name, part] : library_of(kernel)) {
    if (const auto table = kernels::word_table_of(part))
      words.push_back(fmt::format("{}: {} words of {} number{}", name, table->words.size(), table->vectors.cols(),
                                  table->vectors.cols() == 1 ? "" : "s"));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace mercer::cli
