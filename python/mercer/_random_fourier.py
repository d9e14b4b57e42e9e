"""Random Fourier features with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from . import _data, _estimators, _mercer, _run, _scikit, _validation
from ._base import BaseEstimator
from ._kernel import Kernel, wrap
from .datasets import _seed
from .kernels import kernel as make_kernel

__all__ = ["RandomFourierFeatures"]

_FORMS = {"sincos": False, "cos": True}


def is_cosine(form: Any, n_components: int) -> bool:
    if form == "auto":
        return n_components % 2 == 1
    if form not in _FORMS:
        raise ValueError(f'form must be "auto", "sincos" (sine and cosine of each frequency) or "cos" (cosine with an offset), got {form!r}')
    return _FORMS[form]


def count(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be a whole number >= 1, got {value!r}")
    return int(value)


def kernel_of(estimator: Any, X: Any, default_gamma: Any) -> Kernel:
    """scikit-learn's words "rbf" and "laplacian" with their gamma; anything else is Mercer's and brings its own parameters."""
    k, gamma = estimator.kernel, estimator.gamma
    if isinstance(k, str) and k in PAIRWISE_KERNEL_FUNCTIONS:
        if isinstance(gamma, str):
            if gamma != "scale":
                raise ValueError(f'gamma must be a number > 0, None or "scale", got {gamma!r}')
            variance = variance_of(X)
            gamma = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
        elif gamma is not None and (not isinstance(gamma, Real) or not 0 < gamma < np.inf):
            raise ValueError(f'gamma must be a number > 0, None or "scale", got {gamma!r}')
        return _scikit._word(k, gamma, 3, 1, X.shape[1])
    if not isinstance(k, str | Kernel):
        raise ValueError(f"kernel must be text or a mercer.Kernel (random features need its spectral measure), got {k!r}")
    if gamma != default_gamma:
        warnings.warn(f"kernel={k!r} brings its own parameters and does not look at gamma", stacklevel=3)
    return make_kernel(k)


def variance_of(X: Any) -> float:
    if not hasattr(X, "multiply"):
        return float(X.var())
    count = X.shape[0] * X.shape[1]
    mean = float(X.sum()) / count
    return float(X.multiply(X).sum()) / count - mean * mean


def draw_of(orthogonal: Any, quasi_random: Any = False) -> str:
    """The word of the compiled library for how frequencies hang together."""
    if not isinstance(quasi_random, bool | np.bool_):
        raise ValueError(f"quasi_random must be True or False, got {quasi_random!r}")
    if orthogonal == "structured":
        draw = "structured"
    elif isinstance(orthogonal, bool | np.bool_ | Integral):
        draw = "orthogonal" if orthogonal else "independent"
    else:
        raise ValueError(f'orthogonal must be True, False or "structured", got {orthogonal!r}')
    if quasi_random and draw != "independent":
        raise ValueError(f"frequencies are quasi-random or {draw}, not both: set orthogonal=False or quasi_random=False")
    return "quasi" if quasi_random else draw


class RandomFourierFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Random Fourier features: a map z of n_components numbers a row whose products z(x)'z(y) approximate a kernel k(x, y).

    A twin of :class:`sklearn.kernel_approximation.RBFSampler` for more kernels, with a bound on its error.

    Parameters
    ----------
    n_components : int or "auto", default 100
        Columns of the output. "auto": as many as Hoeffding's bound asks for, so that every product of two of the rows that fit sees is off by
        at most max_error with this confidence (they grow as log n / max_error^2; in practice a tenth of them is often enough). With
        orthogonal or quasi_random it is sized as if the frequencies were independent; the bound is not claimed.
    kernel : str or mercer.Kernel, default "rbf"
        "rbf" and "laplacian" (L1) as scikit-learn has them, with gamma; else an expression of gaussian, laplacian, matern and
        rational_quadratic with length scales, their multiples, sums, products and ``.on(columns)``. Automatic length scales are set by fit.
    gamma : float or "scale", default 1.0
        Of scikit-learn's words. "scale" is 1 / (n_features * X.var()). None is 1 / n_features.
    form : "auto", "sincos" or "cos"
        Sine and cosine of each frequency (less variance, and z(x)'z(x) = k(x, x) exactly), or a cosine with a random offset, as RBFSampler.
        "auto" is the first, which needs an even number of columns, and the second for an odd one.
    orthogonal : bool or "structured", default False
        Frequencies orthogonal to each other in groups of n_features: less variance for the Gaussian, and no bound. "structured" makes them of
        Hadamard matrices and random signs: nearly the same, and faster for 256 columns and more.
    quasi_random : bool, default False
        Frequencies from a Sobol sequence with a random shift in place of independent ones: more even, less error for smooth kernels of few
        columns, and no bound.
    max_error : float, default 0.1; confidence : float, default 0.95
        Of n_components="auto", in units of k(x, x).
    random_state : int, RandomState, Generator or None
        Seed of the draw.
    n_jobs, memory, verbose : as in :class:`mercer.KernelRidge`.

    Attributes
    ----------
    n_components_ : columns of the output.
    random_weights_ : (n_features, frequencies), the frequencies drawn.
    random_offset_ : (frequencies,), the offsets; zeros for "sincos".
    kernel_ : the kernel, with automatic length scales resolved.
    map_ : the compiled map.
    n_features_in_, feature_names_in_ : as scikit-learn has them.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RandomFourierFeatures
    >>> X = np.random.RandomState(0).randn(5, 3)
    >>> features = RandomFourierFeatures(2000, "rbf", gamma=0.5, random_state=0)
    >>> Z = features.fit_transform(X)
    >>> bool(abs(Z @ Z.T - np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(-1))).max() < features.hoeffding_bound(0.95, n_samples=5))
    True
    """

    def __init__(
        self,
        n_components: int | str = 100,
        kernel: str | Kernel = "rbf",
        *,
        gamma: float | str | None = 1.0,
        form: str = "auto",
        orthogonal: bool | str = False,
        quasi_random: bool = False,
        max_error: float = 0.1,
        confidence: float = 0.95,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.form = form
        self.orthogonal = orthogonal
        self.quasi_random = quasi_random
        self.max_error = max_error
        self.confidence = confidence
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Any, y: Any = None) -> RandomFourierFeatures:
        """Draw the map for the columns of X. The rows are looked at for automatic length scales, gamma="scale" and rounding alone."""
        X = _validation.numbers(self, X, accept_sparse="csr", dtype=_estimators.FLOATS)
        k = kernel_of(self, X, 1.0)._at_columns(getattr(self, "feature_names_in_", None))
        rows = _data.samples(X)
        components = self._components(X.shape[0])
        drawn = _mercer.random_fourier_features(
            _mercer.resolve(k, rows),
            X.shape[1],
            components,
            is_cosine(self.form, components),
            draw_of(self.orthogonal, self.quasi_random),
            _seed(self.random_state),
            _run.memory_bytes(self.memory),
        )
        # The map as drawn; around the mean of the rows float32 keeps its digits.
        self.map_ = drawn if hasattr(X, "toarray") else drawn.centred_at(X.mean(axis=0, dtype=np.float64))
        return self

    def _components(self, n_samples: int) -> int:
        if not isinstance(self.n_components, str):
            return count(self.n_components, "n_components")
        if self.n_components != "auto":
            raise ValueError(f'n_components must be a whole number >= 1 or "auto", got {self.n_components!r}')
        return self.components_for(self.max_error, confidence=self.confidence, n_samples=max(n_samples, 2), form=self.form)

    def transform(self, X: Any) -> np.ndarray:
        """The features of rows X: (n, n_components), float32 for float32 rows and float64 else."""
        check_is_fitted(self)
        X = _validation.numbers(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, reset=False)
        with _run.progress(self.verbose) as bar:
            return self.map_.transform(
                _data.samples(X), _data.is_float32(X), _run.threads(self.n_jobs), _run.memory_bytes(self.memory), bar
            )

    def hoeffding_bound(self, confidence: float = 0.95, *, n_samples: int = 2) -> float:
        """An error that abs(z(x)'z(y) - k(x, y)) stays below, for all pairs of n_samples given rows, with this confidence.

        n_samples = 2 is one pair. Independent frequencies only: with orthogonal or quasi_random this is an error.
        """
        check_is_fitted(self)
        return self.map_.hoeffding_error(float(confidence), count(n_samples, "n_samples"))

    def hoeffding_failure(self, error: float, *, n_samples: int = 2) -> float:
        """A bound on the probability that some pair of n_samples given rows is off by more than error."""
        check_is_fitted(self)
        return self.map_.hoeffding_failure(float(error), count(n_samples, "n_samples"))

    @staticmethod
    def components_for(error: float, *, confidence: float = 0.95, n_samples: int = 2, form: str = "sincos") -> int:
        """The least n_components whose bound is this error, for a kernel with k(x, x) = 1."""
        return _mercer.hoeffding_components(is_cosine(form, 2), float(error), float(confidence), count(n_samples, "n_samples"), 1.0)

    def _fitted(self, name: str) -> Any:
        fitted = self.__dict__.get("map_")
        if fitted is None:
            raise AttributeError(f"this RandomFourierFeatures has no {name} before fit")
        return fitted

    @property
    def n_components_(self) -> int:
        return self._fitted("n_components_").n_components

    @property
    def random_weights_(self) -> np.ndarray:
        return self._fitted("random_weights_").frequencies

    @property
    def random_offset_(self) -> np.ndarray:
        return self._fitted("random_offset_").offsets

    @property
    def kernel_(self) -> Kernel:
        return wrap(self._fitted("kernel_").kernel)

    @property
    def _n_features_out(self) -> int:
        return self._fitted("_n_features_out").n_components
