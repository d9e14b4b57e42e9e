"""Pictures of models and searches: what is drawn where."""
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor as ScikitGaussianProcess
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as ScikitSVC

import mercer
from mercer import plot
from mercer.kernels import Gaussian, Linear

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    before = dict(matplotlib.rcParams)
    yield
    plt.close("all")
    assert dict(matplotlib.rcParams) == before  # no settings of others are changed


@pytest.fixture(scope="module")
def moons():
    return mercer.datasets.moons(100, random_state=0)


@pytest.fixture(scope="module")
def waves():
    return mercer.datasets.waves(60, random_state=0)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def contours(ax):
    """Level -> points of its lines."""
    sets = [c for c in ax.collections if type(c).__name__ == "QuadContourSet" and not c.filled]
    return {float(level): np.vstack([p.vertices for p in [path]]) for c in sets for level, path in zip(c.levels, c.get_paths(), strict=True)}


# -- decision boundaries


def test_the_boundary_is_where_the_decision_function_is_zero(moons):
    X, y = moons
    model = mercer.SVC(C=10, gamma=1.0).fit(X, y)
    frame = pd.DataFrame(X, columns=["east", "north"])
    ax = plot.decision_boundary(model, X, pd.Series(y, name="moon"))
    lines = contours(ax)
    assert set(lines) == {-1.0, 0.0, 1.0}
    for level, points in lines.items():
        np.testing.assert_allclose(model.decision_function(points), level, atol=0.02)
    assert legend(ax) == ["0", "1", f"support vectors ({len(model.support_)})"] and ax.get_legend().get_title().get_text() == "moon"
    rings = next(c for c in ax.collections if c.get_label().startswith("support"))
    np.testing.assert_array_equal(np.asarray(rings.get_offsets()), model.support_vectors_)
    named = plot.decision_boundary(mercer.SVC(C=10, gamma=1.0).fit(frame, y), frame, y, support=False, margins=False)
    assert (named.get_xlabel(), named.get_ylabel()) == ("east", "north")
    assert set(contours(named)) == {0.0} and legend(named) == ["0", "1"]


def test_regions_are_what_predict_says(moons):
    X, _ = moons
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [0.0, 1.0])]
    model = mercer.SVC(gamma=1.0).fit(X, y)
    ax = plot.decision_boundary(model, X, y, points=40)
    mesh = ax.collections[0]
    corners = mesh.get_coordinates()
    centres = (corners[:-1, :-1] + corners[1:, 1:]) / 2
    said = model.predict(centres.reshape(-1, 2))
    np.testing.assert_array_equal(model.classes_[np.asarray(mesh.get_array()).ravel().astype(int)], said)
    assert legend(ax)[:3] == ["a", "b", "c"]


def test_the_boundary_follows_probabilities_where_predict_does(moons):
    X, y = moons
    noisy = np.where(np.random.RandomState(0).rand(len(y)) < 0.25, 1 - y, y)
    for model in (mercer.SVC(probability=True, random_state=0), mercer.KernelMeanClassifier(gamma=1.0, rule="parzen")):
        model.fit(X, noisy)
        ax = plot.decision_boundary(model, X, noisy, points=60)
        mesh = np.asarray(ax.collections[0].get_array())
        assert set(np.unique(mesh)) <= {0, 1} and len(contours(ax)) >= 1


@pytest.mark.parametrize("sparse", [False, True])
def test_pipelines_searches_and_other_peoples_models(moons, sparse):
    X, y = moons
    pipe = make_pipeline(StandardScaler(with_mean=not sparse), mercer.SVC(gamma=1.0)).fit(sp.csr_array(X) if sparse else X, y)
    if not sparse:
        ax = plot.decision_boundary(pipe, X, y)
        rings = next(c for c in ax.collections if c.get_label().startswith("support"))
        np.testing.assert_array_equal(np.asarray(rings.get_offsets()), X[pipe[-1].support_])
        assert not any("support" in line for line in legend(plot.decision_boundary(pipe, X[::-1], y[::-1])))  # not the rows it was fitted on
        search = GridSearchCV(pipe, {"svc__C": [1, 10]}, cv=2).fit(X, y)
        assert any("support" in line for line in legend(plot.decision_boundary(search, X, y)))
        for other in (ScikitSVC().fit(X, y), LogisticRegression().fit(X, y), mercer.LinearSVC().fit(X, y), mercer.SVCCV([1, 10], cv=2).fit(X, y)):
            assert 0.0 in contours(plot.decision_boundary(other, X, y))
    else:
        assert 0.0 in contours(plot.decision_boundary(pipe, X, y, points=50))


def test_outliers_clusters_and_surfaces(moons):
    X, y = moons
    ax = plot.decision_boundary(mercer.OneClassSVM(nu=0.1, gamma=1.0).fit(X), X)
    assert set(contours(ax)) == {0.0} and legend(ax)[0].startswith("support vectors")
    ax = plot.decision_boundary(mercer.KernelKMeans(2, kernel="gaussian(0.5)", random_state=0).fit(X), X, y)
    assert legend(ax) == ["0", "1"]
    frame = pd.DataFrame(X, columns=["u", "v"])
    target = pd.Series(X[:, 0] * X[:, 1], name="product")
    ax = plot.decision_boundary(mercer.KernelRidge(kernel=Gaussian(1).on("u") * Linear().on("v"), alpha=0.1).fit(frame, target), frame, target)
    assert ax.figure.axes[1].get_ylabel() == "product" and ax.get_xlabel() == "u" and ax.get_legend() is None


def test_what_decision_boundary_refuses(moons):
    X, y = moons
    three = np.column_stack([X, X[:, 0]])
    model = mercer.SVC().fit(X, y)
    with pytest.raises(ValueError, match="draws models of two columns, but X has 3"):
        plot.decision_boundary(model, three, y)
    with pytest.raises(ValueError, match="but the model was fitted on 3"):
        plot.decision_boundary(mercer.SVC().fit(three, y), X, y)
    with pytest.raises(NotFittedError):
        plot.decision_boundary(mercer.SVC(), X, y)
    with pytest.raises(ValueError, match="y must have a value for each of the 100 rows"):
        plot.decision_boundary(model, X, y[:5])
    with pytest.raises(ValueError, match="the class 7, which the model does not know: its classes are 0, 1"):
        plot.decision_boundary(model, X, np.full(100, 7))
    with pytest.raises(ValueError, match="precomputed kernel values"):
        plot.decision_boundary(mercer.SVC(kernel="precomputed").fit(Gaussian(1)(X), y), X, y)
    with pytest.raises(TypeError, match="must have predict, got PCA"):
        plot.decision_boundary(mercer.PCA().fit(X), X)
    with pytest.raises(ValueError, match="X must be finite"):
        plot.decision_boundary(model, np.where(X > 1, np.nan, X), y)
    with pytest.raises(ValueError, match="numbers alone"):
        plot.decision_boundary(model, [["a", "b"]], None)
    with pytest.raises(ValueError, match="one target, but the model predicts 2"):
        plot.decision_boundary(mercer.KernelRidge().fit(X, X), X)
    with pytest.raises(ValueError, match="margins are of the decision function"):
        plot.decision_boundary(mercer.KernelMeanClassifier(rule="parzen", gamma=1.0).fit(X, (X[:, 0] * 3).astype(int)), X, margins=True)
    with pytest.raises(TypeError, match="ax must be matplotlib axes or None, got ndarray"):
        plot.decision_boundary(model, X, y, ax=plt.subplots(1, 2)[1])


# -- curves


def band(ax):
    return next((c for c in ax.collections if "interval" in c.get_label()), None)


def test_a_curve_with_the_models_own_intervals(waves):
    X, y = waves
    model = mercer.KernelRidge(kernel="gaussian(0.5)", alpha=0.1).fit(X, y)
    ax = plot.regression_curve(model, X, y, level=0.8, points=50)
    x, curve = ax.lines[0].get_data()
    expected, ends = model.predict(x[:, None], interval=0.8)
    np.testing.assert_array_equal(curve, expected)
    corners = band(ax).get_paths()[0].vertices
    assert corners[:, 1].min() == pytest.approx(ends.min()) and corners[:, 1].max() == pytest.approx(ends.max())
    assert legend(ax) == ["samples (60)", "80% interval", "prediction"]
    assert band(plot.regression_curve(model, X, y, band=False)) is None
    pipe = make_pipeline(StandardScaler(), mercer.KernelRidge(kernel="gaussian(0.2)", alpha=0.1)).fit(X, y)
    assert band(plot.regression_curve(pipe, X[:, 0], y)) is not None  # a vector is one column


def test_bands_of_standard_deviations_and_models_without_any(waves):
    X, y = waves
    theirs = ScikitGaussianProcess(alpha=0.1).fit(X, y)
    ax = plot.regression_curve(theirs, X, points=40)
    x, curve = ax.lines[0].get_data()
    std = theirs.predict(x[:, None], return_std=True)[1]
    assert band(ax).get_paths()[0].vertices[:, 1].max() == pytest.approx((curve + 1.6448536269514722 * std).max())
    machine = mercer.SVR().fit(X, y)
    assert band(plot.regression_curve(machine, X, y)) is None
    with pytest.raises(ValueError, match="SVR offers no intervals"):
        plot.regression_curve(machine, X, y, band=True)
    frame = pd.DataFrame({"hour": X[:, 0]})
    ax = plot.regression_curve(mercer.SVR().fit(frame, y), frame, pd.Series(y, name="load"))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("hour", "load")
    with pytest.warns(UserWarning, match="the intervals are infinite"):
        few = plot.regression_curve(mercer.KernelRidge(kernel="gaussian(1)").fit(X[:5], y[:5]), X[:5], y[:5])
    assert band(few) is None


def test_what_regression_curve_refuses(waves, moons):
    X, y = waves
    with pytest.raises(ValueError, match="draws models of one column, but X has 2"):
        plot.regression_curve(mercer.SVR().fit(*moons), *moons)
    with pytest.raises(ValueError, match="predicts classes"):
        plot.regression_curve(mercer.SVC().fit(X, y > 0), X)
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        plot.regression_curve(mercer.SVR().fit(X, y), X, level=90)
    with pytest.raises(ValueError, match="one target"):
        plot.regression_curve(mercer.KernelRidge().fit(X, np.column_stack([y, y])), X, band=False)


# -- searches


def test_a_path_of_penalties(waves):
    X, y = waves
    search = mercer.KernelRidgeCV(np.logspace(-3, 1, 7), kernel=["gaussian(0.5)", "linear"]).fit(X, y)
    ax = plot.path(search)
    lines = {line.get_label(): line for line in ax.lines}
    assert {"gaussian(0.5)", "linear"} <= lines.keys() and ax.get_xscale() == "log"
    mine = search.cv_results_["param_kernel"] == "linear"
    np.testing.assert_allclose(np.sort(lines["linear"].get_ydata()), np.sort(np.sqrt(-search.cv_results_["mean_test_score"][mine])))
    star = next(c for c in ax.collections if c.get_label().startswith("best"))
    np.testing.assert_allclose(np.asarray(star.get_offsets())[0], [search.alpha_, np.sqrt(-search.best_score_)])


def test_a_map_of_two_numbers(moons):
    X, y = moons
    C, gamma = [0.1, 1.0, 10.0], [0.1, 1.0, 10.0, 100.0]
    search = mercer.SVCCV(C, gamma=gamma, cv=3, abandon=False).fit(X, y)
    theirs = GridSearchCV(mercer.SVC(), {"C": C, "gamma": gamma}, cv=3).fit(X, y)
    nested = GridSearchCV(make_pipeline(StandardScaler(), mercer.SVC()), {"svc__C": C, "svc__gamma": gamma}, cv=3).fit(X, y)
    for found, names in ((search, ("C", "gamma")), (theirs, ("C", "gamma")), (nested, ("svc__C", "svc__gamma"))):
        ax = plot.path(found)
        table = np.asarray(ax.images[0].get_array())
        assert (ax.get_xlabel(), ax.get_ylabel()) == names and table.shape == (4, 3)
        for params, score in zip(found.cv_results_["params"], found.cv_results_["mean_test_score"], strict=True):
            assert table[gamma.index(params[names[1]]), C.index(params[names[0]])] == pytest.approx(score)
        star = np.asarray(ax.collections[0].get_offsets())[0]
        assert star.tolist() == [C.index(found.best_params_[names[0]]), gamma.index(found.best_params_[names[1]])]
    assert len(plot.path(search, kind="lines").lines) == 5  # four values of gamma, and the chosen C


def test_kernels_that_differ_in_one_number_are_that_number(waves):
    X, y = waves
    search = mercer.KernelRidgeCV(np.logspace(-3, 1, 5), kernel="rbf", gamma=[0.1, 1.0, 10.0]).fit(X, y)
    ax = plot.path(search)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("alpha", "length_scale") and np.asarray(ax.images[0].get_array()).shape == (3, 5)
    assert ax.images[0].get_cmap().name == "viridis_r"  # of errors, less is better
    assert "length_scale = " in plot.path(search, kind="lines").lines[0].get_label()


def test_candidates_that_were_abandoned_are_grey(moons):
    X, y = moons
    search = mercer.SVCCV([0.01, 1.0, 100.0], gamma=[1e-4, 1.0, 10.0]).fit(X, y)
    table = plot.path(search, kind="map").images[0].get_array()
    assert np.isnan(np.ma.filled(table, np.nan)).sum() == search.cv_results_["abandoned"].sum()


def test_searches_over_words_and_many_lines(waves):
    X, y = waves
    words = GridSearchCV(mercer.KernelRidge(), {"kernel": ["linear", "rbf"]}, cv=2).fit(X, y)
    assert [text.get_text() for text in plot.path(words).get_xticklabels()] == ["linear", "rbf"]
    many = mercer.KernelRidgeCV([0.1, 1.0], kernel="rbf", gamma=list(np.logspace(-2, 2, 20))).fit(X, y)
    drawn = [line.get_label() for line in plot.path(many, kind="lines").lines if line.get_label().startswith("length_scale")]
    best = f"length_scale = {many.best_kernel_.length_scale:.4g}"
    assert len(drawn) == 12 and best in drawn
    both = mercer.KernelRidgeCV([0.1, 1.0], kernel="gaussian(1)", alpha_per_target=True).fit(X, np.column_stack([y, -y**2]))
    assert plot.path(both).get_xlabel() == "alpha"


def test_what_path_refuses(waves):
    X, y = waves
    with pytest.raises(NotFittedError):
        plot.path(mercer.KernelRidgeCV())
    with pytest.raises(TypeError, match="must be a fitted search"):
        plot.path(mercer.KernelRidge().fit(X, y))
    with pytest.raises(ValueError, match="kind must be"):
        plot.path(mercer.KernelRidgeCV().fit(X, y), kind="heat")
    with pytest.raises(ValueError, match="a map needs two parameters"):
        plot.path(mercer.KernelRidgeCV().fit(X, y), kind="map")


# -- witnesses, nulls and pre-images


def test_a_witness_by_itself_and_over_columns(moons):
    X, y = moons
    w = mercer.witness(X[y == 0], X[y == 1])
    assert len(plot.witness(w).figure.axes) == 2 and plot.witness(w, columns=0).get_xlabel() == "x0"
    wide = mercer.witness(np.column_stack([X, X])[y == 0], np.column_stack([X, X])[y == 1])
    assert not wide.has_grid and plot.witness(wide).get_xlabel() == "witness"
    strings = mercer.witness(["abab", "baba", "aab"], ["cdcd", "dcd", "ccd"], kernel="spectrum(1)")
    assert plot.witness(strings).get_xlabel() == "witness"
    ax = plt.subplots()[1]
    assert plot.witness(w, columns=1, ax=ax) is ax and w.plot(columns=1, ax=ax) is ax


def test_null_histograms_and_their_other_names(moons):
    X, y = moons
    result = mercer.two_sample_test(X[y == 0], X[y == 1], n_permutations=99, random_state=0)
    ax = plot.null_histogram(result, bins=7)
    assert len(ax.patches) == 7 and result.statistic in ax.lines[0].get_xdata()
    assert plot.null_distribution is plot.null_histogram and mercer.plots.null_histogram is plot.null_histogram
    with pytest.raises(TypeError, match="must be the TestResult"):
        plot.null_histogram(3.0)
    bound = mercer.two_sample_test(X[y == 0], X[y == 1], kernel="gaussian(1)", null="bound")
    with pytest.raises(ValueError, match="no sample to draw"):
        plot.null_histogram(bound)


def test_preimages_as_arrows_and_images():
    X, _ = mercer.datasets.circles(40, random_state=0)
    kpca = mercer.KernelPCA(3, kernel="gaussian(1)", fit_inverse_transform=True).fit(X)
    back = kpca.inverse_transform(kpca.transform(X))
    ax = plot.preimages(kpca, pd.DataFrame(X, columns=["u", "v"]).to_numpy(), names=["u", "v"])
    np.testing.assert_allclose(np.asarray(ax.collections[2].get_offsets()), back)
    assert (ax.get_xlabel(), legend(ax)) == ("u", ["rows", "pre-images"])
    rows = np.arange(48.0).reshape(3, 16)
    ax = plot.preimages(rows + 1, rows, clean=rows - 1, most=2)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["clean", "given", "pre-images"]
    assert ax.images[0].get_array().shape == (14, 9)
    found = mercer.preimages("gaussian(1)", [[0.0, 0.0], [1.0, 0.0]], np.eye(2))
    assert plot.preimages(found, [[0.0, 0.0], [1.0, 0.0]]).get_legend() is not None
    with pytest.raises(ValueError, match="found must have the shape of X"):
        plot.preimages(rows[:2], rows)
    with pytest.raises(ValueError, match="SVC has no pre-images"):
        plot.preimages(mercer.SVC(), rows)
