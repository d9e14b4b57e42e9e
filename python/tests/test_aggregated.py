"""Tests with many kernels: statistics against numpy, kinds of input, messages, and the result."""
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import mercer


def mmd_u(K, n):
    K = K - np.diag(np.diag(K))
    m = len(K) - n
    return K[:n, :n].sum() / (n * (n - 1)) + K[n:, n:].sum() / (m * (m - 1)) - 2 * K[:n, n:].mean()


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 2)), rng.normal(size=(50, 2)) * 1.5


def quick(test, *args, **options):
    count = 60 if test is mercer.mmd_fuse_test else (60, 60)
    return test(*args, **({"n_permutations": count, "random_state": 0} | options))


@pytest.mark.parametrize("test", [mercer.mmd_aggregated_test, mercer.mmd_fuse_test])
def test_table_has_the_statistic_of_each_kernel(test, pair):
    X, Y = pair
    Z = np.vstack([X, Y])
    result = quick(test, X, Y, bandwidths=3)
    assert len(result.table) == len(result.kernels) == 6
    frame = pd.DataFrame(result.table)
    for text, value in zip(frame["kernel"], frame["statistic"]):
        assert value == pytest.approx(mmd_u(mercer.gram(Z, kernel=text), len(X)), abs=1e-12)
    assert frame["weight"].sum() == pytest.approx(1)
    assert (result.n, result.m, result.seed, result.exact) == (40, 50, 0, True)
    assert result.rejected == bool(result) == (result.p_value <= result.level)
    assert set(result.rejecting) == set(frame["kernel"][frame["rejected"]])
    assert isinstance(result, mercer.TestResult) and result.sentence in str(result)


def test_agreement_with_the_same_algorithm_in_numpy():
    """With exchanges of its own: the level correction and p-values agree as far as a thousand exchanges say."""
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(60, 1)), rng.normal(size=(60, 1)) + 0.45
    kernels = ["gaussian(0.2)", "gaussian(1)", "laplacian(1)"]
    B = 3000
    result = mercer.mmd_aggregated_test(X, Y, kernels, n_permutations=(B, B), random_state=1)
    Z = np.vstack([X, Y])
    labels = np.array([rng.permutation(np.repeat([1.0, -1.0], 60)) for _ in range(2 * B)])
    labels = np.vstack([np.repeat([1.0, -1.0], 60), labels])
    T = []
    for text in kernels:
        K = mercer.gram(Z, kernel=text)
        np.fill_diagonal(K, 0)
        q = np.einsum("bi,bi->b", labels @ K, labels) / 60**2
        T.append(q + (K.sum() + 60**2 * q) / (2 * 60**2 * 59))
    T = np.array(T).T
    p = (1 + (T[1 : B + 1, None] >= np.vstack([T[:1], T[B + 1 :]])[None]).sum(0)) / (B + 1)
    smallest = p.min(1) * 3
    adjusted = (1 + (smallest[1:] <= smallest[0]).sum()) / (B + 1)
    u = np.sort(smallest[1:])[int(0.05 * (B + 1)) - 1]
    assert result.p_value == pytest.approx(adjusted, abs=4 * np.sqrt(adjusted / B))
    assert result.correction == pytest.approx(u, rel=0.35)
    assert [row["p_value"] for row in result.table] == pytest.approx(p[0], abs=4 * np.sqrt(p[0].max() / B))


def test_hsic_of_all_pairs(pair):
    X, _ = pair
    Y = X[:, :1] ** 2
    result = quick(mercer.hsic_aggregated_test, X, Y, bandwidths=2)
    assert result.test == "independence" and result.rejected and len(result.table) == 4
    H = np.eye(40) - 1 / 40
    for row in result.table:
        K, L = mercer.gram(X, kernel=row["kernel"]), mercer.gram(Y, kernel=row["kernel_y"])
        assert row["statistic"] == pytest.approx(np.trace(H @ K @ H @ L) / 40**2, rel=1e-10)
    noise = np.random.default_rng(3).normal(size=(40, 1))
    assert not quick(mercer.hsic_aggregated_test, X, noise, bandwidths=2)


def test_kinds_of_input(pair):
    X, Y = pair
    dense = quick(mercer.mmd_aggregated_test, X, Y, bandwidths=2)
    frames = quick(mercer.mmd_aggregated_test, pd.DataFrame(X, columns=["a", "b"]), pd.DataFrame(Y, columns=["a", "b"]), bandwidths=2)
    assert frames.p_value == dense.p_value
    sparse = quick(mercer.mmd_aggregated_test, sp.csr_matrix(X), sp.csr_matrix(Y), bandwidths=2)
    assert sparse.p_value == dense.p_value
    single = quick(mercer.mmd_aggregated_test, X.astype(np.float32), Y.astype(np.float32), bandwidths=2)
    assert single.table[0]["statistic"] == pytest.approx(dense.table[0]["statistic"], abs=1e-6)
    named = quick(mercer.mmd_fuse_test, pd.DataFrame(X, columns=["a", "b"]), pd.DataFrame(Y, columns=["a", "b"]), [mercer.kernels.Gaussian("auto").on("b")], bandwidths=2)
    assert len(named.table) == 2
    K = mercer.gram(np.vstack([X, Y]), kernel="gaussian(1)")
    given = quick(mercer.mmd_aggregated_test, K[:40], K[40:], "precomputed")
    plain = quick(mercer.mmd_aggregated_test, X, Y, "gaussian(1)")
    assert given.p_value == plain.p_value and given.table[0]["statistic"] == pytest.approx(plain.table[0]["statistic"])
    L = mercer.gram(Y[:40], kernel="gaussian(1)")
    assert quick(mercer.hsic_aggregated_test, K[:40, :40], L, "precomputed", "precomputed").p_value == quick(
        mercer.hsic_aggregated_test, X, Y[:40], "gaussian(1)", "gaussian(1)").p_value


def test_same_sample_twice_is_no_difference(pair):
    X, _ = pair
    assert not quick(mercer.mmd_aggregated_test, X, X)


def test_exchanges_and_weights(pair):
    X, Y = pair[0], pair[1][:40]
    assert quick(mercer.mmd_aggregated_test, X, Y, exchange="pairs", weights="centred").description.count("pairs")
    groups = np.tile(["a", "b"], 40)
    assert "groups" in quick(mercer.mmd_fuse_test, X, Y, exchange="within-groups", groups=groups).description
    weighted = quick(mercer.mmd_aggregated_test, X, Y, ["gaussian(1)", "linear"], weights=[3, 1])
    assert [row["weight"] for row in weighted.table] == pytest.approx([0.75, 0.25])
    assert quick(mercer.mmd_fuse_test, X, Y, lambda_=1e6).statistic > quick(mercer.mmd_fuse_test, X, Y, lambda_=1e-3).statistic
    one, two = (quick(mercer.mmd_aggregated_test, X, Y, n_jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(one.null, two.null)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"bandwidths": 0}, ValueError, "bandwidths"),
        ({"bandwidths": 1.5}, TypeError, "whole number"),
        ({"weights": "falling"}, ValueError, '"centred"'),
        ({"weights": [1, 2]}, ValueError, "one for each of the 20 kernels, got 2"),
        ({"n_permutations": 0}, ValueError, ">= 1"),
        ({"n_permutations": (1, 2, 3)}, ValueError, "or two"),
        ({"level": 1.0}, ValueError, "between 0 and 1"),
        ({"exchange": "swap"}, ValueError, '"pairs"'),
        ({"exchange": "pairs"}, ValueError, "equal size"),
        ({"groups": [1, 2]}, ValueError, "one entry for each of the 90 rows"),
        ({"kernels": []}, ValueError, "at least one"),
        ({"kernels": "precomputed"}, ValueError, "Gram matrix of both samples"),
        ({"random_state": -1}, ValueError, "random_state"),
    ],
)
def test_wrong_use_is_named(pair, options, error, text):
    with pytest.raises(error, match=text):
        mercer.mmd_aggregated_test(*pair, **options)


def test_wrong_data_is_named(pair):
    X, Y = pair
    with pytest.raises(ValueError, match="columns"):
        mercer.mmd_fuse_test(X, Y[:, :1])
    with pytest.raises(ValueError, match="two rows"):
        mercer.mmd_fuse_test(X, Y[:1])
    with pytest.raises(ValueError, match="NaN"):
        mercer.mmd_aggregated_test(np.full((5, 2), np.nan), Y)
    with pytest.raises(ValueError, match="same number of rows"):
        mercer.hsic_aggregated_test(X, Y)
    with pytest.raises(ValueError, match="lambda_"):
        mercer.mmd_fuse_test(X, Y, lambda_=0)
    with pytest.raises(MemoryError, match="memory budget"):
        mercer.hsic_aggregated_test(np.zeros((3000, 1)), np.zeros((3000, 1)), memory="1M")


def test_picture(pair):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    for result in (quick(mercer.mmd_aggregated_test, *pair), quick(mercer.mmd_fuse_test, *pair)):
        axes = result.plot()
        assert axes.get_yscale() == "log" and len(axes.get_xticklabels()) == 20
        assert mercer.plot.null_histogram(result).get_xlabel() == result.statistic_name
    matplotlib.pyplot.close("all")
