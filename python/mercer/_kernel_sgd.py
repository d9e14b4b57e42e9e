"""The support vector machine by stochastic gradients, with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from . import _estimators, _mercer, _run, _validation
from ._convex import KernelExpansion, count, positive
from ._kernel import Kernel

__all__ = ["KernelSGDClassifier"]


class KernelSGDClassifier(ClassifierMixin, KernelExpansion):
    """Soft-margin SVM without bias by stochastic gradients: minimises lambda/2 |w|^2 + mean_i max(0, 1 - y_i <w, psi(x_i)>).

    One sample, drawn at random, a step; more than two classes are taken one against the rest.

    Parameters
    ----------
    lambda_ : float, optional
        Weight of |w|^2 / 2, which is 1 / (C n) of :class:`sklearn.svm.SVC` (and twice the lambda_ of :class:`mercer.RepresenterRegressor`).
        None is 1 / n, C = 1.
    kernel : str, mercer.Kernel or callable, default "rbf"
        As in :class:`mercer.KernelRidge`; gamma, degree, coef0 and kernel_params too (gamma=None is 1 / n_features,
        "scale" 1 / (n_features X.var())).
    iterations : int, optional
        Steps. None is 20 for each sample, at least 100000.
    average : bool, optional
        True: the average of all iterates. False: the last one. None is True without a budget, False with one.
    budget : int, optional
        Support vectors per class at most. None is no limit.
    n_jobs, memory, verbose
        As in :class:`mercer.KernelRidge`. The Gram matrix is stored where it fits ``memory``, else streamed.
    random_state : int, RandomState or None
        Draws the samples; None is 0.

    Attributes
    ----------
    classes_ : the labels in order.
    support_ : indices of the support vectors among the training samples.
    support_vectors_ : their rows.
    dual_coef_ : coefficients of k(x_i, .) of the support vectors, one column for two classes, else one per class.
    n_iter_, summary_, kernel_, model_ : as in the other estimators; summary_ has the objective and a duality gap.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> mercer.KernelSGDClassifier(0.01, gamma=1.0, iterations=20000).fit(X, y).predict(X[:3]).shape
    (3,)
    """

    def __init__(
        self,
        lambda_: float | None = None,
        *,
        kernel: str | Kernel | Callable[..., float] = "rbf",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        iterations: int | None = None,
        average: bool | None = None,
        budget: int | None = None,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.lambda_ = lambda_
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.iterations = iterations
        self.average = average
        self.budget = budget
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelSGDClassifier:
        """Fit to rows X (n x features, dense or sparse) and labels y; samples are drawn in proportion to sample_weight."""
        X, y = _validation.validate(self, X, y, accept_sparse="csr", dtype=_estimators.FLOATS, order="C", copy=True)
        check_classification_targets(y)
        lambda_ = positive("lambda_", self.lambda_, optional=True)
        iterations = count("iterations", self.iterations, optional=True)
        budget = count("budget", self.budget, optional=True)
        if self.average is not None and not isinstance(self.average, bool | np.bool_):
            raise ValueError(f"average must be True, False or None, got {self.average!r}")
        average = None if self.average is None else bool(self.average)
        self.classes_, labels = np.unique(y, return_inverse=True)
        _estimators.require_two_classes(self.classes_)
        weight = _estimators.weights(sample_weight, X)
        _estimators.require_weight(self.classes_, labels, weight)
        native, rows = self._bound(X)
        with _run.progress(self.verbose) as bar:
            self.model_ = _mercer.fit_kernel_sgd(
                rows, labels.tolist(), native, lambda_, iterations, average, budget, self._seed(), weight, *self._run(), bar
            )
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores: (n,) for two classes, positive for the second; else (n, classes)."""
        scores = self._apply("predict", X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The label of the largest score of each row."""
        scores = self._apply("predict", X)
        return self.classes_[_mercer.classes_from_scores(scores)]

    @property
    def support_(self) -> np.ndarray:
        return np.asarray(self._fitted("support_").support, dtype=np.intp)

    @property
    def support_vectors_(self) -> Any:
        self._fitted("support_vectors_")
        return self.X_fit_

    @property
    def dual_coef_(self) -> np.ndarray:
        coef = self._fitted("dual_coef_").dual_coef
        coef.flags.writeable = False
        return coef
