// What nodes do unless they say otherwise, the checks of parameters, and walks over whole kernels.
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/node.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "kernels/leaf.hpp"
#include "kernels/quoted.hpp"
#include "mercer/error.hpp"
#include "mercer/nearest_word.hpp"
#include "mercer/objects.hpp"

namespace mercer {

const Transform& KernelNode::transform() const {
  static const Transform none;
  return none;
}

void KernelNode::finish(Tile<double>) const { assert(false && "only leaves and maps finish a tile"); }
void KernelNode::finish(Tile<float>) const { assert(false && "only leaves and maps finish a tile"); }
double KernelNode::largest_value(double) const { return 1; }
void KernelNode::gradient(Tile<const double>, Tile<const double>, Tile<double>, std::span<double>) const {}

const Matrix& KernelNode::points() const {
  assert(false && "only composed kernels have points");
  static const Matrix none;
  return none;
}

const kernels::BlockFunction& KernelNode::function() const {
  assert(false && "only function kernels have a function");
  static const kernels::BlockFunction none;
  return none;
}

ObjectValues KernelNode::object_values(const Samples&, const Samples&) const {
  assert(false && "only kernels of objects have values of objects");
  return {};
}

Samples KernelNode::pulled(const Samples& X) const {
  assert(false && "only kernels of what a map makes have one");
  return X;
}

void require_positive(double value, const char* what) {
  if (!(value > 0) || !std::isfinite(value)) throw InvalidArgument(fmt::format("{} must be a number > 0, got {}", what, value));
}

void require_number(double value, const char* what) {
  if (!std::isfinite(value)) throw InvalidArgument(fmt::format("{} must be a finite number, got {}", what, value));
}

kernels::LengthScale checked(kernels::LengthScale scale, const char* what) {
  if (scale.per_column() && scale.values().empty()) throw InvalidArgument(fmt::format("{} must have at least one number, got none", what));
  for (const double value : scale.values()) {
    require_positive(value, what);
    if (value > 1e150 || value < 1e-150) throw InvalidArgument(fmt::format("{} must lie between 1e-150 and 1e150, got {}", what, value));
  }
  return scale;
}

std::string text_of(const kernels::LengthScale& scale) {
  if (scale.is_auto()) return "auto";
  if (!scale.per_column()) return fmt::format("{}", scale.value());
  std::string out = "[";
  for (const double value : scale.values()) out += fmt::format("{}{}", out.size() > 1 ? ", " : "", value);
  return out + "]";
}

void append_parameters(std::vector<KernelParameter>& out, const std::string& name, const kernels::LengthScale& scale) {
  if (!scale.per_column()) {
    out.push_back({name, scale.value()});
    return;
  }
  for (std::size_t j = 0; j < scale.values().size(); ++j) out.push_back({fmt::format("{}[{}]", name, j), scale.values()[j]});
}

kernels::LengthScale like(const kernels::LengthScale& form, std::span<const double> values) {
  if (form.per_column()) return checked(std::vector<double>(values.begin(), values.begin() + std::ssize(form.values())));
  return checked(values[0]);
}

void throw_unresolved(const std::string& text) {
  throw InvalidArgument(fmt::format("{} has no length scale yet: resolve(kernel, X) sets it from data", text));
}

void throw_waiting(const std::string& text) {
  throw InvalidArgument(fmt::format("{} has a number that waits for data: resolve(kernel, X) sets it", text));
}

namespace {

// Visits a kernel from the outside in, in the order of its text.
template <class F>
void visit(const Kernel& kernel, F&& f) {
  f(kernel);
  for (const Kernel& part : kernel.node().parts()) visit(part, f);
}

// The same without parts that look at other samples: columns there are not those of the kernel.
template <class F>
void visit_columns(const Kernel& kernel, F&& f) {
  f(kernel);
  if (leaves_columns(kernel.node())) return;
  for (const Kernel& part : kernel.node().parts()) visit_columns(part, f);
}

std::vector<double> values_of(const std::vector<KernelParameter>& parameters) {
  std::vector<double> out;
  out.reserve(parameters.size());
  for (const KernelParameter& parameter : parameters) out.push_back(parameter.value);
  return out;
}

Kernel with_values(const Kernel& kernel, std::span<const double>& values) {
  const KernelNode& node = kernel.node();
  const std::size_t own = node.own_parameters().size();
  const auto mine = values.first(own);
  values = values.subspan(own);
  std::vector<Kernel> parts;
  for (const Kernel& part : node.parts()) parts.push_back(with_values(part, values));
  return Kernel(node.rebuilt(std::move(parts), mine));
}

}  // namespace

Kernel with_length_scales(const Kernel& kernel, const TypicalDistance& distance, const ObjectResolver& objects) {
  if (!kernel.has_auto()) return kernel;
  const KernelNode& node = kernel.node();
  using Kind = KernelNode::Kind;
  if (node.kind() == Kind::objects || node.kind() == Kind::radial || leaves_columns(node)) {
    if (!objects) throw_waiting(kernel.text());
    return objects(kernel, {});
  }
  if (auto leaf = node.resolved(distance)) return Kernel(std::move(leaf));
  TypicalDistance within = distance;
  ObjectResolver objects_within = objects;
  if (node.kind() == Kind::restricted) {
    within = [&](Reduction reduction, std::span<const ColumnRef> inner) {
      return distance(reduction, columns_within(node.columns(), inner));
    };
    if (objects)
      objects_within = [&](const Kernel& part, std::span<const ColumnRef> inner) {
        return objects(part, columns_within(node.columns(), inner));
      };
  }
  std::vector<Kernel> parts;
  for (const Kernel& part : node.parts()) parts.push_back(with_length_scales(part, within, objects_within));
  return Kernel(node.rebuilt(std::move(parts), values_of(node.own_parameters())));
}

Kernel with_column_scales(const Kernel& kernel, const ColumnScalesOn& scales) {
  const KernelNode& node = kernel.node();
  const ColumnScales on_all = [&](Reduction reduction, double l) { return scales(reduction, l, {}); };
  if (auto leaf = node.per_column(on_all)) return Kernel(std::move(leaf));
  if (node.parts().empty() || leaves_columns(node)) return kernel;
  ColumnScalesOn within = scales;
  if (node.kind() == KernelNode::Kind::restricted) {
    within = [&](Reduction reduction, double l, std::span<const ColumnRef> inner) {
      return scales(reduction, l, columns_within(node.columns(), inner));
    };
  }
  std::vector<Kernel> parts;
  for (const Kernel& part : node.parts()) parts.push_back(with_column_scales(part, within));
  return Kernel(node.rebuilt(std::move(parts), values_of(node.own_parameters())));
}

std::vector<KernelParameter> Kernel::parameters() const {
  if (has_auto()) throw_unresolved(text());
  std::vector<KernelParameter> all;
  visit(*this, [&](const Kernel& part) {
    for (KernelParameter& parameter : part.node().own_parameters()) all.push_back(std::move(parameter));
  });
  return all;
}

Kernel Kernel::with_parameters(std::span<const double> values) const {
  const std::size_t wanted = parameters().size();
  if (values.size() != wanted) throw InvalidArgument(fmt::format("{} has {} parameters, got {} values", text(), wanted, values.size()));
  for (const double value : values) require_positive(value, "a parameter");
  return with_values(*this, values);
}

bool looks_at(const Kernel& kernel, Reduction reduction) {
  bool found = false;
  visit(kernel, [&](const Kernel& part) { found = found || part.node().reduction() == reduction; });
  return found;
}

bool normalizes_given(const Kernel& kernel) {
  bool found = false;
  visit(kernel, [&](const Kernel& part) {
    found = found || (part.node().kind() == KernelNode::Kind::normalized && part.node().parts()[0].needs_given_gram());
  });
  return found;
}

bool Kernel::needs_given_gram() const { return looks_at(*this, Reduction::given); }

bool Kernel::looks_at_objects() const { return object_columns(*this).has_value(); }

std::optional<std::vector<ColumnRef>> object_columns(const Kernel& kernel) {
  const KernelNode& node = kernel.node();
  if (node.kind() == KernelNode::Kind::objects || leaves_columns(node)) return std::vector<ColumnRef>{};
  std::optional<std::vector<ColumnRef>> found;
  bool all = false;
  for (const Kernel& part : node.parts()) {
    const auto inner = object_columns(part);
    if (!inner) continue;
    all = all || inner->empty();
    if (!found) found.emplace();
    found->insert(found->end(), inner->begin(), inner->end());
  }
  if (found && node.kind() == KernelNode::Kind::restricted) return columns_within(node.columns(), all ? std::vector<ColumnRef>{} : *found);
  if (all) found->clear();
  return found;
}

bool Kernel::has_named_columns() const {
  bool found = false;
  visit_columns(*this, [&](const Kernel& part) {
    for (const ColumnRef& column : part.node().columns()) found = found || column.index < 0;
  });
  return found;
}

KernelLibrary library_of(const Kernel& kernel) {
  KernelLibrary library;
  visit(kernel, [&](const Kernel& part) {
    if (part.node().name().empty()) return;
    const auto [known, added] = library.emplace(part.node().name(), part);
    const auto mine = kernels::word_table_of(part);
    const auto theirs = kernels::word_table_of(known->second);
    const bool same =
        mine == theirs || (mine != nullptr && theirs != nullptr && mine->words == theirs->words && mine->vectors == theirs->vectors);
    if (!added && !same)
      throw InvalidArgument(
          fmt::format("two different tables of words are called {}: text and files could not tell them apart, so give one another name",
                      in_quotes(part.node().name())));
  });
  return library;
}

Kernel resolve_columns(const Kernel& kernel, std::span<const std::string> names) {
  if (!kernel.has_named_columns()) return kernel;
  const KernelNode& node = kernel.node();
  std::vector<ColumnRef> columns;
  std::vector<std::string> inner(names.begin(), names.end());
  if (node.kind() == KernelNode::Kind::restricted) {
    inner.clear();
    for (const ColumnRef& column : node.columns()) {
      const std::size_t before = columns.size();
      for (std::size_t j = 0; j < names.size(); ++j) {
        if (column.index == static_cast<Index>(j) || (column.index < 0 && names[j] == column.name)) {
          columns.emplace_back(static_cast<Index>(j));
          inner.push_back(names[j]);
        }
      }
      if (columns.size() == before) {
        std::vector<std::string> known(names.begin(), names.end());
        known.erase(std::unique(known.begin(), known.end()), known.end());  // categories of one column stand together
        const std::string hint = column.index < 0 ? did_you_mean(column.name, known) : "";
        const bool many = known.size() > 8;
        if (many) known.resize(8);
        throw InvalidArgument(fmt::format("the kernel looks at column {}, which is not among the features{}; they are {}{}",
                                          text_of(std::span(&column, 1)), hint, fmt::join(known, ", "), many ? ", ..." : ""));
      }
    }
  }
  if (leaves_columns(node)) return kernel;
  std::vector<Kernel> parts;
  for (const Kernel& part : node.parts()) parts.push_back(resolve_columns(part, inner));
  if (node.kind() == KernelNode::Kind::restricted) return parts[0].on(std::move(columns));
  return Kernel(node.rebuilt(std::move(parts), values_of(node.own_parameters())));
}

std::string_view name_of(Verdict verdict) { return verdict == Verdict::yes ? "yes" : verdict == Verdict::no ? "no" : "unknown"; }

}  // namespace mercer
