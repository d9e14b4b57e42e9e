"""The Nystrom map with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _data, _estimators, _mercer, _run, _scikit, _validation
from ._base import BaseEstimator
from ._kernel import Kernel, wrap

__all__ = ["Nystroem"]


class Nystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Features whose products approximate a kernel: z(x) = K_mm^(-1/2) k(x, landmarks).

    A twin of :class:`sklearn.kernel_approximation.Nystroem`: the same parameters, defaults, attributes and (by the same random_state) the
    same landmarks; and some more.

    Parameters
    ----------
    kernel, gamma, coef0, degree, kernel_params
        As in KernelRidge; None is the default of scikit-learn's kernel functions.
    n_components : int, default 100
        Landmarks, and features made.
    random_state : int, RandomState instance or None
        Draws the landmarks.
    landmarks : "uniform", "kmeans", "rpcholesky", "leverage", or an array of rows
        How landmarks are chosen.
    precision : "float32", "float64" or None
        Of kernel values and products; None is that of X. The features have the type of X.
    n_jobs, memory, verbose
        Threads, memory budget, progress bar.

    Attributes
    ----------
    components_ : the landmarks. component_indices_ : which rows they are; None if they are none.
    normalization_ : K_mm^(-1/2).
    kernel_ : the kernel used, with automatic length scales resolved.
    trace_error_ : (trace K - trace of its approximation) / trace K, over the rows (at most 2048 of them, drawn by random_state).
    map_ : the compiled map.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> Z = mercer.Nystroem(n_components=100, gamma=1.0, random_state=0).fit_transform(X)
    >>> bool(abs(Z @ Z.T - mercer.gram(X, kernel="gaussian(0.7071067811865476)")).max() < 1e-6)
    True
    """

    def __init__(
        self,
        kernel: str | Kernel | Callable[..., float] = "rbf",
        *,
        gamma: float | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        landmarks: Any = "uniform",
        precision: str | None = None,
        memory: str | float | None = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.landmarks = landmarks
        self.precision = precision
        self.memory = memory
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = _scikit.takes_gram(self.kernel)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _kernel(self, n_features: int) -> _mercer.Kernel:
        words = SimpleNamespace(
            kernel=self.kernel,
            gamma=self.gamma,
            degree=3 if self.degree is None else self.degree,
            coef0=1 if self.coef0 is None else self.coef0,
            kernel_params=self.kernel_params,
        )
        return _scikit.estimator_kernel(words, n_features)._at_columns(getattr(self, "feature_names_in_", None))

    def fit(self, X: Any, y: Any = None) -> Nystroem:
        """Choose landmarks among the rows of X and make the map."""
        X = _validation.validate(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, order="C")
        if not isinstance(self.n_components, Integral) or self.n_components < 1:
            raise ValueError(f"n_components must be a whole number >= 1, got {self.n_components!r}")
        if self.precision not in (None, "float32", "float64"):
            raise ValueError(f'precision must be "float32", "float64" or None, got {self.precision!r}')
        n = X.shape[0]
        if self.n_components > n and isinstance(self.landmarks, str):
            warnings.warn(f"n_components > n_samples: {self.n_components} landmarks were wanted, all {n} rows are taken", stacklevel=2)
        native = self._kernel(X.shape[1])
        given = native.needs_given_gram
        if given and n != X.shape[1]:
            raise ValueError(f"a precomputed kernel must be a square matrix of k(x_i, x_j), got shape {X.shape}")
        random = check_random_state(self.random_state)
        indices: np.ndarray | None = None
        landmarks: Any = self.landmarks
        if not isinstance(landmarks, str):
            rows = _data.rows(landmarks, "landmarks")
            _data.same_kinds(X, rows, "landmarks")
            if rows.shape[1] != X.shape[1]:
                raise ValueError(f"landmarks has {rows.shape[1]} columns, X has {X.shape[1]}")
            landmarks = _data.samples(rows.copy())  # which the map keeps
        elif landmarks == "uniform" and not given:
            indices = random.permutation(n)[: self.n_components]  # scikit-learn's draw
            landmarks = _data.samples(X[indices])
        samples = _data.samples(X)
        with _run.progress(self.verbose) as bar:
            made = _mercer.fit_nystrom(
                _mercer.Samples.given_gram(samples) if given else samples,
                native,
                int(self.n_components),
                landmarks,
                1.0,
                int(random.randint(2**31 - 1)),
                _run.threads(self.n_jobs),
                _run.memory_bytes(self.memory),
                bar,
            )
        self._with(made)
        if indices is not None:
            self.component_indices_ = indices
        if given:
            self.components_ = X[self.component_indices_]
        self.normalization_ = self.normalization_.astype(_data.value_type(X), copy=False)
        probe = X if n <= 2048 else X[np.sort(random.permutation(n)[:2048])]
        self.trace_error_ = made.trace_error(_data.samples(probe), _run.threads(self.n_jobs), _run.memory_bytes(self.memory))
        return self

    def _with(self, made: Any) -> Nystroem:
        """The attributes of a compiled map."""
        self.map_ = made
        self.kernel_ = wrap(made.kernel)
        self.component_indices_ = np.asarray(made.landmark_rows) if made.landmark_rows else None
        self.components_ = None if made.kernel.needs_given_gram else _data.to_numpy(made.landmarks, copy=True)
        self.normalization_ = made.normalization
        self._n_features_out = len(self.normalization_)
        return self

    def trace_error(self, X: Any) -> float:
        """(trace K - trace of its approximation) / trace K over the rows X: 0 where the map is exact, 1 where it knows nothing of them."""
        check_is_fitted(self)
        X = _validation.validate(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, reset=False)
        return self.map_.trace_error(_data.samples(X), _run.threads(self.n_jobs), _run.memory_bytes(self.memory))

    def transform(self, X: Any) -> np.ndarray:
        """The features of rows X, one row each."""
        check_is_fitted(self)
        X = _validation.validate(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, reset=False)
        native = self.kernel_._native
        rows = _data.samples(X)
        if native.needs_given_gram:  # of rows of kernel values only those with the landmarks matter
            return np.asarray(X[:, self.component_indices_] @ self.normalization_)
        single = X.dtype == np.float32
        with _run.progress(self.verbose) as bar:
            return self.map_.transform(
                rows,
                single,
                single if self.precision is None else self.precision == "float32",
                _run.threads(self.n_jobs),
                _run.memory_bytes(self.memory),
                bar,
            )
