"""Mean embeddings and witness functions against numpy; what they accept and refuse."""
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import mercer


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 3)), rng.normal(size=(40, 3)) + [0.0, 1.0, 0.0]


def gaussian(X, Y, scale):
    return np.exp(-((X[:, None] - Y[None]) ** 2).sum(-1) / (2 * scale**2))


def test_mean_embedding_is_the_mean_of_sections(pair):
    X, Y = pair
    mu = mercer.mean_embedding(X, "gaussian(1.5)")
    np.testing.assert_allclose(mu(Y), gaussian(Y, X, 1.5).mean(1), rtol=1e-12)
    assert isinstance(mu, mercer.RKHSFunction) and len(mu) == 60 and "MeanEmbedding" in repr(mu)
    nu = mercer.mean_embedding(Y, mu.kernel)
    mmd_b = gaussian(X, X, 1.5).mean() + gaussian(Y, Y, 1.5).mean() - 2 * gaussian(X, Y, 1.5).mean()
    assert mu.distance(nu) == pytest.approx(np.sqrt(mmd_b), rel=1e-10)
    assert (mu - nu).norm() == pytest.approx(mu.distance(nu))


def test_expectation_bound_and_weights(pair):
    X, _ = pair
    w = np.arange(60.0)
    mu = mercer.mean_embedding(pd.DataFrame(X, columns=list("abc")), "gaussian(1)", sample_weight=w)
    np.testing.assert_allclose(mu.coef, w / w.sum())
    f = mercer.RKHSFunction("gaussian(1)", X[:4], [1.0, -2.0, 0.5, 3.0])
    assert mu.expectation(f) == pytest.approx(f @ mu) == pytest.approx(np.average(f(X), weights=w))
    assert mu.expectation(lambda rows: rows[:, 1]) == pytest.approx(np.average(X[:, 1], weights=w))
    bound = mu.bound(0.1)
    m = w.sum() ** 2 / (w**2).sum()
    assert bound == pytest.approx(np.sqrt(1 / m) * (1 + np.sqrt(2 * np.log(10)))) and bound.rows == pytest.approx(m)
    assert bound.kappa_known and "with probability 0.9" in str(bound)
    np.testing.assert_allclose(mu.bound(X), mu.norm() * np.ones(60))  # rows: the pointwise bound of every RKHS function
    assert not mercer.mean_embedding(X, "polynomial(2)").bound().kappa_known
    again = pickle.loads(pickle.dumps(mu))
    assert type(again) is mercer.MeanEmbedding and again.bound(0.1) == bound
    np.testing.assert_array_equal(again.coef, mu.coef)


def test_kernels_see_what_they_can():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 1))
    X = (X - X.mean()) / X.std()
    Y = np.tile([[-1.0], [1.0]], (250, 1))  # the same mean and variance
    distance = {k: mercer.mean_embedding(X, k).distance(mercer.mean_embedding(Y, k)) for k in ("linear", "polynomial(2)", "gaussian(0.5)")}
    assert distance["linear"] < 1e-6 and distance["polynomial(2)"] < 1e-6 and distance["gaussian(0.5)"] > 0.2
    T = np.array([[0.3], [-0.7]])
    np.testing.assert_allclose(mercer.mean_embedding(X, "exponential_dot(1)")(T), np.exp(X @ T.T).mean(0), rtol=1e-12)


@pytest.mark.parametrize(("words", "message"), [
    ({"sample_weight": [1.0]}, "one number for each of the 60 rows"),
    ({"sample_weight": -np.ones(60)}, ">= 0"),
    ({"sample_weight": np.zeros(60)}, "not all be 0"),
    ({"kernel": "white(1)"}, "white"),
    ({"kernel": "nokernel"}, "nokernel"),
])  # fmt: skip
def test_mean_embedding_says_what_is_wrong(pair, words, message):
    with pytest.raises(ValueError, match=message):
        mercer.mean_embedding(pair[0], **words)


def test_more_mistakes(pair):
    mu = mercer.mean_embedding(pair[0])
    for delta in (0, 1, -1):
        with pytest.raises(ValueError, match="delta must be between 0 and 1"):
            mu.bound(delta)
    with pytest.raises(ValueError, match="kappa"):
        mu.bound(0.1, kappa=0.5)
    with pytest.raises(TypeError, match="RKHSFunction or a function"):
        mu.expectation(3)
    with pytest.raises(ValueError, match="different spaces"):
        mu.distance(mercer.mean_embedding(pair[1]))


def test_witness_is_the_difference(pair):
    X, Y = pair
    w = mercer.witness(X, Y)
    scale = w.kernel.length_scale
    pooled = np.vstack([X, Y])
    distances = np.sqrt(((pooled[:, None] - pooled[None]) ** 2).sum(-1))[np.triu_indices(100, 1)]
    assert scale == pytest.approx(np.median(distances))
    Z = np.zeros((2, 3))
    np.testing.assert_allclose(w(Z), gaussian(Z, X, scale).mean(1) - gaussian(Z, Y, scale).mean(1), atol=1e-13)
    np.testing.assert_allclose(w(Z, normalised=True), w(Z) / w.distance)
    assert w.squared == pytest.approx(w.distance**2) == pytest.approx(w.function.squared_norm(), rel=1e-9)
    np.testing.assert_allclose(w.at_x, w(X), atol=1e-13)
    assert (w.n, w.m) == (60, 40) and "60 and 40 rows" in repr(w)
    other = mercer.witness(Y, X)
    np.testing.assert_allclose(other(Z), -w(Z), atol=1e-13)


@pytest.mark.parametrize("kind", [sp.csr_matrix, np.float32, pd.DataFrame])
def test_witness_takes_what_users_have(pair, kind):
    X, Y = pair
    A, B = (kind(M) if kind is not np.float32 else M.astype(np.float32) for M in (X, Y))
    assert mercer.witness(A, B, "gaussian(1)").squared == pytest.approx(mercer.witness(X, Y, "gaussian(1)").squared, rel=1e-5)


def test_witness_of_a_given_gram(pair):
    X, Y = pair
    K = gaussian(np.vstack([X, Y]), np.vstack([X, Y]), 1.0)
    w = mercer.witness(K, 60, "precomputed")
    assert w.squared == pytest.approx(mercer.witness(X, Y, "gaussian(1)").squared, rel=1e-10)
    np.testing.assert_allclose(w(K[:3]), mercer.witness(X, Y, "gaussian(1)")(X[:3]), atol=1e-12)
    assert mercer.witness(K, ["a"] * 60 + ["b"] * 40, "precomputed").squared == w.squared
    with pytest.raises(ValueError, match="both samples need rows"):
        mercer.witness(K, 100, "precomputed")


def test_witness_pickles(pair):
    X, Y = pair
    K = gaussian(np.vstack([X, Y]), np.vstack([X, Y]), 1.0)
    for w in (mercer.witness(X, Y), mercer.witness(sp.csr_matrix(X), sp.csr_matrix(Y), sample_weight_x=np.arange(60)), mercer.witness(K, 60, "precomputed")):
        again = pickle.loads(pickle.dumps(w))
        assert again.squared == w.squared and again.kernel == w.kernel
        np.testing.assert_array_equal(again.at_y, w.at_y)


def test_samples_are_copied(pair):
    X, Y = (M.copy() for M in pair)
    w = mercer.witness(X, Y)
    before = w.grid(1, 5).values.copy()
    X[:] = 0
    np.testing.assert_array_equal(w.grid(1, 5).values, before)


def test_telling_points(pair):
    w = mercer.witness(*pair)
    told = w.telling_points(3)
    assert len(told.more_x) == len(told.more_y) == 3
    values = np.concatenate([w.at_x, w.at_y])
    assert [p.value for p in told.more_x] == sorted(values)[::-1][:3] and [p.value for p in told.more_y] == sorted(values)[:3]
    first = told.more_x[0]
    assert first.value == (w.at_x if first.sample == "X" else w.at_y)[first.row]
    with pytest.raises(ValueError, match="k must be >= 0, got -1"):
        w.telling_points(-1)


def test_grid(pair):
    X, Y = pair
    w = mercer.witness(pd.DataFrame(X, columns=list("abc")), pd.DataFrame(Y, columns=list("abc")))
    line = w.grid("b", points=7)
    assert line.names == ["b"] and line.values.shape == (7,)
    alone = mercer.witness(X[:, [1]], Y[:, [1]])
    np.testing.assert_allclose(line.values, alone(line.axes[0][:, None]), atol=1e-13)
    plane = w.grid(["a", 2], points=5)
    assert plane.values.shape == (5, 5) and plane.columns == [0, 2]
    two = mercer.witness(X[:, :2], Y[:, :2], "gaussian(1)")
    whole = two.grid(points=4)
    np.testing.assert_allclose(whole.values[1, 2], two([[whole.axes[0][1], whole.axes[1][2]]])[0], atol=1e-13)
    with pytest.raises(ValueError, match="choose one or two"):
        w.grid()
    with pytest.raises(ValueError, match="no column 'z'"):
        w.grid("z")
    with pytest.raises(TypeError, match="position or a name"):
        w.grid([1.5])


def test_columns(pair):
    X, Y = pair
    w = mercer.witness(pd.DataFrame(X, columns=["a", "b", "</b>"]), pd.DataFrame(Y, columns=["a", "b", "</b>"]))
    table = w.columns(n_permutations=199, random_state=3)
    assert len(table) == 3 and table.ranked[0].name == "b" and table[1].differs and not table[0].differs
    assert table[1].p_value == 1 / 200 and table[1].adjusted == 3 / 200 and table.seed == 3
    assert sum(c.share for c in table) == pytest.approx(1) and table[1].share > 0.5
    assert "b " in str(table) and len(pd.DataFrame(table.to_dict())) == 3
    again = w.columns(n_permutations=199, random_state=3, n_jobs=1)
    assert again.to_dict() == table.to_dict()
    alone = w.columns(n_permutations=19, shuffles=0, random_state=0)
    assert np.isnan(alone[0].drop)
    grouped = w.columns(n_permutations=19, shuffles=1, exchange="within-groups", groups=["u", "v"] * 50, random_state=0)
    assert "within their groups" in grouped.sentence
    with pytest.raises(ValueError, match="exchange must be"):
        w.columns(exchange="no")
    with pytest.raises(ValueError, match="level must be"):
        w.columns(level=2)
    with pytest.raises(ValueError, match="permutations must be"):
        w.columns(n_permutations=0)


@pytest.mark.parametrize(("X", "Y", "words", "message"), [
    (np.zeros((3, 2)), np.zeros((3, 1)), {}, "columns"),
    (np.zeros((3, 2)), np.full((3, 2), np.nan), {}, "NaN"),
    (np.zeros((3, 2)), np.zeros((0, 2)), {}, "at least one row"),
    (np.zeros((3, 2)), np.zeros((3, 2)), {"kernel": "sigmoid(1, 0)"}, "positive semi-definite"),
    (np.zeros((3, 2)), np.zeros((3, 2)), {"sample_weight_y": [1.0]}, "sample_weight_y"),
])  # fmt: skip
def test_witness_says_what_is_wrong(X, Y, words, message):
    with pytest.raises(ValueError, match=message):
        mercer.witness(X, Y, **words)


def test_plots(pair):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, Y = pair
    w = mercer.witness(X, Y)
    assert w.plot().get_xlabel() == "witness"
    assert w.plot(columns=1).get_xlabel() == "x1"
    assert w.plot(columns=[0, 1]).get_ylabel() == "x1"
    assert "share" in w.columns(n_permutations=19, random_state=0).plot().get_xlabel()
    plt.close("all")
