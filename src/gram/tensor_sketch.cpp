// Count sketches of a row for every degree, multiplied in the frequency domain. Every degree has a random stream of its own.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/tensor_sketch.hpp"

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <limits>
#include <unsupported/Eigen/FFT>
#include <variant>
#include <vector>

#include "data/numbers_only.hpp"
#include "gram/tiling.hpp"
#include "mercer/error.hpp"
#include "mercer/random.hpp"

namespace mercer {

namespace {

constexpr int most_degrees = 100;

// What one block of rows works with.
class Sketcher {
 public:
  explicit Sketcher(const TensorSketch& map)
      : map_(map),
        L_(map.n_components()),
        root_scale_(std::sqrt(map.scale())),
        sketch_(static_cast<std::size_t>(L_)),
        product_(static_cast<std::size_t>(L_)),
        spectrum_(static_cast<std::size_t>(L_)) {
    fft_.SetFlag(Eigen::FFT<double>::HalfSpectrum);
  }

  // The sketch of one row, of which `entries(visit)` calls visit(column, value) for the numbers that are not 0.
  template <class Entries>
  const std::vector<double>& of(const Entries& entries) {
    const Index half = L_ / 2 + 1;
    for (int p = 0; p < map_.degree(); ++p) {
      std::fill(sketch_.begin(), sketch_.end(), 0.0);
      const std::int32_t* place = map_.places().row(p).data();
      const std::int32_t* sign = map_.signs().row(p).data();
      entries([&](Index j, double x) { sketch_[static_cast<std::size_t>(place[j])] += sign[j] * root_scale_ * x; });
      if (map_.offset() > 0) {
        const Index last = map_.n_features();
        sketch_[static_cast<std::size_t>(place[last])] += sign[last] * std::sqrt(map_.offset());
      }
      if (map_.degree() == 1) return sketch_;
      forward(p == 0 ? product_.data() : spectrum_.data());
      if (p == 0) continue;
      for (Index k = 0; k < half; ++k) product_[static_cast<std::size_t>(k)] *= spectrum_[static_cast<std::size_t>(k)];
    }
    if (L_ == 1) {
      sketch_[0] = product_[0].real();
    } else {
      fft_.inv(sketch_.data(), product_.data(), L_);
    }
    return sketch_;
  }

 private:
  void forward(std::complex<double>* to) {
    if (L_ == 1) {  // which Eigen's FFT cannot
      to[0] = sketch_[0];
    } else {
      fft_.fwd(to, sketch_.data(), L_);
    }
  }

  const TensorSketch& map_;
  Index L_;
  double root_scale_;
  Eigen::FFT<double> fft_{};
  std::vector<double> sketch_;
  std::vector<std::complex<double>> product_;
  std::vector<std::complex<double>> spectrum_;
};

template <class S, class Visit>
void for_entries(const DenseRows<S>& X, Index i, const Visit& visit) {
  const S* row = X.row(i);
  for (Index j = 0; j < X.cols; ++j) visit(j, static_cast<double>(row[j]));
}
template <class S, class Visit>
void for_entries(const CsrRows<S>& X, Index i, const Visit& visit) {
  for (Index p = X.begin(i); p < X.end(i); ++p) visit(X.columns[p], static_cast<double>(X.values[p]));
}

template <class T>
void transform_rows(const TensorSketch& map, const Samples& X, T* out, Index stride, const Run& run) {
  if (X.is_given()) throw InvalidArgument("a sketch needs the columns of the samples, but a given Gram matrix has none");
  require_numbers(X, "a sketch");
  if (X.width() != map.n_features())
    throw InvalidArgument(fmt::format("X has {} columns, the sketch takes {}", X.width(), map.n_features()));
  require_finite(X, "X");
  Stage stage(run.progress, "tensor sketch", static_cast<double>(X.size()));
  with_run(run, [&] {
    parallel_for(block_count(X.size()), [&](Index block) {
      const Range rows = block_range(block, X.size());
      Sketcher sketcher(map);
      std::visit(
          [&](const auto& all) {
            for (Index i = rows.begin; i < rows.begin + rows.count; ++i) {
              const std::vector<double>& z = sketcher.of([&](const auto& visit) { for_entries(all, i, visit); });
              std::transform(z.begin(), z.end(), out + i * stride, [](double value) { return static_cast<T>(value); });
            }
          },
          X.storage());
      stage.advance(static_cast<double>(rows.count));
    });
  });
}

void require_numbers(double scale, double offset) {
  if (!(scale > 0 && std::isfinite(scale))) throw InvalidArgument(fmt::format("scale must be a finite number > 0, got {}", scale));
  if (!(offset >= 0 && std::isfinite(offset))) throw InvalidArgument(fmt::format("offset must be a finite number >= 0, got {}", offset));
}

}  // namespace

TensorSketch tensor_sketch(Index width, const TensorSketchOptions& o) {
  if (width < 1) throw InvalidArgument(fmt::format("the samples must have at least one column, got {}", width));
  if (o.degree < 1 || o.degree > most_degrees)
    throw InvalidArgument(fmt::format("degree must be a whole number from 1 to {}, got {}", most_degrees, o.degree));
  if (o.n_components < 1 || o.n_components > std::numeric_limits<std::int32_t>::max() / 2)
    throw InvalidArgument(fmt::format("n_components must be from 1 to 2^30, got {}", o.n_components));
  require_numbers(o.scale, o.offset);
  const Index columns = width + (o.offset > 0 ? 1 : 0);
  TensorSketch::Hashes places(o.degree, columns);
  TensorSketch::Hashes signs(o.degree, columns);
  for (int p = 0; p < o.degree; ++p) {
    RandomStream random(o.seed, static_cast<std::uint64_t>(p));
    for (Index j = 0; j < columns; ++j) {
      places(p, j) = static_cast<std::int32_t>(random.below(o.n_components));
      signs(p, j) = random.below(2) == 0 ? -1 : 1;
    }
  }
  return TensorSketch::from_parts(o.scale, o.offset, o.n_components, std::move(places), std::move(signs));
}

TensorSketch TensorSketch::from_parts(double scale, double offset, Index n_components, Hashes places, Hashes signs) {
  require_numbers(scale, offset);
  const Index least = offset > 0 ? 2 : 1;
  if (n_components < 1 || places.rows() < 1 || places.rows() > most_degrees || places.cols() < least || places.rows() != signs.rows() ||
      places.cols() != signs.cols())
    throw InvalidArgument(fmt::format("a tensor sketch of {} components cannot have {} x {} places and {} x {} signs", n_components,
                                      places.rows(), places.cols(), signs.rows(), signs.cols()));
  if (places.minCoeff() < 0 || places.maxCoeff() >= n_components)
    throw InvalidArgument(fmt::format("places of a tensor sketch must lie between 0 and {}", n_components - 1));
  if ((signs.array().abs() != 1).any()) throw InvalidArgument("signs of a tensor sketch must be -1 or 1");
  TensorSketch map;
  map.scale_ = scale;
  map.offset_ = offset;
  map.n_components_ = n_components;
  map.places_ = std::move(places);
  map.signs_ = std::move(signs);
  return map;
}

Kernel TensorSketch::kernel() const { return kernels::polynomial(degree(), scale_, offset_); }

Matrix TensorSketch::transform(const Samples& X, const Run& run) const {
  const double bytes = 8.0 * static_cast<double>(X.size()) * static_cast<double>(n_components());
  require_memory(static_cast<std::size_t>(std::min(bytes, 1e18)), run.memory, fmt::format("the {} x {} sketches", X.size(), n_components()),
                 "transform chunks of rows, or use fewer components");
  Matrix out(X.size(), n_components());
  transform_into(X, out.data(), out.cols(), run);
  return out;
}
void TensorSketch::transform_into(const Samples& X, double* out, Index stride, const Run& run) const {
  transform_rows(*this, X, out, stride, run);
}
void TensorSketch::transform_into(const Samples& X, float* out, Index stride, const Run& run) const {
  transform_rows(*this, X, out, stride, run);
}

double TensorSketch::error_bound(double confidence) const {
  if (!(confidence > 0 && confidence < 1)) throw InvalidArgument(fmt::format("confidence must lie between 0 and 1, got {}", confidence));
  return std::sqrt((2 + std::pow(3.0, degree())) / (static_cast<double>(n_components()) * (1 - confidence)));
}

}  // namespace mercer
