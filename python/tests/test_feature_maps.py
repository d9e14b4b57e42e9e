"""Feature maps as transformers: against their kernels, scikit-learn's twins and closed forms; in files and pickles."""
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_approximation import AdditiveChi2Sampler as ScikitAdditiveChi2, PolynomialCountSketch
from sklearn.preprocessing import PolynomialFeatures

import mercer
from mercer import AdditiveChi2Sampler, EmpiricalKernelMap, MercerMap, Monomials, Nystroem, RandomFourierFeatures, TensorSketch


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(5).normal(size=(120, 4))


class TestMonomials:
    @pytest.mark.parametrize("degree", [1, 2, 3, (2, 3), (0, 4)])
    @pytest.mark.parametrize("include_bias", [True, False])
    def test_plain_is_scikit_learns(self, X, degree, include_bias):
        ours = Monomials(degree, include_bias=include_bias).fit(X)
        twin = PolynomialFeatures(degree, include_bias=include_bias or isinstance(degree, tuple) and degree[0] == 0).fit(X)
        if isinstance(degree, tuple) and degree[0] > 0:
            twin = PolynomialFeatures(degree, include_bias=False).fit(X)
        np.testing.assert_allclose(ours.transform(X), twin.transform(X), rtol=1e-13)
        assert ours.get_feature_names_out().tolist() == twin.get_feature_names_out().tolist()
        np.testing.assert_array_equal(ours.powers_, twin.powers_)
        assert ours.n_output_features_ == twin.n_output_features_
        np.testing.assert_allclose(ours.transform(sp.csr_array(X)), twin.transform(X), rtol=1e-13)

    @pytest.mark.parametrize("degree", [1, 2, 4])
    def test_weightings_have_their_kernels(self, X, degree):
        G = X @ X.T
        by_sqrt = Monomials(degree, weighting="sqrt").fit_transform(X)
        np.testing.assert_allclose(by_sqrt @ by_sqrt.T, G**degree, atol=1e-11 * abs(G**degree).max())
        wanted = sum(G**r for r in range(degree + 1))
        for features in (Monomials(degree, weighting="ordered"), Monomials((0, degree), weighting="sqrt")):
            Z = features.fit_transform(X)
            np.testing.assert_allclose(Z @ Z.T, wanted, atol=1e-11 * abs(wanted).max())
        # The map of K 3.1: <x, y> + <x, y>^2.
        Z = Monomials(2, weighting="ordered", include_bias=False).fit_transform(X)
        np.testing.assert_allclose(Z @ Z.T, G + G**2, atol=1e-12 * abs(G).max() ** 2)

    def test_names_and_limits(self, X):
        assert Monomials(2, weighting="ordered").fit(X[:, :2]).get_feature_names_out(["a", "b"]).tolist() == ["1", "a", "b", "a a", "a b", "b a", "b b"]
        with pytest.raises(ValueError, match=r"5.00002e\+11 monomials of degree 0 to 2 of 1000000 columns need .* TensorSketch"):
            Monomials(2).fit(sp.csr_array((3, 1000000)))
        for bad in ({"degree": 0}, {"degree": (3, 2)}, {"degree": 1.5}, {"weighting": "heavy"}, {"degree": (0, 0)}):
            with pytest.raises(ValueError, match="degree|weighting"):
                Monomials(**bad).fit(X)
        with pytest.raises(ValueError, match="scale the columns"):
            Monomials(2).fit_transform([[1e200]])


def test_user_map_as_a_kernel(X):
    """x -> (x, |x|^2), whose kernel is <x, y> + |x|^2 |y|^2, and a transformer of ours as a map."""
    lifted = mercer.feature_map(lambda A: np.column_stack([A, (A**2).sum(axis=1)]), name="lifted")
    norms = (X**2).sum(axis=1)
    np.testing.assert_allclose(mercer.gram(X, kernel=lifted), X @ X.T + np.outer(norms, norms), rtol=1e-12)
    cubes = Monomials(3, weighting="sqrt").fit(X)
    np.testing.assert_allclose(mercer.gram(X, kernel=mercer.feature_map(cubes.transform, name="cubes")), mercer.gram(X, kernel="polynomial(3, 1, 0)"), atol=1e-10)
    # The disc in its ring is separated by a plane of the lifted space.
    points, side = mercer.datasets.disc_in_ring(random_state=0)
    assert mercer.SVC(kernel=lifted, C=100).fit(points, side).score(points, side) > 0.98


class TestEmpiricalKernelMap:
    def test_gram_matrices(self, X):
        K = mercer.gram(X, kernel="gaussian(1.5)")
        plain = EmpiricalKernelMap("gaussian(1.5)").fit(X)
        np.testing.assert_array_equal(plain.transform(X), K)
        Z = plain.transform(X)
        np.testing.assert_allclose(Z @ Z.T, K @ K, rtol=1e-12)
        white = EmpiricalKernelMap("gaussian(1.5)", whiten=True).fit(X)
        Z = white.transform(X)
        np.testing.assert_allclose(Z @ Z.T, K, atol=1e-10)
        np.testing.assert_allclose(white.eigenvalues_, np.linalg.eigvalsh(K)[::-1], atol=1e-11)
        assert plain.eigenvalues_ is None and white.transform(X.astype(np.float32)).dtype == np.float32

    def test_points(self, X):
        few = EmpiricalKernelMap("rbf", n_components=10, landmarks="kmeans", random_state=0).fit(X)
        assert few.transform(X).shape == (120, 10) and few.component_indices_ is None
        chosen = EmpiricalKernelMap("rbf", n_components=10, landmarks="rpcholesky", random_state=0).fit(X)
        np.testing.assert_array_equal(X[chosen.component_indices_], chosen.components_)
        given = EmpiricalKernelMap("rbf", gamma=0.3, landmarks=X[:7]).fit(X)
        np.testing.assert_allclose(given.transform(X), mercer.KernelRidge(kernel="rbf", gamma=0.3).fit(X, X[:, 0]).kernel_(X, X[:7]), rtol=1e-13)

    def test_precomputed(self, X):
        K = mercer.gram(X, kernel="gaussian(1)")
        white = EmpiricalKernelMap("precomputed", whiten=True).fit(K[:80, :80])
        own = EmpiricalKernelMap("gaussian(1)", whiten=True).fit(X[:80])
        np.testing.assert_allclose(white.transform(K[80:, :80]), own.transform(X[80:]), atol=1e-9)

    def test_misuse(self, X):
        for bad, what in (
            ({"n_components": 0}, "n_components"),
            ({"landmarks": "best"}, "landmarks must be"),
            ({"landmarks": X[:3, :2]}, "2 columns"),
            ({"kernel": "gaussian(1) + white(1)"}, "white noise"),
            ({"kernel": "sigmoid(1, -3)", "whiten": True}, "not positive semi-definite"),
        ):
            with pytest.raises(ValueError, match=what):
                EmpiricalKernelMap(**bad).fit(X)


class TestMercerMap:
    def test_gaussian_kernel_and_gaussian_measure(self):
        s, length = 0.7, 1.3
        nodes, weights = np.polynomial.hermite_e.hermegauss(60)
        a, b = 1 / (4 * s**2), 1 / (2 * length**2)
        c = np.sqrt(a * a + 2 * a * b)
        A = a + b + c
        mercer_map = MercerMap(6, mercer.kernels.Gaussian(length)).fit(s * nodes[:, None], sample_weight=weights)
        np.testing.assert_allclose(mercer_map.eigenvalues_, np.sqrt(2 * a / A) * (b / A) ** np.arange(6), rtol=1e-10)
        # Orthonormal in the measure, at nodes of another rule than that of fit.
        other, w = np.polynomial.hermite_e.hermegauss(41)
        psi = mercer_map.eigenfunctions(s * other[:, None])
        np.testing.assert_allclose(psi.T @ (w[:, None] / w.sum() * psi), np.eye(6), atol=1e-6)

    def test_brownian_kernel(self):
        brownian = mercer.kernel_function(lambda A, B: np.minimum(A, B.T), name="min")
        n = 600
        grid = (np.arange(n)[:, None] + 0.5) / n
        mercer_map = MercerMap(4, brownian).fit(grid)
        w = (np.arange(4) + 0.5) * np.pi
        np.testing.assert_allclose(mercer_map.eigenvalues_ * w**2, 1, atol=1e-4)
        x = np.linspace(0.02, 0.98, 37)[:, None]
        psi = mercer_map.eigenfunctions(x)
        exact = np.sqrt(2) * np.sin(w * x)
        np.testing.assert_allclose(psi * np.sign((psi * exact).sum(axis=0)), exact, atol=1e-3)

    def test_all_terms_are_the_kernel(self, X):
        Z = MercerMap(1000, "gaussian(1)").fit_transform(X)
        np.testing.assert_allclose(Z @ Z.T, mercer.gram(X, kernel="gaussian(1)"), atol=1e-9)
        drawn = MercerMap(10, "gaussian(1)", n_points=50, random_state=3).fit(X)
        np.testing.assert_array_equal(X[drawn.component_indices_], drawn.components_)
        with pytest.raises(ValueError, match="at least one non-zero"):
            MercerMap().fit(X, sample_weight=np.zeros(120))


class TestTensorSketch:
    @pytest.mark.parametrize(("degree", "coef0"), [(1, 0), (2, 0), (3, 0.5), (5, 1)])
    @pytest.mark.parametrize("n_components", [64, 100, 33])
    def test_is_scikit_learns_for_the_same_hashes(self, X, degree, coef0, n_components):
        ours = TensorSketch(gamma=0.5, degree=degree, coef0=coef0, n_components=n_components, random_state=1).fit(X)
        twin = PolynomialCountSketch(gamma=0.5, degree=degree, coef0=coef0, n_components=n_components).fit(X)
        assert ours.indexHash_.shape == twin.indexHash_.shape
        twin.indexHash_, twin.bitHash_ = ours.indexHash_, ours.bitHash_
        expected = twin.transform(X)
        np.testing.assert_allclose(ours.transform(X), expected, atol=1e-12 * abs(expected).max())
        np.testing.assert_allclose(ours.transform(sp.csr_array(X)), expected, atol=1e-12 * abs(expected).max())

    def test_bound_and_kernel(self, X):
        sketch = TensorSketch(degree=2, coef0=1, n_components=2048, random_state=2).fit(X)
        Z, K = sketch.transform(X), mercer.gram(X, kernel=sketch.kernel_)
        np.testing.assert_allclose(K, (X @ X.T + 1) ** 2, rtol=1e-12)
        unit = np.sqrt(np.outer(K.diagonal(), K.diagonal()))
        assert np.mean(abs(Z @ Z.T - K) > sketch.error_bound(0.95) * unit) < 0.05
        assert sketch.error_bound(0.95) == pytest.approx(np.sqrt(11 / (2048 * 0.05)))

    def test_misuse(self, X):
        for bad in ({"degree": 0}, {"degree": 1.5}, {"gamma": -1}, {"coef0": -1}, {"coef0": "a"}, {"n_components": 0}):
            with pytest.raises(ValueError, match=f"{next(iter(bad))}|scale|offset"):
                TensorSketch(**bad).fit(X)


@pytest.mark.parametrize(("steps", "interval"), [(1, None), (2, None), (3, None), (2, 0.3), (5, 0.25)])
def test_additive_chi2_is_scikit_learns(X, steps, interval):
    H = abs(X)
    H[H < 0.4] = 0
    ours, twin = (make(sample_steps=steps, sample_interval=interval).fit(H) for make in (AdditiveChi2Sampler, ScikitAdditiveChi2))
    np.testing.assert_allclose(ours.transform(H), twin.transform(H), atol=1e-14)
    sparse = ours.transform(sp.csr_array(H))
    assert sp.issparse(sparse)
    np.testing.assert_allclose(sparse.toarray(), twin.transform(H), atol=1e-14)
    assert ours.get_feature_names_out().tolist() == twin.get_feature_names_out().tolist()
    for bad in ({"sample_steps": 4}, {"sample_steps": 0}, {"sample_interval": -1.0}):
        with pytest.raises(ValueError, match=next(iter(bad)) + "|sample_interval"):
            AdditiveChi2Sampler(**bad).fit(H)


def test_additive_chi2_keeps_float32(X):
    H = abs(X)
    H[H < 0.4] = 0
    ours, single = AdditiveChi2Sampler().fit(H), H.astype(np.float32)
    expected = ours.transform(H)
    assert expected.dtype == ours.transform(sp.csr_array(H)).dtype == np.float64
    assert ours.__sklearn_tags__().transformer_tags.preserves_dtype == ["float64", "float32"]
    for rows in (single, sp.csr_array(single), sp.csr_array(single.shape, dtype=np.float32)):
        made = ours.transform(rows)
        assert made.dtype == np.float32 and made.shape == expected.shape
    np.testing.assert_allclose(ours.transform(single), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ours.transform(sp.csr_array(single)).toarray(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
@pytest.mark.parametrize(
    "make",
    [
        lambda P: MercerMap(5, "gaussian(2)").fit(P),
        lambda P: EmpiricalKernelMap("gaussian(2)").fit(P),
        lambda P: EmpiricalKernelMap("gaussian(2)", landmarks=P, n_components=P.shape[0]).fit(P),
        lambda P: Nystroem("gaussian(2)", landmarks=P).fit(P),
    ],
    ids=["mercer", "rows", "landmarks", "nystroem"],
)
def test_maps_do_not_follow_an_array_that_changes(X, make, form):
    points = form(X[:20])
    fitted = make(points)
    before = fitted.transform(X)
    (points if isinstance(points, np.ndarray) else points.data)[:] = 7
    np.testing.assert_array_equal(fitted.transform(X), before)


class TestFourierDraws:
    @pytest.mark.parametrize("draw", [{"orthogonal": True}, {"quasi_random": True}])
    def test_auto_of_dependent_frequencies_is_sized_as_of_independent_ones_without_a_bound(self, X, draw):
        features = RandomFourierFeatures("auto", "gaussian(2)", max_error=0.2, random_state=0, **draw).fit(X)
        assert features.n_components_ == RandomFourierFeatures.components_for(0.2, n_samples=120)
        with pytest.raises(ValueError, match="independent"):
            features.hoeffding_bound()

    def test_auto_components_keep_their_promise(self, X):
        features = RandomFourierFeatures("auto", "gaussian(2)", max_error=0.2, random_state=0).fit(X)
        assert features.n_components_ == RandomFourierFeatures.components_for(0.2, n_samples=120) == features.transform(X).shape[1]
        Z = features.transform(X)
        assert abs(Z @ Z.T - mercer.gram(X, kernel="gaussian(2)")).max() < 0.2
        for bad in ({"n_components": "many"}, {"n_components": "auto", "max_error": 0}, {"n_components": "auto", "confidence": 2}):
            with pytest.raises(ValueError, match="n_components|error|confidence"):
                RandomFourierFeatures(**bad).fit(X)

    @pytest.mark.parametrize("draw", [{"orthogonal": True}, {"orthogonal": "structured"}, {"quasi_random": True}], ids=["orthogonal", "structured", "quasi"])
    def test_errors_are_smaller_than_those_of_plain_features(self, X, draw):
        K = mercer.gram(X, kernel="gaussian(2)")

        def error(**how):
            maps = (RandomFourierFeatures(64, "gaussian(2)", random_state=s, **how).fit_transform(X) for s in range(20))
            return np.mean([np.square(Z @ Z.T - K).mean() for Z in maps])

        assert error(**draw) < 0.8 * error()

    def test_misuse(self, X):
        for bad in ({"orthogonal": "very"}, {"orthogonal": True, "quasi_random": True}, {"quasi_random": "yes"}):
            with pytest.raises(ValueError, match="orthogonal|quasi"):
                RandomFourierFeatures(**bad).fit(X)
        with pytest.raises(ValueError, match="quasi-random ones have none"):
            RandomFourierFeatures(quasi_random=True).fit(X).hoeffding_bound()


def test_trace_error_of_nystroem(X):
    K = mercer.gram(X, kernel="gaussian(1)")
    for landmarks in ("uniform", "kmeans", "rpcholesky", "leverage", X[:20]):
        features = Nystroem("gaussian(1)", n_components=20, landmarks=landmarks, random_state=0).fit(X)
        Z = features.transform(X)
        wanted = 1 - np.square(Z).sum() / np.trace(K)
        assert features.trace_error_ == pytest.approx(wanted, abs=1e-10) and features.trace_error(X) == pytest.approx(wanted, abs=1e-10)
    assert Nystroem("gaussian(1)", n_components=120).fit(X).trace_error_ < 1e-9


MAPS = [
    Nystroem("gaussian(1)", n_components=9, random_state=0),
    Nystroem("gaussian(1)", n_components=9, landmarks="rpcholesky", random_state=0),
    RandomFourierFeatures(20, random_state=0),
    RandomFourierFeatures(21, "matern(1.5, 2)", orthogonal=True, random_state=0),
    RandomFourierFeatures(20, orthogonal="structured", random_state=0),
    RandomFourierFeatures(20, quasi_random=True, random_state=0),
    EmpiricalKernelMap("gaussian(1)"),
    EmpiricalKernelMap("gaussian(1)", whiten=True, n_components=9, random_state=0),
    MercerMap(5, "gaussian(1)"),
    TensorSketch(degree=3, coef0=1, random_state=0),
]


@pytest.mark.parametrize("transformer", MAPS, ids=lambda t: repr(t)[:60])
def test_files_and_pickles(transformer, X, tmp_path):
    fitted = transformer.fit(X)
    Z = fitted.transform(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(X), Z)
    mercer.save(fitted, tmp_path / "map.mercer")
    loaded = mercer.load(tmp_path / "map.mercer")
    assert type(loaded) is type(fitted) and loaded.n_features_in_ == 4
    np.testing.assert_array_equal(loaded.transform(X), Z)
    assert list(loaded.get_feature_names_out()) == list(fitted.get_feature_names_out())
    kind = {Nystroem: "nystrom", RandomFourierFeatures: "fourier", TensorSketch: "tensor-sketch"}.get(type(fitted), "kernel-map")
    assert mercer.info(tmp_path / "map.mercer")["kind"] == kind
    refitted = loaded.fit(X)  # parameters that fit takes again
    assert refitted.transform(X).shape == Z.shape


def test_files_of_maps_with_functions_and_names(X, tmp_path):
    pandas = pytest.importorskip("pandas")
    linear = mercer.kernel_function(lambda A, B: A @ B.T, name="dot")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    fitted = EmpiricalKernelMap(linear).fit(frame)
    mercer.save(fitted, tmp_path / "map.mercer")
    loaded = mercer.load(tmp_path / "map.mercer", library={"dot": linear})
    np.testing.assert_allclose(loaded.transform(frame), X @ X.T, rtol=1e-12)
    assert list(loaded.feature_names_in_) == list("abcd")
    with pytest.raises(ValueError, match="Monomials has no model file"):
        mercer.save(Monomials().fit(X), tmp_path / "other.mercer")
