// What the kernels of strings and graphs share. Each says which features, or which values, it makes of two lists of objects; src/gram does
// the rest: products of features, dividing by k(x,x), the finish.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include "kernels/leaf.hpp"
#include "objects/features.hpp"

namespace mercer {

// Whole numbers of a kernel, checked: "k must be a whole number from 1 to 1000, got 0".
int require_whole(int value, int least, int most, const char* what);

template <class Derived>
class ObjectLeaf : public KernelNode {
 public:
  explicit ObjectLeaf(bool normalized) : normalized_(normalized) {}

  Kind kind() const override { return Kind::objects; }
  // Counts of parts of objects: a sum over parts cannot see how they are put together.
  Properties properties() const override {
    return {.strictly_pd = Verdict::no,
            .universal = Verdict::no,
            .characteristic = Verdict::no,
            .bounded = normalized_ ? Verdict::yes : Verdict::no,
            .shift_invariant = Verdict::no};
  }
  Reduction reduction() const override { return Reduction::dot; }
  bool normalizes() const override { return normalized_; }
  void finish(Tile<double>) const override {}
  void finish(Tile<float>) const override {}
  std::shared_ptr<const KernelNode> rebuilt(std::vector<Kernel> /*parts*/, std::span<const double> /*own*/) const override {
    return std::make_shared<Derived>(*static_cast<const Derived*>(this));
  }

 protected:
  // "name(a, b)", and "name(a, b, normalized=false)" where it is not.
  std::string called(std::string_view name, std::string arguments) const {
    if (!normalized_) arguments += arguments.empty() ? "normalized=false" : ", normalized=false";
    return arguments.empty() ? std::string(name) : fmt::format("{}({})", name, arguments);
  }
  // Both sides as lists of objects, by strings_of or graphs_of.
  template <class Object, class List>
  struct Lists {
    List rows;
    List cols;
    bool same;
    objects::Both<Object> both() const { return {rows, same ? rows : cols, same}; }
  };
  Lists<std::string_view, std::vector<std::string_view>> strings(const Samples& X, const Samples& Y) const {
    const bool same = X.same_rows(Y);
    return {strings_of(X, this->text()), same ? std::vector<std::string_view>{} : strings_of(Y, this->text()), same};
  }
  Lists<const Graph*, std::vector<const Graph*>> graphs(const Samples& X, const Samples& Y) const {
    const bool same = X.same_rows(Y);
    return {graphs_of(X, this->text()), same ? std::vector<const Graph*>{} : graphs_of(Y, this->text()), same};
  }
  static ObjectValues as_features(objects::Features features) {
    return {std::make_shared<const objects::Features>(std::move(features)), nullptr};
  }
  static ObjectValues as_pairs(std::unique_ptr<objects::PairValues> pairs) { return {nullptr, std::move(pairs)}; }

 private:
  bool normalized_;
};

}  // namespace mercer
