// Kernel k-means, spectral clustering, silhouettes and the gap statistic against closed forms and loops written out.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>

#include "gram/neighbors.hpp"
#include "mercer/cluster_quality.hpp"
#include "mercer/error.hpp"
#include "mercer/gram.hpp"
#include "mercer/random.hpp"
#include "mercer/simulate.hpp"
#include "mercer/spectral_clustering.hpp"

namespace mercer {
namespace {

Matrix blobs(Index n, Index k, std::vector<Index>& truth) {
  Matrix X = 0.5 * RandomStream(4).normal_matrix(n, 2);
  truth.resize(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    truth[static_cast<std::size_t>(i)] = i % k;
    const double angle = 2 * std::numbers::pi * static_cast<double>(i % k) / static_cast<double>(k);
    X.row(i) += 6 * Eigen::RowVector2d(std::cos(angle), std::sin(angle));
  }
  return X;
}

// Two rings, the inner of radius 1, the outer of radius 4.
Matrix rings(Index n, std::vector<Index>& truth) {
  Matrix X = 0.1 * RandomStream(5).normal_matrix(n, 2);
  truth.resize(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    truth[static_cast<std::size_t>(i)] = i % 2;
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
    X.row(i) += (i % 2 == 0 ? 1 : 4) * Eigen::RowVector2d(std::cos(angle), std::sin(angle));
  }
  return X;
}

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

TEST(KernelKMeansModel, DistancesAreThoseOfTheFeatureSpace) {
  std::vector<Index> truth;
  const Matrix X = blobs(60, 3, truth);
  const KernelKMeansModel model = fit_kernel_kmeans(X, {.kernel = kernels::gaussian(2), .clusters = 3, .tolerance = 0});
  EXPECT_EQ(adjusted_rand_index(model.labels(), truth), 1);
  const Matrix K = gram(kernels::gaussian(2), X);
  const Matrix d = model.distances(X);
  double inertia = 0;
  for (Index c = 0; c < 3; ++c) {
    Vector v = Vector::Zero(60);
    for (Index i = 0; i < 60; ++i) v[i] = model.labels()[static_cast<std::size_t>(i)] == c ? 1 : 0;
    v /= v.sum();
    for (Index i = 0; i < 60; ++i) {
      EXPECT_NEAR(d(i, c), std::sqrt(1 - 2 * K.row(i).dot(v) + v.dot(K * v)), 1e-12);
      if (model.labels()[static_cast<std::size_t>(i)] == c) inertia += d(i, c) * d(i, c);
    }
  }
  EXPECT_NEAR(model.summary().inertia, inertia, 1e-11);
  EXPECT_NEAR(model.inertia(X), inertia, 1e-11);
  EXPECT_EQ(model.classes(X), model.labels());
  EXPECT_EQ(model.summary().method, "exact");
}

TEST(KernelKMeansModel, OffsetsThatHideTheRowsAreRefused) {
  const Matrix X = RandomStream(2).normal_matrix(60, 3);
  const KernelKMeansOptions options{.kernel = kernels::linear(), .clusters = 2};
  EXPECT_NEAR(fit_kernel_kmeans(Matrix(X.array() + 1e3), options).summary().inertia, fit_kernel_kmeans(X, options).summary().inertia, 1e-6);
  EXPECT_THROW(fit_kernel_kmeans(Matrix(X.array() + 1e8), options), InvalidArgument);
  EXPECT_NO_THROW(fit_kernel_kmeans(Matrix(X.array() + 1e8), {.kernel = kernels::gaussian(1.0), .clusters = 2}));
  EXPECT_EQ(fit_kernel_kmeans(Matrix(Matrix::Constant(5, 2, 1e8)), {.kernel = kernels::linear(), .clusters = 1}).summary().clusters, 1);
}

TEST(KernelKMeansModel, AFullRankFactorIsExact) {
  std::vector<Index> truth;
  const Matrix X = blobs(120, 4, truth);
  using Method = KernelKMeansOptions::Method;
  const KernelKMeansOptions options{.kernel = kernels::gaussian(1.5), .clusters = 4, .tolerance = 0, .landmarks = 120};
  KernelKMeansOptions low = options;
  low.method = Method::low_rank;
  const KernelKMeansModel a = fit_kernel_kmeans(X, options);
  const KernelKMeansModel b = fit_kernel_kmeans(X, low);
  EXPECT_EQ(b.summary().method, "low rank");
  EXPECT_EQ(adjusted_rand_index(a.labels(), b.labels()), 1);
  EXPECT_NEAR(a.summary().inertia, b.summary().inertia, 1e-5);
  EXPECT_EQ(b.classes(X), b.labels());
  // Few pivots: the means are less free, so the inertia, which is exact for them, is larger.
  low.landmarks = 10;
  const KernelKMeansModel c = fit_kernel_kmeans(X, low);
  EXPECT_EQ(c.samples().size(), 10);
  EXPECT_GE(c.summary().inertia, a.summary().inertia - 1e-9);
  EXPECT_NEAR(c.inertia(X), c.summary().inertia, 1e-6);
  EXPECT_EQ(adjusted_rand_index(c.labels(), truth), 1);
}

TEST(KernelKMeansModel, Float32GramAndGivenGram) {
  std::vector<Index> truth;
  const Matrix X = rings(200, truth);
  KernelKMeansOptions options{.kernel = kernels::gaussian(1), .clusters = 3, .tolerance = 0};
  const KernelKMeansModel exact = fit_kernel_kmeans(X, options);
  options.precision = Precision::float32;
  const KernelKMeansModel single = fit_kernel_kmeans(X, options);
  EXPECT_NEAR(single.summary().inertia, exact.summary().inertia, 1e-6 * exact.summary().inertia);
  const Matrix K = gram(kernels::gaussian(1), X);
  const KernelKMeansModel given = fit_kernel_kmeans(K, {.kernel = kernels::precomputed(), .clusters = 3, .tolerance = 0});
  EXPECT_NEAR(given.summary().inertia, exact.summary().inertia, 1e-9);
  EXPECT_EQ(given.classes(Samples::given_rows(K)), given.labels());
  EXPECT_THROW(given.distances(Samples::given_rows(K)), NotOffered);
}

TEST(KernelKMeansModel, WrongInputSaysWhat) {
  const Matrix X = RandomStream(1).normal_matrix(5, 2);
  EXPECT_NE(message_of([&] { fit_kernel_kmeans(X, {.clusters = 6}); }).find("5 samples cannot make 6 clusters"), std::string::npos);
  EXPECT_NE(message_of([&] { fit_kernel_kmeans(X, {.clusters = 0}); }).find("at least 1, got 0"), std::string::npos);
  EXPECT_THROW(fit_kernel_kmeans(X, {.kernel = kernels::sigmoid(), .clusters = 2}), InvalidArgument);
  EXPECT_THROW(fit_kernel_kmeans(X, {.clusters = 2, .sample_weight = Vector::Ones(4)}), InvalidArgument);
  EXPECT_THROW(fit_kernel_kmeans(X, {.clusters = 2, .sample_weight = Vector::Zero(5)}), InvalidArgument);
  Matrix bad = X;
  bad(2, 1) = std::nan("");
  EXPECT_NE(message_of([&] { fit_kernel_kmeans(bad, {.kernel = kernels::gaussian(1), .clusters = 2}); }).find("NaN"), std::string::npos);
  const KernelKMeansModel same = fit_kernel_kmeans(Matrix::Ones(5, 2), {.kernel = kernels::gaussian(1), .clusters = 3});
  EXPECT_EQ(same.clusters(), 1);
  EXPECT_NE(same.summary().sentence.find("only 1 distinct"), std::string::npos);
}

TEST(SpectralClustering, NeighboursAreThoseOfAllDistances) {
  const Matrix X = RandomStream(8).normal_matrix(300, 15);
  const Neighbors near = nearest_neighbors(X, 7, {});
  for (Index i = 0; i < 300; i += 13) {
    std::vector<std::pair<double, Index>> all;
    for (Index j = 0; j < 300; ++j) {
      if (j != i) all.emplace_back((X.row(i) - X.row(j)).squaredNorm(), j);
    }
    std::sort(all.begin(), all.end());
    for (Index c = 0; c < 7; ++c) EXPECT_EQ(near.rows(i, c), all[static_cast<std::size_t>(c)].second);
  }
}

// The path of n vertices: degrees 1, 2, ..., 2, 1 and eigenvalues 1 - cos(pi j / (n - 1)).
TEST(SpectralClustering, EigenvaluesOfAPath) {
  for (const Index n : {20, 700}) {  // by LAPACK, and by Krylov
    Matrix W = Matrix::Zero(n, n);
    for (Index i = 0; i + 1 < n; ++i) W(i, i + 1) = W(i + 1, i) = 1;
    using Options = SpectralClusteringOptions;
    const Options options{.clusters = 2, .affinity = Options::Affinity::precomputed, .components = 4};
    const SpectralClustering dense = spectral_clustering(W, options);
    const SpectralClustering sparse = spectral_clustering(Samples(CsrMatrix<double>(W.sparseView())), options);
    for (Index j = 0; j < 4; ++j) {
      const double expected = 1 - std::cos(std::numbers::pi * static_cast<double>(j) / static_cast<double>(n - 1));
      EXPECT_NEAR(sparse.eigenvalues[j], expected, 1e-10) << n << " " << j;
      EXPECT_NEAR(dense.eigenvalues[j], expected, 1e-8) << n << " " << j;
    }
    const Options halves{.clusters = 2, .affinity = Options::Affinity::precomputed};
    std::vector<Index> truth;
    for (Index i = 0; i < n; ++i) truth.push_back(i < n / 2 ? 0 : 1);
    EXPECT_EQ(adjusted_rand_index(spectral_clustering(Samples(CsrMatrix<double>(W.sparseView())), halves).labels, truth), 1) << n;
  }
}

TEST(SpectralClustering, RingsAndMoonsAreTheirOwnClusters) {
  using Options = SpectralClusteringOptions;
  for (const Index n : {300, 1000}) {
    std::vector<Index> truth;
    const Matrix X = rings(n, truth);
    for (const auto assignment : {Options::Assignment::kmeans, Options::Assignment::cluster_qr}) {
      for (const auto embedding : {Options::Embedding::random_walk, Options::Embedding::unit_rows}) {
        const SpectralClustering c = spectral_clustering(X, {.clusters = 2, .embedding = embedding, .assignment = assignment});
        EXPECT_EQ(adjusted_rand_index(c.labels, truth), 1) << c.summary.sentence;
      }
    }
    const SpectralClustering dense =
        spectral_clustering(X, {.clusters = 2, .affinity = Options::Affinity::kernel, .kernel = kernels::gaussian(0.3)});
    EXPECT_EQ(adjusted_rand_index(dense.labels, truth), 1) << dense.summary.sentence;
  }
}

TEST(SpectralClustering, PartsWithoutEdgesBetweenThem) {
  using Options = SpectralClusteringOptions;
  Matrix W = Matrix::Zero(9, 9);
  for (const auto& [i, j] : {std::pair<Index, Index>{0, 1}, {1, 2}, {0, 2}, {3, 4}, {5, 6}, {6, 7}}) W(i, j) = W(j, i) = 1;
  const std::vector<Index> truth{0, 0, 0, 1, 1, 2, 2, 2, 3};  // and an isolated one
  const SpectralClustering c = spectral_clustering(W, {.clusters = 4, .affinity = Options::Affinity::precomputed});
  EXPECT_EQ(c.summary.connected_components, 4);
  EXPECT_EQ(c.summary.isolated, 1);
  EXPECT_EQ(c.summary.solver, "components");
  EXPECT_EQ(adjusted_rand_index(c.labels, truth), 1);
  EXPECT_EQ(c.eigenvalues.norm(), 0);
  EXPECT_EQ(c.summary.residual < 1e-14, true);
  const SpectralClustering two = spectral_clustering(W, {.clusters = 2, .affinity = Options::Affinity::precomputed});
  EXPECT_EQ(two.clusters(), 2);
  EXPECT_NE(two.summary.sentence.find("4 parts"), std::string::npos);
  const SpectralClustering five = spectral_clustering(W, {.clusters = 5, .affinity = Options::Affinity::precomputed});
  EXPECT_EQ(five.clusters(), 5);
}

// Affinities made in float32: what rounding leaves between (i, j) and (j, i) is shared out; more than that is a mistake.
TEST(SpectralClustering, GraphsAreSymmetricToRounding) {
  const Matrix X = RandomStream(7).normal_matrix(40, 2);
  const Matrix exact = gram(kernels::gaussian(1.0), X);
  Matrix W = exact;
  W(3, 9) *= 1 + 2e-7;
  using Options = SpectralClusteringOptions;
  const Options options{.clusters = 2, .affinity = Options::Affinity::precomputed};
  for (const Samples& given : {Samples(W), Samples(CsrMatrix<double>(W.sparseView()))}) {
    const SpectralClustering found = spectral_clustering(given, options);
    const Matrix graph = std::visit([](const auto& G) { return Matrix(G); }, found.graph);
    EXPECT_EQ(graph, Matrix(graph.transpose()));
    EXPECT_LT((graph - exact).cwiseAbs().maxCoeff(), 2e-7);
  }
  W(3, 9) += 1e-4;
  EXPECT_THROW(spectral_clustering(W, options), InvalidArgument);
}

TEST(SpectralClustering, WrongInputSaysWhat) {
  using Options = SpectralClusteringOptions;
  const Matrix X = RandomStream(1).normal_matrix(8, 2);
  EXPECT_NE(message_of([&] { spectral_clustering(X, {.clusters = 2, .neighbors = 9}); }).find("between 1 and the 8 samples"),
            std::string::npos);
  EXPECT_NE(message_of([&] { spectral_clustering(X, {.clusters = 9, .neighbors = 3}); }).find("8 samples cannot make 9"),
            std::string::npos);
  EXPECT_NE(message_of([&] { spectral_clustering(X, {.clusters = 2, .affinity = Options::Affinity::precomputed}); }).find("square"),
            std::string::npos);
  Matrix W = Matrix::Ones(4, 4);
  W(1, 2) = 3;
  const Options given{.clusters = 2, .affinity = Options::Affinity::precomputed};
  EXPECT_NE(message_of([&] { spectral_clustering(W, given); }).find("symmetric"), std::string::npos);
  W = -Matrix::Ones(4, 4);
  EXPECT_NE(message_of([&] { spectral_clustering(W, given); }).find(">= 0"), std::string::npos);
  Matrix bad = X;
  bad(1, 1) = std::nan("");
  EXPECT_THROW(spectral_clustering(bad, {.clusters = 2, .neighbors = 3}), InvalidArgument);
  EXPECT_EQ(spectral_clustering(X, {.clusters = 1, .neighbors = 8}).clusters(), 1);
  EXPECT_GE(spectral_clustering(Matrix::Ones(30, 2), {.clusters = 3}).clusters(), 1);  // constant rows
}

TEST(Silhouette, IsThatOfAllDistances) {
  const Matrix X = RandomStream(3).normal_matrix(270, 3);
  std::vector<Index> labels;
  for (Index i = 0; i < 270; ++i) labels.push_back(i == 5 ? 9 : i % 4);
  const Matrix K = gram(kernels::gaussian(1), X);
  const Vector euclidean = silhouette_samples(X, labels);
  const Vector feature = silhouette_samples(X, labels, {.kernel = kernels::gaussian(1)});
  for (Index i = 0; i < 270; ++i) {
    for (const bool in_feature_space : {false, true}) {
      std::map<Index, double> sum;
      std::map<Index, double> count;
      for (Index j = 0; j < 270; ++j) {
        if (j == i) continue;
        sum[labels[static_cast<std::size_t>(j)]] += in_feature_space ? std::sqrt(2 - 2 * K(i, j)) : (X.row(i) - X.row(j)).norm();
        ++count[labels[static_cast<std::size_t>(j)]];
      }
      const Index own = labels[static_cast<std::size_t>(i)];
      double b = 1e300;
      for (const auto& [c, total] : sum) b = c == own ? b : std::min(b, total / count[c]);
      const double a = i == 5 ? 0 : sum[own] / count[own];
      const double expected = i == 5 ? 0 : (b - a) / std::max(a, b);
      EXPECT_NEAR((in_feature_space ? feature : euclidean)[i], expected, 1e-12);
    }
  }
  EXPECT_THROW(silhouette(X, std::vector<Index>(270, 0)), InvalidArgument);
  EXPECT_THROW(silhouette(X, std::vector<Index>(3, 0)), InvalidArgument);
}

TEST(AdjustedRandIndex, KnownValues) {
  EXPECT_EQ(adjusted_rand_index({0, 0, 1, 1}, {1, 1, 0, 0}), 1);
  EXPECT_NEAR(adjusted_rand_index({0, 0, 1, 2}, {0, 0, 1, 1}), 0.5714285714285714, 1e-15);  // scikit-learn's example
  EXPECT_EQ(adjusted_rand_index({0, 0, 0, 0}, {0, 1, 2, 3}), 0);
}

TEST(ChooseClusters, FindsTheNumberOfBlobs) {
  std::vector<Index> truth;
  const Matrix X = blobs(150, 4, truth);
  const ClusterChoice choice = choose_clusters(X, {.kernel = kernels::linear(), .k_max = 7, .references = 8});
  EXPECT_EQ(choice.by_silhouette, 4);
  EXPECT_EQ(choice.by_gap, 4);
  EXPECT_EQ(choice.k, 4);
  ASSERT_EQ(choice.candidates.size(), 7U);
  EXPECT_TRUE(std::isnan(choice.candidates[0].silhouette));
  EXPECT_NEAR(choice.candidates[3].silhouette, silhouette(X, choice.candidates[3].labels), 1e-12);
  // One blob is one cluster: only the gap statistic can say so.
  const Matrix one = RandomStream(2).normal_matrix(120, 2);
  const ClusterChoice single = choose_clusters(one, {.kernel = kernels::linear(), .k_max = 5, .criterion = ClusterCriterion::gap});
  EXPECT_EQ(single.k, 1);
}

// Uniform on [0, 1]: W_1 = n / 12, W_2 = n / 48, so both gaps are near 0.
TEST(ChooseClusters, GapOfUniformSamplesIsNearZero) {
  Matrix X(400, 1);
  RandomStream random(6);
  for (double& x : X.reshaped()) x = random.uniform();
  const ClusterChoice choice = choose_clusters(X, {.kernel = kernels::linear(), .k_max = 2, .references = 20});
  EXPECT_NEAR(choice.candidates[0].inertia, 400.0 / 12, 0.1 * 400 / 12);
  EXPECT_NEAR(choice.candidates[1].inertia, 400.0 / 48, 0.1 * 400 / 48);
  EXPECT_NEAR(choice.candidates[0].gap, 0, 0.15);
  EXPECT_EQ(choice.by_gap, 1);
}

TEST(ChooseClusters, WrongInputAndConstantRows) {
  const Matrix X = RandomStream(1).normal_matrix(6, 2);
  EXPECT_THROW(choose_clusters(X, {.k_min = 0}), InvalidArgument);
  EXPECT_THROW(choose_clusters(X, {.k_min = 7, .k_max = 8}), InvalidArgument);
  EXPECT_THROW(choose_clusters(X, {.references = 1}), InvalidArgument);
  const Matrix K = Matrix::Identity(6, 6);
  EXPECT_THROW(choose_clusters(K, {.kernel = kernels::precomputed(), .criterion = ClusterCriterion::gap}), InvalidArgument);
  const ClusterChoice same = choose_clusters(Matrix::Ones(10, 2), {.kernel = kernels::gaussian(1), .k_max = 4});
  EXPECT_EQ(same.k, 1);
  EXPECT_EQ(same.by_gap, 1);
}

}  // namespace
}  // namespace mercer
