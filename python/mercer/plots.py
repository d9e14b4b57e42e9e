"""Pictures of embeddings, clusterings and tests, by matplotlib.

Each function draws into the axes it is given, or into a new figure, and returns the axes; none calls ``plt.show()``. matplotlib is
imported when a picture is drawn, and is not needed for anything else in Mercer.

>>> import mercer
>>> X, y = mercer.datasets.circles(100)
>>> axes = mercer.plots.scatter(X, color=y)     # doctest: +SKIP
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

__all__ = [
    "change_points",
    "column_shares",
    "drift",
    "image_strip",
    "kernel_verdicts",
    "level_check",
    "null_distribution",
    "scatter",
    "silhouette",
    "spectrum",
    "witness_grid",
    "witness_values",
]

_MOST_CLASSES = 20  # whole numbers with more values than this are numbers, not classes


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("mercer.plots draws by matplotlib, which is not installed; pip install matplotlib") from error
    return plt


def _axes(ax: Any) -> Any:
    return _pyplot().subplots()[1] if ax is None else ax


def _matrix(values: Any, name: str) -> np.ndarray:
    if sparse.issparse(values):
        values = values.toarray()
    array = np.asarray(values, dtype=float)
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"{name} must be a matrix with a row for each sample, got shape {array.shape}")
    return array


def _classes(color: np.ndarray) -> np.ndarray | None:
    """The values of a column of classes in order; None for a column of numbers."""
    if color.dtype.kind in "fiu":
        if not np.all(np.isfinite(color)) or np.any(color != np.round(color)):
            return None
        values = np.unique(color)
        return values if len(values) <= _MOST_CLASSES else None
    return np.unique(color.astype(str))


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
    """
    if names is None and hasattr(Z, "columns"):
        names = [str(name) for name in Z.columns]
    Z = _matrix(Z, "Z")
    names = list(names) if names is not None else [f"PC{j + 1}" for j in range(Z.shape[1])]
    if len(names) < min(2, Z.shape[1]):
        raise ValueError(f"names must have one for each component drawn, got {len(names)}")
    x = Z[:, 0]
    y = Z[:, 1] if Z.shape[1] > 1 else np.arange(1, len(Z) + 1)
    style = {"s": 12, "alpha": 0.7} | style
    title = getattr(color, "name", None)
    if color is not None:
        color = np.asarray(color)
        if color.shape != (len(Z),):
            raise ValueError(f"color must have a value for each of the {len(Z)} rows, got shape {color.shape}")
    ax = _axes(ax)
    classes = None if color is None else _classes(color)
    if color is None:
        ax.scatter(x, y, **style)
    elif classes is None:
        points = ax.scatter(x, y, c=color.astype(float), **style)
        ax.figure.colorbar(points, ax=ax, label=title)
    else:
        words = color if color.dtype.kind in "fiu" else color.astype(str)
        palette = _pyplot().get_cmap("tab10" if len(classes) <= 10 else "tab20")
        for k, value in enumerate(classes):
            there = words == value
            label = f"{value:g}" if color.dtype.kind in "fiu" else str(value)
            ax.scatter(x[there], y[there], color=palette(k % palette.N), label=label, **style)
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
    ax = _axes(ax)
    numbers = np.arange(1, len(shares) + 1)
    ax.bar(numbers, shares, alpha=0.8, label="each")
    ax.plot(numbers, np.cumsum(shares), color="C1", marker="o", markersize=4, label="up to it")
    ax.set_xlabel("component")
    ax.set_ylabel("share of the variance")
    ax.set_ylim(0, 1.02)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend()
    return ax


def image_strip(rows: Any, shape: tuple[int, int] | None = None, titles: Sequence[str] | None = None, *, ax: Any = None, cmap: str = "gray") -> Any:
    """Rows as images side by side; several lines of them under each other.

    Parameters
    ----------
    rows : array of shape (n, pixels), or a list of such arrays
        A list has one line of images for each array: originals, noisy ones, denoised ones. Shades go from the least to the largest
        value of the first array.
    shape : (height, width); None is a square.
    titles : of the lines.
    ax : matplotlib axes; None makes a figure.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import plots
    >>> clean, noisy = np.random.rand(5, 64), np.random.rand(5, 64)
    >>> axes = plots.image_strip([clean, noisy], titles=["original", "noisy"])     # doctest: +SKIP
    """
    several = isinstance(rows, (list, tuple)) and len(rows) > 0 and np.ndim(rows[0]) == 2
    lines = [_matrix(line, "rows") for line in (rows if several else [rows])]
    count, pixels = lines[0].shape
    for line in lines:
        if line.shape != (count, pixels):
            raise ValueError(f"every line must have {count} images of {pixels} pixels, got shape {line.shape}")
    if shape is None:
        side = int(round(np.sqrt(pixels)))
        if side * side != pixels:
            raise ValueError(f"{pixels} columns are not the pixels of a square image; give shape=(height, width)")
        shape = (side, side)
    height, width = shape
    if height * width != pixels:
        raise ValueError(f"shape {tuple(shape)} has {height * width} pixels, the rows have {pixels} columns")
    if titles is not None and len(titles) != len(lines):
        raise ValueError(f"titles must be one for each of the {len(lines)} lines, got {len(titles)}")
    canvas = np.full((len(lines) * (height + 1) - 1, count * (width + 1) - 1), np.nan)
    for i, line in enumerate(lines):
        for j, image in enumerate(line):
            canvas[i * (height + 1) : i * (height + 1) + height, j * (width + 1) : j * (width + 1) + width] = image.reshape(height, width)
    if ax is None:
        ax = _pyplot().subplots(figsize=(max(2.0, 0.9 * count), max(1.2, 0.9 * len(lines))))[1]
    ax.imshow(canvas, cmap=cmap, vmin=lines[0].min(), vmax=lines[0].max(), interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([i * (height + 1) + (height - 1) / 2 for i in range(len(lines))] if titles is not None else [])
    if titles is not None:
        ax.set_yticklabels(titles)
    ax.tick_params(length=0)
    for side_name in ("top", "right", "bottom", "left"):
        ax.spines[side_name].set_visible(False)
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
    """
    from . import silhouette_samples

    if hasattr(labels, "get_params"):
        if not hasattr(labels, "labels_"):
            raise ValueError(f"{type(labels).__name__} has no labels_: fit it first, or give the labels")
        if kernel is None:
            kernel = getattr(labels, "kernel_", None)
        labels = labels.labels_
    labels = np.asarray(labels)
    values = np.asarray(silhouette_samples(X, labels) if kernel is None else silhouette_samples(X, labels, kernel=kernel))
    ax = _axes(ax)
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


def null_distribution(result: Any, ax: Any = None, bins: int | str = "auto") -> Any:
    """The null distribution of a test as a histogram, with the statistic and the threshold as lines.

    Parameters
    ----------
    result : TestResult
        One whose null has a sample or quantiles.
    ax : matplotlib axes; None makes a figure.
    bins : as numpy.histogram takes it.

    Returns
    -------
    The axes.
    """
    if len(result.null) == 0:
        raise ValueError(f"the {result.method} null has no sample to draw: it gives a threshold alone")
    ax = _axes(ax)
    ax.hist(result.null, bins=bins, density=True, color="0.75", label=f"null ({result.method})")
    ax.axvline(result.statistic, color="C3", label=f"{result.statistic_name} = {result.statistic:.4g}, p = {result.p_value:.3g}")
    if np.isfinite(result.threshold):
        ax.axvline(result.threshold, color="C0", linestyle="--", label=f"threshold at level {result.level:g}")
    ax.set_xlabel(result.statistic_name)
    ax.set_yticks([])
    ax.legend()
    return ax


def level_check(check: Any, ax: Any = None) -> Any:
    """The share of splits whose p-value is at most p, against p: a test that holds its level stays at or below the diagonal.

    Parameters
    ----------
    check : LevelCheck
        What :func:`mercer.level_check` gives.
    ax : matplotlib axes; None makes a figure.

    Returns
    -------
    The axes.
    """
    ax = _axes(ax)
    p_values = np.sort(check.p_values)
    shares = np.arange(1, len(p_values) + 1) / len(p_values)
    ax.plot([0, 1], [0, 1], color="0.5", linestyle="--", label="uniform")
    places, heights = np.concatenate([[0], p_values, [1]]), np.concatenate([[0], shares, [1]])
    ax.step(places, heights, where="post", color="C3", label=f"{len(p_values)} splits")
    margins = [[check.rate - check.low], [check.high - check.rate]]
    said = f"{check.rate:.3g} rejected at level {check.level:g}"
    ax.errorbar([check.level], [check.rate], yerr=margins, color="C0", marker="o", capsize=3, label=said)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_xlabel("p-value")
    ax.set_ylabel("share of splits with at most this p-value")
    ax.legend()
    return ax


def kernel_verdicts(result: Any, ax: Any = None) -> Any:
    """The p-value of each kernel of an aggregated test, and the level that it must be below, on a logarithmic axis.

    Parameters
    ----------
    result : AggregatedResult
    ax : matplotlib axes; None makes a figure.

    Returns
    -------
    The axes.
    """
    ax = _axes(ax)
    rows = result.table
    places = np.arange(len(rows))
    p_values = np.array([row["p_value"] for row in rows])
    rejected = np.array([row["rejected"] for row in rows], dtype=bool)
    ax.scatter(places[~rejected], p_values[~rejected], color="0.5", label="not rejected")
    ax.scatter(places[rejected], p_values[rejected], color="C3", label="rejected")
    levels = np.array([row["level"] for row in rows])
    if np.all(levels > 0):
        ax.plot(places, levels, color="C0", linestyle="--", drawstyle="steps-mid", label=f"level of each, {result.level:g} of all")
    ax.set_yscale("log")
    ax.set_ylabel("p-value of the kernel alone")
    ax.set_xticks(places)
    names = [f"{row['kernel']}, {row['kernel_y']}" if "kernel_y" in row else row["kernel"] for row in rows]
    ax.set_xticklabels(names, rotation=90, fontsize="x-small")
    ax.set_title(f"{result.statistic_name}: p = {result.p_value:.3g}", fontsize="medium")
    ax.legend()
    return ax


def witness_grid(grid: Any, ax: Any = None) -> Any:
    """The witness along one column, or over two as a map: red where X has more mass, blue where Y has.

    Parameters
    ----------
    grid : WitnessGrid
        What ``Witness.grid`` gives.
    ax : matplotlib axes; None makes a figure.

    Returns
    -------
    The axes.
    """
    ax = _axes(ax)
    if len(grid.axes) == 1:
        ax.axhline(0, color="0.7", linewidth=1)
        ax.plot(grid.axes[0], grid.values, color="C3")
        ax.set_ylabel("witness: more of Y below 0, of X above")
    else:
        most = max(float(np.abs(grid.values).max()), 1e-300)
        picture = ax.pcolormesh(grid.axes[0], grid.axes[1], grid.values.T, cmap="RdBu_r", vmin=-most, vmax=most, shading="auto")
        if grid.values.min() < 0 < grid.values.max():
            ax.contour(grid.axes[0], grid.axes[1], grid.values.T, levels=[0], colors="black", linewidths=1)
        ax.figure.colorbar(picture, ax=ax, label="witness: more of X above 0")
        ax.set_ylabel(grid.names[1])
    ax.set_xlabel(grid.names[0])
    return ax


def witness_values(witness: Any, ax: Any = None, bins: int = 30) -> Any:
    """The witness at the rows of both samples, as two histograms: the further apart, the clearer the difference.

    Parameters
    ----------
    witness : Witness
    ax : matplotlib axes; None makes a figure.
    bins : of both.

    Returns
    -------
    The axes.
    """
    ax = _axes(ax)
    edges = np.histogram_bin_edges(np.concatenate([witness.at_x, witness.at_y]), bins=bins)
    ax.hist(witness.at_x, bins=edges, density=True, alpha=0.6, color="C3", label=f"rows of X ({witness.n})")
    ax.hist(witness.at_y, bins=edges, density=True, alpha=0.6, color="C0", label=f"rows of Y ({witness.m})")
    ax.axvline(0, color="black", linewidth=1)
    ax.set_xlabel("witness")
    ax.set_yticks([])
    ax.legend()
    return ax


def column_shares(table: Any, ax: Any = None, most: int = 20) -> Any:
    """Shares of the columns in the difference as bars, those that differ by themselves darker.

    Parameters
    ----------
    table : ColumnTable
        What ``Witness.columns`` gives.
    ax : matplotlib axes; None makes a figure.
    most : bars.

    Returns
    -------
    The axes.
    """
    ax = _axes(ax)
    shown = sorted(table.rows, key=lambda c: -c.share)[:most][::-1]
    ax.barh(range(len(shown)), [c.share for c in shown], color=["C3" if c.differs else "0.75" for c in shown])
    ax.set_yticks(range(len(shown)), [c.name for c in shown])
    ax.set_xlabel(f"share of the difference (red: differs by itself at level {table.level:g})")
    return ax


def change_points(found: Any, series: Any = None, ax: Any = None) -> Any:
    """A series with its changes as lines; or, without one, what each number of segments costs.

    Parameters
    ----------
    found : ChangePoints
    series : the rows, all columns drawn; None draws cost and criterion by number of segments.
    ax : matplotlib axes; None makes a figure.

    Returns
    -------
    The axes.
    """
    ax = _axes(ax)
    if series is None:
        if len(found.costs) == 0:
            raise ValueError("a given penalty has no costs by number of segments; give the series")
        numbers = np.arange(1, len(found.costs) + 1)
        ax.plot(numbers, found.costs, color="0.5", label="cost")
        if len(found.criterion):
            ax.plot(numbers, found.criterion, color="C0", label="cost + penalty")
        ax.axvline(len(found) + 1, color="C3", linestyle="--", label=f"{len(found) + 1} segments")
        ax.set_xlabel("segments")
        ax.legend()
        return ax
    rows = np.asarray(series.toarray() if sparse.issparse(series) else series, dtype=float)
    if rows.shape[0] != found.n:
        raise ValueError(f"series must have the {found.n} rows that the changes were found in, got {rows.shape[0]}")
    ax.plot(np.arange(found.n), rows, linewidth=1)
    for position in found.positions:
        ax.axvline(position - 0.5, color="C3", linestyle="--")
    ax.set_xlabel("row")
    return ax


def drift(update: Any, ax: Any = None) -> Any:
    """The statistic of a drift monitor over time with its threshold, alarms as dots.

    Parameters
    ----------
    update : DriftUpdate
    ax : matplotlib axes; None makes a figure.

    Returns
    -------
    The axes.
    """
    ax = _axes(ax)
    ax.plot(update.time, update.statistic, label="mmd-u of the window")
    ax.plot(update.time, update.threshold, color="0.4", linestyle="--", label="threshold")
    ax.plot(update.time[update.alarm], update.statistic[update.alarm], "o", color="C3", markersize=4, label="alarm")
    ax.set_xlabel("row of the stream")
    ax.legend()
    return ax
