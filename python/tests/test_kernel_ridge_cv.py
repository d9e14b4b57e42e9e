"""KernelRidgeCV and prediction intervals against refits with scikit-learn."""
# SPDX-License-Identifier: BSD-3-Clause
import pickle
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse
from scipy.stats import multivariate_normal
from sklearn.kernel_ridge import KernelRidge as ScikitKernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneOut, ShuffleSplit, cross_val_predict

import mercer


def data(n=50, targets=0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    noise = 0.2 * rng.normal(size=(n, targets) if targets else n)
    wave = np.sin(2 * X[:, 0]) + X[:, 1]
    return X, (wave[:, None] * np.arange(1, targets + 1) if targets else wave) + noise


ALPHAS = [1e-3, 0.1, 3.0]


def test_leave_one_out_is_that_of_scikit_learn():
    X, y = data()
    model = mercer.KernelRidgeCV(ALPHAS, kernel="rbf", gamma=0.3).fit(X, y)
    for alpha, score in zip(ALPHAS, model.cv_results_["mean_test_score"], strict=True):
        f = cross_val_predict(ScikitKernelRidge(alpha=alpha, kernel="rbf", gamma=0.3), X, y, cv=LeaveOneOut())
        assert score == pytest.approx(-np.mean((y - f) ** 2), rel=1e-8)
        if alpha == model.alpha_:
            np.testing.assert_allclose(model.loo_predictions_, f, atol=1e-8)
            np.testing.assert_allclose(model.loo_residuals_, y - f, atol=1e-8)
    assert model.best_score_ == max(model.cv_results_["mean_test_score"])
    same = mercer.KernelRidge(model.alpha_, kernel="rbf", gamma=0.3).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_, same.dual_coef_, atol=1e-8)
    np.testing.assert_allclose(model.predict(X), same.predict(X), atol=1e-10)
    assert model.kernel_ == model.best_kernel_ == same.kernel_


@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error", "neg_mean_absolute_error", "r2"])
def test_folds_are_grid_search(scoring):
    X, y = data(60)
    grid = {"alpha": ALPHAS, "gamma": [0.1, 1.0]}
    search = GridSearchCV(ScikitKernelRidge(kernel="rbf"), grid, cv=4, scoring=scoring or "neg_mean_squared_error").fit(X, y)
    model = mercer.KernelRidgeCV(ALPHAS, kernel="rbf", gamma=[0.1, 1.0], cv=4, scoring=scoring).fit(X, y)
    assert model.alpha_ == search.best_params_["alpha"]
    assert model.best_score_ == pytest.approx(search.best_score_, rel=1e-8)
    # Theirs has alpha outside, ours the kernel.
    theirs = search.cv_results_["mean_test_score"].reshape(3, 2).T.ravel()
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], theirs, rtol=1e-7)
    np.testing.assert_allclose(model.cv_results_["std_test_score"], search.cv_results_["std_test_score"].reshape(3, 2).T.ravel(), rtol=1e-6)
    np.testing.assert_array_equal(model.cv_results_["rank_test_score"], search.cv_results_["rank_test_score"].reshape(3, 2).T.ravel())
    np.testing.assert_allclose(model.predict(X), search.predict(X), atol=1e-8)
    assert not hasattr(model, "loo_residuals_")


def test_splitters_groups_and_iterables():
    X, y = data(40)
    groups = np.arange(40) % 6
    by_groups = GroupKFold(3)
    for cv in (by_groups, 3):
        model = mercer.KernelRidgeCV(ALPHAS, kernel="rbf", cv=cv).fit(X, y, groups=groups)
        search = GridSearchCV(ScikitKernelRidge(kernel="rbf"), {"alpha": ALPHAS}, cv=by_groups, scoring="neg_mean_squared_error")
        search.fit(X, y, groups=groups)
        np.testing.assert_allclose(model.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"], rtol=1e-7)
    some = list(ShuffleSplit(3, random_state=0).split(X))
    model = mercer.KernelRidgeCV(ALPHAS, kernel="rbf", cv=some).fit(X, y)
    search = GridSearchCV(ScikitKernelRidge(kernel="rbf"), {"alpha": ALPHAS}, cv=some, scoring="neg_mean_squared_error").fit(X, y)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"], rtol=1e-7)
    assert mercer.KernelRidgeCV(ALPHAS, kernel="rbf").fit(X, y, groups=groups).cv_results_["split5_test_score"].shape == (3,)


def test_criteria_by_hand():
    X, y = data(40)
    K = rbf_kernel(X, gamma=0.3)
    found = mercer.KernelRidgeCV(ALPHAS, kernel="rbf", gamma=0.3, criterion="evidence").fit(X, y)
    for k, alpha in enumerate(ALPHAS):
        A = K + alpha * np.eye(40)
        H = K @ np.linalg.inv(A)
        df = np.trace(H)
        assert found.cv_results_["degrees_of_freedom"][k] == pytest.approx(df, rel=1e-9)
        assert found.cv_results_["gcv"][k] == pytest.approx(np.mean((y - H @ y) ** 2) / (1 - df / 40) ** 2, rel=1e-8)
        assert found.cv_results_["log_evidence"][k] == pytest.approx(multivariate_normal(np.zeros(40), (y @ np.linalg.solve(A, y) / 40) * A).logpdf(y), rel=1e-8)
    assert found.best_score_ == max(found.cv_results_["log_evidence"])
    assert mercer.KernelRidgeCV(ALPHAS, kernel="rbf", gamma=0.3, criterion="gcv").fit(X, y).best_score_ == -min(found.cv_results_["gcv"])


def test_targets_weights_intercept_and_given_gram():
    X, Y = data(45, targets=2)
    w = np.random.default_rng(1).uniform(0.1, 2, 45)
    model = mercer.KernelRidgeCV(ALPHAS, kernel="rbf", gamma=0.3, alpha_per_target=True, fit_intercept=True).fit(X, Y + 5, w)
    assert model.alpha_.shape == (2,) and model.loo_residuals_.shape == Y.shape
    keep = np.arange(45) != 7
    for t in range(2):
        one = mercer.KernelRidge(model.alpha_[t], kernel="rbf", gamma=0.3, fit_intercept=True).fit(X[keep], Y[keep, t] + 5, w[keep])
        assert model.loo_predictions_[7, t] == pytest.approx(one.predict(X[[7]])[0], abs=1e-8)
    common = mercer.KernelRidgeCV(ALPHAS, kernel="rbf", gamma=0.3).fit(X, Y)
    assert isinstance(common.alpha_, float)
    given = mercer.KernelRidgeCV(ALPHAS, kernel="precomputed").fit(rbf_kernel(X, gamma=0.3), Y)
    np.testing.assert_allclose(given.loo_residuals_, common.loo_residuals_, atol=1e-9)
    assert given.alpha_ == common.alpha_
    scored = mercer.KernelRidgeCV(ALPHAS, kernel="rbf", gamma=0.3, alpha_per_target=True, scoring="r2").fit(X, Y)
    assert scored.alpha_.shape == (2,)
    # A common scorer of squares chooses as the library does.
    squares = mercer.KernelRidgeCV(ALPHAS, kernel="rbf", gamma=0.3, scoring="neg_mean_squared_error").fit(X, Y)
    assert squares.alpha_ == common.alpha_ and squares.best_score_ == pytest.approx(common.best_score_, rel=1e-9)
    np.testing.assert_allclose(squares.loo_residuals_, common.loo_residuals_, atol=1e-12)


def test_defaults_candidates_and_sparse_rows():
    X, y = data()
    model = mercer.KernelRidgeCV(kernel=["gaussian(0.5)", "gaussian(2)", mercer.kernels.Linear()]).fit(X, y)
    found = model.cv_results_
    assert len(found["params"]) == 90 and set(found["param_kernel"]) == {"gaussian(0.5)", "gaussian(2)", "linear"}
    assert found["params"][model.best_index_] == {"kernel": str(model.best_kernel_), "alpha": model.alpha_}
    assert found["rank_test_score"][model.best_index_] == 1
    csr = mercer.KernelRidgeCV(kernel=["gaussian(0.5)", "gaussian(2)", mercer.kernels.Linear()]).fit(scipy.sparse.csr_matrix(X), y)
    assert csr.alpha_ == pytest.approx(model.alpha_, rel=1e-9)
    single = mercer.KernelRidgeCV([0.1], kernel="rbf").fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.predict(X), mercer.KernelRidgeCV([0.1], kernel="rbf").fit(X, y).predict(X), atol=1e-4)


def test_abandoned_candidates_are_nan_and_flagged():
    X, y = data(30)
    indefinite = mercer.kernel("gaussian(1) + -2*constant(1)")
    model = mercer.KernelRidgeCV([0.1, 1000], kernel=indefinite).fit(X, y)
    np.testing.assert_array_equal(model.cv_results_["abandoned"], [True, False])
    assert np.isnan(model.cv_results_["mean_test_score"][0]) and "not positive definite" in model.cv_results_["note"][0]
    np.testing.assert_array_equal(model.cv_results_["rank_test_score"], [2, 1])
    with pytest.raises(ValueError, match="no alpha makes K"):
        mercer.KernelRidgeCV([0.1], kernel=indefinite).fit(X, y)


def test_bad_use_is_named():
    X, y = data(20)
    for parameters, words in [
        ({"alphas": [-1]}, "alphas must be finite numbers >= 0"),
        ({"alphas": []}, "at least one"),
        ({"alphas": "many"}, "alphas must be numbers"),
        ({"kernel": []}, "nothing to choose from"),
        ({"criterion": "aic"}, 'criterion must be "loo", "gcv" or "evidence"'),
        ({"criterion": "gcv", "cv": 3}, "needs no folds"),
        ({"criterion": "gcv", "scoring": "r2"}, "both choose"),
        ({"cv": 3.5}, "cv must be None"),
    ]:
        with pytest.raises(ValueError, match=words):
            mercer.KernelRidgeCV(**parameters).fit(X, y)


def test_plot(monkeypatch):
    X, y = data(30)
    model = mercer.KernelRidgeCV(kernel=["gaussian(1)", "linear"]).fit(X, y)
    try:
        import matplotlib
    except ImportError:
        matplotlib = None
    if matplotlib is not None:
        matplotlib.use("Agg")
        ax = model.plot_path()
        assert [line.get_label() for line in ax.get_lines()][:2] == ["gaussian(1)", "linear"]
        assert ax.get_xscale() == "log" and ax.get_ylabel() == "leave-one-out RMSE"
        assert model.plot_path(ax) is ax
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        model.plot_path()


# -- intervals


def by_refits(X, y, Z, level, alpha, gamma):
    n = len(y)
    low, high = [], []
    for i in range(n):
        keep = np.arange(n) != i
        model = ScikitKernelRidge(alpha=alpha, kernel="rbf", gamma=gamma).fit(X[keep], y[keep])
        r = abs(y[i] - model.predict(X[[i]])[0])
        low.append(model.predict(Z) - r)
        high.append(model.predict(Z) + r)
    up = int(np.ceil(level * (n + 1) - 1e-9))
    return np.sort(low, axis=0)[n - up], np.sort(high, axis=0)[up - 1]


def test_jackknife_plus_is_that_of_refits():
    X, y = data(40)
    Z = data(7, seed=3)[0]
    for model in (
        mercer.KernelRidge(0.1, kernel="rbf", gamma=0.3),
        mercer.KernelRidge(0.1, kernel="rbf", gamma=0.3, intervals=True),
        mercer.KernelRidgeCV([0.1], kernel="rbf", gamma=0.3),
        mercer.KernelRidgeCV([0.1], kernel="rbf", gamma=0.3, intervals=True),
    ):
        f, ends = model.fit(X, y).predict(Z, interval=0.9)
        low, high = by_refits(X, y, Z, 0.9, 0.1, 0.3)
        np.testing.assert_allclose(f, model.predict(Z))
        np.testing.assert_allclose(ends, np.column_stack([low, high]), atol=1e-9)
        assert "jackknife+ from 40" in model.interval_summary_


def test_intervals_of_several_targets_given_gram_and_few_samples():
    X, Y = data(30, targets=2)
    model = mercer.KernelRidge(0.1, kernel="rbf", fit_intercept=True).fit(X, Y, np.linspace(0.1, 1, 30))
    f, ends = model.predict(X[:5], interval=0.8)
    assert f.shape == (5, 2) and ends.shape == (5, 2, 2) and (ends[..., 0] < ends[..., 1]).all()
    K = rbf_kernel(X, gamma=1 / 3)
    given = mercer.KernelRidge(0.1, kernel="precomputed").fit(K, Y)
    np.testing.assert_allclose(given.predict(K[:5], interval=0.8)[1], mercer.KernelRidge(0.1, kernel="rbf").fit(X, Y).predict(X[:5], interval=0.8)[1], atol=1e-9)
    few = mercer.KernelRidge(0.1, kernel="rbf").fit(X[:8], Y[:8]).predict(X[:2], interval=0.9)[1]
    assert np.isinf(few).all()
    for level in (0, 1, 90, "most", np.nan):
        with pytest.raises(ValueError, match="interval must be a level between 0 and 1"):
            model.predict(X, interval=level)


def test_pickles_and_files_keep_intervals(tmp_path):
    X, y = data(30)
    for intervals in (False, True):
        model = mercer.KernelRidgeCV(kernel="rbf", intervals=intervals).fit(X, y)
        expected = model.predict(X, interval=0.9)[1]
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(X, interval=0.9)[1], expected)
        assert again.alpha_ == model.alpha_ and again.cv_results_.keys() == model.cv_results_.keys()
        mercer.save(model, tmp_path / "m.mercer")
        loaded = mercer.load(tmp_path / "m.mercer")
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        np.testing.assert_array_equal(loaded.predict(X, interval=0.9)[1], expected)
    unasked = mercer.KernelRidgeCV(kernel="rbf").fit(X, y)  # a path has them in its file, as the command line's
    mercer.save(unasked, tmp_path / "m.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "m.mercer").predict(X, interval=0.9)[1], expected)
    ridge = mercer.KernelRidge(0.1, kernel="rbf").fit(X, y)
    mercer.save(ridge, tmp_path / "m.mercer")
    with pytest.raises(ValueError, match="fit it with intervals=True before saving"):
        mercer.load(tmp_path / "m.mercer").predict(X, interval=0.9)
    expected = ridge.predict(X, interval=0.9)[1]
    mercer.save(ridge, tmp_path / "m.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "m.mercer").predict(X, interval=0.9)[1], expected)


def test_infinite_intervals_warn_and_weightless_outliers_do_not_count():
    X, y = data(30)
    for few in (mercer.KernelRidge(0.1, kernel="rbf"), mercer.KernelRidgeCV([0.1], kernel="rbf")):
        with pytest.warns(UserWarning, match="level 0.9 needs at least 9 training samples"):
            assert np.isinf(few.fit(X[:8], y[:8]).predict(X, interval=0.9)[1]).all()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            few.fit(X[:9], y[:9]).predict(X, interval=0.9)
    spoiled, weight = y.copy(), np.ones(30)
    spoiled[:3], weight[:3] = 1e3, 0
    ends = mercer.KernelRidge(0.1, kernel="rbf").fit(X, spoiled, weight).predict(X, interval=0.95)[1]
    np.testing.assert_allclose(ends, mercer.KernelRidge(0.1, kernel="rbf").fit(X[3:], y[3:]).predict(X, interval=0.95)[1], atol=1e-8)


def test_intervals_have_the_intercept_of_the_fit():
    X, y = data(30)
    expected = mercer.KernelRidge(0.1, kernel="rbf", fit_intercept=True, intervals=True).fit(X, y + 50).predict(X, interval=0.9)[1]
    model = mercer.KernelRidge(0.1, kernel="rbf", fit_intercept=True).fit(X, y + 50)
    model.fit_intercept = False
    np.testing.assert_allclose(model.predict(X, interval=0.9)[1], expected, atol=1e-10)


def test_whole_numbers_of_numpy_are_folds_and_scorers_leave_no_gaps():
    X, y = data(30)
    a, b = (mercer.KernelRidgeCV([0.1, 1], kernel="rbf", cv=cv).fit(X, y) for cv in (3, np.int64(3)))
    np.testing.assert_array_equal(a.cv_results_["mean_test_score"], b.cv_results_["mean_test_score"])
    mercer.KernelRidgeCV([0.1, 1], kernel="rbf", cv=np.int64(3)).fit(X, y, groups=np.arange(30) % 5)
    weight = np.ones(30)
    weight[[4, 7]] = 0
    plain = mercer.KernelRidgeCV([0.1], kernel="rbf").fit(X, y, weight)
    scored = mercer.KernelRidgeCV([0.1], kernel="rbf", scoring="r2").fit(X, y, weight)
    np.testing.assert_allclose(scored.loo_residuals_, plain.loo_residuals_, atol=1e-9)
    np.testing.assert_allclose(scored.loo_predictions_, plain.loo_predictions_, atol=1e-9)
    K = mercer.kernel("gaussian(1)")(X)
    given = mercer.KernelRidgeCV([0.1], kernel="precomputed", scoring="r2").fit(K, y, weight)
    assert np.isfinite(given.loo_residuals_).all()
