// Samples: one value handle over whatever a kernel can look at: dense rows and CSR rows, in float32 or float64; strings, sets and graphs,
// alone or as columns of records beside numbers (objects.hpp); and objects known only by a given Gram matrix. Copying a handle shares the
// rows; rows never change.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "mercer/matrix.hpp"

namespace mercer {

template <class T>
struct DenseRows {
  using Scalar = T;
  const T* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;  // elements from one row to the next

  const T* row(Index i) const { return data + i * stride; }
};

template <class T>
struct CsrRows {
  using Scalar = T;
  const T* values = nullptr;
  const std::int32_t* columns = nullptr;  // ascending within a row
  const std::int64_t* offsets = nullptr;  // rows + 1 of them, into values and columns; offsets[0] need not be 0
  Index rows = 0;
  Index cols = 0;

  Index begin(Index i) const { return offsets[i]; }
  Index end(Index i) const { return offsets[i + 1]; }
  Index nonzeros() const { return rows == 0 ? 0 : offsets[rows] - offsets[0]; }
};

struct Graph;         // objects.hpp
struct ObjectColumn;  // objects.hpp
struct ObjectRows;    // objects.hpp

class Samples {
 public:
  using Storage = std::variant<DenseRows<double>, DenseRows<float>, CsrRows<double>, CsrRows<float>>;

  Samples() = default;

  // From Eigen: copies once; float stays float, everything else becomes double. A row vector is one sample, a column vector n samples of
  // one number.
  // NOLINTBEGIN(google-explicit-constructor)
  template <class Derived>
  Samples(const Eigen::MatrixBase<Derived>& dense)
      : Samples(own(RowMatrix<StoredScalar<Derived>>(dense.template cast<StoredScalar<Derived>>()))) {}
  Samples(Matrix&& dense) : Samples(own(std::move(dense))) {}
  Samples(const CsrMatrix<double>& sparse);
  Samples(const CsrMatrix<float>& sparse);
  // NOLINTEND(google-explicit-constructor)

  // Views of rows that live elsewhere; `owner` keeps them alive (nullptr: the caller does). CSR rows must have ascending columns.
  static Samples borrow(Storage rows, std::shared_ptr<const void> owner);
  static Samples own(Matrix dense);
  static Samples own(MatrixF dense);

  // n objects known by their Gram matrix K (n x n): the kernel `precomputed` looks its entries up. New objects come as rows of k(new,
  // object) against the same n. Subsets of either keep knowing which objects they are, so folds and pairs of classes need no care.
  static Samples given_gram(Samples K);
  static Samples given_rows(Samples K_new);
  static Samples given_objects(Index objects, std::vector<Index> ids);  // without kernel values
  static Samples given_part(Samples rows, std::vector<Index> ids);      // rows of kernel values of the objects with these ids

  // Objects, one a sample: UTF-8 strings, sets, graphs. Sets are rows or objects one after the other, offsets[i] to offsets[i + 1] being
  // those of set i. Throws InvalidArgument naming the first object that is not as objects.hpp has it.
  static Samples strings(std::vector<std::string> values);
  static Samples sets(Samples elements, std::vector<Index> offsets);
  static Samples sets(const std::vector<Matrix>& sets);                          // of rows of numbers
  static Samples token_bags(const std::vector<std::vector<std::string>>& bags);  // sets of strings
  static Samples graphs(std::vector<Graph> values);
  static Samples objects(ObjectColumn column);
  // The columns of all parts side by side, numbers and objects, in that order.
  static Samples records(const std::vector<Samples>& parts);

  Index size() const;   // number of samples
  Index width() const;  // number of columns, of numbers and of objects; of a given Gram matrix, the number of its objects
  // Some column holds objects. The storage below has the columns of numbers alone.
  bool has_objects() const { return objects_ != nullptr; }
  const ObjectRows& object_rows() const { return *objects_; }
  Samples numbers() const;                               // the columns of numbers alone
  Samples with_numbers(Samples numbers) const;           // the same objects beside other numbers, as many columns of them
  Samples columns(std::span<const Index> picked) const;  // of numbers and of objects, in that order; copies numbers
  bool empty() const { return size() == 0; }
  bool is_given() const { return given_ != nullptr; }
  // Which object of the given Gram matrix each sample is, -1 for a new one.
  std::span<const Index> given_ids() const;
  // The same objects without their rows of kernel values: what a model keeps to be met by new rows.
  Samples without_values() const;
  bool is_sparse() const { return storage_.index() >= 2; }
  Precision precision() const;

  Samples subset(std::span<const Index> rows) const;  // copies those rows, in that order
  Samples slice(Index begin, Index count) const;      // shares the rows
  Matrix to_dense() const;

  // The same rows in the same memory: how an operator knows that both of its sides are one sample set.
  bool same_rows(const Samples& other) const;

  // Calls visit(chunk, first_row) for consecutive chunks of at most `rows` samples, in order.
  void for_each_chunk(Index rows, const std::function<void(const Samples&, Index)>& visit) const;

  const Storage& storage() const { return storage_; }

  friend Samples concatenate(const Samples& a, const Samples& b);
  friend Samples join_records(const Samples& a, const Samples& b);

 private:
  template <class Derived>
  using StoredScalar = std::conditional_t<std::is_same_v<typename Derived::Scalar, float>, float, double>;

  struct Given {
    Index objects = 0;
    std::vector<Index> ids;
  };
  static Samples given(const Samples& rows, Given about);
  static Samples assembled(const Samples& numbers, ObjectRows objects);
  Samples number_columns(const std::vector<Index>& picked) const;  // of the storage

  Storage storage_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const Given> given_;
  std::shared_ptr<const ObjectRows> objects_;
};

// The same of records, or objects, whose columns must be alike (concatenate does it by itself).
Samples join_records(const Samples& a, const Samples& b);

// The rows of a, then those of b, copied: float64 if either is, sparse if either is (dense rows are then stored without their zeros).
Samples concatenate(const Samples& a, const Samples& b);

// Throws InvalidArgument naming the first NaN or infinite value by row and column ("X has a NaN in row 3, column 5").
void require_finite(const Samples& X, std::string_view name);
void require_finite(const MatrixRef& values, std::string_view name);
// Any other Eigen expression: without this, a matrix would convert to either of the above.
template <class Derived>
void require_finite(const Eigen::MatrixBase<Derived>& values, std::string_view name) {
  if constexpr (std::is_same_v<typename Derived::Scalar, double>) {
    require_finite(MatrixRef(values.derived()), name);  // copies only what is not rows of doubles already
  } else {
    require_finite(Matrix(values.template cast<double>()), name);
  }
}

}  // namespace mercer
