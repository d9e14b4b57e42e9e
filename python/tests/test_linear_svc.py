"""LinearSVC against scikit-learn's: the same objective, reached at least as well."""
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC as ScikitLinearSVC

import mercer


def problem(n=300, d=12, classes=2, seed=0):
    X, y = make_classification(n, d, n_informative=6, n_classes=classes, class_sep=0.7, flip_y=0.05, random_state=seed)
    return X, np.asarray(["ant", "bee", "cow", "dog"])[y]


def objective(X, signs, w, b, weight, loss="squared_hinge", scaling=1.0):
    """The objective of one function, from its definition."""
    short = np.maximum(0, 1 - signs * (X @ w + b))
    return 0.5 * (w @ w + (b / scaling) ** 2) + weight @ (short**2 if loss == "squared_hinge" else short)


def total(model, X, y, weight=None, loss="squared_hinge", C=1.0, scaling=1.0, class_weight=None):
    """Over all classes, with LIBLINEAR's class weights: both of two, else that of the class on its turn."""
    weight = np.ones(len(y)) if weight is None else weight
    class_weight = class_weight or {}
    out = 0.0
    for k, (w, b) in enumerate(zip(model.coef_, model.intercept_, strict=True)):
        own = model.classes_[1 if len(model.coef_) == 1 else k]
        factor = np.asarray([class_weight.get(label, 1.0) if len(model.coef_) == 1 or label == own else 1.0 for label in y])
        out += objective(X, np.where(y == own, 1.0, -1.0), w, b, C * weight * factor, loss, scaling)
    return out


def twin(**parameters):
    return ScikitLinearSVC(**{"tol": 1e-9, "max_iter": 1_000_000, "random_state": 0} | parameters)


@pytest.mark.parametrize("dual", ["auto", True, False])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("classes", [2, 4])
def test_objective_and_coefficients_of_the_twin(loss, dual, classes):
    X, y = problem(classes=classes)
    ours = mercer.LinearSVC(loss=loss, dual=dual, tol=1e-8, C=0.5, max_iter=100000).fit(X, y)
    theirs = twin(loss=loss, dual=loss == "hinge", C=0.5).fit(X, y)
    best = total(theirs, X, y, loss=loss, C=0.5)
    assert total(ours, X, y, loss=loss, C=0.5) <= best * (1 + 1e-6)
    assert ours.summary_.objective == pytest.approx(best, rel=1e-6)
    assert 0 <= ours.summary_.relative_gap <= 1e-10
    assert ours.coef_.shape == theirs.coef_.shape and ours.intercept_.shape == theirs.intercept_.shape
    # The objective is 1-strongly convex: a gap of 1e-10 of it puts the minimisers this close.
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3 if loss == "hinge" else 1e-4)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=5e-3)
    if loss == "squared_hinge" or classes == 2:  # the hinge of a class that cannot be told from the rest is w = 0: scores of -1 all over, and ties
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("n", [40, 2000])
def test_sparse_and_narrow_rows_give_the_same_model(n):
    X, y = problem(n, 30)
    X[np.abs(X) < 0.8] = 0
    dense = mercer.LinearSVC(tol=1e-10).fit(X, y)
    for rows in (sp.csr_matrix(X), sp.csr_array(X), sp.csc_matrix(X), np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        np.testing.assert_allclose(mercer.LinearSVC(tol=1e-10).fit(rows, y).coef_, dense.coef_, atol=1e-6)
    narrow = X.astype(np.float32)
    exact = mercer.LinearSVC(tol=1e-10).fit(narrow.astype(np.float64), y)
    for rows in (narrow, sp.csr_matrix(narrow)):
        np.testing.assert_allclose(mercer.LinearSVC(tol=1e-10).fit(rows, y).coef_, exact.coef_, atol=1e-6)
    np.testing.assert_allclose(dense.decision_function(sp.csr_matrix(X)), dense.decision_function(X), atol=1e-10)


def test_wide_rows_take_coordinate_descent():
    rng = np.random.default_rng(0)
    X = sp.random(60, 3000, 0.02, format="csr", random_state=rng, data_rvs=rng.standard_normal)
    y = rng.integers(0, 2, 60)
    ours = mercer.LinearSVC(tol=1e-8).fit(X, y)
    assert ours.summary_.method == "coordinate descent"
    newton = mercer.LinearSVC(tol=1e-8, dual=False).fit(X, y)
    assert newton.summary_.method == "Newton"
    best = total(twin(dual=True).fit(X, y), X, y)
    assert total(ours, X, y) <= best * (1 + 1e-6) and total(newton, X, y) <= best * (1 + 1e-6)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("class_weight", [{"ant": 3.0, "bee": 0.5}, "balanced"])
def test_weights_as_the_twin_has_them(classes, class_weight):
    X, y = problem(250, classes=classes)
    weight = np.random.default_rng(1).uniform(0.2, 3, len(y))
    ours = mercer.LinearSVC(tol=1e-9, class_weight=class_weight).fit(X, y, sample_weight=weight)
    theirs = twin(class_weight=class_weight).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    if class_weight != "balanced":
        assert total(ours, X, y, weight, class_weight=class_weight) <= total(theirs, X, y, weight, class_weight=class_weight) * (1 + 1e-8)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_weights_are_repetitions(loss):
    X, y = problem(120)
    times = np.random.default_rng(2).integers(0, 4, len(y))
    weighted = mercer.LinearSVC(loss=loss, tol=1e-9, max_iter=100000).fit(X, y, sample_weight=times)
    repeated = mercer.LinearSVC(loss=loss, tol=1e-9, max_iter=100000).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)
    lam = 0.01
    by_lambda = mercer.LinearSVC(loss=loss, lambda_=lam, tol=1e-9, max_iter=100000).fit(X, y, sample_weight=times)
    by_C = mercer.LinearSVC(loss=loss, C=1 / (2 * lam * times.sum()), tol=1e-9, max_iter=100000).fit(X, y, sample_weight=times)
    np.testing.assert_array_equal(by_lambda.coef_, by_C.coef_)


@pytest.mark.parametrize("scaling", [0.1, 1, 25.0])
def test_intercept_scaling(scaling):
    X, y = problem(200)
    X = X + 3
    ours = mercer.LinearSVC(intercept_scaling=scaling, tol=1e-9).fit(X, y)
    theirs = twin(intercept_scaling=scaling, dual=False).fit(X, y)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    assert total(ours, X, y, scaling=scaling) <= total(theirs, X, y, scaling=scaling) * (1 + 1e-8)
    without = mercer.LinearSVC(fit_intercept=False, tol=1e-9).fit(X, y)
    assert without.intercept_ == 0
    np.testing.assert_allclose(without.coef_, twin(fit_intercept=False).fit(X, y).coef_, atol=1e-4)


def test_unscaled_columns_and_extreme_penalties():
    X, y = problem(200)
    X = X * np.logspace(-3, 4, X.shape[1])
    for C in (1e-8, 1.0, 1e4):
        ours = mercer.LinearSVC(C=C).fit(X, y)
        assert np.isfinite(ours.coef_).all() and ours.summary_.relative_gap <= 1e-6, C


def test_default_tolerance_is_as_good_as_the_twins():
    X, y = problem(2000, 20)
    assert total(mercer.LinearSVC().fit(X, y), X, y) <= total(ScikitLinearSVC().fit(X, y), X, y) * (1 + 1e-7)


@pytest.mark.parametrize("dual", [True, False])
def test_thread_count_does_not_matter(dual):
    X, y = problem(3000, 25, classes=3)
    for rows in (X, sp.csr_matrix(X)):
        one = mercer.LinearSVC(dual=dual, n_jobs=1, C=0.01).fit(rows, y)
        two = mercer.LinearSVC(dual=dual, n_jobs=2, C=0.01).fit(rows, y)
        np.testing.assert_array_equal(one.coef_, two.coef_)
        np.testing.assert_array_equal(one.intercept_, two.intercept_)


def test_seeds():
    X, y = problem(100)
    fit = lambda state: mercer.LinearSVC(dual=True, random_state=state, max_iter=100000).fit(X, y).coef_
    np.testing.assert_array_equal(fit(3), fit(3))
    assert not np.array_equal(fit(3), fit(4))
    np.testing.assert_array_equal(fit(None), fit(0))
    np.testing.assert_array_equal(fit(np.random.RandomState(1)), fit(np.random.RandomState(1)))


def test_iteration_limit_warns_and_leaves_a_usable_model():
    X, y = problem(300)
    for dual in (True, False):
        with pytest.warns(ConvergenceWarning, match="limit of 1"):
            model = mercer.LinearSVC(loss="hinge", dual=dual, max_iter=1, tol=1e-9).fit(X, y)
        assert model.summary_.status == "iteration limit" and model.n_iter_ == 1
        assert model.score(X, y) > 0.6
        assert model.summary_.gap > 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"penalty": "l1"}, "'l1' is not offered: use scikit-learn"),
        ({"penalty": "l3"}, "penalty must be 'l2', got 'l3'"),
        ({"loss": "logistic"}, "loss must be 'squared_hinge' or 'hinge', got 'logistic'"),
        ({"multi_class": "crammer_singer"}, "not offered: use 'ovr'"),
        ({"dual": "yes"}, "dual must be 'auto', True or False, got 'yes'"),
        ({"C": 0}, "C must be a finite number > 0, got 0"),
        ({"C": np.inf}, "C must be a finite number > 0"),
        ({"tol": -1}, "tol must be a finite number > 0"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
        ({"lambda_": -1}, "lambda_ must be a finite number > 0, or None"),
        ({"intercept_scaling": 0}, "intercept_scaling must be a finite number > 0"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        mercer.LinearSVC(**parameters).fit(*problem(20))


def test_wrong_data():
    X, y = problem(20)
    with pytest.raises(ValueError, match="one class"):
        mercer.LinearSVC().fit(X, np.zeros(20))
    with pytest.raises(ValueError, match="no sample of positive weight"):
        mercer.LinearSVC().fit(X, y, sample_weight=(y == "ant").astype(float))
    with pytest.raises(ValueError, match="sample_weight must be >= 0"):
        mercer.LinearSVC().fit(X, y, sample_weight=-np.ones(20))
    with pytest.raises(ValueError, match="NaN"):
        mercer.LinearSVC().fit(np.where(X == X[3, 1], np.nan, X), y)
    with pytest.raises(ValueError, match="expecting 12 features"):
        mercer.LinearSVC().fit(X, y).predict(X[:, :3])
    with pytest.raises(MemoryError, match="a linear SVM on 20 rows"):
        mercer.LinearSVC(memory=100).fit(X, y)


def test_rows_are_left_alone():
    X, y = problem(50)
    before = X.copy()
    mercer.LinearSVC().fit(X, y)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("classes", [2, 3])
def test_files_and_pickles(tmp_path, classes):
    X, y = problem(100, classes=classes)
    model = mercer.LinearSVC(loss="hinge", C=0.3, max_iter=100000).fit(X, y)
    restored = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(restored.decision_function(X), model.decision_function(X))
    mercer.save(model, tmp_path / "m.mercer")
    loaded = mercer.load(tmp_path / "m.mercer")
    assert isinstance(loaded, mercer.LinearSVC) and loaded.loss == "hinge" and loaded.C == 0.3
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.coef_, model.coef_)
    assert str(loaded.summary_) == str(model.summary_)
    assert mercer.info(tmp_path / "m.mercer")["kind"] == "linear-svc"
    np.testing.assert_allclose(model.model_.decision(X), model.decision_function(X))
