"""KernelPCA against scikit-learn, its solvers against each other, growth, errors of reconstruction, files."""
# SPDX-License-Identifier: BSD-3-Clause
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_circles
from sklearn.decomposition import KernelPCA as Twin
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

import mercer
from mercer import PCA, KernelPCA


@pytest.fixture(name="X")
def rows():
    return make_circles(120, noise=0.05, factor=0.4, random_state=0)[0] @ np.random.RandomState(1).randn(2, 4)


KERNELS = [
    {"kernel": "linear"},
    {"kernel": "rbf", "gamma": 0.7},
    {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 2},
    {"kernel": "cosine"},
    {"kernel": lambda a, b: (a @ b + 1) ** 2},
]


@pytest.mark.parametrize("words", KERNELS, ids=lambda w: str(w["kernel"])[:7])
@pytest.mark.parametrize("solver", ["dense", "krylov"])
def test_scikit_learns_numbers_and_signs(X, words, solver):
    twin = Twin(3, eigen_solver="dense", **words).fit(X)
    ours = KernelPCA(3, eigen_solver=solver, **words).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, twin.eigenvalues_, rtol=1e-8, atol=1e-9)
    shown = twin.eigenvalues_ > 1e-6 * twin.eigenvalues_[0]
    np.testing.assert_allclose(ours.eigenvectors_[:, shown], twin.eigenvectors_[:, shown], atol=1e-6)
    np.testing.assert_allclose(ours.transform(X[:9] + 0.1)[:, shown], twin.transform(X[:9] + 0.1)[:, shown], atol=1e-6)
    np.testing.assert_allclose(ours.fit_transform(X), ours.transform(X), atol=1e-7)
    assert ours.gamma_ == twin.gamma_


def test_none_is_all_that_vary(X):
    ours, twin = KernelPCA(kernel="linear").fit(X), Twin(kernel="linear").fit(X)
    assert len(ours.eigenvalues_) == 2 and ours.transform(X).shape == (120, 2)  # rows of rank two
    np.testing.assert_allclose(ours.eigenvalues_, twin.eigenvalues_[:2], rtol=1e-9)
    np.testing.assert_allclose(ours.explained_variance_ratio_.sum(), 1)
    np.testing.assert_allclose(ours.explained_variance_, PCA(2).fit(X).explained_variance_, rtol=1e-9)


def test_ratio_is_against_the_whole_trace(X):
    K = rbf_kernel(X, gamma=0.5)
    H = np.eye(120) - 1 / 120
    ours = KernelPCA(2, kernel="rbf", gamma=0.5).fit(X)
    np.testing.assert_allclose(ours.explained_variance_ratio_, ours.eigenvalues_ / np.trace(H @ K @ H), rtol=1e-10)


def test_precomputed_sparse_and_float32(X):
    ours = KernelPCA(2, kernel="rbf", gamma=0.5).fit(X)
    given = KernelPCA(2, kernel="precomputed").fit(rbf_kernel(X, gamma=0.5))
    np.testing.assert_allclose(given.transform(rbf_kernel(X[:5], X, gamma=0.5)), ours.transform(X[:5]), atol=1e-9)
    with pytest.raises(ValueError, match="square"):
        KernelPCA(kernel="precomputed").fit(X)
    with pytest.raises(ValueError, match="precomputed"):
        KernelPCA(kernel="precomputed", fit_inverse_transform=True).fit(rbf_kernel(X))
    sparse = KernelPCA(2, kernel="rbf", gamma=0.5).fit(sp.csr_array(X))
    np.testing.assert_allclose(sparse.transform(sp.csr_array(X)), ours.transform(X), atol=1e-9)
    single = KernelPCA(2, kernel="rbf", gamma=0.5).fit(X.astype(np.float32))
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.eigenvalues_, ours.eigenvalues_, rtol=1e-5)


@pytest.mark.parametrize("solver", ["dense", "krylov", "lowrank"])
@pytest.mark.parametrize("whiten", [False, True])
def test_error_of_reconstruction_is_a_distance(X, solver, whiten):
    ours = KernelPCA(4, kernel="rbf", gamma=0.5, eigen_solver=solver, whiten=whiten, n_landmarks=40).fit(X)
    new = X[:7] + 0.3
    G = ours.model_.expansion(ours.transform(new))
    B = ours.landmarks_ if solver == "lowrank" else ours.X_fit_
    K = rbf_kernel(B, gamma=0.5)
    distance = 1 - 2 * np.einsum("ij,ij->i", rbf_kernel(new, B, gamma=0.5), G) + np.einsum("ij,jk,ik->i", G, K, G)
    np.testing.assert_allclose(ours.reconstruction_error(new), distance, atol=1e-7)
    assert ours.reconstruction_error(X + 20).min() > ours.reconstruction_error(X).max()  # far away is new


def test_lowrank_grows(X):
    first = KernelPCA(3, kernel="rbf", gamma=0.5, eigen_solver="lowrank", n_landmarks=15).partial_fit(X[:40])
    landmarks = first.landmarks_.copy()
    first.partial_fit(X[40:])
    whole = KernelPCA(3, kernel="rbf", gamma=0.5, eigen_solver="lowrank", landmarks=landmarks).fit(X)
    np.testing.assert_allclose(first.eigenvalues_, whole.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(abs(first.transform(X)), abs(whole.transform(X)), atol=1e-6)
    assert first.summary_.samples == 120 and not hasattr(first, "eigenvectors_") and not hasattr(first, "X_fit_")
    assert not hasattr(KernelPCA(), "partial_fit")
    exact = KernelPCA(3, kernel="rbf", gamma=0.5).fit(X)
    close = KernelPCA(3, kernel="rbf", gamma=0.5, eigen_solver="lowrank").fit(X)
    np.testing.assert_allclose(close.eigenvalues_, exact.eigenvalues_, rtol=1e-7)


def test_whitened_scores_and_map(X):
    white = KernelPCA(3, kernel="rbf", gamma=0.5, whiten=True).fit_transform(X)
    np.testing.assert_allclose(np.cov(white.T), np.eye(3), atol=1e-8)
    same = KernelPCA(2, kernel="linear", whiten=True).fit(X).transform(X)
    np.testing.assert_allclose(abs(same), abs(PCA(2, whiten=True).fit(X).transform(X)), atol=1e-8)
    whole = KernelPCA(kernel="rbf", gamma=0.5, whiten="map", center=False)
    M = whole.fit_transform(X)
    np.testing.assert_allclose(M @ M.T, rbf_kernel(X, gamma=0.5), atol=1e-8)
    assert M.shape == (120, 120) and len(whole.get_feature_names_out()) == 120


def test_inverse_transform_is_scikit_learns_ridge_map(X):
    ours = KernelPCA(3, kernel="rbf", gamma=2, alpha=0.1, fit_inverse_transform=True).fit(X)
    twin = Twin(3, kernel="rbf", gamma=2, alpha=0.1, fit_inverse_transform=True).fit(X)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), twin.inverse_transform(twin.transform(X)), atol=1e-6)
    np.testing.assert_allclose(ours.X_transformed_fit_, twin.X_transformed_fit_, atol=1e-6)
    np.testing.assert_allclose(ours.dual_coef_, twin.dual_coef_, atol=1e-4)
    with pytest.raises(NotFittedError):
        KernelPCA(2).inverse_transform(np.zeros((1, 2)))
    sparse = KernelPCA(3, kernel="rbf", gamma=2, alpha=0.1, fit_inverse_transform=True).fit(sp.csr_array(X))
    np.testing.assert_allclose(sparse.inverse_transform(ours.transform(X)), ours.inverse_transform(ours.transform(X)), atol=1e-6)


def test_growth_begins_with_enough_rows(X):
    with pytest.raises(ValueError, match="first call has 2 rows for n_components=3"):
        KernelPCA(3, kernel="rbf", eigen_solver="lowrank").partial_fit(X[:2])
    grown = KernelPCA(3, kernel="rbf", eigen_solver="lowrank", n_landmarks=10).partial_fit(sp.csr_array(X[:20])).partial_fit(sp.csr_array(X[20:]))
    assert grown.transform(X).shape == (len(X), 3)


def test_what_is_refused(X):
    for words in ({"n_components": 0}, {"eigen_solver": "lapack"}, {"tol": -1}, {"whiten": "yes"}, {"max_iter": 0}, {"n_landmarks": 0},
                  {"kernel": "sigmoid", "gamma": 5.0, "coef0": -3.0}, {"eigen_solver": "lowrank", "landmarks": np.ones((3, 2))}):
        with pytest.raises(ValueError):
            KernelPCA(**words).fit(X)
    with pytest.warns(ConvergenceWarning, match="iteration limit"):
        KernelPCA(30, kernel="rbf", gamma=50.0, eigen_solver="krylov", max_iter=1, tol=1e-14).fit(X)


@pytest.mark.parametrize("solver", ["auto", "lowrank"])
def test_pickle_and_file(X, tmp_path, solver):
    ours = KernelPCA(2, kernel="rbf", gamma=0.5, eigen_solver=solver, whiten=True).fit(X)
    mercer.save(ours, tmp_path / "k.mercer")
    for back in (pickle.loads(pickle.dumps(ours)), mercer.load(tmp_path / "k.mercer")):
        np.testing.assert_array_equal(back.transform(X), ours.transform(X))
        np.testing.assert_array_equal(back.reconstruction_error(X), ours.reconstruction_error(X))
        assert str(back.summary_) == str(ours.summary_)
    assert mercer.info(tmp_path / "k.mercer")["kind"] == "kernel-pca"


def test_a_file_leaves_the_ridge_map_out_and_says_so(X, tmp_path):
    ours = KernelPCA(2, kernel="gaussian(2)", fit_inverse_transform=True).fit(X)
    with pytest.warns(UserWarning, match="components only.*pre-images"):
        mercer.save(ours, tmp_path / "k.mercer")
    back = mercer.load(tmp_path / "k.mercer")
    Z = ours.transform(X[:5])
    np.testing.assert_allclose(back.transform(X[:5]), Z, rtol=1e-12)
    plain = KernelPCA(2, kernel="gaussian(2)").fit(X)
    np.testing.assert_allclose(back.inverse_transform(Z), plain.inverse_transform(Z), rtol=1e-6)


@pytest.mark.parametrize("kernel", ["gaussian([1, 2, 3, 4])", "gaussian(2).on(2, 3)"])
def test_a_ridge_map_that_the_kernel_has_not(X, kernel):
    with pytest.raises(ValueError, match='fit_inverse_transform.*2 scores.*preimage="best"'):
        KernelPCA(2, kernel=kernel, fit_inverse_transform=True).fit(X)
    assert KernelPCA(2, kernel=kernel, preimage="best").fit(X).denoise(X[:3]).shape == (3, 4)
    with pytest.raises(ValueError, match="alpha"):
        KernelPCA(2, kernel="gaussian(2)", alpha=-1.0, fit_inverse_transform=True).fit(X)


def test_the_word_of_preimages_is_checked_by_fit(X):
    with pytest.raises(ValueError, match="preimage must be one of auto, best"):
        KernelPCA(2, preimage="nearest").fit(X)


def test_landmarks_are_copied(X):
    landmarks = X[:30].copy()
    ours = KernelPCA(2, kernel="gaussian(2)", eigen_solver="lowrank", landmarks=landmarks).fit(X)
    before = ours.transform(X)
    landmarks[:] = 7
    np.testing.assert_array_equal(ours.transform(X), before)
