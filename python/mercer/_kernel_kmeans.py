"""Kernel k-means and the number of clusters, with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from . import _data, _estimators, _mercer, _run, _scikit, _validation
from ._convex import KernelExpansion, count
from ._kernel import Kernel, wrap
from ._shown import Shown

__all__ = ["ClusterChoice", "KernelKMeans", "choose_k", "silhouette_samples", "silhouette_score"]

METHODS = ("auto", "exact", "low_rank")


class ClusterChoice(Shown):
    """What several numbers of clusters are worth, and the one to take.

    Attributes
    ----------
    k : the number of clusters by the criterion asked for; criterion : its name.
    k_silhouette, k_gap : the choices of both; None where there is none (no reference sets; no k fulfils the gap statistic's rule).
    table : dict of arrays "k", "inertia", "silhouette", "gap", "gap_error", one entry for each number of clusters; ``pandas.DataFrame(table)``.
    labels_by_k : dict from each number of clusters to the labels found.
    labels : those of the chosen k.
    kernel : the kernel, with automatic length scales resolved. sentence : all of it in one; seconds : what it took.

    Examples
    --------
    >>> import mercer
    >>> X, _ = mercer.datasets.blobs(90, random_state=0)
    >>> choice = mercer.choose_k(X, range(2, 5), kernel="linear", n_references=0, random_state=0)
    >>> sorted(choice.labels_by_k), choice.table["silhouette"].shape
    ([2, 3, 4], (3,))
    """

    def __init__(self, made: _mercer.ClusterChoice, criterion: str) -> None:
        self.criterion = criterion
        self.k = made.k
        self.k_silhouette = made.by_silhouette or None
        self.k_gap = made.by_gap or None
        self.table = {
            "k": np.asarray(made.ks, dtype=np.intp),
            **{name: np.asarray(getattr(made, name)) for name in ("inertia", "silhouette", "gap", "gap_error")},
        }
        self.labels_by_k = {k: np.asarray(labels, dtype=np.int32) for k, labels in zip(made.ks, made.labels, strict=True)}
        self.kernel = wrap(made.kernel)
        self.sentence = made.sentence
        self.seconds = made.seconds

    @property
    def labels(self) -> np.ndarray:
        return self.labels_by_k.get(self.k, next(iter(self.labels_by_k.values())))

    def __repr__(self) -> str:
        return self.sentence

    def _facts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("k", "criterion", "k_silhouette", "k_gap", "labels", "kernel", "seconds")}

    def _table(self) -> list[dict[str, Any]]:
        return [dict(zip(self.table, row, strict=True)) for row in zip(*self.table.values(), strict=True)]


def _choose(native: Any, rows: Any, ks: tuple[int, int], criterion: str, references: int, reference: str, weight: np.ndarray, fit: tuple[Any, ...]) -> ClusterChoice:
    if criterion not in ("silhouette", "gap"):
        raise ValueError(f'criterion must be "silhouette" or "gap", got {criterion!r}')
    if reference not in ("pca", "box"):
        raise ValueError(f'reference must be "pca" or "box", got {reference!r}')
    made = _mercer.choose_clusters(rows, native, *ks, criterion == "gap", references, reference == "pca", weight, *fit)
    return ClusterChoice(made, criterion)


def _ends(k_range: Any) -> tuple[int, int]:
    """Consecutive numbers as a range, a list or the like, or the tuple (first, last)."""
    values = [*k_range] if isinstance(k_range, Iterable) else None
    if not values or not all(isinstance(k, Integral) and k >= 1 for k in values):
        raise ValueError(f"k_range must be whole numbers >= 1, such as range(2, 11) or (2, 10), got {k_range!r}")
    low, high = int(min(values)), int(max(values))
    pair = isinstance(k_range, tuple) and len(values) == 2
    if not pair and sorted(int(k) for k in values) != list(range(low, high + 1)):
        raise ValueError(
            f"k_range must be consecutive numbers, got {k_range!r}; for all of {low} to {high} give range({low}, {high + 1}) or the tuple ({low}, {high})"
        )
    return low, high


def _whole(name: str, value: Any, least: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}")
    return int(value)


def choose_k(
    X: Any,
    k_range: Any = range(1, 11),
    *,
    kernel: str | Kernel | Callable[..., float] = "rbf",
    gamma: float | None = None,
    degree: float = 3,
    coef0: float = 1,
    kernel_params: dict[str, Any] | None = None,
    criterion: str = "silhouette",
    n_references: int = 10,
    reference: str = "pca",
    n_init: int = 10,
    random_state: Any = None,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> ClusterChoice:
    """How many clusters kernel k-means should make of the rows X, by silhouettes in the feature space or by the gap statistic.

    Parameters
    ----------
    k_range : the numbers of clusters to try, consecutive: a range, a list of them, or the tuple (first, last).
        One cluster has a gap but no silhouette.
    kernel, gamma, degree, coef0, kernel_params : as in :class:`mercer.KernelKMeans`.
    criterion : "silhouette" (the largest mean) or "gap" (the smallest k with Gap(k) >= Gap(k+1) - s(k+1)).
    n_references : reference sets of the gap statistic; 0 leaves it out.
    reference : "pca" or "box": uniform in the box along the principal axes, or along the columns.

    Examples
    --------
    >>> import mercer, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(90, 2)) + 8 * np.repeat(np.eye(3, 2), 30, axis=0)
    >>> mercer.choose_k(X, range(1, 6), kernel="linear", random_state=0).k
    3
    """
    rows = _data.rows(X)
    if isinstance(rows, _data.Objects) and n_references != 0:
        raise ValueError(f"reference sets of the gap statistic are rows of numbers, but X holds {rows.described()}: use n_references=0")
    words = SimpleNamespace(kernel=kernel, gamma=gamma, degree=degree, coef0=coef0, kernel_params=kernel_params)
    names = _data.column_names(X)
    _scikit.require_numbers(kernel, rows)
    native = _scikit.estimator_kernel(words, rows.shape[1])._at_columns(names)
    samples = _data.samples(rows)
    samples.require_finite("X")
    if native.needs_given_gram:
        if rows.shape[0] != rows.shape[1]:
            raise ValueError(f"a precomputed kernel must be a square matrix of k(x_i, x_j), got shape {rows.shape}")
        samples = _mercer.Samples.given_gram(samples)
    seed = KernelExpansion._seed(SimpleNamespace(random_state=random_state))  # type: ignore[arg-type]
    with _run.progress(verbose) as bar:
        fit = ("auto", _whole("n_init", n_init, 1), 300, 1e-4, 0, seed, _run.threads(n_jobs), _run.memory_bytes(memory), bar)
        return _choose(native, samples, _ends(k_range), criterion, _whole("n_references", n_references, 0), reference, np.empty(0), fit)


def silhouette_samples(X: Any, labels: Any, *, kernel: Any = None, n_jobs: int | None = None) -> np.ndarray:
    """The silhouette of each row of X under these labels: (b - a) / max(a, b), a the mean distance to its own cluster, b to the nearest other.

    Distances are Euclidean, or those of a kernel's feature space; ``kernel="precomputed"`` takes a Gram matrix for X.

    >>> import mercer
    >>> mercer.silhouette_samples([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]).round(3)
    array([0.905, 0.895, 0.895, 0.905])
    """
    rows = _data.rows(X)
    names = np.asarray(labels)
    if names.shape != (rows.shape[0],):
        raise ValueError(f"labels must be one per row of X ({rows.shape[0]}), got shape {names.shape}")
    samples = _data.samples(rows)
    samples.require_finite("X")
    native = None if kernel is None else _scikit.any_kernel(kernel, rows)._at_columns(_data.column_names(X))
    if native is not None and native.needs_given_gram:
        samples = _mercer.Samples.given_gram(samples)
    numbers = np.unique(names, return_inverse=True)[1]
    with _run.progress(False) as bar:
        return _mercer.silhouette_samples(samples, numbers.tolist(), native, _run.threads(n_jobs), 0, bar)


def silhouette_score(X: Any, labels: Any, *, kernel: Any = None, n_jobs: int | None = None) -> float:
    """The mean of :func:`mercer.silhouette_samples`.

    >>> import mercer
    >>> round(mercer.silhouette_score([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]), 3)
    0.9
    """
    return float(silhouette_samples(X, labels, kernel=kernel, n_jobs=n_jobs).mean())


class KernelKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, KernelExpansion):
    """k-means in the feature space of a kernel: clusters that no straight line separates.

    Parameters
    ----------
    n_clusters : int or "auto", default 8
        "auto" tries the numbers of ``k_range`` and takes the one with the largest mean silhouette (:func:`mercer.choose_k`).
    kernel : str, mercer.Kernel or callable, default "rbf"
        As in :class:`mercer.KernelRidge`; gamma, degree, coef0 and kernel_params too (gamma=None is 1 / n_features).
    n_init : int, default 10
        Starts by k-means++ in the feature space, side by side; the best is taken.
    max_iter, tol : iterations of a start; stop when the squared movements of the means add up to at most tol times the variance.
    random_state : int, RandomState instance or None
        None is 0: a fit is repeatable unless asked otherwise.
    method : "auto", "exact" or "low_rank"
        A stored Gram matrix, or pivots chosen by randomly pivoted Cholesky (above 20000 rows, or where the matrix does not fit the memory).
    n_landmarks : rank of the latter; None is 2 sqrt(n), between 200 and 1000.
    k_range : numbers of clusters that "auto" tries, as in :func:`mercer.choose_k`, default (2, 10).
    n_jobs, memory, verbose
        As in :class:`mercer.KernelRidge`. The answer is the same for any number of threads.

    Attributes
    ----------
    labels_ : the cluster of each training row. inertia_ : the weighted sum of squared distances to the means, in the feature space.
    n_iter_ : iterations of the best start. n_clusters_ : clusters found, fewer than asked for where rows coincide.
    choice_ : of ``n_clusters="auto"``, the :class:`mercer.ClusterChoice`.
    summary_, kernel_, X_fit_, model_ : as in the other estimators.

    Examples
    --------
    >>> import mercer
    >>> X = mercer.datasets.circles(200, random_state=0)[0]
    >>> mercer.KernelKMeans(2, gamma=2.0, random_state=0).fit(X).labels_.shape
    (200,)
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        kernel: str | Kernel | Callable[..., float] = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
        method: str = "auto",
        n_landmarks: int | None = None,
        k_range: Any = (2, 10),
        n_jobs: int | None = None,
        memory: str | float | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.method = method
        self.n_landmarks = n_landmarks
        self.k_range = k_range
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelKMeans:
        """Cluster the rows X (n x features, dense or sparse). A row of weight zero gets a label and nothing else."""
        X = _validation.validate(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, order="C", copy=True)
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, got {self.method!r}")
        if not isinstance(self.tol, Real) or not 0 <= self.tol < np.inf:
            raise ValueError(f"tol must be a finite number >= 0, got {self.tol!r}")
        weight = _estimators.weights(sample_weight, X)
        native, rows = self._bound(X)
        settings = (self.method, count("n_init", self.n_init), count("max_iter", self.max_iter), float(self.tol))
        settings = (*settings, count("n_landmarks", self.n_landmarks, optional=True), self._seed(), *self._run())
        self.__dict__.pop("choice_", None)
        with _run.progress(self.verbose) as bar:
            k = self._wanted(native, rows, X.shape[0], weight, (*settings, bar))
            self.model_ = _mercer.fit_kernel_kmeans(rows, native, k, weight, *settings, bar)
        summary = self.model_.summary
        if summary.clusters < k:
            warnings.warn(
                f"{k} clusters were asked for, but the rows have only {summary.clusters} distinct places", ConvergenceWarning, stacklevel=2
            )
        elif not summary.converged:
            warnings.warn(f"{summary}; raise max_iter", ConvergenceWarning, stacklevel=2)
        self.labels_ = np.asarray(self.model_.labels, dtype=np.int32)
        self._distances = self.model_.distances(rows, *self._run()) if native.needs_given_gram else None
        return self

    def _wanted(self, native: Any, rows: Any, n: int, weight: np.ndarray, fit: tuple[Any, ...]) -> int:
        if self.n_clusters != "auto":
            k = count("n_clusters", self.n_clusters)
            if k > n:
                raise ValueError(f"n_samples={n} should be >= n_clusters={k}")
            return k
        low, high = _ends(self.k_range)
        self.choice_ = _choose(native, rows, (low, high), "silhouette", 0, "pca", weight, fit)
        return self.choice_.k

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit and return labels_."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit and return the distances of the rows to the means."""
        self.fit(X, sample_weight=sample_weight)
        return self.transform(X) if self._distances is None else self._distances.copy()

    def predict(self, X: Any) -> np.ndarray:
        """The nearest mean of each row."""
        return np.asarray(self._apply("nearest", X), dtype=np.int32)

    def transform(self, X: Any) -> np.ndarray:
        """(n, clusters): distances to the means in the feature space. Of new objects with precomputed kernel values k(x, x) is not known."""
        return self._apply("distances", X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the inertia of the rows X: larger is better."""
        squares = self.transform(X).min(axis=1) ** 2
        weight = _estimators.weights(sample_weight, squares)
        return -float(squares @ weight if len(weight) else squares.sum())

    @property
    def _n_features_out(self) -> int:
        return int(self.n_clusters_)

    @property
    def inertia_(self) -> float:
        return float(self._fitted("inertia_").summary.inertia)

    @property
    def n_clusters_(self) -> int:
        return int(self._fitted("n_clusters_").n_clusters)

    @property
    def kernel_(self) -> Kernel:
        return wrap(self._fitted("kernel_").kernel)
