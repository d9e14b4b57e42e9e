"""Do several samples come from one distribution, and which of them differ?

>>> import numpy as np
>>> import mercer
>>> rng = np.random.default_rng(0)
>>> samples = [rng.normal(size=(80, 2)), rng.normal(size=(60, 2)), rng.normal(0.8, size=(70, 2))]
>>> result = mercer.k_sample_test(samples, random_state=0)
>>> result.rejected, result.p_value < 0.01
(True, True)
>>> [(pair["first"], pair["second"]) for pair in result.pairs if pair["rejected"]]
[(0, 2), (1, 2)]
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from . import _data, _mercer, _run
from ._checks import groups_of, none_missing, number, whole, word
from ._kernel import Kernel, kernel_for
from ._test_result import TestResult, seed_of, wrap

__all__ = ["KSampleResult", "k_sample_test"]


@dataclass(frozen=True, eq=False, repr=False)
class KSampleResult(TestResult):
    """The answer of a k-sample test: a :class:`mercer.TestResult` with the samples and every two of them compared.

    Attributes
    ----------
    labels : list
        The samples' names: places 0, 1, ..., the keys of a dictionary, or the labels that were given, sorted.
    sizes : list of int
    pairs : list of dict
        ``first``, ``second`` (labels), ``mmd_b``, ``p_value``, ``adjusted`` (Holm's, over all pairs) and ``rejected``;
        ``pandas.DataFrame(result.pairs)`` shows it. Empty for two samples, or with ``pairwise=False``.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.blobs(90, random_state=0)
    >>> result = mercer.k_sample_test(X, y, n_permutations=99, random_state=0)
    >>> result.labels, result.sizes, len(result.pairs)
    ([0, 1, 2], [30, 30, 30], 3)
    """

    labels: list[Any] = field(repr=False)
    sizes: list[int] = field(repr=False)
    pairs: list[dict[str, Any]] = field(repr=False)

    def _table_name(self) -> str:
        return "pairs"


def _pooled(samples: Any) -> tuple[Any, list[Any], np.ndarray]:
    """All rows, the names of the samples, and the place of each row's sample."""
    if isinstance(samples, Mapping):
        names, parts = list(samples), list(samples.values())
    elif isinstance(samples, Sequence) and not isinstance(samples, str):
        names, parts = list(range(len(samples))), list(samples)
    else:
        raise TypeError("samples must be a list of arrays or a dictionary of them; an array of all rows needs labels")
    if len(parts) < 2:
        raise ValueError(f"a k-sample test needs at least two samples, got {len(parts)}")
    columns = _data.column_names(parts[0])
    for part in parts[1:]:
        _data.column_names(parts[0], part)
    rows = [_data.rows(_data.column(part), f"sample {name!r}") for name, part in zip(names, parts, strict=True)]
    widths = {A.shape[1] for A in rows}
    if len(widths) > 1:
        raise ValueError(f"all samples must have the same columns, got {[A.shape[1] for A in rows]}")
    for name, part in zip(names[1:], rows[1:], strict=True):
        _data.same_kinds(rows[0], part, f"sample {name!r}", f"sample {names[0]!r}")
    if isinstance(rows[0], _data.Objects):
        return _data.joined(rows), names, np.repeat(np.arange(len(rows)), [len(A) for A in rows])
    if any(sp.issparse(A) for A in rows):
        stacked = sp.vstack([sp.csr_array(A) for A in rows], format="csr")
    else:
        stacked = np.concatenate(rows)
    if columns is not None:
        import pandas as pd

        stacked = pd.DataFrame(stacked, columns=columns)
    return stacked, names, np.repeat(np.arange(len(rows)), [A.shape[0] for A in rows])


def k_sample_test(
    samples: Any,
    labels: Any = None,
    kernel: Kernel | str | None = None,
    *,
    n_permutations: int = 1000,
    exchange: Literal["free", "within-groups"] = "free",
    groups: Any = None,
    pairwise: bool = True,
    level: float = 0.05,
    random_state: Any = None,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> KSampleResult:
    """Do k samples come from one distribution? The scatter of their mean embeddings, by permutations of exact level.

    Parameters
    ----------
    samples : list or dictionary of array-like or sparse samples with the same columns, or vectors of numbers; or all rows in one, with ``labels``
        Of a precomputed kernel the Gram matrix of all rows, with ``labels``.
    labels : one for each row, or None
    kernel : None is "gaussian(auto)", with the median distance of all rows as length scale.
    n_permutations : int
    exchange : "free", or "within-groups" where only rows of one group (stratum) may change places.
    groups : one entry for each row, sample after sample; for "within-groups".
    pairwise : also compare every two samples (mmd-b, permutations, Holm's adjustment).
    level : of the verdicts.
    random_state : int, numpy generator or None
    n_jobs, memory, verbose : threads, memory budget such as "4G", progress bar.

    Returns
    -------
    KSampleResult
        Its ``statistic`` "between" is sum_g (n_g / N) |mu_g - mu|^2, (n m / N^2) mmd-b for two samples;
        ``numbers["explained share"]`` is its part of the total scatter.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.blobs(90, random_state=0)
    >>> mercer.k_sample_test({"a": X[y == 0], "b": X[y == 1], "c": X[y == 2]}, n_permutations=99, random_state=0).rejected
    True
    """
    if labels is None:
        X, names, places = _pooled(samples)
    else:
        X = samples
        given = np.asarray(labels)
        if given.ndim != 1:
            raise ValueError(f"labels must be one for each row, got shape {given.shape}")
        none_missing(labels, "labels has a missing label in row {}: drop the row, or give missing labels a name")
        found, places = np.unique(given, return_inverse=True)
        names = found.tolist()
    wanted = kernel_for(kernel, X)  # says so where X holds objects and there is none
    native_kernel = None if kernel is None else wanted._at_columns(_data.column_names(X))
    rows = _data.rows(_data.column(X), kernel=native_kernel)
    if len(places) != rows.shape[0]:
        raise ValueError(f"labels must be one for each of the {rows.shape[0]} rows, got {len(places)}")
    S = _data.samples(rows)
    S.require_finite("X")
    if native_kernel is not None and native_kernel.needs_given_gram:
        if labels is None:
            raise ValueError("with a precomputed kernel give the Gram matrix of all rows, and labels")
        if rows.shape[0] != rows.shape[1]:
            raise ValueError(f"a precomputed kernel takes a square matrix of k(x_i, x_j), got shape {rows.shape}")
        S = _mercer.Samples.given_gram(S)
    with _run.progress(verbose) as bar:
        native = _mercer.k_sample_test(
            S, places.tolist(), native_kernel, whole(n_permutations, "n_permutations"), word(exchange, "exchange"), groups_of(groups, rows.shape[0]), bool(pairwise),
            [str(name) for name in names], number(level, "level"), seed_of(random_state), _run.threads(n_jobs), _run.memory_bytes(memory), bar,
        )  # fmt: skip
    pairs = [
        {"first": names[p.first], "second": names[p.second], "mmd_b": p.squared, "p_value": p.p_value, "adjusted": p.adjusted, "rejected": p.rejected}
        for p in native.pairs
    ]
    return wrap(native, KSampleResult, labels=names, sizes=list(native.sizes), pairs=pairs)
