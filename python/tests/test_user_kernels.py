"""Kernels written in Python: what they are called with, wrong answers, names, pickles, files."""
import functools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics.pairwise import additive_chi2_kernel, polynomial_kernel

import mercer
from mercer.kernels import FeatureMap, Function, Gaussian, Linear

N = 700  # three tiles by three


def dot(A, B):
    return A @ B.T


def dot_of_rows(x, y):
    return float(x @ y)


def with_squares(A):
    return np.column_stack([A, A**2])


def power(x, y, exponent=1):
    return float(x @ y) ** exponent


@pytest.fixture
def X(rng):
    return rng.normal(size=(N, 3))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_values(n_jobs, X):
    X = X[:400]
    n, expected = len(X), X @ X.T
    for k in (mercer.kernel_function(dot), mercer.kernel_function(dot_of_rows, pairwise=True), mercer.feature_map(lambda A: A)):
        np.testing.assert_allclose(k(X, n_jobs=n_jobs), expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(k(X[:300], X, n_jobs=n_jobs), expected[:300], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(k.diag(X), np.diag(expected), rtol=1e-12)
        assert k(X.astype(np.float32)).dtype == np.float32
        whole = 2 * k.on(0, 2) * Gaussian(1) + k.normalized()
        own = 2 * Linear().on(0, 2) * Gaussian(1) + Linear().normalized()
        np.testing.assert_allclose(whole(X, n_jobs=n_jobs), own(X), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(k.over(X[:300])(X, n_jobs=n_jobs), expected[:, :300] @ expected[:300], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose((k + Gaussian(2)).gradient(X, np.ones((n, n)), n_jobs=n_jobs), Gaussian(2).gradient(X, np.ones((n, n))), rtol=1e-12)
    features = mercer.feature_map(with_squares)
    np.testing.assert_allclose(features(X, n_jobs=n_jobs), with_squares(X) @ with_squares(X).T, rtol=1e-11, atol=1e-11)
    assert mercer.feature_map(lambda A: A[:, 0])(X)[1, 2] == pytest.approx(X[1, 0] * X[2, 0])


def test_a_function_is_called_once_per_tile(X):
    shapes = []

    def f(A, B):
        shapes.append((A.shape, B.shape))
        assert A.flags.writeable and A.dtype == B.dtype == np.float64
        A[:] += 0
        return A @ B.T

    mercer.kernel_function(f)(X, X[:256].copy())
    assert sorted(shapes) == [((188, 3), (256, 3)), ((256, 3), (256, 3)), ((256, 3), (256, 3))]
    shapes.clear()
    mercer.kernel_function(f)(X)
    assert len(shapes) == 6 + 3  # tiles on and above the diagonal, and the diagonal itself, where symmetry is looked at


def test_sparse_rows_come_as_csr(X):
    S = sp.csr_array(X * (np.abs(X) > 0.5))
    seen = set()

    def f(A, B):
        seen.update((type(A), type(B)))
        return A @ B.T  # a sparse answer is welcome

    k = mercer.kernel_function(f)
    np.testing.assert_allclose(k(S), Linear()(S), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(k(S, X[:9]), Linear()(S, X[:9]), rtol=1e-12, atol=1e-12)
    assert seen == {sp.csr_array}
    pairs = mercer.kernel_function(lambda x, y: (x @ y.T).toarray()[0, 0], pairwise=True)
    np.testing.assert_allclose(pairs(S[:20]), Linear()(S[:20]), rtol=1e-12, atol=1e-12)
    dense_model = mercer.KernelRidge(kernel=k).fit(X[:50], X[:50, 0])  # fitted on dense rows, asked about sparse ones
    np.testing.assert_allclose(dense_model.predict(S[:5]), dense_model.predict(S[:5].toarray()), rtol=1e-9)


@pytest.mark.parametrize(
    ("k", "error", "message"),
    [
        (mercer.kernel_function(lambda A, B: A), ValueError, r"'<lambda>' must give a matrix of shape \(5, 5\) for blocks of 5 and 5 rows, got shape \(5, 3\)"),
        (mercer.kernel_function(lambda A, B: 1.0), ValueError, r"got shape \(\) \(pairwise=True takes a function of two rows\)"),
        (mercer.kernel_function(lambda A, B: None), TypeError, "must give real numbers, got NoneType of dtype object"),
        (mercer.kernel_function(lambda A, B: [[1], [1, 2]]), ValueError, "must give a matrix, got a ragged list"),
        (mercer.kernel_function(lambda A, B: (A @ B.T).astype(complex)), TypeError, "must give real numbers, got ndarray of dtype complex128"),
        (mercer.kernel_function(lambda A, B: A @ B.T * np.nan), ValueError, "the kernel function '<lambda>' gave nan, but values must be finite"),
        (mercer.kernel_function(lambda A, B: A[:, :1] + 0 * A @ B.T), ValueError, r'function\("<lambda>"\) is not symmetric: k\(x_'),
        (mercer.kernel_function(lambda x, y: np.complex128(x @ y), pairwise=True), TypeError, "must give real numbers, got list of dtype complex128"),
        (mercer.kernel_function(lambda x, y: x, pairwise=True), ValueError, r"must give one number for two rows, got shape \(3,\)"),
        (mercer.kernel_function(lambda x: 1, pairwise=True), TypeError, "takes 1 positional argument but 2 were given"),
        (mercer.feature_map(lambda A: A[:2]), ValueError, r"must give a row of features for each of 5 rows, got shape \(2, 3\)"),
        (mercer.feature_map(lambda A: abs(A) * np.inf), ValueError, "the feature map '<lambda>' gave inf, but values must be finite"),
        (mercer.feature_map(lambda A: "x"), TypeError, "must give real numbers, got str"),
        (mercer.feature_map(lambda A: 1 / 0), ZeroDivisionError, "division by zero"),
    ],
)
def test_wrong_answers(k, error, message, X):
    with pytest.raises(error, match=message):
        k(X[:5])


def test_wrong_functions():
    for make, message in (
        (lambda: mercer.kernel_function(3), "Function takes a function, got 3"),
        (lambda: mercer.kernel_function(dot, psd="yes"), "psd must be True, False or None, got 'yes'"),
        (lambda: mercer.kernel_function(dot, name=5), "name must be text, got 5"),
        (lambda: mercer.feature_map("phi"), "FeatureMap takes a function, got 'phi'"),
        (lambda: mercer.kernel("linear", library={"f": 3}), r"library\['f'\] must be a function of two blocks of rows"),
        (lambda: mercer.kernel("linear", library={"f": Linear()}), r"library\['f'\] must be a function of two blocks of rows"),
    ):
        with pytest.raises(TypeError, match=message):
            make()
    with pytest.raises(ValueError, match="needs a name"):
        mercer.kernel_function(dot, name="")


def test_names_and_properties():
    k = mercer.kernel_function(dot, psd=True)
    assert isinstance(k, Function) and str(k) == 'function("dot")' and (k.f, k.name, k.psd, k.pairwise) == (dot, "dot", True, False)
    assert k.is_psd is True and mercer.kernel_function(dot).is_psd is None and mercer.kernel_function(dot, psd=False).is_psd is False
    assert (k + Gaussian(1)).is_universal is True and k.parameters == []
    phi = mercer.feature_map(with_squares)
    assert isinstance(phi, FeatureMap) and str(phi) == 'feature_map("with_squares")' and phi.is_psd and phi.f is with_squares
    assert str(mercer.feature_map(np.abs, "size")) == 'feature_map("size")'
    assert str(mercer.kernel_function(functools.partial(power, exponent=2), pairwise=True)) == 'function("power")'
    odd = mercer.kernel_function(dot, name='a "b" \\ ) + linear\n')
    assert mercer.kernel(str(odd), library={odd.name: dot}) == odd and type(mercer.kernel(str(odd), {odd.name: dot})) is Function


def test_functions_of_one_name_are_not_confused():
    one, other = mercer.kernel_function(dot), mercer.kernel_function(lambda A, B: (A @ B.T) ** 2, name="dot")
    for combine in (lambda: one + other, lambda: one * other, lambda: (one + 1) * (2 * other)):
        with pytest.raises(ValueError, match='two different functions are called "dot": give one of them another name'):
            combine()
    assert str(one + one * one) == 'function("dot") + function("dot")*function("dot")'


def test_text_and_library(X):
    k = 2 * mercer.kernel_function(dot) + mercer.feature_map(with_squares) * Gaussian(3)
    library = {"dot": dot, "with_squares": mercer.feature_map(with_squares)}
    again = mercer.kernel(str(k), library=library)
    assert again == k
    np.testing.assert_array_equal(again(X[:9]), k(X[:9]))
    renamed = mercer.kernel('function("mine")', library={"mine": mercer.kernel_function(dot_of_rows, pairwise=True, psd=True)})
    assert renamed.name == "mine" and renamed.pairwise and renamed.psd
    with pytest.raises(ValueError, match='the function "dot" was written in the program that made this kernel'):
        mercer.kernel(str(k))


def test_pickle(X):
    k = 2 * mercer.kernel_function(dot, psd=True) + mercer.feature_map(with_squares)
    again = pickle.loads(pickle.dumps(k))
    assert again == k and again.is_psd
    np.testing.assert_array_equal(again(X[:9]), k(X[:9]))
    leaf = pickle.loads(pickle.dumps(mercer.kernel_function(dot_of_rows, pairwise=True)))
    assert isinstance(leaf, Function) and leaf.f is dot_of_rows and leaf.pairwise
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(mercer.kernel_function(lambda A, B: A @ B.T))


MODELS = {
    "function": {"kernel": mercer.kernel_function(dot) + 1},
    "feature map": {"kernel": 0.5 * mercer.feature_map(with_squares)},
    "callable": {"kernel": dot_of_rows},
    "callable with parameters": {"kernel": power, "kernel_params": {"exponent": 2}},
    "additive_chi2": {"kernel": "additive_chi2"},
    "poly 1.5": {"kernel": "poly", "degree": 1.5, "gamma": 0.1, "coef0": 40},
}
LIBRARY = {
    "dot": dot,
    "with_squares": mercer.feature_map(with_squares),
    "dot_of_rows": mercer.kernel_function(dot_of_rows, pairwise=True),
    "power(exponent=2)": mercer.kernel_function(functools.partial(power, exponent=2), pairwise=True),
    "additive_chi2": additive_chi2_kernel,
    "poly(degree=1.5, gamma=0.1, coef0=40)": lambda A, B: polynomial_kernel(A, B, 1.5, 0.1, 40),
}


@pytest.mark.parametrize("parameters", MODELS.values(), ids=MODELS)
def test_models_with_functions_clone_pickle_and_save(parameters, problem, tmp_path):
    X, Y = np.abs(problem[0]), problem[1]
    model = mercer.KernelRidge(0.5, **parameters).fit(X, Y)
    expected = model.predict(X[:7])
    np.testing.assert_allclose(clone(model).fit(X, Y).predict(X[:7]), expected)
    restored = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(restored.predict(X[:7]), expected)
    assert restored.kernel_ == model.kernel_
    np.testing.assert_allclose(model.model_.decision(X[:7]), expected, rtol=1e-9)
    np.testing.assert_allclose(model.model_.decision(X[2]), expected[2], rtol=1e-9)
    mercer.save(model, tmp_path / "m.mercer")
    np.testing.assert_allclose(mercer.load(tmp_path / "m.mercer", library=LIBRARY).predict(X[:7]), expected, rtol=1e-9)
    with pytest.raises(ValueError, match="was written in the program that made this kernel: give it along"):
        mercer.load(tmp_path / "m.mercer")
    assert "(" in str(mercer.info(tmp_path / "m.mercer"))  # the header needs no function


def test_diagnosis_and_functions_of_the_space(X):
    k = mercer.kernel_function(lambda A, B: -A @ B.T, name="minus", psd=True)
    check = mercer.check_kernel(k, X[:50])
    assert not check.psd and check.claims_psd and not check.agrees  # a wrong claim is found out
    f = mercer.RKHSFunction(mercer.kernel_function(dot, psd=True), X, X[:, 0])
    np.testing.assert_allclose(f(X[:5]), X[:5] @ X.T @ X[:, 0], rtol=1e-10)
    assert f.norm() == pytest.approx(np.linalg.norm(X.T @ X[:, 0])) and pickle.loads(pickle.dumps(f)).kernel == f.kernel
    np.testing.assert_allclose(mercer.feature_distance(f.kernel, X[:5]), mercer.feature_distance(Linear(), X[:5]), rtol=1e-9, atol=1e-12)
