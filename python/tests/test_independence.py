"""HSIC, its tests and the correlations, against numpy by hand and scipy."""
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import scipy.stats as st

import mercer


def data(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, X[:, :1] ** 2 + 0.5 * rng.normal(size=(n, 1))


def centred(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


def median_kernel(X):
    d = np.linalg.norm(X[:, None] - X[None], axis=2)
    m = np.median(d[np.triu_indices(len(X), 1)])
    return np.exp(-(d**2) / m**2)


def test_hsic_by_hand():
    X, Y = data()
    n = len(X)
    K, L = centred(median_kernel(X)), centred(median_kernel(Y))
    h = mercer.hsic(X, Y)
    assert isinstance(h, float) and h.statistic_name == "hsic" and h.n == n
    assert float(h) == pytest.approx((K * L).sum() / n**2, rel=1e-12)
    assert h.correlation == pytest.approx((K * L).sum() / np.sqrt((K**2).sum() * (L**2).sum()), rel=1e-12)
    k, l = mercer.kernel("gaussian(0.7)"), mercer.kernel("laplacian(2)")
    assert float(mercer.hsic(X, Y, k, "laplacian(2)")) == pytest.approx((centred(k(X)) * l(Y)).sum() / n**2, rel=1e-12)
    A, B = k(X), l(Y)
    np.fill_diagonal(A, 0)
    np.fill_diagonal(B, 0)
    song = (np.trace(A @ B) + A.sum() * B.sum() / ((n - 1) * (n - 2)) - 2 * (A @ B).sum() / (n - 2)) / (n * (n - 3))
    u = mercer.hsic(X, Y, k, l, unbiased=True)
    assert float(u) == pytest.approx(song, abs=1e-15) and u.statistic_name == "hsic-u"
    again = pickle.loads(pickle.dumps(u))
    assert again == u and again.correlation == u.correlation and "hsic-u = " in str(again)


def test_what_is_taken_for_rows():
    X, Y = data()
    value = float(mercer.hsic(X[:, 0], Y, "gaussian(1)", "gaussian(1)"))
    for same in (X[:, :1], X[:, 0].tolist(), pd.Series(X[:, 0]), pd.DataFrame({"a": X[:, 0]}), sp.csr_array(X[:, :1])):
        assert float(mercer.hsic(same, Y, "gaussian(1)", "gaussian(1)")) == pytest.approx(value, rel=1e-12)
    assert float(mercer.hsic(X[:, 0].astype(np.float32), Y, "gaussian(1)", "gaussian(1)")) == pytest.approx(value, rel=1e-5)
    K = mercer.kernel("gaussian(1)")(X[:, :1])
    assert float(mercer.hsic(K, Y, "precomputed", "gaussian(1)")) == pytest.approx(value, rel=1e-12)
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert float(mercer.hsic(frame, Y, 'gaussian(1).on("a")', "gaussian(1)")) == pytest.approx(value, rel=1e-12)
    own = mercer.kernel_function(lambda A, B: np.exp(-((A[:, :1] - B[:, 0]) ** 2) / 2), name="mine")
    assert float(mercer.hsic(X, Y, own, "gaussian(1)")) == pytest.approx(value, rel=1e-12)


def test_independence_test_of_the_contract():
    X, Y = data()
    r = mercer.independence_test(X, Y, kernel_x=None, kernel_y=None, null="permutation", n_permutations=300, random_state=3)
    assert r.statistic == float(mercer.hsic(X, Y)) and r.statistic_name == "hsic"
    assert r.method == "permutation" and r.seed == 3 and r.draws == 300 and r.null.shape == (300,) and r.exact
    assert r.p_value == (1 + (r.null >= r.statistic - 1e-9).sum()) / 301
    assert r.kernel.count("gaussian") == 2 and r.n == len(X) and r.m == 0
    assert r.numbers["correlation"] == mercer.hsic(X, Y).correlation
    again = mercer.independence_test(X, Y, n_permutations=300, random_state=3, n_jobs=1)
    assert np.array_equal(again.null, r.null)
    drawn = mercer.independence_test(X, Y, n_permutations=20)
    assert drawn.seed != mercer.independence_test(X, Y, n_permutations=20).seed


def test_permutation_null_by_hand():
    X, Y = data(40)
    r = mercer.independence_test(X, Y, "gaussian(1)", "gaussian(1)", n_permutations=2000, random_state=0)
    K, L = centred(mercer.kernel("gaussian(1)")(X)), mercer.kernel("gaussian(1)")(Y)
    rng = np.random.default_rng(1)
    null = [(K * L[np.ix_(p, p)]).sum() / 1600 for p in (rng.permutation(40) for _ in range(2000))]
    assert st.ks_2samp(null, r.null).pvalue > 0.001


def test_gamma_and_spectral_by_hand():
    X, Y = data(60)
    X = X[:, :1]
    n = 60
    A, B = centred(mercer.kernel("gaussian(1)")(X)), centred(mercer.kernel("polynomial(2)")(Y))
    mean, variance = np.trace(A) * np.trace(B) / n**2, 2 * (A**2).sum() * (B**2).sum() / n**4
    gamma = mercer.independence_test(X, Y, "gaussian(1)", "polynomial(2)", null="gamma")
    law = st.gamma(mean**2 / variance, scale=variance / mean / n)
    assert gamma.p_value == pytest.approx(law.sf(gamma.statistic), rel=1e-9)
    assert gamma.threshold == pytest.approx(law.ppf(0.95), rel=1e-9) and not gamma.exact
    spectral = mercer.independence_test(X, Y, "gaussian(1)", "polynomial(2)", null="spectral", n_permutations=20000, random_state=0)
    weights = np.multiply.outer(np.linalg.eigvalsh(A) / n, np.linalg.eigvalsh(B) / n).ravel()
    draws = np.random.default_rng(0).normal(size=(20000, weights.size)) ** 2 @ weights / n if weights.size < 4000 else None
    assert spectral.null.mean() * n == pytest.approx(weights.sum(), rel=0.03)
    assert spectral.null.var() * n**2 == pytest.approx(2 * (weights**2).sum(), rel=0.1)
    if draws is not None:
        assert st.ks_2samp(draws, spectral.null).pvalue > 0.001
    assert any("characteristic" in remark for remark in gamma.remarks)


@pytest.mark.parametrize("make", [np.array, pd.Series, lambda v: pd.Series(v).astype("category"), lambda v: pd.DataFrame({"c": v})])
def test_categories(make):
    rng = np.random.default_rng(0)
    labels = rng.choice(["red", "green", "blue"], 90)
    y = np.where(labels == "green", 1.5, 0) + rng.normal(size=90)
    r = mercer.independence_test(make(labels), y, random_state=0)
    assert r.rejected and r.kernels[0] == "delta" and "3 categories" in r.remarks[-1]
    onehot = (labels[:, None] == np.unique(labels)).astype(float)
    assert r.statistic == pytest.approx(float(mercer.hsic(onehot, y, "linear")), rel=1e-12)


def test_categories_of_numbers_and_missing_ones():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, 100)
    y = (codes == 2) + 0.3 * rng.normal(size=100)
    assert mercer.hsic(codes, y, "delta").kernel_x == "delta"
    onehot = (codes[:, None] == np.arange(4)).astype(float)
    assert float(mercer.hsic(codes, y, "delta")) == pytest.approx(float(mercer.hsic(onehot, y, "linear")), rel=1e-12)
    with pytest.raises(ValueError, match="missing category in row 1"):
        mercer.hsic(np.array(["a", None, "b"], dtype=object), [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="one column"):
        mercer.hsic(np.array([["a", "b"], ["c", "d"]]), [1.0, 2.0])


def test_series_and_groups():
    rng = np.random.default_rng(2)
    groups = np.repeat(list("abcd"), 20)
    x, y = (np.repeat([0.0, 1, 2, 3], 20) + rng.normal(size=80) for _ in range(2))
    assert mercer.independence_test(x, y, random_state=0).rejected
    assert not mercer.independence_test(x, y, exchange="within-groups", groups=groups, random_state=0).rejected
    assert "circular shifts" in mercer.independence_test(x, y, exchange="shifts", random_state=0).description
    assert "blocks of 10" in mercer.independence_test(x, y, exchange="blocks", block_length=10, random_state=0).description


def test_wrong_use_is_told():
    X, Y = data(20)
    for arguments, words in [
        (dict(null="normal"), "null must be"),
        (dict(n_permutations=0), "n_permutations must be >= 1"),
        (dict(level=2.0), "level must be between"),
        (dict(statistic="mmd-u"), "statistic must be"),
        (dict(statistic="hsic-u", null="gamma"), "biased form"),
        (dict(exchange="pairs"), "exchange must be"),
        (dict(exchange="within-groups", groups=[1, 2]), "one entry for each"),
        (dict(kernel_x="precomputed"), "square Gram matrix"),
    ]:
        with pytest.raises(ValueError, match=words):
            mercer.independence_test(X, Y, **arguments)
    with pytest.raises(TypeError):
        mercer.independence_test(X, Y, n_permutations=1.5)
    with pytest.raises(ValueError, match="same observation"):
        mercer.independence_test(X, Y[:-1])
    with pytest.raises(ValueError, match="NaN"):
        mercer.hsic([1.0, np.nan, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(MemoryError):
        mercer.independence_test(X, Y, memory=1000)
    constant = mercer.independence_test(X, np.ones(20), n_permutations=50, random_state=0)
    assert constant.p_value == 1 and constant.statistic == 0


def test_joint_independence():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 120))
    z = np.abs(rng.normal(size=120)) * np.sign(x * y)
    Ks = [median_kernel(v[:, None]) for v in (x, y, z)]
    value = (Ks[0] * Ks[1] * Ks[2]).mean() + np.prod([K.mean() for K in Ks]) - 2 * np.prod([K.mean(1) for K in Ks], axis=0).mean()
    r = mercer.joint_independence_test(x, y, z, random_state=0)
    assert r.statistic == pytest.approx(value, rel=1e-10) and r.statistic_name == "dhsic" and r.rejected and len(r.kernels) == 3
    table = np.column_stack([x, y, z])
    for same in ([x, y, z], table, {"x": x, "y": y, "z": z}, pd.DataFrame(table, columns=list("xyz"))):
        assert mercer.joint_independence_test(same, random_state=0).p_value == r.p_value
    assert mercer.joint_independence_test(x, y, z, null="gamma").rejected
    signs = np.where(z > 0, "up", "down")
    mixed = mercer.joint_independence_test(x, y, signs, kernels=["gaussian(1)", None, None], n_permutations=99, random_state=0)
    assert mixed.kernels[0] == "gaussian(1)" and mixed.kernels[2] == "delta" and mixed.rejected
    with pytest.raises(ValueError, match="at least two"):
        mercer.joint_independence_test(x)
    with pytest.raises(ValueError, match="2 kernels for 3"):
        mercer.joint_independence_test(x, y, z, kernels=["linear", "linear"])
    with pytest.raises(ValueError, match="null must be"):
        mercer.joint_independence_test(x, y, z, null="spectral")


@pytest.mark.parametrize("n", [12, 33, 34, 60, 500])
@pytest.mark.parametrize("ties", [False, True])
def test_correlations_against_scipy(n, ties):
    rng = np.random.default_rng(n)
    x = rng.normal(size=n)
    y = x + 2 * rng.normal(size=n)
    if ties:
        x, y = np.round(x), np.round(y)
    for method, oracle in (("pearson", st.pearsonr), ("spearman", st.spearmanr), ("kendall", st.kendalltau)):
        r, wanted = mercer.correlation_test(x, y, method), oracle(x, y)
        assert r.statistic == pytest.approx(wanted.statistic, abs=1e-10), method
        assert r.p_value == pytest.approx(wanted.pvalue, rel=1e-10), method


def test_exact_spearman_and_near_perfect_kendall():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 6))
    exact = st.permutation_test((y,), lambda v: np.abs(st.spearmanr(x, v).statistic), permutation_type="pairings", alternative="greater", n_resamples=np.inf)
    assert mercer.correlation_test(x, y).p_value == pytest.approx(exact.pvalue, rel=1e-10)
    order = np.arange(40.0)
    swapped = order.copy()
    swapped[[3, 4]] = swapped[[4, 3]]
    for other in (order, swapped, -order):
        wanted = st.kendalltau(order, other)
        r = mercer.correlation_test(order, other, "kendall")
        assert r.statistic == pytest.approx(wanted.statistic, abs=1e-12)
        assert np.log(r.p_value) == pytest.approx(np.log(wanted.pvalue), rel=1e-10)


@pytest.mark.parametrize("n", [5, 6, 7])
def test_few_rows_with_ties_are_exact(n):
    rng = np.random.default_rng(n)
    x, y = rng.integers(0, 3, n), rng.integers(0, 3, n)
    x[:2], y[:2] = (0, 2), (1, 2)
    for method, oracle in (("spearman", st.spearmanr), ("kendall", st.kendalltau)):
        found = np.array([abs(oracle(x, order).statistic) for order in itertools.permutations(y)])
        r = mercer.correlation_test(x, y, method)
        assert r.exact and "with ties" in r.description
        assert r.p_value == pytest.approx(np.mean(found >= abs(oracle(x, y).statistic) - 1e-12), abs=1e-12)


def test_chi_square_against_scipy():
    rng = np.random.default_rng(1)
    a, b = rng.choice(["x", "y", "z"], 300), rng.integers(0, 4, 300)
    table = pd.crosstab(a, b).to_numpy()
    wanted = st.chi2_contingency(table, correction=False)
    r = mercer.correlation_test(a, b, "chi2")
    assert r.statistic == pytest.approx(wanted.statistic, rel=1e-12) and r.p_value == pytest.approx(wanted.pvalue, rel=1e-10)
    assert r.numbers["degrees of freedom"] == wanted.dof
    assert r.numbers["Cramer's V"] == pytest.approx(st.contingency.association(table), rel=1e-10)
    with pytest.raises(ValueError, match="constant"):
        mercer.correlation_test(a, np.ones(300), "chi2")
    with pytest.raises(ValueError, match="method must be"):
        mercer.correlation_test(a, b, "phi")


def test_plots():
    pytest.importorskip("matplotlib").use("Agg")
    X, Y = data(30)
    for r in (mercer.independence_test(X, Y, n_permutations=50), mercer.correlation_test(X[:, 0], Y), mercer.independence_test(X, Y, null="gamma")):
        assert r.plot() is not None
