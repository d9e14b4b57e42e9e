"""A few rows that stand for all: squash (with weights), herd (one after the other), thin (near-linear time).

>>> import numpy as np, mercer
>>> X = np.random.RandomState(0).randn(1000, 2)
>>> few = mercer.squash(X, 20, random_state=0)
>>> len(few), round(float(few.weights.sum()), 12), few.mmd < few.random_mmd / 5
(20, 1.0, True)
>>> X[mercer.thin(X, 31, random_state=0)].shape      # a coreset stands for its indices
(31, 2)
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from . import _data, _mercer, _run
from ._checks import number, whole, whole_or_none, word
from ._kernel import Kernel, kernel_for
from ._shown import Shown
from ._test_result import seed_of

__all__ = ["Coreset", "herd", "squash", "thin"]


@dataclass(frozen=True, eq=False)
class Coreset(Shown):
    """Rows that stand for a sample. In place of an index (``X[coreset]``), in ``len``, ``iter`` and ``np.asarray`` it is its indices.

    Attributes
    ----------
    indices : rows of X, all different: of ``herd`` in the order they were taken, else ascending.
    weights : of these rows, adding up to 1; all alike for ``herd`` and ``thin``.
    mmd : distance of the mean embeddings, |mu(X) - sum_j w_j k(x_j, .)|; NaN where it was not measured.
    mmd_error : standard error of mmd where it is an estimate, 0 where it is exact.
    random_mmd : the same distance of random rows, as many as these: root mean square, by formula.
    path : ``herd``: the distance for the first 1, 2, ... rows; may be empty.
    gap : ``squash``: mmd^2 is at most so far above what these atoms can reach.
    method, kernel, n, seed, remarks, seconds, sentence : what was done, with which kernel and seed, on how many rows.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> few = mercer.herd(X, 10)
    >>> len(few), X[few].shape, bool(few.mmd < few.random_mmd)
    (10, (10, 2), True)
    """

    indices: np.ndarray
    weights: np.ndarray = field(repr=False)
    mmd: float
    mmd_error: float = field(repr=False)
    random_mmd: float
    path: np.ndarray = field(repr=False)
    gap: float = field(repr=False)
    method: str
    kernel: str
    n: int
    seed: int
    remarks: list[str] = field(repr=False)
    seconds: float = field(repr=False)
    sentence: str = field(repr=False)

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[int]:
        return iter(self.indices.tolist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.indices, dtype=dtype) if copy or dtype is not None else self.indices

    def __getitem__(self, place: Any) -> Any:
        return self.indices[place]

    def __str__(self) -> str:
        return "\n".join([self.sentence, *(f"  {remark}" for remark in self.remarks)])

    def __repr__(self) -> str:
        return f"Coreset({self.method}: {len(self)} of {self.n} rows, mmd={self.mmd:.4g}, random_mmd={self.random_mmd:.4g})"

    @property
    def effective_size(self) -> float:
        """(sum w)^2 / sum w^2: as many rows of equal weight."""
        return float(self.weights.sum() ** 2 / (self.weights @ self.weights))

    def points(self, X: Any) -> Any:
        """The rows of X that were chosen: of an array, a sparse matrix, a DataFrame or a list of objects."""
        if isinstance(X, list | tuple) and _data.looks_structured(X):
            return [X[i] for i in self.indices]
        return X.iloc[self.indices] if hasattr(X, "iloc") else (X.tocsr() if hasattr(X, "tocsr") else np.asarray(X))[self.indices]

    def plot(self, X: Any, ax: Any = None) -> Any:
        """The first two columns of X, the chosen rows in them as large as their weights, on matplotlib axes."""
        from .plot._draw import axes

        ax = axes(ax)
        dense = X.toarray() if hasattr(X, "toarray") else np.asarray(_data.column(X))
        all_rows, few = dense[:, :2], dense[self.indices, :2]
        if dense.shape[1] == 1:
            all_rows, few = (np.column_stack([part[:, 0], np.zeros(len(part))]) for part in (all_rows, few))
        ax.scatter(*all_rows.T, s=4, color="0.75", label=f"{self.n} rows", zorder=1)
        ax.scatter(*few.T, s=40 * self.weights * len(self), color="tab:red", label=f"{len(self)} rows ({self.method})", zorder=2)
        ax.set_title(f"distance (MMD) {self.mmd:.3g}, of random rows {self.random_mmd:.3g}")
        ax.legend(loc="best")
        return ax


def _bound(X: Any, kernel: Kernel | str | None) -> tuple[_mercer.Kernel, _mercer.Samples]:
    k = kernel_for(kernel, X)
    native = k._at_columns(_data.column_names(X))
    if native.needs_given_gram:
        return native, _data.given_pair(X, None)[0]
    rows = _data.samples(_data.rows(_data.column(X), kernel=native))
    rows.require_finite("X")
    return native, rows


def _wrap(native: _mercer.Coreset) -> Coreset:
    values = {f.name: getattr(native, f.name) for f in fields(Coreset) if f.name != "indices"}
    return Coreset(indices=np.array(native.rows, dtype=np.int64), **values)


def squash(
    X: Any,
    m: int,
    *,
    kernel: Kernel | str | None = None,
    atoms: str = "auto",
    candidates: int | None = None,
    measure: str = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> Coreset:
    """m weighted rows whose mean embedding is as near that of X as their weights can make it.

    Parameters
    ----------
    X : array of shape (n,) or (n, columns), DataFrame or scipy sparse matrix; the Gram matrix for a precomputed kernel.
    m : number of rows, 1 <= m < n. On all rows the answer would be trivial.
    kernel : a kernel or its text. None: Gaussian, its length scale the median distance of rows.
    atoms : which rows: "pivoted" (randomly pivoted Cholesky: rows that span the others), "herded", "thinned", "random", or "auto": the better
        of the first two.
    candidates : rows that may be chosen, drawn at random. None: all up to 20000.
    measure : how ``mmd`` is found: "exact" (n^2 / 2 kernel values), "features" (1024 random frequencies: unbiased, with its standard error),
        "none", or "auto": exact up to 20000 rows, then features where the kernel has them.
    random_state : whole number, numpy generator, or None for a fresh seed, which the result names.
    n_jobs, memory, verbose : as everywhere.

    Returns
    -------
    Coreset. Some weights may be 0: those atoms are not needed.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> few = mercer.squash(X, 10, random_state=0)
    >>> len(few), bool(abs(few.weights.sum() - 1) < 1e-9)
    (10, True)
    """
    native, rows = _bound(X, kernel)
    asked = whole_or_none(candidates, "candidates")
    with _run.progress(verbose) as bar:
        return _wrap(
            _mercer.squash(
                rows, whole(m, "m", 1), native, word(atoms, "atoms"), asked, word(measure, "measure"), seed_of(random_state), _run.threads(n_jobs), _run.memory_bytes(memory), bar
            )
        )


def herd(
    X: Any,
    m: int,
    *,
    kernel: Kernel | str | None = None,
    candidates: int | None = None,
    measure: str = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> Coreset:
    """m rows of equal weight, one after the other, each the one that brings the mean embedding nearest (kernel herding).

    Every first part of the indices is the answer for fewer rows; ``path`` has the distances. Parameters as in :func:`squash`;
    1 <= m <= n. The seed is that of the candidates, above 20000 rows.

    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> mercer.herd(X, 10).weights[0].round(6)
    np.float64(0.1)
    """
    native, rows = _bound(X, kernel)
    asked = whole_or_none(candidates, "candidates")
    with _run.progress(verbose) as bar:
        return _wrap(
            _mercer.herd(
                rows, whole(m, "m", 1), native, asked, word(measure, "measure"), seed_of(random_state), _run.threads(n_jobs), _run.memory_bytes(memory), bar
            )
        )


def thin(
    X: Any,
    m: int | None = None,
    *,
    kernel: Kernel | str | None = None,
    oversampling: int = 4,
    failure: float = 0.5,
    swap_passes: int = 2,
    measure: str = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> Coreset:
    """m rows of equal weight by kernel thinning with Compress++, in near-linear time.

    Parameters
    ----------
    X, kernel, measure, random_state, n_jobs, memory, verbose : as in :func:`squash`.
    m : number of rows, 1 <= m <= n. None: the square root of n.
    oversampling : g: halving works on blocks of 4^(g+1) rows at first, and the last part chooses among 2^g m rows. 0 to 10.
    failure : probability that some coin is more biased than the analysis wants; the answer is good all the same.
    swap_passes : how often each row may give way to a better one at the end. 0: never.

    Returns
    -------
    Coreset. ``remarks`` says how many rows took part in the halving: m 2^h of them, h whole; the last part looks at the mean of all.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> few = mercer.thin(X, random_state=0)
    >>> len(few), bool(few.mmd < few.random_mmd)
    (10, True)
    """
    native, rows = _bound(X, kernel)
    size = max(1, round(rows.size**0.5)) if m is None else whole(m, "m", 1)
    with _run.progress(verbose) as bar:
        return _wrap(
            _mercer.thin(
                rows,
                size,
                native,
                whole(oversampling, "oversampling", 0),
                number(failure, "failure"),
                whole(swap_passes, "swap_passes", 0),
                word(measure, "measure"),
                seed_of(random_state),
                _run.threads(n_jobs),
                _run.memory_bytes(memory),
                bar,
            )
        )
