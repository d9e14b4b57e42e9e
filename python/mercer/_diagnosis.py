"""Is it a kernel? Verdicts with evidence on matrices, kernels and functions of a distance, and repairs.

>>> import mercer
>>> print(mercer.check_gram([[1.0, 2.0], [2.0, 1.0]]))
not a Gram matrix: v'Kv = -1 < 0 for a unit vector v
  eigenvalues from -1 to 3; rounding alone explains 1e-15
  Cauchy-Schwarz fails, worst at (0, 1): |K_ij| = 2 > 1 = sqrt(K_ii K_jj) (K_ii = 1, K_jj = 1)
  nonsingular, condition number 3
>>> mercer.repair_gram([[1.0, 2.0], [2.0, 1.0]]).K.round(12).tolist()
[[1.5, 1.5], [1.5, 1.5]]
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from . import _data, _mercer, _run
from ._mercer import BochnerCheck, EntryPair, GramCheck, GramRepair, KernelCheck
from ._shown import html
from .kernels import Kernel, kernel as make_kernel

__all__ = [
    "BochnerCheck",
    "EntryPair",
    "GramCheck",
    "GramRepair",
    "KernelCheck",
    "check_bochner",
    "check_gram",
    "check_kernel",
    "repair_gram",
]


for _compiled in (BochnerCheck, GramCheck, GramRepair, KernelCheck):
    _compiled._repr_html_ = lambda self: html(str(self))  # type: ignore[union-attr]


def _square(K: Any) -> tuple[np.ndarray, bool]:
    given = _data.rows(K, "K")
    float32 = _data.is_float32(given)
    dense = given.toarray() if sp.issparse(given) else given
    matrix = np.ascontiguousarray(dense, dtype=np.float64)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"a Gram matrix is square, got shape {matrix.shape}")
    return matrix, float32


def _number(value: Any, name: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number or None, got {value!r}")
    return float(value)


def _target(y: Any, n: int) -> np.ndarray | None:
    if y is None:
        return None
    values = np.asarray(y)
    if values.dtype.kind not in "fiub":
        raise ValueError(f"y must hold numbers, got dtype {values.dtype}; turn two classes into -1 and 1")
    if values.shape != (n,):
        raise ValueError(f"y must be one number for each of the {n} rows, got shape {values.shape}")
    return values.astype(np.float64)


def check_gram(
    K: Any,
    alpha: float | None = None,
    y: Any = None,
    *,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> GramCheck:
    """Is K a Gram matrix: symmetric, with no eigenvalue below zero by more than rounding? True in a condition if it is.

    Parameters
    ----------
    K : square array. float32 entries are trusted to float32's rounding, others to float64's.
    alpha : > 0: the effective dimension tr K (K + alpha I)^-1 is wanted.
    y : one number per row: the alignment of K with this target is wanted.
    n_jobs, memory, verbose : as everywhere.

    Returns
    -------
    GramCheck, which prints as a sentence and its evidence, with the values as attributes: ``symmetric``, ``psd``,
    ``smallest_eigenvalue``, ``violating`` (a unit vector v with v'Kv < 0), ``cauchy_schwarz`` (the worst pair), ``rank``,
    ``condition``, ``duplicates``, ``effective_dimension``, ``alignment``, ``centred_alignment`` and more.

    Examples
    --------
    >>> import mercer
    >>> bool(mercer.check_gram([[2.0, 1.0], [1.0, 2.0]])), bool(mercer.check_gram([[1.0, 2.0], [2.0, 1.0]]))
    (True, False)
    """
    matrix, float32 = _square(K)
    with _run.progress(verbose) as bar:
        return _mercer.check_gram(
            matrix, _number(alpha, "alpha"), _target(y, len(matrix)), float32, _run.threads(n_jobs), _run.memory_bytes(memory), bar
        )


def check_kernel(
    kernel: Kernel | str,
    X: Any,
    *,
    alpha: float | None = None,
    y: Any = None,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> KernelCheck:
    """A kernel on the rows of X: what ``check_gram`` says of its Gram matrix, beside what is known of the kernel.

    The answer has the attributes of a GramCheck, and ``kernel`` (its text, "auto" set), ``claims_psd`` and ``agrees``.

    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> check = mercer.check_kernel("gaussian(1)", X)
    >>> check.psd, check.claims_psd, check.agrees
    (True, True, True)
    """
    native, A, _, _ = make_kernel(kernel)._bound(X)
    with _run.progress(verbose) as bar:
        return _mercer.check_kernel(
            native, A, _number(alpha, "alpha"), _target(y, A.size), _run.threads(n_jobs), _run.memory_bytes(memory), bar
        )


def repair_gram(
    K: Any,
    method: Literal["clip", "flip", "shift"] = "clip",
    *,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> GramRepair:
    """K made positive semi-definite: the answer has it as ``K``, with ``changed``, ``frobenius_distance``, ``spectral_distance``, ``shift``.

    "clip" sets negative eigenvalues to 0, which is the nearest such matrix in Frobenius norm; "flip" changes their sign; "shift" adds a
    multiple of the identity.

    >>> import mercer
    >>> mercer.repair_gram([[1.0, 2.0], [2.0, 1.0]], "shift").K.round(6)
    array([[2., 2.],
           [2., 2.]])
    """
    matrix, _ = _square(K)
    with _run.progress(verbose) as bar:
        return _mercer.repair_gram(matrix, str(method), _run.threads(n_jobs), _run.memory_bytes(memory), bar)


def check_bochner(
    f: Callable[[np.ndarray], Any] | Kernel | str,
    dimension: int = 1,
    *,
    window: float | None = None,
    max_frequency: float | None = None,
    frequencies: int = 200,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> BochnerCheck:
    """Is k(x, y) = f(|x - y|) a kernel on R^dimension? By the sign of f's Fourier transform; False in a condition if it is not.

    Parameters
    ----------
    f : a function that takes an array of distances r >= 0 and returns f of each, or a kernel that is a function of |x - y|.
    dimension : 1 to 12.
    window : R of the Gaussian window that f is multiplied by; None: ten times the distance at which f has fallen to half.
    max_frequency, frequencies : frequencies are tried evenly from 0 to max_frequency; None: 20 over that distance.
    n_jobs, verbose : as everywhere.

    Returns
    -------
    BochnerCheck, which prints as a verdict, with ``violated``, ``lowest``, ``lowest_frequency``, ``lowest_bound`` and the arrays
    ``frequencies``, ``transform``, ``bound``. A violation is a proof up to quadrature, no violation is evidence.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> bool(mercer.check_bochner("gaussian(1)")), bool(mercer.check_bochner(lambda r: (r < 1).astype(float)))
    (True, False)
    """
    for name, value in (("dimension", dimension), ("frequencies", frequencies)):
        if isinstance(value, bool) or not isinstance(value, Integral) or abs(value) > 2**31 - 1:
            raise ValueError(f"{name} must be a whole number, got {value!r}")
    limits = (int(dimension), _number(window, "window"), _number(max_frequency, "max_frequency"), int(frequencies), _run.threads(n_jobs))
    with _run.progress(verbose) as bar:
        if isinstance(f, Kernel | str):
            return _mercer.check_bochner_kernel(make_kernel(f)._native, *limits, bar)
        if not callable(f):
            raise TypeError(f"f must be a function of an array of distances, or a kernel, got {f!r}")
        return _mercer.check_bochner_function(lambda r: _values(f, r), *limits, bar)


def _values(f: Callable[[np.ndarray], Any], r: np.ndarray) -> np.ndarray:
    values = np.asarray(f(r))
    if values.dtype.kind not in "fiub" or values.shape not in ((), r.shape):
        raise ValueError(
            f"f must return one real number for each distance: got shape {values.shape} of {values.dtype} for {len(r)} distances"
        )
    return np.ascontiguousarray(np.broadcast_to(values, r.shape), dtype=np.float64)
