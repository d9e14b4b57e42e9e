"""Kernel logistic regression against scikit-learn's on explicit features, and the life of its estimator."""
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import mercer


def objective(C, weights, y, scores, squared_norm):
    """scikit-learn's: C sum w logloss + |w|^2 / 2."""
    if scores.ndim == 1:
        loss = np.logaddexp(0, -np.where(y == 1, 1, -1) * scores)
    else:
        loss = np.logaddexp.reduce(scores, axis=1) - scores[np.arange(len(y)), y]
    return C * weights @ loss + squared_norm / 2


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3))
    y = np.argmax(X @ rng.normal(size=(3, 3)) + 0.7 * rng.normal(size=(240, 3)), axis=1)
    return X, y


def quadratic(X):
    """The feature map of (1 + <x, y>)^2."""
    i, j = np.triu_indices(X.shape[1], 1)
    return np.column_stack([np.ones(len(X)), np.sqrt(2) * X, X**2, np.sqrt(2) * X[:, i] * X[:, j]])


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kernel", ["linear", "polynomial"])
def test_the_optimum_of_scikit_learn_on_explicit_features(three, C, classes, kernel):
    X, y = three[0], np.minimum(three[1], classes - 1)
    F = X if kernel == "linear" else quadratic(X)
    weights = np.linspace(0.2, 2, len(y))
    twin = LogisticRegression(C=C, tol=1e-10, max_iter=10000).fit(F, y, sample_weight=weights)
    ours = mercer.KernelLogisticRegression(C, kernel=kernel, gamma=1.0, degree=2).fit(X, y, sample_weight=weights)
    theirs = objective(C, weights, y, twin.decision_function(F), (twin.coef_**2).sum())
    mine = objective(C, weights, y, ours.decision_function(X), ours.summary_.squared_norm)
    assert mine == pytest.approx(theirs, rel=1e-6)
    assert mine <= theirs * (1 + 1e-7)
    assert ours.summary_.objective == pytest.approx(mine / (C * weights.sum()), rel=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), twin.predict_proba(F), atol=1e-3)


def test_class_weights_are_those_of_scikit_learn(three):
    X, y = three
    for class_weight in ("balanced", {0: 2.0, 1: 0.5, 2: 1.0}):
        twin = LogisticRegression(tol=1e-10, max_iter=10000, class_weight=class_weight).fit(X, y)
        ours = mercer.KernelLogisticRegression(kernel="linear", class_weight=class_weight).fit(X, y)
        np.testing.assert_allclose(ours.predict_proba(X), twin.predict_proba(X), atol=1e-4)


def test_probabilities_labels_and_scores_agree(three):
    X, y = three
    names = np.array(["ash", "birch", "cedar"])[y]
    model = mercer.KernelLogisticRegression(10, gamma=0.5).fit(X, names)
    p = model.predict_proba(X)
    assert list(model.classes_) == ["ash", "birch", "cedar"] and p.shape == (240, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p, rtol=1e-12)
    assert model.decision_function(X).shape == (240, 3)
    two = mercer.KernelLogisticRegression(gamma=0.5).fit(X, y == 0)
    np.testing.assert_allclose(two.predict_proba(X)[:, 1], 1 / (1 + np.exp(-two.decision_function(X))), rtol=1e-12)
    assert model.score(X, names) > 0.8 and model.n_iter_ == model.summary_.iterations


def test_landmarks_and_sparse_and_single_rows(three):
    X, y = three
    exact = mercer.KernelLogisticRegression(gamma=0.1).fit(X, y)
    some = mercer.KernelLogisticRegression(gamma=0.1, solver="nystrom", n_landmarks=120, random_state=1).fit(X, y)
    assert some.summary_.landmarks == 120 and some.X_fit_.shape == (120, 3) and "120 landmarks of 240" in str(some.summary_)
    # Half of the rows span all but an outlier or two: the optimum over their span is above the exact one, and near it.
    assert exact.summary_.objective * (1 - 1e-7) <= some.summary_.objective <= exact.summary_.objective * (1 + 1e-3)
    np.testing.assert_allclose(some.predict_proba(X), exact.predict_proba(X), atol=1e-2)
    np.testing.assert_allclose(mercer.KernelLogisticRegression(gamma=0.1).fit(sp.csr_array(X), y).predict_proba(X), exact.predict_proba(X), atol=1e-9)
    single = mercer.KernelLogisticRegression(gamma=0.1).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.predict_proba(X.astype(np.float32)), exact.predict_proba(X), atol=1e-5)


def test_files_and_pickles(three, tmp_path):
    X, y = three
    for labels in (y, np.array(["a", "b", "c"])[y], y == 1):
        model = mercer.KernelLogisticRegression(gamma=0.3).fit(X, labels)
        mercer.save(model, tmp_path / "m.mercer")
        again = mercer.load(tmp_path / "m.mercer")
        assert isinstance(again, mercer.KernelLogisticRegression)
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(again.predict(X).astype(str), model.predict(X).astype(str))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert mercer.info(tmp_path / "m.mercer")["kind"] == "logistic"


def test_what_cannot_be_fitted_is_said(three):
    X, y = three
    for parameters, message in (
        ({"C": 0}, "C must be a finite number > 0, got 0"),
        ({"solver": "lbfgs"}, 'solver must be "auto", "exact" or "nystrom"'),
        ({"kernel": "sigmoid"}, "not positive semi-definite"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
    ):
        with pytest.raises(ValueError, match=message):
            mercer.KernelLogisticRegression(**parameters).fit(X, y)
    with pytest.raises(ValueError, match="at least two classes"):
        mercer.KernelLogisticRegression().fit(X, np.zeros(len(X)))
    with pytest.warns(ConvergenceWarning, match="iteration limit reached: 1 Newton steps"):
        mercer.KernelLogisticRegression(1e4, max_iter=1).fit(X, y)
