"""The kernel that an estimator's parameters mean: scikit-learn's words keep scikit-learn's meaning, anything else is Mercer's."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import warnings
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.gaussian_process.kernels import Kernel as GaussianProcessKernel
from sklearn.metrics.pairwise import KERNEL_PARAMS, PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels

from . import _callbacks, _data
from .kernels import (
    Chi2,
    Constant,
    Cosine,
    Function,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Sigmoid,
    kernel as make_kernel,
    kernel_function,
)


def takes_gram(kernel: Any) -> bool:
    """Whether an estimator with this kernel is fitted on kernel values in place of rows."""
    if isinstance(kernel, str) and "precomputed" in kernel:
        try:
            kernel = make_kernel(kernel)
        except ValueError:  # fit will say so
            return False
    return isinstance(kernel, Kernel) and kernel.needs_given_gram


def variance(X: Any) -> float:
    """Of all numbers of X, zeros that are not stored too."""
    if not sp.issparse(X):
        return float(X.var(dtype=np.float64))
    values, size = X.data.astype(np.float64, copy=False), X.shape[0] * X.shape[1]
    return float((values @ values) / size - (values.sum() / size) ** 2)


def gamma_number(gamma: Any, X: Any) -> float:
    """gamma, of which the words "scale" and "auto" mean what they mean in scikit-learn's support vector machines."""
    if isinstance(gamma, str) and gamma == "scale":
        spread = variance(X)
        return 1.0 / (X.shape[1] * spread) if spread > 0 else 1.0
    if isinstance(gamma, str) and gamma == "auto":
        return 1.0 / X.shape[1]
    if isinstance(gamma, bool) or not isinstance(gamma, Real) or not 0 <= gamma < np.inf:
        raise ValueError(f"gamma must be 'scale', 'auto' or a finite number >= 0, got {gamma!r}")
    return float(gamma)


def estimator_kernel(estimator: Any, n_features: int, X: Any = None) -> Kernel:
    """From the parameters kernel, gamma, degree, coef0 and kernel_params of an estimator; gamma may be a word where X is given."""
    k = estimator.kernel
    if isinstance(k, Kernel) or (isinstance(k, str) and k not in PAIRWISE_KERNEL_FUNCTIONS):
        defaults = {"gamma": None, "degree": 3, "coef0": 1, "kernel_params": None}
        ignored = [name for name, value in defaults.items() if not np.array_equal(getattr(estimator, name), value)]
        if ignored and k != "precomputed":
            warnings.warn(f"kernel={k!r} brings its own parameters and does not look at {', '.join(ignored)}", stacklevel=3)
        return make_kernel(k)
    if isinstance(k, str):
        gamma = gamma_number(estimator.gamma, X) if X is not None and isinstance(estimator.gamma, str) else estimator.gamma
        return _word(k, gamma, estimator.degree, estimator.coef0, n_features)
    if isinstance(k, GaussianProcessKernel):  # takes blocks of rows, as ours do
        return kernel_function(k, name=repr(k))
    if callable(k):
        return _callable(k, estimator.kernel_params or {})
    raise ValueError(f"kernel must be text, a mercer.Kernel or a callable, got {k!r}")


def any_kernel(kernel: Any, X: Any) -> Kernel:
    """A kernel, its text, or a word of scikit-learn with that word's defaults."""
    require_numbers(kernel, X)
    if isinstance(kernel, str) and kernel in PAIRWISE_KERNEL_FUNCTIONS:
        return _word(kernel, None, 3, 1, X.shape[1] if hasattr(X, "shape") and len(X.shape) == 2 else np.asarray(X).shape[-1])
    return make_kernel(kernel)


def require_numbers(kernel: Any, X: Any) -> None:
    """A word of scikit-learn means a kernel of numbers."""
    if isinstance(kernel, str) and kernel in PAIRWISE_KERNEL_FUNCTIONS:
        _data.require_numbers(repr(kernel), X)


def _callable(f: Any, parameters: dict[str, Any]) -> Kernel:
    """scikit-learn's kernels of two rows. The name says the parameters, which are part of what the function is."""
    name = _callbacks.name_of(f) + _listed(parameters)
    return kernel_function(partial(f, **parameters) if parameters else f, name=name, pairwise=True)


def _listed(parameters: dict[str, Any]) -> str:
    return f"({', '.join(f'{name}={value!r}' for name, value in parameters.items())})" if parameters else ""


def _word(word: str, gamma: Any, degree: Any, coef0: Any, n_features: int) -> Kernel:
    for name, value in (("gamma", gamma), ("degree", degree), ("coef0", coef0)):
        if not (isinstance(value, Real) and np.isfinite(value)) and not (name == "gamma" and value is None):
            raise ValueError(f"{name} must be a finite number{' or None' if name == 'gamma' else ''}, got {value!r}")
        if name != "coef0" and value is not None and value < 0:
            raise ValueError(f"{name} must be >= 0, got {value!r}")
    # None is 1 / n_features, but 1 for chi2: the defaults of scikit-learn's functions.
    g = float(gamma) if gamma is not None else 1.0 if word == "chi2" else 1.0 / n_features
    if g == 0 and word in ("rbf", "laplacian", "chi2"):  # exp(-0)
        return Constant(1.0)
    if word in ("poly", "polynomial") and float(degree).is_integer() and 1 <= degree <= 1000:
        return Polynomial(int(degree), g, float(coef0))
    make = {
        "linear": Linear,
        "rbf": lambda: Gaussian(np.sqrt(0.5 / g)),
        "laplacian": lambda: Laplacian(1.0 / g, "l1"),
        "sigmoid": lambda: Sigmoid(g, float(coef0)),
        "cosine": Cosine,
        "chi2": lambda: Chi2(g),
    }.get(word, partial(_borrowed, word, g, degree, coef0))
    return make()


def _borrowed(word: str, gamma: float, degree: Any, coef0: Any) -> Function:
    """A kernel that only scikit-learn has (or a power that is not whole): its function, called a tile at a time."""
    parameters = {name: value for name, value in (("degree", degree), ("gamma", gamma), ("coef0", coef0)) if name in KERNEL_PARAMS[word]}
    return kernel_function(partial(pairwise_kernels, metric=word, **parameters), name=word + _listed(parameters))
