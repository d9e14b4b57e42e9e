"""TensorSketch for polynomial kernels and the additive chi-squared map, with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, check_non_negative

from . import _data, _estimators, _mercer, _run, _validation
from ._base import BaseEstimator
from ._kernel import Kernel, wrap
from .datasets import _seed

__all__ = ["AdditiveChi2Sampler", "TensorSketch"]


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be a whole number >= 1, got {value!r}")
    return int(value)


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"{name} must be a number, got {value!r}")
    return float(value)


class TensorSketch(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Features whose products approximate the polynomial kernel (gamma <x, y> + coef0)^degree, by count sketches and FFT.

    A twin of :class:`sklearn.kernel_approximation.PolynomialCountSketch`, fast on sparse rows and with a bound on its error.

    Parameters
    ----------
    gamma : float, default 1.0; degree : int, default 2; coef0 : float, default 0
        Of the kernel; gamma > 0, coef0 >= 0, any degree from 1 to 100.
    n_components : int, default 100
        Columns of the output; numbers made of small factors (powers of two) are fastest.
    random_state : int, RandomState, Generator or None
        Draws the hashes.
    n_jobs, memory, verbose : as in :class:`mercer.KernelRidge`.

    Attributes
    ----------
    indexHash_, bitHash_ : (degree, n_features), with one more column where coef0 > 0: place and sign of each column.
    kernel_ : the kernel. map_ : the compiled map.
    n_features_in_, feature_names_in_ : as scikit-learn has them.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import TensorSketch
    >>> X = np.random.RandomState(0).randn(6, 4)
    >>> sketch = TensorSketch(degree=3, coef0=1, n_components=4096, random_state=0)
    >>> Z, K = sketch.fit_transform(X), (X @ X.T + 1) ** 3
    >>> bool(np.all(abs(Z @ Z.T - K) < sketch.error_bound(0.999) * np.sqrt(np.outer(K.diagonal(), K.diagonal()))))
    True
    """

    def __init__(
        self,
        *,
        gamma: float = 1.0,
        degree: int = 2,
        coef0: float = 0,
        n_components: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        verbose: bool = False,
    ) -> None:
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Any, y: Any = None) -> TensorSketch:
        """Draw the hashes of the columns of X, of which only the number is looked at."""
        X = _validation.numbers(self, X, accept_sparse="csr", dtype=_estimators.FLOATS)
        self.map_ = _mercer.tensor_sketch(
            X.shape[1],
            _whole(self.degree, "degree"),
            _number(self.gamma, "gamma"),
            _number(self.coef0, "coef0"),
            _whole(self.n_components, "n_components"),
            _seed(self.random_state),
        )
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The sketches of rows X: (n, n_components), float32 for float32 rows and float64 else."""
        check_is_fitted(self)
        X = _validation.numbers(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, reset=False)
        with _run.progress(self.verbose) as bar:
            return self.map_.transform(
                _data.samples(X), _data.is_float32(X), _run.threads(self.n_jobs), _run.memory_bytes(self.memory), bar
            )

    def error_bound(self, confidence: float = 0.95) -> float:
        """An error that abs(z(x)'z(y) - k(x, y)) stays below for one pair, with this confidence, in units of sqrt(k(x, x) k(y, y))."""
        check_is_fitted(self)
        return self.map_.error_bound(float(confidence))

    def _fitted(self, name: str) -> Any:
        fitted = self.__dict__.get("map_")
        if fitted is None:
            raise AttributeError(f"this TensorSketch has no {name} before fit")
        return fitted

    @property
    def indexHash_(self) -> np.ndarray:
        return self._fitted("indexHash_").places

    @property
    def bitHash_(self) -> np.ndarray:
        return self._fitted("bitHash_").signs

    @property
    def kernel_(self) -> Kernel:
        return wrap(self._fitted("kernel_").kernel)

    @property
    def _n_features_out(self) -> int:
        return self._fitted("_n_features_out").n_components


class AdditiveChi2Sampler(TransformerMixin, BaseEstimator):
    """Features whose products approximate the additive chi-squared kernel, the sum of 2 x_j y_j / (x_j + y_j) over columns >= 0.

    A twin of :class:`sklearn.kernel_approximation.AdditiveChi2Sampler`: the same parameters and the same numbers.

    Parameters
    ----------
    sample_steps : int, default 2
        Samples of the spectrum; 2 sample_steps - 1 features for each column.
    sample_interval : float or None
        Their distance; None is the best for 1, 2 or 3 steps.
    n_jobs, memory : as in :class:`mercer.KernelRidge`.
    random_state, verbose : not used, since nothing is drawn and nothing takes long; every estimator takes them.

    Attributes
    ----------
    sample_interval_ : the distance used.
    n_features_in_, feature_names_in_ : as scikit-learn has them.

    Examples
    --------
    >>> from mercer import AdditiveChi2Sampler
    >>> Z = AdditiveChi2Sampler(sample_steps=3).fit_transform([[1.0, 2.0], [3.0, 1.0]])
    >>> bool(abs(Z[0] @ Z[1] - (2 * 3 / 4 + 2 * 2 / 3)) < 0.05)
    True
    """

    def __init__(
        self,
        *,
        sample_steps: int = 2,
        sample_interval: float | None = None,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.sample_steps = sample_steps
        self.sample_interval = sample_interval
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.requires_fit = False
        return tags

    @property
    def sample_interval_(self) -> float:
        given = None if self.sample_interval is None else _number(self.sample_interval, "sample_interval")
        return _mercer.additive_chi2_interval(_whole(self.sample_steps, "sample_steps"), given)

    def fit(self, X: Any, y: Any = None) -> AdditiveChi2Sampler:
        """Check the parameters; nothing is learned."""
        X = _validation.numbers(self, X, accept_sparse="csr", dtype=_estimators.FLOATS)
        check_non_negative(X, "X in AdditiveChi2Sampler.fit")
        _ = self.sample_interval_
        return self

    def transform(self, X: Any) -> Any:
        """(n, (2 sample_steps - 1) n_features), sparse for sparse rows; float32 for float32 rows, computed in float64."""
        X = _validation.numbers(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, reset=False)
        check_non_negative(X, "X in AdditiveChi2Sampler.transform")
        interval, steps = self.sample_interval_, int(self.sample_steps)
        how = steps, interval, _run.threads(self.n_jobs), _run.memory_bytes(self.memory)
        if not sp.issparse(X):
            return _mercer.additive_chi2_features(_data.samples(X), *how).astype(X.dtype, copy=False)
        if not X.nnz:
            return sp.csr_array((X.shape[0], X.shape[1] * (2 * steps - 1)), dtype=X.dtype)
        # 0 maps to 0: the numbers that are there, as one column, and their places again.
        values = _mercer.additive_chi2_features(_data.samples(np.ascontiguousarray(X.data).reshape(-1, 1)), *how).astype(X.dtype, copy=False)
        blocks = [sp.csr_array((values[:, b], X.indices, X.indptr), shape=X.shape) for b in range(values.shape[1])]
        return sp.hstack(blocks, format="csr")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """scikit-learn's names: additivechi2sampler_x0_sqrt, ..._cos1, ..._sin1."""
        check_is_fitted(self, "n_features_in_")
        names = _check_feature_names_in(self, input_features, generate_names=True)
        kinds = ["sqrt", *(f"{wave}{j}" for j in range(1, self.sample_steps) for wave in ("cos", "sin"))]
        return np.asarray([f"additivechi2sampler_{name}_{kind}" for kind in kinds for name in names], dtype=object)
