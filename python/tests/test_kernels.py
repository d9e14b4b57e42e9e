"""Kernels: values against formulas written out in numpy, algebra, text, properties."""
import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel

import mercer
from mercer.kernels import Constant, Gaussian, Kernel, Laplacian, Linear, Polynomial

ALL = [
    Linear(),
    Polynomial(),
    Polynomial(2, scale=0.5, offset=0),
    Gaussian(),
    Gaussian(2.5),
    Laplacian(),
    Laplacian(0.7, norm="l1"),
    Constant(3),
    Gaussian(2) + 0.5 * Linear(),
    (Gaussian(2) + 1) * Polynomial(2) * 0.25,
]


def distances(X, Y):
    return np.sqrt(((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=2))


FORMULAS = [
    (Linear(), lambda X, Y: X @ Y.T),
    (Polynomial(3, scale=0.5, offset=2), lambda X, Y: (2 + 0.5 * X @ Y.T) ** 3),
    (Gaussian(1.5), lambda X, Y: np.exp(-(distances(X, Y) ** 2) / (2 * 1.5**2))),
    (Laplacian(1.5), lambda X, Y: np.exp(-distances(X, Y) / 1.5)),
    (Laplacian(1.5, "l1"), lambda X, Y: np.exp(-np.abs(X[:, None] - Y[None]).sum(axis=2) / 1.5)),
    (Constant(2.5), lambda X, Y: np.full((len(X), len(Y)), 2.5)),
    (Gaussian(2) + 0.5 * Linear(), lambda X, Y: np.exp(-(distances(X, Y) ** 2) / 8) + 0.5 * X @ Y.T),
    (Gaussian(2) * Linear() + 1, lambda X, Y: np.exp(-(distances(X, Y) ** 2) / 8) * (X @ Y.T) + 1),
]


@pytest.mark.parametrize(("k", "formula"), FORMULAS, ids=lambda v: str(v) if isinstance(v, Kernel) else "")
@pytest.mark.parametrize("n", [1, 3, 65])
def test_values(k, formula, n, rng):
    X, Y = rng.normal(size=(n, 5)), rng.normal(size=(2 * n + 1, 5))
    np.testing.assert_allclose(k(X, Y), formula(X, Y), rtol=1e-12, atol=1e-13)
    K = k(X)
    np.testing.assert_allclose(K, formula(X, X), rtol=1e-12, atol=1e-13)
    assert (K == K.T).all()
    np.testing.assert_allclose(k.diag(X), np.diag(K), rtol=1e-13)


@pytest.mark.parametrize("k", ALL, ids=str)
def test_float32_in_gives_float32_out(k, rng):
    X = rng.normal(size=(40, 6))
    single = k(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, k(X), rtol=2e-5, atol=2e-5)
    assert k(X.astype(np.float32), X).dtype == np.float64


@pytest.mark.parametrize("k", ALL, ids=str)
def test_sparse_equals_dense(k, rng):
    X = rng.normal(size=(30, 12)) * (rng.random((30, 12)) < 0.3)
    expected = k(X)
    for form in (sp.csr_array(X), sp.csc_matrix(X), sp.coo_array(X)):
        np.testing.assert_allclose(k(form), expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(k(sp.csr_array(X), X[:7]), expected[:, :7], rtol=1e-12, atol=1e-13)
    index64 = sp.csr_array(X)
    index64.indices, index64.indptr = index64.indices.astype(np.int64), index64.indptr.astype(np.int64)
    np.testing.assert_allclose(k(index64), expected, rtol=1e-12, atol=1e-13)


def test_sparse_with_unsorted_and_repeated_entries():
    X = sp.csr_array((np.array([1.0, 2.0, 4.0, 8.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])), shape=(2, 3))
    before = X.indices.copy()
    np.testing.assert_allclose(Linear()(X), X.toarray() @ X.toarray().T)
    assert (X.indices == before).all()  # the caller's matrix is not rewritten


def test_every_memory_layout_gives_the_same_values(rng):
    X = rng.normal(size=(21, 8))
    expected = Gaussian(2)(X[::2, 1:5].copy())
    wide = np.zeros((21, 8))
    wide[:] = X
    layouts = [X[::2, 1:5], np.asfortranarray(X)[::2, 1:5], X.T.copy().T[::2, 1:5], X[::-2, 1:5][::-1], X[::2, 1:5].astype(">f8")]
    unaligned = np.frombuffer(b"\0" + X[::2, 1:5].copy().tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(11, 4)
    for view in [*layouts, unaligned, X[::2, 1:5].tolist()]:
        np.testing.assert_array_equal(Gaussian(2)(view), expected)
    np.testing.assert_array_equal(Linear()(np.arange(6).reshape(3, 2)), np.arange(6).reshape(3, 2) @ np.arange(6).reshape(3, 2).T)
    same = np.broadcast_to(X[0], (4, 8))
    np.testing.assert_array_equal(Gaussian(1)(same), np.ones((4, 4)))


def test_dense_rows_are_not_copied(rng):
    from mercer import _data

    X = rng.normal(size=(50, 8))
    for view in (X, X[10:], X[::3], X[:, 2:6], X.astype(np.float32)):
        assert np.shares_memory(_data.samples(view).arrays(), view)
    csr = sp.csr_array(X)
    values, columns, offsets, width = _data.samples(csr).arrays()
    assert np.shares_memory(values, csr.data) and np.shares_memory(columns, csr.indices)
    assert width == 8 and list(offsets) == list(csr.indptr)


def test_samples_keep_their_array_alive(rng):
    from mercer import _data

    X = rng.normal(size=(50, 8))
    expected = X.sum()
    S = _data.samples(X)
    del X
    junk = [np.zeros((50, 8)) for _ in range(20)]
    assert S.arrays().sum() == expected and len(junk) == 20


def test_scikit_learns_functions_agree(rng):
    X, Y = rng.normal(size=(40, 7)), rng.normal(size=(30, 7))
    np.testing.assert_allclose(Gaussian(np.sqrt(0.5 / 0.3))(X, Y), rbf_kernel(X, Y, gamma=0.3), rtol=1e-12)
    np.testing.assert_allclose(Laplacian(1 / 0.3, "l1")(X, Y), laplacian_kernel(X, Y, gamma=0.3), rtol=1e-12)
    np.testing.assert_allclose(Polynomial(4, 0.2, 0.5)(X, Y), polynomial_kernel(X, Y, degree=4, gamma=0.2, coef0=0.5), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("k", ALL, ids=str)
def test_text_equality_hash_pickle_copy(k):
    again = mercer.kernel(str(k))
    assert again == k and hash(again) == hash(k) and type(again) is type(k)
    restored = pickle.loads(pickle.dumps(k))
    assert restored == k and repr(restored) == repr(k)
    assert copy.deepcopy(k) == k
    assert k != Gaussian(123.0) and k != "linear"
    namespace = {"mercer": mercer} | {c.__name__: c for c in (Linear, Polynomial, Gaussian, Laplacian, Constant)}
    assert eval(repr(k), namespace) == k


def test_parameters_are_readable():
    k = mercer.kernel("laplacian(2.5, norm=l1)")
    assert isinstance(k, Laplacian) and k.length_scale == 2.5 and k.norm == "l1"
    p = mercer.kernel("polynomial(4, 0.5)")
    assert (p.degree, p.scale, p.offset) == (4, 0.5, 1.0)
    assert mercer.kernel("gaussian(auto)").length_scale == "auto"
    assert mercer.kernel("constant(3)").value == 3


def test_kernels_do_not_change():
    with pytest.raises(AttributeError, match="kernels do not change"):
        Gaussian(1).length_scale = 2


def test_algebra():
    g, lin = Gaussian(2), Linear()
    assert str(g + 0.5 * lin) == "gaussian(2) + 0.5*linear"
    assert g * 2 == 2 * g == np.float64(2) * g == g * np.int64(2)
    assert str(g + 1) == "gaussian(2) + constant(1)" and str(1 + g) == "constant(1) + gaussian(2)"
    assert (g + lin) + g == g + (lin + g)
    for wrong in (lambda: g + "x", lambda: g * None, lambda: [1] + g, lambda: g * np.ones(3)):
        with pytest.raises(TypeError):
            wrong()


def test_properties():
    assert Gaussian().is_psd and Gaussian().is_universal is True and Gaussian().is_characteristic is True
    assert Linear().is_universal is False and Polynomial().is_characteristic is False
    assert not Polynomial(2, offset=-1).is_psd and not Polynomial(2, scale=-1).is_psd
    assert (Gaussian() * Linear()).is_universal is None
    assert (-1 * Gaussian()).is_psd is False


def test_auto_length_scale_is_the_median_distance(rng):
    X = rng.normal(size=(31, 3))
    pairs = distances(X, X)[np.triu_indices(31, 1)]
    k = Gaussian("auto")
    assert k.has_auto and str(k) == "gaussian(auto)"
    resolved = k.resolve(X)
    assert resolved.length_scale == pytest.approx(np.median(pairs), rel=1e-12)
    np.testing.assert_array_equal(k(X), resolved(X))
    np.testing.assert_array_equal(mercer.gram(X), resolved(X))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Gaussian(0), ValueError, "length_scale must be a number > 0, got 0"),
        (lambda: Gaussian(-1), ValueError, "length_scale"),
        (lambda: Gaussian(np.nan), ValueError, "length_scale"),
        (lambda: Gaussian("median"), ValueError, "'median'"),
        (lambda: Gaussian([1, 2]), TypeError, "length_scale must be a number"),
        (lambda: Gaussian(None), TypeError, "length_scale must be a number"),
        (lambda: Laplacian(norm="l3"), ValueError, "norm must be"),
        (lambda: Polynomial(0), ValueError, "degree must be a whole number"),
        (lambda: Polynomial(2.5), ValueError, "degree must be a whole number"),
        (lambda: Polynomial(10**30), ValueError, "degree must be a whole number"),
        (lambda: Polynomial(2, scale=np.inf), ValueError, "scale must be a finite number"),
        (lambda: Constant("1"), TypeError, "value must be a number"),
        (lambda: mercer.kernel("gausian(2)"), ValueError, "did you mean gaussian"),
        (lambda: mercer.kernel("gaussian(2) +"), ValueError, "a kernel is missing here"),
        (lambda: mercer.kernel(3), TypeError, "a kernel is written as text"),
        (lambda: np.inf * Gaussian(), ValueError, "factor must be a finite number"),
    ],
)
def test_wrong_kernels(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        (np.zeros(3), None, r"X must have two dimensions .* got 1; use X.reshape\(-1, 1\)"),
        (np.zeros((0, 3)), None, r"X must have at least one row and one column, got shape \(0, 3\)"),
        (np.zeros((2, 0)), None, "at least one row and one column"),
        (np.zeros((2, 3)), np.zeros((2, 4)), "X has 3 columns but Y has 4"),
        ([[0.0, np.nan]], None, "NaN in row 0, column 1"),
        ([[0.0, 1.0]], [[np.inf, 0.0]], "Y has an? inf.* in row 0, column 0"),
        ([["a", "b"]], None, "real numbers"),
        (np.zeros((2, 2), dtype=complex), None, "real numbers, got dtype complex128"),
        (np.array([[1, "a"]], dtype=object), None, "X must hold numbers"),
        (sp.csr_array([[np.nan, 0.0]]), None, "NaN in row 0, column 0"),
    ],
)
def test_wrong_data(X, Y, message):
    with pytest.raises(ValueError, match=message):
        Gaussian()(X, Y)


def test_gram_function(rng):
    X = rng.normal(size=(20, 3))
    np.testing.assert_array_equal(mercer.gram(X, kernel="gaussian(2) + linear"), (Gaussian(2) + Linear())(X))
    np.testing.assert_array_equal(mercer.gram(X, X[:5], Gaussian(2)), Gaussian(2)(X, X[:5]))
    assert mercer.gram(X, kernel="linear", dtype=np.float32).dtype == np.float32
    np.testing.assert_array_equal(mercer.gram(X, kernel="laplacian", n_jobs=1), mercer.gram(X, kernel="laplacian", n_jobs=2))
    K = mercer.gram(X, kernel="linear")
    K[0, 0] = 5.0  # the result belongs to the caller
    assert K.flags.c_contiguous and K.flags.writeable and K.flags.aligned
    with pytest.raises(MemoryError, match="3.2 kB, but the memory budget is 1 kB"):
        mercer.gram(X, kernel="linear", memory="1KB")
    with pytest.raises(ValueError, match="dtype must be float32 or float64, got int64"):
        mercer.gram(X, kernel="linear", dtype=int)
    for wrong in (0, 1.5, "2"):
        with pytest.raises(ValueError, match="n_jobs must be a whole number"):
            mercer.gram(X, kernel="linear", n_jobs=wrong)
    with pytest.raises(ValueError, match="is not an amount of memory"):
        mercer.gram(X, kernel="linear", memory="lots")


def test_catalogue_names_every_kernel():
    rows = {row["name"]: row for row in mercer.kernels.catalogue()}
    for name in ("linear", "polynomial", "gaussian", "laplacian", "constant"):
        assert rows[name]["formula"]
        assert isinstance(mercer.kernel(name), Kernel)


matrices = st.tuples(st.integers(1, 12), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.floats(-5, 5, allow_subnormal=False))
)


@given(matrices, st.sampled_from(ALL))
def test_gram_matrices_are_symmetric_and_psd(X, k):
    K = k(X)
    assert (K == K.T).all()
    values = np.linalg.eigvalsh(K)
    assert values[0] >= -1e-12 * max(1.0, abs(values[-1])) * len(X)


@given(matrices, st.floats(0.1, 10))
def test_duplicates_have_distance_zero(X, scale):
    twice = np.vstack([X, X])
    K = Laplacian(scale)(twice)
    n = len(X)
    assert (np.diag(K) == 1).all() and (np.diag(K[:n, n:]) == 1).all() and (K <= 1).all()
