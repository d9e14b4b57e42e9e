"""Where two samples differ, and when a series changes."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ._draw import axes


def witness(witness: Any, columns: Any = None, ax: Any = None) -> Any:
    """Where two samples differ: the witness along one column, over two as a map, or as histograms where there are more.

    Parameters
    ----------
    witness : Witness
        What :func:`mercer.witness` gives.
    columns : a position or name, or two of them; None is all columns where there are one or two, else histograms of the witness at the
        rows of both samples.
    ax : matplotlib axes; None makes a figure.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(80, random_state=0)
    >>> w = mercer.witness(X[y == 0], X[y == 1])
    >>> mercer.plot.witness(w, columns=1).get_xlabel()
    'x1'
    """
    if columns is None and not witness.has_grid:
        return witness_values(witness, ax=ax)
    return witness_grid(witness.grid(columns), ax=ax)


def witness_grid(grid: Any, ax: Any = None) -> Any:
    """The witness along one column, or over two as a map: red where X has more mass, blue where Y has.

    Parameters
    ----------
    grid : WitnessGrid
        What ``Witness.grid`` gives.
    ax : matplotlib axes; None makes a figure.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(80, random_state=0)
    >>> w = mercer.witness(X[y == 0], X[y == 1])
    >>> mercer.plot.witness_grid(w.grid(points=21)).get_xlabel()
    'x0'
    """
    ax = axes(ax)
    if len(grid.axes) == 1:
        ax.axhline(0, color="0.7", linewidth=1)
        ax.plot(grid.axes[0], grid.values, color="C3")
        ax.set_ylabel("witness: more of Y below 0, of X above")
    else:
        most = max(float(np.abs(grid.values).max()), 1e-300)
        picture = ax.pcolormesh(grid.axes[0], grid.axes[1], grid.values.T, cmap="RdBu_r", vmin=-most, vmax=most, shading="auto")
        if grid.values.min() < 0 < grid.values.max():
            ax.contour(grid.axes[0], grid.axes[1], grid.values.T, levels=[0], colors="black", linewidths=1)
        ax.figure.colorbar(picture, ax=ax, label="witness: more of X above 0")
        ax.set_ylabel(grid.names[1])
    ax.set_xlabel(grid.names[0])
    return ax


def witness_values(witness: Any, ax: Any = None, bins: int = 30) -> Any:
    """The witness at the rows of both samples, as two histograms: the further apart, the clearer the difference.

    Parameters
    ----------
    witness : Witness
    ax : matplotlib axes; None makes a figure.
    bins : of both.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(80, random_state=0)
    >>> w = mercer.witness(X[y == 0], X[y == 1])
    >>> mercer.plot.witness_values(w).get_xlabel()
    'witness'
    """
    ax = axes(ax)
    edges = np.histogram_bin_edges(np.concatenate([witness.at_x, witness.at_y]), bins=bins)
    ax.hist(witness.at_x, bins=edges, density=True, alpha=0.6, color="C3", label=f"rows of X ({witness.n})")
    ax.hist(witness.at_y, bins=edges, density=True, alpha=0.6, color="C0", label=f"rows of Y ({witness.m})")
    ax.axvline(0, color="black", linewidth=1)
    ax.set_xlabel("witness")
    ax.set_yticks([])
    ax.legend()
    return ax


def column_shares(table: Any, ax: Any = None, most: int = 20) -> Any:
    """Shares of the columns in the difference as bars, those that differ by themselves darker.

    Parameters
    ----------
    table : ColumnTable
        What ``Witness.columns`` gives.
    ax : matplotlib axes; None makes a figure.
    most : bars.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(80, random_state=0)
    >>> w = mercer.witness(X[y == 0], X[y == 1] + [0.0, 2.0])
    >>> ax = mercer.plot.column_shares(w.columns(n_permutations=99, random_state=0))
    >>> [name.get_text() for name in ax.get_yticklabels()]
    ['x0', 'x1']
    """
    ax = axes(ax)
    shown = sorted(table.rows, key=lambda c: -c.share)[:most][::-1]
    ax.barh(range(len(shown)), [c.share for c in shown], color=["C3" if c.differs else "0.75" for c in shown])
    ax.set_yticks(range(len(shown)), [c.name for c in shown])
    ax.set_xlabel(f"share of the difference (red: differs by itself at level {table.level:g})")
    return ax


def change_points(found: Any, series: Any = None, ax: Any = None) -> Any:
    """A series with its changes as lines; or, without one, what each number of segments costs.

    Parameters
    ----------
    found : ChangePoints
    series : the rows, all columns drawn; None draws cost and criterion by number of segments.
    ax : matplotlib axes; None makes a figure.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import mercer
    >>> import numpy as np
    >>> series = np.repeat([0.0, 3.0], 40) + np.random.default_rng(0).normal(0, 0.3, 80)
    >>> found = mercer.change_points(series)
    >>> mercer.plot.change_points(found, series).get_xlabel()
    'row'
    """
    ax = axes(ax)
    if series is None:
        if len(found.costs) == 0:
            raise ValueError("a given penalty has no costs by number of segments; give the series")
        numbers = np.arange(1, len(found.costs) + 1)
        ax.plot(numbers, found.costs, color="0.5", label="cost")
        if len(found.criterion):
            ax.plot(numbers, found.criterion, color="C0", label="cost + penalty")
        ax.axvline(len(found) + 1, color="C3", linestyle="--", label=f"{len(found) + 1} segments")
        ax.set_xlabel("segments")
        ax.legend()
        return ax
    rows = np.asarray(series.toarray() if sparse.issparse(series) else series, dtype=float)
    if rows.shape[0] != found.n:
        raise ValueError(f"series must have the {found.n} rows that the changes were found in, got {rows.shape[0]}")
    ax.plot(np.arange(found.n), rows, linewidth=1)
    for position in found.positions:
        ax.axvline(position - 0.5, color="C3", linestyle="--")
    ax.set_xlabel("row")
    return ax


def drift(update: Any, ax: Any = None) -> Any:
    """The statistic of a drift monitor over time with its threshold, alarms as dots.

    Parameters
    ----------
    update : DriftUpdate
    ax : matplotlib axes; None makes a figure.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import mercer
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> monitor = mercer.DriftMonitor(rng.normal(size=(200, 2)), window=20, random_state=0)
    >>> mercer.plot.drift(monitor.update(rng.normal(size=(50, 2)))).get_xlabel()
    'row of the stream'
    """
    ax = axes(ax)
    ax.plot(update.time, update.statistic, label="mmd-u of the window")
    ax.plot(update.time, update.threshold, color="0.4", linestyle="--", label="threshold")
    ax.plot(update.time[update.alarm], update.statistic[update.alarm], "o", color="C3", markersize=4, label="alarm")
    ax.set_xlabel("row of the stream")
    ax.legend()
    return ax
