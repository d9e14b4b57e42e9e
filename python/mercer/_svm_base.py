"""What the five support vector machines share: kernels in scikit-learn's words, limits of the solver, fitted attributes, the quick way of one row."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from . import _data, _estimators, _mercer, _run, _scikit, _validation
from ._convex import KernelExpansion, positive
from .kernels import Kernel, kernel as make_kernel, kernel_function

_WORDS = ("linear", "poly", "rbf", "sigmoid")  # the twins'; precomputed is one of ours too


def machine_kernel(estimator: Any, X: Any) -> Kernel:
    """From kernel, degree, gamma and coef0: the twins' words mean what they mean there, a callable gives the matrix of two blocks of rows."""
    k = estimator.kernel
    if isinstance(k, str) and k in PAIRWISE_KERNEL_FUNCTIONS:
        gamma: Any = estimator.gamma
        if k in _WORDS:
            gamma = _scikit.gamma_number(gamma, X)
        elif isinstance(gamma, str):  # words that the twins do not have keep their own default
            gamma = None
        return _scikit._word(k, gamma, estimator.degree, estimator.coef0, X.shape[1])
    if isinstance(k, Kernel | str):
        ignored = [name for name, value in (("degree", 3), ("gamma", "scale"), ("coef0", 0.0)) if getattr(estimator, name) != value]
        if ignored and k != "precomputed":
            warnings.warn(f"kernel={k!r} brings its own parameters and does not look at {', '.join(ignored)}", stacklevel=4)
        return make_kernel(k)
    if callable(k):
        return kernel_function(k, name=repr(k) if hasattr(k, "get_params") else None)
    raise ValueError(f"kernel must be text, a mercer.Kernel or a callable, got {k!r}")


def share(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value <= 1:
        raise ValueError(f"{name} must be a number in (0, 1], got {value!r}")
    return float(value)


def flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_ | Integral) or value not in (0, 1):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


class SupportVectorMachine(KernelExpansion):
    """Parameters kernel, degree, gamma, coef0, tol, max_iter, shrinking, cache_size, verbose, time_limit, n_jobs and memory."""

    # -- what fit needs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    def _rows_in(self, X: Any, *y: Any, **checks: Any) -> Any:
        if sp.issparse(X) and isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise TypeError("a precomputed kernel must be a dense matrix, got a sparse one: use K.toarray()")
        return _validation.validate(self, X, *y, accept_sparse="csr", dtype=_estimators.FLOATS, order="C", **checks)

    def _bound(self, X: Any) -> tuple[Any, _mercer.Samples]:
        native = machine_kernel(self, X)._at_columns(getattr(self, "feature_names_in_", None))
        return native, _estimators.training_rows(native, X)

    def _solver(self) -> _mercer.SvmSolver:
        """Checks what all machines have, and gives the limits of the solver."""
        flag("shrinking", self.shrinking)
        positive("cache_size", self.cache_size)
        if isinstance(self.max_iter, bool) or not isinstance(self.max_iter, Integral) or (self.max_iter < 1 and self.max_iter != -1):
            raise ValueError(f"max_iter must be a whole number of at least 1, or -1 for the library's own limit, got {self.max_iter!r}")
        return _mercer.SvmSolver(
            positive("tol", self.tol), max(0, int(self.max_iter)), positive("time_limit", self.time_limit, optional=True) or 0.0
        )

    def _start(self, n: int, functions: int) -> np.ndarray:
        """With warm_start, the coefficients of the last fit where it had as many rows and functions."""
        model = self.__dict__.get("model_") if flag("warm_start", self.warm_start) else None
        if model is None or self.__dict__.get("shape_fit_", (None,))[0] != n or len(model.intercept) != functions:
            return np.empty((0, 0))
        return model.coefficients(n)

    def _said(self) -> Any:
        summary = self.model_.summary
        if summary.status != "converged":
            warnings.warn(summary.remark or summary.sentence, ConvergenceWarning, stacklevel=3)
        elif summary.remark:
            warnings.warn(summary.remark, stacklevel=3)
        return self

    # -- what prediction needs

    def _look(self, X: Any) -> tuple[Any, Any]:
        """The decision value(s) where X is one dense row, else None; and X, validated. A plain float64 row passes few checks of its own:
        validation would take longer than the answer, and whatever they do not like goes the long way, with its messages."""
        here = self.__dict__
        if (
            type(X) is np.ndarray
            and X.shape == (1, here.get("n_features_in_"))
            and X.dtype == np.float64
            and X.flags.c_contiguous
            and "feature_names_in_" not in here
            and "model_" in here
            and "_kinds_in" not in here
            and _mercer.is_finite_row(x := X[0])  # numpy's sums warn of overflow
        ):
            return here["model_"].decision(x), X
        check_is_fitted(self)
        X = _validation.validate(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, order="C", reset=False)
        if X.shape[0] == 1 and isinstance(X, np.ndarray):
            return self.model_.decision(np.asarray(X[0], dtype=np.float64)), X
        return None, X

    def _batch(self, method: str, X: Any) -> Any:
        """A method of the model on validated rows."""
        rows = _data.samples(X)
        with _run.progress(self.verbose) as bar:
            return getattr(self.model_, method)(_mercer.Samples.given_rows(rows) if self.model_.samples.is_given else rows, *self._run(), bar)

    # -- fitted attributes, read from the model

    def _kept(self, name: str) -> tuple[Any, Any]:
        """The model, and which of its rows are support vectors: a function that is constant keeps a row without a coefficient."""
        model = self._fitted(name)
        coef = model.dual_coef
        return model, slice(None) if coef.shape[1] > 1 or coef.all() else coef[:, 0] != 0

    @property
    def support_(self) -> np.ndarray:
        model, kept = self._kept("support_")
        return np.asarray(model.support, dtype=np.int32)[kept]

    @property
    def support_vectors_(self) -> Any:
        model, kept = self._kept("support_vectors_")
        return np.empty((0, 0)) if model.samples.is_given else _data.points(model.samples, kept)

    @property
    def n_support_(self) -> np.ndarray:
        return np.asarray([len(self.support_)], dtype=np.int32)

    @property
    def dual_coef_(self) -> np.ndarray:
        model, kept = self._kept("dual_coef_")
        coef = np.ascontiguousarray(model.dual_coef[kept].T)
        coef.flags.writeable = False
        return coef

    @property
    def intercept_(self) -> np.ndarray:
        return self._fitted("intercept_").intercept

    @property
    def coef_(self) -> np.ndarray:
        model = self._fitted("coef_")
        if str(self.kernel_) != "linear":
            raise AttributeError(f"coef_ is only available when using a linear kernel, and this one is {self.kernel_}")
        coef = self._weights(model)
        coef.flags.writeable = False
        return coef

    def _weights(self, model: Any) -> np.ndarray:
        return np.asarray(model.dual_coef.T @ _data.to_numpy(model.samples), dtype=np.float64)

    @property
    def fit_status_(self) -> int:
        return int(self._fitted("fit_status_").summary.status != "converged")

    @property
    def objective_(self) -> float:
        return self._fitted("objective_").summary.objective

    @property
    def gap_(self) -> float:
        return self._fitted("gap_").summary.gap


class OneFunction(SupportVectorMachine):
    """Machines of one function: regression and one class."""

    def _values(self, X: Any) -> np.ndarray:
        f, X = self._look(X)
        return self._batch("predict", X)[:, 0] if f is None else np.asarray([f])
