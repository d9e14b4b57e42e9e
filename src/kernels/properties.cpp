// How properties pass through the algebra. A verdict is yes or no only where that is a theorem, everything else is unknown; one thing is a
// convention: a sum or product with a part that is not positive semi-definite is said not to be, though parts may make up for each other.
//
// Kernels may look at different columns: `covers` asks whether one looks at all that a whole expression looks at. A sum of kernels none of
// which does sees only marginals, so it is not characteristic; a product of rich kernels on any columns (a tensor product) stays rich.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "kernels/node.hpp"
#include "kernels/quoted.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

using Columns = std::vector<ColumnRef>;

std::vector<Properties> properties_of(std::span<const Kernel> parts) {
  std::vector<Properties> out;
  for (const Kernel& part : parts) out.push_back(part.node().properties());
  return out;
}

template <class F>
bool all(const std::vector<Properties>& parts, F&& f) {
  return std::all_of(parts.begin(), parts.end(), f);
}
template <class F>
bool any(const std::vector<Properties>& parts, F&& f) {
  return std::any_of(parts.begin(), parts.end(), f);
}
auto is(Verdict Properties::*member, Verdict verdict) {
  return [=](const Properties& p) { return p.*member == verdict; };
}

// The columns that all these kernels together look at; empty: all of them.
Columns union_of(const std::vector<Properties>& parts) {
  Columns out;
  for (const Properties& p : parts) {
    if (!p.sees_columns) continue;
    if (p.columns.empty()) return {};
    out.insert(out.end(), p.columns.begin(), p.columns.end());
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool covers(const Properties& p, const Columns& columns) { return p.columns.empty() || (!columns.empty() && p.columns == columns); }

// k(x,x) > 0 everywhere.
bool positive_diagonal(const Properties& p) {
  return p.psd == Verdict::yes && !p.zero && (p.strictly_pd == Verdict::yes || p.shift_invariant == Verdict::yes);
}

// A non-negative factor that is the same for every pair.
bool plain_factor(const Properties& p) { return !p.sees_columns && p.finite_dimensional && p.psd == Verdict::yes && !p.zero; }

Verdict shared(const std::vector<Properties>& parts, Verdict Properties::*member) {
  if (all(parts, is(member, Verdict::yes))) return Verdict::yes;
  return any(parts, is(member, Verdict::no)) ? Verdict::no : Verdict::unknown;
}

// What sums and products have in common.
Properties common(const std::vector<Properties>& parts) {
  Properties p;
  p.psd = shared(parts, &Properties::psd);
  p.bounded = all(parts, is(&Properties::bounded, Verdict::yes)) ? Verdict::yes : Verdict::unknown;
  // One part alone that is not shift-invariant cannot be mended by others that are; two can (cos x cos y + sin x sin y).
  const auto others = std::count_if(parts.begin(), parts.end(), [](const Properties& q) { return q.shift_invariant != Verdict::yes; });
  const bool one_is_not = others == 1 && any(parts, is(&Properties::shift_invariant, Verdict::no));
  p.shift_invariant = others == 0 ? Verdict::yes : one_is_not ? Verdict::no : Verdict::unknown;
  p.finite_dimensional = all(parts, [](const Properties& q) { return q.finite_dimensional; });
  p.sees_columns = any(parts, [](const Properties& q) { return q.sees_columns; });
  p.columns = union_of(parts);
  if (p.finite_dimensional) p.strictly_pd = p.universal = p.characteristic = Verdict::no;
  if (p.psd == Verdict::no) p.strictly_pd = Verdict::no;
  return p;
}

}  // namespace

Properties sum_properties(std::span<const Kernel> kernels) {
  const std::vector<Properties> parts = properties_of(kernels);
  Properties p = common(parts);
  p.zero = all(parts, [](const Properties& q) { return q.zero; });
  if (p.psd != Verdict::yes) return p;
  if (any(parts, is(&Properties::bounded, Verdict::no))) p.bounded = Verdict::no;  // diagonals are >= 0: nothing cancels
  if (p.finite_dimensional) return p;
  // The feature space of a sum contains those of its parts, so one rich part is enough, if it sees all there is to see.
  const auto rich = [&](Verdict Properties::*member) {
    return any(parts, [&](const Properties& q) { return q.*member == Verdict::yes && covers(q, p.columns); });
  };
  const bool marginals_only =
      none_of(parts.begin(), parts.end(), [&](const Properties& q) { return q.sees_columns && covers(q, p.columns); });
  // Names may turn out to be columns that stand there by position.
  const bool named = std::any_of(p.columns.begin(), p.columns.end(), [](const ColumnRef& c) { return c.index < 0; });
  const Verdict otherwise = marginals_only && p.sees_columns && !named ? Verdict::no : Verdict::unknown;
  p.universal = rich(&Properties::universal) ? Verdict::yes : otherwise;
  p.characteristic = rich(&Properties::characteristic) ? Verdict::yes : otherwise;
  const bool strict =
      any(parts, [&](const Properties& q) { return q.strictly_pd == Verdict::yes && (!q.sees_columns || covers(q, p.columns)); });
  p.strictly_pd = strict ? Verdict::yes : Verdict::unknown;
  return p;
}

Properties product_properties(std::span<const Kernel> kernels) {
  const std::vector<Properties> parts = properties_of(kernels);
  Properties p = common(parts);
  p.zero = any(parts, [](const Properties& q) { return q.zero; });
  if (p.zero) return scaled_properties(0, p);
  if (p.psd != Verdict::yes) return p;
  const bool unbounded = any(parts, is(&Properties::bounded, Verdict::no)) &&
                         all(parts, [](const Properties& q) { return q.bounded == Verdict::no || positive_diagonal(q); });
  if (unbounded && std::count_if(parts.begin(), parts.end(), is(&Properties::bounded, Verdict::no)) == 1) p.bounded = Verdict::no;
  if (p.finite_dimensional) return p;
  const auto all_rich = [&](Verdict Properties::*member) {
    return all(parts, [&](const Properties& q) { return q.*member == Verdict::yes || plain_factor(q); });
  };
  // Products of functions approximate products, and the constant 1 is among what is approximated.
  if (all_rich(&Properties::universal)) p.universal = Verdict::yes;
  // Spectral measures convolve, and a convolution of measures with full support has full support.
  if (p.shift_invariant == Verdict::yes && all_rich(&Properties::characteristic)) p.characteristic = p.universal = Verdict::yes;
  // Tensor products of strictly positive definite kernels are; so is such a Gram matrix times, entry by entry, one of positive diagonal.
  std::vector<Properties> strict;
  std::copy_if(parts.begin(), parts.end(), std::back_inserter(strict), is(&Properties::strictly_pd, Verdict::yes));
  const bool enough = !strict.empty() && all(parts, positive_diagonal) && union_of(strict) == p.columns &&
                      any(strict, [](const Properties& q) { return q.sees_columns; });
  if (enough) p.strictly_pd = Verdict::yes;
  return p;
}

Properties scaled_properties(double factor, Properties p) {
  if (factor == 0) {
    return {.strictly_pd = Verdict::no,
            .universal = Verdict::no,
            .characteristic = Verdict::no,
            .bounded = Verdict::yes,
            .shift_invariant = Verdict::yes,
            .finite_dimensional = true,
            .zero = true,
            .sees_columns = false};
  }
  if (factor < 0) {
    p.psd = p.psd == Verdict::yes && !p.zero ? Verdict::no : p.zero ? Verdict::yes : Verdict::unknown;
    p.strictly_pd = p.psd == Verdict::no || p.finite_dimensional ? Verdict::no : Verdict::unknown;
    p.universal = p.characteristic = p.finite_dimensional ? Verdict::no : Verdict::unknown;
  }
  return p;
}

// c0 + c1 k + c2 k^2 + ...; endless: all coefficients are positive, as those of exp(k) and 1/(1-k).
Properties series_properties(std::span<const double> coefficients, bool endless, const Kernel& part) {
  const Properties k = part.node().properties();
  Properties p = k;
  p.zero = false;
  if (!endless) {
    const bool constant = k.zero || std::all_of(coefficients.begin() + 1, coefficients.end(), [](double c) { return c == 0; });
    if (constant) {
      const Kernel value = kernels::constant(coefficients[0]);
      return value.node().properties();
    }
    if (std::any_of(coefficients.begin(), coefficients.end(), [](double c) { return c < 0; })) {
      p.psd = Verdict::unknown;
      p.strictly_pd = p.universal = p.characteristic = k.finite_dimensional ? Verdict::no : Verdict::unknown;
      p.bounded = k.bounded == Verdict::yes ? Verdict::yes : Verdict::unknown;
      return p;
    }
    // The sum holds at least what k or its square hold; what k lacks, higher powers may bring.
    const bool k_itself = coefficients[1] > 0;
    const bool higher = std::any_of(coefficients.begin() + 2, coefficients.end(), [](double c) { return c > 0; });
    const auto keeps = [&](Verdict Properties::*member, bool without_k) {
      const bool yes = k.*member == Verdict::yes && (k_itself || without_k);
      const bool no = k.*member == Verdict::no && (k.finite_dimensional || !higher);
      return yes ? Verdict::yes : no ? Verdict::no : Verdict::unknown;
    };
    const bool shifts = k.shift_invariant == Verdict::yes;
    p.strictly_pd = keeps(&Properties::strictly_pd, true);
    p.universal = keeps(&Properties::universal, true);
    p.characteristic = keeps(&Properties::characteristic, shifts);
    p.shift_invariant = shifts ? Verdict::yes : higher ? Verdict::unknown : k.shift_invariant;
    return p;
  }
  p.finite_dimensional = false;
  // exp<x,y>: every monomial is among the features, so all polynomials are approximated, and moments of every order are seen.
  const bool linear = part.text() == "linear" || (part.node().kind() == KernelNode::Kind::scaled && part.node().factor() > 0 &&
                                                  part.node().parts()[0].text() == "linear");
  for (Verdict Properties::*member : {&Properties::strictly_pd, &Properties::universal, &Properties::characteristic}) {
    if (linear) p.*member = Verdict::yes;
    if (p.*member == Verdict::no) p.*member = Verdict::unknown;
  }
  if (k.psd == Verdict::no) p.strictly_pd = Verdict::no;
  return p;
}

Properties normalized_properties(Normalization form, Properties p) {
  if (form == Normalization::root) {
    p.bounded = p.psd == Verdict::yes ? Verdict::yes : Verdict::unknown;
  } else {
    p.bounded = p.shift_invariant == Verdict::yes ? p.bounded : Verdict::unknown;
  }
  if (p.shift_invariant != Verdict::yes) {  // otherwise the diagonal is one number, and nothing changes
    p.shift_invariant = Verdict::unknown;
    if (!p.finite_dimensional) p.characteristic = Verdict::unknown;
  }
  return p;
}

Properties restricted_properties(std::span<const ColumnRef> columns, Properties p) {
  if (!p.sees_columns) return p;
  p.columns = columns_within(columns, p.columns);
  std::sort(p.columns.begin(), p.columns.end());
  return p;
}

// A(x)'A(y) with A(x) = (k(x,z))_z: a feature map of finitely many features, positive semi-definite whatever k is.
Properties composed_properties(const Properties& part) {
  return {.strictly_pd = Verdict::no,
          .universal = Verdict::no,
          .characteristic = Verdict::no,
          .bounded = part.bounded == Verdict::yes ? Verdict::yes : Verdict::unknown,
          .shift_invariant = Verdict::unknown,
          .finite_dimensional = true,
          .zero = part.zero,
          .sees_columns = part.sees_columns,
          .columns = part.columns};
}

std::vector<ColumnRef> columns_within(std::span<const ColumnRef> outer, std::span<const ColumnRef> inner) {
  if (inner.empty()) return {outer.begin(), outer.end()};
  if (outer.empty()) return {inner.begin(), inner.end()};
  std::vector<ColumnRef> out;
  for (const ColumnRef& column : inner) {
    if (column.index < 0) {
      if (std::find(outer.begin(), outer.end(), column) == outer.end())
        throw InvalidArgument(fmt::format("column {} is not among those of on({})", in_quotes(column.name), text_of(outer)));
      out.push_back(column);
    } else if (column.index < std::ssize(outer)) {
      out.push_back(outer[static_cast<std::size_t>(column.index)]);
    } else {
      throw InvalidArgument(
          fmt::format("column {} of on({}) does not exist: it has {} columns, counted from 0", column.index, text_of(outer), outer.size()));
    }
  }
  return out;
}

std::string text_of(std::span<const ColumnRef> columns) {
  std::string out;
  for (std::size_t i = 0; i < columns.size();) {
    if (!out.empty()) out += ", ";
    std::size_t end = i + 1;
    while (end < columns.size() && columns[i].index >= 0 && columns[end].index == columns[i].index + static_cast<Index>(end - i)) ++end;
    if (columns[i].index < 0) {
      out += in_quotes(columns[i].name);
    } else if (end - i >= 3) {
      out += fmt::format("{}:{}", columns[i].index, columns[end - 1].index + 1);
    } else {
      end = i + 1;
      out += fmt::format("{}", columns[i].index);
    }
    i = end;
  }
  return out;
}

}  // namespace mercer
