"""KernelRidge: the equations themselves, the forms of data, and wrong input."""
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import close
from hypothesis import given, strategies as st
from sklearn.kernel_ridge import KernelRidge as Twin

import mercer
from mercer.kernels import Gaussian, Linear, Polynomial


@pytest.mark.parametrize("parameters", [{"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.3}, {"kernel": "laplacian"}, {"kernel": "poly"}], ids=str)
def test_sparse_rows(parameters, rng):
    X = sp.csr_matrix(rng.normal(size=(50, 20)) * (rng.random((50, 20)) < 0.2))
    y = rng.normal(size=50)
    theirs = Twin(**parameters).fit(X.toarray(), y)
    for form in (X, X.tocsc(), X.tocoo()):
        ours = mercer.KernelRidge(**parameters).fit(form, y)
        close(ours.predict(X[:7]), theirs.predict(X[:7].toarray()))
        close(ours.predict(X[:7].toarray()), theirs.predict(X[:7].toarray()))
    assert sp.issparse(ours.X_fit_) and (ours.X_fit_ != X).nnz == 0
    dense_model = mercer.KernelRidge(**parameters).fit(X.toarray(), y)
    close(dense_model.predict(X[:7]), theirs.predict(X[:7].toarray()))


def test_float32_rows_and_float32_precision(problem):
    X, Y = problem
    X32 = X.astype(np.float32)
    exact = Twin(kernel="rbf", alpha=0.5).fit(X32.astype(float), Y)
    ours = mercer.KernelRidge(kernel="rbf", alpha=0.5).fit(X32, Y)
    assert ours.X_fit_.dtype == np.float32
    close(ours.predict(X32), exact.predict(X32.astype(float)))  # float32 data, float64 arithmetic
    rough = mercer.KernelRidge(kernel="rbf", alpha=0.5, precision="float32").fit(X, Y)
    close(rough.predict(X), Twin(kernel="rbf", alpha=0.5).fit(X, Y).predict(X), 1e-4)
    assert not np.array_equal(rough.dual_coef_, mercer.KernelRidge(kernel="rbf", alpha=0.5).fit(X, Y).dual_coef_)


def test_one_penalty_per_target(problem):
    X, Y = problem
    alphas = [0.1, 1.0, 0.1]
    close(mercer.KernelRidge(alphas, kernel="rbf").fit(X, Y).predict(X), Twin(np.array(alphas), kernel="rbf").fit(X, Y).predict(X))


def test_lambda_is_alpha_over_n(problem):
    X, Y = problem
    one = mercer.KernelRidge(kernel="rbf", lambda_=0.01, alpha=123).fit(X, Y)
    other = mercer.KernelRidge(kernel="rbf", alpha=0.01 * len(X)).fit(X, Y)
    np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)
    gram = mercer.KernelRidge(kernel="precomputed", lambda_=0.01).fit(one.kernel_(X), Y)
    close(gram.dual_coef_, one.dual_coef_)


@pytest.mark.parametrize("weighted", [False, True])
def test_intercept_solves_the_bordered_system(weighted, problem, rng):
    """[K + alpha W^-1, 1; 1', 0] [c; b] = [y; 0], by numpy, for the compiled path and the path of given Grams."""
    X, Y = problem
    n = len(X)
    w = rng.uniform(0.2, 2, n) if weighted else np.ones(n)
    K = Gaussian(1.5)(X)
    system = np.block([[K + 0.3 * np.diag(1 / w), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    expected = np.linalg.solve(system, np.vstack([Y + 5, np.zeros((1, 3))]))
    for model in (
        mercer.KernelRidge(0.3, kernel=Gaussian(1.5), fit_intercept=True).fit(X, Y + 5, w),
        mercer.KernelRidge(0.3, kernel="precomputed", fit_intercept=True).fit(K, Y + 5, w),
    ):
        close(model.dual_coef_, expected[:-1])
        close(model.intercept_, expected[-1])
    single = mercer.KernelRidge(0.3, kernel=Gaussian(1.5), fit_intercept=True).fit(X, Y[:, 0] + 5, w)
    assert isinstance(single.intercept_, float) and single.intercept_ == pytest.approx(expected[-1, 0])


@pytest.mark.parametrize("kernel", ["own", "precomputed"])
def test_alpha_zero_gives_the_interpolant_of_least_norm(kernel, rng):
    X = rng.normal(size=(30, 3))
    X = np.vstack([X, X[:5]])  # duplicates: K is singular whatever the kernel
    y = np.concatenate([rng.normal(size=30), np.zeros(5)])
    y[30:] = y[:5]
    K = Polynomial(2)(X)
    rows = X if kernel == "own" else K
    model = mercer.KernelRidge(0, kernel=Polynomial(2) if kernel == "own" else kernel).fit(rows, y)
    close(model.dual_coef_, np.linalg.pinv(K, rcond=1e-13) @ y, 1e-7)
    assert model.summary_.method == "pseudo-inverse" and model.summary_.rank == 10  # monomials of degree <= 2 in 3 variables
    assert "rank 10" in str(model.summary_)


def test_indefinite_kernels_are_answered_and_said(problem):
    X, Y = problem
    model = mercer.KernelRidge(0.1, kernel=-1 * Gaussian(1)).fit(X, Y)
    assert not model.summary_.positive_definite and "not positive definite" in str(model.summary_)
    K = -Gaussian(1)(X)
    close((K + 0.1 * np.eye(len(X))) @ model.dual_coef_, Y, 1e-8)


def test_attributes(problem):
    X, Y = problem
    model = mercer.KernelRidge(kernel="gaussian(auto)").fit(X, Y[:, 0])
    assert model.kernel_ == Gaussian("auto").resolve(X)
    assert model.intercept_ == 0.0
    assert "solved: Cholesky of 60 x 60" in str(model.summary_) and model.summary_.residual < 1e-12
    assert not model.dual_coef_.flags.writeable and not model.X_fit_.flags.writeable
    f = model.predict(X)
    assert model.model_.decision(X[3]) == pytest.approx(f[3], rel=1e-12)
    np.testing.assert_allclose(model.model_.decision(X), f, rtol=1e-12)
    both = mercer.KernelRidge().fit(X, Y).model_
    assert both.decision(X[0]).shape == (3,) and both.decision(X).shape == (60, 3)
    column = mercer.KernelRidge().fit(X, Y[:, :1])
    assert column.predict(X).shape == (60, 1) and column.dual_coef_.shape == (60, 1)


def test_the_model_does_not_follow_the_callers_array(problem):
    X, Y = problem
    X = X.copy()
    model = mercer.KernelRidge(kernel="rbf").fit(X, Y)
    before = model.predict(X[:5].copy())
    rows = X[:5].copy()
    X[:] = 0
    np.testing.assert_array_equal(model.predict(rows), before)


@pytest.mark.parametrize("kernel", ["gaussian(1)", "laplacian(1)", "polynomial(3)", "linear"])
def test_threads_do_not_change_a_bit(kernel, rng):
    X, y = rng.normal(size=(700, 5)), rng.normal(size=(700, 2))
    fits = [mercer.KernelRidge(0.1, kernel=kernel, n_jobs=n).fit(X, y) for n in (1, 2, -1)]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.dual_coef_, fits[0].dual_coef_)
        np.testing.assert_array_equal(other.predict(X[:300]), fits[0].predict(X[:300]))


def test_memory_budget(problem):
    X, Y = problem
    with pytest.raises(MemoryError, match="kernel ridge regression on 60 samples in float64 needs .* the memory budget is 1 kB"):
        mercer.KernelRidge(memory="1KB").fit(X, Y)


GOOD_X, GOOD_Y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
NAN_X = GOOD_X.copy()
NAN_X[3, 1] = np.nan


@pytest.mark.parametrize(
    ("parameters", "X", "y", "message"),
    [
        ({"alpha": -1}, GOOD_X, GOOD_Y, "alpha must be a finite number >= 0, got -1"),
        ({"alpha": np.nan}, GOOD_X, GOOD_Y, "alpha must be a finite number >= 0, got nan"),
        ({"alpha": "much"}, GOOD_X, GOOD_Y, "alpha must be a number >= 0"),
        ({"alpha": [1, 2]}, GOOD_X, GOOD_Y, r"one number or one per target \(1\), got shape \(2,\)"),
        ({"lambda_": -0.1}, GOOD_X, GOOD_Y, "lambda_ must be a finite number >= 0, or None, got -0.1"),
        ({"precision": "half"}, GOOD_X, GOOD_Y, "precision must be"),
        ({"kernel": "rbf", "gamma": -1}, GOOD_X, GOOD_Y, "gamma must be >= 0, got -1"),
        ({"kernel": "rbf", "gamma": "scale"}, GOOD_X, GOOD_Y, "gamma must be a finite number or None, got 'scale'"),
        ({"kernel": "poly", "degree": -1}, GOOD_X, GOOD_Y, "degree must be >= 0, got -1"),
        ({"kernel": "gaussian(0)"}, GOOD_X, GOOD_Y, "length_scale must be a number > 0"),
        ({"kernel": "unknown"}, GOOD_X, GOOD_Y, 'there is no kernel "unknown"'),
        ({"kernel": 3}, GOOD_X, GOOD_Y, "kernel must be text, a mercer.Kernel or a callable, got 3"),
        ({"kernel": lambda a, b: np.nan}, GOOD_X, GOOD_Y, "the kernel function '<lambda>' gave nan"),
        ({"kernel": "precomputed"}, GOOD_X, GOOD_Y, r"square matrix of k\(x_i, x_j\), got shape \(6, 2\)"),
        ({"n_jobs": 0}, GOOD_X, GOOD_Y, "n_jobs must be a whole number other than 0"),
        ({"memory": -4}, GOOD_X, GOOD_Y, "memory must be a number of bytes"),
        ({}, NAN_X, GOOD_Y, "Input X contains NaN"),
        ({}, GOOD_X, np.full(6, np.inf), "Input y contains infinity"),
        ({}, GOOD_X[:, 0], GOOD_Y, "Expected 2D array, got 1D array"),
        ({}, GOOD_X[:0], GOOD_Y[:0], r"Found array with 0 sample\(s\)"),
        ({}, GOOD_X, GOOD_Y[:5], "inconsistent numbers of samples"),
        ({}, np.array([["a", "b"]] * 6), GOOD_Y, "could not convert string to float"),
        ({}, [["a", "b"]] * 6, GOOD_Y, "'linear' looks at numbers, but X holds sets of strings: use kernel=\"bag_of_words\""),
    ],
)
def test_wrong_input(parameters, X, y, message):
    with pytest.raises(ValueError, match=message):
        mercer.KernelRidge(**parameters).fit(X, y)


def test_wrong_weights_and_width():
    model = mercer.KernelRidge()
    with pytest.raises(ValueError, match="sample_weight must be >= 0, got -1.0 for sample 2"):
        model.fit(GOOD_X, GOOD_Y, [1, 1, -1, 1, 1, 1])
    for kernel, rows in (("linear", GOOD_X), ("precomputed", GOOD_X @ GOOD_X.T)):
        with pytest.raises(ValueError, match="non-zero number|all sample weights are zero"):
            mercer.KernelRidge(kernel=kernel).fit(rows, GOOD_Y, np.zeros(6))
    with pytest.raises(ValueError, match=r"sample_weight.shape == \(5,\), expected \(6,\)"):
        model.fit(GOOD_X, GOOD_Y, np.ones(5))
    with pytest.raises(ValueError, match="X has 3 features, but KernelRidge is expecting 2 features"):
        model.fit(GOOD_X, GOOD_Y).predict(np.ones((1, 3)))
    with pytest.raises(ValueError, match="X has 3 columns, the model was fitted on 2"):
        model.model_.decision(np.ones(3))


def test_extreme_shapes():
    assert mercer.KernelRidge(kernel="gaussian(1)").fit([[0.0]], [2.0]).predict([[0.0]]) == pytest.approx([1.0])
    constant = np.ones((5, 3))
    close(mercer.KernelRidge(kernel="gaussian(auto)").fit(constant, np.arange(5.0)).predict(constant), np.full(5, 10 / 6))
    wide = np.random.default_rng(0).normal(size=(3, 400))
    close(mercer.KernelRidge().fit(wide, [1.0, 2, 3]).predict(wide), Twin().fit(wide, [1.0, 2, 3]).predict(wide))


@given(st.integers(2, 25), st.integers(1, 5), st.floats(0.01, 10), st.booleans(), st.integers(0, 2**16))
def test_linear_kernel_ridge_is_ridge(n, width, alpha, intercept, seed):
    rng = np.random.default_rng(seed)
    X, Y, new = rng.normal(size=(n, width)), rng.normal(size=(n, 2)), rng.normal(size=(4, width))
    weight = rng.uniform(0.5, 2, n)
    dual = mercer.KernelRidge(alpha, kernel=Linear(), fit_intercept=intercept).fit(X, Y, weight)
    primal = mercer.Ridge(alpha, fit_intercept=intercept).fit(X, Y, weight)
    close(dual.predict(new), primal.predict(new), 1e-9)
    close(X.T @ dual.dual_coef_, primal.coef_.T, 1e-9)


@given(st.integers(1, 20), st.integers(0, 2**16))
def test_a_weight_of_two_is_the_row_twice(n, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), rng.normal(size=n)
    times = rng.integers(0, 3, size=n)
    times[0] = 1
    one = mercer.KernelRidge(0.3, kernel="gaussian(1)").fit(X, y, times.astype(float))
    other = mercer.KernelRidge(0.3, kernel="gaussian(1)").fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    close(one.predict(X), other.predict(X), 1e-9)


@pytest.mark.parametrize("solver", ["cholesky", "mixed", "cg"])
def test_every_solver_gives_scikit_learns_answer(solver):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(700, 4)), rng.normal(size=(700, 2))
    ours = mercer.KernelRidge(kernel="rbf", alpha=0.1, solver=solver).fit(X, y)
    theirs = Twin(kernel="rbf", alpha=0.1).fit(X, y)
    assert ours.summary_.converged
    assert ours.summary_.residual <= 1e-10
    # A residual of 1e-10 and eigenvalues from 0.1 upwards.
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=0, atol=1e-8 * np.abs(theirs.dual_coef_).max())


def test_solver_and_tolerance_are_checked():
    X, y = np.eye(4), np.arange(4.0)
    with pytest.raises(ValueError, match="solver must be one of"):
        mercer.KernelRidge(solver="lu").fit(X, y)
    with pytest.raises(ValueError, match="tolerance must be between 0 and 1"):
        mercer.KernelRidge(tol=0).fit(X, y)
