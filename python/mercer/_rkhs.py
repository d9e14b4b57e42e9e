"""Functions of a reproducing kernel Hilbert space as values: f = sum_i a_i k(x_i, .).

>>> import mercer
>>> f = mercer.RKHSFunction("gaussian(1)", [[0.0], [1.0]], [1.0, -1.0])
>>> f([[0.0]]).round(4)
array([0.3935])
>>> round(f.norm() ** 2, 4) == round(f @ f, 4) == round(2 * 0.3934693, 4)
True
"""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from . import _data, _mercer, _run
from ._kernel import Kernel, kernel as make_kernel, wrap
from ._shown import Shown

__all__ = ["RKHSFunction", "feature_distance"]


class RKHSFunction(Shown):
    """f = sum_i coef_i k(x_i, .), an immutable value: ``f(X)``, ``f @ g`` (the inner product), ``+``, ``-``, multiples, ``f.norm()``.

    Parameters
    ----------
    kernel : a kernel or its text; "auto" is set from X.
    X : one row per term, or the Gram matrix of a precomputed kernel; copied.
    coef : one number per row.

    A fitted :class:`mercer.KernelRidge` is one: ``RKHSFunction(model.kernel_, model.X_fit_, model.dual_coef_)``, but for its intercept.

    Examples
    --------
    >>> import mercer
    >>> f = mercer.RKHSFunction("linear", [[1.0, 2.0]], [3.0])
    >>> f([[1.0, 1.0]]), round(f.norm() ** 2, 6)
    (array([9.]), 45.0)
    """

    __slots__ = ("_names", "_native")
    __array_ufunc__ = None  # so that numpy's numbers leave 2 * f to us
    _native: _mercer.RkhsFunction
    _names: list[str] | None  # of the columns, where X had names

    def __init__(self, kernel: Kernel | str, X: Any, coef: Any) -> None:
        k = make_kernel(kernel)
        owned = _data.owned(_data.rows(X, kernel=k._native))
        values = np.asarray(coef)
        if values.dtype.kind not in "fiub" or values.shape != (owned.shape[0],):
            raise ValueError(
                f"coef must be one number for each of the {owned.shape[0]} rows of X, got shape {values.shape} of {values.dtype}"
            )
        names = _data.column_names(X)
        native = k._at_columns(names)
        samples = _data.samples(owned)
        if native.needs_given_gram:
            samples = _mercer.Samples.given_gram(samples)
        native = _mercer.RkhsFunction(native, samples, values.astype(np.float64))
        object.__setattr__(self, "_native", native)
        object.__setattr__(self, "_names", None if names is None else list(map(str, names)))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"functions do not change: make a new one instead of setting {name}")

    # -- what it is made of

    @property
    def kernel(self) -> Kernel:
        """The kernel, with automatic length scales set."""
        return wrap(self._native.kernel)

    @property
    def X(self) -> Any:
        """The x_i, one a row: a read-only array, a scipy CSR array, or a list of objects."""
        return _data.to_numpy(self._native.samples)

    @property
    def coef(self) -> np.ndarray:
        """The a_i, a copy."""
        return self._native.coefficients

    def __len__(self) -> int:
        return self._native.samples.size

    # -- what it does

    def __call__(self, X: Any, *, n_jobs: int | None = None) -> np.ndarray:
        """f at every row of X."""
        return self._native(self._samples(X), _run.threads(n_jobs))

    def inner(self, other: RKHSFunction, *, n_jobs: int | None = None) -> float:
        """<f, g>, a bilinear form for every kernel; both functions must have the same one."""
        if not isinstance(other, RKHSFunction):
            raise TypeError(f"the inner product is with another RKHSFunction, got {other!r}")
        return self._native.inner(self._beside(other), _run.threads(n_jobs))

    def norm(self, *, n_jobs: int | None = None) -> float:
        """|f|; a ValueError for kernels that are not positive semi-definite, or turn out not to be here."""
        return self._native.norm(_run.threads(n_jobs))

    def squared_norm(self, *, n_jobs: int | None = None) -> float:
        """|f|^2 = <f, f>; refused as the norm is."""
        return self._native.squared_norm(_run.threads(n_jobs))

    def bound(self, X: Any, *, n_jobs: int | None = None) -> np.ndarray:
        """|f| sqrt(k(x, x)) for every row x: no |f(x)| is larger."""
        return self._native.bound(self._samples(X), _run.threads(n_jobs))

    def distance(self, other: RKHSFunction, *, n_jobs: int | None = None) -> float:
        """|f - g|."""
        if not isinstance(other, RKHSFunction):
            raise TypeError(f"the distance is to another RKHSFunction, got {other!r}")
        return self._native.distance(self._beside(other), _run.threads(n_jobs))

    def _samples(self, X: Any) -> _mercer.Samples:
        self._same_columns(_data.column_names(X))
        samples = _data.samples(_data.rows(X, kernel=self._native.kernel))
        samples.require_finite("X")
        return _mercer.Samples.given_rows(samples) if self._native.samples.is_given else samples

    def _same_columns(self, names: Any) -> None:
        if names is not None and self._names is not None and list(map(str, names)) != self._names:
            raise ValueError(f"X must have the columns {self._names}, in this order, got {list(map(str, names))}")

    def _beside(self, other: RKHSFunction) -> _mercer.RkhsFunction:
        """The other function, which must live in the same space: text alone cannot tell functions of one name apart."""
        if str(self.kernel) == str(other.kernel) and self.kernel != other.kernel:
            raise ValueError(f"the functions live in different spaces: both kernels are called {self.kernel}, but their functions differ")
        self._same_columns(other._names)
        return other._native

    # -- algebra

    def __matmul__(self, other: Any) -> float:
        return self.inner(other) if isinstance(other, RKHSFunction) else NotImplemented

    def __add__(self, other: Any) -> RKHSFunction:
        return _function(self._native.plus(self._beside(other)), self._names) if isinstance(other, RKHSFunction) else NotImplemented

    def __sub__(self, other: Any) -> RKHSFunction:
        return _function(self._native.minus(self._beside(other)), self._names) if isinstance(other, RKHSFunction) else NotImplemented

    def __mul__(self, factor: Any) -> RKHSFunction:
        return _function(self._native.times(float(factor)), self._names) if isinstance(factor, Real) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> RKHSFunction:
        return _function(self._native.times(1 / float(divisor)), self._names) if isinstance(divisor, Real) else NotImplemented

    def __neg__(self) -> RKHSFunction:
        return _function(self._native.times(-1.0), self._names)

    # -- identity

    def _facts(self) -> dict[str, Any]:
        return {"kernel": self.kernel, "terms": len(self), "coef": self.coef}

    def __repr__(self) -> str:
        return f"RKHSFunction({self.kernel!s}, {len(self)} terms)"

    def __reduce__(self) -> tuple[Any, ...]:
        ids = self._native.samples.given_ids if self._native.samples.is_given else None
        return _restored, (self.kernel, _data.stored(self._native.samples), self.coef, self._names, ids)

    def __copy__(self) -> RKHSFunction:
        return self

    def __deepcopy__(self, memo: Any) -> RKHSFunction:
        return self


def _function(native: _mercer.RkhsFunction, names: list[str] | None) -> RKHSFunction:
    made = RKHSFunction.__new__(RKHSFunction)
    object.__setattr__(made, "_native", native)
    object.__setattr__(made, "_names", names)
    return made


def _restored(kernel: Kernel, X: Any, coef: np.ndarray, names: list[str] | None, ids: list[int] | None) -> RKHSFunction:
    samples = _data.samples(X) if ids is None else _mercer.Samples.given_part(_data.samples(X), ids)
    return _function(_mercer.RkhsFunction(kernel._native, samples, coef), names)


def feature_distance(
    kernel: Kernel | str, X: Any, Y: Any = None, *, n_jobs: int | None = None, memory: str | float | None = None
) -> np.ndarray:
    """The matrix of |Phi(x_i) - Phi(y_j)| = sqrt(k(x,x) + k(y,y) - 2 k(x,y)); Y=None takes X on both sides, with an exact 0 diagonal.

    >>> import mercer
    >>> mercer.feature_distance("linear", [[0.0, 0.0], [3.0, 4.0]])
    array([[0., 5.],
           [5., 0.]])
    """
    native, A, B, _ = make_kernel(kernel)._bound(X, Y)
    return _mercer.feature_distance(native, A, B, _run.threads(n_jobs), _run.memory_bytes(memory))
