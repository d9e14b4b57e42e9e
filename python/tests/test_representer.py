"""The representer solver against the dedicated solvers of scikit-learn and general ones of scipy, to 1e-6 in the objective."""
import pickle

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from sklearn.linear_model import PoissonRegressor
from sklearn.svm import SVC, SVR

import mercer
from mercer.kernels import Gaussian


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 2))
    y = 2 * np.sin(2 * X[:, 0]) + 0.5 * rng.normal(size=120) + 0.3
    return X, y


LOSSES = {
    "squared": lambda y, z: (y - z) ** 2,
    "huber": lambda y, z: np.where(np.abs(y - z) <= 0.5, (y - z) ** 2 / 2, 0.5 * (np.abs(y - z) - 0.25)),
    "epsilon_insensitive": lambda y, z: np.maximum(0, np.abs(y - z) - 0.2),
    "squared_epsilon_insensitive": lambda y, z: np.maximum(0, np.abs(y - z) - 0.2) ** 2,
    "quantile": lambda y, z: np.maximum(0.8 * (y - z), -0.2 * (y - z)),
    "expectile": lambda y, z: np.where(y > z, 0.8, 0.2) * (y - z) ** 2,
    "hinge": lambda y, z: np.maximum(0, 1 - y * z),
    "squared_hinge": lambda y, z: np.maximum(0, 1 - y * z) ** 2,
    "logistic": lambda y, z: np.logaddexp(0, -y * z),
}
PARAMETERS = {"quantile": 0.8, "epsilon": 0.2, "delta": 0.5}


def objective(loss, y, scores, squared_norm, lambda_):
    return LOSSES[loss](y, scores).mean() + lambda_ * squared_norm


def fitted(loss, X, y, lambda_, **parameters):
    model = mercer.RepresenterRegressor(loss, lambda_=lambda_, **PARAMETERS, **parameters).fit(X, y)
    mine = objective(loss, y, model.scores(X), model.summary_.squared_norm, lambda_)
    assert mine == pytest.approx(model.summary_.objective, rel=1e-9)
    return model, mine


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_hinge_is_the_support_vector_machine(data, C):
    X, y = data[0], np.sign(data[1])
    twin = SVC(C=C, gamma=0.5, tol=1e-8).fit(X, y)
    a = twin.dual_coef_[0]
    norm = a @ Gaussian(1)(twin.support_vectors_) @ a
    lambda_ = 1 / (2 * len(y) * C)
    model, mine = fitted("hinge", X, y, lambda_, gamma=0.5)
    # The machine's dual value: its primal one hangs on its intercept, which libsvm's stopping rule leaves 1e-6 above the optimum for C = 100.
    assert mine == pytest.approx(2 * lambda_ * (np.abs(a).sum() - norm / 2), rel=1e-6)
    assert mine <= objective("hinge", y, twin.decision_function(X), norm, lambda_) * (1 + 1e-7)
    # The coefficients are those of the machine: zero off the margin, C inside it.
    np.testing.assert_allclose(np.flatnonzero(model.dual_coef_), np.sort(twin.support_))


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_epsilon_insensitive_is_support_vector_regression(data, C):
    X, y = data
    twin = SVR(C=C, gamma=0.5, epsilon=0.2, tol=1e-8).fit(X, y)
    a = twin.dual_coef_[0]
    norm = a @ Gaussian(1)(twin.support_vectors_) @ a
    lambda_ = 1 / (2 * len(y) * C)
    mine = fitted("epsilon_insensitive", X, y, lambda_, gamma=0.5)[1]
    assert mine == pytest.approx(objective("epsilon_insensitive", y, twin.predict(X), norm, lambda_), rel=1e-6)


@pytest.mark.parametrize("loss", ["squared", "huber", "expectile", "squared_epsilon_insensitive", "squared_hinge", "logistic"])
def test_smooth_losses_against_scipy_on_linear_features(data, loss):
    X, y = data[0], np.sign(data[1]) if loss in ("squared_hinge", "logistic") else data[1]
    mine = fitted(loss, X, y, 1e-2, kernel="linear")[1]
    found = minimize(lambda w: objective(loss, y, X @ w[:2] + w[2], w[:2] @ w[:2], 1e-2), np.zeros(3), method="BFGS", options={"gtol": 1e-10})
    assert mine == pytest.approx(found.fun, rel=1e-6)


def test_quantile_against_an_oracle_of_linear_programs(data):
    """|w|_1 in place of |w|^2 would be a linear program; with one feature |w|^2 is a search over |w|, each step a linear program."""
    X, y = data[0][:, :1], data[1]
    n, lambda_ = len(y), 1e-2

    def best_loss(w):  # over b: a linear program, whose solution is a quantile of the residuals
        r = y - X[:, 0] * w
        program = linprog(np.r_[0, np.full(n, 0.8), np.full(n, 0.2)], A_eq=np.c_[np.ones(n), np.eye(n), -np.eye(n)], b_eq=r, bounds=[(None, None)] + [(0, None)] * 2 * n)
        return program.fun / n + lambda_ * w * w

    low, high = -3.0, 3.0
    for _ in range(60):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if best_loss(a) < best_loss(b) else (a, high)
    assert fitted("quantile", X, y, lambda_, kernel="linear")[1] == pytest.approx(best_loss((low + high) / 2), rel=1e-6)


def test_poisson_is_scikit_learns(data):
    X = data[0]
    y = np.random.default_rng(2).poisson(np.exp(0.5 + X[:, 0] - 0.3 * X[:, 1])).astype(float)
    twin = PoissonRegressor(alpha=0.1, tol=1e-10, max_iter=10000).fit(X, y)  # half the mean deviance / 1 + alpha/2 |w|^2
    ours = mercer.RepresenterRegressor("poisson", kernel="linear", lambda_=0.05, tol=1e-11).fit(X, y)  # predictions are off by the root of the gap
    np.testing.assert_allclose(ours.predict(X), twin.predict(X), rtol=1e-5)
    assert ours.summary_.objective == pytest.approx(np.mean(twin.predict(X) - y * np.log(twin.predict(X)) + np.where(y > 0, y * np.log(np.maximum(y, 1)) - y, 0)) + 0.05 * (twin.coef_**2).sum(), rel=1e-6)
    np.testing.assert_allclose(np.log(ours.predict(X)), ours.scores(X), rtol=1e-9)


def test_squared_is_kernel_ridge(data):
    X, y = data
    Y = np.column_stack([y, X[:, 1] ** 2])
    ours = mercer.RepresenterRegressor(lambda_=1e-3, gamma=0.5, tol=1e-12).fit(X, Y)
    ridge = mercer.KernelRidge(lambda_=1e-3, kernel="rbf", gamma=0.5, fit_intercept=True).fit(X, Y)
    np.testing.assert_allclose(ours.predict(X), ridge.predict(X), atol=1e-8)
    assert ours.dual_coef_.shape == (120, 2) and ours.intercept_.shape == (2,)


class LogCosh:
    def __init__(self):
        self.sizes = set()

    def value(self, y, z):
        r = np.abs(y - z)
        return r + np.log1p(np.exp(-2 * r)) - np.log(2)

    def derivative(self, y, z):
        self.sizes.add(len(z))
        return np.tanh(z - y)

    def second_derivative(self, y, z):
        return 1 - np.tanh(z - y) ** 2


class Ranking:
    """All pairs, ranked by a logistic loss of their difference: no sum over samples."""

    def joint(self, y, z):
        first, second = np.nonzero(y[:, None] > y[None, :])
        wrong = 1 / (1 + np.exp(z[first] - z[second]))
        gradient = np.bincount(second, wrong, len(z)) - np.bincount(first, wrong, len(z))
        return -np.log1p(-wrong).mean(), gradient / len(first)


def test_losses_written_in_python(data):
    X, y = data
    loss = LogCosh()
    model = mercer.RepresenterRegressor(loss, lambda_=1e-3, gamma=0.5, tol=1e-12).fit(X, y)
    slope = np.tanh(model.predict(X) - y) / len(y)
    np.testing.assert_allclose(2e-3 * model.dual_coef_, -slope, atol=1e-7)
    assert abs(slope.sum()) < 1e-9 and loss.sizes == {120}, "called with all samples at once"
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))

    class Broken(LogCosh):
        def derivative(self, y, z):
            return z[:3]

    with pytest.raises(ValueError, match=r"Broken.derivative must give one number per sample, shape \(120,\), got shape \(3,\)"):
        mercer.RepresenterRegressor(Broken()).fit(X, y)

    class Raises(LogCosh):
        def derivative(self, y, z):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        mercer.RepresenterRegressor(Raises()).fit(X, y)
    with pytest.raises(ValueError, match="or an object with value, derivative, second_derivative"):
        mercer.RepresenterRegressor(3).fit(X, y)


def test_a_joint_cost_ranks(data):
    X, y = data
    model = mercer.RepresenterRegressor(Ranking(), lambda_=1e-4, gamma=0.5, fit_intercept=False).fit(X, y)
    z = model.predict(X)
    assert np.mean((z[:, None] - z[None, :])[y[:, None] > y[None, :]] > 0) > 0.85
    value, gradient = Ranking().joint(y, z)
    assert model.summary_.objective == pytest.approx(value + 1e-4 * model.summary_.squared_norm, rel=1e-9)
    with pytest.raises(ValueError, match="no sample_weight"):
        mercer.RepresenterRegressor(Ranking()).fit(X, y, sample_weight=np.ones(120))


def test_omega_of_the_norm(data):
    X, y = data
    model = mercer.RepresenterRegressor("huber", gamma=0.5, omega=lambda norm: 0.05 * norm).fit(X, y)
    assert 2 * model.lambda_fit_ * np.sqrt(model.summary_.squared_norm) == pytest.approx(0.05, rel=1e-2)


def test_files_and_messages(data, tmp_path):
    X, y = data
    model = mercer.RepresenterRegressor("quantile(0.9)", gamma=0.5, lambda_=1e-3).fit(X, y)
    mercer.save(model, tmp_path / "q.mercer")
    again = mercer.load(tmp_path / "q.mercer")
    assert again.loss == "quantile(0.9)" and str(again.summary_) == str(model.summary_)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    for parameters, message in (
        ({"loss": "hugs"}, '"hugs" is not a loss; known are squared, hinge'),
        ({"loss": "quantile", "quantile": 2}, "quantile must lie between 0 and 1, got 2"),
        ({"lambda_": 0}, "lambda_ must be a finite number > 0"),
        ({"loss": "hinge"}, "wants targets -1 or 1"),
        ({"kernel": "sigmoid"}, "not positive semi-definite"),
    ):
        with pytest.raises(ValueError, match=message):
            mercer.RepresenterRegressor(**parameters).fit(X, y)


def test_landmarks(data):
    X, y = data
    some = mercer.RepresenterRegressor("huber", gamma=0.1, n_landmarks=60).fit(X, y)
    np.testing.assert_allclose(some.predict(X), mercer.RepresenterRegressor("huber", gamma=0.1).fit(X, y).predict(X), atol=1e-3)
    assert some.X_fit_.shape == (60, 2)


class Half:
    """Its derivative is half of what it should be."""

    def value(self, y, z):
        return (z - y) ** 2

    def derivative(self, y, z):
        return z - y

    def second_derivative(self, y, z):
        return np.ones_like(z)


class Absolute(Half):
    """A corner at every y, some of them where the check looks."""

    def value(self, y, z):
        return np.hypot(z - y, 1e-3)

    def derivative(self, y, z):
        return (z - y) / np.hypot(z - y, 1e-3)

    def second_derivative(self, y, z):
        return 1e-6 / np.hypot(z - y, 1e-3) ** 3


def test_a_loss_of_the_user_is_checked(data):
    X, y = data
    with pytest.raises(ValueError, match=r"the derivative of the loss custom\(Half\) disagrees with its value at y = "):
        mercer.RepresenterRegressor(Half()).fit(X, y)
    with pytest.raises(TypeError, match=r"loss is the class Half; give an instance of it, Half\(...\)"):
        mercer.RepresenterRegressor(Half).fit(X, y)
    nothing = Half()
    nothing.second_derivative = lambda y, z: None
    with pytest.raises(ValueError, match="Half.second_derivative must give one number per sample, got NoneType"):
        mercer.RepresenterRegressor(nothing).fit(X, y)
    column = Half()
    column.derivative = lambda y, z: (z - y)[:, None]
    with pytest.raises(ValueError, match=r"Half.derivative must give one number per sample, shape \(120,\), got shape \(120, 1\)"):
        mercer.RepresenterRegressor(column).fit(X, y)
    at_zero = np.where(np.arange(120) % 3 == 0, 0, y)
    mercer.RepresenterRegressor(Absolute(), lambda_=0.1).fit(X, at_zero)


def test_targets_far_from_zero_and_too_large_to_square(data):
    X, y = data
    for loss in ("squared", "quantile(0.7)"):
        near = mercer.RepresenterRegressor(loss, gamma=0.5).fit(X, y).predict(X)
        for far in (1e9, 1e11):
            np.testing.assert_allclose(mercer.RepresenterRegressor(loss, gamma=0.5).fit(X, y + far).predict(X) - far, near, atol=1e-2)
    np.testing.assert_allclose(mercer.RepresenterRegressor(gamma=0.5).fit(X, 1e11 * y).predict(X) / 1e11, mercer.RepresenterRegressor(gamma=0.5).fit(X, y).predict(X), atol=1e-3)
    models = (mercer.KernelRidge(), mercer.KernelRidgeCV(), mercer.GaussianProcessRegressor(), mercer.FalkonRegressor(), mercer.RandomFeatureRidge(), mercer.Ridge(), mercer.RepresenterRegressor())
    for model in models:
        with pytest.raises(ValueError, match=r"y is too large to square \(largest \|y\| is .*e\+200\); divide it"):
            model.fit(X, 1e200 * y)


def test_one_row_to_train_on_and_an_intercept(capfd):
    X, y = np.arange(2.0)[:, None], np.array([1.0, 2.0])
    mercer.KernelRidgeCV(alphas=[0.1, 1.0], cv=2, fit_intercept=True).fit(X, y)
    assert "DPBTRS" not in "".join(capfd.readouterr())


def test_labels_in_messages():
    X, w = np.arange(6.0)[:, None], np.array([1.0, 1, 1, 0, 0, 0])
    for model in (mercer.KernelLogisticRegression(), mercer.FalkonClassifier(), mercer.RandomFeatureRidgeClassifier()):
        with pytest.raises(ValueError, match="a classifier needs at least two classes, but y has one class: 0$"):
            model.fit(X, np.zeros(6, dtype=int))
    with pytest.raises(ValueError, match="the class 'low' has no sample of positive weight"):
        mercer.KernelLogisticRegression().fit(X, ["high"] * 3 + ["low"] * 3, sample_weight=w)


def test_learn_kernel_takes_the_words_of_estimators(data):
    X, y = data
    assert str(mercer.learn_kernel(X, y, "rbf", n_restarts=0).kernel).startswith("gaussian(")
