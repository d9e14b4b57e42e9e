"""Covariate shift: weights that make training rows look like target rows.

>>> import numpy as np, mercer
>>> random = np.random.RandomState(0)
>>> X_train, X_target = random.randn(200, 1), 0.5 * random.randn(200, 1) + 1
>>> matching = mercer.KernelMeanMatching().fit(X_train, X_target)
>>> round(float(matching.weights_.mean()), 12), matching.mmd_after_ < matching.mmd_before_ / 10
(1.0, True)
>>> round(float(np.average(X_train[:, 0], weights=matching.weights_)), 1) == round(float(X_target.mean()), 1)
True
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from . import _data, _estimators, _mercer, _run, _scikit, _validation
from ._base import BaseEstimator
from ._kernel import Kernel, kernel as make_kernel

__all__ = ["KernelMeanMatching"]


class KernelMeanMatching(BaseEstimator):
    """Weights of training rows whose mean embedding is that of the target rows: min |1/n sum_i w_i k(x_i, .) - mu(X_target)|^2.

    ``KernelMeanMatching().fit(X_train, X_target).weights_`` goes into any fit as ``sample_weight``.

    Parameters
    ----------
    kernel : None, str, mercer.Kernel or callable
        None: Gaussian, its length scale the median distance of all rows of both samples. Otherwise as in :class:`mercer.KernelRidge`, gamma,
        degree, coef0 and kernel_params too. "precomputed": X_train is the Gram matrix, X_target has rows k(target, train).
    bound : number or None, default 10
        No weight is larger; >= 1 - epsilon. None: no bound.
    epsilon : number in [0, 1), default 0
        The mean of the weights is within epsilon of 1. 0 without a bound is the plain quadratic programme on the simplex.
    ridge : number >= 0, default 0
        Adds ridge mean k(x, x) |w / n - 1 / n|^2: spreads weights over rows that the kernel hardly tells apart.
    tol : of the objective, in units of mean k(x, x).
    random_state
        Not used; every estimator takes it.
    n_jobs, memory, verbose
        As in :class:`mercer.KernelRidge`. Rows of the Gram matrix are computed when needed and kept while memory lasts.

    Attributes
    ----------
    weights_ : one per training row, >= 0, of mean 1 (within epsilon).
    effective_sample_size_ : (sum w)^2 / sum w^2: the fit is about as noisy as one with so many rows. A warning says so when it is below a
        third of the rows; ridge = 0.1 to 1 or a lower bound then help.
    mmd_before_, mmd_after_ : distance of the training sample to the target sample, without and with the weights; NaN for "precomputed".
    mmd_error_ : standard error of mmd_after_ where both are estimates (above 20000 rows), else 0.
    gap_ : the objective, mmd^2 and the ridge term, is above its least value by at most this.
    kernel_ : with its automatic length scale set.
    remarks_, summary_ : what to know, and the answer in words.
    n_features_in_, feature_names_in_ : as everywhere.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> random = np.random.RandomState(0)
    >>> X_train, X_target = random.randn(200, 1), random.randn(100, 1) + 1
    >>> print(mercer.KernelMeanMatching(bound=5).fit(X_train, X_target).weights_.max().round(6))
    5.0
    """

    def __init__(
        self,
        kernel: None | str | Kernel | Callable[..., float] = None,
        *,
        bound: float | None = 10.0,
        epsilon: float = 0.0,
        ridge: float = 0.0,
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.bound = bound
        self.epsilon = epsilon
        self.ridge = ridge
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.tol = tol
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = _scikit.takes_gram(self.kernel)
        tags.target_tags.required = True
        return tags

    def fit(self, X_train: Any, X_target: Any, target_weight: Any = None) -> KernelMeanMatching:
        """Find the weights of the rows of X_train; ``target_weight`` are weights of the rows of X_target."""
        A = _validation.validate(self, X_train, accept_sparse="csr", dtype=_estimators.FLOATS, order="C")
        B = _validation.validate(self, X_target, accept_sparse="csr", dtype=_estimators.FLOATS, order="C", reset=False)
        weight = _estimators.weights(target_weight, B)
        native = self._kernel(A)
        train, target = self._samples(A, B, native.needs_given_gram)
        if native.has_auto and native.looks_at_objects:  # what it learns from texts has no place in the kernel's text
            native = _mercer.resolve(native, _mercer.Samples.joined([train, target]))
        bound = np.inf if self.bound is None else self._number("bound")
        with _run.progress(self.verbose) as bar:
            found = _mercer.match_means(
                train,
                target,
                native,
                bound,
                self._number("epsilon"),
                self._number("ridge"),
                weight,
                self._number("tol"),
                _run.threads(self.n_jobs),
                _run.memory_bytes(self.memory),
                bar,
            )
        self.weights_ = found.weights
        self.effective_sample_size_ = found.effective_sample_size
        self.mmd_before_, self.mmd_after_, self.mmd_error_ = found.mmd_before, found.mmd_after, found.mmd_error
        self.gap_ = found.gap
        self.kernel_ = make_kernel(found.kernel, native.callbacks)
        self.remarks_, self.summary_ = list(found.remarks), found.sentence
        for remark in self.remarks_:
            if "few rows" in remark or "stopped" in remark:
                warnings.warn(remark, ConvergenceWarning if "stopped" in remark else UserWarning, stacklevel=2)
        return self

    def _kernel(self, X: Any) -> _mercer.Kernel:
        if self.kernel is None:
            return make_kernel("gaussian(auto)")._native
        return _scikit.estimator_kernel(self, X.shape[1], X)._at_columns(getattr(self, "feature_names_in_", None))

    @staticmethod
    def _samples(A: Any, B: Any, given: bool) -> tuple[_mercer.Samples, _mercer.Samples]:
        if given:
            if A.shape[0] != A.shape[1]:
                raise ValueError(f"a precomputed kernel takes the square matrix of k(x_i, x_j) for X_train, got shape {A.shape}")
            return _mercer.Samples.given_gram(_data.samples(A)), _mercer.Samples.given_rows(_data.samples(B))
        return _data.samples(A), _data.samples(B)

    def _number(self, name: str) -> float:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ValueError(f"{name} must be a number{' or None' if name == 'bound' else ''}, got {value!r}")
        return float(value)
