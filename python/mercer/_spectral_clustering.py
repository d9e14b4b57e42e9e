"""Spectral clustering with scikit-learn's interface."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import warnings
from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from . import _data, _estimators, _mercer, _run, _scikit, _validation
from ._base import BaseEstimator
from ._convex import KernelExpansion, count
from ._kernel import Kernel
from .kernels import Gaussian

__all__ = ["SpectralClustering"]

SOLVERS = (None, "arpack", "lobpcg", "amg")
PRECOMPUTED = ("precomputed", "precomputed_nearest_neighbors")


class SpectralClustering(ClusterMixin, BaseEstimator):
    """Clusters as parts of a graph that few edges join, whatever their shape.

    A twin of :class:`sklearn.cluster.SpectralClustering` with the same parameters, defaults and attributes, but for ``affinity``, which is the
    graph of nearest neighbours by default, and ``assign_labels``, which has no "discretize".

    Parameters
    ----------
    n_clusters : int, default 8
    eigen_solver : None, "arpack", "lobpcg" or "amg"
        Accepted for the twin's sake: the solver is chosen by the size and the shape of the graph, and ``summary_`` says which.
    n_components : eigenvectors used; None is n_clusters.
    random_state : int, RandomState instance or None
        None is 0: a fit is repeatable unless asked otherwise.
    n_init : starts of k-means.
    gamma, degree, coef0, kernel_params : of a kernel named by ``affinity``.
    affinity : "nearest_neighbors", a kernel (word, mercer.Kernel or callable), "precomputed" or "precomputed_nearest_neighbors"
        The graph; a kernel must be >= 0. A precomputed one is a symmetric matrix, dense or sparse, or sparse distances to neighbours.
    n_neighbors : of nearest_neighbors, the sample itself being one of them.
    eigen_tol : "auto" (1e-7) or a number: the eigenvectors' residuals, relative. assign_labels : "kmeans" or "cluster_qr";
        the twin's "discretize" is not offered.
    embedding : "random_walk" (the twin's) or "unit_rows" (Ng, Jordan, Weiss): what k-means looks at.
    n_jobs, memory, verbose
        As in :class:`mercer.KernelRidge`.

    Attributes
    ----------
    labels_ : the cluster of each row. affinity_matrix_ : the graph.
    eigenvalues_ : of the normalised Laplacian, ascending; a gap after the k-th speaks for k clusters.
    embedding_ : the rows that k-means looked at. n_connected_components_ : parts of the graph without edges between them.
    summary_ : what was done, as a sentence.

    Examples
    --------
    >>> import mercer
    >>> X = mercer.datasets.circles(200, random_state=0)[0]
    >>> mercer.SpectralClustering(2, random_state=0).fit_predict(X).shape
    (200,)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        eigen_solver: str | None = None,
        n_components: int | None = None,
        random_state: Any = None,
        n_init: int = 10,
        gamma: float = 1.0,
        affinity: Any = "nearest_neighbors",
        n_neighbors: int = 10,
        eigen_tol: str | float = "auto",
        assign_labels: str = "kmeans",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        embedding: str = "random_walk",
        memory: str | float | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.eigen_solver = eigen_solver
        self.n_components = n_components
        self.random_state = random_state
        self.n_init = n_init
        self.gamma = gamma
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.eigen_tol = eigen_tol
        self.assign_labels = assign_labels
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.embedding = embedding
        self.memory = memory

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.affinity, str) and self.affinity in PRECOMPUTED
        return tags

    def fit(self, X: Any, y: Any = None) -> SpectralClustering:
        """Cluster the rows X (n x features), or a graph (n x n) for a precomputed affinity."""
        X = _validation.validate(self, X, accept_sparse="csr", dtype=_estimators.FLOATS, order="C", ensure_min_samples=2)
        self._check()
        affinity, native, X = self._graph(X)
        k = count("n_clusters", self.n_clusters)
        if k > X.shape[0]:
            raise ValueError(f"n_samples={X.shape[0]} should be >= n_clusters={k}")
        seed = KernelExpansion._seed(self)  # type: ignore[arg-type]
        with _run.progress(self.verbose) as bar:
            made = _mercer.spectral_clustering(
                _data.samples(X),
                k,
                affinity,
                count("n_neighbors", self.n_neighbors),
                native,
                count("n_components", self.n_components, optional=True),
                self.embedding == "unit_rows",
                self.assign_labels == "cluster_qr",
                count("n_init", self.n_init),
                1e-7 if self.eigen_tol == "auto" else max(float(self.eigen_tol), 1e-14),
                seed,
                _run.threads(self.n_jobs),
                _run.memory_bytes(self.memory),
                bar,
            )
        self.labels_ = np.asarray(made.labels, dtype=np.int32)
        graph = made.graph
        self.affinity_matrix_ = sp.csr_array(graph) if sp.issparse(graph) else np.asarray(graph)
        self.eigenvalues_ = made.eigenvalues
        self.embedding_ = made.embedding
        self.n_connected_components_ = made.connected_components
        self.eigen_solver_ = made.solver
        self.summary_ = made.sentence
        if made.connected_components > k:
            warnings.warn(
                f"the graph has {made.connected_components} parts without edges between them, more than the {k} clusters: "
                "the smaller parts are put together; raise n_neighbors or n_clusters",
                UserWarning,
                stacklevel=2,
            )
        if made.clusters < k or not made.converged:
            warnings.warn(made.sentence, ConvergenceWarning, stacklevel=2)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit and return labels_."""
        return self.fit(X).labels_

    def _check(self) -> None:
        for name, value, words in (
            ("eigen_solver", self.eigen_solver, SOLVERS),
            ("assign_labels", self.assign_labels, ("kmeans", "cluster_qr")),
            ("embedding", self.embedding, ("random_walk", "unit_rows")),
        ):
            if value not in words:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, words))}, got {value!r}")
        tol = self.eigen_tol
        if tol != "auto" and (not isinstance(tol, Real) or isinstance(tol, bool) or not 0 <= tol < np.inf):
            raise ValueError(f'eigen_tol must be "auto" or a number >= 0, got {tol!r}')

    def _graph(self, X: Any) -> tuple[str, Any, Any]:
        """Which graph, the kernel it is made with (any, where none is), and the rows or the matrix."""
        if isinstance(self.affinity, str) and self.affinity == "nearest_neighbors":
            if isinstance(self.n_neighbors, Integral) and self.n_neighbors > X.shape[0]:
                raise ValueError(f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {self.n_neighbors}, n_samples_fit = {X.shape[0]}")
            return "nearest_neighbors", Gaussian(1.0)._native, X
        if isinstance(self.affinity, str) and self.affinity in PRECOMPUTED:
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"a precomputed affinity must be a square matrix, got shape {X.shape}")
            return "precomputed", Gaussian(1.0)._native, X if self.affinity == "precomputed" else self._neighbours_of(X)
        words = SimpleNamespace(kernel=self.affinity, gamma=self.gamma, degree=self.degree, coef0=self.coef0, kernel_params=self.kernel_params)
        if isinstance(self.affinity, Kernel) or (isinstance(self.affinity, str) and "(" in self.affinity):
            words = SimpleNamespace(kernel=self.affinity, gamma=None, degree=3, coef0=1, kernel_params=None)
        return "kernel", _scikit.estimator_kernel(words, X.shape[1])._at_columns(getattr(self, "feature_names_in_", None)), X

    def _neighbours_of(self, X: Any) -> Any:
        """Sparse distances to neighbours: the n_neighbors nearest entries of each row, as the twin takes them."""
        from sklearn.neighbors import NearestNeighbors

        near = NearestNeighbors(n_neighbors=self.n_neighbors, metric="precomputed").fit(X).kneighbors_graph(X=X, mode="connectivity")
        return sp.csr_array(0.5 * (near + near.T))
