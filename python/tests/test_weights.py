"""Mixture weights, mean matching and coresets against numpy, scipy's optimizer and each other; the weights in every estimator."""
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

import mercer


def mmd(k, X, Y, v):
    w = np.full(len(X), 1 / len(X))
    return np.sqrt(max(0.0, w @ k(X) @ w - 2 * w @ k(X, Y) @ v + v @ k(Y) @ v))


@pytest.fixture(scope="module")
def shifted():
    random = np.random.RandomState(0)
    X, T = 0.5 * random.randn(300, 1) + 0.5, 0.3 * random.randn(300, 1)

    def truth(Z):
        return Z[:, 0] ** 3 - Z[:, 0]

    return X, truth(X) + 0.2 * random.randn(300), T, truth(T)


# -- mixture weights


def test_mixture_weights_are_those_of_a_general_optimizer():
    random = np.random.RandomState(1)
    X = random.randn(120, 2)
    parts = [random.randn(80, 2) + shift for shift in ([1, 0], [-1, 1], [0, -2], [3, 3])]
    k = mercer.kernel("gaussian(1.3)")
    found = mercer.mixture_weights(X, parts, kernel=k)
    Q = np.array([[k(a, b).mean() for b in parts] for a in parts])
    p = np.array([k(a, X).mean() for a in parts])
    np.testing.assert_allclose(found.gram, Q, atol=1e-13)
    np.testing.assert_allclose(found.products, p, atol=1e-13)
    best = minimize(lambda a: a @ Q @ a / 2 - p @ a, np.full(4, 0.25), jac=lambda a: Q @ a - p, bounds=[(0, 1)] * 4, method="SLSQP",
                    constraints={"type": "eq", "fun": lambda a: a.sum() - 1, "jac": lambda a: np.ones(4)}, options={"ftol": 1e-14, "maxiter": 1000})
    np.testing.assert_allclose(found.weights, best.x, atol=1e-5)
    assert found.weights @ Q @ found.weights / 2 - p @ found.weights <= best.fun + 1e-12
    all_rows = np.concatenate(parts)
    v = np.repeat(found.weights / 80, 80)
    assert found.mmd == pytest.approx(mmd(k, X, all_rows, v), abs=1e-9)
    assert found.mmd <= found.component_mmd.min() and found.unique and "4 components" in str(found)


def test_gaussian_components_in_closed_form():
    random = np.random.RandomState(2)
    X = np.concatenate([random.randn(700, 2), random.randn(300, 2) @ np.array([[0.5, 0.2], [0, 0.5]]) + 3])
    S = np.array([[0.5, 0.2], [0, 0.5]]).T @ np.array([[0.5, 0.2], [0, 0.5]])
    found = mercer.mixture_weights(X, [(np.zeros(2), np.eye(2)), ([3.0, 3.0], S), (np.array([-4.0, 0]), 0.5)], kernel="gaussian(1)")
    np.testing.assert_allclose(found.weights, [0.7, 0.3, 0], atol=0.03)
    # mean embeddings: E exp(-|x-y|^2/2) over N(0, I) is exp(-|x|^2/4)/2 in two dimensions
    assert found.products[0] == pytest.approx(np.mean(np.exp(-(X**2).sum(1) / 4) / 2), rel=1e-12)
    assert found.gram[0, 0] == pytest.approx(1 / 3, rel=1e-12)
    diagonal = mercer.mixture_weights(X, [(np.zeros(2), np.ones(2))], kernel="gaussian(1)")
    assert diagonal.products[0] == pytest.approx(found.products[0], rel=1e-12)


def test_given_products_and_weighted_samples():
    Q, p = np.array([[1.0, 0.2], [0.2, 1.0]]), np.array([0.7, 0.5])
    found = mercer.mixture_weights(gram=Q, products=p, squared_norm=0.9)
    a = (p[0] - p[1] + Q[1, 1] - Q[0, 1]) / (Q[0, 0] + Q[1, 1] - 2 * Q[0, 1])
    assert found.weights[0] == pytest.approx(a, abs=1e-12)
    assert np.isnan(mercer.mixture_weights(gram=Q, products=p).mmd)
    random = np.random.RandomState(0)
    X, A = random.randn(50, 2), random.randn(30, 2)
    twice = mercer.mixture_weights(X, [np.concatenate([A, A[:10]]), -A + 1], kernel="gaussian(1)")
    weighted = mercer.mixture_weights(X, [(A, np.r_[np.full(10, 2.0), np.ones(20)]), -A + 1], kernel="gaussian(1)")
    np.testing.assert_allclose(twice.weights, weighted.weights, atol=1e-10)
    sparse = mercer.mixture_weights(sp.csr_matrix(X), [sp.csr_matrix(A), (-A + 1).astype(np.float32)], kernel="gaussian(1)")
    assert sparse.weights.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: mercer.mixture_weights(X, []), "at least one component"),
        (lambda X: mercer.mixture_weights(X), "give X and components"),
        (lambda X: mercer.mixture_weights(X, [X], gram=np.eye(1), products=[1.0]), "give X and components"),
        (lambda X: mercer.mixture_weights(X, [(X, X, X)]), "tuple of 3"),
        (lambda X: mercer.mixture_weights(X, [X[:, :1]]), "component 0 has 1 columns, X has 2"),
        (lambda X: mercer.mixture_weights(X, [([0.0], np.eye(2))]), "component 0"),
        (lambda X: mercer.mixture_weights(X, [([0.0, 0.0], -1.0)]), "positive semi-definite"),
        (lambda X: mercer.mixture_weights(gram=np.eye(2), products=[1.0]), "k x k"),
        (lambda X: mercer.mixture_weights(X, [np.full((3, 2), np.nan)]), "NaN"),
    ],
)
def test_bad_mixtures_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.random.RandomState(0).randn(10, 2))


# -- mean matching


@pytest.mark.parametrize(("bound", "epsilon"), [(None, 0.0), (3.0, 0.0), (None, 0.2), (2.0, 0.5)])
def test_mean_matching_is_the_quadratic_programme(bound, epsilon):
    random = np.random.RandomState(3)
    X, T = random.randn(40, 2), 0.5 * random.randn(30, 2) + 0.8
    n = len(X)
    K, p = rbf_kernel(X, gamma=0.5), rbf_kernel(X, T, gamma=0.5).mean(1)
    found = mercer.KernelMeanMatching("gaussian(1)", bound=bound, epsilon=epsilon).fit(X, T)
    top = np.inf if bound is None else bound
    best = minimize(lambda b: b @ K @ b / 2 - p @ b, np.full(n, 1 / n), jac=lambda b: K @ b - p, bounds=[(0, top / n if bound else None)] * n, method="SLSQP",
                    constraints=[{"type": "ineq", "fun": lambda b: b.sum() - 1 + epsilon}, {"type": "ineq", "fun": lambda b: 1 + epsilon - b.sum()}],
                    options={"ftol": 1e-14, "maxiter": 2000})
    b = found.weights_ / n
    assert b.min() >= 0 and found.weights_.max() <= top * (1 + 1e-9) and abs(found.weights_.mean() - 1) <= epsilon + 1e-12
    assert b @ K @ b / 2 - p @ b <= best.fun + 1e-6
    k = mercer.kernel("gaussian(1)")
    assert found.mmd_after_ == pytest.approx(mmd(k, T, X, b), abs=1e-8)
    assert found.mmd_before_ == pytest.approx(mmd(k, T, X, np.full(n, 1 / n)), abs=1e-12)
    assert found.effective_sample_size_ == pytest.approx(found.weights_.sum() ** 2 / (found.weights_**2).sum())


def test_mean_matching_is_an_estimator(shifted):
    X, _, T, _ = shifted
    estimator = mercer.KernelMeanMatching(bound=5, epsilon=0.1, ridge=0.01)
    again = clone(estimator)
    assert again.get_params() == estimator.get_params() and again.set_params(bound=7).bound == 7
    estimator.fit(X, T)
    back = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(back.weights_, estimator.weights_)
    assert str(back.kernel_).startswith("gaussian(") and back.n_features_in_ == 1
    with pytest.raises(ValueError, match="features"):
        estimator.fit(X, np.zeros((3, 2)))
    frame = pytest.importorskip("pandas").DataFrame(np.random.RandomState(0).randn(30, 2), columns=["a", "b"])
    named = mercer.KernelMeanMatching("gaussian(1).on(b)").fit(frame, frame)
    assert named.weights_.mean() == pytest.approx(1)
    with pytest.raises(ValueError, match="feature names"):
        mercer.KernelMeanMatching().fit(frame, frame[["b", "a"]])


def test_mean_matching_of_other_inputs(shifted):
    X, _, T, _ = shifted
    reference = mercer.KernelMeanMatching("rbf", gamma=2.0, ridge=0.01).fit(X, T).weights_  # of which weights are unique
    by_text = mercer.KernelMeanMatching("gaussian(0.5)", ridge=0.01).fit(X, T).weights_
    np.testing.assert_allclose(reference, by_text, atol=1e-12)
    given = mercer.KernelMeanMatching("precomputed", ridge=0.01).fit(rbf_kernel(X, gamma=2.0), rbf_kernel(T, X, gamma=2.0))
    assert np.isnan(given.mmd_after_) and abs(given.weights_ - reference).max() < 1e-6
    single = mercer.KernelMeanMatching("rbf", gamma=2.0).fit(X.astype(np.float32), T.astype(np.float32))
    assert single.mmd_after_ < 0.1 * single.mmd_before_
    sparse = mercer.KernelMeanMatching("rbf", gamma=2.0).fit(sp.csr_matrix(X), sp.csr_matrix(T))
    assert sparse.mmd_after_ < 0.1 * sparse.mmd_before_
    called = mercer.KernelMeanMatching(lambda x, y: float(np.exp(-2.0 * ((x - y) ** 2).sum())), kernel_params={}).fit(X[:40], T[:30])
    assert called.weights_.mean() == pytest.approx(1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"bound": 0.5}, "raise bound"), ({"bound": "much"}, "bound must be a number or None"), ({"epsilon": 1}, "epsilon"), ({"ridge": -1}, "ridge"), ({"tol": 0}, "tolerance")],
)
def test_bad_parameters_are_named(shifted, parameters, message):
    with pytest.raises(ValueError, match=message):
        mercer.KernelMeanMatching(**parameters).fit(shifted[0], shifted[2])


def test_few_rows_are_warned_of():
    random = np.random.RandomState(0)
    with pytest.warns(UserWarning, match="the weights rest on few rows"):
        mercer.KernelMeanMatching("gaussian(0.3)", bound=None).fit(random.randn(300, 1), 0.1 * random.randn(50, 1) + 2.5)


def test_weights_that_fit_noise_are_warned_of_and_ridge_helps():
    random = np.random.RandomState(0)
    X, T = random.randn(150, 3), random.randn(120, 3) + [0.5, 0, 0]
    with pytest.warns(UserWarning, match=r"rest on few rows: .* raise ridge \(try 0.1 to 1\), lower bound"):
        noisy = mercer.KernelMeanMatching().fit(X, T)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        even = mercer.KernelMeanMatching(ridge=1).fit(X, T)
    assert noisy.effective_sample_size_ < 50 < even.effective_sample_size_
    ratio = np.exp(0.5 * X[:, 0])
    assert np.corrcoef(noisy.weights_, ratio)[0, 1] + 0.2 < np.corrcoef(even.weights_, ratio)[0, 1]


def test_weights_go_into_every_estimator(shifted):
    """SPEC E13: under a shift, a model that is wrong somewhere is better on the target with the weights."""
    X, y, T, t = shifted
    w = mercer.KernelMeanMatching().fit(X, T).weights_
    linear = [mercer.Ridge(alpha=1e-3), mercer.KernelRidge(kernel="linear", alpha=1e-3), mercer.SVR(kernel="linear", C=10), mercer.RepresenterRegressor(kernel="linear", lambda_=1e-4)]
    for model in linear:
        plain = np.mean((model.fit(np.c_[X, np.ones(300)], y).predict(np.c_[T, np.ones(300)]) - t) ** 2)
        weighted = np.mean((model.fit(np.c_[X, np.ones(300)], y, sample_weight=w).predict(np.c_[T, np.ones(300)]) - t) ** 2)
        assert weighted < 0.5 * plain, model
    label = (np.sin(4 * X[:, 0]) > 0).astype(int)
    classifiers = [mercer.SVC(kernel="linear"), mercer.NuSVC(nu=0.5), mercer.LinearSVC(), mercer.KernelLogisticRegression(kernel="linear"), mercer.KernelMeanClassifier(), mercer.FalkonClassifier(n_landmarks=20)]
    for model in classifiers:
        assert model.fit(X, label, sample_weight=w).predict(T).shape == (300,), model
    others = [mercer.KernelRidgeCV(alphas=[0.1, 1.0]), mercer.FalkonRegressor(n_landmarks=20), mercer.NuSVR(), mercer.RandomFeatureRidge(n_components=20)]
    for model in others:
        assert model.fit(X, y, sample_weight=w).predict(T).shape == (300,), model
    mercer.OneClassSVM(nu=0.2).fit(X, sample_weight=w)
    mercer.KernelKMeans(3).fit(X, sample_weight=w)


# -- coresets


@pytest.mark.parametrize("function", [mercer.squash, mercer.herd, mercer.thin])
def test_coresets_beat_random_rows(function):
    X = np.random.RandomState(0).randn(1500, 2)
    k = mercer.kernel("gaussian(1)")
    few = function(X, 40, kernel=k, random_state=0)
    assert len(few) == 40 == len(set(few.indices.tolist())) and few.weights.sum() == pytest.approx(1) and few.weights.min() >= 0
    assert few.mmd == pytest.approx(mmd(k, X, X[few.indices], few.weights), abs=1e-7)
    drawn = [mmd(k, X, X[np.random.RandomState(s).permutation(1500)[:40]], np.full(40, 1 / 40)) for s in range(20)]
    assert few.mmd < min(drawn) / 2
    assert few.random_mmd == pytest.approx(np.sqrt(np.mean(np.square(drawn))), rel=0.15)
    assert few.n == 1500 and few.kernel == "gaussian(1)" and few.seed == 0 and few.method in repr(few) and few.sentence in str(few)
    np.testing.assert_array_equal(X[few], few.points(X))
    np.testing.assert_array_equal(np.asarray(few), few.indices)
    assert list(few) == few.indices.tolist() and few[0] == few.indices[0]
    one = function(X, 40, kernel=k, random_state=0, n_jobs=1)
    np.testing.assert_array_equal(one.indices, few.indices)
    np.testing.assert_array_equal(one.weights, few.weights)


def test_herding_is_nested():
    X = np.random.RandomState(1).randn(400, 3)
    long, short = mercer.herd(X, 50, kernel="gaussian(1.5)"), mercer.herd(X, 20, kernel="gaussian(1.5)")
    np.testing.assert_array_equal(long.indices[:20], short.indices)
    assert long.path[19] == pytest.approx(short.mmd, abs=1e-9) and long.path[-1] == pytest.approx(long.mmd)


def test_coresets_of_other_inputs():
    X = np.random.RandomState(2).randn(300, 2)
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b"])
    few = mercer.thin(frame, 17, kernel="gaussian(1).on(a)", random_state=1)
    assert few.points(frame).shape == (17, 2)
    assert len(mercer.thin(sp.csr_matrix(X), random_state=0)) == 17
    assert mercer.squash(X.astype(np.float32), 10, random_state=0).mmd < 0.05
    given = mercer.herd(rbf_kernel(X, gamma=0.5), 10, kernel="precomputed")
    np.testing.assert_array_equal(given.indices, mercer.herd(X, 10, kernel="gaussian(1)").indices)
    assert np.isnan(mercer.thin(X, 10, measure="none").mmd) and mercer.thin(X, 10, measure="features").mmd_error > 0
    assert mercer.thin(X, 10).seed != mercer.thin(X, 10).seed
    np.testing.assert_array_equal(mercer.thin(X, 300, random_state=0).indices, np.arange(300))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: mercer.squash(X, len(X)), "trivial"),
        (lambda X: mercer.thin(X, len(X) + 1), "at most 20"),
        (lambda X: mercer.herd(X, 0), "m must be >= 1, got 0"),
        (lambda X: mercer.squash(X, 5, atoms="best"), "atoms must be"),
        (lambda X: mercer.squash(X, 5, candidates=2), "candidates must be at least m = 5"),
        (lambda X: mercer.thin(X, 5, measure="roughly"), "measure must be"),
        (lambda X: mercer.thin(X, 5, oversampling=11), "oversampling"),
        (lambda X: mercer.thin(X, 5, failure=1.0), "failure"),
        (lambda X: mercer.thin(X[:0], 1), "at least one row"),
        (lambda X: mercer.thin(np.where(X == X[3, 1], np.inf, X), 5), "X has an infinite value|inf"),
    ],
)
def test_bad_coresets_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.random.RandomState(0).randn(20, 2))


def test_pictures():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    X = np.random.RandomState(0).randn(100, 2)
    assert mercer.squash(X, 10, random_state=0).plot(X).get_legend() is not None
    assert mercer.thin(X[:, :1], 10, random_state=0).plot(X[:, :1]) is not None
    assert mercer.mixture_weights(X, [X + 1, X - 1]).plot(["a", "b"]).get_ylabel() == "weight"
    plt.close("all")
