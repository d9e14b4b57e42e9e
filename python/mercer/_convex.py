"""What the representer solver and kernel logistic regression share: the life of an estimator whose model is a kernel expansion."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _data, _estimators, _mercer, _run, _scikit, _validation
from ._base import BaseEstimator
from ._kernel import Kernel, wrap


def positive(name: str, value: Any, optional: bool = False) -> float | None:
    if value is None and optional:
        return None
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < value < np.inf:
        raise ValueError(f"{name} must be a finite number > 0{', or None' if optional else ''}, got {value!r}")
    return float(value)


def count(name: str, value: Any, optional: bool = False) -> int:
    """A whole number of at least 1; None is 0."""
    if value is None and optional:
        return 0
    if not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1{', or None' if optional else ''}, got {value!r}")
    return int(value)


class KernelExpansion(BaseEstimator):
    """f = sum_i c_i k(x_i, .) + b: parameters kernel, gamma, degree, coef0, kernel_params, n_jobs, memory, random_state and verbose."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = _scikit.takes_gram(self.kernel)
        return tags

    def __sklearn_is_fitted__(self) -> bool:  # scikit-learn would take the parameter lambda_ for a fitted attribute
        return "model_" in self.__dict__

    # -- what fit needs

    def _bound(self, X: Any) -> tuple[Any, _mercer.Samples]:
        """The kernel for these rows, and the rows as the library takes them."""
        native = _scikit.estimator_kernel(self, X.shape[1], X)._at_columns(getattr(self, "feature_names_in_", None))
        return native, _estimators.training_rows(native, X)

    def _seed(self) -> int:
        if self.random_state is None:
            return 0  # a fit is repeatable unless asked otherwise
        if isinstance(self.random_state, Integral):
            return int(self.random_state) % 2**64
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _run(self) -> tuple[int, int]:
        return _run.threads(self.n_jobs), _run.memory_bytes(self.memory)

    def _said(self) -> Any:
        """Warns where the fit did not converge; returns self."""
        if self.model_.summary.status != "converged":
            warnings.warn(str(self.model_.summary), ConvergenceWarning, stacklevel=3)
        return self

    def _new_rows(self, X: Any) -> _mercer.Samples:
        check_is_fitted(self)
        X = _validation.validate(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, reset=False)
        rows = _data.samples(X)
        return _mercer.Samples.given_rows(rows) if self.model_.samples.is_given else rows

    def _apply(self, method: str, X: Any) -> np.ndarray:
        rows = self._new_rows(X)
        with _run.progress(self.verbose) as bar:
            return getattr(self.model_, method)(rows, *self._run(), bar)

    # -- fitted attributes, read from the model

    def _fitted(self, name: str) -> Any:
        model = self.__dict__.get("model_")
        if model is None:
            raise AttributeError(f"this {type(self).__name__} has no {name} before fit")
        return model

    @property
    def n_iter_(self) -> int:
        return int(self._fitted("n_iter_").summary.iterations)

    @property
    def kernel_(self) -> Kernel:
        return wrap(self._fitted("kernel_").kernel)

    @property
    def X_fit_(self) -> Any:
        model = self._fitted("X_fit_")
        if model.samples.is_given:
            raise AttributeError("a model does not keep the Gram matrix that it was fitted on")
        return _data.to_numpy(model.samples)

    @property
    def summary_(self) -> Any:
        return self._fitted("summary_").summary
