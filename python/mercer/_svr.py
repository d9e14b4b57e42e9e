"""Support vector regression and one-class machines with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import OutlierMixin, RegressorMixin

from . import _estimators, _mercer, _run
from ._convex import positive
from ._kernel import Kernel
from ._svm_base import OneFunction, flag, share

__all__ = ["SVR", "NuSVR", "OneClassSVM"]


def _targets(y: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(y, dtype=np.float64)


class _Regression(RegressorMixin, OneFunction):
    def predict(self, X: Any) -> np.ndarray:
        """f(x) + b of each row."""
        return self._values(X)


class SVR(_Regression):
    """Epsilon support vector regression: minimises |f|^2 / 2 + C sum_i w_i max(0, |y_i - f(x_i) - b| - epsilon).

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, verbose, max_iter
        As in :class:`mercer.SVC`.
    C : float, default 1
        Weight of the losses.
    epsilon : float, default 0.1
        Errors up to this cost nothing.
    lambda_, fit_intercept, warm_start, time_limit, n_jobs, memory, random_state (not used; every estimator takes it)
        As in :class:`mercer.SVC`.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, fit_status_, shape_fit_ : as scikit-learn's.
    n_iter_ : steps of the solver.
    objective_, gap_, summary_, kernel_, model_ : as in :class:`mercer.SVC`.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.waves(100, random_state=0)
    >>> mercer.SVR(C=10, gamma=1.0).fit(X, y).score(X, y) > 0.8
    True
    """

    def __init__(
        self,
        *,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        lambda_: float | None = None,
        fit_intercept: bool = True,
        warm_start: bool = False,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.lambda_ = lambda_
        self.fit_intercept = fit_intercept
        self.warm_start = warm_start
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVR:
        """Fit to rows X (n x features, dense or sparse; kernel values where they are precomputed) and numbers y."""
        solver, C, lambda_ = self._solver(), positive("C", self.C), positive("lambda_", self.lambda_, optional=True)
        if isinstance(self.epsilon, bool) or not isinstance(self.epsilon, Real) or not 0 <= self.epsilon < np.inf:
            raise ValueError(f"epsilon must be a finite number >= 0, got {self.epsilon!r}")
        X, y = self._rows_in(X, y, y_numeric=True)
        weight = _estimators.weights(sample_weight, X)
        native, rows = self._bound(X)
        bias, start = flag("fit_intercept", self.fit_intercept), self._start(len(y), 1)
        if start.size and len(weight):
            start[weight == 0] = 0  # left out
        with _run.progress(self.verbose) as bar:
            self.model_ = _mercer.fit_svr(
                rows, _targets(y), native, weight, solver, C, lambda_, float(self.epsilon), bias, start, *self._run(), bar
            )
        self.shape_fit_ = X.shape
        return self._said()


class NuSVR(_Regression):
    """Nu support vector regression: epsilon is found such that at most a share nu of the samples lies outside the tube.

    Parameters
    ----------
    nu : float in (0, 1], default 0.5
        At most this share of samples outside, at least this share support vectors.
    C : float, default 1
        Weight of the losses.
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, time_limit, n_jobs, memory, random_state
        As in :class:`mercer.SVC`.

    Attributes
    ----------
    epsilon_ : the half width of the tube that was found.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, ... : as in :class:`mercer.SVR`.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.waves(100, random_state=0)
    >>> mercer.NuSVR(nu=0.2, C=10, gamma=1.0).fit(X, y).epsilon_ > 0
    True
    """

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        random_state: Any = None,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NuSVR:
        """Fit to rows X (n x features, dense or sparse; kernel values where they are precomputed) and numbers y."""
        solver, C, nu = self._solver(), positive("C", self.C), share("nu", self.nu)
        X, y = self._rows_in(X, y, y_numeric=True)
        weight = _estimators.weights(sample_weight, X)
        native, rows = self._bound(X)
        with _run.progress(self.verbose) as bar:
            self.model_ = _mercer.fit_nu_svr(rows, _targets(y), native, weight, solver, C, nu, *self._run(), bar)
        self.shape_fit_ = X.shape
        return self._said()

    @property
    def epsilon_(self) -> float:
        return self._fitted("epsilon_").epsilon


class OneClassSVM(OutlierMixin, OneFunction):
    """The region where most samples lie: f is positive inside, and at most a share nu of the training samples is left outside.

    Parameters
    ----------
    nu : float in (0, 1], default 0.5
        At most this share of samples outside, at least this share support vectors.
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, verbose, max_iter, time_limit, n_jobs, memory, random_state
        As in :class:`mercer.SVC`.

    Attributes
    ----------
    offset_ : rho in f = sum_i alpha_i k(x_i, .) - rho; decision_function is score_samples less this.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, ... : as in :class:`mercer.SVR`.

    Examples
    --------
    >>> import mercer
    >>> mercer.OneClassSVM(gamma=0.5, nu=0.4).fit([[0.0], [0.4], [0.5], [0.6], [1.0]]).predict([[0.5], [9.0]])
    array([ 1, -1])
    """

    def __init__(
        self,
        *,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> OneClassSVM:
        """Fit to rows X (n x features, dense or sparse; kernel values where they are precomputed); y is not looked at."""
        solver, nu = self._solver(), share("nu", self.nu)
        X = self._rows_in(X)
        weight = _estimators.weights(sample_weight, X)
        native, rows = self._bound(X)
        with _run.progress(self.verbose) as bar:
            self.model_ = _mercer.fit_one_class(rows, native, weight, solver, nu, *self._run(), bar)
        self.shape_fit_ = X.shape
        return self._said()

    def decision_function(self, X: Any) -> np.ndarray:
        """f(x) of each row: positive inside."""
        return self._values(X)

    def score_samples(self, X: Any) -> np.ndarray:
        """f(x) + rho of each row."""
        return self._values(X) + self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """+1 inside, -1 outside."""
        return np.where(self._values(X) >= 0, 1, -1)

    @property
    def offset_(self) -> np.ndarray:
        return -self._fitted("offset_").intercept
