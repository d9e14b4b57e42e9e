"""Kernels and models on Gram matrices that are given."""
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge as Twin
from sklearn.model_selection import GridSearchCV
from sklearn.utils import get_tags

import mercer
from mercer.kernels import Constant, Gaussian, Linear, Precomputed, White


@pytest.fixture
def grams(rng):
    X, new = rng.normal(size=(300, 3)), rng.normal(size=(7, 3))
    return Gaussian(1)(X), Gaussian(1)(new, X)


def test_it_is_the_matrix(grams):
    K, K_new = grams
    k = Precomputed()
    np.testing.assert_array_equal(k(K), K)
    np.testing.assert_array_equal(k(K, K), K)
    np.testing.assert_array_equal(k(K_new, K), K_new)
    np.testing.assert_array_equal(k.diag(K), np.diag(K))
    np.testing.assert_array_equal(k(pd.DataFrame(K)), K)
    np.testing.assert_array_equal(k(sp.csr_array(K)), K)
    assert k(K.astype(np.float32)).dtype == np.float32
    np.testing.assert_array_equal(mercer.gram(K, kernel="precomputed"), K)


def test_algebra(grams):
    K, K_new = grams
    k = 2 * Precomputed() ** 2 + White(0.5) + Constant(1)
    np.testing.assert_allclose(k(K), 2 * K**2 + 0.5 * np.eye(300) + 1, rtol=1e-14)
    np.testing.assert_allclose(k(K_new, K), 2 * K_new**2 + 1, rtol=1e-14)
    assert str(k) == "2*precomputed^2 + white(0.5) + constant(1)" and k.needs_given_gram
    gradient = k.gradient(K, np.ones((300, 300)))
    np.testing.assert_allclose(gradient, [2 * (K**2).sum(), 0.5 * 300, 300**2], rtol=1e-12)


@pytest.mark.parametrize(
    ("k", "K", "objects", "message"),
    [
        (Precomputed(), np.ones((2, 3)), None, r"square matrix of k\(x_i, x_j\), got shape \(2, 3\)"),
        (Precomputed(), np.ones((2, 3)), np.eye(2), r"against 2 objects must have 2 columns, got shape \(2, 3\)"),
        (Precomputed(), np.ones((2, 3)), np.ones((3, 2)), r"square matrix .* got shape \(3, 2\)"),
        (Precomputed(), [[1.0, 0.5], [0.2, 1.0]], None, r"not symmetric: K\(1, 0\) = 0.2 but K\(0, 1\) = 0.5"),
        (Precomputed(), [[np.nan]], None, "the Gram matrix has a NaN in row 0, column 0"),
        (Precomputed() + Linear(), np.eye(2), None, "given Gram matrix"),
        (Precomputed().on(0), np.eye(2), None, "given Gram matrix has none"),
        (Precomputed() * Gaussian("auto"), np.eye(2), None, "given Gram matrix has none"),
    ],
)
def test_wrong_matrices(k, K, objects, message):
    with pytest.raises(ValueError, match=message):
        k(K, objects)


@pytest.mark.parametrize("kernel", ["precomputed", Precomputed(), "0.5*precomputed + white(0.1)"], ids=str)
def test_kernel_ridge(kernel, grams, rng, tmp_path):
    K, K_new = grams
    Y = rng.normal(size=(300, 2))
    expected_K, expected_new = (K, K_new) if "white" not in str(kernel) else (0.5 * K + 0.1 * np.eye(300), 0.5 * K_new)
    theirs = Twin(alpha=0.3, kernel="precomputed").fit(expected_K, Y)
    ours = mercer.KernelRidge(0.3, kernel=kernel).fit(K, Y)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-8, atol=1e-10)
    expected = theirs.predict(expected_new)
    mercer.save(ours, tmp_path / "m.mercer")
    loaded = mercer.load(tmp_path / "m.mercer")
    for model in (ours, pickle.loads(pickle.dumps(ours)), loaded, clone(ours).fit(sp.csr_array(K), Y)):
        np.testing.assert_allclose(model.predict(K_new), expected, rtol=1e-8, atol=1e-10)
        assert get_tags(model).input_tags.pairwise and model.kernel_ == mercer.kernel(kernel) and model.n_features_in_ == 300
    np.testing.assert_allclose(ours.model_.decision(K_new[2]), expected[2], rtol=1e-8)
    np.testing.assert_array_equal(ours.X_fit_, K)
    with pytest.raises(AttributeError, match="does not keep the Gram matrix"):
        loaded.X_fit_  # noqa: B018
    with pytest.raises(ValueError, match="X has 299 features, but KernelRidge is expecting 300"):
        ours.predict(K_new[:, 1:])


def test_grid_search_splits_both_sides(grams, rng):
    K, _ = grams
    y = rng.normal(size=300)
    ours, theirs = (GridSearchCV(E(kernel="precomputed"), {"alpha": [0.01, 0.1, 1, 10]}, cv=4).fit(K, y) for E in (mercer.KernelRidge, Twin))
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-7)
    assert ours.best_params_ == theirs.best_params_


def test_the_models_matrix_is_its_own(grams, rng):
    K, K_new = grams
    K = K.copy()
    model = mercer.KernelRidge(kernel="precomputed").fit(K, rng.normal(size=300))
    before = model.predict(K_new)
    K[:] = 0
    np.testing.assert_array_equal(model.predict(K_new), before)
    assert model.X_fit_[0, 0] == 1


def test_diagnosis_and_functions_of_the_space(grams, rng):
    K, K_new = grams
    a = rng.normal(size=300)
    f = mercer.RKHSFunction("precomputed", K, a)
    np.testing.assert_allclose(f(K_new), K_new @ a, rtol=1e-10, atol=1e-12)
    assert f @ f == pytest.approx(a @ K @ a) and (2 * f)(K_new) == pytest.approx(2 * K_new @ a)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))(K_new), f(K_new))
    assert mercer.check_kernel(Precomputed(), K).psd
