"""Kernel principal component analysis with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from . import _data, _estimators, _mercer, _preimage, _run, _scikit, _validation
from ._base import BaseEstimator
from ._kernel import Kernel, wrap
from ._kernel_ridge import KernelRidge
from .datasets import _seed

__all__ = ["KernelPCA"]

# In the order of the library's KernelPcaSolver; "arpack" and "randomized" are scikit-learn's words for the top few.
_SOLVERS = {"auto": 0, "dense": 1, "krylov": 2, "arpack": 2, "randomized": 2, "lowrank": 3}

_PREIMAGES = ("auto", *_preimage.METHODS)


def _grows(estimator: Any) -> bool:
    if estimator.eigen_solver == "lowrank":
        return True
    raise AttributeError('partial_fit is for eigen_solver="lowrank", the form that grows with new rows')


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Kernel principal component analysis: the directions of a feature space along which the images of the rows vary most.

    A twin of :class:`sklearn.decomposition.KernelPCA`: the same parameters, defaults and attributes, and of exact fits the same signs; and
    more kernels, solvers for large numbers of rows, and errors of reconstruction.

    Parameters
    ----------
    n_components : int or None
        None is all with an eigenvalue above rounding.
    kernel, gamma, degree, coef0, kernel_params
        scikit-learn's words with its parameters, a callable, "precomputed"; or a :class:`mercer.Kernel` or its text.
    alpha : float, default 1.0
        The penalty of the ridge map that ``fit_inverse_transform`` learns.
    fit_inverse_transform : bool, default False
        Learn a map from scores back to rows (kernel ridge regression), for inverse_transform. The kernel is taken on scores,
        which scales per column or ``.on(columns)`` need not fit. :func:`mercer.save` does not keep the map.
    eigen_solver : "auto", "dense", "krylov" ("arpack", "randomized") or "lowrank"
        All eigenpairs; the top few by block Krylov; or on landmarks without an n x n matrix. "auto" goes by size: see ``summary_``.
    tol : float
        |K u - lambda u| / lambda_1 of the Krylov solver; 0 is 1e-10 up to 5000 rows and 1e-5 (eigenvalues: about its square) above.
    max_iter : int or None
        Products with the Gram matrix at most; None is 200.
    iterated_power : kept for scikit-learn; not looked at.
    remove_zero_eig : bool
        Leave out components whose eigenvalue is rounding.
    random_state : int, RandomState instance or None
        Draws landmarks and the first block; None is 0.
    copy_X : bool
        False keeps a reference to X, which must then not change.
    n_jobs, memory, verbose : as in :class:`mercer.KernelRidge`.
    whiten : False, True or "map"
        True: scores of unit variance. "map": (HKH)^(-1/2) times the centred kernel values, a column per training row, whose products are
        those of the feature space.
    center : bool, default True
        False takes the mean in feature space for 0.
    n_landmarks : int or None
        Of "lowrank"; None is the larger of 1000 and 10 n_components.
    landmarks : array of rows or None
        Given landmarks; None chooses them by randomly pivoted Cholesky.
    preimage : "auto", "best", "fixed_point", "gradient", "distance" or "ridge"
        How inverse_transform and denoise find rows: a method of :func:`mercer.preimages`. "auto" is the map of ``fit_inverse_transform``
        where that is learned, as in scikit-learn, and else "best".

    Attributes
    ----------
    eigenvalues_, eigenvectors_ : of the centred Gram matrix; a "lowrank" fit has no eigenvectors_.
    explained_variance_, explained_variance_ratio_ : eigenvalues / (n - 1), and over the trace of the whole centred Gram matrix.
    X_fit_, gamma_, kernel_, n_features_in_, feature_names_in_, dual_coef_, X_transformed_fit_ : as scikit-learn has them.
    landmarks_ : the landmarks of a "lowrank" fit.
    summary_ : the solver taken, its residual, the share of the variance.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> X = np.random.RandomState(0).randn(100, 3)
    >>> pca = KernelPCA(n_components=2, kernel="rbf", gamma=0.5).fit(X)
    >>> pca.transform(X[:5]).shape
    (5, 2)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: str | Kernel | Callable[..., float] = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | str = "auto",
        remove_zero_eig: bool = False,
        random_state: Any = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
        whiten: bool | str = False,
        center: bool = True,
        n_landmarks: int | None = None,
        landmarks: Any = None,
        preimage: str = "auto",
        memory: str | float | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.whiten = whiten
        self.center = center
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.preimage = preimage
        self.memory = memory
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = _scikit.takes_gram(self.kernel)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _options(self, X: Any) -> dict[str, Any]:
        for name in ("n_components", "max_iter", "n_landmarks"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or value < 1):
                raise ValueError(f"{name} must be a whole number >= 1 or None, got {value!r}")
        if self.eigen_solver not in _SOLVERS:
            raise ValueError(f"eigen_solver must be one of {', '.join(_SOLVERS)}, got {self.eigen_solver!r}")
        if not isinstance(self.tol, Real) or not 0 <= self.tol < np.inf:
            raise ValueError(f"tol must be a number >= 0, got {self.tol!r}")
        if not isinstance(self.whiten, bool | np.bool_) and self.whiten != "map":
            raise ValueError(f'whiten must be False, True or "map", got {self.whiten!r}')
        if self.preimage not in _PREIMAGES:
            raise ValueError(f"preimage must be one of {', '.join(_PREIMAGES)}, got {self.preimage!r}")
        landmarks = None
        if self.landmarks is not None:
            rows = _data.rows(self.landmarks, "landmarks")
            _data.same_kinds(X, rows, "landmarks")
            if rows.shape[1] != X.shape[1]:
                raise ValueError(f"landmarks has {rows.shape[1]} columns, X has {X.shape[1]}")
            landmarks = _data.samples(rows.copy())  # which the model keeps
        return {
            "n_components": int(self.n_components or 0),
            "center": bool(self.center),
            "output": 2 if isinstance(self.whiten, str) else int(self.whiten),
            "solver": _SOLVERS[self.eigen_solver],
            "remove_zero": bool(self.remove_zero_eig),
            "rank": int(self.n_landmarks or 0),
            "landmarks": landmarks,
            "tol": float(self.tol),
            "max_iter": int(self.max_iter or 0),
            "seed": 0 if self.random_state is None else _seed(self.random_state),
        }

    def fit(self, X: Any, y: Any = None) -> KernelPCA:
        """Find the principal directions of the images of the rows of X."""
        X = _validation.validate(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, order="C", copy=self.copy_X)
        native = _scikit.estimator_kernel(self, X.shape[1])._at_columns(getattr(self, "feature_names_in_", None))
        given = native.needs_given_gram
        if given and X.shape[0] != X.shape[1]:
            raise ValueError(f"a precomputed kernel must be a square matrix of k(x_i, x_j), got shape {X.shape}")
        if self.fit_inverse_transform and given:
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel: there are no rows to come back to")
        if self.fit_inverse_transform and isinstance(X, _data.Objects):
            raise ValueError(f"fit_inverse_transform learns rows of numbers, but X holds {X.described()}: there is no mean of them")
        options = self._options(X)
        samples = _data.samples(X)
        with _run.progress(self.verbose) as bar:
            self.model_ = _mercer.fit_kernel_pca(
                _mercer.Samples.given_gram(samples) if given else samples,
                native,
                options,
                _run.threads(self.n_jobs),
                _run.memory_bytes(self.memory),
                bar,
            )
        self._X_fit = X
        self.gamma_ = 1 / X.shape[1] if self.gamma is None else self.gamma
        if self.model_.summary.status != "converged":
            warnings.warn(str(self.model_.summary), ConvergenceWarning, stacklevel=2)
        self._fit_inverse(X)
        return self

    def _fit_inverse(self, X: Any) -> None:
        self.__dict__.pop("_inverse", None)
        if not self.fit_inverse_transform:
            return
        rows = X.toarray() if hasattr(X, "toarray") else X  # what comes back is dense
        Z = np.ascontiguousarray(self._training_scores(), dtype=np.float64)
        try:
            self.kernel_(Z[:1])
        except ValueError as error:
            raise ValueError(
                f"fit_inverse_transform learns a ridge map with the kernel on the {Z.shape[1]} scores, which {self.kernel_} cannot be taken on: "
                f'{error}; with fit_inverse_transform=False, preimage="best" goes back to rows'
            ) from error
        self._inverse = KernelRidge(self.alpha, kernel=self.kernel_, n_jobs=self.n_jobs, memory=self.memory).fit(Z, rows)

    def _training_scores(self) -> np.ndarray:
        """The scores of the rows that the model was fitted on: of an exact fit, without kernel values."""
        model = self.model_
        if model.is_low_rank or model.output == 2:
            return self._scores(self._X_fit)
        scale = np.sqrt(model.eigenvalues)
        if model.output == 1:
            scale = np.where(scale > 0, np.sqrt(max(model.summary.samples - 1, 1)), 0)
        return model.eigenvectors * scale

    @available_if(_grows)
    def partial_fit(self, X: Any, y: Any = None) -> KernelPCA:
        """Take in more rows: the result is that of a fit on all rows so far with the landmarks of the first call. Of "lowrank" only."""
        if "model_" not in self.__dict__:
            rows = X.shape[0] if hasattr(X, "shape") else len(X)
            if isinstance(self.n_components, Integral) and rows < self.n_components:
                raise ValueError(
                    f"the first call has {rows} rows for n_components={self.n_components}: it chooses the landmarks, so give it at least that many"
                )
            return self.fit(X)
        if self.fit_inverse_transform:
            raise ValueError("fit_inverse_transform needs all rows at once; it cannot be learned by partial_fit")
        X = self._rows(X)
        with _run.progress(self.verbose) as bar:
            self.model_ = self.model_.extend(_data.samples(X), _run.threads(self.n_jobs), _run.memory_bytes(self.memory), bar)
        self._X_fit = None
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> np.ndarray:
        """Fit, and give the scores of the same rows: of an exact fit, without further kernel values."""
        self.fit(X, **params)
        return self._training_scores().astype(_data.value_type(self._X_fit), copy=False)

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return _validation.validate(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, reset=False)

    def _native_rows(self, X: Any) -> Any:
        rows = _data.samples(X)
        return _mercer.Samples.given_rows(rows) if self.model_.basis.is_given else rows

    def _scores(self, X: Any) -> np.ndarray:
        with _run.progress(self.verbose) as bar:
            return self.model_.predict(self._native_rows(X), _run.threads(self.n_jobs), _run.memory_bytes(self.memory), bar)

    def transform(self, X: Any) -> np.ndarray:
        """The scores of rows X, centred by the mean of the training rows in feature space; in the type of X."""
        X = self._rows(X)
        return self._scores(X).astype(_data.value_type(X), copy=False)

    def reconstruction_error(self, X: Any) -> np.ndarray:
        """The squared distance in feature space of each row from what the components can say of it: a score of novelty."""
        X = self._rows(X)
        with _run.progress(self.verbose) as bar:
            return self.model_.reconstruction_error(
                self._native_rows(X), _run.threads(self.n_jobs), _run.memory_bytes(self.memory), bar
            )

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows whose images are near to the points with scores X: by the map of ``fit_inverse_transform``, or as ``preimage`` says."""
        check_is_fitted(self)
        Z = check_array(X, dtype=_estimators.FLOATS)
        if self.preimage in ("auto", "ridge") and "_inverse" in self.__dict__:
            return self._inverse.predict(np.ascontiguousarray(Z, dtype=np.float64)).astype(Z.dtype, copy=False)
        found = self.preimages(Z)
        if not found.converged.all():
            warnings.warn(found.summary, ConvergenceWarning, stacklevel=2)
        return found.X.astype(Z.dtype, copy=False)

    def denoise(self, X: Any) -> np.ndarray:
        """Rows X without what the components cannot say: ``inverse_transform(transform(X))``."""
        return self.inverse_transform(self.transform(X))

    def preimages(self, X: Any, *, method: str | None = None, **options: Any) -> _preimage.Preimages:
        """The pre-images of the points with scores X, each with its distance in feature space, its method and whether the search converged.

        method None is what ``preimage`` says; options are those of :func:`mercer.preimages`.
        """
        check_is_fitted(self)
        Z = np.ascontiguousarray(check_array(X, dtype=np.float64))
        word = self.preimage if method is None else method
        word = "best" if word == "auto" else word
        if word in ("best", "ridge") and "_inverse" in self.__dict__:
            options.setdefault("learned", self._inverse.predict(Z))
        options.setdefault("ridge_alpha", self.alpha)
        asked = _preimage.options(word, **options)
        model = self.model_
        with _run.progress(self.verbose) as bar:
            native = _mercer.preimages(
                model.kernel, model.basis, model.expansion(Z), asked, _run.threads(self.n_jobs), _run.memory_bytes(self.memory), bar
            )
        return _preimage.found(native)

    # -- fitted attributes, read from the model

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__

    def _fitted(self, name: str) -> Any:
        model = self.__dict__.get("model_")
        if model is None:
            raise AttributeError(f"this {type(self).__name__} has no {name} before fit")
        return model

    @property
    def eigenvalues_(self) -> np.ndarray:
        return self._fitted("eigenvalues_").eigenvalues

    @property
    def eigenvectors_(self) -> np.ndarray:
        model = self._fitted("eigenvectors_")
        if model.is_low_rank:
            raise AttributeError("the low-rank form keeps no eigenvectors of the Gram matrix; transform(X) / sqrt(eigenvalues_) stands for them")
        return model.eigenvectors

    @property
    def explained_variance_(self) -> np.ndarray:
        return self._fitted("explained_variance_").explained_variance

    @property
    def explained_variance_ratio_(self) -> np.ndarray:
        return self._fitted("explained_variance_ratio_").explained_variance_ratio

    @property
    def X_fit_(self) -> Any:
        model = self._fitted("X_fit_")
        if self._X_fit is not None:
            return _data.points(self._X_fit.native) if isinstance(self._X_fit, _data.Objects) else self._X_fit
        if model.is_low_rank or model.basis.is_given:
            raise AttributeError("the rows that this model was fitted on were not kept: it has landmarks, or came from a file")
        return _data.to_numpy(model.basis)

    @property
    def landmarks_(self) -> Any:
        model = self._fitted("landmarks_")
        if not model.is_low_rank or model.basis.is_given:
            raise AttributeError('landmarks_ are of eigen_solver="lowrank" on rows')
        return _data.to_numpy(model.basis)

    @property
    def dual_coef_(self) -> np.ndarray:
        if "_inverse" not in self.__dict__:
            raise AttributeError("dual_coef_ is of fit_inverse_transform=True, after fit")
        return self._inverse.dual_coef_

    @property
    def X_transformed_fit_(self) -> np.ndarray:
        if "_inverse" not in self.__dict__:
            raise AttributeError("X_transformed_fit_ is of fit_inverse_transform=True, after fit")
        return self._inverse.X_fit_

    @property
    def kernel_(self) -> Kernel:
        return wrap(self._fitted("kernel_").kernel)

    @property
    def summary_(self) -> Any:
        return self._fitted("summary_").summary

    @property
    def _n_features_out(self) -> int:
        return self.model_.n_targets
