"""Ridge: scikit-learn's answers, the closed form, the spectrum, and wrong input."""
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression, Ridge as Twin
from sklearn.preprocessing import PolynomialFeatures

import mercer


def close(ours, theirs, tolerance=1e-10):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * max(1.0, np.abs(theirs).max()))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("targets", [0, 1, 3])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 50.0])
def test_agrees_with_scikit_learn(intercept, weighted, targets, alpha, problem, rng):
    X, Y = problem
    y = Y[:, :targets] if targets else Y[:, 0]
    weight = rng.uniform(0.1, 2, size=len(X)) if weighted else None
    ours = mercer.Ridge(alpha, fit_intercept=intercept).fit(X + 3, y, weight)
    theirs = Twin(alpha, fit_intercept=intercept, solver="svd").fit(X + 3, y, weight)
    assert ours.coef_.shape == theirs.coef_.shape and np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    assert ours.predict(X).shape == theirs.predict(X).shape
    close(ours.coef_, theirs.coef_)
    close(ours.intercept_, theirs.intercept_)
    close(ours.predict(X), theirs.predict(X))


def test_documentation_examples():
    """Those of scikit-learn's Ridge class and of the user guide's section on ridge regression."""
    rng = np.random.RandomState(0)
    y, X = rng.randn(10), rng.randn(10, 5)
    close(mercer.Ridge(alpha=1.0).fit(X, y).coef_, Twin(alpha=1.0).fit(X, y).coef_)
    guide = mercer.Ridge(alpha=0.5).fit([[0, 0], [0, 0], [1, 1]], [0, 0.1, 1])
    np.testing.assert_allclose(guide.coef_, [0.34545455, 0.34545455], atol=1e-8)
    assert guide.intercept_ == pytest.approx(0.13636363636)


def test_documentation_example_hilbert_matrix():
    """plot_ridge_path.py of scikit-learn: the 10 x 10 Hilbert matrix over many penalties."""
    X = 1.0 / (np.arange(1, 11) + np.arange(0, 10)[:, np.newaxis])
    y = np.ones(10)
    for alpha in np.logspace(-10, -2, 20):
        ours = mercer.Ridge(alpha=alpha, fit_intercept=False).fit(X, y).coef_
        theirs = Twin(alpha=alpha, fit_intercept=False, solver="svd").fit(X, y).coef_
        np.testing.assert_allclose(ours, theirs, rtol=1e-10 / alpha * 1e-6 + 1e-10)


def test_least_squares_and_rank_deficiency(problem):
    X, Y = problem
    close(mercer.Ridge(0).fit(X, Y).coef_, LinearRegression().fit(X, Y).coef_)
    dependent = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(len(X))])
    model = mercer.Ridge(0, fit_intercept=False).fit(dependent, Y)
    close(model.coef_, (np.linalg.pinv(dependent) @ Y).T)
    assert model.rank_ == 5 and model.condition_number_ == np.inf
    wide = mercer.Ridge(0, fit_intercept=False).fit(X[:3], Y[:3])
    close(wide.coef_, (np.linalg.pinv(X[:3]) @ Y[:3]).T)
    close(wide.predict(X[:3]), Y[:3])


def test_spectrum(problem):
    X, Y = problem
    model = mercer.Ridge(2.0).fit(X, Y)
    s = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(model.singular_values_, s, rtol=1e-12)
    np.testing.assert_allclose(model.summary_.filter, s / (s**2 + 2), rtol=1e-12)
    assert model.condition_number_ == pytest.approx(s[0] / s[-1])
    assert model.condition_number_after_ == pytest.approx(np.linalg.cond(np.vstack([X - X.mean(axis=0), np.sqrt(2) * np.eye(4)])))
    assert model.degrees_of_freedom_ == pytest.approx((s**2 / (s**2 + 2)).sum())
    assert model.rank_ == 4 and model.solver_ == "svd" and model.n_iter_ is None
    assert "rank 4" in str(model.summary_)
    assert model.model_.decision(X[0]).shape == (3,)


@pytest.mark.parametrize("degree", [2, 3])
def test_polynomials(degree, problem):
    X, Y = problem
    expanded = PolynomialFeatures(degree, include_bias=False).fit_transform(X)
    np.testing.assert_allclose(mercer.monomials(X, degree), expanded, rtol=1e-13)
    ours = mercer.Ridge(0.7, degree=degree).fit(X, Y)
    theirs = Twin(0.7, solver="svd").fit(expanded, Y)
    close(ours.coef_, theirs.coef_)
    close(ours.predict(X), theirs.predict(expanded))
    assert ours.n_features_in_ == 4


def test_lambda_sparse_float32_and_penalties_per_target(problem):
    X, Y = problem
    np.testing.assert_array_equal(mercer.Ridge(lambda_=0.01).fit(X, Y).coef_, mercer.Ridge(0.01 * len(X)).fit(X, Y).coef_)
    close(mercer.Ridge().fit(sp.csr_array(X), Y).predict(sp.csc_array(X)), Twin(solver="svd").fit(X, Y).predict(X))
    X32 = X.astype(np.float32)
    close(mercer.Ridge().fit(X32, Y).coef_, Twin(solver="svd").fit(X32.astype(float), Y).coef_)
    close(mercer.Ridge([0.1, 1, 10]).fit(X, Y).coef_, Twin([0.1, 1, 10], solver="svd").fit(X, Y).coef_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1}, "alpha must be a finite number >= 0, got -1"),
        ({"alpha": [1, 2]}, r"one number or one per target \(3\)"),
        ({"solver": "sag"}, "solver must be \"auto\" or \"svd\", got 'sag': Mercer solves ridge exactly"),
        ({"solver": "magic"}, "got 'magic'"),
        ({"positive": True}, "positive must be False"),
        ({"degree": 0}, "degree must be a whole number from 1 to 100, got 0"),
        ({"degree": 1.5}, "degree must be a whole number"),
        ({"lambda_": np.inf}, "lambda_ must be a finite number"),
    ],
)
def test_wrong_parameters(parameters, message, problem):
    with pytest.raises(ValueError, match=message):
        mercer.Ridge(**parameters).fit(*problem)


def test_wrong_data(problem):
    X, Y = problem
    with pytest.raises(ValueError, match="Input X contains NaN"):
        mercer.Ridge().fit([[np.nan], [1]], [1, 2])
    with pytest.raises(ValueError, match="X has 2 features, but Ridge is expecting 4"):
        mercer.Ridge().fit(X, Y).predict(X[:, :2])
    with pytest.raises(MemoryError, match="ridge regression on 60 rows and 4 columns needs"):
        mercer.Ridge(memory=1000).fit(X, Y)
