"""Does a sample come from a given distribution? Is it normal?

>>> import numpy as np
>>> import mercer
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(200, 2))
>>> mercer.goodness_of_fit_test(X, mercer.Normal([0, 0], np.eye(2)), random_state=0).rejected
False
>>> mercer.goodness_of_fit_test(X, lambda x: -x / 2, random_state=0).rejected  # the score of a normal distribution of variance 2
True
>>> mercer.goodness_of_fit_test(np.exp(X), "normal", random_state=0).rejected  # with whatever mean and covariance
True
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from . import _data, _mercer, _run
from ._checks import number, whole, word
from ._independence import rows_and_kernel
from ._kernel import Kernel
from ._test_result import TestResult, seed_of, wrap

__all__ = ["Normal", "NormalMixture", "goodness_of_fit_test"]


def _numbers(value: Any, name: str, dimensions: int) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold real numbers, got dtype {array.dtype}")
    array = np.array(array, dtype=np.float64, order="C")  # keeps 0 dimensions, where ascontiguousarray would not
    if array.ndim > dimensions:
        raise ValueError(f"{name} must have at most {dimensions} dimensions, got shape {array.shape}")
    return array


class _Distribution:
    """What normal distributions and their mixtures share."""

    _native: _mercer.Distribution

    def score(self, X: Any) -> np.ndarray:
        """d/dx log p(x) at every row."""
        return self._native.scores(np.ascontiguousarray(_data.column(X), dtype=np.float64))

    def sample(self, n: int, random_state: Any = None) -> np.ndarray:
        """n independent rows."""
        return self._native.sample(whole(n, "n"), seed_of(random_state))


@dataclass(frozen=True, eq=False)
class Normal(_Distribution):
    """The normal distribution with this mean (a number or one for each column) and covariance (a number, variances, or a matrix).

    >>> import mercer
    >>> mercer.Normal([0.0, 1.0], [1.0, 4.0]).score([[1.0, 3.0]])
    array([[-1. , -0.5]])
    """

    mean: Any
    covariance: Any

    def __post_init__(self) -> None:
        mean = np.atleast_1d(_numbers(self.mean, "mean", 1))
        object.__setattr__(self, "_native", _mercer.Distribution.mixture(np.ones(1), mean[None, :], [_matrix(self.covariance, len(mean))]))


@dataclass(frozen=True, eq=False)
class NormalMixture(_Distribution):
    """A mixture of normal distributions: weights > 0 (divided by their sum), one mean and one covariance for each.

    >>> import mercer
    >>> mixture = mercer.NormalMixture([1.0, 1.0], [[-2.0], [2.0]], [1.0, 1.0])
    >>> mixture.sample(3, random_state=0).shape, abs(mixture.score([[0.0]])[0, 0]) < 1e-12
    ((3, 1), np.True_)
    """

    weights: Any
    means: Any
    covariances: Any

    def __post_init__(self) -> None:
        weights = np.atleast_1d(_numbers(self.weights, "weights", 1))
        means = _numbers(self.means, "means", 2)
        means = means.reshape(len(weights), -1) if means.ndim < 2 and means.size == len(weights) else means
        if means.ndim != 2 or len(means) != len(weights):
            raise ValueError(f"means must have one row for each of the {len(weights)} weights, got shape {means.shape}")
        if len(self.covariances) != len(weights):
            raise ValueError(f"covariances must be one for each of the {len(weights)} weights, got {len(self.covariances)}")
        matrices = [_matrix(one, means.shape[1]) for one in self.covariances]
        object.__setattr__(self, "_native", _mercer.Distribution.mixture(weights, means, matrices))


def _matrix(covariance: Any, width: int) -> np.ndarray:
    values = _numbers(covariance, "covariance", 2)
    if values.ndim == 0:
        return float(values) * np.eye(width)
    if values.ndim == 1 and len(values) == width:
        return np.diag(values)
    return values.reshape(1, -1) if values.ndim == 1 else values


def _scikit_mixture(model: Any) -> NormalMixture:
    """A fitted scikit-learn GaussianMixture, whatever its covariance type."""
    means = np.asarray(model.means_)
    covariances = np.asarray(model.covariances_)
    if getattr(model, "covariance_type", "full") == "tied":
        covariances = np.stack([covariances] * len(means))
    return NormalMixture(model.weights_, means, list(covariances))


def _distribution(model: Any) -> _mercer.Distribution:
    if isinstance(model, _Distribution):
        return model._native
    if all(hasattr(model, name) for name in ("weights_", "means_", "covariances_")):
        return _scikit_mixture(model)._native
    if hasattr(model, "mean") and hasattr(model, "cov") and not callable(model.mean):  # scipy's frozen multivariate normal
        return Normal(model.mean, model.cov)._native
    if callable(model):
        name = getattr(model, "__name__", type(model).__name__)
        return _mercer.Distribution.from_score("the given distribution" if name == "<lambda>" else name, lambda X: _scores(model, X))
    raise TypeError(
        'the model must be "normal", a Normal, a NormalMixture, a fitted GaussianMixture, or a function that gives the score '
        f"d/dx log p(x) of every row, got {model!r}"
    )


def _scores(score: Callable[[np.ndarray], Any], X: np.ndarray) -> np.ndarray:
    values = np.asarray(score(X))
    if values.dtype.kind not in "fiub" or values.shape != X.shape:
        raise ValueError(f"a score must give {X.shape[1]} numbers for each of {X.shape[0]} rows: got shape {values.shape} of {values.dtype}")
    return np.ascontiguousarray(values, dtype=np.float64)


def goodness_of_fit_test(
    X: Any,
    model: Any = "normal",
    kernel: Kernel | str | None = None,
    *,
    fitted: bool = False,
    statistic: Literal["ksd-u", "ksd-v"] = "ksd-u",
    n_draws: int = 1000,
    flip_probability: float = 0.5,
    level: float = 0.05,
    random_state: Any = None,
    n_jobs: int | None = None,
    memory: str | float | None = None,
    verbose: bool = False,
) -> TestResult:
    """Does the sample X come from a given distribution? By the kernel Stein discrepancy, which needs its score alone.

    Parameters
    ----------
    X : array-like or sparse of shape (n,) or (n, features)
    model : what X is compared with
        "normal" asks whether X is normal with whatever mean and covariance; its level is exact. A :class:`mercer.Normal`, a
        :class:`mercer.NormalMixture`, scikit-learn's fitted GaussianMixture or scipy's frozen multivariate_normal is a distribution with
        given parameters; a function of an array of rows is the score d/dx log p(x), one row for each, normalising constants not needed.
        All of these must not come from X itself: parameters that were fitted to it make the test reject far too seldom.
    kernel : "gaussian(...)" or "rational_quadratic(...)" with one length scale
        None is "rational_quadratic(auto, alpha=0.5)", the inverse multiquadric with the median distance of the rows. Of "normal" length
        scales are in units of whitened rows.
    fitted : the model is a function that fits a distribution to rows, and is called for X and for every draw (parametric bootstrap).
    statistic : "ksd-u" or "ksd-v", without or with the pairs of a row with itself.
    n_draws : of the null.
    flip_probability : of the bootstrap's signs from one row to the next; below 1/2 for rows that depend on their neighbours (Markov chains).
    level : of the verdict.
    random_state : int, numpy generator or None
    n_jobs, memory, verbose : threads, memory budget such as "4G", progress bar.

    Returns
    -------
    TestResult

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> X = np.random.default_rng(0).uniform(-1, 1, 200)
    >>> mercer.goodness_of_fit_test(X, mercer.Normal(0.0, 1.0), random_state=0).rejected
    True
    """
    if (kind := _data.first_kind(X)) is not None:
        raise ValueError(f"goodness of fit is to a density of numbers, but X holds {kind}")
    S, native_kernel = rows_and_kernel(X, "X", kernel)
    how = (native_kernel, word(statistic, "statistic"), whole(n_draws, "n_draws"), number(flip_probability, "flip_probability"), number(level, "level"))
    with _run.progress(verbose) as bar:
        run = (seed_of(random_state), _run.threads(n_jobs), _run.memory_bytes(memory), bar)
        if isinstance(model, str):
            if model != "normal":
                raise ValueError(f'the only family with a name is "normal", got {model!r}')
            return wrap(_mercer.normality_test(S, *how, *run))
        if not fitted:
            return wrap(_mercer.goodness_of_fit_test(S, _distribution(model), *how, *run))
        if not callable(model):
            raise TypeError(f"with fitted=True the model is a function that fits a distribution to rows, got {model!r}")
        return wrap(_mercer.fitted_goodness_of_fit_test(S, lambda rows: _distribution(model(rows)), *how, *run))
