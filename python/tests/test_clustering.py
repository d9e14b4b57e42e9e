"""Kernel k-means, spectral clustering, silhouettes and the number of clusters against scikit-learn and against sums written out."""
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import cluster, datasets
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, silhouette_samples
from sklearn.metrics.pairwise import rbf_kernel

import mercer


@pytest.fixture(scope="module")
def blobs():
    return datasets.make_blobs(240, n_features=3, centers=4, cluster_std=0.8, random_state=1)


def naive_inertia(K, labels, w):
    total = 0.0
    for c in np.unique(labels):
        v = np.where(labels == c, w, 0.0)
        total += (v * np.diag(K)).sum() - v @ K @ v / v.sum()
    return total


class TestKernelKMeans:
    def test_linear_kernel_is_scikit_learns_kmeans(self, blobs):
        X, _ = blobs
        w = np.random.default_rng(0).uniform(0.2, 2, len(X))
        for weight in (None, w):
            twin = cluster.KMeans(4, n_init=10, tol=0, random_state=0).fit(X, sample_weight=weight)
            ours = mercer.KernelKMeans(4, kernel="linear", tol=0, random_state=0).fit(X, sample_weight=weight)
            assert ours.inertia_ == pytest.approx(twin.inertia_, rel=1e-10)
            assert adjusted_rand_score(ours.labels_, twin.labels_) == 1
            fresh = np.random.default_rng(1).normal(size=(20, 3)) * 5
            np.testing.assert_allclose(np.sort(ours.transform(fresh), axis=1), np.sort(twin.transform(fresh), axis=1), rtol=1e-8)
            assert ours.score(fresh) == pytest.approx(twin.score(fresh), rel=1e-9)

    @pytest.mark.parametrize("method", ["exact", "low_rank"])
    def test_objective_is_that_of_the_sums(self, method, blobs):
        X, _ = blobs
        w = np.random.default_rng(2).uniform(0, 2, len(X))
        ours = mercer.KernelKMeans(5, gamma=0.3, tol=0, method=method, n_landmarks=240, random_state=3).fit(X, sample_weight=w)
        assert ours.inertia_ == pytest.approx(naive_inertia(rbf_kernel(X, gamma=0.3), ours.labels_, w), rel=1e-6 if method == "low_rank" else 1e-11)
        np.testing.assert_array_equal(ours.predict(X), ours.labels_)
        assert ours.summary_.method == method.replace("_", " ")

    def test_two_circles(self):
        # A small circle within a large one: the Gaussian kernel's means are apart, those of the rows are not.
        random = np.random.default_rng(0)
        angle = random.uniform(0, 2 * np.pi, 300)
        radius = np.where(np.arange(300) < 150, 0.3, 3.0) + random.normal(scale=0.05, size=300)
        X = np.c_[radius * np.cos(angle), radius * np.sin(angle)]
        truth = np.arange(300) < 150
        labels = mercer.KernelKMeans(2, gamma=0.5, random_state=0).fit_predict(X)
        assert adjusted_rand_score(labels, truth) == 1
        assert adjusted_rand_score(cluster.KMeans(2, n_init=10, random_state=0).fit_predict(X), truth) < 0.5

    def test_precomputed(self, blobs):
        X, _ = blobs
        K = rbf_kernel(X, gamma=0.3)
        own = mercer.KernelKMeans(4, gamma=0.3, random_state=0, tol=0).fit(X)
        given = mercer.KernelKMeans(4, kernel="precomputed", random_state=0, tol=0).fit(K)
        assert given.inertia_ == pytest.approx(own.inertia_, rel=1e-11)
        np.testing.assert_array_equal(given.predict(K), given.labels_)
        np.testing.assert_allclose(np.sort(given.fit_transform(K), axis=1), np.sort(own.transform(X), axis=1), rtol=1e-7)
        with pytest.raises(NotImplementedError, match=r"k\(x, x\)"):
            given.transform(K[:3])

    def test_sparse_and_float32(self, blobs):
        X, _ = blobs
        dense = mercer.KernelKMeans(4, gamma=0.1, random_state=0).fit(X)
        for other in (sp.csr_array(X), X.astype(np.float32)):
            assert adjusted_rand_score(mercer.KernelKMeans(4, gamma=0.1, random_state=0).fit(other).labels_, dense.labels_) == 1

    def test_files_and_pickles(self, blobs, tmp_path):
        X, _ = blobs
        for model in (mercer.KernelKMeans(3, gamma=0.2, random_state=0), mercer.KernelKMeans(3, kernel="linear", method="low_rank", random_state=0)):
            model.fit(X)
            mercer.save(model, tmp_path / "k.mercer")
            loaded = mercer.load(tmp_path / "k.mercer")
            assert mercer.info(tmp_path / "k.mercer")["kind"] == "kernel-kmeans"
            for copy in (loaded, pickle.loads(pickle.dumps(model))):
                np.testing.assert_array_equal(copy.transform(X), model.transform(X))
                np.testing.assert_array_equal(copy.labels_, model.labels_)
                assert copy.inertia_ == model.inertia_ and str(copy.summary_) == str(model.summary_)

    def test_threads_change_nothing(self, blobs):
        X, _ = blobs
        one, two = (mercer.KernelKMeans(6, gamma=1, random_state=5, n_jobs=n).fit(X) for n in (1, 2))
        np.testing.assert_array_equal(one.labels_, two.labels_)
        assert one.inertia_ == two.inertia_

    def test_wrong_input(self):
        X = np.random.default_rng(0).normal(size=(6, 2))
        for parameters, words in (
            ({"n_clusters": 7}, "n_samples=6 should be >= n_clusters=7"),
            ({"n_clusters": 0}, "n_clusters must be"),
            ({"n_clusters": 2, "n_init": 0}, "n_init must be"),
            ({"n_clusters": 2, "tol": -1}, "tol must be"),
            ({"n_clusters": 2, "method": "fast"}, "method must be"),
            ({"n_clusters": 2, "kernel": "sigmoid"}, "not positive semi-definite"),
            ({"n_clusters": "auto", "k_range": (0, 3)}, "k_range must be"),
        ):
            with pytest.raises(ValueError, match=words):
                mercer.KernelKMeans(**parameters).fit(X)
        with pytest.warns(ConvergenceWarning, match="only 2 distinct"):
            found = mercer.KernelKMeans(4).fit(np.repeat([[0.0], [1.0]], 5, axis=0))
        assert found.n_clusters_ == 2 and found.inertia_ == pytest.approx(0, abs=1e-12)
        assert mercer.KernelKMeans(1).fit(X).labels_.tolist() == [0] * 6

    def test_automatic_number(self, blobs):
        X, y = blobs
        found = mercer.KernelKMeans("auto", kernel="linear", random_state=0).fit(X)
        assert found.n_clusters_ == found.choice_.k == 4
        assert adjusted_rand_score(found.labels_, y) == 1


class TestSpectralClustering:
    def test_parameters_are_the_twins_but_for_the_graph(self):
        ours, theirs = mercer.SpectralClustering().get_params(), cluster.SpectralClustering().get_params()
        assert {name: ours[name] for name in theirs} == {**theirs, "affinity": "nearest_neighbors"}
        assert list(mercer.SpectralClustering.__init__.__annotations__)[: len(theirs)] == [
            name for name in cluster.SpectralClustering.__init__.__code__.co_varnames[1 : 1 + len(theirs)]
        ]

    @pytest.mark.parametrize("n", [300, 900])
    def test_graph_and_labels_are_the_twins(self, n):
        X, _ = datasets.make_blobs(n, centers=5, n_features=4, cluster_std=2.0, random_state=3)
        ours = mercer.SpectralClustering(5, n_neighbors=12, random_state=0).fit(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            twin = cluster.SpectralClustering(5, affinity="nearest_neighbors", n_neighbors=12, random_state=0).fit(X)
        np.testing.assert_array_equal(ours.affinity_matrix_.toarray(), twin.affinity_matrix_.toarray())
        assert adjusted_rand_score(ours.labels_, twin.labels_) > 0.99
        same = mercer.SpectralClustering(5, affinity="precomputed", random_state=0).fit(twin.affinity_matrix_)
        assert adjusted_rand_score(same.labels_, ours.labels_) == 1

    @pytest.mark.parametrize("make", [datasets.make_moons, lambda n, noise, random_state: datasets.make_circles(n, factor=0.4, noise=noise, random_state=random_state)])
    def test_moons_and_rings(self, make):
        X, y = make(800, noise=0.05, random_state=0)
        for parameters in ({}, {"assign_labels": "cluster_qr"}, {"embedding": "unit_rows"}, {"affinity": "rbf", "gamma": 60.0}):
            assert adjusted_rand_score(mercer.SpectralClustering(2, random_state=0, **parameters).fit_predict(X), y) == 1, parameters

    def test_eigenvalues_are_scipys(self):
        X, _ = datasets.make_moons(700, noise=0.12, random_state=0)
        for affinity in ("nearest_neighbors", "rbf"):
            ours = mercer.SpectralClustering(6, affinity=affinity, gamma=20.0, random_state=0).fit(X)
            W = ours.affinity_matrix_
            L = sp.csgraph.laplacian(W.toarray() if sp.issparse(W) else W, normed=True)
            np.testing.assert_allclose(ours.eigenvalues_, np.linalg.eigvalsh(L)[:6], atol=1e-9)

    def test_disconnected_graph_is_remarked(self):
        X = np.concatenate([np.random.default_rng(0).normal(size=(20, 2)) + 100 * c for c in range(4)])
        with pytest.warns(UserWarning, match="4 parts"):
            found = mercer.SpectralClustering(2, n_neighbors=5).fit(X)
        assert found.n_connected_components_ == 4 and len(set(found.labels_)) == 2
        assert "4 parts" in found.summary_
        exact = mercer.SpectralClustering(4, n_neighbors=15).fit(X)
        assert adjusted_rand_score(exact.labels_, np.repeat(range(4), 20)) == 1

    def test_wrong_input(self):
        X = np.random.default_rng(0).normal(size=(12, 2))
        for parameters, words in (
            ({"n_clusters": 13}, "n_samples=12 should be >= n_clusters=13"),
            ({"n_neighbors": 13, "n_clusters": 2}, "Expected n_neighbors <= n_samples_fit"),
            ({"affinity": "linear", "n_clusters": 2}, ">= 0"),
            ({"affinity": "precomputed", "n_clusters": 2}, "square"),
            ({"assign_labels": "discretize", "n_clusters": 2}, "assign_labels must be"),
            ({"eigen_tol": -1.0, "n_clusters": 2}, "eigen_tol must be"),
        ):
            with pytest.raises(ValueError, match=words):
                mercer.SpectralClustering(**parameters).fit(X)
        assert set(mercer.SpectralClustering(1, n_neighbors=12).fit_predict(X)) == {0}


class TestNumberOfClusters:
    def test_silhouettes_are_scikit_learns(self, blobs):
        X, y = blobs
        np.testing.assert_allclose(mercer.silhouette_samples(X, y), silhouette_samples(X, y), atol=1e-12)
        K = rbf_kernel(X, gamma=0.2)
        D = np.sqrt(np.maximum(0, 2 - 2 * K))
        np.fill_diagonal(D, 0)
        expected = silhouette_samples(D, y, metric="precomputed")
        np.testing.assert_allclose(mercer.silhouette_samples(X, y, kernel=mercer.kernels.Gaussian(np.sqrt(2.5))), expected, atol=1e-10)
        np.testing.assert_allclose(mercer.silhouette_samples(K, y, kernel="precomputed"), expected, atol=1e-10)
        assert mercer.silhouette_score(X, np.array(list("abcd"))[y]) == pytest.approx(silhouette_samples(X, y).mean())
        with pytest.raises(ValueError, match="different labels"):
            mercer.silhouette_score(X, np.zeros(len(X)))

    def test_choice(self, blobs):
        X, _ = blobs
        choice = mercer.choose_k(X, range(1, 8), kernel="linear", random_state=0)
        assert (choice.k, choice.k_silhouette, choice.k_gap) == (4, 4, 4)
        table = choice.table
        assert table["k"].tolist() == list(range(1, 8)) and np.isnan(table["silhouette"][0])
        assert (np.diff(table["inertia"]) < 0).all()
        assert table["inertia"][0] == pytest.approx(((X - X.mean(0)) ** 2).sum())
        assert table["silhouette"][3] == pytest.approx(silhouette_samples(X, choice.labels).mean())
        assert mercer.choose_k(X, (1, 8), kernel="linear", criterion="gap", reference="box", random_state=0).k == 4
        assert "4 clusters by silhouette" in repr(choice)
        for numbers in ([3, 4], (3, 4), np.array([3, 4]), range(3, 5)):
            assert mercer.choose_k(X, numbers, kernel="linear", n_references=0, random_state=0).table["k"].tolist() == [3, 4]
        assert mercer.choose_k(X, (2, 5), kernel="linear", n_references=0, random_state=0).table["k"].tolist() == [2, 3, 4, 5]

    def test_one_cluster_is_found_by_the_gap_alone(self):
        X = np.random.default_rng(0).normal(size=(150, 2))
        assert mercer.choose_k(X, range(1, 6), kernel="linear", criterion="gap", random_state=0).k == 1

    def test_wrong_input(self, blobs):
        X, _ = blobs
        for parameters, words in (
            ({"criterion": "elbow"}, "criterion must be"),
            ({"k_range": [2, 4, 9]}, "consecutive"),
            ({"k_range": [2, 7]}, r"give range\(2, 8\) or the tuple \(2, 7\)"),
            ({"n_references": 1}, "references"),
            ({"criterion": "gap", "n_references": 0}, "reference sets"),
        ):
            with pytest.raises(ValueError, match=words):
                mercer.choose_k(X, **parameters)
