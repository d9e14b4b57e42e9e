"""Ridge regression and least squares with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from . import _data, _estimators, _mercer, _run, _validation
from ._base import BaseEstimator

__all__ = ["Ridge", "monomials"]

_SCIKIT_SOLVERS = ("cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs")


class Ridge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Linear least squares with a squared penalty, by singular values: minimises |y - X w - b|^2 + alpha |w|^2.

    A twin of :class:`sklearn.linear_model.Ridge`. Columns that depend on each other are no trouble: alpha = 0 gives the solution of
    least norm.

    Parameters
    ----------
    alpha : float or array of one number per target, default 1.0
        The penalty; alpha = n * lambda. 0 is ordinary least squares.
    fit_intercept : bool, default True
        Fit b, without penalty.
    copy_X, max_iter, tol : as scikit-learn has them
        Accepted and without effect: X is never written to, and the method is direct.
    solver : "auto" or "svd"
    positive : False
    random_state
        Not used; every estimator takes it.
    lambda_ : float, optional
        The penalty per sample, alpha / n; overrides alpha.
    degree : int, default 1
        Above 1: polynomial regression on all monomials of total degree 1 .. degree, in the order of :func:`mercer.monomials`.
    n_jobs, memory, verbose : as in :class:`mercer.KernelRidge`.

    Attributes
    ----------
    coef_ : (features,) or (targets, features); one per monomial where degree > 1.
    intercept_ : a number, or one per target.
    singular_values_ : of the (centred, weighted) design, descending.
    rank_ : of the design.
    condition_number_, condition_number_after_ : of the design X, and of [X; sqrt(alpha) I].
    degrees_of_freedom_ : sum s_j^2 / (s_j^2 + alpha), of the first target.
    summary_ : all of these; prints as one sentence.
    model_ : the compiled model; ``model_.decision(x)`` predicts without validation.
    n_features_in_, feature_names_in_, n_iter_, solver_ : as scikit-learn has them.

    Examples
    --------
    >>> from mercer import Ridge
    >>> Ridge(alpha=0).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]).coef_.round(12)
    array([2.])
    """

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
        lambda_: float | None = None,
        degree: int = 1,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        verbose: bool = False,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.lambda_ = lambda_
        self.degree = degree
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> None:
        if self.solver in _SCIKIT_SOLVERS:
            raise ValueError(f'solver must be "auto" or "svd", got {self.solver!r}: Mercer solves ridge exactly, by singular values')
        if self.solver not in ("auto", "svd"):
            raise ValueError(f'solver must be "auto" or "svd", got {self.solver!r}')
        if self.positive:
            raise ValueError("positive must be False: coefficients with a sign constraint are not offered")
        if isinstance(self.degree, bool) or int(self.degree) != self.degree or not 1 <= self.degree <= 100:
            raise ValueError(f"degree must be a whole number from 1 to 100, got {self.degree!r}")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Ridge:
        """Fit to rows X (n x features, dense or sparse) and targets y (n, or n x targets)."""
        self._check_parameters()
        X, y = _validation.numbers(self, X, y, accept_sparse="csr", dtype=_estimators.FLOATS, multi_output=True, y_numeric=True)
        Y = _estimators.targets(y)
        alpha = _estimators.penalties(self.alpha, self.lambda_, Y.shape[1])
        weight = _estimators.weights(sample_weight, X)
        self._single_target = y.ndim == 1
        with _run.progress(self.verbose) as bar:
            self.model_ = _mercer.fit_ridge(
                _data.samples(X),
                Y,
                alpha,
                None if self.lambda_ is None else float(self.lambda_),
                bool(self.fit_intercept),
                int(self.degree),
                weight,
                _run.threads(self.n_jobs),
                _run.memory_bytes(self.memory),
                bar,
            )
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predictions for rows X: (n,), or (n, targets) if there are several."""
        check_is_fitted(self)
        X = _validation.numbers(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, reset=False)
        f = self.model_.predict(_data.samples(X), _run.threads(self.n_jobs))
        return f[:, 0] if f.shape[1] == 1 else f

    # -- fitted attributes, read from the model

    def __sklearn_is_fitted__(self) -> bool:  # scikit-learn would take the parameter lambda_ for a fitted attribute
        return "model_" in self.__dict__

    def _fitted(self, name: str) -> Any:
        model = self.__dict__.get("model_")
        if model is None:
            raise AttributeError(f"this Ridge has no {name} before fit")
        return model

    @property
    def coef_(self) -> np.ndarray:
        coef = self._fitted("coef_").coef
        return coef[0] if len(coef) == 1 else coef

    @property
    def intercept_(self) -> float | np.ndarray:
        b = self._fitted("intercept_").intercept
        return float(b[0]) if self._single_target or not self.fit_intercept else b  # shaped as scikit-learn has it

    @property
    def n_iter_(self) -> None:
        self._fitted("n_iter_")

    @property
    def solver_(self) -> str:
        self._fitted("solver_")
        return "svd"

    @property
    def summary_(self) -> Any:
        return self._fitted("summary_").summary

    @property
    def singular_values_(self) -> np.ndarray:
        return self._fitted("singular_values_").summary.singular_values

    @property
    def rank_(self) -> int:
        return self._fitted("rank_").summary.rank

    @property
    def condition_number_(self) -> float:
        return self._fitted("condition_number_").summary.condition_before

    @property
    def condition_number_after_(self) -> float:
        return self._fitted("condition_number_after_").summary.condition_after

    @property
    def degrees_of_freedom_(self) -> float:
        return self._fitted("degrees_of_freedom_").summary.degrees_of_freedom


def monomials(X: Any, degree: int) -> np.ndarray:
    """All monomials of total degree 1 .. degree of the columns, in the order of scikit-learn's PolynomialFeatures without its constant.

    >>> import mercer
    >>> mercer.monomials([[2.0, 3.0]], 2)
    array([[2., 3., 4., 6., 9.]])
    """
    return _mercer.monomials(np.ascontiguousarray(_data.rows(X), dtype=np.float64), degree)
