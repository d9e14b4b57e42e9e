"""Kernel ridge regression with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from . import _data, _estimators, _mercer, _run, _scikit, _validation
from ._base import BaseEstimator
from ._kernel import Kernel, wrap

__all__ = ["KernelRidge"]


def _solver(word: str) -> Any:
    words = ("auto", "cholesky", "mixed", "cg")
    if word not in words:
        raise ValueError(f"solver must be one of {', '.join(map(repr, words))}, got {word!r}")
    return getattr(_mercer.KernelRidgeSolver, word)


class KernelRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Kernel ridge regression: minimises sum_i w_i (y_i - f(x_i) - b)^2 + alpha |f|^2 over the kernel's function space.

    A twin of :class:`sklearn.kernel_ridge.KernelRidge` with the same parameters, defaults and attributes, and some more.

    Parameters
    ----------
    alpha : float or array of one number per target, default 1
        The penalty; alpha = n * lambda. 0 gives the interpolant of least norm.
    kernel : str, mercer.Kernel or callable, default "linear"
        scikit-learn's words keep scikit-learn's meaning ("linear", "rbf", "laplacian", "polynomial", ..., "precomputed"); any other text is
        an expression such as "gaussian(2) + 0.5*linear". A callable takes two rows and returns a number; ``mercer.kernel_function``
        makes a faster kernel of a function of two blocks of rows. Columns that a kernel names are looked up in feature_names_in_.
    gamma, degree, coef0, kernel_params
        Parameters of scikit-learn's words; gamma=None is 1 / n_features, for chi2 1. kernel_params are further arguments of a callable.
        Kernel objects and expressions bring their own.
    lambda_ : float, optional
        The penalty per sample, alpha / n; overrides alpha.
    fit_intercept : bool, default False
        Fit b, without penalty.
    precision : "float32", "float64" or None
        Of the kernel values in the factorisation. None is float64.
    solver : "auto", "cholesky", "mixed" or "cg"
        How K + alpha I is solved. "cholesky" factors in float64; "mixed" factors in float32 and refines to a float64 residual; "cg" is
        conjugate gradients with a randomly pivoted Cholesky preconditioner, which needs no n x n matrix where memory is short. "auto" takes the
        first below 2000 samples, the last from 8000 on, and falls back by itself; summary_ says what was done.
    tol : float, default 1e-10
        The relative residual that "mixed" and "cg" must reach.
    intervals : bool, default False
        Keep what ``predict(X, interval=...)`` needs in the model and its files (n^2/2 numbers up to 5000 samples, a coefficient vector per fold
        above). Without it the first such call prepares it, and files written after that have it.
    n_jobs : int, optional
        Threads. The answer does not depend on it. None: MERCER_NUM_THREADS, else all cores.
    memory : int or str, optional
        Budget in bytes, or like "4G"; above it fitting is a MemoryError before anything is allocated.
    random_state
        Not used; every estimator takes it.
    verbose : bool, default False
        Show a progress bar on stderr.

    Attributes
    ----------
    dual_coef_ : coefficients of k(x_i, .), of y's shape.
    intercept_ : b, a number or one per target; 0 without fit_intercept.
    X_fit_ : the training rows (read-only), or the Gram matrix of a precomputed kernel. A copy.
    kernel_ : the kernel used, with automatic length scales resolved.
    summary_ : how the system was solved; prints as one sentence.
    model_ : the compiled model; ``model_.decision(x)`` predicts without validation.
    n_features_in_, feature_names_in_ : as scikit-learn has them.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> rng = np.random.RandomState(0)
    >>> X, y = rng.randn(10, 5), rng.randn(10)
    >>> KernelRidge(alpha=1.0).fit(X, y).predict(X).shape
    (10,)
    """

    def __init__(
        self,
        alpha: Any = 1,
        *,
        kernel: str | Kernel | Callable[..., float] = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        lambda_: float | None = None,
        fit_intercept: bool = False,
        precision: str | None = None,
        solver: str = "auto",
        tol: float = 1e-10,
        intervals: bool = False,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.lambda_ = lambda_
        self.fit_intercept = fit_intercept
        self.precision = precision
        self.solver = solver
        self.tol = tol
        self.intervals = intervals
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = _scikit.takes_gram(self.kernel)
        return tags

    # -- fit and predict

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelRidge:
        """Fit to rows X (n x features, dense or sparse) and targets y (n, or n x targets)."""
        # A copy, so that the model stays what it is when the caller's array changes.
        X, y = _validation.validate(
            self, X, y, accept_sparse="csr", dtype=_estimators.FLOATS, order="C", copy=True, multi_output=True, y_numeric=True
        )
        if self.precision not in (None, "float32", "float64"):
            raise ValueError(f'precision must be "float32", "float64" or None, got {self.precision!r}')
        Y = _estimators.targets(y)
        alpha = _estimators.penalties(self.alpha, self.lambda_, Y.shape[1])
        weight = _estimators.weights(sample_weight, X)
        k = _scikit.estimator_kernel(self, X.shape[1])
        native = k._at_columns(getattr(self, "feature_names_in_", None))
        rows = _estimators.training_rows(native, X)
        self._training = (Y, weight, bool(self.fit_intercept))
        self.__dict__.pop("_with_intervals", None)
        self._single_target = y.ndim == 1
        self._X_fit = X if native.needs_given_gram else None  # a model keeps no kernel values, only which objects they belong to
        with _run.progress(self.verbose) as bar:
            self.model_ = _mercer.fit_kernel_ridge(
                rows,
                Y,
                native,
                alpha,
                None if self.lambda_ is None else float(self.lambda_),
                bool(self.fit_intercept),
                weight,
                None if self.precision is None else self.precision == "float32",
                _solver(self.solver),
                float(self.tol),
                bool(self.intervals),
                _run.threads(self.n_jobs),
                _run.memory_bytes(self.memory),
                bar,
            )
        return self

    def predict(self, X: Any, interval: float | None = None) -> Any:
        """Predictions for rows X: (n,), or (n, targets) if y had two dimensions.

        With ``interval`` = 0.9, say, also an interval for a new value at each row: returns (predictions, intervals), where intervals has a
        last axis of length two, lower and upper end: (n, 2), or (n, targets, 2). Jackknife+ up to 5000 training samples, CV+ with ten folds
        above; infinite, with a warning, where there are too few training samples for the level.
        """
        check_is_fitted(self)
        X = _validation.validate(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, reset=False)
        rows = _data.samples(X)
        if self.model_.samples.is_given:
            rows = _mercer.Samples.given_rows(rows)
        level = None if interval is None else _estimators.level(interval)
        with _run.progress(self.verbose) as bar:
            how = (_run.threads(self.n_jobs), _run.memory_bytes(self.memory), bar)
            if level is None:
                f = self.model_.predict(rows, *how)
                return f[:, 0] if self._single_target else f
            f, lower, upper = self._interval_model(how).predict_interval(rows, level, *how)
        ends = _estimators.ends(lower, upper, level)
        return (f[:, 0], ends[:, 0]) if self._single_target else (f, ends)

    def _interval_model(self, how: tuple[Any, ...]) -> Any:
        """The model with what intervals need: as fitted, or prepared once."""
        if self.model_.has_intervals:
            return self.model_
        if "_with_intervals" not in self.__dict__:
            if "_training" not in self.__dict__:
                raise ValueError("this model was saved without what intervals need; fit it with intervals=True before saving")
            Y, weight, intercept = self._training
            given = self.model_.samples.is_given
            rows = _mercer.Samples.given_gram(_data.samples(self._X_fit)) if given else self.model_.samples
            self._with_intervals = _mercer.add_intervals(self.model_, rows, Y, weight, intercept, *how)
        return self._with_intervals

    def _model_for_file(self) -> Any:
        """What mercer.save writes: with what intervals need, once that is there."""
        return self.__dict__.get("_with_intervals", self.model_)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_with_intervals", None)  # n^2/2 numbers that can be made again
        return state

    @property
    def interval_summary_(self) -> str:
        """How the intervals are made, in one sentence; there once they are."""
        model = self.__dict__.get("_with_intervals", self._fitted("interval_summary_"))
        if not model.has_intervals:
            raise AttributeError("no intervals yet: fit with intervals=True, or call predict(X, interval=...)")
        return model.interval_sentence

    # -- fitted attributes, read from the model

    def __sklearn_is_fitted__(self) -> bool:  # scikit-learn would take the parameter lambda_ for a fitted attribute
        return "model_" in self.__dict__

    def _fitted(self, name: str) -> Any:
        model = self.__dict__.get("model_")
        if model is None:
            raise AttributeError(f"this {type(self).__name__} has no {name} before fit")
        return model

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
    def X_fit_(self) -> Any:
        model = self._fitted("X_fit_")
        if self._X_fit is not None:
            return self._X_fit
        if model.samples.is_given:
            raise AttributeError("a model file does not keep the Gram matrix that a model was fitted on")
        return _data.to_numpy(model.samples)

    @property
    def kernel_(self) -> Kernel:
        return wrap(self._fitted("kernel_").kernel)

    @property
    def summary_(self) -> Any:
        return self._fitted("summary_").summary
