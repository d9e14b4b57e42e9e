"""MMD and two-sample tests from Python, against numpy."""
# SPDX-License-Identifier: BSD-3-Clause
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import mercer


def samples(n=40, m=50, shift=1.0, d=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(shift, 1, size=(m, d))


def gaussian(A, B, length=1.0):
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(-1) / (2 * length**2))


def mmd_u(K, first):
    Kx, Ky, Kxy = K[np.ix_(first, first)], K[np.ix_(~first, ~first)], K[np.ix_(first, ~first)]
    n, m = Kxy.shape
    return (Kx.sum() - np.trace(Kx)) / (n * (n - 1)) + (Ky.sum() - np.trace(Ky)) / (m * (m - 1)) - 2 * Kxy.mean()


def test_mmd_is_a_float_that_knows_more():
    X, Y = samples()
    K = gaussian(np.vstack([X, Y]), np.vstack([X, Y]))
    d = mercer.mmd(X, Y, kernel="gaussian(1)")
    assert isinstance(d, float) and d == d.squared == pytest.approx(mmd_u(K, np.arange(90) < 40), abs=1e-14)
    assert d.distance == pytest.approx(np.sqrt(d)) and d.deviation > 0 and d.error == 0
    assert (d.n, d.m, d.kernel, d.statistic_name) == (40, 50, "gaussian(1)", "mmd-u")
    assert pickle.loads(pickle.dumps(d)).distance == d.distance
    assert str(d).startswith("mmd-u = ") and d + 1 == float(d) + 1
    b = K[:40, :40].mean() + K[40:, 40:].mean() - 2 * K[:40, 40:].mean()
    assert mercer.mmd(X, Y, "gaussian(1)", "mmd-b") == pytest.approx(b, abs=1e-14)
    # N eq. 22
    assert mercer.mmd(X, Y, "linear", "mmd-b") == pytest.approx(((X.mean(0) - Y.mean(0)) ** 2).sum(), abs=1e-14)


def test_mmd_options():
    X, Y = samples(300, 300)
    exact = mercer.mmd(X, Y, "gaussian(1)")
    for method in ("random-features", "nystrom"):
        near = mercer.mmd(X, Y, "gaussian(1)", method=method, n_features=200)
        assert 0 < near.error and abs(near - exact) < 2 * near.error and near.error_statement
    w = np.random.default_rng(1).uniform(size=300)
    K = gaussian(X, X)
    L, C = gaussian(Y, Y), gaussian(X, Y)
    p, q = w / w.sum(), np.full(300, 1 / 300)
    assert mercer.mmd(X, Y, "gaussian(1)", "mmd-b", weights_x=w) == pytest.approx(p @ K @ p + q @ L @ q - 2 * p @ C @ q, abs=1e-14)
    for statistic in ("mmd-h", "mmd-linear", "mmd-block"):
        d = mercer.mmd(X, Y, "gaussian(1)", statistic)
        assert d.statistic_name == statistic and abs(d - exact) < 6 * d.deviation
    assert mercer.mmd(X, Y, statistic="mmd-block", block_size=50).n == 300


def test_result_names_everything():
    X, Y = samples()
    r = mercer.two_sample_test(X, Y, random_state=3)
    assert (r.statistic_name, r.method, r.seed, r.n, r.m, r.draws) == ("mmd-u", "permutation", 3, 40, 50, 1000)
    assert r.exact and r.rejected and bool(r) and len(r.null) == 1000 and r.kernel.startswith("gaussian(")
    assert r.p_value == (1 + (r.null >= r.statistic - 1e-9).sum()) / 1001
    assert r.statistic == pytest.approx(mercer.mmd(X, Y))
    again = mercer.two_sample_test(X, Y, random_state=3)
    assert np.array_equal(r.null, again.null)
    drawn = mercer.two_sample_test(X, Y)
    assert np.array_equal(mercer.two_sample_test(X, Y, random_state=drawn.seed).null, drawn.null)
    assert mercer.two_sample_test(X, Y, n_jobs=1, random_state=3).p_value == r.p_value


def test_p_value_of_all_splits():
    rng = np.random.default_rng(1)
    for n, m in ((4, 4), (3, 5)):
        Z = rng.integers(0, 2, size=(n + m, 2)).astype(float)
        K = gaussian(Z, Z)
        null = []
        for chosen in itertools.combinations(range(n + m), n):
            first = np.zeros(n + m, bool)
            first[list(chosen)] = True
            null.append(mmd_u(K, first))
        expected = np.mean(np.array(null) >= null[0] - 1e-12)
        r = mercer.two_sample_test(Z[:n], Z[n:], kernel="gaussian(1)")
        assert r.p_value == pytest.approx(expected) and r.draws == len(null) - 1


@pytest.mark.parametrize(
    ("null", "statistic"),
    [("permutation", "mmd-u"), ("binned", "mmd-u"), ("wild", "mmd-u"), ("pearson", "mmd-u"), ("spectral", "mmd-u"), ("gamma", "mmd-b"),
     ("bound", "mmd-b"), ("normal", "mmd-linear")],
)  # fmt: skip
def test_every_null(null, statistic):
    X, Y = samples(200, 200, shift=1.5)
    r = mercer.two_sample_test(X, Y, null=null, n_permutations=200, random_state=0)
    assert r.statistic_name == statistic and r.method == null and r.rejected and r.statistic > r.threshold
    same = mercer.two_sample_test(X[:100], X[100:], null=null, n_permutations=200, random_state=0)
    assert not same.rejected and 0 < same.p_value <= 1
    if null != "bound":  # which has a threshold alone
        assert same.plot() is not None


def test_pairs_that_do_not_fit():
    X, Y = samples(20, 20)
    with pytest.raises(ValueError, match="mmd-u does not go with null = gamma, which takes mmd-b"):
        mercer.two_sample_test(X, Y, statistic="mmd-u", null="gamma")
    with pytest.raises(ValueError, match="exchange = pairs"):
        mercer.two_sample_test(X, Y, statistic="mmd-h", exchange="blocks", block_length=2)
    assert "within pairs" in mercer.two_sample_test(X, Y, statistic="mmd-h", n_permutations=99).description
    assert mercer.two_sample_test(X, Y, statistic="mmd-h", exchange="pairs", n_permutations=99).exact
    assert mercer.two_sample_test(X, Y, statistic="mmd-b", n_permutations=99).statistic_name == "mmd-b"


def test_kinds_of_input():
    X, Y = samples(30, 35)
    X, Y = np.maximum(X, 0), np.maximum(Y, 0)
    plain = mercer.two_sample_test(X, Y, "gaussian(1)", random_state=0)
    for other in (
        (X.astype(np.float32), Y.astype(np.float32)),
        (sp.csr_array(X), sp.csr_array(Y)),
        (pd.DataFrame(X, columns=["a", "b"]), pd.DataFrame(Y, columns=["a", "b"])),
        (X.tolist(), Y.tolist()),
    ):
        r = mercer.two_sample_test(*other, "gaussian(1)", random_state=0)
        assert r.p_value == plain.p_value and r.statistic == pytest.approx(plain.statistic, abs=1e-6)
    Z = np.vstack([X, Y])
    K = gaussian(Z, Z)
    labels = np.where(np.arange(65) < 30, "before", "later")
    for given in ((K, 30), (K, labels), (K[:30], K[30:])):
        r = mercer.two_sample_test(*given, kernel="precomputed", random_state=0)
        assert r.p_value == plain.p_value and r.statistic == pytest.approx(plain.statistic, abs=1e-14)
    order = np.random.default_rng(0).permutation(65)
    assert mercer.mmd(K[np.ix_(order, order)], labels[order], "precomputed") == pytest.approx(plain.statistic, abs=1e-14)
    named = mercer.two_sample_test(pd.DataFrame(X, columns=["a", "b"]), pd.DataFrame(Y, columns=["a", "b"]), mercer.kernels.Gaussian(1).on("a"))
    assert "on(0)" in named.kernel


def test_exchanges():
    X, Y = samples(40, 40, shift=0)
    groups = np.arange(40) // 10
    within = mercer.two_sample_test(X + 10 * groups[:, None], Y + 10 * groups[:, None], exchange="within-groups", groups=(groups, groups), random_state=0)
    assert within.exact and "within their groups" in within.description
    whole = mercer.two_sample_test(X, Y, exchange="whole-groups", groups=np.arange(80) // 4, random_state=0)
    assert "whole groups" in whole.description
    blocks = mercer.two_sample_test(X, Y, exchange="blocks", block_length=8, random_state=0)
    assert not blocks.exact and "blocks of 8 rows" in blocks.description
    assert mercer.two_sample_test(X, Y, null="wild", exchange="blocks", block_length=8, random_state=0).method == "wild"
    with pytest.raises(ValueError, match="groups"):
        mercer.two_sample_test(X, Y, exchange="within-groups", groups=[1, 2])
    with pytest.raises(ValueError, match="exchange must be"):
        mercer.two_sample_test(X, Y, exchange="some")


def test_kernels_that_cannot_see():
    X, Y = samples(30, 30)
    assert "sees only a difference of means" in mercer.two_sample_test(X, Y, "linear", random_state=0).remarks[0]
    assert "moments up to order 3" in str(mercer.two_sample_test(X, Y, "polynomial(3)", random_state=0))
    assert mercer.two_sample_test(X, Y, random_state=0).remarks == []


def test_level_and_power():
    X, Y = samples(40, 40, shift=0.8)
    c = mercer.level_check(X, Y, n_permutations=99, repetitions=100, random_state=0)
    assert c.holds and c.low <= c.rate <= c.high and len(c.p_values) == 100 and c.rejections == (c.p_values <= 0.05).sum()
    p = mercer.two_sample_power(X, Y, n=40, power=0.9, random_state=0)
    assert 0 <= p.low <= p.power <= p.high <= 1 and p.needed > 4 and "power 0.9" in p.sentence


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"n_permutations": 0}, ValueError, "n_permutations must be >= 1"),
        ({"n_permutations": 2.5}, TypeError, "n_permutations must be a whole number"),
        ({"level": 0}, ValueError, "level must be between 0 and 1"),
        ({"level": "low"}, TypeError, "level must be a number"),
        ({"null": "exact"}, ValueError, "null must be"),
        ({"statistic": "mmd"}, ValueError, "statistic must be"),
        ({"statistic": 3}, TypeError, "statistic must be a word"),
        ({"kernel": "gausian"}, ValueError, "gaussian"),
        ({"kernel": 3}, TypeError, "a kernel is written as text"),
        ({"bins": 4}, ValueError, "bins"),
        ({"kernel": "precomputed"}, ValueError, "square Gram matrix"),
        ({"null": "bound", "kernel": "linear"}, ValueError, "bound of k"),
    ],
)
def test_wrong_arguments(arguments, error, text):
    X, Y = samples(10, 12)
    with pytest.raises(error, match=text):
        mercer.two_sample_test(X, Y, **arguments)


def test_wrong_data():
    X, Y = samples(10, 12)
    with pytest.raises(ValueError, match="X has 2 columns but Y has 1"):
        mercer.two_sample_test(X, Y[:, :1])
    with pytest.raises(ValueError, match="NaN"):
        mercer.mmd(X, np.where(Y > 1, np.nan, Y))
    with pytest.raises(ValueError, match="at least 2 rows"):
        mercer.two_sample_test(X[:1], Y)
    with pytest.raises(ValueError, match="weights_x"):
        mercer.mmd(X, Y, weights_x=[1, 2])
    with pytest.raises(ValueError, match="both samples need rows"):
        mercer.mmd(np.eye(5), 5, "precomputed")
    assert mercer.two_sample_test(X, X, random_state=0).p_value == 1
