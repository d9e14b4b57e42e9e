"""Tests with many kernels at once, for when nobody knows the right length scale.

>>> import numpy as np
>>> import mercer
>>> rng = np.random.default_rng(0)
>>> X, Y = rng.uniform(size=(300, 1)), rng.beta(1.5, 1.5, size=(300, 1))
>>> result = mercer.mmd_aggregated_test(X, Y, random_state=0)
>>> result.rejected, len(result.table)
(True, 20)
>>> mercer.mmd_fuse_test(X, Y, random_state=0).rejected
True
>>> wave = np.sin(20 * X) + 0.2 * rng.normal(size=X.shape)
>>> mercer.hsic_aggregated_test(X, wave, random_state=0).rejected
True
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from . import _data, _mercer, _run
from ._checks import groups_of, number, whole, whole_or_none, word
from ._kernel import Kernel, kernel as make_kernel, wrap as wrap_kernel
from ._independence import _is_text as is_text, _Variable as Variable
from ._test_result import TestResult, seed_of, wrap
from ._two_sample import _given as given

__all__ = ["AggregatedResult", "hsic_aggregated_test", "mmd_aggregated_test", "mmd_fuse_test", "with_bandwidths"]


@dataclass(frozen=True, eq=False, repr=False)
class AggregatedResult(TestResult):
    """The answer of a test with many kernels: a :class:`mercer.TestResult` with a row for each kernel.

    Attributes
    ----------
    table : list of dict
        For each kernel ``kernel`` (of pairs also ``kernel_y``), ``weight``, ``statistic``, ``threshold``, ``p_value``, ``level`` and
        ``rejected``; ``pandas.DataFrame(result.table)`` shows it. A kernel's p-value is that of a test with it alone; it rejects where
        that is below its ``level``, which is its weight times ``correction``. Of the fused test, ``weight`` is the kernel's share in the
        soft maximum.
    rejecting : list of str
        The kernels that reject, the strongest first.
    correction : float
        What all weights are multiplied by to give the kernels' levels; at least the test's level. NaN of the fused test.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> A, B = X[y == 0], X[y == 1]
    >>> result = mercer.mmd_aggregated_test(A, B, n_permutations=99, random_state=0)
    >>> bool(result), result.table[0]["kernel"] != "", len(result.rejecting) > 0
    (True, True, True)
    """

    table: list[dict[str, Any]] = field(repr=False)
    rejecting: list[str] = field(repr=False)
    correction: float = field(repr=False)

    def _table_name(self) -> str:
        return "table"

    def plot(self, ax: Any = None) -> Any:
        """The p-value of each kernel against the level it must be below, on matplotlib axes."""
        from . import plot

        return plot.kernel_verdicts(self, ax=ax)


def _result(native: _mercer.AggregatedResult) -> AggregatedResult:
    names = ("kernel", "kernel_y", "weight", "statistic", "threshold", "p_value", "level", "rejected")
    table = [{name: getattr(row, name) for name in names if name != "kernel_y" or row.kernel_y} for row in native.table]
    return wrap(native, AggregatedResult, table=table)


def _with_delta(result: AggregatedResult, said_x: list[str], said_y: list[str]) -> AggregatedResult:
    """The answer with the kernel of categories, which works on their numbers, called what it is; one side's kernel is then the same in all pairs."""
    if not said_x and not said_y:
        return result
    first = result.table[0]

    def renamed(pair: str) -> str:
        pair = "delta" + pair.removeprefix(first["kernel"]) if said_x else pair
        return pair.removesuffix(first["kernel_y"]) + "delta" if said_y else pair

    names = {name: "delta" for name, said in (("kernel", said_x), ("kernel_y", said_y)) if said}
    kernels = [renamed(pair) for pair in result.kernels]
    return replace(
        result, table=[row | names for row in result.table], rejecting=[renamed(pair) for pair in result.rejecting], kernels=kernels,
        kernel=", ".join(kernels), remarks=[*result.remarks, *said_x, *said_y],
    )  # fmt: skip


def _kernels(kernels: Any, name: str, columns: Callable[[], Sequence[str] | None]) -> list[_mercer.Kernel]:
    if kernels is None:
        columns()  # X and Y must not disagree
        return []
    if isinstance(kernels, (str, Kernel)):
        kernels = [kernels]
    if not isinstance(kernels, Iterable):
        raise TypeError(f"{name} must be a kernel, a list of them or None, got {kernels!r}")
    made = [make_kernel(one) for one in kernels]
    if not made:
        raise ValueError(f"{name} must have at least one kernel, got none; None takes the default ones")
    if any(one.needs_given_gram for one in (k._native for k in made)):
        return [k._native for k in made]  # rows of kernel values have no named columns
    names = columns()
    return [k._at_columns(names) for k in made]


def _pair(X: Any, Y: Any, kernels: list[_mercer.Kernel]) -> tuple[_mercer.Samples, _mercer.Samples]:
    """Two samples; of a precomputed kernel by the Gram matrix of both."""
    _data.second_sample(Y)
    if not kernels:
        _data.require_numbers("a default kernel", X, "kernels")
    if any(k.needs_given_gram for k in kernels):
        return given(X, Y)
    if Y is X:  # the same rows twice are two samples all the same
        Y = X.copy() if hasattr(X, "copy") else list(X)
    S, T, _ = _data.samples_pair(_data.column(X), _data.column(Y), kernels[0] if kernels else None)
    return S, T


def _variable(X: Any, name: str, kernels: Any) -> tuple[_mercer.Samples, list[_mercer.Kernel], list[str]]:
    """One of two variables: its rows, its kernels, and what is to be said of it."""
    if (isinstance(kernels, str) and kernels == "delta") or (kernels is None and is_text(X)):
        categories = Variable(X, name, "delta")
        return categories.samples, [categories.kernel], [categories.remark]
    natives = _kernels(kernels, f"kernels_{name.lower()}", lambda: _data.column_names(X))
    return _numbers(X, name, natives), natives, []


def _numbers(X: Any, name: str, kernels: list[_mercer.Kernel]) -> _mercer.Samples:
    if not kernels:
        _data.require_numbers("a default kernel", X, f"kernels_{name.lower()}")
    rows = _data.rows(_data.column(X), name, kernels[0] if kernels else None)
    samples = _data.samples(rows)
    samples.require_finite(name)
    if not any(k.needs_given_gram for k in kernels):
        return samples
    if rows.shape[0] != rows.shape[1]:
        raise ValueError(f"of a precomputed kernel {name} is a square Gram matrix, got shape {rows.shape}")
    return _mercer.Samples.given_gram(samples)


def _permutations(value: Any) -> tuple[int, int]:
    if isinstance(value, (tuple, list)):
        if len(value) != 2:
            raise ValueError(f"n_permutations must be one number, or two: for the p-values of the kernels and for the level, got {value!r}")
        return whole(value[0], "n_permutations"), whole(value[1], "n_permutations")
    return (whole(value, "n_permutations"),) * 2


def _weights(weights: Any) -> tuple[str, np.ndarray | None]:
    if isinstance(weights, str):
        return weights, None
    values = np.asarray(weights)
    if values.dtype.kind not in "fiu" or values.ndim != 1:
        raise ValueError(f"weights must be a word or one number for each kernel, got {weights!r}")
    return "", values.astype(np.float64)


def _exchange(exchange: Any, groups: Any, block_length: int | None, rows: int, *, two: bool = False) -> tuple[str, list[int], int]:
    return word(exchange, "exchange"), groups_of(groups, rows, two=two), whole_or_none(block_length, "block_length")


def mmd_aggregated_test(
    X: Any,
    Y: Any,
    kernels: Any = None,
    *,
    bandwidths: int = 10,
    weights: Any = "uniform",
    n_permutations: int | tuple[int, int] = (2000, 2000),
    exchange: str = "free",
    groups: Any = None,
    block_length: int | None = None,
    level: float = 0.05,
    random_state: Any = None,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> AggregatedResult:
    """Do two samples come from one distribution? Tests by mmd-u with many kernels and one verdict of exact level (MMDAgg).

    Parameters
    ----------
    X, Y : array-like or sparse of shape (n, features) and (m, features), or vectors of n and m numbers
        Of a precomputed kernel X is the Gram matrix of both samples and Y the number of rows of the first, or one of two labels for
        each row; or X and Y are the first and the last rows of it.
    kernels : list of kernels or texts, or None
        One with an automatic length scale, such as "gaussian(auto)", stands for ``bandwidths`` of them, from half the 5 % quantile of
        the pooled sample's distances to twice the 95 % quantile. None is ``["laplacian(auto, l1)", "gaussian(auto)"]``.
    bandwidths : int
    weights : "uniform", "increasing", "decreasing", "centred" (in the length scale), or one number > 0 for each kernel
    n_permutations : int or (int, int)
        For the p-values of the kernels, and for the level of them all.
    exchange : "free", "within-groups", "whole-groups", "blocks", "shifts" or "pairs"
        What may change places under the null; "pairs" is the wild bootstrap of samples of equal size.
    groups : one entry for each row, those of X first; for the exchanges by groups.
    block_length : of "blocks"; None is the cube root of the rows.
    level : of the verdict.
    random_state : int, numpy generator or None
    n_jobs, memory, verbose : threads, memory budget such as "4G", progress bar.

    Returns
    -------
    AggregatedResult
        Its ``p_value`` is the smallest level at which the test rejects, its ``statistic`` -log10 of the smallest p-value over weight.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> A, B = X[y == 0], X[y == 1]
    >>> mercer.mmd_aggregated_test(A, B, n_permutations=99, random_state=0).rejected
    True
    """
    natives = _kernels(kernels, "kernels", lambda: _data.column_names(X, Y))
    S, T = _pair(X, Y, natives)
    scheme_of_weights, values = _weights(weights)
    scheme, numbers, length = _exchange(exchange, groups, block_length, S.size + T.size, two=True)
    with _run.progress(verbose) as bar:
        return _result(
            _mercer.mmd_aggregated_test(
                S, T, natives, whole(bandwidths, "bandwidths"), scheme_of_weights, values, _permutations(n_permutations), scheme, numbers, length,
                number(level, "level"), seed_of(random_state), _run.threads(n_jobs), _run.memory_bytes(memory), bar,
            )
        )


def mmd_fuse_test(
    X: Any,
    Y: Any,
    kernels: Any = None,
    *,
    bandwidths: int = 10,
    lambda_: float | None = None,
    n_permutations: int = 2000,
    exchange: str = "free",
    groups: Any = None,
    block_length: int | None = None,
    level: float = 0.05,
    random_state: Any = None,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> AggregatedResult:
    """Do two samples come from one distribution? A soft maximum of mmd-u over many kernels, each divided by its scale (MMD-FUSE).

    Parameters
    ----------
    X, Y, kernels, bandwidths, exchange, groups, block_length, level, random_state, n_jobs, memory, verbose
        As for :func:`mercer.mmd_aggregated_test`.
    lambda_ : float or None
        Of the soft maximum: a large one takes the largest, a small one the mean. None is sqrt(r (r - 1)), r the rows of the smaller sample.
    n_permutations : int

    Returns
    -------
    AggregatedResult
        Its table has each kernel's own mmd-u, p-value and share in the soft maximum; these p-values are not corrected for being many.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> A, B = X[y == 0], X[y == 1]
    >>> mercer.mmd_fuse_test(A, B, n_permutations=99, random_state=0).rejected
    True
    """
    natives = _kernels(kernels, "kernels", lambda: _data.column_names(X, Y))
    S, T = _pair(X, Y, natives)
    sharpness = 0.0 if lambda_ is None else number(lambda_, "lambda_")
    if lambda_ is not None and not sharpness > 0:
        raise ValueError(f"lambda_ must be a number > 0 or None, got {lambda_!r}")
    scheme, numbers, length = _exchange(exchange, groups, block_length, S.size + T.size, two=True)
    with _run.progress(verbose) as bar:
        return _result(
            _mercer.mmd_fuse_test(
                S, T, natives, whole(bandwidths, "bandwidths"), sharpness, whole(n_permutations, "n_permutations"), scheme,
                numbers, length, number(level, "level"), seed_of(random_state), _run.threads(n_jobs), _run.memory_bytes(memory), bar,
            )
        )


def hsic_aggregated_test(
    X: Any,
    Y: Any,
    kernels_x: Any = None,
    kernels_y: Any = None,
    *,
    bandwidths: int = 5,
    weights: Any = "uniform",
    n_permutations: int | tuple[int, int] = (1000, 1000),
    exchange: str = "free",
    groups: Any = None,
    block_length: int | None = None,
    level: float = 0.05,
    random_state: Any = None,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> AggregatedResult:
    """Are two variables independent? Tests by hsic with many pairs of kernels and one verdict of exact level (HSICAgg).

    Parameters
    ----------
    X, Y : array-like or sparse of shape (n,) or (n, features of X) and (n,) or (n, features of Y)
        Of a precomputed kernel the Gram matrix of the variable, n x n. A column of text or pandas categories is compared by the delta
        kernel alone, as are any values with the kernel "delta".
    kernels_x, kernels_y : list of kernels or texts, or None
        All pairs are tried. One with an automatic length scale stands for ``bandwidths`` of them, as in
        :func:`mercer.mmd_aggregated_test`, by the distances of its own variable. None is ``["gaussian(auto)"]``.
    bandwidths : int
    weights : "uniform", "increasing", "decreasing", "centred", or one number > 0 for each pair, those of the first kernel of X first
    n_permutations : int or (int, int)
        For the p-values of the pairs, and for the level of them all.
    exchange : "free", "within-groups", "whole-groups", "blocks" or "shifts"
        How the rows of Y may be permuted under the null.
    groups, block_length, level, random_state, n_jobs, memory, verbose
        As for :func:`mercer.mmd_aggregated_test`.

    Returns
    -------
    AggregatedResult

    Examples
    --------
    >>> import mercer
    >>> x, y = mercer.datasets.noisy_circle(100, random_state=0)
    >>> mercer.hsic_aggregated_test(x, y, n_permutations=99, random_state=0).rejected
    True
    """
    S, natives_x, said_x = _variable(X, "X", kernels_x)
    T, natives_y, said_y = _variable(Y, "Y", kernels_y)
    scheme_of_weights, values = _weights(weights)
    scheme, numbers, length = _exchange(exchange, groups, block_length, S.size)
    with _run.progress(verbose) as bar:
        result = _result(
            _mercer.hsic_aggregated_test(
                S, T, natives_x, natives_y, whole(bandwidths, "bandwidths"), scheme_of_weights, values, _permutations(n_permutations), scheme, numbers,
                length, number(level, "level"), seed_of(random_state), _run.threads(n_jobs), _run.memory_bytes(memory), bar,
            )
        )
    return _with_delta(result, said_x, said_y)


def with_bandwidths(kernels: Any, X: Any, bandwidths: int = 10) -> list[Kernel]:
    """The kernels that a list stands for on X: one with an automatic length scale ``bandwidths`` times, the others as they are.

    >>> import mercer
    >>> [str(k) for k in mercer.with_bandwidths(["gaussian(auto)", "linear"], [[0.0], [1.0], [3.0]], 3)]
    ['gaussian(0.5)', 'gaussian(1.414)', 'gaussian(4)', 'linear']
    """
    natives = _kernels(kernels, "kernels", lambda: _data.column_names(X))
    S = _data.samples(_data.rows(_data.column(X)))
    S.require_finite("X")
    return [wrap_kernel(one) for one in _mercer.with_bandwidths(natives, S, whole(bandwidths, "bandwidths"))]
