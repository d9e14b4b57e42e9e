"""Functions of a matrix against scipy and the identities of source L."""
import numpy as np
import pytest
import scipy.linalg

import mercer
from mercer import matrix_function


@pytest.fixture(scope="module")
def K():
    X = np.random.default_rng(2).normal(size=(40, 3))
    return mercer.gram(X, kernel="matern(0.5, 1)")


def test_against_scipy(K):
    np.testing.assert_allclose(matrix_function(K, "sqrt"), scipy.linalg.sqrtm(K).real, atol=1e-12)
    np.testing.assert_allclose(matrix_function(K, "log"), scipy.linalg.logm(K).real, atol=1e-10)
    np.testing.assert_allclose(matrix_function(K, np.exp), scipy.linalg.expm(K), rtol=1e-10)
    np.testing.assert_allclose(matrix_function(K, "power", 0.3), scipy.linalg.fractional_matrix_power(K, 0.3).real, atol=1e-11)
    np.testing.assert_allclose(matrix_function(K, "invsqrt"), np.linalg.inv(scipy.linalg.sqrtm(K).real), atol=1e-9)


def test_identities(K):
    f, g = np.sin, lambda d: np.exp(-d)
    np.testing.assert_allclose(matrix_function(K, lambda d: 3 * f(d) + g(d)), 3 * matrix_function(K, f) + matrix_function(K, g), atol=1e-13)
    np.testing.assert_allclose(matrix_function(K, lambda d: f(d) * g(d)), matrix_function(K, f) @ matrix_function(K, g), atol=1e-13)
    spectrum = np.linalg.eigvalsh(K)
    assert np.linalg.norm(matrix_function(K, f), 2) == pytest.approx(abs(f(spectrum)).max())
    np.testing.assert_allclose(np.linalg.eigvalsh(matrix_function(K, f)), np.sort(f(spectrum)), atol=1e-13)
    # Feature vectors from a bare Gram matrix: the rows of its root.
    root = matrix_function(K, "sqrt")
    np.testing.assert_allclose(root @ root.T, K, atol=1e-13)


def test_singular_and_misuse(K):
    low = np.ones((5, 5))
    np.testing.assert_allclose(matrix_function(low, "power", -1), np.linalg.pinv(low), atol=1e-15)
    np.testing.assert_allclose(matrix_function(low, "invsqrt"), low / 5 / np.sqrt(5), atol=1e-15)
    for wrong, what in (
        (lambda: matrix_function(low, "log"), "4 of its 5 eigenvalues are 0"),
        (lambda: matrix_function(-K, "sqrt"), "positive semi-definite"),
        (lambda: matrix_function(K[:3], "sqrt"), "square"),
        (lambda: matrix_function([[1.0, 2.0], [0.0, 1.0]], "sqrt"), "symmetric"),
        (lambda: matrix_function(K, "cube"), "one of sqrt"),
        (lambda: matrix_function(K, 3), "callable"),
        (lambda: matrix_function(K, "power"), "exponent"),
        (lambda: matrix_function(K, "sqrt", 2), "exponent"),
        (lambda: matrix_function(K, "sqrt", tol=3), "tolerance"),
        (lambda: matrix_function(K, lambda d: d[:2]), "2 numbers for 40"),
    ):
        with pytest.raises(ValueError, match=what):
            wrong()
    with pytest.raises(ZeroDivisionError):
        matrix_function(K, lambda d: 1 / 0)
    with pytest.raises(MemoryError, match="budget"):
        matrix_function(K, "sqrt", memory=100)
