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

from typing import Any, Literal

import numpy as np

from . import _mercer, _run
from ._checks import number, whole, word
from ._independence import _result, _Variable
from ._kernel import Kernel
from ._test_result import TestResult, seed_of

__all__ = ["conditional_independence_test"]


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
    n_draws: int | None = None,
    n_permutations: int | None = None,
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
    X, Y, Z : array-like or sparse of shape (n,) or (n, features), row i of all from one observation
        A column of text or pandas categories is compared by the delta kernel. Of a precomputed kernel the variable's Gram matrix. Z = None asks for independence, see :func:`mercer.independence_test`.
    kernel_x, kernel_y, kernel_z : kernels or their texts
        None is "gaussian(auto)", with the median distance of the variable's own rows as length scale; of an automatic ``kernel_z`` the
        length scale is chosen from 1/2, 1, 2 and 4 times that by leave-one-out. "delta" takes the values for categories, whatever they are.
    method : "auto", "kci" or "randomized"
        "auto" takes "kci" up to 1000 rows, and for kernels without random features.
    null : "spectral" or "gamma"
        Draws of the weighted chi-square law, or the gamma law of the same mean and variance.
    n_draws, n_permutations : draws of the spectral null, by either name; None is 1000.
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

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=150)
    >>> x, y = z + 0.3 * rng.normal(size=(2, 150))
    >>> mercer.independence_test(x, y, random_state=0).rejected, mercer.conditional_independence_test(x, y, z, random_state=0).rejected
    (True, False)
    """
    if n_draws is not None and n_permutations is not None:
        raise ValueError(f"n_draws and n_permutations are two names of one number: give one of them, got {n_draws!r} and {n_permutations!r}")
    name, draws = ("n_draws", n_draws) if n_permutations is None else ("n_permutations", n_permutations)
    draws = 1000 if draws is None else whole(draws, name)
    x, y = (_Variable(V, name, kernel, indicators=Z is not None) for V, name, kernel in ((X, "X", kernel_x), (Y, "Y", kernel_y)))
    z = None if Z is None else _Variable(Z, "Z", kernel_z, indicators=True)
    variables = [x, y] if z is None else [x, y, z]
    if method == "randomized" and any(v.delta for v in variables):
        categories = " and ".join(v.name for v in variables if v.delta)
        raise ValueError(f'the delta kernel of {categories} has no random features: use method="kci"')
    U, native_z = (_mercer.Samples.dense(np.empty((x.samples.size, 0))), None) if z is None else (z.samples, z.kernel)
    with _run.progress(verbose) as bar:
        native = _mercer.conditional_independence_test(
            x.samples, y.samples, U, x.kernel, y.kernel, native_z, word(method, "method"), word(null, "null"), draws,
            None if epsilon is None else number(epsilon, "epsilon"), bool(remove_means), whole(features_xy, "features_xy"),
            whole(features_z, "features_z", 2), whole(features_weight, "features_weight", 0), number(level, "level"),
            seed_of(random_state), _run.threads(n_jobs), _run.memory_bytes(memory), bar,
        )  # fmt: skip
    return _result(native, variables)
