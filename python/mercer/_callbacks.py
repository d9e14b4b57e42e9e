"""Kernels written in Python, as the compiled library calls them: once per tile, from any of its threads, with the GIL held.

Both classes are values that pickle if the function does. A function gets copies, because much compiled code refuses read-only arrays; what it
gives is checked here, where its name is known.
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _data, _mercer
from ._mercer import Samples


def name_of(f: Any) -> str:
    """What a function calls itself; that of a partial is the function inside."""
    while hasattr(f, "func") and not hasattr(f, "__qualname__"):
        f = f.func
    return getattr(f, "__qualname__", type(f).__qualname__)


def _called(who: str, rows: str, f: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return f(*arguments)
    except Exception as error:
        error.add_note(f"raised in the {who}, which Mercer called with {rows}")
        raise


def _numbers(values: Any, who: str) -> np.ndarray:
    if sp.issparse(values):
        values = values.toarray()
    try:
        array = np.asarray(values)
    except ValueError:  # lists of different lengths
        raise ValueError(f"the {who} must give a matrix, got a ragged {type(values).__name__}") from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"the {who} must give real numbers, got {type(values).__name__} of dtype {array.dtype}")
    if not np.isfinite(array).all():
        raise ValueError(f"the {who} gave {array[~np.isfinite(array)][0]}, but values must be finite")
    return array.astype(np.float64, copy=False)


@dataclass(frozen=True)
class BlockFunction:
    """k(A, B) for two blocks of rows, or k(x, y) for two rows."""

    f: Callable[[Any, Any], Any]
    name: str
    psd: bool | None = None
    pairwise: bool = False

    def native(self) -> _mercer.Kernel:
        return _mercer.function(self.name, self, self.psd)

    def __call__(self, X: Samples, Y: Samples) -> np.ndarray:
        A, B = (_data.to_numpy(S, copy=True) for S in (X, Y))
        if sp.issparse(A) != sp.issparse(B):
            A, B = sp.csr_array(A), sp.csr_array(B)
        shape = (A.shape[0], B.shape[0])
        who, rows = f"kernel function {self.name!r}", f"blocks of {shape[0]} and {shape[1]} rows"
        if self.pairwise:
            rows = "two single rows, one pair at a time; a function of whole blocks is mercer.kernel_function(f)"
        values = _numbers(_called(who, rows, self._all_pairs if self.pairwise else self.f, A, B), who)
        if self.pairwise and values.size == shape[0] * shape[1]:  # a pair's number may come as an array of one
            values = values.reshape(shape)
        if values.shape != shape and self.pairwise:
            raise ValueError(f"the {who} must give one number for two rows, got shape {values.shape[2:]}")
        if values.shape != shape:
            hint = "pairwise=True takes a function of two rows"
            raise ValueError(f"the {who} must give a matrix of shape {shape} for {rows}, got shape {values.shape} ({hint})")
        return np.ascontiguousarray(values)

    def _all_pairs(self, A: Any, B: Any) -> list[list[Any]]:
        xs, ys = ([M[[i]] if sp.issparse(M) else M[i] for i in range(M.shape[0])] for M in (A, B))
        return [[self.f(x, y) for y in ys] for x in xs]


@dataclass(frozen=True)
class RowMap:
    """phi(A): a row of features for each row."""

    f: Callable[[Any], Any]
    name: str

    def native(self) -> _mercer.Kernel:
        return _mercer.feature_map(self.name, self)

    def __call__(self, X: Samples) -> np.ndarray:
        A = _data.to_numpy(X, copy=True)
        who, rows = f"feature map {self.name!r}", f"{A.shape[0]} rows"
        features = _numbers(_called(who, rows, self.f, A), who)
        if features.ndim == 1:  # one feature
            features = features[:, None]
        if features.ndim != 2 or features.shape[0] != A.shape[0] or features.shape[1] == 0:
            raise ValueError(f"the {who} must give a row of features for each of {rows}, got shape {features.shape}")
        return np.ascontiguousarray(features)


def same(mine: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Whether two kernels mean the same functions by the same names."""
    return mine.keys() == theirs.keys() and all(_same(mine[name], theirs[name]) for name in mine)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, BlockFunction | RowMap) and isinstance(b, BlockFunction | RowMap):
        return type(a) is type(b) and _same(a.f, b.f)
    if isinstance(a, partial) and isinstance(b, partial):
        return _same(a.func, b.func) and a.args == b.args and a.keywords == b.keywords
    return bool(a == b)


def library(kernels: Any) -> dict[str, BlockFunction | RowMap]:
    """What a user gives as ``library=``: names with functions, or with kernels made from functions."""
    if kernels is None:
        return {}
    out = {}
    for name, value in dict(kernels).items():
        native = getattr(value, "_native", None)
        if native is not None:
            (value,) = native.callbacks.values() if len(native.callbacks) == 1 else (None,)
        if isinstance(value, BlockFunction):
            value = BlockFunction(value.f, name, value.psd, value.pairwise)
        elif isinstance(value, RowMap):
            value = RowMap(value.f, name)
        elif callable(value):
            value = BlockFunction(value, name)
        else:
            raise TypeError(f"library[{name!r}] must be a function of two blocks of rows, mercer.kernel_function(...) or mercer.feature_map(...)")
        out[name] = value
    return out
