"""Kernel learning: length scales, weights and any other parameter of a kernel chosen by leave-one-out, evidence or alignment."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state, column_or_1d

from . import _data, _estimators, _mercer, _run, _scikit
from ._arguments import number
from ._kernel import Kernel, wrap
from ._shown import Shown

__all__ = ["KernelScore", "LearnedKernel", "learn_kernel", "score_kernel", "with_ard"]

Objective = Literal["loo", "evidence", "alignment"]
_OBJECTIVES = ("loo", "evidence", "alignment")


@dataclass(frozen=True, repr=False)
class LearnedKernel(Shown):
    """What :func:`learn_kernel` found.

    Attributes
    ----------
    kernel, alpha : the learned kernel and penalty: ``KernelRidge(kernel=result.kernel, alpha=result.alpha)``.
    objective : "loo", "evidence" or "alignment".
    value, start_value : the objective (mean squared leave-one-out error, log marginal likelihood, centred alignment) at the learned kernel
        and at the given one, on the same rows.
    signal_variance : evidence only: the Gaussian process has the covariance signal_variance * (kernel + alpha I).
    rows : how many rows were looked at last.
    parameters : (name, start, value, at_bound) for every parameter of the kernel, then alpha.
    history : (starting point, rows, value) of every evaluation.
    summary : one sentence.

    Examples
    --------
    >>> import mercer
    >>> X, y = mercer.datasets.waves(80, random_state=0)
    >>> found = mercer.learn_kernel(X, y, "gaussian(3)")
    >>> found.value < found.start_value, [name for name, *_ in found.parameters]
    (True, ['gaussian.length_scale', 'alpha'])
    """

    kernel: Kernel
    alpha: float
    objective: str
    value: float
    start_value: float
    signal_variance: float | None
    rows: int
    parameters: list[tuple[str, float, float, bool]] = field(repr=False)
    history: list[tuple[int, int, float]] = field(repr=False)
    summary: str

    def __str__(self) -> str:
        return self.summary


@dataclass(frozen=True, repr=False)
class KernelScore(Shown):
    """An objective at one kernel: its value and its derivatives by log(parameter), for ``kernel.parameters`` and then alpha.

    >>> import mercer
    >>> X, y = mercer.datasets.waves(50, random_state=0)
    >>> score = mercer.score_kernel(X, y, "gaussian(1)", alpha=0.1)
    >>> score.value > 0, score.gradient.shape
    (True, (2,))
    """

    value: float
    gradient: np.ndarray
    signal_variance: float | None


def _targets(y: Any, task: str) -> np.ndarray:
    """y as numbers, one column per target; classes become one column each, 1 where a sample belongs to the class."""
    if task not in ("auto", "regress", "classify"):
        raise ValueError(f'task must be "auto", "regress" or "classify", got {task!r}')
    values = np.asarray(y)
    if values.ndim not in (1, 2):
        raise ValueError(f"y must have one dimension, or two for several targets, got {values.ndim}")
    if task == "classify" or (task == "auto" and values.dtype.kind in "OSUb"):
        classes, places = np.unique(column_or_1d(values), return_inverse=True)
        return np.ascontiguousarray(places[:, None] == np.arange(len(classes)), dtype=np.float64)
    if values.dtype.kind not in "fiub":
        raise ValueError(f'y must hold numbers, got dtype {values.dtype}; task="classify" takes any labels')
    return _estimators.targets(values)


def _problem(X: Any, y: Any, kernel: Kernel | str, objective: str, task: str, sample_weight: Any) -> tuple[Any, ...]:
    if objective not in _OBJECTIVES:
        raise ValueError(f'objective must be "loo", "evidence" or "alignment", got {objective!r}')
    native, rows, _, _ = _scikit.any_kernel(kernel, X)._bound(X)
    Y = _targets(y, task)
    if len(Y) != rows.size:
        raise ValueError(f"X has {rows.size} samples but y has {len(Y)}")
    if not np.isfinite(Y).all():
        raise ValueError("y has a NaN or an infinite value")
    weight = np.empty(0) if sample_weight is None else np.ascontiguousarray(sample_weight, dtype=np.float64).ravel()
    return native, rows, Y, weight


def _seed(random_state: Any) -> int:
    if isinstance(random_state, Integral) and random_state >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _count(value: Any, name: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= value < 2**31:
        raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}")
    return int(value)


def learn_kernel(
    X: Any,
    y: Any,
    kernel: Kernel | str = "gaussian(auto)",
    *,
    objective: Objective = "loo",
    ard: bool = False,
    weights: bool = True,
    alpha: float | None = None,
    hold: Iterable[str] = (),
    fit_intercept: bool = False,
    sample_weight: Any = None,
    task: Literal["auto", "regress", "classify"] = "auto",
    max_rows: int = 2000,
    n_restarts: int = 2,
    max_iter: int = 100,
    random_state: Any = 0,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> LearnedKernel:
    """Choose the parameters of a kernel, and alpha, from data.

    Parameters
    ----------
    X, y : rows and targets; several columns of y share the kernel.
    kernel : a kernel, its text, or a word of the estimators ("rbf"): where the search begins; "auto" length scales begin at the median distance.
    objective : "loo", the exact leave-one-out error of kernel ridge regression; "evidence", the marginal likelihood of a Gaussian process
        (its variance at the best value); "alignment", the centred alignment with the targets, alpha then by leave-one-out.
    ard : give every column a length scale of its own.
    weights : give every part of a sum a weight. Where alpha is learned too, they are made to add up to 1.
    alpha : keep this penalty; None learns it.
    hold : names of parameters (see ``Kernel.parameters``) that keep their values.
    fit_intercept : with an intercept that is not penalised.
    sample_weight : one number >= 0 per row; 0 leaves a row out.
    task : "classify" takes y for class labels, one target column each (the ideal kernel of the alignment); "auto" does so for text.
    max_rows : of more rows a random subset is looked at; an evaluation costs 2 max_rows^3 operations.
    n_restarts : further starting points, tried on a quarter of those rows.
    max_iter : evaluations from each starting point, and on all the rows.
    random_state : of the subset and the starting points.
    n_jobs, memory, verbose : as everywhere; the answer does not depend on n_jobs.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> result = mercer.learn_kernel(X, np.sin(2 * X[:, 1]), ard=True)
    >>> scales = [value for name, _, value, _ in result.parameters if "length_scale" in name]
    >>> int(np.argmin(scales))
    1
    >>> model = mercer.KernelRidge(kernel=result.kernel, alpha=result.alpha).fit(X, np.sin(2 * X[:, 1]))
    """
    native, rows, Y, weight = _problem(X, y, kernel, objective, task, sample_weight)
    held = [hold] if isinstance(hold, str) else [str(name) for name in hold]
    with _run.progress(verbose) as bar:
        found = _mercer.learn_kernel(
            rows,
            Y,
            native,
            objective,
            bool(ard),
            bool(weights),
            None if alpha is None else number(alpha, "alpha"),
            held,
            bool(fit_intercept),
            weight,
            _count(max_rows, "max_rows", 3),
            _count(n_restarts, "n_restarts", 0),
            _count(max_iter, "max_iter", 1),
            _seed(random_state),
            _run.threads(n_jobs),
            _run.memory_bytes(memory),
            bar,
        )
    return LearnedKernel(
        kernel=wrap(found.kernel),
        alpha=found.alpha,
        objective=objective,
        value=found.value,
        start_value=found.start_value,
        signal_variance=found.signal_variance if objective == "evidence" else None,
        rows=found.rows,
        parameters=found.parameters,
        history=found.path,
        summary=found.sentence,
    )


def score_kernel(
    X: Any,
    y: Any,
    kernel: Kernel | str,
    alpha: float,
    *,
    objective: Objective = "loo",
    fit_intercept: bool = False,
    sample_weight: Any = None,
    task: Literal["auto", "regress", "classify"] = "auto",
    n_jobs: int | None = None,
    memory: str | float | None = None,
) -> KernelScore:
    """The objective of :func:`learn_kernel` at one kernel and alpha, with its gradient; on all rows.

    >>> import mercer
    >>> X, y = mercer.datasets.waves(50, random_state=0)
    >>> mercer.score_kernel(X, y, "gaussian(0.5)", alpha=0.1).value < mercer.score_kernel(X, y, "gaussian(50)", alpha=0.1).value
    True
    """
    native, rows, Y, weight = _problem(X, y, kernel, objective, task, sample_weight)
    found = _mercer.score_kernel(
        rows, Y, native, number(alpha, "alpha"), objective, bool(fit_intercept), weight, _run.threads(n_jobs), _run.memory_bytes(memory)
    )
    return KernelScore(found.value, found.gradient, found.signal_variance if objective == "evidence" else None)


def with_ard(kernel: Kernel | str, X: Any) -> Kernel:
    """The kernel with a length scale for each column of X wherever it has one for all.

    "auto" scales become the median difference within each column, times sqrt(columns).

    >>> import mercer
    >>> print(mercer.with_ard("gaussian(2) + linear", [[0.0, 1.0], [1.0, 0.0]]))
    gaussian([2, 2]) + linear
    """
    native, rows, _, _ = _scikit.any_kernel(kernel, X)._bound(X)
    return wrap(_mercer.with_ard(native, rows))
