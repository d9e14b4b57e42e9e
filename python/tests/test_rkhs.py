"""Functions of an RKHS against numpy, and against what a Hilbert space promises."""
import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import mercer
from mercer import RKHSFunction
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial

KERNELS = [Gaussian(1.5), Laplacian(2), Linear(), Polynomial(2, scale=0.5, offset=1)]


def make(k, rng, n=20, d=3):
    return RKHSFunction(k, rng.normal(size=(n, d)), rng.normal(size=n))


@pytest.mark.parametrize("k", KERNELS, ids=str)
def test_against_numpy(k, rng):
    f, g = make(k, rng), make(k, rng, 7)
    Z = rng.normal(size=(11, 3))
    np.testing.assert_allclose(f(Z), k(Z, f.X) @ f.coef, rtol=1e-12, atol=1e-12)
    assert f @ g == pytest.approx(f.coef @ k(f.X, g.X) @ g.coef, rel=1e-11)
    assert f.inner(g) == f @ g
    assert f.norm() == pytest.approx(np.sqrt(f.coef @ k(f.X) @ f.coef), rel=1e-11)
    assert f.squared_norm() == pytest.approx(f.norm() ** 2)
    np.testing.assert_allclose(f.bound(Z), f.norm() * np.sqrt(k.diag(Z)), rtol=1e-12)
    assert (abs(f(Z)) <= f.bound(Z) * (1 + 1e-12)).all()
    for x in Z:
        assert f @ RKHSFunction(k, [x], [1.0]) == pytest.approx(f([x])[0], rel=1e-11)  # <f, k(x, .)> = f(x)
    h = 2 * f - g / 4 + (-g)
    assert len(h) == 34
    np.testing.assert_allclose(h(Z), 2 * f(Z) - 1.25 * g(Z), rtol=1e-11, atol=1e-11)
    assert (f + g).squared_norm() + (f - g).squared_norm() == pytest.approx(2 * f.squared_norm() + 2 * g.squared_norm(), rel=1e-11)
    assert f.distance(g) == pytest.approx((f - g).norm())
    assert f.distance(f) == 0


def test_values_do_not_change(rng):
    X, a = rng.normal(size=(5, 2)), rng.normal(size=5)
    f = RKHSFunction("gaussian(auto)", X, a)
    before = f(X)
    X[:], a[:] = 0, 0
    np.testing.assert_array_equal(f(f.X), before)
    assert f.kernel == Gaussian("auto").resolve(f.X)
    with pytest.raises(ValueError):
        f.X[0, 0] = 1
    with pytest.raises(AttributeError, match="functions do not change"):
        f.X = X
    assert copy.copy(f) is f and copy.deepcopy(f) is f


def test_equal_samples_add_coefficients(rng):
    X = rng.normal(size=(6, 2))
    f, g = RKHSFunction("gaussian(1)", X, np.ones(6)), RKHSFunction("gaussian(1)", X, np.arange(6))
    assert len(f + g) == 6
    np.testing.assert_array_equal((np.float64(2) * f + g).coef, 2 + np.arange(6))
    mixed = f + RKHSFunction("gaussian(1)", sp.csr_array(X), np.ones(6))
    assert len(mixed) == 12 and sp.issparse(mixed.X)
    np.testing.assert_allclose(mixed(X), 2 * f(X), rtol=1e-12)


@pytest.mark.parametrize("kind", [np.array, sp.csr_array, lambda X: np.array(X, np.float32)], ids=["dense", "sparse", "float32"])
def test_pickles(kind, rng):
    f = RKHSFunction(Gaussian(1) + 0.5 * Linear(), kind(rng.normal(size=(9, 3))), rng.normal(size=9))
    g = pickle.loads(pickle.dumps(f))
    Z = rng.normal(size=(4, 3))
    np.testing.assert_array_equal(g(Z), f(Z))
    assert g.kernel == f.kernel and g.norm() == f.norm() and repr(g) == "RKHSFunction(gaussian(1) + 0.5*linear, 9 terms)"


def test_indefinite_kernels_have_no_norm(rng):
    k = Polynomial(3, scale=1, offset=-1)
    f = make(k, rng)
    assert f @ f == pytest.approx(f.coef @ k(f.X) @ f.coef, rel=1e-10)
    for refuse in (f.norm, f.squared_norm, lambda: f.bound(f.X), lambda: mercer.feature_distance(k, f.X)):
        with pytest.raises(ValueError, match="not positive semi-definite"):
            refuse()


def test_a_fitted_model_is_a_function(rng):
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    model = mercer.KernelRidge(kernel="gaussian(1)", alpha=0.5).fit(X, y)
    f = RKHSFunction(model.kernel_, model.X_fit_, model.dual_coef_)
    np.testing.assert_allclose(f(X), model.predict(X), rtol=1e-12)
    # At the minimum alpha c = y - Kc, so |f|^2 = c'Kc = c'(y - alpha c).
    assert f.squared_norm() == pytest.approx(f.coef @ (y - 0.5 * f.coef), rel=1e-10)


def test_sobolev_norm(rng):
    # On the line exp(-|x-y|/l) has |f|^2 = 1/(2l) int f^2 + l^2 f'^2; by the trapezoidal rule between the kinks.
    length, points = 0.7, np.sort(rng.normal(size=6))
    f = RKHSFunction(Laplacian(length), points[:, None], rng.normal(size=6))
    total = 0.0
    ends = np.concatenate([[points[0] - 40 * length], points, [points[-1] + 40 * length]])
    for a, b in zip(ends[:-1], ends[1:]):
        x, step = np.linspace(a, b, 20001, retstep=True)
        terms = f.coef * np.exp(-abs(x[:, None] - points) / length)
        slopes = terms * np.where(points <= a, -1, 1) / length  # one-sided at the kinks
        values = terms.sum(1) ** 2 + length**2 * slopes.sum(1) ** 2
        total += step * (values.sum() - (values[0] + values[-1]) / 2)
    # Steps are at most 2e-3 lengths; the rule's relative error is step^2/12 * 4/l^2 < 2e-6.
    assert f.squared_norm() == pytest.approx(total / (2 * length), rel=2e-6)


def test_feature_distance(rng):
    X, Y = rng.normal(size=(8, 3)), rng.normal(size=(5, 3))
    np.testing.assert_allclose(mercer.feature_distance("linear", X, Y), np.linalg.norm(X[:, None] - Y[None], axis=2), rtol=1e-7)
    D = mercer.feature_distance(Gaussian(2), X)
    assert (np.diag(D) == 0).all() and (D == D.T).all()
    np.testing.assert_allclose(D, np.sqrt(2 - 2 * Gaussian(2)(X)), atol=1e-8)
    with pytest.raises(MemoryError):
        mercer.feature_distance("linear", X, memory=10)


def test_bad_input(rng):
    f = make(Gaussian(1), rng)
    with pytest.raises(ValueError, match=r"coef must be one number for each of the 2 rows of X, got shape \(3,\)"):
        RKHSFunction("linear", [[1.0], [2.0]], [1, 2, 3])
    with pytest.raises(ValueError, match="coefficient 1"):
        RKHSFunction("linear", [[1.0], [2.0]], [1, np.nan])
    with pytest.raises(ValueError, match="NaN"):
        RKHSFunction("linear", [[np.nan]], [1])
    with pytest.raises(ValueError, match="at least one row"):
        RKHSFunction("linear", np.zeros((0, 2)), [])
    with pytest.raises(ValueError, match="different spaces: one has the kernel"):
        f + make(Gaussian(2), rng)
    with pytest.raises(ValueError, match="X has 4 columns but the function lives on samples of 3"):
        f(np.zeros((2, 4)))
    with pytest.raises(TypeError, match="with another RKHSFunction"):
        f.inner(3)
    with pytest.raises(TypeError):
        f + 1
    with pytest.raises(TypeError):
        f @ np.ones(3)


def test_functions_of_one_name_are_told_apart():
    X, a = np.array([[1.0], [2.0]]), [1.0, -1.0]
    k, l = (mercer.kernel_function(f, name="f") for f in (lambda A, B: A @ B.T, lambda A, B: (A @ B.T) ** 2))
    assert k != l and k == k and str(k) == str(l)
    f, g = mercer.RKHSFunction(k, X, a), mercer.RKHSFunction(l, X, a)
    for combine in (lambda: f + g, lambda: f - g, lambda: f @ g, lambda: f.distance(g)):
        with pytest.raises(ValueError, match="both kernels are called"):
            combine()


def test_columns_are_checked_by_name():
    frame = pd.DataFrame([[1.0, 2.0], [3.0, 5.0]], columns=["a", "b"])
    f = mercer.RKHSFunction('gaussian(1).on("a")', frame, [1.0, 2.0])
    expected = f(frame.to_numpy())
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(2 * f))(frame) / 2, expected)
    for wrong in (frame[["b", "a"]], frame.rename(columns={"a": "z"})):
        with pytest.raises(ValueError, match=r"X must have the columns \['a', 'b'\], in this order"):
            (f + f)(wrong)
        with pytest.raises(ValueError, match="must have the columns"):
            f + mercer.RKHSFunction('gaussian(1).on(0)', wrong, [1.0, 2.0])


def test_where_nothing_is_claimed_the_numbers_decide():
    X = np.array([[1.0], [2.0]])
    good, bad = (mercer.kernel_function(f, name=n) for f, n in ((lambda A, B: A @ B.T, "good"), (lambda A, B: -(A @ B.T), "bad")))
    assert mercer.RKHSFunction(good, X, [1.0, 1.0]).norm() == pytest.approx(3)
    with pytest.raises(ValueError, match="would be the root of -9"):
        mercer.RKHSFunction(bad, X, [1.0, 1.0]).norm()
    assert mercer.RKHSFunction("precomputed", np.eye(2), [3.0, 4.0]).norm() == pytest.approx(5)
    np.testing.assert_allclose(mercer.feature_distance("precomputed", np.eye(2)), [[0, np.sqrt(2)], [np.sqrt(2), 0]])


def test_functions_of_given_matrices():
    G = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    f, g = mercer.RKHSFunction("precomputed", G, [1.0, 0.0, 2.0]), mercer.RKHSFunction("precomputed", G, [0.0, 1.0, 1.0])
    assert f @ g == pytest.approx(g @ f) == pytest.approx(np.array([1, 0, 2]) @ G @ np.array([0, 1, 1]))
    again = pickle.loads(pickle.dumps(2 * f - g))
    np.testing.assert_allclose(again(G), G @ np.array([2.0, -1.0, 3.0]))
    with pytest.raises(ValueError, match="their given Gram matrices have"):
        f @ mercer.RKHSFunction("precomputed", 2 * G, [0.0, 1.0, 1.0])
