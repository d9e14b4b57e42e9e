"""Arguments of functions that are not estimators: the wrong type is a TypeError, a wrong value a ValueError, and both name the argument."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from ._arguments import number

__all__ = ["groups_of", "number", "whole", "whole_or_none", "word"]


def whole(value: Any, name: str, least: int = 1) -> int:
    """A count."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be >= {least}, got {value}")
    return int(value)


def whole_or_none(value: Any, name: str, least: int = 1) -> int:
    """A count, or 0 for None, by which the library chooses one."""
    return 0 if value is None else whole(value, name, least)


def word(value: Any, name: str, words: Sequence[str] | None = None) -> str:
    """A word, one of a list if there is one; without a list the library says which words there are."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a word{'' if words is None else ' (' + ', '.join(map(repr, words)) + ')'}, got {value!r}")
    if words is not None and value not in words:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, words))}, got {value!r}")
    return value


def none_missing(values: Any, message: str) -> None:
    """A ValueError for the first None, NaN, NA or NaT; "{}" in the message is its row. Look before numpy makes the text "nan" of one."""
    for row, value in enumerate(values):
        if value is None or type(value).__name__ in ("NAType", "NaTType") or (not isinstance(value, str) and bool(value != value)):
            raise ValueError(message.format(row))


def groups_of(groups: Any, rows: int, *, two: bool = False) -> list[int]:
    """A number for the group of each row; of two samples those of X first, or a pair of both. None is no groups."""
    if groups is None:
        return []
    if two and isinstance(groups, tuple) and len(groups) == 2 and all(np.ndim(part) == 1 for part in groups):
        groups = np.concatenate([np.asarray(part) for part in groups])
    marks = np.asarray(groups)
    if marks.shape != (rows,):
        order = ", those of X then those of Y (or a pair of both)" if two else ""
        raise ValueError(f"groups must have one entry for each of the {rows} rows{order}, got shape {marks.shape}")
    return np.unique(marks, return_inverse=True)[1].reshape(-1).tolist()
