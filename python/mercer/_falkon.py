"""Regression and classification on landmarks, for many rows, with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import _data, _estimators, _mercer, _run, _scikit, _validation
from ._base import BaseEstimator
from ._errors import FileError, FileMissing
from ._kernel import Kernel, wrap
from .datasets import _seed

__all__ = ["FalkonClassifier", "FalkonRegressor"]


def _column(column: Any, parameter: str) -> str:
    """A column of a file as the library takes it: its name, or # and its number from 1; empty for the default."""
    if column is None or isinstance(column, str):
        return column or ""
    if isinstance(column, bool) or not isinstance(column, Integral) or column < 0:
        raise ValueError(f"{parameter} must be the name of a column or its position, counted from 0, got {column!r}")
    return f"#{int(column) + 1}"


@contextmanager
def _without_words_of_the_shell() -> Iterator[None]:
    """Messages about files advise options of the command line, which nobody has here."""
    try:
        yield
    except FileError as error:
        text = str(error)
        text = text.replace("use --impute mean or median when fitting, or remove the row", "fill it in, or remove the row")
        text = re.sub(r"[^;]*\(--kernel '[^']*'\), (?=make 0/1 columns)", " ", text)
        text = re.sub(r"make 0/1 columns of it with --one-hot, or leave it out with --drop (.*)$",
                      lambda m: f"make numbers of it, or leave it out with drop={m[1].split(',')}", text)
        raise type(error)(text) from None


class _Falkon(BaseEstimator):
    """What the two estimators share: parameters, the call into the library, fitted attributes."""

    def __init__(
        self,
        kernel: str | Kernel | Callable[..., float] = "rbf",
        gamma: float | None = None,
        n_landmarks: int = 1000,
        *,
        alpha: float = 1.0,
        lambda_: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        landmarks: Any = "uniform",
        fit_intercept: bool = False,
        precision: str | None = None,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 200,
        validation_fraction: float = 0.0,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_landmarks = n_landmarks
        self.alpha = alpha
        self.lambda_ = lambda_
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.landmarks = landmarks
        self.fit_intercept = fit_intercept
        self.precision = precision
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = _scikit.takes_gram(self.kernel)
        return tags

    def __sklearn_is_fitted__(self) -> bool:  # scikit-learn would take the parameter lambda_ for a fitted attribute
        return "model_" in self.__dict__

    def _options(self, landmarks: Any) -> dict[str, Any]:
        for name in ("n_landmarks", "max_iter"):
            if not isinstance(getattr(self, name), Integral) or getattr(self, name) < 1:
                raise ValueError(f"{name} must be a whole number >= 1, got {getattr(self, name)!r}")
        for name in ("tol", "validation_fraction"):
            if not isinstance(getattr(self, name), Real):
                raise ValueError(f"{name} must be a number, got {getattr(self, name)!r}")
        if self.precision not in (None, "float32", "float64"):
            raise ValueError(f'precision must be "float32", "float64" or None, got {self.precision!r}')
        return {
            "alpha": float(_estimators.penalties(self.alpha, self.lambda_, 1)[0]),
            "lambda_": None if self.lambda_ is None else float(self.lambda_),
            "n_landmarks": int(self.n_landmarks),
            "landmarks": landmarks,
            "fit_intercept": bool(self.fit_intercept),
            "float32": None if self.precision is None else self.precision == "float32",
            "solver": str(self.solver),
            "tol": float(self.tol),
            "max_iter": int(self.max_iter),
            "validation_fraction": float(self.validation_fraction),
            "seed": _seed(self.random_state),
        }

    def _given_landmarks(self, X: Any) -> Any:
        """The parameter `landmarks` as the library takes it: a word, or samples."""
        if isinstance(self.landmarks, str):
            return self.landmarks
        rows = _data.rows(self.landmarks, "landmarks").copy()  # the model keeps them
        _data.same_kinds(X, rows, "landmarks")
        if rows.shape[1] != X.shape[1]:
            raise ValueError(f"landmarks has {rows.shape[1]} columns, X has {X.shape[1]}")
        return _data.samples(rows)

    def _fit(self, X: Any, Y: np.ndarray, sample_weight: Any) -> None:
        weight = _estimators.weights(sample_weight, X)
        native = _scikit.estimator_kernel(self, X.shape[1])._at_columns(getattr(self, "feature_names_in_", None))
        rows = _estimators.training_rows(native, X)
        options = self._options(self._given_landmarks(X))
        with _run.progress(self.verbose) as bar:
            self.model_ = _mercer.fit_falkon(
                rows, Y, native, weight, options, _run.threads(self.n_jobs), _run.memory_bytes(self.memory), bar
            )

    def _fit_file(self, path: Any, target: str | int | None, drop: Sequence[str | int], sample_weight: str | None, classify: bool) -> list[str]:
        if self.kernel == "precomputed" or callable(self.kernel):
            raise ValueError("a file holds rows of numbers: precomputed kernels and functions of two rows cannot be fitted from it")
        name = os.fsdecode(path)
        if not os.path.exists(name):
            raise FileMissing(errno.ENOENT, "there is no such file", name)
        if isinstance(drop, str) or not isinstance(drop, Iterable):
            raise ValueError(f"drop must be a list of column names or positions, got {drop!r}")
        if not (sample_weight is None or isinstance(sample_weight, str)):
            raise ValueError(f"sample_weight must be the name of a column of the file, got {sample_weight!r}")
        columns = _column(target, "target"), [_column(column, "drop") for column in drop]
        _scikit.estimator_kernel(self, 1)  # says what is wrong with it before anything is read
        options = self._options(self.landmarks if isinstance(self.landmarks, str) else _data.samples(_data.rows(self.landmarks, "landmarks").copy()))
        with _without_words_of_the_shell(), _run.progress(self.verbose) as bar:
            self.model_, names, classes, self.notes_ = _mercer.fit_falkon_file(
                name,
                columns[0],
                classify,
                columns[1],
                sample_weight or "",
                lambda width: _scikit.estimator_kernel(self, width)._native,
                options,
                _run.threads(self.n_jobs),
                _run.memory_bytes(self.memory),
                bar,
            )
        self.n_features_in_ = self.model_.samples.width
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        return classes

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = _validation.validate(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, reset=False)
        rows = _data.samples(X)
        if self.model_.samples.is_given:
            rows = _mercer.Samples.given_rows(rows)
        with _run.progress(self.verbose) as bar:
            return self.model_.predict(rows, _run.threads(self.n_jobs), _run.memory_bytes(self.memory), bar)

    # -- fitted attributes, read from the model

    def _fitted(self, name: str) -> Any:
        model = self.__dict__.get("model_")
        if model is None:
            raise AttributeError(f"this {type(self).__name__} has no {name} before fit")
        return model

    @property
    def landmarks_(self) -> Any:
        model = self._fitted("landmarks_")
        if model.samples.is_given:
            raise AttributeError("the landmarks of a precomputed kernel are objects without rows: landmark_indices_ has their numbers")
        return _data.to_numpy(model.samples)

    @property
    def landmark_indices_(self) -> np.ndarray | None:
        rows = self._fitted("landmark_indices_").landmark_rows
        return np.asarray(rows, dtype=np.int64) if rows else None

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
    def kernel_(self) -> Kernel:
        return wrap(self._fitted("kernel_").kernel)

    @property
    def summary_(self) -> Any:
        return self._fitted("summary_").summary

    @property
    def trace_error_(self) -> float:
        return self._fitted("trace_error_").summary.trace_error

    @property
    def n_iter_(self) -> int:
        return max(1, self._fitted("n_iter_").summary.iterations)


_PARAMETERS = """
    Parameters
    ----------
    kernel, gamma, degree, coef0, kernel_params
        As in KernelRidge: scikit-learn's words keep their meaning, any other text is an expression. Default "rbf".
    n_landmarks : int, default 1000
        Landmarks z_j; all rows, if there are not more.
    alpha : float, default 1
        The penalty; alpha = n * lambda. ``lambda_`` gives it per sample.
    landmarks : "uniform", "kmeans", "rpcholesky", "leverage", or an array of rows
        How landmarks are chosen: rows at random; centres of k-means; randomly pivoted Cholesky; rows by approximate ridge leverage scores.
    fit_intercept : bool, default False
        Fit b, without penalty.
    precision : "float32", "float64" or None
        Of kernel values. None: float64 up to ten million of them, above that float32 where the landmarks are well enough conditioned.
    solver : "auto", "one-pass" or "cg"
        One pass over the rows and a dense solve, or preconditioned conjugate gradients; "auto" takes the quicker one.
    tol, max_iter : of conjugate gradients.
    validation_fraction : float in [0, 1), default 0
        Share of rows kept out of the fit to measure its error, in summary_.
    n_jobs, memory, random_state, verbose
        Threads (the answer does not depend on them), memory budget, seed of the landmarks, progress bar.

    Attributes
    ----------
    landmarks_ : the landmarks; landmark_indices_ : which rows they are, None if they are none.
    dual_coef_, intercept_ : c and b.
    kernel_ : the kernel used. summary_ : how it went; prints as one sentence.
    trace_error_ : share of the kernel's trace that the landmarks leave out. n_iter_ : iterations of conjugate gradients.
    model_ : the compiled model; ``model_.decision(x)`` predicts without validation.
"""


class FalkonRegressor(MultiOutputMixin, RegressorMixin, _Falkon):
    __doc__ = f"""Kernel regression on landmarks: minimises sum_i w_i (y_i - f(x_i) - b)^2 + alpha |f|^2 over f(x) = sum_j c_j k(x, z_j).

    For many rows: time grows with n * n_landmarks, memory does not grow with n. ``fit_file`` fits rows that do not fit in memory.
{_PARAMETERS}
    Examples
    --------
    >>> import numpy as np
    >>> from mercer import FalkonRegressor
    >>> rng = np.random.RandomState(0)
    >>> X = rng.randn(5000, 3)
    >>> y = np.sin(X[:, 0]) + X[:, 1]
    >>> round(FalkonRegressor(gamma=0.2, n_landmarks=200, random_state=0).fit(X, y).score(X, y), 2)
    1.0
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> FalkonRegressor:
        """Fit to rows X (n x features, dense or sparse) and targets y (n, or n x targets)."""
        X, y = _validation.validate(self, X, y, accept_sparse="csr", dtype=_estimators.FLOATS, order="C", multi_output=True, y_numeric=True)
        self._single_target = y.ndim == 1
        self._fit(X, _estimators.targets(y), sample_weight)
        return self

    def fit_file(
        self, path: str | os.PathLike[str], target: str | int | None = None, *, drop: Sequence[str | int] = (), sample_weight: str | None = None
    ) -> FalkonRegressor:
        """Fit to the rows of a CSV, TSV, LIBSVM or NPY file, read in parts: it need not fit in memory. Columns are taken as they are.

        ``target`` is the column to predict, by name or position from 0 (default: y, label, target or class, else the last one), ``drop``
        has columns to leave out, ``sample_weight`` names a column of weights. gamma=None is 1 / n_features, as in fit. ``notes_`` says what was chosen.
        """
        self._fit_file(path, target, drop, sample_weight, False)
        self._single_target = True
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predictions for rows X: (n,), or (n, targets) if y had two dimensions."""
        f = self._scores(X)
        return f[:, 0] if self._single_target else f


class FalkonClassifier(ClassifierMixin, _Falkon):
    __doc__ = f"""Classification by regression on landmarks: squared loss against -1 and +1, one class against the rest for three or more.
{_PARAMETERS}
    classes_ : the labels.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(200, random_state=0)
    >>> mercer.FalkonClassifier(gamma=1.0, alpha=0.01, n_landmarks=50, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> FalkonClassifier:
        """Fit to rows X (n x features, dense or sparse) and labels y (n)."""
        X, y = _validation.validate(self, X, y, accept_sparse="csr", dtype=_estimators.FLOATS, order="C")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        _estimators.require_two_classes(self.classes_)
        self._single_target = len(self.classes_) == 2
        Y = 2.0 * codes[:, None] - 1 if self._single_target else np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        self._fit(X, np.ascontiguousarray(Y), sample_weight)
        return self

    def fit_file(
        self, path: str | os.PathLike[str], target: str | int | None = None, *, drop: Sequence[str | int] = (), sample_weight: str | None = None
    ) -> FalkonClassifier:
        """Fit to the rows of a CSV, TSV, LIBSVM or NPY file, read in parts: it need not fit in memory. Columns are taken as they are."""
        labels = self._fit_file(path, target, drop, sample_weight, True)
        self.classes_ = np.asarray(labels)
        for kind in (np.int64, np.float64):
            try:
                self.classes_ = self.classes_.astype(kind)
                break
            except ValueError:
                continue
        self._single_target = len(labels) == 2
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores: (n,) for two classes, positive for the second; (n, classes) for more."""
        f = self._scores(X)
        return f[:, 0] if self._single_target else f

    def predict(self, X: Any) -> np.ndarray:
        """The label of the largest score for each row of X."""
        f = self.decision_function(X)
        return self.classes_[(f > 0).astype(np.intp) if f.ndim == 1 else f.argmax(axis=1)]
