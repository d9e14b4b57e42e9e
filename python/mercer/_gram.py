"""Gram matrices."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import numpy as np

from . import _mercer, _run
from ._kernel import Kernel, kernel_for

__all__ = ["gram"]


def gram(
    X: Any,
    Y: Any = None,
    kernel: Kernel | str | None = None,
    *,
    dtype: Any = None,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> np.ndarray:
    """The matrix of k(x_i, y_j).

    Parameters
    ----------
    X, Y : arrays or scipy sparse matrices, one row per sample; lists of strings, sets or graphs; DataFrames. Y=None takes X on both sides.
    kernel : a kernel, or its text; None is a Gaussian with the median distance as its length scale.
    dtype : float32 or float64; None: float32 if both sides are float32, else float64.
    n_jobs : threads; None: MERCER_NUM_THREADS, else all cores.
    memory : the budget, a number of bytes or text such as "4G"; a matrix above it is a MemoryError before anything is allocated.
    verbose : show a progress bar on stderr.

    Examples
    --------
    >>> import mercer
    >>> mercer.gram([[0.0], [1.0]], kernel="linear + 1")
    array([[1., 1.],
           [1., 2.]])
    """
    if kernel is None and isinstance(Y, (str, Kernel)):
        raise TypeError("the second argument is Y, other rows: give the kernel by name, gram(X, kernel=...)")
    k = kernel_for(kernel, X)
    native, A, B, float32 = k._bound(X, Y)
    if dtype is not None:
        wanted = np.dtype(dtype)
        if wanted not in (np.float32, np.float64):
            raise ValueError(f"dtype must be float32 or float64, got {wanted}")
        float32 = wanted == np.float32
    with _run.progress(verbose) as bar:
        return _mercer.gram(native, A, B, float32, _run.threads(n_jobs), _run.memory_bytes(memory), bar)
