// Kernels as values: build them by name, combine them, print them and parse them back.
//
//   auto k = kernels::gaussian(2.0) + 0.5 * kernels::linear().on({0, 3});
//   k.text()                                            // "gaussian(2) + 0.5*linear.on(0, 3)"
//   parse_kernel("gaussian(2) + 0.5*linear.on(0, 3)")   // the same kernel
//
// A kernel knows nothing of data or tiles: gram.hpp brings the two together.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mercer/matrix.hpp"
#include "mercer/samples.hpp"

namespace mercer {

enum class Verdict : std::uint8_t { no, yes, unknown };

class KernelNode;  // src/kernels/node.hpp: one small value type per kernel
struct WordTable;  // objects.hpp
namespace kernels {
class LengthScale;
}

// A column by its position (from 0), or by a name that resolve_columns turns into positions.
struct ColumnRef {
  ColumnRef(int position) : index(position) {}                          // NOLINT(google-explicit-constructor)
  ColumnRef(Index position) : index(position) {}                        // NOLINT(google-explicit-constructor)
  ColumnRef(std::string column_name) : name(std::move(column_name)) {}  // NOLINT(google-explicit-constructor)
  ColumnRef(const char* column_name) : name(column_name) {}             // NOLINT(google-explicit-constructor)

  Index index = -1;  // -1: by name
  std::string name{};

  bool operator==(const ColumnRef&) const = default;
  auto operator<=>(const ColumnRef&) const = default;
};

// k(x,y)/sqrt(k(x,x) k(y,y)), or k(x,y)/(k(x,x) k(y,y)).
enum class Normalization : std::uint8_t { root, product };

// A positive number that a kernel can be tuned by; gradients are with respect to its logarithm.
struct KernelParameter {
  std::string name;  // "gaussian.length_scale", "gaussian.length_scale[2]" (the scale of column 2), "factor"
  double value = 0;
};

class Kernel {
 public:
  explicit Kernel(std::shared_ptr<const KernelNode> node) : node_(std::move(node)) {}

  std::string text() const;  // canonical; parse_kernel(text()) is the same kernel

  // What is known whatever the data. Universal: on every compact set; characteristic: on R^d among the distributions that the kernel can
  // embed. A kernel that looks at some columns only is judged on those.
  bool is_psd() const;  // every Gram matrix is positive semi-definite; false also where that is not known
  Verdict psd() const;
  Verdict is_strictly_pd() const;  // Gram matrices of distinct samples are nonsingular
  Verdict is_universal() const;
  Verdict is_characteristic() const;
  Verdict is_bounded() const;
  Verdict is_shift_invariant() const;
  bool has_auto() const;           // some length scale, or another number that resolve sets, still waits for data
  bool needs_given_gram() const;   // some part is `precomputed`: samples must come from Samples::given_gram
  bool has_named_columns() const;  // some columns still wait for resolve_columns
  bool looks_at_objects() const;   // some part is a kernel of strings, sets or graphs

  // k on the given columns alone: direct sums k.on(A) + l.on(B) and tensor products k.on(A) * l.on(B).
  Kernel on(std::vector<ColumnRef> columns) const;
  Kernel normalized(Normalization form = Normalization::root) const;
  Kernel power(int exponent) const;                       // k^p, p = 1 .. 1000
  Kernel exp() const;                                     // exp(k)
  Kernel geometric() const;                               // 1/(1 - k) = 1 + k + k^2 + ..., for k(x,x) < 1
  Kernel series(std::vector<double> coefficients) const;  // c0 + c1 k + c2 k^2 + ...
  Kernel over(Matrix points) const;                       // sum over the rows z of k(x,z) k(z,y)
  // exp(-d^2 / (2 l^2)) with d the distance in the feature space, d^2 = k(x,x) + k(y,y) - 2 k(x,y); l may be automatic (the median of d).
  Kernel radial(const kernels::LengthScale& length_scale) const;

  // The tunable parameters, those of an outer kernel before those of its parts and parts in the order of the text, and the same kernel with
  // other values in their places.
  std::vector<KernelParameter> parameters() const;
  Kernel with_parameters(std::span<const double> values) const;

  const KernelNode& node() const { return *node_; }
  std::shared_ptr<const KernelNode> node_ptr() const { return node_; }

  // The same text. A function's name stands for the function.
  friend bool operator==(const Kernel& a, const Kernel& b) { return a.text() == b.text(); }

 private:
  std::shared_ptr<const KernelNode> node_;
};

Kernel operator+(const Kernel& a, const Kernel& b);
Kernel operator*(const Kernel& a, const Kernel& b);
Kernel operator*(double a, const Kernel& k);
Kernel operator+(const Kernel& k, double constant);  // k + constant(c)

// Kernels that text cannot tell: function("name") and feature_map("name") are looked up here.
using KernelLibrary = std::map<std::string, Kernel>;
inline constexpr const char* any_kernel = "*";  // what the library has under this name stands for every name it does not have

// Throws InvalidArgument with the text, a caret under the offending character and the nearest known name.
Kernel parse_kernel(std::string_view text, const KernelLibrary& library = {});

// The functions and feature maps that a kernel uses, by name: what parse_kernel needs to read its text.
KernelLibrary library_of(const Kernel& kernel);

// The columns (of records) that kernels of strings, sets and graphs look at: nothing where there are no such kernels, an empty list where
// one looks at all there is.
std::optional<std::vector<ColumnRef>> object_columns(const Kernel& kernel);

// Every column given by name becomes positions: those where `names` has it. One name may stand for several (the categories of one column).
Kernel resolve_columns(const Kernel& kernel, std::span<const std::string> names);

namespace kernels {

enum class Norm : std::uint8_t { l2, l1 };

// A length scale: a number, one per column, or automatic (the median heuristic, resolved when the kernel is bound to data).
class LengthScale {
 public:
  LengthScale(double value) : values_{value} {}                                               // NOLINT(google-explicit-constructor)
  LengthScale(std::vector<double> values) : values_(std::move(values)), per_column_(true) {}  // NOLINT(google-explicit-constructor)
  static LengthScale automatic() { return LengthScale(); }
  bool is_auto() const { return values_.empty() && !per_column_; }
  bool per_column() const { return per_column_; }
  double value() const { return values_.at(0); }
  const std::vector<double>& values() const { return values_; }

 private:
  LengthScale() = default;
  std::vector<double> values_{};
  bool per_column_ = false;
};

Kernel linear();                                                              // <x,y>
Kernel polynomial(int degree = 3, double scale = 1, double offset = 1);       // (offset + scale <x,y>)^degree
Kernel sigmoid(double scale = 1, double offset = 0);                          // tanh(scale <x,y> + offset): not PSD
Kernel exponential_dot(double scale = 1);                                     // exp(scale <x,y>)
Kernel cosine();                                                              // <x,y>/(|x||y|), 0 where a row is zero
Kernel gaussian(LengthScale length_scale = 1.0);                              // exp(-|x-y|^2 / (2 l^2))
Kernel laplacian(LengthScale length_scale = 1.0, Norm norm = Norm::l2);       // exp(-|x-y| / l)
Kernel matern(double nu = 1.5, LengthScale length_scale = 1.0);               // nu = 0.5, 1.5 or 2.5
Kernel rational_quadratic(LengthScale length_scale = 1.0, double alpha = 1);  // (1 + |x-y|^2/(2 alpha l^2))^-alpha
Kernel periodic(LengthScale length_scale = 1.0, LengthScale period = 1.0);    // exp(-2 sum_j sin^2(pi (x_j-y_j)/p_j)/l_j^2)
Kernel chi2(double gamma = 1);                                                // exp(-gamma sum_j (x_j-y_j)^2/(x_j+y_j)), x, y >= 0
Kernel histogram_intersection();                                              // sum_j min(x_j, y_j), x, y >= 0
Kernel constant(double value = 1);                                            // c
Kernel white(double variance = 1);                                            // variance where a sample meets itself, else 0
Kernel precomputed();                                                         // entries of a Gram matrix: Samples::given_gram

// A kernel written by the user: the matrix k(x_i, y_j) of two blocks of samples, called once per tile, from several threads at a time. It
// must be symmetric: k(X, Y) = k(Y, X)'. `psd` is what its author claims; check_kernel looks at data.
using BlockFunction = std::function<Matrix(const Samples& X, const Samples& Y)>;
Kernel function(std::string name, BlockFunction f, Verdict psd = Verdict::unknown);

// <phi(x), phi(y)> for a map of the user's: rows to rows of features, called once per sample set.
using FeatureMap = std::function<Matrix(const Samples& X)>;
Kernel feature_map(std::string name, FeatureMap phi);

// Kernels of strings (UTF-8; letters are code points). Those that have `normalized` are divided by sqrt(k(x,x) k(y,y)) unless it is false;
// a string in which they find nothing has the value 0 with every string, itself too.
Kernel spectrum(int k = 3, bool normalized = true);              // common substrings of k letters
Kernel weighted_degree(int degree = 3, bool normalized = true);  // substrings of 1 .. degree letters at the same place
Kernel mismatch(int k = 3, int m = 1, int letters = 0,
                bool normalized = true);                                    // up to m letters differ; of the alphabet, 0: as in the data
Kernel gappy(int k = 3, int gaps = 1, bool normalized = true);              // k letters in order within k + gaps
Kernel subsequence(int k = 2, double decay = 0.5, bool normalized = true);  // k letters in order anywhere, decay^(both spans)
Kernel edit_distance(const LengthScale& length_scale = 1.0);                // exp(-d / l) of the edit distance: not PSD

// Kernels of sets A, B of whatever `part` takes: sum over x in A, y in B of k(x,y); its mean, which compares mean embeddings; or the mean
// of every element's best match, (mean_x max_y k + mean_y max_x k) / 2, which is not PSD.
enum class BagForm : std::uint8_t { sum, mean, best };
Kernel bag_of(const Kernel& part, BagForm form = BagForm::sum);
Kernel bag_of();  // of gaussian(1)

// Kernels of texts (strings, or token bags): words counted, once, or weighted by ln((1 + texts) / (1 + texts with it)) + 1 as learned from
// data.
enum class WordWeights : std::uint8_t { tfidf, count, binary };
Kernel bag_of_words(WordWeights weights = WordWeights::tfidf, bool normalized = true);
// Kernels of the mean of the vectors that a table has for the words of a text (source D 4.1): `part` of those, linear if not given.
Kernel words(std::string name, std::shared_ptr<const WordTable> table, const Kernel& part);
Kernel words(std::string name, std::shared_ptr<const WordTable> table);

// Kernels of graphs, with labels of nodes and edges where they have them; normalised unless told.
enum class LehmanForm : std::uint8_t { subtree, assignment };
Kernel weisfeiler_lehman(int iterations = 5, LehmanForm form = LehmanForm::subtree, bool normalized = true);
Kernel shortest_path(bool normalized = true);                  // pairs of nodes of equal labels at equal distance
Kernel random_walk(double decay = 0, bool normalized = true);  // common walks, decay^length; 0: as the degrees in the data allow
Kernel graphlet(int size = 3, bool normalized = true);         // connected subgraphs of 3, 4 or 5 nodes

// A convolution kernel (Haussler): every object is decomposed into parts, and `part` is summed over all pairs of them. A decomposition
// makes samples of sets, one for each sample. `words`, `letters` and `lines` are there for strings.
using Decomposition = std::function<Samples(const Samples& X)>;
Kernel convolution(std::string name, Decomposition parts_of, const Kernel& part);
Kernel convolution(std::string_view known, const Kernel& part);

// What such a kernel was made of (an entry of library_of, say); nullptr for any other.
const BlockFunction* function_of(const Kernel& kernel);
const FeatureMap* feature_map_of(const Kernel& kernel);
const Decomposition* decomposition_of(const Kernel& kernel);
std::shared_ptr<const WordTable> word_table_of(const Kernel& kernel);

}  // namespace kernels

// What `mercer kernels` and the docs say about one kernel or one operation.
struct ParameterInfo {
  std::string name;
  std::string standard;  // the value it has when not given
  std::string range;
};
struct KernelInfo {
  std::string name;
  std::string formula;
  std::vector<ParameterInfo> parameters;
  std::string note;    // conditions and remarks, may be empty
  std::string source;  // where the source documents have it
  // With the parameters that it has when none are given.
  Verdict psd = Verdict::unknown;
  Verdict strictly_pd = Verdict::unknown;
  Verdict universal = Verdict::unknown;
  Verdict characteristic = Verdict::unknown;
  Verdict bounded = Verdict::unknown;
  Verdict shift_invariant = Verdict::unknown;
};
const std::vector<KernelInfo>& kernel_catalogue();

struct KernelOperation {
  std::string text;     // "k^p"
  std::string formula;  // what it makes
  std::string note;
};
const std::vector<KernelOperation>& kernel_operations();

std::string_view name_of(Verdict verdict);  // "yes", "no", "unknown"

}  // namespace mercer
