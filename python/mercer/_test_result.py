"""What every statistical test answers with."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from . import _mercer
from ._shown import Shown
from .datasets import _seed as seed_of  # None draws one, which the result then names

__all__ = ["TestResult", "seed_of", "wrap"]


@dataclass(frozen=True, eq=False)
class TestResult(Shown):
    """A test's answer, with all that is needed to judge it, draw it and run it again. True in a condition if the null is rejected.

    Attributes
    ----------
    statistic, statistic_name : the number and what it is ("mmd-u", "hsic"), unscaled.
    p_value : of exchanges (1 + #{null >= statistic}) / (1 + B), never 0.
    rejected, level, threshold : the verdict at ``level``; a statistic above ``threshold`` is rejected.
    null : the statistics of the exchanges or draws; of a law with a formula, its quantiles at (i - 1/2) / 1000; may be empty.
    method, description, exact : the null's name, how it was made, and whether its level holds for every sample size.
    kernel, kernels : with automatic length scales set.
    n, m, seed, draws, seconds : rows of X and Y (m = 0 for one sample), the seed, the number of exchanges, the time taken.
    numbers : what else the test knows, by name.
    remarks : what a reader must know, such as differences that the kernel cannot see.
    sentence : the verdict in words.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.moons(100, random_state=0)
    >>> A, B = X[y == 0], X[y == 1]
    >>> result = mercer.two_sample_test(A, B, n_permutations=99, random_state=0)
    >>> bool(result), result.statistic_name, result.p_value, len(result.null)
    (True, 'mmd-u', 0.01, 99)
    """

    __test__ = False  # pytest takes no class of ours for a test

    test: str
    statistic: float
    statistic_name: str
    p_value: float
    level: float
    rejected: bool
    threshold: float
    null: np.ndarray = field(repr=False)
    method: str
    description: str
    exact: bool
    kernel: str
    kernels: list[str] = field(repr=False)
    n: int
    m: int
    seed: int
    draws: int
    numbers: dict[str, float] = field(repr=False)
    remarks: list[str] = field(repr=False)
    seconds: float = field(repr=False)
    sentence: str = field(repr=False)

    def __bool__(self) -> bool:
        return self.rejected

    def __str__(self) -> str:
        return "\n".join([self.sentence, *(f"  {remark}" for remark in self.remarks)])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.statistic_name}={self.statistic:.6g}, p_value={self.p_value:.4g}, method={self.method!r})"

    def plot(self, ax: Any = None) -> Any:
        """The null distribution with the statistic in it, on matplotlib axes."""
        from . import plot

        return plot.null_histogram(self, ax=ax)


def wrap(native: _mercer.TestResult, kind: type[TestResult] = TestResult, **more: Any) -> Any:
    """The result that people use, from the library's; ``more`` are the further fields of a subclass."""
    values = {f.name: more[f.name] if f.name in more else getattr(native, f.name) for f in fields(kind)}
    values["numbers"] = dict(native.numbers)
    return kind(**values)
