// What a kernel is inside. A leaf is a transform of the columns, a reduction of two samples to one number, and a finish that maps it;
// composites combine the tiles of their parts. So one GEMM and one vector exp serve every kernel, and dispatch happens once per tile.
//
// Gradients go backwards: a node is given weights W on its tile and adds sum_ij W_ij dk_ij/d(log parameter) for its own parameters. A leaf
// sees them through `gradient`; per-column parameters (ARD scales, periods) live in the transform, and the reduction carries W to them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "mercer/kernels.hpp"
#include "simd/tile_ops.hpp"

namespace mercer {

using simd::Tile;

// The number a leaf looks at for a pair of samples. `same`: 1 where a sample meets itself; `given`: the entry of a given Gram matrix.
enum class Reduction : std::uint8_t { none, dot, squared_distance, l1_distance, chi2_distance, minimum_sum, same, given };

namespace objects {
struct Features;   // objects/features.hpp
class PairValues;  // objects/features.hpp
}  // namespace objects

// What a kernel of objects makes of two sets of samples: one of the two.
struct ObjectValues {
  std::shared_ptr<const objects::Features> features{};
  std::shared_ptr<const objects::PairValues> pairs{};
};

// What happens to the columns before they are reduced. At most one of the first two, the scales after it.
struct Transform {
  std::shared_ptr<const kernels::FeatureMap> map{};
  bool unit_rows = false;         // every row divided by its length
  std::vector<double> periods{};  // x_j -> (cos, sin)(2 pi x_j / p_j); one for all columns or one each
  std::vector<double> scales{};   // x_j / l_j (of both numbers of a periodic pair); one each

  bool empty() const { return map == nullptr && !unit_rows && periods.empty() && scales.empty(); }
  bool operator==(const Transform&) const = default;
};

struct Properties {
  Verdict psd = Verdict::yes;
  Verdict strictly_pd = Verdict::unknown;
  Verdict universal = Verdict::unknown;
  Verdict characteristic = Verdict::unknown;
  Verdict bounded = Verdict::unknown;
  Verdict shift_invariant = Verdict::no;
  bool finite_dimensional = false;   // of the feature space: then neither strictly PD, universal nor characteristic
  bool zero = false;                 // k = 0
  bool sees_columns = true;          // false: constant and white, which look at no column
  std::vector<ColumnRef> columns{};  // ascending; empty: all
};

// Bochner: k(x - y) = E cos w'(x - y). How w is distributed, for length scales of 1; w_j is then divided by the scale of column j.
// Families that only the direction's length tells apart are a standard normal z times a random length: z sqrt(g) or z/sqrt(g) with g of the
// gamma distribution of mean 1 and the given shape (Matern: Student's t of 2 shape degrees of freedom).
struct SpectralMeasure {
  enum class Family : std::uint8_t { none, normal, normal_over_root_gamma, normal_times_root_gamma, cauchy_each };
  Family family = Family::none;
  double shape = 0;              // of the gamma distribution
  std::vector<double> scales{};  // the length scale: one, or one per column
};

// The typical distance, under the given reduction, of the columns (empty: all) of the data that a kernel is bound to.
using TypicalDistance = std::function<double(Reduction, std::span<const ColumnRef> columns)>;

// One length scale for each column that a leaf sees, in place of the one it has (0: it waits for data).
using ColumnScales = std::function<std::vector<double>(Reduction, double length_scale)>;
// The same for a whole kernel, whose leaves may see some of the columns only (empty: all).
using ColumnScalesOn = std::function<std::vector<double>(Reduction, double length_scale, std::span<const ColumnRef> columns)>;

// What text may be, for kernels that are built as for those that are parsed: whatever exists can be written down and read back, and no
// text from outside can make recursion deep.
inline constexpr std::size_t longest_text = 10000000;
inline constexpr int deepest_nesting = 100;

class KernelNode {
 public:
  enum class Kind : std::uint8_t {
    leaf,
    function,
    sum,
    product,
    scaled,
    mapped,
    normalized,
    restricted,
    composed,
    objects,
    bag,
    pulled,
    radial
  };

  virtual ~KernelNode() = default;
  virtual Kind kind() const { return Kind::leaf; }
  virtual std::string text() const = 0;
  virtual Properties properties() const = 0;

  // Leaves: in, the reduction; out, the kernel. Kind::mapped: in, the part's values; out, its own.
  virtual Reduction reduction() const { return Reduction::none; }
  virtual const Transform& transform() const;
  virtual void finish(Tile<double> tile) const;
  virtual void finish(Tile<float> tile) const;
  // Leaves with k(x,x) = 1 that are a function of x - y whose spectral measure can be drawn from. Throws while a length scale is automatic.
  virtual SpectralMeasure spectral_measure() const { return {}; }
  // A bound of |k| over reductions of at most this size: infinite where values could overflow. `reduction` is >= 0.
  virtual double largest_value(double reduction) const;

  // Leaves: adds to gradient[i] the sum of weights dk/d(log parameter i) over a tile, for the parameters that stand in the finish; weights
  // then become weights dk/d(reduction), for those that stand in the transform. Kind::mapped: weights become weights dk/d(part). `inputs`
  // is what finish was given and `values` what it made of it.
  virtual void gradient(Tile<const double> inputs, Tile<const double> values, Tile<double> weights, std::span<double> gradient) const;

  // Composites: the parts whose tiles are combined (one part, and a factor, for Kind::scaled).
  virtual std::span<const Kernel> parts() const { return {}; }
  virtual double factor() const { return 1; }
  virtual int depth() const { return 0; }                            // brackets and calls around the innermost part
  virtual std::span<const ColumnRef> columns() const { return {}; }  // Kind::restricted
  virtual Normalization normalization() const { return Normalization::root; }
  virtual const Matrix& points() const;                    // Kind::composed
  virtual const kernels::BlockFunction& function() const;  // Kind::function
  virtual std::string name() const { return {}; }          // of functions, maps and tables: what the library knows them by

  // Kind::objects: features (reduced by dot or minimum_sum) or pairs, then normalised where asked, then finished. X and Y have one column.
  virtual ObjectValues object_values(const Samples& X, const Samples& Y) const;
  virtual bool normalizes() const { return false; }
  virtual kernels::BagForm bag_form() const { return kernels::BagForm::sum; }  // Kind::bag: what the part sees are elements
  virtual Samples pulled(const Samples& X) const;                              // Kind::pulled: what the part sees in place of X

  // This node's own parameters, those of its parts not counted: first what stands in the finish, then what stands in the transform.
  virtual std::vector<KernelParameter> own_parameters() const { return {}; }
  // A copy with other parts (composites) and with values for the own parameters.
  virtual std::shared_ptr<const KernelNode> rebuilt(std::vector<Kernel> parts, std::span<const double> own) const = 0;

  virtual bool has_auto() const { return false; }
  // Leaves: a copy with the automatic length scale set, or nullptr when there is none.
  virtual std::shared_ptr<const KernelNode> resolved(const TypicalDistance&) const { return nullptr; }
  // Kinds objects and pulled: a copy with what waits for data set from it, or nullptr when nothing waits.
  virtual std::shared_ptr<const KernelNode> resolved_on(const Samples&) const { return nullptr; }
  // Leaves: a copy with a length scale per column in place of the one, or nullptr when there is none.
  virtual std::shared_ptr<const KernelNode> per_column(const ColumnScales&) const { return nullptr; }
};

// Whether the parts of a node look at other samples than the node: elements of sets, what a map makes of them.
bool leaves_columns(const KernelNode& node);

// Whether some leaf looks at this reduction.
bool looks_at(const Kernel& kernel, Reduction reduction);

// Whether it divides by the diagonal of a given Gram matrix, which new objects do not have.
bool normalizes_given(const Kernel& kernel);

// The kernel with every automatic length scale set. Kernels of objects, and those whose parts look at other samples, are set by `objects`,
// which is told the columns that they look at (empty: all).
using ObjectResolver = std::function<Kernel(const Kernel& kernel, std::span<const ColumnRef> columns)>;
Kernel with_length_scales(const Kernel& kernel, const TypicalDistance& distance, const ObjectResolver& objects = {});

// The kernel with a length scale per column wherever it has one for all.
Kernel with_column_scales(const Kernel& kernel, const ColumnScalesOn& scales);

// Sums and products of one or more kernels: nested ones are flattened, the factors of a product gathered in front.
Kernel sum_of(std::span<const Kernel> parts);
Kernel product_of(std::span<const Kernel> parts);

// How properties pass through the algebra (properties.cpp).
Properties sum_properties(std::span<const Kernel> parts);
Properties product_properties(std::span<const Kernel> parts);
Properties scaled_properties(double factor, Properties part);
Properties series_properties(std::span<const double> coefficients, bool endless, const Kernel& part);
Properties normalized_properties(Normalization form, Properties part);
Properties restricted_properties(std::span<const ColumnRef> columns, Properties part);
Properties composed_properties(const Properties& part);

// The columns of `inner`, counted among those of `outer` (empty: all); throws InvalidArgument where inner goes beyond outer.
std::vector<ColumnRef> columns_within(std::span<const ColumnRef> outer, std::span<const ColumnRef> inner);

// "0, 3, 5:9" as it stands in text.
std::string text_of(std::span<const ColumnRef> columns);

}  // namespace mercer
