"""Mean embeddings: a distribution, known by a sample, as a point of a function space.

>>> import numpy as np
>>> import mercer
>>> X = np.array([[0.0], [1.0], [3.0]])
>>> mu = mercer.mean_embedding(X, "gaussian(1)")
>>> bool(np.isclose(mu([[0.0]])[0], np.exp(-X[:, 0] ** 2 / 2).mean()))
True
>>> round(mu.bound(0.05), 3)                     # |mu(p) - mu(X)|, with probability 95 %
1.991
>>> f = mercer.RKHSFunction("gaussian(1)", [[0.5]], [2.0])
>>> bool(np.isclose(mu.expectation(f), f @ mu))  # the mean of f over the sample
True
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from . import _data, _mercer
from ._arguments import number
from ._kernel import Kernel, kernel_for
from ._rkhs import RKHSFunction
from ._shown import Shown

__all__ = ["EmbeddingBound", "MeanEmbedding", "mean_embedding"]


class EmbeddingBound(Shown, float):
    """A bound on |mu(p) - mu(X)|, a number that knows where it comes from.

    Attributes
    ----------
    delta : the chance that the bound does not hold.
    kappa : sup k(x, x); kappa_known : whether it is, or the largest of the sample stands for it.
    rows : 1 / sum of the squared weights: the number of rows that equal weights would need.
    mean_root : the sample's mean of sqrt(k(x, x)), whose limit must be finite for the embedding to exist.
    sentence : all of it in words.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> bound = mercer.mean_embedding(X, "gaussian(1)").bound(0.05)
    >>> bound < 0.5, bound.kappa, bound.kappa_known
    (True, 1.0, True)
    """

    delta: float
    kappa: float
    kappa_known: bool
    rows: float
    mean_root: float
    sentence: str

    @classmethod
    def _of(cls, native: _mercer.EmbeddingBound) -> EmbeddingBound:
        made = cls(native.bound)
        for name in ("delta", "kappa", "kappa_known", "rows", "mean_root", "sentence"):
            setattr(made, name, getattr(native, name))
        return made

    __repr__ = float.__repr__

    def __str__(self) -> str:
        return self.sentence


class MeanEmbedding(RKHSFunction):
    """mu(X) = sum_i w_i k(x_i, .), an :class:`mercer.RKHSFunction` whose coefficients are weights with sum 1.

    Parameters
    ----------
    X : one row, or one number, per sample, or the Gram matrix of a precomputed kernel; copied.
    kernel : a kernel or its text; None is a Gaussian one with the median distance of the rows.
    sample_weight : one number >= 0 for each row; None is equal weights.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> A, B = X[y == 0], X[y == 1]
    >>> mu, nu = (mercer.MeanEmbedding(rows, "gaussian(1)") for rows in (A, B))
    >>> bool(abs(mu.distance(nu) ** 2 - mercer.mmd(A, B, "gaussian(1)", statistic="mmd-b")) < 1e-12)
    True
    """

    __slots__ = ()

    def __init__(self, X: Any, kernel: Kernel | str | None = None, sample_weight: Any = None) -> None:
        k = kernel_for(kernel, X)
        rows = _data.rows(_data.column(X), kernel=k._native)
        weights = weights_of(sample_weight, rows.shape[0], "sample_weight")
        names = _data.column_names(X)
        native = k._at_columns(names)
        samples = _data.samples(_data.owned(rows))
        if native.needs_given_gram:
            samples = _mercer.Samples.given_gram(samples)
        object.__setattr__(self, "_native", _mercer.mean_embedding(samples, native, weights))
        object.__setattr__(self, "_names", None if names is None else list(map(str, names)))

    def _samples(self, X: Any) -> _mercer.Samples:
        return super()._samples(_data.column(X, self._native.samples.width))

    def expectation(self, f: Callable[[Any], Any], *, n_jobs: int | None = None) -> float:
        """sum_i w_i f(x_i), the mean of f over the sample. For a function of the same space it is the inner product <f, mu>."""
        if isinstance(f, RKHSFunction):
            if self._native.samples.is_given or f._native.samples.is_given:
                return f.inner(self, n_jobs=n_jobs)
            values = f(self.X, n_jobs=n_jobs)
        elif callable(f):
            values = np.asarray(f(self.X), dtype=float)
        else:
            raise TypeError(f"f must be an RKHSFunction or a function of rows, got {f!r}")
        if values.shape != (len(self),):
            raise ValueError(f"f must give one number for each of the {len(self)} rows, got shape {values.shape}")
        return float(self.coef @ values)

    def bound(self, delta: Any = 0.05, *, kappa: float | None = None, n_jobs: int | None = None) -> Any:
        """How far the embedding may be from that of the distribution: with probability 1 - delta,

            |mu(p) - mu(X)| <= sqrt(kappa / m) (1 + sqrt(2 log(1 / delta))),     kappa = sup k(x, x),

        for m independent rows. Of a kernel without a (known) bound the largest k(x, x) of the sample stands for kappa, which the answer's
        ``kappa_known`` says. Rows instead of a number are what ``RKHSFunction.bound`` takes: the pointwise bound |mu| sqrt(k(x, x)).

        Returns
        -------
        EmbeddingBound, a float.
        """
        if not isinstance(delta, Real):
            return super().bound(delta, n_jobs=n_jobs)
        limit = 0.0 if kappa is None else number(kappa, "kappa")
        if kappa is not None and not limit > 0:
            raise ValueError(f"kappa must be a finite number > 0, got {kappa!r}")
        return EmbeddingBound._of(_mercer.embedding_bound(self._native, float(delta), limit))

    def __repr__(self) -> str:
        return f"MeanEmbedding({self.kernel!s}, {len(self)} rows)"

    def __reduce__(self) -> tuple[Any, ...]:
        _, state = super().__reduce__()
        return _restored, state


def weights_of(sample_weight: Any, rows: int, name: str) -> np.ndarray:
    """One weight for each row, as the library checks them; empty for None."""
    if sample_weight is None:
        return np.empty(0)
    weights = np.asarray(sample_weight)
    if weights.dtype.kind not in "fiub" or weights.shape != (rows,):
        raise ValueError(f"{name} must be one number for each of the {rows} rows, got shape {weights.shape} of {weights.dtype}")
    return weights.astype(np.float64)


def _restored(kernel: Kernel, X: Any, coef: np.ndarray, names: list[str] | None, ids: list[int] | None) -> MeanEmbedding:
    made = MeanEmbedding.__new__(MeanEmbedding)
    samples = _data.samples(X) if ids is None else _mercer.Samples.given_part(_data.samples(X), ids)
    object.__setattr__(made, "_native", _mercer.RkhsFunction(kernel._native, samples, coef))
    object.__setattr__(made, "_names", names)
    return made


def mean_embedding(X: Any, kernel: Kernel | str | None = None, sample_weight: Any = None) -> MeanEmbedding:
    """The mean embedding of a sample: ``mu(Z)``, ``mu @ f``, ``mu.distance(nu)``, ``mu.bound(delta)``, ``mu.expectation(f)``.

    Embeddings can be compared where their kernels are the same, so give both the kernel of one where it was chosen by the data:
    ``mercer.mean_embedding(Y, kernel=mu.kernel)``. Their distance is the root of ``mmd-b``.

    Parameters
    ----------
    X : one row, or one number, per sample, or the Gram matrix of a precomputed kernel; copied.
    kernel : a kernel or its text; None is a Gaussian one with the median distance of the rows.
    sample_weight : one number >= 0 for each row; None is equal weights.

    Returns
    -------
    MeanEmbedding, an :class:`mercer.RKHSFunction`.

    Examples
    --------
    >>> import mercer
    >>> mu = mercer.mean_embedding([[0.0], [2.0]], "gaussian(1)")
    >>> mu([[0.0]]).round(4)
    array([0.5677])
    """
    return MeanEmbedding(X, kernel, sample_weight)
