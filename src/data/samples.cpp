// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "mercer/error.hpp"
#include "mercer/objects.hpp"

namespace mercer {

namespace {

template <class Rows>
inline constexpr bool is_dense = std::is_same_v<Rows, DenseRows<typename Rows::Scalar>>;

template <class T>
struct OwnedCsr {
  std::vector<T> values;
  std::vector<std::int32_t> columns;
  std::vector<std::int64_t> offsets{0};

  CsrRows<T> rows(Index cols) const {
    return {values.data(), columns.data(), offsets.data(), static_cast<Index>(offsets.size()) - 1, cols};
  }
};

template <class T>
Samples own_dense(RowMatrix<T> dense) {
  auto owner = std::make_shared<const RowMatrix<T>>(std::move(dense));
  const DenseRows<T> rows{owner->data(), owner->rows(), owner->cols(), owner->cols()};
  return Samples::borrow(rows, std::move(owner));
}

template <class T>
Samples copy_csr(const CsrMatrix<T>& sparse) {
  auto owner = std::make_shared<OwnedCsr<T>>();
  owner->values.reserve(static_cast<std::size_t>(sparse.nonZeros()));
  owner->columns.reserve(static_cast<std::size_t>(sparse.nonZeros()));
  for (Index i = 0; i < sparse.outerSize(); ++i) {
    for (typename CsrMatrix<T>::InnerIterator it(sparse, i); it; ++it) {
      owner->values.push_back(it.value());
      owner->columns.push_back(static_cast<std::int32_t>(it.col()));
    }
    owner->offsets.push_back(static_cast<std::int64_t>(owner->values.size()));
  }
  const CsrRows<T> rows = owner->rows(sparse.cols());
  return Samples::borrow(rows, std::move(owner));
}

template <class T>
Samples subset_of(const DenseRows<T>& all, std::span<const Index> picked) {
  RowMatrix<T> out(static_cast<Index>(picked.size()), all.cols);
  for (std::size_t i = 0; i < picked.size(); ++i) std::copy_n(all.row(picked[i]), all.cols, out.data() + static_cast<Index>(i) * all.cols);
  return own_dense<T>(std::move(out));
}

template <class T>
Samples subset_of(const CsrRows<T>& all, std::span<const Index> picked) {
  auto owner = std::make_shared<OwnedCsr<T>>();
  for (const Index i : picked) {
    owner->values.insert(owner->values.end(), all.values + all.begin(i), all.values + all.end(i));
    owner->columns.insert(owner->columns.end(), all.columns + all.begin(i), all.columns + all.end(i));
    owner->offsets.push_back(static_cast<std::int64_t>(owner->values.size()));
  }
  const CsrRows<T> rows = owner->rows(all.cols);
  return Samples::borrow(rows, std::move(owner));
}

template <class T>
Samples columns_of(const DenseRows<T>& all, const std::vector<Index>& picked) {
  RowMatrix<T> out(all.rows, std::ssize(picked));
  for (Index i = 0; i < all.rows; ++i) {
    for (Index j = 0; j < out.cols(); ++j) out(i, j) = all.row(i)[picked[static_cast<std::size_t>(j)]];
  }
  return own_dense<T>(std::move(out));
}

template <class T>
Samples columns_of(const CsrRows<T>& all, const std::vector<Index>& picked) {
  std::vector<Index> place(static_cast<std::size_t>(all.cols), -1);
  for (std::size_t j = 0; j < picked.size(); ++j) place[static_cast<std::size_t>(picked[j])] = static_cast<Index>(j);
  auto owner = std::make_shared<OwnedCsr<T>>();
  std::vector<std::pair<Index, T>> row;
  for (Index i = 0; i < all.rows; ++i) {
    row.clear();
    for (Index p = all.begin(i); p < all.end(i); ++p) {
      const Index j = place[static_cast<std::size_t>(all.columns[p])];
      if (j >= 0 && all.values[p] != 0) row.emplace_back(j, all.values[p]);
    }
    std::sort(row.begin(), row.end());
    for (const auto& [j, value] : row) {
      owner->columns.push_back(static_cast<std::int32_t>(j));
      owner->values.push_back(value);
    }
    owner->offsets.push_back(static_cast<std::int64_t>(owner->values.size()));
  }
  const CsrRows<T> rows = owner->rows(std::ssize(picked));
  return Samples::borrow(rows, std::move(owner));
}

template <class T>
Samples join_dense(const Samples& a, const Samples& b) {
  RowMatrix<T> out(a.size() + b.size(), a.width());
  Index next = 0;
  for (const Samples* part : {&a, &b}) {
    std::visit(
        [&]<class Rows>(const Rows& rows) {
          if constexpr (is_dense<Rows>) {
            for (Index i = 0; i < rows.rows; ++i, ++next) std::copy_n(rows.row(i), rows.cols, out.data() + next * rows.cols);
          }
        },
        part->storage());
  }
  return own_dense<T>(std::move(out));
}

template <class T>
Samples join_csr(const Samples& a, const Samples& b) {
  auto owner = std::make_shared<OwnedCsr<T>>();
  for (const Samples* part : {&a, &b}) {
    std::visit(
        [&]<class Rows>(const Rows& rows) {
          for (Index i = 0; i < rows.rows; ++i) {
            if constexpr (is_dense<Rows>) {
              for (Index j = 0; j < rows.cols; ++j) {
                if (rows.row(i)[j] == 0) continue;
                owner->values.push_back(static_cast<T>(rows.row(i)[j]));
                owner->columns.push_back(static_cast<std::int32_t>(j));
              }
            } else {
              owner->values.insert(owner->values.end(), rows.values + rows.begin(i), rows.values + rows.end(i));
              owner->columns.insert(owner->columns.end(), rows.columns + rows.begin(i), rows.columns + rows.end(i));
            }
            owner->offsets.push_back(static_cast<std::int64_t>(owner->values.size()));
          }
        },
        part->storage());
  }
  const CsrRows<T> rows = owner->rows(a.width());
  return Samples::borrow(rows, std::move(owner));
}

std::shared_ptr<const ObjectRows> with_ids(const ObjectRows& rows, std::vector<Index> ids) {
  ObjectRows out{rows.columns, rows.places, std::make_shared<const std::vector<Index>>(std::move(ids)), {}};
  out.ids = *out.all_ids;
  return std::make_shared<const ObjectRows>(std::move(out));
}

template <class T>
const char* non_finite_word(T value) {
  return std::isnan(value) ? "NaN" : "infinite value";
}

[[noreturn]] void throw_non_finite(std::string_view name, const char* word, Index row, Index col) {
  throw InvalidArgument(fmt::format("{} has {} {} in row {}, column {} (counting from 0); remove the row or fill the value in", name,
                                    word[0] == 'N' ? "a" : "an", word, row, col));
}

}  // namespace

Samples::Samples(const CsrMatrix<double>& sparse) : Samples(copy_csr(sparse)) {}
Samples::Samples(const CsrMatrix<float>& sparse) : Samples(copy_csr(sparse)) {}
Samples Samples::own(Matrix dense) { return own_dense<double>(std::move(dense)); }
Samples Samples::own(MatrixF dense) { return own_dense<float>(std::move(dense)); }

Samples Samples::borrow(Storage rows, std::shared_ptr<const void> owner) {
  Samples samples;
  samples.storage_ = rows;
  samples.owner_ = std::move(owner);
  return samples;
}

Index Samples::size() const {
  return std::visit([](const auto& rows) { return rows.rows; }, storage_);
}

Samples Samples::given(const Samples& rows, Given about) {
  Samples out = rows;
  out.given_ = std::make_shared<const Given>(std::move(about));
  return out;
}

namespace {

// Rows of kernel values as dense float64.
Samples values_of(Samples K) {
  if (K.is_sparse() || K.precision() != Precision::float64) K = Samples::own(K.to_dense());
  require_finite(K, "the Gram matrix");
  return K;
}

void require_symmetric(const DenseRows<double>& K) {
  for (Index i = 0; i < K.rows; ++i) {
    for (Index j = 0; j < i; ++j) {
      const double a = K.row(i)[j];
      const double b = K.row(j)[i];
      if (std::abs(a - b) > 1e-6 * std::max({std::abs(a), std::abs(b), std::abs(K.row(i)[i]), std::abs(K.row(j)[j])}))
        throw InvalidArgument(
            fmt::format("the given Gram matrix is not symmetric: K({0}, {1}) = {2} but K({1}, {0}) = {3}; give (K + K')/2 if "
                        "that is meant",
                        i, j, a, b));
    }
  }
}

}  // namespace

Samples Samples::given_gram(Samples K) {
  if (K.size() != K.width() || K.empty())
    throw InvalidArgument(
        fmt::format("a given Gram matrix is square, one row and one column per object, got {} x {}", K.size(), K.width()));
  Given about{K.size(), std::vector<Index>(static_cast<std::size_t>(K.size()))};
  std::iota(about.ids.begin(), about.ids.end(), Index{0});
  K = values_of(std::move(K));
  require_symmetric(std::get<DenseRows<double>>(K.storage()));
  return given(K, std::move(about));
}

Samples Samples::given_rows(Samples K_new) {
  if (K_new.width() == 0) throw InvalidArgument("given rows need a column per object of the Gram matrix, got none");
  Given about{K_new.width(), std::vector<Index>(static_cast<std::size_t>(K_new.size()), Index{-1})};
  return given(values_of(std::move(K_new)), std::move(about));
}

std::span<const Index> Samples::given_ids() const {
  if (given_ == nullptr) return {};
  return given_->ids;
}

Samples Samples::given_part(Samples rows, std::vector<Index> ids) {
  const Index objects = rows.width();
  const auto known = [&](Index id) { return id >= -1 && id < objects; };
  if (std::ssize(ids) != rows.size() || !std::all_of(ids.begin(), ids.end(), known))
    throw InvalidArgument(fmt::format("{} ids for {} rows of kernel values against {} objects: give one below {} for each", ids.size(),
                                      rows.size(), objects, objects));
  return given(values_of(std::move(rows)), {objects, std::move(ids)});
}

Samples Samples::given_objects(Index objects, std::vector<Index> ids) {
  const Samples rows = borrow(DenseRows<double>{nullptr, std::ssize(ids), 0, 0}, nullptr);
  return given(rows, {objects, std::move(ids)});
}

Samples Samples::without_values() const {
  if (given_ == nullptr) return *this;
  return given_objects(given_->objects, given_->ids);
}

Index Samples::width() const {
  if (given_ != nullptr) return given_->objects;
  const Index numbers = std::visit([](const auto& rows) { return rows.cols; }, storage_);
  return numbers + (objects_ == nullptr ? 0 : std::ssize(objects_->columns));
}

Precision Samples::precision() const {
  return std::visit([](const auto& rows) { return precision_of<typename std::decay_t<decltype(rows)>::Scalar>; }, storage_);
}

Samples Samples::subset(std::span<const Index> picked) const {
  for (const Index i : picked) {
    if (i < 0 || i >= size()) throw InvalidArgument(fmt::format("row {} does not exist: there are {} rows", i, size()));
  }
  Samples part = std::visit([&](const auto& rows) { return subset_of(rows, picked); }, storage_);
  if (objects_ != nullptr) {
    std::vector<Index> ids;
    ids.reserve(picked.size());
    for (const Index i : picked) ids.push_back(objects_->ids[static_cast<std::size_t>(i)]);
    part.objects_ = with_ids(*objects_, std::move(ids));
  }
  if (given_ == nullptr) return part;
  Given about{given_->objects, {}};
  for (const Index i : picked) about.ids.push_back(given_->ids[static_cast<std::size_t>(i)]);
  return given(part, std::move(about));
}

Samples Samples::slice(Index begin, Index count) const {
  if (begin < 0 || count < 0 || begin > size() || count > size() - begin) {
    throw InvalidArgument(fmt::format("{} rows from row {} do not exist: there are {} rows", count, begin, size()));
  }
  Storage part = std::visit(
      [&](auto rows) -> Storage {
        if constexpr (is_dense<decltype(rows)>) {
          rows.data += begin * rows.stride;
        } else {
          rows.offsets += begin;
        }
        rows.rows = count;
        return rows;
      },
      storage_);
  Samples rows = borrow(part, owner_);
  if (objects_ != nullptr) {
    ObjectRows shown = *objects_;
    shown.ids = shown.ids.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
    rows.objects_ = std::make_shared<const ObjectRows>(std::move(shown));
  }
  if (given_ == nullptr) return rows;
  const auto first = given_->ids.begin() + begin;
  return given(rows, {given_->objects, {first, first + count}});
}

Samples Samples::number_columns(const std::vector<Index>& picked) const {
  return std::visit([&](const auto& rows) { return columns_of(rows, picked); }, storage_);
}

Matrix Samples::to_dense() const {
  if (objects_ != nullptr)
    throw InvalidArgument(
        fmt::format("samples that hold {} are no matrix of numbers: this looks at numbers alone", name_of(objects_->columns[0]->kind())));
  return std::visit(
      [&](const auto& rows) {
        Matrix out = Matrix::Zero(rows.rows, rows.cols);
        for (Index i = 0; i < rows.rows; ++i) {
          if constexpr (is_dense<std::decay_t<decltype(rows)>>) {
            for (Index j = 0; j < rows.cols; ++j) out(i, j) = static_cast<double>(rows.row(i)[j]);
          } else {
            for (Index p = rows.begin(i); p < rows.end(i); ++p) out(i, rows.columns[p]) += static_cast<double>(rows.values[p]);
          }
        }
        return out;
      },
      storage_);
}

bool Samples::same_rows(const Samples& other) const {
  if (storage_.index() != other.storage_.index() || size() != other.size() || width() != other.width()) return false;
  if ((given_ == nullptr) != (other.given_ == nullptr) || (given_ != nullptr && given_->ids != other.given_->ids)) return false;
  if ((objects_ == nullptr) != (other.objects_ == nullptr)) return false;
  if (objects_ != nullptr) {
    const bool same = objects_->ids.data() == other.objects_->ids.data() && objects_->columns == other.objects_->columns;
    if (!same || width() == std::ssize(objects_->columns)) return same;  // without numbers there is no more to compare
  }
  return std::visit(
      [&](const auto& mine) {
        const auto& theirs = std::get<std::decay_t<decltype(mine)>>(other.storage_);
        if constexpr (is_dense<std::decay_t<decltype(mine)>>) {
          return mine.data == theirs.data && mine.stride == theirs.stride;
        } else {
          return mine.values == theirs.values && mine.offsets == theirs.offsets && mine.columns == theirs.columns;
        }
      },
      storage_);
}

void Samples::for_each_chunk(Index rows, const std::function<void(const Samples&, Index)>& visit) const {
  if (rows < 1) throw InvalidArgument(fmt::format("a chunk must have at least 1 row, got {}", rows));
  for (Index first = 0; first < size(); first += rows) visit(slice(first, std::min(rows, size() - first)), first);
}

Samples concatenate(const Samples& a, const Samples& b) {
  if (a.width() != b.width()) throw InvalidArgument(fmt::format("rows of {} and of {} columns cannot be joined", a.width(), b.width()));
  if (a.is_given() != b.is_given()) throw InvalidArgument("objects of a given Gram matrix and rows of numbers cannot be joined");
  if (a.has_objects() || b.has_objects()) return join_records(a, b);
  if (a.is_given()) {
    Samples::Given about = *a.given_;
    about.ids.insert(about.ids.end(), b.given_->ids.begin(), b.given_->ids.end());
    const auto has_values = [](const Samples& s) { return std::get<DenseRows<double>>(s.storage()).cols == s.width(); };
    if (!has_values(a) || !has_values(b)) return Samples::given_objects(about.objects, std::move(about.ids));
    return Samples::given(join_dense<double>(a, b), std::move(about));
  }
  const bool single = a.precision() == Precision::float32 && b.precision() == Precision::float32;
  if (a.is_sparse() || b.is_sparse()) return single ? join_csr<float>(a, b) : join_csr<double>(a, b);
  return single ? join_dense<float>(a, b) : join_dense<double>(a, b);
}

void require_finite(const Samples& X, std::string_view name) {
  // Where a column of numbers stands among all columns of a record.
  const auto place = [&](Index column) {
    if (!X.has_objects()) return column;
    for (const Index object : X.object_rows().places) column += object <= column ? 1 : 0;
    return column;
  };
  std::visit(
      [&](const auto& rows) {
        for (Index i = 0; i < rows.rows; ++i) {
          if constexpr (is_dense<std::decay_t<decltype(rows)>>) {
            for (Index j = 0; j < rows.cols; ++j) {
              if (!std::isfinite(rows.row(i)[j])) throw_non_finite(name, non_finite_word(rows.row(i)[j]), i, place(j));
            }
          } else {
            for (Index p = rows.begin(i); p < rows.end(i); ++p) {
              if (!std::isfinite(rows.values[p])) throw_non_finite(name, non_finite_word(rows.values[p]), i, place(rows.columns[p]));
            }
          }
        }
      },
      X.storage());
}

void require_finite(const MatrixRef& values, std::string_view name) {
  for (Index i = 0; i < values.rows(); ++i) {
    for (Index j = 0; j < values.cols(); ++j) {
      if (!std::isfinite(values(i, j))) throw_non_finite(name, non_finite_word(values(i, j)), i, j);
    }
  }
}

}  // namespace mercer
