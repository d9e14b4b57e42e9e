"""Do two samples come from one distribution? The maximum mean discrepancy (MMD) and its tests.

>>> import numpy as np
>>> import mercer
>>> rng = np.random.default_rng(0)
>>> X, Y = rng.normal(size=(100, 2)), rng.normal(0.5, 1, size=(120, 2))
>>> result = mercer.two_sample_test(X, Y, random_state=0)
>>> result.rejected, result.p_value
(True, 0.000999000999000999)
>>> d = mercer.mmd(X, Y, kernel="linear", statistic="mmd-b")
>>> bool(np.isclose(d, ((X.mean(axis=0) - Y.mean(axis=0)) ** 2).sum()))
True
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import dataclass, field, fields
from numbers import Integral
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from . import _data, _mercer, _run
from ._checks import groups_of, number, whole, whole_or_none, word
from ._kernel import Kernel, kernel_for
from ._mercer import PowerEstimate
from ._shown import Shown, html
from ._test_result import TestResult, seed_of, wrap

__all__ = ["MMD", "LevelCheck", "PowerEstimate", "level_check", "mmd", "two_sample_power", "two_sample_test"]

Statistic = Literal["mmd-u", "mmd-b", "mmd-h", "mmd-linear", "mmd-block"]
Null = Literal["permutation", "binned", "wild", "gamma", "pearson", "spectral", "normal", "bound"]
Exchange = Literal["free", "within-groups", "whole-groups", "blocks", "shifts", "pairs"]


PowerEstimate._repr_html_ = lambda self: html(str(self))  # type: ignore[attr-defined]


class MMD(Shown, float):
    """A squared MMD, unscaled: a number that knows how it was found.

    Attributes
    ----------
    squared : the number itself as a plain float; below 0 is possible for all statistics but "mmd-b".
    distance : sqrt(max(0, squared)), the distance of the mean embeddings.
    deviation : standard error under the alternative; NaN where there is none.
    error, error_statement : how far an approximation may be from the exact number, and what that means; 0 and "" when exact.
    statistic_name, kernel, n, m, seconds, sentence : what it is, the kernel with length scales set, the rows, the time, all in words.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> A, B = X[y == 0], X[y == 1]
    >>> value = mercer.mmd(A, B)
    >>> value > 0, round(value.distance**2 - value, 12), value.n
    (True, 0.0, 50)
    """

    _fields = ("distance", "deviation", "error", "error_statement", "statistic_name", "kernel", "n", "m", "seconds", "sentence")
    distance: float
    deviation: float
    error: float
    error_statement: str
    statistic_name: str
    kernel: str
    n: int
    m: int
    seconds: float
    sentence: str

    def __new__(cls, squared: float, **about: Any) -> MMD:
        value = super().__new__(cls, squared)
        for name in cls._fields:
            setattr(value, name, about[name])
        return value

    @property
    def squared(self) -> float:
        return float(self)

    __repr__ = float.__repr__

    def __str__(self) -> str:
        return self.sentence

    def __getnewargs_ex__(self) -> tuple[tuple[float], dict[str, Any]]:
        return (float(self),), {name: getattr(self, name) for name in self._fields}


@dataclass(frozen=True, eq=False, repr=False)
class LevelCheck(Shown):
    """How often a test rejected splits of one sample, where nothing is to be found.

    Attributes
    ----------
    repetitions, rejections, level : splits tested, those rejected, at which level.
    rate, low, high : rejections / repetitions, and its 95 % interval of Clopper and Pearson.
    holds : False where the whole interval is above the level: the test rejects too often.
    p_values : of all splits; uniform where the test is exact.
    sentence : all of it in words.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> A, B = X[y == 0], X[y == 1]
    >>> check = mercer.level_check(A[:25], A[25:], n_permutations=49, repetitions=20, random_state=0)
    >>> check.repetitions, check.low <= check.rate <= check.high
    (20, True)
    """

    repetitions: int
    rejections: int
    level: float
    rate: float
    low: float
    high: float
    holds: bool
    p_values: np.ndarray = field(repr=False)
    sentence: str = field(repr=False)

    def __str__(self) -> str:
        return self.sentence

    def plot(self, ax: Any = None) -> Any:
        """The distribution of the p-values beside the uniform one, on matplotlib axes."""
        from . import plot

        return plot.level_check(self, ax=ax)


def _given(X: Any, Y: Any) -> tuple[_mercer.Samples, _mercer.Samples]:
    """The two samples of a precomputed kernel: rows of the pooled Gram matrix, and which of them are the first sample."""
    K = _data.rows(X.toarray() if sp.issparse(X) else X, "X")
    if isinstance(Y, Integral) and not isinstance(Y, bool):
        labels = np.arange(len(K)) >= Y
    elif np.ndim(Y) == 1:
        values, labels = np.unique(np.asarray(Y), return_inverse=True)
        if len(values) != 2 or len(labels) != len(K):
            raise ValueError(
                f"of a precomputed kernel Y may be one of two labels for each of the {len(K)} rows of the Gram matrix, "
                f"got {len(labels)} labels of {len(values)} kinds"
            )
    else:
        other = _data.rows(Y.toarray() if sp.issparse(Y) else Y, "Y")
        if K.shape[1] != other.shape[1]:
            raise ValueError(f"X has {K.shape[1]} columns but Y has {other.shape[1]}")
        labels = np.arange(len(K) + len(other)) >= len(K)
        K = np.vstack([K, other])
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"of a precomputed kernel X is the square Gram matrix of both samples (or X and Y are its rows), got shape {K.shape}"
        )
    labels = labels.astype(bool)
    if labels.all() or not labels.any():
        raise ValueError(
            f"both samples need rows of the {len(K)} x {len(K)} Gram matrix, got {int((~labels).sum())} and {int(labels.sum())}"
        )
    K = np.ascontiguousarray(K, dtype=np.float64)
    _data.samples(K).require_finite("X")
    parts = []
    for chosen in (np.flatnonzero(~labels), np.flatnonzero(labels)):
        parts.append(_mercer.Samples.given_part(_data.samples(np.ascontiguousarray(K[chosen])), chosen.tolist()))
    return parts[0], parts[1]


def _samples(X: Any, Y: Any, kernel: Kernel | str | None) -> tuple[_mercer.Kernel, _mercer.Samples, _mercer.Samples]:
    _data.second_sample(Y)
    k = kernel_for(kernel, X)
    if k.needs_given_gram:
        return k._native, *_given(X, Y)
    native = k._at_columns(_data.column_names(X, Y))
    if Y is X:  # the same rows twice are two samples all the same
        Y = X.copy() if hasattr(X, "copy") else list(X)
    S, T, _ = _data.samples_pair(_data.column(X), _data.column(Y), native)
    return native, S, T


def _weights(weights: Any, name: str, rows: int) -> np.ndarray | None:
    if weights is None:
        return None
    values = np.asarray(weights)
    if values.dtype.kind not in "fiub" or values.shape != (rows,):
        raise ValueError(f"{name} must be one number for each of the {rows} rows, got shape {values.shape} of {values.dtype}")
    return values.astype(np.float64)


def mmd(
    X: Any,
    Y: Any,
    kernel: Kernel | str | None = None,
    statistic: Statistic = "mmd-u",
    *,
    weights_x: Any = None,
    weights_y: Any = None,
    block_size: int | None = None,
    method: Literal["exact", "random-features", "nystrom"] = "exact",
    n_features: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> MMD:
    """The squared maximum mean discrepancy of two samples: how far apart their mean embeddings are.

    Parameters
    ----------
    X, Y : one row a sample, of equal width, or one number a sample; numpy, pandas or scipy sparse. With ``kernel="precomputed"`` X is the
        Gram matrix of both samples, and Y the number of rows that are the first one, or one of two labels for each row; or X and Y are its rows.
    kernel : a kernel or its text; None: a Gaussian whose length scale is the median distance of the pooled rows.
    statistic : "mmd-u" unbiased, may be negative; "mmd-b" biased, a squared norm; "mmd-h" of equal sizes, without pairs i = j;
        "mmd-linear" and "mmd-block" by disjoint pairs and blocks of rows, in time linear in the rows.
    weights_x, weights_y : of the rows, >= 0; for "mmd-u" and "mmd-b".
    block_size : of "mmd-block"; None: the square root of the rows.
    method : "exact", or through features of the pooled sample with a stated error, for very many rows.
    n_features : of the approximations; None: 1000.
    random_state : of the approximations.
    n_jobs, memory, verbose : as everywhere.

    Returns
    -------
    MMD, a float with ``distance``, ``deviation`` (its standard error) and more.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> A, B = X[y == 0], X[y == 1]
    >>> mercer.mmd(A, B) > mercer.mmd(A[:25], A[25:])
    True
    """
    native, S, T = _samples(X, Y, kernel)
    with _run.progress(verbose) as bar:
        found = _mercer.mmd(
            S, T, native, word(statistic, "statistic"), _weights(weights_x, "weights_x", S.size), _weights(weights_y, "weights_y", T.size),
            whole_or_none(block_size, "block_size"), word(method, "method"), whole_or_none(n_features, "n_features"), seed_of(random_state),
            _run.threads(n_jobs), _run.memory_bytes(memory), bar,
        )  # fmt: skip
    return MMD(found.squared, **{name: getattr(found, name) for name in MMD._fields})


def _options(
    native: _mercer.Kernel, rows: int, statistic: Any, null: Any, n_permutations: Any, random_state: Any, level: Any, exchange: Any,
    groups: Any, block_length: Any, bins: Any, block_size: Any,
) -> _mercer.TwoSampleOptions:  # fmt: skip
    return _mercer.TwoSampleOptions(
        kernel=native,
        statistic="auto" if statistic is None else word(statistic, "statistic"),
        null=word(null, "null"),
        permutations=whole(n_permutations, "n_permutations", 1),
        exchange=word(exchange, "exchange"),
        groups=groups_of(groups, rows, two=True),
        block_length=whole_or_none(block_length, "block_length"),
        bins=whole_or_none(bins, "bins"),
        block_size=whole_or_none(block_size, "block_size"),
        level=number(level, "level"),
        seed=seed_of(random_state),
    )


def two_sample_test(
    X: Any,
    Y: Any,
    kernel: Kernel | str | None = None,
    statistic: Statistic | None = None,
    null: Null = "permutation",
    n_permutations: int = 1000,
    random_state: Any = None,
    *,
    level: float = 0.05,
    exchange: Exchange = "free",
    groups: Any = None,
    block_length: int | None = None,
    bins: int | None = None,
    block_size: int | None = None,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> TestResult:
    """Tests whether two samples come from one distribution, by their maximum mean discrepancy.

    Parameters
    ----------
    X, Y : the samples, as in :func:`mercer.mmd`.
    kernel : a kernel or its text; None: a Gaussian whose length scale is the median distance of the pooled rows.
    statistic : None takes what fits the null: "mmd-u" for permutation, binned, wild, pearson and spectral, "mmd-b" for gamma and bound,
        "mmd-linear" for normal. An explicit one that does not fit is a ValueError that names those that do.
    null : what the statistic is compared with. "permutation": exchanges of rows, exact level. "binned": of bins of rows, exact and cheap.
        "wild": random signs of pairs (x_i, y_i), exact for independent rows of equal number. "gamma", "pearson", "spectral": laws with
        the right moments or eigenvalues. "normal": for "mmd-linear" and "mmd-block". "bound": distribution-free, rejects seldom.
    n_permutations : exchanges, signs or draws. Where all labellings are no more than that, all are looked at.
    random_state : None draws a seed; the result names it.
    level : what ``rejected`` is judged at.
    exchange : what a permutation may exchange: "free" rows, rows "within-groups", "whole-groups", "blocks" of neighbouring rows or "shifts"
        of a series, or the two rows of "pairs". "wild" takes "blocks" and "pairs".
    groups : of the rows of X, then those of Y; or a pair (groups of X, groups of Y).
    block_length : of exchange="blocks"; None: about the cube root of the rows.
    bins : of null="binned", in all; None: 100.
    block_size : of "mmd-block"; None: the square root of the rows.
    n_jobs, memory, verbose : as everywhere.

    Returns
    -------
    TestResult; True in a condition if the samples differ.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> A, B = X[y == 0], X[y == 1]
    >>> result = mercer.two_sample_test(A, B, random_state=0)
    >>> result.rejected, result.p_value
    (True, 0.000999000999000999)
    """
    native, S, T = _samples(X, Y, kernel)
    options = _options(
        native, S.size + T.size, statistic, null, n_permutations, random_state, level, exchange, groups, block_length, bins, block_size
    )
    with _run.progress(verbose) as bar:
        return wrap(_mercer.two_sample_test(S, T, options, _run.threads(n_jobs), _run.memory_bytes(memory), bar))


def level_check(
    X: Any,
    Y: Any,
    kernel: Kernel | str | None = None,
    statistic: Statistic | None = None,
    null: Null = "permutation",
    n_permutations: int = 200,
    random_state: Any = None,
    *,
    repetitions: int = 200,
    level: float = 0.05,
    exchange: Exchange = "free",
    groups: Any = None,
    block_length: int | None = None,
    bins: int | None = None,
    block_size: int | None = None,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> LevelCheck:
    """The level that a test really holds on data like these: how often it rejects random splits of the pooled rows.

    Parameters as of :func:`mercer.two_sample_test`; ``repetitions`` splits are tested, each into parts as large as X and Y. Splits keep to
    ``exchange``: groups, pairs and blocks stay together.

    Returns
    -------
    LevelCheck with ``rate`` (rejections / repetitions), ``low`` and ``high`` (95 % interval of Clopper and Pearson), ``holds``,
    ``p_values``, ``sentence`` and ``plot()``.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> A, B = X[y == 0], X[y == 1]
    >>> mercer.level_check(A[:25], A[25:], n_permutations=49, repetitions=20, random_state=0).holds
    True
    """
    native, S, T = _samples(X, Y, kernel)
    options = _options(
        native, S.size + T.size, statistic, null, n_permutations, random_state, level, exchange, groups, block_length, bins, block_size
    )
    with _run.progress(verbose) as bar:
        found = _mercer.level_check(
            S, T, options, whole(repetitions, "repetitions", 1), _run.threads(n_jobs), _run.memory_bytes(memory), bar
        )
    return LevelCheck(**{f.name: getattr(found, f.name) for f in fields(LevelCheck)})


def two_sample_power(
    X: Any,
    Y: Any,
    n: int | None = None,
    power: float = 0.8,
    kernel: Kernel | str | None = None,
    statistic: Statistic | None = None,
    null: Null = "permutation",
    n_permutations: int = 1000,
    random_state: Any = None,
    *,
    level: float = 0.05,
    block_size: int | None = None,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> PowerEstimate:
    """The power that the test would have at n rows a sample, and the rows that a wanted power takes, from a pilot sample X, Y.

    Parameters
    ----------
    X, Y : the pilot, at least 4 rows each.
    n : rows of each sample that the power is for; None: as many as the smaller of X and Y.
    power : the wanted one; ``needed`` is the number of rows of each sample that gives it.
    kernel, statistic, null, ... : as of :func:`mercer.two_sample_test`.

    Returns
    -------
    PowerEstimate with ``power``, ``low`` and ``high`` (one standard error of the pilot's MMD to either side), ``needed`` (0: the pilot
    shows no difference), ``threshold``, ``deviation``, ``squared`` and ``sentence``.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> A, B = X[y == 0], X[y == 1]
    >>> estimate = mercer.two_sample_power(A[:10], B[:10], n=50)
    >>> estimate.low <= estimate.power <= estimate.high
    True
    """
    native, S, T = _samples(X, Y, kernel)
    options = _options(
        native, S.size + T.size, statistic, null, n_permutations, random_state, level, "free", None, None, None, block_size
    )
    with _run.progress(verbose) as bar:
        return _mercer.two_sample_power(
            S, T, options, whole_or_none(n, "n"), number(power, "power"), _run.threads(n_jobs), _run.memory_bytes(memory), bar
        )
