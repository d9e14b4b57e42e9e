"""Functions of a symmetric matrix by its spectrum."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from . import _data, _mercer, _run

__all__ = ["matrix_function"]

_NAMES = ("sqrt", "invsqrt", "log", "power")


def matrix_function(
    K: Any,
    f: str | Callable[[np.ndarray], Any],
    exponent: float | None = None,
    *,
    tol: float | None = None,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> np.ndarray:
    """f(K) = S diag(f(d)) S' for a symmetric matrix K = S diag(d) S'.

    Parameters
    ----------
    K : (n, n) array
        Symmetric; positive semi-definite for "sqrt", "invsqrt", "log" and powers that are not whole.
    f : "sqrt", "invsqrt", "log", "power" or a callable
        "invsqrt" and negative powers are those of the pseudo-inverse where K is singular; "log" refuses such a matrix. A callable is given
        the eigenvalues, ascending, as one array and returns as many finite numbers.
    exponent : float
        Of "power".
    tol : float, optional
        Eigenvalues of size at most tol times the largest are taken as 0; the default is n times the machine's epsilon.
    n_jobs, memory, verbose : as in :class:`mercer.KernelRidge`.

    Returns
    -------
    (n, n) array, symmetric, float64.

    Examples
    --------
    >>> import mercer
    >>> root = mercer.matrix_function([[5.0, 4.0], [4.0, 5.0]], "sqrt")
    >>> (root @ root).round(12)
    array([[5., 4.],
           [4., 5.]])
    """
    K = _data.rows(K, "K")
    if hasattr(K, "toarray"):
        K = K.toarray()
    K = np.ascontiguousarray(K, dtype=np.float64)
    if tol is not None and (isinstance(tol, bool) or not isinstance(tol, Real)):
        raise ValueError(f"tol must be a number in [0, 1) or None, got {tol!r}")
    if (exponent is not None) != (f == "power"):
        raise ValueError(f'exponent is for f="power", which needs it; got f={f!r}, exponent={exponent!r}')
    if exponent is not None and (isinstance(exponent, bool) or not isinstance(exponent, Real)):
        raise ValueError(f"exponent must be a number, got {exponent!r}")
    how = None if tol is None else float(tol), _run.threads(n_jobs), _run.memory_bytes(memory)
    with _run.progress(verbose) as bar:
        if isinstance(f, str):
            if f not in _NAMES:
                raise ValueError(f"f must be one of {', '.join(_NAMES)} or a callable, got {f!r}")
            return _mercer.matrix_function(K, f, 0.0 if exponent is None else float(exponent), *how, bar)
        if not callable(f):
            raise ValueError(f"f must be one of {', '.join(_NAMES)} or a callable, got {f!r}")
        return _mercer.matrix_function_of(K, lambda d: np.asarray(f(d), dtype=np.float64).reshape(-1), *how, bar)
