"""Kernel ridge regression with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _data, _estimators, _mercer, _run
from ._gram_ridge import GramRidgeModel, fit_gram_ridge
from .kernels import Constant, Gaussian, Kernel, Laplacian, Linear, Polynomial, _wrap, kernel as make_kernel

__all__ = ["KernelRidge"]


class KernelRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Kernel ridge regression: minimises sum_i w_i (y_i - f(x_i) - b)^2 + alpha |f|^2 over the kernel's function space.

    A twin of :class:`sklearn.kernel_ridge.KernelRidge` with the same parameters, defaults and attributes, and some more.

    Parameters
    ----------
    alpha : float or array of one number per target, default 1
        The penalty; alpha = n * lambda. 0 gives the interpolant of least norm.
    kernel : str, mercer.Kernel or callable, default "linear"
        scikit-learn's words keep scikit-learn's meaning ("linear", "rbf", "laplacian", "polynomial", ..., "precomputed"); any other text is
        an expression such as "gaussian(2) + 0.5*linear". A callable takes two rows and returns a number. Kernels that only
        scikit-learn knows ("sigmoid", "cosine", "chi2", ...) and callables are evaluated by scikit-learn into a full Gram matrix.
    gamma, degree, coef0, kernel_params
        Parameters of scikit-learn's words; gamma=None is 1 / n_features. Kernel objects and expressions bring their own.
    lambda_ : float, optional
        The penalty per sample, alpha / n; overrides alpha.
    fit_intercept : bool, default False
        Fit b, without penalty.
    precision : "float32", "float64" or None
        Of the kernel values in the factorisation. None is float64.
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
    X_fit_ : the training rows, or the Gram matrix of a precomputed kernel. A read-only copy.
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
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    # -- kernels

    def _own_kernel(self, n_features: int) -> Kernel | None:
        """The Mercer kernel that the parameters mean, or None where scikit-learn or the user has to evaluate it."""
        k = self.kernel
        if isinstance(k, Kernel) or (isinstance(k, str) and k not in PAIRWISE_KERNEL_FUNCTIONS and k != "precomputed"):
            own = k if isinstance(k, Kernel) else make_kernel(k)
            defaults = {"gamma": None, "degree": 3, "coef0": 1, "kernel_params": None}
            ignored = [name for name, value in defaults.items() if not np.array_equal(getattr(self, name), value)]
            if ignored:
                warnings.warn(f"kernel={k!r} brings its own parameters and does not look at {', '.join(ignored)}", stacklevel=3)
            return own
        if not isinstance(k, str):
            if callable(k):
                return None
            raise ValueError(f"kernel must be text, a mercer.Kernel or a callable, got {k!r}")
        for name in ("gamma", "degree", "coef0"):
            value = getattr(self, name)
            if not (isinstance(value, Real) and np.isfinite(value)) and not (name == "gamma" and value is None):
                raise ValueError(f"{name} must be a finite number{' or None' if name == 'gamma' else ''}, got {value!r}")
        gamma = 1.0 / n_features if self.gamma is None else float(self.gamma)
        if gamma < 0:
            raise ValueError(f"gamma must be >= 0, got {self.gamma!r}")
        if self.degree < 0:
            raise ValueError(f"degree must be >= 0, got {self.degree!r}")
        if k == "linear":
            return Linear()
        if k == "rbf":
            return Gaussian(np.sqrt(0.5 / gamma)) if gamma > 0 else Constant(1.0)
        if k == "laplacian":
            return Laplacian(1.0 / gamma, "l1") if gamma > 0 else Constant(1.0)
        if k in ("poly", "polynomial") and float(self.degree).is_integer() and self.degree >= 1:
            return Polynomial(int(self.degree), gamma, float(self.coef0))
        return None

    def _pairwise(self, X: Any, Y: Any = None) -> np.ndarray:
        """The Gram matrix of a kernel that Mercer does not evaluate itself."""
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            return X
        if callable(self.kernel):
            parameters = self.kernel_params or {}
        else:
            parameters = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        K = pairwise_kernels(X, Y, metric=self.kernel, filter_params=True, **parameters)
        K = np.asarray(K, dtype=np.float64)
        if not np.isfinite(K).all():
            i, j = np.argwhere(~np.isfinite(K))[0]
            raise ValueError(f"the kernel gave {K[i, j]} for rows {i} and {j}; kernel values must be finite")
        return K

    # -- fit and predict

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelRidge:
        """Fit to rows X (n x features, dense or sparse) and targets y (n, or n x targets)."""
        # A copy, so that the model stays what it is when the caller's array changes.
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=_estimators.FLOATS, order="C", copy=True, multi_output=True, y_numeric=True
        )
        if self.precision not in (None, "float32", "float64"):
            raise ValueError(f'precision must be "float32", "float64" or None, got {self.precision!r}')
        Y = _estimators.targets(y)
        alpha = _estimators.penalties(self.alpha, self.lambda_, Y.shape[1])
        weight = _estimators.weights(sample_weight, X)
        k = self._own_kernel(X.shape[1])
        self._single_target = y.ndim == 1
        self._X_fit = None
        if k is None:
            self._fit_gram(X, Y, alpha, weight)
            return self
        with _run.progress(self.verbose) as bar:
            self.model_ = _mercer.fit_kernel_ridge(
                _data.samples(X),
                Y,
                k._native,
                alpha,
                None if self.lambda_ is None else float(self.lambda_),
                bool(self.fit_intercept),
                weight,
                None if self.precision is None else self.precision == "float32",
                _run.threads(self.n_jobs),
                _run.memory_bytes(self.memory),
                bar,
            )
        return self

    def _fit_gram(self, X: Any, Y: np.ndarray, alpha: np.ndarray, weight: np.ndarray) -> None:
        K = self._pairwise(X)
        if K.shape[0] != K.shape[1]:
            raise ValueError(f"a precomputed kernel must be a square matrix of k(x_i, x_j), got shape {K.shape}")
        K = K.toarray() if not isinstance(K, np.ndarray) else K
        if self.lambda_ is not None:
            alpha = np.full_like(alpha, len(K) * self.lambda_)
        if weight.size and not weight.any():
            raise ValueError("all sample weights are zero: nothing to learn from")
        K = K.astype(np.float64, copy=False)
        self.model_ = fit_gram_ridge(K, Y, alpha, weight if weight.size else None, bool(self.fit_intercept))
        self._X_fit = X

    def predict(self, X: Any) -> np.ndarray:
        """Predictions for rows X: (n,), or (n, targets) if y had two dimensions."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, reset=False)
        if isinstance(self.model_, GramRidgeModel):
            f = self.model_.predict(self._pairwise(X, self._X_fit))
        else:
            with _run.progress(self.verbose) as bar:
                f = self.model_.predict(_data.samples(X), _run.threads(self.n_jobs), _run.memory_bytes(self.memory), bar)
        return f[:, 0] if self._single_target else f

    # -- fitted attributes, read from the model

    def __sklearn_is_fitted__(self) -> bool:  # scikit-learn would take the parameter lambda_ for a fitted attribute
        return "model_" in self.__dict__

    def _fitted(self, name: str) -> Any:
        model = self.__dict__.get("model_")
        if model is None:
            raise AttributeError(f"this KernelRidge has no {name} before fit")
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
        return _data.to_numpy(model.samples) if self._X_fit is None else self._X_fit

    @property
    def kernel_(self) -> Any:
        model = self._fitted("kernel_")
        return _wrap(model.kernel) if self._X_fit is None else self.kernel

    @property
    def summary_(self) -> Any:
        return self._fitted("summary_").summary
