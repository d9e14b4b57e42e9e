"""Values of every kernel: against formulas written out in numpy and against scikit-learn, dense and sparse, in float32 and float64."""
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics import pairwise

from mercer.kernels import (
    Chi2,
    Constant,
    Cosine,
    ExponentialDot,
    Gaussian,
    HistogramIntersection,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    White,
)


def differences(X, Y):
    return X[:, None, :] - Y[None, :, :]


def distances(X, Y):
    return np.sqrt((differences(X, Y) ** 2).sum(axis=2))


def ones(X, Y):
    return np.ones((len(X), len(Y)))


ARD = np.array([0.5, 1.0, 2.0, 3.0, 10.0])

# A kernel of five columns that are nowhere negative, and its formula.
FORMULAS = [
    (Linear(), lambda X, Y: X @ Y.T),
    (Polynomial(3, scale=0.5, offset=2), lambda X, Y: (2 + 0.5 * X @ Y.T) ** 3),
    (Sigmoid(0.1, 0.2), lambda X, Y: np.tanh(0.1 * X @ Y.T + 0.2)),
    (ExponentialDot(0.3), lambda X, Y: np.exp(0.3 * X @ Y.T)),
    (Cosine(), lambda X, Y: X @ Y.T / np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Y, axis=1))),
    (Gaussian(1.5), lambda X, Y: np.exp(-(distances(X, Y) ** 2) / (2 * 1.5**2))),
    (Gaussian(ARD), lambda X, Y: np.exp(-(distances(X / ARD, Y / ARD) ** 2) / 2)),
    (Laplacian(1.5), lambda X, Y: np.exp(-distances(X, Y) / 1.5)),
    (Laplacian(1.5, "l1"), lambda X, Y: np.exp(-np.abs(differences(X, Y)).sum(axis=2) / 1.5)),
    (Laplacian(ARD, "l1"), lambda X, Y: np.exp(-np.abs(differences(X, Y) / ARD).sum(axis=2))),
    (Matern(0.5, 2), lambda X, Y: np.exp(-distances(X, Y) / 2)),
    (Matern(1.5, ARD), lambda X, Y: (1 + np.sqrt(3) * distances(X / ARD, Y / ARD)) * np.exp(-np.sqrt(3) * distances(X / ARD, Y / ARD))),
    (RationalQuadratic(2, 0.7), lambda X, Y: (1 + distances(X, Y) ** 2 / (2 * 0.7 * 4)) ** -0.7),
    (Periodic(2, 3), lambda X, Y: np.exp(-2 * (np.sin(np.pi * differences(X, Y) / 3) ** 2).sum(axis=2) / 4)),
    (Periodic(ARD, [1, 2, 3, 4, 5]), lambda X, Y: np.exp(-2 * (np.sin(np.pi * differences(X, Y) / [1, 2, 3, 4, 5]) ** 2 / ARD**2).sum(axis=2))),
    (Chi2(0.4), lambda X, Y: np.exp(-0.4 * (differences(X, Y) ** 2 / (X[:, None] + Y[None])).sum(axis=2))),
    (HistogramIntersection(), lambda X, Y: np.minimum(X[:, None], Y[None]).sum(axis=2)),
    (Constant(2.5), lambda X, Y: 2.5 * ones(X, Y)),
    (White(2), lambda X, Y: 2.0 * np.eye(len(X)) if X is Y else 0 * ones(X, Y)),
    (Gaussian(2) + 0.5 * Linear(), lambda X, Y: np.exp(-(distances(X, Y) ** 2) / 8) + 0.5 * X @ Y.T),
    (Gaussian(2) * Linear() + 1, lambda X, Y: np.exp(-(distances(X, Y) ** 2) / 8) * (X @ Y.T) + 1),
    (Linear() ** 3, lambda X, Y: (X @ Y.T) ** 3),
    (Polynomial(2).normalized(), lambda X, Y: (1 + X @ Y.T) ** 2 / np.outer(1 + (X**2).sum(1), 1 + (Y**2).sum(1))),
    (Linear().normalized("product"), lambda X, Y: X @ Y.T / np.outer((X**2).sum(1), (Y**2).sum(1))),
    (Linear().on(0, 3) * Gaussian(1).on([1]), lambda X, Y: X[:, [0, 3]] @ Y[:, [0, 3]].T * np.exp(-differences(X, Y)[:, :, 1] ** 2 / 2)),
    ((0.1 * Linear()).exp(), lambda X, Y: np.exp(0.1 * X @ Y.T)),
    ((0.5 * Gaussian(2)).geometric(), lambda X, Y: 1 / (1 - 0.5 * np.exp(-(distances(X, Y) ** 2) / 8))),
    (Gaussian(2).series([1, 0, 0.5]), lambda X, Y: 1 + 0.5 * np.exp(-(distances(X, Y) ** 2) / 4)),
    (Linear().over(np.eye(5)[:2]), lambda X, Y: X[:, :2] @ Y[:, :2].T),
]
each_formula = pytest.mark.parametrize(("k", "formula"), FORMULAS, ids=lambda v: str(v) if isinstance(v, Kernel) else "")


@each_formula
@pytest.mark.parametrize("n", [1, 3, 65])
def test_values(k, formula, n, rng):
    X, Y = rng.uniform(0.1, 1.5, size=(n, 5)), rng.uniform(0.1, 1.5, size=(2 * n + 1, 5))
    np.testing.assert_allclose(k(X, Y), formula(X, Y), rtol=1e-12, atol=1e-13)
    K = k(X)
    np.testing.assert_allclose(K, formula(X, X), rtol=1e-12, atol=1e-13)
    assert (K == K.T).all()
    np.testing.assert_allclose(k.diag(X), np.diag(K), rtol=1e-13)


@each_formula
def test_float32_in_gives_float32_out(k, formula, rng):
    X = rng.uniform(0.1, 1.5, size=(40, 5))
    single = k(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, k(X), rtol=2e-5, atol=2e-5)
    assert k(X.astype(np.float32), X).dtype == np.float64


@each_formula
def test_sparse_equals_dense(k, formula, rng):
    X = rng.uniform(0.1, 1.5, size=(30, 5)) * (rng.random((30, 5)) < 0.5)
    X[:, 0] = 1  # a normalised kernel needs something in every row
    expected = k(X)
    for form in (sp.csr_array(X), sp.csc_matrix(X), sp.coo_array(X)):
        np.testing.assert_allclose(k(form), expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(k(sp.csr_array(X), X[:7]), k(X, X[:7]), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(k(sp.csr_array(X.astype(np.float32))), expected, rtol=2e-5, atol=2e-5)
    index64 = sp.csr_array(X)
    index64.indices, index64.indptr = index64.indices.astype(np.int64), index64.indptr.astype(np.int64)
    np.testing.assert_allclose(k(index64), expected, rtol=1e-12, atol=1e-13)


def test_sparse_with_unsorted_and_repeated_entries():
    X = sp.csr_array((np.array([1.0, 2.0, 4.0, 8.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])), shape=(2, 3))
    before = X.indices.copy()
    np.testing.assert_allclose(Linear()(X), X.toarray() @ X.toarray().T)
    assert (X.indices == before).all()  # the caller's matrix is not rewritten


SCIKIT = [
    (Gaussian(np.sqrt(0.5 / 0.3)), lambda X, Y: pairwise.rbf_kernel(X, Y, gamma=0.3)),
    (Laplacian(1 / 0.3, "l1"), lambda X, Y: pairwise.laplacian_kernel(X, Y, gamma=0.3)),
    (Polynomial(4, 0.2, 0.5), lambda X, Y: pairwise.polynomial_kernel(X, Y, degree=4, gamma=0.2, coef0=0.5)),
    (Sigmoid(0.2, 0.5), lambda X, Y: pairwise.sigmoid_kernel(X, Y, gamma=0.2, coef0=0.5)),
    (Cosine(), pairwise.cosine_similarity),
    (Chi2(0.7), lambda X, Y: pairwise.chi2_kernel(X, Y, gamma=0.7)),
    (Gaussian(1.3), gp.RBF(1.3)),
    (Gaussian([0.5, 2, 3]), gp.RBF([0.5, 2, 3])),
    (Matern(0.5, 1.3), gp.Matern(1.3, nu=0.5)),
    (Matern(1.5, 1.3), gp.Matern(1.3, nu=1.5)),
    (Matern(2.5, [0.5, 2, 3]), gp.Matern([0.5, 2, 3], nu=2.5)),
    (RationalQuadratic(1.3, 0.6), gp.RationalQuadratic(1.3, alpha=0.6)),
    (Periodic(1.3, 2.5).on(0), lambda X, Y: gp.ExpSineSquared(1.3, periodicity=2.5)(X[:, :1], (X if Y is None else Y)[:, :1])),
    (Linear() + 1.5**2, gp.DotProduct(sigma_0=1.5)),
    (0.7 * Gaussian(2) + White(0.3), gp.ConstantKernel(0.7) * gp.RBF(2) + gp.WhiteKernel(0.3)),
]


@pytest.mark.parametrize(("k", "theirs"), SCIKIT, ids=lambda v: str(v) if isinstance(v, Kernel) else "")
def test_scikit_learns_functions_agree(k, theirs, rng):
    X, Y = rng.uniform(0, 2, size=(40, 3)), rng.uniform(0, 2, size=(30, 3))
    X[3] = X[5]
    X[7] = 0
    np.testing.assert_allclose(k(X, Y), theirs(X, Y), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(k(X), theirs(X, None), rtol=1e-11, atol=1e-13)


def test_every_memory_layout_gives_the_same_values(rng):
    X = rng.normal(size=(21, 8))
    expected = Gaussian(2)(X[::2, 1:5].copy())
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


def test_white_knows_a_sample_from_its_equal(rng):
    X = rng.normal(size=(300, 2))
    X[1] = X[0]
    np.testing.assert_array_equal(White(2)(X), 2 * np.eye(300))
    np.testing.assert_array_equal(White(2)(X, X), 2 * np.eye(300))  # the same rows
    np.testing.assert_array_equal(White(2)(X, X.copy()), np.zeros((300, 300)))


def test_auto_length_scale_is_the_median_distance(rng):
    X = rng.normal(size=(31, 3))
    pairs = np.triu_indices(31, 1)
    for make, d in (
        (Gaussian, distances(X, X)),
        (Laplacian, distances(X, X)),
        (lambda l: Laplacian(l, "l1"), np.abs(differences(X, X)).sum(axis=2)),
        (lambda l: Matern(2.5, l), distances(X, X)),
        (RationalQuadratic, distances(X, X)),
    ):
        k = make("auto")
        assert k.has_auto and "auto" in str(k)
        resolved = k.resolve(X)
        assert type(resolved) is type(k)
        assert resolved.length_scale == pytest.approx(np.median(d[pairs]), rel=1e-12)
        np.testing.assert_array_equal(k(X), resolved(X))
    per_group = (Gaussian("auto").on(0) * Gaussian("auto").on(1, 2)).resolve(X)
    assert [v for _, v in per_group.parameters] == pytest.approx([np.median(distances(X[:, c], X[:, c])[pairs]) for c in ([0], [1, 2])])


matrices = st.tuples(st.integers(1, 12), st.just(5)).flatmap(lambda shape: arrays(np.float64, shape, elements=st.floats(0, 5, allow_subnormal=False)))
POSITIVE = [k for k, _ in FORMULAS if k.is_psd and "normalized" not in str(k)]


@given(matrices, st.sampled_from(POSITIVE))
def test_gram_matrices_are_symmetric_and_psd(X, k):
    K = k(X)
    assert (K == K.T).all()
    values = np.linalg.eigvalsh(K)
    assert values[0] >= -1e-12 * max(1.0, abs(values[-1])) * len(X)


@given(matrices, st.floats(0.1, 10))
def test_duplicates_have_distance_zero(X, scale):
    n = len(X)
    for k in (Laplacian(scale), Matern(1.5, scale), Gaussian([scale] * 5), Periodic(scale, scale), RationalQuadratic(scale)):
        K = k(np.vstack([X, X]))
        assert (np.diag(K) == 1).all() and (np.diag(K[:n, n:]) == 1).all() and (K <= 1 + 1e-15).all()
