"""Strings, graphs, sets and records in every estimator: the same as on the Gram matrix, found in scikit-learn's tools, and kept in files."""
import pickle
import re
import sys
import types

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_val_score, train_test_split
from sklearn.pipeline import Pipeline

import mercer
from mercer.kernels import BagOf, Gaussian, Linear, Mismatch, Spectrum, Subsequence, WeisfeilerLehman, Words


def texts(rng, n=40):
    """Strings of two laws, one class each: the second prefers "ab"."""
    y = np.arange(n) % 2
    return ["".join(rng.choice(["ab", "c"] if label else ["b", "a", "c"], 8)) for label in y], y


def graphs(rng, n=30):
    """Rings and trees with some labels."""
    y = np.arange(n) % 2
    out = []
    for label in y:
        size = int(rng.integers(4, 8))
        edges = [(i, (i + 1) % size) for i in range(size)] if label else [(i, int(rng.integers(0, i))) for i in range(1, size)]
        out.append({"n": size, "edges": edges, "labels": list(rng.choice(["C", "N"], size))})
    return out, y


def sets(rng, n=30):
    y = np.arange(n) % 2
    return [rng.normal(label, 1, size=(int(rng.integers(3, 9)), 2)) for label in y], y


def records(rng, n=40):
    X, y = texts(rng, n)
    return pd.DataFrame({"seq": X, "age": rng.normal(y, 1), "dose": rng.uniform(size=n)}), y


CASES = {
    "strings": (texts, Spectrum(2)),
    "graphs": (graphs, WeisfeilerLehman(2)),
    "sets": (sets, BagOf(Gaussian(1), "mean").radial("auto")),
    "records": (records, Spectrum(2).on("seq") * Gaussian("auto").on("age", "dose")),
}
ESTIMATORS = [
    mercer.SVC(),
    mercer.SVC(probability=True),
    mercer.NuSVC(nu=0.3),
    mercer.SVR(),
    mercer.NuSVR(),
    mercer.OneClassSVM(nu=0.2),
    mercer.SVCCV(C=[0.1, 1.0, 10.0]),
    mercer.SVRCV(C=[0.1, 1.0]),
    mercer.KernelRidge(alpha=0.1),
    mercer.KernelRidgeCV(alphas=[0.1, 1.0]),
    mercer.GaussianProcessRegressor(alpha=0.1, optimizer=None),
    mercer.KernelLogisticRegression(),
    mercer.RepresenterRegressor("huber", lambda_=0.01),
    mercer.KernelMeanClassifier(),
    mercer.KernelSGDClassifier(iterations=200, random_state=0),
    mercer.FalkonClassifier(n_landmarks=15, random_state=0),
    mercer.FalkonRegressor(n_landmarks=15, random_state=0),
    mercer.KernelKMeans(2, random_state=0),
    mercer.KernelPCA(3),
    mercer.Nystroem(n_components=10, random_state=0),
    mercer.EmpiricalKernelMap(n_components=10, random_state=0),
    mercer.MercerMap(5),
]


def answers(estimator, X):
    for method in ("decision_function", "predict", "transform"):
        if hasattr(estimator, method):
            return np.asarray(getattr(estimator, method)(X))
    raise AssertionError(estimator)


def part(X, which):
    return X.iloc[which] if hasattr(X, "iloc") else [X[i] for i in which]


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_every_estimator_takes_objects(rng, kind, estimator):
    make, k = CASES[kind]
    X, y = make(rng)
    model = clone(estimator).set_params(kernel=k).fit(X, y)
    f = answers(model, X)
    assert np.isfinite(f).all() and model.n_features_in_ == (3 if kind == "records" else 1)
    assert hasattr(model, "feature_names_in_") == (kind == "records")
    some = part(X, range(3, 9))
    np.testing.assert_allclose(answers(model, some), f[3:9], atol=1e-10)
    np.testing.assert_allclose(answers(model, part(X, [4])), f[4:5], atol=1e-10)  # one sample
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(answers(again, some), f[3:9], atol=1e-10)


PRECOMPUTED = [e for e in ESTIMATORS if type(e).__name__ in ("SVC", "SVR", "KernelRidge", "KernelLogisticRegression", "KernelMeanClassifier", "KernelPCA")]


@pytest.mark.parametrize("estimator", PRECOMPUTED, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("kind", ["strings", "graphs"])
def test_the_same_as_on_the_gram_matrix(rng, kind, estimator):
    make, k = CASES[kind]
    X, y = make(rng)
    K = k(X)
    on_objects = answers(clone(estimator).set_params(kernel=k).fit(X[:20], y[:20]), X[20:])
    on_matrix = answers(clone(estimator).set_params(kernel="precomputed").fit(K[:20, :20], y[:20]), K[20:, :20])
    if isinstance(estimator, mercer.KernelPCA):
        on_objects, on_matrix = np.abs(on_objects), np.abs(on_matrix)
    np.testing.assert_allclose(on_objects, on_matrix, atol=1e-6)


@pytest.mark.parametrize("kind", CASES)
def test_files(rng, kind, tmp_path):
    make, k = CASES[kind]
    X, y = make(rng)
    for estimator in (mercer.SVC(kernel=k), mercer.KernelRidge(kernel=k, alpha=0.5)):
        model = estimator.fit(X, y)
        mercer.save(model, tmp_path / "model.mercer")
        again = mercer.load(tmp_path / "model.mercer")
        np.testing.assert_allclose(answers(again, X), answers(model, X), atol=1e-12)
        np.testing.assert_array_equal(again.predict(part(X, [2, 5])), model.predict(part(X, [2, 5])))
        assert again.kernel_ == model.kernel_


def test_files_with_tables_and_functions(rng, tmp_path):
    X, y = ["good day", "bad day", "good", "bad"], [1, 0, 1, 0]
    k = Words({"good": [1.0, 0.0], "bad": [-1.0, 0.0], "day": [0.0, 1.0]}, name="mood")
    model = mercer.SVC(kernel=k).fit(X, y)
    mercer.save(model, tmp_path / "words.mercer")
    np.testing.assert_allclose(mercer.load(tmp_path / "words.mercer", library={"mood": k}).decision_function(X), model.decision_function(X))
    own = mercer.kernel_function(lambda A, B: np.array([[float(a[0] == b[0]) for b in B] for a in A]), name="first")
    model = mercer.SVC(kernel=own).fit(X, y)
    mercer.save(model, tmp_path / "own.mercer")
    np.testing.assert_allclose(mercer.load(tmp_path / "own.mercer", library={"first": own}).decision_function(X), model.decision_function(X))


def sentences(text):
    return text.split(".")


def test_files_with_decompositions(tmp_path):
    X, y = ["a.b", "ab", "c.d", "d"], [0, 0, 1, 1]
    model = mercer.SVC(kernel=mercer.kernels.Convolution(sentences, "spectrum(1)")).fit(X, y)
    mercer.save(model, tmp_path / "parts.mercer")
    again = mercer.load(tmp_path / "parts.mercer", library={"sentences": sentences})
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X))


def test_weights_learned_from_texts_stay(rng):
    X, y = ["to be or not", "to be", "not that", "that is it", "it is to be"], [0, 0, 1, 1, 0]
    model = mercer.KernelRidge(kernel="bag_of_words", alpha=0.1).fit(X, y)
    assert "idf-" in str(model.kernel_)
    K = model.kernel_(X)
    np.testing.assert_allclose(model.predict(X), K @ np.linalg.solve(K + 0.1 * np.eye(5), y), atol=1e-10)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(["to be it"]), model.predict(["to be it"]))


# -- scikit-learn's tools


@pytest.mark.parametrize("form", [list, tuple, np.array, lambda X: np.array(X, dtype=object), pd.Series, lambda X: pd.DataFrame({"s": X})])
def test_searches(rng, form):
    X, y = texts(rng, 60)
    X = form(X)
    scores = cross_val_score(mercer.SVC(kernel="spectrum(2)"), X, y, cv=3)
    assert scores.mean() > 0.8
    grid = GridSearchCV(mercer.SVC(), {"kernel": ["spectrum(1)", Spectrum(2)], "C": [1, 10]}, cv=3).fit(X, y)
    assert grid.best_score_ > 0.8 and len(grid.predict(X)) == 60
    A, B, a, b = train_test_split(X, y, random_state=0)
    model = Pipeline([("map", mercer.Nystroem("spectrum(2)", n_components=20, random_state=0)), ("svc", mercer.LinearSVC())]).fit(A, a)
    assert model.score(B, b) > 0.7
    assert clone(model).fit(A, a).predict(B).shape == b.shape


def test_searches_on_graphs_and_sets(rng):
    for make, k in (CASES["graphs"], CASES["sets"]):
        X, y = make(rng)
        assert cross_val_score(mercer.SVC(kernel=k), X, y, cv=3).mean() > 0.7
        objects = np.empty(len(X), dtype=object)
        objects[:] = X
        np.testing.assert_array_equal(cross_val_predict(mercer.SVC(kernel=k), objects, y, cv=3), cross_val_predict(mercer.SVC(kernel=k), X, y, cv=3))


def test_searches_on_records(rng):
    X, y = records(rng, 60)
    k = CASES["records"][1]
    assert cross_val_score(mercer.SVC(kernel=k), X, y, cv=3).mean() > 0.7
    tuned = mercer.SVCCV(C=[0.1, 1, 10], kernel=[str(k), Spectrum(1).on("seq")], cv=3).fit(X, y)
    assert tuned.cv_results_["mean_test_score"].shape == (6,)


def test_given_gram_matrices_are_split_on_both_sides(rng):
    X, y = texts(rng, 45)
    K = Spectrum(2)(X)
    folds = StratifiedKFold(3)
    for make in (lambda k: mercer.SVC(kernel=k), lambda k: mercer.KernelLogisticRegression(kernel=k), lambda k: mercer.KernelMeanClassifier(k)):
        np.testing.assert_allclose(cross_val_score(make("precomputed"), K, y, cv=folds), cross_val_score(make("spectrum(2)"), X, y, cv=folds), atol=1e-9)
    grid = {"C": [0.1, 1, 10]}
    a, b = GridSearchCV(mercer.SVC(kernel="precomputed"), grid, cv=folds).fit(K, y), GridSearchCV(mercer.SVC(kernel="spectrum(2)"), grid, cv=folds).fit(X, y)
    np.testing.assert_allclose(a.cv_results_["mean_test_score"], b.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(a.predict(K), b.predict(X))


# -- what comes back, and what is refused


def test_attributes_are_objects(rng):
    X, y = texts(rng)
    model = mercer.SVC(kernel="spectrum(2)").fit(X, y)
    assert model.support_vectors_ == [X[i] for i in model.support_]
    assert mercer.KernelRidge(kernel="spectrum(2)").fit(X, y).X_fit_ == X
    assert mercer.KernelPCA(2, kernel="spectrum(2)").fit(X).X_fit_ == X
    assert set(mercer.FalkonRegressor("spectrum(2)", n_landmarks=5).fit(X, y).landmarks_) <= set(X)
    made = mercer.Nystroem("spectrum(2)", n_components=5, random_state=0).fit(X)
    assert made.components_ == [X[i] for i in made.component_indices_]
    some, y = graphs(rng)
    model = mercer.SVC(kernel="weisfeiler_lehman(1)").fit(some, y)
    first = model.support_vectors_[0]
    assert first == {key: some[model.support_[0]][key] for key in first} and first["labels"]
    bags, y = sets(rng)
    np.testing.assert_array_equal(mercer.KernelRidge(kernel="bag_of").fit(bags, y).X_fit_[2], bags[2])
    frame, y = records(rng)
    kept = mercer.SVC(kernel='spectrum(2).on("seq")').fit(frame, y)
    assert kept.support_vectors_[0] == tuple(frame.iloc[kept.support_[0]])
    f = mercer.RKHSFunction(kept.kernel_, kept.support_vectors_, kept.dual_coef_[0])  # records come back as they were
    np.testing.assert_allclose(f(frame) + kept.intercept_[0], kept.decision_function(frame), atol=1e-10)


def test_given_landmarks(rng):
    X, y = texts(rng)
    few = X[:10]
    a = mercer.Nystroem("spectrum(2)", landmarks=few).fit(X).transform(X)
    b = mercer.FalkonRegressor("spectrum(2)", landmarks=few).fit(X, y).predict(X)
    c = mercer.KernelPCA(2, kernel="spectrum(2)", eigen_solver="lowrank", landmarks=few).fit_transform(X)
    assert a.shape[0] == c.shape[0] == len(b) == len(X) and np.isfinite(a).all() and a.dtype == c.dtype == np.float64
    with pytest.raises(ValueError, match="X holds strings, but landmarks holds numbers"):
        mercer.Nystroem("spectrum(2)", landmarks=np.ones((3, 1))).fit(X)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mercer.SVC(), "'rbf' looks at numbers, but X holds strings: use kernel=\"spectrum\\(3\\)\""),
        (lambda: mercer.KernelRidge(), "'linear' looks at numbers, but X holds strings"),
        (lambda: mercer.GaussianProcessRegressor(), "the default kernel looks at numbers, but X holds strings"),
        (lambda: mercer.SVC(kernel="precomputed"), "'precomputed' looks at a matrix of kernel values, but X holds strings"),
        (lambda: mercer.SVC(kernel="gaussian(1)"), r"gaussian\(1\) looks at numbers, but these samples are strings: take a kernel of strings"),
        (lambda: mercer.SVC(kernel="weisfeiler_lehman"), "looks at graphs, but these samples are strings"),
        (lambda: mercer.SVC(kernel=Spectrum(2).on("seq")), "names columns, but X has no column names"),
        (lambda: mercer.SVCCV(), "'rbf' looks at numbers"),
        (lambda: mercer.Ridge(), "Ridge looks at numbers, but X holds strings"),
        (lambda: mercer.LinearSVC(), "LinearSVC looks at numbers, but X holds strings"),
        (lambda: mercer.RandomFeatureRidge(), "RandomFeatureRidge looks at numbers"),
        (lambda: mercer.PCA(), "PCA looks at numbers"),
        (lambda: mercer.RandomFourierFeatures(), "RandomFourierFeatures looks at numbers"),
        (lambda: mercer.Monomials(), "Monomials looks at numbers"),
        (lambda: mercer.TensorSketch(), "TensorSketch looks at numbers"),
        (lambda: mercer.KernelPCA(kernel="spectrum(2)", fit_inverse_transform=True), "learns rows of numbers, but X holds strings"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_refusals(rng, make, message):
    X, y = texts(rng)
    with pytest.raises(ValueError, match=message):
        make().fit(X, y)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (["ab", None], "X has a missing value in row 1"),
        (["ab", 3], "X holds strings, but row 1 is int 3"),
        (["ab", "\ud800"], "string 1 .* is no text that UTF-8 can hold"),
        ([{"n": 2, "edges": [(0, 2)]}] * 2, "edge between nodes 0 and 2, but its 2 nodes are numbered from 0"),
        ([{"n": 2, "edges": [(0, 1)], "labels": ["a"]}] * 2, "1 labels for 2 nodes"),
        ([{"n": 2, "edges": [(0, 1)], "edge_labels": []}, {"n": 2, "edges": [0, 1]}], '"edges" of graph 1 of X must be pairs of nodes'),
        ([{"n": 2, "edges": [(0.5, 1)]}] * 2, '"edges" of graph 0 of X must be pairs'),
        ([{"edges": [(0, 1)]}] * 2, 'graph 0 of X has no "n"'),
        ([{"n": 2, "edge": []}] * 2, "has the key 'edge'"),
        ([{"n": "2", "edges": []}] * 2, '"n" of graph 0 of X must be a whole number'),
        ([np.ones((2, 2)), np.ones((2, 3))], "set 1 of X must have rows of 2 numbers, as those before it"),
        ([np.ones((2, 2)), np.full((2, 2), np.nan)], "set 1 of X has a NaN"),
        ([["a", 1.0], ["b"]], "a set of X holds strings, but row 1 is float 1.0"),
        ([{1, 2}, {3}], "the sets of X must hold rows of numbers, strings or graphs"),
        (pd.DataFrame({"a": ["x", None], "b": [1.0, 2.0]}), "column 'a' of X has a missing value in row 1"),
        (pd.DataFrame({"a": ["x", "y"], "b": [1.0, np.inf]}), "column 'b' of X has a infinite value in row 1|an infinite"),
    ],
)
def test_wrong_objects(X, message):
    with pytest.raises(ValueError, match=message):
        mercer.SVC(kernel=Spectrum(2).on("a") if hasattr(X, "columns") else "spectrum(2)").fit(X, [0, 1])
    with pytest.raises(ValueError, match=message):
        Spectrum(2)(X)


def test_new_samples_must_be_like_the_old(rng):
    X, y = texts(rng)
    model = mercer.SVC(kernel="spectrum(2)").fit(X, y)
    with pytest.raises(ValueError, match="X holds numbers, but this SVC was fitted on strings"):
        model.predict([[1.0]])
    with pytest.raises(ValueError, match="X holds graphs, but this SVC was fitted on strings"):
        model.predict([{"n": 1, "edges": []}])
    with pytest.raises(ValueError, match="X holds strings, but this SVC was fitted on numbers"):
        mercer.SVC().fit(np.eye(2), [0, 1]).predict(["a"])
    frame, y = records(rng)
    model = mercer.KernelRidge(kernel=CASES["records"][1]).fit(frame, y)
    with pytest.raises(ValueError, match="feature names should match|feature names must be in the same order"):
        model.predict(frame[["age", "seq", "dose"]])
    with pytest.raises(ValueError, match="Found input variables with inconsistent numbers of samples"):
        mercer.SVC(kernel="spectrum(2)").fit(X, y[:-1])
    with pytest.raises(ValueError, match="requires y to be passed"):
        mercer.SVC(kernel="spectrum(2)").fit(X, None)
    numbers = mercer.SVC(kernel="gaussian(1)").fit(np.eye(2), [0, 1])
    assert "_kinds_in" not in numbers.fit(np.eye(2), [0, 1]).__dict__
    refitted = clone(mercer.SVC(kernel=Spectrum(2))).fit(X, y)
    refitted.set_params(kernel="rbf").fit(np.eye(2), [0, 1]).predict(np.eye(2))


def test_sets_of_another_width(rng):
    bags, y = sets(rng)
    model = mercer.SVC(kernel="bag_of(gaussian(1), mean)").fit(bags, y)
    with pytest.raises(ValueError, match="columns"):
        model.predict([np.ones((2, 3))])
    with pytest.raises(ValueError, match="numbers"):
        model.predict([["a", "token"]])


def test_text_that_reads_as_numbers_is_numbers_as_ever():
    rows = [["1.5", "2"], ["3", "4"], ["0", "1"]]
    np.testing.assert_array_equal(mercer.SVC().fit(rows, [0, 1, 0]).support_vectors_[:1], [[1.5, 2.0]])
    assert mercer.SVC(kernel="bag_of(spectrum(1))").fit(rows, [0, 1, 0]).n_features_in_ == 1
    assert mercer.Ridge().fit(rows, [0, 1, 0]).n_features_in_ == 2
    with pytest.raises(ValueError, match="could not convert string to float"):
        mercer.SVC().fit(np.array([["a", "b"], ["c", "d"]]), [0, 1])
    with pytest.raises(ValueError, match="[Rr]eshape your data|2D array"):
        mercer.SVC().fit([1.0, 2.0], [0, 1])


def test_string_kernels_on_numbers(rng):
    with pytest.raises(ValueError, match=r"spectrum\(3\) looks at strings, but these samples have 4 columns of numbers"):
        mercer.SVC(kernel="spectrum(3)").fit(rng.normal(size=(6, 4)), [0, 1] * 3)


def test_sample_weight_and_multi_output(rng):
    X, y = texts(rng)
    w = rng.uniform(0.5, 1, len(y))
    a = mercer.KernelRidge(kernel="spectrum(2)").fit(X, np.column_stack([y, -y]), sample_weight=w).predict(X)
    np.testing.assert_allclose(a[:, 0], -a[:, 1], atol=1e-10)
    assert mercer.SVC(kernel="spectrum(2)", class_weight="balanced").fit(X, y, sample_weight=w).score(X, y) > 0.7


def test_clusters(rng):
    X, y = texts(rng, 60)
    labels = mercer.SpectralClustering(2, affinity="spectrum(2)", random_state=0).fit_predict(X)
    assert max((labels == y).mean(), (labels != y).mean()) > 0.75
    with pytest.raises(ValueError, match="'nearest_neighbors' looks at numbers, but X holds strings: use affinity="):
        mercer.SpectralClustering(2).fit(X)
    assert mercer.silhouette_samples(X, labels, kernel="spectrum(2)").shape == (60,)
    assert mercer.choose_k(X, (2, 4), kernel=Spectrum(2), n_references=0, random_state=0).k >= 2
    model = mercer.KernelKMeans(2, kernel="spectrum(2)", random_state=0).fit(X)
    assert model.score(X) <= 0


def test_gaussian_processes(rng):
    X, y = texts(rng)
    process = mercer.GaussianProcessRegressor(Spectrum(2).radial(1.0), alpha=0.1)
    mean, deviation = process.predict(X, return_std=True)  # of the prior
    np.testing.assert_allclose(deviation, 1)
    process.fit(X, y.astype(float))
    assert process.kernel_.parameters[0][0] == "radial.length_scale" and process.X_train_ == X
    assert process.sample_y(X[:3], 2, random_state=0).shape == (3, 2)
    learned = mercer.learn_kernel(X, y.astype(float), 1.0 * Spectrum(2).radial(1.0))
    assert learned.value <= learned.start_value


def test_networkx_graphs(rng, monkeypatch):
    """Any class that networkx would have: the package itself is not needed."""

    class Graph:
        def __init__(self, nodes, edges, directed=False):
            self._nodes, self._edges, self._directed = nodes, edges, directed

        def is_directed(self):
            return self._directed

        class _View(dict):
            def __call__(self, data=False):
                return list(self.items()) if data else list(self)

        @property
        def nodes(self):
            return self._View(self._nodes)

        def edges(self, data=False):
            return [(u, v, d) for u, v, d in self._edges] if data else [(u, v) for u, v, _ in self._edges]

    monkeypatch.setitem(sys.modules, "networkx", types.SimpleNamespace(Graph=Graph))
    G = Graph({"x": {"label": "C"}, "y": {"label": "O"}}, [("x", "y", {"label": 2})])
    same = {"n": 2, "edges": [(0, 1)], "labels": ["C", "O"], "edge_labels": ["2"]}
    k = WeisfeilerLehman(2, normalized=False)
    np.testing.assert_array_equal(k([G, same]), np.full((2, 2), k([same])[0, 0]))
    plain = Graph({0: {}, 1: {"label": "C"}}, [(0, 1, {})])
    np.testing.assert_array_equal(k([plain], [{"n": 2, "edges": [(0, 1)]}]), k([{"n": 2, "edges": [(1, 0)]}]))
    with pytest.raises(ValueError, match="graph 0 of X has directions"):
        k([Graph({0: {}}, [], directed=True)])


def test_objects_behave_like_rows(rng):
    X, _ = texts(rng, 6)
    objects = mercer._data.rows(X)
    assert objects.shape == (6, 1) and objects.ndim == 2 and len(objects) == 6 and objects[1] == X[1] and objects[-1] == X[-1]
    assert objects[[1, 3]].tolist() == [X[1], X[3]] and objects[2:4].tolist() == X[2:4] and objects[np.arange(6) % 2 == 0].tolist() == X[::2]
    assert list(objects) == X and np.asarray(objects).tolist() == X and repr(objects) == "Objects(strings, 6 of them)"
    assert pickle.loads(pickle.dumps(objects)).tolist() == X and objects.copy() is objects
    frame, _ = records(rng, 6)
    mixed = mercer._data.rows(frame)
    assert mixed.kinds == ["strings", "numbers", "numbers"] and mixed[0] == tuple(frame.iloc[0]) and mixed.names == list(frame.columns)
    again = pickle.loads(pickle.dumps(mixed))
    assert again.tolist() == mixed.tolist() and again.names == mixed.names


def test_other_kernels_of_strings_find_the_classes(rng):
    X, y = texts(rng, 60)
    for k in (Mismatch(3, 1), Subsequence(2), Spectrum(1) + Spectrum(2), Spectrum(2).radial("auto"), 2 * Spectrum(2) ** 2):
        assert cross_val_score(mercer.SVC(kernel=k), X, y, cv=3).mean() > 0.7, k


def test_distribution_regression(rng):
    """The variance of a normal law, from samples of it."""
    spread = rng.uniform(0.5, 2, 60)
    X = [rng.normal(0, s, size=(200, 1)) for s in spread]
    model = mercer.KernelRidge(kernel=BagOf(Gaussian(1), "mean").radial("auto"), alpha=1e-3).fit(X[:40], spread[:40])
    assert model.score(X[40:], spread[40:]) > 0.9
    flat = mercer.KernelRidge(kernel=BagOf(Linear(), "mean"), alpha=1e-3).fit(X[:40], spread[:40])
    assert flat.score(X[40:], spread[40:]) < 0.5  # means alone do not tell


@pytest.mark.parametrize(
    ("X", "says"),
    [
        ("ACGT", "X is one string, 'ACGT': put it in a list"),
        ([b"acgt"], "X holds bytes: decode them"),
        (np.array([b"acgt"]), "X holds bytes: decode them"),
        ({"ab", "cd"}, "X is a set, which has no order"),
        (iter(["ab"]), "has no order to count its samples in: make it a list"),
        ([], "X is empty"),
        ({"n": 1, "edges": []}, "X is one dictionary: put a graph in a list"),
    ],
)
def test_what_is_no_list_of_strings_is_named(X, says):
    fitted = mercer.SVC(kernel="spectrum(1)").fit(["ab", "cd"], [0, 1])
    with pytest.raises(ValueError, match=re.escape(says)):
        fitted.predict(X)
    with pytest.raises(ValueError, match=re.escape(says)):
        mercer.SVC(kernel="spectrum(1)").fit(X, [0])


def test_labels_of_graphs_are_text_or_numbers():
    def graph(labels):
        return {"n": 2, "edges": [(0, 1)], "labels": labels}

    k = mercer.kernels.WeisfeilerLehman(1)
    assert k([graph([1, 2]), graph([1.0, 2.0])])[0, 1] == pytest.approx(1)
    for wrong in (None, [1], float("nan")):
        with pytest.raises(ValueError, match="a label of a graph must be text or a number, got"):
            k([graph([wrong, "a"])])


def test_frames_are_sets_of_their_rows():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    sets = [rng.normal(size=(n, 2)) for n in (3, 5, 4)]
    k = mercer.kernel("bag_of(gaussian(1), mean)")
    np.testing.assert_array_equal(k([pd.DataFrame(A, columns=["a", "b"]) for A in sets]), k(sets))
    with pytest.raises(ValueError, match="a set of numbers is an array of one column"):
        mercer.KernelRidge(kernel=k).fit([[1.0, 2, 3], [1.0, 2]], [0, 1])
