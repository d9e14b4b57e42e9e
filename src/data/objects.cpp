// Samples with columns of objects: how they are made, taken apart and joined.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "data/number.hpp"
#include "data/numbers_only.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

Samples no_numbers(Index rows) { return Samples::borrow(DenseRows<double>{nullptr, rows, 0, 0}, nullptr); }

void require_valid_strings(const Strings& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (const std::size_t at = find_invalid_utf8(all[i]); at != std::string_view::npos)
      throw InvalidArgument(fmt::format(
          "string {} (counting from 0) is not UTF-8: the byte at place {} does not fit; convert the text to UTF-8 first", i, at));
  }
}

void require_valid_sets(const Sets& sets) {
  const auto& offsets = sets.offsets;
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != sets.elements.size() || !std::is_sorted(offsets.begin(), offsets.end()))
    throw InvalidArgument(fmt::format("the offsets of sets must ascend from 0 to the number of elements, {}", sets.elements.size()));
}

void require_valid_graphs(const Graphs& all) {
  for (std::size_t g = 0; g < all.size(); ++g) {
    const Graph& graph = all[g];
    if (graph.nodes < 0) throw InvalidArgument(fmt::format("graph {} has {} nodes: the number must be >= 0", g, graph.nodes));
    for (const auto& [u, v] : graph.edges) {
      if (u < 0 || v < 0 || u >= graph.nodes || v >= graph.nodes)
        throw InvalidArgument(fmt::format(
            "graph {} (counting from 0) has an edge between nodes {} and {}, but its {} nodes are numbered from 0", g, u, v, graph.nodes));
    }
    const auto fits = [&](std::size_t labels, std::size_t wanted, const char* what) {
      if (labels != 0 && labels != wanted)
        throw InvalidArgument(
            fmt::format("graph {} (counting from 0) has {} labels for {} {}: give one each, or none", g, labels, wanted, what));
    };
    fits(graph.labels.size(), static_cast<std::size_t>(graph.nodes), "nodes");
    fits(graph.edge_labels.size(), graph.edges.size(), "edges");
  }
}

// The objects of `column` with these ids, copied.
ObjectColumn picked(const ObjectColumn& column, std::span<const Index> ids) {
  return std::visit(
      [&]<class Values>(const Values& all) -> ObjectColumn {
        if constexpr (std::is_same_v<Values, Sets>) {
          Sets out;
          std::vector<Index> elements;
          for (const Index id : ids) {
            for (Index e = all.offsets[static_cast<std::size_t>(id)]; e < all.offsets[static_cast<std::size_t>(id) + 1]; ++e)
              elements.push_back(e);
            out.offsets.push_back(std::ssize(elements));
          }
          out.elements = all.elements.subset(elements);
          return {out};
        } else {
          Values out;
          out.reserve(ids.size());
          for (const Index id : ids) out.push_back(all[static_cast<std::size_t>(id)]);
          return {std::move(out)};
        }
      },
      column.values);
}

ObjectColumn joined(const ObjectColumn& a, const ObjectColumn& b) {
  if (a.kind() != b.kind())
    throw InvalidArgument(fmt::format("a column of {} and one of {} cannot be joined", name_of(a.kind()), name_of(b.kind())));
  return std::visit(
      [&]<class Values>(const Values& first) -> ObjectColumn {
        const Values& second = std::get<Values>(b.values);
        Values out = first;
        if constexpr (std::is_same_v<Values, Sets>) {
          out.elements = first.elements.empty()    ? second.elements
                         : second.elements.empty() ? first.elements
                                                   : concatenate(first.elements, second.elements);
          for (std::size_t i = 1; i < second.offsets.size(); ++i) out.offsets.push_back(first.offsets.back() + second.offsets[i]);
        } else {
          out.insert(out.end(), second.begin(), second.end());
        }
        return {std::move(out)};
      },
      a.values);
}

std::vector<Index> counted(Index n) {
  std::vector<Index> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), Index{0});
  return out;
}

void set_ids(ObjectRows& rows, std::vector<Index> ids) {
  rows.all_ids = std::make_shared<const std::vector<Index>>(std::move(ids));
  rows.ids = *rows.all_ids;
}

const ObjectColumn& column_for(const Samples& X, std::string_view who, std::string_view wanted) {
  if (!X.has_objects() || X.width() != 1) {
    std::string got;
    if (X.is_given()) {
      got = "these samples are known by a given Gram matrix alone";
    } else if (!X.has_objects()) {
      got = fmt::format("these samples have {} column{} of numbers", X.width(), X.width() == 1 ? "" : "s");
    } else {
      const ObjectRows& rows = X.object_rows();
      got = fmt::format("these records have {} columns ({} at {}{}): name the column, as in {}.on({})", X.width(),
                        name_of(rows.columns[0]->kind()), rows.places[0], rows.columns.size() > 1 ? ", ..." : "", who, rows.places[0]);
    }
    throw InvalidArgument(fmt::format("{} looks at {}, but {}", who, wanted, got));
  }
  return *X.object_rows().columns[0];
}

const ObjectColumn& column_of(const Samples& X, ObjectKind kind, std::string_view who) {
  const ObjectColumn& column = column_for(X, who, name_of(kind));
  if (column.kind() != kind)
    throw InvalidArgument(fmt::format("{} looks at {}, but these samples are {}", who, name_of(kind), name_of(column.kind())));
  return column;
}

}  // namespace

std::string_view name_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::string:
      return "strings";
    case ObjectKind::set:
      return "sets";
    default:
      return "graphs";
  }
}

Index ObjectColumn::size() const {
  return std::visit([](const auto& all) { return static_cast<Index>(std::ssize(all)); }, values);
}

void require_valid(const ObjectColumn& column) {
  if (column.kind() == ObjectKind::string) return require_valid_strings(column.strings());
  if (column.kind() == ObjectKind::set) return require_valid_sets(column.sets());
  require_valid_graphs(column.graphs());
}

Samples Samples::assembled(const Samples& numbers, ObjectRows objects) {
  Samples out = numbers;
  out.objects_ = std::make_shared<const ObjectRows>(std::move(objects));
  return out;
}

Samples Samples::objects(ObjectColumn column) {
  require_valid(column);
  const Index n = column.size();
  ObjectRows rows;
  rows.columns = {std::make_shared<const ObjectColumn>(std::move(column))};
  rows.places = {0};
  set_ids(rows, counted(n));
  return assembled(no_numbers(n), std::move(rows));
}

Samples Samples::strings(std::vector<std::string> values) { return objects({std::move(values)}); }
Samples Samples::graphs(std::vector<Graph> values) { return objects({std::move(values)}); }
Samples Samples::sets(Samples elements, std::vector<Index> offsets) { return objects({Sets{std::move(elements), std::move(offsets)}}); }

Samples Samples::sets(const std::vector<Matrix>& sets) {
  Index total = 0;
  Index width = 0;
  for (const Matrix& set : sets) {
    total += set.rows();
    width = std::max(width, set.cols());
  }
  Matrix elements(total, width);
  std::vector<Index> offsets{0};
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (sets[i].rows() > 0 && sets[i].cols() != width)
      throw InvalidArgument(
          fmt::format("set {} (counting from 0) has rows of {} columns, others of {}: all must have the same", i, sets[i].cols(), width));
    if (sets[i].rows() > 0) elements.middleRows(offsets.back(), sets[i].rows()) = sets[i];
    offsets.push_back(offsets.back() + sets[i].rows());
  }
  return Samples::sets(own(std::move(elements)), std::move(offsets));
}

Samples Samples::token_bags(const std::vector<std::vector<std::string>>& bags) {
  Strings elements;
  std::vector<Index> offsets{0};
  for (const auto& bag : bags) {
    elements.insert(elements.end(), bag.begin(), bag.end());
    offsets.push_back(std::ssize(elements));
  }
  return sets(strings(std::move(elements)), std::move(offsets));
}

Samples Samples::records(const std::vector<Samples>& parts) {
  if (parts.empty()) throw InvalidArgument("a record needs at least one column");
  const Index n = parts.front().size();
  ObjectRows rows;
  std::vector<const Samples*> blocks;
  Index place = 0;
  Index numbers = 0;
  for (const Samples& part : parts) {
    if (part.size() != n)
      throw InvalidArgument(fmt::format("the columns of a record differ in length: {} samples beside {}", n, part.size()));
    if (part.is_given()) throw InvalidArgument("objects of a given Gram matrix cannot be a column of a record");
    if (part.has_objects()) {
      const ObjectRows& own = part.object_rows();
      for (std::size_t c = 0; c < own.columns.size(); ++c) {
        rows.columns.push_back(std::make_shared<const ObjectColumn>(picked(*own.columns[c], own.ids)));
        rows.places.push_back(place + own.places[c]);
      }
    }
    const Index own_numbers = part.width() - (part.has_objects() ? std::ssize(part.object_rows().columns) : 0);
    if (own_numbers > 0) blocks.push_back(&part);
    numbers += own_numbers;
    place += part.width();
  }
  if (rows.columns.empty() && blocks.size() == 1) return *blocks.front();
  Samples base = no_numbers(n);
  if (numbers > 0) {
    Matrix all(n, numbers);
    Index at = 0;
    for (const Samples* block : blocks) {
      const Matrix values = block->numbers().to_dense();
      all.middleCols(at, values.cols()) = values;
      at += values.cols();
    }
    base = own(std::move(all));
  }
  if (rows.columns.empty()) return base;
  set_ids(rows, counted(n));
  return assembled(base, std::move(rows));
}

Samples Samples::numbers() const {
  Samples out = *this;
  out.objects_ = nullptr;
  return out;
}

Samples Samples::with_numbers(Samples numbers) const {
  if (objects_ == nullptr) return numbers;
  if (numbers.size() != size() || numbers.width() != this->numbers().width())
    throw InvalidArgument(
        fmt::format("{} x {} numbers cannot stand for {} x {}", numbers.size(), numbers.width(), size(), this->numbers().width()));
  numbers.objects_ = objects_;
  return numbers;
}

Samples Samples::columns(std::span<const Index> wanted) const {
  for (const Index column : wanted) {
    if (column < 0 || column >= width())
      throw InvalidArgument(fmt::format("column {} does not exist: there are {} (0 to {})", column, width(), width() - 1));
  }
  if (is_given()) throw InvalidArgument("a given Gram matrix has no columns to pick");
  std::vector<Index> of_numbers;  // where they are in the storage
  ObjectRows rows;
  for (std::size_t p = 0; p < wanted.size(); ++p) {
    Index before = 0;
    bool object = false;
    if (objects_ != nullptr) {
      const auto& places = objects_->places;
      const auto it = std::lower_bound(places.begin(), places.end(), wanted[p]);
      before = it - places.begin();
      object = it != places.end() && *it == wanted[p];
    }
    if (object) {
      rows.columns.push_back(objects_->columns[static_cast<std::size_t>(before)]);
      rows.places.push_back(static_cast<Index>(p));
    } else {
      of_numbers.push_back(wanted[p] - before);
    }
  }
  Samples base = of_numbers.empty() ? no_numbers(size()) : number_columns(of_numbers);
  if (rows.columns.empty()) return base;
  rows.all_ids = objects_->all_ids;
  rows.ids = objects_->ids;
  return assembled(base, std::move(rows));
}

Samples join_records(const Samples& a, const Samples& b) {
  if (!a.has_objects() || !b.has_objects() || a.object_rows().places != b.object_rows().places)
    throw InvalidArgument("records can be joined where the same columns hold objects, and these differ in which do");
  const ObjectRows& x = a.object_rows();
  const ObjectRows& y = b.object_rows();
  ObjectRows rows{{}, x.places, {}, {}};
  const bool one_pool = x.columns == y.columns;
  std::vector<Index> ids(x.ids.begin(), x.ids.end());
  if (one_pool) {
    rows.columns = x.columns;
    ids.insert(ids.end(), y.ids.begin(), y.ids.end());
  } else {
    for (std::size_t c = 0; c < x.columns.size(); ++c)
      rows.columns.push_back(std::make_shared<const ObjectColumn>(joined(picked(*x.columns[c], x.ids), picked(*y.columns[c], y.ids))));
    ids = counted(a.size() + b.size());
  }
  set_ids(rows, std::move(ids));
  const bool numbers = a.width() > std::ssize(x.columns);
  return Samples::assembled(numbers ? concatenate(a.numbers(), b.numbers()) : no_numbers(a.size() + b.size()), std::move(rows));
}

void require_numbers(const Samples& X, std::string_view who) {
  if (!X.has_objects()) return;
  const ObjectRows& rows = X.object_rows();
  throw InvalidArgument(
      fmt::format("{} looks at columns of numbers, but column {} holds {}: leave it out, or take a model with a kernel of {}", who,
                  rows.places[0], name_of(rows.columns[0]->kind()), name_of(rows.columns[0]->kind())));
}

ObjectKind kind_of(const Samples& X, std::string_view who) { return column_for(X, who, "objects").kind(); }

std::vector<std::string_view> strings_of(const Samples& X, std::string_view who) {
  const Strings& all = column_of(X, ObjectKind::string, who).strings();
  std::vector<std::string_view> out;
  out.reserve(static_cast<std::size_t>(X.size()));
  for (const Index id : X.object_rows().ids) out.emplace_back(all[static_cast<std::size_t>(id)]);
  return out;
}

std::vector<const Graph*> graphs_of(const Samples& X, std::string_view who) {
  const Graphs& all = column_of(X, ObjectKind::graph, who).graphs();
  std::vector<const Graph*> out;
  out.reserve(static_cast<std::size_t>(X.size()));
  for (const Index id : X.object_rows().ids) out.push_back(&all[static_cast<std::size_t>(id)]);
  return out;
}

Sets sets_of(const Samples& X, std::string_view who) { return picked(column_of(X, ObjectKind::set, who), X.object_rows().ids).sets(); }

}  // namespace mercer
