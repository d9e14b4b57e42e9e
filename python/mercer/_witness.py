"""Where two samples differ: the witness function, the rows that tell them apart, and the columns that carry the difference.

>>> import numpy as np
>>> import mercer
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(200, 3))
>>> Y = rng.normal(size=(200, 3)) + [0.0, 1.0, 0.0]
>>> w = mercer.witness(X, Y)
>>> w([[0.0, -1.0, 0.0], [0.0, 2.0, 0.0]]).round(2)      # positive where X has more mass
array([ 0.14, -0.16])
>>> table = w.columns(random_state=0)
>>> [column.name for column in table if column.differs]
['x1']
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np

from . import _data, _mercer, _run
from ._checks import groups_of, number, whole, whole_or_none, word
from ._kernel import Kernel, kernel as make_kernel, kernel_for, wrap
from ._mean_embedding import weights_of
from ._rkhs import RKHSFunction, _function
from ._shown import Shown, html
from ._test_result import seed_of
from ._two_sample import _given as given_parts

__all__ = ["ColumnContribution", "ColumnTable", "TellingPoint", "TellingPoints", "Witness", "WitnessGrid", "witness"]


@dataclass(frozen=True)
class TellingPoint:
    """A row of one of the samples ("X" or "Y", counting from 0) and the witness at it.

    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> A, B = X[y == 0], X[y == 1]
    >>> point = mercer.witness(A, B).telling_points(1).more_x[0]
    >>> point.sample, point.value > 0
    ('X', True)
    """

    sample: str
    row: int
    value: float


@dataclass(frozen=True, repr=False)
class TellingPoints(Shown):
    """Rows of both samples, equal ones once: ``more_x`` where X has more mass, ``more_y`` where Y has, the most telling first.

    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> A, B = X[y == 0], X[y == 1]
    >>> points = mercer.witness(A, B).telling_points(3)
    >>> len(points.more_x), len(points.more_y)
    (3, 3)
    """

    more_x: list[TellingPoint]
    more_y: list[TellingPoint]

    def __str__(self) -> str:
        sides = (("more of X", self.more_x), ("more of Y", self.more_y))
        return "\n".join(f"{name}: " + (", ".join(f"row {p.row} of {p.sample} ({p.value:.4g})" for p in side) or "no rows") for name, side in sides)


@dataclass(frozen=True, eq=False, repr=False)
class WitnessGrid(Shown):
    """The witness along one column or over two: ``axes`` are the places along each, ``values`` of shape (points,) or (points, points).

    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> A, B = X[y == 0], X[y == 1]
    >>> grid = mercer.witness(A, B).grid(points=21)
    >>> grid.names, grid.values.shape
    (['x0', 'x1'], (21, 21))
    """

    columns: list[int]
    names: list[str]
    axes: list[np.ndarray] = field(repr=False)
    values: np.ndarray = field(repr=False)
    squared: float
    kernel: str

    def plot(self, ax: Any = None) -> Any:
        """A line, or a map with the border between more of X and more of Y."""
        from . import plot

        return plot.witness_grid(self, ax=ax)


@dataclass(frozen=True)
class ColumnContribution:
    """What one input column has to do with the difference.

    Attributes
    ----------
    column, name : its position and name.
    squared : mmd-u of the column alone; p_value : by permutations; adjusted : by Holm's step-down over all columns.
    differs : adjusted <= level.
    drop : what mmd-u of all columns together loses when the column is shuffled over both samples; NaN without shuffles.
    share : of the drops above 0 (without shuffles, of ``squared``); shares add up to 1, or are all 0.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> A, B = X[y == 0], X[y == 1]
    >>> columns = mercer.witness(A, B).columns(n_permutations=99, random_state=0)
    >>> columns[1].name, columns[1].differs
    ('x1', True)
    """

    column: int
    name: str
    squared: float
    p_value: float
    adjusted: float
    differs: bool
    drop: float
    share: float


_COLUMN_FIELDS = ("column", "name", "squared", "p_value", "adjusted", "differs", "drop", "share")


@dataclass(frozen=True, eq=False, repr=False)
class ColumnTable(Shown, Sequence):  # type: ignore[type-arg]
    """Contributions of all columns, in the order of the data; ``ranked`` has those that differ first.

    ``squared`` is mmd-u of all columns together on the ``n`` and ``m`` rows used.

    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> A, B = X[y == 0], X[y == 1]
    >>> columns = mercer.witness(A, B).columns(n_permutations=99, random_state=0)
    >>> len(columns), sorted(column.name for column in columns if column.differs)
    (2, ['x0', 'x1'])
    """

    rows: list[ColumnContribution] = field(repr=False)
    ranked: list[ColumnContribution] = field(repr=False)
    squared: float
    n: int
    m: int
    permutations: int
    seed: int
    kernel: str
    level: float
    remarks: list[str]
    seconds: float = field(repr=False)
    sentence: str = field(repr=False)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ColumnContribution]:
        return iter(self.rows)

    def __str__(self) -> str:
        width = max([6, *(len(c.name) for c in self.rows)])
        lines = [f"{'column':<{width}} {'mmd-u alone':>12} {'p':>8} {'adjusted':>9} {'drop':>10} {'share':>6}"]
        lines += [
            f"{c.name:<{width}} {c.squared:12.5g} {c.p_value:8.4g} {c.adjusted:9.4g} {c.drop:10.4g} {c.share:6.1%}{' *' if c.differs else ''}"
            for c in self.ranked
        ]
        return "\n".join([self.sentence, *self.remarks, *lines])

    def to_dict(self) -> dict[str, list[Any]]:
        """A list for each field, for ``pandas.DataFrame(table.to_dict())``."""
        return {name: [getattr(c, name) for c in self.rows] for name in _COLUMN_FIELDS}

    def _facts(self) -> dict[str, Any]:
        return {name: value for name, value in super()._facts().items() if name not in ("rows", "ranked")}

    def _table(self) -> list[dict[str, Any]]:
        return [{name: getattr(c, name) for name in _COLUMN_FIELDS} for c in self.ranked]

    def _repr_html_(self) -> str:
        return html("\n".join([self.sentence, *self.remarks]), self._facts(), self._table())

    def plot(self, ax: Any = None, most: int = 20) -> Any:
        """Shares as bars, those that differ by themselves darker."""
        from . import plot

        return plot.column_shares(self, ax=ax, most=most)


class Witness(Shown):
    """mu(X) - mu(Y), the direction in which two samples differ: positive where X has more mass. Made by :func:`mercer.witness`.

    Attributes
    ----------
    kernel : with automatic length scales set. n, m : rows of X and Y.
    squared, distance : mmd-b, |mu(X) - mu(Y)|^2, and its root.
    at_x, at_y : the witness at the rows of both samples.
    function : the same as an :class:`mercer.RKHSFunction`.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> A, B = X[y == 0], X[y == 1]
    >>> w = mercer.witness(A, B)
    >>> bool(w.at_x.mean() > 0 > w.at_y.mean())
    True
    """

    def __init__(self, native: _mercer.Witness, X: _mercer.Samples, Y: _mercer.Samples, names: list[str] | None, weights: tuple[np.ndarray, np.ndarray]) -> None:
        self._native = native
        self._X, self._Y = X, Y
        self._names = names
        self._weights = weights

    kernel = property(lambda self: wrap(self._native.kernel), doc="The kernel, with automatic length scales set.")
    n = property(lambda self: self._native.n, doc="Rows of X.")
    m = property(lambda self: self._native.m, doc="Rows of Y.")
    squared = property(lambda self: self._native.squared, doc="mmd-b: |mu(X) - mu(Y)|^2.")
    distance = property(lambda self: self._native.distance, doc="|mu(X) - mu(Y)|.")
    at_x = property(lambda self: self._native.at_x, doc="The witness at the rows of X.")
    at_y = property(lambda self: self._native.at_y, doc="The witness at the rows of Y.")

    @property
    def function(self) -> RKHSFunction:
        """The witness as an RKHSFunction."""
        return _function(self._native.function, self._names)

    @property
    def has_grid(self) -> bool:
        """Whether :meth:`grid` needs no choice of columns: the samples have one or two."""
        return not (self._X.is_given or self._X.has_objects) and self._X.width <= 2

    @property
    def column_names(self) -> list[str]:
        """Those of a DataFrame, else x0, x1, ..."""
        return self._names if self._names is not None else [f"x{j}" for j in range(self._X.width)]

    def __call__(self, Z: Any, *, normalised: bool = False, n_jobs: int | None = None) -> np.ndarray:
        """The witness at every row of Z; ``normalised`` divides by its norm, the root of mmd-b."""
        return self._native(self.function._samples(_data.column(Z, self._X.width)), bool(normalised), _run.threads(n_jobs))

    def telling_points(self, k: int = 5) -> TellingPoints:
        """The k rows with the largest witness, and the k with the smallest: typical of X and not of Y, and the other way round."""
        k = whole(k, "k", 0)
        return TellingPoints(*([TellingPoint("X" if x else "Y", row, value) for x, row, value in side] for side in self._native.telling_points(k)))

    def grid(self, columns: Any = None, points: int = 101, *, n_jobs: int | None = None, memory: str | float | None = None) -> WitnessGrid:
        """The witness along one column or over two, from a little below the smallest value to a little above the largest.

        Parameters
        ----------
        columns : a position or name, or two of them; None is all columns, where there are one or two. Of wider samples the witness is that
            of the chosen columns alone, with a Gaussian kernel of their own median distance.
        points : places along each column.
        """
        chosen = self._positions(columns)
        made = _mercer.witness_grid(
            self._X, self._Y, chosen, whole(points, "points"), self._native.kernel, *self._weights, _run.threads(n_jobs), _run.memory_bytes(memory), None
        )
        values = made.values[:, 0] if len(chosen) == 1 else made.values
        return WitnessGrid(chosen, [self.column_names[c] for c in chosen], list(made.axes), values, made.squared, made.kernel)

    def columns(
        self,
        *,
        n_permutations: int = 500,
        shuffles: int = 3,
        max_rows: int = 4000,
        level: float = 0.05,
        column_kernel: Kernel | str = "gaussian(auto)",
        exchange: str = "free",
        groups: Any = None,
        block_length: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory: str | float | None = None,
        verbose: int = 0,
    ) -> ColumnTable:
        """Which input columns carry the difference: each by itself, and each in company with the others.

        Parameters
        ----------
        n_permutations : shared by all columns.
        shuffles : of each column, for ``drop``; 0 leaves that out.
        max_rows : of both samples together; more are thinned at random.
        level : at which ``differs`` is judged, over all columns (Holm).
        column_kernel : of one column; an automatic length scale is each column's own.
        exchange : "free", "within-groups", "whole-groups", "blocks", "shifts" or "pairs": what permutations may exchange.
        groups : of each row, those of X and then those of Y, or a pair of both. block_length : of "blocks".
        random_state : of permutations and shuffles; None draws one, which the table's ``seed`` names.

        Returns
        -------
        ColumnTable
        """
        members = groups_of(groups, self.n + self.m, two=True)
        with _run.progress(verbose) as bar:
            made = _mercer.witness_columns(
                self._X, self._Y, self._native.kernel, make_kernel(column_kernel)._native, whole(n_permutations, "n_permutations"),
                word(exchange, "exchange"), members, whole_or_none(block_length, "block_length"), whole(shuffles, "shuffles", 0),
                whole(max_rows, "max_rows"), number(level, "level"), seed_of(random_state), _run.threads(n_jobs), _run.memory_bytes(memory), bar,
            )  # fmt: skip
        names = self.column_names
        rows = [ColumnContribution(c.column, names[c.column], c.squared, c.p_value, c.adjusted, c.differs, c.drop, c.share) for c in made.columns]
        return ColumnTable(
            rows, [rows[i] for i in made.ranked], made.squared, made.n, made.m, made.permutations, made.seed, made.kernel, level, made.remarks, made.seconds,
            made.sentence,
        )  # fmt: skip

    def plot(self, columns: Any = None, ax: Any = None) -> Any:
        """Along one column or over two; of wider samples without a choice, histograms of the witness at the rows of both samples."""
        from . import plot

        return plot.witness(self, columns, ax=ax)

    def _positions(self, columns: Any) -> list[int]:
        if columns is None:
            if self._X.width > 2:
                raise ValueError(f"the samples have {self._X.width} columns: choose one or two of them, as in grid(columns=[0, 1])")
            return list(range(self._X.width))
        chosen = [columns] if isinstance(columns, (str, Integral)) else list(columns)
        names = self.column_names
        out = []
        for column in chosen:
            if isinstance(column, str):
                if column not in names:
                    raise ValueError(f"there is no column {column!r}; there are {', '.join(names)}")
                out.append(names.index(column))
            elif isinstance(column, Integral) and not isinstance(column, bool):
                out.append(int(column))
            else:
                raise TypeError(f"a column is a position or a name, got {column!r}")
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        parts = [(_data.stored(S), S.given_ids if S.is_given else None) for S in (self._X, self._Y)]
        return _restored, (self.kernel, parts, self._names, self._weights)

    def _facts(self) -> dict[str, Any]:
        return {"kernel": self.kernel, "rows of X": self.n, "rows of Y": self.m, "mmd-b": self.squared, "at rows of X": self.at_x, "at rows of Y": self.at_y}

    def __repr__(self) -> str:
        return f"Witness({self.kernel!s}, {self.n} and {self.m} rows, mmd-b={self.squared:.6g})"


def witness(
    X: Any,
    Y: Any,
    kernel: Kernel | str | None = None,
    *,
    sample_weight_x: Any = None,
    sample_weight_y: Any = None,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: int = 0,
) -> Witness:
    """The witness function of two samples, mu(X) - mu(Y) in that order.

    Parameters
    ----------
    X, Y : arrays with the same columns, or vectors of numbers, dense or scipy CSR, float32 or float64, or DataFrames. With a precomputed kernel X is the Gram
        matrix of all rows and Y the number of those at its beginning that are the first sample, or one of two labels for each row.
    kernel : a kernel or its text; None is a Gaussian one with the median distance of the pooled rows.
    sample_weight_x, sample_weight_y : one number >= 0 for each row; None is equal weights.

    Returns
    -------
    Witness

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> A, B = X[y == 0], X[y == 1]
    >>> mercer.witness(A, B)([[0.0, 1.0], [1.0, -0.5]]).round(1) > 0
    array([ True, False])
    """
    _data.second_sample(Y)
    native = kernel_for(kernel, X)
    if native.needs_given_gram:
        A, B = given_parts(X, Y)
        compiled, names = native._native, None
    else:
        compiled = native._at_columns(_data.column_names(X, Y))
        A, B, _ = _data.samples_pair(_owned(X, "X", compiled), _owned(Y, "Y", compiled))
        names = _data.column_names(X, Y)
    weights = weights_of(sample_weight_x, A.size, "sample_weight_x"), weights_of(sample_weight_y, B.size, "sample_weight_y")
    with _run.progress(verbose) as bar:
        made = _mercer.witness(A, B, compiled, *weights, _run.threads(n_jobs), _run.memory_bytes(memory), bar)
    return Witness(made, A, B, names, weights)


def _restored(kernel: Kernel, parts: list[tuple[Any, Any]], names: list[str] | None, weights: tuple[np.ndarray, np.ndarray]) -> Witness:
    X, Y = (_data.samples(rows) if ids is None else _mercer.Samples.given_part(_data.samples(rows), list(ids)) for rows, ids in parts)
    return Witness(_mercer.witness(X, Y, kernel._native, *weights, 0, 0, None), X, Y, names, weights)


def _owned(X: Any, name: str, kernel: _mercer.Kernel) -> Any:
    """Rows of our own: what is asked later must not change with the caller's array."""
    return _data.owned(_data.rows(_data.column(X), name, kernel))
