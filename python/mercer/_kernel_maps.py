"""The empirical kernel map and Mercer's map, with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from . import _data, _estimators, _mercer, _run, _scikit, _validation
from ._base import BaseEstimator
from ._kernel import Kernel, wrap
from .datasets import _seed

__all__ = ["EmpiricalKernelMap", "MercerMap"]


class _KernelMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What both maps share: the kernel from scikit-learn's words, and a compiled map of points."""

    kernel: Any
    gamma: Any
    coef0: Any
    degree: Any
    kernel_params: Any
    n_components: Any
    random_state: Any
    n_jobs: Any
    memory: Any
    verbose: Any

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = _scikit.takes_gram(self.kernel)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _how_many(self, name: str) -> int:
        value = getattr(self, name)
        if value is None:
            return 0
        if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
            raise ValueError(f"{name} must be a whole number >= 1 or None, got {value!r}")
        return int(value)

    def _inputs(self, X: Any) -> tuple[Any, Any, Any]:
        """Validated rows, copied because a map keeps its points; the same as samples; the kernel."""
        X = _validation.validate(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, order="C", copy=True)
        words = SimpleNamespace(
            kernel=self.kernel,
            gamma=self.gamma,
            degree=3 if self.degree is None else self.degree,
            coef0=1 if self.coef0 is None else self.coef0,
            kernel_params=self.kernel_params,
        )
        native = _scikit.estimator_kernel(words, X.shape[1])._at_columns(getattr(self, "feature_names_in_", None))
        if not native.needs_given_gram:
            return X, _data.samples(X), native
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"a precomputed kernel must be a square matrix of k(x_i, x_j), got shape {X.shape}")
        return X, _mercer.Samples.given_gram(_data.samples(X)), native

    def _how(self) -> tuple[int, int]:
        return _run.threads(self.n_jobs), _run.memory_bytes(self.memory)

    def transform(self, X: Any) -> np.ndarray:
        """The features of rows X, one row each; float32 for float32 rows, computed in float64."""
        check_is_fitted(self)
        X = _validation.validate(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, reset=False)
        with _run.progress(self.verbose) as bar:
            return self.map_.transform(_data.samples(X), _data.is_float32(X), *self._how(), bar)

    def _fitted(self, name: str) -> Any:
        fitted = self.__dict__.get("map_")
        if fitted is None:
            raise AttributeError(f"this {type(self).__name__} has no {name} before fit")
        return fitted

    @property
    def kernel_(self) -> Kernel:
        return wrap(self._fitted("kernel_").kernel)

    @property
    def components_(self) -> Any:
        """The points of the map; of a precomputed kernel there are none to show."""
        fitted = self._fitted("components_")
        return None if fitted.kernel.needs_given_gram else _data.to_numpy(fitted.points, copy=True)

    @property
    def component_indices_(self) -> np.ndarray | None:
        rows = self._fitted("component_indices_").point_rows
        return np.asarray(rows, dtype=np.intp) if rows else None

    @property
    def _n_features_out(self) -> int:
        return self._fitted("_n_features_out").n_components


class EmpiricalKernelMap(_KernelMap):
    """Kernel values with given points as features: x -> (k(x, x_1), ..., k(x, x_m)), or K^(-1/2) times that.

    Products of the plain map on its own points are K^2, of the whitened one K itself; where K is singular the pseudo-inverse is taken.

    Parameters
    ----------
    kernel, gamma, coef0, degree, kernel_params
        As in :class:`mercer.Nystroem`.
    whiten : bool, default False
        Multiply by K^(-1/2).
    n_components : int or None
        Points chosen among the rows; None is all of them.
    landmarks : "uniform", "kmeans", "rpcholesky", "leverage", or an array of rows
        How points are chosen, or the points.
    random_state : int, RandomState, Generator or None
        Draws them.
    n_jobs, memory, verbose : as in :class:`mercer.KernelRidge`.

    Attributes
    ----------
    components_ : the points. component_indices_ : which rows they are; None if they are none.
    eigenvalues_ : of K on the points, descending; None without whitening.
    kernel_ : the kernel used, with automatic length scales resolved.
    map_ : the compiled map.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import EmpiricalKernelMap, gram
    >>> X = np.random.RandomState(0).randn(20, 3)
    >>> Z = EmpiricalKernelMap("gaussian(1)", whiten=True).fit_transform(X)
    >>> bool(np.allclose(Z @ Z.T, gram(X, kernel="gaussian(1)")))
    True
    """

    def __init__(
        self,
        kernel: str | Kernel | Callable[..., float] = "rbf",
        *,
        whiten: bool = False,
        gamma: float | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int | None = None,
        landmarks: Any = "uniform",
        random_state: Any = None,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.whiten = whiten
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.landmarks = landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> EmpiricalKernelMap:
        """Take points among the rows of X, and K^(-1/2) of them where the map is whitened."""
        X, samples, native = self._inputs(X)
        landmarks: Any = self.landmarks
        if not isinstance(landmarks, str):
            rows = _data.rows(landmarks, "landmarks")
            _data.same_kinds(X, rows, "landmarks")
            landmarks = _data.samples(rows.copy())
        with _run.progress(self.verbose) as bar:
            self.map_ = _mercer.fit_empirical_kernel_map(
                samples, native, bool(self.whiten), self._how_many("n_components"), landmarks, _seed(self.random_state), *self._how(), bar
            )
        return self

    @property
    def eigenvalues_(self) -> np.ndarray | None:
        values = self._fitted("eigenvalues_").eigenvalues
        return values if len(values) else None


class MercerMap(_KernelMap):
    """Mercer's feature map by Nystrom extension: x -> sqrt(lambda_i) psi_i(x), the eigenpairs of f -> integral of k(., y) f(y).

    The measure is that of the rows: equal weights stand for the distribution they were drawn from, sample_weight for any other (the nodes and
    weights of a quadrature rule, say). Products of features are k, cut off after n_components terms.

    Parameters
    ----------
    n_components : int, default 100
        Terms, at most: eigenvalues that are 0 to rounding have no eigenfunction.
    kernel, gamma, coef0, degree, kernel_params
        As in :class:`mercer.Nystroem`.
    n_points : int or None
        Rows used, drawn uniformly; None is all of them. Time grows with their cube.
    random_state : int, RandomState, Generator or None
        Draws them.
    n_jobs, memory, verbose : as in :class:`mercer.KernelRidge`.

    Attributes
    ----------
    eigenvalues_ : of the integral operator, descending.
    components_ : the rows used. component_indices_ : which ones they are.
    kernel_ : the kernel used, with automatic length scales resolved.
    map_ : the compiled map.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import MercerMap, kernel_function
    >>> brownian = kernel_function(lambda A, B: np.minimum(A, B.T), name="min")
    >>> grid = (np.arange(500)[:, None] + 0.5) / 500
    >>> MercerMap(3, brownian).fit(grid).eigenvalues_.round(4)  # 1 / ((i - 1/2)^2 pi^2)
    array([0.4053, 0.045 , 0.0162])
    """

    def __init__(
        self,
        n_components: int = 100,
        kernel: str | Kernel | Callable[..., float] = "rbf",
        *,
        gamma: float | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_points: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_points = n_points
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MercerMap:
        """The eigenpairs of the rows X as a measure, with these weights."""
        X, samples, native = self._inputs(X)
        if self.n_components is None:
            raise ValueError("n_components must be a whole number >= 1, got None")
        with _run.progress(self.verbose) as bar:
            self.map_ = _mercer.fit_mercer_map(
                samples,
                native,
                self._how_many("n_components"),
                self._how_many("n_points"),
                _estimators.weights(sample_weight, X),
                _seed(self.random_state),
                *self._how(),
                bar,
            )
        return self

    def eigenfunctions(self, X: Any) -> np.ndarray:
        """psi_i(x) for each row x of X: features without their root of lambda; orthonormal in the measure."""
        return self.transform(X) / np.sqrt(self.eigenvalues_)

    @property
    def eigenvalues_(self) -> np.ndarray:
        return self._fitted("eigenvalues_").eigenvalues
