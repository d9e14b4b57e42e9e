"""Kernel learning from Python: objectives against scikit-learn and numpy, what is found, what is refused."""
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel
from sklearn.model_selection import LeaveOneOut, cross_val_predict

import mercer


@pytest.fixture(scope="module")
def data():
    """y depends on the first two of five columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 2 + 0.1 * rng.normal(size=400)
    return X, y


def rmse(found, X, y, n):
    model = mercer.KernelRidge(kernel=found.kernel, alpha=found.alpha).fit(X[:n], y[:n])
    return np.sqrt(np.mean((model.predict(X[n:]) - y[n:]) ** 2))


@pytest.mark.parametrize("intercept", [False, True])
def test_leave_one_out_is_cross_validation(data, intercept):
    X, y = data[0][:60], data[1][:60]
    model = mercer.KernelRidge(kernel="matern(1.5, 2)", alpha=0.1, fit_intercept=intercept)
    want = np.mean((cross_val_predict(model, X, y, cv=LeaveOneOut()) - y) ** 2)
    got = mercer.score_kernel(X, y, "matern(1.5, 2)", 0.1, fit_intercept=intercept)
    assert got.value == pytest.approx(want, rel=1e-10)
    assert got.gradient.shape == (2,) and got.signal_variance is None


@pytest.mark.parametrize(
    ("text", "theirs"),
    [("gaussian(1.5)", RBF(1.5)), ("matern(2.5, [1, 2, 3, 4, 5])", Matern([1, 2, 3, 4, 5], nu=2.5))],
)
def test_evidence_is_scikit_learns(data, text, theirs):
    X, y = data[0][:80], data[1][:80]
    got = mercer.score_kernel(X, y, text, 0.05, objective="evidence")
    s = got.signal_variance
    kernel = ConstantKernel(s) * theirs + WhiteKernel(s * 0.05)
    process = GaussianProcessRegressor(kernel, optimizer=None, alpha=0).fit(X, y)
    want, gradient = process.log_marginal_likelihood(kernel.theta, eval_gradient=True)
    assert got.value == pytest.approx(want, rel=1e-10)
    np.testing.assert_allclose(got.gradient, gradient[1:], rtol=1e-7, atol=1e-8)  # theirs has the variance first, at its best: 0
    assert gradient[0] + gradient[-1] == pytest.approx(0, abs=1e-8)


def test_alignment_is_its_formula(data):
    X, y = data[0][:50], data[1][:50]
    K = mercer.gram(X, kernel="gaussian(2)")
    H = np.eye(50) - 1 / 50
    A, B = H @ K @ H, H @ np.outer(y, y) @ H
    got = mercer.score_kernel(X, y, "gaussian(2)", 1, objective="alignment").value
    assert got == pytest.approx((A * B).sum() / np.linalg.norm(A) / np.linalg.norm(B), rel=1e-12)


def test_ideal_kernel_of_classes(data):
    X = data[0][:60]
    labels = np.where(X[:, 2] > 0, "yes", "no")
    got = mercer.score_kernel(X, labels, "gaussian(2)", 1, objective="alignment").value
    same = (labels[:, None] == labels[None]).astype(float)
    H = np.eye(60) - 1 / 60
    A, B = H @ mercer.gram(X, kernel="gaussian(2)") @ H, H @ same @ H
    assert got == pytest.approx((A * B).sum() / np.linalg.norm(A) / np.linalg.norm(B), rel=1e-12)
    number = mercer.score_kernel(X, np.where(X[:, 2] > 0, 7, 3), "gaussian(2)", 1, objective="alignment", task="classify").value
    assert number == pytest.approx(got, rel=1e-12)


@pytest.mark.parametrize("objective", ["loo", "evidence"])
def test_finds_the_columns(data, objective):
    X, y = data
    one = mercer.learn_kernel(X[:150], y[:150], objective=objective, n_restarts=0)
    each = mercer.learn_kernel(X[:150], y[:150], objective=objective, ard=True, n_restarts=0)
    assert rmse(each, X, y, 150) < 0.7 * rmse(one, X, y, 150)
    scales = [value for name, _, value, _ in each.parameters if "length_scale" in name]
    assert set(np.argsort(scales)[:2]) == {0, 1}
    assert each.objective == objective and str(each) == each.summary and "150 rows" in each.summary
    assert each.parameters[-1][0] == "alpha" and each.parameters[-1][2] == each.alpha
    better = np.greater if objective == "evidence" else np.less
    assert better(each.value, each.start_value)
    assert each.history[0][:2] == (0, 150)
    assert (each.signal_variance is not None) == (objective == "evidence")


def test_same_answer_for_other_inputs_and_threads(data):
    X, y = np.abs(data[0][:100]), data[1][:100]
    X[X < 0.5] = 0
    options = {"ard": True, "max_iter": 15, "n_restarts": 1}
    dense = mercer.learn_kernel(X, y, **options)
    assert mercer.learn_kernel(X, y, n_jobs=1, **options).kernel == dense.kernel
    sparse = mercer.learn_kernel(sp.csr_array(X), y, **options)
    np.testing.assert_allclose([p[2] for p in sparse.parameters], [p[2] for p in dense.parameters], rtol=1e-3)
    twice = mercer.learn_kernel(X, np.column_stack([y, y]), **options)
    np.testing.assert_allclose([p[2] for p in twice.parameters], [p[2] for p in dense.parameters], rtol=1e-3)


def test_weights_and_rows(data):
    X, y = data
    weights = np.ones(400)
    weights[100:] = 0
    part = mercer.learn_kernel(X[:100], y[:100], max_iter=20, n_restarts=0)
    same = mercer.learn_kernel(X, y, part.kernel.with_parameters([1.0]), sample_weight=weights, max_iter=1, n_restarts=0)
    assert same.rows == 100
    some = mercer.learn_kernel(X, y, max_rows=90, n_restarts=0, max_iter=5, random_state=4)
    assert some.rows == 90 and "90 of 400 rows" in some.summary
    assert mercer.learn_kernel(X, y, max_rows=90, n_restarts=0, max_iter=5, random_state=np.random.RandomState(1)).rows == 90


def test_holds_and_keeps(data):
    X, y = data[0][:60], data[1][:60]
    found = mercer.learn_kernel(X, y, "gaussian(2) + 0.3*linear", alpha=0.2, hold="gaussian.length_scale", n_restarts=0)
    assert found.alpha == pytest.approx(0.2)
    assert dict((name, value) for name, _, value, _ in found.parameters)["gaussian.length_scale"] == pytest.approx(2)
    assert found.kernel.parameters[0][0] == "factor"  # the sum got its first weight


def test_wrong_use(data):
    X, y = data[0][:30], data[1][:30]
    for message, options in [
        ('objective must be "loo", "evidence" or "alignment"', {"objective": "cv"}),
        ("max_rows must be a whole number >= 3", {"max_rows": 2.5}),
        ("n_restarts must be a whole number >= 0", {"n_restarts": -1}),
        ("alpha must be a finite number > 0", {"alpha": 0}),
        ('no parameter "sigma" to hold', {"hold": ["sigma"]}),
        ('task must be "auto"', {"task": "rank"}),
    ]:
        with pytest.raises(ValueError, match=message):
            mercer.learn_kernel(X, y, **options)
    with pytest.raises(ValueError, match="X has 30 samples but y has 29"):
        mercer.learn_kernel(X, y[:29])
    with pytest.raises(ValueError, match="y has a NaN"):
        mercer.learn_kernel(X, np.full(30, np.nan))
    with pytest.raises(ValueError, match="the same for all samples"):
        mercer.learn_kernel(X, np.ones(30), fit_intercept=True)
    with pytest.raises(MemoryError, match="smaller max_rows"):
        mercer.learn_kernel(np.ones((1500, 1)) * np.arange(1500)[:, None], np.arange(1500.0), memory=1000000)
