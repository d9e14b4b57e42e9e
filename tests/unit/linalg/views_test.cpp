// Every view, over a stored and a streamed base, in both precisions, against the plain matrix that it stands for.
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "unit/core/support.hpp"
#include "unit/linalg/operators.hpp"

namespace mercer {
namespace {

using testing::message_of;

const std::vector<Index> sizes{0, 1, 2, 7, 256, 257, 520};

// H K H by its definition, one sum at a time.
Matrix centred_matrix(const Matrix& K) {
  const Index n = K.rows();
  const Vector row_sums = K.rowwise().sum();
  Matrix out = K;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      out(i, j) -= (row_sums[i] + row_sums[j]) / static_cast<double>(n) - row_sums.sum() / static_cast<double>(n * n);
    }
  }
  return out;
}

Matrix doubled_matrix(const Matrix& K) {
  Matrix out(2 * K.rows(), 2 * K.cols());
  out << K, -K, -K, K;
  return out;
}

std::vector<Index> every(Index step, Index n) {
  std::vector<Index> out;
  for (Index i = n - 1; i >= 0; i -= step) out.push_back(i);
  if (n > 1) out.push_back(1), out.push_back(1);  // twice: bootstrap samples do that
  return out;
}

TEST(DenseOperator, AnswersLikeItsMatrix) {
  for (const Index n : sizes) {
    const Matrix K = random_symmetric(n);
    expect_operator(*dense_operator(K), K, true);
  }
  for (const auto& [rows, cols] : {std::pair<Index, Index>{1, 300}, {300, 1}, {257, 255}, {520, 10}, {0, 4}, {4, 0}, {5, 5}}) {
    const Matrix K = random_matrix(rows, cols);
    expect_operator(*dense_operator(K), K, false);
  }
}

TEST(DenseOperator, LendsItsRows) {
  RowBlock rows;
  const Matrix K = random_matrix(9, 4);
  {
    const Operator op = dense_operator(K);
    rows = op->row_block(2, 3);
    EXPECT_EQ(std::get<const double*>(op->row_block(0, 9).values) + 2 * rows.stride, std::get<const double*>(rows.values)) << "copied";
  }
  expect_near(values_of(rows, 3, 4), K.middleRows(2, 3), 0, "rows outlive the operator");
}

TEST(DenseOperator, RefusesNumbersThatAreNone) {
  Matrix K = random_matrix(3, 3);
  K(1, 2) = std::nan("");
  EXPECT_EQ(message_of([&] { dense_operator(K); }), "entry (1, 2) of a matrix used as an operator must be a finite number, got nan");
}

TEST(DenseOperator, SaysWhatItIs) {
  EXPECT_EQ(dense_operator(Matrix::Zero(1000, 500))->describe(), "1000 x 500 in float64, stored (4 MB)");
}

class Views : public ::testing::Test {
 protected:
  // Calls check(base, its matrix, offers entries) with every kind of base.
  static void for_bases(const Matrix& K, const std::function<void(Operator, const Matrix&, bool)>& check) {
    check(dense_operator(K), K, true);
    check(std::make_shared<StreamedTwin<double>>(K), K, false);
    const Matrix rounded = K.cast<float>().cast<double>();
    check(std::make_shared<FloatTwin>(K), rounded, true);
    check(std::make_shared<StreamedTwin<float>>(K), rounded, false);
  }
};

TEST_F(Views, Centred) {
  for (const Index n : sizes) {
    for_bases(random_symmetric(n) + Matrix::Constant(n, n, 3),
              [&](const Operator& op, const Matrix& K, bool entries) { expect_operator(*centred(op), centred_matrix(K), true, entries); });
  }
}

TEST_F(Views, Scaled) {
  for (const Index n : sizes) {
    const Vector l = random_matrix(n, 1, 2).col(0);
    const Vector r = random_matrix(n, 1, 3).col(0);
    for_bases(random_symmetric(n), [&](const Operator& op, const Matrix& K, bool entries) {
      expect_operator(*signed_by(op, l), l.asDiagonal() * K * l.asDiagonal(), true, entries);
      // A symmetric base gives its upper half only; this view needs the lower one too.
      expect_operator(*scaled_by(op, l, r), l.asDiagonal() * K * r.asDiagonal(), n == 0, entries);
    });
  }
  const Vector l = random_matrix(130, 1, 2).col(0);
  const Vector r = random_matrix(270, 1, 3).col(0);
  for_bases(random_matrix(130, 270), [&](const Operator& op, const Matrix& K, bool entries) {
    expect_operator(*scaled_by(op, l, r), l.asDiagonal() * K * r.asDiagonal(), false, entries);
  });
}

TEST_F(Views, PlusDiagonal) {
  for (const Index n : sizes) {
    const Vector d = random_matrix(n, 1, 2).col(0);
    for_bases(random_symmetric(n), [&](const Operator& op, const Matrix& K, bool entries) {
      expect_operator(*plus_diagonal(op, d), K + Matrix(d.asDiagonal()), true, entries);
    });
  }
  const Vector d = Vector::LinSpaced(120, -1, 1);
  for_bases(random_matrix(120, 120), [&](const Operator& op, const Matrix& K, bool entries) {
    expect_operator(*plus_diagonal(op, d), K + Matrix(d.asDiagonal()), false, entries);
  });
}

TEST_F(Views, Doubled) {
  for (const Index n : sizes) {
    for_bases(random_symmetric(n), [&](const Operator& op, const Matrix& K, bool entries) {
      expect_operator(*doubled(op), doubled_matrix(K), true, entries);
      if (!entries || n < 2) return;
      // Rows from one half, from the other, and across.
      for (const auto& [first, count] : {std::pair<Index, Index>{0, n}, {n, n}, {n - 1, 2}, {0, 2 * n}, {n, 0}, {2 * n, 0}}) {
        expect_near(values_of(doubled(op)->row_block(first, count), count, 2 * n), doubled_matrix(K).middleRows(first, count), 0, "rows");
      }
    });
  }
  for_bases(random_matrix(120, 120),
            [](const Operator& op, const Matrix& K, bool entries) { expect_operator(*doubled(op), doubled_matrix(K), false, entries); });
}

TEST_F(Views, SubsetOfStored) {
  for (const Index n : sizes) {
    const std::vector<Index> both = every(2, n);
    const std::vector<Index> other = every(3, n);
    for_bases(random_symmetric(n), [&](const Operator& op, const Matrix& K, bool entries) {
      if (!entries) return;
      expect_operator(*subset(op, both), K(both, both), true);
      expect_operator(*subset(op, both, other), K(both, other), both == other);
      expect_operator(*subset(op, {}, both), Matrix(0, std::ssize(both)), both.empty());
    });
  }
}

TEST_F(Views, SubsetOfStreamedOffersProducts) {
  const Index n = 230;
  const std::vector<Index> both = every(2, n);
  const std::vector<Index> other = every(3, n);
  const auto twin = std::make_shared<StreamedTwin<double>>(random_symmetric(n));
  const Operator view = subset(twin, both, other);
  const Matrix K = twin->values()(both, other);
  const Matrix V = random_matrix(K.cols(), 2, 4);
  const Matrix U = random_matrix(K.rows(), 2, 5);
  expect_near(view->apply(V), K * V, 1e-12, "apply");
  expect_near(view->apply_transpose(U), K.transpose() * U, 1e-12, "apply_transpose");
  expect_near(view->apply_normal(V, Vector()), K.transpose() * (K * V), 1e-9, "apply_normal");
  expect_near(subset(twin, both)->diagonal(), twin->values()(both, both).diagonal(), 0, "diagonal");
  const std::string refusal =
      "a subset of an operator that is not stored (twin) gives no entries; store it, or make the operator from the subset of the samples";
  const std::vector<Index> one{0};
  EXPECT_EQ(message_of([&] { view->block(one, one); }), refusal);
  EXPECT_EQ(message_of([&] { view->row_block(0, 1); }), refusal);
  EXPECT_EQ(message_of([&] { view->for_each_tile([](const TileView&) {}); }), refusal);
  EXPECT_EQ(message_of([&] { view->diagonal(); }), refusal);
  EXPECT_THROW(view->block(one, one), NotOffered);
}

TEST_F(Views, OfViews) {
  const Index n = 150;
  const Vector y = random_matrix(n, 1, 2).col(0);
  const Vector d = Vector::LinSpaced(2 * n, 1, 2);
  for_bases(random_symmetric(n), [&](const Operator& op, const Matrix& K, bool entries) {
    const Matrix signed_matrix = y.asDiagonal() * K * y.asDiagonal();
    expect_operator(*plus_diagonal(doubled(signed_by(op, y)), d), doubled_matrix(signed_matrix) + Matrix(d.asDiagonal()), true, entries);
    expect_operator(*centred(centred(op)), centred_matrix(K), true, entries);
    if (!entries) return;
    const std::vector<Index> I = every(2, n);
    const std::vector<Index> J = every(3, std::ssize(I));
    std::vector<Index> IJ;
    for (const Index j : J) IJ.push_back(I[static_cast<std::size_t>(j)]);
    expect_operator(*subset(subset(op, I), J), K(IJ, IJ), true);
    EXPECT_EQ(subset(subset(op, I), J)->describe(), subset(op, IJ)->describe()) << "a subset of a subset looks at the base directly";
    expect_operator(*centred(subset(op, I)), centred_matrix(K(I, I)), true);
    expect_operator(*subset(centred(op), I), centred_matrix(K)(I, I), true);
  });
}

TEST_F(Views, RefuseLikeTheirBase) {
  const Operator twin = std::make_shared<StreamedTwin<double>>(random_symmetric(5));
  const std::vector<Index> one{0};
  for (const Operator& view : {centred(twin), signed_by(twin, Vector::Ones(5)), doubled(twin), plus_diagonal(twin, Vector::Ones(5))}) {
    EXPECT_THROW(view->block(one, one), NotOffered) << view->describe();
    EXPECT_THROW(view->row_block(0, 1), NotOffered) << view->describe();
  }
}

TEST_F(Views, DoNotDependOnThreads) {
  const Index n = 700;
  const Vector y = random_matrix(n, 1, 2).col(0);
  const Matrix V = random_matrix(n, 3, 3);
  const auto run = [&](int threads) {
    std::vector<double> out;
    with_threads(threads, [&] {
      const Operator base = dense_operator(random_symmetric(n));
      for (const Operator& op : {base, centred(base), signed_by(base, y), subset(base, every(1, n - 2)), plus_diagonal(base, y)}) {
        const Matrix product = op->apply(V.topRows(op->cols()));
        out.insert(out.end(), product.data(), product.data() + product.size());
        out.push_back(sum_tiles(*op, [](const TileView& t) {
          double sum = 0;
          for (Index i = 0; i < t.rows; ++i) {
            for (Index j = 0; j < t.cols; ++j) sum += t(i, j);
          }
          return sum;
        }));
      }
    });
    return out;
  };
  const std::vector<double> alone = run(1);
  EXPECT_EQ(run(2), alone);
  EXPECT_EQ(run(3), alone);
}

TEST(SumTiles, CountsEveryTileOnce) {
  const Matrix K = random_symmetric(600);
  const auto weighed = [](const TileView& t) {
    double sum = 0;
    for (Index i = 0; i < t.rows; ++i) {
      for (Index j = 0; j < t.cols; ++j) sum += t(i, j);
    }
    return t.on_diagonal() ? sum : 2 * sum;
  };
  EXPECT_NEAR(sum_tiles(*dense_operator(K), weighed), K.sum(), 1e-9);
  EXPECT_NEAR(sum_tiles(*centred(dense_operator(K)), weighed), 0, 1e-9);
  EXPECT_EQ(sum_tiles(*dense_operator(Matrix(0, 0)), weighed), 0);
  EXPECT_THROW(sum_tiles(*dense_operator(K), [](const TileView&) -> double { throw InvalidArgument("from the visit"); }), InvalidArgument);
}

TEST(ViewErrors, SayWhatIsWrong) {
  const Operator square = dense_operator(random_matrix(4, 4));
  const Operator wide = dense_operator(random_matrix(3, 4));
  const auto says = [](const char* text, const std::function<void()>& act) {
    EXPECT_THROW(act(), InvalidArgument) << text;
    EXPECT_NE(message_of(act).find(text), std::string::npos) << message_of(act);
  };
  says("centred needs a symmetric operator, got 4 x 4", [&] { centred(square); });
  says("subset: row index 4 is outside 0 .. 3", [&] { subset(square, {0, 4}); });
  says("subset: column index -1 is outside 0 .. 3", [&] { subset(wide, {0}, {-1}); });
  says("subset with one list of indices needs a square operator, got 3 x 4", [&] { subset(wide, {0}); });
  says("the left factors must have 3 numbers, got 4", [&] { scaled_by(wide, Vector::Ones(4), Vector::Ones(4)); });
  says("the right factors must hold finite numbers only", [&] { scaled_by(wide, Vector::Ones(3), Vector::Constant(4, std::nan(""))); });
  says("signed_by needs a square operator", [&] { signed_by(wide, Vector::Ones(3)); });
  says("y must have 4 numbers, got 3", [&] { signed_by(square, Vector::Ones(3)); });
  says("plus_diagonal needs a square operator", [&] { plus_diagonal(wide, Vector::Ones(3)); });
  says("the diagonal must have 4 numbers, got 1", [&] { plus_diagonal(square, Vector::Ones(1)); });
  for (const auto& make : std::initializer_list<std::function<void()>>{
           [] { centred(nullptr); }, [] { doubled(nullptr); }, [] { subset(nullptr, {0}); }, [] { signed_by(nullptr, Vector()); },
           [] { plus_diagonal(nullptr, Vector()); }, [] { scaled_by(nullptr, Vector(), Vector()); }}) {
    says("there is no operator", make);
  }
}

TEST(ViewErrors, ArgumentsOfEveryAnswer) {
  const Operator base = dense_operator(random_symmetric(4));
  const std::vector<Index> both{0, 1, 2, 3};
  const std::vector<Index> bad{0, 9};
  for (const Operator& op : {base, centred(base), plus_diagonal(base, Vector::Ones(4)), doubled(base), subset(base, both)}) {
    SCOPED_TRACE(op->describe());
    const Index n = op->rows();
    EXPECT_EQ(message_of([&] { op->apply(Matrix(n + 1, 1)); }), fmt::format("V has {} rows, the operator needs {}", n + 1, n));
    EXPECT_EQ(message_of([&] { op->apply_transpose(Matrix(1, 1)); }), fmt::format("U has 1 rows, the operator needs {}", n));
    EXPECT_EQ(message_of([&] { op->apply_normal(Matrix::Zero(n, 1), Vector::Ones(3)); }),
              fmt::format("weights has 3 rows, the operator needs {}", n));
    EXPECT_EQ(message_of([&] { op->block(bad, both); }), fmt::format("row index 9 is outside 0 .. {}", n - 1));
    EXPECT_EQ(message_of([&] { op->block(both, bad); }), fmt::format("column index 9 is outside 0 .. {}", n - 1));
    EXPECT_EQ(message_of([&] { op->row_block(n - 1, 2); }), fmt::format("rows {} .. {} are outside 0 .. {}", n - 1, n, n - 1));
    EXPECT_THROW(op->row_block(-1, 1), InvalidArgument);
  }
}

}  // namespace
}  // namespace mercer
