"""Where a series changes: kernel segmentation, and a test whether it changes at all.

>>> import numpy as np
>>> import mercer
>>> rng = np.random.default_rng(0)
>>> series = np.concatenate([rng.normal(size=100), 3 * rng.normal(size=100), rng.normal(4, 1, size=100)])
>>> found = mercer.change_points(series)
>>> len(found.positions)
2
>>> mercer.change_point_test(series, n_permutations=199, random_state=0).p_value
0.005
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _data, _mercer, _run
from ._arguments import number
from ._kernel import Kernel, kernel_for
from ._shown import Shown
from ._test_result import TestResult, seed_of, wrap

__all__ = ["ChangePointTest", "ChangePoints", "change_point_test", "change_points"]


@dataclass(frozen=True, eq=False, repr=False)
class ChangePoints(Shown):
    """The changes found in a series; as long as there are changes.

    Attributes
    ----------
    positions : the first row of each new segment, counting from 0.
    gains : what the cost would rise by without each cut; squared : mmd-b of the segments on both sides.
    n, min_segment, cost : rows, the fewest in a segment, and the cost of the segments found.
    costs : least cost of 1, 2, ... segments (empty for a given penalty); criterion : with the penalty, where the number was chosen.
    penalty, method : the constant, and where it came from: "slope", "penalty" or "given".
    kernel, remarks, seconds, sentence : its text, what a reader must know, the time taken, the verdict.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> found = mercer.change_points(np.repeat([0.0, 5.0, 1.0], 20) + 0.1 * np.sin(np.arange(60)), n_changes=2)
    >>> len(found), found.segments
    (2, [(0, 20), (20, 40), (40, 60)])
    """

    positions: np.ndarray
    gains: np.ndarray
    squared: np.ndarray
    n: int
    min_segment: int
    cost: float
    costs: np.ndarray = field(repr=False)
    criterion: np.ndarray = field(repr=False)
    penalty: float
    method: str
    kernel: str
    remarks: list[str] = field(repr=False)
    seconds: float = field(repr=False)
    sentence: str = field(repr=False)

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def segments(self) -> list[tuple[int, int]]:
        """(begin, end) of each segment, the end without."""
        ends = [0, *self.positions.tolist(), self.n]
        return list(zip(ends[:-1], ends[1:], strict=True))

    @property
    def labels(self) -> np.ndarray:
        """The number of its segment for each row."""
        return np.searchsorted(self.positions, np.arange(self.n), side="right")

    def __str__(self) -> str:
        return "\n".join([self.sentence, *(f"  {remark}" for remark in self.remarks)])

    def plot(self, series: Any = None, ax: Any = None) -> Any:
        """The series with its changes as lines; without a series, the cost and the criterion by number of segments."""
        from . import plot

        return plot.change_points(self, series, ax=ax)


@dataclass(frozen=True, eq=False, repr=False)
class ChangePointTest(TestResult):
    """A :class:`mercer.TestResult` that knows where the best cut is: ``position``, the first row of the second part.

    >>> import numpy as np
    >>> import mercer
    >>> result = mercer.change_point_test(np.repeat([0.0, 5.0], 20) + 0.1 * np.sin(np.arange(40)), n_permutations=99, random_state=0)
    >>> result.rejected, result.position
    (True, 20)
    """

    position: int


def _series(series: Any, kernel: Kernel | str | None) -> tuple[_mercer.Kernel, _mercer.Samples]:
    """A kernel and the samples of rows in time order; one number for each row may come as a plain list."""
    k = kernel_for(kernel, series)
    if not sp.issparse(series) and not _data.looks_structured(series) and np.ndim(series) == 1:
        series = np.asarray(series).reshape(-1, 1)
    native = k._at_columns(_data.column_names(series))
    samples = _data.samples(_data.rows(series, "series", native))
    return native, _mercer.Samples.given_gram(samples) if native.needs_given_gram else samples


def _count(value: Any, name: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}")
    return int(value)


def change_points(
    series: Any,
    kernel: Kernel | str | None = None,
    *,
    n_changes: int | None = None,
    max_changes: int | None = None,
    penalty: float | None = None,
    min_segment: int = 2,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: int = 0,
) -> ChangePoints:
    """The rows of a series where its distribution changes, by exact kernel segmentation.

    Parameters
    ----------
    series : rows in time order, or one number for each; or the Gram matrix of a precomputed kernel.
    kernel : a kernel or its text; None is a Gaussian one with the median distance of the rows. Data are not scaled.
    n_changes : exactly so many; None chooses their number.
    max_changes : looked at when the number is chosen; None is a twentieth of the rows, from 9 to 99.
    penalty : for each change, in units of the cost; None is found from the slope of the cost (slope heuristics).
    min_segment : rows of a segment at least.

    Returns
    -------
    ChangePoints

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> mercer.change_points(np.repeat([0.0, 5.0], 20) + 0.1 * np.sin(np.arange(40)), n_changes=1).positions
    array([20])
    """
    native, samples = _series(series, kernel)
    with _run.progress(verbose) as bar:
        made = _mercer.change_points(
            samples, native,
            None if n_changes is None else _count(n_changes, "n_changes", 0),
            None if penalty is None else number(penalty, "penalty"),
            0 if max_changes is None else _count(max_changes, "max_changes", 1),
            _count(min_segment, "min_segment", 1), _run.threads(n_jobs), _run.memory_bytes(memory), bar,
        )  # fmt: skip
    return ChangePoints(
        np.asarray(made.positions, dtype=np.intp), np.asarray(made.gains, dtype=float), np.asarray(made.squared, dtype=float), made.n, made.min_segment,
        made.cost, made.costs, made.criterion, made.penalty, made.method, made.kernel, made.remarks, made.seconds, made.sentence,
    )  # fmt: skip


def change_point_test(
    series: Any,
    kernel: Kernel | str | None = None,
    *,
    n_permutations: int = 1000,
    block_length: int | None = None,
    min_segment: int = 2,
    level: float = 0.05,
    random_state: Any = None,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: int = 0,
) -> ChangePointTest:
    """Is there any change in a series? The gain of the best single cut against that of the rows in other orders.

    Parameters
    ----------
    series, kernel, min_segment : as :func:`mercer.change_points` has them.
    n_permutations : of the rows.
    block_length : permutes blocks of so many rows, for rows that depend on their neighbours (0 chooses the length); None permutes rows,
        which is exact for independent ones and rejects far too often for others.
    level, random_state : of the test; None draws a seed, which the answer names.

    Returns
    -------
    ChangePointTest, a :class:`mercer.TestResult` with the ``position`` of the best cut.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> mercer.change_point_test(np.random.default_rng(0).normal(size=60), n_permutations=99, random_state=0).rejected
    False
    """
    native, samples = _series(series, kernel)
    with _run.progress(verbose) as bar:
        made = _mercer.change_point_test(
            samples, native, _count(n_permutations, "n_permutations", 1), block_length is not None,
            0 if block_length is None else _count(block_length, "block_length", 0), _count(min_segment, "min_segment", 1), number(level, "level"),
            seed_of(random_state), _run.threads(n_jobs), _run.memory_bytes(memory), bar,
        )  # fmt: skip
    return wrap(made, ChangePointTest, position=int(dict(made.numbers)["position"]))
