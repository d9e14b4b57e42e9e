"""FalkonRegressor, FalkonClassifier and Nystroem against kernel ridge, scikit-learn and numpy."""
# SPDX-License-Identifier: BSD-3-Clause
import pickle

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem as ScikitNystroem
from sklearn.linear_model import Ridge as ScikitRidge
from sklearn.metrics.pairwise import rbf_kernel

import mercer


@pytest.fixture(scope="module")
def data():
    rng = np.random.RandomState(0)
    X = rng.randn(1500, 4)
    y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.randn(1500)
    return X, y


def test_all_rows_as_landmarks_is_kernel_ridge(data):
    X, y = data[0][:200], data[1][:200]
    exact = mercer.KernelRidge(kernel="rbf", gamma=0.3, alpha=0.5, fit_intercept=True).fit(X, y)
    for solver in ("one-pass", "cg"):
        model = mercer.FalkonRegressor("rbf", 0.3, alpha=0.5, fit_intercept=True, solver=solver, tol=1e-10).fit(X, y)
        np.testing.assert_allclose(model.predict(data[0][200:300]), exact.predict(data[0][200:300]), rtol=0, atol=1e-6)
    assert model.n_iter_ > 1 and model.trace_error_ < 1e-9


def test_is_nystroem_and_ridge(data):
    X, y = data
    model = mercer.FalkonRegressor("rbf", 0.3, 100, alpha=2, fit_intercept=True, random_state=3).fit(X, y)
    assert model.landmarks_.shape == (100, 4) and model.dual_coef_.shape == (100,) and isinstance(model.intercept_, float)
    np.testing.assert_array_equal(X[model.landmark_indices_], model.landmarks_)
    K = rbf_kernel(model.landmarks_, gamma=0.3)
    Z = rbf_kernel(X, model.landmarks_, gamma=0.3) @ np.linalg.inv(np.linalg.cholesky(K)).T
    np.testing.assert_allclose(model.predict(X), ScikitRidge(alpha=2).fit(Z, y).predict(Z), rtol=0, atol=1e-6)
    explained = (Z**2).sum()
    assert model.trace_error_ == pytest.approx(1 - explained / len(X), abs=1e-7)
    assert str(model.summary_).startswith("solved: one pass over 1500 rows, 100 landmarks (uniform)")


@pytest.mark.parametrize("landmarks", ["uniform", "kmeans", "rpcholesky", "leverage"])
def test_landmarks(data, landmarks):
    X, y = data
    model = mercer.FalkonRegressor(gamma=0.1, n_landmarks=60, landmarks=landmarks, random_state=1, validation_fraction=0.2).fit(X, y)
    again = mercer.FalkonRegressor(gamma=0.1, n_landmarks=60, landmarks=landmarks, random_state=1, validation_fraction=0.2).fit(X, y)
    np.testing.assert_array_equal(model.dual_coef_, again.dual_coef_)
    assert model.score(X, y) > 0.95 and model.summary_.validation_r2 > 0.95
    given = mercer.FalkonRegressor(gamma=0.1, landmarks=model.landmarks_).fit(X, y)
    np.testing.assert_array_equal(given.landmarks_, model.landmarks_)
    assert given.landmark_indices_ is None


def test_targets_weights_sparse_float32(data):
    X, y = data
    Y = np.stack([y, -2 * y], 1)
    both = mercer.FalkonRegressor(gamma=0.2, n_landmarks=80, random_state=0).fit(X, Y)
    np.testing.assert_allclose(both.predict(X)[:, 1], -2 * both.predict(X)[:, 0], atol=1e-6)
    sparse = mercer.FalkonRegressor(gamma=0.2, n_landmarks=80, random_state=0).fit(sp.csr_array(X), Y)
    np.testing.assert_allclose(sparse.predict(X), both.predict(X), atol=1e-6)
    single = mercer.FalkonRegressor(gamma=0.2, n_landmarks=80, random_state=0, precision="float32").fit(X.astype(np.float32), Y)
    np.testing.assert_allclose(single.predict(X.astype(np.float32)), both.predict(X), atol=2e-3)
    w = np.r_[np.ones(750), np.zeros(750)]
    half = mercer.FalkonRegressor(gamma=0.2, landmarks=X[:80]).fit(X, y, sample_weight=w)
    alone = mercer.FalkonRegressor(gamma=0.2, landmarks=X[:80]).fit(X[:750], y[:750])
    np.testing.assert_allclose(half.predict(X), alone.predict(X), atol=1e-6)


def test_precomputed(data):
    X, y = data[0][:300], data[1][:300]
    rows = mercer.FalkonRegressor(gamma=0.2, n_landmarks=50, random_state=0).fit(X, y)
    given = mercer.FalkonRegressor("precomputed", n_landmarks=50, random_state=0).fit(rbf_kernel(X, gamma=0.2), y)
    new = data[0][300:350]
    np.testing.assert_allclose(given.predict(rbf_kernel(new, X, gamma=0.2)), rows.predict(new), atol=1e-7)
    np.testing.assert_array_equal(given.landmark_indices_, rows.landmark_indices_)


def test_classifier(tmp_path):
    X, y = mercer.datasets.moons(800, random_state=0)
    labels = np.array(["no", "yes"])[y]
    model = mercer.FalkonClassifier(gamma=2, n_landmarks=100, alpha=0.1, random_state=0).fit(X[:600], labels[:600])
    assert list(model.classes_) == ["no", "yes"]
    score = model.decision_function(X[600:])
    assert score.shape == (200,)
    np.testing.assert_array_equal(model.predict(X[600:]) == "yes", score > 0)
    assert model.score(X[600:], labels[600:]) > 0.9
    three = np.digitize(X[:, 0], [0, 1])
    multi = mercer.FalkonClassifier(gamma=2, n_landmarks=100, random_state=0).fit(X, three)
    assert multi.decision_function(X).shape == (800, 3) and multi.dual_coef_.shape == (100, 3)
    assert multi.score(X, three) > 0.95
    mercer.save(model, tmp_path / "c.mercer")
    loaded = mercer.load(tmp_path / "c.mercer")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="one class: "):
        mercer.FalkonClassifier().fit(X, np.zeros(800))


def write_csv(path, X, y, header="a,b,c,d,y"):
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header=header, comments="", fmt="%.17g")


def test_fit_file_is_fit(data, tmp_path):
    X, y = data
    write_csv(tmp_path / "big.csv", X, y)
    parameters = dict(kernel="gaussian(1.5)", n_landmarks=70, random_state=2)
    whole = mercer.FalkonRegressor(**parameters).fit(X, y)
    parts = mercer.FalkonRegressor(**parameters, memory="2M").fit_file(tmp_path / "big.csv", target="y")
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(parts.landmarks_, whole.landmarks_)
    assert list(parts.feature_names_in_) == ["a", "b", "c", "d"] and parts.n_features_in_ == 4
    assert any("read in parts of" in note for note in parts.notes_)
    np.save(tmp_path / "big.npy", np.column_stack([X, y]))
    by_npy = mercer.FalkonRegressor(**parameters).fit_file(tmp_path / "big.npy")
    np.testing.assert_allclose(by_npy.predict(X), whole.predict(X), rtol=0, atol=1e-6)
    write_csv(tmp_path / "classes.csv", X, y > 0)
    classifier = mercer.FalkonClassifier(**parameters).fit_file(tmp_path / "classes.csv", target="y")
    np.testing.assert_array_equal(classifier.classes_, [0, 1])
    np.testing.assert_array_equal(classifier.predict(X), mercer.FalkonClassifier(**parameters).fit(X, (y > 0).astype(int)).predict(X))
    with pytest.raises(FileNotFoundError, match="no such file"):
        mercer.FalkonRegressor().fit_file(tmp_path / "none.csv")


def test_fit_file_takes_what_fit_takes(data, tmp_path):
    X, y = data
    parameters = dict(n_landmarks=50, random_state=2)
    whole = mercer.FalkonRegressor(**parameters).fit(X, y)  # gamma=None is 1 / n_features
    np.save(tmp_path / "big.npy", np.column_stack([y, X]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for target in (0, np.int64(0), "x1"):
            by_position = mercer.FalkonRegressor(**parameters).fit_file(tmp_path / "big.npy", target)
            np.testing.assert_allclose(by_position.predict(X), whole.predict(X), rtol=0, atol=1e-6)
    assert str(by_position.kernel_) == str(whole.kernel_)
    assert not hasattr(by_position, "feature_names_in_")  # the file has none
    narrow = mercer.FalkonRegressor(**parameters).fit_file(tmp_path / "big.npy", 0, drop=[1])
    assert narrow.n_features_in_ == 3 and narrow.kernel_ == mercer.FalkonRegressor(**parameters).fit(X[:, 1:], y).kernel_


def test_fit_file_names_what_is_wrong(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("a,b,y\n1,red,1\n2,blue,2\n3,red,3\n")
    model = mercer.FalkonRegressor()
    for wrong in (1.5, -1, True, ["y"]):
        with pytest.raises(ValueError, match="target must be the name of a column or its position"):
            model.fit_file(path, wrong)
    with pytest.raises(ValueError, match="drop must be a list"):
        model.fit_file(path, "y", drop="b")
    with pytest.raises(ValueError, match="sample_weight must be the name of a column"):
        model.fit_file(path, "y", sample_weight=[1, 2, 3])
    with pytest.raises(mercer.FileError, match=r"leave it out with drop=\['b'\]") as text:
        model.fit_file(path, "y")
    path.write_text("a,b,y\n1,4,1\n2,,2\n3,5,3\n")
    with pytest.raises(mercer.FileError, match="fill it in, or remove the row") as gap:
        model.fit_file(path, "y")
    assert "--" not in str(text.value) and "--" not in str(gap.value)
    assert model.fit_file(path, "y", drop=["b"]).n_features_in_ == 1


def test_files_and_pickles(data, tmp_path):
    X, y = data
    model = mercer.FalkonRegressor(gamma=0.2, n_landmarks=40, random_state=0, fit_intercept=True).fit(X, y)
    mercer.save(model, tmp_path / "m.mercer")
    for other in (mercer.load(tmp_path / "m.mercer"), pickle.loads(pickle.dumps(model))):
        assert isinstance(other, mercer.FalkonRegressor)
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        np.testing.assert_array_equal(other.landmark_indices_, model.landmark_indices_)
        assert str(other.summary_) == str(model.summary_) and other.n_landmarks == model.n_landmarks
    assert mercer.info(tmp_path / "m.mercer")["kind"] == "falkon"


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"alpha": -1}, "alpha must be"),
        ({"n_landmarks": 0}, "n_landmarks must be a whole number >= 1, got 0"),
        ({"n_landmarks": 2.5}, "n_landmarks must be"),
        ({"landmarks": "best"}, "landmarks must be"),
        ({"landmarks": np.ones((3, 2))}, "landmarks has 2 columns, X has 4"),
        ({"solver": "magic"}, "solver must be"),
        ({"precision": "half"}, "precision must be"),
        ({"tol": 0.0}, "tolerance must be"),
        ({"validation_fraction": 1.0}, "validation must be"),
        ({"kernel": "sigmoid", "gamma": 1.0, "coef0": -1.0}, "not positive semi-definite"),
        ({"random_state": -3}, "random_state must be"),
    ],
)
def test_misuse_is_named(data, parameters, words):
    with pytest.raises(ValueError, match=words):
        mercer.FalkonRegressor(**parameters).fit(data[0][:100], data[1][:100])


def test_before_fit():
    fresh = mercer.FalkonRegressor()
    with pytest.raises(NotFittedError):
        fresh.predict([[1.0]])
    for name in ("landmarks_", "dual_coef_", "summary_", "trace_error_", "n_iter_", "intercept_"):
        assert not hasattr(fresh, name)
    with pytest.raises(MemoryError, match="fewer landmarks"):
        mercer.FalkonRegressor(memory=1000).fit(np.eye(5), np.ones(5))


class TestNystroem:
    @pytest.mark.parametrize("parameters", [{}, {"gamma": 0.3}, {"kernel": "poly", "degree": 2, "coef0": 0.5, "gamma": 0.1}, {"kernel": "laplacian"}])
    def test_is_the_twin(self, data, parameters):
        X = data[0][:400]
        ours = mercer.Nystroem(**parameters, n_components=30, random_state=5).fit(X)
        twin = ScikitNystroem(**parameters, n_components=30, random_state=5).fit(X)
        np.testing.assert_array_equal(ours.component_indices_, twin.component_indices_)
        np.testing.assert_array_equal(ours.components_, twin.components_)
        new = data[0][400:700]
        A, B = ours.transform(new), twin.transform(new)
        # A polynomial of degree 2 in 4 columns has rank 15: there the twin's features beyond it are noise over 1e-6.
        np.testing.assert_allclose(A @ A.T, B @ B.T, rtol=0, atol=1e-6 * abs(B @ B.T).max())
        if parameters.get("kernel") != "poly":
            np.testing.assert_allclose(A, B, rtol=0, atol=1e-8)
            np.testing.assert_allclose(ours.normalization_, twin.normalization_, rtol=0, atol=1e-8)
        np.testing.assert_array_equal(ours.get_feature_names_out(), twin.get_feature_names_out())

    def test_precision_and_sparse(self, data):
        X = data[0]
        exact = mercer.Nystroem(gamma=0.5, n_components=50, random_state=0).fit(X)
        Z = exact.transform(X)
        single = mercer.Nystroem(gamma=0.5, n_components=50, random_state=0).fit(X.astype(np.float32)).transform(X.astype(np.float32))
        assert single.dtype == np.float32 and Z.dtype == np.float64
        np.testing.assert_allclose(single, Z, atol=1e-3)
        quick = mercer.Nystroem(gamma=0.5, n_components=50, random_state=0, precision="float32").fit(X).transform(X)
        assert quick.dtype == np.float64
        np.testing.assert_allclose(quick, Z, atol=1e-3)
        sparse = mercer.Nystroem(gamma=0.5, n_components=50, random_state=0).fit(sp.csr_array(X))
        np.testing.assert_allclose(sparse.transform(sp.csr_array(X)), Z, atol=1e-8)
        restored = pickle.loads(pickle.dumps(exact))
        np.testing.assert_array_equal(restored.transform(X), Z)

    def test_landmarks_and_precomputed(self, data):
        X = data[0][:300]
        for landmarks in ("kmeans", "rpcholesky", "leverage"):
            assert mercer.Nystroem(gamma=0.2, n_components=20, landmarks=landmarks, random_state=0).fit_transform(X).shape == (300, 20)
        given = mercer.Nystroem(gamma=0.2, landmarks=X[:7]).fit(X)
        np.testing.assert_array_equal(given.components_, X[:7])
        K = rbf_kernel(X, gamma=0.2)
        pre = mercer.Nystroem("precomputed", n_components=40, random_state=0).fit(K)
        Z = pre.transform(K)
        C = K[:, pre.component_indices_]
        np.testing.assert_allclose(Z @ Z.T, C @ np.linalg.solve(C[pre.component_indices_], C.T), atol=1e-6)

    def test_misuse(self, data):
        X = data[0][:20]
        with pytest.warns(UserWarning, match="n_components > n_samples"):
            assert mercer.Nystroem(n_components=50).fit_transform(X).shape == (20, 20)
        for parameters, words in [({"n_components": 0}, "n_components must be"), ({"landmarks": np.ones((2, 9))}, "landmarks has 9 columns")]:
            with pytest.raises(ValueError, match=words):
                mercer.Nystroem(**parameters).fit(X)
