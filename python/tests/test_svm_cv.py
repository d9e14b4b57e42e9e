"""Tuned support vector machines against GridSearchCV around scikit-learn's own."""
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit, StratifiedKFold, TimeSeriesSplit
from sklearn.svm import SVC, SVR

import mercer

C, GAMMA = [0.1, 1, 10, 100], [0.01, 0.1, 1.0]


def classes(n=300, k=2, seed=0):
    X, y = make_classification(n, 6, n_informative=6, n_redundant=0, n_classes=k, n_clusters_per_class=1, flip_y=0.05, random_state=seed)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def curve(n=200, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.randn(n, 3)
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.randn(n)


def assert_same_search(ours, theirs, samples):
    """The same table up to `samples` borderline ones of a test part."""
    mine, peer = ours.cv_results_, theirs.cv_results_
    assert mine["params"] == peer["params"]
    assert ours.n_splits_ == theirs.n_splits_
    assert [k for k in peer if "_time" not in k] == [k for k in mine if k != "abandoned"]
    for name in mine:
        if name.startswith("param_"):
            assert np.array_equal(mine[name], peer[name])
        if name.startswith("split"):
            assert np.nanmax(np.abs(mine[name] - peer[name])) <= samples + 1e-9, name
    kept = ~mine["abandoned"]
    assert np.abs(mine["mean_test_score"] - peer["mean_test_score"])[kept].max() <= 2 * samples / ours.n_splits_ + 1e-3
    assert np.isnan(mine["mean_test_score"][~kept]).all()
    assert (peer["mean_test_score"][~kept] < peer["mean_test_score"].max()).all()  # what was abandoned could not win
    assert peer["mean_test_score"][ours.best_index_] >= theirs.best_score_ - 2 * samples / ours.n_splits_ - 1e-12
    assert ours.best_params_ == mine["params"][ours.best_index_]
    assert mine["rank_test_score"][ours.best_index_] == 1


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", "f1_macro"])
def test_every_split_score_is_that_of_grid_search(k, scoring):
    X, y = classes(k=k)
    theirs = GridSearchCV(SVC(), {"C": C, "gamma": GAMMA}, cv=5, scoring=scoring).fit(X, y)
    for abandon in (True, False):
        ours = mercer.SVCCV(C, gamma=GAMMA, cv=5, scoring=scoring, abandon=abandon).fit(X, y)
        assert_same_search(ours, theirs, 2 * k / len(X) if scoring == "accuracy" else 0.04)
        assert abandon or not ours.cv_results_["abandoned"].any()


def test_scores_agree_exactly_at_a_tight_tolerance():
    X, y = classes(200, 3)
    theirs = GridSearchCV(SVC(tol=1e-6), {"C": C, "gamma": GAMMA}, cv=StratifiedKFold(4, shuffle=True, random_state=1)).fit(X, y)
    ours = mercer.SVCCV(C, gamma=GAMMA, tol=1e-6, cv=StratifiedKFold(4, shuffle=True, random_state=1), abandon=False).fit(X, y)
    assert_same_search(ours, theirs, 0)
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=1e-12)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
    assert np.array_equal(np.sort(ours.support_), np.sort(theirs.best_estimator_.support_))
    assert ours.dual_coef_.shape == theirs.best_estimator_.dual_coef_.shape
    assert np.array_equal(ours.n_support_, theirs.best_estimator_.n_support_)


@pytest.mark.parametrize("cv", [StratifiedKFold(3), KFold(4), TimeSeriesSplit(3), ShuffleSplit(3, random_state=0)])
def test_splitters(cv):
    X, y = classes()
    theirs = GridSearchCV(SVC(tol=1e-6), {"C": C, "gamma": GAMMA}, cv=cv).fit(X, y)
    assert_same_search(mercer.SVCCV(C, gamma=GAMMA, tol=1e-6, cv=cv).fit(X, y), theirs, 0)


def test_groups():
    X, y = classes()
    groups = np.arange(len(y)) % 11
    theirs = GridSearchCV(SVC(tol=1e-6), {"C": C, "gamma": GAMMA}, cv=GroupKFold(4)).fit(X, y, groups=groups)
    for cv in (4, GroupKFold(4)):
        assert_same_search(mercer.SVCCV(C, gamma=GAMMA, tol=1e-6, cv=cv).fit(X, y, groups=groups), theirs, 0)


def test_weights():
    X, y = classes(k=3)
    weight = np.random.RandomState(0).rand(len(y)) + 0.1
    for class_weight in ("balanced", {0: 2.0, 2: 0.5}):
        theirs = GridSearchCV(SVC(tol=1e-6, class_weight=class_weight), {"C": C, "gamma": GAMMA}, cv=5).fit(X, y, sample_weight=weight)
        ours = mercer.SVCCV(C, gamma=GAMMA, tol=1e-6, class_weight=class_weight).fit(X, y, sample_weight=weight)
        assert_same_search(ours, theirs, 0)
        assert np.array_equal(ours.predict(X), theirs.predict(X))


def test_lists_of_kernels_in_the_order_of_the_grid():
    X, y = classes()
    grid = {"C": [1, 10], "gamma": [0.1, 1.0], "kernel": ["rbf", "sigmoid"]}
    theirs = GridSearchCV(SVC(tol=1e-6), grid, cv=3).fit(X, y)
    assert_same_search(mercer.SVCCV([1, 10], gamma=[0.1, 1.0], kernel=["rbf", "sigmoid"], tol=1e-6, cv=3).fit(X, y), theirs, 0.021)
    found = mercer.SVCCV([1, 10], kernel=["linear", "matern(1.5, 2)", mercer.kernels.Gaussian(2.0)], cv=3).fit(X, y)
    assert len(found.cv_results_["params"]) == 6
    assert found.cv_results_["params"][1]["kernel"] == "matern(1.5, 2)"


def test_gamma_that_is_not_given_is_searched():
    X, y = classes()
    grid = [f * (1 / (X.shape[1] * X.var())) for f in (0.01, 0.1, 1.0, 10.0)]
    theirs = GridSearchCV(SVC(tol=1e-6), {"C": [1.0, 10.0], "gamma": grid}, cv=3).fit(X, y)
    ours = mercer.SVCCV([1.0, 10.0], tol=1e-6, cv=3).fit(X, y)
    assert_same_search(ours, theirs, 0)
    assert ours.best_params_ == theirs.best_params_
    mixed = mercer.SVCCV([1.0], kernel=["rbf", "poly", "linear"], cv=3).fit(X, y).cv_results_["params"]
    assert [p["kernel"] for p in mixed] == ["rbf", "poly", "linear", "rbf", "rbf", "rbf"]
    assert [p["gamma"] for p in mixed] == [grid[0], grid[2], None, *grid[1:]]
    assert mercer.SVCCV([1.0, 10.0], kernel="linear", cv=3).fit(X, y).best_params_.keys() == {"C"}
    X, y = curve()
    assert len(mercer.SVRCV([1.0], cv=3).fit(X, y).cv_results_["params"]) == 4
    with pytest.raises(ValueError, match="gamma must be 'scale', 'auto'"):
        mercer.SVCCV(gamma=[1.0, "scales"]).fit(*classes())


def test_probabilities():
    X, y = classes(k=3)
    ours = mercer.SVCCV([1.0, 10.0], gamma=0.1, probability=True, random_state=3).fit(X, y)
    alone = mercer.SVC(C=ours.C_, gamma=0.1, probability=True, random_state=3).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), alone.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), ours.classes_[ours.predict_proba(X).argmax(axis=1)])
    np.testing.assert_allclose(ours.predict_log_proba(X), np.log(ours.predict_proba(X)))
    assert not hasattr(mercer.SVCCV(), "predict_proba")


def test_one_against_the_rest():
    X, y = classes(k=3)
    ours = mercer.SVCCV([1.0, 10.0], gamma=0.1, multi_class="ovr", tol=1e-6).fit(X, y)
    alone = mercer.SVC(C=ours.C_, gamma=0.1, multi_class="ovr", tol=1e-6).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), alone.decision_function(X), atol=1e-9)
    with pytest.raises(ValueError, match="multi_class"):
        mercer.SVCCV(multi_class="rest").fit(X, y)


def test_callables_take_blocks_as_in_svc():
    X, y = classes(120)
    def blocks(A, B):
        assert A.ndim == B.ndim == 2
        return A @ B.T
    ours = mercer.SVCCV(C, kernel=blocks, cv=3, tol=1e-6, abandon=False).fit(X, y)
    linear = mercer.SVCCV(C, kernel="linear", cv=3, tol=1e-6, abandon=False).fit(X, y)
    assert np.allclose(ours.cv_results_["mean_test_score"], linear.cv_results_["mean_test_score"], atol=0.01)
    assert ours.best_params_["C"] in C


def test_classes_that_folds_do_not_teach_are_said_before_the_search():
    X, y = classes(60, 3)
    weight = (y != 2).astype(float)
    with pytest.raises(ValueError, match="the class 2 has no sample of positive weight"):
        mercer.SVCCV(C, gamma=0.1).fit(X, y, sample_weight=weight)
    order = np.argsort(y, kind="stable")
    with pytest.warns(UserWarning, match="the class 0 has no training sample .* in fold 1"):
        mercer.SVCCV(C, gamma=0.1, cv=KFold(3)).fit(X[order], y[order])
    two = np.flatnonzero(y[order] < 2)
    with pytest.raises(ValueError, match="the training part of fold 1 has samples of one class only, 1: use stratified folds"):
        mercer.SVCCV(C, gamma=0.1, cv=[(two[y[order][two] == 1], two[y[order][two] == 0])]).fit(X[order], y[order])


def test_sparse_rows_and_precomputed_values():
    X, y = classes(150)
    ours = mercer.SVCCV(C, gamma=GAMMA, cv=3).fit(X, y)
    sparse = mercer.SVCCV(C, gamma=GAMMA, cv=3).fit(sp.csr_array(X), y)
    assert np.allclose(ours.cv_results_["mean_test_score"], sparse.cv_results_["mean_test_score"], atol=0.01, equal_nan=True)
    K = X @ X.T
    given = mercer.SVCCV(C, kernel="precomputed", cv=3, tol=1e-6).fit(K, y)
    linear = mercer.SVCCV(C, kernel="linear", cv=3, tol=1e-6).fit(X, y)
    assert np.allclose(given.cv_results_["mean_test_score"], linear.cv_results_["mean_test_score"], atol=0.01, equal_nan=True)
    assert np.mean(given.predict(K) == linear.predict(X)) > 0.99


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_squared_error", "neg_mean_absolute_error"])
def test_regression_is_grid_search(scoring):
    X, y = curve()
    grid = {"C": [0.1, 1, 10], "epsilon": [0.05, 0.2], "gamma": GAMMA}
    weight = np.random.RandomState(1).rand(len(y)) if scoring != "r2" else None
    theirs = GridSearchCV(SVR(tol=1e-6), grid, cv=5, scoring=scoring).fit(X, y, sample_weight=weight)
    ours = mercer.SVRCV([0.1, 1, 10], epsilon=[0.05, 0.2], gamma=GAMMA, scoring=scoring, tol=1e-6).fit(X, y, sample_weight=weight)
    assert_same_search(ours, theirs, 1e-4)
    assert ours.best_params_ == theirs.best_params_
    assert ours.epsilon_ == theirs.best_params_["epsilon"]
    assert np.allclose(ours.predict(X), theirs.predict(X), atol=1e-3)
    assert ours.score(X, y) > 0.9


def test_nothing_depends_on_the_threads():
    X, y = classes(600, 3)
    one, two = (mercer.SVCCV(C, gamma=GAMMA, n_jobs=n).fit(X, y) for n in (1, 2))
    for name in one.cv_results_:
        if "score" in name:
            assert np.array_equal(one.cv_results_[name], two.cv_results_[name], equal_nan=True)


def test_pickle_sentence_and_edge():
    X, y = classes()
    ours = mercer.SVCCV([1e-3, 1], gamma=[0.1]).fit(X, y)
    assert "the best C = 1 is the largest of those tried" in ours.search_
    assert ours.search_.startswith("best of 2 candidates")
    again = pickle.loads(pickle.dumps(ours))
    assert np.array_equal(again.decision_function(X), ours.decision_function(X))
    assert again.best_params_ == {"C": 1, "gamma": 0.1}


def test_plot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X, y = classes()
    ax = mercer.SVCCV(C, gamma=GAMMA, abandon=False).fit(X, y).plot_scores()
    assert len(ax.get_lines()) == len(GAMMA) + 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": []}, "C must not be an empty list"),
        ({"C": [1, -1]}, "C must be finite numbers > 0, got -1"),
        ({"C": ["a"]}, "C must be finite numbers > 0, got 'a'"),
        ({"gamma": [-1.0]}, "gamma must be"),
        ({"gamma": []}, "must not be empty"),
        ({"cv": "five"}, "cv must be"),
        ({"cv": 1}, "at least one|n_splits"),
        ({"scoring": "roc_auc"}, "scoring must be one of"),
        ({"tol": 0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"decision_function_shape": "pairs"}, "decision_function_shape"),
        ({"time_limit": -1}, "time_limit must be"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y = classes(60)
    with pytest.raises(ValueError, match=message):
        mercer.SVCCV(**parameters).fit(X, y)


def test_bad_data():
    X, y = classes(60)
    with pytest.raises(ValueError, match="one class"):
        mercer.SVCCV().fit(X, np.zeros(60))
    with pytest.raises(ValueError, match="one class only"):
        mercer.SVCCV(cv=KFold(2)).fit(X, np.sort(y))
    with pytest.raises(ValueError, match="epsilon must be"):
        mercer.SVRCV(epsilon=[-0.1]).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="f1 is a score of two classes"):
        mercer.SVCCV(scoring="f1").fit(*classes(90, 3))
