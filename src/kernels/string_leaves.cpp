// Kernels of strings. References: Leslie, Eskin, Noble 2002 (spectrum), Leslie, Eskin, Cohen, Weston, Noble 2004 (mismatch), Leslie, Kuang
// 2004 (gappy), Lodhi, Saunders, Shawe-Taylor, Cristianini, Watkins 2002 (subsequence), Raetsch, Sonnenburg 2004 (weighted degree).
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>

#include "kernels/object_leaf.hpp"
#include "mercer/error.hpp"
#include "objects/letters.hpp"
#include "objects/string_features.hpp"

namespace mercer {

int require_whole(int value, int least, int most, const char* what) {
  if (value < least || value > most)
    throw InvalidArgument(fmt::format("{} must be a whole number from {} to {}, got {}", what, least, most, value));
  return value;
}

namespace {

class SpectrumKernel final : public ObjectLeaf<SpectrumKernel> {
 public:
  SpectrumKernel(int k, bool normalized) : ObjectLeaf(normalized), k_(k) {}
  std::string text() const override { return called("spectrum", fmt::format("{}", k_)); }
  ObjectValues object_values(const Samples& X, const Samples& Y) const override {
    return as_features(objects::spectrum(strings(X, Y).both(), k_));
  }

 private:
  int k_;
};

class WeightedDegreeKernel final : public ObjectLeaf<WeightedDegreeKernel> {
 public:
  WeightedDegreeKernel(int degree, bool normalized) : ObjectLeaf(normalized), degree_(degree) {}
  std::string text() const override { return called("weighted_degree", fmt::format("{}", degree_)); }
  ObjectValues object_values(const Samples& X, const Samples& Y) const override {
    return as_features(objects::weighted_degree(strings(X, Y).both(), degree_));
  }

 private:
  int degree_;
};

// How many strings lie within m mismatches of two others depends on how many letters there are: a number of the kernel's own, counted in
// the data that it is resolved on, so that k(x,y) is the same whatever x and y stand beside.
class MismatchKernel final : public ObjectLeaf<MismatchKernel> {
 public:
  MismatchKernel(int k, int m, int letters, bool normalized) : ObjectLeaf(normalized), k_(k), m_(m), letters_(letters) {}
  std::string text() const override {
    return called("mismatch", letters_ > 0 ? fmt::format("{}, {}, {}", k_, m_, letters_) : fmt::format("{}, {}", k_, m_));
  }
  bool has_auto() const override { return letters_ == 0; }
  std::shared_ptr<const KernelNode> resolved_on(const Samples& X) const override {
    if (!has_auto()) return nullptr;
    std::unordered_set<std::uint32_t> seen;
    for (const std::string_view text : strings_of(X, this->text())) {
      for (const std::uint32_t letter : objects::code_points(text)) seen.insert(letter);
    }
    return std::make_shared<MismatchKernel>(k_, m_, std::max(2, static_cast<int>(seen.size())), normalizes());
  }
  ObjectValues object_values(const Samples& X, const Samples& Y) const override {
    if (has_auto()) throw_waiting(text());
    return as_features(objects::mismatch(strings(X, Y).both(), k_, m_, letters_));
  }

 private:
  int k_;
  int m_;
  int letters_;  // 0: waits for data
};

class GappyKernel final : public ObjectLeaf<GappyKernel> {
 public:
  GappyKernel(int k, int gaps, bool normalized) : ObjectLeaf(normalized), k_(k), gaps_(gaps) {}
  std::string text() const override { return called("gappy", fmt::format("{}, {}", k_, gaps_)); }
  ObjectValues object_values(const Samples& X, const Samples& Y) const override {
    return as_features(objects::gappy(strings(X, Y).both(), k_, gaps_));
  }

 private:
  int k_;
  int gaps_;
};

class SubsequenceKernel final : public ObjectLeaf<SubsequenceKernel> {
 public:
  SubsequenceKernel(int k, double decay, bool normalized) : ObjectLeaf(normalized), k_(k), decay_(decay) {}
  std::string text() const override { return called("subsequence", fmt::format("{}, {}", k_, decay_)); }
  ObjectValues object_values(const Samples& X, const Samples& Y) const override {
    return as_pairs(objects::subsequence(strings(X, Y).both(), k_, decay_));
  }

 private:
  int k_;
  double decay_;
};

// exp(-d/l) of the edit distance d, which is no distance of a Hilbert space: Gram matrices may have negative eigenvalues.
class EditDistanceKernel final : public ObjectLeaf<EditDistanceKernel> {
 public:
  explicit EditDistanceKernel(kernels::LengthScale length_scale) : ObjectLeaf(false), length_scale_(std::move(length_scale)) {}
  std::string text() const override { return fmt::format("edit_distance({})", text_of(length_scale_)); }
  Properties properties() const override {
    return {.psd = Verdict::no, .strictly_pd = Verdict::no, .bounded = Verdict::yes, .shift_invariant = Verdict::no};
  }
  bool has_auto() const override { return length_scale_.is_auto(); }
  // The median over the pairs of at most 200 strings, evenly spaced among them.
  std::shared_ptr<const KernelNode> resolved_on(const Samples& X) const override {
    if (!has_auto()) return nullptr;
    const std::vector<std::string_view> all = strings_of(X, text());
    std::vector<std::string_view> some;
    const std::size_t step = (all.size() + 199) / 200;
    for (std::size_t i = 0; i < all.size(); i += step) some.push_back(all[i]);
    const auto pairs = objects::edit_distance({some, some, true});
    std::vector<double> distances;
    std::vector<double> row(some.size());
    for (std::size_t i = 0; i < some.size(); ++i) {
      pairs->row(static_cast<Index>(i), 0, std::ssize(some), row.data());
      distances.insert(distances.end(), row.begin() + static_cast<std::ptrdiff_t>(i) + 1, row.end());
    }
    double median = 1;
    if (!distances.empty()) {
      const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
      std::nth_element(distances.begin(), middle, distances.end());
      median = *middle;
    }
    if (median == 0) {  // half of the strings or more are alike: the mean of the others, as for rows of numbers
      const auto different = static_cast<double>(std::count_if(distances.begin(), distances.end(), [](double d) { return d > 0; }));
      median = different > 0 ? std::accumulate(distances.begin(), distances.end(), 0.0) / different : 1;
    }
    return std::make_shared<EditDistanceKernel>(kernels::LengthScale(median));
  }
  ObjectValues object_values(const Samples& X, const Samples& Y) const override {
    return as_pairs(objects::edit_distance(strings(X, Y).both()));
  }
  void finish(Tile<double> tile) const override { finish_tile(tile); }
  void finish(Tile<float> tile) const override { finish_tile(tile); }

 private:
  template <class T>
  void finish_tile(Tile<T> tile) const {
    if (has_auto()) throw_unresolved(text());
    simd::for_rows(tile, [&](T* x, Index n) { simd::ops<T>().exp_of(x, n, exponent<T>(-1 / length_scale_.value())); });
  }
  kernels::LengthScale length_scale_;
};

}  // namespace

namespace kernels {

Kernel spectrum(int k, bool normalized) { return Kernel(std::make_shared<SpectrumKernel>(require_whole(k, 1, 1000, "k"), normalized)); }

Kernel weighted_degree(int degree, bool normalized) {
  return Kernel(std::make_shared<WeightedDegreeKernel>(require_whole(degree, 1, 1000, "degree"), normalized));
}

Kernel mismatch(int k, int m, int letters, bool normalized) {
  require_whole(k, 1, 20, "k");
  require_whole(m, 0, k - 1, "m");
  if (letters != 0) require_whole(letters, 2, 1000000, "letters");
  return Kernel(std::make_shared<MismatchKernel>(k, m, letters, normalized));
}

Kernel gappy(int k, int gaps, bool normalized) {
  require_whole(k, 1, 20, "k");
  require_whole(gaps, 0, 20, "gaps");
  return Kernel(std::make_shared<GappyKernel>(k, gaps, normalized));
}

Kernel subsequence(int k, double decay, bool normalized) {
  require_whole(k, 1, 100, "k");
  if (!(decay > 0 && decay <= 1)) throw InvalidArgument(fmt::format("decay must be a number in (0, 1], got {}", decay));
  return Kernel(std::make_shared<SubsequenceKernel>(k, decay, normalized));
}

Kernel edit_distance(const LengthScale& length_scale) {
  if (length_scale.per_column()) throw InvalidArgument("edit_distance has one length scale, not one per column");
  return Kernel(std::make_shared<EditDistanceKernel>(checked(length_scale)));
}

}  // namespace kernels

}  // namespace mercer
