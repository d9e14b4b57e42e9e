"""Kernel logistic regression with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from . import _estimators, _mercer, _run, _validation
from ._convex import KernelExpansion, count, positive
from ._kernel import Kernel

__all__ = ["KernelLogisticRegression"]


class KernelLogisticRegression(ClassifierMixin, KernelExpansion):
    """Logistic regression in the function space of a kernel: minimises C sum_i w_i logloss(y_i, f(x_i) + b) + |f|^2 / 2.

    Two classes share one function; more have one each under a softmax, fitted together. With ``kernel="linear"`` it is
    :class:`sklearn.linear_model.LogisticRegression`.

    Parameters
    ----------
    C : float, default 1
        Weight of the losses.
    kernel : str, mercer.Kernel or callable, default "rbf"
        As in :class:`mercer.KernelRidge`; gamma, degree, coef0 and kernel_params too (gamma=None is 1 / n_features).
    lambda_ : float, optional
        The penalty beside the mean loss, 1 / (2 C sum w); overrides C.
    fit_intercept : bool, default True
        Fit b, without penalty.
    class_weight : dict, "balanced" or None
        Weights of the classes, times those of the samples.
    solver : "auto", "exact" or "nystrom", default "auto"
        "exact" takes all rows; "nystrom" looks for functions in the span of n_landmarks rows and makes no n x n matrix; "auto" is exact up to 20000 rows.
    n_landmarks : int, optional
        None is 10 sqrt(n), between 500 and 3000.
    tol : float, default 1e-7
        Stop when the duality gap, relative to the objective, is below.
    max_iter : int, default 100
        Newton steps at most.
    n_jobs, memory, verbose
        As in :class:`mercer.KernelRidge`.
    random_state : int, RandomState or None
        Draws the landmarks; None is 0.

    Attributes
    ----------
    classes_ : the labels in order.
    dual_coef_ : coefficients of k(x_i, .), one column for two classes, else one per class; of landmarks where there are any.
    intercept_ : b, one per column of dual_coef_.
    n_iter_, summary_, kernel_, X_fit_, model_ : as in the other estimators; X_fit_ has the rows that dual_coef_ belongs to.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> mercer.KernelLogisticRegression(C=10, gamma=1.0).fit(X, y).predict_proba(X[:3]).shape
    (3, 2)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str | Kernel | Callable[..., float] = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        lambda_: float | None = None,
        fit_intercept: bool = True,
        class_weight: Any = None,
        solver: str = "auto",
        n_landmarks: int | None = None,
        tol: float = 1e-7,
        max_iter: int = 100,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.lambda_ = lambda_
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelLogisticRegression:
        """Fit to rows X (n x features, dense or sparse) and labels y."""
        X, y = _validation.validate(self, X, y, accept_sparse="csr", dtype=_estimators.FLOATS, order="C", copy=True)
        check_classification_targets(y)
        C, lambda_ = positive("C", self.C), positive("lambda_", self.lambda_, optional=True)
        tol, max_iter = positive("tol", self.tol), count("max_iter", self.max_iter)
        landmarks = count("n_landmarks", self.n_landmarks, optional=True)
        if self.solver not in ("auto", "exact", "nystrom"):
            raise ValueError(f'solver must be "auto", "exact" or "nystrom", got {self.solver!r}')
        weight = _estimators.weights(sample_weight, X)
        self.classes_, labels = np.unique(y, return_inverse=True)
        _estimators.require_two_classes(self.classes_)
        empty = np.bincount(labels, weights=weight if len(weight) else None) == 0
        if empty.any():
            raise ValueError(f"the class {_estimators.shown(self.classes_[empty])[0]} has no sample of positive weight")
        per_class = np.empty(0)
        if self.class_weight is not None:
            per_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y, **({"sample_weight": weight} if len(weight) else {}))
        native, rows = self._bound(X)
        with _run.progress(self.verbose) as bar:
            self.model_ = _mercer.fit_kernel_logistic(
                rows,
                labels.tolist(),
                native,
                C,
                lambda_,
                bool(self.fit_intercept),
                np.ascontiguousarray(per_class, dtype=np.float64),
                weight,
                self.solver,
                landmarks,
                self._seed(),
                tol,
                max_iter,
                *self._run(),
                bar,
            )
        return self._said()

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores: (n,) for two classes, positive for the second; else (n, classes)."""
        scores = self._apply("predict", X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The most probable label of each row."""
        scores = self._apply("predict", X)
        return self.classes_[_mercer.classes_from_scores(scores)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n, classes): the model's own probabilities, in the order of classes_."""
        return self._apply("probabilities", X)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Their logarithms, exact where probabilities round to 0."""
        return self._apply("log_probabilities", X)

    @property
    def dual_coef_(self) -> np.ndarray:
        coef = self._fitted("dual_coef_").dual_coef
        coef.flags.writeable = False
        return coef

    @property
    def intercept_(self) -> np.ndarray:
        return self._fitted("intercept_").intercept
