"""Conditional independence, goodness of fit and k samples from Python; the statistics themselves are tested in tests/unit/stats."""
import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats

import mercer


def related(n=120, strength=0.0, seed=0, width=1):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, width))
    e, f = rng.normal(size=(2, n, 1))
    z = Z.mean(axis=1, keepdims=True)
    return z + 0.5 * e, np.tanh(2 * z) + 0.5 * f + strength * e, Z


# -- conditional independence


@pytest.mark.parametrize("method", ["kci", "randomized"])
@pytest.mark.parametrize("null", ["spectral", "gamma"])
def test_conditional_verdicts(method, null):
    independent = mercer.conditional_independence_test(*related(300), method=method, null=null, random_state=1)
    assert not independent and independent.p_value > 0.05
    dependent = mercer.conditional_independence_test(*related(300, 0.5), method=method, null=null, random_state=1)
    assert dependent.rejected and dependent.method == null and len(dependent.kernels) == 3
    assert dependent.statistic_name == ("kci" if method == "kci" else "rcot")
    assert dependent.numbers["degrees of freedom x"] >= 0
    assert "given Z" in str(dependent)


def test_conditional_kci_against_numpy():
    X, Y, Z = related(80, 0.2)
    n, eps = 80, 0.1

    def gaussian(A):
        return np.exp(-((A[:, None] - A[None]) ** 2).sum(-1) / 2)

    H = np.eye(n) - 1 / n
    Kx, Ky, Kz = gaussian(X), gaussian(Y), gaussian(Z)
    R = eps * np.linalg.inv(H @ Kz @ H + eps * np.eye(n))
    M = (R @ H @ Kx @ H @ R) * Kz * (R @ H @ Ky @ H @ R)
    options = {"method": "kci", "null": "gamma", "epsilon": eps, "remove_means": False}
    result = mercer.conditional_independence_test(X, Y, Z, *["gaussian(1)"] * 3, **options)
    assert result.statistic == pytest.approx(M.sum() / n, rel=1e-9)
    mean, variance = np.trace(M) / n, 2 * (M**2).sum() / n**2
    expected = scipy.stats.gamma.sf(M.sum() / n, mean**2 / variance, scale=variance / mean)
    assert result.p_value == pytest.approx(expected, rel=1e-6)
    given = mercer.conditional_independence_test(Kx, Ky, Kz, *["precomputed"] * 3, **options)
    assert given.statistic == pytest.approx(result.statistic, rel=1e-9)


def test_conditional_inputs():
    X, Y, Z = related(60)
    a = mercer.conditional_independence_test(X, Y, Z, random_state=3)
    assert a.p_value == mercer.conditional_independence_test(X, Y, Z, random_state=3, n_jobs=1).p_value
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(Z, columns=["age"])
    b = mercer.conditional_independence_test(X, Y, frame, kernel_z='gaussian(auto).on("age")', random_state=3)
    assert b.statistic == pytest.approx(a.statistic, rel=1e-9)
    c = mercer.conditional_independence_test(X.astype(np.float32), Y, sp.csr_matrix(Z), random_state=3)
    assert c.statistic == pytest.approx(a.statistic, rel=1e-3)
    unconditional = mercer.conditional_independence_test(X, Y, None, random_state=3)
    assert unconditional.test == "independence" and unconditional.rejected
    with pytest.raises(ValueError, match="nothing to condition on"):
        mercer.conditional_independence_test(X, Y, np.ones((60, 1)))
    with pytest.raises(ValueError, match="same number of rows"):
        mercer.conditional_independence_test(X, Y[:50], Z)
    with pytest.raises(ValueError, match="method must be"):
        mercer.conditional_independence_test(X, Y, Z, method="fast")
    with pytest.raises(ValueError, match="null must be"):
        mercer.conditional_independence_test(X, Y, Z, null="permutation")
    with pytest.raises(TypeError, match="n_draws"):
        mercer.conditional_independence_test(X, Y, Z, n_draws=2.5)
    with pytest.raises(ValueError, match="Z has a NaN"):
        mercer.conditional_independence_test(X, Y, np.where(Z > 2, np.nan, np.nan))
    with pytest.raises(ValueError, match="epsilon must be > 0"):
        mercer.conditional_independence_test(X, Y, Z, epsilon=-1.0)


# -- goodness of fit


def test_stein_discrepancy_against_numpy():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 2))
    S = -(X - [0.3, 0.0])
    length = 0.9
    U = X[:, None] - X[None]
    q = (U**2).sum(-1)
    k = np.exp(-q / (2 * length**2))
    cross = ((S[None] - S[:, None]) * U).sum(-1)  # (s(y) - s(x))'(x - y)
    stein = k * (S @ S.T - cross / length**2 - q / length**4 + 2 / length**2)
    result = mercer.goodness_of_fit_test(X, mercer.Normal([0.3, 0.0], 1.0), "gaussian(0.9)", random_state=0)
    assert result.statistic == pytest.approx((stein.sum() - np.trace(stein)) / (50 * 49), abs=1e-12)
    whole = mercer.goodness_of_fit_test(X, lambda x: -(x - [0.3, 0.0]), "gaussian(0.9)", statistic="ksd-v", random_state=0)
    assert whole.statistic == pytest.approx(stein.mean(), abs=1e-12)
    assert result.numbers["ksd-v"] == pytest.approx(whole.statistic, abs=1e-12)


def test_models_of_many_kinds():
    rng = np.random.default_rng(2)
    X = np.concatenate([rng.normal(-2, 1, size=(100, 2)), rng.normal(2, 0.5, size=(100, 2))])
    mixture = mercer.NormalMixture([1, 1], [[-2, -2], [2, 2]], [1.0, 0.25])
    assert not mercer.goodness_of_fit_test(X, mixture, random_state=0)
    assert mercer.goodness_of_fit_test(X, mercer.Normal([0, 0], 5 * np.eye(2)), random_state=0)
    frozen = scipy.stats.multivariate_normal([0, 0], 5 * np.eye(2))
    assert mercer.goodness_of_fit_test(X, frozen, random_state=0).statistic == pytest.approx(
        mercer.goodness_of_fit_test(X, mercer.Normal([0, 0], 5.0), random_state=0).statistic
    )
    from sklearn.mixture import GaussianMixture

    for kind in ("full", "tied", "diag", "spherical"):
        other = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
        shifted = X + 1e-5 * np.eye(2)[0]
        numeric = (other.score_samples(shifted) - other.score_samples(X - 1e-5 * np.eye(2)[0])) / 2e-5
        from mercer._goodness_of_fit import _distribution

        np.testing.assert_allclose(_distribution(other).scores(X)[:, 0], numeric, atol=1e-5)
    drawn = mixture.sample(500, random_state=1)
    assert drawn.shape == (500, 2) and abs(drawn.mean()) < 0.3
    np.testing.assert_allclose(mercer.Normal(1.0, 4.0).score([[3.0]]), [[-0.5]])


def test_is_it_normal():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 3)) @ rng.normal(size=(3, 3)) + 7
    yes = mercer.goodness_of_fit_test(X, random_state=0)
    assert yes.exact and yes.test == "normality" and not yes
    assert mercer.goodness_of_fit_test(X**2, "normal", random_state=0)
    with pytest.raises(ValueError, match="singular"):
        mercer.goodness_of_fit_test(np.c_[X, X[:, 0]])
    with pytest.raises(ValueError, match="only family"):
        mercer.goodness_of_fit_test(X, "gamma")


def test_fitted_parameters():
    rng = np.random.default_rng(4)
    X = rng.normal(3, 1, size=(60, 1))
    fit = lambda rows: mercer.Normal(rows.mean(axis=0), rows.var())  # noqa: E731
    result = mercer.goodness_of_fit_test(X, fit, fitted=True, n_draws=99, random_state=0)
    assert result.method == "parametric" and not result
    assert mercer.goodness_of_fit_test(rng.exponential(size=(100, 1)), fit, fitted=True, n_draws=99, random_state=0)
    with pytest.raises(NotImplementedError, match="no sampler"):
        mercer.goodness_of_fit_test(X, lambda rows: (lambda x: -x), fitted=True, n_draws=9)
    with pytest.raises(TypeError, match="fits a distribution"):
        mercer.goodness_of_fit_test(X, mercer.Normal(0, 1), fitted=True)


def test_scores_that_cannot_be():
    X = np.random.default_rng(5).normal(size=(30, 2))
    with pytest.raises(ValueError, match="2 numbers for each of 30 rows"):
        mercer.goodness_of_fit_test(X, lambda x: x[:, 0])
    with pytest.raises(ValueError, match="NaN or infinite at row"):
        mercer.goodness_of_fit_test(X, lambda x: np.full_like(x, np.nan))
    with pytest.raises(ZeroDivisionError):
        mercer.goodness_of_fit_test(X, lambda x: 1 / 0)
    with pytest.raises(TypeError, match="the model must be"):
        mercer.goodness_of_fit_test(X, 3)
    with pytest.raises(ValueError, match="singular"):
        mercer.Normal([0, 0], np.ones((2, 2)))
    with pytest.raises(ValueError, match="has 3 columns, but the sample has 2"):
        mercer.goodness_of_fit_test(X, mercer.Normal([0, 0, 0], 1.0))
    with pytest.raises(ValueError, match="needs derivatives"):
        mercer.goodness_of_fit_test(X, mercer.Normal([0, 0], 1.0), "laplacian(1)")
    with pytest.raises(ValueError, match="flip_probability"):
        mercer.goodness_of_fit_test(X, mercer.Normal([0, 0], 1.0), flip_probability=0.9)


# -- k samples


def test_k_samples_with_names_and_labels():
    rng = np.random.default_rng(6)
    samples = {"a": rng.normal(size=(50, 2)), "b": rng.normal(size=(40, 2)), "c": rng.normal(1, 1, size=(45, 2))}
    by_name = mercer.k_sample_test(samples, random_state=0)
    assert by_name.rejected and by_name.labels == ["a", "b", "c"] and by_name.sizes == [50, 40, 45]
    assert [(p["first"], p["second"]) for p in by_name.pairs if p["rejected"]] == [("a", "c"), ("b", "c")]
    assert all(p["adjusted"] >= p["p_value"] for p in by_name.pairs)
    assert "a and c, b and c" in str(by_name)
    X, labels = np.concatenate(list(samples.values())), np.repeat(["a", "b", "c"], [50, 40, 45])
    by_label = mercer.k_sample_test(X, labels, random_state=0)
    assert by_label.labels == by_name.labels and by_label.p_value == by_name.p_value and by_label.statistic == by_name.statistic
    K = mercer.kernel(by_name.kernel)(X)
    given = mercer.k_sample_test(K, labels, "precomputed", random_state=0)
    assert given.statistic == pytest.approx(by_name.statistic, rel=1e-10) and given.p_value == by_name.p_value
    assert mercer.k_sample_test(X, labels, pairwise=False, random_state=0).pairs == []
    centred = K - K.mean(0) - K.mean(1)[:, None] + K.mean()
    total = sum(centred[np.ix_(labels == g, labels == g)].sum() / (labels == g).sum() for g in "abc") / len(X)
    assert by_name.statistic == pytest.approx(total, rel=1e-10)
    sparse = mercer.k_sample_test([sp.csr_matrix(A) for A in samples.values()], random_state=0)
    assert sparse.statistic == pytest.approx(by_name.statistic, rel=1e-8)


def test_k_samples_misuse():
    X = np.random.default_rng(7).normal(size=(20, 2))
    with pytest.raises(ValueError, match="at least two samples"):
        mercer.k_sample_test([X])
    with pytest.raises(ValueError, match="all labels are the same"):
        mercer.k_sample_test(X, np.zeros(20))
    with pytest.raises(ValueError, match="same columns"):
        mercer.k_sample_test([X, X[:, :1]])
    with pytest.raises(ValueError, match="at least one row"):
        mercer.k_sample_test([X, X[:0]])
    with pytest.raises(ValueError, match="one for each of the 20 rows"):
        mercer.k_sample_test(X, [0, 1])
    with pytest.raises(TypeError, match="labels"):
        mercer.k_sample_test(X)
    with pytest.raises(ValueError, match="exchange must be"):
        mercer.k_sample_test(X, np.arange(20) % 3, exchange="pairs")
    with pytest.raises(ValueError, match="level"):
        mercer.k_sample_test(X, np.arange(20) % 3, level=2.0)
    strata = mercer.k_sample_test(X, np.arange(20) % 2, exchange="within-groups", groups=np.arange(20) // 10, random_state=0)
    assert "within their groups" in strata.description


def test_plots():
    pytest.importorskip("matplotlib").use("Agg")
    X = np.random.default_rng(8).normal(size=(30, 2))
    assert mercer.k_sample_test(X, np.arange(30) % 3, random_state=0).plot() is not None
    assert mercer.goodness_of_fit_test(X, random_state=0, n_draws=99).plot() is not None
    assert mercer.conditional_independence_test(X[:, :1], X[:, 1:], X[:, :1] + X[:, 1:], null="gamma").plot() is not None
