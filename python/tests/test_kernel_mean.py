"""The class-mean classifier against scikit-learn's nearest centroid and kernel densities, and the life of its estimator."""
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KernelDensity, NearestCentroid

import mercer


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=200)
    return rng.normal(size=(200, 2)) + np.c_[y, y % 2], y


def test_linear_is_the_nearest_centroid(three):
    X, y = three
    for labels in (y, y == 1):
        twin = NearestCentroid().fit(X, labels)
        ours = mercer.KernelMeanClassifier("linear").fit(X, labels)
        np.testing.assert_array_equal(ours.predict(X), twin.predict(X))
        between = np.linalg.norm(twin.centroids_[:, None] - twin.centroids_[None], axis=-1)
        np.testing.assert_allclose(ours.distances_, between, atol=1e-9)
        np.testing.assert_allclose(ours.mean_gram_, twin.centroids_ @ twin.centroids_.T, atol=1e-12)


def test_the_formula_in_numpy(three):
    X, y = three[0], three[1] == 2
    weights = np.linspace(0.1, 2, len(y))
    model = mercer.KernelMeanClassifier(gamma=0.7).fit(X, y, sample_weight=weights)
    K = np.exp(-0.7 * ((X[:, None] - X[None]) ** 2).sum(-1))
    first, second = ((weights * (y == side)) / weights[y == side].sum() for side in (False, True))
    b = (first @ K @ first - second @ K @ second) / 2
    np.testing.assert_allclose(model.decision_function(X), K @ (second - first) + b, atol=1e-12)
    assert model.intercept_ == pytest.approx([b], abs=1e-13)
    scores = model.class_scores(X)
    np.testing.assert_allclose(scores[:, 1] - scores[:, 0], model.decision_function(X), atol=1e-13)


def test_parzen_is_bayes_on_kernel_densities(three):
    X, y = three
    for priors, expected in ((None, np.full(3, 1 / 3)), ("empirical", np.bincount(y) / len(y)), ([1, 2, 5], np.array([1, 2, 5]) / 8)):
        model = mercer.KernelMeanClassifier("gaussian(0.4)", rule="parzen", priors=priors).fit(X, y)
        np.testing.assert_allclose(model.priors_, expected)
        log_density = np.column_stack([KernelDensity(bandwidth=0.4, rtol=1e-12).fit(X[y == c]).score_samples(X) for c in range(3)])
        np.testing.assert_allclose(model.log_densities(X), log_density, atol=1e-9)
        joint = expected * np.exp(log_density)
        np.testing.assert_allclose(model.predict_proba(X), joint / joint.sum(axis=1, keepdims=True), atol=1e-9)
        np.testing.assert_array_equal(model.predict(X), joint.argmax(axis=1))
        np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), rtol=1e-12)


def test_only_windows_have_probabilities(three):
    X, y = three
    model = mercer.KernelMeanClassifier().fit(X, y)
    assert not hasattr(model, "predict_proba") and not hasattr(model, "n_iter_")
    with pytest.raises(NotImplementedError, match="known mass"):
        mercer.KernelMeanClassifier("laplacian(1)").fit(X, y).log_densities(X)


def test_means_that_coincide_are_said():
    X, y = np.array([[-1.0], [1.0], [-2.0], [2.0]]), [0, 0, 1, 1]
    model = mercer.KernelMeanClassifier("linear").fit(X, y)
    assert model.summary_.coincide and "the means of classes 0 and 1 coincide" in str(model.summary_)
    assert not mercer.KernelMeanClassifier().fit(X, y).summary_.coincide


def test_sparse_precomputed_and_threads(three):
    X, y = three
    model = mercer.KernelMeanClassifier("gaussian(1)").fit(X, y)
    np.testing.assert_allclose(mercer.KernelMeanClassifier("gaussian(1)").fit(sp.csr_array(X), y).decision_function(X), model.decision_function(X), atol=1e-10)
    K = mercer.kernels.Gaussian(1.0)(X)
    np.testing.assert_allclose(mercer.KernelMeanClassifier("precomputed").fit(K, y).decision_function(K), model.decision_function(X), atol=1e-12)
    np.testing.assert_array_equal(mercer.KernelMeanClassifier("gaussian(1)", n_jobs=2).fit(X, y).decision_function(X), model.decision_function(X))


def test_files_and_pickles(three, tmp_path):
    X, y = three
    for labels in (y, np.array(["a", "b", "c"])[y], y == 1):
        for rule in ("nearest", "parzen"):
            model = mercer.KernelMeanClassifier("gaussian(0.5)", rule=rule).fit(X, labels)
            mercer.save(model, tmp_path / "m.mercer")
            again = mercer.load(tmp_path / "m.mercer")
            assert isinstance(again, mercer.KernelMeanClassifier) and again.rule == rule
            np.testing.assert_array_equal(again.class_scores(X), model.class_scores(X))
            np.testing.assert_array_equal(again.predict(X).astype(str), model.predict(X).astype(str))
            np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
            again.fit(X, labels)  # what it was loaded with can be fitted again
    assert mercer.info(tmp_path / "m.mercer")["kind"] == "mean"


def test_what_cannot_be_fitted_is_said(three):
    X, y = three
    for parameters, message in (
        ({"rule": "median"}, 'rule must be "nearest" or "parzen"'),
        ({"priors": "empirical"}, 'priors are for rule="parzen"'),
        ({"rule": "parzen", "priors": "known"}, 'priors must be None, "empirical" or one number per class'),
        ({"rule": "parzen", "priors": [1, 2]}, r"priors must be one number per class \(3\)"),
        ({"rule": "parzen", "priors": [1, 2, 0]}, "priors must be finite and > 0"),
        ({"rule": "parzen", "kernel": "linear"}, "no Parzen window"),
        ({"kernel": "sigmoid"}, "no distance to a mean"),
    ):
        with pytest.raises(ValueError, match=message):
            mercer.KernelMeanClassifier(**parameters).fit(X, y)
    with pytest.raises(ValueError, match="the class 1 has no sample of positive weight"):
        mercer.KernelMeanClassifier().fit(X, y, sample_weight=(y != 1).astype(float))
    with pytest.raises(ValueError, match="at least two classes"):
        mercer.KernelMeanClassifier().fit(X, np.zeros(len(X)))
