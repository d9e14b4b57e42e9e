"""Random Fourier features and ridge regression on them, against numpy, scikit-learn and kernel ridge regression."""
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.pipeline import make_pipeline

import mercer
from mercer import RandomFeatureRidge, RandomFeatureRidgeClassifier, RandomFourierFeatures


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3))
    return X, np.sin(X.sum(axis=1)) + 0.1 * rng.normal(size=400)


@pytest.mark.parametrize("form", ["sincos", "cos"])
@pytest.mark.parametrize(
    ("parameters", "exact"),
    [
        ({"gamma": 0.3}, lambda X: rbf_kernel(X, gamma=0.3)),
        ({"kernel": "laplacian", "gamma": 0.2}, lambda X: laplacian_kernel(X, gamma=0.2)),
        ({"kernel": "laplacian(2)"}, mercer.kernel("laplacian(2)")),
        ({"kernel": mercer.kernels.Matern(1.5, 2)}, mercer.kernels.Matern(1.5, 2)),
        ({"kernel": "0.5*gaussian(1).on(0, 2) + matern(2.5, [1, 2, 3])"}, mercer.kernel("0.5*gaussian(1).on(0, 2) + matern(2.5, [1, 2, 3])")),
    ],
)
def test_products_approximate_the_kernel(form, parameters, exact, problem):
    X = problem[0][:50]
    features = RandomFourierFeatures(4000, form=form, random_state=1, **parameters)
    Z = features.fit_transform(X)
    assert Z.shape == (50, 4000)
    assert abs(Z @ Z.T - exact(X)).max() < features.hoeffding_bound(1 - 1e-9, n_samples=50)


def test_the_map_is_scikit_learns_for_the_same_draw(problem):
    X = problem[0]
    ours = RandomFourierFeatures(30, gamma=0.7, form="cos", random_state=0).fit(X)
    twin = RBFSampler(gamma=0.7, n_components=30).fit(X)
    twin.random_weights_, twin.random_offset_ = ours.random_weights_, ours.random_offset_
    np.testing.assert_allclose(ours.transform(X), twin.transform(X), atol=1e-13)
    assert RandomFourierFeatures().get_params()["gamma"] == RBFSampler().gamma
    assert RandomFourierFeatures().n_components == RBFSampler().n_components
    scaled = RandomFourierFeatures(gamma="scale", random_state=0).fit(X)
    by_number = RandomFourierFeatures(gamma=1 / (3 * X.var()), random_state=0).fit(X)
    np.testing.assert_allclose(scaled.random_weights_, by_number.random_weights_, rtol=1e-14)


def test_dtypes_sparse_names_and_random_state(problem):
    X = problem[0]
    features = RandomFourierFeatures(20, random_state=5).fit(X)
    wide, narrow = features.transform(X), features.transform(X.astype(np.float32))
    assert wide.dtype == np.float64 and narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, wide, atol=1e-5)
    np.testing.assert_allclose(features.transform(sp.csr_array(X)), wide, atol=1e-13)
    np.testing.assert_allclose(RandomFourierFeatures(20, random_state=5).fit(sp.csr_array(X)).transform(X), wide, atol=1e-13)
    assert list(features.get_feature_names_out()[:2]) == ["randomfourierfeatures0", "randomfourierfeatures1"]
    assert len(features.get_feature_names_out()) == 20
    assert not np.array_equal(RandomFourierFeatures(20, random_state=6).fit_transform(X), wide)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(features)).transform(X), wide)
    np.testing.assert_array_equal(RandomFourierFeatures(20, random_state=5, n_jobs=1).fit_transform(X), wide)
    scaled = RandomFourierFeatures(20, gamma="scale", random_state=5)
    np.testing.assert_allclose(scaled.fit(sp.csr_array(X)).random_weights_, scaled.fit(X).random_weights_, rtol=1e-12)
    assert str(RandomFourierFeatures(20, "gaussian(auto)").fit(X).kernel_) != "gaussian(auto)"


def test_hoeffding():
    features = RandomFourierFeatures(1000).fit([[0.0], [1.0]])
    assert RandomFourierFeatures(7).fit_transform([[0.0], [1.0]]).shape == (2, 7)  # cosines: an odd number
    assert features.hoeffding_failure(0.2) == pytest.approx(2 * np.exp(-1000 * 0.04 / 4))
    assert features.hoeffding_failure(features.hoeffding_bound(0.9, n_samples=50), n_samples=50) == pytest.approx(0.1)
    cosines = RandomFourierFeatures(1000, form="cos").fit([[0.0], [1.0]])
    assert cosines.hoeffding_bound() == pytest.approx(np.sqrt(2) * features.hoeffding_bound())
    assert RandomFourierFeatures.components_for(features.hoeffding_bound(0.9), confidence=0.9) in (1000, 1002)
    with pytest.raises(ValueError, match="independent"):
        RandomFourierFeatures(10, orthogonal=True).fit([[0.0], [1.0]]).hoeffding_bound()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 7, "form": "sincos"}, "must be even"),
        ({"n_components": 0}, "n_components must be a whole number >= 1"),
        ({"n_components": 2.5}, "n_components must be a whole number >= 1"),
        ({"form": "sine"}, "form must be"),
        ({"kernel": "linear"}, "use gaussian, laplacian, matern"),
        ({"kernel": 3}, "kernel must be text"),
        ({"gamma": -1}, "gamma must be"),
        ({"gamma": "auto"}, "gamma must be"),
        ({"kernel": "laplacian", "orthogonal": True}, "every direction"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_wrong_parameters(parameters, message, problem):
    with pytest.raises(ValueError, match=message):
        RandomFourierFeatures(**parameters).fit(problem[0])


def test_gamma_of_an_expression_is_said_to_be_ignored(problem):
    with pytest.warns(UserWarning, match="does not look at gamma"):
        RandomFourierFeatures(10, "gaussian(2)", gamma=3).fit(problem[0])
    with pytest.raises(MemoryError):
        RandomFourierFeatures(10, memory=1000).fit(problem[0]).transform(problem[0])


# -- ridge on the features


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_equals_ridge_on_the_transformed_rows(fit_intercept, precision, problem):
    X, y = problem
    Y = np.c_[y, 3 * y + X[:, 0] + 7]
    w = np.random.default_rng(0).uniform(0.2, 2, len(X))
    model = RandomFeatureRidge(
        0.5, gamma=0.4, n_components=60, form="cos", fit_intercept=fit_intercept, precision=precision, random_state=2
    ).fit(X, Y, sample_weight=w)
    Z = RandomFourierFeatures(60, gamma=0.4, form="cos", random_state=2).fit_transform(X)
    twin = Ridge(0.5, fit_intercept=fit_intercept).fit(Z, Y, sample_weight=w)
    tolerance = 1e-9 if precision == "float64" else 2e-4  # features of float32 round at 1e-6; the condition number is some hundreds
    np.testing.assert_allclose(model.predict(X), twin.predict(Z), atol=tolerance)
    if precision == "float64":
        np.testing.assert_allclose(model.coef_, twin.coef_, atol=1e-9)
        np.testing.assert_allclose(model.intercept_, np.atleast_1d(twin.intercept_) * np.ones(2), atol=1e-9)
    np.testing.assert_allclose(model.summary_.training_rmse, np.sqrt(np.average((model.predict(X) - Y) ** 2, axis=0, weights=w)), rtol=1e-4)


def test_near_kernel_ridge_and_shapes(problem):
    X, y = problem
    exact = mercer.KernelRidge(1, kernel="rbf", gamma=0.4, fit_intercept=True).fit(X, y).predict(X)
    model = RandomFeatureRidge(gamma=0.4, n_components=3000, random_state=0).fit(X, y)
    assert np.std(model.predict(X) - exact) < 0.05 * np.std(exact)
    assert model.predict(X).shape == (400,) and model.coef_.shape == (3000,) and isinstance(model.intercept_, float)
    assert RandomFeatureRidge(n_components=10).fit(X, y[:, None]).predict(X).shape == (400, 1)
    assert model.model_.decision(X[0]) == pytest.approx(model.predict(X[:1])[0])
    assert "Cholesky of 3000 x 3000 from 400 rows" in str(model.summary_)
    assert np.isnan(model.held_out_rmse_)
    assert model.hoeffding_bound() > 0


@pytest.mark.parametrize("changed", [{"kernel": "laplacian"}, {"gamma": 0.5}, {"n_components": 60}], ids=str)
def test_partial_fit_after_another_map_was_asked_for(problem, changed):
    X, y = problem[:2]
    model = RandomFeatureRidge(0.1, gamma=0.4, n_components=50, random_state=1).partial_fit(X, y)
    model.set_params(**changed)
    with pytest.raises(ValueError, match=f"{next(iter(changed))} changed since the first rows, .* fit anew"):
        model.partial_fit(X, y)
    assert model.set_params(kernel="rbf", gamma=0.4, n_components=50, alpha=1.0).partial_fit(X, y).summary_.rows == 2 * len(X)
    assert model.set_params(**changed).fit(X, y).summary_.rows == len(X)


def test_partial_fit_adds_rows(problem):
    X, y = problem
    whole = RandomFeatureRidge(0.1, gamma=0.4, n_components=50, precision="float64", random_state=1).fit(X, y)
    parts = RandomFeatureRidge(0.1, gamma=0.4, n_components=50, precision="float64", random_state=1)
    for first in range(0, 400, 150):
        parts.partial_fit(X[first : first + 150], y[first : first + 150])
        assert parts.summary_.rows == min(first + 150, 400)
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), atol=1e-9)
    assert parts.summary_.rows == 400
    # A pickled estimator goes on where it was; fit begins anew.
    half = RandomFeatureRidge(0.1, gamma=0.4, n_components=50, precision="float64", random_state=1).partial_fit(X[:200], y[:200])
    again = pickle.loads(pickle.dumps(half)).partial_fit(X[200:], y[200:])
    np.testing.assert_allclose(again.predict(X), whole.predict(X), atol=1e-9)
    assert half.summary_.rows == 200
    np.testing.assert_array_equal(parts.fit(X, y).predict(X), whole.predict(X))
    assert whole.partial_fit(X[:10], y[:10]).summary_.rows == 410
    with pytest.raises(ValueError, match="features"):
        parts.partial_fit(X[:, :2], y)
    with pytest.raises(ValueError, match="targets"):
        parts.partial_fit(X, np.c_[y, y])
    assert parts.summary_.rows == 400


def test_sums_merge(problem):
    X, y = problem
    make = lambda: RandomFeatureRidge(0.1, gamma=0.4, n_components=50, precision="float64", random_state=1)  # noqa: E731
    whole, a, b = make().fit(X, y), make().fit(X[:150], y[:150]), make().fit(X[150:], y[150:])
    a._sums.merge(b._sums)
    solved = a._sums.solve(np.array([0.1]), None, True)
    np.testing.assert_allclose(solved.coef[:, 0], whole.coef_, atol=1e-9)


def test_held_out_error_is_the_error_on_new_rows():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(20000, 2))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=20000)
    model = RandomFeatureRidge(1, gamma=1.0, n_components=100, validation_fraction=0.25, random_state=0).fit(X, y)
    # The noise has a standard deviation of 0.3 and there are 5000 rows: 1 % of it is one standard error.
    assert model.held_out_rmse_ == pytest.approx(0.3, rel=0.04)
    assert model.held_out_r2_ == pytest.approx(1 - model.held_out_rmse_**2 / y.var(), abs=0.02)
    assert abs(model.summary_.held_out_rows - 5000) < 250
    plain = RandomFeatureRidge(1, gamma=1.0, n_components=100, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-9)


def test_auto_precision_and_threads(problem):
    X, y = problem
    many = np.random.default_rng(0).normal(size=(50000, 1))
    assert RandomFeatureRidge(n_components=200).fit(many, many).model_.is_float32
    assert not RandomFeatureRidge(1e-4, n_components=200).fit(many, many).model_.is_float32
    assert not RandomFeatureRidge(n_components=10).fit(X, y).model_.is_float32
    one, two = (RandomFeatureRidge(n_components=100, random_state=0, n_jobs=n).fit(X, y).coef_ for n in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"precision": "half"}, "precision must be"),
        ({"validation_fraction": 1}, "validation_fraction must be"),
        ({"alpha": -1}, "alpha must be"),
        ({"lambda_": -1}, "lambda_ must be"),
        ({"n_components": 3, "form": "sincos"}, "must be even"),
        ({"kernel": "polynomial(2)"}, "use gaussian, laplacian, matern"),
    ],
)
def test_wrong_parameters_of_the_ridge(parameters, message, problem):
    with pytest.raises(ValueError, match=message):
        RandomFeatureRidge(**parameters).fit(*problem)


def test_classifier_is_the_ridge_classifier_on_the_features(problem):
    X, y = problem
    for labels in (np.where(y > 0, "yes", "no"), np.digitize(y, [-0.5, 0.5])):
        for class_weight in (None, "balanced"):
            model = RandomFeatureRidgeClassifier(
                0.3, gamma=0.4, n_components=80, class_weight=class_weight, precision="float64", random_state=4
            ).fit(X, labels)
            Z = RandomFourierFeatures(80, gamma=0.4, random_state=4).fit_transform(X)
            twin = RidgeClassifier(0.3, class_weight=class_weight).fit(Z, labels)
            np.testing.assert_allclose(model.decision_function(X), twin.decision_function(Z), atol=1e-9)
            np.testing.assert_array_equal(model.predict(X), twin.predict(Z))
            np.testing.assert_array_equal(model.classes_, twin.classes_)
            assert model.coef_.shape == (len(model.intercept_), 80) and model.coef_.size == twin.coef_.size


def test_classifier_partial_fit(problem):
    X, y = problem
    labels = np.digitize(y, [-0.5, 0.5])
    order = np.argsort(labels, kind="stable")  # the first chunk has one class only
    parts = RandomFeatureRidgeClassifier(0.3, gamma=0.4, n_components=40, precision="float64", random_state=4)
    with pytest.raises(ValueError, match="classes must be given to the first call"):
        parts.partial_fit(X, labels)
    for chunk in np.array_split(order, 5):
        parts.partial_fit(X[chunk], labels[chunk], classes=[0, 1, 2])
    whole = RandomFeatureRidgeClassifier(0.3, gamma=0.4, n_components=40, precision="float64", random_state=4).fit(X, labels)
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-9)
    with pytest.raises(ValueError, match="not among the classes"):
        parts.partial_fit(X[:1], [9])
    with pytest.raises(ValueError, match="classes are"):
        parts.partial_fit(X[:1], [0], classes=[0, 1])
    with pytest.raises(ValueError, match="one class"):
        RandomFeatureRidgeClassifier().fit(X, np.zeros(400))
    with pytest.raises(ValueError, match="balanced"):
        RandomFeatureRidgeClassifier(class_weight="balanced").partial_fit(X, labels, classes=[0, 1, 2])


def test_in_a_pipeline(problem):
    X, y = problem
    pipeline = make_pipeline(RandomFourierFeatures(300, gamma=0.4, random_state=0), Ridge(0.1)).fit(X, y)
    assert pipeline.score(X, y) > 0.95


def test_model_files(problem, tmp_path):
    X, y = problem
    model = RandomFeatureRidge(0.1, kernel="matern(1.5, 2)", n_components=50, form="cos", random_state=1).fit(X, np.c_[y, -y])
    mercer.save(model, tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    assert isinstance(loaded, RandomFeatureRidge)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert (loaded.alpha, loaded.n_components, loaded.form, str(loaded.kernel)) == (0.1, 50, "cos", "matern(1.5, 2)")
    assert mercer.info(tmp_path / "model.mercer")["kind"] == "rff"
    with pytest.raises(ValueError, match="no running sums"):
        loaded.partial_fit(X, np.c_[y, -y])
    assert loaded.fit(X, y).predict(X).shape == (400,)


def test_model_files_of_classifiers(problem, tmp_path):
    X, y = problem
    for labels in (np.where(y > 0, "yes", "no"), np.digitize(y, [-0.5, 0.5])):
        model = RandomFeatureRidgeClassifier(0.1, n_components=50, random_state=1).fit(X, labels)
        mercer.save(model, tmp_path / "model.mercer")
        loaded = mercer.load(tmp_path / "model.mercer")
        assert isinstance(loaded, RandomFeatureRidgeClassifier)
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
