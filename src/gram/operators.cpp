// The Gram matrix as an operator, stored or streamed. A stored one keeps every entry (huge pages); a streamed one keeps only what tiles are
// made from, and makes them anew each time it is applied.
//
// Sums that many tiles add to (the lower half of a symmetric product, K' diag(w) K V) go into a fixed number of partial sums, which are
// then added in order: the bits do not depend on who computed which tile. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cassert>
#include <numeric>

#include "gram/fill.hpp"
#include "linalg/blas.hpp"
#include "linalg/tiling.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"

namespace mercer {

namespace {

constexpr double partial_sum_bytes = 256e6;  // all partial sums together, about
constexpr Index widest_panel = 65536;        // columns of a row panel that apply_normal keeps at once

template <class T>
RowMatrix<T> cast_to(const MatrixRef& V) {
  return V.cast<T>();
}

// sum (double) += op(tile) V rows, computed in T over at most one tile's depth.
template <class T>
void add_product(bool transposed, Index m, Index k_cols, Index depth, const T* tile, Index stride, const T* v, Index v_stride, double* sum,
                 Index sum_stride) {
  thread_local std::vector<T> part;
  part.resize(static_cast<std::size_t>(m * k_cols));
  linalg::gemm_n(transposed, m, k_cols, depth, T{1}, tile, stride, v, v_stride, T{0}, part.data(), k_cols);
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < k_cols; ++j) sum[i * sum_stride + j] += static_cast<double>(part[static_cast<std::size_t>(i * k_cols + j)]);
  }
}

// How many partial sums of `numbers` doubles each to keep: a function of the problem alone, never of the machine.
Index partial_sums(Index numbers, Index tasks) {
  const auto affordable = static_cast<Index>(partial_sum_bytes / (8.0 * static_cast<double>(std::max<Index>(1, numbers))));
  return std::clamp<Index>(affordable, 2, std::clamp<Index>(tasks, 2, 64));
}

// What an operator was made of: gradients go back to it.
struct Bound {
  Kernel kernel;
  Samples X;
  Samples Y;
};

template <class T>
class GramBase : public LinearOperator {
 public:
  GramBase(Bound bound, bool symmetric, Run run)
      : rows_(bound.X.size()), cols_(bound.Y.size()), symmetric_(symmetric), run_(std::move(run)), bound_(std::move(bound)) {}

  Index rows() const final { return rows_; }
  Index cols() const final { return cols_; }
  bool symmetric() const final { return symmetric_; }
  Precision precision() const final { return precision_of<T>; }

  Index tile_count() const final { return symmetric_ ? upper_count(block_count(rows_)) : block_count(rows_) * block_count(cols_); }

  Matrix apply_transpose(const MatrixRef& U) const final {
    if (symmetric_) return apply(U);
    linalg::require_rows("U", U.rows(), rows_);
    const RowMatrix<T> u = cast_to<T>(U);
    Matrix out = Matrix::Zero(cols_, U.cols());
    run_tasks("K' U", block_count(cols_), all_tiles(), [&](Index b, Stage& stage) {
      TileMemory<T> memory;
      const Range J = block_range(b, cols_);
      for (Index a = 0; a < block_count(rows_); ++a) {
        const Range I = block_range(a, rows_);
        const Tile<const T> tile = tile_at(I, J, memory.data());
        add_product(true, J.count, u.cols(), I.count, tile.data, tile.stride, u.data() + I.begin * u.cols(), u.cols(),
                    out.data() + J.begin * out.cols(), out.cols());
        stage.advance(1);
      }
    });
    return out;
  }

  void for_each_tile(const std::function<void(const TileView&)>& visit) const final {
    const Index blocks = block_count(cols_);
    run_tasks("Gram tiles", tile_count(), static_cast<double>(tile_count()), [&](Index number, Stage& stage) {
      TileMemory<T> memory;
      const BlockPair pair = symmetric_ ? upper_pair(number, blocks) : BlockPair{number / blocks, number % blocks};
      const Range I = block_range(pair.row, rows_);
      const Range J = block_range(pair.col, cols_);
      const Tile<const T> tile = tile_at(I, J, memory.data());
      visit({number, I.begin, J.begin, I.count, J.count, tile.stride, tile.data});
      stage.advance(1);
    });
  }

  // Always in float64: an optimiser that follows it takes differences of close numbers.
  Vector gradient_inner(const MatrixRef& W) const final {
    linalg::require_weights(*this, W);
    const auto parameters = static_cast<Index>(bound_.kernel.parameters().size());
    Matrix parts = Matrix::Zero(tile_count(), parameters);
    if (parameters == 0) return Vector(0);
    with_run(run_, [&] {
      const PreparedKernel<double> kernel(bound_.kernel, bound_.X, bound_.Y);
      const Index blocks = block_count(cols_);
      run_tasks("Gradient", tile_count(), static_cast<double>(tile_count()), [&](Index number, Stage& stage) {
        const BlockPair pair = symmetric_ ? upper_pair(number, blocks) : BlockPair{number / blocks, number % blocks};
        const Range I = block_range(pair.row, rows_);
        const Range J = block_range(pair.col, cols_);
        Matrix weights = W.block(I.begin, J.begin, I.count, J.count);
        // A tile above the diagonal stands for its mirror image too.
        if (symmetric_ && pair.row != pair.col) weights += W.block(J.begin, I.begin, J.count, I.count).transpose();
        kernel.add_gradient(I, J, {weights.data(), I.count, J.count, J.count},
                            {parts.row(number).data(), static_cast<std::size_t>(parameters)});
        stage.advance(1);
      });
    });
    return parts.colwise().sum().transpose();
  }

 protected:
  // The entries of I x J: in place where they are stored, else made in `memory`, which holds one tile.
  virtual Tile<const T> tile_at(Range I, Range J, T* memory) const = 0;

  // out = K V row block by row block, every tile of the row made (or read) once.
  Matrix apply_by_rows(const MatrixRef& V) const {
    const RowMatrix<T> v = cast_to<T>(V);
    Matrix out = Matrix::Zero(rows_, V.cols());
    run_tasks("K V", block_count(rows_), all_tiles(), [&](Index a, Stage& stage) {
      TileMemory<T> memory;
      const Range I = block_range(a, rows_);
      for (Index b = 0; b < block_count(cols_); ++b) {
        const Range J = block_range(b, cols_);
        const Tile<const T> tile = tile_at(I, J, memory.data());
        add_product(false, I.count, v.cols(), J.count, tile.data, tile.stride, v.data() + J.begin * v.cols(), v.cols(),
                    out.data() + I.begin * out.cols(), out.cols());
        stage.advance(1);
      }
    });
    return out;
  }

  // Runs body(i, stage) for i < count; the body advances the stage once per tile, so that cancelling takes no longer than a tile.
  void run_tasks(const char* name, Index count, double tiles, const std::function<void(Index, Stage&)>& body) const {
    with_run(run_, [&] {
      Stage stage(run_.progress, name, tiles);
      parallel_for(count, [&](Index i) { body(i, stage); });
    });
  }

  double all_tiles() const { return static_cast<double>(block_count(rows_)) * static_cast<double>(block_count(cols_)); }

  Index rows_;
  Index cols_;
  bool symmetric_;
  Run run_;
  Bound bound_;
};

template <class T>
class StoredGram final : public GramBase<T> {
 public:
  StoredGram(const PreparedKernel<T>& kernel, Bound bound, const Run& run)
      : GramBase<T>(std::move(bound), kernel.symmetric(), run),
        entries_(std::make_shared<Buffer<T>>(static_cast<std::size_t>(kernel.rows()) * static_cast<std::size_t>(kernel.cols()))) {
    fill_full(kernel, entries_->data(), kernel.cols(), run.progress);
  }

  Vector diagonal() const override {
    Vector out(std::min(this->rows_, this->cols_));
    for (Index i = 0; i < out.size(); ++i) out[i] = static_cast<double>(entry(i, i));
    return out;
  }
  Matrix block(std::span<const Index> I, std::span<const Index> J) const override {
    Matrix out(static_cast<Index>(I.size()), static_cast<Index>(J.size()));
    for (const Index j : J) check(j, this->cols_);
    for (std::size_t i = 0; i < I.size(); ++i) {
      check(I[i], this->rows_);
      for (std::size_t j = 0; j < J.size(); ++j) out(static_cast<Index>(i), static_cast<Index>(j)) = static_cast<double>(entry(I[i], J[j]));
    }
    return out;
  }
  RowBlock row_block(Index first, Index count) const override {
    if (first < 0 || count < 0 || first + count > this->rows_)
      throw InvalidArgument(fmt::format("rows {} to {} do not exist", first, first + count - 1));
    return {entries_->data() + first * this->cols_, this->cols_, entries_};
  }
  Matrix apply(const MatrixRef& V) const override {
    linalg::require_rows("V", V.rows(), this->cols_);
    return this->apply_by_rows(V);
  }
  std::string describe() const override {
    return fmt::format("{} x {} in {}, stored ({})", this->rows_, this->cols_, name_of(precision_of<T>),
                       format_bytes(static_cast<double>(entries_->size() * sizeof(T))));
  }

 protected:
  Tile<const T> tile_at(Range I, Range J, T* /*memory*/) const override {
    return {entries_->data() + I.begin * this->cols_ + J.begin, I.count, J.count, this->cols_};
  }

 private:
  const T& entry(Index i, Index j) const { return (*entries_)[static_cast<std::size_t>(i * this->cols_ + j)]; }
  static void check(Index i, Index n) {
    if (i < 0 || i >= n) throw InvalidArgument(fmt::format("index {} does not exist: the operator has {}", i, n));
  }

  std::shared_ptr<Buffer<T>> entries_;
};

template <class T>
class StreamedGram final : public GramBase<T> {
 public:
  StreamedGram(PreparedKernel<T> kernel, Bound bound, const Run& run)
      : GramBase<T>(std::move(bound), kernel.symmetric(), run), kernel_(std::move(kernel)) {}

  Vector diagonal() const override {
    if (this->symmetric_) return kernel_.diagonal();
    throw NotOffered("the diagonal of a streamed cross-Gram matrix is not offered: store it, or use one sample set");
  }
  Matrix block(std::span<const Index>, std::span<const Index>) const override {
    throw NotOffered("blocks of a streamed Gram matrix are not offered: use stored storage (a larger memory budget, or float32)");
  }
  RowBlock row_block(Index, Index) const override {
    throw NotOffered("rows of a streamed Gram matrix are not offered: use stored storage (a larger memory budget, or float32)");
  }

  Matrix apply(const MatrixRef& V) const override {
    linalg::require_rows("V", V.rows(), this->cols_);
    return this->symmetric_ ? apply_symmetric(V) : this->apply_by_rows(V);
  }

  Matrix apply_normal(const MatrixRef& V, const VectorRef& weights) const override {
    if (this->cols_ > widest_panel) return LinearOperator::apply_normal(V, weights);
    linalg::require_rows("V", V.rows(), this->cols_);
    if (weights.size() != 0 && weights.size() != this->rows_) {
      throw InvalidArgument(fmt::format("{} weights for {} rows", weights.size(), this->rows_));
    }
    const Index k = V.cols();
    const Index blocks = block_count(this->rows_);
    const Index parts = partial_sums(this->cols_ * k, blocks);
    const RowMatrix<T> v = cast_to<T>(V);
    std::vector<Matrix> sums(static_cast<std::size_t>(parts));
    this->run_tasks("K' K V", parts, this->all_tiles(), [&](Index part, Stage& stage) {
      Matrix& sum = sums[static_cast<std::size_t>(part)];
      sum = Matrix::Zero(this->cols_, k);
      Buffer<T> panel(static_cast<std::size_t>(tile_size * this->cols_));
      for (Index a = part * blocks / parts; a < (part + 1) * blocks / parts; ++a)
        add_normal(block_range(a, this->rows_), v, weights, panel.data(), sum, stage);
    });
    for (std::size_t p = 1; p < sums.size(); ++p) sums[0] += sums[p];
    return sums[0];
  }

  std::string describe() const override {
    return fmt::format("{} x {} in {}, streamed", this->rows_, this->cols_, name_of(precision_of<T>));
  }

 protected:
  Tile<const T> tile_at(Range I, Range J, T* memory) const override {
    const Tile<T> tile{memory, I.count, J.count, J.count};
    kernel_.tile(I, J, tile);
    return {tile.data, tile.rows, tile.cols, tile.stride};
  }

 private:
  // Every tile above the diagonal serves twice: as K_IJ for rows I and as its transpose for rows J.
  Matrix apply_symmetric(const MatrixRef& V) const {
    const Index n = this->rows_;
    const Index k = V.cols();
    const Index blocks = block_count(n);
    const Index tiles = upper_count(blocks);
    const Index parts = partial_sums(n * k, tiles);
    const RowMatrix<T> v = cast_to<T>(V);
    std::vector<Matrix> sums(static_cast<std::size_t>(parts));
    this->run_tasks("K V", parts, static_cast<double>(tiles), [&](Index part, Stage& stage) {
      TileMemory<T> memory;
      Matrix& sum = sums[static_cast<std::size_t>(part)];
      sum = Matrix::Zero(n, k);
      for (Index number = part * tiles / parts; number < (part + 1) * tiles / parts; ++number) {
        const BlockPair pair = upper_pair(number, blocks);
        const Range I = block_range(pair.row, n);
        const Range J = block_range(pair.col, n);
        const Tile<const T> tile = tile_at(I, J, memory.data());
        add_product(false, I.count, k, J.count, tile.data, tile.stride, v.data() + J.begin * k, k, sum.data() + I.begin * k, k);
        if (pair.row != pair.col) {
          add_product(true, J.count, k, I.count, tile.data, tile.stride, v.data() + I.begin * k, k, sum.data() + J.begin * k, k);
        }
        stage.advance(1);
      }
    });
    for (std::size_t p = 1; p < sums.size(); ++p) sums[0] += sums[p];
    return sums[0];
  }

  // sum += K_I' diag(w_I) K_I V with the whole row panel K_I made once.
  void add_normal(Range I, const RowMatrix<T>& v, const VectorRef& weights, T* panel, Matrix& sum, Stage& stage) const {
    const Index k = v.cols();
    Matrix image = Matrix::Zero(I.count, k);
    for (Index b = 0; b < block_count(this->cols_); ++b) {
      const Range J = block_range(b, this->cols_);
      const Tile<T> tile{panel + J.begin, I.count, J.count, this->cols_};
      kernel_.tile(I, J, tile);
      add_product(false, I.count, k, J.count, static_cast<const T*>(tile.data), tile.stride, v.data() + J.begin * k, k, image.data(), k);
      stage.advance(1);
    }
    if (weights.size() > 0) image.array().colwise() *= weights.segment(I.begin, I.count).array();
    const RowMatrix<T> u = image.cast<T>();
    for (Index b = 0; b < block_count(this->cols_); ++b) {
      const Range J = block_range(b, this->cols_);
      add_product(true, J.count, k, I.count, static_cast<const T*>(panel + J.begin), this->cols_, u.data(), k, sum.data() + J.begin * k, k);
    }
  }

  PreparedKernel<T> kernel_;
};

template <class T>
Operator make_operator(const Kernel& kernel, const Samples& X, const Samples& Y, const GramOptions& options) {
  const std::size_t bytes = static_cast<std::size_t>(X.size()) * static_cast<std::size_t>(Y.size()) * sizeof(T);
  bool stored = options.storage == Storage::stored;
  if (stored) {
    require_memory(bytes, options.run.memory, fmt::format("the {} x {} Gram matrix in {}", X.size(), Y.size(), name_of(precision_of<T>)),
                   sizeof(T) == 8 ? "use float32, streamed storage or fewer rows" : "use streamed storage or fewer rows");
  } else if (options.storage == Storage::automatic) {
    stored = bytes <= memory_budget(options.run.memory);
  }
  Operator made;
  with_run(options.run, [&] {
    Bound bound{resolve(kernel, Y), X, Y};
    PreparedKernel<T> prepared(bound.kernel, X, Y);
    if (stored) {
      made = std::make_shared<StoredGram<T>>(prepared, std::move(bound), options.run);
    } else {
      made = std::make_shared<StreamedGram<T>>(std::move(prepared), std::move(bound), options.run);
    }
  });
  return made;
}

}  // namespace

Operator gram_operator(const Kernel& kernel, const Samples& X, const Samples& Y, const GramOptions& options) {
  const Precision precision = options.precision.value_or(
      X.precision() == Precision::float32 && Y.precision() == Precision::float32 ? Precision::float32 : Precision::float64);
  return precision == Precision::float32 ? make_operator<float>(kernel, X, Y, options) : make_operator<double>(kernel, X, Y, options);
}

Operator gram_operator(const Kernel& kernel, const Samples& X, const GramOptions& options) { return gram_operator(kernel, X, X, options); }

}  // namespace mercer
