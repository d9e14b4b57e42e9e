"""How much of each component is in a sample: weights on the simplex by the distance of mean embeddings.

>>> import numpy as np, mercer
>>> random = np.random.RandomState(0)
>>> A, B = random.randn(300, 1), random.randn(300, 1) + 4
>>> X = np.concatenate([random.randn(160, 1), random.randn(40, 1) + 4])       # four parts A, one part B
>>> mercer.mixture_weights(X, [A, B]).weights.round(1)
array([0.8, 0.2])
>>> mercer.mixture_weights(X, [(0.0, 1.0), (4.0, 1.0)]).weights.round(1)      # the same as Gaussians: (mean, variance)
array([0.8, 0.2])
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from . import _data, _mercer, _run
from ._arguments import number
from ._kernel import Kernel, kernel_for
from ._shown import Shown

__all__ = ["MixtureWeights", "mixture_weights"]


@dataclass(frozen=True, eq=False, repr=False)
class MixtureWeights(Shown):
    """The mixture nearest a sample.

    Attributes
    ----------
    weights : >= 0, adding up to 1, one per component.
    mmd : distance |mu(X) - sum_j weights_j mu_j| of the mean embeddings; NaN where |mu(X)| is not known.
    component_mmd : the distance of each component alone.
    gap : mmd^2 is above its least value by at most this.
    gram, products : Q_jl = <mu_j, mu_l> and p_j = <mu_j, mu(X)>.
    unique : whether no other weights give the same mixture, as far as rounding can tell.
    kernel, remarks, seconds, sentence : with which kernel, what to know, and the answer in words.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> X = np.repeat([0.0, 5.0], [30, 10])
    >>> found = mercer.mixture_weights(X, [np.zeros(4), np.full(4, 5.0)])
    >>> found.weights.round(6), found.unique
    (array([0.75, 0.25]), True)
    """

    weights: np.ndarray
    mmd: float
    component_mmd: np.ndarray = field(repr=False)
    gap: float = field(repr=False)
    gram: np.ndarray = field(repr=False)
    products: np.ndarray = field(repr=False)
    unique: bool = field(repr=False)
    kernel: str
    remarks: list[str] = field(repr=False)
    seconds: float = field(repr=False)
    sentence: str = field(repr=False)

    def __str__(self) -> str:
        return "\n".join([self.sentence, *(f"  {remark}" for remark in self.remarks)])

    def plot(self, names: Sequence[str] | None = None, ax: Any = None) -> Any:
        """The weights as bars, on matplotlib axes."""
        from .plot._draw import axes

        ax = axes(ax)
        labels = [str(j) for j in range(len(self.weights))] if names is None else list(names)
        if len(labels) != len(self.weights):
            raise ValueError(f"names must have one for each of the {len(self.weights)} components, got {len(labels)}")
        ax.bar(labels, self.weights)
        ax.set_ylabel("weight")
        ax.set_title(f"distance (MMD) of the mixture {self.mmd:.3g}")
        return ax


def _gaussian(mean: Any, covariance: Any, j: int) -> tuple[np.ndarray, np.ndarray]:
    try:
        m, S = np.atleast_1d(np.asarray(mean, dtype=np.float64)), np.asarray(covariance, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"component {j} must be a mean and a covariance of numbers, got {mean!r} and {covariance!r}") from None
    if S.ndim == 0:
        S = float(S) * np.eye(len(m))
    elif S.ndim == 1:
        S = np.diag(S)
    if m.ndim != 1 or S.shape != (len(m), len(m)):
        raise ValueError(f"component {j}: a mean of {m.shape} needs a covariance {len(m)} x {len(m)}, its diagonal or a number; got {S.shape}")
    return m, np.ascontiguousarray(S)


def _component(given: Any, j: int, names: list[str] | None) -> tuple[Any, np.ndarray]:
    weights: Any = np.empty(0)
    if isinstance(given, tuple):
        if len(given) != 2:
            raise ValueError(f"component {j} must be rows, (rows, weights) or (mean, covariance), got a tuple of {len(given)}")
        if _data.looks_structured(given):  # a tuple of two objects
            given = list(given)
        elif (given[0].ndim if hasattr(given[0], "ndim") else np.ndim(given[0])) < 2:
            return _gaussian(*given, j)
        given, weights = given
        weights = np.asarray(weights)
        if weights.dtype.kind not in "fiub" or weights.ndim != 1:
            raise ValueError(f"component {j}: weights must be one number per row, got shape {weights.shape} of {weights.dtype}")
    own = _data.column_names(given)
    if own is not None and names is not None and own != names:
        raise ValueError(f"component {j} must have the columns of X in their order, got {own} and {names}")
    rows = _data.samples(_data.rows(_data.column(given), f"component {j}"))
    rows.require_finite(f"component {j}")
    return rows, weights.astype(np.float64)


def mixture_weights(
    X: Any = None,
    components: Sequence[Any] | None = None,
    *,
    kernel: Kernel | str | None = None,
    sample_weight: Any = None,
    gram: Any = None,
    products: Any = None,
    squared_norm: float | None = None,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> MixtureWeights:
    """Weights a >= 0 that add up to 1 and minimise |mu(X) - sum_j a_j mu_j|, a convex quadratic programme.

    Parameters
    ----------
    X : the sample, an array of shape (n,) or (n, columns), DataFrame or scipy sparse matrix.
    components : list; each is an array of rows, a pair (rows, weights), or a Gaussian (mean, covariance): the covariance a matrix, its
        diagonal or one number. Gaussians need a Gaussian kernel. A vector alone is rows of one column; in a pair it is a mean.
    kernel : a kernel or its text. None: Gaussian, its length scale the median distance of rows of X.
    sample_weight : of the rows of X, >= 0.
    gram, products, squared_norm : in place of X and components: Q_jl = <mu_j, mu_l>, p_j = <mu_j, mu(X)> and, for the distance, |mu(X)|^2.
    n_jobs, memory, verbose : as everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> X = np.repeat([0.0, 5.0], [30, 10])
    >>> mercer.mixture_weights(X, [np.zeros(4), np.full(4, 5.0)]).weights.round(6)
    array([0.75, 0.25])
    """
    threads = _run.threads(n_jobs)
    if gram is not None or products is not None:
        if X is not None or components is not None or gram is None or products is None:
            raise ValueError("give X and components, or gram and products")
        Q, p = (np.ascontiguousarray(np.asarray(v, dtype=np.float64)) for v in (gram, products))
        if Q.ndim != 2 or p.ndim != 1:
            raise ValueError(f"gram must be k x k and products have k numbers, got shapes {Q.shape} and {p.shape}")
        return _wrap(_mercer.mixture_weights_of_products(Q, p, np.nan if squared_norm is None else number(squared_norm, "squared_norm"), threads))
    if X is None or components is None:
        raise ValueError("give X and components, or gram and products")
    if isinstance(components, np.ndarray) or isinstance(components, str) or not isinstance(components, Sequence):
        raise TypeError(f"components must be a list with an entry for each, got {type(components).__name__}")
    names = _data.column_names(X)
    native = kernel_for(kernel, X)._at_columns(names)
    if native.needs_given_gram:
        raise ValueError("a precomputed kernel has no rows to embed: give gram and products")
    rows = _data.samples(_data.rows(_data.column(X), kernel=native))
    rows.require_finite("X")
    weights = np.empty(0) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    parts = [_component(given, j, names) for j, given in enumerate(components)]
    with _run.progress(verbose) as bar:
        return _wrap(_mercer.mixture_weights(rows, weights, parts, native, threads, _run.memory_bytes(memory), bar))


def _wrap(native: _mercer.MixtureWeights) -> MixtureWeights:
    return MixtureWeights(**{f.name: getattr(native, f.name) for f in fields(MixtureWeights)})
