"""StructuredSVM against scikit-learn's Crammer-Singer machine, its own definition, and problems written in Python."""
import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC as ScikitLinearSVC

import mercer


def problem(n=200, d=8, classes=4, seed=0):
    X, y = make_classification(n, d, n_informative=6, n_redundant=0, n_classes=classes, class_sep=0.7, flip_y=0.05, random_state=seed)
    return X, np.asarray(["ant", "bee", "cow", "dog"])[y]


def objective(model, X, y, C):
    """Crammer and Singer's, from its definition."""
    scores = X @ model.coef_.T + model.intercept_
    truth = np.searchsorted(model.classes_, y)
    margins = scores + 1.0 - np.eye(len(model.classes_))[truth] - scores[np.arange(len(y)), truth][:, None]
    return 0.5 * ((model.coef_**2).sum() + (model.intercept_**2).sum()) + C * margins.max(axis=1).sum()


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_scikit_learns_crammer_singer(C, fit_intercept):
    X, y = problem()
    ours = mercer.StructuredSVM(C=C, fit_intercept=fit_intercept, tol=1e-8, max_iter=100000).fit(X, y)
    twin = ScikitLinearSVC(C=C, multi_class="crammer_singer", fit_intercept=fit_intercept, tol=1e-9, max_iter=10**6, random_state=0).fit(X, y)
    twin.intercept_ = np.broadcast_to(twin.intercept_, 4)
    mine, theirs = objective(ours, X, y, C), objective(twin, X, y, C)
    assert mine == pytest.approx(ours.summary_.objective, rel=1e-12)
    assert mine <= theirs * (1 + 1e-8) and theirs <= mine * (1 + 1e-4)
    assert ours.summary_.dual <= theirs and ours.gap_ <= 1e-8 * mine
    assert np.mean(ours.predict(X) == twin.predict(X)) >= 0.97  # rows between two classes may fall to either


def test_kernels_sparse_rows_and_gram_matrices():
    X, y = problem(120)
    settings = {"C": 2.0, "tol": 1e-7, "max_iter": 100000}
    linear = mercer.StructuredSVM(**settings).fit(X, y)
    sparse = mercer.StructuredSVM(**settings).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, linear.coef_, atol=np.sqrt(2 * linear.gap_) + np.sqrt(2 * sparse.gap_))
    rbf = mercer.StructuredSVM(kernel="rbf", gamma=0.1, **settings).fit(X, y)
    given = mercer.StructuredSVM(kernel="precomputed", **settings).fit(mercer.kernels.Gaussian(np.sqrt(5))(X), y)
    bound = np.sqrt(2) * (np.sqrt(2 * rbf.gap_) + np.sqrt(2 * given.gap_)) + 1e-12
    np.testing.assert_allclose(given.decision_function(mercer.kernels.Gaussian(np.sqrt(5))(X)), rbf.decision_function(X), atol=bound)
    assert rbf.score(X, y) > linear.score(X, y)
    K = mercer.kernels.Gaussian(np.sqrt(5))(X, rbf.support_vectors_)
    np.testing.assert_allclose(K @ rbf.dual_coef_ + rbf.intercept_, rbf.decision_function(X), atol=1e-10)
    np.testing.assert_array_equal(rbf.support_vectors_, X[rbf.support_])
    with pytest.raises(AttributeError, match="dual_coef_ has the coefficients"):
        rbf.coef_
    with pytest.raises(AttributeError, match="a linear one has coef_"):
        linear.dual_coef_


def test_weights_are_repeated_rows():
    X, y = problem(60)
    weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    settings = {"C": 0.5, "tol": 1e-9, "max_iter": 100000}
    weighted = mercer.StructuredSVM(**settings).fit(X, y, sample_weight=weight)
    repeated = mercer.StructuredSVM(**settings).fit(np.repeat(X, weight.astype(int), axis=0), np.repeat(y, weight.astype(int)))
    assert weighted.summary_.objective == pytest.approx(repeated.summary_.objective, rel=1e-8)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=np.sqrt(2 * weighted.gap_) + np.sqrt(2 * repeated.gap_))


def chains(count, seed, noise=0.8, states=4):
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(count):
        states_here = [rng.integers(states)]
        while rng.random() < 0.92:
            states_here.append((states_here[-1] + 1) % states if rng.random() < 0.85 else rng.integers(states))
        X.append(np.eye(states)[states_here] + noise * rng.normal(size=(len(states_here), states)))
        y.append([f"tag{s}" for s in states_here])
    return X, y


def test_sequences_beat_single_positions():
    X, y = chains(80, 1)
    X_new, y_new = chains(120, 2)
    chain = mercer.StructuredSVM("chain", C=0.1).fit(X, y)
    single = mercer.StructuredSVM(C=0.1).fit(np.vstack(X), np.concatenate(y))
    assert chain.score(X_new, y_new) > single.score(np.vstack(X_new), np.concatenate(y_new)) + 0.08
    predicted = chain.predict(X_new)
    assert [len(p) for p in predicted] == [len(x) for x in X_new]
    assert set(np.concatenate(predicted)) <= {"tag0", "tag1", "tag2", "tag3"}
    # Labels by enumeration, from the attributes.
    for x, labels in zip(X_new, predicted):
        if len(x) > 5:
            continue
        unary = x @ chain.coef_.T + chain.intercept_

        def value(path):
            steps = sum(chain.transition_[a, b] for a, b in itertools.pairwise(path))
            return unary[np.arange(len(path)), list(path)].sum() + steps + chain.start_[path[0]] + chain.end_[path[-1]]

        best = max(itertools.product(range(4), repeat=len(x)), key=value)
        assert list(chain.classes_[list(best)]) == list(labels)
    np.testing.assert_allclose(np.vstack(chain.decision_function(X_new)), np.vstack(X_new) @ chain.coef_.T + chain.intercept_, atol=1e-12)
    sparse = mercer.StructuredSVM("chain", C=0.1).fit([sp.csr_array(x) for x in X], y)
    np.testing.assert_allclose(sparse.coef_, chain.coef_, atol=np.sqrt(2 * sparse.gap_) + np.sqrt(2 * chain.gap_))


def test_rankings():
    rng = np.random.default_rng(3)
    W = rng.normal(size=(5, 3))

    def draw(n):
        X = rng.normal(size=(n, 3))
        return X, (-X @ W.T).argsort(axis=1).argsort(axis=1) + 1

    X, y = draw(300)
    X_new, y_new = draw(200)
    model = mercer.StructuredSVM("ranking", C=100).fit(X, y)
    assert model.score(X_new, y_new) > 0.97
    ranks = model.predict(X_new)
    assert ranks.shape == (200, 5) and (np.sort(ranks, axis=1) == np.arange(1, 6)).all()
    np.testing.assert_array_equal(ranks, (-model.decision_function(X_new)).argsort(axis=1, kind="stable").argsort(axis=1) + 1)
    assert not hasattr(model, "classes_")


class Classes:
    """The multi-class machine as a user's own problem."""

    labels = ("ant", "bee", "cow", "dog")

    def joint_feature(self, x, y):
        phi = np.zeros((4, len(x)))
        phi[self.labels.index(y)] = x
        return phi.ravel()

    def loss(self, y_true, y):
        return float(y_true != y)

    def _best(self, x, w, extra):
        scores = w.reshape(4, -1) @ x
        return max(self.labels, key=lambda y: scores[self.labels.index(y)] + extra(y))

    def loss_augmented_argmax(self, x, y_true, w):
        return self._best(x, w, lambda y: self.loss(y_true, y))

    def argmax(self, x, w):
        return self._best(x, w, lambda y: 0.0)


class SparseClasses(Classes):
    def joint_feature(self, x, y):
        return sp.csr_array(super().joint_feature(x, y).reshape(1, -1))


@pytest.mark.parametrize("kind", [Classes, SparseClasses])
def test_a_problem_of_ones_own(kind):
    X, y = problem(60, d=6)
    settings = {"C": 0.2, "tol": 1e-6, "max_iter": 1000}
    own = mercer.StructuredSVM(kind(), **settings).fit(X, y)
    shipped = mercer.StructuredSVM(fit_intercept=False, **settings).fit(X, y)
    np.testing.assert_allclose(own.coef_.reshape(4, 6), shipped.coef_, atol=np.sqrt(2 * own.gap_) + np.sqrt(2 * shipped.gap_))
    assert own.predict(X) == list(shipped.predict(X))
    assert own.score(X, y) == pytest.approx(shipped.score(X, y) - 1)
    assert own.summary_.missed == 0
    again = pickle.loads(pickle.dumps(own))
    assert again.predict(X) == own.predict(X) and str(again.summary_) == str(own.summary_)


def test_errors_of_a_problem_of_ones_own():
    X, y = problem(20, d=6)

    class Broken(Classes):
        def loss_augmented_argmax(self, x, y_true, w):
            raise KeyError("no such output")

    with pytest.raises(KeyError, match="no such output"):
        mercer.StructuredSVM(Broken()).fit(X, y)

    class Negative(Classes):
        def loss(self, y_true, y):
            return -float(y_true != y)

        def loss_augmented_argmax(self, x, y_true, w):
            return "ant" if y_true != "ant" else "bee"

    with pytest.raises(ValueError, match="a loss must be a finite number >= 0, got -1"):
        mercer.StructuredSVM(Negative()).fit(X, y)

    class Uneven(Classes):
        def joint_feature(self, x, y):
            return np.zeros(3 if y == "ant" else 4)

    with pytest.raises(ValueError, match="joint_feature must always give the same length"):
        mercer.StructuredSVM(Uneven()).fit(X, y)

    class Lenient(Classes):
        def loss(self, y_true, y):
            return 1.0

    with pytest.raises(ValueError, match="the loss of a true output must be 0, got 1.0 for example 0"):
        mercer.StructuredSVM(Lenient()).fit(X, y)
    with pytest.raises(ValueError, match="must have the methods .*; .* has no joint_feature, loss, loss_augmented_argmax, argmax"):
        mercer.StructuredSVM(3).fit(X, y)
    with pytest.raises(ValueError, match="same number of examples, at least one, got 20 and 19"):
        mercer.StructuredSVM(Classes()).fit(X, y[:-1])
    with pytest.raises(ValueError, match="has no model file, which holds no code; pickle keeps it"):
        mercer.save(mercer.StructuredSVM(Classes()).fit(X, y), "never.mercer")


def test_files_and_pickles(tmp_path):
    X, y = problem(60)
    S, tags = chains(20, 4)
    ranks = np.array([np.random.default_rng(i).permutation(3) + 1 for i in range(60)])
    fitted = [
        (mercer.StructuredSVM(C=0.5).fit(X, y), X),
        (mercer.StructuredSVM(kernel="rbf", C=0.5).fit(X, y), X),
        (mercer.StructuredSVM("chain").fit(S, tags), S),
        (mercer.StructuredSVM("ranking").fit(X, ranks), X),
    ]
    for model, rows in fitted:
        mercer.save(model, tmp_path / "m.mercer")
        for again in (mercer.load(tmp_path / "m.mercer"), pickle.loads(pickle.dumps(model))):
            assert isinstance(again, mercer.StructuredSVM) and again.model == model.model and again.C == model.C
            for got, wanted in zip(again.predict(rows), model.predict(rows), strict=True):
                np.testing.assert_array_equal(got, wanted)
            assert str(again.summary_) == str(model.summary_)
        assert mercer.info(tmp_path / "m.mercer")["kind"] == "structured"


def test_search_and_limits():
    X, y = problem(80)
    search = GridSearchCV(mercer.StructuredSVM(kernel="rbf"), {"C": [0.1, 10.0]}, cv=3).fit(X, y)
    assert search.best_params_["C"] in (0.1, 10.0) and search.best_score_ > 0.5
    with pytest.warns(ConvergenceWarning, match="not converged: 1 passes"):
        mercer.StructuredSVM(C=100, tol=1e-10, max_iter=1).fit(X, y)
    one, two = (mercer.StructuredSVM(kernel="rbf", n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"model": "tree"}, "model must be one of 'multiclass', 'chain', 'ranking' or an object, got 'tree'"),
        ({"C": 0}, "C must be a finite number > 0, got 0"),
        ({"tol": -1}, "tol must be a finite number > 0, got -1"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1, got 0"),
        ({"lambda_": 0}, "lambda_ must be a finite number > 0, or None, got 0"),
        ({"model": "ranking", "kernel": "rbf"}, "kernel must be 'linear' where model is not 'multiclass', got 'rbf'"),
    ],
)
def test_wrong_parameters(parameters, message):
    X, y = problem(20)
    with pytest.raises(ValueError, match=message):
        mercer.StructuredSVM(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("model", "X", "y", "message"),
    [
        ("chain", [[[1.0]], [[2.0, 3.0]]], [["a"], ["b"]], "sequence 1 of X has 2, the first 1"),
        ("chain", [[[1.0]], [[2.0]]], [["a"]], "for each of the 2 sequences of X, got 1"),
        ("chain", [[[1.0], [2.0]]], [["a"]], r"sequence 0 has 2 positions, so y\[0\] must be a list of 2 labels"),
        ("chain", [[[1.0], [2.0]]], ["ab"], r"y\[0\] must be a list of 2 labels, got 'ab'"),
        ("chain", [], [], "at least one sequence"),
        ("chain", [np.empty((0, 2))], [[]], "sequence 0 of X has no positions"),
        ("chain", [[[1.0], [2.0]]], [["a", "a"]], "y has one class"),
        ("chain", [[1.0, 2.0], [3.0, 4.0]], ["a", "b"], r"X must be a list of sequences, .* of a single sequence it is \[X\]"),
        ("chain", ["ab", "cd"], [["a", "b"], ["a", "b"]], "X must be a list of sequences"),
        ("chain", [[[1.0], [2.0]], [[1.0], [2.0]]], [["a", 1], [1, 2]], "all text or all numbers, got both"),
        ("multiclass", [[1.0], [2.0], [3.0]], ["a", 1, 2], "all text or all numbers, got both"),
        ("ranking", [[1.0], [2.0]], [[0, 1], [1, 0]], "a permutation of 1 .. 2, 1 the best label; row 0 is"),
        ("ranking", [[1.0], [2.0]], [[1, 1], [1, 2]], "row 0 is"),
        ("ranking", [[1.0], [2.0]], [1, 2], "array of ranks with at least two labels"),
    ],
)
def test_wrong_data(model, X, y, message):
    with pytest.raises(ValueError, match=message):
        mercer.StructuredSVM(model).fit(X, y)
