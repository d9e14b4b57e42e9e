"""The SVM by stochastic gradients against G's loop in numpy, scikit-learn's exact solver, and the life of its estimator."""
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

import mercer


def objective(K, y, lambda_, alpha):
    f = K @ alpha
    return lambda_ / 2 * alpha @ f + np.maximum(0, 1 - y * f).mean()


def optimum(K, y, lambda_):
    """The exact value, by the box-constrained dual and scipy."""
    n = len(y)
    Q = (y[:, None] * y) * K / (lambda_ * n * n)
    found = minimize(lambda a: (a @ Q @ a / 2 - a.mean(), Q @ a - 1 / n), np.zeros(n), jac=True, method="L-BFGS-B", bounds=[(0, 1)] * n, options={"maxiter": 10000, "ftol": 1e-14, "gtol": 1e-10})
    return -found.fun


@pytest.fixture(scope="module")
def moons():
    return mercer.datasets.moons(150, random_state=0)


def dense(model, n):
    alpha = np.zeros((n, model.dual_coef_.shape[1]))
    alpha[model.support_] = model.dual_coef_
    return alpha


def test_the_optimum_of_the_exact_dual(moons):
    X, labels = moons
    y = np.where(labels == 1, 1.0, -1.0)
    K = mercer.kernels.Gaussian(0.5)(X)
    for lambda_ in (0.2, 0.02):
        best = optimum(K, y, lambda_)
        model = mercer.KernelSGDClassifier(lambda_, kernel="gaussian(0.5)", iterations=200000).fit(X, labels)
        value = objective(K, y, lambda_, dense(model, 150)[:, 0])
        assert model.summary_.objective == pytest.approx(value, rel=1e-10)
        assert best * (1 - 1e-7) <= value <= 1.01 * best
        assert value - model.summary_.gap <= best * (1 + 1e-7)


def test_defaults_are_those_said(moons):
    X, y = moons
    model = mercer.KernelSGDClassifier().fit(X, y)
    assert model.model_.lambda_ == 1 / 150 and model.n_iter_ == 100000 == model.summary_.iterations
    assert model.summary_.output == "average of all iterates" and "100000 steps" in str(model.summary_)
    assert model.score(X, y) > 0.85
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])


def test_output_budget_and_seed(moons):
    X, y = moons
    make = lambda **words: mercer.KernelSGDClassifier(0.01, gamma=2.0, iterations=5000, **words).fit(X, y)  # noqa: E731
    assert make(average=False).summary_.output == "last iterate"
    few = make(budget=20)
    assert len(few.support_) <= 20 and few.summary_.removals > 0 and few.summary_.output == "last iterate" and few.score(X, y) > 0.85
    np.testing.assert_array_equal(make(random_state=3).dual_coef_, make(random_state=3).dual_coef_)
    assert not np.array_equal(make(random_state=3).decision_function(X), make(random_state=4).decision_function(X))
    np.testing.assert_array_equal(make(n_jobs=1).dual_coef_, make(n_jobs=2).dual_coef_)
    streamed = make(memory=100000)
    assert make().summary_.stored and not streamed.summary_.stored
    np.testing.assert_allclose(streamed.decision_function(X), make().decision_function(X), atol=1e-9)


def test_classes_sparse_and_precomputed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    names = np.array(["ash", "birch", "cedar"])[np.argmax(X, axis=1)]
    model = mercer.KernelSGDClassifier(0.01, gamma=0.5).fit(X, names)
    assert model.decision_function(X).shape == (200, 3) and model.score(X, names) > 0.9
    one = mercer.KernelSGDClassifier(0.01, gamma=0.5).fit(X, names == "cedar")
    np.testing.assert_allclose(one.decision_function(X), model.decision_function(X)[:, 2], atol=1e-12)  # one against the rest, the same draws
    np.testing.assert_allclose(mercer.KernelSGDClassifier(0.01, gamma=0.5).fit(sp.csr_array(X), names).decision_function(X), model.decision_function(X), atol=1e-8)
    K = mercer.kernels.Gaussian(1.0)(X)
    given = mercer.KernelSGDClassifier(0.01, kernel="precomputed").fit(K, names)
    np.testing.assert_allclose(given.decision_function(K), model.decision_function(X), atol=1e-8)


def test_weights(moons):
    X, y = moons
    weight = np.where(y == 1, 3.0, 1.0)
    weight[:40] = 0
    make = lambda: mercer.KernelSGDClassifier(0.05, gamma=1.0, iterations=400000)  # noqa: E731
    weighted = make().fit(X, y, sample_weight=weight)
    repeated = make().fit(np.repeat(X, weight.astype(int), axis=0), np.repeat(y, weight.astype(int)))
    # The same minimum: both are near it by their own certificates, and lambda/2 |w - w*|^2 is at most the gap.
    apart = np.abs(weighted.decision_function(X) - repeated.decision_function(X)).max()
    assert apart <= sum(np.sqrt(2 * m.summary_.gap / 0.05) for m in (weighted, repeated))
    assert apart < 0.2
    assert weighted.support_.min() >= 40
    with pytest.raises(ValueError, match="the class 1 has no sample of positive weight"):
        make().fit(X, y, sample_weight=(y == 0).astype(float))
    with pytest.raises(ValueError, match="sample_weight must be >= 0"):
        make().fit(X, y, sample_weight=-weight)


def test_gamma_by_a_word(moons):
    X, y = moons
    for make in (lambda gamma: mercer.KernelSGDClassifier(0.01, gamma=gamma, iterations=2000), lambda gamma: mercer.KernelMeanClassifier(gamma=gamma)):
        for word, gamma in (("scale", 1 / (X.shape[1] * X.var())), ("auto", 1 / X.shape[1])):
            np.testing.assert_allclose(make(word).fit(X, y).decision_function(X), make(gamma).fit(X, y).decision_function(X), rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(make(word).fit(sp.csr_array(X), y).decision_function(X), make(gamma).fit(X, y).decision_function(X), atol=1e-8)
        with pytest.raises(ValueError, match="gamma must be 'scale', 'auto'"):
            make("scales").fit(X, y)


def test_files_and_pickles(moons, tmp_path):
    X, y = moons
    for labels in (y, np.array(["a", "b"])[y.astype(int)], np.arange(150) % 3):
        model = mercer.KernelSGDClassifier(0.02, gamma=0.3, iterations=2000).fit(X, labels)
        mercer.save(model, tmp_path / "m.mercer")
        again = mercer.load(tmp_path / "m.mercer")
        assert isinstance(again, mercer.KernelSGDClassifier) and again.lambda_ == 0.02 and again.average is True
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(again.predict(X).astype(str), model.predict(X).astype(str))
        np.testing.assert_array_equal(again.support_, model.support_)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert mercer.info(tmp_path / "m.mercer")["kind"] == "sgd-svm"


def test_what_cannot_be_fitted_is_said(moons):
    X, y = moons
    for parameters, message in (
        ({"lambda_": 0}, "lambda_ must be a finite number > 0, or None, got 0"),
        ({"iterations": 0}, "iterations must be a whole number of at least 1"),
        ({"budget": 2.5}, "budget must be a whole number of at least 1"),
        ({"average": "yes"}, "average must be True, False or None"),
        ({"average": True, "budget": 5}, "more support vectors than a budget allows"),
        ({"kernel": "sigmoid"}, "not positive semi-definite"),
    ):
        with pytest.raises(ValueError, match=message):
            mercer.KernelSGDClassifier(**parameters).fit(X, y)
    with pytest.raises(ValueError, match="at least two classes"):
        mercer.KernelSGDClassifier().fit(X, np.zeros(len(X)))
