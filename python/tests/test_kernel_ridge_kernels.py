"""KernelRidge with every kind of kernel: scikit-learn's words and answers, callables, named columns."""
import numpy as np
import pandas as pd
import pytest
from conftest import close
from sklearn.gaussian_process.kernels import RBF, ExpSineSquared
from sklearn.kernel_ridge import KernelRidge as Twin

import mercer
from mercer.kernels import Gaussian, Linear, Polynomial

WORDS = [
    {"kernel": "linear"},
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "rbf", "gamma": 0.0},
    {"kernel": "laplacian"},
    {"kernel": "laplacian", "gamma": 0.4},
    {"kernel": "polynomial"},
    {"kernel": "poly", "degree": 2, "coef0": 0.5, "gamma": 0.7},
    {"kernel": "poly", "degree": 1.5, "gamma": 0.1, "coef0": 40},
    {"kernel": "poly", "degree": 0},
    {"kernel": "sigmoid", "gamma": 0.01},
    {"kernel": "sigmoid", "gamma": 0.01, "coef0": 0.3},
    {"kernel": "cosine"},
]
HISTOGRAM_WORDS = [{"kernel": "chi2", "gamma": 1.0}, {"kernel": "chi2", "gamma": 0.3}, {"kernel": "additive_chi2"}]


@pytest.mark.parametrize("parameters", WORDS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("targets", [0, 3])
def test_agrees_with_scikit_learn(parameters, weighted, targets, problem, rng):
    X, Y = problem
    y = Y if targets else Y[:, 0]
    weight = rng.uniform(0.1, 2, size=len(X)) if weighted else None
    new = rng.normal(size=(25, 4))
    ours = mercer.KernelRidge(alpha=0.5, **parameters).fit(X, y, weight)
    theirs = Twin(alpha=0.5, **parameters).fit(X, y, weight)
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape
    close(ours.dual_coef_, theirs.dual_coef_)
    close(ours.predict(new), theirs.predict(new))
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-10)
    np.testing.assert_array_equal(ours.X_fit_, theirs.X_fit_)


@pytest.mark.filterwarnings("ignore:Singular matrix")  # additive_chi2 is not positive definite, and scikit-learn says so
@pytest.mark.parametrize("parameters", HISTOGRAM_WORDS, ids=str)
def test_words_for_rows_without_negative_numbers(parameters, problem):
    X, Y = np.abs(problem[0]), problem[1]
    ours, theirs = (E(alpha=5.0, **parameters).fit(X, Y) for E in (mercer.KernelRidge, Twin))
    close(ours.predict(X[:9]), theirs.predict(X[:9]), 1e-9)
    with pytest.raises(ValueError, match="negative|>= 0"):
        mercer.KernelRidge(**parameters).fit(-X, Y)


def test_what_scikit_learns_words_mean(problem):
    X, Y = np.abs(problem[0]), problem[1]
    for parameters, text in (
        ({"kernel": "chi2"}, "chi2(1)"),  # the default of chi2_kernel; scikit-learn's own KernelRidge fails without a number
        ({"kernel": "chi2", "gamma": 0}, "constant(1)"),
        ({"kernel": "cosine"}, "cosine"),
        ({"kernel": "sigmoid", "gamma": 0.5, "coef0": 2}, "sigmoid(scale=0.5, offset=2)"),
        ({"kernel": "additive_chi2"}, 'function("additive_chi2")'),
        ({"kernel": "poly", "degree": 1.5, "gamma": 0.5}, 'function("poly(degree=1.5, gamma=0.5, coef0=1)")'),
        ({"kernel": "linear"}, "linear"),
        ({"kernel": "rbf", "gamma": 0.125}, "gaussian(2)"),
    ):
        assert str(mercer.KernelRidge(**parameters).fit(X, Y).kernel_) == text


def test_columns_by_name(problem):
    X, Y = problem
    frame = pd.DataFrame(X, columns=["age", "dose", "height", "weight"])
    for kernel in (Gaussian(1).on("dose", "age") + Linear().on("weight"), 'gaussian(1).on("dose", "age") + linear.on(weight)'):
        model = mercer.KernelRidge(kernel=kernel).fit(frame, Y)
        assert str(model.kernel_) == "gaussian(1).on(1, 0) + linear.on(3)"
        close(model.predict(frame), mercer.KernelRidge(kernel="gaussian(1).on(0, 1) + linear.on(3)").fit(X, Y).predict(X))
        with pytest.raises(ValueError, match="names columns, but X has no column names: give a DataFrame"):
            mercer.KernelRidge(kernel=kernel).fit(X, Y)
    with pytest.raises(ValueError, match='column "size", which is not among the features; they are age, dose, height, weight'):
        mercer.KernelRidge(kernel="gaussian(1).on(size)").fit(frame, Y)


def test_documentation_example_of_the_class():
    rng = np.random.RandomState(0)
    y, X = rng.randn(10), rng.randn(10, 5)
    close(mercer.KernelRidge(alpha=1.0).fit(X, y).predict(X), Twin(alpha=1.0).fit(X, y).predict(X))


def test_documentation_example_kernel_ridge_against_svr():
    """plot_kernel_ridge_regression.py of scikit-learn: its data, the grid's winner, the same predictions."""
    from sklearn.model_selection import GridSearchCV

    rng = np.random.RandomState(42)
    X = 5 * rng.rand(1000, 1)
    y = np.sin(X).ravel()
    y[::5] += 3 * (0.5 - rng.rand(X.shape[0] // 5))
    X_plot = np.linspace(0, 5, 500)[:, None]
    grid = {"alpha": [1e0, 0.1, 1e-2, 1e-3], "gamma": np.logspace(-2, 2, 5)}
    ours = GridSearchCV(mercer.KernelRidge(kernel="rbf", gamma=0.1), param_grid=grid).fit(X[:100], y[:100])
    theirs = GridSearchCV(Twin(kernel="rbf", gamma=0.1), param_grid=grid).fit(X[:100], y[:100])
    assert ours.best_params_ == theirs.best_params_
    close(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], 1e-9)
    close(ours.predict(X_plot), theirs.predict(X_plot))


def test_documentation_example_with_a_kernel_object_of_scikit_learn():
    """plot_compare_gpr_krr.py of scikit-learn: an ExpSineSquared kernel as a callable."""
    rng = np.random.RandomState(0)
    data = np.linspace(0, 30, num=200).reshape(-1, 1)
    target = np.sin(data).ravel()
    sample = rng.choice(np.arange(0, 80), size=40, replace=False)
    X, y = data[sample], target[sample] + 0.5 * rng.randn(40)

    def periodic(a, b):
        return ExpSineSquared(length_scale=1.0, periodicity=6.28)(np.atleast_2d(a), np.atleast_2d(b))[0, 0]

    close(mercer.KernelRidge(kernel=periodic, alpha=0.1).fit(X, y).predict(data), Twin(kernel=periodic, alpha=0.1).fit(X, y).predict(data))


def test_callable_kernels_take_parameters(problem):
    X, Y = problem

    def power(a, b, exponent):
        return float(np.dot(a, b)) ** exponent

    ours = mercer.KernelRidge(kernel=power, kernel_params={"exponent": 2}).fit(X, Y)
    close(ours.predict(X[:5]), mercer.KernelRidge(kernel=Polynomial(2, offset=0)).fit(X, Y).predict(X[:5]))


def test_parameters_that_have_no_effect_are_said(problem):
    X, y = problem
    with pytest.warns(UserWarning, match=r"kernel='gaussian\(2\)' brings its own parameters and does not look at gamma"):
        mercer.KernelRidge(kernel="gaussian(2)", gamma=0.1).fit(X, y)


def test_bare_words_keep_scikit_learns_meaning_and_expressions_mercers(problem):
    X, Y = problem
    assert str(mercer.KernelRidge(kernel="laplacian", gamma=0.5).fit(X, Y).kernel_) == "laplacian(2, norm=l1)"
    assert str(mercer.KernelRidge(kernel="laplacian(2)").fit(X, Y).kernel_) == "laplacian(2)"
    assert str(mercer.KernelRidge(kernel="polynomial").fit(X, Y).kernel_) == "polynomial(3, scale=0.25, offset=1)"
    assert str(mercer.KernelRidge(kernel="polynomial(3)").fit(X, Y).kernel_) == "polynomial(3, scale=1, offset=1)"


def test_gaussian_process_kernels_of_scikit_learn(rng):
    X, y = rng.normal(size=(300, 3)), rng.normal(size=300)
    for kernel in (RBF(2.0), 2 * RBF(1.0) + RBF([0.5, 1.0, 2.0])):
        ours, theirs = (model(kernel=kernel, alpha=0.3).fit(X, y).predict(X[:5]) for model in (mercer.KernelRidge, Twin))
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def test_a_kernel_that_could_never_predict_is_refused_at_once():
    with pytest.raises(ValueError, match="could be fitted but never predict"):
        mercer.KernelRidge(kernel="(precomputed + 1).normalized()").fit(np.eye(3), [1.0, 2.0, 3.0])
