"""Tests, embeddings, weights and functions of strings and graphs, and kernels written in Python on objects."""
import pickle

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer.kernels import BagOf, Gaussian, Spectrum, WeisfeilerLehman


def words(rng, n, letters="abc", weights=None):
    return ["".join(rng.choice(list(letters), 8, p=weights)) for _ in range(n)]


def rings(rng, n, extra):
    """Rings of six nodes, with a chord in so many of ten."""
    ring = [(i, (i + 1) % 6) for i in range(6)]
    return [{"n": 6, "edges": ring + ([(0, 3)] if rng.integers(10) < extra else [])} for _ in range(n)]


@pytest.fixture(params=["strings", "graphs"])
def samples(request, rng):
    if request.param == "strings":
        return words(rng, 40), words(rng, 35, weights=[0.6, 0.3, 0.1]), Spectrum(2)
    return rings(rng, 40, 1), rings(rng, 35, 8), WeisfeilerLehman(2)


def test_two_samples(samples):
    X, Y, k = samples
    result = mercer.two_sample_test(X, Y, kernel=k, n_permutations=200, random_state=0)
    assert result.rejected
    half = mercer.two_sample_test(X[:20], X[20:], kernel=k, n_permutations=200, random_state=0)
    assert half.p_value > 0.01
    K = k(X + Y)
    given = mercer.two_sample_test(K, len(X), kernel="precomputed", n_permutations=200, random_state=0)
    assert given.statistic == pytest.approx(result.statistic, rel=1e-10) and given.p_value == result.p_value
    n, m = len(X), len(Y)
    biased = K[:n, :n].mean() + K[n:, n:].mean() - 2 * K[:n, n:].mean()
    assert mercer.mmd(X, Y, k, "mmd-b") == pytest.approx(biased, rel=1e-9)
    assert mercer.mmd(X, X, k, "mmd-b") == pytest.approx(0, abs=1e-12)
    assert mercer.mmd(tuple(X), tuple(Y), str(k), "mmd-b") == pytest.approx(biased, rel=1e-9)


def test_k_samples_and_many_kernels(samples):
    X, Y, k = samples
    result = mercer.k_sample_test({"a": X[:20], "b": X[20:], "c": Y}, kernel=k, n_permutations=200, random_state=0)
    assert result.rejected and result.sizes == [20, 20, 35]
    labels = ["a"] * 20 + ["b"] * 20 + ["c"] * 35
    again = mercer.k_sample_test(X + Y, labels, k, n_permutations=200, random_state=0)
    assert again.statistic == pytest.approx(result.statistic, rel=1e-12) and again.p_value == result.p_value
    several = mercer.mmd_aggregated_test(X, Y, kernels=[k, 2 * k + 1], n_permutations=200, random_state=0)
    assert several.rejected


def test_dependence(rng, samples):
    X, Y, k = samples
    pool = X + Y
    y = np.repeat([0.0, 1.0], [len(X), len(Y)]) + 0.1 * rng.normal(size=len(pool))
    result = mercer.independence_test(pool, y, kernel_x=k, n_permutations=200, random_state=0)
    assert result.rejected
    shuffled = mercer.independence_test(pool, rng.permutation(y), kernel_x=k, n_permutations=200, random_state=0)
    assert shuffled.p_value > 0.005
    L = Gaussian(1)(y[:, None])
    h = mercer.hsic(pool, y, kernel_x=k, kernel_y="gaussian(1)")
    K, H = k(pool), np.eye(len(pool)) - 1 / len(pool)
    assert h == pytest.approx(np.trace(K @ H @ L @ H) / len(pool) ** 2, rel=1e-9)
    given = mercer.hsic(K, L, kernel_x="precomputed", kernel_y="precomputed")
    assert given == pytest.approx(float(h), rel=1e-9)
    tested = mercer.independence_test(K, L, kernel_x="precomputed", kernel_y="precomputed", n_permutations=200, random_state=0)
    assert tested.rejected and tested.statistic == pytest.approx(float(h), rel=1e-9)


def test_text_without_a_kernel_is_categories(rng):
    colours = rng.choice(["red", "blue"], 60)
    assert mercer.independence_test(colours, rng.normal(size=60), null="gamma").kernels[0] == "delta"
    assert mercer.hsic(list(colours), rng.normal(size=60)).kernel_x == "delta"


def test_embeddings_and_witnesses(samples):
    X, Y, k = samples
    mu, nu = mercer.mean_embedding(X, k), mercer.mean_embedding(Y, k)
    np.testing.assert_allclose(mu(Y), k(Y, X).mean(axis=1), atol=1e-12)
    assert mu.distance(nu) ** 2 == pytest.approx(mercer.mmd(X, Y, k, "mmd-b"), rel=1e-8)
    assert mu.X == X or [g["edges"] for g in mu.X] == [g["edges"] for g in X]
    assert 0 < mu.bound(0.05) < 2 and mu.expectation(lambda A: np.ones(len(A))) == pytest.approx(1)
    w = mercer.witness(X, Y, k)
    np.testing.assert_allclose(w(Y), mu(Y) - nu(Y), atol=1e-12)
    np.testing.assert_allclose(w.at_x, w(X), atol=1e-12)
    for value in (mu, w, mercer.RKHSFunction(k, X, np.arange(len(X)))):
        again = pickle.loads(pickle.dumps(value))
        np.testing.assert_allclose(again(Y), value(Y), atol=1e-12)


def test_functions(samples):
    X, Y, k = samples
    a = np.linspace(-1, 1, len(X))
    f = mercer.RKHSFunction(k, X, a)
    assert f @ f == pytest.approx(a @ k(X) @ a, rel=1e-9)
    g = f + mercer.RKHSFunction(k, Y[:2], [1.0, 2.0])
    np.testing.assert_allclose(g(Y), k(Y, X) @ a + k(Y, Y[:2]) @ [1, 2], atol=1e-11)
    assert len(g) == len(X) + 2
    h = mercer.RKHSFunction(k, X[:3], [1.0, 2.0, 3.0]) - mercer.RKHSFunction(k, Y[:3], [1.0, 2.0, 3.0])  # as many, but others
    np.testing.assert_allclose(h(Y), (k(Y, X[:3]) - k(Y, Y[:3])) @ [1, 2, 3], atol=1e-11)


def test_weights(samples):
    X, Y, k = samples
    pool = X + Y
    for small in (mercer.herd(pool, 8, kernel=k), mercer.thin(pool, 8, kernel=k, random_state=0), mercer.squash(pool, 8, kernel=k, random_state=0)):
        assert len(small) == 8 and small.points(pool) == [pool[i] for i in small.indices]
        K, w = k(pool), np.zeros(len(pool))
        np.add.at(w, small.indices, small.weights)
        w -= 1 / len(pool)
        assert small.mmd == pytest.approx(np.sqrt(max(0.0, w @ K @ w)), abs=1e-7)
    matching = mercer.KernelMeanMatching(kernel=k).fit(X, Y)
    assert matching.weights_.shape == (40,) and matching.mmd_after_ <= matching.mmd_before_ + 1e-12
    mixed = mercer.mixture_weights(pool, [X, Y], kernel=k)
    np.testing.assert_allclose(mixed.weights, [40 / 75, 35 / 75], atol=1e-5)


def test_matching_with_learned_weights():
    X, Y = ["to be", "or not", "to do", "or be"], ["to be", "to do", "to be"]
    assert "idf-" in str(mercer.KernelMeanMatching(kernel="bag_of_words").fit(X, Y).kernel_)


def test_series(rng):
    series = words(rng, 30) + words(rng, 30, "abd")
    found = mercer.change_points(series, Spectrum(1), n_changes=1)
    assert abs(found.positions[0] - 30) <= 2
    assert mercer.change_point_test(series, Spectrum(1), n_permutations=100, random_state=0).rejected
    monitor = mercer.DriftMonitor(words(rng, 100), Spectrum(1), window=10, expected_run_length=100, random_state=0)
    monitor = pickle.loads(pickle.dumps(monitor))
    assert not monitor.update(words(rng, 5)).alarm.any() and monitor.update("abab").alarm.shape == (1,)
    assert monitor.update(words(rng, 40, "d")).alarm.any()


@pytest.mark.parametrize(
    "call",
    [
        lambda X: mercer.two_sample_test(X, X),
        lambda X: mercer.mmd(X, X),
        lambda X: mercer.mean_embedding(X),
        lambda X: mercer.witness(X, X),
        lambda X: mercer.herd(X, 1),
        lambda X: mercer.k_sample_test([X, X]),
        lambda X: mercer.mixture_weights(X, [X]),
        lambda X: mercer.change_points(X),
        lambda X: mercer.DriftMonitor(X),
        lambda X: mercer.gram(X),
        lambda X: mercer.mmd_aggregated_test(X, X),
    ],
)
def test_the_default_kernel_looks_at_numbers(call):
    with pytest.raises(ValueError, match="default kernel looks at numbers, but X holds strings: use kernels?=\"spectrum"):
        call(["ab", "ba", "cc"])


def test_further_tests(rng):
    X, Y, y = words(rng, 40), words(rng, 40, "abd"), rng.normal(size=40)
    assert mercer.mmd_fuse_test(X, Y, kernels=[Spectrum(1)], n_permutations=100, random_state=0).rejected
    assert mercer.hsic_aggregated_test(X, y, kernels_x=[Spectrum(1)], n_permutations=100, random_state=0).p_value > 0.01
    assert mercer.joint_independence_test([X, y, X], kernels=[Spectrum(1), None, Spectrum(2)], n_permutations=100, random_state=0).rejected
    assert mercer.conditional_independence_test(y, 2 * y, X, kernel_z=Spectrum(1), n_permutations=100, random_state=0).rejected
    for null in ("gamma", "pearson", "spectral", "wild", "binned"):  # the distribution-free bound needs more rows
        assert mercer.two_sample_test(X, Y, "spectrum(1)", null=null, n_permutations=100, random_state=0).rejected, null
    assert mercer.mmd(X, Y, "spectrum(1)", "mmd-b", method="nystrom", n_features=20) == pytest.approx(mercer.mmd(X, Y, "spectrum(1)", "mmd-b"), abs=1e-9)
    with pytest.raises(ValueError, match="density of numbers, but X holds strings"):
        mercer.goodness_of_fit_test(X, mercer.Normal(0, 1))


def test_default_kernels_of_variables():
    with pytest.raises(ValueError, match="X holds graphs: use kernel_x=\"weisfeiler_lehman"):
        mercer.hsic([{"n": 1, "edges": []}] * 4, np.arange(4.0))
    with pytest.raises(ValueError, match="X holds strings, but Y holds numbers"):
        mercer.mmd(["a", "b"], np.ones((2, 1)), "spectrum(1)")
    with pytest.raises(ValueError, match="kernel values, but these samples are strings"):
        mercer.gram(["a", "b"], kernel="precomputed")
    with pytest.raises(ValueError, match="'rbf' looks at numbers, but X holds strings"):
        mercer.silhouette_samples(["a", "b"], [0, 1], kernel="rbf")


# -- written in Python


def overlap(A, B):
    return np.array([[len(set(a) & set(b)) for b in B] for a in A], dtype=float)


def first_letters(A):
    return np.array([[a.startswith(c) for c in "abc"] for a in A], dtype=float)


def test_functions_of_strings(rng):
    X = words(rng, 300, "abcdef")
    k = mercer.kernel_function(overlap, psd=True)
    np.testing.assert_array_equal(k(X), overlap(X, X))
    pairs = mercer.kernel_function(lambda a, b: len(set(a) & set(b)), name="pairs", pairwise=True)
    np.testing.assert_array_equal(pairs(X[:20], X[:5]), overlap(X[:20], X[:5]))
    assert mercer.check_kernel(k, X[:60]).psd
    signed = mercer.kernel_function(lambda A, B: np.array([[float(a[0] != b[0]) for b in B] for a in A]), name="differs")
    assert not mercer.check_kernel(signed, X[:60]).psd
    phi = mercer.feature_map(first_letters)
    F = first_letters(X)
    np.testing.assert_array_equal(phi(X), F @ F.T)
    y = np.array([len(set(x)) % 2 for x in X])
    model = mercer.SVC(kernel=k + phi + Spectrum(1)).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X[:9]), model.predict(X[:9]))
    np.testing.assert_allclose(mercer.SVC(kernel=overlap).fit(X, y).decision_function(X), mercer.SVC(kernel=k).fit(X, y).decision_function(X), atol=1e-12)
    radial = k.radial("auto")  # whose median is found by values of the function
    assert np.isfinite(radial(X[:40])).all()


def test_functions_of_graphs_sets_and_records(rng):
    graphs = rings(rng, 6, 5)
    edges = mercer.kernel_function(lambda A, B: np.outer([len(a["edges"]) for a in A], [len(b["edges"]) for b in B]), name="edges")
    sizes = np.array([len(g["edges"]) for g in graphs])
    np.testing.assert_array_equal(edges(graphs), np.outer(sizes, sizes))
    bags = [rng.normal(size=(n, 2)) for n in (1, 4, 2)]
    sums = mercer.feature_map(lambda A: np.array([a.sum(axis=0) for a in A]), name="sums")
    np.testing.assert_allclose(sums(bags), BagOf("linear")(bags), atol=1e-12)
    frame = pd.DataFrame({"name": ["ab", "b", "abc"], "age": [1.0, 2.0, 4.0]})

    def record(a, b):
        assert isinstance(a, tuple)
        return len(a[0]) * len(b[0]) + a[1] * b[1]

    k = mercer.kernel_function(record, name="record", pairwise=True)
    lengths, ages = np.array([2.0, 1, 3]), frame["age"].to_numpy()
    np.testing.assert_array_equal(k(frame), np.outer(lengths, lengths) + np.outer(ages, ages))
    short = mercer.kernel_function(lambda A, B: np.outer(list(map(len, A)), list(map(len, B))), name="short").on("name")
    np.testing.assert_array_equal(short(frame), np.outer(lengths, lengths))
    rows = mercer.kernel_function(lambda A, B: A @ B.T, name="rows").on("age")
    np.testing.assert_array_equal(rows(frame), np.outer(ages, ages))


def test_errors_in_functions_of_objects():
    with pytest.raises(ZeroDivisionError):
        mercer.kernel_function(lambda A, B: 1 / 0, name="broken")(["a", "b"])
    with pytest.raises(ValueError, match="must give a matrix of shape \\(2, 2\\)"):
        mercer.kernel_function(lambda A, B: np.ones(3), name="wrong")(["a", "b"])
