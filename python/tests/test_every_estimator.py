"""What every estimator must do for people who work with scikit-learn and pandas; a new estimator is in these tests by itself."""
# SPDX-License-Identifier: BSD-3-Clause
import inspect

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import BaseEstimator, clone, is_classifier, is_clusterer, is_regressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import get_tags

import mercer
from mercer.kernels import Gaussian, Linear, Matern, Spectrum

# What an estimator needs beside its defaults, so that small samples are enough.
SETTINGS = {
    "GaussianProcessRegressor": {"alpha": 0.01},
    "SVCCV": {"C": [1.0, 10.0], "cv": 2},
    "SVRCV": {"C": [1.0, 10.0], "cv": 2},
    "KernelKMeans": {"n_clusters": 2},
    "SpectralClustering": {"n_clusters": 2, "n_neighbors": 5},
    "Nystroem": {"n_components": 10},
    "FalkonRegressor": {"n_landmarks": 20},
    "FalkonClassifier": {"n_landmarks": 20},
    "RandomFeatureRidge": {"n_components": 50},
    "RandomFeatureRidgeClassifier": {"n_components": 50},
    "MercerMap": {"n_components": 3},
    "KernelPCA": {"n_components": 2},
    "KernelSGDClassifier": {"iterations": 500},
}
ESTIMATORS = {name: thing for name in mercer.__all__ if inspect.isclass(thing := getattr(mercer, name)) and issubclass(thing, BaseEstimator)}
MATCHING = "KernelMeanMatching"  # fits two samples, predicts nothing
NAMES = sorted(ESTIMATORS.keys() - {MATCHING})
TRANSFORMERS = [name for name in NAMES if hasattr(ESTIMATORS[name], "transform")]
PREDICTORS = [name for name in NAMES if hasattr(ESTIMATORS[name], "predict")]
WEIGHTED = [name for name in NAMES if "sample_weight" in inspect.signature(ESTIMATORS[name].fit).parameters]
KERNELS = [name for name in sorted(ESTIMATORS) if "kernel" in inspect.signature(ESTIMATORS[name]).parameters]
SEED = 0


def make(name, **more):
    return ESTIMATORS[name](**(SETTINGS.get(name, {}) | {"random_state": SEED} | more))


@pytest.fixture(scope="module")
def table():
    rng = np.random.RandomState(0)
    y = np.arange(60) % 2
    return pd.DataFrame(rng.rand(60, 3) + 0.5 * y[:, None], columns=["age", "dose", "weight"], index=[f"row {i}" for i in range(60)])


def target(name, table):
    """What the estimator learns, as a Series: words, numbers, or nothing."""
    if is_classifier(make(name)):
        return pd.Series(np.where(np.arange(60) % 2, "yes", "no"), index=table.index, name="answer")
    if is_regressor(make(name)):
        return pd.Series(table["age"] + table["dose"] ** 2, name="effect")
    return None


def answer(model, X):
    """What the model says of rows: predictions, or features."""
    if hasattr(model, "predict"):
        return np.asarray(model.predict(X))
    out = model.transform(X) if hasattr(model, "transform") else model.labels_
    return out.toarray() if sp.issparse(out) else np.asarray(out)


def fitted(name, X, y, **more):
    return make(name, **more).fit(X) if y is None else make(name, **more).fit(X, y)


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_the_common_parameters_are_there_by_keyword(name):
    parameters = inspect.signature(ESTIMATORS[name]).parameters
    for word in ("n_jobs", "random_state", "verbose"):
        assert word in parameters and parameters[word].kind is inspect.Parameter.KEYWORD_ONLY, word
    given = ESTIMATORS[name](n_jobs=2, random_state=3, verbose=1)
    assert clone(given).get_params()["random_state"] == 3
    assert {"n_jobs": 2, "verbose": 1}.items() <= clone(given).get_params().items()


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_estimators_show_themselves_in_notebooks(name):
    shown = ESTIMATORS[name](**({"kernel": Gaussian(2)} if name in KERNELS else {}))._repr_html_()
    assert name in shown and ("Gaussian(length_scale=2.0)" in shown or name not in KERNELS)
    if name in KERNELS:
        hostile = ESTIMATORS[name](kernel=Gaussian(2).on("</script><b>mine"))._repr_html_()
        assert "<b>mine" not in hostile and "&lt;b&gt;mine" in hostile


@pytest.mark.parametrize("name", NAMES)
def test_data_frames_keep_their_names(name, table):
    y = target(name, table)
    model = fitted(name, table, y)
    assert list(model.feature_names_in_) == list(table.columns) and model.n_features_in_ == 3
    if not hasattr(model, "predict") and not hasattr(model, "transform"):
        return
    for wrong in (table[["dose", "age", "weight"]], table.rename(columns={"age": "Age"})):
        with pytest.raises(ValueError, match="feature names should match those that were passed during fit"):
            answer(model, wrong)
    plain = fitted(name, table.to_numpy(), y)
    np.testing.assert_array_equal(answer(plain, table.to_numpy()), answer(model, table))


@pytest.mark.parametrize("name", NAMES)
def test_words_and_categories_are_refused_with_a_remedy(name, table):
    y = target(name, table)
    for column in (pd.Categorical(["low", "high"] * 30), ["low", "high"] * 30):
        with pytest.raises(ValueError, match="OneHotEncoder"):
            fitted(name, table.assign(level=column), y)


@pytest.mark.parametrize("name", NAMES)
def test_in_a_pipeline_after_a_scaler_and_from_a_file_of_joblib(name, table, tmp_path):
    y = target(name, table)
    pipe = make_pipeline(MinMaxScaler(), make(name))
    pipe.fit(table, y)
    if not hasattr(pipe, "predict") and not hasattr(pipe, "transform"):
        assert len(pipe[-1].labels_) == len(table)
        return
    joblib.dump(pipe, tmp_path / "pipe.joblib")
    np.testing.assert_array_equal(answer(joblib.load(tmp_path / "pipe.joblib"), table), answer(pipe, table))


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers_give_data_frames_when_asked(name, table):
    model = make(name).set_output(transform="pandas")
    out = model.fit(table).transform(table)
    assert isinstance(out, pd.DataFrame) and out.index.equals(table.index)
    assert list(out.columns) == list(model.get_feature_names_out()) and len(set(out.columns)) == out.shape[1]
    assert all(isinstance(column, str) for column in out.columns)
    back = clone(model).set_output(transform="default").fit(table).transform(table)
    np.testing.assert_array_equal(out.to_numpy(), back)
    named = Pipeline([("scale", MinMaxScaler()), ("map", make(name))]).set_output(transform="pandas").fit(table)
    assert list(named.transform(table).columns) == list(named.get_feature_names_out())


@pytest.mark.parametrize("name", [n for n in PREDICTORS if target(n, pd.DataFrame(np.ones((60, 2)), columns=["age", "dose"])) is not None])
def test_cross_validation_in_processes(name, table):
    y = target(name, table)
    alone = cross_val_score(make(name), table, y, cv=2)
    together = cross_val_score(make(name), table, y, cv=2, n_jobs=2)
    assert np.isfinite(alone).all()
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("name", NAMES)
def test_float32_and_sparse_rows_say_what_float64_says(name, table):
    y = target(name, table)
    X = np.round(table.to_numpy() * 8) / 8  # numbers that float32 has too
    exact = fitted(name, X, y)
    variants = [X.astype(np.float32)]
    if get_tags(exact).input_tags.sparse:
        variants += [sp.csr_array(X), sp.csr_matrix(X.astype(np.float32))]
    for rows in variants:
        other = fitted(name, rows, y)
        ours, theirs = answer(other, rows), answer(exact, X)
        if theirs.dtype.kind == "f" and hasattr(exact, "predict"):
            np.testing.assert_allclose(ours, theirs, atol=5e-3 * np.abs(theirs).max())
        elif theirs.dtype.kind == "f":  # components have a sign of their own
            np.testing.assert_allclose(np.abs(ours), np.abs(theirs), atol=5e-3 * np.abs(theirs).max())
        else:
            assert (ours == theirs).mean() > 0.95 or (is_clusterer(exact) and (ours != theirs).mean() > 0.95)


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_are_routed(name, table):
    y = target(name, table)
    weight = np.linspace(0.5, 2, 60)
    direct = make(name).fit(table, y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = Pipeline([("scale", MinMaxScaler().set_output(transform="default")), ("model", make(name).set_fit_request(sample_weight=True))])
        pipe.fit(table, y, sample_weight=weight)
        scaled = make(name).fit(MinMaxScaler().fit_transform(table), y, sample_weight=weight)
    np.testing.assert_array_equal(answer(pipe, table), answer(scaled, MinMaxScaler().fit_transform(table)))
    assert answer(direct, table).shape[0] == 60


@pytest.mark.parametrize("name", sorted(set(KERNELS) - {MATCHING}))
def test_kernels_and_their_numbers_are_parameters(name):
    model = ESTIMATORS[name](kernel=Matern(1.5, 2.0))
    assert model.get_params()["kernel__nu"] == 1.5 and clone(model).kernel == Matern(1.5, 2.0)
    before = model.kernel
    assert model.set_params(kernel__length_scale=3.0).kernel == Matern(1.5, 3.0) and before == Matern(1.5, 2.0)
    assert model.set_params(kernel=Gaussian(1.0), kernel__length_scale=4.0).kernel == Gaussian(4.0)
    with pytest.raises(ValueError, match="has no parameter 'nu'; it has length_scale"):
        model.set_params(kernel__nu=2.5)
    with pytest.raises(ValueError, match="no parameters of its own"):
        ESTIMATORS[name](kernel="rbf").set_params(kernel__length_scale=2.0)
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(no_such=1)


def test_a_grid_over_kernels_and_their_numbers(table):
    y = target("SVC", table)
    pipe = Pipeline([("scale", MinMaxScaler()), ("svc", mercer.SVC(kernel=Gaussian(1.0)))])
    grid = [{"svc__kernel__length_scale": [0.1, 1.0], "svc__C": [1.0, 10.0]}, {"svc__kernel": [Linear(), "matern(1.5, 1) + linear"]}]
    search = GridSearchCV(pipe, grid, cv=3, n_jobs=2).fit(table, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all() and len(search.cv_results_["params"]) == 6
    assert pipe.named_steps["svc"].kernel == Gaussian(1.0)
    strings = ["abab", "baba", "aabb", "ccdd", "dcdc", "cdcd"] * 3
    found = GridSearchCV(mercer.SVC(kernel=Spectrum(1)), {"kernel__k": [1, 2]}, cv=3).fit(strings, ([0] * 3 + [1] * 3) * 3)
    assert found.best_score_ == 1.0


def test_numbers_of_a_composite_kernel():
    model = mercer.KernelRidge(kernel="2*gaussian(1) + gaussian(3)")
    assert model.get_params()["kernel__gaussian.length_scale (2)"] == 3.0
    model.set_params(**{"kernel__gaussian.length_scale (1)": 5.0, "kernel__factor": 7.0})
    assert str(model.kernel) == "7*gaussian(5) + gaussian(3)"
    assert "kernel__length_scale" not in mercer.KernelRidge(kernel="2*gaussian(auto)").get_params()


def test_matching_of_two_data_frames(table):
    model = make(MATCHING).fit(table, table.iloc[::2])
    assert list(model.feature_names_in_) == list(table.columns) and model.weights_.shape == (60,)
    assert np.array_equal(make(MATCHING).fit(table.to_numpy(), table.iloc[::2].to_numpy()).weights_, model.weights_)


@pytest.mark.parametrize("name", NAMES)
def test_progress_goes_to_stderr_and_changes_nothing(name, table, capfd):
    y = target(name, table)
    quiet = fitted(name, table, y)
    assert capfd.readouterr() == ("", "")
    loud = fitted(name, table, y, verbose=1)
    if hasattr(loud, "predict") or hasattr(loud, "transform"):
        np.testing.assert_array_equal(answer(loud, table), answer(quiet, table))
    assert capfd.readouterr().out == ""


def test_functions_that_take_long_have_a_bar_and_keyword_options():
    for name in mercer.__all__:
        thing = getattr(mercer, name)
        if inspect.isfunction(thing) and "n_permutations" in inspect.signature(thing).parameters:
            parameters = inspect.signature(thing).parameters
            assert parameters["verbose"].kind is parameters["n_jobs"].kind is inspect.Parameter.KEYWORD_ONLY, name
            assert "random_state" in parameters, name


WITHOUT_FILE = {  # each with its reason
    "AdditiveChi2Sampler": "learns nothing",
    "KernelMeanMatching": "weights of given rows, which predict nothing",
    "Monomials": "learns nothing",
    "SpectralClustering": "labels of given rows, which predict nothing",
}


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_model_files(name, table, tmp_path):
    path = tmp_path / "model.mercer"
    if name in WITHOUT_FILE:
        with pytest.raises(ValueError, match="pickle keeps it"):
            mercer.save(make(name).fit(table, table), path)
        return
    model = fitted(name, table, target(name, table))
    mercer.save(model, path)
    again = mercer.load(path)
    assert type(again) is type(model) or isinstance(again, mercer.TableModel) or type(again).__name__ + "CV" == name, type(again)
    said, before = answer(again, table), answer(model, table)
    if before.dtype.kind == "f":
        np.testing.assert_allclose(said, before, rtol=1e-6, atol=1e-9)
    else:
        np.testing.assert_array_equal(said, before)
