// Kernels around others that change what these look at: the elements of sets, the parts that objects are decomposed into, the vectors of
// words. And the Gaussian of the distance that a kernel's feature space has. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>

#include "kernels/composite.hpp"
#include "kernels/leaf.hpp"
#include "kernels/quoted.hpp"
#include "kernels/text_parts.hpp"
#include "mercer/error.hpp"
#include "mercer/objects.hpp"

namespace mercer {

namespace {

using kernels::BagForm;

// Nothing of a part's columns stands for columns here: they are those of the elements.
Properties on_all_columns(Properties p) {
  p.columns.clear();
  p.sees_columns = true;
  p.shift_invariant = Verdict::no;
  return p;
}

// A sum over pairs is the inner product of sums of features, so positive semi-definite where the part is. What mean embeddings tell apart
// rests on the part: two sets differ where their distributions do, if it is characteristic; but not by how often they hold all elements.
Properties bag_properties(BagForm form, const Properties& part) {
  Properties p = on_all_columns(part);
  p.strictly_pd = p.universal = p.characteristic = Verdict::unknown;
  p.finite_dimensional = false;
  if (form == BagForm::best) p.psd = Verdict::no;
  if (form == BagForm::sum && p.bounded == Verdict::yes) p.bounded = Verdict::unknown;
  return p;
}

class BagKernel final : public Composite {
 public:
  BagKernel(const Kernel& part, BagForm form)
      : Composite({part},
                  fmt::format("bag_of({}{})", part.text(),
                              form == BagForm::mean   ? ", mean"
                              : form == BagForm::best ? ", best"
                                                      : ""),
                  bag_properties(form, part.node().properties()), part.node().depth() + 1),
        form_(form) {}
  Kind kind() const override { return Kind::bag; }
  BagForm bag_form() const override { return form_; }
  std::shared_ptr<const KernelNode> rebuilt(std::vector<Kernel> parts, std::span<const double>) const override {
    return std::make_shared<BagKernel>(parts[0], form_);
  }

 private:
  BagForm form_;
};

// bag_of(part) of what a decomposition makes of every object.
class ConvolutionKernel final : public Composite {
 public:
  // `known`: one of the decompositions for strings, whose name text can tell.
  ConvolutionKernel(std::string name, bool known, std::shared_ptr<const kernels::Decomposition> parts_of, const Kernel& bag)
      : Composite({bag}, fmt::format("convolution({}, {})", known ? name : in_quotes(name), bag.node().parts()[0].text()),
                  on_all_columns(bag.node().properties()), bag.node().depth() + 1),
        name_(std::move(name)),
        known_(known),
        parts_of_(std::move(parts_of)) {}
  Kind kind() const override { return Kind::pulled; }
  std::string name() const override { return known_ ? std::string() : name_; }
  const kernels::Decomposition* decomposition() const { return parts_of_.get(); }
  Samples pulled(const Samples& X) const override {
    Samples sets = (*parts_of_)(X);
    if (sets.size() != X.size() || !sets.has_objects() || kind_of(sets, text()) != ObjectKind::set)
      throw InvalidArgument(
          fmt::format("the decomposition {} must make a set of parts for each of {} samples", in_quotes(name_), X.size()));
    return sets;
  }
  std::shared_ptr<const KernelNode> rebuilt(std::vector<Kernel> parts, std::span<const double>) const override {
    return std::make_shared<ConvolutionKernel>(name_, known_, parts_of_, parts[0]);
  }

 private:
  std::string name_;
  bool known_;
  std::shared_ptr<const kernels::Decomposition> parts_of_;
};

// Texts of the same words in another order have one mean vector, so nothing that looks at that alone tells all texts apart.
Properties words_properties(const Properties& part) {
  Properties p = on_all_columns(part);
  p.strictly_pd = p.universal = p.characteristic = Verdict::no;
  return p;
}

// A kernel of the mean vectors of texts.
class WordsKernel final : public Composite {
 public:
  WordsKernel(std::string name, std::shared_ptr<const WordIndex> index, const Kernel& part)
      : Composite({part}, fmt::format("words({}{})", in_quotes(name), part.text() == "linear" ? "" : ", " + part.text()),
                  words_properties(part.node().properties()), part.node().depth() + 1),
        name_(std::move(name)),
        index_(std::move(index)) {}
  Kind kind() const override { return Kind::pulled; }
  std::string name() const override { return name_; }
  const std::shared_ptr<const WordIndex>& index() const { return index_; }
  Samples pulled(const Samples& X) const override { return Samples::own(index_->mean_vectors(tokens_of(X, text()))); }
  std::shared_ptr<const KernelNode> rebuilt(std::vector<Kernel> parts, std::span<const double>) const override {
    return std::make_shared<WordsKernel>(name_, index_, parts[0]);
  }

 private:
  std::string name_;
  std::shared_ptr<const WordIndex> index_;
};

// exp(-d^2/(2 l^2)) with d a distance of a Hilbert space: positive definite (Schoenberg), and strictly so where the part tells samples
// apart.
Properties radial_properties(const Properties& part) {
  Properties p = part;
  p.psd = part.psd == Verdict::yes ? Verdict::yes : Verdict::unknown;
  p.strictly_pd = part.strictly_pd == Verdict::yes ? Verdict::yes : Verdict::unknown;
  p.universal = p.characteristic = Verdict::unknown;
  p.bounded = part.psd == Verdict::yes ? Verdict::yes : Verdict::unknown;
  p.shift_invariant = part.shift_invariant == Verdict::yes ? Verdict::yes : Verdict::unknown;
  p.finite_dimensional = false;
  p.zero = false;
  return p;
}

class RadialKernel final : public Composite {
 public:
  RadialKernel(const Kernel& part, kernels::LengthScale length_scale)
      : Composite({part}, fmt::format("{}.radial({})", before_postfix(part), mercer::text_of(length_scale)),
                  radial_properties(part.node().properties()), depth_before_postfix(part)),
        length_scale_(std::move(length_scale)) {}
  Kind kind() const override { return Kind::radial; }
  bool has_auto() const override { return length_scale_.is_auto() || Composite::has_auto(); }
  double factor() const override {
    if (length_scale_.is_auto()) throw_unresolved(text());
    return length_scale_.value();
  }
  std::vector<KernelParameter> own_parameters() const override {
    if (length_scale_.is_auto()) return {};
    return {{"radial.length_scale", length_scale_.value()}};
  }
  // With a number where the length scale was automatic: resolve sets it so.
  std::shared_ptr<const KernelNode> rebuilt(std::vector<Kernel> parts, std::span<const double> own) const override {
    return std::make_shared<RadialKernel>(parts[0], own.empty() ? length_scale_ : checked(own[0]));
  }

 private:
  kernels::LengthScale length_scale_;
};

}  // namespace

Kernel Kernel::radial(const kernels::LengthScale& length_scale) const {
  if (length_scale.per_column())
    throw InvalidArgument("radial() has one length scale: its distance is that of the feature space, which has no columns");
  if (needs_given_gram())
    throw InvalidArgument("radial() divides by k(x,x), which new rows of a given Gram matrix do not have: take it of the matrix before");
  return Kernel(std::make_shared<RadialKernel>(*this, checked(length_scale)));
}

bool leaves_columns(const KernelNode& node) { return node.kind() == KernelNode::Kind::bag || node.kind() == KernelNode::Kind::pulled; }

namespace kernels {

Kernel bag_of(const Kernel& part, BagForm form) {
  if (part.needs_given_gram()) throw InvalidArgument("bag_of(precomputed): the elements of sets have no place in a given Gram matrix");
  return Kernel(std::make_shared<BagKernel>(part, form));
}

Kernel bag_of() { return bag_of(gaussian()); }

Kernel convolution(std::string name, Decomposition parts_of, const Kernel& part) {
  if (name.empty()) throw InvalidArgument("a decomposition of your own needs a name: its text and its files call it by that");
  if (!parts_of) throw InvalidArgument(fmt::format("the decomposition {} has no function", in_quotes(name)));
  return Kernel(std::make_shared<ConvolutionKernel>(std::move(name), false, std::make_shared<const Decomposition>(std::move(parts_of)),
                                                    bag_of(part)));
}

Kernel convolution(std::string_view known, const Kernel& part) {
  auto parts_of = known_decomposition(known);
  if (parts_of == nullptr)
    throw InvalidArgument(
        fmt::format("the decompositions are words, letters and lines, got {}; one of your own comes with a function", in_quotes(known)));
  return Kernel(std::make_shared<ConvolutionKernel>(std::string(known), true, std::move(parts_of), bag_of(part)));
}

Kernel words(std::string name, std::shared_ptr<const WordTable> table, const Kernel& part) {
  if (name.empty()) throw InvalidArgument("a table of words needs a name: the kernel's text calls it by that");
  if (table == nullptr || table->words.empty()) throw InvalidArgument(fmt::format("the table of words {} is empty", in_quotes(name)));
  return Kernel(std::make_shared<WordsKernel>(std::move(name), std::make_shared<const WordIndex>(std::move(table)), part));
}

Kernel words(std::string name, std::shared_ptr<const WordTable> table) { return words(std::move(name), std::move(table), linear()); }

const Decomposition* decomposition_of(const Kernel& kernel) {
  const auto* node = dynamic_cast<const ConvolutionKernel*>(&kernel.node());
  return node == nullptr ? nullptr : node->decomposition();
}

std::shared_ptr<const WordTable> word_table_of(const Kernel& kernel) {
  if (const auto* node = dynamic_cast<const WordsKernel*>(&kernel.node())) return node->index()->table();
  return weight_table_of(kernel.node());
}

}  // namespace kernels

}  // namespace mercer
