"""The representer solver: any convex loss in the function space of a kernel."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from . import _callbacks, _estimators, _mercer, _run, _validation
from ._convex import KernelExpansion, count, positive
from ._kernel import Kernel

__all__ = ["RepresenterRegressor"]

# Which parameter of the estimator belongs to which loss.
_PARAMETERS = {
    "huber": "delta",
    "epsilon_insensitive": "epsilon",
    "squared_epsilon_insensitive": "epsilon",
    "quantile": "quantile",
    "expectile": "quantile",
}


class _LossCallback:
    """value, derivative and second_derivative of a user's loss as three rows, checked here where its name is known."""

    def __init__(self, loss: Any) -> None:
        self.loss = loss
        self.name = _callbacks.name_of(loss)

    def __call__(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        rows = []
        for name in ("value", "derivative", "second_derivative"):
            given = getattr(self.loss, name)(y, z)
            try:
                got = np.asarray(given if given is not None else "None", dtype=np.float64)
            except (TypeError, ValueError):
                raise ValueError(f"{self.name}.{name} must give one number per sample, got {type(given).__name__}") from None
            if got.shape not in ((), z.shape):
                raise ValueError(f"{self.name}.{name} must give one number per sample, shape {z.shape}, got shape {got.shape}")
            rows.append(np.broadcast_to(got, z.shape))
        return np.ascontiguousarray(rows)


class RepresenterRegressor(MultiOutputMixin, RegressorMixin, KernelExpansion):
    """Any convex loss with a kernel: minimises (1 / sum w) sum_i w_i loss(y_i, f(x_i) + b) + lambda |f|^2.

    Parameters
    ----------
    loss : str or object, default "squared"
        "squared", "huber", "epsilon_insensitive", "squared_epsilon_insensitive", "quantile", "expectile", "poisson", and for targets -1 and 1 "hinge",
        "squared_hinge", "logistic"; a number may stand behind the word, as in "quantile(0.9)". An object with methods value(y, z),
        derivative(y, z) and second_derivative(y, z), each over arrays of all samples, is a convex loss of your own; one with a method
        joint(y, z) -> (value, gradient) is a cost of all scores together (one target, no weights; lambda |f|^2 is added).
    lambda_ : float, default 0.01
        The penalty; C of a support vector machine is 1 / (2 n lambda).
    kernel : str, mercer.Kernel or callable, default "rbf"
        As in :class:`mercer.KernelRidge`; gamma, degree, coef0 and kernel_params too (gamma=None is 1 / n_features).
    fit_intercept : bool, default True
        Fit b, without penalty.
    quantile : float, default 0.5
        Level of "quantile" and "expectile".
    epsilon : float, default 0.1
        Width of the insensitive losses.
    delta : float, default 1.345
        Where the Huber loss becomes linear.
    omega : callable, optional
        A nondecreasing function of |f|, in place of lambda |f|^2.
    n_landmarks : int, optional
        Functions in the span of so many rows, drawn at random: no n x n matrix. None: all rows.
    tol : float, default 1e-7
        Stop when the duality gap, relative to the objective, is below.
    max_iter : int, default 300
        Newton steps at most.
    n_jobs, memory, verbose
        As in :class:`mercer.KernelRidge`.
    random_state : int, RandomState or None
        Draws the landmarks; None is 0.

    Attributes
    ----------
    dual_coef_ : coefficients of k(x_i, .), of y's shape.
    intercept_ : b, a number or one per target.
    lambda_fit_ : the penalty that gives this function; lambda_ unless omega is given.
    n_iter_, summary_, kernel_, X_fit_, model_ : as in the other estimators; summary_ has the objective, the duality gap and the gradient norm.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.waves(100, random_state=0)
    >>> upper = mercer.RepresenterRegressor("quantile", quantile=0.9, lambda_=1e-4, gamma=1.0).fit(X, y)
    >>> above = y - upper.predict(X)      # nine tenths are not; some rows lie on the curve
    >>> bool((above < -1e-6).sum() <= 90 <= (above < 1e-6).sum())
    True
    """

    def __init__(
        self,
        loss: Any = "squared",
        *,
        lambda_: float = 0.01,
        kernel: str | Kernel | Callable[..., float] = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        fit_intercept: bool = True,
        quantile: float = 0.5,
        epsilon: float = 0.1,
        delta: float = 1.345,
        omega: Callable[[float], float] | None = None,
        n_landmarks: int | None = None,
        tol: float = 1e-7,
        max_iter: int = 300,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.loss = loss
        self.lambda_ = lambda_
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.quantile = quantile
        self.epsilon = epsilon
        self.delta = delta
        self.omega = omega
        self.n_landmarks = n_landmarks
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose

    def _loss(self) -> _mercer.Loss:
        if isinstance(self.loss, type):
            raise TypeError(f"loss is the class {self.loss.__name__}; give an instance of it, {self.loss.__name__}(...)")
        if not isinstance(self.loss, str):
            missing = [name for name in ("value", "derivative", "second_derivative") if not callable(getattr(self.loss, name, None))]
            if missing:
                raise ValueError(f"loss must be a word ({', '.join(_mercer.loss_names())}) or an object with {', '.join(missing)}, got {self.loss!r}")
            callback = _LossCallback(self.loss)
            return _mercer.custom_loss(callback.name, callback)
        parameter = _PARAMETERS.get(self.loss)
        return _mercer.parse_loss(self.loss if parameter is None else f"{self.loss}({float(getattr(self, parameter))!r})")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RepresenterRegressor:
        """Fit to rows X (n x features, dense or sparse) and targets y (n, or n x targets, each fitted by itself)."""
        X, y = _validation.validate(
            self, X, y, accept_sparse="csr", dtype=_estimators.FLOATS, order="C", copy=True, multi_output=True, y_numeric=True
        )
        joint = None if isinstance(self.loss, type) else getattr(self.loss, "joint", None)
        lambda_ = positive("lambda_", self.lambda_)
        landmarks = count("n_landmarks", self.n_landmarks, optional=True)
        weight = _estimators.weights(sample_weight, X)
        native, rows = self._bound(X)
        settings = _mercer.RepresenterSettings(
            native, lambda_, bool(self.fit_intercept), landmarks, self._seed(), positive("tol", self.tol), count("max_iter", self.max_iter)
        )
        self._single_target = y.ndim == 1
        with _run.progress(self.verbose) as bar:
            if callable(joint):
                self.model_ = _mercer.fit_joint_cost(rows, settings, self._joint(joint, y, sample_weight, landmarks), *self._run(), bar)
            else:
                self.model_ = _mercer.fit_representer(rows, _estimators.targets(y), settings, self._loss(), self.omega, weight, *self._run(), bar)
        return self._said()

    def _joint(self, joint: Any, y: np.ndarray, sample_weight: Any, landmarks: int) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
        if y.ndim != 1 or sample_weight is not None or self.omega is not None or landmarks:
            raise ValueError("a joint cost takes one target and no sample_weight, omega or n_landmarks")

        def cost(z: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = joint(y, z)
            return float(value), np.ascontiguousarray(gradient, dtype=np.float64).reshape(-1)

        return cost

    def scores(self, X: Any) -> np.ndarray:
        """f(x) + b, before any link; `decision_function` is a word of classifiers."""
        f = self._apply("scores", X)
        return f[:, 0] if self._single_target else f

    def predict(self, X: Any) -> np.ndarray:
        """What the score stands for: exp(f(x) + b) for "poisson", f(x) + b for all others."""
        f = self._apply("predict", X)
        return f[:, 0] if self._single_target else f

    @property
    def dual_coef_(self) -> np.ndarray:
        coef = self._fitted("dual_coef_").dual_coef
        coef.flags.writeable = False
        return coef[:, 0] if self._single_target else coef

    @property
    def intercept_(self) -> float | np.ndarray:
        b = self._fitted("intercept_").intercept
        return float(b[0]) if self._single_target else b

    @property
    def lambda_fit_(self) -> float | np.ndarray:
        values = self._fitted("lambda_fit_").lambda_
        return float(values[0]) if self._single_target else values
