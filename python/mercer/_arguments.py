"""The arguments of kernels: numbers, whole numbers, length scales and columns, with messages that say what was wanted."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["columns_of", "number", "scale", "whole"]


def number(value: Any, name: str) -> float:
    """A Python float from any real number."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} must be a number that float64 can hold, got one above 1e308") from None


def whole(value: Any, name: str) -> int:
    """A whole number from 1 to 1000."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real) or value != value // 1 or not 1 <= value <= 1000:
        raise ValueError(f"{name} must be a whole number from 1 to 1000, got {value!r}")
    return int(value)


def scale(value: Any, name: str, *, auto: bool = True) -> float | str | tuple[float, ...]:
    """A number, one per column, or "auto"."""
    if isinstance(value, str):
        if auto and value == "auto":
            return value
        words = ', "auto"' if auto else ""
        raise ValueError(f"{name} must be a number > 0{words} or a list of one per column, got {value!r}")
    if isinstance(value, Iterable) and np.ndim(value) > 0:
        return tuple(number(one, f"each {name}") for one in value)
    return number(value, name)


def columns_of(given: Any) -> Iterable[int | str]:
    """Positions and names, from positions, names, slices, ranges and lists of them."""
    for column in given:
        if isinstance(column, str):
            yield column
        elif isinstance(column, Integral) and not isinstance(column, bool):
            if not 0 <= column <= 10**9:  # as far as text goes
                raise ValueError(f"columns are counted from 0 to 1e9, got {column}")
            yield int(column)
        elif isinstance(column, slice):
            start, stop, step = (0 if column.start is None else column.start), column.stop, (1 if column.step is None else column.step)
            if any(isinstance(end, str) for end in (start, stop, step)):
                raise TypeError(f"a slice of columns counts positions, got {column}: give the names one by one")
            if stop is None or start < 0 or stop < 0 or step < 1:
                raise ValueError(f"a slice of columns needs an end, and counts up from 0, got {column}")
            if len(range(start, stop, step)) > 10**6:
                raise ValueError(f"a slice of columns has at most 1000000 of them, got {column}")
            yield from range(start, stop, step)
        elif isinstance(column, range) and len(column) > 10**6:
            raise ValueError(f"a range of columns has at most 1000000 of them, got {column}")
        elif isinstance(column, Iterable) and not isinstance(column, bytes):
            yield from columns_of(column)
        else:
            raise TypeError(f"a column is a position, a name, a slice or a range, got {column!r}")
