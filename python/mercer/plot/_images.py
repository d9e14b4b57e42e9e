"""Rows as images, and what pre-images make of rows."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._draw import axes, column_names, matrix, pyplot


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
    >>> import mercer
    >>> import numpy as np
    >>> clean = np.tile(np.linspace(0, 1, 64), (5, 1))
    >>> noisy = clean + np.random.default_rng(0).normal(0, 0.1, clean.shape)
    >>> ax = mercer.plot.image_strip([clean, noisy], titles=["original", "noisy"])
    >>> [line.get_text() for line in ax.get_yticklabels()]
    ['original', 'noisy']
    """
    several = isinstance(rows, (list, tuple)) and len(rows) > 0 and np.ndim(rows[0]) == 2
    lines = [matrix(line, "rows") for line in (rows if several else [rows])]
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
        ax = pyplot().subplots(figsize=(max(2.0, 0.9 * count), max(1.2, 0.9 * len(lines))))[1]
    ax.imshow(canvas, cmap=cmap, vmin=lines[0].min(), vmax=lines[0].max(), interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([i * (height + 1) + (height - 1) / 2 for i in range(len(lines))] if titles is not None else [])
    if titles is not None:
        ax.set_yticklabels(titles)
    ax.tick_params(length=0)
    for side_name in ("top", "right", "bottom", "left"):
        ax.spines[side_name].set_visible(False)
    return ax


def preimages(
    found: Any, X: Any, *, clean: Any = None, shape: tuple[int, int] | None = None, most: int = 10, names: Sequence[str] | None = None, ax: Any = None
) -> Any:
    """Rows and their pre-images: lines of images above each other, or, of two columns, arrows from each row to its pre-image.

    Parameters
    ----------
    found : Preimages, an array of rows, or a fitted KernelPCA with ``fit_inverse_transform``
        The pre-images, one for each row of X. A KernelPCA gives ``inverse_transform(transform(X))``, the rows without what its components leave out.
    X : array of shape (n, features)
        The rows that they belong to, such as noisy images.
    clean : array of the shape of X or None
        What the rows were before the noise, drawn as the first line of images.
    shape : (height, width) of the images; None is a square.
    most : images in a line.
    names : of the two axes of arrows; None is the columns of a DataFrame.
    ax : matplotlib axes; None makes a figure.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import mercer
    >>> X, _ = mercer.datasets.circles(60, random_state=0)
    >>> kpca = mercer.KernelPCA(3, kernel="gaussian(1)", fit_inverse_transform=True).fit(X)
    >>> mercer.plot.preimages(kpca, X).get_legend().get_texts()[1].get_text()
    'pre-images'
    """
    rows = matrix(X, "X")
    if hasattr(found, "get_params"):
        if not hasattr(found, "inverse_transform"):
            raise ValueError(f"{type(found).__name__} has no pre-images: give a KernelPCA with fit_inverse_transform=True, or rows")
        found = found.inverse_transform(found.transform(X))
    images = matrix(getattr(found, "X", found), "found")
    for name, given in (("found", images), ("clean", None if clean is None else matrix(clean, "clean"))):
        if given is not None and given.shape != rows.shape:
            raise ValueError(f"{name} must have the shape of X, {rows.shape}, got {given.shape}")
    if rows.shape[1] == 2:
        return _arrows(rows, images, list(names) if names is not None else column_names(X, 2), axes(ax))
    lines = {"clean": None if clean is None else matrix(clean, "clean"), "given": rows, "pre-images": images}
    lines = {title: line[:most] for title, line in lines.items() if line is not None}
    return image_strip(list(lines.values()), shape, list(lines), ax=ax)


def _arrows(rows: np.ndarray, images: np.ndarray, names: list[str], ax: Any) -> Any:
    moves = images - rows
    ax.quiver(*rows.T, *moves.T, angles="xy", scale_units="xy", scale=1, width=0.002, color="0.6", zorder=1)
    ax.scatter(*rows.T, s=12, color="0.45", label="rows", zorder=2)
    ax.scatter(*images.T, s=12, color="C3", label="pre-images", zorder=3)
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.legend()
    return ax
