"""Pictures of statistical tests: null distributions, levels, kernels of an aggregated test."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import numpy as np

from ._draw import axes


def null_histogram(result: Any, ax: Any = None, bins: int | str = "auto") -> Any:
    """The null distribution of a test as a histogram, with the statistic and the threshold as lines.

    Parameters
    ----------
    result : TestResult
        One whose null has a sample or quantiles.
    ax : matplotlib axes; None makes a figure.
    bins : as numpy.histogram takes it.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(80, random_state=0)
    >>> result = mercer.two_sample_test(X[y == 0], X[y == 1], random_state=0)
    >>> mercer.plot.null_histogram(result).get_xlabel()
    'mmd-u'
    """
    if not hasattr(result, "null"):
        raise TypeError(f"result must be the TestResult of a statistical test, got {type(result).__name__}")
    if len(result.null) == 0:
        raise ValueError(f"the {result.method} null has no sample to draw: it gives a threshold alone")
    ax = axes(ax)
    ax.hist(result.null, bins=bins, density=True, color="0.75", label=f"null ({result.method})")
    ax.axvline(result.statistic, color="C3", label=f"{result.statistic_name} = {result.statistic:.4g}, p = {result.p_value:.3g}")
    if np.isfinite(result.threshold):
        ax.axvline(result.threshold, color="C0", linestyle="--", label=f"threshold at level {result.level:g}")
    ax.set_xlabel(result.statistic_name)
    ax.set_yticks([])
    ax.legend()
    return ax


def level_check(check: Any, ax: Any = None) -> Any:
    """The share of splits whose p-value is at most p, against p: a test that holds its level stays at or below the diagonal.

    Parameters
    ----------
    check : LevelCheck
        What :func:`mercer.level_check` gives.
    ax : matplotlib axes; None makes a figure.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(60, random_state=0)
    >>> check = mercer.level_check(X[:30], X[30:], n_permutations=49, repetitions=20, random_state=0)
    >>> mercer.plot.level_check(check).get_xlabel()
    'p-value'
    """
    ax = axes(ax)
    p_values = np.sort(check.p_values)
    shares = np.arange(1, len(p_values) + 1) / len(p_values)
    ax.plot([0, 1], [0, 1], color="0.5", linestyle="--", label="uniform")
    places, heights = np.concatenate([[0], p_values, [1]]), np.concatenate([[0], shares, [1]])
    ax.step(places, heights, where="post", color="C3", label=f"{len(p_values)} splits")
    margins = [[check.rate - check.low], [check.high - check.rate]]
    said = f"{check.rate:.3g} rejected at level {check.level:g}"
    ax.errorbar([check.level], [check.rate], yerr=margins, color="C0", marker="o", capsize=3, label=said)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_xlabel("p-value")
    ax.set_ylabel("share of splits with at most this p-value")
    ax.legend()
    return ax


def kernel_verdicts(result: Any, ax: Any = None) -> Any:
    """The p-value of each kernel of an aggregated test, and the level that it must be below, on a logarithmic axis.

    Parameters
    ----------
    result : AggregatedResult
    ax : matplotlib axes; None makes a figure.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(60, random_state=0)
    >>> result = mercer.mmd_aggregated_test(X[y == 0], X[y == 1], n_permutations=99, random_state=0)
    >>> mercer.plot.kernel_verdicts(result).get_yscale()
    'log'
    """
    ax = axes(ax)
    rows = result.table
    places = np.arange(len(rows))
    p_values = np.array([row["p_value"] for row in rows])
    rejected = np.array([row["rejected"] for row in rows], dtype=bool)
    ax.scatter(places[~rejected], p_values[~rejected], color="0.5", label="not rejected")
    ax.scatter(places[rejected], p_values[rejected], color="C3", label="rejected")
    levels = np.array([row["level"] for row in rows])
    if np.all(levels > 0):
        ax.plot(places, levels, color="C0", linestyle="--", drawstyle="steps-mid", label=f"level of each, {result.level:g} of all")
    ax.set_yscale("log")
    ax.set_ylabel("p-value of the kernel alone")
    ax.set_xticks(places)
    names = [f"{row['kernel']}, {row['kernel_y']}" if "kernel_y" in row else row["kernel"] for row in rows]
    ax.set_xticklabels(names, rotation=90, fontsize="x-small")
    ax.set_title(f"{result.statistic_name}: p = {result.p_value:.3g}", fontsize="medium")
    ax.legend()
    return ax
