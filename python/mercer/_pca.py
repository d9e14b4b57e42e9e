"""Principal component analysis with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_is_fitted

from . import _data, _estimators, _mercer, _run, _validation
from ._base import BaseEstimator
from .datasets import _seed

__all__ = ["PCA"]

# In the order of the library's PcaRoute; the words after the first are scikit-learn's.
_ROUTES = {"auto": 0, "svd": 1, "full": 1, "covariance": 2, "covariance_eigh": 2, "gram": 3, "krylov": 4, "arpack": 4, "randomized": 4}


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal component analysis: the orthogonal directions along which rows vary most.

    A twin of :class:`sklearn.decomposition.PCA`: the same parameters, defaults, attributes and signs.

    Parameters
    ----------
    n_components : int, float, "mle" or None
        How many: a number, a share of the variance in (0, 1) to be exceeded, Minka's choice, or all, min(n_samples, n_features).
    copy : bool
        Kept for scikit-learn; rows are never changed.
    whiten : bool, default False
        Scores of unit variance.
    svd_solver : "auto", "full", "covariance_eigh", "gram", "krylov", "arpack" or "randomized"
        "auto" goes by shape: see ``summary_.route``. The last three are block Krylov, whose accuracy is ``tol``.
    tol : float
        |C v - lambda v| / lambda_1 of the Krylov route; 0 is 1e-10.
    iterated_power, n_oversamples, power_iteration_normalizer
        Kept for scikit-learn; not looked at.
    random_state : int, RandomState instance or None
        Draws the first block of the Krylov route; None is 0.
    n_jobs, memory, verbose : as in :class:`mercer.KernelRidge`.

    Attributes
    ----------
    components_ : (n_components, n_features), directions; in each, the entry of largest size is positive.
    explained_variance_, explained_variance_ratio_, singular_values_ : variances are divided by n - 1.
    mean_, noise_variance_, n_components_, n_samples_, n_features_in_, feature_names_in_ : as scikit-learn has them.
    summary_ : the route taken and the share of the variance.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import PCA
    >>> X = np.array([[-1.0, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> PCA(n_components=2).fit(X).explained_variance_ratio_.round(4)
    array([0.9924, 0.0076])
    """

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _number(self, shape: tuple[int, int]) -> dict[str, Any]:
        k, most = self.n_components, min(shape)
        if k is None:
            return {"n_components": 0, "variance_fraction": 0.0, "maximum_likelihood": False}
        if isinstance(k, str) and k == "mle":
            return {"n_components": 0, "variance_fraction": 0.0, "maximum_likelihood": True}
        if isinstance(k, Integral) and not isinstance(k, bool) and 1 <= k <= most:
            return {"n_components": int(k), "variance_fraction": 0.0, "maximum_likelihood": False}
        if isinstance(k, Real) and not isinstance(k, Integral) and 0 < k < 1:
            return {"n_components": 0, "variance_fraction": float(k), "maximum_likelihood": False}
        raise ValueError(
            f"n_components={k!r} must be between 1 and min(n_samples, n_features)={most}, a share of the variance in (0, 1), "
            '"mle" or None'
        )

    def fit(self, X: Any, y: Any = None) -> PCA:
        """Find the principal directions of the rows of X."""
        X = _validation.numbers(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, order="C")
        if self.svd_solver not in _ROUTES:
            raise ValueError(f"svd_solver must be one of {', '.join(_ROUTES)}, got {self.svd_solver!r}")
        if not isinstance(self.tol, Real) or not 0 <= self.tol < np.inf:
            raise ValueError(f"tol must be a number >= 0, got {self.tol!r}")
        options = self._number(X.shape)
        options.update(
            whiten=bool(self.whiten),
            route=_ROUTES[self.svd_solver],
            tol=float(self.tol),
            seed=0 if self.random_state is None else _seed(self.random_state),
        )
        with _run.progress(self.verbose) as bar:
            self.model_ = _mercer.fit_pca(_data.samples(X), options, _run.threads(self.n_jobs), _run.memory_bytes(self.memory), bar)
        if self.model_.summary.status != "converged":
            warnings.warn(str(self.model_.summary), ConvergenceWarning, stacklevel=2)
        return self

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return _validation.numbers(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, reset=False)

    def transform(self, X: Any) -> np.ndarray:
        """The scores of rows X along the directions, in the type of X."""
        X = self._rows(X)
        with _run.progress(self.verbose) as bar:
            Z = self.model_.predict(_data.samples(X), _run.threads(self.n_jobs), _run.memory_bytes(self.memory), bar)
        return Z.astype(X.dtype, copy=False)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Points of the principal subspace from scores X."""
        check_is_fitted(self)
        Z = check_array(X, dtype=_estimators.FLOATS)
        return self.model_.inverse_transform(np.ascontiguousarray(Z, dtype=np.float64)).astype(Z.dtype, copy=False)

    def reconstruction_error(self, X: Any) -> np.ndarray:
        """The squared distance of each row from its reconstruction: how unlike the training rows it is."""
        X = self._rows(X)
        return self.model_.reconstruction_error(_data.samples(X), _run.threads(self.n_jobs), _run.memory_bytes(self.memory))

    def get_covariance(self) -> np.ndarray:
        """The covariance of the probabilistic model: the components, and noise_variance_ in all other directions."""
        check_is_fitted(self)
        V, noise = self.components_, self.noise_variance_
        C = (V.T * np.maximum(self.explained_variance_ - noise, 0)) @ V
        C.flat[:: len(C) + 1] += noise
        return C

    def get_precision(self) -> np.ndarray:
        """The inverse of get_covariance, through its eigenvectors where there is noise in all other directions."""
        check_is_fitted(self)
        V, noise, variance = self.components_, self.noise_variance_, self.explained_variance_
        if noise == 0:
            return np.linalg.inv(self.get_covariance())
        P = (V.T * (1 / np.maximum(variance, noise) - 1 / noise)) @ V
        P.flat[:: len(P) + 1] += 1 / noise
        return P

    def score_samples(self, X: Any) -> np.ndarray:
        """The log-likelihood of each row under the probabilistic model of Tipping and Bishop."""
        X = self._rows(X)
        X = X.toarray() if hasattr(X, "toarray") else X
        C, P = X - self.mean_, self.get_precision()
        logdet = np.linalg.slogdet(P)[1]
        return 0.5 * (logdet - X.shape[1] * np.log(2 * np.pi) - np.einsum("ij,ij->i", C @ P, C))

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of score_samples."""
        return float(np.mean(self.score_samples(X)))

    # -- fitted attributes, read from the model

    def _fitted(self, name: str) -> Any:
        model = self.__dict__.get("model_")
        if model is None:
            raise AttributeError(f"this {type(self).__name__} has no {name} before fit")
        return model

    @property
    def components_(self) -> np.ndarray:
        return self._fitted("components_").components

    @property
    def explained_variance_(self) -> np.ndarray:
        return self._fitted("explained_variance_").explained_variance

    @property
    def explained_variance_ratio_(self) -> np.ndarray:
        return self._fitted("explained_variance_ratio_").explained_variance_ratio

    @property
    def singular_values_(self) -> np.ndarray:
        return self._fitted("singular_values_").singular_values

    @property
    def mean_(self) -> np.ndarray:
        return self._fitted("mean_").mean

    @property
    def noise_variance_(self) -> float:
        return self._fitted("noise_variance_").noise_variance

    @property
    def n_components_(self) -> int:
        return self._fitted("n_components_").n_components

    @property
    def n_samples_(self) -> int:
        return self._fitted("n_samples_").summary.samples

    @property
    def summary_(self) -> Any:
        return self._fitted("summary_").summary

    @property
    def _n_features_out(self) -> int:
        return self.n_components_
