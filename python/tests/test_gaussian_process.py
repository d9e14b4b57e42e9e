"""Gaussian processes against scikit-learn's: likelihoods and their gradients, predictions, attributes, shapes, errors."""
# SPDX-License-Identifier: BSD-3-Clause
import pickle
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor as Twin
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Exponentiation,
    ExpSineSquared,
    Matern,
    PairwiseKernel,
    RationalQuadratic,
    WhiteKernel,
)

import mercer
from mercer import GaussianProcessRegressor


def data(n=40, d=2, targets=0, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.randn(n, d)
    y = np.sin(2 * X[:, 0]) + 0.3 * X[:, -1] + 0.2 * rng.randn(n)
    if targets:
        y = np.column_stack([y, 0.5 * rng.randn(n, targets - 1) - np.cos(X[:, :1])])
    return X, y, rng.randn(7, d)


# Kernels of scikit-learn, and how the logarithms of Mercer's parameters come from theirs (a square of sigma_0 doubles its logarithm).
KERNELS = {
    "rbf": (ConstantKernel(1.5) * RBF(0.8) + WhiteKernel(0.1), [1, 1, 1]),
    "ard": (ConstantKernel(1.5) * RBF([0.8, 1.7]) + WhiteKernel(0.1), [1, 1, 1, 1]),
    "matern": (0.5**2 * Matern([1.0, 2.0], nu=2.5) + WhiteKernel(0.2), [1, 1, 1, 1]),
    "matern 1/2": (Matern(1.3, nu=0.5) + WhiteKernel(0.2), [1, 1]),
    "matern inf": (Matern(1.3, nu=np.inf) + WhiteKernel(0.2), [1, 1]),
    "rational": (RationalQuadratic(1.2, 0.7) + WhiteKernel(0.2), [1, 1, 1]),
    "sum": (RBF(0.5) + ConstantKernel(2.0) * Matern(3.0, nu=1.5) + WhiteKernel(0.2), [1, 1, 1, 1]),
    "product": (RBF(1.5) * Matern(3.0, nu=1.5) + WhiteKernel(0.2), [1, 1, 1]),
    "dot": (DotProduct(0.8) + WhiteKernel(0.2), [2, 1]),
    "power": (Exponentiation(RBF(1.5) + ConstantKernel(0.3), 2) + WhiteKernel(0.2), [1, 1, 1]),
    "fixed": (ConstantKernel(1.5, "fixed") * RBF([0.8, 1.7]) + WhiteKernel(0.1, (1e-3, 10)), [1, 1, 1]),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("targets", [0, 2])
def test_likelihood_and_gradient_of_scikit_learn(name, targets):
    kernel, powers = KERNELS[name]
    X, y, _ = data(targets=targets)
    theirs = Twin(kernel, optimizer=None, alpha=1e-3).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = GaussianProcessRegressor(kernel, optimizer=None, alpha=1e-3).fit(X, y)
    assert ours.log_marginal_likelihood_value_ == pytest.approx(theirs.log_marginal_likelihood_value_, rel=1e-11)
    powers = np.array(powers, dtype=float)
    np.testing.assert_allclose(np.sort(ours.theta_ / powers), np.sort(theirs.kernel_.theta), atol=1e-14)
    rng = np.random.RandomState(1)
    order = [int(np.argmin(np.abs(theirs.kernel_.theta - t))) for t in ours.theta_ / powers]  # factors stand in front here
    for _ in range(3):
        theta = theirs.kernel_.theta + 0.5 * rng.randn(len(powers))
        value, gradient = theirs.log_marginal_likelihood(theta, eval_gradient=True)
        mine, slope = ours.log_marginal_likelihood(theta[order] * powers, eval_gradient=True)
        assert mine == pytest.approx(value, rel=1e-10)
        np.testing.assert_allclose(slope, gradient[order] / powers, rtol=1e-7, atol=1e-7 * np.abs(gradient).max())


@pytest.mark.parametrize("name", ["ard", "dot", "sum"])
@pytest.mark.parametrize("targets", [0, 2])
@pytest.mark.parametrize("normalize_y", [False, True])
def test_predictions_of_scikit_learn(name, targets, normalize_y):
    X, y, Z = data(targets=targets)
    noise = 0.01 + np.random.RandomState(2).rand(len(X))
    settings = {"kernel": KERNELS[name][0], "optimizer": None, "alpha": noise, "normalize_y": normalize_y}
    ours, theirs = GaussianProcessRegressor(**settings).fit(X, y), Twin(**settings).fit(X, y)
    for mine, expected in zip(ours.predict(Z, return_std=True), theirs.predict(Z, return_std=True), strict=True):
        assert mine.shape == expected.shape
        np.testing.assert_allclose(mine, expected, rtol=1e-9, atol=1e-10)
    for mine, expected in zip(ours.predict(Z, return_cov=True), theirs.predict(Z, return_cov=True), strict=True):
        assert mine.shape == expected.shape
        np.testing.assert_allclose(mine, expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ours.L_, theirs.L_, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ours.alpha_, theirs.alpha_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.y_train_, theirs.y_train_, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(ours.X_train_, theirs.X_train_)
    assert ours.sample_y(Z, 5, random_state=3).shape == theirs.sample_y(Z, 5, random_state=3).shape


@pytest.mark.parametrize("name", ["rbf", "ard", "matern", "rational", "fixed"])
def test_optimum_of_scikit_learn(name):
    X, y, Z = data(n=60)
    theirs = Twin(KERNELS[name][0], normalize_y=True).fit(X, y)
    ours = GaussianProcessRegressor(KERNELS[name][0], normalize_y=True).fit(X, y)
    assert ours.log_marginal_likelihood_value_ >= theirs.log_marginal_likelihood_value_ - 1e-6
    assert ours.summary_.converged
    assert "log marginal likelihood" in str(ours.summary_)
    if ours.log_marginal_likelihood_value_ <= theirs.log_marginal_likelihood_value_ + 1e-5:
        np.testing.assert_allclose(ours.predict(Z), theirs.predict(Z), atol=1e-2)


def test_restarts_escape_and_do_not_depend_on_threads():
    X, y, _ = data(n=30)
    kernel = ConstantKernel(1e-3, (1e-3, 1e3)) * RBF(1e3, (1e-3, 1e3)) + WhiteKernel(100.0)  # begins where everything is noise
    fits = [
        GaussianProcessRegressor(kernel, n_restarts_optimizer=6, random_state=0, n_jobs=jobs).fit(X, y) for jobs in (1, 2)
    ]
    assert fits[0].kernel_ == fits[1].kernel_
    alone = GaussianProcessRegressor(kernel).fit(X, y)
    theirs = Twin(kernel, n_restarts_optimizer=6, random_state=0).fit(X, y)
    assert fits[0].log_marginal_likelihood_value_ >= max(alone.log_marginal_likelihood_value_, theirs.log_marginal_likelihood_value_) - 1e-6
    assert fits[0].summary_.starts == 7


def test_periodic_in_one_dimension():
    X, y, Z = data(d=1)
    kernel = ExpSineSquared(1.2, 2.5) + WhiteKernel(0.1)
    ours, theirs = (cls(kernel, optimizer=None).fit(X, y) for cls in (GaussianProcessRegressor, Twin))
    np.testing.assert_allclose(ours.predict(Z), theirs.predict(Z), rtol=1e-8)
    value, gradient = ours.log_marginal_likelihood(ours.theta_, eval_gradient=True)
    expected, slope = theirs.log_marginal_likelihood(theirs.kernel_.theta, eval_gradient=True)
    assert value == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(gradient, slope, rtol=1e-7)


def test_kernels_without_a_twin_are_called_as_functions():
    X, y, Z = data()
    for kernel in (PairwiseKernel(metric="rbf") + WhiteKernel(0.1), Matern(1.0, nu=0.7) + WhiteKernel(0.1)):
        with pytest.warns(UserWarning, match="has no exact form in Mercer"):
            ours = GaussianProcessRegressor(kernel, bounds=(1.0, 1.0)).fit(X, y)
        theirs = Twin(kernel, optimizer=None).fit(X, y)
        np.testing.assert_allclose(ours.log_marginal_likelihood_value_, theirs.log_marginal_likelihood_value_, rtol=1e-9)
    # Of two columns it is no covariance at all.
    with pytest.warns(UserWarning, match="has no exact form"), pytest.raises(ValueError, match="not positive definite: the pivot"):
        GaussianProcessRegressor(ExpSineSquared() + WhiteKernel(1.0)).fit(X, y)
    with pytest.raises(ValueError, match="white noise inside it"):
        GaussianProcessRegressor(Exponentiation(RBF() + WhiteKernel(), 1.5)).fit(X, y)
    twice = ConstantKernel(2.0) * (ConstantKernel(3.0) * RBF(1.0)) + WhiteKernel(0.1)
    six = GaussianProcessRegressor(twice, optimizer=None).fit(X, y)
    assert dict(six.kernel_.parameters)["factor"] == pytest.approx(6.0)


def test_default_kernel_and_prior():
    X, y, Z = data()
    ours, theirs = GaussianProcessRegressor(), Twin()
    for mine, expected in zip(ours.predict(Z, return_std=True), theirs.predict(Z, return_std=True), strict=True):
        np.testing.assert_allclose(mine, expected)
    np.testing.assert_allclose(ours.predict(Z, return_cov=True)[1], theirs.predict(Z, return_cov=True)[1], atol=1e-12)
    np.testing.assert_allclose(ours.sample_y(Z, 3, 5), theirs.sample_y(Z, 3, 5), atol=1e-6)
    two, twin = GaussianProcessRegressor(n_targets=2), Twin(n_targets=2)
    for mine, expected in zip(two.predict(Z, return_cov=True), twin.predict(Z, return_cov=True), strict=True):
        assert mine.shape == expected.shape
    assert two.sample_y(Z, 4).shape == twin.sample_y(Z, 4).shape
    ours, theirs = GaussianProcessRegressor(alpha=0.1).fit(X, y), Twin(alpha=0.1).fit(X, y)
    assert [name for name, _ in ours.kernel_.parameters] == ["factor", "gaussian.length_scale"]
    assert ours.log_marginal_likelihood() == pytest.approx(theirs.log_marginal_likelihood(), abs=1e-6)
    assert ours.log_marginal_likelihood(ours.theta_) == pytest.approx(ours.log_marginal_likelihood(), rel=1e-12)


def test_mercer_kernels_bounds_and_fixed_parameters():
    X, y, _ = data()
    gp = GaussianProcessRegressor("1*gaussian([1, 1]) + white(0.1)", fixed=["gaussian.length_scale[1]"]).fit(X, y)
    named = dict(gp.kernel_.parameters)
    assert named["gaussian.length_scale[1]"] == 1
    assert named["gaussian.length_scale[0]"] != 1
    assert len(gp.theta_) == 3
    bounded = GaussianProcessRegressor("1*gaussian(1) + white(0.1)", bounds=[(0.5, 2), (3, 4), (0.1, 0.1)]).fit(X, y)
    values = [value for _, value in bounded.kernel_.parameters]
    assert 0.5 <= values[0] <= 2
    assert values[1] == 3
    assert values[2] == 0.1
    assert "gaussian.length_scale" in bounded.summary_.at_bound
    automatic = GaussianProcessRegressor("1*gaussian(auto)", alpha=0.1, optimizer=None).fit(X, y)
    assert not automatic.kernel_.has_auto
    assert GaussianProcessRegressor("rbf", alpha=0.1, optimizer=None).fit(X, y).kernel_ == mercer.kernels.Gaussian(1.0)


def test_noise_is_optimised_too():
    X, y, Z = data(n=60)
    own = GaussianProcessRegressor("1*gaussian(1)", alpha=0.1, optimize_noise=True).fit(X, y)
    white = GaussianProcessRegressor("1*gaussian(1) + white(0.1)", alpha=0).fit(X, y)
    assert own.noise_ == pytest.approx(dict(white.kernel_.parameters)["white.variance"], rel=1e-3)
    assert own.log_marginal_likelihood_value_ == pytest.approx(white.log_marginal_likelihood_value_, abs=1e-6)
    value, gradient = own.log_marginal_likelihood(own.theta_, eval_gradient=True)
    assert value == pytest.approx(own.log_marginal_likelihood_value_, rel=1e-12)
    assert np.abs(gradient).max() < 1e-2
    low, high = own.predict_interval(Z, 0.9)
    mean, std = own.predict(Z, return_std=True)
    np.testing.assert_allclose(high - low, 2 * 1.6448536269514722 * np.sqrt(std**2 + own.noise_), rtol=1e-12)
    np.testing.assert_allclose((high + low) / 2, mean, atol=1e-12)
    again, ends = own.predict(Z, interval=0.9)
    np.testing.assert_allclose(again, mean, rtol=1e-12)
    np.testing.assert_array_equal(ends, np.stack([low, high], axis=-1))
    two = GaussianProcessRegressor("gaussian(1)", alpha=0.1, optimizer=None).fit(X, np.stack([y, -y], axis=1))
    assert [part.shape for part in two.predict(Z, interval=0.9)] == [(len(Z), 2), (len(Z), 2, 2)]
    with pytest.raises(ValueError, match="interval must be a level between 0 and 1"):
        own.predict(Z, interval=90)
    with pytest.raises(RuntimeError, match="not with return_std"):
        own.predict(Z, return_std=True, interval=0.9)
    with pytest.raises(NotFittedError):
        GaussianProcessRegressor().predict(Z, interval=0.9)


def test_intervals_with_noise_per_sample_have_its_mean():
    X, y, Z = data()
    noise = np.linspace(0.1, 0.5, len(y))
    gp = GaussianProcessRegressor("gaussian(1)", alpha=noise, optimizer=None, normalize_y=True).fit(X, y)
    _, std = gp.predict(Z, return_std=True)
    _, ends = gp.predict(Z, interval=0.9)
    np.testing.assert_allclose(np.diff(ends)[:, 0], 2 * 1.6448536269514722 * np.sqrt(std**2 + 0.3 * np.var(y)), rtol=1e-10)


def test_a_parameter_at_its_bound_warns():
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(50, 2)), rng.normal(size=50)
    with pytest.warns(ConvergenceWarning, match=r"gaussian.length_scale ended at a bound"):
        gp = GaussianProcessRegressor("gaussian(1)").fit(X, noise)
    assert gp.summary_.at_bound == ["gaussian.length_scale"]
    assert "at a bound: gaussian.length_scale" in str(gp.summary_)

    def at_the_end(obj_func, initial_theta, bounds):
        return bounds[:, 0], obj_func(bounds[:, 0])[0]

    with pytest.warns(ConvergenceWarning, match=r"gaussian.length_scale ended at a bound"):
        GaussianProcessRegressor("gaussian(1)", optimizer=at_the_end).fit(X, noise)


def test_leave_one_out_objective_is_what_refits_say():
    X, y, _ = data(n=25)
    gp = GaussianProcessRegressor("1*gaussian(1)", alpha=0.1, objective="loo", optimize_noise=True).fit(X, y)
    total = 0.0
    for i in range(len(X)):
        keep = np.arange(len(X)) != i
        mean, std = GaussianProcessRegressor(gp.kernel_, alpha=gp.noise_, optimizer=None).fit(X[keep], y[keep]).predict(X[[i]], return_std=True)
        variance = std[0] ** 2 + gp.noise_
        total += -0.5 * (np.log(2 * np.pi * variance) + (y[i] - mean[0]) ** 2 / variance)
    assert gp.summary_.leave_one_out_log_likelihood == pytest.approx(total, rel=1e-9)
    marginal = GaussianProcessRegressor("1*gaussian(1)", alpha=0.1, optimize_noise=True).fit(X, y)
    assert marginal.log_marginal_likelihood_value_ >= gp.log_marginal_likelihood_value_


def test_own_optimizer():
    X, y, _ = data()
    calls = []

    def optimizer(obj_func, initial_theta, bounds):
        calls.append(bounds.shape)
        found = minimize(obj_func, initial_theta, method="L-BFGS-B", jac=True, bounds=bounds)
        return found.x, found.fun

    kernel = KERNELS["rbf"][0]
    ours = GaussianProcessRegressor(kernel, optimizer=optimizer, n_restarts_optimizer=1, random_state=0, normalize_y=True).fit(X, y)
    best = GaussianProcessRegressor(kernel, normalize_y=True).fit(X, y)
    assert calls == [(3, 2)] * 2
    assert ours.log_marginal_likelihood_value_ >= best.log_marginal_likelihood_value_ - 1e-5


def test_files_and_pickles(tmp_path):
    X, y, Z = data(targets=2)
    gp = GaussianProcessRegressor("1*gaussian(1) + white(0.1)", normalize_y=True).fit(X, y)
    mercer.save(gp, tmp_path / "gp.mercer")
    for again in (pickle.loads(pickle.dumps(gp)), mercer.load(tmp_path / "gp.mercer")):
        for mine, expected in zip(again.predict(Z, return_std=True), gp.predict(Z, return_std=True), strict=True):
            np.testing.assert_array_equal(mine, expected)
        assert again.kernel_ == gp.kernel_
        np.testing.assert_allclose(again.y_train_, gp.y_train_, atol=1e-9)
        assert again.log_marginal_likelihood(gp.theta_) == pytest.approx(gp.log_marginal_likelihood_value_, rel=1e-9)
        np.testing.assert_array_equal(again.sample_y(Z, 2), gp.sample_y(Z, 2))
    assert mercer.info(tmp_path / "gp.mercer")["kind"] == "gp"


def test_sparse_float32_and_given_rows():
    X, y, Z = data()
    dense = GaussianProcessRegressor("gaussian(1)", alpha=0.1).fit(X, y)
    sparse = GaussianProcessRegressor("gaussian(1)", alpha=0.1).fit(csr_matrix(X), y)
    np.testing.assert_allclose(sparse.predict(Z, return_std=True)[1], dense.predict(Z, return_std=True)[1], atol=1e-6)
    small = GaussianProcessRegressor("gaussian(1)", alpha=0.1).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(small.predict(Z), dense.predict(Z), atol=1e-4)
    k = dense.kernel_
    given = GaussianProcessRegressor("precomputed", alpha=0.1).fit(k(X), y)
    np.testing.assert_allclose(given.predict(k(Z, X)), dense.predict(Z), atol=1e-10)
    assert given.log_marginal_likelihood(np.empty(0)) == pytest.approx(dense.log_marginal_likelihood_value_)
    with pytest.raises(ValueError, match=r"variances need k\(x,x\)"):
        given.predict(k(Z, X), return_std=True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": -1}, "noise must be a finite variance >= 0"),
        ({"alpha": [0.1, 0.2]}, "one for each of the 40 samples"),
        ({"alpha": "x"}, "alpha must be a number"),
        ({"optimizer": "adam"}, "optimizer must be"),
        ({"objective": "mse"}, 'objective must be "marginal" or "loo"'),
        ({"n_restarts_optimizer": -1}, "n_restarts_optimizer must be"),
        ({"kernel": "gaussian(1)", "fixed": ["factor"]}, 'has no parameter "factor" to be fixed'),
        ({"kernel": "gaussian(1)", "fixed": "factor"}, "fixed must be a sequence of names"),
        ({"kernel": "gaussian(1)", "bounds": 3}, "bounds must be a pair"),
        ({"kernel": "gaussian(1)", "bounds": (2, 1)}, "0 < lower <= upper"),
        ({"kernel": 3}, "kernel must be"),
        ({"kernel": "sigmoid", "alpha": 1e-6}, "check_kernel"),
        ({"n_targets": 2}, "y has 1 targets, but n_targets is 2"),
    ],
)
def test_errors(settings, message):
    X, y, _ = data()
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        GaussianProcessRegressor(**settings).fit(X, y)


def test_errors_of_use():
    X, y, Z = data()
    gp = GaussianProcessRegressor("gaussian(1)", alpha=0.1)
    with pytest.raises(AttributeError, match="before fit"):
        _ = gp.kernel_
    gp.fit(X, y)
    with pytest.raises(RuntimeError, match="at most one"):
        gp.predict(Z, return_std=True, return_cov=True)
    with pytest.raises(ValueError, match="theta must have 1 numbers"):
        gp.log_marginal_likelihood([1.0, 2.0])
    with pytest.raises(ValueError, match="a gradient is with respect to theta"):
        gp.log_marginal_likelihood(eval_gradient=True)
    with pytest.raises(MemoryError):
        GaussianProcessRegressor("gaussian(1)", alpha=0.1, memory=1000).fit(X, y)
    twice = np.vstack([X, X])
    with pytest.raises(ValueError, match="the pivot of sample 40 is"):
        GaussianProcessRegressor("laplacian(1)", alpha=0).fit(twice, np.r_[y, y])
