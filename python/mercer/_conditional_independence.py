"""Are X and Y independent given Z?

>>> import numpy as np
>>> import mercer
>>> rng = np.random.default_rng(0)
>>> z = rng.normal(size=(200, 1))
>>> x, y = z**2 + rng.normal(size=z.shape), np.sin(z) + 0.5 * rng.normal(size=z.shape)
>>> mercer.conditional_independence_test(x, y, z, random_state=0).rejected
False
>>> mercer.conditional_independence_test(x, y + x / 2, z, random_state=0).rejected
True
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from . import _data, _mercer, _run
from ._kernel import Kernel, kernel as make_kernel
from ._test_result import TestResult, seed_of, wrap

__all__ = ["conditional_independence_test"]


def whole(value: Any, name: str, least: int = 1) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be >= {least}, got {value}")
    return int(value)


def number(value: Any, name: str) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    return float(value)


def variable(X: Any, name: str, kernel: Kernel | str | None) -> tuple[_mercer.Samples, _mercer.Kernel | None]:
    """The rows of one variable, and its kernel (None: the library's default) with columns by position."""
    native = None if kernel is None else make_kernel(kernel)._at_columns(_data.column_names(X))
    rows = _data.rows(X, name)
    samples = _data.samples(rows)
    samples.require_finite(name)
    if native is not None and native.needs_given_gram:
        if rows.shape[0] != rows.shape[1]:
            raise ValueError(f"of a precomputed kernel {name} is a square Gram matrix, got shape {rows.shape}")
        samples = _mercer.Samples.given_gram(samples)
    return samples, native


def conditional_independence_test(
    X: Any,
    Y: Any,
    Z: Any,
    kernel_x: Kernel | str | None = None,
    kernel_y: Kernel | str | None = None,
    kernel_z: Kernel | str | None = None,
    *,
    method: Literal["auto", "kci", "randomized"] = "auto",
    null: Literal["spectral", "gamma"] = "spectral",
    n_draws: int = 1000,
    epsilon: float | None = None,
    remove_means: bool = True,
    features_xy: int = 10,
    features_z: int = 100,
    features_weight: int = 0,
    level: float = 0.05,
    random_state: Any = None,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> TestResult:
    """Are X and Y independent given Z? Kernel conditional independence (KCI), or by random features for many rows.

    Parameters
    ----------
    X, Y, Z : array-like or sparse, with the same number of rows
        Of a precomputed kernel the variable's Gram matrix. Z = None asks for independence, see :func:`mercer.independence_test`.
    kernel_x, kernel_y, kernel_z : kernels or their texts
        None is "gaussian(auto)", with the median distance of the variable's own rows as length scale; of an automatic ``kernel_z`` the
        length scale is chosen from 1/2, 1, 2 and 4 times that by leave-one-out.
    method : "auto", "kci" or "randomized"
        "auto" takes "kci" up to 1000 rows, and for kernels without random features.
    null : "spectral" or "gamma"
        Draws of the weighted chi-square law, or the gamma law of the same mean and variance.
    n_draws : of the spectral null.
    epsilon : penalty of the regression on Z, R = epsilon (K_Z + epsilon I)^-1; None chooses it by leave-one-out, for X and for Y.
    remove_means : replace X and Y by what regression on Z leaves of their columns first, for kernels of x - x'.
    features_xy, features_z : random features of the method "randomized".
    features_weight : its features of Z as weights of the residuals; 0 is RCoT, some are RCIT.
    level : of the verdict.
    random_state : int, numpy generator or None
    n_jobs, memory, verbose : threads, memory budget such as "4G", progress bar.

    Returns
    -------
    TestResult
        Its level holds in the limit, and as far as what Z says about X and Y is learned well; ``numbers`` has the regressions' degrees
        of freedom and the shares of X and Y that Z leaves.
    """
    S, native_x = variable(X, "X", kernel_x)
    T, native_y = variable(Y, "Y", kernel_y)
    U, native_z = (_mercer.Samples.dense(np.empty((S.size, 0))), None) if Z is None else variable(Z, "Z", kernel_z)
    with _run.progress(verbose) as bar:
        native = _mercer.conditional_independence_test(
            S, T, U, native_x, native_y, native_z, str(method), str(null), whole(n_draws, "n_draws"),
            None if epsilon is None else number(epsilon, "epsilon"), bool(remove_means), whole(features_xy, "features_xy"),
            whole(features_z, "features_z", 2), whole(features_weight, "features_weight", 0), number(level, "level"),
            seed_of(random_state), _run.threads(n_jobs), _run.memory_bytes(memory), bar,
        )  # fmt: skip
    return wrap(native)
