"""Support vector machines against scikit-learn's, naive routes to the same optimum, and themselves."""
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from conftest import close
from sklearn import svm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV

import mercer
from mercer.kernels import Gaussian, Matern

TIGHT = 1e-8


def data(kind, n=150, d=4, seed=3):
    """Rows, targets and new rows; classes overlap, so that the optimum has coefficients at the bound and free ones."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    f = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n)
    y = {"two": np.where(f > 0, "yes", "no"), "many": np.digitize(f, [-0.8, 0.1, 0.9]), "numbers": f, "one": None}[kind]
    return X, y, rng.normal(size=(40, d))


PAIRS = [
    ("SVC", "two", {"C": 2.0}),
    ("SVC", "many", {"C": 2.0}),
    ("SVC", "many", {"C": 2.0, "decision_function_shape": "ovo"}),
    ("SVC", "two", {"kernel": "linear", "C": 0.5}),
    ("SVC", "many", {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": "auto"}),
    ("SVC", "two", {"kernel": "poly"}),
    ("SVC", "two", {"kernel": "sigmoid", "gamma": 0.01, "coef0": 0.1}),
    ("SVC", "many", {"class_weight": {0: 3.0, 2: 0.5}}),
    ("SVC", "many", {"class_weight": "balanced"}),
    ("NuSVC", "two", {"nu": 0.3}),
    ("NuSVC", "many", {"nu": 0.3}),
    ("SVR", "numbers", {"C": 3.0, "epsilon": 0.2}),
    ("SVR", "numbers", {"kernel": "linear"}),
    ("SVR", "numbers", {"kernel": "poly", "degree": 2, "coef0": 1.0, "epsilon": 0.0}),
    ("NuSVR", "numbers", {"nu": 0.4, "C": 3.0}),
    ("OneClassSVM", "one", {"nu": 0.3}),
    ("OneClassSVM", "one", {"nu": 0.1, "gamma": 0.7}),
]
IDS = [f"{name}-{kind}-{'-'.join(map(str, parameters.values()))}" for name, kind, parameters in PAIRS]


def values(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def both(name, parameters, *fitted, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        return (getattr(package, name)(**parameters, **more).fit(*fitted) for package in (mercer, svm))


@pytest.mark.parametrize(("name", "kind", "parameters"), PAIRS, ids=IDS)
class TestAgainstScikitLearn:
    def test_at_the_default_tolerance(self, name, kind, parameters):
        X, y, new = data(kind)
        twin = getattr(svm, name)(**parameters, tol=TIGHT).fit(X, y)  # at 1e-3 it is further from the optimum than we are
        close(values(getattr(mercer, name)(**parameters).fit(X, y), new), values(twin, new), 2e-3)

    def test_at_a_tight_tolerance(self, name, kind, parameters):
        X, y, new = data(kind)
        ours, twin = both(name, parameters, X, y, tol=TIGHT)
        close(values(ours, new), values(twin, new), 1e-5)
        close(ours.intercept_, twin.intercept_, 1e-5)
        if name not in ("SVR", "NuSVR"):
            np.testing.assert_array_equal(ours.predict(new), twin.predict(new))
        if parameters.get("kernel", "rbf") == "rbf":  # a strictly positive definite kernel has one optimum
            np.testing.assert_array_equal(ours.support_, twin.support_)
            np.testing.assert_array_equal(ours.n_support_, twin.n_support_)
            np.testing.assert_array_equal(ours.support_vectors_, twin.support_vectors_)
            close(ours.dual_coef_, twin.dual_coef_, 1e-4)
        if parameters.get("kernel") == "linear":
            close(ours.coef_, twin.coef_, 1e-5)

    def test_shapes_and_kinds_of_attributes(self, name, kind, parameters):
        X, y, new = data(kind)
        ours, twin = both(name, parameters, X, y)
        for attribute in ("support_", "n_support_", "intercept_", "shape_fit_", "fit_status_", "n_iter_", "dual_coef_", "support_vectors_"):
            a, b = getattr(ours, attribute), getattr(twin, attribute)
            assert np.ndim(a) == np.ndim(b), attribute
            if attribute not in ("support_", "dual_coef_", "support_vectors_"):
                assert np.shape(a) == np.shape(b), attribute
        assert hasattr(ours, "coef_") == hasattr(twin, "coef_")
        if kind in ("two", "many"):
            np.testing.assert_array_equal(ours.classes_, twin.classes_)
            np.testing.assert_allclose(ours.class_weight_, twin.class_weight_)
        assert values(ours, new).shape == values(twin, new).shape
        assert ours.predict(new).dtype == twin.predict(new).dtype
        assert ours.n_features_in_ == 4 and ours.gap_ >= -1e-9 and "converged" in str(ours.summary_)

    def test_sample_weights(self, name, kind, parameters):
        X, y, new = data(kind)
        weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
        if name in ("SVR", "SVC"):
            ours, twin = (getattr(package, name)(**parameters, tol=TIGHT).fit(X, y, sample_weight=weight) for package in (mercer, svm))
        else:  # LIBSVM's nu does not count weights; that of repeated rows does
            weight = np.random.default_rng(0).integers(1, 3, len(X)).astype(float)
            repeated, fixed = weight.astype(int), {**parameters, "gamma": 0.3}
            ours = getattr(mercer, name)(**fixed, tol=TIGHT).fit(X, y, sample_weight=weight)
            twin = getattr(svm, name)(**fixed, tol=TIGHT).fit(np.repeat(X, repeated, axis=0), None if y is None else np.repeat(y, repeated))
        close(values(ours, new), values(twin, new), 1e-5)


def dual_objective(model, K, y, C):
    """Of two classes, from coefficients alone: 1/2 b'Kb - sum |b|."""
    b = np.zeros(len(y))
    b[model.support_] = model.dual_coef_[0]
    assert abs(b.sum()) < 1e-9 * C * len(y) and np.abs(b).max() <= C * (1 + 1e-12)
    return 0.5 * b @ K @ b - np.abs(b).sum()


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_dual_objective_is_no_worse(C):
    X, y, _ = data("two", n=300)
    K = rbf_kernel(X, gamma=0.3)
    ours, twin = both("SVC", {"C": C, "gamma": 0.3}, X, y, tol=1e-5)
    mine, theirs = dual_objective(ours, K, y, C), dual_objective(twin, K, y, C)
    assert mine <= theirs + 1e-6 * abs(theirs)
    assert ours.objective_ == pytest.approx(mine, rel=1e-9)


class TestForms:
    """The same model from every form of the same data."""

    @pytest.mark.parametrize("name", ["SVC", "SVR", "OneClassSVM", "NuSVC", "NuSVR"])
    def test_dense_csr_float32_precomputed_and_callable(self, name):
        X, y, new = data({"SVC": "many", "NuSVC": "two", "OneClassSVM": "one"}.get(name, "numbers"))
        X[np.abs(X) < 0.5] = 0
        make = getattr(mercer, name)
        extra = {} if name in ("SVC", "SVR") else {"nu": 0.2}
        base = make(gamma=0.4, tol=TIGHT, **extra).fit(X, y)
        want = values(base, new)
        close(values(make(gamma=0.4, tol=TIGHT, **extra).fit(sp.csr_array(X), y), sp.csr_array(new)), want, 1e-6)
        close(values(make(gamma=0.4, tol=TIGHT, **extra).fit(sp.csr_array(X), y), new), want, 1e-6)
        close(values(base, sp.csr_array(new)), want)
        close(values(make(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.4), tol=TIGHT, **extra).fit(X, y), new), want, 1e-6)
        close(values(make(kernel=Gaussian(np.sqrt(0.5 / 0.4)), tol=TIGHT, **extra).fit(X, y), new), want, 1e-6)
        close(values(make(gamma=0.4, tol=TIGHT, **extra).fit(X.astype(np.float32), y), new.astype(np.float32)), want, 1e-4)
        given = make(kernel="precomputed", tol=TIGHT, **extra).fit(rbf_kernel(X, gamma=0.4), y)
        close(values(given, rbf_kernel(new, X, gamma=0.4)), want, 1e-6)
        close(values(given, rbf_kernel(new[:1], X, gamma=0.4)), want[:1], 1e-6)
        assert given.support_vectors_.shape == (0, 0)

    def test_scale_is_the_same_for_sparse_rows(self):
        X, y, new = data("two")
        X[np.abs(X) < 0.5] = 0
        ours, twin = both("SVC", {}, sp.csr_array(X), y, tol=TIGHT)
        close(ours.decision_function(sp.csr_array(new)), twin.decision_function(sp.csr_array(new)), 1e-5)
        close(ours.support_vectors_.toarray(), twin.support_vectors_.toarray())
        close(ours.dual_coef_, twin.dual_coef_.toarray(), 1e-4)

    @pytest.mark.parametrize("kind", ["two", "many"])
    def test_coef_of_sparse_rows(self, kind):
        X, y, _ = data(kind)
        dense, sparse = (mercer.SVC(kernel="linear", tol=TIGHT).fit(M, y) for M in (X, sp.csr_array(X)))
        close(sparse.coef_, dense.coef_, 1e-6)
        assert not dense.coef_.flags.writeable

    def test_constant_columns_have_a_scale(self):
        ours, twin = both("SVC", {}, np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
        close(ours.decision_function(np.ones((2, 2))), twin.decision_function(np.ones((2, 2))), 1e-3)

    def test_kernel_expressions(self):
        X, y, new = data("two")
        text, value = (mercer.SVC(kernel=k).fit(X, y) for k in ("0.5*matern(2.5, 2) + linear", 0.5 * Matern(2.5, 2) + mercer.kernel("linear")))
        np.testing.assert_array_equal(text.decision_function(new), value.decision_function(new))
        with pytest.warns(UserWarning, match="does not look at gamma"):
            mercer.SVC(kernel="gaussian(1)", gamma=2.0).fit(X, y)

    def test_model_does_not_look_at_the_rows_it_was_fitted_on(self):
        X, y, new = data("two", n=20)
        model = mercer.SVC(C=1e-3).fit(X, y)  # all rows are support vectors
        before = model.decision_function(new)
        X[:] = 7
        np.testing.assert_array_equal(model.decision_function(new), before)


class TestProbabilities:
    @pytest.mark.parametrize("kind", ["two", "many"])
    def test_sum_argmax_and_quality(self, kind):
        X, y, _ = data(kind, n=600)
        new, truth, _ = data(kind, n=600, seed=4)
        model = mercer.SVC(probability=True, random_state=0).fit(X, y)
        P = model.predict_proba(new)
        np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-9)
        np.testing.assert_array_equal(model.predict(new), model.classes_[P.argmax(axis=1)])
        np.testing.assert_array_equal(model.predict(new[:1]), model.classes_[P[:1].argmax(axis=1)])
        np.testing.assert_allclose(model.predict_log_proba(new), np.log(P))
        twin = CalibratedClassifierCV(svm.SVC(), ensemble=False).fit(X, y)
        assert log_loss(truth, P) < log_loss(truth, twin.predict_proba(new)) + 0.03
        again = mercer.SVC(probability=True, random_state=0).fit(X, y)
        np.testing.assert_array_equal(again.predict_proba(new), P)

    @pytest.mark.parametrize("kind", ["two", "many"])
    def test_sigmoids_have_the_twins_signs(self, kind):
        X, y, new = data(kind, n=400)
        ours = mercer.SVC(probability=True).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            twin = svm.SVC(probability=True, random_state=0).fit(X, y)
            np.testing.assert_allclose(ours.probA_, twin.probA_, rtol=0.35)
            assert np.abs(ours.probB_ - twin.probB_).max() < 0.6
            np.testing.assert_allclose(ours.predict_proba(new), twin.predict_proba(new), atol=0.12)
        if kind == "two":
            f = -ours.decision_function(new)  # positive for the first
            close(ours.predict_proba(new)[:, 0], 1 / (1 + np.exp(ours.probA_ * f + ours.probB_)))

    def test_only_when_asked_for(self):
        X, y, new = data("two")
        model = mercer.SVC().fit(X, y)
        assert not hasattr(model, "predict_proba") and not hasattr(model, "predict_log_proba") and len(model.probA_) == 0
        with pytest.raises(NotFittedError, match="fitted with probability=False"):
            model.set_params(probability=True).predict_proba(new)


class TestMargins:
    def test_hard_margin_of_separable_classes(self):
        X, y, new = data("two")
        X[y == "yes"] += [4, 4, 0, 0]
        hard = mercer.SVC(kernel="linear", hard_margin=True, tol=1e-9).fit(X, y)
        soft = svm.SVC(kernel="linear", C=1e8, tol=1e-9).fit(X, y)
        close(hard.coef_, soft.coef_, 1e-5)
        f = hard.decision_function(X) * np.where(y == "yes", 1, -1)
        assert f.min() == pytest.approx(1, abs=1e-6)
        assert 1 / np.sqrt(hard.model_.squared_norm[0]) == pytest.approx(1 / np.linalg.norm(hard.coef_), rel=1e-6)

    def test_hard_margin_of_the_parabola(self):
        x, y = mercer.datasets.parabola()
        model = mercer.SVC(kernel="linear", hard_margin=True).fit(np.column_stack([x, x**2]), y)
        close(model.coef_, [[0, 0.4]], 1e-9)
        close(model.intercept_, [-0.4 * 6.5], 1e-9)

    def test_hard_margin_that_cannot_be_had(self):
        X, y, _ = data("two")
        with pytest.warns(ConvergenceWarning, match="separa"):
            model = mercer.SVC(kernel="linear", hard_margin=True).fit(X, y)
        assert model.fit_status_ == 1 and model.summary_.status == "not separable"

    @pytest.mark.parametrize("name", ["SVC", "SVR"])
    def test_lambda_is_C_in_other_units(self, name):
        X, y, new = data("two" if name == "SVC" else "numbers")
        make = getattr(mercer, name)
        by_C, by_lambda = make(C=2.5, tol=TIGHT).fit(X, y), make(lambda_=1 / (2 * len(X) * 2.5), tol=TIGHT).fit(X, y)
        close(values(by_lambda, new), values(by_C, new), 1e-9)

    def test_without_intercept_against_projected_coordinate_descent(self):
        X, y, new = data("two", n=60)
        s, K = np.where(y == "yes", 1.0, -1.0), rbf_kernel(X, gamma=0.5)
        a, Q = np.zeros(60), s[:, None] * K * s
        for _ in range(3000):
            for i in range(60):
                a[i] = np.clip(a[i] - (Q[i] @ a - 1) / Q[i, i], 0, 2)
        model = mercer.SVC(C=2, gamma=0.5, fit_intercept=False, tol=TIGHT).fit(X, y)
        close(model.decision_function(new), rbf_kernel(new, X, gamma=0.5) @ (a * s), 1e-6)
        assert model.intercept_ == [0]

    def test_regression_without_intercept_against_the_primal(self):
        X, y, new = data("numbers", n=60)
        K, b = rbf_kernel(X, gamma=0.5), np.zeros(60)
        for _ in range(3000):  # coordinate descent on 1/2 b'Kb - y'b + epsilon |b|_1
            for i in range(60):
                r = y[i] - K[i] @ b + K[i, i] * b[i]
                b[i] = np.clip(np.sign(r) * max(abs(r) - 0.1, 0) / K[i, i], -1, 1)
        close(mercer.SVR(gamma=0.5, fit_intercept=False, tol=TIGHT).fit(X, y).predict(new), rbf_kernel(new, X, gamma=0.5) @ b, 1e-6)

    def test_share_of_nu(self):
        X, y, _ = data("numbers", n=400)
        model = mercer.NuSVR(nu=0.3, C=5, tol=1e-6).fit(X, y)
        outside = np.abs(y - model.predict(X)) > model.epsilon_ + 1e-6
        assert outside.mean() <= 0.3 <= len(model.support_) / 400
        one = mercer.OneClassSVM(nu=0.2, tol=1e-6).fit(X)
        assert (one.decision_function(X) < -1e-6).mean() <= 0.2 <= len(one.support_) / 400

    def test_one_class_scores(self):
        X, _, new = data("one")
        ours, twin = both("OneClassSVM", {"nu": 0.2}, X, tol=TIGHT)
        close(ours.score_samples(new), twin.score_samples(new), 1e-5)
        close(ours.offset_, twin.offset_, 1e-5)
        close(ours.score_samples(new) - ours.offset_, ours.decision_function(new))
        assert set(ours.fit_predict(X)) == {-1, 1}

    def test_regression_that_is_flat_has_no_support(self):
        X, _, new = data("one", n=20)
        ours, twin = both("SVR", {}, X, np.full(20, 3.0))
        assert len(ours.support_) == len(twin.support_) == 0 and ours.dual_coef_.shape == (1, 0) and ours.n_support_ == [0]
        np.testing.assert_allclose(ours.predict(new), 3, atol=0.1 + 1e-9)


class TestLimits:
    @pytest.mark.parametrize("name", ["SVC", "SVR"])
    def test_a_fit_goes_on_where_it_stopped(self, name):
        X, y, new = data("many" if name == "SVC" else "numbers", n=2500)
        whole = getattr(mercer, name)(C=10, gamma=0.5).fit(X, y)
        model = getattr(mercer, name)(C=10, gamma=0.5, max_iter=300, warm_start=True)
        with pytest.warns(ConvergenceWarning, match="stopped at the step limit"):
            model.fit(X, y)
        assert model.fit_status_ == 1
        first = model.objective_
        assert np.max(model.n_iter_) <= 300
        model.set_params(max_iter=-1).fit(X, y)
        assert model.fit_status_ == 0 and model.objective_ < first
        close(values(model, new), values(whole, new), 5e-3)
        steps = np.sum(model.n_iter_)
        assert np.sum(model.fit(X, y).n_iter_) < max(steps, np.sum(whole.n_iter_)) / 2  # from the optimum it is nearly done
        model.fit(X[:50], y[:50])  # other rows begin afresh

    @pytest.mark.parametrize("change", [{"C": 0.1}, {"C": 50.0}, {"fit_intercept": False}, {"gamma": 30.0, "hard_margin": True}])
    def test_a_warm_start_elsewhere_ends_at_the_same_optimum(self, change):
        X, y, new = data("two", n=200)
        other = np.where(y == "yes", "no", "yes")
        weight = np.random.default_rng(1).integers(0, 3, 200).astype(float)
        for labels, weights in ((y, None), (other, None), (y, weight)):
            warm = mercer.SVC(C=5, gamma=0.5, warm_start=True).fit(X, y).set_params(**change).fit(X, labels, weights)
            cold = mercer.SVC(C=5, gamma=0.5).set_params(**change).fit(X, labels, weights)
            close(warm.decision_function(new), cold.decision_function(new), 1e-6)

    @pytest.mark.parametrize("name", ["SVC", "SVR"])
    def test_a_warm_start_without_intercept_keeps_the_sum_of_coefficients_zero(self, name):
        X, y, new = data("two" if name == "SVC" else "numbers", n=200)
        X, y = (X, y) if name == "SVC" else (X, y + 5)
        make = getattr(mercer, name)
        warm = make(C=2, gamma=0.5, warm_start=True, fit_intercept=False).fit(X, y).set_params(fit_intercept=True).fit(X, y)
        close(values(warm, new), values(make(C=2, gamma=0.5).fit(X, y), new), 1e-6)
        assert abs(warm.dual_coef_.sum()) < 1e-9

    def test_time_limit(self):
        X, y, _ = data("two", n=3000)
        with pytest.warns(ConvergenceWarning, match="time limit"):
            model = mercer.SVC(C=1e5, gamma=0.1, tol=1e-6, time_limit=0.02).fit(X, y)
        assert model.summary_.status == "time limit" and model.summary_.seconds < 2
        assert np.isfinite(model.decision_function(X)).all()

    def test_columns_of_very_different_scale_are_named(self):
        X, y, _ = data("two")
        with pytest.warns(UserWarning, match="column 2 spreads"):
            mercer.SVC().fit(X * [1, 1, 1e5, 1], y)

    def test_threads_do_not_matter(self):
        X, y, new = data("many", n=700)
        one, two = (mercer.SVC(n_jobs=jobs).fit(X, y).decision_function(new) for jobs in (1, 2))
        np.testing.assert_array_equal(one, two)


class TestSingleRows:
    @pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "matern(1.5, 2)", "gaussian(1) + linear", "laplacian(2)"])
    @pytest.mark.parametrize(("name", "kind"), [("SVC", "two"), ("SVC", "many"), ("SVR", "numbers"), ("OneClassSVM", "one")])
    def test_rows_agree_with_the_batch(self, name, kind, kernel):
        X, y, new = data(kind)
        model = getattr(mercer, name)(kernel=kernel).fit(X, y)
        batch = model.model_.decision(new)
        for i in range(5):
            one = model.model_.decision(new[i])
            assert isinstance(one, float) == (kind != "many")
            close(one, batch[i], 1e-12 * max(1, np.abs(model.dual_coef_).sum()))
            close(model.model_.decision(new[i : i + 1]), batch[i : i + 1], 1e-12 * max(1, np.abs(model.dual_coef_).sum()))
            close(values(model, new[i : i + 1]), values(model, new)[i : i + 1], 1e-10)
            close(values(model, new[i : i + 1].tolist()), values(model, new)[i : i + 1], 1e-10)
            if name != "SVR" and np.abs(batch[i]).min() > 1e-9:  # a sign of rounding is no answer
                np.testing.assert_array_equal(model.predict(new[i : i + 1]), model.predict(new)[i : i + 1])
        np.testing.assert_array_equal(batch[:20], model.model_.decision(new[:20]))

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    @pytest.mark.parametrize("name", ["SVC", "SVR", "OneClassSVM"])
    def test_bad_rows_are_refused_as_in_batches(self, name, bad):
        X, y, new = data({"SVC": "two", "SVR": "numbers"}.get(name, "one"))
        model = getattr(mercer, name)().fit(X, y)
        new[0, 1] = bad
        messages = []
        for rows in (new[:1].copy(), new):
            with pytest.raises(ValueError, match="NaN|infinity") as raised:
                model.predict(rows)
            messages.append(str(raised.value))
        assert messages[0] == messages[1]
        for rows in (new[1:2, :3].copy(), new[1:, :3].copy()):
            with pytest.raises(ValueError, match="X has 3 features, but .* is expecting 4 features"):
                model.predict(rows)
        with pytest.raises(ValueError, match="2D array"):
            model.predict(new[1])
        with pytest.raises(ValueError, match="fitted on 4"):
            model.model_.decision(np.zeros(3))

    def test_huge_numbers_are_no_error(self):
        X, y, _ = data("two")
        model = mercer.SVC().fit(X, y)
        close(model.decision_function(np.full((1, 4), 1.7e308)), model.intercept_)  # their sum overflows, and they are far from everything


class TestLife:
    @pytest.mark.parametrize(("name", "kind"), [("SVC", "two"), ("SVC", "many"), ("NuSVC", "two"), ("SVR", "numbers"), ("NuSVR", "numbers"), ("OneClassSVM", "one")])
    def test_pickle_and_files(self, name, kind, tmp_path):
        X, y, new = data(kind)
        extra = {"SVC": {"C": 3.0}, "NuSVC": {"nu": 0.2}, "SVR": {"C": 3.0, "epsilon": 0.2}, "NuSVR": {"C": 3.0, "nu": 0.2}}.get(name, {"nu": 0.2})
        if "SVC" in name:
            extra["probability"] = True
        model = getattr(mercer, name)(**extra).fit(X, y)
        mercer.save(model, tmp_path / "m.mercer")
        loaded, pickled = mercer.load(tmp_path / "m.mercer"), pickle.loads(pickle.dumps(model))
        for other in (loaded, pickled):
            np.testing.assert_array_equal(other.predict(new), model.predict(new))
            np.testing.assert_array_equal(values(other, new), values(model, new))
            np.testing.assert_array_equal(values(other, new[:1]), values(model, new[:1]))
            np.testing.assert_array_equal(other.support_, model.support_)
            assert str(other.summary_) == str(model.summary_)
        if "SVC" in name:
            np.testing.assert_array_equal(loaded.classes_, model.classes_)
            np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
        assert type(loaded) is type(model)
        assert {key: loaded.get_params()[key] for key in extra} == extra
        kind_word = {"SVC": "svc", "NuSVC": "nu-svc", "SVR": "svr", "NuSVR": "nu-svr"}.get(name, "one-class")
        assert mercer.info(tmp_path / "m.mercer")["kind"] == kind_word

    def test_one_against_the_rest(self, tmp_path):
        X, y, new = data("many")
        labels = np.unique(y)
        ours = mercer.SVC(C=2.0, gamma=0.3, tol=1e-8, multi_class="ovr", warm_start=True).fit(X, y)
        twins = [svm.SVC(C=2.0, gamma=0.3, tol=1e-8).fit(X, y == c) for c in labels]
        f = np.column_stack([twin.decision_function(new) for twin in twins])
        np.testing.assert_allclose(ours.decision_function(new), f, atol=1e-6)
        np.testing.assert_array_equal(ours.predict(new), labels[f.argmax(axis=1)])
        assert ours.dual_coef_.shape == (len(labels), len(ours.support_))
        np.testing.assert_allclose(ours.intercept_, [twin.intercept_[0] for twin in twins], atol=1e-6)
        sign = np.where(y[:, None] == labels, 1, -1)
        wanted = np.maximum(0, 1 - sign * np.column_stack([twin.decision_function(X) for twin in twins]))
        np.testing.assert_allclose(ours.slacks(X, y), wanted, atol=1e-6)
        mercer.save(ours, tmp_path / "m.mercer")
        loaded = mercer.load(tmp_path / "m.mercer")
        assert loaded.multi_class == "ovr"
        np.testing.assert_array_equal(loaded.predict(new), ours.predict(new))
        assert mercer.NuSVC(nu=0.2, multi_class="ovr").fit(X, y).decision_function(new).shape == f.shape
        again = ours.set_params(multi_class="ovo").fit(X, y)  # not from the coefficients of other functions
        np.testing.assert_allclose(again.intercept_, svm.SVC(C=2.0, gamma=0.3, tol=1e-8).fit(X, y).intercept_, atol=1e-6)
        for wrong in ({"multi_class": "rest"}, {"multi_class": "ovr", "decision_function_shape": "ovo"}):
            with pytest.raises(ValueError, match="multi_class"):
                mercer.SVC(**wrong).fit(X, y)

    def test_slacks(self):
        X, y, _ = data("two")
        model = mercer.SVC(C=0.5).fit(X, y)
        f, labels = model.decision_function(X), model.classes_
        np.testing.assert_allclose(model.slacks(X, y), np.maximum(0, 1 - np.where(y == labels[1], 1, -1) * f), atol=1e-12)
        # The primal objective from the slacks is the dual one, up to the gap.
        assert model.model_.squared_norm[0] / 2 + 0.5 * model.slacks(X, y).sum() == pytest.approx(-model.objective_, abs=1e-6 + 2 * model.gap_)
        np.testing.assert_allclose(model.slacks(X[:1], y[:1]), model.slacks(X, y)[:1], atol=1e-12)
        X, y, _ = data("many")
        model = mercer.SVC(C=0.5, decision_function_shape="ovo").fit(X, y)
        f, labels = model.decision_function(X), model.classes_
        pair = 0
        for a in range(len(labels)):
            for b in range(a + 1, len(labels)):
                wanted = np.where(y == labels[a], np.maximum(0, 1 - f[:, pair]), np.where(y == labels[b], np.maximum(0, 1 + f[:, pair]), 0))
                np.testing.assert_allclose(model.slacks(X, y)[:, pair], wanted, atol=1e-12)
                pair += 1
        with pytest.raises(ValueError, match="X has 3 samples but y has 2"):
            model.slacks(X[:3], y[:2])
        with pytest.raises(ValueError, match="not among those of fit"):
            model.slacks(X[:1], [12345])

    def test_feature_names(self):
        X, y, _ = data("two")
        frame = pd.DataFrame(X, columns=list("abcd"))
        model = mercer.SVC().fit(frame, y)
        assert list(model.feature_names_in_) == list("abcd")
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(frame[["b", "a", "c", "d"]][:1])
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            model.predict(X[:1])

    def test_before_fit(self):
        for make in (mercer.SVC, mercer.SVR, mercer.OneClassSVM):
            with pytest.raises(NotFittedError):
                make().predict(np.zeros((1, 2)))
            for name in ("support_", "dual_coef_", "intercept_", "coef_", "n_iter_", "n_support_", "summary_"):
                assert not hasattr(make(), name)

    def test_searched_like_the_twin(self):
        X, y, _ = data("many")
        grids = [GridSearchCV(package.SVC(tol=1e-6), {"C": [0.1, 10], "gamma": [0.01, 1.0]}, cv=3).fit(X, y) for package in (mercer, svm)]
        np.testing.assert_allclose(grids[0].cv_results_["mean_test_score"], grids[1].cv_results_["mean_test_score"], atol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mercer.SVC(C=0), "C must be a finite number > 0, got 0"),
        (lambda: mercer.SVC(C=np.inf), "C must be a finite number > 0, got inf"),
        (lambda: mercer.SVC(lambda_=-1), "lambda_ must be a finite number > 0, or None, got -1"),
        (lambda: mercer.SVC(gamma="large"), "gamma must be 'scale', 'auto' or a finite number >= 0, got 'large'"),
        (lambda: mercer.SVC(gamma=-1.0), "gamma must be 'scale', 'auto' or a finite number >= 0"),
        (lambda: mercer.SVC(kernel="rfb"), "rfb"),
        (lambda: mercer.SVC(kernel=3), "kernel must be text"),
        (lambda: mercer.SVC(tol=0), "tol must be a finite number > 0"),
        (lambda: mercer.SVC(max_iter=0), "max_iter must be a whole number of at least 1, or -1"),
        (lambda: mercer.SVC(time_limit=0), "time_limit must be a finite number > 0, or None"),
        (lambda: mercer.SVC(shrinking="no"), "shrinking must be True or False"),
        (lambda: mercer.SVC(probability="yes"), "probability must be True or False"),
        (lambda: mercer.SVC(decision_function_shape="all"), "decision_function_shape must be 'ovr' or 'ovo'"),
        (lambda: mercer.SVC(class_weight={"no": -1}), "class_weight must be finite and > 0"),
        (lambda: mercer.SVC(hard_margin=True, fit_intercept=False), "a hard margin needs the intercept"),
        (lambda: mercer.NuSVC(nu=0), r"nu must be a number in \(0, 1\]"),
        (lambda: mercer.NuSVC(nu=1), "infeasible"),
        (lambda: mercer.SVC(kernel="precomputed"), "square matrix"),
    ],
)
def test_bad_parameters_say_so(make, message):
    X, y, _ = data("two")
    y[:] = "no"
    y[:30] = "yes"
    with pytest.raises(ValueError, match=message):
        make().fit(X, y)


def test_other_bad_input():
    X, y, _ = data("two")
    with pytest.raises(ValueError, match="one class: 'a'"):
        mercer.SVC().fit(X, ["a"] * len(X))
    with pytest.raises(ValueError, match="'yes' has no sample of positive weight"):
        mercer.SVC().fit(X, y, sample_weight=(y == "no").astype(float))
    with pytest.raises(ValueError, match="sample_weight must be >= 0"):
        mercer.SVR().fit(X, X[:, 0], sample_weight=-np.ones(len(X)))
    with pytest.raises(ValueError, match="epsilon must be a finite number >= 0"):
        mercer.SVR(epsilon=-0.1).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="break_ties must be False"):
        mercer.SVC(break_ties=True, decision_function_shape="ovo").fit(X, y).predict(X)
    with pytest.raises(TypeError, match="dense matrix"):
        mercer.SVC(kernel="precomputed").fit(sp.eye_array(len(X)).tocsr(), y)
