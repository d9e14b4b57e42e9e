"""What the pictures share: axes, rows, classes and their colours, with messages that say what was wanted."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

_MOST_CLASSES = 20  # whole numbers with more values than this are numbers, not classes


def pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("mercer.plot draws by matplotlib, which is not installed: pip install matplotlib") from error
    return plt


def axes(ax: Any) -> Any:
    """The axes given, or those of a new figure."""
    plt = pyplot()
    if ax is None:
        return plt.subplots()[1]
    if not hasattr(ax, "plot") or not hasattr(ax, "figure"):
        raise TypeError(f"ax must be matplotlib axes or None, got {type(ax).__name__}: of several, give one, as in axes[0]")
    return ax


def matrix(values: Any, name: str) -> np.ndarray:
    if sparse.issparse(values):
        values = values.toarray()
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers alone to be drawn, got {type(values).__name__} with other cells") from None
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"{name} must be a matrix with a row for each sample, got shape {array.shape}")
    return array


def column_names(X: Any, width: int, otherwise: str = "x") -> list[str]:
    """Those of a DataFrame, else x0, x1, ..."""
    return [str(name) for name in X.columns] if hasattr(X, "columns") else [f"{otherwise}{j}" for j in range(width)]


def classes_of(color: np.ndarray) -> np.ndarray | None:
    """The values of a column of classes in order; None for a column of numbers."""
    if color.dtype.kind in "fiu":
        if not np.all(np.isfinite(color)) or np.any(color != np.round(color)):
            return None
        values = np.unique(color)
        return values if len(values) <= _MOST_CLASSES else None
    return np.unique(color.astype(str))


def palette(count: int) -> Any:
    """A colour for each of so many classes; they repeat from 20 on."""
    colors = pyplot().get_cmap("tab10" if count <= 10 else "tab20")
    return lambda k: colors(k % colors.N)


def scatter_classes(ax: Any, xy: np.ndarray, labels: np.ndarray, classes: np.ndarray, **style: Any) -> None:
    """Points of two columns, a colour and a line in the legend for each class."""
    color = palette(len(classes))
    for k, value in enumerate(classes):
        there = labels == value
        label = f"{value:g}" if np.asarray(value).dtype.kind in "fiu" else str(value)
        ax.scatter(xy[there, 0], xy[there, 1], color=color(k), label=label, **style)


def labels_for(y: Any, name: str, rows: int) -> np.ndarray:
    """A value for each row, as an array."""
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (rows,):
        raise ValueError(f"{name} must have a value for each of the {rows} rows, got shape {values.shape}")
    return values
