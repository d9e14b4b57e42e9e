"""Support vector machines for outputs with parts: classes, labels of sequences, rankings, and what a user's own problem says."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from . import _data, _estimators, _mercer, _run, _validation
from ._convex import KernelExpansion, count, positive
from ._kernel import Kernel

__all__ = ["StructuredSVM"]

_FORMS = ("multiclass", "chain", "ranking")
_METHODS = ("joint_feature", "loss", "loss_augmented_argmax", "argmax")


class StructuredSVM(ClassifierMixin, KernelExpansion):
    """Structured support vector machine: minimises |w|^2 / 2 + C sum_i max_y [ loss(y_i, y) - <w, phi(x_i, y_i)> + <w, phi(x_i, y)> ].

    By block-coordinate Frank-Wolfe, down to a duality gap that is recomputed at the end. Predictions are argmax_y <w, phi(x, y)>.

    Parameters
    ----------
    model : "multiclass", "chain", "ranking" or an object, default "multiclass"
        - "multiclass": y has one label per row; Crammer and Singer's machine, with any kernel.
        - "chain": X is a list of (length_i, features) arrays, y a list of sequences of labels, one for each position. Scores of positions, of
          neighbouring labels, of the first and of the last label; the loss counts wrong positions.
        - "ranking": y is an (n, labels) array of ranks, in each row a permutation of 1 .. labels; y[i, l] = 1 says that label l is the best for
          row i. The loss is (1 - Spearman's rho) / 2.
        - An object with four methods: ``joint_feature(x, y)`` (a 1-D array or one sparse row, always of the same length), ``loss(y_true, y)``
          (>= 0, and 0 for the truth), ``loss_augmented_argmax(x, y_true, w)`` (the y with the largest loss + <w, phi>) and ``argmax(x, w)``. X
          and y are then any two sequences of the same length.
    C : float, default 1
        Weight of the losses.
    kernel : str, mercer.Kernel or callable, default "linear"
        Of "multiclass"; as in :class:`mercer.KernelRidge`, with gamma, degree, coef0 and kernel_params. The others are linear.
    fit_intercept : bool, default True
        A constant for each label, penalised like a weight. A user's own problem has its features as they are.
    tol : float, default 1e-3
        Stop when the duality gap is below tol times the objective.
    max_iter : int, default 1000
        Passes over the examples with the search.
    lambda_ : float, optional
        The penalty beside the mean loss, 1 / (2 C n); overrides C.
    random_state : int, RandomState or None
        The order in which a pass visits the examples; None is 0.
    n_jobs, memory, verbose
        As in :class:`mercer.KernelRidge`. A user's own methods are called from one thread.

    Attributes
    ----------
    coef_ : (labels, features), of a linear machine; of a user's own problem the vector w.
    intercept_ : one per label.
    classes_ : the labels in order; not of a ranking, nor of a user's own problem.
    transition_, start_, end_ : of a chain, scores of label a before label b, of the first and of the last label.
    support_, support_vectors_, dual_coef_ : of a machine with another kernel; dual_coef_ has one column per class.
    gap_ : the duality gap.
    n_iter_, summary_, kernel_, model_ : as in the other estimators.

    Examples
    --------
    >>> import mercer
    >>> X = [[[1.0], [0.1], [-1.0]], [[-1.0], [-0.1]]]
    >>> tagger = mercer.StructuredSVM("chain", C=10).fit(X, [["up", "up", "down"], ["down", "down"]])
    >>> [list(map(str, labels)) for labels in tagger.predict(X)]
    [['up', 'up', 'down'], ['down', 'down']]
    """

    def __init__(
        self,
        model: Any = "multiclass",
        *,
        C: float = 1.0,
        kernel: str | Kernel | Callable[..., float] = "linear",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        lambda_: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        verbose: bool = False,
    ) -> None:
        self.model = model
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.lambda_ = lambda_
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if not isinstance(self.model, str):
            tags.input_tags.two_d_array = False
            tags.no_validation = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__ or "_solution" in self.__dict__

    # -- fitting

    def _form(self) -> str:
        """One of the words, or "own"."""
        if isinstance(self.model, str):
            if self.model not in _FORMS:
                raise ValueError(f"model must be one of {', '.join(map(repr, _FORMS))} or an object, got {self.model!r}")
            return self.model
        lacking = [name for name in _METHODS if not callable(getattr(self.model, name, None))]
        if lacking:
            raise ValueError(f"a model of your own must have the methods {', '.join(_METHODS)}; {self.model!r} has no {', '.join(lacking)}")
        return "own"

    def _settings(self, weight: np.ndarray) -> tuple[Any, ...]:
        return (
            positive("C", self.C),
            positive("lambda_", self.lambda_, optional=True),
            bool(self.fit_intercept),
            weight,
            positive("tol", self.tol),
            count("max_iter", self.max_iter),
            self._seed(),
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> StructuredSVM:
        """Fit to examples X and their outputs y, as ``model`` has them; sample_weight has one number per example."""
        form = self._form()
        for name in ("model_", "_solution", "classes_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        if form != "multiclass" and not (isinstance(self.kernel, str) and self.kernel == "linear"):
            raise ValueError(f"kernel must be 'linear' where model is not 'multiclass', got {self.kernel!r}; make features first, by Nystroem say")
        fit = {"multiclass": self._fit_classes, "chain": self._fit_chain, "ranking": self._fit_ranking, "own": self._fit_own}[form]
        with _run.progress(self.verbose) as bar:
            fit(X, y, sample_weight, bar)
        if self.summary_.status != "converged":
            warnings.warn(str(self.summary_), ConvergenceWarning, stacklevel=2)
        return self

    def _fit_classes(self, X: Any, y: Any, sample_weight: Any, bar: Any) -> None:
        _same_kind_of_labels(y)
        X, y = _validation.validate(self, X, y, accept_sparse="csr", dtype=_estimators.FLOATS, order="C")
        check_classification_targets(y)
        weight = _estimators.weights(sample_weight, X)
        settings = self._settings(weight)
        self.classes_, labels = np.unique(y, return_inverse=True)
        _estimators.require_two_classes(self.classes_)
        _estimators.require_weight(self.classes_, labels, weight)
        native, rows = self._bound(X)
        self.model_ = _mercer.fit_multiclass_svm(rows, np.ascontiguousarray(labels, dtype=np.int64), native, settings, *self._run(), bar)

    def _fit_chain(self, X: Any, y: Any, sample_weight: Any, bar: Any) -> None:
        rows, offsets = _stacked(X)
        labels = _stacked_labels(y, offsets)
        settings = self._settings(_estimators.weights(sample_weight, np.empty((len(offsets) - 1, 1))))
        self.classes_, codes = np.unique(labels, return_inverse=True)
        _estimators.require_two_classes(self.classes_)
        self.n_features_in_ = rows.shape[1]
        self.model_ = _mercer.fit_chain_svm(
            _data.samples(rows), offsets, np.ascontiguousarray(codes, dtype=np.int64), settings, *self._run(), bar
        )

    def _fit_ranking(self, X: Any, y: Any, sample_weight: Any, bar: Any) -> None:
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=_estimators.FLOATS, order="C", multi_output=True)
        settings = self._settings(_estimators.weights(sample_weight, X))
        self.model_ = _mercer.fit_ranking_svm(_data.samples(X), _ranks(y) - 1, settings, *self._run(), bar)

    def _fit_own(self, X: Any, y: Any, sample_weight: Any, bar: Any) -> None:
        xs, ys = list(X), list(y)
        if len(xs) != len(ys) or not xs:
            raise ValueError(f"X and y must have the same number of examples, at least one, got {len(xs)} and {len(ys)}")
        settings = self._settings(_estimators.weights(sample_weight, np.empty((len(xs), 1))))
        problem = self.model
        truth = [_feature(problem.joint_feature(a, b), i) for i, (a, b) in enumerate(zip(xs, ys, strict=True))]
        dimension = truth[0][2]
        for i, output in enumerate(ys):
            _same_length(truth[i][2], dimension, i)
            if (loss := float(problem.loss(output, output))) != 0:
                raise ValueError(f"the loss of a true output must be 0, got {loss} for example {i}")

        def worst(i: int, w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
            guess = problem.loss_augmented_argmax(xs[i], ys[i], w)
            at, values, length = _feature(problem.joint_feature(xs[i], guess), i)
            _same_length(length, dimension, i)
            return float(problem.loss(ys[i], guess)), np.concatenate([truth[i][0], at]), np.concatenate([truth[i][1], -values])

        self._solution = _mercer.fit_structured_oracle(len(xs), dimension, worst, settings, *self._run(), bar)

    # -- predictions

    def predict(self, X: Any) -> Any:
        """Labels of rows; of a chain a list of arrays of labels; of a ranking the (n, labels) ranks, 1 the best; else a list of outputs."""
        check_is_fitted(self)
        form = self._form()
        if form == "own":
            w = self.coef_
            return [self.model.argmax(x, w) for x in X]
        with _run.progress(self.verbose) as bar:
            if form == "chain":
                rows, offsets = self._sequences(X)
                labels = self.model_.label_sequences(_data.samples(rows), offsets, *self._run(), bar)
                return np.split(self.classes_[np.asarray(labels, dtype=np.intp)], offsets[1:-1])
            rows = self._new_rows(X)
            if form == "ranking":
                return self.model_.ranks(rows, *self._run(), bar) + 1
            return self.classes_[np.argmax(self.model_.predict(rows, *self._run(), bar), axis=1)]

    def decision_function(self, X: Any) -> Any:
        """Scores of labels: (n,) for two classes, positive for the second; else (n, labels); of a chain a list of these, without neighbours."""
        check_is_fitted(self)
        form = self._form()
        if form == "own":
            raise ValueError("scores of outputs are for the models that Mercer ships; coef_ has w")
        if form == "chain":
            rows, offsets = self._sequences(X)
            return np.split(self.model_.predict(_data.samples(rows), *self._run(), None), offsets[1:-1])
        scores = self._apply("predict", X)
        return scores[:, 1] - scores[:, 0] if form == "multiclass" and scores.shape[1] == 2 else scores

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, of a chain that of single positions; of a ranking the mean of Spearman's rho; of a user's own problem minus the mean loss."""
        form = self._form()
        if form == "multiclass":
            return super().score(X, y, sample_weight)
        predicted = self.predict(X)
        if form == "chain":
            lengths = [len(labels) for labels in predicted]
            right = np.concatenate(predicted) == _stacked_labels(y, np.cumsum([0, *lengths]))
            weight = None if sample_weight is None else np.repeat(np.asarray(sample_weight, dtype=float), lengths)
            return float(np.average(right, weights=weight))
        if form == "ranking":
            truth = _ranks(check_array(y, dtype=None))
            if truth.shape != predicted.shape:
                raise ValueError(f"y must have ranks of shape {predicted.shape}, got {truth.shape}")
            labels = predicted.shape[1]
            rho = 1 - 6 * ((predicted - truth) ** 2).sum(axis=1) / (labels * (labels**2 - 1))
            return float(np.average(rho, weights=sample_weight))
        if len(predicted) != len(ys := list(y)):
            raise ValueError(f"X has {len(predicted)} examples but y has {len(ys)}")
        return -float(np.average([self.model.loss(b, guess) for b, guess in zip(ys, predicted, strict=True)], weights=sample_weight))

    def _sequences(self, X: Any) -> tuple[Any, np.ndarray]:
        rows, offsets = _stacked(X)
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(f"X has sequences of {rows.shape[1]} columns, the model was fitted on {self.n_features_in_}")
        return rows, offsets

    # -- fitted attributes

    def _part(self, name: str, wanted: bool, of: str) -> Any:
        model = self._fitted(name)
        if not wanted:
            raise AttributeError(f"{name} is of {of}")
        return model

    @property
    def summary_(self) -> Any:
        return self._solution[1] if "_solution" in self.__dict__ else self._fitted("summary_").summary

    @property
    def gap_(self) -> float:
        return float(self.summary_.gap)

    @property
    def n_iter_(self) -> int:
        return int(self.summary_.passes)

    @property
    def coef_(self) -> np.ndarray:
        if "_solution" in self.__dict__:
            return self._solution[0]
        return self._part("coef_", self._fitted("coef_").is_linear, "linear machines; dual_coef_ has the coefficients of support vectors").coef

    @property
    def intercept_(self) -> np.ndarray:
        return self._fitted("intercept_").intercept

    def _chain_part(self, name: str) -> Any:
        return self._part(name, self._fitted(name).form == "chain", "chains")

    @property
    def transition_(self) -> np.ndarray:
        return self._chain_part("transition_").transition

    @property
    def start_(self) -> np.ndarray:
        return self._chain_part("start_").start

    @property
    def end_(self) -> np.ndarray:
        return self._chain_part("end_").end

    def _support_part(self, name: str) -> Any:
        return self._part(name, not self._fitted(name).is_linear, "machines with a kernel; a linear one has coef_")

    @property
    def support_(self) -> np.ndarray:
        return np.asarray(self._support_part("support_").support, dtype=np.intp)

    @property
    def support_vectors_(self) -> Any:
        self._support_part("support_vectors_")
        return self.X_fit_

    @property
    def dual_coef_(self) -> np.ndarray:
        return self._support_part("dual_coef_").coef


def _stacked(X: Any) -> tuple[Any, np.ndarray]:
    """The rows of all sequences, one below the other, and where each begins."""
    if isinstance(X, str) or sp.issparse(X) or not hasattr(X, "__len__"):
        raise ValueError(f"X must be a list of sequences, each an array of one row per position, got {type(X).__name__}")
    if len(X) == 0:
        raise ValueError("X must have at least one sequence, got none")
    if _holds_numbers(next(iter(X))):
        raise ValueError(
            "X must be a list of sequences, each an array of one row per position; of a single sequence it is [X], and positions of one number "
            "are np.reshape(x, (-1, 1))"
        )
    parts = []
    for i, x in enumerate(X):
        rows = check_array(x, accept_sparse="csr", dtype=_estimators.FLOATS, ensure_min_samples=0, input_name=f"sequence {i} of X")
        if rows.shape[0] == 0:
            raise ValueError(f"sequence {i} of X has no positions")
        if parts and rows.shape[1] != parts[0].shape[1]:
            raise ValueError(f"all sequences must have the same columns: sequence {i} of X has {rows.shape[1]}, the first {parts[0].shape[1]}")
        parts.append(rows)
    offsets = np.cumsum([0, *(part.shape[0] for part in parts)], dtype=np.int64)
    if any(sp.issparse(part) for part in parts):
        return sp.csr_array(sp.vstack([sp.csr_array(part) for part in parts])), offsets
    return np.concatenate(parts), offsets


def _holds_numbers(x: Any) -> bool:
    """Whether x is a number, a word or a row of them, so no array of rows."""
    if sp.issparse(x) or hasattr(x, "columns"):
        return False
    return bool(np.isscalar(x) or (hasattr(x, "__len__") and len(x) > 0 and np.isscalar(next(iter(x)))))


def _stacked_labels(y: Any, offsets: np.ndarray) -> np.ndarray:
    if not hasattr(y, "__len__") or len(y) != len(offsets) - 1:
        got = len(y) if hasattr(y, "__len__") else type(y).__name__
        raise ValueError(f"y must have a sequence of labels for each of the {len(offsets) - 1} sequences of X, got {got}")
    for i, labels in enumerate(y):
        length = int(offsets[i + 1] - offsets[i])
        if isinstance(labels, str) or not hasattr(labels, "__len__") or len(labels) != length:
            raise ValueError(f"sequence {i} has {length} positions, so y[{i}] must be a list of {length} labels, got {labels!r}")
    flat = [label for labels in y for label in labels]
    _same_kind_of_labels(flat)
    return np.asarray(flat)


def _same_kind_of_labels(y: Any) -> None:
    """Text beside numbers would all become text, and no number would be found again."""
    if isinstance(y, np.ndarray) and y.dtype.kind != "O":
        return
    text = {isinstance(label, str) for label in y} if isinstance(y, list | tuple | np.ndarray) else set()
    if len(text) > 1:
        raise ValueError("the labels must be all text or all numbers, got both: take str(label) for each")


def _ranks(y: np.ndarray) -> np.ndarray:
    if y.ndim != 2 or y.shape[1] < 2:
        raise ValueError(f"y must be an (n, labels) array of ranks with at least two labels, got shape {y.shape}")
    wanted = np.arange(1, y.shape[1] + 1)
    wrong = np.flatnonzero((np.sort(y, axis=1) != wanted).any(axis=1))
    if len(wrong):
        raise ValueError(f"every row of y must be a permutation of 1 .. {y.shape[1]}, 1 the best label; row {wrong[0]} is {y[wrong[0]].tolist()}")
    return np.ascontiguousarray(y, dtype=np.int64)


def _feature(value: Any, example: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Indices, values and length of a joint feature."""
    if sp.issparse(value):
        row = sp.coo_array(value.reshape(1, -1))
        return row.coords[1].astype(np.int64), row.data.astype(np.float64), row.shape[1]
    dense = np.asarray(value, dtype=np.float64)
    if dense.ndim != 1:
        raise ValueError(f"joint_feature must give a 1-D array or one sparse row, got shape {dense.shape} for example {example}")
    at = np.flatnonzero(dense)
    return at.astype(np.int64), dense[at], len(dense)


def _same_length(got: int, wanted: int, example: int) -> None:
    if got != wanted:
        raise ValueError(f"joint_feature must always give the same length: {wanted} for example 0, {got} for example {example}")
