"""PCA against scikit-learn: attributes, signs, numbers of components, files."""
# SPDX-License-Identifier: BSD-3-Clause
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA as Twin

import mercer
from mercer import PCA

SHAPES = [(60, 5), (8, 30), (40, 40), (300, 4)]


def rows(n, p, dtype=np.float64):
    rng = np.random.RandomState(0)
    return (rng.randn(n, p) * 0.8 ** np.arange(p) @ rng.randn(p, p) + 3).astype(dtype)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("whiten", [False, True])
def test_attributes_and_scores_are_scikit_learns(shape, whiten):
    X = rows(*shape)
    ours, twin = PCA(3, whiten=whiten).fit(X), Twin(3, whiten=whiten, svd_solver="full").fit(X)
    for name in ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(twin, name), rtol=1e-8, atol=1e-9, err_msg=name)
    assert ours.n_components_ == 3 and ours.n_samples_ == shape[0]
    assert ours.noise_variance_ == pytest.approx(twin.noise_variance_)
    np.testing.assert_allclose(ours.transform(X), twin.transform(X), atol=1e-8)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), twin.inverse_transform(twin.transform(X)), atol=1e-8)
    # The covariance of the rows does not depend on how scores are scaled; with whiten=True the twin scales its components twice.
    twin = Twin(3, svd_solver="full").fit(X)
    np.testing.assert_allclose(ours.get_covariance(), twin.get_covariance(), atol=1e-8)
    np.testing.assert_allclose(ours.get_precision(), twin.get_precision(), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ours.score_samples(X), twin.score_samples(X), rtol=1e-6)
    assert list(ours.get_feature_names_out()) == ["pca0", "pca1", "pca2"]


@pytest.mark.parametrize("solver", ["full", "covariance_eigh", "gram", "krylov", "arpack", "randomized"])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_route(solver, sparse):
    X = rows(50, 12)
    twin = Twin(4, svd_solver="full").fit(X)
    ours = PCA(4, svd_solver=solver).fit(sp.csr_array(X) if sparse else X)
    np.testing.assert_allclose(ours.components_, twin.components_, atol=1e-8)
    np.testing.assert_allclose(ours.transform(X), twin.transform(X), atol=1e-8)


@pytest.mark.parametrize("k", [None, 2, 0.5, 0.95, "mle"])
def test_number_of_components(k):
    X = rows(80, 7)
    assert PCA(k).fit(X).n_components_ == Twin(k, svd_solver="full").fit(X).n_components_


@pytest.mark.parametrize("k", [0, 8, -1, 1.5, "all", True])
def test_numbers_that_are_none(k):
    with pytest.raises(ValueError, match="n_components"):
        PCA(k).fit(rows(20, 7))


def test_float32_and_reconstruction_error():
    X = rows(50, 6, np.float32)
    ours = PCA(2).fit(X)
    assert ours.transform(X).dtype == np.float32 and ours.inverse_transform(ours.transform(X)).dtype == np.float32
    Y = X.astype(np.float64)
    np.testing.assert_allclose(ours.reconstruction_error(Y), ((Y - ours.inverse_transform(ours.transform(Y))) ** 2).sum(1), rtol=1e-8)


def test_pickle_and_file(tmp_path):
    X = rows(40, 5)
    ours = PCA(2, whiten=True).fit(X)
    mercer.save(ours, tmp_path / "pca.mercer")
    for back in (pickle.loads(pickle.dumps(ours)), mercer.load(tmp_path / "pca.mercer")):
        np.testing.assert_array_equal(back.transform(X), ours.transform(X))
        assert str(back.summary_) == str(ours.summary_) and back.n_features_in_ == 5
    assert mercer.info(tmp_path / "pca.mercer")["kind"] == "pca"
