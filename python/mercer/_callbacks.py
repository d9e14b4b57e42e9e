"""Kernels written in Python, as the compiled library calls them: once per tile, from any of its threads, with the GIL held.

All classes are values that pickle if the function does. A function gets copies, because much compiled code refuses read-only arrays; what it
gives is checked here, where its name is known. Blocks of objects are lists: of str, of graphs as dictionaries (labels are text), of sets as 2-D
arrays or lists; a record is a tuple of its columns, in their order.
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _data, _mercer
from ._mercer import Samples, WordTable
from ._objects import Objects, sets


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


def _block(S: Samples) -> Any:
    return Objects(S).tolist() if S.has_objects else _data.to_numpy(S, copy=True)


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
        A, B = _block(X), _block(Y)
        if sp.issparse(A) != sp.issparse(B):
            A, B = sp.csr_array(A), sp.csr_array(B)
        shape = (X.size, Y.size)
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
        xs, ys = ([M[[i]] for i in range(M.shape[0])] if sp.issparse(M) else list(M) for M in (A, B))
        return [[self.f(x, y) for y in ys] for x in xs]


@dataclass(frozen=True)
class RowMap:
    """phi(A): a row of features for each row."""

    f: Callable[[Any], Any]
    name: str

    def native(self) -> _mercer.Kernel:
        return _mercer.feature_map(self.name, self)

    def __call__(self, X: Samples) -> np.ndarray:
        who, rows = f"feature map {self.name!r}", f"{X.size} rows"
        features = _numbers(_called(who, rows, self.f, _block(X)), who)
        if features.ndim == 1:  # one feature
            features = features[:, None]
        if features.ndim != 2 or features.shape[0] != X.size or features.shape[1] == 0:
            raise ValueError(f"the {who} must give a row of features for each of {rows}, got shape {features.shape}")
        return np.ascontiguousarray(features)


@dataclass(frozen=True)
class PartsOf:
    """f(object): its parts, a list of objects or of rows of numbers. The name is that of the decomposition."""

    f: Callable[[Any], Any]
    name: str

    def native(self) -> _mercer.Kernel:
        return _mercer.convolution(self.name, self, _mercer.linear())  # the part's kernel is in the text

    def __call__(self, X: Samples) -> Samples:
        who = f"decomposition {self.name!r}"
        parts = [self._checked(_called(who, f"sample {i}", self.f, one), who) for i, one in enumerate(_block(X))]
        return sets(parts, f"the {who}")

    @staticmethod
    def _checked(parts: Any, who: str) -> Any:
        if isinstance(parts, str | bytes | dict) or not hasattr(parts, "__iter__"):
            raise TypeError(f"the {who} must give a list of parts, got {type(parts).__name__}")
        return parts if isinstance(parts, np.ndarray) else list(parts)


def table(given: Any, name: str = "table") -> WordTable:
    """Words and their vectors: a dictionary, a pair (words, array), or the path of a file as GloVe and word2vec write them."""
    if isinstance(given, WordTable):
        return given
    if isinstance(given, str | os.PathLike):
        return WordTable.read(os.fspath(given))
    if isinstance(given, Mapping):
        given = list(given), list(given.values())
    if not (isinstance(given, tuple | list) and len(given) == 2):
        raise TypeError(f"{name} must be a dictionary of words and their vectors, a pair (words, array) or the path of a file, got {type(given).__name__}")
    words, vectors = list(given[0]), given[1]
    if not all(isinstance(word, str) for word in words):
        raise TypeError(f"the words of {name} must be text, got {next(w for w in words if not isinstance(w, str))!r}")
    try:
        array = np.ascontiguousarray(vectors, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"the vectors of {name} must be numbers, as many for each word") from None
    if array.ndim != 2 or len(array) != len(words):
        raise ValueError(f"{name} needs a vector for each of its {len(words)} words, got an array of shape {array.shape}")
    return WordTable.of(words, array)


def same(mine: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Whether two kernels mean the same functions by the same names."""
    return mine.keys() == theirs.keys() and all(_same(mine[name], theirs[name]) for name in mine)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, BlockFunction | RowMap | PartsOf) and isinstance(b, BlockFunction | RowMap | PartsOf):
        return type(a) is type(b) and _same(a.f, b.f)
    if isinstance(a, partial) and isinstance(b, partial):
        return _same(a.func, b.func) and a.args == b.args and a.keywords == b.keywords
    return bool(a == b)


def library(kernels: Any, expression: str = "") -> dict[str, BlockFunction | RowMap | PartsOf | WordTable]:
    """What a user gives as ``library=``: names with functions, tables of words, or kernels made from them.

    A function stands for a decomposition where the expression has its name in convolution("...").
    """
    if kernels is None:
        return {}
    return {name: _entry(name, value, expression) for name, value in dict(kernels).items()}


def _entry(name: str, value: Any, expression: str) -> BlockFunction | RowMap | PartsOf | WordTable:
    native = getattr(value, "_native", None)
    if native is not None:
        known = native.callbacks
        value = known.get(name, next(iter(known.values())) if len(known) == 1 else None)
    if isinstance(value, WordTable):
        return value
    if isinstance(value, BlockFunction):
        return BlockFunction(value.f, name, value.psd, value.pairwise)
    if isinstance(value, RowMap):
        return RowMap(value.f, name)
    if isinstance(value, PartsOf):
        return PartsOf(value.f, name)
    if callable(value):
        quoted = re.escape(name.replace("\\", "\\\\").replace('"', '\\"'))
        return PartsOf(value, name) if re.search(rf'convolution\(\s*(parts\s*=\s*)?"{quoted}"', expression) else BlockFunction(value, name)
    if isinstance(value, Mapping | str | os.PathLike) or (isinstance(value, tuple) and len(value) == 2):
        return table(value, f"library[{name!r}]")
    raise TypeError(
        f"library[{name!r}] must be a function of two blocks of rows, a table of words, or what mercer.kernel_function, mercer.feature_map, "
        "Words or Convolution made"
    )
