"""Rows by two components, spectra, and silhouettes of clusters."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._draw import axes, classes_of, column_names, labels_for, matrix, scatter_classes


def scatter(Z: Any, color: Any = None, names: Sequence[str] | None = None, ax: Any = None, **style: Any) -> Any:
    """Rows as points of two components.

    Parameters
    ----------
    Z : array of shape (n, components)
        The first two columns are drawn; a single one is drawn against the row number.
    color : array of length n or None
        Words, or whole numbers with at most 20 values, are classes with a legend; other numbers have a colour bar. A pandas Series
        names both.
    names : of the axes; None is the columns of a DataFrame, else "PC1", "PC2".
    ax : matplotlib axes; None makes a figure.
    style : passed to ``Axes.scatter``.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.circles(100, random_state=0)
    >>> ax = mercer.plot.scatter(X, color=y, names=["east", "north"])
    >>> ax.get_xlabel(), len(ax.collections)
    ('east', 2)
    """
    if names is None and hasattr(Z, "columns"):
        names = column_names(Z, len(Z.columns))
    Z = matrix(Z, "Z")
    names = list(names) if names is not None else [f"PC{j + 1}" for j in range(Z.shape[1])]
    if len(names) < min(2, Z.shape[1]):
        raise ValueError(f"names must have one for each component drawn, got {len(names)}")
    x = Z[:, 0]
    y = Z[:, 1] if Z.shape[1] > 1 else np.arange(1, len(Z) + 1)
    style = {"s": 12, "alpha": 0.7} | style
    title = getattr(color, "name", None)
    if color is not None:
        color = labels_for(color, "color", len(Z))
    ax = axes(ax)
    classes = None if color is None else classes_of(color)
    if color is None:
        ax.scatter(x, y, **style)
    elif classes is None:
        points = ax.scatter(x, y, c=color.astype(float), **style)
        ax.figure.colorbar(points, ax=ax, label=title)
    else:
        words = color if color.dtype.kind in "fiu" else color.astype(str)
        scatter_classes(ax, np.column_stack([x, y]), words, classes, **style)
        ax.legend(title=title)
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1] if Z.shape[1] > 1 else "row")
    return ax


def spectrum(estimator_or_eigenvalues: Any, ax: Any = None, *, most: int = 50) -> Any:
    """Share of the variance of each component as bars, of all up to it as a line.

    Parameters
    ----------
    estimator_or_eigenvalues
        A fitted :class:`mercer.PCA`, :class:`mercer.KernelPCA` or what else has ``explained_variance_ratio_`` (shares of the whole
        variance), or ``eigenvalues_``; or eigenvalues, whose shares are those of their sum.
    ax : matplotlib axes; None makes a figure.
    most : components drawn.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.circles(100, random_state=0)
    >>> ax = mercer.plot.spectrum(mercer.KernelPCA(5, kernel="gaussian(0.5)").fit(X))
    >>> ax.get_ylabel()
    'share of the variance'
    """
    given = estimator_or_eigenvalues
    shares = getattr(given, "explained_variance_ratio_", None)
    if shares is None:
        values = getattr(given, "eigenvalues_", given)
        if hasattr(values, "get_params"):
            raise ValueError(f"{type(given).__name__} has no explained_variance_ratio_ or eigenvalues_: fit it first, or give the eigenvalues")
        values = np.asarray(values, dtype=float)
        if values.ndim != 1 or values.size == 0 or not np.all(np.isfinite(values)) or np.sum(values) <= 0:
            raise ValueError("eigenvalues must be a list of finite numbers with a sum > 0")
        shares = np.sort(values)[::-1] / np.sum(values)
    shares = np.asarray(shares, dtype=float)[:most]
    ax = axes(ax)
    numbers = np.arange(1, len(shares) + 1)
    ax.bar(numbers, shares, alpha=0.8, label="each")
    ax.plot(numbers, np.cumsum(shares), color="C1", marker="o", markersize=4, label="up to it")
    ax.set_xlabel("component")
    ax.set_ylabel("share of the variance")
    ax.set_ylim(0, 1.02)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend()
    return ax


def silhouette(X: Any, labels: Any, *, kernel: Any = None, ax: Any = None) -> Any:
    """Silhouettes of the samples, sorted within each cluster.

    Parameters
    ----------
    X : array of shape (n, features)
    labels : array of length n, or a fitted estimator
        An estimator's ``labels_`` are taken; and its kernel, where it has one and ``kernel`` is None.
    kernel : None, a kernel or its text
        Distances are those of its feature space; None is Euclidean distances.
    ax : matplotlib axes; None makes a figure.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import mercer
    >>> X, _ = mercer.datasets.blobs(90, random_state=0)
    >>> ax = mercer.plot.silhouette(X, mercer.KernelKMeans(3, random_state=0).fit(X))
    >>> ax.get_xlabel()
    'silhouette'
    """
    from .._kernel_kmeans import silhouette_samples

    if hasattr(labels, "get_params"):
        if not hasattr(labels, "labels_"):
            raise ValueError(f"{type(labels).__name__} has no labels_: fit it first, or give the labels")
        if kernel is None:
            kernel = getattr(labels, "kernel_", None)
        labels = labels.labels_
    labels = np.asarray(labels)
    values = np.asarray(silhouette_samples(X, labels) if kernel is None else silhouette_samples(X, labels, kernel=kernel))
    ax = axes(ax)
    at = 0
    for k, label in enumerate(np.unique(labels)):
        inside = np.sort(values[labels == label])
        ax.fill_betweenx(np.arange(at, at + len(inside)), 0, inside, color=f"C{k % 10}", alpha=0.8)
        ax.text(-0.02, at + 0.5 * len(inside), str(label), ha="right", va="center")
        at += len(inside) + max(1, len(values) // 50)
    ax.axvline(values.mean(), color="black", linestyle="--", linewidth=1, label=f"mean {values.mean():.3f}")
    ax.set_xlabel("silhouette")
    ax.set_ylabel("samples, by cluster")
    ax.set_yticks([])
    ax.legend()
    return ax
