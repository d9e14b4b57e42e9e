"""Pre-images: the rows whose feature-space images are nearest to given points of the feature space.

>>> import numpy as np, mercer
>>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
>>> found = mercer.preimages("gaussian(1)", X, [[0.0, 1.0, 0.0]])
>>> found.X.round(6)
array([[1., 0.]])
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from . import _data, _mercer, _run
from ._kernel import Kernel, kernel as make_kernel
from ._shown import Shown

__all__ = ["Preimages", "preimage_methods", "preimages"]

Method = Literal["best", "fixed_point", "gradient", "distance", "ridge"]
METHODS = ("best", "fixed_point", "gradient", "distance", "ridge")


@dataclass(frozen=True, repr=False)
class Preimages(Shown):
    """What :func:`preimages` found, one entry per point.

    Attributes
    ----------
    X : the rows z.
    squared_distance : abs(phi(z) - p)^2, which the search makes small.
    squared_norm : abs(p)^2, what that is to be compared with.
    method : "fixed_point", "gradient", "distance" or "ridge": what found the row, or what the fixed point went on from.
    n_iter : evaluations of the objective.
    converged : whether the search came to its end.
    summary : one sentence.

    Examples
    --------
    >>> import mercer
    >>> found = mercer.preimages("gaussian(1)", [[0.0], [1.0]], [[0.5, 0.5]])
    >>> found.X.round(2), bool(found.converged[0])
    (array([[0.5]]), True)
    """

    X: np.ndarray = field(repr=False)
    squared_distance: np.ndarray = field(repr=False)
    squared_norm: np.ndarray = field(repr=False)
    method: np.ndarray = field(repr=False)
    n_iter: np.ndarray = field(repr=False)
    converged: np.ndarray = field(repr=False)
    summary: str

    def __str__(self) -> str:
        return self.summary


def _matrix(values: Any, name: str) -> np.ndarray:
    if values is None:
        return np.empty((0, 0))
    rows = _data.rows(values, name)
    return np.ascontiguousarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)


def _whole(value: Any, name: str) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    return int(value)


def _real(value: Any, name: str) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise ValueError(f"{name} must be a number, got {value!r}")
    return float(value)


def options(
    method: str = "best",
    start: Any = None,
    learned: Any = None,
    n_neighbors: int = 10,
    ridge_alpha: float = 1.0,
    tol: float = 1e-6,
    max_iter: int = 500,
    restarts: int = 3,
) -> _mercer.PreimageOptions:
    """The options of a search, checked as far as words and types go; the compiled part checks numbers."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    return _mercer.PreimageOptions(
        method,
        _matrix(start, "start"),
        _matrix(learned, "learned"),
        _whole(n_neighbors, "n_neighbors"),
        _real(ridge_alpha, "ridge_alpha"),
        _real(tol, "tol"),
        _whole(max_iter, "max_iter"),
        _whole(restarts, "restarts"),
    )


def found(native: _mercer.Preimages) -> Preimages:
    return Preimages(
        native.rows,
        native.squared_distance,
        native.squared_norm,
        np.array(native.method, dtype=str),
        np.array(native.iterations, dtype=np.intp),
        np.array(native.converged, dtype=bool),
        native.sentence,
    )


def preimages(
    kernel: Kernel | str,
    X: Any,
    weights: Any,
    *,
    method: Method = "best",
    start: Any = None,
    learned: Any = None,
    n_neighbors: int = 10,
    ridge_alpha: float = 1.0,
    tol: float = 1e-6,
    max_iter: int = 500,
    restarts: int = 3,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> Preimages:
    """For each row g of weights, the row z with the smallest distance between phi(z) and p = sum_i g_i phi(x_i).

    Parameters
    ----------
    kernel : a kernel or its text; "auto" is set from X.
    X : the rows x_i, dense or sparse.
    weights : one row per point, one column per row of X.
    method : "fixed_point" (Mika's iteration, generalised), "gradient" (L-BFGS), "distance" (Kwok and Tsang), "ridge" (a learned map), or
        "best": those that the kernel has, the nearest answer for each point. :func:`preimage_methods` tells which ones a kernel has.
    start : one row per point to begin at; None begins at the nearest of the rows and of their weighted mean.
    learned : one row per point from a map learned elsewhere, in place of the ridge map's.
    n_neighbors : rows that the distance method looks at.
    ridge_alpha : penalty of the ridge map.
    tol, max_iter : the search ends with a step below tol times the spread of the rows, or after so many evaluations.
    restarts : how many of the nearest rows to begin again from where a search leads nowhere.

    Examples
    --------
    >>> import mercer
    >>> mercer.preimages("gaussian(1)", [[0.0, 0.0], [1.0, 0.0]], [[0.0, 1.0]]).X.round(6)
    array([[1., 0.]])
    """
    native, samples, _, _ = make_kernel(kernel)._bound(X)
    asked = options(method, start, learned, n_neighbors, ridge_alpha, tol, max_iter, restarts)
    G = _matrix(weights, "weights")
    with _run.progress(verbose) as progress:
        return found(_mercer.preimages(native, samples, G, asked, _run.threads(n_jobs), _run.memory_bytes(memory), progress))


def preimage_methods(kernel: Kernel | str, n_features: int) -> list[str]:
    """The methods, other than "best", that a kernel has on rows of n_features columns.

    >>> import mercer
    >>> "fixed_point" in mercer.preimage_methods("gaussian(1)", 2)
    True
    """
    return _mercer.preimage_methods(make_kernel(kernel)._native, _whole(n_features, "n_features"))
