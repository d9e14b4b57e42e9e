"""Linear support vector machines with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import _data, _estimators, _mercer, _run, _validation
from ._base import BaseEstimator
from ._convex import count, positive

__all__ = ["LinearSVC"]

_SOLVERS = {"auto": "auto", True: "descent", False: "newton"}


class LinearSVC(ClassifierMixin, BaseEstimator):
    """Linear support vector classification: minimises |w|^2 / 2 + (b / s)^2 / 2 + C sum_i c_i loss(1 - y_i (w.x_i + b)), class against rest.

    A twin of :class:`sklearn.svm.LinearSVC` with the same objective. The loss is max(0, .)^2 or max(0, .), s is intercept_scaling, c_i the
    weight of the sample and its class. Rows may be dense or sparse, float32 or float64, and are used as they are.

    Parameters
    ----------
    penalty : "l2"
        "l1" is not offered.
    loss : "squared_hinge" or "hinge", default "squared_hinge"
    dual : "auto", True or False, default "auto"
        True is coordinate descent on the dual, False Newton on the primal (of either loss); "auto" is Newton where there are at least as
        many rows as columns or few columns, else coordinate descent.
    tol : float, default 1e-4
        Stop when the duality gap is below tol / 100 of the objective, which is about where scikit-learn ends with the same tol.
    C : float, default 1
        Weight of the losses.
    multi_class : "ovr"
        One class against the rest; "crammer_singer" is mercer.StructuredSVM.
    fit_intercept : bool, default True
        Fit b, penalised as above.
    intercept_scaling : float, default 1
        The larger, the less b is penalised.
    class_weight : dict, "balanced" or None
        As in scikit-learn: with more than two classes it is the weight of a class on its own turn, and the rest counts 1.
    verbose : int, default 0
        Not 0: a progress bar.
    random_state : int, RandomState or None
        The order in which coordinate descent visits rows; None is 0.
    max_iter : int, default 1000
        Newton steps, or passes over the rows.
    lambda_ : float, optional
        The penalty beside the mean loss, 1 / (2 C sum of sample_weight); overrides C.
    n_jobs, memory
        As in :class:`mercer.KernelRidge`.

    Attributes
    ----------
    coef_ : (1, features) for two classes, else (classes, features).
    intercept_ : b, one per row of coef_.
    classes_ : the labels in order.
    n_iter_ : steps of the class that took most.
    summary_ : objective, duality gap, seconds; prints as one sentence.
    model_ : the compiled model; ``model_.decision(x)`` gives scores without validation.
    n_features_in_, feature_names_in_ : as scikit-learn has them.

    Examples
    --------
    >>> import mercer
    >>> mercer.LinearSVC().fit([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"]).predict([[0.5], [3.5]])
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: Any = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        lambda_: float | None = None,
        n_jobs: int | None = None,
        memory: str | float | None = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.lambda_ = lambda_
        self.n_jobs = n_jobs
        self.memory = memory

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:  # scikit-learn would take the parameter lambda_ for a fitted attribute
        return "model_" in self.__dict__

    def _check_parameters(self) -> None:
        if self.penalty != "l2":
            remedy = "; penalty='l1' is not offered: use scikit-learn's LinearSVC for it" if self.penalty == "l1" else ""
            raise ValueError(f"penalty must be 'l2', got {self.penalty!r}{remedy}")
        if self.loss not in ("squared_hinge", "hinge"):
            raise ValueError(f"loss must be 'squared_hinge' or 'hinge', got {self.loss!r}")
        if not (isinstance(self.dual, bool | np.bool_) or (isinstance(self.dual, str) and self.dual == "auto")):
            raise ValueError(f"dual must be 'auto', True or False, got {self.dual!r}")
        if self.multi_class != "ovr":
            remedy = ": use 'ovr', or mercer.StructuredSVM, which is that machine" if self.multi_class == "crammer_singer" else ""
            raise ValueError(f"multi_class must be 'ovr', got {self.multi_class!r}, which is not offered{remedy}")

    def _seed(self) -> int:
        if self.random_state is None:
            return 0  # a fit is repeatable unless asked otherwise
        if isinstance(self.random_state, Integral):
            return int(self.random_state) % 2**64
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearSVC:
        """Fit to rows X (n x features, dense or sparse) and labels y."""
        self._check_parameters()
        C, lambda_ = positive("C", self.C), positive("lambda_", self.lambda_, optional=True)
        tol, max_iter = positive("tol", self.tol), count("max_iter", self.max_iter)
        scaling = positive("intercept_scaling", self.intercept_scaling) if self.fit_intercept else 1.0
        X, y = _validation.numbers(self, X, y, accept_sparse="csr", dtype=_estimators.FLOATS, order="C", accept_large_sparse=True)
        check_classification_targets(y)
        weight = _estimators.weights(sample_weight, X)
        self.classes_, labels = np.unique(y, return_inverse=True)
        _estimators.require_two_classes(self.classes_)
        empty = np.bincount(labels, weights=weight if len(weight) else None) == 0
        if empty.any():
            raise ValueError(f"the class {_estimators.shown(self.classes_[empty])[0]} has no sample of positive weight")
        per_class = np.empty(0)
        if self.class_weight is not None:
            per_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y, **({"sample_weight": weight} if len(weight) else {}))
        with _run.progress(self.verbose) as bar:
            self.model_ = _mercer.fit_linear_svc(
                _data.samples(X),
                np.ascontiguousarray(labels, dtype=np.int64),
                self.loss == "squared_hinge",
                C,
                lambda_,
                bool(self.fit_intercept),
                scaling,
                np.ascontiguousarray(per_class, dtype=np.float64),
                weight,
                _SOLVERS[self.dual],
                tol / 100,
                max_iter,
                self._seed(),
                *self._run(),
                bar,
            )
        if self.model_.summary.status != "converged":
            warnings.warn(str(self.model_.summary), ConvergenceWarning, stacklevel=2)
        return self

    def _run(self) -> tuple[int, int]:
        return _run.threads(self.n_jobs), _run.memory_bytes(self.memory)

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = _validation.numbers(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, order="C", reset=False)
        with _run.progress(self.verbose) as bar:
            return self.model_.predict(_data.samples(X), *self._run(), bar)

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores: (n,) for two classes, positive for the second; else (n, classes)."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The label of the class with the largest score."""
        scores = self._scores(X)
        return self.classes_[_mercer.classes_from_scores(scores)]

    # -- fitted attributes, read from the model

    def _fitted(self, name: str) -> Any:
        model = self.__dict__.get("model_")
        if model is None:
            raise AttributeError(f"this {type(self).__name__} has no {name} before fit")
        return model

    @property
    def coef_(self) -> np.ndarray:
        coef = self._fitted("coef_").coef
        coef.flags.writeable = False
        return coef

    @property
    def intercept_(self) -> np.ndarray:
        return self._fitted("intercept_").intercept

    @property
    def n_iter_(self) -> int:
        return int(self._fitted("n_iter_").summary.iterations)

    @property
    def summary_(self) -> Any:
        return self._fitted("summary_").summary
